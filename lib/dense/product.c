/* product.c: products of dense matrices by CBLAS, in an object of its own: only programs that multiply load the library.
 *
 * C is cut into blocks of fixed size, each one call on one thread, so that the bits do not depend on the number of threads; OpenBLAS's own
 * threads would divide the inner sums by their number.
 */
#include "config.h"
#include "dense/dense.h"
#include "base/parallel.h"

#include <cblas.h>

enum { BLOCK = 512 }; /* rows and columns of C; 512^2 doubles are 2 MiB */

static hu_status check_product(const hu_dense *a, bool ta, const hu_dense *b, bool tb, const hu_dense *c, hu_error *err)
{
    int64_t m = ta ? a->cols : a->rows, k = ta ? a->rows : a->cols, k2 = tb ? b->cols : b->rows, n = tb ? b->rows : b->cols;
    if (a->scalar != b->scalar || a->scalar != c->scalar || (a->scalar != HU_F64 && a->scalar != HU_F32))
        return hu_fail(err, HU_USAGE, "a product needs three matrices of one type, f64 or f32");
    if (k != k2 || c->rows != m || c->cols != n)
        return hu_fail(err, HU_USAGE, "a product of %lld x %lld and %lld x %lld does not give %lld x %lld", (long long)m,
                       (long long)k, (long long)k2, (long long)n, (long long)c->rows, (long long)c->cols);
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX || a->ld > INT32_MAX || b->ld > INT32_MAX || c->ld > INT32_MAX)
        return hu_fail(err, HU_USAGE, "a product's dimensions must fit 32 bits");
    return HU_OK;
}

/* Where element (i, j) of op(A) stands. */
static void *element(const hu_dense *a, bool transposed, int64_t i, int64_t j)
{
    int64_t row = transposed ? j : i, col = transposed ? i : j;
    int64_t at = a->order == HU_COL_MAJOR ? row + col * a->ld : row * a->ld + col;
    return (char *)a->data + (size_t)at * hu_scalar_size(a->scalar);
}

hu_status hu_dense_mul(double alpha, const hu_dense *a, bool transpose_a, const hu_dense *b, bool transpose_b, double beta,
                       hu_dense *c, hu_error *err)
{
    if (check_product(a, transpose_a, b, transpose_b, c, err)) return err->status;
    if (c->rows == 0 || c->cols == 0) return HU_OK;
    const int k = (int)(transpose_a ? a->rows : a->cols);
    /* A matrix of the other order is the transpose of one of C's order. */
    const CBLAS_TRANSPOSE ta = transpose_a != (a->order != c->order) ? CblasTrans : CblasNoTrans;
    const CBLAS_TRANSPOSE tb = transpose_b != (b->order != c->order) ? CblasTrans : CblasNoTrans;
    const CBLAS_ORDER order = c->order == HU_COL_MAJOR ? CblasColMajor : CblasRowMajor;
    const int lda = a->ld > 0 ? (int)a->ld : 1, ldb = b->ld > 0 ? (int)b->ld : 1, ldc = (int)c->ld;
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(1);
#endif
    const int64_t down = (c->rows + BLOCK - 1) / BLOCK, across = (c->cols + BLOCK - 1) / BLOCK;
#pragma omp parallel for collapse(2) schedule(dynamic) if (down * across > 1)
    for (int64_t p = 0; p < down; p++)
        for (int64_t q = 0; q < across; q++) {
            const int64_t i = p * BLOCK, j = q * BLOCK;
            const int m = (int)(c->rows - i < BLOCK ? c->rows - i : BLOCK), n = (int)(c->cols - j < BLOCK ? c->cols - j : BLOCK);
            const void *at_a = element(a, transpose_a, i, 0), *at_b = element(b, transpose_b, 0, j);
            void *at_c = element(c, false, i, j);
            if (c->scalar == HU_F64)
                cblas_dgemm(order, ta, tb, m, n, k, alpha, at_a, lda, at_b, ldb, beta, at_c, ldc);
            else
                cblas_sgemm(order, ta, tb, m, n, k, (float)alpha, at_a, lda, at_b, ldb, (float)beta, at_c, ldc);
        }
    return HU_OK;
}
