/* active.h: the active set: the point that a set of rows and bounds in force determines, and the search for the right set from a near one.
 *
 * Variables first, then rows, as in ipm.h. The set S gives  K_S [x; y_S] = [-q; b_S],  K_S = [P A_S'; A_S 0]  over the variables not at bounds, and the
 * factor of that K_S is the one that every gradient at the point goes through.
 */
#ifndef QP_ACTIVE_H
#define QP_ACTIVE_H

#include "kkt.h"

enum { SIDE_NONE = 0, SIDE_LOW = -1, SIDE_HIGH = 1, SIDE_EQUAL = 2 };

typedef struct {
    int64_t n, m;
    const qp_problem *p;
    kkt *k;
    int8_t *side; /* [n + m] */
    double *x;    /* [n] the start of v */
    double *v;    /* [n + m] x, A x */
    double *w;    /* [n + m] z, y */
    double *dx, *ds, *b, *d, *gradient, *size; /* work */
    double shift;                              /* of the factor at hand */
    double residual;                           /* componentwise, of the last solve with K_S */
    int rounds;                                /* of the last search */
} active;

hu_status active_new(const qp_problem *p, kkt *k, active **ret_active, hu_error *err);
void active_free(active *a); /* NULL is allowed */

/* Which sides are in force: those whose multiplier exceeds the slack. w, v: [n + m] as of ipm_state. Equalities and fixed variables always are. */
void active_guess(active *a, const double *v, const double *w);

/* Factors K_S for the sides in force. */
hu_status active_factor(active *a, hu_error *err);

/* Solves K_S d = b [n + m] by the factor at hand, under larger shifts where refinement does not get there; a->residual tells how far it got. */
hu_status active_correct(active *a, const double *b, double *ret_d, hu_error *err);

/* Solves for the point of S from the one at hand, by corrections until they stop helping. Factors first. */
hu_status active_solve(active *a, hu_error *err);

/* The search: solve, take in what is violated, let go what has the wrong sign, until nothing changes or `most` rounds are done. *ret_found: the set is right, every
 * row and bound within tolerance (relative to its own size) and every multiplier of the right sign. */
hu_status active_search(active *a, double tolerance, int most, bool *ret_found, hu_error *err);

#endif
