/* verify.h: a product against one by plain loops in higher precision. */
#ifndef SPMM_VERIFY_H
#define SPMM_VERIFY_H

#include "plan.h"

/* The greatest over C's elements of |c - r| / bound, where r = alpha A B + beta C0 is computed in long double from the same operands, and
 *     bound = g (|alpha| sum |a| |b| + |beta c0|) + u_out |r|,   g = (n + 2) u / (1 - (n + 2) u),
 * n: entries of the row, u: unit roundoff of the sums (2^-24, 2^-53), u_out: of C's type (2^-11 f16, 2^-8 bf16, else 0), plus the least subnormal of C's type.
 * At most 1 where the product is right. An element that is not finite where r is, or the other way, gives infinity. opt_c0: C before, or NULL where beta is 0. */
double spmm_verify(const spmm_matrix *a, const hu_dense *b, const hu_dense *c, double alpha, double beta, const hu_dense *opt_c0);

#endif
