/* model_build.h: what the modules that make models share (model.c, model_file.c, transfer.c). */
#ifndef HU_LEARN_MODEL_BUILD_H
#define HU_LEARN_MODEL_BUILD_H

#include "learn/model.h"

/* A model of that many features, all zero; *ret_model is set also where it fails half way. */
hu_status hu_model_new(const char *target, int32_t features, hu_model **ret_model, hu_error *err);

bool hu_model_has_forest(hu_model_kind kind);
bool hu_model_has_linear(hu_model_kind kind);

/* Keeps the scores of n rows held out (truth y, mean and deviation of what the model works on; NaN where a row has none): of each
 * (y - mean) / (deviation + floor), ascending, and of many an even choice. work[n]. */
hu_status hu_model_keep_scores(hu_model *model, const double *y, const double *mean, const double *deviation, int64_t n, double *work, hu_error *err);

#endif
