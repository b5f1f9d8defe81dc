/* ldl.c: L D L' of dense symmetric quasi-definite matrices.
 *
 * Sections: factoring, solving, the Gram product.
 */
#include "config.h"
#include "dense/ldl.h"
#include "dense/ldl_kernel.h"

#include <cblas.h>

enum { BLOCK = 64, TILE = 384, SMALL = 96 }; /* columns of a panel; rows and columns of a tile; what is left to the unblocked loops */

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
static void scale_rows(double *block, int64_t ld, int64_t from, int64_t to, int width, const double *inverse, double *work, int64_t rows)
{
    double *x = block + from;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, (int)(to - from), width, 1.0, block, (int)ld, x, (int)ld);
    for (int c = 0; c < width; c++) {
        double *column = x + c * ld, *kept = work + c * rows + from - width;
        for (int64_t i = 0; i < to - from; i++) {
            kept[i] = column[i];
            column[i] *= inverse[c];
        }
    }
}

/* The trailing matrix -= L W' by tiles of its lower triangle. */
static void update_trailing(double *block, int64_t ld, int64_t n, int width, const double *work)
{
    const int64_t rows = n - width, tiles = (rows + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
    double *const trailing = block + width * ld + width;
#pragma omp parallel for schedule(dynamic) if (pairs > 1)
    for (int64_t p = 0; p < pairs; p++) {
        int64_t q = 0, first = 0; /* tile column q begins at pair `first` */
        while (p - first >= tiles - q) first += tiles - q++;
        const int64_t r = q + p - first, i = r * TILE, j = q * TILE;
        const int64_t m = rows - i < TILE ? rows - i : TILE, c = rows - j < TILE ? rows - j : TILE;
        if (r > q) {
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)m, (int)c, width, -1.0, block + width + i, (int)ld, work + j, (int)rows, 1.0,
                        trailing + j * ld + i, (int)ld);
        } else { /* a diagonal tile, by strips, so that the upper triangle stays untouched but for the strips' own corners */
            enum { STRIP = 48 };
            for (int64_t s = 0; s < c; s += STRIP) {
                const int64_t w = c - s < STRIP ? c - s : STRIP;
                double corner[STRIP * STRIP], *at = trailing + (j + s) * ld + i + s;
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)w, (int)w, width, -1.0, block + width + i + s, (int)ld, work + j + s, (int)rows,
                            0.0, corner, STRIP);
                for (int64_t b = 0; b < w; b++)
                    for (int64_t a = b; a < w; a++) at[b * ld + a] += corner[b * STRIP + a];
                if (m > s + w)
                    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)(m - s - w), (int)w, width, -1.0, block + width + i + s + w, (int)ld,
                                work + j + s, (int)rows, 1.0, at + w, (int)ld);
            }
        }
    }
}

void hu_dense_ldl(double *a, int64_t ld, int64_t n, int64_t k, const int8_t *sign, hu_ldl_pivots pivots, double *ret_d, double *ret_inverse,
                  double *work, int64_t *replaced)
{
    if (n <= SMALL) {
        HU_PICK(hu_ldl_block)(a, ld, n, k, sign, pivots, ret_d, ret_inverse, replaced);
        return;
    }
    one_thread_each();
    for (int64_t j = 0; j < k; j += BLOCK) {
        const int width = (int)(k - j < BLOCK ? k - j : BLOCK);
        const int64_t left = n - j, rows = left - width, parts = (rows + TILE - 1) / TILE;
        double *const block = a + j * ld + j;
        HU_PICK(hu_ldl_block)(block, ld, width, width, sign + j, pivots, ret_d + j, ret_inverse + j, replaced);
        if (rows == 0) continue;
#pragma omp parallel for schedule(dynamic) if (parts > 1)
        for (int64_t p = 0; p < parts; p++) {
            const int64_t from = width + p * TILE, to = from + TILE < left ? from + TILE : left;
            scale_rows(block, ld, from, to, width, ret_inverse + j, work, rows);
        }
        update_trailing(block, ld, left, width, work);
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
    one_thread_each();
#pragma omp parallel for schedule(static) if (m * n > 1 << 15)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) work[i * n + j] = w[i] * a[i * lda + j];
    const int64_t tiles = (n + TILE - 1) / TILE, pairs = tiles * (tiles + 1) / 2;
#pragma omp parallel for schedule(dynamic) if (pairs > 1)
    for (int64_t p = 0; p < pairs; p++) {
        int64_t q = 0, first = 0;
        while (p - first >= tiles - q) first += tiles - q++;
        const int64_t i = (q + p - first) * TILE, j = q * TILE;
        const int64_t rows = n - i < TILE ? n - i : TILE, cols = n - j < TILE ? n - j : TILE;
        /* row major m x n is column major n x m: C_ij += A_i W_j' */
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)rows, (int)cols, (int)m, alpha, a + i, (int)lda, work + j, (int)n, 1.0, c + j * ldc + i,
                    (int)ldc);
    }
}
