/* ipm.h: a primal-dual interior point method with static proximal shifts, for scaled problems.
 *
 * Mehrotra: "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2, 1992, from an infeasible start; every bound and every inequality
 * row keeps a slack and a multiplier of each finite side. The systems are quasi-definite by shifts rho, delta (Friedlander, Orban: "A primal-dual regularized
 * interior-point method for convex quadratic programs", Math. Prog. Comp. 4, 2012) which refinement takes back.
 */
#ifndef QP_IPM_H
#define QP_IPM_H

#include "kkt.h"

typedef enum { IPM_SOLVED, IPM_STALLED, IPM_LIMIT, IPM_INFEASIBLE, IPM_UNBOUNDED } ipm_outcome;

typedef struct {
    ipm_outcome outcome;
    int iterations;
    qp_quality quality;
} ipm_result;

/* Variables first, then rows: quantity k < n is x_k, quantity n + i is (A x)_i. Free with ipm_free(). */
typedef struct {
    int64_t n, m;
    double *x;          /* [n] */
    double *v;          /* [n + m] x, A x */
    double *w;          /* [n + m] z, y: multipliers of bounds and rows */
    double *tl, *tu;    /* [n + m] slacks of the lower and upper sides */
    double *zl, *zu;    /* [n + m] their multipliers */
    double *ray;        /* [n + m] on IPM_INFEASIBLE: z, y of the certificate; on IPM_UNBOUNDED: the direction [n] */
} ipm_state;

hu_status ipm_new(const qp_problem *p, ipm_state **ret_state, hu_error *err);
void ipm_free(ipm_state *s); /* NULL is allowed */

/* Solves to a relative residual of eps (qp_judge()), within `most` iterations; on IPM_STALLED the best point found stands in the state. */
hu_status ipm_solve(const qp_problem *p, kkt *k, double eps, int most, ipm_state *s, ipm_result *ret_result, hu_error *err);

#endif
