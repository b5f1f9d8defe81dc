/* grid_kernel.h: what grid.c and its hot loops share; private to them.
 *
 * A grid is worked in units: the lines of one slab in one plane. `slots` lines of a unit are in work at once, each
 * `lag` steps behind the one before, so that their recurrences along x hide each other's latency and every tile finds what it
 * refers to on earlier lines. In step s slot l works tile q % period of line (q / period) * slots + l, q = s - l * lag.
 * Coefficients lie in the order in which they are used: the tile of (unit, s, l) at ((base of the unit + s) * slots + l) *
 * lanes, one such array a neighbour, and the reciprocal diagonal (or the diagonal, see `arith`) last.
 */
#ifndef SPTRSV_GRID_KERNEL_H
#define SPTRSV_GRID_KERNEL_H

#include "grid.h"

#include <stdatomic.h>

enum { SPTRSV_GRID_ARRAYS = SPTRSV_GRID_NEIGHBOURS + 1, SPTRSV_GRID_SLOTS = 4, SPTRSV_GRID_MAX_DOF = 8 };

/* A thread's progress, alone on its cache lines. */
typedef struct {
    _Alignas(64) atomic_llong steps;
    char apart[64];
} sptrsv_grid_progress;

struct sptrsv_grid {
    sptrsv_grid_shape shape; /* as the caller gave it */
    int64_t n;
    bool mirrored; /* row n - 1 - (step) instead of row (step) */
    bool unit;     /* unit diagonal: the last array is not there */
    bool divide;   /* plain coefficients and divisions instead of folded ones */
    bool want_divide;
    sptrsv_precision precision;
    int workers;
    bool planar; /* 2-D over several threads: units are dealt out in turn and pipelined along x */

    int32_t arrays;  /* neighbours as stored: the shape's, and (-1,0,0) where only (-2,0,0) is there */
    int32_t chain;   /* how many of them are on the own line: 0, 1 ((-1,0,0)) or 2 ((-2,0,0), (-1,0,0)); they come last */
    int8_t dx[SPTRSV_GRID_ARRAYS], dy[SPTRSV_GRID_ARRAYS], dz[SPTRSV_GRID_ARRAYS];
    int64_t offset[SPTRSV_GRID_ARRAYS]; /* of the neighbour, in cells; negative */
    int32_t forward;                    /* greatest dy: how far a slab needs the one after it, a plane back */
    bool edge_first, edge_last;         /* must the first and last tile of a line mind the line's ends? */

    int32_t lanes, tiles, slots, lag, period;
    int32_t slabs;
    int32_t *slab_line; /* [slabs + 1] first line */
    int64_t *slab_base; /* [slabs] first step of the unit of plane 0; plane z begins slab_steps[] * z later */
    int32_t *slab_steps;
    int64_t stride; /* elements from one array to the next; dof > 1: elements a cell */
    void *coef;
    void *zeros; /* a line of zeros: stands for lines outside the box */
    int64_t bytes_coef;
    sptrsv_grid_progress *progress; /* [workers] */
};

/* Work steps from..to-1 of a unit. */
typedef void sptrsv_grid_run(const sptrsv_grid *grid, const void *b, void *x, int32_t slab, int32_t z, int32_t from, int32_t to);
typedef void sptrsv_grid_run_block(const sptrsv_grid *grid, int nrhs, const void *b, void *x, int32_t slab, int32_t z,
                                   int32_t from, int32_t to);
/* Lays out the coefficients of a unit. Returns the first row with an entry that is no neighbour, or -1; clears *foldable where folding is
 * unsafe. */
typedef int64_t sptrsv_grid_set(const sptrsv_grid *grid, const sptrsv_system *system, int32_t slab, int32_t z, bool *foldable);

typedef struct {
    sptrsv_grid_run *run, *run_dof;
    sptrsv_grid_run_block *run_block, *run_block_dof;
    sptrsv_grid_set *set, *set_dof;
} sptrsv_grid_kernels;

/* By precision. */
extern const sptrsv_grid_kernels sptrsv_grid_kernels_base[3], sptrsv_grid_kernels_v3[3], sptrsv_grid_kernels_v4[3];

static inline int32_t sptrsv_grid_lines(const sptrsv_grid *g, int32_t slab)
{
    return g->slab_line[slab + 1] - g->slab_line[slab];
}

#endif
