/* system.c: a triangular system as the engine sees it, whatever the file and the options called it.
 *
 * Sections: the view, making it, values, the hash.
 */
#include "config.h"
#include "system.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the view --------------------------------------------------------------------------------------------------- */

/* Finds where the off-diagonal entries and the diagonal of each row stand. One pass, parallel; the first offence by row wins. */
static hu_status find_entries(sptrsv_system *s, const char *name, bool file_is_transposed, hu_error *err)
{
    const hu_csr *a = s->matrix;
    int64_t bad_row = s->n, nnz = 0;
#pragma omp parallel for reduction(min : bad_row) reduction(+ : nnz) schedule(static)
    for (int64_t i = 0; i < s->n; i++) {
        int64_t begin = a->row_ptr[i], end = a->row_ptr[i + 1], lower_end = begin;
        if (s->ascending && end > begin && a->col[end - 1] <= i) lower_end = end - (a->col[end - 1] == i);
        else while (lower_end < end && a->col[lower_end] < i) lower_end++;
        int64_t upper_begin = lower_end + (lower_end < end && a->col[lower_end] == i);
        bool other = s->ascending ? upper_begin < end : lower_end > begin;
        if (other && !s->problem.ignore_other && i < bad_row) bad_row = i;
        s->first[i] = s->ascending ? begin : end - 1;
        s->count[i] = (int32_t)(s->ascending ? lower_end - begin : end - upper_begin);
        if (s->diagonal) s->diagonal[i] = upper_begin > lower_end ? lower_end : -1;
        nnz += s->count[i];
    }
    s->nnz = nnz;
    if (bad_row == s->n) return HU_OK;
    int64_t p = a->row_ptr[bad_row];
    while (s->ascending && a->col[p] <= bad_row) p++;
    int64_t row = bad_row + 1, col = a->col[p] + 1;
    return hu_fail(err, (hu_status)SPTRSV_NOT_TRIANGULAR,
                   "%s: entry (%lld,%lld) is outside the %s triangle; --other=ignore passes such entries over", name,
                   (long long)(file_is_transposed ? col : row), (long long)(file_is_transposed ? row : col),
                   s->problem.uplo == HU_LOWER ? "lower" : "upper");
}

/* Whether 1/d overflows together with every quotient: nothing could be divided by d. */
static bool unusable(const hu_csr *a, int64_t p)
{
    double d = a->is_complex ? hypot(a->val[2 * p], a->val[2 * p + 1]) : fabs(a->val[p]);
    return !(d * DBL_MAX >= 1.0); /* zero, or below about 5.6e-309; a NaN was refused by the reader */
}

static hu_status find_singular(const sptrsv_system *s, const hu_csr *a, const char *name, hu_error *err)
{
    if (s->unit) return HU_OK;
    int64_t bad = s->n;
#pragma omp parallel for reduction(min : bad) schedule(static)
    for (int64_t i = 0; i < s->n; i++)
        if (i < bad && (s->diagonal[i] < 0 || unusable(a, s->diagonal[i]))) bad = i;
    if (bad == s->n) return HU_OK;
    int64_t p = s->diagonal[bad];
    const double *v = a->val;
    bool zero = p >= 0 && (s->is_complex ? v[2 * p] == 0 && v[2 * p + 1] == 0 : v[p] == 0);
    return hu_fail(err, (hu_status)SPTRSV_SINGULAR, "%s: row %lld: the diagonal entry is %s; the matrix is singular", name,
                   (long long)bad + 1, p < 0 ? "absent (--diag=unit takes it as 1)" : zero ? "zero" : "too small to divide by");
}

/* ---- making it -------------------------------------------------------------------------------------------------- */

hu_status sptrsv_system_new(const hu_csr *a, const sptrsv_problem *problem, const char *name, sptrsv_system **ret_system,
                            hu_error *err)
{
    *ret_system = NULL;
    if (a->rows != a->cols)
        return hu_fail(err, HU_INPUT, "%s: the matrix is %lld x %lld; a triangular system must be square", name,
                       (long long)a->rows, (long long)a->cols);
    void *block;
    if (hu_alloc_zero(1, sizeof(sptrsv_system), "the system", &block, err)) return err->status;
    sptrsv_system *s = block;
    s->problem = *problem;
    s->n = a->rows;
    s->is_complex = a->is_complex;
    s->unit = problem->unit_diagonal;
    s->matrix = a;
    bool transposed = problem->op != SPTRSV_PLAIN;
    s->ascending = (problem->uplo == HU_LOWER) != transposed;
    s->stride = s->ascending ? 1 : -1;
    if (transposed) {
        if (hu_csr_transpose(a, problem->op == SPTRSV_CONJUGATE, &s->owned, err)) goto failed;
        s->matrix = s->owned;
    }
    if (hu_alloc(s->n, sizeof *s->first, "row positions", &block, err)) goto failed;
    s->first = block;
    if (hu_alloc(s->n, sizeof *s->count, "row lengths", &block, err)) goto failed;
    s->count = block;
    if (!s->unit) {
        if (hu_alloc(s->n, sizeof *s->diagonal, "diagonal positions", &block, err)) goto failed;
        s->diagonal = block;
    }
    if (find_entries(s, name, transposed, err) || find_singular(s, s->matrix, name, err)) goto failed;
    *ret_system = s;
    return HU_OK;
failed:
    sptrsv_system_free(s);
    return err->status;
}

void sptrsv_system_free(sptrsv_system *s)
{
    if (!s) return;
    hu_csr_free(s->owned);
    hu_free(s->diagonal);
    hu_free(s->first);
    hu_free(s->count);
    hu_free(s);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool same_pattern(const hu_csr *a, const hu_csr *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->is_complex == b->is_complex &&
           memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col, b->col, (size_t)a->nnz * sizeof *a->col) == 0;
}

hu_status sptrsv_system_set_values(sptrsv_system *s, const hu_csr *a, const char *name, hu_error *err)
{
    hu_csr *turned = NULL;
    if (s->owned && hu_csr_transpose(a, s->problem.op == SPTRSV_CONJUGATE, &turned, err)) return err->status;
    const hu_csr *fresh = turned ? turned : a;
    if (!same_pattern(s->matrix, fresh)) hu_fail(err, HU_INPUT, "%s: the pattern differs from the matrix that was analysed", name);
    else find_singular(s, fresh, name, err);
    if (err->status) {
        hu_csr_free(turned);
        return err->status;
    }
    hu_csr_free(s->owned);
    s->owned = turned;
    s->matrix = fresh;
    return HU_OK;
}

/* 0: fits; 1: overflows; 2: cannot be divided by. */
static int misfit_of_row(const sptrsv_system *s, int64_t i)
{
    const double *val = s->matrix->val;
    for (int64_t k = 0; k < s->count[i]; k++)
        if (!isfinite((float)val[s->first[i] + k * s->stride])) return 1;
    if (s->unit) return 0;
    const float d = fabsf((float)val[s->diagonal[i]]);
    return !isfinite(d) ? 1 : !(d * FLT_MAX >= 1) ? 2 : 0;
}

hu_status sptrsv_system_fits_float(const sptrsv_system *s, const char *name, hu_error *err)
{
    int64_t bad = s->n;
    if (s->is_complex) return HU_OK; /* never stored so */
#pragma omp parallel for reduction(min : bad) schedule(static)
    for (int64_t i = 0; i < s->n; i++)
        if (i < bad && misfit_of_row(s, i)) bad = i;
    if (bad == s->n) return HU_OK;
    if (misfit_of_row(s, bad) == 1)
        return hu_fail(err, HU_INPUT, "%s: row %lld: a value is beyond the range of float; --f64 solves it", name, (long long)bad + 1);
    return hu_fail(err, (hu_status)SPTRSV_SINGULAR, "%s: row %lld: as float, the diagonal entry is too small to divide by; --f64 solves it",
                   name, (long long)bad + 1);
}

/* ---- the hash --------------------------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u; /* golden ratio; multiply and fold, as in the FxHash and wyhash families */
    return h ^ h >> 29;
}

uint64_t sptrsv_system_hash(const sptrsv_system *s)
{
    uint64_t sum = 0; /* rows are hashed apart and added, so that the order of the threads does not matter */
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t h = mix(0x243F6A8885A308D3u, (uint64_t)i);
        h = mix(h, (uint64_t)s->count[i]);
        const int32_t *col = s->matrix->col + s->first[i];
        for (int64_t k = 0; k < s->count[i]; k++) h = mix(h, (uint64_t)(uint32_t)col[k * s->stride]);
        sum += h;
    }
    uint64_t whole = mix(mix(sum, (uint64_t)s->n), (uint64_t)s->nnz);
    return mix(whole, (uint64_t)(s->ascending | s->unit << 1 | s->is_complex << 2));
}
