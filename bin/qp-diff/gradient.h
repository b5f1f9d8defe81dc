/* gradient.h: derivatives of the solution of a quadratic program with respect to all of its data, through the factor of its active set.
 *
 * At a point whose rows and bounds in force are S, K_S [x; y_S] = [-q; b_S]. For a loss with gradients gx in x and gy in y, one solve
 *     K_S [dx; mu_S] = -[gx; gy_S]
 * gives all gradients (theorem 1 of "BPQP: A differentiable convex optimization framework for
 * efficient end-to-end learning", NeurIPS 2024; mu already holds the multipliers, which are not multiplied in again):
 *     dq = dx,  dP = 1/2 (dx x' + x dx'),  dA = y dx' + mu x',  and -mu for the bound that is in force.
 * The derivative along a direction in the data is K_S [x'; y'] = [-(P'x + q' + A''y); b' - A'x] where nothing is degenerate, and else the solution of the quadratic program over
 * the critical cone: exact and one-sided.
 *
 * Rows and bounds that are in force with a multiplier of zero are weak: there the solution has no gradient but only one-sided derivatives. EXCLUDE takes the
 * gradient as if they were not there, INCLUDE as if they were equalities, MEAN half of each; each of the first two is an element of the generalised Jacobian.
 *
 * Sections: the point, gradients, directions.
 */
#ifndef QP_GRADIENT_H
#define QP_GRADIENT_H

#include "solve.h"

typedef enum { DEGENERATE_EXCLUDE, DEGENERATE_INCLUDE, DEGENERATE_MEAN } gradient_rule;

/* ---- the point */

/* Variables first, then rows, as in active.h. */
typedef struct {
    solution *s;
    int8_t *side, *weak; /* [n + m] sides in force; of those that are weak, the side again, else 0 */
    int64_t rows, bounds, weaks; /* in force, weak ones included */
    int64_t deficit;     /* rows in force less their rank over the variables not at bounds */
    bool unique;         /* whether x is the only solution */
    bool vertex;         /* the rows and bounds in force determine x alone: dq = 0 */
    double margin;       /* the least slack of what is not in force or multiplier of what is, relative; weak ones left out */
} gradient_point;

/* Finds what is weak: slack or multiplier below `tolerance`, relative. HU_NO where the solution has no certified active set. Free with gradient_point_free(). */
hu_status gradient_point_new(solution *s, double tolerance, gradient_point **ret_point, hu_error *err);
void gradient_point_free(gradient_point *g); /* NULL is allowed */

/* Puts the weak ones in force or not, factors, and looks whether the system is regular. rule: EXCLUDE or INCLUDE. */
hu_status gradient_factor(gradient_point *g, gradient_rule rule, hu_error *err);

/* ---- gradients */

typedef struct {
    double *dx;  /* [n] */
    double *mu;  /* [m] zero for rows not in force */
    double *mub; /* [n] of bounds */
    double residual; /* backward error of the solve */
} gradient_adjoint;

/* One seed; gx [n] or NULL, gy [m] or NULL. QP_NOT_UNIQUE where x is not the only solution. Factor first. The arrays of *ret are the caller's. */
hu_status gradient_seed(gradient_point *g, const double *gx, const double *gy, gradient_adjoint *ret, hu_error *err);

/* Gradients in the problem's data. */
typedef struct {
    double *dq, *dlb, *dub, *dfx; /* [n]; dfx: of variables whose bounds are equal */
    double *dl, *du, *deq;        /* [m]; deq: of rows whose bounds are equal */
    hu_csr *dP, *dA;              /* on the patterns of P and A, NULL where not wanted */
} gradient_data;

hu_status gradient_data_new(const qp_problem *p, bool want_P, bool want_A, gradient_data *ret, hu_error *err);
void gradient_data_free(gradient_data *d);

/* Adds factor times the gradient of that adjoint. */
void gradient_add(const gradient_point *g, const gradient_adjoint *a, double factor, gradient_data *d);

/* The gradient of the optimal value: dq = x, dP = 1/2 x x', dA = y x', -y for bounds. No solve. */
void gradient_value(const solution *s, gradient_data *ret);

/* All of it: seeds under a rule into ret. */
hu_status gradient_vjp(gradient_point *g, gradient_rule rule, const double *gx, const double *gy, gradient_data *ret, double *ret_residual, hu_error *err);

/* ---- directions */

/* A direction in the data; any part may be NULL: nothing. dP must be symmetric. */
typedef struct {
    const hu_csr *dP, *dA;
    const double *dq, *dl, *du, *dlb, *dub;
} gradient_direction;

/* The one-sided derivative of x [n], y [m] and z [n] along it. QP_NOT_UNIQUE where it is not unique; HU_INPUT where the bounds of an equality move apart or no solution follows the direction. */
hu_status gradient_jvp(gradient_point *g, const gradient_direction *d, double *ret_x, double *ret_y, double *ret_z, hu_error *err);

#endif
