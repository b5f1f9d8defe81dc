/* grid_maker.h: triangular matrices on structured grids, for tests and benchmarks. */
#ifndef GRID_MAKER_H
#define GRID_MAKER_H

#include "sparse/csr.h"
#include <stdlib.h>

typedef struct {
    int nx, ny, nz, dof, count; /* count neighbours, (dz, dy, dx) ascending, all before (0, 0, 0) */
    int d[62][3];               /* dx, dy, dz */
} grid_maker;

/* All neighbours before the cell with |dx| + |dy| + |dz| <= sum and each |d| <= reach. */
static inline grid_maker grid_maker_of(int nx, int ny, int nz, int dof, int reach, int sum)
{
    grid_maker m = {.nx = nx, .ny = ny, .nz = nz, .dof = dof};
    for (int i = -2; i <= 0; i++)
        for (int j = -2; j <= 2; j++)
            for (int k = -2; k <= 2; k++) {
                if (25 * i + 5 * j + k >= 0 || abs(i) + abs(j) + abs(k) > sum) continue;
                if (abs(i) > reach || abs(j) > reach || abs(k) > reach) continue;
                if ((i && nz == 1) || (j && ny == 1)) continue;
                m.d[m.count][0] = k;
                m.d[m.count][1] = j;
                m.d[m.count++][2] = i;
            }
    return m;
}

/* A pattern's lower triangle with the diagonal; value(context, row, col) gives the entries. Returns NULL without memory. */
static inline hu_csr *grid_maker_lower(const grid_maker *m, double (*value)(void *, int64_t, int64_t), void *context)
{
    int64_t cells = (int64_t)m->nx * m->ny * m->nz, n = cells * m->dof, p = 0;
    hu_csr *a;
    hu_error err = HU_ERROR_NONE;
    if (hu_csr_new(n, n, n * ((int64_t)m->count * m->dof + m->dof), false, &a, &err)) return NULL;
    for (int64_t row = 0; row < n; row++) {
        int64_t cell = row / m->dof, x = cell % m->nx, y = cell / m->nx % m->ny, z = cell / m->nx / m->ny;
        for (int k = 0; k < m->count; k++) {
            int64_t xk = x + m->d[k][0], yk = y + m->d[k][1], zk = z + m->d[k][2];
            if (xk < 0 || xk >= m->nx || yk < 0 || yk >= m->ny || zk < 0) continue;
            for (int i = 0; i < m->dof; i++) {
                int64_t col = (xk + m->nx * (yk + m->ny * zk)) * m->dof + i;
                a->col[p] = (int32_t)col;
                a->val[p++] = value(context, row, col);
            }
        }
        for (int64_t col = cell * m->dof; col <= row; col++) {
            a->col[p] = (int32_t)col;
            a->val[p++] = value(context, row, col);
        }
        a->row_ptr[row + 1] = p;
    }
    a->nnz = p;
    return a;
}

#endif
