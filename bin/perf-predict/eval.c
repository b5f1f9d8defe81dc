/* eval.c: perf-predict eval: how well a model predicts a table of runs it has not seen. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "plot.h"
#include "rows.h"
#include "table_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    hu_csv_options csv;
    const char *model, *input, *target, *plot;
    double alpha, interval;
    rows_unseen unseen;
} options;

enum { KEY_ALPHA = 0x100, KEY_PLOT, KEY_UNSEEN, KEY_INTERVAL };

static const struct argp_option table[] = {
    {NULL, 'y', "COLUMN", 0, "the measured column (default: the one that the model learnt)", 0},
    {"alpha", KEY_ALPHA, "A", 0, "the share of the rows, those of least target, that rmse_alpha looks at (default: 0.05)", 0},
    {"interval", KEY_INTERVAL, "P", 0, "the probability of the band whose coverage is told (default: 0.9)", 0},
    {"plot", KEY_PLOT, "FILE.svg", 0, "draw predicted against measured, the residuals, and the importance of the columns, by gnuplot", 0},
    {"on-unseen", KEY_UNSEEN, "HOW", 0, "a level that training has not seen: error (default, exit 11), other (the mean over the known levels), or na (as if missing)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const unseen[] = {"error", "other", "na"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->csv; return 0;
    case 'y': o->target = arg; return 0;
    case KEY_ALPHA: o->alpha = hu_option_number(state, "--alpha", arg, 1e-9, 1); return 0;
    case KEY_INTERVAL: o->interval = hu_option_number(state, "--interval", arg, 1e-6, 1 - 1e-6); return 0;
    case KEY_PLOT: o->plot = arg; return 0;
    case KEY_UNSEEN: o->unseen = (rows_unseen)hu_option_word(state, "--on-unseen", arg, unseen, 3); return 0;
    case ARGP_KEY_ARG: common_argument(&o->model, &o->input, arg, state); return 0;
    case ARGP_KEY_END: common_arguments_end(o->model, o->input, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The measured rows with their predictions. */
typedef struct {
    double *truth, *predicted, *work;
    int64_t rows, truth_room, predicted_room;
    int64_t covered;
} measured;

static hu_status add_row(measured *m, double truth, const hu_prediction *p, const hu_model *model, double interval, hu_error *err)
{
    if (hu_grow((void **)&m->truth, &m->truth_room, m->rows + 1, sizeof *m->truth, "rows", err) ||
        hu_grow((void **)&m->predicted, &m->predicted_room, m->rows + 1, sizeof *m->predicted, "rows", err))
        return err->status;
    double tail = (1.0 - interval) / 2;
    m->truth[m->rows] = truth;
    m->predicted[m->rows++] = p->value;
    if (model->scores > 1) m->covered += truth >= hu_model_quantile(model, p, tail) && truth <= hu_model_quantile(model, p, 1.0 - tail);
    return HU_OK;
}

static hu_status read_rows(const options *o, const hu_model *model, measured *m, hu_error *err)
{
    const char *target = o->target ? o->target : model->target;
    hu_source *source = NULL;
    rows *reader = NULL;
    const rows_row *row;
    hu_status status;
    int64_t column = -1;
    if (hu_source_open(o->input, NULL, &source, err) || rows_open(source, &o->csv, model, o->unseen, &reader, err)) goto cleanup;
    hu_csv *csv = rows_csv(reader);
    for (int64_t c = 0; c < hu_csv_columns(csv) && column < 0; c++)
        if (strcmp(hu_csv_column_name(csv, c), target) == 0) column = c;
    if (column < 0) {
        hu_fail(err, (hu_status)PP_MISFIT, "the table has no column %s to compare with", target);
        goto cleanup;
    }
    while ((status = rows_next(reader, &row, err)) == HU_OK) {
        hu_csv_kind kind;
        double truth;
        if (hu_csv_cell(csv, column, &kind, &truth, err)) goto cleanup;
        if (kind == HU_CSV_MISSING || kind == HU_CSV_WORD || !isfinite(truth)) {
            hu_csv_fail(csv, column, err, "is no measurement");
            goto cleanup;
        }
        hu_prediction p = rows_predict(reader, row);
        if (add_row(m, truth, &p, model, o->interval, err)) goto cleanup;
    }
    if (status == HU_END && m->rows == 0) hu_fail_line(err, hu_source_name(source), 0, "the table has a header but no row");
    if (status == HU_END) rows_warn(reader);
cleanup:
    rows_close(reader);
    hu_source_close(source);
    return err->status;
}

typedef struct {
    double truth, predicted;
} point;

static int compare_points(const void *a, const void *b)
{
    double x = ((const point *)a)->truth, y = ((const point *)b)->truth;
    return (x > y) - (x < y);
}

/* Root mean square error over the share alpha of least targets (RMSE@alpha of the sampling literature). */
static hu_status rmse_alpha(const measured *m, double alpha, double *ret, hu_error *err)
{
    point *points;
    if (hu_alloc(m->rows, sizeof *points, "rows", (void **)&points, err)) return err->status;
    for (int64_t i = 0; i < m->rows; i++) points[i] = (point){m->truth[i], m->predicted[i]};
    qsort(points, (size_t)m->rows, sizeof *points, compare_points);
    int64_t n = (int64_t)ceil(alpha * (double)m->rows);
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += (points[i].truth - points[i].predicted) * (points[i].truth - points[i].predicted);
    *ret = sqrt(sum / (double)n);
    hu_free(points);
    return HU_OK;
}

static hu_status put_metric(hu_csv_writer *w, const char *name, double value, hu_error *err)
{
    if (hu_csv_put_text(w, name, err) || (isnan(value) ? hu_csv_put_missing(w, err) : hu_csv_put_number(w, value, err))) return err->status;
    return hu_csv_end_row(w, err);
}

static hu_status evaluate(const options *o, const hu_model *model, int64_t *ret_rows, hu_output *out, hu_error *err)
{
    measured m = {0};
    double at_alpha = NAN;
    if (read_rows(o, model, &m, err) || hu_alloc(m.rows, sizeof *m.work, "rows", (void **)&m.work, err) || rmse_alpha(&m, o->alpha, &at_alpha, err)) goto cleanup;
    hu_model_error e = hu_model_judge(m.truth, m.predicted, m.rows, m.work);
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (hu_csv_put_text(&w, "metric", err) || hu_csv_put_text(&w, "value", err) || hu_csv_end_row(&w, err) || put_metric(&w, "rows", (double)m.rows, err) ||
        put_metric(&w, "mape", e.mape, err) || put_metric(&w, "mdape", e.mdape, err) || put_metric(&w, "rmse", e.rmse, err) || put_metric(&w, "r2", e.r2, err) ||
        put_metric(&w, "rmse_alpha", at_alpha, err) || put_metric(&w, "coverage", model->scores > 1 ? (double)m.covered / (double)m.rows : NAN, err) ||
        put_metric(&w, "held_out_mape", model->held_out.mape, err))
        goto cleanup;
    *ret_rows = m.rows;
    if (o->plot) plot_model(o->plot, model, m.truth, m.predicted, m.rows, err);
cleanup:
    free(m.truth);
    free(m.predicted);
    hu_free(m.work);
    return err->status;
}

static const char doc[] = "Compare a model's predictions with a table of measured runs.\v"
                          "The result has the columns metric and value: rows; mape and mdape (mean and median error relative to the measurement, as shares); rmse; r2; rmse_alpha (over the best runs); "
                          "coverage (of the band); held_out_mape (what training expected).";

int command_eval(int argc, char **argv)
{
    const struct argp_child children[] = {{&csv_argp, 0, "The table:", 2}, {0}};
    const struct argp own = {table, parse, "MODEL [TABLE.csv]", doc, children, NULL, NULL};
    options o = {.csv = HU_CSV_DEFAULTS, .alpha = 0.05, .interval = 0.9};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_model *model = NULL;
    int64_t count = 0;
    hu_option_parse(argc, argv, &own, &o, &common);
    double start = hu_clock_wall();
    if (common_device(&common, &err) == HU_OK && common_model(o.model, &model, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK &&
        evaluate(&o, model, &count, out, &err) == HU_OK)
        common_report(&common, "eval", o.input, count, model, start, &err);
    hu_model_free(model);
    return hu_exit(&err, out);
}
