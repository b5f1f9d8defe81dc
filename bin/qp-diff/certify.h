/* certify.h: answers that prove themselves: that no point is feasible, that the objective has no bound, that P is not convex.
 *
 * Each certificate is checked on the problem's own numbers; a direction that is only nearly one is not taken.
 */
#ifndef QP_CERTIFY_H
#define QP_CERTIFY_H

#include "problem.h"

/* Farkas: y [m], completed by multipliers z of bounds, with A' y + z = 0 and  sum over rows and bounds of (w > 0 ? w hi : w lo) < 0. ret_ray [n + m]: z, y,
 * scaled so that its largest entry is 1. False where y is no certificate, or on failure (err). A variable without bounds on the side that its z
 * would need leaves a residual; then every x with a feasible point would have to be beyond 1e8 times the size of the bounds. */
bool certify_infeasible(const qp_problem *p, const double *y, double *ret_ray, hu_error *err);

/* A direction d [n] with P d = 0, q' d < 0, A d and d within the recession cone of the bounds, up to 1e-9 of |q' d| and 1e-7 of |P| |d|. ret_ray [n + m]: d, scaled so that its largest entry is 1. */
bool certify_unbounded(const qp_problem *p, const double *d, double *ret_ray, hu_error *err);

/* Whether P is positive semidefinite up to 1e-10 of its size; if not, *ret_least is an estimate (from above) of its least eigenvalue. */
hu_status certify_convex(const qp_problem *p, bool *ret_convex, double *ret_least, hu_error *err);

#endif
