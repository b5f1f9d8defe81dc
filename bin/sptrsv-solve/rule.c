/* rule.c: the scheme that the rule takes, by what a survey found. */
#include "config.h"
#include "survey.h"

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
static const double gain_wanted = 1.3;
enum { task_merge = 1110 }; /* entries: twice what a hop costs */

/* Takes a scheme where its time is less; times are multiples of natural order's. */
static void offer(sptrsv_scheme *best, double *best_time, double time, sptrsv_kind kind, sptrsv_node node, int32_t rows)
{
    if (!(time < *best_time)) return;
    *best_time = time;
    best->kind = kind;
    best->node = node;
    best->rows = rows;
    best->index = 16;
    if (node != SPTRSV_NODE_CHAIN) best->super = false;
    if (kind == SPTRSV_TASK) best->merge = task_merge;
}

void sptrsv_rule_of(const sptrsv_survey *s, sptrsv_scheme *ret_scheme)
{
    const sptrsv_features *f = &s->f;
    *ret_scheme = (sptrsv_scheme){SPTRSV_SERIAL, SPTRSV_FOLD, SPTRSV_NODE_ROW, 1, 0, 32, f->block > sptrsv_dense_share, 0, 8, SPTRSV_TILE_SLAB};
    if (s->grid_wins) {
        ret_scheme->kind = SPTRSV_GRID;
        ret_scheme->tile = s->tile;
        return;
    }
    if (s->is_small) return; /* nothing to gain that the analysis would not cost */
    double best = 1;
    offer(ret_scheme, &best, f->blocks, SPTRSV_LEVEL, SPTRSV_NODE_BLOCK, 2048);
    offer(ret_scheme, &best, f->sorted, SPTRSV_LEVEL, SPTRSV_NODE_ROW, 1);
    if (s->threads < 2 || best * f->natural_s < sptrsv_least_parallel) return;
    best /= gain_wanted;
    offer(ret_scheme, &best, f->shared, SPTRSV_TASK, SPTRSV_NODE_ROW, 1);
    offer(ret_scheme, &best, f->chains32, SPTRSV_TASK, SPTRSV_NODE_CHAIN, 32);
    offer(ret_scheme, &best, f->chains256, SPTRSV_TASK, SPTRSV_NODE_CHAIN, 256);
}

hu_status sptrsv_scheme_by_rule(const sptrsv_system *a, int threads, bool allow_grid, sptrsv_scheme *ret_scheme, hu_error *err)
{
    sptrsv_survey survey;
    if (sptrsv_survey_of(a, threads, allow_grid, SPTRSV_LOOK_RULE, &survey, err)) return err->status;
    sptrsv_rule_of(&survey, ret_scheme);
    return HU_OK;
}
