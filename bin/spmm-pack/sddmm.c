/* sddmm.c: sampled products of dense matrices (sddmm.h).
 *
 * Sections: shapes, values of entries, what follows them.
 */
#include "config.h"
#include "sddmm.h"
#include "kernel.h"

#include <math.h>

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

int64_t spmm_sampling_width(const spmm_sampling *s, int64_t k)
{
    return s->op == SPMM_DOT ? s->heads : k;
}

static hu_status check(const spmm_matrix *a, const spmm_sampling *s, const hu_dense *x, const hu_dense *y, const hu_dense *e, hu_error *err)
{
    if (x->rows != a->rows || y->rows != a->cols || x->cols != y->cols)
        return hu_fail(err, HU_USAGE, "a sampling of %lld x %lld needs X of %lld rows and Y of %lld rows with as many columns; they are %lld x %lld and %lld x %lld", (long long)a->rows,
                       (long long)a->cols, (long long)a->rows, (long long)a->cols, (long long)x->rows, (long long)x->cols, (long long)y->rows, (long long)y->cols);
    if (s->op == SPMM_DOT && (s->heads < 1 || x->cols % s->heads))
        return hu_fail(err, HU_USAGE, "%lld heads do not divide %lld columns", (long long)s->heads, (long long)x->cols);
    const hu_scalar sums = spmm_sum_scalar(x->scalar);
    if (x->scalar != y->scalar || x->scalar == HU_C128 || x->order != HU_ROW_MAJOR || y->order != HU_ROW_MAJOR || e->order != HU_ROW_MAJOR || e->scalar != sums || e->rows != a->nnz ||
        e->cols != spmm_sampling_width(s, x->cols) || e->ld != e->cols)
        return hu_fail(err, HU_USAGE, "a sampling needs X and Y of one real type in row order, and a place for each entry");
    return HU_OK;
}

/* The row of entry p. */
static int64_t row_of(const spmm_matrix *a, int64_t p)
{
    int64_t low = 0, high = a->rows - 1; /* row_ptr[low] <= p < row_ptr[high + 1] */
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (a->row_ptr[middle] <= p) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* ---- values of entries ------------------------------------------------------------------------------------------- */

static void dots(const spmm_matrix *a, const spmm_sampling *s, const hu_dense *x, const hu_dense *y, hu_dense *e)
{
    enum { PIECE = 4096 };
    const spmm_dots d = {a->row_ptr, a->col, a->nnz, x->cols, s->heads, x->scalar, x->data, y->data, x->ld, y->ld, e->data};
#pragma omp parallel for schedule(dynamic, 1) if (a->nnz > PIECE)
    for (int64_t from = 0; from < a->nnz; from += PIECE) HU_PICK(spmm_dots_of)(&d, row_of(a, from), from, a->nnz - from < PIECE ? a->nnz : from + PIECE);
}

static double combine(spmm_edge_op op, double x, double y)
{
    return op == SPMM_ADD ? x + y : op == SPMM_SUB ? x - y : x * y;
}

static void pairs(const spmm_matrix *a, const spmm_sampling *s, const hu_dense *x, const hu_dense *y, hu_dense *e)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
            for (int64_t k = 0; k < x->cols; k++) /* one operation in double of exact values, rounded once */
                hu_scalar_put(e->scalar, e->data, p * e->ld + k,
                              combine(s->op, hu_scalar_get(x->scalar, x->data, i * x->ld + k), hu_scalar_get(y->scalar, y->data, a->col[p] * y->ld + k)));
}

/* ---- what follows them -------------------------------------------------------------------------------------------- */

/* Column c of row i's entries: softmax, in double. */
static void soften(const spmm_matrix *a, hu_dense *e, int64_t i, int64_t c)
{
    double most = -INFINITY, sum = 0;
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
        const double v = hu_scalar_get(e->scalar, e->data, p * e->ld + c);
        if (!(v <= most)) most = v; /* NaN stays */
    }
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum += exp(hu_scalar_get(e->scalar, e->data, p * e->ld + c) - most);
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
        hu_scalar_put(e->scalar, e->data, p * e->ld + c, exp(hu_scalar_get(e->scalar, e->data, p * e->ld + c) - most) / sum);
}

static double finished(const spmm_sampling *s, double value, double weight)
{
    value *= s->alpha;
    if (s->by_value) value *= weight;
    return s->is_leaky && value < 0 ? value * s->leaky : value;
}

static void follow(const spmm_matrix *a, const spmm_sampling *s, hu_dense *e)
{
    const bool changes = s->alpha != 1 || s->by_value || s->is_leaky;
    if (!changes && !s->softmax) return;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t p = a->row_ptr[i]; changes && p < a->row_ptr[i + 1]; p++) {
            const double weight = s->by_value ? hu_scalar_get(a->scalar, a->val, p) : 1;
            for (int64_t c = 0; c < e->cols; c++)
                hu_scalar_put(e->scalar, e->data, p * e->ld + c, finished(s, hu_scalar_get(e->scalar, e->data, p * e->ld + c), weight));
        }
        for (int64_t c = 0; s->softmax && c < e->cols; c++) soften(a, e, i, c);
    }
}

hu_status spmm_sddmm(spmm_matrix *a, const spmm_sampling *s, const hu_dense *x, const hu_dense *y, hu_dense *e, hu_error *err)
{
    if (check(a, s, x, y, e, err) || (s->by_value && spmm_matrix_widen(a, e->scalar, err))) return err->status;
    if (a->nnz == 0) return HU_OK;
    if (s->op == SPMM_DOT) dots(a, s, x, y, e);
    else pairs(a, s, x, y, e);
    follow(a, s, e);
    return HU_OK;
}
