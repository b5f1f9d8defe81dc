/* verify.h: whether the gradients of a problem are right, by identities that need no oracle and by differences.
 *
 * Sections: the checks.
 */
#ifndef QP_VERIFY_H
#define QP_VERIFY_H

#include "gradient.h"

typedef struct {
    const char *name;
    double value, limit; /* relative; the check holds where value <= limit */
    bool skipped;        /* could not be made here; `why` says so */
    const char *why;
} verify_line;

enum { VERIFY_LINES = 7 };

/* All checks at the solution, along a direction drawn by the seed on the patterns of the data: that jvp and vjp are adjoint; that scaling the objective, scaling each row,
 * and moving the origin change nothing (the gradients that they have must vanish or equal the seed); central differences of the loss (Richardson's, where the set in
 * force is the same on both sides) and of the optimal value. gx: [n]. ret: [VERIFY_LINES] */
hu_status verify_gradients(gradient_point *g, const double *gx, const solve_options *o, uint64_t seed, verify_line *ret, hu_error *err);

#endif
