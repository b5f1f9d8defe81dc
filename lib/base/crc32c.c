/* crc32c.c: CRC-32C by the processor's instruction or by eight tables.
 *
 * Sections: polynomials (for joining), tables, SSE4.2, the choice.
 */
#include "config.h"
#include "base/crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u

/* ---- polynomials modulo P over GF(2), reflected: the highest bit is x^0 ------------------------------------- */

static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (int bit = 31; bit >= 0; bit--) {
        product ^= b & (0u - (a >> bit & 1u));
        b = b >> 1 ^ (POLYNOMIAL & (0u - (b & 1u))); /* b x */
    }
    return product;
}

/* x^(8 bytes) mod P: what a CRC is multiplied by when so many bytes follow. */
static uint32_t shift_of(int64_t bytes)
{
    uint32_t result = 1u << 31, square = 1u << 23; /* x^0 and x^8 */
    for (; bytes > 0; bytes >>= 1) {
        if (bytes & 1) result = times(result, square);
        square = times(square, square);
    }
    return result;
}

uint32_t hu_crc32c_join(uint32_t crc_a, uint32_t crc_b, int64_t size_b)
{
    return times(crc_a, shift_of(size_b)) ^ crc_b;
}

/* ---- tables ("slicing by eight", Kounavis and Berry, ISCC 2005). Entry i of a table is linear in the bits of i, so eight
 * constants make 256 entries; table k is for a byte that k more bytes follow. ---------------------------------- */

#define ENTRY(i, c0, c1, c2, c3, c4, c5, c6, c7)                                                                       \
    (((i)&1 ? c0 : 0) ^ ((i)&2 ? c1 : 0) ^ ((i)&4 ? c2 : 0) ^ ((i)&8 ? c3 : 0) ^ ((i)&16 ? c4 : 0) ^ ((i)&32 ? c5 : 0) ^ \
     ((i)&64 ? c6 : 0) ^ ((i)&128 ? c7 : 0))
#define ENTRIES_4(i, ...) ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__), ENTRY((i) + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...)                                                                                             \
    ENTRIES_4(i, __VA_ARGS__), ENTRIES_4((i) + 4, __VA_ARGS__), ENTRIES_4((i) + 8, __VA_ARGS__), ENTRIES_4((i) + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...)                                                                                             \
    ENTRIES_16(i, __VA_ARGS__), ENTRIES_16((i) + 16, __VA_ARGS__), ENTRIES_16((i) + 32, __VA_ARGS__), ENTRIES_16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                                     \
    {ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__), ENTRIES_64(128, __VA_ARGS__), ENTRIES_64(192, __VA_ARGS__)}

static const uint32_t table[8][256] = {
    TABLE(0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu, 0x82f63b78u),
    TABLE(0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u, 0x7f8be302u, 0xff17c604u, 0xfbc3faf9u),
    TABLE(0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au, 0xe144fb14u, 0xc76580d9u, 0x8b277743u),
    TABLE(0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du, 0xd725148bu, 0xaba65fe7u, 0x52a0c93fu),
    TABLE(0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, 0x8f2261d3u, 0x1ba8b557u, 0x37516aaeu, 0x6ea2d55cu),
    TABLE(0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, 0xc00c303eu, 0x85f4168du, 0x0e045bebu, 0x1c08b7d6u),
    TABLE(0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, 0x9c5bfaa6u, 0x3d5b83bdu, 0x7ab7077au, 0xf56e0ef4u),
    TABLE(0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, 0x847609b4u, 0x0d006599u, 0x1a00cb32u, 0x34019664u),
};

uint32_t hu_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    crc = ~crc;
    for (; size >= 8; size -= 8, p += 8) {
        uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
              table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; size > 0; size--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
    return ~crc;
}

/* ---- SSE4.2: the instruction takes three cycles and one can start in each, so three stretches run side by side ---- */

#if defined(__x86_64__)
enum { STRETCH = 8192, LONG = 6 * STRETCH };

static inline uint64_t load(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t start, const unsigned char *p, size_t size)
{
    uint64_t crc = ~start;
    if (size >= LONG) {
        uint32_t one = shift_of(STRETCH), two = times(one, one);
        for (; size >= 3 * STRETCH; size -= 3 * STRETCH, p += 3 * STRETCH) {
            uint64_t b = 0, c = 0;
            for (int i = 0; i < STRETCH; i += 8) {
                crc = __builtin_ia32_crc32di(crc, load(p + i));
                b = __builtin_ia32_crc32di(b, load(p + STRETCH + i));
                c = __builtin_ia32_crc32di(c, load(p + 2 * STRETCH + i));
            }
            crc = times((uint32_t)crc, two) ^ times((uint32_t)b, one) ^ (uint32_t)c;
        }
    }
    for (; size >= 8; size -= 8, p += 8) crc = __builtin_ia32_crc32di(crc, load(p));
    for (; size > 0; size--) crc = __builtin_ia32_crc32qi((uint32_t)crc, *p++);
    return ~(uint32_t)crc;
}
#endif

/* ---- the choice ------------------------------------------------------------------------------------------------- */

uint32_t hu_crc32c(uint32_t crc, const void *bytes, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return crc32c_sse42(crc, bytes, size);
#endif
    return hu_crc32c_portable(crc, bytes, size);
}
