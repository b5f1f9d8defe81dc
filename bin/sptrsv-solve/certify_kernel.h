/* certify_kernel.h: residuals of a triangular system in double-double arithmetic, one build per instruction set. */
#ifndef SPTRSV_CERTIFY_KERNEL_H
#define SPTRSV_CERTIFY_KERNEL_H

#include "device/level.h"
#include "system.h"

/* For the rows from..to-1: residual[i - from] = b_i - sum_j t_ij x_j, rounded once (pairs where complex); opt_size gets
 * sum_j |t_ij| |x_j| + |b_i|, opt_storage sum_j |t_ij - fl32(t_ij)| |x_j|. rounded: with fl32(t_ij) in place of t_ij. */
HU_LEVELS(void, sptrsv_residual, (const sptrsv_system *system, int64_t from, int64_t to, bool rounded, const double *b,
                                  const double *x, double *residual, double *opt_size, double *opt_storage));

#endif
