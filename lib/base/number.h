/* number.h: exact decimal text to and from numbers, in the C locale whatever the process set.
 *
 * Reading rounds correctly (to nearest, ties to even) for any number of digits; writing gives the fewest digits that
 * read back to the same bits. Thread-safe.
 */
#ifndef HU_BASE_NUMBER_H
#define HU_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads the number at p (no white space before it): [+-] digits[.digits] [e|E|d|D [+-] digits], or inf, infinity, nan
 * in any case, with a sign or without. Returns the place behind it, or NULL where none begins at p (then *ret_value is
 * not set). The longest number is taken, so the caller looks whether what follows may follow. Beyond the range of a
 * double: infinity or 0, with the sign. Reads no byte at or behind end. */
const char *hu_number_parse(const char *p, const char *end, double *ret_value);

/* Reads [+-] digits. Returns the place behind the last digit, or NULL where there is none. *ret_overflow says that the
 * value is outside 64 bits, and *ret_value is then the nearest limit. */
const char *hu_number_parse_integer(const char *p, const char *end, int64_t *ret_value, bool *ret_overflow);

/* How many of the eight bytes at p are digits, from the first on, and the value of those; without a branch on their
 * number (after D. Lemire, "Number parsing at a gigabyte per second", section 4). All eight bytes must be readable. */
static inline int hu_number_digits(const char *p, uint32_t *ret_value)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    v ^= 0x3030303030303030u; /* a byte is now below 10 where it was a digit; the first other byte is found whatever
                                 follows */
    uint64_t other = ((v + 0x7676767676767676u) | v) & 0x8080808080808080u;
    int bits = other ? __builtin_ctzll(other) & ~7 : 64;
    if (bits == 0) return 0;
    v <<= 64 - bits; /* zeros in front */
    v = v * 10 + (v >> 8);
    v = (v & 0x000000ff000000ffu) * 0x000f424000000064u + (v >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u;
    *ret_value = (uint32_t)(v >> 32);
    return bits / 8;
}

#define HU_NUMBER_SIZE 64 /* bytes that a print below may overwrite; the text itself has 24 at most */

/* Prints the fewest digits that read back to the same bits, and of those the nearest to the value: 17, -0, 0.1, 5e-324,
 * inf, nan. Returns its length; no zero byte is written. */
size_t hu_number_print(double value, char *buffer);
size_t hu_number_print_float(float value, char *buffer); /* reads back to the same float */
size_t hu_number_print_integer(int64_t value, char *buffer);

#endif
