/* boost.h: gradient-boosted trees (Friedman 2001) for squared error, on the trees of the forest. */
#ifndef HU_LEARN_BOOST_H
#define HU_LEARN_BOOST_H

#include "learn/forest.h"

typedef struct {
    int32_t trees, depth;
    double rate;   /* by which each tree's answer is shrunk */
    double share;  /* of the rows, drawn for each tree (Friedman 2002) */
    int64_t leaf;
    uint64_t seed;
} hu_boost_options;

/* Trains on n rows of bins (opt_rows: the list of them). The result predicts as a forest does: its leaves are scaled so that the mean of the trees is the boosted sum;
 * the variance over its trees has no meaning. Free with hu_forest_free(). */
hu_status hu_boost_train(const hu_bins *bins, const double *y, const int32_t *opt_rows, int64_t n, const hu_boost_options *options,
                         hu_forest **ret_forest, hu_error *err);

#endif
