/* plan.c: a triangular system prepared for solving, and the solve.
 *
 * Sections: making, one right-hand side, many right-hand sides, checked, what a plan tells of itself.
 */
#include "config.h"
#include "plan.h"
#include "plan_private.h"
#include "complex_pair.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* ---- making ----------------------------------------------------------------------------------------------------- */

static void set_remark(sptrsv_plan *p, const char *text)
{
    size_t used = strlen(p->remark);
    snprintf(p->remark + used, sizeof p->remark - used, "%s%s", used ? "; " : "", text);
}

/* A row is fat where its run says so and it has chunks to share. */
static inline bool is_fat(const sptrsv_plan *p, const sptrsv_run *run)
{
    return (run->kind == SPTRSV_RUN_EVEN || run->kind == SPTRSV_RUN_CARRY) && run->length > p->scheme.fat &&
           sptrsv_row_head(run->length) > SPTRSV_FAT_CHUNK;
}

static void count_fat_rows(sptrsv_plan *p)
{
    const sptrsv_layout *lay = p->layout;
    p->fat_rows = 0;
    p->done.fat = 0;
    if (p->scheme.fat <= 0) return;
    if (lay->threads > 1 || lay->is_complex) {
        set_remark(p, "fat rows are shared in real plans of kind serial or level only: one thread takes a row");
        return;
    }
    for (int64_t i = 0; i < lay->list->runs; i++)
        if (is_fat(p, &lay->list->run[i])) p->fat_rows += lay->list->run[i].rows;
    if (p->fat_rows > 0) p->done.fat = p->scheme.fat;
    else set_remark(p, "no row is long enough to be shared");
    if (p->team == 1) p->fat_rows = 0;
}

/* Chooses the loops after the values' mode is known, and says what was carried out. */
static void settle(sptrsv_plan *p, bool folded)
{
    const sptrsv_layout *lay = p->layout;
    p->remark[0] = '\0';
    p->done = p->scheme;
    if (lay) {
        p->loops = HU_PICK(sptrsv_loops_of)(lay->precision, lay->is_complex, lay->index, lay->mode);
        if (p->scheme.index == 16 && lay->index == 32) set_remark(p, "16-bit indices do not fit: 32");
        p->done.index = lay->index;
        count_fat_rows(p);
        p->alone = lay->threads == 1 && p->fat_rows == 0 ? lay->list : NULL;
        p->start = sptrsv_layout_cursor(lay, 0);
    }
    if (folded || p->scheme.arith == SPTRSV_DIVIDE) return;
    set_remark(p, "a diagonal entry or a quotient by it is out of range: every row divides");
    p->done.arith = SPTRSV_DIVIDE;
}

static hu_status new_plan(const sptrsv_system *a, const sptrsv_scheme *scheme, sptrsv_precision precision, int threads, sptrsv_plan **ret_plan,
                          hu_error *err)
{
    void *block;
    if (hu_alloc_zero(1, sizeof(sptrsv_plan), "the plan", &block, err)) return err->status;
    sptrsv_plan *p = block;
    p->scheme = *scheme;
    p->precision = precision;
    p->n = a->n;
    p->nnz = a->nnz;
    p->threads = threads;
    p->scalar = a->is_complex ? HU_C128 : precision == SPTRSV_F32 ? HU_F32 : HU_F64;
    *ret_plan = p;
    return HU_OK;
}

hu_status sptrsv_plan_of_grid(const sptrsv_system *a, const sptrsv_scheme *scheme, sptrsv_precision precision, const sptrsv_grid_shape *shape,
                              int threads, sptrsv_plan **ret_plan, hu_error *err)
{
    sptrsv_plan *p = NULL;
    bool folded;
    *ret_plan = NULL;
    if (new_plan(a, scheme, precision, threads, &p, err)) return err->status;
    if (sptrsv_grid_new(a, shape, scheme, precision, threads, &p->grid, err) || sptrsv_grid_set_values(p->grid, a, &folded, err)) {
        sptrsv_plan_free(p);
        return err->status;
    }
    settle(p, folded);
    *ret_plan = p;
    return HU_OK;
}

hu_status sptrsv_plan_of_schedule(const sptrsv_system *a, const sptrsv_scheme *scheme, sptrsv_precision precision, int threads, sptrsv_schedule *schedule,
                                  sptrsv_plan **ret_plan, hu_error *err)
{
    sptrsv_plan *p = NULL;
    bool folded;
    *ret_plan = NULL;
    if (new_plan(a, scheme, precision, schedule->threads, &p, err)) {
        sptrsv_schedule_free(schedule);
        return err->status;
    }
    p->schedule = schedule;
    p->team = threads;
    if (sptrsv_layout_new(a, schedule, scheme, precision, &p->layout, err)) goto failed;
    if (sptrsv_layout_set_values(p->layout, a, schedule, scheme->arith, &folded, err)) goto failed;
    settle(p, folded);
    *ret_plan = p;
    return HU_OK;
failed:
    sptrsv_plan_free(p);
    return err->status;
}

hu_status sptrsv_plan_new(const sptrsv_system *a, const sptrsv_scheme *scheme, sptrsv_precision precision, int threads, sptrsv_plan **ret_plan,
                          hu_error *err)
{
    sptrsv_schedule *schedule;
    *ret_plan = NULL;
    if (a->is_complex && precision != SPTRSV_F64) return hu_fail(err, HU_USAGE, "complex systems are solved in double precision only");
    if (scheme->kind == SPTRSV_GRID) {
        sptrsv_grid_shape shape;
        const char *why = "complex";
        bool is_grid = false;
        if (!a->is_complex && sptrsv_grid_detect(a, NULL, &is_grid, &shape, &why, err)) return err->status;
        if (!is_grid) return hu_fail(err, HU_USAGE, "kind:grid: the matrix is not a structured grid: %s", why);
        return sptrsv_plan_of_grid(a, scheme, precision, &shape, threads, ret_plan, err);
    }
    bool parallel = scheme->kind == SPTRSV_TASK || scheme->kind == SPTRSV_BARRIER;
    if (sptrsv_schedule_new(a, scheme, parallel ? threads : 1, &schedule, err)) return err->status;
    return sptrsv_plan_of_schedule(a, scheme, precision, threads, schedule, ret_plan, err);
}

void sptrsv_plan_free(sptrsv_plan *p)
{
    if (!p) return;
    sptrsv_schedule_free(p->schedule);
    sptrsv_layout_free(p->layout);
    sptrsv_grid_free(p->grid);
    hu_free(p);
}

const char *const sptrsv_chooser_words[SPTRSV_CHOOSERS] = {"user", "model", "rule", "search"};

void sptrsv_plan_set_chooser(sptrsv_plan *p, sptrsv_chooser chooser)
{
    p->chooser = chooser;
}

hu_status sptrsv_plan_set_values(sptrsv_plan *p, const sptrsv_system *a, hu_error *err)
{
    bool folded;
    if (a->n != p->n || a->nnz != p->nnz) return hu_fail(err, HU_INPUT, "the system is not the one that was planned");
    if (p->grid ? sptrsv_grid_set_values(p->grid, a, &folded, err)
                : sptrsv_layout_set_values(p->layout, a, p->schedule, p->scheme.arith, &folded, err))
        return err->status;
    settle(p, folded);
    return HU_OK;
}

/* ---- the walk over tasks ---------------------------------------------------------------------------------------- */

/* A solve under way: one vector, or a panel of `width` right-hand sides. */
typedef struct {
    const sptrsv_plan *plan;
    const void *b;
    void *x;
    int64_t ldb, ldx;
    int width;
} job;

typedef struct {
    _Alignas(64) _Atomic int32_t done; /* tasks; on a cache line of its own */
} progress;

static inline void solve_runs(const job *j, sptrsv_cursor *cursor, const sptrsv_run *run, int64_t runs)
{
    const sptrsv_loops *loops = &j->plan->loops;
    if (j->width == 1) loops->rows(cursor, run, runs, j->b, j->x);
    else loops->panel[j->width == 4 ? 0 : j->width == 8 ? 1 : 2](cursor, run, runs, j->b, j->ldb, j->x, j->ldx);
}

static void solve_task(const job *j, sptrsv_cursor *cursor, int thread, int64_t task)
{
    const sptrsv_list *list = &j->plan->layout->list[thread];
    int64_t from = list->task_run[task];
    solve_runs(j, cursor, list->run + from, list->task_run[task + 1] - from);
}

/* All of one thread's tasks, with waits for the others'. */
static void walk_tasks(const job *j, int thread, progress *all)
{
    const sptrsv_schedule *s = j->plan->schedule;
    sptrsv_cursor cursor = sptrsv_layout_cursor(j->plan->layout, thread);
    int64_t first = s->thread_task[thread], tasks = s->thread_task[thread + 1] - first;
    for (int64_t task = 0; task < tasks; task++) {
        for (int64_t w = s->wait_start[first + task]; w < s->wait_start[first + task + 1]; w++) {
            const sptrsv_wait *wait = &s->wait[w];
            for (int turn = 0; atomic_load_explicit(&all[wait->thread].done, memory_order_acquire) < wait->count;) hu_wait_step(&turn);
        }
        solve_task(j, &cursor, thread, task);
        atomic_store_explicit(&all[thread].done, (int32_t)task + 1, memory_order_release);
    }
}

/* The same with a barrier after each level. */
static void walk_levels(const job *j, int thread)
{
    const sptrsv_schedule *s = j->plan->schedule;
    sptrsv_cursor cursor = sptrsv_layout_cursor(j->plan->layout, thread);
    int64_t first = s->thread_task[thread], tasks = s->thread_task[thread + 1] - first, task = 0;
    for (int32_t g = 0; g < s->groups; g++) {
        if (task < tasks && s->task_group[first + task] == g) solve_task(j, &cursor, thread, task++);
#pragma omp barrier
    }
}

/* All tasks by the calling thread, in an order that meets every wait: group by group. */
static void walk_alone(const job *j)
{
    const sptrsv_schedule *s = j->plan->schedule;
    sptrsv_cursor cursor[SPTRSV_MOST_THREADS];
    int64_t task[SPTRSV_MOST_THREADS];
    for (int t = 0; t < s->threads; t++) {
        cursor[t] = sptrsv_layout_cursor(j->plan->layout, t);
        task[t] = 0;
    }
    for (int32_t g = 0; g < s->groups; g++)
        for (int t = 0; t < s->threads; t++) {
            int64_t first = s->thread_task[t];
            if (first + task[t] == s->thread_task[t + 1] || s->task_group[first + task[t]] != g) continue;
            solve_task(j, &cursor[t], t, task[t]++);
        }
}

static void __attribute__((noinline)) walk_in_parallel(const job *j)
{
    int threads = j->plan->schedule->threads;
    progress all[SPTRSV_MOST_THREADS];
    for (int t = 0; t < threads; t++) atomic_init(&all[t].done, 0);
#pragma omp parallel num_threads(threads)
    {
        int thread = omp_get_thread_num();
        if (omp_get_num_threads() < threads) { /* the runtime gave fewer threads than the plan has lists */
            if (thread == 0) walk_alone(j);
        } else if (j->plan->scheme.kind == SPTRSV_BARRIER) {
            walk_levels(j, thread);
        } else {
            walk_tasks(j, thread, all);
        }
    }
}

/* The rows of a fat run, one after another: all threads sum chunks of it, whose sums are then added in order, so that the bits are those of one
 * thread. */
static void solve_fat(const job *j, sptrsv_cursor *cursor, const sptrsv_run *run)
{
    enum { SHARED = 512 }; /* chunks at a time */
    const sptrsv_long_row *row_loops = &j->plan->loops.long_row;
    const int64_t head = sptrsv_row_head(run->length), chunks = (head + SPTRSV_FAT_CHUNK - 1) / SPTRSV_FAT_CHUNK;
    const int32_t *listed = cursor->row;
    for (int32_t i = 0; i < run->rows; i++) {
        double partial[SHARED];
        union {
            double f64;
            float f32;
        } sum; /* of the plan's arithmetic */
        int64_t row = run->first < 0 ? listed[i] : run->first + (int64_t)i * cursor->direction;
        row_loops->begin(cursor, row, j->b, &sum);
        for (int64_t done = 0; done < chunks; done += SHARED) {
            int64_t part = chunks - done < SHARED ? chunks - done : SHARED;
#pragma omp parallel for num_threads(j->plan->team) schedule(static)
            for (int64_t c = 0; c < part; c++) {
                int64_t from = (done + c) * SPTRSV_FAT_CHUNK, left = head - from;
                row_loops->chunk(cursor, row, from, left < SPTRSV_FAT_CHUNK ? left : SPTRSV_FAT_CHUNK, j->x, &partial[c]);
            }
            row_loops->add(partial, part, &sum);
        }
        row_loops->end(cursor, run, row, &sum, j->x);
    }
}

/* A plan of one list some of whose rows the threads share. */
static void walk_with_fat_rows(const job *j)
{
    const sptrsv_list *list = j->plan->layout->list;
    sptrsv_cursor cursor = sptrsv_layout_cursor(j->plan->layout, 0);
    for (int64_t i = 0, from = 0; i <= list->runs; i++) {
        bool fat = i < list->runs && is_fat(j->plan, &list->run[i]);
        if (i < list->runs && !fat) continue;
        if (i > from) solve_runs(j, &cursor, list->run + from, i - from);
        if (fat) solve_fat(j, &cursor, &list->run[i]);
        from = i + 1;
    }
}

static void walk(const job *j)
{
    if (j->plan->grid) {
        if (j->width == 1) sptrsv_grid_solve(j->plan->grid, j->b, j->x);
        else sptrsv_grid_solve_block(j->plan->grid, j->width, j->b, j->x);
        return;
    }
    const sptrsv_list *list = j->plan->layout->list;
    if (j->plan->schedule->threads > 1) {
        walk_in_parallel(j);
        return;
    }
    if (j->plan->fat_rows > 0 && j->width == 1) {
        walk_with_fat_rows(j);
        return;
    }
    sptrsv_cursor cursor = sptrsv_layout_cursor(j->plan->layout, 0);
    solve_runs(j, &cursor, list->run, list->runs);
}

/* ---- one right-hand side ---------------------------------------------------------------------------------------- */

void sptrsv_solve(const sptrsv_plan *p, const void *b, void *x)
{
    if (p->alone) { /* the short way, for small systems */
        sptrsv_cursor cursor = p->start;
        p->loops.rows(&cursor, p->alone->run, p->alone->runs, b, x);
        return;
    }
    job j = {p, b, x, 1, 1, 1};
    walk(&j);
}

/* ---- many right-hand sides -------------------------------------------------------------------------------------- */

static hu_status check_shapes(const sptrsv_plan *p, const hu_dense *b, const hu_dense *x, hu_error *err)
{
    if (b->rows != p->n)
        return hu_fail(err, HU_INPUT, "the right-hand side has %lld rows; the matrix has %lld", (long long)b->rows, (long long)p->n);
    if (x->rows != b->rows || x->cols != b->cols)
        return hu_fail(err, HU_INPUT, "the solution is %lld x %lld; the right-hand side is %lld x %lld", (long long)x->rows,
                       (long long)x->cols, (long long)b->rows, (long long)b->cols);
    if (b->scalar != p->scalar || x->scalar != p->scalar)
        return hu_fail(err, HU_INPUT, "the right-hand side or the solution has another scalar type than the plan");
    return HU_OK;
}

/* Copies columns [from, from + count) between a dense matrix and a row-major panel of `width` columns. Rows are taken in blocks, so that the streams
 * of the columns stay in the first cache. */
#define COPY_BLOCK(type)                                                                                               \
    for (int64_t i = first; i < end; i++)                                                                              \
        for (int64_t j = 0; j < count; j++) {                                                                          \
            type *at = (type *)a->data + i * row_step + (from + j) * col_step, *there = (type *)panel + i * width + j; \
            if (out) *at = *there;                                                                                     \
            else *there = *at;                                                                                         \
        }

static void copy_panel(const hu_dense *a, int64_t from, int64_t count, int width, void *panel, bool out, int threads)
{
    enum { BLOCK = 512 };
    int64_t row_step = a->order == HU_ROW_MAJOR ? a->ld : 1, col_step = a->order == HU_ROW_MAJOR ? 1 : a->ld;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && a->rows > 10000)
    for (int64_t first = 0; first < a->rows; first += BLOCK) {
        int64_t end = first + BLOCK < a->rows ? first + BLOCK : a->rows;
        if (a->scalar == HU_F32) COPY_BLOCK(float)
        else if (a->scalar == HU_F64) COPY_BLOCK(double)
        else COPY_BLOCK(double complex)
    }
}
#undef COPY_BLOCK

static int panel_width(const sptrsv_plan *p, int64_t left)
{
    int most = p->scheme.rhs;
    if (p->scalar == HU_C128 || left < 2 || most < 4) return 1;
    return left > 8 && most >= 16 ? 16 : left > 4 && most >= 8 ? 8 : 4;
}

/* Columns [from, from + count) through panels of their own; count <= width, and the columns that are missing count as zero. */
static void solve_packed(const sptrsv_plan *p, const hu_dense *b, hu_dense *x, int64_t from, int64_t count, int width, void *panel)
{
    int threads = p->threads;
    if (count < width) memset(panel, 0, (size_t)p->n * (size_t)width * hu_scalar_size(b->scalar));
    copy_panel(b, from, count, width, panel, false, threads);
    job j = {p, panel, panel, width, width, width};
    walk(&j);
    copy_panel(x, from, count, width, panel, true, threads);
}

hu_status sptrsv_solve_many(const sptrsv_plan *p, const hu_dense *b, hu_dense *x, hu_error *err)
{
    if (check_shapes(p, b, x, err)) return err->status;
    size_t size = hu_scalar_size(b->scalar);
    void *panel = NULL;
    for (int64_t from = 0; from < b->cols;) {
        int width = panel_width(p, b->cols - from);
        int64_t count = b->cols - from < width ? b->cols - from : width;
        bool row_major = b->order == HU_ROW_MAJOR && x->order == HU_ROW_MAJOR && (!p->grid || (b->ld == width && x->ld == width));
        bool vectors = (b->order == HU_COL_MAJOR || b->ld == 1) && (x->order == HU_COL_MAJOR || x->ld == 1);
        if (width == 1 && vectors) {
            sptrsv_solve(p, (const char *)b->data + (size_t)(from * b->ld) * size, (char *)x->data + (size_t)(from * x->ld) * size);
        } else if (width > 1 && count == width && row_major) {
            job j = {p, (const char *)b->data + (size_t)from * size, (char *)x->data + (size_t)from * size, b->ld, x->ld, width};
            walk(&j);
        } else {
            if (!panel && hu_alloc(p->n, size * (size_t)width, "a panel of right-hand sides", &panel, err)) return err->status;
            solve_packed(p, b, x, from, count, width, panel);
        }
        from += count;
    }
    hu_free(panel);
    return HU_OK;
}

/* ---- checked ---------------------------------------------------------------------------------------------------- */

static double complex get(const hu_dense *a, int64_t i, int64_t j)
{
    int64_t at = a->order == HU_ROW_MAJOR ? i * a->ld + j : i + j * a->ld;
    if (a->scalar == HU_C128) return ((const double complex *)a->data)[at];
    return a->scalar == HU_F32 ? (double)((const float *)a->data)[at] : ((const double *)a->data)[at];
}

static void put(hu_dense *a, int64_t i, int64_t j, double complex value)
{
    int64_t at = a->order == HU_ROW_MAJOR ? i * a->ld + j : i + j * a->ld;
    if (a->scalar == HU_C128) ((double complex *)a->data)[at] = value;
    else if (a->scalar == HU_F32) ((float *)a->data)[at] = (float)creal(value);
    else ((double *)a->data)[at] = creal(value);
}

static bool is_finite(double complex z)
{
    return isfinite(creal(z)) && isfinite(cimag(z));
}

/* The first row in the order of solving whose result is not finite; -1: none. */
static int64_t first_nonfinite(const sptrsv_system *a, const hu_dense *x, int64_t j)
{
    for (int64_t step = 0; step < a->n; step++) {
        int64_t row = sptrsv_step_row(a, step);
        if (!is_finite(get(x, row, j))) return row;
    }
    return -1;
}

/* One column with divisions, in natural order, in double precision. */
static void solve_plainly(const sptrsv_system *a, const hu_dense *b, hu_dense *x, int64_t j)
{
    const double *val = a->matrix->val;
    for (int64_t step = 0; step < a->n; step++) {
        int64_t row = sptrsv_step_row(a, step);
        double complex s = get(b, row, j), d = 1;
        for (int64_t k = 0; k < a->count[row]; k++) {
            int64_t p = a->first[row] + k * a->stride;
            double complex l = a->is_complex ? CMPLX(val[2 * p], val[2 * p + 1]) : val[p];
            s -= l * get(x, a->matrix->col[p], j);
        }
        if (!a->unit) d = a->is_complex ? CMPLX(val[2 * a->diagonal[row]], val[2 * a->diagonal[row] + 1]) : val[a->diagonal[row]];
        put(x, row, j, a->is_complex ? s / d : creal(s) / creal(d));
    }
}

hu_status sptrsv_solve_checked(const sptrsv_plan *p, const sptrsv_system *a, const hu_dense *b, hu_dense *x, hu_error *err)
{
    hu_dense *copy = NULL;
    if (b->data == x->data && hu_dense_convert(b, b->scalar, b->order, &copy, err)) return err->status;
    if (sptrsv_solve_many(p, copy ? copy : b, x, err)) goto cleanup;
    for (int64_t j = 0; j < x->cols; j++) {
        if (first_nonfinite(a, x, j) < 0) continue;
        solve_plainly(a, copy ? copy : b, x, j);
        int64_t row = first_nonfinite(a, x, j);
        if (row < 0) continue;
        hu_fail(err, HU_INPUT, "row %lld of the solution is not finite (right-hand side %lld): it overflows", (long long)row + 1,
                (long long)j + 1);
        break;
    }
cleanup:
    hu_dense_free(copy);
    return err->status;
}

/* ---- what a plan tells of itself -------------------------------------------------------------------------------- */

void sptrsv_plan_describe(const sptrsv_plan *p, sptrsv_plan_facts *ret_facts)
{
    const sptrsv_schedule *s = p->schedule;
    *ret_facts = (sptrsv_plan_facts){.scheme = p->done, .precision = p->precision, .threads = p->fat_rows > 0 ? p->team : p->threads,
                                       .chooser = p->chooser};
    memcpy(ret_facts->remark, p->remark, sizeof ret_facts->remark);
    if (p->grid) {
        ret_facts->bytes_per_solve = sptrsv_grid_bytes_per_solve(p->grid);
        ret_facts->bytes_held = sptrsv_grid_bytes_held(p->grid);
        return;
    }
    int64_t streams = sptrsv_layout_bytes(p->layout);
    ret_facts->levels = s->levels;
    ret_facts->nodes = s->nodes;
    ret_facts->tasks = s->tasks;
    ret_facts->waits = s->waits;
    ret_facts->longest_path = s->longest_path;
    ret_facts->bytes_per_solve = streams + 3 * p->n * (int64_t)hu_scalar_size(p->scalar);
    ret_facts->bytes_held = streams + (s->order ? p->n * 4 : 0) + s->tasks * 28 + s->waits * (int64_t)sizeof *s->wait;
}
