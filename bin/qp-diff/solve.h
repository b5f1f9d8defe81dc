/* solve.h: a problem from its data to a certified answer.
 *
 * Sections: options, the answer, solving.
 */
#ifndef QP_SOLVE_H
#define QP_SOLVE_H

#include "active.h"
#include "ipm.h"

typedef struct {
    double eps;      /* relative residual that the interior point method is asked for */
    int iterations;  /* at most */
    kkt_path path;
} solve_options;

#define SOLVE_DEFAULTS {1e-9, 200, KKT_AUTO}

/* Everything that later steps need is kept: the scaled problem, the system and its last factor. Free with solve_free(). */
typedef struct {
    const qp_problem *p;
    qp_problem *scaled;
    qp_scaling scaling;
    kkt *k;
    active *set;
    int64_t n, m;
    double *x, *y, *z;  /* [n], [m], [n] of the problem as given */
    double *ax;         /* [m] */
    bool certified;     /* the active set determines the point */
    bool has_ray;       /* the answer is a certificate: z, y, or the direction in x */
    int iterations, rounds;
    qp_quality quality;
} solution;

/* Solves. The status is HU_OK, or QP_INFEASIBLE, QP_UNBOUNDED, QP_NONCONVEX, QP_LIMIT with the reason in err (and the certificate in the solution where has_ray), or a
 * failure. The problem must live as long as the solution. */
hu_status solve_problem(const qp_problem *p, const solve_options *o, solution **ret_solution, hu_error *err);
/* The solution near a point x [n], y [m] that came from elsewhere, by its active set alone. HU_NO where the search from it does not end at a certified point, or ends away from it
 * (by more than 1e-3 of its size). */
hu_status solve_from_point(const qp_problem *p, const solve_options *o, const double *x, const double *y, solution **ret_solution, hu_error *err);
void solve_free(solution *s); /* NULL is allowed */

#endif
