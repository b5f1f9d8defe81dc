/* random.h: counter-based random numbers. Number i of stream s under a seed is a pure function of (seed, s, i),
 * so any thread count draws the same numbers.
 *
 * The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11).
 */
#ifndef HU_BASE_RANDOM_H
#define HU_BASE_RANDOM_H

#include <stdint.h>

/* One Philox4x32-10 block: 128 counter bits and 64 key bits to 128 random bits. */
void hu_random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_out[4]);

/* A cursor over one stream; copying it copies the position. */
typedef struct {
    uint64_t seed, stream, next;
} hu_random;

hu_random hu_random_stream(uint64_t seed, uint64_t stream);
uint64_t hu_random_u64(hu_random *r);
double hu_random_uniform(hu_random *r);                    /* [0, 1), 53 bits */
int64_t hu_random_below(hu_random *r, int64_t n);          /* 0 .. n-1 without bias; n >= 1 */
double hu_random_normal(hu_random *r);                     /* mean 0, variance 1 (Box-Muller) */
void hu_random_shuffle(hu_random *r, int32_t *items, int64_t n);

#endif
