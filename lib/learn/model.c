/* model.c: a model of one measured column by others.
 *
 * Sections: one fit, rows held out, choosing, training, prediction, files.
 */
#include "config.h"
#include "learn/model.h"
#include "base/memory.h"
#include "learn/boost.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"rf", "et", "boost", "linear", "hybrid"};

const char *hu_model_kind_name(hu_model_kind kind)
{
    return kind_names[kind];
}

/* ---- one fit: a linear part and a forest on some rows --------------------------------------------------------------- */

/* A comparison that a recipe is in: it is given up when its errors so far are more than may still win. */
typedef struct {
    bool relative;   /* the mean of relative errors counts, else the root of the mean square */
    double limit;    /* of that */
    double sum;      /* of relative errors or squares, over the rows held out so far */
    bool is_lost;
} race;

/* What is learnt, and how. */
typedef struct {
    const hu_frame *frame;
    const hu_bins *bins;
    const hu_model_options *options;
    hu_model_kind kind;
    bool is_log;
    hu_forest_options forest;
    race *race;           /* or NULL */
    double *held_out;     /* [2 rows] what the choice found of the recipe taken: means and deviations of rows held out, or NULL */
} recipe;

typedef struct {
    hu_linear *linear;
    hu_forest *forest;
    bool is_scaled;
} fit;

static void free_fit(fit *f)
{
    hu_linear_free(f->linear);
    hu_forest_free(f->forest);
    *f = (fit){0};
}

static double linear_part(const hu_linear *linear, bool is_scaled, const double *x)
{
    if (!linear) return 0.0;
    double v = hu_linear_value(linear, x);
    return is_scaled ? log(v > DBL_MIN ? v : DBL_MIN) : v;
}

static bool has_forest(hu_model_kind kind)
{
    return kind != HU_MODEL_LINEAR;
}

static bool has_linear(hu_model_kind kind)
{
    return kind == HU_MODEL_LINEAR || kind == HU_MODEL_HYBRID;
}

/* The lasso's work grows with rows times terms: of many rows it sees as many as WORK allows, drawn by the seed; the forest sees all. */
static hu_status fit_lasso(const recipe *r, const double *y, const int32_t *rows, int64_t n, fit *f, hu_error *err)
{
    static const double WORK = 4e5;
    double terms = (double)r->frame->features * (r->frame->features + 3) / 2;
    int64_t most = terms < 4000 ? (int64_t)(WORK / terms) : (int64_t)(WORK / r->frame->features);
    int32_t *part;
    if (most < 200) most = 200;
    if (n <= most) return hu_linear_lasso(r->frame, y, rows, n, terms < 4000, r->options->forest.seed, &f->linear, err);
    if (hu_alloc(n, sizeof *part, "rows", (void **)&part, err)) return err->status;
    for (int64_t i = 0; i < n; i++) part[i] = rows ? rows[i] : (int32_t)i;
    hu_random random = hu_random_stream(r->options->forest.seed, 0x9a67);
    hu_random_shuffle(&random, part, n);
    hu_linear_lasso(r->frame, y, part, most, terms < 4000, r->options->forest.seed, &f->linear, err);
    hu_free(part);
    return err->status;
}

static hu_status fit_linear(const recipe *r, const double *y, const int32_t *rows, int64_t n, fit *f, hu_error *err)
{
    const hu_model_options *o = r->options;
    f->is_scaled = o->scales > 0;
    if (f->is_scaled) return hu_linear_pmnf(r->frame, r->frame->y, rows, n, o->scale, o->scales, &f->linear, err);
    return fit_lasso(r, y, rows, n, f, err);
}

static hu_status fit_boost(const recipe *r, const double *y, const int32_t *rows, int64_t n, fit *f, hu_error *err)
{
    hu_boost_options o = {.trees = r->forest.trees, .depth = r->forest.tree.depth ? r->forest.tree.depth : 3, .rate = 0.1, .share = 0.7,
                          .leaf = r->forest.tree.leaf, .seed = r->forest.seed};
    return hu_boost_train(r->bins, y, rows, n, &o, &f->forest, err);
}

/* y is what the model works on. */
static hu_status fit_rows(const recipe *r, const double *y, const int32_t *rows, int64_t n, fit *f, hu_error *err)
{
    double *rest = NULL;
    *f = (fit){0};
    if (has_linear(r->kind)) {
        if (fit_linear(r, y, rows, n, f, err)) goto cleanup;
        if (!has_forest(r->kind)) goto cleanup;
        if (hu_alloc(r->frame->rows, sizeof *rest, "residuals", (void **)&rest, err)) goto cleanup;
        for (int64_t i = 0; i < r->frame->rows; i++) rest[i] = y[i] - linear_part(f->linear, f->is_scaled, r->frame->x + i * r->frame->features);
        y = rest;
    }
    if (r->kind == HU_MODEL_BOOST) fit_boost(r, y, rows, n, f, err);
    else hu_forest_train(r->bins, y, rows, n, &r->forest, &f->forest, err);
cleanup:
    hu_free(rest);
    if (err->status) free_fit(f);
    return err->status;
}

/* ---- rows held out ---------------------------------------------------------------------------------------------------- */

static double square_root(double v)
{
    return v > 0 ? sqrt(v) : 0.0;
}

static hu_status predict_rows(const recipe *r, const fit *f, const int32_t *rows, int64_t n, double *mean, double *deviation, hu_error *err)
{
    int32_t features = r->frame->features;
    double *x = NULL, *m = NULL, *v = NULL;
    if (hu_alloc(n, (size_t)features * sizeof *x, "rows", (void **)&x, err) || hu_alloc_zero(n, sizeof *m, "rows", (void **)&m, err) ||
        hu_alloc_zero(n, sizeof *v, "rows", (void **)&v, err))
        goto cleanup;
    for (int64_t i = 0; i < n; i++) memcpy(x + i * features, r->frame->x + (int64_t)rows[i] * features, (size_t)features * sizeof *x);
    if (f->forest && hu_forest_predict(f->forest, x, n, m, v, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) {
        mean[rows[i]] = m[i] + linear_part(f->linear, f->is_scaled, x + i * features);
        deviation[rows[i]] = r->kind == HU_MODEL_BOOST ? 0.0 : square_root(v[i]);
    }
cleanup:
    hu_free(x);
    hu_free(m);
    hu_free(v);
    return err->status;
}

/* Adds the errors of the n rows just held out; tells whether the race goes on. */
static bool still_runs(const recipe *r, const int32_t *rows, int64_t n, const double *mean)
{
    race *c = r->race;
    if (!c) return true;
    for (int64_t i = 0; i < n; i++) {
        double truth = r->frame->y[rows[i]], e = (r->is_log ? exp(mean[rows[i]]) : mean[rows[i]]) - truth;
        c->sum += c->relative ? fabs(e / truth) : e * e;
    }
    double rows_in_all = (double)r->frame->rows, error = c->relative ? c->sum / rows_in_all : sqrt(c->sum / rows_in_all);
    c->is_lost = error > c->limit * (1 + 1e-9); /* the sums of the judge come in another order */
    return !c->is_lost;
}

/* Every row by a fit that has not seen it. folds of the n rows listed; the rows come out by their number in the frame. */
static hu_status hold_out_folds(const recipe *r, const double *y, const int32_t *rows, int64_t n, double *mean, double *deviation, hu_error *err)
{
    int folds = n > 2000 ? 4 : 10;
    if (n < folds) folds = (int)n;
    if (n < 2) return HU_OK;
    int32_t *fold = NULL, *in = NULL, *out = NULL;
    recipe small = *r;
    if (small.kind != HU_MODEL_BOOST && small.forest.trees > 200) small.forest.trees = 200;
    if (hu_alloc(n, sizeof *fold, "folds", (void **)&fold, err) || hu_alloc(n, sizeof *in, "folds", (void **)&in, err) ||
        hu_alloc(n, sizeof *out, "folds", (void **)&out, err))
        goto cleanup;
    hu_random random = hu_random_stream(r->forest.seed, 0xf01d);
    for (int64_t i = 0; i < n; i++) fold[i] = (int32_t)(i % folds);
    hu_random_shuffle(&random, fold, n);
    for (int k = 0; k < folds; k++) {
        int64_t kept = 0, held = 0;
        fit f;
        for (int64_t i = 0; i < n; i++) {
            if (fold[i] == k) out[held++] = rows[i];
            else in[kept++] = rows[i];
        }
        if (fit_rows(&small, y, in, kept, &f, err)) goto cleanup;
        predict_rows(&small, &f, out, held, mean, deviation, err);
        free_fit(&f);
        if (err->status || !still_runs(r, out, held, mean)) goto cleanup;
    }
cleanup:
    hu_free(fold);
    hu_free(in);
    hu_free(out);
    return err->status;
}

static bool leaves_rows_out(const recipe *r)
{
    return (r->kind == HU_MODEL_RF || r->kind == HU_MODEL_ET) && r->forest.bag > 0 && (r->forest.replace || r->forest.bag < 1);
}

/* Out of bag where the fit's bags leave rows out, else in folds. f: the fit on all rows, or NULL. */
static hu_status hold_out(const recipe *r, const double *y, const fit *opt_fit, double *mean, double *deviation, hu_error *err)
{
    int64_t n = r->frame->rows;
    int32_t *index;
    for (int64_t i = 0; i < n; i++) mean[i] = deviation[i] = NAN;
    if (hu_alloc(n, sizeof *index, "rows", (void **)&index, err)) return err->status;
    if (opt_fit && leaves_rows_out(r)) {
        hu_forest_oob(opt_fit->forest, &r->forest, r->frame->x, n, mean, deviation, index, err);
        for (int64_t i = 0; i < n; i++)
            if (!isnan(deviation[i])) deviation[i] = square_root(deviation[i]);
    } else {
        for (int64_t i = 0; i < n; i++) index[i] = (int32_t)i;
        hold_out_folds(r, y, index, n, mean, deviation, err);
    }
    hu_free(index);
    return err->status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

hu_model_error hu_model_judge(const double *truth, const double *prediction, int64_t n, double *work)
{
    double squares = 0.0, sum = 0.0, total = 0.0, spread = 0.0;
    int64_t known = 0, relative = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(prediction[i])) continue;
        double e = prediction[i] - truth[i];
        squares += e * e;
        total += truth[i];
        known++;
        if (truth[i] == 0) continue;
        work[relative++] = fabs(e / truth[i]);
        sum += fabs(e / truth[i]);
    }
    hu_model_error error = {NAN, NAN, NAN, NAN, known};
    if (known == 0) return error;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(prediction[i])) spread += (truth[i] - total / (double)known) * (truth[i] - total / (double)known);
    error.rmse = sqrt(squares / (double)known);
    if (spread > 0) error.r2 = 1.0 - squares / spread;
    if (relative == 0) return error;
    qsort(work, (size_t)relative, sizeof *work, compare_doubles);
    error.mape = sum / (double)relative;
    error.mdape = relative % 2 ? work[relative / 2] : (work[relative / 2 - 1] + work[relative / 2]) / 2;
    return error;
}

/* ---- choosing ------------------------------------------------------------------------------------------------------------ */

static bool all_positive(const hu_frame *frame)
{
    for (int64_t i = 0; i < frame->rows; i++)
        if (!(frame->y[i] > 0)) return false;
    return true;
}

/* What a kind means for the forest. */
static void set_recipe(recipe *r, hu_model_kind kind, bool is_log)
{
    r->kind = kind;
    r->is_log = is_log;
    r->forest = r->options->forest;
    r->forest.tree.extra = kind == HU_MODEL_ET;
    if (!r->options->bag_auto) return;
    r->forest.bag = kind == HU_MODEL_ET ? 0.0 : 1.0;
    r->forest.replace = true;
}

static hu_status targets_of(const recipe *r, double *y)
{
    for (int64_t i = 0; i < r->frame->rows; i++) y[i] = r->is_log ? log(r->frame->y[i]) : r->frame->y[i];
    return HU_OK;
}

/* The error by which recipes are compared: relative where all targets are positive, else absolute. What errs more than limit need not be known: INFINITY. */
static hu_status try_recipe(const recipe *r, bool relative, double limit, double *y, double *mean, double *deviation, double *work, double *ret_error, hu_error *err)
{
    fit f = {0};
    race c = {.relative = relative, .limit = limit};
    recipe racing = *r;
    racing.race = &c;
    targets_of(r, y);
    if (leaves_rows_out(r) && fit_rows(r, y, NULL, r->frame->rows, &f, err)) return err->status;
    hold_out(&racing, y, f.forest ? &f : NULL, mean, deviation, err);
    free_fit(&f);
    if (err->status || c.is_lost) return err->status;
    for (int64_t i = 0; i < r->frame->rows; i++) y[i] = r->is_log ? exp(mean[i]) : mean[i];
    hu_model_error e = hu_model_judge(r->frame->y, y, r->frame->rows, work);
    *ret_error = relative ? e.mape : e.rmse;
    return HU_OK;
}

enum { COMPARED = 1000 }; /* rows on which recipes are compared, at most */

/* A table of some of the rows of another, drawn by the seed. */
static hu_status sample_frame(const hu_frame *frame, uint64_t seed, hu_frame **ret_sample, hu_error *err)
{
    int32_t *row;
    hu_frame *s = NULL;
    if (hu_alloc(frame->rows, sizeof *row, "a sample", (void **)&row, err)) return err->status;
    for (int64_t i = 0; i < frame->rows; i++) row[i] = (int32_t)i;
    hu_random random = hu_random_stream(seed, 0x5a3b1e);
    hu_random_shuffle(&random, row, frame->rows);
    if (hu_frame_new(COMPARED, frame->features, &s, err)) goto cleanup;
    for (int32_t f = 0; f < frame->features; f++) {
        if (hu_feature_copy(&frame->feature[f], &s->feature[f], err)) goto cleanup;
        hu_free(s->feature[f].level_rows);
        s->feature[f].level_rows = NULL;
        for (int64_t i = 0; i < COMPARED; i++) s->column[f][i] = frame->column[f][row[i]];
    }
    for (int64_t i = 0; i < COMPARED; i++) s->y[i] = frame->y[row[i]];
    if (hu_frame_finish(s, err)) goto cleanup;
    *ret_sample = s;
    s = NULL;
cleanup:
    hu_frame_free(s);
    hu_free(row);
    return err->status;
}

static hu_status make_bins(const hu_frame *frame, hu_bins **ret_bins, hu_error *err)
{
    int32_t *levels;
    if (hu_alloc(frame->features, sizeof *levels, "features", (void **)&levels, err)) return err->status;
    for (int32_t f = 0; f < frame->features; f++) levels[f] = frame->feature[f].level_count;
    hu_bins_make((const double *const *)frame->column, frame->rows, frame->features, levels, ret_bins, err);
    hu_free(levels);
    return err->status;
}

/* Errors on held-out rows of small tables are noisy: a recipe takes the place of an earlier one only where it errs less by this share. */
static const double MARGIN = 0.9;

/* Tries each kind and target that the options leave open. */
static hu_status choose_recipe(recipe *r, hu_error *err)
{
    static const hu_model_kind kinds[] = {HU_MODEL_RF, HU_MODEL_HYBRID, HU_MODEL_ET, HU_MODEL_BOOST};
    const hu_model_options *o = r->options;
    bool positive = all_positive(r->frame);
    recipe trial = *r;
    hu_frame *sample = NULL;
    hu_bins *bins = NULL;
    double *work = NULL, best = INFINITY;
    int64_t n;
    if (o->scales > 0) { /* a power law times what the forest makes of the quotient */
        if (!positive) return hu_fail(err, HU_INPUT, "powers of a scale need targets above 0");
        set_recipe(r, o->kind == HU_MODEL_LINEAR ? HU_MODEL_LINEAR : HU_MODEL_HYBRID, true);
        return HU_OK;
    }
    if (o->kind >= 0 && o->log >= 0) {
        set_recipe(r, (hu_model_kind)o->kind, o->log);
        return HU_OK;
    }
    set_recipe(r, o->kind >= 0 ? (hu_model_kind)o->kind : HU_MODEL_RF, o->log >= 0 ? o->log : positive && r->frame->rows > 1);
    if (r->frame->rows > COMPARED) {
        if (sample_frame(r->frame, o->forest.seed, &sample, err) || make_bins(sample, &bins, err)) goto cleanup;
        trial.frame = sample;
        trial.bins = bins;
    }
    n = trial.frame->rows;
    if (hu_alloc(4 * n, sizeof *work, "rows held out", (void **)&work, err)) goto cleanup;
    for (int k = 0; k < (o->kind >= 0 ? 1 : (int)(sizeof kinds / sizeof *kinds)); k++)
        for (int raw = 0; raw < 2; raw++) {
            double error = INFINITY, limit = isinf(best) ? best : best * MARGIN;
            if ((!raw && !positive) || (o->log >= 0 && o->log == raw)) continue;
            set_recipe(&trial, o->kind >= 0 ? (hu_model_kind)o->kind : kinds[k], !raw);
            if (try_recipe(&trial, positive, limit, work, work + n, work + 2 * n, work + 3 * n, &error, err)) goto cleanup;
            if (isinf(error)) hu_say(1, "%s on %s: error of rows held out more than %.4g", kind_names[trial.kind], raw ? "the target" : "its logarithm", limit);
            else hu_say(1, "%s on %s: error of rows held out %.4g", kind_names[trial.kind], raw ? "the target" : "its logarithm", error);
            if (!(error < limit)) continue;
            best = error;
            set_recipe(r, trial.kind, trial.is_log);
            if (sample) continue;
            if (!r->held_out && hu_alloc(2 * n, sizeof *r->held_out, "rows held out", (void **)&r->held_out, err)) goto cleanup;
            memcpy(r->held_out, work + n, 2 * (size_t)n * sizeof *work);
        }
cleanup:
    hu_free(work);
    hu_bins_free(bins);
    hu_frame_free(sample);
    return err->status;
}

/* ---- training -------------------------------------------------------------------------------------------------------------- */

enum { MOST_SCORES = 4001 };

/* The scores of the rows held out, of which at most MOST_SCORES are kept, evenly. */
static hu_status keep_scores(hu_model *model, const double *y, const double *mean, const double *deviation, int64_t n, double *work, hu_error *err)
{
    int64_t known = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(mean[i])) work[known++] = deviation[i];
    if (known < 2) return HU_OK;
    qsort(work, (size_t)known, sizeof *work, compare_doubles);
    model->floor = work[known / 2] > 0 ? work[known / 2] : work[known - 1] > 0 ? work[known - 1] : 1.0;
    known = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(mean[i])) work[known++] = (y[i] - mean[i]) / (deviation[i] + model->floor);
    qsort(work, (size_t)known, sizeof *work, compare_doubles);
    model->scores = known < MOST_SCORES ? known : MOST_SCORES;
    if (hu_alloc(model->scores, sizeof *model->score, "scores", (void **)&model->score, err)) return err->status;
    for (int64_t k = 0; k < model->scores; k++) {
        double at = (double)k * (double)(known - 1) / (double)(model->scores - 1);
        int64_t low = (int64_t)at;
        double part = at - (double)low;
        model->score[k] = low + 1 < known ? work[low] + part * (work[low + 1] - work[low]) : work[known - 1];
    }
    return HU_OK;
}

static hu_status new_model(const char *target, int32_t features, hu_model **ret_model, hu_error *err)
{
    hu_model *model;
    if (hu_alloc_zero(1, sizeof *model, "a model", (void **)&model, err)) return err->status;
    *ret_model = model;
    model->target = strdup(target);
    model->held_out = (hu_model_error){NAN, NAN, NAN, NAN, 0};
    if (!model->target) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_alloc_zero(features, sizeof *model->feature, "a model", (void **)&model->feature, err)) return err->status;
    model->features = features;
    return HU_OK;
}

static hu_status judge_held_out(const recipe *r, hu_model *model, const fit *f, const double *y, double *opt_held_out, double *opt_deviation, hu_error *err)
{
    int64_t n = r->frame->rows;
    double *block;
    if (hu_alloc(3 * n, sizeof *block, "rows held out", (void **)&block, err)) return err->status;
    double *mean = block, *deviation = block + n, *work = block + 2 * n;
    if (r->held_out) memcpy(block, r->held_out, 2 * (size_t)n * sizeof *block);
    else if (hold_out(r, y, f, mean, deviation, err)) goto cleanup;
    if (keep_scores(model, y, mean, deviation, n, work, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) {
        if (r->is_log) {
            mean[i] = exp(mean[i]);
            deviation[i] *= mean[i];
        }
        if (opt_held_out) opt_held_out[i] = mean[i];
        if (opt_deviation) opt_deviation[i] = deviation[i];
    }
    model->held_out = hu_model_judge(r->frame->y, mean, n, work);
cleanup:
    hu_free(block);
    return err->status;
}

hu_status hu_model_train(const hu_frame *frame, const char *target, const hu_model_options *options, hu_model **ret_model, double *opt_held_out, double *opt_deviation,
                         hu_error *err)
{
    recipe r = {.frame = frame, .options = options};
    hu_bins *bins = NULL;
    hu_model *model = NULL;
    double *y = NULL;
    fit f = {0};
    if (frame->rows < 1) return hu_fail(err, HU_INPUT, "there is no row to learn from");
    if (options->log == 1 && !all_positive(frame)) return hu_fail(err, HU_INPUT, "column %s: the logarithm needs targets above 0", target);
    if (make_bins(frame, &bins, err)) return err->status;
    r.bins = bins;
    if (choose_recipe(&r, err) || hu_alloc(frame->rows, sizeof *y, "targets", (void **)&y, err)) goto failed;
    targets_of(&r, y);
    if (new_model(target, frame->features, &model, err) || fit_rows(&r, y, NULL, frame->rows, &f, err)) goto failed;
    for (int32_t k = 0; k < frame->features; k++)
        if (hu_feature_copy(&frame->feature[k], &model->feature[k], err)) goto failed;
    model->kind = r.kind;
    model->is_log = r.is_log;
    model->options = r.forest;
    model->options.team = NULL;
    model->rows = frame->rows;
    model->crc = hu_frame_crc(frame);
    if ((leaves_rows_out(&r) || !options->no_held_out) && judge_held_out(&r, model, &f, y, opt_held_out, opt_deviation, err)) goto failed;
    model->linear = f.linear;
    model->forest = f.forest;
    model->is_scaled = f.is_scaled;
    hu_free(r.held_out);
    hu_bins_free(bins);
    hu_free(y);
    *ret_model = model;
    return HU_OK;
failed:
    free_fit(&f);
    hu_free(r.held_out);
    hu_model_free(model);
    hu_bins_free(bins);
    hu_free(y);
    return err->status;
}

void hu_model_free(hu_model *model)
{
    if (!model) return;
    free(model->target);
    for (int32_t f = 0; f < model->features; f++) hu_feature_clear(&model->feature[f]);
    hu_free(model->feature);
    hu_linear_free(model->linear);
    hu_forest_free(model->forest);
    hu_free(model->score);
    hu_free(model);
}

/* ---- prediction -------------------------------------------------------------------------------------------------------------- */

static hu_prediction prediction_of(const hu_model *model, const double *x, double mean, double variance)
{
    hu_prediction p;
    p.mean = mean + linear_part(model->linear, model->is_scaled, x);
    p.deviation = model->kind == HU_MODEL_BOOST ? 0.0 : square_root(variance);
    p.value = model->is_log ? exp(p.mean) : p.mean;
    return p;
}

hu_prediction hu_model_predict_row(const hu_model *model, const double *x)
{
    double variance = 0.0, mean = model->forest ? hu_forest_predict_row(model->forest, x, &variance) : 0.0;
    return prediction_of(model, x, mean, variance);
}

hu_status hu_model_predict(const hu_model *model, const double *x, int64_t rows, hu_prediction *ret, hu_error *err)
{
    double *mean;
    if (hu_alloc_zero(2 * rows, sizeof *mean, "predictions", (void **)&mean, err)) return err->status;
    if (!model->forest || hu_forest_predict(model->forest, x, rows, mean, mean + rows, err) == HU_OK)
        for (int64_t i = 0; i < rows; i++) ret[i] = prediction_of(model, x + i * model->features, mean[i], mean[rows + i]);
    hu_free(mean);
    return err->status;
}

int32_t hu_model_each(const hu_model *model, const double *x, double *each)
{
    double base = linear_part(model->linear, model->is_scaled, x);
    int32_t n = model->forest ? model->forest->trees : 1;
    each[0] = 0.0;
    if (model->forest) hu_forest_predict_row_each(model->forest, x, each);
    for (int32_t t = 0; t < n; t++) each[t] = model->is_log ? exp(base + each[t]) : base + each[t];
    return n;
}

double hu_model_sigma(const hu_model *model, const hu_prediction *p)
{
    return model->is_log ? p->value * p->deviation : p->deviation;
}

double hu_model_quantile(const hu_model *model, const hu_prediction *p, double q)
{
    int64_t n = model->scores;
    if (n < 2) return NAN;
    double at = q * (double)(n + 1) - 1.0; /* order statistic ceil((n + 1) q), interpolated */
    at = at < 0 ? 0 : at > (double)(n - 1) ? (double)(n - 1) : at;
    int64_t low = (int64_t)at;
    double score = model->score[low];
    if (low + 1 < n) score += (at - (double)low) * (model->score[low + 1] - score);
    double v = p->mean + score * (p->deviation + model->floor);
    return model->is_log ? exp(v) : v;
}

int32_t hu_model_find(const hu_model *model, const char *name)
{
    for (int32_t f = 0; f < model->features; f++)
        if (strcmp(model->feature[f].name, name) == 0) return f;
    return -1;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------- */

static const char bundle_kind[] = "perf-predict-model";
enum { MAJOR = 1, MINOR = 0 };
static const int64_t most_bytes = (int64_t)16 << 30;

/* A number, or null where there is none. */
static json_t *number_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *feature_json(const hu_feature *feature)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(feature->name));
    json_object_set_new(o, "kind", json_string(feature->level_count ? "levels" : "number"));
    json_object_set_new(o, "missing", json_integer(feature->missing));
    if (!feature->level_count) {
        if (feature->is_log) json_object_set_new(o, "log", json_true());
        json_object_set_new(o, "least", number_or_null(feature->least));
        json_object_set_new(o, "most", number_or_null(feature->most));
        json_object_set_new(o, "median", number_or_null(feature->median));
        return o;
    }
    json_t *levels = json_array(), *rows = json_array();
    for (int32_t l = 0; l < feature->level_count; l++) {
        json_array_append_new(levels, json_string(feature->levels[l]));
        json_array_append_new(rows, json_integer(feature->level_rows[l]));
    }
    json_object_set_new(o, "levels", levels);
    json_object_set_new(o, "rows", rows);
    return o;
}

hu_status hu_model_describe(const hu_model *m, json_t *content, hu_error *err)
{
    json_t *features = json_array(), *options = json_object(), *held_out = json_object();
    for (int32_t f = 0; f < m->features; f++) json_array_append_new(features, feature_json(&m->feature[f]));
    json_object_set_new(content, "features", features);
    json_object_set_new(content, "target", json_string(m->target));
    json_object_set_new(content, "model", json_string(kind_names[m->kind]));
    json_object_set_new(content, "transform", json_string(m->is_log ? "log" : "raw"));
    json_object_set_new(content, "scaled", json_boolean(m->is_scaled));
    json_object_set_new(content, "rows", json_integer(m->rows));
    json_object_set_new(content, "crc32c", json_integer(m->crc));
    json_object_set_new(content, "floor", number_or_null(m->floor));
    json_object_set_new(options, "mtry", json_integer(m->options.tree.mtry));
    json_object_set_new(options, "leaf", json_integer(m->options.tree.leaf));
    json_object_set_new(options, "depth", json_integer(m->options.tree.depth));
    json_object_set_new(options, "extra", json_boolean(m->options.tree.extra));
    json_object_set_new(options, "trees", json_integer(m->options.trees));
    json_object_set_new(options, "bag", json_real(m->options.bag));
    json_object_set_new(options, "replace", json_boolean(m->options.replace));
    json_object_set_new(options, "seed", json_integer((json_int_t)m->options.seed));
    json_object_set_new(content, "forest", options);
    json_object_set_new(held_out, "mape", number_or_null(m->held_out.mape));
    json_object_set_new(held_out, "mdape", number_or_null(m->held_out.mdape));
    json_object_set_new(held_out, "rmse", number_or_null(m->held_out.rmse));
    json_object_set_new(held_out, "r2", number_or_null(m->held_out.r2));
    json_object_set_new(held_out, "rows", json_integer(m->held_out.rows));
    return json_object_set_new(content, "held_out", held_out) == 0 ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

hu_status hu_model_write(const hu_model *m, hu_output *out, hu_error *err)
{
    hu_bundle_writer *w = NULL;
    if (hu_bundle_create(bundle_kind, MAJOR, MINOR, &w, err) || hu_model_describe(m, hu_bundle_content(w), err)) goto failed;
    if (m->forest && hu_forest_store(m->forest, "forest", w, err)) goto failed;
    if (m->linear && hu_linear_store(m->linear, "linear", w, err)) goto failed;
    if (m->scores && hu_bundle_add_array(w, "scores", HU_BUNDLE_F8, m->score, m->scores, err)) goto failed;
    return hu_bundle_finish(&w, HU_BUNDLE_ZSTD, out, err);
failed:
    hu_bundle_abort(&w);
    return err->status;
}

static hu_status number_or_nan(const hu_json_place *object, const char *key, double *ret, hu_error *err)
{
    hu_json_place member;
    *ret = NAN;
    if (hu_json_member(object, key, &member, err)) return err->status;
    return json_is_null(member.value) ? HU_OK : hu_json_number(object, key, -DBL_MAX, DBL_MAX, ret, err);
}

static hu_status read_levels(const hu_json_place *o, hu_feature *feature, hu_error *err)
{
    hu_json_place levels, rows, item;
    int64_t count, same;
    if (hu_json_member(o, "levels", &levels, err) || hu_json_length(&levels, HU_BINS_MOST, &count, err) || hu_json_member(o, "rows", &rows, err) ||
        hu_json_length(&rows, HU_BINS_MOST, &same, err))
        return err->status;
    if (count != same || count == 0) return hu_fail(err, HU_INPUT, "%s: column %s: its levels and their rows differ in number", o->name ? o->name : "model", feature->name);
    if (hu_alloc_zero(count, sizeof *feature->levels, feature->name, (void **)&feature->levels, err) ||
        hu_alloc_zero(count, sizeof *feature->level_rows, feature->name, (void **)&feature->level_rows, err))
        return err->status;
    for (int64_t l = 0; l < count; l++) {
        if (hu_json_item(&levels, l, &item, err)) return err->status;
        const char *text = json_string_value(item.value);
        if (!text || (l && strcmp(feature->levels[l - 1], text) >= 0)) return hu_fail(err, HU_INPUT, "column %s: level %lld is out of order", feature->name, (long long)l);
        if (!(feature->levels[l] = strdup(text))) return hu_fail(err, HU_SYSTEM, "out of memory");
        feature->level_count++;
        if (hu_json_item(&rows, l, &item, err) || hu_json_integer_of(&item, 0, INT32_MAX, &feature->level_rows[l], err)) return err->status;
    }
    return HU_OK;
}

static hu_status read_feature(const hu_json_place *o, hu_feature *feature, hu_error *err)
{
    static const char *const kinds[] = {"number", "levels"};
    const char *name;
    int kind;
    if (hu_json_text(o, "name", &name, err) || hu_json_word(o, "kind", kinds, 2, &kind, err) || hu_json_integer(o, "missing", 0, INT32_MAX, &feature->missing, err)) return err->status;
    if (!(feature->name = strdup(name))) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (kind == 1) return read_levels(o, feature, err);
    if (hu_json_has(o, "log") && hu_json_bool(o, "log", &feature->is_log, err)) return err->status;
    if (number_or_nan(o, "least", &feature->least, err) || number_or_nan(o, "most", &feature->most, err)) return err->status;
    return number_or_nan(o, "median", &feature->median, err);
}

static hu_status read_options(const hu_json_place *root, hu_model *m, hu_error *err)
{
    hu_json_place o;
    int64_t mtry, leaf, depth, trees, seed;
    hu_forest_options *f = &m->options;
    if (hu_json_member(root, "forest", &o, err) || hu_json_integer(&o, "mtry", 0, HU_BINS_FEATURES, &mtry, err) || hu_json_integer(&o, "leaf", 0, INT32_MAX, &leaf, err) ||
        hu_json_integer(&o, "depth", 0, INT32_MAX, &depth, err) || hu_json_bool(&o, "extra", &f->tree.extra, err) || hu_json_integer(&o, "trees", 1, INT32_MAX, &trees, err) ||
        hu_json_number(&o, "bag", 0, 1000, &f->bag, err) || hu_json_bool(&o, "replace", &f->replace, err) || hu_json_integer(&o, "seed", INT64_MIN, INT64_MAX, &seed, err))
        return err->status;
    f->tree.mtry = (int32_t)mtry;
    f->tree.leaf = leaf;
    f->tree.depth = (int32_t)depth;
    f->trees = (int32_t)trees;
    f->seed = (uint64_t)seed;
    return HU_OK;
}

static hu_status read_held_out(const hu_json_place *root, hu_model *m, hu_error *err)
{
    hu_json_place o;
    hu_model_error *e = &m->held_out;
    if (hu_json_member(root, "held_out", &o, err) || number_or_nan(&o, "mape", &e->mape, err) || number_or_nan(&o, "mdape", &e->mdape, err) ||
        number_or_nan(&o, "rmse", &e->rmse, err) || number_or_nan(&o, "r2", &e->r2, err))
        return err->status;
    return hu_json_integer(&o, "rows", 0, INT32_MAX, &e->rows, err);
}

static hu_status read_content(const hu_bundle *bundle, hu_model **ret_model, hu_error *err)
{
    static const char *const transforms[] = {"raw", "log"};
    hu_json_place root = hu_bundle_root(bundle), features, item;
    const char *target;
    int64_t count, crc;
    int kind, transform;
    if (hu_json_text(&root, "target", &target, err) || hu_json_member(&root, "features", &features, err) || hu_json_length(&features, HU_BINS_FEATURES, &count, err)) return err->status;
    if (new_model(target, (int32_t)count, ret_model, err)) return err->status;
    hu_model *m = *ret_model;
    for (int64_t f = 0; f < count; f++)
        if (hu_json_item(&features, f, &item, err) || read_feature(&item, &m->feature[f], err)) return err->status;
    if (hu_json_word(&root, "model", kind_names, HU_MODEL_KINDS, &kind, err) || hu_json_word(&root, "transform", transforms, 2, &transform, err) ||
        hu_json_bool(&root, "scaled", &m->is_scaled, err) || hu_json_integer(&root, "rows", 1, INT32_MAX, &m->rows, err) ||
        hu_json_integer(&root, "crc32c", 0, UINT32_MAX, &crc, err) || hu_json_number(&root, "floor", 0, DBL_MAX, &m->floor, err))
        return err->status;
    m->kind = (hu_model_kind)kind;
    m->is_log = transform;
    m->crc = (uint32_t)crc;
    return read_options(&root, m, err) ? err->status : read_held_out(&root, m, err);
}

static hu_status read_scores(const hu_bundle *bundle, hu_model *m, hu_error *err)
{
    const void *items;
    if (!hu_bundle_has(bundle, "scores")) return HU_OK;
    if (hu_bundle_get_array(bundle, "scores", HU_BUNDLE_F8, &items, &m->scores, err)) return err->status;
    if (hu_alloc(m->scores, sizeof *m->score, "scores", (void **)&m->score, err)) return err->status;
    memcpy(m->score, items, (size_t)m->scores * sizeof *m->score);
    for (int64_t k = 0; k < m->scores; k++)
        if (!isfinite(m->score[k]) || (k && m->score[k - 1] > m->score[k])) return hu_bundle_fail(bundle, err, "score %lld is out of order", (long long)k);
    return HU_OK;
}

static hu_status read_parts(const hu_bundle *bundle, hu_model *m, hu_error *err)
{
    int32_t *levels;
    if (hu_alloc(m->features, sizeof *levels, "features", (void **)&levels, err)) return err->status;
    for (int32_t f = 0; f < m->features; f++) levels[f] = m->feature[f].level_count;
    if (has_forest(m->kind)) hu_forest_load(bundle, "forest", m->features, levels, &m->forest, err);
    if (has_linear(m->kind) && !err->status) hu_linear_load(bundle, "linear", m->features, levels, &m->linear, err);
    hu_free(levels);
    if (err->status) return err->status;
    if (m->is_scaled && !(m->linear && m->is_log)) return hu_bundle_fail(bundle, err, "a scaled model without linear part or logarithm");
    return read_scores(bundle, m, err);
}

hu_status hu_model_read(hu_source *source, hu_model **ret_model, hu_error *err)
{
    hu_bundle *bundle = NULL;
    hu_model *model = NULL;
    if (hu_bundle_read(source, bundle_kind, MAJOR, most_bytes, &bundle, err)) return err->status;
    if (read_content(bundle, &model, err) == HU_OK && read_parts(bundle, model, err) == HU_OK) {
        *ret_model = model;
        model = NULL;
    }
    hu_model_free(model);
    hu_bundle_free(bundle);
    return err->status;
}
