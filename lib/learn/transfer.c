/* transfer.c: a model taken over to another machine.
 *
 * Sections: levels that the source has not seen, one fit, rows held out, choosing, the result.
 */
#include "config.h"
#include "learn/transfer.h"
#include "base/memory.h"
#include "learn/model_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *hu_transfer_method_name(hu_transfer_method method)
{
    static const char *const names[] = {"residual", "feature", "weight", "shift", "alone"};
    return names[method];
}

/* What is at hand while a model is taken over. */
typedef struct {
    const hu_frame *frame;
    const char *target;
    hu_model *source;
    const hu_transfer_options *options;
    hu_model_options alone; /* its kind and transform settled */
    int32_t trees;          /* of a fit now: fewer while methods are compared */
    bool is_log;            /* what residual, feature and shift work on */
    double least;           /* as hu_model_source has it */
} transfer;

/* ---- levels that the source has not seen ------------------------------------------------------------------------------- */

/* The source goes on where features have more levels than it knows: a new one takes the way of a missing value. */

typedef struct {
    int32_t before, after;
    int32_t *number; /* [before] the new number of each level */
} renumbering;

static hu_status renumber(const hu_feature *from, const hu_feature *to, renumbering *ret, hu_error *err)
{
    *ret = (renumbering){from->level_count, to->level_count, NULL};
    if (hu_alloc(from->level_count, sizeof *ret->number, from->name, (void **)&ret->number, err)) return err->status;
    for (int32_t l = 0; l < from->level_count; l++) {
        ret->number[l] = hu_feature_level(to, from->levels[l], (int64_t)strlen(from->levels[l]));
        if (ret->number[l] < 0) return hu_fail(err, HU_USAGE, "column %s: level %s of the source is not in the table", from->name, from->levels[l]);
    }
    return HU_OK;
}

static int64_t words_of(int32_t levels)
{
    return levels / 64 + 1; /* a bit a level, and one for missing values */
}

static void widen_set(const uint64_t *from, const renumbering *r, uint64_t *to)
{
    bool missing = from[r->before / 64] >> (r->before % 64) & 1;
    memset(to, 0, (size_t)words_of(r->after) * sizeof *to);
    for (int32_t l = 0; l <= r->after && missing; l++) to[l / 64] |= (uint64_t)1 << (l % 64);
    for (int32_t l = 0; l < r->before; l++) {
        uint64_t bit = (uint64_t)1 << (r->number[l] % 64), *word = &to[r->number[l] / 64];
        *word = from[l / 64] >> (l % 64) & 1 ? *word | bit : *word & ~bit;
    }
}

static hu_status widen_forest(hu_forest *forest, const renumbering *r, hu_error *err)
{
    int64_t words = 0, at = 0;
    uint64_t *set;
    for (int64_t i = 0; i < forest->root[forest->trees]; i++)
        if (forest->node[i].child && forest->node[i].feature & HU_NODE_SET) words += words_of(r[forest->node[i].feature & HU_NODE_FEATURE].after);
    if (hu_alloc(words, sizeof *set, "a forest", (void **)&set, err)) return err->status;
    for (int32_t t = 0; t < forest->trees; t++) {
        int64_t first = at;
        for (int64_t i = forest->root[t]; i < forest->root[t + 1]; i++) {
            hu_node *n = &forest->node[i];
            if (!n->child || !(n->feature & HU_NODE_SET)) continue;
            const renumbering *mine = &r[n->feature & HU_NODE_FEATURE];
            widen_set(forest->set + forest->set_root[t] + (int64_t)n->value, mine, set + at);
            n->value = (double)(at - first);
            n->words = (uint16_t)words_of(mine->after);
            at += n->words;
        }
        forest->set_root[t] = first; /* the old one is not needed again */
    }
    forest->set_root[forest->trees] = at;
    hu_free(forest->set);
    forest->set = set;
    return HU_OK;
}

static void widen_linear(hu_linear *linear, const renumbering *r)
{
    for (int64_t k = 0; k < linear->terms; k++)
        for (int j = 0; j < 2; j++) {
            hu_factor *f = &linear->term[k].factor[j];
            if (f->kind == HU_FACTOR_LEVEL) f->a = r[f->feature].number[(int32_t)f->a];
        }
}

static hu_status take_features(hu_model *m, const hu_feature *features, hu_error *err)
{
    for (int32_t f = 0; f < m->features; f++) {
        hu_feature_clear(&m->feature[f]);
        if (hu_feature_copy(&features[f], &m->feature[f], err)) return err->status;
    }
    return HU_OK;
}

/* The model, and its own sources, with the levels of these features. */
static hu_status widen_model(hu_model *m, const hu_feature *features, hu_error *err)
{
    renumbering *r;
    int32_t n = m->features;
    if (hu_alloc_zero(n, sizeof *r, "levels", (void **)&r, err)) return err->status;
    for (int32_t f = 0; f < n; f++)
        if (renumber(&m->feature[f], &features[f], &r[f], err)) goto cleanup;
    for (; m; m = m->source.model) {
        if (m->linear) widen_linear(m->linear, r);
        if (m->forest && widen_forest(m->forest, r, err)) goto cleanup;
        for (int32_t f = 0; m->forest && f < n; f++) m->forest->levels[f] = r[f].after;
        if (take_features(m, features, err)) goto cleanup;
    }
cleanup:
    for (int32_t f = 0; f < n; f++) hu_free(r[f].number);
    hu_free(r);
    return err->status;
}

static double lesser(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

static double greater(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* What the table and the source together have seen of a feature. */
static void merge_feature(const hu_feature *source, hu_feature *feature)
{
    feature->least = lesser(feature->least, source->least);
    feature->most = greater(feature->most, source->most);
    if (isnan(feature->median)) feature->median = source->median;
    feature->missing += source->missing;
    for (int32_t l = 0; l < source->level_count; l++)
        feature->level_rows[hu_feature_level(feature, source->levels[l], (int64_t)strlen(source->levels[l]))] += source->level_rows[l];
}

static hu_status merge_features(const hu_frame *frame, const hu_model *source, hu_feature *features, hu_error *err)
{
    for (int32_t f = 0; f < frame->features; f++) {
        const hu_feature *theirs = &source->feature[f];
        if (strcmp(theirs->name, frame->feature[f].name) || !theirs->level_count != !frame->feature[f].level_count)
            return hu_fail(err, HU_USAGE, "column %s is not as the source has it", theirs->name);
        for (int32_t l = 0; l < theirs->level_count; l++)
            if (hu_feature_level(&frame->feature[f], theirs->levels[l], (int64_t)strlen(theirs->levels[l])) < 0)
                return hu_fail(err, HU_USAGE, "column %s: the table lacks level %s of the source", theirs->name, theirs->levels[l]);
        if (hu_feature_copy(&frame->feature[f], &features[f], err)) return err->status;
        merge_feature(theirs, &features[f]);
    }
    return HU_OK;
}

/* A copy of a table, of levels only with those that its rows have. */
static hu_status drop_levels(const hu_frame *frame, hu_frame **ret_frame, hu_error *err)
{
    int32_t *row, most = 0, *number = NULL;
    hu_frame *copy = NULL;
    for (int32_t f = 0; f < frame->features; f++) most = most > frame->feature[f].level_count ? most : frame->feature[f].level_count;
    if (hu_alloc(frame->rows, sizeof *row, "a table", (void **)&row, err) || hu_alloc(most, sizeof *number, "levels", (void **)&number, err)) goto failed;
    for (int64_t i = 0; i < frame->rows; i++) row[i] = (int32_t)i;
    if (hu_frame_rows(frame, row, frame->rows, &copy, err)) goto failed;
    for (int32_t f = 0; f < copy->features; f++) {
        hu_feature *feature = &copy->feature[f];
        int32_t kept = 0, before = feature->level_count;
        for (int32_t l = 0; l < before; l++) {
            number[l] = kept;
            if (feature->level_rows[l] == 0) {
                free(feature->levels[l]);
                continue;
            }
            feature->level_rows[kept] = feature->level_rows[l];
            feature->levels[kept++] = feature->levels[l];
        }
        if (kept > 0) feature->level_count = kept;
        for (int64_t i = 0; before > kept && i < copy->rows; i++)
            if (!isnan(copy->column[f][i])) copy->x[i * copy->features + f] = copy->column[f][i] = number[(int32_t)copy->column[f][i]];
    }
    *ret_frame = copy;
    copy = NULL;
failed:
    hu_frame_free(copy);
    hu_free(number);
    hu_free(row);
    return err->status;
}

/* ---- one fit ------------------------------------------------------------------------------------------------------------ */

/* A model without parts that has the source for a while: release() before it is freed. */
static hu_status new_transferred(const transfer *t, int64_t rows, bool is_log, hu_model **ret_model, hu_error *err)
{
    if (hu_model_new(t->target, t->frame->features, ret_model, err)) return err->status;
    hu_model *m = *ret_model;
    m->kind = HU_MODEL_MATCHED;
    m->is_log = is_log;
    m->rows = rows;
    m->options = t->options->model.forest;
    m->options.team = NULL;
    m->options.trees = t->trees;
    if (t->options->model.bag_auto) {
        m->options.bag = 1.0;
        m->options.replace = true;
    }
    m->source = (hu_model_source){t->source, 1.0, 0.0, t->least, false};
    return HU_OK;
}

static void release(hu_model *m)
{
    if (m) m->source.model = NULL;
    hu_model_free(m);
}

static double working(double y, bool is_log)
{
    return is_log ? log(y) : y;
}

/* Slope and offset of the line through (answer, target) by least squares; through less than three points, or answers that are all the same, of slope 1. */
static void match_line(const double *answer, const double *y, int64_t n, double *ret_slope, double *ret_offset)
{
    double mean_a = 0.0, mean_y = 0.0, aa = 0.0, ay = 0.0;
    for (int64_t i = 0; i < n; i++) {
        mean_a += answer[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        aa += (answer[i] - mean_a) * (answer[i] - mean_a);
        ay += (answer[i] - mean_a) * (y[i] - mean_y);
    }
    *ret_slope = n < 3 || !(aa > 1e-20 * mean_a * mean_a * (double)n) ? 1.0 : ay / aa;
    *ret_offset = mean_y - *ret_slope * mean_a;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_difference(const double *answer, const double *y, int64_t n, double *work)
{
    for (int64_t i = 0; i < n; i++) work[i] = y[i] - answer[i];
    qsort(work, (size_t)n, sizeof *work, compare_doubles);
    return n % 2 ? work[n / 2] : (work[n / 2 - 1] + work[n / 2]) / 2;
}

/* A forest of y over the features and the source's answer. */
static hu_status fit_forest(const hu_frame *frame, double *answer, const double *y, hu_model *m, hu_error *err)
{
    int32_t *levels = NULL;
    double **column = NULL;
    hu_bins *bins = NULL;
    if (hu_alloc_zero(frame->features + 1, sizeof *levels, "features", (void **)&levels, err) || hu_alloc(frame->features + 1, sizeof *column, "features", (void **)&column, err)) goto cleanup;
    for (int32_t f = 0; f < frame->features; f++) {
        levels[f] = frame->feature[f].level_count;
        column[f] = frame->column[f];
    }
    column[frame->features] = answer;
    if (hu_bins_make((const double *const *)column, frame->rows, frame->features + 1, levels, &bins, err)) goto cleanup;
    if (hu_forest_train(bins, y, NULL, frame->rows, &m->options, &m->forest, err)) goto cleanup;
    m->kind = HU_MODEL_RF;
    m->source.is_feature = true;
cleanup:
    hu_bins_free(bins);
    hu_free(column);
    hu_free(levels);
    return err->status;
}

static hu_status fit_matched(const transfer *t, hu_transfer_method method, const hu_frame *frame, bool is_log, hu_model **ret_model, hu_error *err)
{
    hu_model *m = NULL;
    int64_t n = frame->rows;
    double *answer = NULL;
    if (hu_alloc(3 * n, sizeof *answer, "answers", (void **)&answer, err) || new_transferred(t, n, is_log, &m, err)) goto failed;
    double *y = answer + n, *work = answer + 2 * n;
    for (int64_t i = 0; i < n; i++) {
        answer[i] = hu_model_source_answer(m, frame->x + i * frame->features);
        y[i] = working(frame->y[i], is_log);
    }
    if (method == HU_TRANSFER_SHIFT) m->source.offset = median_difference(answer, y, n, work);
    else if (method == HU_TRANSFER_FEATURE) m->source.slope = 0.0;
    else match_line(answer, y, n, &m->source.slope, &m->source.offset);
    for (int64_t i = 0; i < n; i++) work[i] = y[i] - (m->source.slope * answer[i] + m->source.offset);
    if ((method == HU_TRANSFER_RESIDUAL || method == HU_TRANSFER_FEATURE) && fit_forest(frame, answer, work, m, err)) goto failed;
    hu_free(answer);
    *ret_model = m;
    return HU_OK;
failed:
    hu_free(answer);
    release(m);
    return err->status;
}

static void scale_parts(hu_model *m, double factor)
{
    hu_forest *f = m->forest;
    for (int64_t k = 0; m->linear && k < m->linear->terms; k++) m->linear->term[k].weight *= factor;
    if (m->linear) m->linear->constant *= factor;
    if (!f) return;
    for (int64_t i = 0; i < f->root[f->trees]; i++) {
        if (f->node[i].child == 0) f->node[i].value *= factor;
        if (f->variance) f->variance[i] *= (float)(factor * factor);
    }
    for (int32_t k = 0; k < f->features; k++) f->gain[k] *= factor * factor;
    f->least *= factor;
    f->most *= factor;
}

/* Both at once: the line of the source and what the runs alone give, by weight. */
static hu_status fit_weighted(const transfer *t, const hu_frame *frame, double weight, hu_model **ret_model, hu_error *err)
{
    hu_model *m = NULL, *line = NULL;
    if (hu_model_train(frame, t->target, &t->alone, &m, NULL, NULL, err)) return err->status;
    if (fit_matched(t, HU_TRANSFER_METHODS, frame, m->is_log, &line, err) == HU_OK) {
        scale_parts(m, 1.0 - weight);
        m->source = line->source;
        m->source.slope *= weight;
        m->source.offset *= weight;
        *ret_model = m;
        m = NULL;
    }
    release(m);
    release(line);
    return err->status;
}

static hu_status fit_method(const transfer *t, hu_transfer_method method, const hu_frame *frame, double weight, hu_model **ret_model, hu_error *err)
{
    if (method == HU_TRANSFER_ALONE) return hu_model_train(frame, t->target, &t->alone, ret_model, NULL, NULL, err);
    if (method == HU_TRANSFER_WEIGHT) return fit_weighted(t, frame, weight, ret_model, err);
    return fit_matched(t, method, frame, t->is_log, ret_model, err);
}

/* ---- rows held out -------------------------------------------------------------------------------------------------------- */

enum { LINE = HU_TRANSFER_METHODS, TRIALS, COMPARED = 1000, COMPARED_TREES = 200, WEIGHTS = 11 }; /* LINE: of the source alone, which weight mixes in */

/* What each method says of the rows held out, in what it works on. weight is made of alone and the line. */
typedef struct {
    int64_t rows;
    int32_t *fold;                            /* [rows] */
    int folds;
    double *mean[TRIALS], *deviation[TRIALS]; /* [rows] */
    double weight;
    double *value, *work;                     /* [rows] */
    double *block;
    hu_frame *sample;                         /* NULL: all rows of the table */
    const hu_frame *frame;
} trials;

static void close_trials(trials *r)
{
    hu_free(r->fold);
    hu_free(r->block);
    hu_frame_free(r->sample);
}

static hu_status open_trials(const transfer *t, trials *r, hu_error *err)
{
    int64_t n = t->frame->rows;
    int32_t *row;
    hu_random random = hu_random_stream(t->options->model.forest.seed, 0x7fa25);
    *r = (trials){.rows = n < COMPARED ? n : COMPARED, .frame = t->frame};
    r->folds = r->rows < 10 ? (int)r->rows : 10;
    if (hu_alloc(r->rows, sizeof *r->fold, "folds", (void **)&r->fold, err) || hu_alloc_zero((2 * TRIALS + 2) * r->rows, sizeof *r->block, "rows held out", (void **)&r->block, err)) return err->status;
    for (int k = 0; k < TRIALS; k++) {
        r->mean[k] = r->block + 2 * k * r->rows;
        r->deviation[k] = r->mean[k] + r->rows;
    }
    r->value = r->block + 2 * TRIALS * r->rows;
    r->work = r->value + r->rows;
    for (int64_t i = 0; i < r->rows; i++) r->fold[i] = (int32_t)(i % r->folds);
    hu_random_shuffle(&random, r->fold, r->rows);
    if (r->rows == n) return HU_OK;
    if (hu_alloc(n, sizeof *row, "a sample", (void **)&row, err)) return err->status;
    for (int64_t i = 0; i < n; i++) row[i] = (int32_t)i;
    hu_random_shuffle(&random, row, n);
    hu_frame_rows(t->frame, row, r->rows, &r->sample, err);
    hu_free(row);
    r->frame = r->sample;
    return err->status;
}

/* Predicts the rows of a fold by a fit of the others. */
static hu_status try_fold(const transfer *t, trials *r, int trial, int fold, const hu_frame *others, hu_error *err)
{
    hu_model *m = NULL;
    if (trial == LINE ? fit_matched(t, HU_TRANSFER_METHODS, others, t->alone.log, &m, err) : fit_method(t, (hu_transfer_method)trial, others, 0.0, &m, err)) return err->status;
    for (int64_t i = 0; i < r->rows; i++) {
        if (r->fold[i] != fold) continue;
        hu_prediction p = hu_model_predict_row(m, r->frame->x + i * r->frame->features);
        r->mean[trial][i] = p.mean;
        r->deviation[trial][i] = p.deviation;
    }
    release(m);
    return HU_OK;
}

static hu_status try_folds(const transfer *t, trials *r, const bool *wanted, hu_error *err)
{
    int32_t *others;
    if (hu_alloc(r->rows, sizeof *others, "folds", (void **)&others, err)) return err->status;
    for (int k = 0; k < r->folds && !err->status; k++) {
        hu_frame *part = NULL;
        int64_t n = 0;
        for (int64_t i = 0; i < r->rows; i++)
            if (r->fold[i] != k) others[n++] = (int32_t)i;
        if (hu_frame_rows(r->frame, others, n, &part, err)) break;
        for (int m = 0; m < TRIALS && !err->status; m++)
            if (wanted[m]) try_fold(t, r, m, k, part, err);
        hu_frame_free(part);
    }
    hu_free(others);
    return err->status;
}

/* The weight (a tenth) of least relative error on the rows that are not in a fold; fold -1: on all. */
static double best_weight(const transfer *t, const trials *r, int fold, bool relative)
{
    double best = INFINITY, weight = 0.0;
    for (int k = 0; k < WEIGHTS; k++) {
        double w = (double)k / (WEIGHTS - 1), sum = 0.0;
        for (int64_t i = 0; i < r->rows; i++) {
            if (r->fold[i] == fold) continue;
            double v = w * r->mean[LINE][i] + (1.0 - w) * r->mean[HU_TRANSFER_ALONE][i], y = r->frame->y[i];
            if (t->alone.log) v = exp(v);
            sum += relative ? fabs(v - y) / y : (v - y) * (v - y);
        }
        if (!(sum < best)) continue;
        best = sum;
        weight = w;
    }
    return weight;
}

/* Each fold by the weight that is best on the others; so the error of the method is that of rows it has not seen. */
static void weigh(const transfer *t, trials *r, bool relative)
{
    for (int k = 0; k < r->folds; k++) {
        double w = best_weight(t, r, k, relative);
        for (int64_t i = 0; i < r->rows; i++) {
            if (r->fold[i] != k) continue;
            r->mean[HU_TRANSFER_WEIGHT][i] = w * r->mean[LINE][i] + (1.0 - w) * r->mean[HU_TRANSFER_ALONE][i];
            r->deviation[HU_TRANSFER_WEIGHT][i] = (1.0 - w) * r->deviation[HU_TRANSFER_ALONE][i];
        }
    }
    r->weight = best_weight(t, r, -1, relative);
}

static bool works_on_log(const transfer *t, int method)
{
    return method == HU_TRANSFER_WEIGHT || method == HU_TRANSFER_ALONE ? t->alone.log : t->is_log;
}

static hu_model_error judge(const transfer *t, const trials *r, int method)
{
    for (int64_t i = 0; i < r->rows; i++) r->value[i] = works_on_log(t, method) ? exp(r->mean[method][i]) : r->mean[method][i];
    return hu_model_judge(r->frame->y, r->value, r->rows, r->work);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------------------- */

static bool all_positive(const hu_frame *frame)
{
    for (int64_t i = 0; i < frame->rows; i++)
        if (!(frame->y[i] > 0)) return false;
    return true;
}

/* The logarithm where all targets are above 0, and an answer of the source at least. */
static hu_status settle_transform(transfer *t, hu_error *err)
{
    int wanted = t->options->model.log;
    t->least = INFINITY;
    for (int64_t i = 0; i < t->frame->rows; i++) {
        double v = hu_model_predict_row(t->source, t->frame->x + i * t->frame->features).value;
        if (v > 0 && v < t->least) t->least = v;
    }
    bool can = all_positive(t->frame) && isfinite(t->least);
    if (wanted == 1 && !can) return hu_fail(err, HU_INPUT, "column %s: the logarithm needs targets above 0, here and of the source", t->target);
    if (!isfinite(t->least)) t->least = 0.0;
    t->is_log = wanted != 0 && can;
    return HU_OK;
}

/* What alone is, on all rows: its kind and transform are then the same in each fold. */
static hu_status settle_alone(transfer *t, hu_error *err)
{
    hu_model *m = NULL;
    int method = t->options->method;
    t->alone = t->options->model;
    if (method == HU_TRANSFER_RESIDUAL || method == HU_TRANSFER_FEATURE || method == HU_TRANSFER_SHIFT) return HU_OK; /* it is not asked for */
    if (t->alone.log < 0 && !isfinite(log(t->least))) t->alone.log = 0;
    if (hu_model_train(t->frame, t->target, &t->alone, &m, NULL, NULL, err)) return err->status;
    t->alone.kind = (int)m->kind;
    t->alone.log = m->is_log;
    t->alone.no_held_out = true;
    hu_model_free(m);
    return HU_OK;
}

static const int64_t FEWEST = 5; /* rows by which methods can be compared */

/* Errors on few rows are noisy: a method takes the place of an earlier one only where it errs less by this share. */
static const double MARGIN = 0.9;

static hu_status compare(const transfer *t, trials *r, hu_transfer_choice *choice, hu_error *err)
{
    bool all = t->options->method < 0, relative = all_positive(t->frame), wanted[TRIALS];
    for (int m = 0; m < TRIALS; m++) wanted[m] = all || m == t->options->method;
    wanted[HU_TRANSFER_ALONE] = all || wanted[HU_TRANSFER_ALONE] || wanted[HU_TRANSFER_WEIGHT];
    wanted[LINE] = all || wanted[HU_TRANSFER_WEIGHT];
    bool weighted = wanted[HU_TRANSFER_WEIGHT];
    wanted[HU_TRANSFER_WEIGHT] = false; /* made of the two */
    if (try_folds(t, r, wanted, err)) return err->status;
    if (weighted) weigh(t, r, relative);
    wanted[HU_TRANSFER_WEIGHT] = weighted;
    choice->weight = r->weight;
    double best = INFINITY;
    for (int m = 0; m < HU_TRANSFER_METHODS; m++) {
        if (!wanted[m]) continue;
        hu_model_error e = judge(t, r, m);
        choice->error[m] = relative ? e.mape : e.rmse;
        hu_say(1, "%s: error of rows held out %.4g", hu_transfer_method_name((hu_transfer_method)m), choice->error[m]);
        if (!all || !(choice->error[m] < best * (isinf(best) ? 1.0 : MARGIN))) continue;
        best = choice->error[m];
        choice->method = (hu_transfer_method)m;
    }
    return HU_OK;
}

/* ---- the result ---------------------------------------------------------------------------------------------------------------- */

static hu_status keep_held_out(const transfer *t, const trials *r, hu_model *m, int method, hu_error *err)
{
    m->held_out = judge(t, r, method);
    hu_free(m->score);
    m->score = NULL;
    m->scores = 0;
    m->floor = 0.0;
    for (int64_t i = 0; i < r->rows; i++) r->value[i] = working(r->frame->y[i], m->is_log);
    return hu_model_keep_scores(m, r->value, r->mean[method], r->deviation[method], r->rows, r->work, err);
}

static void set_trees(transfer *t, int32_t most)
{
    int32_t trees = t->options->model.forest.trees;
    t->trees = t->alone.forest.trees = trees < most ? trees : most;
}

static hu_status build(transfer *t, const hu_feature *features, hu_model **ret_model, hu_transfer_choice *choice, hu_error *err)
{
    trials r = {0};
    hu_model *m = NULL;
    hu_frame *seen = NULL; /* the table without levels that only the source has */
    if (settle_transform(t, err) || settle_alone(t, err)) return err->status;
    set_trees(t, COMPARED_TREES);
    if (t->frame->rows > 1 && (open_trials(t, &r, err) || compare(t, &r, choice, err))) goto cleanup;
    set_trees(t, INT32_MAX);
    if (t->options->method < 0 && t->frame->rows < FEWEST) choice->method = HU_TRANSFER_SHIFT;
    if (choice->method == HU_TRANSFER_ALONE && drop_levels(t->frame, &seen, err)) goto cleanup;
    if (fit_method(t, choice->method, seen ? seen : t->frame, choice->weight, &m, err)) goto cleanup;
    m->crc = hu_frame_crc(seen ? seen : t->frame);
    if (t->frame->rows > 1 && keep_held_out(t, &r, m, (int)choice->method, err)) goto cleanup;
    if (m->source.model && take_features(m, features, err)) goto cleanup;
    *ret_model = m;
    m = NULL;
cleanup:
    release(m);
    hu_frame_free(seen);
    close_trials(&r);
    return err->status;
}

hu_status hu_transfer_train(const hu_frame *frame, const char *target, hu_model **source, const hu_transfer_options *options, hu_model **ret_model, hu_transfer_choice *ret_choice,
                            hu_error *err)
{
    transfer t = {.frame = frame, .target = target, .source = *source, .options = options};
    hu_feature *features = NULL;
    *source = NULL;
    *ret_choice = (hu_transfer_choice){.method = options->method < 0 ? HU_TRANSFER_ALONE : (hu_transfer_method)options->method, .weight = 1.0};
    for (int m = 0; m < HU_TRANSFER_METHODS; m++) ret_choice->error[m] = NAN;
    int depth = 1;
    for (const hu_model *m = t.source; m->source.model; m = m->source.model) depth++;
    if (depth > HU_MODEL_SOURCES) hu_fail(err, HU_USAGE, "the source was itself taken over %d times: more is not kept in a model; start from one of its sources", depth - 1);
    else if (frame->rows < 1) hu_fail(err, HU_INPUT, "there is no row to learn from");
    else if (frame->features != t.source->features || frame->features >= HU_BINS_FEATURES) hu_fail(err, HU_USAGE, "the table has not the columns of the source");
    else if (hu_alloc_zero(frame->features, sizeof *features, "features", (void **)&features, err) == HU_OK && merge_features(frame, t.source, features, err) == HU_OK) {
        if (widen_model(t.source, features, err) == HU_OK) build(&t, features, ret_model, ret_choice, err);
    }
    for (int32_t f = 0; features && f < frame->features; f++) hu_feature_clear(&features[f]);
    hu_free(features);
    if (err->status || !(*ret_model)->source.model) hu_model_free(t.source);
    return err->status;
}
