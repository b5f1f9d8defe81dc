/* forest.c: random forests: bags, training by threads and ranks, prediction, out of bag, storing.
 *
 * Sections: bags, training, prediction, out of bag, storing.
 */
#include "config.h"
#include "learn/forest.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "learn/forest_build.h"
#include "learn/forest_kernel.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* ---- bags ------------------------------------------------------------------------------------------------------- */

/* Four 32-bit numbers of a stream at a time. */
typedef struct {
    uint32_t counter[4], key[2], ready[4];
    int left;
} draws;

static draws draws_of(uint64_t seed, uint64_t stream)
{
    return (draws){{0, 0, (uint32_t)stream, (uint32_t)(stream >> 32)}, {(uint32_t)seed, (uint32_t)(seed >> 32)}, {0}, 0};
}

/* 0 .. n - 1 without bias (Lemire: "Fast random integer generation in an interval", 2019). */
static uint32_t draw_below(draws *d, uint32_t n)
{
    uint32_t reject = -n % n;
    for (;;) {
        if (d->left == 0) {
            hu_random_block(d->counter, d->key, d->ready);
            if (++d->counter[0] == 0) d->counter[1]++;
            d->left = 4;
        }
        uint64_t product = (uint64_t)d->ready[--d->left] * n;
        if ((uint32_t)product >= reject) return (uint32_t)(product >> 32);
    }
}

static int64_t bag_size(const hu_forest_options *options, int64_t n)
{
    if (options->bag <= 0) return n;
    int64_t size = llrint(options->bag * (double)n);
    return size < 1 ? 1 : size;
}

enum { STREAMS = 2 }; /* of a tree: its bag, its splits */

void hu_forest_bag(const hu_forest_options *options, int32_t tree, int64_t n, int32_t *work, int32_t *weight)
{
    int64_t size = bag_size(options, n);
    for (int64_t i = 0; i < n; i++) weight[i] = options->bag <= 0 || (!options->replace && size >= n);
    if (options->bag <= 0 || n == 0 || (!options->replace && size >= n)) return;
    draws d = draws_of(options->seed, STREAMS * (uint64_t)tree);
    if (options->replace) {
        for (int64_t i = 0; i < size; i++) weight[draw_below(&d, (uint32_t)n)]++;
        return;
    }
    for (int64_t i = 0; i < n; i++) work[i] = (int32_t)i;
    for (int64_t i = 0; i < size; i++) {
        int64_t k = i + draw_below(&d, (uint32_t)(n - i));
        int32_t row = work[k];
        work[k] = work[i];
        work[i] = row;
        weight[row] = 1;
    }
}

/* ---- training --------------------------------------------------------------------------------------------------- */

typedef struct {
    const hu_bins *bins;
    const int32_t *rows; /* NULL: all */
    int64_t n;
    const hu_forest_options *options;
    hu_tree_target target;
    hu_tree *tree;       /* [trees] */
} training;

static hu_status train_tree(const training *t, int32_t index, hu_grower *grower, int32_t *work, int32_t *bag, int32_t *weight, hu_tree *scratch, hu_error *err)
{
    if (t->rows) {
        hu_forest_bag(t->options, index, t->n, work, bag);
        memset(weight, 0, (size_t)t->bins->rows * sizeof *weight);
        for (int64_t i = 0; i < t->n; i++) weight[t->rows[i]] = bag[i];
    } else {
        hu_forest_bag(t->options, index, t->n, work, weight);
    }
    hu_random random = hu_random_stream(t->options->seed, STREAMS * (uint64_t)index + 1);
    hu_tree *tree = &t->tree[index];
    if (hu_tree_grow(grower, &t->target, weight, &t->options->tree, random, scratch, err)) return err->status;
    /* keep what is used of the scratch tree's memory */
    int64_t features = t->bins->features;
    if (hu_grow((void **)&tree->node, &tree->capacity, scratch->count, sizeof *tree->node, "a tree", err) ||
        hu_grow((void **)&tree->variance, &tree->variance_capacity, scratch->count, sizeof *tree->variance, "a tree", err) ||
        hu_grow((void **)&tree->set, &tree->set_capacity, scratch->set_count, sizeof *tree->set, "a tree", err) ||
        hu_alloc(features, sizeof *tree->gain, "a tree", (void **)&tree->gain, err))
        return err->status;
    memcpy(tree->node, scratch->node, (size_t)scratch->count * sizeof *tree->node);
    memcpy(tree->variance, scratch->variance, (size_t)scratch->count * sizeof *tree->variance);
    if (scratch->set_count) memcpy(tree->set, scratch->set, (size_t)scratch->set_count * sizeof *tree->set);
    memcpy(tree->gain, scratch->gain, (size_t)features * sizeof *tree->gain);
    tree->count = scratch->count;
    tree->set_count = scratch->set_count;
    return HU_OK;
}

static hu_status train_range(const training *t, int64_t from, int64_t to, hu_error *err)
{
    bool failed = false;
    int64_t done = 0;
#pragma omp parallel if (to - from > 1)
    {
        hu_error mine = HU_ERROR_NONE;
        hu_grower *grower = NULL;
        int32_t *work = NULL;
        hu_tree scratch = {0};
        int64_t rows = t->bins->rows;
        bool ready = !hu_grower_open(t->bins, &grower, &mine) && !hu_alloc(3 * rows, sizeof *work, "a bag", (void **)&work, &mine);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = from; i < to; i++) {
            if (ready && mine.status == HU_OK) train_tree(t, (int32_t)i, grower, work, work + rows, work + 2 * rows, &scratch, &mine);
            int64_t now;
#pragma omp atomic capture
            now = ++done;
            if (omp_get_thread_num() == 0) hu_progress("trees", now, to - from);
        }
        if (mine.status != HU_OK) {
#pragma omp critical(hu_forest_failed)
            if (!failed) {
                failed = true;
                *err = mine;
            }
        }
        hu_tree_free(&scratch);
        hu_free(work);
        hu_grower_close(grower);
    }
    hu_progress_end();
    return err->status;
}

/* A tree as bytes: counts, nodes, variances, sets, gains. */
static int64_t packed_size(const hu_tree *tree, int32_t features)
{
    return (int64_t)(2 * sizeof(int64_t)) + tree->count * (int64_t)(sizeof(hu_node) + sizeof(float)) + tree->set_count * 8 + features * 8;
}

static char *put(char *at, const void *from, int64_t bytes)
{
    if (bytes > 0) memcpy(at, from, (size_t)bytes);
    return at + bytes;
}

static char *pack_tree(char *at, const hu_tree *tree, int32_t features)
{
    at = put(at, &tree->count, 8);
    at = put(at, &tree->set_count, 8);
    at = put(at, tree->node, tree->count * (int64_t)sizeof(hu_node));
    at = put(at, tree->variance, tree->count * (int64_t)sizeof(float));
    at = put(at, tree->set, tree->set_count * 8);
    return put(at, tree->gain, features * 8);
}

static hu_status unpack_tree(const char **at, const char *end, int32_t features, hu_tree *tree, hu_error *err)
{
    int64_t counts[2] = {0, 0};
    if (end - *at >= 16) memcpy(counts, *at, 16);
    *at += 16;
    int64_t need = counts[0] * (int64_t)(sizeof(hu_node) + sizeof(float)) + counts[1] * 8 + features * 8;
    if (counts[0] < 1 || end - *at < need) return hu_fail(err, HU_SYSTEM, "another rank sent a damaged tree");
    tree->count = counts[0];
    tree->set_count = counts[1];
    if (hu_grow((void **)&tree->node, &tree->capacity, tree->count, sizeof *tree->node, "a tree", err) ||
        hu_grow((void **)&tree->variance, &tree->variance_capacity, tree->count, sizeof *tree->variance, "a tree", err) ||
        hu_grow((void **)&tree->set, &tree->set_capacity, tree->set_count, sizeof *tree->set, "a tree", err))
        return err->status;
    if (!tree->gain && hu_alloc(features, sizeof *tree->gain, "a tree", (void **)&tree->gain, err)) return err->status;
    const char *p = *at;
    memcpy(tree->node, p, (size_t)tree->count * sizeof(hu_node));
    p += tree->count * (int64_t)sizeof(hu_node);
    memcpy(tree->variance, p, (size_t)tree->count * sizeof(float));
    p += tree->count * (int64_t)sizeof(float);
    if (tree->set_count) memcpy(tree->set, p, (size_t)tree->set_count * 8);
    p += tree->set_count * 8;
    memcpy(tree->gain, p, (size_t)features * 8);
    *at = p + features * 8;
    return HU_OK;
}

/* Every rank gives its trees, from..to, and gets those of all. */
static hu_status share_trees(const training *t, int64_t from, int64_t to, hu_error *err)
{
    const hu_team *team = t->options->team;
    int32_t features = t->bins->features;
    int64_t size = 0, all_size = 0;
    char *bytes = NULL;
    void *all = NULL;
    for (int64_t i = from; i < to; i++) size += packed_size(&t->tree[i], features);
    if (hu_alloc(size, 1, "trees", (void **)&bytes, err)) return err->status;
    char *at = bytes;
    for (int64_t i = from; i < to; i++) at = pack_tree(at, &t->tree[i], features);
    if (team->gather(team->context, bytes, size, &all, &all_size, err)) goto cleanup;
    const char *next = all, *end = next + all_size;
    for (int32_t i = 0; i < t->options->trees; i++)
        if (unpack_tree(&next, end, features, &t->tree[i], err)) goto cleanup;
cleanup:
    hu_free(all);
    hu_free(bytes);
    return err->status;
}

/* What follows from the nodes. */
static void summarise(hu_forest *forest)
{
    double least = INFINITY, most = -INFINITY;
    int varies = 0;
#pragma omp parallel for reduction(min : least) reduction(max : most) reduction(| : varies) schedule(static) if (forest->root[forest->trees] > 100000)
    for (int64_t i = 0; i < forest->root[forest->trees]; i++) {
        if (forest->node[i].child) continue;
        double v = forest->node[i].value;
        least = v < least ? v : least;
        most = v > most ? v : most;
        varies |= forest->variance && forest->variance[i] > 0;
    }
    forest->least = least;
    forest->most = most;
    if (varies) return;
    hu_free(forest->variance);
    forest->variance = NULL;
}

static hu_status new_forest(int32_t trees, int32_t features, hu_forest **ret_forest, hu_error *err)
{
    hu_forest *forest;
    if (hu_alloc_zero(1, sizeof *forest, "a forest", (void **)&forest, err)) return err->status;
    forest->trees = trees;
    forest->features = features;
    if (hu_alloc_zero((int64_t)trees + 1, sizeof *forest->root, "a forest", (void **)&forest->root, err) ||
        hu_alloc_zero((int64_t)trees + 1, sizeof *forest->set_root, "a forest", (void **)&forest->set_root, err) ||
        hu_alloc_zero(features, sizeof *forest->levels, "a forest", (void **)&forest->levels, err) ||
        hu_alloc_zero(features, sizeof *forest->gain, "a forest", (void **)&forest->gain, err)) {
        hu_forest_free(forest);
        return err->status;
    }
    *ret_forest = forest;
    return HU_OK;
}

hu_status hu_forest_join(const hu_bins *bins, const hu_tree *tree, int32_t trees, hu_forest **ret_forest, hu_error *err)
{
    int32_t features = bins->features;
    hu_forest *forest;
    if (new_forest(trees, features, &forest, err)) return err->status;
    for (int32_t f = 0; f < features; f++) forest->levels[f] = bins->column[f].is_set ? bins->column[f].bins : 0;
    for (int32_t i = 0; i < trees; i++) {
        forest->root[i + 1] = forest->root[i] + tree[i].count;
        forest->set_root[i + 1] = forest->set_root[i] + tree[i].set_count;
        for (int32_t f = 0; f < features; f++) forest->gain[f] += tree[i].gain[f] / trees;
    }
    if (hu_alloc(forest->root[trees], sizeof *forest->node, "a forest", (void **)&forest->node, err) ||
        hu_alloc(forest->root[trees], sizeof *forest->variance, "a forest", (void **)&forest->variance, err) ||
        hu_alloc(forest->set_root[trees], sizeof *forest->set, "a forest", (void **)&forest->set, err)) {
        hu_forest_free(forest);
        return err->status;
    }
#pragma omp parallel for schedule(static) if (forest->root[trees] > 100000)
    for (int32_t i = 0; i < trees; i++) {
        memcpy(forest->node + forest->root[i], tree[i].node, (size_t)tree[i].count * sizeof *tree->node);
        memcpy(forest->variance + forest->root[i], tree[i].variance, (size_t)tree[i].count * sizeof *tree->variance);
        if (tree[i].set_count) memcpy(forest->set + forest->set_root[i], tree[i].set, (size_t)tree[i].set_count * 8);
    }
    summarise(forest);
    *ret_forest = forest;
    return HU_OK;
}

hu_status hu_forest_train(const hu_bins *bins, const double *y, const int32_t *rows, int64_t n, const hu_forest_options *options,
                          hu_forest **ret_forest, hu_error *err)
{
    training t = {bins, rows, n, options, {0}, NULL};
    int64_t from = 0, to = options->trees;
    if (n < 1) return hu_fail(err, HU_INPUT, "there is no row to learn from");
    if (hu_tree_target_make(y, bins->rows, bag_size(options, n), &t.target, err)) return err->status;
    if (hu_alloc_zero(options->trees, sizeof *t.tree, "trees", (void **)&t.tree, err)) goto cleanup;
    if (options->team) hu_share(options->trees, options->team->size, options->team->rank, &from, &to);
    if (train_range(&t, from, to, err)) goto cleanup;
    if (options->team && options->team->size > 1 && share_trees(&t, from, to, err)) goto cleanup;
    hu_forest_join(bins, t.tree, options->trees, ret_forest, err);
cleanup:
    for (int32_t i = 0; t.tree && i < options->trees; i++) hu_tree_free(&t.tree[i]);
    hu_free(t.tree);
    hu_tree_target_free(&t.target);
    return err->status;
}

void hu_forest_free(hu_forest *forest)
{
    if (!forest) return;
    hu_free(forest->root);
    hu_free(forest->set_root);
    hu_free(forest->node);
    hu_free(forest->variance);
    hu_free(forest->set);
    hu_free(forest->levels);
    hu_free(forest->gain);
    hu_free(forest);
}

/* ---- prediction ------------------------------------------------------------------------------------------------- */

enum { BLOCK = 4096, ONE = 64 };

static bool has_missing(const double *x, int64_t n)
{
    int any = 0;
    for (int64_t i = 0; i < n; i++) any |= x[i] != x[i];
    return any;
}

static void walk(const hu_forest *forest, int32_t tree, const double *x, int64_t rows, bool plain, int32_t *leaf)
{
    HU_PICK(hu_walk_rows)(forest->node + forest->root[tree], forest->set + forest->set_root[tree], forest->levels, x, forest->features, rows, plain, leaf);
}

static bool is_plain(const hu_forest *forest, const double *x, int64_t rows)
{
    return forest->set_root[forest->trees] == 0 && !has_missing(x, rows * forest->features);
}

/* What a row has gathered: the first tree's value, sums about it, sum of the leaves' variances, and the number of trees. */
typedef struct {
    double first, sum, squares, inner;
    int64_t count;
} tally;

static inline void tally_add(tally *t, double value, double variance)
{
    if (t->count++ == 0) t->first = value;
    double d = value - t->first;
    t->sum += d;
    t->squares += d * d;
    t->inner += variance;
}

static double tally_mean(const hu_forest *forest, const tally *t)
{
    double mean = t->first + t->sum / (double)t->count;
    return mean < forest->least ? forest->least : mean > forest->most ? forest->most : mean;
}

static double tally_variance(const tally *t)
{
    double n = (double)t->count, between = (t->squares - t->sum * t->sum / n) / n;
    return (between > 0 ? between : 0) + t->inner / n;
}

static void predict_block(const hu_forest *forest, const double *x, int64_t rows, int32_t *leaf, tally *t, double *mean, double *variance)
{
    bool plain = is_plain(forest, x, rows);
    memset(t, 0, (size_t)rows * sizeof *t);
    for (int32_t tree = 0; tree < forest->trees; tree++) {
        const hu_node *node = forest->node + forest->root[tree];
        const float *inner = forest->variance ? forest->variance + forest->root[tree] : NULL;
        walk(forest, tree, x, rows, plain, leaf);
        for (int64_t i = 0; i < rows; i++) tally_add(&t[i], node[leaf[i]].value, inner ? (double)inner[leaf[i]] : 0.0);
    }
    for (int64_t i = 0; i < rows; i++) {
        mean[i] = tally_mean(forest, &t[i]);
        if (variance) variance[i] = tally_variance(&t[i]);
    }
}

/* Rows a block: few enough that every thread has some. */
static int64_t block_of(int64_t rows)
{
    int64_t each = (rows + hu_threads() - 1) / hu_threads();
    return each < 16 ? 16 : each < BLOCK ? each : BLOCK;
}

hu_status hu_forest_predict(const hu_forest *forest, const double *x, int64_t rows, double *mean, double *variance, hu_error *err)
{
    int64_t block = block_of(rows), blocks = (rows + block - 1) / block;
    int32_t *leaf;
    tally *t = NULL;
    int threads = blocks < hu_threads() ? (int)blocks : hu_threads();
    if (hu_alloc(threads * block, sizeof *leaf, "predictions", (void **)&leaf, err) || hu_alloc(threads * block, sizeof *t, "predictions", (void **)&t, err))
        goto cleanup;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t from = b * block, n = rows - from < block ? rows - from : block, mine = omp_get_thread_num() * block;
        predict_block(forest, x + from * forest->features, n, leaf + mine, t + mine, mean + from, variance ? variance + from : NULL);
    }
cleanup:
    hu_free(leaf);
    hu_free(t);
    return err->status;
}

/* The leaves of one row in trees from .. from + n - 1, n <= HU_ABREAST, counted from the forest's first node. */
static void walk_one(const hu_forest *forest, int32_t from, int32_t n, const double *x, bool plain, int64_t *leaf)
{
    if (plain && n == HU_ABREAST) {
        HU_PICK(hu_walk_trees)(forest->node, forest->root + from, x, leaf);
        return;
    }
    for (int32_t k = 0; k < n; k++) {
        int32_t at;
        walk(forest, from + k, x, 1, plain, &at);
        leaf[k] = forest->root[from + k] + at;
    }
}

double hu_forest_predict_row(const hu_forest *forest, const double *x, double *variance)
{
    tally t = {0};
    bool plain = is_plain(forest, x, 1);
    for (int32_t from = 0; from < forest->trees; from += HU_ABREAST) {
        int64_t leaf[HU_ABREAST];
        int32_t n = forest->trees - from < HU_ABREAST ? forest->trees - from : HU_ABREAST;
        walk_one(forest, from, n, x, plain, leaf);
        for (int32_t k = 0; k < n; k++) tally_add(&t, forest->node[leaf[k]].value, forest->variance ? (double)forest->variance[leaf[k]] : 0.0);
    }
    if (variance) *variance = tally_variance(&t);
    return tally_mean(forest, &t);
}

void hu_forest_predict_row_each(const hu_forest *forest, const double *x, double *each)
{
    bool plain = is_plain(forest, x, 1);
    for (int32_t from = 0; from < forest->trees; from += HU_ABREAST) {
        int64_t leaf[HU_ABREAST];
        int32_t n = forest->trees - from < HU_ABREAST ? forest->trees - from : HU_ABREAST;
        walk_one(forest, from, n, x, plain, leaf);
        for (int32_t k = 0; k < n; k++) each[from + k] = forest->node[leaf[k]].value;
    }
}

/* ---- out of bag ------------------------------------------------------------------------------------------------- */

/* The bit of row i in the bag of tree t: seen. */
static hu_status list_bags(const hu_forest_options *options, int64_t n, uint64_t **ret_seen, hu_error *err)
{
    int64_t words = (n + 63) / 64;
    int32_t *work;
    if (hu_alloc_zero(options->trees, (size_t)words * 8, "bags", (void **)ret_seen, err)) return err->status;
    if (hu_alloc(hu_threads(), (size_t)n * 2 * sizeof *work, "bags", (void **)&work, err)) return err->status;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < options->trees; t++) {
        int32_t *mine = work + 2 * n * omp_get_thread_num(), *weight = mine + n;
        uint64_t *seen = *ret_seen + t * words;
        hu_forest_bag(options, t, n, mine, weight);
        for (int64_t i = 0; i < n; i++) seen[i / 64] |= (uint64_t)(weight[i] > 0) << (i % 64);
    }
    hu_free(work);
    return HU_OK;
}

/* The rows from..to: those that a tree has not seen are gathered and walked together. */
static void oob_block(const hu_forest *forest, const uint64_t *seen, int64_t words, const double *x, int64_t from, int64_t to, double *gathered,
                      int32_t *which, int32_t *leaf, tally *t)
{
    int32_t features = forest->features;
    bool plain = is_plain(forest, x + from * features, to - from);
    memset(t, 0, (size_t)(to - from) * sizeof *t);
    for (int32_t tree = 0; tree < forest->trees; tree++) {
        const uint64_t *bits = seen + tree * words;
        int32_t n = 0;
        for (int64_t i = from; i < to; i++) {
            which[n] = (int32_t)(i - from);
            n += !(bits[i / 64] >> (i % 64) & 1);
        }
        for (int32_t k = 0; k < n; k++) memcpy(gathered + (int64_t)k * features, x + (from + which[k]) * features, (size_t)features * sizeof *x);
        walk(forest, tree, gathered, n, plain, leaf);
        for (int32_t k = 0; k < n; k++) {
            int64_t at = forest->root[tree] + leaf[k];
            tally_add(&t[which[k]], forest->node[at].value, forest->variance ? (double)forest->variance[at] : 0.0);
        }
    }
}

hu_status hu_forest_oob(const hu_forest *forest, const hu_forest_options *options, const double *x, int64_t n, double *mean, double *variance,
                        int32_t *count, hu_error *err)
{
    int64_t block = block_of(n), blocks = (n + block - 1) / block, words = (n + 63) / 64;
    int threads = blocks < hu_threads() ? (int)blocks : hu_threads();
    uint64_t *seen = NULL;
    int32_t *index = NULL;
    double *gathered = NULL;
    tally *t = NULL;
    if (list_bags(options, n, &seen, err) || hu_alloc(threads * block, 2 * sizeof *index, "out of bag", (void **)&index, err) ||
        hu_alloc(threads * block, (size_t)forest->features * sizeof *gathered, "out of bag", (void **)&gathered, err) ||
        hu_alloc(threads * block, sizeof *t, "out of bag", (void **)&t, err))
        goto cleanup;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t from = b * block, to = from + block < n ? from + block : n, mine = omp_get_thread_num() * block;
        tally *own = t + mine;
        oob_block(forest, seen, words, x, from, to, gathered + mine * forest->features, index + 2 * mine, index + 2 * mine + block, own);
        for (int64_t i = from; i < to; i++) {
            const tally *one = own + (i - from);
            count[i] = (int32_t)one->count;
            mean[i] = one->count ? tally_mean(forest, one) : NAN;
            if (variance) variance[i] = one->count ? tally_variance(one) : NAN;
        }
    }
cleanup:
    hu_free(seen);
    hu_free(index);
    hu_free(gathered);
    hu_free(t);
    return err->status;
}

/* ---- storing ---------------------------------------------------------------------------------------------------- */

/* Members: nodes (records of 16 bytes), roots, set-roots, sets, variance, gain. A bundle wants the bytes of a little-endian machine. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bundles are little-endian: this machine needs a conversion here"
#endif
_Static_assert(sizeof(hu_node) == 16, "a node is a record of 16 bytes");

static const char *member(const char *prefix, const char *name, char buffer[ONE])
{
    snprintf(buffer, ONE, "%s/%s", prefix, name);
    return buffer;
}

hu_status hu_forest_store(const hu_forest *forest, const char *prefix, hu_bundle_writer *w, hu_error *err)
{
    char name[ONE];
    int64_t trees = forest->trees, nodes = forest->root[trees], words = forest->set_root[trees];
    if (hu_bundle_add_array(w, member(prefix, "roots", name), HU_BUNDLE_I8, forest->root, trees + 1, err) ||
        hu_bundle_add(w, member(prefix, "nodes", name), forest->node, nodes * (int64_t)sizeof *forest->node, err) ||
        hu_bundle_add_array(w, member(prefix, "gain", name), HU_BUNDLE_F8, forest->gain, forest->features, err))
        return err->status;
    if (forest->variance && hu_bundle_add_array(w, member(prefix, "variance", name), HU_BUNDLE_F4, forest->variance, nodes, err)) return err->status;
    if (words == 0) return HU_OK;
    if (hu_bundle_add_array(w, member(prefix, "set-roots", name), HU_BUNDLE_I8, forest->set_root, trees + 1, err)) return err->status;
    return hu_bundle_add_array(w, member(prefix, "sets", name), HU_BUNDLE_I8, forest->set, words, err);
}

/* Whether a[0..n] begins with 0, never falls, and ends with last. */
static bool is_partition(const int64_t *a, int64_t n, int64_t last)
{
    if (a[0] != 0 || a[n] != last) return false;
    for (int64_t i = 0; i < n; i++)
        if (a[i] > a[i + 1]) return false;
    return true;
}

static hu_status check_node(const hu_bundle *bundle, const hu_forest *forest, int32_t tree, int64_t at, hu_error *err)
{
    const hu_node *n = &forest->node[forest->root[tree] + at];
    int64_t count = forest->root[tree + 1] - forest->root[tree], words = forest->set_root[tree + 1] - forest->set_root[tree];
    if (!isfinite(n->value)) return hu_bundle_fail(bundle, err, "tree %d, node %lld: its value is not finite", tree, (long long)at);
    if (n->child == 0) return HU_OK;
    if (n->child <= at || n->child >= count - 1)
        return hu_bundle_fail(bundle, err, "tree %d, node %lld: child %d is outside %lld..%lld", tree, (long long)at, n->child, (long long)at + 1, (long long)count - 2);
    int32_t f = n->feature & HU_NODE_FEATURE;
    if (f >= forest->features) return hu_bundle_fail(bundle, err, "tree %d, node %lld: feature %d is outside 0..%d", tree, (long long)at, f, forest->features - 1);
    if (!(n->feature & HU_NODE_SET)) {
        if (forest->levels[f]) return hu_bundle_fail(bundle, err, "tree %d, node %lld: a threshold for levels", tree, (long long)at);
        return HU_OK;
    }
    int64_t need = (forest->levels[f] + 64) / 64;
    if (forest->levels[f] == 0 || n->words != need || !(n->value >= 0 && n->value <= (double)(words - need)) || n->value != floor(n->value))
        return hu_bundle_fail(bundle, err, "tree %d, node %lld: its set is not there", tree, (long long)at);
    return HU_OK;
}

static hu_status load_member(const hu_bundle *bundle, const char *prefix, const char *name, hu_bundle_type type, int64_t count, size_t size, void **ret_items, hu_error *err)
{
    char buffer[ONE];
    const void *items;
    if (hu_bundle_get_exactly(bundle, member(prefix, name, buffer), type, count, &items, err)) return err->status;
    if (hu_alloc(count, size, "a forest", ret_items, err)) return err->status;
    memcpy(*ret_items, items, (size_t)count * size);
    return HU_OK;
}

static hu_status load_sets(const hu_bundle *bundle, const char *prefix, hu_forest *forest, hu_error *err)
{
    char name[ONE];
    const void *items;
    int64_t words, trees = forest->trees;
    if (!hu_bundle_has(bundle, member(prefix, "sets", name))) return hu_alloc(0, sizeof *forest->set, "a forest", (void **)&forest->set, err);
    if (hu_bundle_get_array(bundle, name, HU_BUNDLE_I8, &items, &words, err)) return err->status;
    if (hu_alloc(words, sizeof *forest->set, "a forest", (void **)&forest->set, err)) return err->status;
    memcpy(forest->set, items, (size_t)words * sizeof *forest->set);
    if (hu_bundle_get_exactly(bundle, member(prefix, "set-roots", name), HU_BUNDLE_I8, trees + 1, &items, err)) return err->status;
    memcpy(forest->set_root, items, (size_t)(trees + 1) * sizeof *forest->set_root);
    if (!is_partition(forest->set_root, trees, words)) return hu_bundle_fail(bundle, err, "%s is no partition of the sets", name);
    return HU_OK;
}

static hu_status load_nodes(const hu_bundle *bundle, const char *prefix, hu_forest *forest, hu_error *err)
{
    char name[ONE];
    const void *bytes;
    int64_t size, trees = forest->trees;
    if (hu_bundle_get(bundle, member(prefix, "nodes", name), &bytes, &size, err)) return err->status;
    int64_t nodes = size / (int64_t)sizeof *forest->node;
    if (size % (int64_t)sizeof *forest->node || !is_partition(forest->root, trees, nodes))
        return hu_bundle_fail(bundle, err, "%s/roots is no partition of the nodes", prefix);
    if (hu_alloc(nodes, sizeof *forest->node, "a forest", (void **)&forest->node, err)) return err->status;
    memcpy(forest->node, bytes, (size_t)size);
    for (int32_t t = 0; t < trees; t++)
        if (forest->root[t] == forest->root[t + 1]) return hu_bundle_fail(bundle, err, "tree %d has no node", t);
    if (!hu_bundle_has(bundle, member(prefix, "variance", name))) return HU_OK;
    return load_member(bundle, prefix, "variance", HU_BUNDLE_F4, nodes, sizeof *forest->variance, (void **)&forest->variance, err);
}

hu_status hu_forest_load(const hu_bundle *bundle, const char *prefix, int32_t features, const int32_t *levels, hu_forest **ret_forest, hu_error *err)
{
    char name[ONE];
    const void *roots;
    int64_t count;
    hu_forest *forest = NULL;
    if (hu_bundle_get_array(bundle, member(prefix, "roots", name), HU_BUNDLE_I8, &roots, &count, err)) return err->status;
    if (count < 2 || count > INT32_MAX) return hu_bundle_fail(bundle, err, "%s: there is no tree", name);
    if (new_forest((int32_t)(count - 1), features, &forest, err)) return err->status;
    memcpy(forest->root, roots, (size_t)count * sizeof *forest->root);
    memcpy(forest->levels, levels, (size_t)features * sizeof *levels);
    hu_free(forest->gain);
    forest->gain = NULL;
    if (load_member(bundle, prefix, "gain", HU_BUNDLE_F8, features, sizeof *forest->gain, (void **)&forest->gain, err) ||
        load_nodes(bundle, prefix, forest, err) || load_sets(bundle, prefix, forest, err))
        goto failed;
    for (int32_t t = 0; t < forest->trees; t++)
        for (int64_t at = 0; at < forest->root[t + 1] - forest->root[t]; at++)
            if (check_node(bundle, forest, t, at, err)) goto failed;
    summarise(forest);
    *ret_forest = forest;
    return HU_OK;
failed:
    hu_forest_free(forest);
    return err->status;
}
