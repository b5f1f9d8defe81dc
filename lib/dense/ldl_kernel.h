/* ldl_kernel.h: the innermost loops of L D L', one build per instruction set. */
#ifndef HU_DENSE_LDL_KERNEL_H
#define HU_DENSE_LDL_KERNEL_H

#include "dense/ldl.h"
#include "device/level.h"

/* Unblocked: k columns of an n x n lower triangle, as hu_dense_ldl() does. */
HU_LEVELS(void, hu_ldl_block, (double *a, int64_t ld, int64_t n, int64_t k, const int8_t *sign, hu_ldl_pivots pivots, double *d, double *inverse, int64_t *replaced));

/* C -= A B': C is m x n, A m x k, B n x k, all column major. */
HU_LEVELS(void, hu_ldl_update, (double *c, int64_t ldc, const double *a, int64_t lda, const double *b, int64_t ldb, int64_t m, int64_t n, int64_t k));

/* One vector through a unit lower triangle of k columns and n >= k rows: x[0..k-1] := L^-1 x, y[0..n-k-1] -= L_below x; and back: x := L^-T (x - L_below' y). */
HU_LEVELS(void, hu_ldl_down, (const double *a, int64_t ld, int64_t n, int64_t k, double *x, double *y));
HU_LEVELS(void, hu_ldl_up, (const double *a, int64_t ld, int64_t n, int64_t k, double *x, const double *y));

#endif
