/* forest_kernel.h: rows walked down a tree, built once per instruction set; for forest.c alone. */
#ifndef HU_LEARN_FOREST_KERNEL_H
#define HU_LEARN_FOREST_KERNEL_H

#include "device/level.h"
#include "learn/tree.h"

/* leaf[row] for each of the rows x[rows][features]. plain: the tree has no sets and the rows no missing values. */
HU_LEVELS(void, hu_walk_rows, (const hu_node *node, const uint64_t *set, const int32_t *levels, const double *x, int32_t features, int64_t rows, bool plain, int32_t *leaf));

enum { HU_ABREAST = 8 }; /* walks at once, so that one's loads hide behind the others' */

/* The same for one row and HU_ABREAST trees, which begin at root[]; leaf[] counts from node[]. No sets, no missing values. */
HU_LEVELS(void, hu_walk_trees, (const hu_node *node, const int64_t *root, const double *x, int64_t *leaf));

#endif
