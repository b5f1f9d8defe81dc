/* spmm_maker.h: random sparse matrices, and the reference that products are held against: three loops in double. */
#ifndef SPMM_MAKER_H
#define SPMM_MAKER_H

#include "base/random.h"
#include "plan.h"

#include <math.h>

/* density of entries; with block > 1 rows of a block have the same columns. Values: whole numbers -3..3 or normal ones. */
static inline spmm_matrix *spmm_make(int64_t rows, int64_t cols, double density, int64_t block, bool whole, hu_scalar scalar, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    spmm_matrix *a;
    hu_random r = hu_random_stream(seed, 0);
    char *there = calloc((size_t)(rows * cols) + 1, 1);
    int64_t nnz = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            there[i * cols + j] = i % block ? there[(i - 1) * cols + j] : hu_random_uniform(&r) < density;
            nnz += there[i * cols + j];
        }
    if (spmm_matrix_new(rows, cols, nnz, scalar, false, &a, &err)) abort();
    a->row_ptr[0] = 0;
    for (int64_t i = 0, p = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            if (there[i * cols + j]) {
                a->col[p] = (int32_t)j;
                hu_scalar_put(scalar, a->val, p++, whole ? (double)hu_random_below(&r, 7) - 3 : hu_random_normal(&r));
            }
        a->row_ptr[i + 1] = p;
    }
    free(there);
    return a;
}

static inline void spmm_fill(hu_dense *b, bool whole, uint64_t seed)
{
    hu_random r = hu_random_stream(seed, 1);
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) hu_scalar_put(b->scalar, b->data, i * b->ld + j, whole ? (double)hu_random_below(&r, 7) - 3 : hu_random_normal(&r));
}

/* The greatest error of C against alpha A B + beta C0, in units of the bound g(n) (|alpha| sum |a||b| + |beta c0|) + u_out |ref|, which grows with the entries n
 * of a row. c0 may be NULL where beta is 0. */
static inline double spmm_error(const spmm_matrix *a, const hu_dense *b, const hu_dense *c, double alpha, double beta, const hu_dense *c0)
{
    const double u = a->scalar == HU_F64 ? 0x1p-53 : 0x1p-24, u_out = c->scalar == HU_F16 ? 0x1p-11 : c->scalar == HU_BF16 ? 0x1p-8 : 0;
    double most = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        const double n = (double)(a->row_ptr[i + 1] - a->row_ptr[i]) + 2, g = n * u / (1 - n * u);
        for (int64_t j = 0; j < b->cols; j++) {
            long double sum = 0, size = 0;
            for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
                const long double v = (long double)hu_scalar_get(a->scalar, a->val, p) * (long double)hu_scalar_get(b->scalar, b->data, a->col[p] * b->ld + j);
                sum += v;
                size += fabsl(v);
            }
            const long double old = beta != 0 ? beta * hu_scalar_get(c0->scalar, c0->data, i * c0->ld + j) : 0;
            const double ref = (double)(alpha * sum + old), bound = g * (double)(fabs(alpha) * size + fabsl(old)) + u_out * fabs(ref);
            const double error = fabs(hu_scalar_get(c->scalar, c->data, i * c->ld + j) - ref);
            if (!(error <= bound * most)) most = bound > 0 ? error / bound : error > 0 || error != error ? INFINITY : most;
        }
    }
    return most;
}

#endif
