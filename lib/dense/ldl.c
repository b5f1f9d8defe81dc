/* ldl.c: L D L' of dense symmetric quasi-definite matrices.
 *
 * Sections: factoring, solving, the Gram product.
 */
#include "config.h"
#include "dense/ldl.h"
#include "dense/ldl_kernel.h"

#include <cblas.h>

enum { BLOCK = 64, TILE = 384, SMALL = 96, SHARED = 1024 }; /* columns of a panel; rows and columns of a tile; what is left to the unblocked loops; rows from which on threads pay */

static void one_thread_each(void)
{
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(1);
#endif
}

/* ---- factoring ---------------------------------------------------------------------------------------------------- */

int64_t hu_dense_ldl_work(int64_t n)
{
    return n <= SMALL ? 1 : n * BLOCK;
}

/* Rows from..to below a factored diagonal block of `width` columns: X := X L^-T, kept in work as W = X, then X := W D^-1. */
static void scale_rows(double *block, int64_t ld, int64_t from, int64_t to, int64_t width, const double *inverse, double *work, int64_t rows)
{
    enum { STEP = 8 };
    const int64_t count = to - from;
    double *const x = block + from;
    for (int64_t c = 0; c < width; c += STEP) {
        const int64_t end = c + STEP < width ? c + STEP : width;
        HU_PICK(hu_ldl_update)(x + c * ld, ld, x, ld, block + c, ld, count, end - c, c);
        for (int64_t k = c + 1; k < end; k++)
            for (int64_t p = c; p < k; p++) {
                const double factor = block[p * ld + k];
                for (int64_t i = 0; i < count; i++) x[k * ld + i] -= factor * x[p * ld + i];
            }
    }
    for (int64_t c = 0; c < width; c++) {
        double *column = x + c * ld, *kept = work + c * rows + from - width;
        for (int64_t i = 0; i < count; i++) {
            kept[i] = column[i];
            column[i] *= inverse[c];
        }
    }
}

/* A tile on the diagonal by strips, whose own corners alone touch the upper triangle, in a copy. */
static void update_diagonal(double *c, int64_t ldc, const double *a, int64_t lda, const double *b, int64_t ldb, int64_t n, int64_t k)
{
    enum { STRIP = 48 };
    for (int64_t s = 0; s < n; s += STRIP) {
        const int64_t w = n - s < STRIP ? n - s : STRIP;
        double corner[STRIP * STRIP] = {0}, *at = c + s * ldc + s;
        HU_PICK(hu_ldl_update)(corner, STRIP, a + s, lda, b + s, ldb, w, w, k);
        for (int64_t j = 0; j < w; j++)
            for (int64_t i = j; i < w; i++) at[j * ldc + i] += corner[j * STRIP + i];
        if (n > s + w) HU_PICK(hu_ldl_update)(at + w, ldc, a + s + w, lda, b + s, ldb, n - s - w, w, k);
    }
}

/* The lower triangle of the n x n matrix C -= A B' by tiles, A and B n x k. */
static void update_lower(double *c, int64_t ldc, const double *a, int64_t lda, const double *b, int64_t ldb, int64_t n, int64_t k)
{
    const int64_t tiles = (n + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
#pragma omp parallel for schedule(dynamic) if (n >= SHARED)
    for (int64_t p = 0; p < pairs; p++) {
        int64_t q = 0, first = 0; /* tile column q begins at pair `first` */
        while (p - first >= tiles - q) first += tiles - q++;
        const int64_t r = q + p - first, i = r * TILE, j = q * TILE;
        const int64_t rows = n - i < TILE ? n - i : TILE, cols = n - j < TILE ? n - j : TILE;
        if (r > q) HU_PICK(hu_ldl_update)(c + j * ldc + i, ldc, a + i, lda, b + j, ldb, rows, cols, k);
        else update_diagonal(c + j * ldc + i, ldc, a + i, lda, b + j, ldb, rows, k);
    }
}

void hu_dense_ldl(double *a, int64_t ld, int64_t n, int64_t k, const int8_t *sign, hu_ldl_pivots pivots, double *ret_d, double *ret_inverse,
                  double *work, int64_t *replaced)
{
    if (n <= SMALL) {
        HU_PICK(hu_ldl_block)(a, ld, n, k, sign, pivots, ret_d, ret_inverse, replaced);
        return;
    }
    for (int64_t j = 0; j < k; j += BLOCK) {
        const int64_t width = k - j < BLOCK ? k - j : BLOCK;
        const int64_t left = n - j, rows = left - width, parts = (rows + TILE - 1) / TILE;
        double *const block = a + j * ld + j;
        HU_PICK(hu_ldl_block)(block, ld, width, width, sign + j, pivots, ret_d + j, ret_inverse + j, replaced);
        if (rows == 0) continue;
#pragma omp parallel for schedule(dynamic) if (rows >= SHARED)
        for (int64_t p = 0; p < parts; p++) {
            const int64_t from = width + p * TILE, to = from + TILE < left ? from + TILE : left;
            scale_rows(block, ld, from, to, width, ret_inverse + j, work, rows);
        }
        update_lower(block + width * ld + width, ld, block + width, ld, work, rows, rows, width);
    }
}

/* ---- solving ------------------------------------------------------------------------------------------------------ */

void hu_dense_ldl_forward(const double *a, int64_t ld, int64_t k, double *x, int64_t ldx, int64_t count)
{
    if (k == 0 || count == 0) return;
    if (count == 1) {
        HU_PICK(hu_ldl_down)(a, ld, k, k, x, NULL);
        return;
    }
    one_thread_each();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, (int)k, (int)count, 1.0, a, (int)ld, x, (int)ldx);
}

void hu_dense_ldl_backward(const double *a, int64_t ld, int64_t k, double *x, int64_t ldx, int64_t count)
{
    if (k == 0 || count == 0) return;
    if (count == 1) {
        HU_PICK(hu_ldl_up)(a, ld, k, k, x, NULL);
        return;
    }
    one_thread_each();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, (int)k, (int)count, 1.0, a, (int)ld, x, (int)ldx);
}

/* ---- the Gram product --------------------------------------------------------------------------------------------- */

void hu_dense_gram(int64_t n, int64_t m, double alpha, const double *a, int64_t lda, const double *w, double *c, int64_t ldc, double *work)
{
    if (n == 0 || m == 0) return;
#pragma omp parallel for schedule(static) if (m * n > 1 << 20)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) work[i * n + j] = -alpha * w[i] * a[i * lda + j];
    update_lower(c, ldc, a, lda, work, n, n, m); /* row major m x n is column major n x m */
}
