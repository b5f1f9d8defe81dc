/* boost.c: gradient-boosted trees for squared error. */
#include "config.h"
#include "learn/boost.h"
#include "base/memory.h"
#include "learn/forest_build.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const hu_bins *bins;
    const int32_t *rows; /* [n] */
    int64_t n;
    const hu_boost_options *options;
    double *residual;    /* [bins->rows] of the rows listed; 0 elsewhere */
    int32_t *weight, *bag, *work;
    hu_tree_target target;
    hu_grower *grower;
    hu_tree *tree;       /* [trees] */
} boosting;

/* Grows tree `index` on the residuals and takes its shrunk answers off them. */
static hu_status add_tree(boosting *b, int32_t index, hu_error *err)
{
    const hu_boost_options *o = b->options;
    hu_forest_options bag = {.bag = o->share < 1.0 ? o->share : 0.0, .replace = false, .seed = o->seed};
    hu_tree_options growth = {0, o->leaf, o->depth, false};
    hu_tree *tree = &b->tree[index];
    hu_forest_bag(&bag, index, b->n, b->work, b->bag);
    for (int64_t i = 0; i < b->n; i++) b->weight[b->rows[i]] = b->bag[i];
    hu_tree_target_set(b->residual, b->bins->rows, b->n, &b->target);
    if (hu_tree_grow(b->grower, &b->target, b->weight, &growth, hu_random_stream(o->seed, 2 * (uint64_t)index + 1), tree, err)) return err->status;
    for (int64_t i = 0; i < b->n; i++) {
        int64_t row = b->rows[i];
        b->residual[row] -= o->rate * hu_tree_value(tree, b->bins, row);
    }
    return HU_OK;
}

static double mean_of(const boosting *b, const double *y)
{
    double first = y[b->rows[0]], sum = 0.0;
    for (int64_t i = 0; i < b->n; i++) sum += y[b->rows[i]] - first;
    return first + sum / (double)b->n;
}

hu_status hu_boost_train(const hu_bins *bins, const double *y, const int32_t *opt_rows, int64_t n, const hu_boost_options *options,
                         hu_forest **ret_forest, hu_error *err)
{
    boosting b = {.bins = bins, .n = n, .options = options};
    int32_t *list = NULL;
    if (n < 1) return hu_fail(err, HU_INPUT, "there is no row to learn from");
    if (hu_alloc(n, sizeof *list, "boosting", (void **)&list, err) || hu_alloc_zero(bins->rows, sizeof(double), "boosting", (void **)&b.residual, err) ||
        hu_alloc_zero(bins->rows, sizeof(int32_t), "boosting", (void **)&b.weight, err) ||
        hu_alloc(n, sizeof(int32_t), "boosting", (void **)&b.bag, err) || hu_alloc(n, sizeof(int32_t), "boosting", (void **)&b.work, err) ||
        hu_alloc_zero(options->trees, sizeof *b.tree, "boosting", (void **)&b.tree, err) ||
        hu_tree_target_make(b.residual, bins->rows, n, &b.target, err) || hu_grower_open(bins, &b.grower, err))
        goto cleanup;
    for (int64_t i = 0; i < n; i++) list[i] = opt_rows ? opt_rows[i] : (int32_t)i;
    b.rows = list;
    double base = mean_of(&b, y);
    for (int64_t i = 0; i < n; i++) b.residual[list[i]] = y[list[i]] - base;
    for (int32_t t = 0; t < options->trees; t++)
        if (add_tree(&b, t, err)) goto cleanup;
    for (int32_t t = 0; t < options->trees; t++)
        for (int64_t i = 0; i < b.tree[t].count; i++) {
            hu_node *node = &b.tree[t].node[i];
            if (node->child == 0) node->value = base + options->rate * options->trees * node->value;
            b.tree[t].variance[i] = 0.0f;
        }
    hu_forest_join(bins, b.tree, options->trees, ret_forest, err);
cleanup:
    for (int32_t t = 0; b.tree && t < options->trees; t++) hu_tree_free(&b.tree[t]);
    hu_grower_close(b.grower);
    hu_tree_target_free(&b.target);
    hu_free(b.tree);
    hu_free(b.work);
    hu_free(b.bag);
    hu_free(b.weight);
    hu_free(b.residual);
    hu_free(list);
    return err->status;
}
