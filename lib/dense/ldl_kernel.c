/* ldl_kernel.c: the innermost loops of L D L', one build per instruction set. */
#include "config.h"
#include "dense/ldl_kernel.h"

#include <math.h>

static double accept(double pivot, int8_t sign, hu_ldl_pivots p, int64_t *replaced)
{
    if (pivot * sign > p.least) return pivot; /* NaN is replaced as well */
    (*replaced)++;
    return sign * p.replacement;
}

/* Column j of the part below row `from` -= l * (what column j weighs). */
static inline void subtract(double *restrict to, const double *restrict from, double factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] -= factor * from[i];
}

/* Left-looking by pairs of columns: column j takes the updates of all columns before it, then is scaled. */
void HU_NAME(hu_ldl_block)(double *a, int64_t ld, int64_t n, int64_t k, const int8_t *sign, hu_ldl_pivots pivots, double *d, double *inverse, int64_t *replaced)
{
    for (int64_t j = 0; j < k; j++) {
        double *restrict column = a + j * ld;
        int64_t c = 0;
        for (; c + 4 <= j; c += 4) {
            const double *restrict l0 = a + c * ld, *restrict l1 = l0 + ld, *restrict l2 = l1 + ld, *restrict l3 = l2 + ld;
            const double f0 = l0[j] * d[c], f1 = l1[j] * d[c + 1], f2 = l2[j] * d[c + 2], f3 = l3[j] * d[c + 3];
            for (int64_t i = j; i < n; i++) column[i] -= (f0 * l0[i] + f1 * l1[i]) + (f2 * l2[i] + f3 * l3[i]);
        }
        for (; c < j; c++) subtract(column + j, a + c * ld + j, a[c * ld + j] * d[c], n - j);
        d[j] = accept(column[j], sign[j], pivots, replaced);
        inverse[j] = 1.0 / d[j];
        for (int64_t i = j + 1; i < n; i++) column[i] *= inverse[j];
    }
    for (int64_t j = k; j < n; j++) { /* the Schur complement */
        double *restrict column = a + j * ld;
        for (int64_t c = 0; c < k; c++) subtract(column + j, a + c * ld + j, a[c * ld + j] * d[c], n - j);
    }
}

void HU_NAME(hu_ldl_down)(const double *a, int64_t ld, int64_t n, int64_t k, double *x, double *y)
{
    for (int64_t j = 0; j < k; j++) {
        subtract(x + j + 1, a + j * ld + j + 1, x[j], k - j - 1);
        subtract(y, a + j * ld + k, x[j], n - k);
    }
}

enum { SUMS = 32 };

/* In an order that does not depend on the vector width. */
static inline double dot(const double *restrict x, const double *restrict y, int64_t n)
{
    double sum[SUMS] = {0};
    int64_t k = 0;
    if (n < SUMS) {
        double total = 0;
        for (; k < n; k++) total += x[k] * y[k];
        return total;
    }
    for (; k + SUMS <= n; k += SUMS)
        for (int l = 0; l < SUMS; l++) sum[l] += x[k + l] * y[k + l];
    for (int l = 0; k < n; k++, l++) sum[l] += x[k] * y[k];
    for (int half = SUMS / 2; half; half /= 2)
        for (int l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}

void HU_NAME(hu_ldl_up)(const double *a, int64_t ld, int64_t n, int64_t k, double *x, const double *y)
{
    for (int64_t j = k - 1; j >= 0; j--)
        x[j] -= dot(a + j * ld + j + 1, x + j + 1, k - j - 1) + dot(a + j * ld + k, y, n - k);
}
