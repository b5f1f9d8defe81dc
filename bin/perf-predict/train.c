/* train.c: perf-predict train: a table of runs in, a model out. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "base/parallel.h"
#include "commands.h"
#include "common.h"
#include "learn/model.h"
#include "ranks.h"
#include "table.h"
#include "table_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    table_options table;
    hu_model_options model;
    const char *input, *oob, *bags, *scale, *mtry;
} options;

enum { KEY_TARGET = 0x100, KEY_TREES, KEY_MTRY, KEY_LEAF, KEY_DEPTH, KEY_BOOTSTRAP, KEY_MODEL, KEY_SCALE, KEY_OOB, KEY_BAGS };

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "The model:", 2},
    {"model", KEY_MODEL, "KIND", 0, "auto (default: the one of least error on rows held out), rf, et, boost, linear or hybrid", 0},
    {"target", KEY_TARGET, "WHAT", 0, "learn the target raw, its log, or auto (default: the better one)", 0},
    {"trees", KEY_TREES, "N", 0, "trees (default: 500)", 0},
    {"mtry", KEY_MTRY, "N", 0, "columns tried at a split: all (default), sqrt, third, or a number", 0},
    {"leaf", KEY_LEAF, "N", 0, "least runs in a leaf (default: 1)", 0},
    {"depth", KEY_DEPTH, "N", 0, "most splits above a leaf (default: no limit; boost: 3)", 0},
    {"bootstrap", KEY_BOOTSTRAP, "HOW", 0, "rows of a tree: on (drawn with replacement), off (all), or a share below 1 drawn without replacement (default: on; et: off)", 0},
    {"scale", KEY_SCALE, "COLUMNS", 0, "columns n,p,... along which the model is to reach beyond the table: powers and logarithms are fitted first", 0},
    {NULL, 0, NULL, 0, "Further results:", 3},
    {"oob", KEY_OOB, "FILE.csv", 0, "write each row's target, its prediction by what has not seen it, and its deviation", 0},
    {"dump-bags", KEY_BAGS, "FILE.csv", 0, "write how often each tree saw each row", 0},
    {0}};

static void parse_bootstrap(options *o, const char *arg, struct argp_state *state)
{
    hu_forest_options *f = &o->model.forest;
    o->model.bag_auto = false;
    f->replace = strcmp(arg, "on") == 0;
    if (f->replace) f->bag = 1.0;
    else f->bag = strcmp(arg, "off") == 0 ? 0.0 : hu_option_number(state, "--bootstrap", arg, 1e-9, 0.999999999);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const kinds[] = {"rf", "et", "boost", "linear", "hybrid", "auto"}, *const targets[] = {"raw", "log", "auto"};
    options *o = state->input;
    hu_model_options *m = &o->model;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->table; return 0;
    case KEY_MODEL: m->kind = hu_option_word(state, "--model", arg, kinds, 6); m->kind = m->kind == 5 ? -1 : m->kind; return 0;
    case KEY_TARGET: m->log = hu_option_word(state, "--target", arg, targets, 3); m->log = m->log == 2 ? -1 : m->log; return 0;
    case KEY_TREES: m->forest.trees = (int32_t)hu_option_integer(state, "--trees", arg, 1, 1000000); return 0;
    case KEY_LEAF: m->forest.tree.leaf = hu_option_integer(state, "--leaf", arg, 1, INT32_MAX); return 0;
    case KEY_DEPTH: m->forest.tree.depth = (int32_t)hu_option_integer(state, "--depth", arg, 1, 10000); return 0;
    case KEY_MTRY:
        if (strcmp(arg, "all") && strcmp(arg, "sqrt") && strcmp(arg, "third")) hu_option_integer(state, "--mtry", arg, 1, HU_BINS_FEATURES);
        o->mtry = arg;
        return 0;
    case KEY_BOOTSTRAP: parse_bootstrap(o, arg, state); return 0;
    case KEY_SCALE: o->scale = arg; return 0;
    case KEY_OOB: o->oob = arg; return 0;
    case KEY_BAGS: o->bags = arg; return 0;
    case ARGP_KEY_ARG:
        if (o->input) argp_error(state, "more than one table: %s and %s", o->input, arg);
        o->input = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->table.target) argp_error(state, "-y COLUMN says what to predict");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int32_t mtry_of(const char *text, int32_t features)
{
    if (!text || strcmp(text, "all") == 0) return 0;
    int32_t n = strcmp(text, "sqrt") == 0 ? (int32_t)lrint(sqrt(features)) : strcmp(text, "third") == 0 ? features / 3 : atoi(text);
    return n < 1 ? 1 : n >= features ? 0 : n;
}

static hu_status find_scales(const options *o, const hu_frame *frame, int32_t *scale, int32_t *ret_scales, hu_error *err)
{
    *ret_scales = 0;
    for (int32_t f = 0; f < frame->features; f++)
        if (table_listed(o->scale, frame->feature[f].name, NULL)) scale[(*ret_scales)++] = f;
    int32_t named = o->scale ? 1 : 0;
    for (const char *p = o->scale; p && *p; p++) named += *p == ',';
    return named == *ret_scales ? HU_OK : hu_fail(err, HU_USAGE, "--scale=%s: not each of these is a column of the table that is learnt from", o->scale);
}

static hu_status write_held_out(const char *path, const hu_frame *frame, const double *mean, const double *deviation, hu_error *err)
{
    hu_output *out = NULL;
    if (hu_output_open(path, &out, err)) return err->status;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (hu_csv_put_text(&w, "target", err) || hu_csv_put_text(&w, "predicted", err) || hu_csv_put_text(&w, "sigma", err) || hu_csv_end_row(&w, err)) goto failed;
    for (int64_t i = 0; i < frame->rows; i++) {
        if (hu_csv_put_number(&w, frame->y[i], err)) goto failed;
        if (isnan(mean[i]) ? hu_csv_put_missing(&w, err) || hu_csv_put_missing(&w, err) : hu_csv_put_number(&w, mean[i], err) || hu_csv_put_number(&w, deviation[i], err)) goto failed;
        if (hu_csv_end_row(&w, err)) goto failed;
    }
    return hu_output_commit(&out, err);
failed:
    hu_output_abort(&out);
    return err->status;
}

/* One row a row of the table, one column a tree. */
static hu_status write_bags(const char *path, const hu_model *model, hu_error *err)
{
    int64_t n = model->rows;
    int32_t trees = model->options.trees, *weight = NULL, *work = NULL;
    char name[32];
    hu_output *out = NULL;
    if (hu_alloc(trees, (size_t)n * sizeof *weight, "bags", (void **)&weight, err) || hu_alloc(n, sizeof *work, "bags", (void **)&work, err) || hu_output_open(path, &out, err)) goto cleanup;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    for (int32_t t = 0; t < trees; t++) {
        hu_forest_bag(&model->options, t, n, work, weight + t * n);
        snprintf(name, sizeof name, "tree%d", t + 1);
        if (hu_csv_put_text(&w, name, err)) goto cleanup;
    }
    if (hu_csv_end_row(&w, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) {
        for (int32_t t = 0; t < trees; t++)
            if (hu_csv_put_integer(&w, weight[t * n + i], err)) goto cleanup;
        if (hu_csv_end_row(&w, err)) goto cleanup;
    }
    hu_output_commit(&out, err);
cleanup:
    hu_output_abort(&out);
    hu_free(weight);
    hu_free(work);
    return err->status;
}

static void say_model(const hu_model *m)
{
    const hu_model_error *e = &m->held_out;
    hu_say(1, "%s of %s%s%s: %lld rows, %d columns, %d trees", hu_model_kind_name(m->kind), m->is_log ? "log(" : "", m->target, m->is_log ? ")" : "", (long long)m->rows, m->features,
           m->forest ? m->forest->trees : 0);
    if (e->rows > 0)
        hu_say(1, "on %lld rows held out: MAPE %.3g %%, median %.3g %%, RMSE %.4g, R2 %.4f", (long long)e->rows, 100 * e->mape, 100 * e->mdape, e->rmse, e->r2);
    if (m->rows == 1) hu_warn("one row only (n=1): the model predicts its target");
    for (int32_t f = 0; f < m->features; f++)
        if (m->feature[f].missing) hu_say(0, "column %s is missing in %lld rows: where they go is learnt at each split", m->feature[f].name, (long long)m->feature[f].missing);
}

static hu_status train(options *o, const hu_common *common, const hu_team *team, hu_output *out, hu_error *err)
{
    hu_source *source = NULL;
    hu_frame *frame = NULL;
    hu_model *model = NULL;
    double *held_out = NULL, start = hu_clock_wall();
    int32_t *scale = NULL;
    if (ranks_source(team, o->input, &source, err) || table_read(source, &o->table, &frame, err)) goto cleanup;
    if (hu_alloc(frame->features, sizeof *scale, "scales", (void **)&scale, err) || find_scales(o, frame, scale, &o->model.scales, err)) goto cleanup;
    o->model.scale = scale;
    o->model.forest.tree.mtry = mtry_of(o->mtry, frame->features);
    if (o->oob && hu_alloc(2 * frame->rows, sizeof *held_out, "rows held out", (void **)&held_out, err)) goto cleanup;
    for (int64_t i = 0; held_out && i < 2 * frame->rows; i++) held_out[i] = NAN;
    if (hu_model_train(frame, o->table.target, &o->model, &model, held_out, held_out ? held_out + frame->rows : NULL, err)) goto cleanup;
    if (team->rank > 0) goto cleanup; /* the first rank tells and writes */
    say_model(model);
    if (o->oob && write_held_out(o->oob, frame, held_out, held_out + frame->rows, err)) goto cleanup;
    if (o->bags && write_bags(o->bags, model, err)) goto cleanup;
    if (hu_model_write(model, out, err) == HU_OK) common_report(common, "train", o->input, frame->rows, model, start, err);
cleanup:
    hu_model_free(model);
    hu_frame_free(frame);
    hu_source_close(source);
    hu_free(held_out);
    hu_free(scale);
    return err->status;
}

static const char doc[] = "Learn a model of one column of a table of runs by the others.\v"
                          "TABLE.csv has a header and one run a row; '-' or none is standard input.  Columns with words are levels.";

int command_train(int argc, char **argv)
{
    const struct argp_child children[] = {{&table_argp, 0, "The table:", 1}, {0}};
    const struct argp own = {table, parse, "[TABLE.csv]", doc, children, NULL, NULL};
    options o = {.table = {.csv = HU_CSV_DEFAULTS}, .model = HU_MODEL_DEFAULTS};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    o.model.forest.seed = common.seed;
    hu_team team = {.size = 1};
    o.model.forest.team = &team;
    if (hu_device_cpu_only(common.device, &err) == HU_OK && ranks_open(common.threads, &team, &err) == HU_OK && (team.rank > 0 || hu_output_open(common.output, &out, &err) == HU_OK)) train(&o, &common, &team, out, &err);
    ranks_close(&team, &err);
    return hu_exit(&err, out);
}
