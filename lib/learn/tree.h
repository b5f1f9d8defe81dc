/* tree.h: one regression tree (CART: Breiman, Friedman, Olshen, Stone 1984), grown by exact histograms.
 *
 * A split is the one that lowers the sum of squares most; of splits that are equally good (to 2^-40 of the gain) the one of the lowest feature, then
 * the lowest threshold. Targets are held as 64-bit integers, scaled so that the sum of all of them fits (47 bits for 30000 rows); so every
 * sum of a histogram is exact, no order of summation shows, and equal partitions have equal gains to the bit.
 *
 * Numbers go left where they are <= the threshold, which is the middle between two neighbouring values of the node. Levels without order go
 * by the set of levels whose mean target is low, which is the best of all two-set splits (Fisher 1958; Breiman et al., theorem 4.5). Missing values go the way
 * that lowers the sum of squares more; where a node saw none, with the larger child.
 */
#ifndef HU_LEARN_TREE_H
#define HU_LEARN_TREE_H

#include "base/random.h"
#include "learn/bins.h"

enum {
    HU_NODE_SET = 0x8000,     /* in feature: the split is a set of levels */
    HU_NODE_LEFT = 0x4000,    /* in feature: missing values go left */
    HU_NODE_FEATURE = 0x3fff
};

typedef struct {
    int32_t child;    /* the left child, counted from the tree's first node; the right one is behind it; 0: a leaf */
    uint16_t feature; /* and flags */
    uint16_t words;   /* of the set */
    double value;     /* the threshold; of a set its first word in the tree's sets; of a leaf its mean target */
} hu_node;

typedef struct {
    int32_t mtry;  /* features tried at a split, drawn at random without the constant ones; 0: all */
    int64_t leaf;  /* least weight of a leaf */
    int32_t depth; /* most splits above a leaf; 0: no limit */
    bool extra;    /* thresholds and sets at random, one a feature (Geurts, Ernst, Wehenkel: "Extremely randomized trees", 2006) */
} hu_tree_options;

typedef struct {
    hu_node *node;    /* children behind their parents */
    float *variance;  /* [count] of the targets in a leaf, else 0 */
    int64_t count, capacity, variance_capacity;
    uint64_t *set;    /* bit l of a set's words: level l goes left */
    int64_t set_count, set_capacity;
    double *gain;     /* [features] by which the splits of a feature lowered the sum of squares */
} hu_tree;

/* Targets as scaled integers. */
typedef struct {
    const double *y;
    int64_t *q;       /* round((y - centre) 2^exponent) */
    double centre;
    int exponent;
} hu_tree_target;

/* total is the sum of the weights of all rows, at most, that a tree will see. y[rows] is finite and stays in use. */
hu_status hu_tree_target_make(const double *y, int64_t rows, int64_t total, hu_tree_target *ret_target, hu_error *err);
void hu_tree_target_set(const double *y, int64_t rows, int64_t total, hu_tree_target *target); /* new values in the memory of a made one */
void hu_tree_target_free(hu_tree_target *target);

/* The workspace of one thread. */
typedef struct hu_grower hu_grower;
hu_status hu_grower_open(const hu_bins *bins, hu_grower **ret_grower, hu_error *err);
void hu_grower_close(hu_grower *grower); /* NULL is allowed */

/* Grows a tree on the rows of weight[row] > 0. The numbers drawn are those of the stream `random`. The tree is emptied first, its memory used again;
 * start with a zeroed one. gain[] is set. */
hu_status hu_tree_grow(hu_grower *grower, const hu_tree_target *target, const int32_t *weight, const hu_tree_options *options,
                       hu_random random, hu_tree *tree, hu_error *err);
void hu_tree_free(hu_tree *tree);

/* The leaf's value of a row of the bins that the tree was grown on. */
double hu_tree_value(const hu_tree *tree, const hu_bins *bins, int64_t row);

#endif
