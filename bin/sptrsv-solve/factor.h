/* factor.h: incomplete factors without fill, on the pattern of the matrix and in its natural order.
 *
 * ILU(0) and IC(0) after Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithms 10.4 (IKJ order) and the
 * Cholesky counterpart. Each row depends only on the rows that it refers to, so rows of one level set are worked at once; the
 * operations on a row have one order, so the bits do not depend on the thread count.
 */
#ifndef SPTRSV_FACTOR_H
#define SPTRSV_FACTOR_H

#include "sparse/csr.h"
#include "system.h"

/* L U = A on the pattern of A. *ret_l is strictly lower (its unit diagonal is not stored: solve it with unit_diagonal), *ret_u is
 * upper with the diagonal. Real matrices. SPTRSV_BREAKDOWN names the row, 1-based, whose pivot is zero, absent or not finite. */
hu_status sptrsv_ilu0(const hu_csr *a, const char *name, hu_csr **ret_l, hu_csr **ret_u, hu_error *err);

/* L L' = A on the lower pattern of A; the upper half of A is not read, so a full symmetric matrix and its lower half give the
 * same; a matrix that holds nothing but its upper half is taken as that half's transpose. *ret_l is lower with the diagonal. SPTRSV_BREAKDOWN names the row, 1-based, whose pivot is not positive (with its value),
 * absent or not finite. */
hu_status sptrsv_ic0(const hu_csr *a, const char *name, hu_csr **ret_l, hu_error *err);

#endif
