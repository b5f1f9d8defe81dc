/* verify.c: trace-compress verify: whether two traces say the same, metric by metric. */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "compare.h"
#include "io/csv.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *path[2], *tolerances;
    int paths;
} options;

enum { KEY_TOL = 0x100 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_TOL: o->tolerances = arg; return 0;
    case ARGP_KEY_ARG:
        if (o->paths == 2) argp_error(state, "more than two traces");
        o->path[o->paths++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->paths < 2) argp_error(state, "two traces are needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* A table with the columns metric and tolerance. */
static hu_status read_tolerances(const char *path, hu_csv_table **ret_table, hu_error *err)
{
    hu_source *source;
    hu_csv_options plain = HU_CSV_DEFAULTS;
    plain.delimiter = ',';
    plain.decimal = '.';
    *ret_table = NULL;
    if (!path) return HU_OK;
    if (hu_source_open(path, NULL, &source, err)) return err->status;
    if (hu_csv_read(source, &plain, 1 << 20, ret_table, err) == HU_OK) {
        const hu_csv_table *t = *ret_table;
        int64_t metric = hu_csv_find(t, "metric"), tolerance = hu_csv_find(t, "tolerance");
        if (metric < 0 || tolerance < 0 || (t->rows > 0 && (!t->column[metric].is_text || t->column[tolerance].is_text)))
            hu_fail(err, HU_INPUT, "%s: expected a column metric (names) and a column tolerance (numbers)", path);
    }
    hu_source_close(source);
    return err->status;
}

/* The tolerance of a metric: the table's, else 0 where it is judged, else none. */
static double tolerance_of(const hu_csv_table *t, const compare_metric *m)
{
    for (int64_t i = 0; t && i < t->rows; i++) {
        const hu_csv_column *names = &t->column[hu_csv_find(t, "metric")];
        if (names->level[i] >= 0 && strcmp(names->levels[names->level[i]], m->name) == 0) return t->column[hu_csv_find(t, "tolerance")].number[i];
    }
    return m->judged ? 0.0 : INFINITY;
}

static hu_status print_metrics(const compare *c, const hu_csv_table *tolerances, hu_output *out, hu_error *err)
{
    static const char *const names[] = {"metric", "a", "b", "difference", "tolerance", "verdict"};
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    int64_t outside = 0;
    for (int i = 0; i < 6; i++) hu_csv_put_text(&w, names[i], err);
    hu_csv_end_row(&w, err);
    for (int64_t i = 0; i < compare_metrics(c) && !err->status; i++) {
        compare_metric m = compare_metric_of(c, i);
        double tolerance = tolerance_of(tolerances, &m);
        bool within = m.difference <= tolerance;
        hu_csv_put_text(&w, m.name, err);
        hu_csv_put_number(&w, m.a, err);
        hu_csv_put_number(&w, m.b, err);
        hu_csv_put_number(&w, m.difference, err);
        hu_csv_put_number(&w, tolerance, err);
        hu_csv_put_text(&w, isinf(tolerance) ? "told" : within ? "within" : "outside", err);
        hu_csv_end_row(&w, err);
        outside += !within;
    }
    if (!err->status && outside > 0) {
        hu_output_keep(out);
        hu_fail(err, HU_NO, "%lld metrics are outside their tolerance", (long long)outside);
    }
    return err->status;
}

int command_verify(int argc, char **argv)
{
    static const struct argp_option table[] = {{"tol", KEY_TOL, "FILE", 0, "tolerances: CSV with the columns metric and tolerance (default: 0, and none for polls, mpi_time, span)", 1}, {0}};
    static const struct argp own = {table, parse, "A B", "Compare two traces: calls, messages, their order on each channel, times (CSV). Exit status 1 where a metric is outside its tolerance.", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    compare *c = NULL;
    hu_csv_table *tolerances = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (read_tolerances(o.tolerances, &tolerances, &err) == HU_OK) compare_new(&c, &err);
    for (int side = 0; side < 2 && !err.status; side++) {
        input in;
        if (input_open(o.path[side], &in, &err) == HU_OK) compare_read(c, side, &in, &err);
        input_close(&in);
    }
    if (!err.status && hu_output_open(common.output, &out, &err) == HU_OK) print_metrics(c, tolerances, out, &err);
    compare_free(c);
    hu_csv_table_free(tolerances);
    return hu_exit(&err, out);
}
