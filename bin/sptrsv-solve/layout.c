/* layout.c: a system's rows as the hot loops read them.
 *
 * Sections: rows, cutting into runs, indices, values, making it, what it tells.
 */
#include "config.h"
#include "layout.h"
#include "complex_pair.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* A thread's stretch of the execution order. */
typedef struct {
    const sptrsv_system *a;
    const int32_t *order; /* NULL: natural */
} rows_view;

static inline int64_t step_at(const rows_view *v, int64_t i)
{
    return v->order ? v->order[i] : i;
}

static inline int64_t row_at(const rows_view *v, int64_t i)
{
    return sptrsv_step_row(v->a, step_at(v, i));
}

static inline const int32_t *first_col(const sptrsv_system *a, int64_t row)
{
    return a->matrix->col + a->first[row];
}

static inline bool carries(const sptrsv_system *a, int64_t step)
{
    int64_t row = sptrsv_step_row(a, step), k = a->count[row];
    return step > 0 && k > 0 && first_col(a, row)[(k - 1) * a->stride] == sptrsv_step_row(a, step - 1);
}

/* Whether step + 1 has the entries of step, and then step itself: the next row of a dense block. */
static bool continues_block(const sptrsv_system *a, int64_t step)
{
    int64_t row = sptrsv_step_row(a, step), next = sptrsv_step_row(a, step + 1), k = a->count[row];
    if (a->count[next] != k + 1 || !carries(a, step + 1)) return false;
    const int32_t *x = first_col(a, row), *y = first_col(a, next);
    if (a->stride < 0) x -= k - 1, y -= k - 1; /* both runs of k entries, from their lowest address on */
    return memcmp(x, y, (size_t)k * sizeof *x) == 0;
}

/* ---- cutting into runs ------------------------------------------------------------------------------------------ */

typedef struct {
    rows_view view;
    sptrsv_list *list;
    int64_t capacity;
    bool by_row, super;
    hu_error *err;
} cutter;

static hu_status add_run(cutter *c, sptrsv_run_kind kind, int64_t rows, int64_t length, int64_t first)
{
    sptrsv_list *l = c->list;
    void *block = l->run;
    if (hu_grow(&block, &c->capacity, l->runs + 1, sizeof *l->run, "runs", c->err)) return c->err->status;
    l->run = block;
    l->run[l->runs++] = (sptrsv_run){kind, (int32_t)rows, (int32_t)length, (int32_t)first};
    l->rows += rows;
    if (first < 0) l->listed += rows;
    if (kind == SPTRSV_RUN_MIXED) l->lengths += rows;
    if (kind == SPTRSV_RUN_SUPER) {
        l->values += rows * length + rows * (rows - 1) / 2;
        l->indices += length;
    } else if (kind != SPTRSV_RUN_MIXED) {
        l->values += rows * length;
        l->indices += rows * (length - (kind == SPTRSV_RUN_CARRY));
    }
    return HU_OK;
}

/* Rows [i, to) one by one into a mixed run, which goes on with the last one of the task where it can. */
static hu_status add_mixed(cutter *c, int64_t i, int64_t to, int64_t task_runs)
{
    const sptrsv_system *a = c->view.a;
    sptrsv_list *l = c->list;
    for (; i < to; i++) {
        int64_t step = step_at(&c->view, i), row = sptrsv_step_row(a, step), k = a->count[row];
        sptrsv_run *last = l->runs > task_runs ? &l->run[l->runs - 1] : NULL;
        bool goes_on = last && last->kind == SPTRSV_RUN_MIXED && last->rows < INT32_MAX &&
                       (c->by_row ? last->first < 0 : last->first + (int64_t)last->rows * (a->ascending ? 1 : -1) == row);
        if (goes_on) {
            last->rows++;
            l->rows++;
            l->lengths++;
            l->listed += c->by_row;
        } else if (add_run(c, SPTRSV_RUN_MIXED, 1, 0, c->by_row ? -1 : row)) {
            return c->err->status;
        }
        l->values += k;
        l->indices += k;
    }
    return HU_OK;
}

/* Cuts positions [i, to), one task, into runs. */
static hu_status cut_task(cutter *c, int64_t i, int64_t to)
{
    const sptrsv_system *a = c->view.a;
    const rows_view *v = &c->view;
    int64_t task_runs = c->list->runs;
    while (i < to) {
        int64_t step = step_at(v, i), row = sptrsv_step_row(a, step), k = a->count[row], end = i + 1;
        if (c->super && k > 0) {
            while (end < to && end - i < SPTRSV_SUPER_ROWS && k + (end - i) < SPTRSV_LONG_ROW && step_at(v, end) == step + (end - i) &&
                   continues_block(a, step_at(v, end - 1)))
                end++;
            if (end - i > 1) {
                if (add_run(c, SPTRSV_RUN_SUPER, end - i, k, row)) return c->err->status;
                i = end;
                continue;
            }
        }
        bool carry = carries(a, step);
        while (end < to && step_at(v, end) == step + (end - i) && a->count[row_at(v, end)] == k && carries(a, step_at(v, end)) == carry) end++;
        if (end - i >= SPTRSV_EVEN_ROWS || k > SPTRSV_MIXED_LENGTH) {
            if (add_run(c, carry ? SPTRSV_RUN_CARRY : SPTRSV_RUN_EVEN, end - i, k, row)) return c->err->status;
        } else if (c->by_row) {
            while (end < to && a->count[row_at(v, end)] == k) end++;
            if (end - i >= SPTRSV_EVEN_ROWS ? add_run(c, SPTRSV_RUN_EVEN, end - i, k, -1) : add_mixed(c, i, end, task_runs))
                return c->err->status;
        } else if (add_mixed(c, i, end, task_runs)) {
            return c->err->status;
        }
        i = end;
    }
    return HU_OK;
}

/* ---- indices ---------------------------------------------------------------------------------------------------- */

/* Writes the indices of one row, `count` of them, as differences to base or as they are. false: one does not fit. */
static bool put_indices(sptrsv_layout *lay, void **index, const int32_t *col, int64_t count, int64_t stride, int64_t base)
{
    if (lay->index == 32) {
        int32_t *to = *index;
        for (int64_t k = 0; k < count; k++) to[k] = col[k * stride];
        *index = to + count;
        return true;
    }
    uint16_t *to = *index;
    int64_t wrong = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t d = col[k * stride] - base;
        wrong |= d & ~(int64_t)UINT16_MAX;
        to[k] = (uint16_t)d;
    }
    *index = to + count;
    return wrong == 0;
}

static int64_t shift_of(const sptrsv_layout *lay)
{
    return lay->ascending ? -UINT16_MAX : 0;
}

static bool fill_pattern(sptrsv_layout *lay, const rows_view *v, sptrsv_list *l, int64_t i)
{
    const sptrsv_system *a = v->a;
    void *index = l->index;
    int32_t *listed = l->row;
    uint8_t *length = l->length;
    bool fits = true;
    for (const sptrsv_run *run = l->run; run < l->run + l->runs; run++) {
        bool block = run->kind == SPTRSV_RUN_SUPER;
        for (int32_t j = 0; j < run->rows; j++, i++) {
            int64_t row = row_at(v, i), k = a->count[row];
            if (run->first < 0) *listed++ = (int32_t)row;
            if (run->kind == SPTRSV_RUN_MIXED) *length++ = (uint8_t)k;
            if (block && j > 0) continue;
            fits &= put_indices(lay, &index, first_col(a, row), k - (run->kind == SPTRSV_RUN_CARRY), a->stride, row + shift_of(lay));
        }
    }
    for (int k = 0; k <= SPTRSV_AHEAD; k++) listed[k] = l->listed > 0 ? l->row[l->listed - 1] : 0;
    return fits;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* What folding a quotient c = l / d may not do. */
static inline bool spoilt(double l, double c, double least)
{
    return l != 0 && !(fabs(c) >= least && fabs(c) <= DBL_MAX);
}

static inline bool spoilt_float(double l, float c)
{
    return l != 0 && !(fabsf(c) >= FLT_MIN && fabsf(c) <= FLT_MAX);
}

/* Values of one row to to[k * step]; false where folding is unsafe. */
static bool put_values(const sptrsv_layout *lay, void *to_any, int64_t step, const double *l, int64_t count, int64_t stride, double d,
                       bool fold)
{
    bool bad = false;
    if (lay->precision == SPTRSV_F64) {
        double *to = to_any;
        if (fold && step == 1 && stride == 1)
            for (int64_t k = 0; k < count; k++) { /* without branches, so that it is worked in vectors */
                double c = l[k] / d, size = fabs(c);
                to[k] = c;
                bad |= (l[k] != 0) & !((size >= DBL_MIN) & (size <= DBL_MAX));
            }
        else if (fold)
            for (int64_t k = 0; k < count; k++) {
                to[k * step] = l[k * stride] / d;
                bad |= spoilt(l[k * stride], to[k * step], DBL_MIN);
            }
        else
            for (int64_t k = 0; k < count; k++) to[k * step] = l[k * stride];
        return !bad;
    }
    float *to = to_any;
    if (fold && lay->precision == SPTRSV_F32)
        for (int64_t k = 0; k < count; k++) {
            to[k * step] = (float)(l[k * stride] / d);
            bad |= spoilt_float(l[k * stride], to[k * step]);
        }
    else
        for (int64_t k = 0; k < count; k++) to[k * step] = (float)l[k * stride];
    return !bad;
}

static bool put_complex(double complex *to, const double complex *l, int64_t count, int64_t stride, double complex d, bool fold)
{
    bool bad = false;
    for (int64_t k = 0; k < count; k++) {
        double complex c = fold ? l[k * stride] / d : l[k * stride];
        to[k] = c;
        if (fold) bad |= !(cabs(c) <= DBL_MAX) || (l[k * stride] != 0 && cabs(c) < DBL_MIN);
    }
    return !bad;
}

/* r = 1/d, or d itself where the mode divides; false where folding is unsafe. */
static bool put_factor(const sptrsv_layout *lay, void *to, int64_t at, const double *d, bool fold)
{
    if (lay->is_complex) {
        double complex z = CMPLX(d[0], d[1]), r = fold ? 1 / z : z;
        ((double complex *)to)[at] = r;
        return !fold || (cabs(r) <= DBL_MAX && cabs(r) >= DBL_MIN);
    }
    if (lay->precision == SPTRSV_F32) {
        float r = (float)(fold ? 1 / *d : *d);
        ((float *)to)[at] = r;
        return !fold || (fabsf(r) >= FLT_MIN && fabsf(r) <= FLT_MAX);
    }
    double rounded = lay->precision == SPTRSV_MIXED ? (double)(float)*d : *d, r = fold ? 1 / rounded : rounded;
    ((double *)to)[at] = r;
    return !fold || (fabs(r) >= DBL_MIN && fabs(r) <= DBL_MAX);
}

/* Lays out one thread's values; false where folding is unsafe. */
static bool fill_values(const sptrsv_layout *lay, const rows_view *v, const sptrsv_list *l, int64_t i)
{
    static const double one[2] = {1, 0};
    const sptrsv_system *a = v->a;
    const double *val = a->matrix->val;
    bool fold = lay->mode != SPTRSV_MODE_DIVIDE, fold_values = lay->mode == SPTRSV_MODE_FOLD, safe = true;
    size_t width = lay->is_complex ? sizeof(double complex) : lay->precision == SPTRSV_F64 ? sizeof(double) : sizeof(float);
    char *to = l->value;
    int64_t done = 0;
    for (const sptrsv_run *run = l->run; run < l->run + l->runs; run++) {
        bool block = run->kind == SPTRSV_RUN_SUPER;
        char *triangle = to + (size_t)(run->rows * (int64_t)run->length) * width;
        for (int32_t j = 0; j < run->rows; j++, i++) {
            int64_t row = row_at(v, i), k = a->count[row];
            const double *d = a->unit ? one : val + a->diagonal[row] * (1 + lay->is_complex);
            if (lay->mode != SPTRSV_MODE_UNIT) safe &= put_factor(lay, l->factor, done++, d, fold);
            if (lay->is_complex) {
                safe &= put_complex((double complex *)to, (const double complex *)val + a->first[row], k, a->stride, CMPLX(d[0], d[1]),
                                    fold_values);
                to += (size_t)k * width;
                continue;
            }
            const double *from = val + a->first[row];
            if (!block) {
                safe &= put_values(lay, to, 1, from, k, a->stride, *d, fold_values);
                to += (size_t)k * width;
                continue;
            }
            safe &= put_values(lay, to + (size_t)j * width, run->rows, from, run->length, a->stride, *d, fold_values);
            char *column = triangle + (size_t)(j - 1) * width; /* row j of column 0 of the triangle; not read where j = 0 */
            for (int32_t m = 0; m < j; m++) {
                safe &= put_values(lay, column, 1, from + (run->length + m) * a->stride, 1, a->stride, *d, fold_values);
                column += (size_t)(run->rows - 2 - m) * width;
            }
        }
        if (block) to = triangle + (size_t)(run->rows * (run->rows - 1) / 2) * width;
    }
    return safe;
}

/* Whether every diagonal entry is 1: found at once where it is not. */
static bool all_ones(const sptrsv_system *a)
{
    if (a->unit) return true;
    const double *val = a->matrix->val;
    for (int64_t row = 0; row < a->n; row++) {
        int64_t p = a->diagonal[row];
        if (a->is_complex ? val[2 * p] != 1 || val[2 * p + 1] != 0 : val[p] != 1) return false;
    }
    return true;
}

static bool fill_all_values(sptrsv_layout *lay, const sptrsv_system *a, const sptrsv_schedule *s)
{
    bool safe = true;
#pragma omp parallel for schedule(static, 1) num_threads(lay->threads) reduction(&& : safe) if (lay->threads > 1)
    for (int t = 0; t < lay->threads; t++) {
        rows_view view = {a, s->order};
        safe = fill_values(lay, &view, &lay->list[t], s->task_start[s->thread_task[t]]) && safe;
    }
    return safe;
}

hu_status sptrsv_layout_set_values(sptrsv_layout *lay, const sptrsv_system *a, const sptrsv_schedule *s, sptrsv_arith arith, bool *ret_folded,
                                   hu_error *err)
{
    bool ones = all_ones(a);
    size_t size = sptrsv_layout_scalar(lay);
    lay->mode = ones                            ? SPTRSV_MODE_UNIT
                : arith == SPTRSV_DIVIDE        ? SPTRSV_MODE_DIVIDE
                : lay->precision == SPTRSV_MIXED ? SPTRSV_MODE_SCALE
                                                : SPTRSV_MODE_FOLD;
    for (int t = 0; t < lay->threads && !ones; t++)
        if (!lay->list[t].factor && hu_alloc(lay->list[t].rows, size, "diagonal factors", &lay->list[t].factor, err)) return err->status;
    *ret_folded = fill_all_values(lay, a, s);
    if (*ret_folded || arith == SPTRSV_DIVIDE || ones) return HU_OK;
    lay->mode = SPTRSV_MODE_DIVIDE;
    fill_all_values(lay, a, s);
    return HU_OK;
}

/* ---- making it -------------------------------------------------------------------------------------------------- */

enum { PADDING = 64 }; /* bytes that block sums may read beyond the values */

/* One thread's runs, streams and pattern. *ret_fits: whether all indices fit. */
static hu_status make_list(sptrsv_layout *lay, const sptrsv_system *a, const sptrsv_schedule *s, const sptrsv_scheme *scheme, int t,
                           bool *ret_fits, hu_error *err)
{
    sptrsv_list *l = &lay->list[t];
    bool by_row = s->order && (scheme->node == SPTRSV_NODE_ROW || scheme->rows <= 1 ||
                               (scheme->node == SPTRSV_NODE_BLOCK && scheme->rows >= SPTRSV_SORTED_BLOCK && !scheme->super));
    cutter c = {{a, s->order}, l, 0, by_row, scheme->super && !a->is_complex, err};
    int64_t from = s->thread_task[t], to = s->thread_task[t + 1];
    void *block;
    if (hu_alloc(to - from + 1, sizeof *l->task_run, "tasks", &block, err)) return err->status;
    l->task_run = block;
    for (int64_t task = from; task < to; task++) {
        l->task_run[task - from] = l->runs;
        if (cut_task(&c, s->task_start[task], s->task_start[task + 1])) return err->status;
    }
    l->task_run[to - from] = l->runs;
    size_t width = lay->is_complex ? 16 : lay->precision == SPTRSV_F64 ? 8 : 4;
    if (hu_alloc(l->values + PADDING / (int64_t)width, width, "values", &l->value, err)) return err->status;
    memset((char *)l->value + (size_t)l->values * width, 0, PADDING);
    if (hu_alloc(l->indices, (size_t)lay->index / 8, "indices", &l->index, err)) return err->status;
    if (hu_alloc(l->listed + SPTRSV_AHEAD + 1, sizeof *l->row, "row numbers", &block, err)) return err->status;
    l->row = block;
    if (hu_alloc(l->lengths, 1, "row lengths", &block, err)) return err->status;
    l->length = block;
    rows_view view = {a, s->order};
    *ret_fits = fill_pattern(lay, &view, l, s->task_start[from]);
    return HU_OK;
}

static void free_lists(sptrsv_layout *lay)
{
    for (int t = 0; lay->list && t < lay->threads; t++) {
        sptrsv_list *l = &lay->list[t];
        hu_free(l->run);
        hu_free(l->task_run);
        hu_free(l->value);
        hu_free(l->index);
        hu_free(l->factor);
        hu_free(l->row);
        hu_free(l->length);
        memset(l, 0, sizeof *l);
    }
}

static hu_status make_lists(sptrsv_layout *lay, const sptrsv_system *a, const sptrsv_schedule *s, const sptrsv_scheme *scheme, bool *ret_fit,
                            hu_error *err)
{
    bool fit = true;
    free_lists(lay);
#pragma omp parallel for schedule(static, 1) num_threads(lay->threads) reduction(&& : fit) if (lay->threads > 1)
    for (int t = 0; t < lay->threads; t++) {
        hu_error mine = HU_ERROR_NONE;
        bool fits = true;
        if (make_list(lay, a, s, scheme, t, &fits, &mine)) {
#pragma omp critical(sptrsv_layout)
            if (err->status == HU_OK) *err = mine;
        }
        fit = fit && fits;
    }
    *ret_fit = fit;
    return err->status;
}

/* Whether every difference fits 16 bits, as far as the first and last entries of rows tell, which is all as columns ascend. */
static bool fits_16(const sptrsv_system *a)
{
    bool fit = true;
#pragma omp parallel for schedule(static) reduction(&& : fit)
    for (int64_t row = 0; row < a->n; row++) {
        if (a->count[row] == 0) continue;
        int64_t d = (int64_t)first_col(a, row)[0] - row; /* the first entry in canonical order is the farthest */
        fit = fit && d >= -UINT16_MAX && d <= UINT16_MAX;
    }
    return fit;
}

hu_status sptrsv_layout_new(const sptrsv_system *a, const sptrsv_schedule *s, const sptrsv_scheme *scheme, sptrsv_precision precision,
                            sptrsv_layout **ret_layout, hu_error *err)
{
    void *block;
    bool fit;
    *ret_layout = NULL;
    if (hu_alloc_zero(1, sizeof(sptrsv_layout), "the layout", &block, err)) return err->status;
    sptrsv_layout *lay = block;
    lay->precision = precision;
    lay->is_complex = a->is_complex;
    lay->ascending = a->ascending;
    lay->threads = s->threads;
    lay->index = scheme->index == 16 && !a->is_complex && fits_16(a) ? 16 : 32;
    if (hu_alloc_zero(s->threads, sizeof *lay->list, "lists", &block, err)) goto failed;
    lay->list = block;
    if (make_lists(lay, a, s, scheme, &fit, err)) goto failed;
    *ret_layout = lay;
    return HU_OK;
failed:
    sptrsv_layout_free(lay);
    return err->status;
}

void sptrsv_layout_free(sptrsv_layout *lay)
{
    if (!lay) return;
    free_lists(lay);
    hu_free(lay->list);
    hu_free(lay);
}

/* ---- what it tells ---------------------------------------------------------------------------------------------- */

sptrsv_cursor sptrsv_layout_cursor(const sptrsv_layout *lay, int thread)
{
    const sptrsv_list *l = &lay->list[thread];
    return (sptrsv_cursor){l->value, l->index, l->factor, l->row, l->length, (int32_t)shift_of(lay), lay->ascending ? 1 : -1,
                           (int32_t)lay->mode};
}

size_t sptrsv_layout_scalar(const sptrsv_layout *lay)
{
    return lay->is_complex ? 16 : lay->precision == SPTRSV_F32 ? 4 : 8;
}

int64_t sptrsv_layout_bytes(const sptrsv_layout *lay)
{
    int64_t bytes = 0, width = lay->is_complex ? 16 : lay->precision == SPTRSV_F64 ? 8 : 4;
    for (int t = 0; t < lay->threads; t++) {
        const sptrsv_list *l = &lay->list[t];
        bytes += l->values * width + l->indices * lay->index / 8 + l->listed * 4 + l->lengths + l->runs * (int64_t)sizeof *l->run;
        if (lay->mode != SPTRSV_MODE_UNIT) bytes += l->rows * (int64_t)sptrsv_layout_scalar(lay);
    }
    return bytes;
}
