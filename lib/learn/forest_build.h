/* forest_build.h: trees into a forest; for the modules that grow them (forest.c, boost.c). */
#ifndef HU_LEARN_FOREST_BUILD_H
#define HU_LEARN_FOREST_BUILD_H

#include "learn/forest.h"

/* Copies the trees into a forest. */
hu_status hu_forest_join(const hu_bins *bins, const hu_tree *tree, int32_t trees, hu_forest **ret_forest, hu_error *err);

#endif
