/* system.h: a triangular system as the engine sees it, whatever the file and the options called it.
 *
 * Lower, upper, transposed and conjugate systems all become this: steps s = 0..n-1 are solved in order; step s belongs to row
 * sptrsv_step_row(sys, s) of x and b, and refers only to rows of earlier steps. Its off-diagonal entries stand at
 * first[row] + k * stride, k = 0..count[row]-1, ordered so that the row solved last comes last:
 *
 *     x[row] = (b[row] - sum_k val[first + k stride] * x[col[first + k stride]]) / diagonal[row]
 *
 * The canonical order of the sum is that order of k. It is the same for every scheme, so that every scheme gives the same bits.
 */
#ifndef SPTRSV_SYSTEM_H
#define SPTRSV_SYSTEM_H

#include "sparse/csr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This program's own exit codes. */
enum {
    SPTRSV_SINGULAR = HU_PROGRAM,           /* 10: zero, absent or unusably small diagonal entry */
    SPTRSV_NOT_TRIANGULAR = HU_PROGRAM + 1, /* 11 */
    SPTRSV_PLAN_MISFIT = HU_PROGRAM + 2,    /* 12: the plan does not fit matrix, machine or version */
    SPTRSV_BREAKDOWN = HU_PROGRAM + 3       /* 13: ILU or IC breakdown */
};

typedef enum { SPTRSV_PLAIN, SPTRSV_TRANSPOSED, SPTRSV_CONJUGATE } sptrsv_op; /* A, A', conj(A') */

typedef struct {
    hu_uplo uplo;      /* the triangle of the matrix as stored, before op */
    sptrsv_op op;
    bool unit_diagonal; /* the diagonal counts as 1 whatever is stored, if anything is */
    bool ignore_other;  /* entries outside the triangle are passed over; otherwise they are an error */
} sptrsv_problem;

typedef struct {
    sptrsv_problem problem;
    int64_t n, nnz;        /* nnz: off-diagonal entries that count */
    bool is_complex;
    bool ascending;        /* steps run from row 0 up (lower systems), else from row n-1 down */
    bool unit;             /* diagonal is 1 throughout: `diagonal` positions are not used */
    const hu_csr *matrix;  /* borrowed, or == owned */
    hu_csr *owned;         /* the transpose, where op needed one */
    int64_t *diagonal;     /* [n] position of the diagonal entry in matrix->val; NULL where unit */
    int64_t *first;        /* [n] position of the first off-diagonal entry in canonical order */
    int32_t *count;        /* [n] off-diagonal entries of a row */
    int stride;            /* +1 (ascending) or -1 */
} sptrsv_system;

/* Makes the system of a square matrix; `a` must outlive it unless op needs the transpose. name is for messages.
 * Errors: HU_INPUT not square; SPTRSV_NOT_TRIANGULAR with the first offending entry; SPTRSV_SINGULAR with the row, 1-based as in the
 * file (a diagonal that is zero, absent, or so small that its reciprocal and every quotient overflow). */
hu_status sptrsv_system_new(const hu_csr *a, const sptrsv_problem *problem, const char *name, sptrsv_system **ret_system,
                            hu_error *err);
/* Whether the values that count can be stored as floats: HU_INPUT where one overflows, SPTRSV_SINGULAR where a diagonal entry becomes zero or
 * too small to divide by; the message names the row. An off-diagonal entry may vanish. */
hu_status sptrsv_system_fits_float(const sptrsv_system *system, const char *name, hu_error *err);
void sptrsv_system_free(sptrsv_system *system); /* NULL is allowed */

/* Takes over new values of the same pattern (checked); singular rows are found as above. On failure the system stays as it was. */
hu_status sptrsv_system_set_values(sptrsv_system *system, const hu_csr *a, const char *name, hu_error *err);

static inline int64_t sptrsv_step_row(const sptrsv_system *s, int64_t step)
{
    return s->ascending ? step : s->n - 1 - step;
}

/* 64-bit hash of the system's pattern: n, direction, diagonal kind, and the columns of each row, for entries that count (so not of positions
 * in the file, and not of values); the same for any thread count. */
uint64_t sptrsv_system_hash(const sptrsv_system *system);

#ifdef __cplusplus
}
#endif
#endif
