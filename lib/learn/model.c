/* model.c: a model of one measured column by others.
 *
 * Sections: one fit, rows held out, choosing, training, prediction.
 */
#include "config.h"
#include "learn/model_build.h"
#include "base/memory.h"
#include "learn/boost.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"rf", "et", "boost", "linear", "hybrid", "matched"};

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

bool hu_model_has_forest(hu_model_kind kind)
{
    return kind != HU_MODEL_LINEAR && kind != HU_MODEL_MATCHED;
}

bool hu_model_has_linear(hu_model_kind kind)
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
    if (hu_model_has_linear(r->kind)) {
        if (fit_linear(r, y, rows, n, f, err)) goto cleanup;
        if (!hu_model_has_forest(r->kind)) goto cleanup;
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

/* A table of COMPARED of the rows of another, drawn by the seed. */
static hu_status sample_frame(const hu_frame *frame, uint64_t seed, hu_frame **ret_sample, hu_error *err)
{
    int32_t *row;
    if (hu_alloc(frame->rows, sizeof *row, "a sample", (void **)&row, err)) return err->status;
    for (int64_t i = 0; i < frame->rows; i++) row[i] = (int32_t)i;
    hu_random random = hu_random_stream(seed, 0x5a3b1e);
    hu_random_shuffle(&random, row, frame->rows);
    hu_frame_rows(frame, row, COMPARED, ret_sample, err);
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
hu_status hu_model_keep_scores(hu_model *model, const double *y, const double *mean, const double *deviation, int64_t n, double *work, hu_error *err)
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

hu_status hu_model_new(const char *target, int32_t features, hu_model **ret_model, hu_error *err)
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
    if (hu_model_keep_scores(model, y, mean, deviation, n, work, err)) goto cleanup;
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
    if (hu_model_new(target, frame->features, &model, err) || fit_rows(&r, y, NULL, frame->rows, &f, err)) goto failed;
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
    hu_model_free(model->source.model);
    hu_free(model);
}

/* ---- prediction -------------------------------------------------------------------------------------------------------------- */

/* What a model takes up of its source's prediction. */
static double taken_up(const hu_model *model, const hu_prediction *p)
{
    if (!model->is_log) return p->value;
    return model->source.model->is_log ? p->mean : log(p->value > model->source.least ? p->value : model->source.least);
}

double hu_model_source_answer(const hu_model *model, const double *x)
{
    if (!model->source.model) return 0.0;
    hu_prediction p = hu_model_predict_row(model->source.model, x);
    return taken_up(model, &p);
}

static double source_part(const hu_model *model, double answer)
{
    return model->source.model ? model->source.slope * answer + model->source.offset : 0.0;
}

/* The row as the forest wants it. wide[HU_BINS_FEATURES] gets the source's answer behind the features, where that is a feature. */
static const double *forest_row(const hu_model *model, const double *x, double answer, double *wide)
{
    if (!model->source.is_feature) return x;
    memcpy(wide, x, (size_t)model->features * sizeof *x);
    wide[model->features] = answer;
    return wide;
}

static hu_prediction prediction_of(const hu_model *model, const double *x, double answer, double mean, double variance)
{
    hu_prediction p;
    p.mean = mean + linear_part(model->linear, model->is_scaled, x);
    if (model->source.model) p.mean += source_part(model, answer);
    p.deviation = model->kind == HU_MODEL_BOOST ? 0.0 : square_root(variance);
    p.value = model->is_log ? exp(p.mean) : p.mean;
    return p;
}

hu_prediction hu_model_predict_row(const hu_model *model, const double *x)
{
    double wide[HU_BINS_FEATURES], answer = hu_model_source_answer(model, x), variance = 0.0, mean = 0.0;
    if (model->forest) mean = hu_forest_predict_row(model->forest, forest_row(model, x, answer, wide), &variance);
    return prediction_of(model, x, answer, mean, variance);
}

/* answer[rows] of the source. */
static hu_status source_answers(const hu_model *model, const double *x, int64_t rows, double *answer, hu_error *err)
{
    hu_prediction *p;
    if (hu_alloc(rows, sizeof *p, "predictions", (void **)&p, err)) return err->status;
    if (hu_model_predict(model->source.model, x, rows, p, err) == HU_OK)
        for (int64_t i = 0; i < rows; i++) answer[i] = taken_up(model, &p[i]);
    hu_free(p);
    return err->status;
}

/* The rows as the forest wants them: *ret_rows is x, or to be freed. */
static hu_status forest_rows(const hu_model *model, const double *x, int64_t rows, const double *answer, double **ret_wide, hu_error *err)
{
    int64_t d = model->features;
    *ret_wide = NULL;
    if (!model->source.is_feature) return HU_OK;
    if (hu_alloc(rows, (size_t)(d + 1) * sizeof **ret_wide, "rows", (void **)ret_wide, err)) return err->status;
    for (int64_t i = 0; i < rows; i++) forest_row(model, x + i * d, answer[i], *ret_wide + i * (d + 1));
    return HU_OK;
}

hu_status hu_model_predict(const hu_model *model, const double *x, int64_t rows, hu_prediction *ret, hu_error *err)
{
    double *mean, *wide = NULL;
    if (hu_alloc_zero(3 * rows, sizeof *mean, "predictions", (void **)&mean, err)) return err->status;
    double *variance = mean + rows, *answer = mean + 2 * rows;
    if (model->source.model && source_answers(model, x, rows, answer, err)) goto cleanup;
    if (model->forest && (forest_rows(model, x, rows, answer, &wide, err) || hu_forest_predict(model->forest, wide ? wide : x, rows, mean, variance, err))) goto cleanup;
    for (int64_t i = 0; i < rows; i++) ret[i] = prediction_of(model, x + i * model->features, answer[i], mean[i], variance[i]);
cleanup:
    hu_free(wide);
    hu_free(mean);
    return err->status;
}

hu_status hu_model_oob(const hu_model *model, const double *x, int64_t n, double *mean, int32_t *count, bool *ret_known, hu_error *err)
{
    double *answer, *wide = NULL;
    recipe r = {.kind = model->kind, .forest = model->options};
    *ret_known = leaves_rows_out(&r);
    if (!*ret_known) return HU_OK;
    if (hu_alloc_zero(n, sizeof *answer, "rows", (void **)&answer, err)) return err->status;
    if ((model->source.model && source_answers(model, x, n, answer, err)) || forest_rows(model, x, n, answer, &wide, err) ||
        hu_forest_oob(model->forest, &model->options, wide ? wide : x, n, mean, NULL, count, err))
        goto cleanup;
    for (int64_t i = 0; i < n && model->source.model; i++) mean[i] += source_part(model, answer[i]);
cleanup:
    hu_free(wide);
    hu_free(answer);
    return err->status;
}

int32_t hu_model_each(const hu_model *model, const double *x, double *each)
{
    double wide[HU_BINS_FEATURES], answer = hu_model_source_answer(model, x);
    double base = linear_part(model->linear, model->is_scaled, x) + source_part(model, answer);
    int32_t n = model->forest ? model->forest->trees : 1;
    each[0] = 0.0;
    if (model->forest) hu_forest_predict_row_each(model->forest, forest_row(model, x, answer, wide), each);
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
