/* forest_kernel.c: rows walked down a tree. */
#include "config.h"
#include "learn/forest_kernel.h"

/* The next node of one row: its own where it stands on a leaf. */
static inline int32_t step(const hu_node *node, int32_t at, const double *x)
{
    const hu_node *n = node + at;
    int32_t next = n->child + (x[n->feature & HU_NODE_FEATURE] > n->value);
    return n->child ? next : at;
}

static void walk_plain(const hu_node *node, const double *x, int32_t features, int64_t rows, int32_t *leaf)
{
    int64_t row = 0;
    for (; row + HU_ABREAST <= rows; row += HU_ABREAST) {
        int32_t at[HU_ABREAST] = {0};
        const double *mine = x + row * features;
        int32_t moved;
        do {
            moved = 0;
#pragma GCC unroll 8
            for (int k = 0; k < HU_ABREAST; k++) {
                int32_t next = step(node, at[k], mine + k * (int64_t)features);
                moved |= next ^ at[k];
                at[k] = next;
            }
        } while (moved);
        for (int k = 0; k < HU_ABREAST; k++) leaf[row + k] = at[k];
    }
    for (; row < rows; row++) {
        int32_t at = 0;
        while (node[at].child) at = step(node, at, x + row * features);
        leaf[row] = at;
    }
}

/* A missing level has the bit behind the last level; a missing number goes by the node's flag. */
static inline bool goes_right(const hu_node *n, const uint64_t *set, const int32_t *levels, const double *x)
{
    int32_t f = n->feature & HU_NODE_FEATURE;
    double v = x[f];
    if (n->feature & HU_NODE_SET) {
        int64_t level = v == v ? (int64_t)v : levels[f];
        return !(set[(int64_t)n->value + level / 64] >> (level % 64) & 1);
    }
    return v == v ? v > n->value : !(n->feature & HU_NODE_LEFT);
}

void HU_NAME(hu_walk_rows)(const hu_node *node, const uint64_t *set, const int32_t *levels, const double *x, int32_t features, int64_t rows, bool plain, int32_t *leaf)
{
    if (plain) {
        walk_plain(node, x, features, rows, leaf);
        return;
    }
    for (int64_t row = 0; row < rows; row++) {
        int32_t at = 0;
        while (node[at].child) at = node[at].child + goes_right(node + at, set, levels, x + row * features);
        leaf[row] = at;
    }
}

void HU_NAME(hu_walk_trees)(const hu_node *node, const int64_t *root, const double *x, int64_t *leaf)
{
    int32_t at[HU_ABREAST] = {0}, moved;
    do {
        moved = 0;
#pragma GCC unroll 8
        for (int k = 0; k < HU_ABREAST; k++) {
            int32_t next = step(node + root[k], at[k], x);
            moved |= next ^ at[k];
            at[k] = next;
        }
    } while (moved);
    for (int k = 0; k < HU_ABREAST; k++) leaf[k] = root[k] + at[k];
}
