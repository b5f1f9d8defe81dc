/* ldl.h: L D L' of sparse symmetric quasi-definite matrices (Vanderbei 1995), without pivoting, under a fill-reducing order.
 *
 * The order is approximate minimum degree (SuiteSparse AMD; Amestoy, Davis, Duff: "Algorithm 837: AMD", ACM TOMS 30, 2004). The elimination tree, its
 * postorder and the columns of L are found once; values of the same pattern are then factored again and again. Where fill is dense, columns of
 * like pattern are taken together as supernodes and factored as fronts (Duff, Reid: "The multifrontal solution of indefinite sparse symmetric linear
 * equations", ACM TOMS 9, 1983) by dense/ldl.h; where it is not, row by row (Davis: "Algorithm 849: A concise sparse Cholesky factorization package",
 * ACM TOMS 31, 2005). Every sum has a fixed order, so the bits do not depend on the number of threads.
 */
#ifndef HU_SPARSE_LDL_H
#define HU_SPARSE_LDL_H

#include "dense/ldl.h"
#include "sparse/csr.h"

typedef enum { HU_LDL_AUTO, HU_LDL_SIMPLICIAL, HU_LDL_SUPERNODAL } hu_ldl_kind;

typedef struct hu_ldl hu_ldl;

/* Analyses the pattern of the lower triangle (columns <= row; HU_USAGE otherwise). opt_perm: the order, place k of it is row opt_perm[k]; NULL: AMD.
 * The matrix is not kept. Free with hu_ldl_free(). */
hu_status hu_ldl_analyze(const hu_csr *lower, const int32_t *opt_perm, hu_ldl_kind kind, hu_ldl **ret_ldl, hu_error *err);
void hu_ldl_free(hu_ldl *ldl); /* NULL is allowed */

/* Factors values of that pattern, val[p] for entry p of the analysed matrix. sign: [n], the sign that each row's pivot has (+1, -1). *opt_replaced: pivots
 * that were replaced. */
hu_status hu_ldl_factor(hu_ldl *ldl, const double *val, const int8_t *sign, hu_ldl_pivots pivots, int64_t *opt_replaced, hu_error *err);

/* X := A^-1 X by the factor, for count vectors of leading dimension ld. */
hu_status hu_ldl_solve(const hu_ldl *ldl, double *x, int64_t ld, int64_t count, hu_error *err);

/* One vector with iterative refinement: x solves A x = b, A the lower triangle given, of which the factored matrix may be a regularised neighbour. Ends when
 * the residual is below 2^-52 of its parts, hardly falls any more, or after `most` steps. *ret_residual: the
 * componentwise backward error, hu_backward_error(). work: [4 n]. */
hu_status hu_ldl_solve_refined(const hu_ldl *ldl, const hu_csr *lower, const double *b, double *ret_x, int most, double *work, double *ret_residual,
                               hu_error *err);

/* max_i |r_i| / max(scale_i, 2^-20 max scale) for r = b - A x and scale = |b| + |A| |x| (Oettli, Prager: "Compatibility of approximate solution of linear
 * equations", Numer. Math. 6, 1964; the floor leaves out rows where all is cancellation); *ret_norm: max |r_i| / max scale. NaN stays NaN. */
double hu_backward_error(const double *r, const double *scale, int64_t n, double *ret_norm);

/* One step of any refinement: keeps the best x [n] seen, by the geometric mean of the two errors, and says whether another step may help. Start with HU_REFINEMENT;
 * error is that of the best, NaN where none was finite. */
typedef struct {
    double merit, error;
} hu_refinement;
#define HU_REFINEMENT {__builtin_inf(), __builtin_nan("")}
bool hu_refinement_goes_on(hu_refinement *state, double error, double norm, const double *x, double *best, int64_t n);

/* y = A x for a symmetric matrix given by its lower triangle. */
void hu_csr_symmetric_multiply(const hu_csr *lower, const double *x, double *ret_y);

/* Pivots in the order of the rows of the matrix. ret_d: [n] */
void hu_ldl_pivots_of(const hu_ldl *ldl, double *ret_d);

typedef struct {
    hu_ldl_kind kind;
    int64_t n, entries, stored, supernodes, widest; /* entries of L without its diagonal, numbers stored for it, columns of the widest supernode */
    double flops;
} hu_ldl_facts;

hu_ldl_facts hu_ldl_facts_of(const hu_ldl *ldl);

#endif
