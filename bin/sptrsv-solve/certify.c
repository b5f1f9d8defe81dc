/* certify.c: is x a backward-stable solution of T x = b?
 *
 * Sections: columns, the certificate, refinement.
 */
#include "config.h"
#include "certify.h"
#include "certify_kernel.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 512, SMALL = 8192 }; /* rows a piece of work, and rows that one thread works as fast as many */

/* ---- columns ---------------------------------------------------------------------------------------------------- */

/* Value (i, j) of a real array. */
static double value_at(const hu_dense *a, int64_t i, int64_t j)
{
    int64_t p = a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
    return a->scalar == HU_F32 ? (double)((const float *)a->data)[p] : ((const double *)a->data)[p];
}

/* Column j as doubles, or as pairs for a complex system; a real array serves a complex system with imaginary parts 0. */
static void take_column(const hu_dense *a, int64_t j, bool is_complex, double *column)
{
#pragma omp parallel for schedule(static) if (a->rows > SMALL)
    for (int64_t i = 0; i < a->rows; i++) {
        if (!is_complex) {
            column[i] = value_at(a, i, j);
        } else if (a->scalar != HU_C128) {
            column[2 * i] = value_at(a, i, j);
            column[2 * i + 1] = 0;
        } else {
            int64_t p = a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
            memcpy(column + 2 * i, (const double *)a->data + 2 * p, 2 * sizeof(double));
        }
    }
}

static void put_column(const double *column, bool is_complex, hu_dense *a, int64_t j)
{
#pragma omp parallel for schedule(static) if (a->rows > SMALL)
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t p = a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
        if (is_complex) memcpy((double *)a->data + 2 * p, column + 2 * i, 2 * sizeof(double));
        else if (a->scalar == HU_F32) ((float *)a->data)[p] = (float)column[i];
        else ((double *)a->data)[p] = column[i];
    }
}

static hu_status check_shapes(const sptrsv_system *s, const hu_dense *b, const hu_dense *x, hu_error *err)
{
    if (b->rows != s->n || x->rows != s->n || b->cols != x->cols)
        return hu_fail(err, HU_INPUT, "b is %lld x %lld and x is %lld x %lld; the system has %lld rows", (long long)b->rows,
                       (long long)b->cols, (long long)x->rows, (long long)x->cols, (long long)s->n);
    if (!s->is_complex && (b->scalar == HU_C128 || x->scalar == HU_C128))
        return hu_fail(err, HU_INPUT, "a real system has no complex b or x");
    if (s->is_complex && x->scalar != HU_C128) return hu_fail(err, HU_INPUT, "a complex system has a complex x");
    return HU_OK;
}

/* ---- the certificate -------------------------------------------------------------------------------------------- */

typedef struct {
    double unit, least;    /* roundoff, times c; the least positive number */
    bool rounded;
} arithmetic;

/* A size that overflowed counts as the greatest number: the bound is then less than the theorem's, so that it still proves. */
static double bound_of_row(const sptrsv_system *s, const arithmetic *arith, int64_t i, double size)
{
    double d = 1, k = s->count[i];
    if (size > DBL_MAX) size = DBL_MAX;
    const double *v = s->matrix->val;
    if (!s->unit) d = s->is_complex ? hypot(v[2 * s->diagonal[i]], v[2 * s->diagonal[i] + 1]) : fabs(v[s->diagonal[i]]);
    return (k + 4) * arith->unit * size + (k + 2) * arith->least * fmax(1, d);
}

/* The greater ratio counts, then the earlier column, then the earlier row, so that any order of the pieces gives the same. */
static void keep_worse(sptrsv_certificate *worst, const sptrsv_certificate *other)
{
    bool worse = other->worst_ratio > worst->worst_ratio ||
                 (other->worst_ratio == worst->worst_ratio && other->worst_col == worst->worst_col &&
                  other->worst_row < worst->worst_row);
    bool holds = worst->holds && other->holds;
    double storage = fmax(worst->storage, other->storage);
    if (worse) *worst = *other;
    worst->holds = holds;
    worst->storage = storage;
}

static void certify_rows(const sptrsv_system *s, const arithmetic *arith, int64_t from, int64_t to, int64_t col, const double *b,
                         const double *x, sptrsv_certificate *worst)
{
    double residual[2 * ROWS], size[ROWS], storage[ROWS];
    HU_PICK(sptrsv_residual)(s, from, to, arith->rounded, b, x, residual, size, storage);
    for (int64_t i = from; i < to; i++) {
        const int64_t k = i - from;
        double r = s->is_complex ? hypot(residual[2 * k], residual[2 * k + 1]) : fabs(residual[k]);
        double bound = bound_of_row(s, arith, i, size[k]);
        bool holds = r <= bound && isfinite(bound);
        double ratio = !isfinite(r) || !isfinite(bound) ? INFINITY : r == 0 ? 0 : r / bound;
        sptrsv_certificate row = {holds, i, col, ratio, r, bound, 0};
        if (arith->rounded && size[k] > 0) row.storage = storage[k] / size[k];
        keep_worse(worst, &row);
    }
}

hu_status sptrsv_certify(const sptrsv_system *s, sptrsv_precision precision, double c, const hu_dense *b, const hu_dense *x,
                         sptrsv_certificate *ret_certificate, hu_error *err)
{
    const int64_t n = s->n, width = s->is_complex ? 2 : 1, pieces = (n + ROWS - 1) / ROWS;
    const double product = s->is_complex ? 2 * sqrt(2.0) : 1; /* error of one product in units of u */
    const arithmetic arith = {c * product * (precision == SPTRSV_F32 ? 0x1p-24 : 0x1p-53),
                              precision == SPTRSV_F32 ? 0x1p-149 : 0x1p-1074, precision != SPTRSV_F64};
    sptrsv_certificate all = {true, 0, 0, 0, 0, 0, 0};
    void *block = NULL;
    *ret_certificate = all;
    if (check_shapes(s, b, x, err)) return err->status;
    if (hu_alloc(n * width, 2 * sizeof(double), "the certificate's columns", &block, err)) return err->status;
    double *column_b = block, *column_x = column_b + n * width;
    for (int64_t j = 0; j < b->cols; j++) {
        take_column(b, j, s->is_complex, column_b);
        take_column(x, j, s->is_complex, column_x);
#pragma omp parallel if (n > SMALL)
        {
            sptrsv_certificate own = {true, n, j, 0, 0, 0, 0};
#pragma omp for schedule(static)
            for (int64_t piece = 0; piece < pieces; piece++)
                certify_rows(s, &arith, piece * ROWS, piece * ROWS + ROWS < n ? piece * ROWS + ROWS : n, j, column_b, column_x, &own);
#pragma omp critical(sptrsv_certify)
            keep_worse(&all, &own);
        }
    }
    hu_free(block);
    *ret_certificate = all;
    if (all.holds) return HU_OK;
    return hu_fail(err, HU_NO, "check failed: row %lld of column %lld has the residual %.3g, %.3g times its bound %.3g",
                   (long long)all.worst_row + 1, (long long)all.worst_col + 1, all.residual, all.worst_ratio, all.bound);
}

/* ---- refinement ------------------------------------------------------------------------------------------------- */

/* r = b - T x, rounded once. */
static void residual_of(const sptrsv_system *s, const double *b, const double *x, double *r)
{
    const int64_t width = s->is_complex ? 2 : 1, pieces = (s->n + ROWS - 1) / ROWS;
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int64_t piece = 0; piece < pieces; piece++) {
        int64_t from = piece * ROWS, to = from + ROWS < s->n ? from + ROWS : s->n;
        HU_PICK(sptrsv_residual)(s, from, to, false, b, x, r + from * width, NULL, NULL);
    }
}

/* Solves in place in the plan's own precision; narrow: [n] floats, for a plan in float. */
static void correct(const sptrsv_plan *plan, int64_t n, double *r, float *opt_narrow)
{
    if (!opt_narrow) {
        sptrsv_solve(plan, r, r);
        return;
    }
    /* The residual is scaled to about 1, lest it overflow or vanish as floats; powers of two cost no bit. */
    double largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static) if (n > SMALL)
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(r[i]));
    int exponent = 0;
    if (largest > 0 && isfinite(largest)) frexp(largest, &exponent);
    const double up = ldexp(1, exponent > -1000 ? exponent : -1000), down = 1 / up;
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int64_t i = 0; i < n; i++) opt_narrow[i] = (float)(r[i] * down);
    sptrsv_solve(plan, opt_narrow, opt_narrow);
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int64_t i = 0; i < n; i++) r[i] = (double)opt_narrow[i] * up;
}

hu_status sptrsv_refine(const sptrsv_plan *plan, const sptrsv_system *s, int steps, const hu_dense *b, hu_dense *x, hu_error *err)
{
    const int64_t n = s->n, width = s->is_complex ? 2 : 1;
    sptrsv_plan_facts facts;
    void *block = NULL;
    if (check_shapes(s, b, x, err)) return err->status;
    if (hu_alloc(n * width, 4 * sizeof(double), "the refinement's columns", &block, err)) return err->status;
    double *column_b = block, *column_x = column_b + n * width, *r = column_x + n * width;
    sptrsv_plan_describe(plan, &facts);
    float *narrow = facts.precision == SPTRSV_F32 ? (float *)(r + n * width) : NULL;
    for (int64_t j = 0; j < b->cols; j++) {
        take_column(b, j, s->is_complex, column_b);
        take_column(x, j, s->is_complex, column_x);
        for (int step = 0; step < steps; step++) {
            residual_of(s, column_b, column_x, r);
            correct(plan, n, r, narrow);
#pragma omp parallel for schedule(static) if (n > SMALL)
            for (int64_t i = 0; i < n * width; i++) column_x[i] += r[i];
        }
        put_column(column_x, s->is_complex, x, j);
    }
    hu_free(block);
    return HU_OK;
}
