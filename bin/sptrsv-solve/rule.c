/* rule.c: what is known of a pattern, and the scheme that the default rule takes.
 *
 * Sections: features, the rule.
 */
#include "config.h"
#include "grid.h"
#include "plan.h"
#include "schedule.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "device/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- features --------------------------------------------------------------------------------------------------- */

enum { MOST_DIAGONALS = 64 };

/* Counts distinct differences (step - referred step) in a small open table; false once there are more than MOST_DIAGONALS. */
typedef struct {
    int64_t difference[4 * MOST_DIAGONALS];
    int count;
} difference_set;

static bool add_difference(difference_set *set, int64_t d)
{
    uint64_t at = (uint64_t)d * 0x9E3779B97F4A7C15u >> 56;
    while (set->difference[at] != 0 && set->difference[at] != d) at = (at + 1) % (4 * MOST_DIAGONALS);
    if (set->difference[at] == d) return true;
    if (set->count == MOST_DIAGONALS) return false;
    set->difference[at] = d;
    set->count++;
    return true;
}

static double deviation(double sum, double squares, double n)
{
    double mean = sum / n, variance = squares / n - mean * mean;
    return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

static void row_features(const sptrsv_system *a, sptrsv_features *f)
{
    double squares = 0, distance = 0, bandwidth = 0, most = 0;
#pragma omp parallel for schedule(static) reduction(+ : squares, distance) reduction(max : bandwidth, most)
    for (int64_t row = 0; row < a->n; row++) {
        double k = a->count[row] + 1;
        squares += k * k;
        if (k > most) most = k;
        if (a->count[row] == 0) continue;
        const int32_t *col = a->matrix->col + a->first[row];
        double far = (double)llabs(row - col[0]), near = (double)llabs(row - col[(int64_t)(a->count[row] - 1) * a->stride]);
        distance += 1 / near;
        if (far > bandwidth) bandwidth = far;
    }
    f->n = (double)a->n;
    f->nnz = (double)(a->nnz + a->n);
    f->mean_row = f->nnz / f->n;
    f->max_row = most;
    f->cov_row = deviation(f->nnz, squares, f->n);
    f->dep_dist = distance / f->n;
    f->bandwidth = bandwidth;
    difference_set set = {{0}, 0};
    bool few = true;
    for (int64_t row = 0; row < a->n && few; row++) {
        const int32_t *col = a->matrix->col + a->first[row];
        for (int64_t k = 0; k < a->count[row] && few; k++) few = add_difference(&set, llabs(row - col[k * a->stride]));
    }
    f->diagonals = set.count;
}

hu_status sptrsv_features_of(const sptrsv_system *a, sptrsv_features *f, hu_error *err)
{
    int32_t *level = NULL, levels = 0;
    memset(f, 0, sizeof *f);
    if (a->n == 0) return HU_OK;
    row_features(a, f);
    if (sptrsv_levels_of(a, NULL, a->n, &level, &levels, err)) return err->status;
    void *block;
    if (hu_alloc_zero(levels, sizeof(int32_t), "rows of levels", &block, err)) goto cleanup;
    int32_t *rows = block;
    for (int64_t i = 0; i < a->n; i++) rows[level[i]]++;
    double squares = 0;
    for (int32_t l = 0; l < levels; l++) {
        squares += (double)rows[l] * rows[l];
        if (rows[l] > f->max_level) f->max_level = rows[l];
    }
    hu_free(rows);
    f->levels = levels;
    f->mean_level = f->n / levels;
    f->cov_level = deviation(f->n, squares, levels);
    sptrsv_grid_shape shape;
    bool is_grid = false;
    if (!a->is_complex && sptrsv_grid_detect(a, NULL, &is_grid, &shape, NULL, err)) goto cleanup;
    f->is_grid = is_grid;
    double bytes = 12.0 * (double)a->nnz + 28 * f->n;
    int64_t l2 = hu_cpu_cache_bytes(2), l3 = hu_cpu_cache_bytes(3);
    f->bytes_l2 = l2 > 0 ? bytes / (double)l2 : 0;
    f->bytes_l3 = l3 > 0 ? bytes / (double)l3 : 0;
cleanup:
    hu_free(level);
    return err->status;
}

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

/* The rule, in words. A structured grid of 4096 rows or more takes the grid path where its estimate (sptrsv_grid_estimate) is less than that of
 * one thread on rows with indices; short lines inside the caches do not. Otherwise times are estimated from what a row costs (seconds of one
 * Zen 4 core; their ratios matter, not their values), and the least wins.
 *
 *   natural order     a row, its entries, a mispredicted branch where its length is not that of the row before, and the latency of the recurrence
 *                     where it refers to the row before
 *   sorted blocks     2048 rows in natural order, sorted by level and length within: no mispredictions but at the ends of runs, and no
 *                     recurrence; each row is listed
 *   level sets        the same for the whole matrix; where the rows of a level lie scattered, lines of x and b are fetched more than once
 *   tasks of rows     level sets shared among the threads; a hop a level, and where the rows of a level lie scattered, lines of x go back and
 *                     forth between the threads
 *   tasks of chains   runs of at most 32 or 256 rows, each referring to the one before: natural order within, a hop a level of chains, and no
 *                     level takes less time than its greatest chain
 *
 * Levels that gain less than a hop are left to one thread and merged with their like. A plan for several threads must promise to be
 * quicker than the best one for one thread by 30 percent, as other programs want the processors too; below 100 us, or with one thread,
 * there is no such plan; nor on a grid below 200 us. Tasks and sorted rows have indices of 16 bits where differences fit, as they save bandwidth; natural order
 * has 32, which need no decoding. Dense blocks are looked for where a quarter of a sample of the rows continue one. Right-hand sides go eight at a time. */
static const double entry_time = 0.45e-9, row_time = 1.0e-9, listed_time = 1.2e-9; /* an entry, a row, a row that is listed by number */
static const double miss_time = 5e-9, recurrence_time = 2.5e-9;                    /* a mispredicted branch; a row that waits for the one before */
static const double scattered_time = 0.4e-9, remote_time = 2e-9;                   /* an access out of order; one to a line of another thread */
static const double hop_time = 250e-9, start_time = 3e-6, least_parallel = 100e-6, gain_wanted = 1.3;
static const double dense_share = 0.25; /* of rows that continue a dense block, for such blocks to be looked for */
enum { least_grid = 4096, block_rows = 2048, run_lengths = 8 }; /* rows below which a grid is not looked for; of a block; lengths in a level */

/* Of a sample of the rows, the shares that refer to the row before, that continue a dense block, and that have another length than the row before. */
typedef struct {
    double carry, block, change;
} sample;

static sample sample_rows(const sptrsv_system *a)
{
    int64_t samples = 0, carry = 0, block = 0, change = 0;
    for (int64_t start = 1; start < a->n; start += a->n / 64 + 64)
        for (int64_t step = start; step < start + 64 && step < a->n; step++, samples++) {
            int64_t row = sptrsv_step_row(a, step), before = sptrsv_step_row(a, step - 1), k = a->count[row];
            const int32_t *col = a->matrix->col + a->first[row];
            change += a->count[before] != k;
            if (k == 0 || col[(k - 1) * a->stride] != before) continue;
            carry++;
            if (a->count[before] != k - 1) continue;
            const int32_t *other = a->matrix->col + a->first[before];
            bool same = true;
            for (int64_t i = 0; i + 1 < k && same; i++) same = col[i * a->stride] == other[i * a->stride];
            block += same;
        }
    double all = samples ? (double)samples : 1;
    return (sample){(double)carry / all, (double)block / all, (double)change / all};
}

/* What a row of natural order costs beside its entries, on the average. */
static double natural_row(const sample *s)
{
    double alone = s->block > dense_share ? 1 - s->block : 1; /* rows of a dense block are worked together: no branch, no wait for the one before */
    return row_time + alone * (s->change * miss_time + s->carry * recurrence_time);
}

/* Most levels in a block, of eight blocks; -1: too few rows a level to be worth sorting. */
static int64_t levels_of_blocks(const sptrsv_system *a)
{
    int32_t level[block_rows];
    int64_t most = 0, blocks = a->n / block_rows;
    for (int64_t k = 0; k < 8 && blocks > 0; k++) {
        int64_t first = (blocks - 1) * k / 7 * block_rows, low = sptrsv_step_row(a, first), sign = a->ascending ? 1 : -1;
        for (int64_t i = 0; i < block_rows; i++) {
            int64_t row = low + sign * i;
            level[i] = 0;
            for (int64_t j = a->count[row] - 1; j >= 0; j--) {
                int64_t at = sign * (a->matrix->col[a->first[row] + j * a->stride] - low);
                if (at < 0) break;
                if (level[at] >= level[i]) level[i] = level[at] + 1;
            }
            if (level[i] >= most) most = level[i] + 1;
        }
    }
    return blocks > 0 && most < block_rows / 16 ? most : -1;
}

typedef struct {
    double work, greatest;
    int32_t low, high, nodes; /* steps; nodes */
} level_facts;

/* Time of level sets of nodes on some threads; rows on one thread: kind level. */
static hu_status time_of_levels(const sptrsv_system *a, const sample *sampled, sptrsv_node node, int32_t rows, int threads, double *ret_alone,
                                double *ret_shared, hu_error *err)
{
    int32_t *first = NULL, *level = NULL, levels = 0;
    int64_t nodes;
    level_facts *fact = NULL;
    if (sptrsv_nodes_of(a, node, rows, &first, &nodes, err)) return err->status;
    if (sptrsv_levels_of(a, first, nodes, &level, &levels, err)) goto cleanup;
    void *block;
    if (hu_alloc_zero(levels, sizeof *fact, "levels", &block, err)) goto cleanup;
    fact = block;
    double row = first ? natural_row(sampled) : row_time + listed_time;
    for (int64_t i = 0; i < nodes; i++) {
        level_facts *f = &fact[level[i]];
        int64_t from = first ? first[i] : i, to = first ? first[i + 1] : i + 1;
        double t = 0;
        for (int64_t step = from; step < to; step++) t += row + entry_time * a->count[sptrsv_step_row(a, step)];
        f->work += t;
        if (t > f->greatest) f->greatest = t;
        if (f->nodes++ == 0) f->low = (int32_t)from;
        f->high = (int32_t)to;
    }
    double alone = 0, shared_time = start_time, accesses = (double)a->nnz / (double)a->n + 2;
    bool was_narrow = false;
    for (int32_t l = 0; l < levels; l++) {
        const level_facts *f = &fact[l];
        double scattered = first ? 0 : (1 - (double)f->nodes / (f->high - f->low)) * accesses * f->nodes;
        double runs = first ? 0 : miss_time * (f->nodes < run_lengths ? f->nodes : run_lengths);
        double here = f->work + runs + scattered * scattered_time, part = f->work / threads;
        double shared = (part > f->greatest ? part : f->greatest) + runs + scattered * remote_time / threads;
        bool narrow = here - shared < hop_time;
        alone += here;
        shared_time += narrow ? here + (was_narrow ? 0 : hop_time) : shared + hop_time;
        was_narrow = narrow;
    }
    *ret_alone = alone;
    *ret_shared = shared_time;
cleanup:
    hu_free(first);
    hu_free(level);
    hu_free(fact);
    return err->status;
}

/* Time of one thread on rows with indices whose rows follow each other in memory, as those of a grid do: 0.55 ns a row and 0.41 ns an entry in
 * the caches; the bytes out of them. */
static double time_of_stream(const sptrsv_system *a)
{
    double n = (double)a->n, entries = (double)a->nnz, bytes = 12 * entries + 28 * n;
    return fmax(0.55e-9 * n + 0.41e-9 * entries, bytes > 24e6 ? bytes / 22e9 : 0);
}

/* Takes a scheme where its time is less. */
static void offer(sptrsv_scheme *best, double *best_time, double time, sptrsv_kind kind, sptrsv_node node, int32_t rows)
{
    if (time >= *best_time) return;
    *best_time = time;
    best->kind = kind;
    best->node = node;
    best->rows = rows;
    best->index = 16;
    if (node != SPTRSV_NODE_CHAIN) best->super = false;
    if (kind == SPTRSV_TASK) best->merge = (int32_t)(hop_time / entry_time) * 2;
}

hu_status sptrsv_scheme_by_rule(const sptrsv_system *a, sptrsv_precision precision, int threads, bool allow_grid, sptrsv_scheme *ret_scheme,
                                hu_error *err)
{
    (void)precision; /* the times of one precision stand in the same ratios as those of another */
    sample sampled = sample_rows(a);
    *ret_scheme = (sptrsv_scheme){SPTRSV_SERIAL, SPTRSV_FOLD, SPTRSV_NODE_ROW, 1, 0, 32, sampled.block > dense_share, 0, 8, SPTRSV_TILE_SLAB};
    bool is_grid = false;
    sptrsv_grid_shape shape = {.neighbours = 0};
    if (allow_grid && !a->is_complex && a->n >= least_grid && sptrsv_grid_detect(a, NULL, &is_grid, &shape, NULL, err)) return err->status;
    if (shape.neighbours == 0) is_grid = false; /* a diagonal matrix has no indices to spare */
    sptrsv_tile tile = SPTRSV_TILE_LINE;
    int workers = is_grid && sptrsv_grid_estimate(&shape, 1, &tile) >= 2 * least_parallel ? threads : 1;
    if (is_grid && sptrsv_grid_estimate(&shape, workers, &tile) < time_of_stream(a)) {
        ret_scheme->kind = SPTRSV_GRID;
        ret_scheme->tile = tile;
        return HU_OK;
    }
    double rows = (double)a->n, entries = entry_time * (double)a->nnz * (ret_scheme->super ? 0.6 : 1);
    double best = rows * natural_row(&sampled) + entries, alone, shared;
    if (a->n < least_grid || best < least_parallel / 4) return HU_OK; /* nothing to gain that the analysis would not cost */
    int64_t block_levels = levels_of_blocks(a);
    double run_misses = miss_time * run_lengths * (double)block_levels / block_rows;
    if (block_levels > 0) offer(ret_scheme, &best, rows * (row_time + listed_time + run_misses) + entries, SPTRSV_LEVEL, SPTRSV_NODE_BLOCK, block_rows);
    if (time_of_levels(a, &sampled, SPTRSV_NODE_ROW, 1, threads, &alone, &shared, err)) return err->status;
    offer(ret_scheme, &best, alone, SPTRSV_LEVEL, SPTRSV_NODE_ROW, 1);
    if (threads < 2 || best < least_parallel) return HU_OK;
    best /= gain_wanted;
    offer(ret_scheme, &best, shared, SPTRSV_TASK, SPTRSV_NODE_ROW, 1);
    for (int32_t length = 32; length <= 256 && sampled.carry >= 0.5; length *= 8) {
        if (time_of_levels(a, &sampled, SPTRSV_NODE_CHAIN, length, threads, &alone, &shared, err)) return err->status;
        offer(ret_scheme, &best, shared, SPTRSV_TASK, SPTRSV_NODE_CHAIN, length);
    }
    return HU_OK;
}
