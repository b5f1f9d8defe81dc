/* learner.h: the forest that active sampling asks: trained again at each step on what has been measured. */
#ifndef PP_LEARNER_H
#define PP_LEARNER_H

#include "learn/model.h"
#include "score.h"

typedef struct {
    int log;       /* learn the cost (0), its logarithm (1), or what errs less out of bag (-1) */
    int32_t trees;
    uint64_t seed;
} learner_options;

#define LEARNER_DEFAULTS {-1, 64, 1}

typedef struct {
    hu_forest *forest; /* its leaves hold costs, also where it has learnt logarithms */
    bool is_log;
} learner;

/* Trains on a table of costs. The logarithm is taken where all costs are above 0 and the cost itself does not lower the mean relative error out of bag by a
 * tenth, as hu_model_train() does. Free with learner_free(). */
hu_status learner_train(const hu_frame *frame, const learner_options *options, learner *ret_learner, hu_error *err);
void learner_free(learner *learner);

/* The options by which hu_model_train() gives the same trees. */
hu_model_options learner_model_options(const learner *learner, const learner_options *options);

/* mean[n] and sigma[n] of the trees' predictions of the cost of each row of x[n][features]. */
hu_status learner_predict(const learner *learner, const double *x, int64_t n, double *mean, double *sigma, hu_error *err);

#endif
