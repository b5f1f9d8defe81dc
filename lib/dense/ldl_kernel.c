/* ldl_kernel.c: the innermost loops of L D L', one build per instruction set. */
#include "config.h"
#include "dense/ldl_kernel.h"

#include <math.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

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

/* ---- C -= A B' ---- */

typedef double lanes __attribute__((vector_size(HU_LANES * 8), aligned(8), may_alias));
enum { ROWS = 3 * HU_LANES, COLS = HU_LANES == 8 ? 8 : 4 }; /* of C in registers */

static inline lanes subtract_product(lanes c, lanes a, lanes b)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (lanes)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return c - a * b;
#endif
}

/* One block of ROWS x COLS, in registers over all of k. */
static inline void update_block(double *c, int64_t ldc, const double *a, int64_t lda, const double *b, int64_t ldb, int64_t k)
{
    lanes sum[COLS][3];
    for (int j = 0; j < COLS; j++)
        for (int v = 0; v < 3; v++) sum[j][v] = *(const lanes *)(c + j * ldc + v * HU_LANES);
    for (int64_t p = 0; p < k; p++) {
        const lanes a0 = *(const lanes *)(a + p * lda), a1 = *(const lanes *)(a + p * lda + HU_LANES), a2 = *(const lanes *)(a + p * lda + 2 * HU_LANES);
#pragma GCC unroll 8
        for (int j = 0; j < COLS; j++) {
            const lanes factor = b[p * ldb + j] - (lanes){0};
            sum[j][0] = subtract_product(sum[j][0], a0, factor);
            sum[j][1] = subtract_product(sum[j][1], a1, factor);
            sum[j][2] = subtract_product(sum[j][2], a2, factor);
        }
    }
    for (int j = 0; j < COLS; j++)
        for (int v = 0; v < 3; v++) *(lanes *)(c + j * ldc + v * HU_LANES) = sum[j][v];
}

/* What does not fill a block, column by column. */
static void update_edge(double *c, int64_t ldc, const double *a, int64_t lda, const double *b, int64_t ldb, int64_t m, int64_t n, int64_t k)
{
    for (int64_t j = 0; j < n; j++) {
        int64_t p = 0;
        double *restrict column = c + j * ldc;
        for (; p + 4 <= k; p += 4) {
            const double *restrict a0 = a + p * lda, *restrict a1 = a0 + lda, *restrict a2 = a1 + lda, *restrict a3 = a2 + lda;
            const double f0 = b[p * ldb + j], f1 = b[(p + 1) * ldb + j], f2 = b[(p + 2) * ldb + j], f3 = b[(p + 3) * ldb + j];
            for (int64_t i = 0; i < m; i++) column[i] -= (f0 * a0[i] + f1 * a1[i]) + (f2 * a2[i] + f3 * a3[i]);
        }
        for (; p < k; p++) subtract(column, a + p * lda, b[p * ldb + j], m);
    }
}

void HU_NAME(hu_ldl_update)(double *c, int64_t ldc, const double *a, int64_t lda, const double *b, int64_t ldb, int64_t m, int64_t n, int64_t k)
{
    enum { DEPTH = 128 }; /* columns of A that stay in the caches */
    for (int64_t from = 0; from < k; from += DEPTH) {
        const int64_t depth = k - from < DEPTH ? k - from : DEPTH, rows = m / ROWS * ROWS, cols = n / COLS * COLS;
        const double *const af = a + from * lda, *const bf = b + from * ldb;
        for (int64_t i = 0; i < rows; i += ROWS)
            for (int64_t j = 0; j < cols; j += COLS) update_block(c + j * ldc + i, ldc, af + i, lda, bf + j, ldb, depth);
        if (rows < m) update_edge(c + rows, ldc, af + rows, lda, bf, ldb, m - rows, n, depth);
        if (cols < n) update_edge(c + cols * ldc, ldc, af, lda, bf + cols, ldb, rows, n - cols, depth);
    }
}
