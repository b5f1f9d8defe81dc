/* survey.c: what is known of a system before it is planned.
 *
 * Sections: rows, a sample of rows, level sets, grids, all together, schemes.
 */
#include "config.h"
#include "survey.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "device/cpu.h"
#include "grid.h"
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sptrsv_feature_names[SPTRSV_FEATURES] = {
    "n",      "nnz",          "mean_row",  "max_row",   "cov_row", "mean_level", "max_level", "cov_level", "dep_dist", "levels",
    "diagonals", "bandwidth", "is_grid",   "bytes_l2",  "bytes_l3", "carry",     "block",     "change",    "scattered", "block_levels",
    "nx",     "ny",           "nz",        "neighbours", "dof",
    "natural_s", "sorted",    "blocks",    "shared",    "chains32", "chains256", "line",      "slab"};

/* What rows cost, in seconds of one Zen 4 core; their ratios matter, not their values. */
static const double entry_time = 0.45e-9, row_time = 1.0e-9, listed_time = 1.2e-9; /* an entry, a row, a row that is listed by number */
static const double miss_time = 5e-9, recurrence_time = 2.5e-9;                    /* a mispredicted branch; a row that waits for the one before */
static const double scattered_time = 0.4e-9, remote_time = 2e-9;                   /* an access out of order; one to a line of another thread */
static const double hop_time = 250e-9, start_time = 3e-6;
const double sptrsv_least_parallel = 100e-6, sptrsv_dense_share = 0.25;
enum { block_rows = 2048, run_lengths = 8 }; /* rows of a block; lengths in a level */

/* ---- rows ------------------------------------------------------------------------------------------------------- */

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

/* Sums are of integers, so that no thread count shows in them. */
static void row_features(const sptrsv_system *a, sptrsv_features *f)
{
    const double one = 0x1p32; /* of the distances */
    int64_t squares = 0, distance = 0, bandwidth = 0, most = 0;
#pragma omp parallel for schedule(static) reduction(+ : squares, distance) reduction(max : bandwidth, most) if (a->n > 100000)
    for (int64_t row = 0; row < a->n; row++) {
        int64_t k = a->count[row] + 1;
        squares += k * k;
        if (k > most) most = k;
        if (a->count[row] == 0) continue;
        const int32_t *col = a->matrix->col + a->first[row];
        int64_t far = llabs(row - col[0]), near = llabs(row - col[(int64_t)(a->count[row] - 1) * a->stride]);
        distance += (int64_t)(one / (double)near);
        if (far > bandwidth) bandwidth = far;
    }
    f->mean_row = f->nnz / f->n;
    f->max_row = (double)most;
    f->cov_row = deviation(f->nnz, (double)squares, f->n);
    f->dep_dist = (double)distance / one / f->n;
    f->bandwidth = (double)bandwidth;
    double bytes = 12.0 * (double)a->nnz + 28 * f->n;
    int64_t l2 = hu_cpu_cache_bytes(2), l3 = hu_cpu_cache_bytes(3);
    f->bytes_l2 = l2 > 0 ? bytes / (double)l2 : 0;
    f->bytes_l3 = l3 > 0 ? bytes / (double)l3 : 0;
}

/* ---- a sample of rows -------------------------------------------------------------------------------------------- */

/* Rows in groups of 64, spread evenly: at most about 4096. */
static void sample_rows(const sptrsv_system *a, sptrsv_features *f)
{
    int64_t samples = 0, carry = 0, block = 0, change = 0;
    difference_set set = {{0}, 0};
    for (int64_t start = 1; start < a->n; start += a->n / 64 + 64)
        for (int64_t step = start; step < start + 64 && step < a->n; step++, samples++) {
            int64_t row = sptrsv_step_row(a, step), before = sptrsv_step_row(a, step - 1), k = a->count[row];
            const int32_t *col = a->matrix->col + a->first[row];
            for (int64_t i = 0; i < k && add_difference(&set, llabs(row - col[i * a->stride])); i++) continue;
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
    f->carry = (double)carry / all;
    f->block = (double)block / all;
    f->change = (double)change / all;
    f->diagonals = set.count;
}

/* What a row of natural order costs beside its entries, on the average. */
static double natural_row(const sptrsv_features *f)
{
    double alone = f->block > sptrsv_dense_share ? 1 - f->block : 1; /* rows of a dense block are worked together: no branch, no wait for the one before */
    return row_time + alone * (f->change * miss_time + f->carry * recurrence_time);
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

static void level_features(const level_facts *fact, int32_t levels, sptrsv_features *f)
{
    double squares = 0, span = 0;
    f->max_level = 0;
    for (int32_t l = 0; l < levels; l++) {
        double nodes = fact[l].nodes;
        squares += nodes * nodes;
        span += fact[l].high - fact[l].low;
        if (nodes > f->max_level) f->max_level = nodes;
    }
    f->levels = levels;
    f->mean_level = f->n / levels;
    f->cov_level = deviation(f->n, squares, levels);
    f->scattered = 1 - f->n / span;
}

/* Seconds of level sets of nodes on some threads; rows on one thread: kind level. Of rows, the features of level sets too. */
static hu_status time_of_levels(const sptrsv_system *a, sptrsv_node node, int32_t rows, int threads, sptrsv_features *f, double *ret_alone,
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
    double row = first ? natural_row(f) : row_time + listed_time;
    for (int64_t i = 0; i < nodes; i++) {
        level_facts *l = &fact[level[i]];
        int64_t from = first ? first[i] : i, to = first ? first[i + 1] : i + 1;
        double t = 0;
        for (int64_t step = from; step < to; step++) t += row + entry_time * a->count[sptrsv_step_row(a, step)];
        l->work += t;
        if (t > l->greatest) l->greatest = t;
        if (l->nodes++ == 0) l->low = (int32_t)from;
        l->high = (int32_t)to;
    }
    double alone = 0, shared_time = start_time, accesses = (double)a->nnz / (double)a->n + 2;
    bool was_narrow = false;
    for (int32_t l = 0; l < levels; l++) {
        const level_facts *at = &fact[l];
        double scattered = first ? 0 : (1 - (double)at->nodes / (at->high - at->low)) * accesses * at->nodes;
        double runs = first ? 0 : miss_time * (at->nodes < run_lengths ? at->nodes : run_lengths);
        double here = at->work + runs + scattered * scattered_time, part = at->work / threads;
        double shared = (part > at->greatest ? part : at->greatest) + runs + scattered * remote_time / threads;
        bool narrow = here - shared < hop_time;
        alone += here;
        shared_time += narrow ? here + (was_narrow ? 0 : hop_time) : shared + hop_time;
        was_narrow = narrow;
    }
    *ret_alone = alone;
    *ret_shared = shared_time;
    if (!first) level_features(fact, levels, f);
cleanup:
    hu_free(first);
    hu_free(level);
    hu_free(fact);
    return err->status;
}

/* ---- grids ------------------------------------------------------------------------------------------------------ */

/* Time of one thread on rows with indices whose rows follow each other in memory, as those of a grid do: 0.55 ns a row and 0.41 ns an entry in
 * the caches; the bytes out of them. */
static double time_of_stream(const sptrsv_system *a)
{
    double n = (double)a->n, entries = (double)a->nnz, bytes = 12 * entries + 28 * n;
    return fmax(0.55e-9 * n + 0.41e-9 * entries, bytes > 24e6 ? bytes / 22e9 : 0);
}

/* A grid's estimates, by the way of the rule: threads share it from twice the least time on. */
static hu_status look_for_grid(const sptrsv_system *a, int threads, sptrsv_survey *s, hu_error *err)
{
    sptrsv_grid_shape shape = {.neighbours = 0};
    sptrsv_tile tile;
    bool is_grid = false;
    if (a->is_complex) return HU_OK;
    if (sptrsv_grid_detect(a, NULL, &is_grid, &shape, NULL, err)) return err->status;
    if (!is_grid) return HU_OK;
    s->f.is_grid = 1;
    s->f.nx = shape.nx;
    s->f.ny = shape.ny;
    s->f.nz = shape.nz;
    s->f.neighbours = shape.neighbours;
    s->f.dof = shape.dof;
    if (shape.neighbours == 0) return HU_OK; /* a diagonal matrix has no indices to spare */
    double line = sptrsv_grid_estimate(&shape, 1, &tile), all = sptrsv_grid_estimate(&shape, threads, &tile);
    s->f.line = line / s->f.natural_s;
    if (tile == SPTRSV_TILE_SLAB) s->f.slab = all / s->f.natural_s;
    double best = sptrsv_grid_estimate(&shape, line >= 2 * sptrsv_least_parallel ? threads : 1, &s->tile);
    s->grid_wins = a->n >= SPTRSV_LEAST_GRID && best < time_of_stream(a);
    return HU_OK;
}

/* ---- all together ----------------------------------------------------------------------------------------------- */

static hu_status look_at_levels(const sptrsv_system *a, int threads, bool chains, sptrsv_features *f, hu_error *err)
{
    double alone, shared;
    f->block_levels = (double)levels_of_blocks(a);
    if (f->block_levels > 0) {
        double misses = miss_time * run_lengths * f->block_levels / block_rows, dense = f->block > sptrsv_dense_share ? 0.6 : 1;
        f->blocks = (f->n * (row_time + listed_time + misses) + entry_time * (double)a->nnz * dense) / f->natural_s;
    }
    if (time_of_levels(a, SPTRSV_NODE_ROW, 1, threads, f, &alone, &shared, err)) return err->status;
    f->sorted = alone / f->natural_s;
    if (threads < 2) return HU_OK;
    f->shared = shared / f->natural_s;
    if (f->carry < 0.5 || !(chains || fmin(1, fmin(f->sorted, isnan(f->blocks) ? 1 : f->blocks)) * f->natural_s >= sptrsv_least_parallel)) return HU_OK;
    if (time_of_levels(a, SPTRSV_NODE_CHAIN, 32, threads, f, &alone, &shared, err)) return err->status;
    f->chains32 = shared / f->natural_s;
    if (time_of_levels(a, SPTRSV_NODE_CHAIN, 256, threads, f, &alone, &shared, err)) return err->status;
    f->chains256 = shared / f->natural_s;
    return HU_OK;
}

bool sptrsv_is_short(double natural_s)
{
    return natural_s < sptrsv_least_parallel / 4;
}

hu_status sptrsv_survey_of(const sptrsv_system *a, int threads, bool allow_grid, sptrsv_look look, sptrsv_survey *s, hu_error *err)
{
    *s = (sptrsv_survey){.threads = threads, .tile = SPTRSV_TILE_SLAB, .is_small = true, .is_short = true};
    sptrsv_features *f = &s->f;
    for (int k = 0; k < SPTRSV_FEATURES; k++) ((double *)f)[k] = NAN;
    f->n = (double)a->n;
    f->nnz = (double)(a->nnz + a->n);
    f->is_grid = f->nx = f->ny = f->nz = f->neighbours = f->dof = 0;
    sample_rows(a, f);
    f->natural_s = f->n * natural_row(f) + entry_time * (double)a->nnz * (f->block > sptrsv_dense_share ? 0.6 : 1);
    if (a->n == 0) return HU_OK;
    s->is_short = sptrsv_is_short(f->natural_s);
    s->is_small = a->n < SPTRSV_LEAST_GRID || s->is_short;
    bool more = look == SPTRSV_LOOK_ALL || (look == SPTRSV_LOOK_MODEL && !s->is_short);
    if (allow_grid && (a->n >= SPTRSV_LEAST_GRID || more) && look_for_grid(a, threads, s, err)) return err->status;
    if (!more && (s->grid_wins || s->is_small || look == SPTRSV_LOOK_MODEL)) return HU_OK;
    s->is_complete = more;
    if (s->is_complete) row_features(a, f);
    return look_at_levels(a, threads, s->is_complete, f, err);
}

/* ---- schemes ---------------------------------------------------------------------------------------------------- */

double sptrsv_survey_estimate(const sptrsv_survey *s, const sptrsv_scheme *scheme)
{
    const sptrsv_features *f = &s->f;
    switch (scheme->kind) {
    case SPTRSV_SERIAL: return 1;
    case SPTRSV_LEVEL: return scheme->node == SPTRSV_NODE_ROW ? f->sorted : scheme->node == SPTRSV_NODE_BLOCK ? f->blocks : NAN;
    case SPTRSV_GRID: return scheme->tile == SPTRSV_TILE_LINE ? f->line : f->slab;
    case SPTRSV_BARRIER: return f->shared;
    case SPTRSV_TASK: break;
    }
    if (scheme->node == SPTRSV_NODE_CHAIN) return scheme->rows < 100 ? f->chains32 : f->chains256;
    return scheme->node == SPTRSV_NODE_ROW ? f->shared : NAN;
}
