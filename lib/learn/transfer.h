/* transfer.h: a model that was learnt on one machine, taken over to another of which few runs are known.
 *
 * With s(x) what the source answers (its logarithm, where the result works on that), the methods are
 *     residual   a + b s(x), by least squares, and a random forest of what that leaves, over the features and s(x)
 *     feature    a random forest of the target over the features and s(x)
 *     weight     w (a + b s(x)) + (1 - w) times a model of the new runs alone; w = 0, 0.1 ... 1
 *     shift      s(x) + the median difference: of logarithms, a factor
 *     alone      a model of the new runs alone, for comparison
 * The idea to keep a model across machines is of Sun et al., "Automated performance modeling of HPC applications using machine learning", IEEE Trans. Computers 69(5), 2020;
 * its exact rule is not public, these are ours.
 */
#ifndef HU_LEARN_TRANSFER_H
#define HU_LEARN_TRANSFER_H

#include "learn/model.h"

typedef enum { HU_TRANSFER_RESIDUAL, HU_TRANSFER_FEATURE, HU_TRANSFER_WEIGHT, HU_TRANSFER_SHIFT, HU_TRANSFER_ALONE, HU_TRANSFER_METHODS } hu_transfer_method;

typedef struct {
    int method;             /* a hu_transfer_method, or -1: the one of least error on rows held out; one takes the place of an earlier one where it errs less by a tenth */
    hu_model_options model; /* of what is learnt of the new runs; kind is that of alone and weight; log is of all */
} hu_transfer_options;

typedef struct {
    hu_transfer_method method;
    double weight;                     /* w of weight */
    double error[HU_TRANSFER_METHODS]; /* on rows held out: relative, or where not all targets are above 0 absolute (RMSE); NaN where not tried */
} hu_transfer_choice;

/* frame: the new runs. Its features are those of the source, in their order; of levels it has all that the source has, and maybe more (table.c of perf-predict makes such
 * frames). The error of each method is measured on rows held out in ten folds, and so is the band of the result. Takes *source, which becomes part of the
 * result or is freed, also on failure: *source is then NULL. Free the result with hu_model_free(). */
hu_status hu_transfer_train(const hu_frame *frame, const char *target, hu_model **source, const hu_transfer_options *options, hu_model **ret_model, hu_transfer_choice *ret_choice,
                            hu_error *err);

const char *hu_transfer_method_name(hu_transfer_method method);

#endif
