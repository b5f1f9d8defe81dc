/* kkt.h: the symmetric systems behind every step of this program,
 *
 *     [P + diag(dx)   A'     ] [x]   [b1]
 *     [A             -diag(ds)] [y] = [b2]
 *
 * for changing dx and ds. An infinite dx_j fixes x_j = 0 (a variable at its bound), an infinite ds_i takes row i away (y_i = 0). So one object serves the interior
 * point steps, the active set, and every gradient. Sparse problems go through L D L' under one order; dense ones through a dense front, into which rows of ds > 0
 * are summed as A' diag(1/ds) A.
 *
 * Sections: the systems.
 */
#ifndef QP_KKT_H
#define QP_KKT_H

#include "problem.h"

typedef enum { KKT_AUTO, KKT_SPARSE, KKT_DENSE } kkt_path;

typedef struct kkt kkt;

/* The problem stays the caller's and must live as long. AUTO takes the dense way where a fifth of P and A is there. Free with kkt_free(). */
hu_status kkt_new(const qp_problem *p, kkt_path path, kkt **ret_kkt, hu_error *err);
void kkt_free(kkt *k); /* NULL is allowed */

/* Factors for dx >= 0 [n] and ds >= 0 [m]; rho and delta are the static shifts of the two diagonals, which refinement takes back. */
hu_status kkt_factor(kkt *k, const double *dx, const double *ds, double rho, double delta, hu_error *err);

/* Solves [n + m] with at most `most` steps of refinement on the system without shifts; *ret_residual: its componentwise backward error. */
hu_status kkt_solve(kkt *k, const double *b, double *ret_x, int most, double *ret_residual, hu_error *err);

bool kkt_is_dense(const kkt *k);
double kkt_entries(const kkt *k);  /* numbers of the factor */
int64_t kkt_factors(const kkt *k); /* how many factorisations so far */

#endif
