/* scheme_table.c: every scheme of a space measured on a system, as a table. */
#include "config.h"
#include "scheme_table.h"
#include "base/memory.h"
#include "base/clock.h"
#include "base/progress.h"
#include "choice.h"
#include "device/cpu.h"
#include "io/report.h"
#include "measure.h"

#include <math.h>

/* Short solves are repeated for so many seconds, within ten times the repetitions. */
static const double least_seconds = 2e-3;

enum { ROUNDS = 3 };
static const double most_held = 2e9; /* bytes of all plans at once */

typedef struct {
    sptrsv_plan *plan; /* NULL: not held */
    sptrsv_plan_facts facts;
    double analysis, round[ROUNDS], median, least;
    int repetitions;
} row;

static hu_status make_plan(const sptrsv_system *system, const sptrsv_scheme *scheme, const sptrsv_bench_options *o, row *r, hu_error *err)
{
    double begin = hu_clock_wall();
    if (sptrsv_plan_new(system, scheme, o->precision, o->threads, &r->plan, err)) return err->status;
    r->analysis = hu_clock_wall() - begin;
    sptrsv_plan_describe(r->plan, &r->facts);
    return HU_OK;
}

static void drop_plan(row *r)
{
    sptrsv_plan_free(r->plan);
    r->plan = NULL;
}

/* One round of a scheme. */
static hu_status measure_round(const sptrsv_system *system, const sptrsv_bench_options *o, int round, int rounds, row *r, hu_error *err)
{
    sptrsv_time t;
    if (sptrsv_measure(r->plan, system, o->columns, (o->repetitions + rounds - 1) / rounds, least_seconds, &t, err)) return err->status;
    r->round[round] = rounds > 1 ? t.least : t.median;
    r->least = round == 0 || t.least < r->least ? t.least : r->least;
    r->repetitions += t.repetitions;
    if (round == rounds - 1) r->median = hu_clock_median(r->round, rounds);
    return HU_OK;
}

/* All schemes, in turn; the naive loop among them. */
static hu_status measure_all(const sptrsv_system *system, const sptrsv_scheme *schemes, int n, const sptrsv_bench_options *o, row *rows, double *ret_naive,
                             hu_error *err)
{
    bool hold = n * 16.0 * (double)(system->nnz + 4 * system->n) < most_held;
    int rounds = hold ? ROUNDS : 1;
    double naive[ROUNDS];
    for (int round = 0; round < rounds; round++) {
        sptrsv_time t;
        if (sptrsv_measure_naive(system, o->repetitions, least_seconds, &t, err)) return err->status;
        naive[round] = rounds > 1 ? t.least : t.median;
        for (int i = 0; i < n; i++) {
            hu_progress("measuring schemes", round * n + i, rounds * n);
            if ((!rows[i].plan && make_plan(system, &schemes[i], o, &rows[i], err)) || measure_round(system, o, round, rounds, &rows[i], err))
                return err->status;
            if (!hold) drop_plan(&rows[i]);
        }
    }
    *ret_naive = hu_clock_median(naive, rounds);
    return HU_OK;
}

/* What all rows share. */
typedef struct {
    const char *name;
    const sptrsv_survey *survey;
    const sptrsv_bench_options *options;
    double naive, best, bandwidth;
} context;

/* Failures stay in err, so that the columns can be listed plainly. */
static void add_row(hu_report *r, const context *c, const sptrsv_scheme *scheme, bool is_rule, const row *m, hu_error *err)
{
    char text[256];
    sptrsv_input input[SPTRSV_INPUTS];
    double rate = (double)m->facts.bytes_per_solve / m->median, columns = c->options->columns;
    double relative = m->least / (c->naive * columns);
    sptrsv_inputs_of(c->survey, c->options->precision, c->options->columns, scheme, input);
    sptrsv_scheme_print(scheme, text, sizeof text);
    hu_report_text(r, "matrix", c->name, err);
    hu_report_text(r, "machine", hu_cpu_model(), err);
    for (int k = 0; k < SPTRSV_INPUTS; k++) {
        if (input[k].text) hu_report_text(r, input[k].name, input[k].text, err);
        else hu_report_number(r, input[k].name, input[k].number, err);
    }
    hu_report_integer(r, "rule", is_rule, err);
    hu_report_text(r, "scheme", text, err);
    hu_report_number(r, "analysis_s", m->analysis, err);
    hu_report_number(r, "naive_s", c->naive * columns, err);
    hu_report_number(r, "solve_s", m->median, err);
    hu_report_number(r, "solve_min_s", m->least, err);
    hu_report_number(r, "relative", relative, err);
    hu_report_number(r, "cost", fmin(relative, 1), err);
    hu_report_integer(r, "repetitions", m->repetitions, err);
    hu_report_integer(r, "bytes", m->facts.bytes_per_solve, err);
    hu_report_number(r, "bytes_per_s", rate, err);
    hu_report_number(r, "limit_share", rate / c->bandwidth, err);
    hu_report_number(r, "of_best", c->best / m->least, err);
}

hu_status sptrsv_bench(const sptrsv_system *system, const char *name, const sptrsv_bench_options *o, hu_output *out, hu_error *err)
{
    sptrsv_survey survey;
    sptrsv_scheme *schemes;
    hu_report *report = NULL;
    void *rows = NULL;
    int n;
    context c = {name, &survey, o, NAN, INFINITY, NAN};
    if (sptrsv_survey_of(system, o->threads, o->allow_grid, SPTRSV_LOOK_ALL, &survey, err) ||
        sptrsv_candidates(&survey, o->space, o->columns, &schemes, &n, err))
        return err->status;
    if (hu_alloc_zero(n, sizeof(row), "measurements", &rows, err) || hu_cpu_read_bandwidth(&c.bandwidth, err) || hu_report_new(&report, err) ||
        measure_all(system, schemes, n, o, rows, &c.naive, err))
        goto cleanup;
    row *m = rows;
    for (int i = 0; i < n; i++) c.best = fmin(c.best, m[i].least);
    for (int i = 0; i < n; i++) {
        if (i > 0) hu_report_next_row(report);
        add_row(report, &c, &schemes[i], i == 0, &m[i], err);
    }
    if (!err->status) hu_report_write(report, true, out, err);
cleanup:
    hu_progress_end();
    for (int i = 0; rows && i < n; i++) drop_plan((row *)rows + i);
    hu_report_free(report);
    hu_free(rows);
    hu_free(schemes);
    return err->status;
}
