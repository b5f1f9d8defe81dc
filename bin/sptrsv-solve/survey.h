/* survey.h: what is known of a system before it is planned: the features that a scheme is chosen by, and estimates of what kinds of schemes would take.
 *
 * Nothing here is measured: the same system, machine and thread count give the same numbers, whatever else the machine does.
 *
 * Sections: features, schemes.
 */
#ifndef SPTRSV_SURVEY_H
#define SPTRSV_SURVEY_H

#include "scheme.h"
#include "system.h"

/* The first ten are AG-SpTRSV's, the rest ours. Columns of --bench, in this order; NaN: not looked at, a missing value there. */
typedef struct {
    double n, nnz, mean_row, max_row, cov_row;               /* nnz counts the diagonal; cov: standard deviation / mean */
    double mean_level, max_level, cov_level, dep_dist;        /* rows a level; dep_dist: mean of 1 / (step - last referred step) */
    double levels;
    double diagonals, bandwidth, is_grid, bytes_l2, bytes_l3; /* distinct differences (at most 64 counted); bytes / cache size */
    double carry, block, change;                              /* shares of the rows (a sample) that refer to the row before, that continue a dense
                                                               * block, and that have another length than the row before */
    double scattered;                                         /* share of level sets' span that their own rows do not fill */
    double block_levels;                                      /* most level sets in a block of 2048 rows, of a sample; -1: too many to sort by */
    double nx, ny, nz, neighbours, dof;                       /* of a grid; 0: it is none */
    double natural_s;                                         /* the rule's estimate of natural order on one thread: seconds of its yardstick core */
    double sorted, blocks, shared, chains32, chains256, line, slab; /* its other estimates as multiples of that: level sets and blocks on one thread;
                                                                     * tasks of rows, of chains of 32 and 256; grids by lines and in slabs */
} sptrsv_features;

enum { SPTRSV_FEATURES = sizeof(sptrsv_features) / sizeof(double) };
extern const char *const sptrsv_feature_names[SPTRSV_FEATURES];

/* How far to look: as far as the rule needs for its answer; as a model needs, where the system is large enough to gain by a model; at everything. */
typedef enum { SPTRSV_LOOK_RULE, SPTRSV_LOOK_MODEL, SPTRSV_LOOK_ALL } sptrsv_look;

typedef struct {
    sptrsv_features f;
    int threads;
    bool is_complete; /* every feature that can be had was looked at */
    bool is_small;    /* too few rows, or too short a solve, for the rule to look at level sets */
    bool is_short;    /* a solve is so short that no choice gains what a model costs */
    bool grid_wins;   /* the grid path is estimated to be quicker than one thread on rows with indices, */
    sptrsv_tile tile; /* with this tile */
} sptrsv_survey;

/* Whether a solve is that short, by the feature natural_s. */
bool sptrsv_is_short(double natural_s);

/* Cost: SPTRSV_LOOK_RULE at most four passes over the entries (and none where natural order or a grid is the answer); SPTRSV_LOOK_MODEL one more over the rows. */
hu_status sptrsv_survey_of(const sptrsv_system *system, int threads, bool allow_grid, sptrsv_look look, sptrsv_survey *ret_survey, hu_error *err);

/* The documented rule (rule.c) on what was found. Deterministic. */
void sptrsv_rule_of(const sptrsv_survey *survey, sptrsv_scheme *ret_scheme);

/* The estimate of a scheme as a multiple of natural order's; NaN where there is none. */
double sptrsv_survey_estimate(const sptrsv_survey *survey, const sptrsv_scheme *scheme);

/* Both at once: the scheme of the rule for a pattern, a machine and a thread count; allow_grid false: the best but the grid path. */
hu_status sptrsv_scheme_by_rule(const sptrsv_system *system, int threads, bool allow_grid, sptrsv_scheme *ret_scheme, hu_error *err);

/* Below these, nothing is to gain: rows for a grid; seconds of natural order, of the yardstick core, for threads; the share of rows that continue a
 * dense block for such blocks to be looked for. */
enum { SPTRSV_LEAST_GRID = 4096 };
extern const double sptrsv_least_parallel, sptrsv_dense_share;

#endif
