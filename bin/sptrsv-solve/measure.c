/* measure.c: how long a plan takes; the search that rests on it; the naive loop.
 *
 * Sections: the naive loop, timing, the search.
 */
#include "config.h"
#include "measure.h"
#include "candidates.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"

#include <math.h>
#include <string.h>

/* ---- the naive loop --------------------------------------------------------------------------------------------- */

/* Natural order, a division a row, on the entries as they stand. */
static void solve_naively(const sptrsv_system *a, const double *b, double *x)
{
    const double *val = a->matrix->val;
    const int32_t *col = a->matrix->col;
    int64_t stride = a->stride;
    for (int64_t step = 0; step < a->n; step++) {
        int64_t row = sptrsv_step_row(a, step), first = a->first[row], count = a->count[row];
        double sum = b[row];
        for (int64_t k = 0; k < count; k++) sum -= val[first + k * stride] * x[col[first + k * stride]];
        x[row] = a->unit ? sum : sum / val[a->diagonal[row]];
    }
}

/* ---- timing ----------------------------------------------------------------------------------------------------- */

enum { MOST_SAMPLES = 1000, LEAST_GOOD = 3 };
static const double SHORTEST_SAMPLE = 20e-6; /* seconds; well above what reading the clock costs */

/* What is solved: `columns` right-hand sides of ones, row by row, in the scalar of the plan. */
typedef struct {
    const sptrsv_system *system;
    const sptrsv_plan *plan; /* NULL: the naive loop */
    hu_dense *b, *x;
} work;

static hu_status open_work(work *w, hu_scalar scalar, int columns, hu_error *err)
{
    int64_t n = w->system->n, items = n * columns;
    if (hu_dense_new(n, columns, scalar, HU_ROW_MAJOR, &w->b, err) || hu_dense_new(n, columns, scalar, HU_ROW_MAJOR, &w->x, err)) return err->status;
    for (int64_t i = 0; i < items; i++) {
        if (scalar == HU_C128) ((double *)w->b->data)[2 * i] = 1, ((double *)w->b->data)[2 * i + 1] = 0;
        else if (scalar == HU_F32) ((float *)w->b->data)[i] = 1;
        else ((double *)w->b->data)[i] = 1;
    }
    if (items) memset(w->x->data, 0, (size_t)items * hu_scalar_size(scalar));
    return HU_OK;
}

static void close_work(work *w)
{
    hu_dense_free(w->b);
    hu_dense_free(w->x);
}

static hu_status solve_once(const work *w, hu_error *err)
{
    if (!w->plan) {
        solve_naively(w->system, w->b->data, w->x->data);
        return HU_OK;
    }
    if (w->b->cols > 1) return sptrsv_solve_many(w->plan, w->b, w->x, err);
    sptrsv_solve(w->plan, w->b->data, w->x->data);
    return HU_OK;
}

/* Times one solve after another as sptrsv_measure() says. */
static hu_status sample(const work *w, int repetitions, double seconds, sptrsv_time *ret_time, hu_error *err)
{
    double good[MOST_SAMPLES], disturbed[MOST_SAMPLES];
    if (solve_once(w, err)) return err->status; /* the first one touches the pages and wakes the threads */
    double start = hu_clock_wall();
    if (solve_once(w, err)) return err->status;
    double first = hu_clock_wall() - start, begin = hu_clock_wall();
    int n = 0, bad = 0, batch = first > SHORTEST_SAMPLE ? 1 : (int)(SHORTEST_SAMPLE / (first > 1e-8 ? first : 1e-8)) + 1;
    do {
        int64_t before = hu_clock_preemptions();
        start = hu_clock_wall();
        for (int i = 0; i < batch; i++)
            if (solve_once(w, err)) return err->status;
        double seconds_a_solve = (hu_clock_wall() - start) / batch;
        if (hu_clock_preemptions() == before) good[n++] = seconds_a_solve;
        else if (bad < MOST_SAMPLES) disturbed[bad++] = seconds_a_solve;
    } while (n < MOST_SAMPLES && n + bad < 10 * repetitions && (n < repetitions || hu_clock_wall() - begin < seconds));
    if (n < LEAST_GOOD)
        for (int i = 0; i < bad && n < MOST_SAMPLES; i++) good[n++] = disturbed[i];
    double median = hu_clock_median(good, n); /* sorts */
    *ret_time = (sptrsv_time){median, good[0], n};
    return HU_OK;
}

hu_status sptrsv_measure(const sptrsv_plan *plan, const sptrsv_system *system, int columns, int repetitions, double seconds, sptrsv_time *ret_time,
                         hu_error *err)
{
    work w = {system, plan, NULL, NULL};
    sptrsv_plan_facts facts;
    sptrsv_plan_describe(plan, &facts);
    hu_scalar scalar = system->is_complex ? HU_C128 : facts.precision == SPTRSV_F32 ? HU_F32 : HU_F64;
    if (!open_work(&w, scalar, columns, err)) sample(&w, repetitions, seconds, ret_time, err);
    close_work(&w);
    return err->status;
}

hu_status sptrsv_measure_naive(const sptrsv_system *a, int repetitions, double seconds, sptrsv_time *ret_time, hu_error *err)
{
    work w = {a, NULL, NULL, NULL};
    *ret_time = (sptrsv_time){NAN, NAN, 0};
    if (a->is_complex) return HU_OK;
    if (!open_work(&w, HU_F64, 1, err)) sample(&w, repetitions, seconds, ret_time, err);
    close_work(&w);
    return err->status;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

typedef struct {
    sptrsv_plan *plan;
    double seconds;
} contender;

enum { FINALISTS = 3 };

/* Keeps the fastest FINALISTS in ascending order; frees the plan that falls out. */
static void rank(contender *finalists, int *n, contender c)
{
    int at = *n < FINALISTS ? (*n)++ : FINALISTS;
    if (at == FINALISTS) {
        if (c.seconds >= finalists[FINALISTS - 1].seconds) {
            sptrsv_plan_free(c.plan);
            return;
        }
        sptrsv_plan_free(finalists[FINALISTS - 1].plan);
        at = FINALISTS - 1;
    }
    for (; at > 0 && finalists[at - 1].seconds > c.seconds; at--) finalists[at] = finalists[at - 1];
    finalists[at] = c;
}

hu_status sptrsv_search(const sptrsv_system *system, sptrsv_precision precision, int threads, bool allow_grid, int columns, double seconds,
                        sptrsv_plan **ret_plan, hu_error *err)
{
    sptrsv_scheme *schemes;
    int n, kept = 0, measured = 0;
    contender finalists[FINALISTS] = {{NULL, 0}};
    *ret_plan = NULL;
    sptrsv_survey survey;
    if (sptrsv_survey_of(system, threads, allow_grid, SPTRSV_LOOK_ALL, &survey, err) ||
        sptrsv_candidates(&survey, SPTRSV_SPACE_ALL, columns, &schemes, &n, err))
        return err->status;
    double begin = hu_clock_wall();
    for (int i = 0; i < n && (i == 0 || hu_clock_wall() - begin < 0.8 * seconds); i++) {
        contender c = {NULL, 0};
        sptrsv_time t;
        hu_progress("measuring schemes", i, n);
        if (sptrsv_plan_new(system, &schemes[i], precision, threads, &c.plan, err)) goto cleanup;
        if (sptrsv_measure(c.plan, system, columns, 3, 0, &t, err)) {
            sptrsv_plan_free(c.plan);
            goto cleanup;
        }
        c.seconds = t.least;
        rank(finalists, &kept, c);
        measured++;
    }
    for (int round = 0; round < 5 && hu_clock_wall() - begin < seconds; round++) /* in turn, so that noise meets all alike */
        for (int i = 0; i < kept; i++) {
            sptrsv_time t;
            if (sptrsv_measure(finalists[i].plan, system, columns, 3, 0, &t, err)) goto cleanup;
            if (t.least < finalists[i].seconds) finalists[i].seconds = t.least;
        }
    int best = 0;
    for (int i = 1; i < kept; i++)
        if (finalists[i].seconds < finalists[best].seconds) best = i;
    *ret_plan = finalists[best].plan;
    finalists[best].plan = NULL;
    hu_say(1, "measured %d of %d schemes in %.2f s", measured, n, hu_clock_wall() - begin);
cleanup:
    hu_progress_end();
    for (int i = 0; i < kept; i++) sptrsv_plan_free(finalists[i].plan);
    hu_free(schemes);
    return err->status;
}
