/* dense_kernel.c: hot loops of dense vectors, one build per instruction set. */
#include "config.h"
#include "dense/dense_kernel.h"

enum { SUMS = 32 }; /* running sums: four vectors of eight hide the latency of the additions */

double HU_NAME(hu_dot_block)(const double *x, const double *y, int64_t n)
{
    double sum[SUMS] = {0};
    int64_t k = 0;
    for (; k + SUMS <= n; k += SUMS)
        for (int l = 0; l < SUMS; l++) sum[l] += x[k + l] * y[k + l];
    for (int l = 0; k < n; k++, l++) sum[l] += x[k] * y[k];
    for (int half = SUMS / 2; half; half /= 2)
        for (int l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}
