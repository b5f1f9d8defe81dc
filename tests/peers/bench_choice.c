/* bench_choice.c: the scheme model against what was measured (bar P10).
 *
 * Environment: HU_TABLE, the training table; HU_CHOICE, "KIND TREES DEPTH LEAF", a model of another kind, to try one.
 *
 * Sections: the table, leaving out, the bar.
 */
#include "config.h"
#include "bench_choice.h"
#include "base/memory.h"
#include "base/share.h"
#include "choice.h"
#include "table.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the model that comes with the program was trained. */
static hu_model_options training = HU_MODEL_DEFAULTS;

static void must(hu_status status, hu_error *err)
{
    if (!status) return;
    fflush(stdout);
    hu_error_print(err);
    exit((int)status);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

typedef struct {
    hu_csv_table *csv;
    hu_frame *frame; /* the columns that are inputs, and cost */
    int64_t matrix, rule, of_best;
    int64_t input[SPTRSV_INPUTS]; /* columns */
    sptrsv_input names[SPTRSV_INPUTS];
} runs;

static const char *text_at(const runs *r, int64_t column, int64_t row)
{
    const hu_csv_column *c = &r->csv->column[column];
    return c->is_text && c->level[row] >= 0 ? c->levels[c->level[row]] : "";
}

static void read_runs(const char *path, const char *inputs, runs *r)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_csv_options csv = HU_CSV_DEFAULTS;
    table_options o = {.target = "cost", .take = inputs, .csv = HU_CSV_DEFAULTS};
    csv.comment = o.csv.comment = '#';
    must(hu_source_open(path, ".csv", &source, &err), &err);
    must(table_read(source, &o, &r->frame, &err), &err);
    hu_source_close(source);
    must(hu_source_open(path, ".csv", &source, &err), &err);
    must(hu_csv_read(source, &csv, INT64_MAX / 4, &r->csv, &err), &err);
    hu_source_close(source);
    const sptrsv_survey any = {.threads = 1};
    const sptrsv_scheme scheme = {.rows = 1, .index = 32, .rhs = 1};
    sptrsv_inputs_of(&any, SPTRSV_F64, 1, &scheme, r->names);
    for (int k = 0; k < SPTRSV_INPUTS; k++) r->input[k] = hu_csv_find(r->csv, r->names[k].name);
    r->matrix = hu_csv_find(r->csv, "matrix");
    r->rule = hu_csv_find(r->csv, "rule");
    r->of_best = hu_csv_find(r->csv, "of_best");
    if (r->csv->rows != r->frame->rows || r->matrix < 0 || r->rule < 0 || r->of_best < 0) {
        fprintf(stderr, "%s: is no table of sptrsv-solve --bench\n", path);
        exit(HU_INPUT);
    }
}

/* A family is what stands before the first hyphen of a matrix' name. */
static bool same_family(const runs *r, int64_t a, int64_t b)
{
    const char *x = text_at(r, r->matrix, a), *y = text_at(r, r->matrix, b);
    size_t length = strcspn(x, "-");
    return length == strcspn(y, "-") && memcmp(x, y, length) == 0;
}

static void inputs_at(const runs *r, int64_t row, sptrsv_input *ret)
{
    for (int k = 0; k < SPTRSV_INPUTS; k++) {
        const hu_csv_column *c = r->input[k] >= 0 ? &r->csv->column[r->input[k]] : NULL;
        ret[k] = (sptrsv_input){r->names[k].name, NULL, NAN};
        if (c && c->is_text) ret[k].text = text_at(r, r->input[k], row);
        else if (c && !(c->missing && c->missing[row])) ret[k].number = c->number[row];
    }
}

/* ---- leaving out ------------------------------------------------------------------------------------------------ */

/* A frame of the rows that are not of a row's family. */
static hu_frame *without_family(const runs *r, int64_t row)
{
    hu_error err = HU_ERROR_NONE;
    const hu_frame *from = r->frame;
    hu_frame *to;
    int64_t rows = 0, at = 0;
    for (int64_t i = 0; i < from->rows; i++) rows += !same_family(r, i, row);
    must(hu_frame_new(rows, from->features, &to, &err), &err);
    for (int32_t f = 0; f < from->features; f++) must(hu_feature_copy(&from->feature[f], &to->feature[f], &err), &err);
    for (int64_t i = 0; i < from->rows; i++) {
        if (same_family(r, i, row)) continue;
        for (int32_t f = 0; f < from->features; f++) to->column[f][at] = from->column[f][i];
        to->y[at++] = from->y[i];
    }
    must(hu_frame_finish(to, &err), &err);
    return to;
}

typedef struct {
    double log_sum, rule_sum, least;
    int64_t groups, near, rule_near, asked, changed;
} score;

static void add_score(score *to, const score *s)
{
    to->log_sum += s->log_sum;
    to->rule_sum += s->rule_sum;
    to->least = fmin(to->least, s->least);
    to->groups += s->groups;
    to->near += s->near;
    to->rule_near += s->rule_near;
    to->asked += s->asked;
    to->changed += s->changed;
}

/* One system under one setting: rows [from, to), the rule's first. */
static void score_group(const runs *r, const hu_model *model, int64_t from, int64_t to, score *s)
{
    enum { MOST = 256 };
    static sptrsv_input inputs[MOST][SPTRSV_INPUTS];
    static hu_prediction predictions[MOST];
    const double *of_best = r->csv->column[r->of_best].number;
    const char *foreign = "";
    int n = to - from < MOST ? (int)(to - from) : MOST, pick = 0;
    for (int i = 0; i < n; i++) inputs_at(r, from + i, inputs[i]);
    if (!sptrsv_is_short(inputs[0][offsetof(sptrsv_features, natural_s) / sizeof(double)].number)) pick = sptrsv_rank(model, inputs, n, predictions, &foreign);
    double chosen = of_best[from + pick], rule = of_best[from];
    s->log_sum += log(chosen);
    s->rule_sum += log(rule);
    s->least = fmin(s->least, chosen);
    s->groups++;
    s->near += chosen >= 0.85;
    s->rule_near += rule >= 0.85;
    s->asked += !foreign;
    s->changed += pick != 0;
    if (getenv("HU_CHOICE_EACH"))
        printf("#choice,%s,%g threads,%s,%g columns,%.3f,%.3f,%s,%s\n", text_at(r, r->matrix, from), inputs[0][SPTRSV_FEATURES + 1].number,
               inputs[0][SPTRSV_FEATURES + 2].text, inputs[0][SPTRSV_FEATURES + 3].number, chosen, rule, foreign ? foreign : "asked",
               text_at(r, hu_csv_find(r->csv, "scheme"), from + pick));
}

static bool starts_group(const runs *r, int64_t row)
{
    return r->csv->column[r->rule].number[row] == 1;
}

static score score_family(const runs *r, int64_t first)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame = without_family(r, first);
    hu_model *model;
    score s = {.least = INFINITY};
    must(hu_model_train(frame, "cost", &training, &model, NULL, NULL, &err), &err);
    for (int64_t i = 0, to; i < r->csv->rows; i = to) {
        for (to = i + 1; to < r->csv->rows && !starts_group(r, to);) to++;
        if (same_family(r, i, first)) score_group(r, model, i, to, &s);
    }
    hu_model_free(model);
    hu_frame_free(frame);
    return s;
}

/* ---- the bar ---------------------------------------------------------------------------------------------------- */

static const char *path_of_table(char *path, size_t size)
{
    const char *told = getenv("HU_TABLE"), *sources = getenv("HU_SRC");
    snprintf(path, size, "%s/share/sptrsv-schemes.csv.xz", sources ? sources : ".");
    return told && *told ? told : path;
}

/* Trains as the model that comes with the program was: the same inputs (*ret_inputs, a list), kind and options. */
static void read_training(char *ret_inputs, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_model *model;
    char path[4096], kind[16];
    int trees, depth, leaf;
    must(hu_share_find(sptrsv_model_file, path, sizeof path, &err), &err);
    must(sptrsv_model_read(path, &model, &err), &err);
    training.kind = model->kind;
    training.log = model->is_log;
    training.forest = model->options;
    training.bag_auto = false;
    training.no_held_out = true;
    if (getenv("HU_CHOICE") && sscanf(getenv("HU_CHOICE"), "%15s %d %d %d", kind, &trees, &depth, &leaf) == 4) {
        for (int k = 0; k < HU_MODEL_KINDS; k++)
            if (strcmp(hu_model_kind_name((hu_model_kind)k), kind) == 0) training.kind = k;
        training.forest.trees = trees;
        training.forest.tree.depth = depth;
        training.forest.tree.leaf = leaf;
    }
    size_t used = 0;
    for (int32_t f = 0; f < model->features && used < size; f++)
        used += (size_t)snprintf(ret_inputs + used, size - used, "%s%s", f ? "," : "", model->feature[f].name);
    hu_model_free(model);
}

void bar_choice(bench *run)
{
    char path[4096];
    runs r = {0};
    score all = {.least = INFINITY};
    char inputs[2048];
    read_training(inputs, sizeof inputs);
    read_runs(path_of_table(path, sizeof path), inputs, &r);
    for (int64_t i = 0; i < r.csv->rows; i++) {
        bool seen = false;
        for (int64_t k = 0; k < i && !seen; k++) seen = same_family(&r, k, i);
        if (seen) continue;
        score s = score_family(&r, i);
        add_score(&all, &s);
        const char *name = text_at(&r, r.matrix, i);
        printf("#held out,%.*s,%lld systems,geomean %.3f,near %.3f,least %.3f,rule %.3f,rule near %.3f,asked %lld,changed %lld\n", (int)strcspn(name, "-"), name,
               (long long)s.groups, exp(s.log_sum / (double)s.groups), (double)s.near / (double)s.groups, s.least, exp(s.rule_sum / (double)s.groups),
               (double)s.rule_near / (double)s.groups, (long long)s.asked, (long long)s.changed);
    }
    double groups = (double)all.groups, mean = exp(all.log_sum / groups), rule = exp(all.rule_sum / groups);
    bench_row(run, "P10", "held-out families: best over chosen", mean, "x", "the rule", rule, mean, NAN, 0.90);
    bench_row(run, "P10", "held-out families: within 85 % of the best", (double)all.near / groups, "share", "the rule", (double)all.rule_near / groups,
              (double)all.near / groups, NAN, 0.80);
    hu_frame_free(r.frame);
    hu_csv_table_free(r.csv);
}
