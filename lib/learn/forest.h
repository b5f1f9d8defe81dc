/* forest.h: random forests (Breiman 2001) and extremely randomized trees (Geurts et al. 2006) for regression.
 *
 * Tree t draws from streams of its own under the seed, and everything is summed in the order of the trees; so neither threads nor ranks show in any
 * result. Rows of features are arrays of doubles in the order of training: numbers, or indices of levels, NaN where missing.
 *
 * Sections: training, prediction, out of bag, storing, teams.
 */
#ifndef HU_LEARN_FOREST_H
#define HU_LEARN_FOREST_H

#include "io/bundle.h"
#include "learn/tree.h"

typedef struct {
    int32_t trees, features;
    int64_t *root;      /* [trees + 1] where in node[] each tree begins */
    int64_t *set_root;  /* [trees + 1] and its sets in set[] */
    hu_node *node;
    float *variance;    /* [nodes] of the targets of each leaf, or NULL where all are 0 */
    uint64_t *set;
    int32_t *levels;    /* [features] 0: numbers; else the number of levels */
    double *gain;       /* [features] by which its splits lowered the sum of squares, mean over the trees */
    double least, most; /* of all leaves */
} hu_forest;

/* ---- training */

/* The processes that train together: gather() hands every rank's bytes, in the order of the ranks, to all; the result is freed with hu_free(). */
typedef struct {
    int rank, size;
    void *context;
    hu_status (*gather)(void *context, const void *bytes, int64_t size, void **ret_all, int64_t *ret_size, hu_error *err);
} hu_team;

typedef struct {
    hu_tree_options tree;
    int32_t trees;
    double bag;           /* rows drawn for a tree, as a share of all; 0: all rows, none left out */
    bool replace;         /* with replacement: the bootstrap */
    uint64_t seed;
    const hu_team *team;  /* NULL: this process alone */
} hu_forest_options;

/* Trains on n rows of bins, which are listed in opt_rows (NULL: all of them); y[bins->rows]. Free with hu_forest_free(). */
hu_status hu_forest_train(const hu_bins *bins, const double *y, const int32_t *opt_rows, int64_t n, const hu_forest_options *options,
                          hu_forest **ret_forest, hu_error *err);
void hu_forest_free(hu_forest *forest); /* NULL is allowed */

/* How often tree `tree` sees each of n rows: item i of the list (or of all rows) counts weight[i]. work[n]. */
void hu_forest_bag(const hu_forest_options *options, int32_t tree, int64_t n, int32_t *work, int32_t *weight);

/* ---- prediction */

/* The mean over the trees for each row of x[rows][features]; opt_variance: by the law of total variance, the variance of the trees' predictions plus the
 * mean variance in their leaves. */
hu_status hu_forest_predict(const hu_forest *forest, const double *x, int64_t rows, double *mean, double *opt_variance, hu_error *err);

/* The same for one row, without allocation. */
double hu_forest_predict_row(const hu_forest *forest, const double *x, double *opt_variance);

/* The answer of each tree to one row. */
void hu_forest_predict_row_each(const hu_forest *forest, const double *x, double *each);

/* ---- out of bag: each row by the trees that have not seen it */

/* x[n][features] are the n rows of training in their order. mean[i] is NaN and count[i] 0 where every tree has seen row i. opt_variance as above. */
hu_status hu_forest_oob(const hu_forest *forest, const hu_forest_options *options, const double *x, int64_t n, double *mean,
                        double *opt_variance, int32_t *count, hu_error *err);

/* ---- storing: as members of a bundle whose names begin with prefix */

/* The memory of the forest must stay until the bundle is finished. */
hu_status hu_forest_store(const hu_forest *forest, const char *prefix, hu_bundle_writer *writer, hu_error *err);

/* Takes a forest for `features` columns of levels[features] out of a bundle. Every index is checked: a damaged forest is HU_INPUT. */
hu_status hu_forest_load(const hu_bundle *bundle, const char *prefix, int32_t features, const int32_t *levels, hu_forest **ret_forest, hu_error *err);

#endif
