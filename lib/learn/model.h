/* model.h: a model of one measured column by others: what perf-predict trains, and what programs load to choose by.
 *
 * A model is a sum of two parts, either of which may be absent: a sparse linear part (linear.h) and a forest that has learnt what the linear part leaves.
 * It works on the target itself or on its logarithm. Its band comes from rows that their predictor has not seen: out of bag, or in ten folds where
 * a part needs all rows at once (split conformal prediction: Lei et al. 2018, scaled by the spread of the trees).
 *
 * A model that was transferred (transfer.h) adds to those parts a multiple of what its source answers, a model of the same features that was learnt
 * elsewhere; and its forest may split on that answer. One of the kind HU_MODEL_MATCHED has no part of its own beside.
 *
 * Sections: training, prediction, files.
 */
#ifndef HU_LEARN_MODEL_H
#define HU_LEARN_MODEL_H

#include "learn/forest.h"
#include "learn/frame.h"
#include "learn/linear.h"

typedef enum { HU_MODEL_RF, HU_MODEL_ET, HU_MODEL_BOOST, HU_MODEL_LINEAR, HU_MODEL_HYBRID, HU_MODEL_MATCHED, HU_MODEL_KINDS } hu_model_kind;

/* What a model does not know of its target is NaN. */
typedef struct {
    double mape, mdape, rmse, r2; /* shares, not percent */
    int64_t rows;                 /* that have a prediction */
} hu_model_error;

typedef struct hu_model hu_model;

enum { HU_MODEL_SOURCES = 4 }; /* sources of sources, at most */

typedef struct {
    hu_model *model;      /* of the same features and levels; NULL: none */
    double slope, offset; /* slope * answer + offset is added, of what the model works on */
    double least;         /* where only the model works on the logarithm: a lesser answer counts as this */
    bool is_feature;      /* the answer is one more feature of the forest, behind the others */
} hu_model_source;

struct hu_model {
    hu_model_kind kind;
    bool is_log;
    char *target;
    int32_t features;
    hu_feature *feature;
    hu_linear *linear; /* NULL: none */
    bool is_scaled;    /* the linear part is of powers and gives the target: its logarithm counts */
    hu_forest *forest; /* NULL: none */
    hu_forest_options options;
    int64_t rows;      /* of training */
    uint32_t crc;      /* of its table */
    hu_model_error held_out;
    double floor;      /* added to a deviation before it scales a score */
    double *score;     /* [scores] (truth - prediction) / (deviation + floor) of rows held out, ascending */
    int64_t scores;
    hu_model_source source;
};

/* ---- training */

typedef struct {
    int kind;             /* a hu_model_kind, or -1: the one of least error on rows held out */
    int log;              /* 0, 1, or -1: the better one */
    hu_forest_options forest;
    bool bag_auto;        /* the bootstrap for random forests, all rows for extra trees */
    const int32_t *scale; /* features that the linear part takes powers and logarithms of (PMNF) */
    int32_t scales;
    bool no_held_out;     /* leave out what only tells errors and bands, where it costs time */
} hu_model_options;

#define HU_MODEL_DEFAULTS {-1, -1, {{0, 1, 0, false}, 500, 1.0, true, 1, NULL}, true, NULL, 0, false}

/* opt_held_out[rows]: the predictions (of the target, not its logarithm) of rows held out, NaN where there is none; opt_deviation[rows] likewise.
 * Free with hu_model_free(). */
hu_status hu_model_train(const hu_frame *frame, const char *target, const hu_model_options *options, hu_model **ret_model, double *opt_held_out,
                         double *opt_deviation, hu_error *err);
void hu_model_free(hu_model *model); /* NULL is allowed */
const char *hu_model_kind_name(hu_model_kind kind);

/* ---- prediction: rows of features are doubles in the order of model->feature, levels by their index, NaN where missing */

typedef struct {
    double value;           /* of the target */
    double mean, deviation; /* of what the model works on: the target or its logarithm */
} hu_prediction;

hu_status hu_model_predict(const hu_model *model, const double *x, int64_t rows, hu_prediction *ret, hu_error *err);
hu_prediction hu_model_predict_row(const hu_model *model, const double *x); /* no allocation: microseconds */

/* What the source answers to a row, as the model takes it up; 0 without a source. */
double hu_model_source_answer(const hu_model *model, const double *x);

/* Predictions of the n rows of training x[n][features] by the trees that have not seen them, of what the model works on, NaN where there is none, where its bags left
 * rows out: else *ret_known is false. count[n]: scratch. */
hu_status hu_model_oob(const hu_model *model, const double *x, int64_t n, double *mean, int32_t *count, bool *ret_known, hu_error *err);

/* The trees' values of one row, each[forest->trees], of the target. Without a forest: one value. Returns their number. */
int32_t hu_model_each(const hu_model *model, const double *x, double *each);

/* The standard deviation of the target. */
double hu_model_sigma(const hu_model *model, const hu_prediction *p);

/* The value below which the target lies with probability q, by the scores; NaN where the model has none. */
double hu_model_quantile(const hu_model *model, const hu_prediction *p, double q);

/* The feature of that name, or -1. */
int32_t hu_model_find(const hu_model *model, const char *name);

/* Errors of predictions against truths. */
hu_model_error hu_model_judge(const double *truth, const double *prediction, int64_t n, double *work);

/* ---- files: a bundle of the kind "perf-predict-model"; version 2 where there is a source, else 1 */

hu_status hu_model_write(const hu_model *model, hu_output *out, hu_error *err);
hu_status hu_model_describe(const hu_model *model, json_t *object, hu_error *err); /* all but the trees, terms and scores: what the manifest says */
hu_status hu_model_read(hu_source *source, hu_model **ret_model, hu_error *err);

#endif
