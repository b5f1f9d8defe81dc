/* tree.c: one regression tree: targets as integers, the workspace, and the way into the kernel. */
#include "config.h"
#include "learn/tree.h"
#include "base/memory.h"
#include "learn/tree_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- targets ---------------------------------------------------------------------------------------------------- */

void hu_tree_target_set(const double *y, int64_t rows, int64_t total, hu_tree_target *target)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < rows; i++) {
        least = y[i] < least ? y[i] : least;
        most = y[i] > most ? y[i] : most;
    }
    int bits = 59; /* of a target, so that |sum| < 2^60 */
    for (int64_t n = total; n > 1; n = (n + 1) / 2) bits--;
    target->y = y;
    target->centre = rows > 0 ? least / 2 + most / 2 : 0.0;
    double half = rows > 0 ? most / 2 - least / 2 : 0.0;
    target->exponent = half > 0 ? bits - ilogb(half) - 1 : 0;
    if (target->exponent > 2000) target->exponent = 2000; /* subnormal differences */
    for (int64_t i = 0; i < rows; i++) target->q[i] = llrint(ldexp(y[i] - target->centre, target->exponent));
}

hu_status hu_tree_target_make(const double *y, int64_t rows, int64_t total, hu_tree_target *ret_target, hu_error *err)
{
    if (hu_alloc(rows, sizeof *ret_target->q, "targets", (void **)&ret_target->q, err)) return err->status;
    hu_tree_target_set(y, rows, total, ret_target);
    return HU_OK;
}

void hu_tree_target_free(hu_tree_target *target)
{
    hu_free(target->q);
    target->q = NULL;
}

/* ---- the workspace ---------------------------------------------------------------------------------------------- */

static void measure_columns(const hu_bins *b, int64_t *ret_wide, int64_t *ret_list, int64_t *ret_words)
{
    *ret_wide = *ret_words = 0;
    *ret_list = b->narrow_bins + 1;
    for (int32_t f = 0; f < b->features; f++) {
        const hu_bin_column *c = &b->column[f];
        int64_t codes = c->bins + 1;
        if (c->is_wide && codes > *ret_wide) *ret_wide = codes;
        if (c->is_set) *ret_words += (codes + 63) / 64;
    }
    /* a column with missing values has two candidates a bin */
    if (2 * *ret_wide + 2 > *ret_list) *ret_list = 2 * *ret_wide + 2;
    if (2 * HU_BINS_NARROW + 2 > *ret_list) *ret_list = 2 * HU_BINS_NARROW + 2;
}

hu_status hu_grower_open(const hu_bins *b, hu_grower **ret_grower, hu_error *err)
{
    static const char what[] = "workspace of a tree";
    hu_grower *g;
    int64_t wide, list, words;
    if (hu_alloc_zero(1, sizeof *g, what, (void **)&g, err)) return err->status;
    measure_columns(b, &wide, &list, &words);
    g->bins = b;
    g->lanes = (b->stride + b->wide_count + 31) / 32 * 32;
    g->most_list = list;
    int64_t slot_bytes = (int64_t)b->narrow_bins * (int64_t)sizeof(hu_pair) + 1;
    g->slots = (int32_t)(4000000 / slot_bytes);
    g->slots = g->slots < 4 ? 4 : g->slots > HU_SLOTS ? HU_SLOTS : g->slots;
    if (hu_alloc(b->rows, sizeof *g->pair, what, (void **)&g->pair, err) || hu_alloc(b->rows, sizeof *g->order, what, (void **)&g->order, err) ||
        hu_alloc(b->rows, sizeof *g->swap, what, (void **)&g->swap, err) ||
        hu_alloc(g->slots, (size_t)slot_bytes, what, (void **)&g->histogram, err) ||
        hu_alloc_zero(wide, sizeof *g->wide, what, (void **)&g->wide, err) ||
        hu_alloc_zero(wide / 64 + 1, sizeof *g->occupied, what, (void **)&g->occupied, err) ||
        hu_alloc(b->features, sizeof *g->cut, what, (void **)&g->cut, err) || hu_alloc(b->features, sizeof *g->score, what, (void **)&g->score, err) ||
        hu_alloc_zero(HU_SMALL, (size_t)g->lanes * sizeof *g->small_code, what, (void **)&g->small_code, err) ||
        hu_alloc_zero(HU_SMALL, (size_t)g->lanes * sizeof *g->small_mask, what, (void **)&g->small_mask, err) ||
        hu_alloc(list, sizeof *g->left_sum, what, (void **)&g->left_sum, err) ||
        hu_alloc(list, sizeof *g->left_weight, what, (void **)&g->left_weight, err) ||
        hu_alloc(list, sizeof *g->gain, what, (void **)&g->gain, err) || hu_alloc(list, sizeof *g->list_code, what, (void **)&g->list_code, err) ||
        hu_alloc(b->features, sizeof *g->list_end, what, (void **)&g->list_end, err) ||
        hu_alloc(list, sizeof *g->level, what, (void **)&g->level, err) ||
        hu_alloc(list, sizeof *g->level_mean, what, (void **)&g->level_mean, err) ||
        hu_alloc(words, sizeof *g->set_work, what, (void **)&g->set_work, err) ||
        hu_alloc(b->features, sizeof *g->set_at, what, (void **)&g->set_at, err) ||
        hu_alloc(b->features, sizeof *g->draw, what, (void **)&g->draw, err)) {
        hu_grower_close(g);
        return err->status;
    }
    int64_t at = 0;
    g->is_plain = true;
    for (int32_t f = 0; f < b->features; f++) {
        g->is_plain &= !b->column[f].is_set && !b->column[f].has_missing;
        g->set_at[f] = at;
        if (b->column[f].is_set) at += (b->column[f].bins + 64) / 64;
    }
    *ret_grower = g;
    return HU_OK;
}

void hu_grower_close(hu_grower *g)
{
    if (!g) return;
    hu_free(g->pair);
    hu_free(g->order);
    hu_free(g->swap);
    hu_free(g->histogram);
    hu_free(g->wide);
    hu_free(g->occupied);
    hu_free(g->cut);
    hu_free(g->score);
    hu_free(g->small_code);
    hu_free(g->small_mask);
    hu_free(g->left_sum);
    hu_free(g->left_weight);
    hu_free(g->gain);
    hu_free(g->list_code);
    hu_free(g->list_end);
    hu_free(g->level);
    hu_free(g->level_mean);
    hu_free(g->set_work);
    hu_free(g->set_at);
    hu_free(g->draw);
    free(g->stack);
    free(g->active);
    hu_free(g);
}

/* ---- growing ---------------------------------------------------------------------------------------------------- */

hu_status hu_tree_grow(hu_grower *g, const hu_tree_target *target, const int32_t *weight, const hu_tree_options *options, hu_random random,
                       hu_tree *tree, hu_error *err)
{
    int32_t rows = 0, features = g->bins->features;
    int64_t sum = 0, total = 0;
    for (int64_t row = 0; row < g->bins->rows; row++) {
        if (weight[row] <= 0) continue;
        g->order[rows++] = (int32_t)row;
        g->pair[row] = (hu_pair){target->q[row] * weight[row], weight[row]};
        sum += g->pair[row].sum;
        total += weight[row];
    }
    if (hu_grow((void **)&tree->node, &tree->capacity, 2 * (int64_t)rows + 1, sizeof *tree->node, "a tree", err)) return err->status;
    if (hu_grow((void **)&tree->variance, &tree->variance_capacity, 2 * (int64_t)rows + 1, sizeof *tree->variance, "a tree", err))
        return err->status;
    if (!tree->gain && hu_alloc(features, sizeof *tree->gain, "a tree", (void **)&tree->gain, err)) return err->status;
    memset(tree->gain, 0, (size_t)features * sizeof *tree->gain);
    tree->count = tree->set_count = 0;
    if (HU_PICK(hu_tree_grow_rows)(g, target, rows, sum, total, options, random, tree, err)) return err->status;
    for (int32_t f = 0; f < features; f++) tree->gain[f] = ldexp(tree->gain[f], -2 * target->exponent);
    return HU_OK;
}

void hu_tree_free(hu_tree *tree)
{
    free(tree->node);
    free(tree->variance);
    free(tree->set);
    hu_free(tree->gain);
    *tree = (hu_tree){0};
}

double hu_tree_value(const hu_tree *tree, const hu_bins *bins, int64_t row)
{
    int32_t at = 0;
    while (tree->node[at].child) {
        const hu_node *n = &tree->node[at];
        const hu_bin_column *c = &bins->column[n->feature & HU_NODE_FEATURE];
        int32_t code = hu_bins_code(bins, c, row);
        bool left;
        if (n->feature & HU_NODE_SET) left = tree->set[(int64_t)n->value + code / 64] >> (code % 64) & 1;
        else left = code == c->bins ? (n->feature & HU_NODE_LEFT) != 0 : c->low[code] <= n->value;
        at = n->child + !left;
    }
    return tree->node[at].value;
}
