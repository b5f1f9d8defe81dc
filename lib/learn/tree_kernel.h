/* tree_kernel.h: the growth of a tree, built once per instruction set; for tree.c alone. */
#ifndef HU_LEARN_TREE_KERNEL_H
#define HU_LEARN_TREE_KERNEL_H

#include "device/level.h"
#include "learn/tree.h"

enum {
    HU_SMALL = 8,  /* rows of a node whose every subset is looked at */
    HU_SLOTS = 64  /* histograms kept for nodes that wait, at most */
};

/* Sum of weight times target, and weight: of a row, of a bin. */
typedef struct {
    int64_t sum, weight;
} __attribute__((aligned(16))) hu_pair;

/* A node that waits to be split. */
typedef struct {
    int32_t from, to; /* of order[] */
    int32_t node, depth;
    int32_t slot;     /* its histogram, or -1 */
    int32_t active_count;
    int64_t active_from;
    int64_t sum, weight;
} hu_pending;

/* The best split of a feature. */
typedef struct {
    int32_t code;     /* numbers: codes up to this go left; < 0: the lowest that gives score[] must be looked for (small nodes) */
    bool missing_left;
    double threshold;
    int64_t set;      /* sets: the first word, in grower->set_work */
} hu_cut;

struct hu_grower {
    const hu_bins *bins;
    int32_t lanes;          /* narrow columns, then wide ones, rounded up */
    int32_t slots;
    hu_pair *pair;          /* [rows] */
    int32_t *order, *swap;  /* [rows] */
    hu_pair *histogram;     /* [slots][narrow_bins] */
    int32_t free_slot[HU_SLOTS], free_count;
    hu_pair *wide;          /* [most wide bins], zero between uses */
    uint64_t *occupied;     /* a bit for each of them */
    hu_cut *cut;            /* [features] */
    double *score;          /* [features] gain of each cut; < 0: none */
    bool is_plain;          /* no column has sets or missing values */
    uint16_t *small_code;   /* [HU_SMALL][lanes] */
    uint16_t *small_mask;   /* [HU_SMALL][lanes] */
    int64_t most_list;      /* candidates: of all narrow bins, or of one wide column */
    int64_t *left_sum, *left_weight; /* [most_list] */
    double *gain;           /* [most_list] */
    int32_t *list_code;     /* [most_list] */
    int32_t *list_end;      /* [features] */
    hu_pair *level;         /* [most_list] of a column with sets or missing values */
    double *level_mean;
    uint64_t *set_work;     /* [features' words] the set of each set column's cut */
    int64_t *set_at;        /* [features] where in it */
    hu_pending *stack;
    int64_t stack_count, stack_capacity;
    uint16_t *active;       /* lists of features that are not constant, one for each pair of children on the stack */
    int64_t active_capacity;
    uint16_t *draw;         /* [features] */
};

HU_LEVELS(hu_status, hu_tree_grow_rows,
          (hu_grower *g, const hu_tree_target *target, int32_t rows, int64_t sum, int64_t weight, const hu_tree_options *options,
           hu_random random, hu_tree *tree, hu_error *err));

#endif
