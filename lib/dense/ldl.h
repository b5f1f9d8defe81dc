/* ldl.h: L D L' of dense symmetric quasi-definite matrices, whole or of the leading columns only, without pivoting.
 *
 * A symmetric quasi-definite matrix has an L D L' under every symmetric permutation, with as many positive and negative pivots as the two blocks
 * have rows (Vanderbei: "Symmetric quasidefinite matrices", SIAM J. Optim. 5, 1995), so no pivot is searched: the caller says which sign each pivot
 * has, and one that comes out of the wrong sign or too small is replaced.
 *
 * Blocks and tiles are of fixed size and each tile is one call on one thread, so the bits do not depend on the number of threads.
 */
#ifndef HU_DENSE_LDL_H
#define HU_DENSE_LDL_H

#include "base/error.h"

/* What becomes of pivots: one with sign(pivot) != sign, or |pivot| <= least, becomes sign * replacement. */
typedef struct {
    double least, replacement;
} hu_ldl_pivots;

/* Factors the leading k columns of the lower triangle of the n x n matrix a (column major, leading dimension ld >= n): on return column j < k holds
 * L(j+1:n, j), diagonal d[j] stands in d and 1/d[j] in inverse; the trailing (n - k) x (n - k) lower triangle holds its Schur complement. sign: [k],
 * +1 or -1. Adds the number of replaced pivots to *replaced. The upper triangle is not touched. work: [hu_dense_ldl_work(n)]. */
void hu_dense_ldl(double *a, int64_t ld, int64_t n, int64_t k, const int8_t *sign, hu_ldl_pivots pivots, double *ret_d, double *ret_inverse,
                  double *work, int64_t *replaced);
int64_t hu_dense_ldl_work(int64_t n);

/* x := L^-1 x and x := L^-T x with the leading k columns of such a factor, n = k, for count vectors of leading dimension ldx. */
void hu_dense_ldl_forward(const double *a, int64_t ld, int64_t k, double *x, int64_t ldx, int64_t count);
void hu_dense_ldl_backward(const double *a, int64_t ld, int64_t k, double *x, int64_t ldx, int64_t count);

/* C := C + alpha A' diag(w) A, lower triangle of an n x n matrix (column major); A is m x n, row major (row i at a + i * lda). work: [m n] */
void hu_dense_gram(int64_t n, int64_t m, double alpha, const double *a, int64_t lda, const double *w, double *c, int64_t ldc, double *work);

#endif
