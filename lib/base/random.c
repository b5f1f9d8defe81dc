/* random.c: counter-based random numbers (Philox4x32-10). */
#include "config.h"
#include "base/random.h"

#include <math.h>

void hu_random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t ret_out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u; /* Weyl sequence: golden ratio, sqrt(3) - 1 */
        k1 += 0xBB67AE85u;
    }
    ret_out[0] = c0;
    ret_out[1] = c1;
    ret_out[2] = c2;
    ret_out[3] = c3;
}

hu_random hu_random_stream(uint64_t seed, uint64_t stream)
{
    return (hu_random){seed, stream, 0};
}

uint64_t hu_random_u64(hu_random *r)
{
    uint64_t block = r->next / 2;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)r->stream, (uint32_t)(r->stream >> 32)};
    uint32_t key[2] = {(uint32_t)r->seed, (uint32_t)(r->seed >> 32)}, out[4];
    hu_random_block(counter, key, out);
    int half = (int)(r->next++ % 2) * 2;
    return (uint64_t)out[half + 1] << 32 | out[half];
}

double hu_random_uniform(hu_random *r)
{
    return (double)(hu_random_u64(r) >> 11) * 0x1p-53;
}

int64_t hu_random_below(hu_random *r, int64_t n)
{
    uint64_t range = (uint64_t)n, reject = -range % range; /* 2^64 mod n: the draws below it would bias */
    for (;;) {
        unsigned __int128 product = (unsigned __int128)hu_random_u64(r) * range;
        if ((uint64_t)product >= reject) return (int64_t)(product >> 64);
    }
}

double hu_random_normal(hu_random *r)
{
    double u = 1.0 - hu_random_uniform(r), v = hu_random_uniform(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

void hu_random_shuffle(hu_random *r, int32_t *items, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = hu_random_below(r, i + 1);
        int32_t t = items[i];
        items[i] = items[j];
        items[j] = t;
    }
}
