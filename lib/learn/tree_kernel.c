/* tree_kernel.c: the growth of a tree, one build per instruction set, all with the same bits: built without contraction.
 *
 * What makes it fast: sums and counts of a bin are one 16-byte vector; a pass over the rows of a node adds to the histograms of all its narrow
 * columns; a node's histogram less its smaller child's is its larger child's, exactly, as the sums are integers; columns that have become constant are
 * left out below; for nodes of up to HU_SMALL rows every subset is judged once and all columns are compared at once;
 * columns of many values keep a bitmap of the bins in use.
 *
 * Sections: rows into histograms, candidates, small nodes, sets and missing values, wide columns, one node, growing.
 */
#include "config.h"
#include "learn/tree_kernel.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SAME = 1.0 - 0x1p-40; /* gains nearer than this are equal */
static const double CONSTANT = -2.0, NONE = -1.0; /* instead of a gain */

typedef long long vec2 __attribute__((vector_size(16), may_alias));
typedef uint16_t lane32 __attribute__((vector_size(64), may_alias));

/* What the search for a split knows of its node. mean is the rounded mean target: sums are taken about it. */
typedef struct {
    const int32_t *order;
    int32_t rows;
    int64_t mean, sum, weight, leaf;
} node_view;

static bool is_plain(const hu_bin_column *c)
{
    return !c->is_set && !c->has_missing;
}

/* ---- rows into histograms --------------------------------------------------------------------------------------- */

static void add_rows(const hu_grower *g, const int32_t *order, int32_t rows, const uint16_t *slot, int32_t slots, hu_pair *histogram)
{
    const hu_bins *b = g->bins;
    if (slots == b->narrow_count) {
        for (int32_t i = 0; i < rows; i++) {
            const uint16_t *code = b->narrow + (int64_t)order[i] * b->stride;
            vec2 p = *(const vec2 *)&g->pair[order[i]];
            for (int32_t s = 0; s < slots; s++) *(vec2 *)&histogram[code[s]] += p;
        }
        return;
    }
    for (int32_t i = 0; i < rows; i++) {
        const uint16_t *code = b->narrow + (int64_t)order[i] * b->stride;
        vec2 p = *(const vec2 *)&g->pair[order[i]];
        for (int32_t s = 0; s < slots; s++) *(vec2 *)&histogram[code[slot[s]]] += p;
    }
}

static void subtract_rows(const hu_grower *g, const int32_t *order, int32_t rows, const uint16_t *slot, int32_t slots, hu_pair *histogram)
{
    const hu_bins *b = g->bins;
    for (int32_t i = 0; i < rows; i++) {
        const uint16_t *code = b->narrow + (int64_t)order[i] * b->stride;
        vec2 p = *(const vec2 *)&g->pair[order[i]];
        for (int32_t s = 0; s < slots; s++) *(vec2 *)&histogram[code[slot[s]]] -= p;
    }
}

static hu_pair *histogram_of(const hu_grower *g, int32_t slot)
{
    return g->histogram + (int64_t)slot * g->bins->narrow_bins;
}

/* The columns of narrow[] among the n features of a list. */
static int32_t narrow_slots(const hu_grower *g, const uint16_t *list, int32_t n, uint16_t *ret_slot)
{
    int32_t slots = 0;
    for (int32_t i = 0; i < n; i++) {
        const hu_bin_column *c = &g->bins->column[list[i]];
        ret_slot[slots] = (uint16_t)c->slot;
        slots += !c->is_wide;
    }
    return slots;
}

static void fill_histogram(hu_grower *g, const int32_t *order, int32_t rows, const uint16_t *slot, int32_t slots, hu_pair *histogram)
{
    memset(histogram, 0, (size_t)g->bins->narrow_bins * sizeof *histogram);
    add_rows(g, order, rows, slot, slots, histogram);
}

/* ---- candidates: left sums about the mean and left weights, of one column behind the other ------------------------ */

/* Appends the occupied bins of a narrow column as candidates from `at`; returns the end. The last one leaves nothing to the right. */
static int64_t list_narrow(hu_grower *g, const node_view *v, const hu_pair *bin, int32_t bins, int64_t at)
{
    int64_t sum = 0, weight = 0, mean = v->mean;
    int64_t *left_sum = g->left_sum, *left_weight = g->left_weight;
    int32_t *code = g->list_code;
    for (int32_t k = 0; k < bins; k++) {
        int64_t w = bin[k].weight;
        sum += bin[k].sum - w * mean;
        weight += w;
        left_sum[at] = sum;
        left_weight[at] = weight;
        code[at] = k;
        at += w != 0;
    }
    return at;
}

/* sum_L^2 / w_L + sum_R^2 / w_R: what the split lowers the sum of squares by, as the sum of the node about its mean is (nearly) zero. */
static inline double gain_of(int64_t left_sum, int64_t left_weight, int64_t sum, int64_t weight, int64_t leaf)
{
    double l = (double)left_sum, r = (double)(sum - left_sum);
    int64_t right_weight = weight - left_weight;
    double gain = l * l / (double)left_weight + r * r / (double)right_weight;
    return left_weight < leaf || right_weight < leaf ? -1.0 : gain;
}

static void judge(hu_grower *g, const node_view *v, int64_t from, int64_t to)
{
    const int64_t *left_sum = g->left_sum, *left_weight = g->left_weight;
    double *gain = g->gain;
    int64_t sum = v->sum, weight = v->weight, leaf = v->leaf;
    for (int64_t k = from; k < to; k++) gain[k] = gain_of(left_sum[k], left_weight[k], sum, weight, leaf);
}

/* The first of the candidates that is as good as the best. */
static int64_t pick(const double *gain, int64_t from, int64_t to)
{
    double best = -1.0;
    for (int64_t k = from; k < to; k++) best = gain[k] > best ? gain[k] : best;
    double enough = best * SAME;
    for (int64_t k = from; k < to; k++)
        if (gain[k] >= enough && gain[k] >= 0.0) return k;
    return -1;
}

/* One threshold at random between the least and the greatest value; returns the candidate. */
static int64_t draw_cut(const hu_bin_column *c, const int32_t *code, int64_t from, int64_t to, hu_random *random, double *ret_threshold)
{
    double low = c->low[code[from]], high = c->high[code[to - 1]];
    double t = low + hu_random_uniform(random) * (high - low);
    if (!(t >= low && t < high)) t = low;
    int64_t k = from;
    while (k + 2 < to && c->low[code[k + 1]] <= t) k++;
    *ret_threshold = c->high[code[k]] > t ? c->high[code[k]] : t; /* a bin of several values is not cut */
    return k;
}

static void choose(hu_grower *g, const node_view *v, int32_t f, int64_t from, int64_t to, bool extra, hu_random *random)
{
    hu_cut *cut = &g->cut[f];
    g->score[f] = CONSTANT;
    if (to - from < 2) return;
    cut->threshold = NAN;
    int64_t k = extra ? draw_cut(&g->bins->column[f], g->list_code, from, to, random, &cut->threshold) : pick(g->gain, from, to);
    if (extra) g->score[f] = gain_of(g->left_sum[k], g->left_weight[k], v->sum, v->weight, v->leaf);
    else g->score[f] = k < 0 ? NONE : g->gain[k];
    if (k >= 0) cut->code = g->list_code[k];
}

/* ---- small nodes: every subset once, all columns at once ------------------------------------------------------------- */

static void load_small(hu_grower *g, const node_view *v)
{
    const hu_bins *b = g->bins;
    for (int32_t j = 0; j < v->rows; j++) {
        uint16_t *lane = g->small_code + (int64_t)j * g->lanes;
        memcpy(lane, b->narrow + (int64_t)v->order[j] * b->stride, (size_t)b->stride * sizeof *lane);
        for (int32_t s = 0; s < b->wide_count; s++) lane[b->stride + s] = b->wide[(int64_t)s * b->rows + v->order[j]];
    }
}

/* small_mask[i][lane]: bit j says that row j's code is not above row i's. */
static void compare_small(hu_grower *g, int32_t rows)
{
    int32_t blocks = g->lanes / 32;
    for (int32_t k = 0; k < blocks; k++) {
        const lane32 *code = (const lane32 *)g->small_code + k;
        lane32 *mask = (lane32 *)g->small_mask + k;
        for (int32_t i = 0; i < rows; i++) {
            lane32 mine = code[i * blocks], all = {0};
            for (int32_t j = 0; j < rows; j++) all |= (lane32)(code[j * blocks] <= mine) & (uint16_t)(1u << j);
            mask[i * blocks] = all;
        }
    }
}

/* gain[subset] for all subsets of the rows; that of nothing and of all is NONE. */
static void judge_subsets(const hu_grower *g, const node_view *v, double *gain)
{
    int64_t sum[1 << HU_SMALL], weight[1 << HU_SMALL];
    int32_t last = v->rows - 1, half = 1 << last;
    sum[0] = weight[0] = 0;
    for (int32_t j = 0; j < last; j++) {
        hu_pair p = g->pair[v->order[j]];
        int64_t s = p.sum - p.weight * v->mean, w = p.weight;
        for (int32_t k = 0, bit = 1 << j; k < bit; k++) {
            sum[bit + k] = sum[k] + s;
            weight[bit + k] = weight[k] + w;
        }
    }
    gain[0] = gain[2 * half - 1] = NONE;
    for (int32_t k = 1; k < half; k++) gain[k] = gain_of(sum[k], weight[k], v->sum, v->weight, v->leaf);
    for (int32_t k = 1; k < half; k++) gain[2 * half - 1 - k] = gain[k];
}

static int32_t lane_of(const hu_grower *g, const hu_bin_column *c)
{
    return c->is_wide ? g->bins->stride + c->slot : c->slot;
}

static void try_small(hu_grower *g, const node_view *v, const uint16_t *list, int32_t n)
{
    double gain[1 << HU_SMALL];
    int32_t all = (1 << v->rows) - 1;
    load_small(g, v);
    compare_small(g, v->rows);
    judge_subsets(g, v, gain);
    for (int32_t i = 0; i < n; i++) {
        const hu_bin_column *c = &g->bins->column[list[i]];
        if (!is_plain(c)) continue;
        const uint16_t *mask = g->small_mask + lane_of(g, c);
        double best = NONE;
        for (int32_t j = 0; j < v->rows; j++) best = gain[mask[j * g->lanes]] > best ? gain[mask[j * g->lanes]] : best;
        if (best < 0.0) { /* constant, or no split leaves enough on both sides */
            int32_t common = all;
            for (int32_t j = 0; j < v->rows; j++) common &= mask[j * g->lanes];
            best = common == all ? CONSTANT : NONE;
        }
        g->score[list[i]] = best;
        g->cut[list[i]].code = -1;
    }
}

/* The lowest code of a plain column at which a small node's cut gains its score. */
static void find_small_code(hu_grower *g, const node_view *v, int32_t f)
{
    double gain[1 << HU_SMALL];
    const hu_bin_column *c = &g->bins->column[f];
    int32_t lane = lane_of(g, c), lowest = INT32_MAX;
    judge_subsets(g, v, gain);
    for (int32_t j = 0; j < v->rows; j++) {
        int32_t code = g->small_code[j * g->lanes + lane] - c->offset;
        if (gain[g->small_mask[j * g->lanes + lane]] >= g->score[f] * SAME && code < lowest) lowest = code;
    }
    g->cut[f] = (hu_cut){.code = lowest, .threshold = NAN};
}

/* Of two rows any column that tells them apart makes the same split: the first one does. Returns it, or -1. */
static int32_t split_pair(hu_grower *g, const node_view *v, const uint16_t *list, int32_t n)
{
    const hu_bins *b = g->bins;
    for (int32_t i = 0; i < n; i++) {
        const hu_bin_column *c = &b->column[list[i]];
        int32_t p = hu_bins_code(b, c, v->order[0]), q = hu_bins_code(b, c, v->order[1]);
        if (p == q) continue;
        int64_t w = g->pair[v->order[0]].weight;
        double gain = gain_of(g->pair[v->order[0]].sum - w * v->mean, w, v->sum, v->weight, v->leaf);
        g->cut[list[i]] = (hu_cut){.code = p < q ? p : q, .threshold = NAN};
        g->score[list[i]] = gain;
        return gain < 0.0 ? -1 : list[i];
    }
    return -1;
}

/* ---- sets and missing values ---------------------------------------------------------------------------------------- */

/* Sorts n levels by their mean target, then by their code. */
static void sort_levels(hu_grower *g, int64_t n)
{
    for (int64_t k = 0; k < n; k++) g->level_mean[k] = (double)g->level[k].sum / (double)g->level[k].weight;
    for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
        for (int64_t i = gap; i < n; i++) {
            double mean = g->level_mean[i];
            hu_pair level = g->level[i];
            int32_t code = g->list_code[i];
            int64_t k = i;
            for (; k >= gap && (g->level_mean[k - gap] > mean || (g->level_mean[k - gap] == mean && g->list_code[k - gap] > code)); k -= gap) {
                g->level_mean[k] = g->level_mean[k - gap];
                g->level[k] = g->level[k - gap];
                g->list_code[k] = g->list_code[k - gap];
            }
            g->level_mean[k] = mean;
            g->level[k] = level;
            g->list_code[k] = code;
        }
    }
}

/* Writes the set of the first `count` levels of the list; levels that the node has not seen go with the larger child. */
static void write_set(hu_grower *g, const node_view *v, int32_t f, int64_t count, int64_t n, int64_t left_weight)
{
    int32_t codes = g->bins->column[f].bins + 1;
    uint64_t *set = g->set_work + g->set_at[f];
    bool others = 2 * left_weight >= v->weight;
    memset(set, others ? 0xff : 0, (size_t)((codes + 63) / 64) * sizeof *set);
    for (int64_t k = others ? count : 0; k < (others ? n : count); k++) set[g->list_code[k] / 64] ^= (uint64_t)1 << (g->list_code[k] % 64);
    if (codes % 64) set[codes / 64] &= ((uint64_t)1 << (codes % 64)) - 1;
}

static void try_set(hu_grower *g, const node_view *v, int32_t f, int64_t n, bool extra, hu_random *random)
{
    double *score = &g->score[f];
    if (!extra) sort_levels(g, n);
    int64_t count = 0, best = 0, sum = 0, weight = 0, best_weight = 0;
    *score = NONE;
    if (extra) { /* each level by a coin; the first goes left, the last right where all fell alike */
        for (int64_t k = 0; k < n; k++) {
            bool left = hu_random_u64(random) >> 63 || (k == n - 1 && count == 0);
            if (!left || (k == n - 1 && count == n - 1)) continue;
            hu_pair level = g->level[k];
            int32_t code = g->list_code[k];
            g->level[k] = g->level[count];
            g->list_code[k] = g->list_code[count];
            g->level[count] = level;
            g->list_code[count++] = code;
            sum += level.sum;
            weight += level.weight;
        }
        *score = gain_of(sum, weight, v->sum, v->weight, v->leaf);
        best = count;
        best_weight = weight;
    }
    for (count = 1; !extra && count < n; count++) {
        sum += g->level[count - 1].sum;
        weight += g->level[count - 1].weight;
        double gain = gain_of(sum, weight, v->sum, v->weight, v->leaf);
        if (gain < 0.0 || gain * SAME <= *score) continue;
        *score = gain;
        best = count;
        best_weight = weight;
    }
    if (*score >= 0.0) write_set(g, v, f, best, n, best_weight);
}

/* Numbers of which some are missing: level n - 1 is the missing one where its code says so. */
static void try_missing(hu_grower *g, const node_view *v, int32_t f, int64_t n, bool extra, hu_random *random)
{
    const hu_bin_column *c = &g->bins->column[f];
    hu_cut *cut = &g->cut[f];
    bool missing = g->list_code[n - 1] == c->bins;
    int64_t values = n - missing, sum = 0, weight = 0, only = -1;
    hu_pair lost = missing ? g->level[n - 1] : (hu_pair){0, 0};
    double threshold = NAN;
    if (extra && values > 1) only = draw_cut(c, g->list_code, 0, values, random, &threshold);
    g->score[f] = NONE;
    for (int64_t k = 0; k < values; k++) {
        sum += g->level[k].sum;
        weight += g->level[k].weight;
        if (only >= 0 && k != only) continue;
        for (int left = 0; left <= missing && (k < values - 1 || (missing && !left)); left++) {
            double gain = gain_of(sum + (left ? lost.sum : 0), weight + (left ? lost.weight : 0), v->sum, v->weight, v->leaf);
            if (gain < 0.0 || gain * SAME <= g->score[f]) continue;
            g->score[f] = gain;
            *cut = (hu_cut){.code = g->list_code[k], .missing_left = left, .threshold = threshold};
            if (!missing) cut->missing_left = 2 * weight >= v->weight;
        }
    }
}

/* The n occupied bins stand in level[] and list_code[]. */
static void try_special(hu_grower *g, const node_view *v, int32_t f, int64_t n, bool extra, hu_random *random)
{
    g->score[f] = CONSTANT;
    if (n < 2) return;
    for (int64_t k = 0; k < n; k++) g->level[k].sum -= g->level[k].weight * v->mean;
    if (g->bins->column[f].is_set) try_set(g, v, f, n, extra, random);
    else try_missing(g, v, f, n, extra, random);
}

static int64_t special_narrow(hu_grower *g, const hu_pair *bin, int32_t codes)
{
    int64_t n = 0;
    for (int32_t k = 0; k < codes; k++) {
        g->level[n] = bin[k];
        g->list_code[n] = k;
        n += bin[k].weight != 0;
    }
    return n;
}

/* ---- wide columns ------------------------------------------------------------------------------------------------------ */

/* The occupied bins of a column in order, into level[] and list_code[]. */
static int64_t collect_wide(hu_grower *g, const node_view *v, const hu_bin_column *c)
{
    const uint16_t *code = g->bins->wide + (int64_t)c->slot * g->bins->rows;
    int32_t first = INT32_MAX, last = -1;
    for (int32_t i = 0; i < v->rows; i++) {
        int32_t k = code[v->order[i]], word = k / 64;
        *(vec2 *)&g->wide[k] += *(const vec2 *)&g->pair[v->order[i]];
        g->occupied[word] |= (uint64_t)1 << (k % 64);
        first = word < first ? word : first;
        last = word > last ? word : last;
    }
    int64_t n = 0;
    for (int32_t word = first; word <= last; word++) {
        for (uint64_t bits = g->occupied[word]; bits; bits &= bits - 1) {
            int32_t k = 64 * word + __builtin_ctzll(bits);
            g->level[n] = g->wide[k];
            g->list_code[n++] = k;
            g->wide[k] = (hu_pair){0, 0};
        }
        g->occupied[word] = 0;
    }
    return n;
}

static void try_wide(hu_grower *g, const node_view *v, int32_t f, bool extra, hu_random *random)
{
    const hu_bin_column *c = &g->bins->column[f];
    int64_t n = collect_wide(g, v, c);
    if (!is_plain(c)) {
        try_special(g, v, f, n, extra, random);
        return;
    }
    int64_t sum = 0, weight = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += g->level[k].sum - g->level[k].weight * v->mean;
        weight += g->level[k].weight;
        g->left_sum[k] = sum;
        g->left_weight[k] = weight;
    }
    if (!extra) judge(g, v, 0, n);
    choose(g, v, f, 0, n, extra, random);
}

/* ---- one node ------------------------------------------------------------------------------------------------------------ */

/* Fills cut[] for the features of the list. histogram holds their narrow columns, or is NULL where none is needed. */
static void try_list(hu_grower *g, const node_view *v, const uint16_t *list, int32_t n, bool small, const hu_pair *histogram, bool extra, hu_random *random)
{
    const hu_bins *b = g->bins;
    int64_t at = 0;
    if (small) try_small(g, v, list, n);
    for (int32_t i = 0; i < n && !small; i++) { /* the narrow plain columns together */
        const hu_bin_column *c = &b->column[list[i]];
        if (!c->is_wide && is_plain(c)) at = list_narrow(g, v, histogram + c->offset, c->bins, at);
        g->list_end[i] = (int32_t)at;
    }
    if (!extra) judge(g, v, 0, at);
    for (int32_t i = 0; i < n && !small; i++) {
        const hu_bin_column *c = &b->column[list[i]];
        if (!c->is_wide && is_plain(c)) choose(g, v, list[i], i ? g->list_end[i - 1] : 0, g->list_end[i], extra, random);
    }
    for (int32_t i = 0; i < n; i++) {
        const hu_bin_column *c = &b->column[list[i]];
        if (c->is_wide && !(small && is_plain(c))) try_wide(g, v, list[i], extra, random);
        else if (!c->is_wide && !is_plain(c))
            try_special(g, v, list[i], special_narrow(g, histogram + c->offset, c->bins + c->has_missing), extra, random);
    }
}

static bool needs_histogram(const hu_grower *g, const uint16_t *list, int32_t n, bool small)
{
    for (int32_t i = 0; i < n; i++) {
        const hu_bin_column *c = &g->bins->column[list[i]];
        if (!c->is_wide && (!small || !is_plain(c))) return true;
    }
    return false;
}

/* The feature of the best cut among the n of a list: the lowest of those that are equally good; -1: none. */
static int32_t best_feature(const hu_grower *g, const uint16_t *list, int32_t n)
{
    const double *score = g->score;
    double best = NONE;
    int32_t feature = -1;
    for (int32_t i = 0; i < n; i++) best = score[list[i]] > best ? score[list[i]] : best;
    if (best < 0.0) return -1;
    for (int32_t i = 0; i < n; i++)
        if (score[list[i]] >= best * SAME && (feature < 0 || list[i] < feature)) feature = list[i];
    return feature;
}

/* Tries `mtry` features at random, and more as long as all of them are constant. */
static int32_t split_drawn(hu_grower *g, const node_view *v, const uint16_t *active, int32_t n, int32_t mtry, bool extra, hu_random *random)
{
    bool small = v->rows <= HU_SMALL && !extra;
    uint16_t *draw = g->draw, slot[HU_BINS_FEATURES];
    memcpy(draw, active, (size_t)n * sizeof *draw);
    for (int32_t i = 0; i < n; i++) g->score[active[i]] = NONE; /* not known to be constant */
    for (int32_t from = 0; from < n;) {
        int32_t to = from + mtry < n ? from + mtry : n, varying = 0;
        for (int32_t i = from; i < to; i++) {
            int32_t k = i + (int32_t)hu_random_below(random, n - i);
            uint16_t f = draw[i];
            draw[i] = draw[k];
            draw[k] = f;
        }
        hu_pair *histogram = NULL;
        if (needs_histogram(g, draw + from, to - from, small)) {
            histogram = histogram_of(g, 0);
            fill_histogram(g, v->order, v->rows, slot, narrow_slots(g, draw + from, to - from, slot), histogram);
        }
        try_list(g, v, draw + from, to - from, small, histogram, extra, random);
        for (int32_t i = from; i < to; i++) varying += g->score[draw[i]] != CONSTANT;
        if (varying) return best_feature(g, draw, to);
        from = to;
    }
    return -1;
}

/* Tries all features; *slot is the node's histogram, if it has one, and gets one that its children may use. */
static int32_t split_all(hu_grower *g, const node_view *v, const uint16_t *active, int32_t n, bool extra, int32_t *slot, hu_random *random)
{
    bool small = v->rows <= HU_SMALL && !extra;
    uint16_t list[HU_BINS_FEATURES];
    hu_pair *histogram = NULL;
    if (v->rows == 2 && small && g->is_plain) return split_pair(g, v, active, n);
    if (*slot >= 0) {
        histogram = histogram_of(g, *slot);
    } else if (needs_histogram(g, active, n, small)) {
        if (!small && g->free_count > 0) *slot = g->free_slot[--g->free_count];
        histogram = histogram_of(g, *slot < 0 ? 0 : *slot);
        fill_histogram(g, v->order, v->rows, list, narrow_slots(g, active, n, list), histogram);
    }
    try_list(g, v, active, n, small, histogram, extra, random);
    return best_feature(g, active, n);
}

/* ---- growing --------------------------------------------------------------------------------------------------------------- */

static bool is_pure(const hu_tree_target *target, const int32_t *order, int32_t rows)
{
    int64_t first = target->q[order[0]];
    for (int32_t i = 1; i < rows; i++)
        if (target->q[order[i]] != first) return false;
    return true;
}

static void make_leaf(const hu_grower *g, const hu_tree_target *target, const hu_pending *e, hu_tree *tree)
{
    const int32_t *order = g->order + e->from;
    int32_t rows = e->to - e->from;
    double sum = 0.0, squares = 0.0, weight = (double)e->weight, mean;
    if (rows == 1 || is_pure(target, order, rows)) {
        mean = target->y[order[0]];
    } else {
        for (int32_t i = 0; i < rows; i++) sum += (double)g->pair[order[i]].weight * (target->y[order[i]] - target->centre);
        mean = sum / weight;
        for (int32_t i = 0; i < rows; i++) {
            double d = target->y[order[i]] - target->centre - mean;
            squares += (double)g->pair[order[i]].weight * d * d;
        }
        mean += target->centre;
    }
    tree->node[e->node] = (hu_node){0, 0, 0, mean};
    tree->variance[e->node] = (float)(squares / weight);
}

/* Whether a code goes left. */
static inline bool goes_left(const hu_cut *cut, const uint64_t *set, int32_t code, int32_t missing)
{
    if (set) return set[code / 64] >> (code % 64) & 1;
    return code == missing ? cut->missing_left : code <= cut->code;
}

/* Moves the rows that go left to the front, each side in its order. Returns their number, sum, weight, and the values next to the cut. */
static int32_t partition(hu_grower *g, const hu_pending *e, int32_t f, hu_pair *ret_left, int32_t *ret_below, int32_t *ret_above)
{
    const hu_bin_column *c = &g->bins->column[f];
    const hu_cut *cut = &g->cut[f];
    const uint64_t *set = c->is_set ? g->set_work + g->set_at[f] : NULL;
    const uint16_t *code = c->is_wide ? g->bins->wide + (int64_t)c->slot * g->bins->rows : g->bins->narrow + c->slot;
    int64_t step = c->is_wide ? 1 : g->bins->stride;
    int32_t *order = g->order + e->from, *swap = g->swap, rows = e->to - e->from, left = 0, right = 0, below = -1, above = INT32_MAX;
    int32_t offset = c->is_wide ? 0 : c->offset;
    vec2 sum = {0, 0};
    if (is_plain(c)) {
        for (int32_t i = 0; i < rows; i++) {
            int32_t row = order[i], k = code[row * step] - offset;
            bool go = k <= cut->code;
            order[left] = row;
            swap[right] = row;
            left += go;
            right += !go;
            vec2 p = *(const vec2 *)&g->pair[row];
            sum += p & -(long long)go;
            below = go && k > below ? k : below;
            above = !go && k < above ? k : above;
        }
    } else {
        for (int32_t i = 0; i < rows; i++) {
            int32_t row = order[i], k = code[row * step] - offset;
            if (goes_left(cut, set, k, c->bins)) {
                order[left++] = row;
                sum += *(const vec2 *)&g->pair[row];
                if (k != c->bins && k > below) below = k;
            } else {
                swap[right++] = row;
                if (k != c->bins && k < above) above = k;
            }
        }
    }
    memcpy(order + left, swap, (size_t)right * sizeof *order);
    *ret_left = (hu_pair){sum[0], sum[1]};
    *ret_below = below;
    *ret_above = above;
    return left;
}

static double threshold_of(const hu_bin_column *c, const hu_cut *cut, int32_t below, int32_t above)
{
    if (!isnan(cut->threshold)) return cut->threshold;
    if (above == INT32_MAX) return DBL_MAX; /* only missing values go right */
    double low = c->high[below], high = c->low[above], middle = low / 2 + high / 2;
    return middle >= low && middle < high ? middle : low;
}

static hu_status write_split(const hu_grower *g, hu_tree *tree, int32_t node, int32_t f, int32_t below, int32_t above, bool larger_left, hu_error *err)
{
    const hu_bin_column *c = &g->bins->column[f];
    const hu_cut *cut = &g->cut[f];
    hu_node *n = &tree->node[node];
    *n = (hu_node){(int32_t)tree->count, (uint16_t)f, 0, 0.0};
    tree->variance[node] = 0.0f;
    tree->gain[f] += g->score[f];
    tree->count += 2;
    if (!c->is_set) {
        if (c->has_missing ? cut->missing_left : larger_left) n->feature |= HU_NODE_LEFT;
        n->value = threshold_of(c, cut, below, above);
        return HU_OK;
    }
    int64_t words = (c->bins + 64) / 64;
    if (hu_grow((void **)&tree->set, &tree->set_capacity, tree->set_count + words, sizeof *tree->set, "a tree", err)) return err->status;
    memcpy(tree->set + tree->set_count, g->set_work + g->set_at[f], (size_t)words * sizeof *tree->set);
    n->feature |= HU_NODE_SET;
    n->words = (uint16_t)words;
    n->value = (double)tree->set_count;
    tree->set_count += words;
    return HU_OK;
}

/* Gives the children their histograms out of the parent's: the smaller one's is counted, the larger one's is the rest. */
static void share_histogram(hu_grower *g, int32_t slot, hu_pending *small, hu_pending *large, const uint16_t *active, int32_t n)
{
    uint16_t list[HU_BINS_FEATURES];
    int32_t small_rows = small->to - small->from, slots = narrow_slots(g, active, n, list);
    if (slot < 0) return;
    if (large->to - large->from <= HU_SMALL || slots == 0) {
        g->free_slot[g->free_count++] = slot;
        return;
    }
    large->slot = slot;
    hu_pair *histogram = histogram_of(g, slot);
    if (small_rows > HU_SMALL && g->free_count > 0) {
        small->slot = g->free_slot[--g->free_count];
        hu_pair *part = histogram_of(g, small->slot);
        fill_histogram(g, g->order + small->from, small_rows, list, slots, part);
        for (int32_t k = 0; k < g->bins->narrow_bins; k++) *(vec2 *)&histogram[k] -= *(const vec2 *)&part[k];
    } else {
        subtract_rows(g, g->order + small->from, small_rows, list, slots, histogram);
    }
}

/* The features of e that vary in it: its children's list, behind its own. */
static hu_status list_active(hu_grower *g, const hu_pending *e, int32_t *ret_count, hu_error *err)
{
    int64_t from = e->active_from + e->active_count;
    if (hu_grow((void **)&g->active, &g->active_capacity, from + e->active_count, sizeof *g->active, "workspace of a tree", err)) return err->status;
    int32_t n = 0;
    for (int32_t i = 0; i < e->active_count; i++) {
        uint16_t f = g->active[e->active_from + i];
        g->active[from + n] = f;
        n += g->score[f] != CONSTANT;
    }
    *ret_count = n;
    return HU_OK;
}

static hu_status split(hu_grower *g, const hu_pending *e, int32_t f, int32_t slot, hu_tree *tree, hu_error *err)
{
    hu_pair left;
    int32_t below, above, n = 0;
    int32_t rows = partition(g, e, f, &left, &below, &above);
    int32_t child = (int32_t)tree->count;
    if (write_split(g, tree, e->node, f, below, above, 2 * left.weight >= e->weight, err) || list_active(g, e, &n, err)) return err->status;
    if (hu_grow((void **)&g->stack, &g->stack_capacity, g->stack_count + 2, sizeof *g->stack, "workspace of a tree", err)) return err->status;
    hu_pending *stack = g->stack + g->stack_count;
    int64_t from = e->active_from + e->active_count;
    stack[0] = (hu_pending){e->from + rows, e->to, child + 1, e->depth + 1, -1, n, from, e->sum - left.sum, e->weight - left.weight};
    stack[1] = (hu_pending){e->from, e->from + rows, child, e->depth + 1, -1, n, from, left.sum, left.weight};
    bool left_is_small = 2 * rows <= e->to - e->from;
    share_histogram(g, slot, &stack[left_is_small], &stack[!left_is_small], g->active + from, n);
    g->stack_count += 2;
    return HU_OK;
}

hu_status HU_NAME(hu_tree_grow_rows)(hu_grower *g, const hu_tree_target *target, int32_t rows, int64_t sum, int64_t weight,
                                     const hu_tree_options *options, hu_random random, hu_tree *tree, hu_error *err)
{
    int32_t features = g->bins->features;
    int64_t leaf = options->leaf > 1 ? options->leaf : 1;
    if (hu_grow((void **)&g->active, &g->active_capacity, features, sizeof *g->active, "workspace of a tree", err) ||
        hu_grow((void **)&g->stack, &g->stack_capacity, 2, sizeof *g->stack, "workspace of a tree", err))
        return err->status;
    for (int32_t f = 0; f < features; f++) g->active[f] = (uint16_t)f;
    g->free_count = 0;
    for (int32_t s = g->slots - 1; s > 0; s--) g->free_slot[g->free_count++] = s; /* slot 0 is for nodes whose histogram ends with them */
    g->stack[0] = (hu_pending){0, rows, 0, 0, -1, features, 0, sum, weight};
    g->stack_count = 1;
    tree->count = 1;
    while (g->stack_count > 0) {
        hu_pending e = g->stack[--g->stack_count];
        const int32_t *order = g->order + e.from;
        int32_t n = e.to - e.from, f = -1;
        if (n > 1 && e.weight >= 2 * leaf && (options->depth <= 0 || e.depth < options->depth) && !is_pure(target, order, n)) {
            int64_t mean = e.sum / e.weight - (e.sum % e.weight < 0);
            node_view v = {order, n, mean, e.sum - mean * e.weight, e.weight, leaf};
            const uint16_t *active = g->active + e.active_from;
            if (options->mtry > 0 && options->mtry < e.active_count) f = split_drawn(g, &v, active, e.active_count, options->mtry, options->extra, &random);
            else f = split_all(g, &v, active, e.active_count, options->extra, &e.slot, &random);
            if (f >= 0 && !g->bins->column[f].is_set && g->cut[f].code < 0) find_small_code(g, &v, f);
        }
        if (f < 0) {
            make_leaf(g, target, &e, tree);
            if (e.slot >= 0) g->free_slot[g->free_count++] = e.slot;
        } else if (split(g, &e, f, e.slot, tree, err)) {
            return err->status;
        }
    }
    return HU_OK;
}
