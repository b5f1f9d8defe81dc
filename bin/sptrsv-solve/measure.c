/* measure.c: how long a plan takes, and every scheme worth trying on a system. */
#include "config.h"
#include "measure.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "device/cpu.h"
#include "grid.h"
#include "io/report.h"

#include <math.h>
#include <string.h>

/* ---- timing a plan ---------------------------------------------------------------------------------------------- */

enum { MOST_SAMPLES = 1000 };
static const double SHORTEST_SAMPLE = 20e-6; /* seconds; well above what reading the clock costs */

static size_t vector_item(const sptrsv_system *system, sptrsv_precision precision)
{
    return system->is_complex ? 16 : precision == SPTRSV_F32 ? 4 : 8;
}

/* A vector of ones in the scalar of the plan. */
static hu_status ones(const sptrsv_system *system, sptrsv_precision precision, void **ret_vector, hu_error *err)
{
    if (hu_alloc(system->n, vector_item(system, precision), "a right-hand side", ret_vector, err)) return err->status;
    double *d = *ret_vector;
    float *f = *ret_vector;
    for (int64_t i = 0; i < system->n; i++) {
        if (system->is_complex) d[2 * i] = 1, d[2 * i + 1] = 0;
        else if (precision == SPTRSV_F32) f[i] = 1;
        else d[i] = 1;
    }
    return HU_OK;
}

hu_status sptrsv_measure(const sptrsv_plan *plan, const sptrsv_system *system, int repetitions, double seconds,
                         sptrsv_time *ret_time, hu_error *err)
{
    sptrsv_plan_facts facts;
    sptrsv_plan_describe(plan, &facts);
    void *b, *x = NULL;
    double samples[MOST_SAMPLES];
    if (ones(system, facts.precision, &b, err)) return err->status;
    if (hu_alloc_zero(system->n, vector_item(system, facts.precision), "a solution", &x, err)) goto cleanup;
    sptrsv_solve(plan, b, x); /* the first solve touches the pages and wakes the threads */
    double start = hu_clock_wall();
    sptrsv_solve(plan, b, x);
    double once = hu_clock_wall() - start;
    int batch = once > SHORTEST_SAMPLE ? 1 : (int)(SHORTEST_SAMPLE / (once > 1e-8 ? once : 1e-8)) + 1;
    int n = 0;
    double least = INFINITY, begin = hu_clock_wall();
    do {
        start = hu_clock_wall();
        for (int i = 0; i < batch; i++) sptrsv_solve(plan, b, x);
        samples[n] = (hu_clock_wall() - start) / batch;
        if (samples[n] < least) least = samples[n];
        n++;
    } while (n < MOST_SAMPLES && (n < repetitions || (hu_clock_wall() - begin < seconds && n < 10 * repetitions)));
    *ret_time = (sptrsv_time){hu_clock_median(samples, n), least, n};
cleanup:
    hu_free(b);
    hu_free(x);
    return err->status;
}

/* ---- candidates ------------------------------------------------------------------------------------------------- */

static bool same_scheme(const sptrsv_scheme *a, const sptrsv_scheme *b)
{
    char text_a[256], text_b[256];
    sptrsv_scheme_print(a, text_a, sizeof text_a);
    sptrsv_scheme_print(b, text_b, sizeof text_b);
    return strcmp(text_a, text_b) == 0;
}

typedef struct {
    sptrsv_scheme *schemes;
    int64_t capacity;
    int n;
} list;

static hu_status add(list *l, sptrsv_scheme scheme, hu_error *err)
{
    for (int i = 0; i < l->n; i++)
        if (same_scheme(&l->schemes[i], &scheme)) return HU_OK;
    void *block = l->schemes;
    if (hu_grow(&block, &l->capacity, l->n + 1, sizeof scheme, "candidates", err)) return err->status;
    l->schemes = block;
    l->schemes[l->n++] = scheme;
    return HU_OK;
}

/* The storage variants of one schedule: column width and dense blocks. */
static hu_status add_storage(list *l, sptrsv_scheme scheme, hu_error *err)
{
    for (int index = 16; index <= 32; index += 16)
        for (int super = 0; super < 2; super++) {
            scheme.index = index;
            scheme.super = super;
            if (add(l, scheme, err)) return err->status;
        }
    return HU_OK;
}

static hu_status add_tasks(list *l, sptrsv_scheme base, int64_t n, hu_error *err)
{
    static const int32_t sizes[] = {8, 32, 128, 512, 2048}, merges[] = {0, 512, 4096};
    base.kind = SPTRSV_TASK;
    for (size_t m = 0; m < sizeof merges / sizeof *merges; m++) {
        base.merge = merges[m];
        base.node = SPTRSV_NODE_ROW;
        base.rows = 1;
        if (add_storage(l, base, err)) return err->status;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] < n; i++) {
            base.rows = sizes[i];
            base.node = SPTRSV_NODE_CHAIN;
            if (add_storage(l, base, err)) return err->status;
            base.node = SPTRSV_NODE_BLOCK;
            if (add_storage(l, base, err)) return err->status;
        }
    }
    return HU_OK;
}

hu_status sptrsv_candidates(const sptrsv_system *system, sptrsv_precision precision, int threads, sptrsv_scheme **ret_schemes,
                            int *ret_n, hu_error *err)
{
    list l = {0};
    sptrsv_scheme rule;
    sptrsv_grid_shape shape;
    bool is_grid = false;
    *ret_schemes = NULL;
    *ret_n = 0;
    if (sptrsv_scheme_by_rule(system, precision, threads, true, &rule, err) || add(&l, rule, err)) goto failed;
    if (sptrsv_grid_detect(system, NULL, &is_grid, &shape, NULL, err)) goto failed;
    sptrsv_scheme s = rule;
    if (is_grid) {
        s.kind = SPTRSV_GRID;
        s.tile = SPTRSV_TILE_LINE;
        if (add(&l, s, err)) goto failed;
        s.tile = SPTRSV_TILE_SLAB;
        if (threads > 1 && add(&l, s, err)) goto failed;
    }
    s = rule;
    s.node = SPTRSV_NODE_ROW;
    s.rows = 1;
    s.merge = 0;
    s.kind = SPTRSV_SERIAL;
    if (add_storage(&l, s, err)) goto failed;
    s.kind = SPTRSV_LEVEL;
    if (add_storage(&l, s, err)) goto failed;
    s.kind = SPTRSV_BARRIER;
    s.index = 32;
    s.super = false;
    if (threads > 1 && (add(&l, s, err) || add_tasks(&l, s, system->n, err))) goto failed;
    *ret_schemes = l.schemes;
    *ret_n = l.n;
    return HU_OK;
failed:
    hu_free(l.schemes);
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

hu_status sptrsv_search(const sptrsv_system *system, sptrsv_precision precision, int threads, double seconds,
                        sptrsv_plan **ret_plan, hu_error *err)
{
    sptrsv_scheme *schemes;
    int n, kept = 0, measured = 0;
    contender finalists[FINALISTS] = {{NULL, 0}};
    *ret_plan = NULL;
    if (sptrsv_candidates(system, precision, threads, &schemes, &n, err)) return err->status;
    double begin = hu_clock_wall();
    for (int i = 0; i < n && (i == 0 || hu_clock_wall() - begin < 0.8 * seconds); i++) {
        contender c = {NULL, 0};
        sptrsv_time t;
        hu_progress("measuring schemes", i, n);
        if (sptrsv_plan_new(system, &schemes[i], precision, threads, &c.plan, err)) goto cleanup;
        if (sptrsv_measure(c.plan, system, 3, 0, &t, err)) {
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
            if (sptrsv_measure(finalists[i].plan, system, 3, 0, &t, err)) goto cleanup;
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

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const char *const feature_names[] = {"n", "nnz", "mean_row", "max_row", "cov_row", "mean_level", "max_level", "cov_level",
                                            "dep_dist", "levels", "diagonals", "bandwidth", "is_grid", "bytes_l2", "bytes_l3"};
_Static_assert(sizeof feature_names / sizeof *feature_names == sizeof(sptrsv_features) / sizeof(double),
               "a name for each feature");

typedef struct {
    sptrsv_plan_facts facts;
    sptrsv_time time;
    double analysis;
} row;

static hu_status measure_row(const sptrsv_system *system, const sptrsv_scheme *scheme, sptrsv_precision precision, int threads,
                             int repetitions, row *ret_row, hu_error *err)
{
    sptrsv_plan *plan;
    double begin = hu_clock_wall();
    if (sptrsv_plan_new(system, scheme, precision, threads, &plan, err)) return err->status;
    ret_row->analysis = hu_clock_wall() - begin;
    sptrsv_plan_describe(plan, &ret_row->facts);
    sptrsv_measure(plan, system, repetitions, 0, &ret_row->time, err);
    sptrsv_plan_free(plan);
    return err->status;
}

/* Failures stay in err, so that the columns can be listed plainly. */
static void add_row(hu_report *r, const char *name, const sptrsv_features *f, const row *m, double best, double bandwidth,
                    hu_error *err)
{
    char scheme[256];
    const double *feature = (const double *)f;
    sptrsv_scheme_print(&m->facts.scheme, scheme, sizeof scheme);
    double rate = (double)m->facts.bytes_per_solve / m->time.median;
    hu_report_text(r, "matrix", name, err);
    for (size_t i = 0; i < sizeof feature_names / sizeof *feature_names; i++) hu_report_number(r, feature_names[i], feature[i], err);
    hu_report_text(r, "machine", hu_cpu_model(), err);
    hu_report_text(r, "cpu", hu_cpu_level_name(hu_cpu()), err);
    hu_report_integer(r, "threads", m->facts.threads, err);
    hu_report_text(r, "precision", sptrsv_precision_name(m->facts.precision), err);
    hu_report_text(r, "scheme", scheme, err);
    hu_report_number(r, "analysis_s", m->analysis, err);
    hu_report_number(r, "solve_s", m->time.median, err);
    hu_report_number(r, "solve_min_s", m->time.least, err);
    hu_report_integer(r, "repetitions", m->time.repetitions, err);
    hu_report_integer(r, "bytes", m->facts.bytes_per_solve, err);
    hu_report_number(r, "bytes_per_s", rate, err);
    hu_report_number(r, "limit_share", rate / bandwidth, err);
    hu_report_number(r, "of_best", best / m->time.median, err);
}

hu_status sptrsv_bench(const sptrsv_system *system, const char *name, sptrsv_precision precision, int threads, int repetitions,
                       hu_output *out, hu_error *err)
{
    sptrsv_scheme *schemes;
    sptrsv_features features;
    hu_report *report = NULL;
    void *rows = NULL;
    int n;
    double bandwidth, best = INFINITY;
    if (sptrsv_candidates(system, precision, threads, &schemes, &n, err)) return err->status;
    if (hu_alloc(n, sizeof(row), "measurements", &rows, err) || hu_cpu_read_bandwidth(&bandwidth, err) ||
        sptrsv_features_of(system, &features, err) || hu_report_new(&report, err))
        goto cleanup;
    row *m = rows;
    for (int i = 0; i < n; i++) {
        hu_progress("measuring schemes", i, n);
        if (measure_row(system, &schemes[i], precision, threads, repetitions, &m[i], err)) goto cleanup;
        if (m[i].time.median < best) best = m[i].time.median;
    }
    for (int i = 0; i < n; i++) {
        if (i > 0) hu_report_next_row(report);
        add_row(report, name, &features, &m[i], best, bandwidth, err);
    }
    if (!err->status) hu_report_write(report, true, out, err);
cleanup:
    hu_progress_end();
    hu_report_free(report);
    hu_free(rows);
    hu_free(schemes);
    return err->status;
}
