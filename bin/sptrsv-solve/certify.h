/* certify.h: is x a backward-stable solution of T x = b? The answer needs no trust in the kernels: residuals are recomputed in
 * double-double arithmetic from the matrix as it was read.
 *
 * For row i with k off-diagonal entries a computed solution satisfies (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
 * edition, theorem 8.5 and section 8.1; + 4 covers a diagonal that was folded into the row)
 *
 *     |b_i - sum_j t_ij x_j| <= c (k + 4) u (sum_j |t_ij| |x_j| + |b_i|) + (k + 2) max(1, |t_ii|) e
 *
 * u: unit roundoff of the arithmetic, 2^-53 or 2^-24; e: the least positive number of the arithmetic, since an operation that
 * underflows errs by at most e / 2, and one that comes before the division by t_ii weighs 1, one after it |t_ii|.
 * Complex: moduli in place of magnitudes, and u grows to sqrt(2) gamma_2 = 2 sqrt(2) u, the error of a complex product (Higham,
 * lemma 3.5); a quotient errs by 4 sqrt(2) u, which is two such units and within + 4.
 */
#ifndef SPTRSV_CERTIFY_H
#define SPTRSV_CERTIFY_H

#include "dense/dense.h"
#include "plan.h"
#include "system.h"

typedef struct {
    bool holds;               /* in every row of every column; a NaN never holds */
    int64_t worst_row, worst_col; /* 0-based, where residual / bound is greatest; the first of equals */
    double worst_ratio, residual, bound; /* there; ratio is infinite where x or a residual is not finite */
    double storage;           /* float storage: greatest (|T - fl32(T)| |x|)_i / (|T| |x| + |b|)_i, relative; else 0 */
} sptrsv_certificate;

/* Certifies x against b; both of one shape, HU_F64, HU_F32 or HU_C128, any order. precision: what the plan that solved used.
 * For SPTRSV_F32 and SPTRSV_MIXED the matrix is taken as rounded to float, and what that rounding itself costs is reported apart in
 * `storage`. c: 1 for the theorem's constant. HU_NO with the worst row in the message where the bound does not hold. Parallel. */
hu_status sptrsv_certify(const sptrsv_system *system, sptrsv_precision precision, double c, const hu_dense *b, const hu_dense *x,
                         sptrsv_certificate *ret_certificate, hu_error *err);

/* Iterative refinement: `steps` times x += solve(b - T x), with the residual in double-double (T as read, not as rounded) and the
 * plan's own solve. x holds a solution of the plan, but may be HU_F64 for a plan in float: it then converges to double accuracy. */
hu_status sptrsv_refine(const sptrsv_plan *plan, const sptrsv_system *system, int steps, const hu_dense *b, hu_dense *x,
                        hu_error *err);

#endif
