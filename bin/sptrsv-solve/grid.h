/* grid.h: triangular systems on structured grids, without indices: detected and verified in any matrix, stored one array a
 * neighbour, solved line by line with interleaved recurrences, in slabs over the threads.
 *
 * After the two-level blocking and vertical-tiling pipeline of the structured-grid SpTRSV papers (see sptrsv-solve(1)): level one are slabs of lines, one a
 * thread, pipelined over planes; level two are tiles of a line, forwarded between lines. Only the neighbour on the same line is a scalar recurrence.
 */
#ifndef SPTRSV_GRID_H
#define SPTRSV_GRID_H

#include "scheme.h"
#include "system.h"

enum { SPTRSV_GRID_NEIGHBOURS = 62 }; /* all (dx, dy, dz), |d| <= 2, that precede (0, 0, 0), a 5^3 box */

/* In solve order: cell c = x + nx (y + ny z), row = c * dof + a of the ascending system (mirrored for descending ones). Neighbours ascend in
 * the canonical order, so that sums have the canonical order. */
typedef struct {
    int32_t nx, ny, nz; /* 1-D: ny = nz = 1 */
    int32_t dof;        /* unknowns a cell; neighbours are then dof x dof blocks and the cell's own block is lower triangular */
    int32_t neighbours;
    int8_t dx[SPTRSV_GRID_NEIGHBOURS], dy[SPTRSV_GRID_NEIGHBOURS], dz[SPTRSV_GRID_NEIGHBOURS];
} sptrsv_grid_shape;

/* Is the system a structured grid? Every stored entry must map to a neighbour inside the box (a difference that wraps around a line's end is not
 * one); missing neighbours are explicit zeros, and where more than a third are missing it is not worth being a grid. wanted (may be NULL): sizes that the user
 * gave, 0 where free. *ret_is_grid false is not an error. ret_why (may be NULL) gets a short reason in words. Cost: a pass over the entries. */
hu_status sptrsv_grid_detect(const sptrsv_system *system, const int32_t opt_wanted[3], bool *ret_is_grid, sptrsv_grid_shape *ret_shape,
                             const char **opt_why, hu_error *err);

/* Estimated seconds of a solve in double on this path, and the better tile of the two; for the default rule, to be held against the estimate of
 * rows with indices. The constants are those of one Zen 4 core. */
double sptrsv_grid_estimate(const sptrsv_grid_shape *shape, int threads, sptrsv_tile *ret_tile);

typedef struct sptrsv_grid sptrsv_grid;

/* Room for the coefficients of a shape, not yet set. */
hu_status sptrsv_grid_new(const sptrsv_system *system, const sptrsv_grid_shape *shape, const sptrsv_scheme *scheme,
                          sptrsv_precision precision, int threads, sptrsv_grid **ret_grid, hu_error *err);
void sptrsv_grid_free(sptrsv_grid *grid);

/* Lays out the values in one verified pass (HU_INPUT where an entry is no neighbour). *ret_foldable: whether arith fold was safe for every row; where it
 * is not, or scheme->arith says so, the grid divides. Parallel. */
hu_status sptrsv_grid_set_values(sptrsv_grid *grid, const sptrsv_system *system, bool *ret_foldable, hu_error *err);

/* As sptrsv_solve(). */
void sptrsv_grid_solve(const sptrsv_grid *grid, const void *b, void *x);

/* nrhs right-hand sides interleaved: element (row, j) at [row * nrhs + j]; nrhs is 4, 8 or 16. */
void sptrsv_grid_solve_block(const sptrsv_grid *grid, int nrhs, const void *b, void *x);

int64_t sptrsv_grid_bytes_held(const sptrsv_grid *grid);
int64_t sptrsv_grid_bytes_per_solve(const sptrsv_grid *grid);
const sptrsv_grid_shape *sptrsv_grid_shape_of(const sptrsv_grid *grid);

#endif
