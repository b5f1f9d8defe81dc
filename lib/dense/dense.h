/* dense.h: dense vectors and matrices. A vector is a matrix of one column.
 *
 * Sections: the container, sums that do not depend on the thread count, products by CBLAS.
 */
#ifndef HU_DENSE_DENSE_H
#define HU_DENSE_DENSE_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* double, float, pairs of double; and for storage only, as uint16_t: IEEE 754 binary16, and bfloat16 (the upper half of a float) */
typedef enum { HU_F64, HU_F32, HU_C128, HU_F16, HU_BF16 } hu_scalar;
typedef enum { HU_COL_MAJOR, HU_ROW_MAJOR } hu_order;

/* Element (i, j) stands at data[i + j ld] (column major) or data[i ld + j] (row major), in units of the scalar. */
typedef struct {
    int64_t rows, cols, ld;
    hu_scalar scalar;
    hu_order order;
    int dims; /* 1: came as a vector and is written as one; 2: a matrix */
    void *data;
} hu_dense;

size_t hu_scalar_size(hu_scalar scalar);
const char *hu_scalar_name(hu_scalar scalar); /* "f64" and the like */

/* One element as a double and back, rounded to nearest (ties to even); real scalars only. */
double hu_scalar_get(hu_scalar scalar, const void *data, int64_t at);
void hu_scalar_put(hu_scalar scalar, void *data, int64_t at, double value);

/* Not cleared. ld is rows (column major) or cols (row major). Free with hu_dense_free(). */
hu_status hu_dense_new(int64_t rows, int64_t cols, hu_scalar scalar, hu_order order, hu_dense **ret_a, hu_error *err);
void hu_dense_free(hu_dense *a); /* NULL is allowed */

/* A copy in another scalar and order; a complex matrix cannot become real. */
hu_status hu_dense_convert(const hu_dense *a, hu_scalar scalar, hu_order order, hu_dense **ret_b, hu_error *err);

/* HU_INPUT naming the 1-based place of the first value that is NaN or infinite. */
hu_status hu_dense_check_finite(const hu_dense *a, const char *name, hu_error *err);

/* ---- sums: blocks of fixed size in fixed order, so the bits are the same for any thread count */

double hu_dot(const double *x, const double *y, int64_t n);
double hu_norm2(const double *x, int64_t n); /* without overflow of intermediate squares */

/* ---- products */

/* C = alpha op(A) op(B) + beta C for HU_F64 or HU_F32 matrices of any order; shapes are checked (HU_USAGE). */
hu_status hu_dense_mul(double alpha, const hu_dense *a, bool transpose_a, const hu_dense *b, bool transpose_b, double beta,
                       hu_dense *c, hu_error *err);

#ifdef __cplusplus
}
#endif
#endif
