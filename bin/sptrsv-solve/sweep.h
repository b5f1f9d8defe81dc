/* sweep.h: symmetric Gauss-Seidel as triangular solves.
 *
 * A = L + D + U. A forward half sweep solves (L + D) x' = f with f = b - U x, a backward one (D + U) x'' = f' with f' = b - L x'. The
 * half that the solve has already worked need not be multiplied again, since L x' = f - D x': hence f' = b - f + D x', and so on.
 * Each half sweep is then one triangular solve and one pass over vectors; only a first sweep from x != 0 reads U besides.
 */
#ifndef SPTRSV_SWEEP_H
#define SPTRSV_SWEEP_H

#include "plan.h"

typedef struct sptrsv_symgs sptrsv_symgs;

/* Prepares the sweeps of a square matrix, real or complex, which must outlive the object; any nonzero diagonal
 * (SPTRSV_SINGULAR names the row). opt_scheme NULL: by the rule. */
hu_status sptrsv_symgs_new(const hu_csr *a, const char *name, const sptrsv_scheme *opt_scheme, int threads,
                           sptrsv_symgs **ret_symgs, hu_error *err);
void sptrsv_symgs_free(sptrsv_symgs *symgs); /* NULL is allowed */

/* x becomes the iterate after `sweeps` >= 1 symmetric sweeps from x (from_zero: from 0, and x need not be set). b and x: [n] doubles, or
 * pairs where complex; not the same array. Uses the object's own scratch: one call at a time. */
void sptrsv_symgs_apply(sptrsv_symgs *symgs, int sweeps, bool from_zero, const double *b, double *x);

#endif
