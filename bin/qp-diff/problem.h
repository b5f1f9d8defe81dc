/* problem.h: the convex quadratic program of this program, and what is done to it as data.
 *
 *     minimise 1/2 x' P x + q' x + c0   over   l <= A x <= u,  lb <= x <= ub
 *
 * Bounds on variables never become rows. Multipliers: P x + q + A' y + z = 0; y_i > 0 where row i holds at u_i, y_i < 0 where it holds at l_i, and the same of
 * z at bounds.
 *
 * Sections: the problem, products, scaling, its size of errors.
 */
#ifndef QP_PROBLEM_H
#define QP_PROBLEM_H

#include "sparse/csr.h"

#define QP_INFINITY 1e20 /* bounds from here on are none */

/* The program's own answers. */
typedef enum {
    QP_INFEASIBLE = HU_PROGRAM,
    QP_UNBOUNDED = HU_PROGRAM + 1,
    QP_LIMIT = HU_PROGRAM + 2,     /* of iterations */
    QP_NONCONVEX = HU_PROGRAM + 3,
    QP_NOT_UNIQUE = HU_PROGRAM + 4 /* the gradient, or the solution that it needs */
} qp_answer;

/* ---- the problem */

typedef struct {
    int64_t n, m;
    hu_csr *P; /* n x n, both triangles */
    hu_csr *A; /* m x n */
    double *q, *lb, *ub; /* [n], infinities where there is no bound */
    double *l, *u;       /* [m] */
    double c0;
} qp_problem;

/* Room for vectors: q = 0, no bounds; P and A are taken over (also on failure). A may be NULL: no rows. Free with qp_free(). */
hu_status qp_new(hu_csr *P, hu_csr *A, int64_t n, qp_problem **ret_problem, hu_error *err);
void qp_free(qp_problem *p); /* NULL is allowed */
hu_status qp_copy(const qp_problem *p, qp_problem **ret_copy, hu_error *err);

/* Turns bounds of size QP_INFINITY and up into infinities and checks that no bound is NaN, no lower one above its upper one, +infinite below or -infinite above.
 * HU_INPUT names the row or variable, 1-based. */
hu_status qp_check_bounds(qp_problem *p, const char *name, hu_error *err);

/* ---- products; the sums of each element have a fixed order */

void qp_multiply(const hu_csr *a, const double *x, double *ret_y);           /* y = A x */
void qp_multiply_abs(const hu_csr *a, const double *x, double *ret_y);       /* y = |A| |x| */
void qp_add_transposed(const hu_csr *a, const double *y, double *x);         /* x += A' y */
void qp_add_transposed_abs(const hu_csr *a, const double *y, double *x);     /* x += |A|' |y| */
double qp_objective(const qp_problem *p, const double *x, double *work);     /* work: [n] */

/* ---- scaling: D and E of powers of two, so that scaling and its undoing are exact */

typedef struct {
    double *D, *E; /* [n], [m]: x = D xs, y = E ys / c, z = zs / (c D), rows of A times E */
    double c;
} qp_scaling;

/* Ruiz: "A scaling algorithm to equilibrate both rows and columns norms in matrices", RAL-TR-2001-034, on [P A'; A 0], then the objective by c. */
hu_status qp_scale(const qp_problem *p, qp_problem **ret_scaled, qp_scaling *ret_scaling, hu_error *err);
void qp_scaling_free(qp_scaling *s);

/* ---- how far a point is from optimal */

typedef struct {
    double primal, dual, gap; /* each relative to what it is the difference of, and 1 */
    double residual;          /* the largest of the three */
    int64_t worst;            /* the row (from 0) of the worst primal or dual residual; rows of A first, then variables */
    double objective;
} qp_quality;

/* primal: over rows and bounds, violation / (1 + |bound| + |a_i| |x|); dual: over variables, |P x + q + A' y + z| / (1 + |P| |x| + |q| + |A|' |y| + |z|); gap: over rows and
 * bounds, min(|multiplier|, slack on the side that its sign tells), each relative to its own scale as above. */
hu_status qp_judge(const qp_problem *p, const double *x, const double *y, const double *z, qp_quality *ret_quality, hu_error *err);

#endif
