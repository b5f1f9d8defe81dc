/* test_forest.c: trees and forests against a brute-force search that shares nothing with them but the definition. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "learn/boost.h"
#include "learn/forest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small tables of integers, whose every gain is an exact fraction ------------------------------------------------- */

enum { MOST_ROWS = 400, MOST_FEATURES = 8 };

typedef struct {
    int rows, features;
    int32_t levels[MOST_FEATURES]; /* 0: numbers */
    double x[MOST_FEATURES][MOST_ROWS], y[MOST_ROWS];
    int32_t weight[MOST_ROWS];
} small_table;

static void fill_table(small_table *t, uint64_t seed, int rows, int features, int values, int targets, double missing, bool sets)
{
    hu_random r = hu_random_stream(seed, 1);
    t->rows = rows;
    t->features = features;
    for (int f = 0; f < features; f++) {
        t->levels[f] = sets && f % 2 ? 5 : 0;
        int most = t->levels[f] ? 5 : f == 0 ? 2 : values;
        for (int i = 0; i < rows; i++) t->x[f][i] = hu_random_uniform(&r) < missing ? NAN : (double)hu_random_below(&r, most);
    }
    for (int i = 0; i < rows; i++) {
        t->y[i] = (double)hu_random_below(&r, targets);
        t->weight[i] = 1;
    }
}

static hu_bins *bins_of(const small_table *t)
{
    hu_error err = HU_ERROR_NONE;
    const double *x[MOST_FEATURES];
    hu_bins *bins;
    for (int f = 0; f < t->features; f++) x[f] = t->x[f];
    ck_assert_ok(hu_bins_make(x, t->rows, t->features, t->levels, &bins, &err));
    return bins;
}

static hu_tree grow(const small_table *t, const hu_tree_options *options)
{
    hu_error err = HU_ERROR_NONE;
    hu_bins *bins = bins_of(t);
    hu_tree_target target;
    hu_grower *grower;
    hu_tree tree = {0};
    int64_t total = 0;
    for (int i = 0; i < t->rows; i++) total += t->weight[i];
    ck_assert_ok(hu_tree_target_make(t->y, t->rows, total, &target, &err));
    ck_assert_ok(hu_grower_open(bins, &grower, &err));
    ck_assert_ok(hu_tree_grow(grower, &target, t->weight, options, hu_random_stream(1, 1), &tree, &err));
    hu_grower_close(grower);
    hu_tree_target_free(&target);
    hu_bins_free(bins);
    return tree;
}

/* ---- the brute force: gains as exact fractions ---------------------------------------------------------------------- */

/* (n S_L - n_L S)^2 / (n_L n_R): by how much a split lowers the sum of squares, times n^2 / n. */
typedef struct {
    long long num, den;
} fraction;

static bool greater(fraction a, fraction b)
{
    return (__int128)a.num * b.den > (__int128)b.num * a.den;
}

typedef struct {
    const small_table *t;
    const int *row;
    int n;
    long long weight, sum, leaf;
} node_rows;

static node_rows node_of(const small_table *t, const int *row, int n, long long leaf)
{
    node_rows v = {t, row, n, 0, 0, leaf};
    for (int i = 0; i < n; i++) {
        v.weight += t->weight[row[i]];
        v.sum += (long long)t->weight[row[i]] * (long long)t->y[row[i]];
    }
    return v;
}

/* den 0: the split is not allowed. */
static fraction gain_of(const node_rows *v, const bool *left)
{
    long long w = 0, s = 0;
    for (int i = 0; i < v->n; i++) {
        if (!left[i]) continue;
        w += v->t->weight[v->row[i]];
        s += (long long)v->t->weight[v->row[i]] * (long long)v->t->y[v->row[i]];
    }
    if (w < v->leaf || v->weight - w < v->leaf || w == 0 || w == v->weight) return (fraction){0, 0};
    long long d = v->weight * s - w * v->sum;
    return (fraction){d * d, w * (v->weight - w)};
}

typedef struct {
    fraction gain;
    int feature;
    double below, above; /* of the threshold */
} best_split;

static void offer(const node_rows *v, const bool *left, int f, double below, double above, best_split *best)
{
    fraction gain = gain_of(v, left);
    if (gain.den == 0 || (best->feature >= 0 && !greater(gain, best->gain))) return;
    *best = (best_split){gain, f, below, above};
}

static void try_numbers(const node_rows *v, int f, best_split *best)
{
    bool left[MOST_ROWS];
    const double *x = v->t->x[f];
    double at = -INFINITY;
    for (;;) { /* every value of the node as the last one to go left, in ascending order */
        double next = INFINITY, above = INFINITY;
        bool missing = false;
        for (int i = 0; i < v->n; i++) {
            missing |= isnan(x[v->row[i]]);
            if (x[v->row[i]] > at) next = fmin(next, x[v->row[i]]);
        }
        if (next == INFINITY) return;
        at = next;
        for (int i = 0; i < v->n; i++)
            if (x[v->row[i]] > at) above = fmin(above, x[v->row[i]]);
        for (int missing_left = 0; missing_left <= missing; missing_left++) {
            for (int i = 0; i < v->n; i++) left[i] = isnan(x[v->row[i]]) ? missing_left : x[v->row[i]] <= at;
            offer(v, left, f, at, above, best);
        }
    }
}

static void try_sets(const node_rows *v, int f, best_split *best)
{
    bool left[MOST_ROWS];
    int levels = v->t->levels[f];
    for (int set = 1; set < 1 << (levels + 1); set++) { /* the last bit is for missing ones */
        for (int i = 0; i < v->n; i++) {
            double l = v->t->x[f][v->row[i]];
            left[i] = set >> (isnan(l) ? levels : (int)l) & 1;
        }
        offer(v, left, f, 0, 0, best);
    }
}

static bool goes_left(const hu_tree *tree, const hu_node *n, const small_table *t, int row)
{
    int f = n->feature & HU_NODE_FEATURE;
    double v = t->x[f][row];
    if (n->feature & HU_NODE_SET) {
        int level = isnan(v) ? t->levels[f] : (int)v;
        return tree->set[(int)n->value + level / 64] >> (level % 64) & 1;
    }
    return isnan(v) ? (n->feature & HU_NODE_LEFT) != 0 : v <= n->value;
}

/* Whether the node has a split of the greatest gain that there is, and a leaf only where there is none; so for all below it. */
static void check_node(const hu_tree *tree, int at, const small_table *t, const int *row, int n, const hu_tree_options *o, int depth)
{
    const hu_node *node = &tree->node[at];
    node_rows v = node_of(t, row, n, o->leaf > 1 ? o->leaf : 1);
    best_split best = {{-1, 1}, -1, 0, 0};
    bool pure = true, plain = true;
    for (int i = 1; i < n; i++) pure &= t->y[row[i]] == t->y[row[0]];
    for (int f = 0; f < t->features; f++) {
        for (int i = 0; i < n; i++) plain &= !isnan(t->x[f][row[i]]);
        plain &= t->levels[f] == 0;
    }
    for (int f = 0; f < t->features && !pure && (o->depth <= 0 || depth < o->depth); f++) {
        if (t->levels[f]) try_sets(&v, f, &best);
        else try_numbers(&v, f, &best);
    }
    if (best.feature < 0) {
        ck_assert_msg(node->child == 0, "node %d is split, though it cannot be", at);
        ck_assert_double_eq_tol(node->value, (double)v.sum / (double)v.weight, 1e-12 * fmax(1, fabs(node->value)));
        return;
    }
    ck_assert_msg(node->child > at, "node %d is a leaf, though it can be split", at);
    bool left[MOST_ROWS];
    int *part = malloc((size_t)n * sizeof *part), nl = 0, nr = 0;
    for (int i = 0; i < n; i++) left[i] = goes_left(tree, node, t, row[i]);
    fraction gain = gain_of(&v, left);
    ck_assert_msg(gain.den > 0 && !greater(best.gain, gain) && !greater(gain, best.gain), "node %d: feature %d gains %lld/%lld, not %lld/%lld as feature %d", at,
                  node->feature & HU_NODE_FEATURE, gain.num, gain.den, best.gain.num, best.gain.den, best.feature);
    if (plain) { /* the lowest feature, then the lowest threshold; the middle */
        ck_assert_int_eq(node->feature & HU_NODE_FEATURE, best.feature);
        ck_assert_double_eq(node->value, (best.below + best.above) / 2);
    }
    for (int i = 0; i < n; i++)
        if (left[i]) part[nl++] = row[i];
    for (int i = 0; i < n; i++)
        if (!left[i]) part[nl + nr++] = row[i];
    check_node(tree, node->child, t, part, nl, o, depth + 1);
    check_node(tree, node->child + 1, t, part + nl, nr, o, depth + 1);
    free(part);
}

static void check_tree(const small_table *t, const hu_tree_options *o)
{
    hu_tree tree = grow(t, o);
    int row[MOST_ROWS], n = 0;
    for (int i = 0; i < t->rows; i++)
        if (t->weight[i] > 0) row[n++] = i;
    check_node(&tree, 0, t, row, n, o, 0);
    hu_tree_free(&tree);
}

START_TEST(tree_is_that_of_brute_force)
{
    static small_table t;
    hu_tree_options o = {0, 1, 0, false};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fill_table(&t, seed, 10 + 9 * (int)seed, 4, seed % 2 ? 4 : 200, seed % 3 ? 10 : 1000, 0.0, false);
        check_tree(&t, &o);
    }
}
END_TEST

START_TEST(weights_leaves_and_depth)
{
    static small_table t;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        hu_tree_options o = {0, 1 + (int64_t)seed % 4, seed % 3 ? 0 : 3, false};
        hu_random r = hu_random_stream(seed, 7);
        fill_table(&t, seed, 150, 5, 12, 20, 0.0, false);
        for (int i = 0; i < t.rows; i++) t.weight[i] = (int32_t)hu_random_below(&r, 4);
        check_tree(&t, &o);
    }
}
END_TEST

START_TEST(missing_values_and_sets)
{
    static small_table t;
    hu_tree_options o = {0, 1, 0, false};
    for (uint64_t seed = 1; seed <= 16; seed++) {
        fill_table(&t, seed, 60 + 10 * (int)(seed % 5), 4, seed % 2 ? 6 : 100, 12, seed % 4 ? 0.15 : 0.0, seed % 3 != 0);
        o.leaf = seed % 3 ? 1 : 2; /* with a least leaf the best set of levels need not be the first ones by their means */
        check_tree(&t, &o);
    }
}
END_TEST

/* Gains that are all alike (exclusive or), and two equal columns: the lowest feature. */
START_TEST(ties_go_to_the_lowest_feature)
{
    static small_table t = {.rows = 4, .features = 3, .weight = {1, 1, 1, 1}, .y = {0, 1, 1, 0}};
    hu_tree_options o = {0, 1, 0, false};
    for (int i = 0; i < 4; i++) {
        t.x[0][i] = t.x[1][i] = i / 2;
        t.x[2][i] = i % 2;
    }
    hu_tree tree = grow(&t, &o);
    ck_assert_int_eq(tree.node[0].feature, HU_NODE_LEFT);
    ck_assert_double_eq(tree.node[0].value, 0.5);
    ck_assert_int_eq(tree.count, 7);
    hu_tree_free(&tree);
}
END_TEST

/* Targets whose squares would drown their differences in float or in sum of squares. */
START_TEST(large_offsets_do_not_matter)
{
    static small_table t, shifted;
    hu_tree_options o = {0, 1, 0, false};
    fill_table(&t, 3, 200, 4, 10, 50, 0.0, false);
    shifted = t;
    for (int i = 0; i < t.rows; i++) shifted.y[i] = t.y[i] + 1099511627776.0;
    hu_tree a = grow(&t, &o), b = grow(&shifted, &o);
    ck_assert_int_eq(a.count, b.count);
    for (int i = 0; i < a.count; i++) {
        ck_assert_int_eq(a.node[i].child, b.node[i].child);
        ck_assert_int_eq(a.node[i].feature, b.node[i].feature);
        if (a.node[i].child) ck_assert_double_eq(a.node[i].value, b.node[i].value);
        else ck_assert_double_eq_tol(a.node[i].value, b.node[i].value - 1099511627776.0, 1e-3);
    }
    hu_tree_free(&a);
    hu_tree_free(&b);
}
END_TEST

/* ---- forests --------------------------------------------------------------------------------------------------------- */

static hu_forest *train(const small_table *t, const hu_forest_options *o)
{
    hu_error err = HU_ERROR_NONE;
    hu_bins *bins = bins_of(t);
    hu_forest *forest = NULL;
    ck_assert_ok(hu_forest_train(bins, t->y, NULL, t->rows, o, &forest, &err));
    hu_bins_free(bins);
    return forest;
}

static double *rows_of(const small_table *t)
{
    double *x = malloc((size_t)(t->rows * t->features) * sizeof *x);
    for (int i = 0; i < t->rows; i++)
        for (int f = 0; f < t->features; f++) x[i * t->features + f] = t->x[f][i];
    return x;
}

/* Every tree of a forest is the brute force's on the bag that hu_forest_bag() tells. */
START_TEST(forest_is_rebuilt_from_its_bags)
{
    static small_table t, bag;
    int32_t work[MOST_ROWS];
    hu_forest_options o = {{0, 1, 0, false}, 12, 1.0, true, 5, NULL};
    for (int kind = 0; kind < 2; kind++) {
        o.bag = kind ? 0.6 : 1.0;
        o.replace = !kind;
        fill_table(&t, 11, 120, 4, kind ? 150 : 6, 15, kind ? 0.1 : 0.0, kind);
        hu_forest *forest = train(&t, &o);
        for (int k = 0; k < o.trees; k++) {
            bag = t;
            hu_forest_bag(&o, k, t.rows, work, bag.weight);
            int row[MOST_ROWS], n = 0;
            int64_t total = 0;
            for (int i = 0; i < t.rows; i++) {
                total += bag.weight[i];
                if (bag.weight[i] > 0) row[n++] = i;
            }
            ck_assert_int_eq(total, kind ? 72 : 120);
            hu_tree tree = {.node = forest->node + forest->root[k], .set = forest->set + forest->set_root[k]};
            check_node(&tree, 0, &bag, row, n, &o.tree, 0);
        }
        hu_forest_free(forest);
    }
}
END_TEST

static int leaf_of(const hu_forest *forest, int tree, const small_table *t, int row)
{
    hu_tree view = {.node = forest->node + forest->root[tree], .set = forest->set + forest->set_root[tree]};
    int at = 0;
    while (view.node[at].child) at = view.node[at].child + !goes_left(&view, &view.node[at], t, row);
    return at;
}

/* Mean, law of total variance, and out-of-bag means by their definitions. */
START_TEST(prediction_and_oob_by_definition)
{
    static small_table t;
    hu_error err = HU_ERROR_NONE;
    int32_t work[MOST_ROWS], weight[MOST_ROWS], count[MOST_ROWS];
    double mean[MOST_ROWS], variance[MOST_ROWS], oob[MOST_ROWS], oob_variance[MOST_ROWS];
    hu_forest_options o = {{2, 4, 0, false}, 25, 1.0, true, 9, NULL};
    fill_table(&t, 21, 300, 5, 30, 40, 0.05, true);
    hu_forest *forest = train(&t, &o);
    double *x = rows_of(&t);
    hu_threads_set(3);
    ck_assert_ok(hu_forest_predict(forest, x, t.rows, mean, variance, &err));
    ck_assert_ok(hu_forest_oob(forest, &o, x, t.rows, oob, oob_variance, count, &err));
    for (int i = 0; i < t.rows; i++) {
        double sum = 0, squares = 0, inner = 0, out = 0, row_variance;
        int n = 0;
        for (int k = 0; k < o.trees; k++) {
            int at = leaf_of(forest, k, &t, i);
            double v = forest->node[forest->root[k] + at].value, own = 0, squared = 0, w = 0;
            sum += v;
            squares += v * v;
            hu_forest_bag(&o, k, t.rows, work, weight);
            for (int j = 0; j < t.rows; j++) { /* the variance of the targets in the leaf, from the rows themselves */
                if (weight[j] == 0 || leaf_of(forest, k, &t, j) != at) continue;
                own += weight[j] * t.y[j];
                squared += weight[j] * t.y[j] * t.y[j];
                w += weight[j];
            }
            ck_assert_double_eq_tol(v, own / w, 1e-12 * 40);
            ck_assert(w >= 4);
            inner += squared / w - own / w * (own / w);
            if (weight[i] > 0) continue;
            out += v;
            n++;
        }
        double m = sum / o.trees;
        ck_assert_double_eq_tol(mean[i], m, 1e-11);
        ck_assert_double_eq_tol(variance[i], squares / o.trees - m * m + inner / o.trees, 1e-4 * 1600);
        ck_assert_double_eq(hu_forest_predict_row(forest, x + i * t.features, &row_variance), mean[i]);
        ck_assert_double_eq(row_variance, variance[i]);
        ck_assert_int_eq(count[i], n);
        if (n) ck_assert_double_eq_tol(oob[i], out / n, 1e-11);
        else ck_assert(isnan(oob[i]));
    }
    free(x);
    hu_forest_free(forest);
}
END_TEST

/* Without bags: leaf means of numbers that no order or monotone scale can change. */
START_TEST(invariances)
{
    static small_table t, other;
    hu_forest_options o = {{0, 1, 0, false}, 1, 0.0, false, 1, NULL};
    fill_table(&t, 31, 250, 4, 25, 30, 0.05, false);
    hu_forest *a = train(&t, &o);
    other = t; /* rows backwards, features scaled by a rising function, level by level */
    for (int i = 0; i < t.rows; i++) {
        other.y[i] = t.y[t.rows - 1 - i];
        for (int f = 0; f < t.features; f++) other.x[f][i] = exp(t.x[f][t.rows - 1 - i] / 3);
    }
    hu_forest *b = train(&other, &o);
    double *x = rows_of(&t), *z = rows_of(&other);
    for (int i = 0; i < t.rows; i++) {
        double p = hu_forest_predict_row(a, x + i * t.features, NULL), q = hu_forest_predict_row(b, z + (t.rows - 1 - i) * t.features, NULL);
        ck_assert_double_eq_tol(p, q, 1e-12);
        ck_assert(p >= 0 && p <= 29);
    }
    free(x);
    free(z);
    hu_forest_free(a);
    hu_forest_free(b);
}
END_TEST

START_TEST(threads_give_the_same_bits)
{
    static small_table t;
    hu_forest_options o = {{2, 1, 0, false}, 40, 1.0, true, 3, NULL};
    fill_table(&t, 41, 300, 6, 100, 1000, 0.02, true);
    for (int extra = 0; extra < 2; extra++) {
        o.tree.extra = extra;
        hu_threads_set(1);
        hu_forest *a = train(&t, &o);
        hu_threads_set(7);
        hu_forest *b = train(&t, &o);
        ck_assert_int_eq(a->root[o.trees], b->root[o.trees]);
        ck_assert(memcmp(a->node, b->node, (size_t)a->root[o.trees] * sizeof *a->node) == 0);
        ck_assert(memcmp(a->gain, b->gain, (size_t)t.features * sizeof *a->gain) == 0);
        hu_forest_free(a);
        hu_forest_free(b);
    }
}
END_TEST

/* Constant columns, and only constant columns, with a small mtry: no endless search. */
START_TEST(constant_columns_end)
{
    static small_table t;
    hu_forest_options o = {{1, 1, 0, false}, 5, 0.0, false, 3, NULL};
    fill_table(&t, 51, 100, 6, 9, 100, 0.0, false);
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < t.rows; i++) t.x[f][i] = f == 3 ? i : 7.0;
    hu_forest *forest = train(&t, &o);
    ck_assert_int_ge(forest->root[1], 100); /* column 3 is found every time */
    for (int f = 0; f < 6; f++) ck_assert(f == 3 ? forest->gain[f] > 0 : forest->gain[f] == 0);
    hu_forest_free(forest);
    for (int i = 0; i < t.rows; i++) t.x[3][i] = 1.0;
    forest = train(&t, &o);
    ck_assert_int_eq(forest->root[5], 5);
    hu_forest_free(forest);
}
END_TEST

/* One tree of boosting without shrinkage is the tree; many approach the targets; the prediction is the sum. */
START_TEST(boosting)
{
    static small_table t;
    hu_error err = HU_ERROR_NONE;
    fill_table(&t, 61, 300, 4, 30, 2, 0.0, false);
    for (int i = 0; i < t.rows; i++) t.y[i] = sin(t.x[1][i]) + 0.1 * t.x[2][i] * t.x[3][i];
    hu_bins *bins = bins_of(&t);
    double *x = rows_of(&t), last = INFINITY;
    for (int trees = 1; trees <= 256; trees *= 4) {
        hu_boost_options o = {.trees = trees, .depth = 3, .rate = 0.1, .share = 1.0, .leaf = 1, .seed = 1};
        hu_forest *forest = NULL;
        ck_assert_ok(hu_boost_train(bins, t.y, NULL, t.rows, &o, &forest, &err));
        double error = 0, variance = 0, mean = 0;
        for (int i = 0; i < t.rows; i++) mean += t.y[i] / t.rows;
        for (int i = 0; i < t.rows; i++) variance += pow(t.y[i] - mean, 2);
        for (int i = 0; i < t.rows; i++) error += pow(hu_forest_predict_row(forest, x + i * t.features, NULL) - t.y[i], 2);
        error /= variance;
        ck_assert_double_lt(error, last);
        last = error;
        hu_forest_free(forest);
    }
    ck_assert_double_lt(last, 0.01);
    free(x);
    hu_bins_free(bins);
}
END_TEST

/* ---- storing ---------------------------------------------------------------------------------------------------------- */

static hu_status load(const hu_forest *forest, const int32_t *levels, hu_forest **ret, hu_error *ret_err)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle_writer *w = NULL;
    hu_output *out = NULL;
    hu_source *source = NULL;
    hu_bundle *bundle = NULL;
    const char *bytes;
    size_t size;
    ck_assert_ok(hu_bundle_create("test", 1, 0, &w, &err));
    ck_assert_ok(hu_forest_store(forest, "f", w, &err));
    ck_assert_ok(hu_output_memory("m", &out, &err));
    ck_assert_ok(hu_bundle_finish(&w, HU_BUNDLE_PLAIN, out, &err));
    hu_output_memory_bytes(out, &bytes, &size);
    ck_assert_ok(hu_source_memory("m", bytes, (int64_t)size, &source, &err));
    hu_output_abort(&out);
    ck_assert_ok(hu_bundle_read(source, "test", 1, 1 << 26, &bundle, &err));
    hu_status status = hu_forest_load(bundle, "f", forest->features, levels, ret, &err);
    *ret_err = err;
    hu_bundle_free(bundle);
    hu_source_close(source);
    return status;
}

START_TEST(a_stored_forest_is_the_same_and_a_damaged_one_is_refused)
{
    static small_table t;
    hu_error err = HU_ERROR_NONE;
    hu_forest_options o = {{0, 2, 0, false}, 6, 1.0, true, 3, NULL};
    fill_table(&t, 71, 200, 4, 9, 100, 0.05, true);
    hu_forest *forest = train(&t, &o), *again = NULL;
    ck_assert_ok(load(forest, t.levels, &again, &err));
    double *x = rows_of(&t), v, w;
    for (int i = 0; i < t.rows; i++) {
        ck_assert_double_eq(hu_forest_predict_row(forest, x + i * t.features, &v), hu_forest_predict_row(again, x + i * t.features, &w));
        ck_assert_double_eq(v, w);
    }
    hu_forest_free(again);
    for (int way = 0; way < 6; way++) {
        hu_node *node = forest->node, keep = *node;
        while (way == 5 && !(node->feature & HU_NODE_SET)) node++;
        keep = *node;
        if (way == 0) node->child = -1;
        if (way == 1) node->child = (int32_t)(forest->root[1] - 1);
        if (way == 2) node->feature = 4;
        if (way == 3) node->value = NAN;
        if (way == 4) node->child = INT32_MAX;
        if (way == 5) node->value = 1e9;
        ck_assert_int_eq(load(forest, t.levels, &again, &err), HU_INPUT);
        hu_error_clear(&err);
        *node = keep;
    }
    free(x);
    hu_forest_free(forest);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("learn/forest");
    TCase *c = tcase_create("forest");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, tree_is_that_of_brute_force);
    tcase_add_test(c, weights_leaves_and_depth);
    tcase_add_test(c, missing_values_and_sets);
    tcase_add_test(c, ties_go_to_the_lowest_feature);
    tcase_add_test(c, large_offsets_do_not_matter);
    tcase_add_test(c, forest_is_rebuilt_from_its_bags);
    tcase_add_test(c, prediction_and_oob_by_definition);
    tcase_add_test(c, invariances);
    tcase_add_test(c, threads_give_the_same_bits);
    tcase_add_test(c, constant_columns_end);
    tcase_add_test(c, boosting);
    tcase_add_test(c, a_stored_forest_is_the_same_and_a_damaged_one_is_refused);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
