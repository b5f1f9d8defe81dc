/* linear.h: sparse linear models: a constant plus weighted terms, each a product of at most two factors of one feature.
 *
 * Factors: a centred and scaled number; the presence of a level; a power times a power of the binary logarithm (the terms of the performance model normal form,
 * Calotoiu et al.: "Using automated performance modeling to find scalability bugs in complex codes", SC'13). Missing values count as the mean. Of features whose
 * numbers are logarithms (frame.h), the lasso takes the logarithm as it takes any number; powers are those of the number itself.
 */
#ifndef HU_LEARN_LINEAR_H
#define HU_LEARN_LINEAR_H

#include "io/bundle.h"
#include "learn/frame.h"

typedef enum { HU_FACTOR_NONE, HU_FACTOR_NUMBER, HU_FACTOR_LEVEL, HU_FACTOR_POWER, HU_FACTOR_POWER_OF_LOG, HU_FACTOR_KINDS } hu_factor_kind;

typedef struct {
    int32_t kind, feature;
    double a, b; /* number: (x - a) b; level: x == a; power: x^a log2(x)^b; power of log: the same of exp(x) */
} hu_factor;

typedef struct {
    double weight;
    hu_factor factor[2];
} hu_term;

typedef struct {
    double constant;
    int64_t terms;
    hu_term *term;
} hu_linear;

/* The lasso (Tibshirani 1996) over all factors and, where pairs says so, the products of any two; of the path of penalties the member is taken that errs
 * least on rows held out in ten folds, which `seed` draws. Learns the n rows of the list (NULL: all) of frame with targets y[frame->rows]. Free with hu_linear_free(). */
hu_status hu_linear_lasso(const hu_frame *frame, const double *y, const int32_t *opt_rows, int64_t n, bool pairs, uint64_t seed,
                          hu_linear **ret_linear, hu_error *err);

/* A constant and up to three terms c x^a log2(x)^b (of Extra-P's exponents) of the listed features, and of products of two of them, chosen by the error of rows left
 * out one at a time; constant and c are not below 0, so that the sum stays positive beyond the table. The features must be positive and known; HU_INPUT names one that is not. */
hu_status hu_linear_pmnf(const hu_frame *frame, const double *y, const int32_t *opt_rows, int64_t n, const int32_t *scale, int32_t scales,
                         hu_linear **ret_linear, hu_error *err);

double hu_linear_value(const hu_linear *linear, const double *x);
void hu_linear_free(hu_linear *linear); /* NULL is allowed */

/* As members of a bundle whose names begin with prefix; the memory must stay until the bundle is finished. Loading checks every index. */
hu_status hu_linear_store(const hu_linear *linear, const char *prefix, hu_bundle_writer *writer, hu_error *err);
hu_status hu_linear_load(const hu_bundle *bundle, const char *prefix, int32_t features, const int32_t *levels, hu_linear **ret_linear, hu_error *err);

#endif
