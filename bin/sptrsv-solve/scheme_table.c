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

typedef struct {
    sptrsv_plan_facts facts;
    sptrsv_time time;
    double analysis;
} row;

static hu_status measure_row(const sptrsv_system *system, const sptrsv_scheme *scheme, const sptrsv_bench_options *o, row *ret_row, hu_error *err)
{
    sptrsv_plan *plan;
    double begin = hu_clock_wall();
    if (sptrsv_plan_new(system, scheme, o->precision, o->threads, &plan, err)) return err->status;
    ret_row->analysis = hu_clock_wall() - begin;
    sptrsv_plan_describe(plan, &ret_row->facts);
    sptrsv_measure(plan, system, o->columns, o->repetitions, least_seconds, &ret_row->time, err);
    sptrsv_plan_free(plan);
    return err->status;
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
    double rate = (double)m->facts.bytes_per_solve / m->time.median, columns = c->options->columns;
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
    hu_report_number(r, "solve_s", m->time.median, err);
    hu_report_number(r, "solve_min_s", m->time.least, err);
    hu_report_number(r, "relative", m->time.median / (c->naive * columns), err);
    hu_report_integer(r, "repetitions", m->time.repetitions, err);
    hu_report_integer(r, "bytes", m->facts.bytes_per_solve, err);
    hu_report_number(r, "bytes_per_s", rate, err);
    hu_report_number(r, "limit_share", rate / c->bandwidth, err);
    hu_report_number(r, "of_best", c->best / m->time.median, err);
}

hu_status sptrsv_bench(const sptrsv_system *system, const char *name, const sptrsv_bench_options *o, hu_output *out, hu_error *err)
{
    sptrsv_survey survey;
    sptrsv_scheme *schemes;
    sptrsv_time naive;
    hu_report *report = NULL;
    void *rows = NULL;
    int n;
    context c = {name, &survey, o, NAN, INFINITY, NAN};
    if (sptrsv_survey_of(system, o->threads, true, SPTRSV_LOOK_ALL, &survey, err) ||
        sptrsv_candidates(&survey, o->space, o->columns, &schemes, &n, err))
        return err->status;
    if (hu_alloc(n, sizeof(row), "measurements", &rows, err) || hu_cpu_read_bandwidth(&c.bandwidth, err) || hu_report_new(&report, err) ||
        sptrsv_measure_naive(system, o->repetitions, least_seconds, &naive, err))
        goto cleanup;
    row *m = rows;
    c.naive = naive.median;
    for (int i = 0; i < n; i++) {
        hu_progress("measuring schemes", i, n);
        if (measure_row(system, &schemes[i], o, &m[i], err)) goto cleanup;
        if (m[i].time.median < c.best) c.best = m[i].time.median;
    }
    for (int i = 0; i < n; i++) {
        if (i > 0) hu_report_next_row(report);
        add_row(report, &c, &schemes[i], i == 0, &m[i], err);
    }
    if (!err->status) hu_report_write(report, true, out, err);
cleanup:
    hu_progress_end();
    hu_report_free(report);
    hu_free(rows);
    hu_free(schemes);
    return err->status;
}
