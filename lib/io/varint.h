/* varint.h: integers of variable length: seven bits a byte, the lowest first, the top bit set on all bytes but the last (at most ten); signed ones are mapped
 * 0, -1, 1, -2, ... to 0, 1, 2, 3, ... (zigzag).
 */
#ifndef HU_IO_VARINT_H
#define HU_IO_VARINT_H

#include <stdbool.h>
#include <stdint.h>

enum { HU_VARINT_MOST = 10 }; /* bytes of one */

static inline uint64_t hu_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t hu_unzigzag(uint64_t u)
{
    return (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
}

/* Writes at p, where HU_VARINT_MOST bytes are free; returns the place behind. */
static inline uint8_t *hu_varint_put(uint8_t *p, uint64_t u)
{
    while (u >= 128) {
        *p++ = (uint8_t)(u | 128);
        u >>= 7;
    }
    *p++ = (uint8_t)u;
    return p;
}

static inline uint8_t *hu_varint_put_signed(uint8_t *p, int64_t value)
{
    return hu_varint_put(p, hu_zigzag(value));
}

/* Reading from bytes that may be anything: behind a fault or the end, bad is set and zeros come. */
typedef struct {
    const uint8_t *p, *end;
    bool bad;
} hu_varint_reader;

static inline uint64_t hu_varint_get(hu_varint_reader *r)
{
    uint64_t u = 0;
    for (int shift = 0; shift < 64 && r->p < r->end; shift += 7) {
        uint8_t byte = *r->p++;
        if (shift == 63 && byte > 1) break;
        u |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return u;
    }
    r->bad = true;
    return 0;
}

static inline int64_t hu_varint_get_signed(hu_varint_reader *r)
{
    return hu_unzigzag(hu_varint_get(r));
}

#endif
