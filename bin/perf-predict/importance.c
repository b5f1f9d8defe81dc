/* importance.c: perf-predict importance: what each column is worth to a model. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "learn/model.h"
#include "permute.h"
#include "table_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_PERMUTE, KIND_IMPURITY, KIND_DROP, MOST_GROUPS = 256 };

typedef struct {
    table_options table;
    const char *model, *input;
    const char *group[MOST_GROUPS];
    int groups;
    int kind; /* -1: by whether there is a table */
    uint64_t seed;
} options;

enum { KEY_KIND = 0x100, KEY_GROUP };

static const struct argp_option table[] = {
    {"kind", KEY_KIND, "KIND", 0,
     "perm-oob (the error that shuffling the column adds on rows out of bag), drop (the error that training without it adds), or impurity (what its splits gain; needs no table; the default without one)", 0},
    {"group", KEY_GROUP, "NAME=A+B", 0, "judge columns A and B together, under NAME", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const kinds[] = {"perm-oob", "impurity", "drop"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->table; return 0;
    case KEY_KIND: o->kind = hu_option_word(state, "--kind", arg, kinds, 3); return 0;
    case KEY_GROUP:
        if (!strchr(arg, '=')) argp_error(state, "--group: '%s' is not NAME=A+B", arg);
        if (o->groups == MOST_GROUPS) argp_error(state, "--group: more than %d", MOST_GROUPS);
        o->group[o->groups++] = arg;
        return 0;
    case ARGP_KEY_ARG: common_argument(&o->model, &o->input, arg, state); return 0;
    case ARGP_KEY_END:
        if (o->kind < 0) o->kind = o->input ? KIND_PERMUTE : KIND_IMPURITY;
        if (o->kind != KIND_IMPURITY && !o->input) argp_error(state, "this kind needs the table of training: importance MODEL TABLE.csv");
        if (o->kind != KIND_IMPURITY || !o->model) common_arguments_end(o->model, o->input, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Which group (a number below *ret_groups) each feature belongs to, and the groups' names (borrowed, of `size` characters). */
typedef struct {
    int32_t *of; /* [features] */
    const char **name;
    int *size;
    int32_t count;
} groups;

static bool is_member(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = list; p;) {
        const char *end = strchr(p, '+');
        size_t size = end ? (size_t)(end - p) : strlen(p);
        if (size == length && memcmp(p, name, length) == 0) return true;
        p = end ? end + 1 : NULL;
    }
    return false;
}

static const char source_group[] = "(source)";

static hu_status make_groups(const options *o, const hu_model *model, groups *g, hu_error *err)
{
    int32_t n = model->features, one = o->kind == KIND_IMPURITY && model->source.is_feature;
    if (hu_alloc(n + one, sizeof *g->of, "groups", (void **)&g->of, err) || hu_alloc(n + one, sizeof *g->name, "groups", (void **)&g->name, err) || hu_alloc(n + one, sizeof *g->size, "groups", (void **)&g->size, err))
        return err->status;
    for (int32_t f = 0; f < n; f++) g->of[f] = -1;
    for (int k = 0; k < o->groups; k++) {
        const char *members = strchr(o->group[k], '=') + 1;
        int32_t found = 0, wanted = 1;
        for (const char *p = members; *p; p++) wanted += *p == '+';
        for (int32_t f = 0; f < n; f++) {
            if (!is_member(members, model->feature[f].name)) continue;
            if (g->of[f] >= 0) return hu_fail(err, HU_USAGE, "--group: column %s is in two groups", model->feature[f].name);
            g->of[f] = g->count;
            found++;
        }
        if (found != wanted) return hu_fail(err, HU_USAGE, "--group=%s: not each of these is a column of the model", o->group[k]);
        g->name[g->count] = o->group[k];
        g->size[g->count++] = (int)(members - 1 - o->group[k]);
    }
    for (int32_t f = 0; f < n; f++) {
        if (g->of[f] >= 0) continue;
        g->of[f] = g->count;
        g->name[g->count] = model->feature[f].name;
        g->size[g->count++] = (int)strlen(model->feature[f].name);
    }
    if (one) { /* what the source answers */
        g->of[n] = g->count;
        g->name[g->count] = source_group;
        g->size[g->count++] = (int)strlen(source_group);
    }
    return HU_OK;
}

/* ---- the three kinds: worth[group] -------------------------------------------------------------------------------------- */

static hu_status by_impurity(const hu_model *model, const groups *g, double *worth, hu_error *err)
{
    double total = 0.0;
    if (!model->forest) return hu_fail(err, HU_USAGE, "the model has no forest, so no splits: --kind=drop");
    for (int32_t f = 0; f < model->forest->features; f++) total += model->forest->gain[f];
    for (int32_t f = 0; f < model->forest->features; f++) worth[g->of[f]] += total > 0 ? model->forest->gain[f] / total : 0.0;
    return HU_OK;
}

/* The table without the features of a group. */
static hu_status without(const hu_frame *frame, const groups *g, int32_t group, hu_frame **ret_rest, hu_error *err)
{
    int32_t kept = 0;
    for (int32_t f = 0; f < frame->features; f++) kept += g->of[f] != group;
    hu_frame *rest = NULL;
    if (hu_frame_new(frame->rows, kept, &rest, err)) return err->status;
    kept = 0;
    for (int32_t f = 0; f < frame->features; f++) {
        if (g->of[f] == group) continue;
        if (hu_feature_copy(&frame->feature[f], &rest->feature[kept], err)) goto failed;
        hu_free(rest->feature[kept].level_rows);
        rest->feature[kept].level_rows = NULL;
        memcpy(rest->column[kept++], frame->column[f], (size_t)frame->rows * sizeof(double));
    }
    memcpy(rest->y, frame->y, (size_t)frame->rows * sizeof *rest->y);
    if (hu_frame_finish(rest, err)) goto failed;
    *ret_rest = rest;
    return HU_OK;
failed:
    hu_frame_free(rest);
    return err->status;
}

static hu_status by_dropping(const hu_model *m, const hu_frame *frame, const groups *g, double *worth, hu_error *err)
{
    if (m->source.model) return hu_fail(err, HU_USAGE, "a model that was transferred cannot do without a column of its source: --kind=impurity or perm-oob");
    if (m->is_scaled) return hu_fail(err, HU_USAGE, "a model with --scale cannot do without its columns: --kind=impurity or perm-oob");
    if (g->count < 2) return hu_fail(err, HU_USAGE, "without its only column there is no model: --kind=impurity or perm-oob");
    double base = m->held_out.rmse;
    for (int32_t k = 0; k < g->count; k++) {
        hu_model_options o = HU_MODEL_DEFAULTS;
        hu_frame *rest = NULL;
        hu_model *less = NULL;
        o.kind = (int)m->kind;
        o.log = m->is_log;
        o.forest = m->options;
        o.bag_auto = false;
        if (without(frame, g, k, &rest, err) == HU_OK && hu_model_train(rest, m->target, &o, &less, NULL, NULL, err) == HU_OK)
            worth[k] = less->held_out.rmse * less->held_out.rmse - base * base;
        hu_model_free(less);
        hu_frame_free(rest);
        if (err->status) return err->status;
    }
    return HU_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------------------ */

/* The table of training, with exactly the model's columns in the model's order. */
static hu_status read_table(options *o, const hu_model *m, hu_frame **ret_frame, hu_error *err)
{
    hu_source *source = NULL;
    hu_frame *frame = NULL;
    o->table.target = m->target;
    if (!o->table.take && !o->table.drop) { /* the columns are those of the model, whatever else there is */
        o->table.like = m->feature;
        o->table.likes = m->features;
    }
    if (hu_source_open(o->input, NULL, &source, err) || table_read(source, &o->table, &frame, err)) goto cleanup;
    if (frame->features != m->features || frame->rows != m->rows || hu_frame_crc(frame) != m->crc) {
        hu_fail(err, (hu_status)PP_MISFIT, "%s: this is not the table that the model was trained on (%lld rows of %d columns), read with the same options", hu_source_name(source), (long long)m->rows, m->features);
        goto cleanup;
    }
    *ret_frame = frame;
    frame = NULL;
cleanup:
    hu_frame_free(frame);
    hu_source_close(source);
    return err->status;
}

typedef struct {
    double worth;
    int32_t group;
} rank;

static int compare_ranks(const void *a, const void *b)
{
    const rank *p = a, *q = b;
    if (p->worth != q->worth) return p->worth > q->worth ? -1 : 1;
    return (p->group > q->group) - (p->group < q->group);
}

static hu_status write_worth(const groups *g, const double *worth, hu_output *out, hu_error *err)
{
    rank *ranks;
    if (hu_alloc(g->count, sizeof *ranks, "ranks", (void **)&ranks, err)) return err->status;
    for (int32_t k = 0; k < g->count; k++) ranks[k] = (rank){worth[k], k};
    qsort(ranks, (size_t)g->count, sizeof *ranks, compare_ranks);
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (hu_csv_put_text(&w, "column", err) || hu_csv_put_text(&w, "importance", err) || hu_csv_end_row(&w, err)) goto cleanup;
    for (int32_t k = 0; k < g->count; k++) {
        char *name = strndup(g->name[ranks[k].group], (size_t)g->size[ranks[k].group]);
        if (!name) hu_fail(err, HU_SYSTEM, "out of memory");
        bool failed = !name || hu_csv_put_text(&w, name, err) || hu_csv_put_number(&w, ranks[k].worth, err) || hu_csv_end_row(&w, err);
        free(name);
        if (failed) break;
    }
cleanup:
    hu_free(ranks);
    return err->status;
}

static hu_status judge(options *o, const hu_model *model, hu_output *out, hu_error *err)
{
    groups g = {0};
    hu_frame *frame = NULL;
    double *worth = NULL;
    if (make_groups(o, model, &g, err) || hu_alloc_zero(g.count, sizeof *worth, "ranks", (void **)&worth, err)) goto cleanup;
    if (o->kind != KIND_IMPURITY && read_table(o, model, &frame, err)) goto cleanup;
    if (o->kind == KIND_IMPURITY ? by_impurity(model, &g, worth, err) : o->kind == KIND_PERMUTE ? permute_columns(model, frame, g.of, g.count, o->seed, worth, err) : by_dropping(model, frame, &g, worth, err)) goto cleanup;
    write_worth(&g, worth, out, err);
cleanup:
    hu_frame_free(frame);
    hu_free(worth);
    hu_free(g.of);
    hu_free(g.name);
    hu_free(g.size);
    return err->status;
}

static const char doc[] = "Say what each column is worth to a model.\v"
                          "The result has the columns column and importance, the greatest first: for perm-oob and drop the mean squared error that is added (of the target's logarithm, where the model works on that, "
                          "for perm-oob); for impurity a share of what all splits gain.  TABLE.csv is the table of training, with the options that train read it with.";

int command_importance(int argc, char **argv)
{
    const struct argp_child children[] = {{&table_argp, 0, "The table:", 2}, {0}};
    const struct argp own = {table, parse, "MODEL [TABLE.csv]", doc, children, NULL, NULL};
    options o = {.table = {.csv = HU_CSV_DEFAULTS}, .kind = -1};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_model *model = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    double start = hu_clock_wall();
    o.seed = common.seed;
    if (common_device(&common, &err) == HU_OK && common_model(o.model, &model, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK && judge(&o, model, out, &err) == HU_OK)
        common_report(&common, "importance", o.input, model->rows, model, start, &err);
    hu_model_free(model);
    return hu_exit(&err, out);
}
