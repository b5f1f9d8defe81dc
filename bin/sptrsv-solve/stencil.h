/* stencil.h: a matrix from the coefficients of a grid: an array [neighbour][z][y][x] and the neighbours' offsets. */
#ifndef SPTRSV_STENCIL_H
#define SPTRSV_STENCIL_H

#include "io/npy.h"
#include "sparse/csr.h"

/* offsets: "-1,0,0;0,-1,0;0,0,0": one dx,dy,dz (dx,dy or dx alone for fewer dimensions) for each coefficient array, in their order.
 * sizes: nx, ny, nz, checked against the array's shape, which may leave out z and y where they are 1. Row of cell (x, y, z) is x + nx (y + ny z).
 * A coefficient whose neighbour lies outside the grid must be 0 and makes no entry; any other makes one, 0 or not. Consumes *coefficients. Errors: HU_USAGE for
 * offsets that cannot be read, HU_INPUT for an array that does not fit. */
hu_status sptrsv_stencil_matrix(hu_npy **coefficients, const char *offsets, const int32_t sizes[3], const char *name,
                                hu_csr **ret_csr, hu_error *err);

#endif
