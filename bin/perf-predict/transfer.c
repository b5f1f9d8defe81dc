/* transfer.c: perf-predict transfer: a model of one machine and a few runs of another in, a model of the other out. */
#include "config.h"
#include "learn/transfer.h"
#include "base/clock.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "table_options.h"

#include <math.h>

typedef struct {
    table_options table;
    hu_transfer_options transfer;
    const char *model, *input;
} options;

enum { KEY_METHOD = 0x100, KEY_TARGET, KEY_TREES, KEY_LEAF };

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "The model:", 2},
    {"method", KEY_METHOD, "METHOD", 0, "auto (default: the one of least error on rows held out), or residual, feature, weight, shift, alone (the new runs only)", 0},
    {"target", KEY_TARGET, "WHAT", 0, "learn the target raw, its log, or auto (default: the log where all targets are above 0)", 0},
    {"trees", KEY_TREES, "N", 0, "trees of the part that is learnt here (default: 500)", 0},
    {"leaf", KEY_LEAF, "N", 0, "least runs in a leaf (default: 1)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const methods[] = {"residual", "feature", "weight", "shift", "alone", "auto"}, *const targets[] = {"raw", "log", "auto"};
    options *o = state->input;
    hu_model_options *m = &o->transfer.model;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->table; return 0;
    case KEY_METHOD: o->transfer.method = hu_option_word(state, "--method", arg, methods, 6); o->transfer.method = o->transfer.method == 5 ? -1 : o->transfer.method; return 0;
    case KEY_TARGET: m->log = hu_option_word(state, "--target", arg, targets, 3); m->log = m->log == 2 ? -1 : m->log; return 0;
    case KEY_TREES: m->forest.trees = (int32_t)hu_option_integer(state, "--trees", arg, 1, 1000000); return 0;
    case KEY_LEAF: m->forest.tree.leaf = hu_option_integer(state, "--leaf", arg, 1, INT32_MAX); return 0;
    case ARGP_KEY_ARG: common_argument(&o->model, &o->input, arg, state); return 0;
    case ARGP_KEY_END:
        common_arguments_end(o->model, o->input, state);
        if (o->table.take || o->table.drop) argp_error(state, "-x and --drop: the columns are those of the model");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void say_choice(const hu_model *m, const hu_transfer_choice *c, bool chosen)
{
    double error = c->error[c->method], alone = c->error[HU_TRANSFER_ALONE];
    const char *name = hu_transfer_method_name(c->method);
    if (chosen && isnan(error)) hu_say(0, "%s: %lld runs are too few to compare methods by", name, (long long)m->rows);
    else if (chosen) hu_say(0, "%s: error of rows held out %.3g, of a model of the new runs alone %.3g", name, error, alone);
    if (c->method == HU_TRANSFER_WEIGHT) hu_say(1, "weight of the source: %g", c->weight);
}

static hu_status transfer(options *o, const hu_common *common, hu_output *out, hu_error *err)
{
    hu_source *source = NULL;
    hu_frame *frame = NULL;
    hu_model *from = NULL, *model = NULL;
    hu_transfer_choice choice;
    double start = hu_clock_wall();
    if (common_model(o->model, &from, err) || hu_source_open(o->input, NULL, &source, err)) goto cleanup;
    o->table.like = from->feature;
    o->table.likes = from->features;
    if (!o->table.target) o->table.target = from->target;
    if (table_read(source, &o->table, &frame, err)) goto cleanup;
    if (hu_transfer_train(frame, o->table.target, &from, &o->transfer, &model, &choice, err)) goto cleanup;
    say_choice(model, &choice, o->transfer.method < 0);
    if (hu_model_write(model, out, err) == HU_OK) common_report(common, "transfer", o->input, frame->rows, model, start, err);
cleanup:
    hu_model_free(from);
    hu_model_free(model);
    hu_frame_free(frame);
    hu_source_close(source);
    return err->status;
}

static const char doc[] = "Take a model that was learnt on one machine over to another, by a few runs there.\v"
                          "TABLE.csv holds the new runs: the columns of the model, in any order, and the target; '-' or none is standard input.  The result is a model like any other.  "
                          "Exit status 11: the table has not the columns of the model.";

int command_transfer(int argc, char **argv)
{
    const struct argp_child children[] = {{&table_argp, 0, "The table:", 1}, {0}};
    const struct argp own = {table, parse, "MODEL [TABLE.csv]", doc, children, NULL, NULL};
    options o = {.table = {.csv = HU_CSV_DEFAULTS}, .transfer = {.method = -1, .model = HU_MODEL_DEFAULTS}};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    o.transfer.model.forest.seed = common.seed;
    if (common_device(&common, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) transfer(&o, &common, out, &err);
    return hu_exit(&err, out);
}
