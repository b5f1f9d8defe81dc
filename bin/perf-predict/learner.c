/* learner.c: the forest that active sampling asks. */
#include "config.h"
#include "learner.h"
#include "base/memory.h"

#include <math.h>

static const double MARGIN = 0.9; /* as in model.c */

static hu_forest_options forest_options(const learner_options *o)
{
    return (hu_forest_options){{0, 1, 0, false}, o->trees, 1.0, true, o->seed, NULL};
}

hu_model_options learner_model_options(const learner *l, const learner_options *o)
{
    hu_model_options m = HU_MODEL_DEFAULTS;
    m.kind = HU_MODEL_RF;
    m.log = l->is_log;
    m.forest = forest_options(o);
    return m;
}

static bool all_positive(const hu_frame *frame)
{
    for (int64_t i = 0; i < frame->rows; i++)
        if (!(frame->y[i] > 0)) return false;
    return true;
}

/* The mean relative error of rows out of bag (absolute where a cost is not positive), infinite where there are none. */
static hu_status error_out_of_bag(const hu_forest *forest, const hu_frame *frame, const hu_forest_options *o, bool is_log, bool relative, double *ret_error, hu_error *err)
{
    double *mean, sum = 0.0;
    int32_t *count = NULL;
    int64_t known = 0;
    if (hu_alloc(frame->rows, sizeof *mean, "rows out of bag", (void **)&mean, err)) return err->status;
    if (hu_alloc(frame->rows, sizeof *count, "rows out of bag", (void **)&count, err) || hu_forest_oob(forest, o, frame->x, frame->rows, mean, NULL, count, err)) goto cleanup;
    for (int64_t i = 0; i < frame->rows; i++) {
        if (count[i] == 0) continue;
        double e = fabs((is_log ? exp(mean[i]) : mean[i]) - frame->y[i]);
        sum += relative ? e / frame->y[i] : e;
        known++;
    }
    *ret_error = known ? sum / (double)known : INFINITY;
cleanup:
    hu_free(mean);
    hu_free(count);
    return err->status;
}

/* Leaves of logarithms become leaves of costs; only the spread between trees is wanted. */
static void finish_forest(hu_forest *forest, bool is_log)
{
    hu_free(forest->variance);
    forest->variance = NULL;
    if (!is_log) return;
    for (int64_t i = 0; i < forest->root[forest->trees]; i++)
        if (forest->node[i].child == 0) forest->node[i].value = exp(forest->node[i].value);
    forest->least = exp(forest->least);
    forest->most = exp(forest->most);
}

static hu_status train_both(const hu_frame *frame, const hu_bins *bins, const double *logs, const hu_forest_options *o, learner *ret, hu_error *err)
{
    hu_forest *with_log = NULL, *without = NULL;
    double error_log, error_raw;
    if (hu_forest_train(bins, logs, NULL, frame->rows, o, &with_log, err) || hu_forest_train(bins, frame->y, NULL, frame->rows, o, &without, err) ||
        error_out_of_bag(with_log, frame, o, true, true, &error_log, err) || error_out_of_bag(without, frame, o, false, true, &error_raw, err))
        goto failed;
    hu_say(1, "out of bag, %lld rows: error %.4g on the logarithm, %.4g on the cost itself", (long long)frame->rows, error_log, error_raw);
    ret->is_log = !(error_raw < MARGIN * error_log);
    ret->forest = ret->is_log ? with_log : without;
    hu_forest_free(ret->is_log ? without : with_log);
    return HU_OK;
failed:
    hu_forest_free(with_log);
    hu_forest_free(without);
    return err->status;
}

hu_status learner_train(const hu_frame *frame, const learner_options *options, learner *ret, hu_error *err)
{
    hu_forest_options o = forest_options(options);
    hu_bins *bins = NULL;
    double *logs = NULL;
    int32_t *levels;
    bool positive = all_positive(frame);
    *ret = (learner){NULL, positive && options->log != 0};
    if (options->log == 1 && !positive) return hu_fail(err, HU_INPUT, "the logarithm needs costs above 0");
    if (hu_alloc(frame->features, sizeof *levels, "columns", (void **)&levels, err)) return err->status;
    for (int32_t f = 0; f < frame->features; f++) levels[f] = frame->feature[f].level_count;
    if (hu_bins_make((const double *const *)frame->column, frame->rows, frame->features, levels, &bins, err)) goto cleanup;
    if (ret->is_log && hu_alloc(frame->rows, sizeof *logs, "logarithms", (void **)&logs, err)) goto cleanup;
    for (int64_t i = 0; logs && i < frame->rows; i++) logs[i] = log(frame->y[i]);
    if (positive && options->log < 0 ? train_both(frame, bins, logs, &o, ret, err) : hu_forest_train(bins, logs ? logs : frame->y, NULL, frame->rows, &o, &ret->forest, err)) goto cleanup;
    finish_forest(ret->forest, ret->is_log);
cleanup:
    hu_bins_free(bins);
    hu_free(logs);
    hu_free(levels);
    return err->status;
}

void learner_free(learner *l)
{
    hu_forest_free(l->forest);
    *l = (learner){0};
}

hu_status learner_predict(const learner *l, const double *x, int64_t n, double *mean, double *sigma, hu_error *err)
{
    if (hu_forest_predict(l->forest, x, n, mean, sigma, err)) return err->status;
    for (int64_t i = 0; i < n; i++) sigma[i] = sqrt(sigma[i]);
    return HU_OK;
}
