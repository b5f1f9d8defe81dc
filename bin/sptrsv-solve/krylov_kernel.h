/* krylov_kernel.h: hot loops of conjugate gradients, one build per instruction set. */
#ifndef SPTRSV_KRYLOV_KERNEL_H
#define SPTRSV_KRYLOV_KERNEL_H

#include "device/level.h"
#include "product.h"

/* Rows from..to-1 of y = A x over the diagonals of the lower half. */
HU_LEVELS(void, sptrsv_multiply_diagonals, (const sptrsv_product *a, int64_t from, int64_t to, const double *x, double *y));

/* The same over rows as stored. */
HU_LEVELS(void, sptrsv_multiply_rows, (const hu_csr *a, int64_t from, int64_t to, const double *x, double *y));

/* x += alpha p; r -= alpha q; returns r'r, for n items, at most one block. */
HU_LEVELS(double, sptrsv_step, (int64_t n, double alpha, const double *p, const double *q, double *x, double *r));

/* p = z + beta p */
HU_LEVELS(void, sptrsv_direct, (int64_t n, double beta, const double *z, double *p));

#endif
