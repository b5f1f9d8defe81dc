/* krylov.h: conjugate gradients with the triangular solves as preconditioner (Saad, algorithm 9.1).
 *
 * Every sum runs over blocks of fixed size in fixed order, so that iterates, iteration counts and x have the same bits for any
 * thread count.
 */
#ifndef SPTRSV_KRYLOV_H
#define SPTRSV_KRYLOV_H

#include "plan.h"

typedef enum { SPTRSV_PRE_NONE, SPTRSV_PRE_IC0, SPTRSV_PRE_ILU0, SPTRSV_PRE_SYMGS } sptrsv_preconditioner;

typedef struct {
    sptrsv_preconditioner preconditioner;
    double tolerance;       /* ends where ||r|| <= tolerance ||b||, 2-norms, no preconditioner in the norm */
    int64_t most_iterations;
    int threads;
    const sptrsv_scheme *opt_scheme; /* of the two triangular solves; NULL: by the rule */
} sptrsv_pcg_options;

typedef struct {
    int64_t iterations;
    double residual;      /* ||r|| / ||b|| by the recurrence */
    double true_residual; /* ||b - A x|| / ||b||, recomputed */
    double seconds, seconds_setup;
    bool structured;      /* the product runs over diagonals, without indices */
} sptrsv_pcg_result;

typedef struct sptrsv_pcg sptrsv_pcg;

/* Prepares for a real symmetric matrix, given whole (HU_INPUT names the first entry without its equal); it must outlive the object. Errors of
 * the factorisation pass through (SPTRSV_BREAKDOWN). */
hu_status sptrsv_pcg_new(const hu_csr *a, const sptrsv_pcg_options *options, const char *name, sptrsv_pcg **ret_pcg, hu_error *err);
void sptrsv_pcg_free(sptrsv_pcg *pcg); /* NULL is allowed */

/* Solves A x = b from x = 0. *ret_result is set in every case. HU_NO with the reason: not converged, p'Ap <= 0 or r'z <= 0 (the matrix or the
 * preconditioner is not positive definite), or a value that is not finite; x then holds the last good iterate. */
hu_status sptrsv_pcg_solve(sptrsv_pcg *pcg, const double *b, double *x, sptrsv_pcg_result *ret_result, hu_error *err);

#endif
