/* dense_kernel.h: hot loops of dense vectors, one build per instruction set. */
#ifndef HU_DENSE_KERNEL_H
#define HU_DENSE_KERNEL_H

#include "device/level.h"

enum { HU_SUM_BLOCK = 4096 }; /* values whose sum is one unit of the fixed order */

/* sum x[k] y[k] of at most one block, in an order that does not depend on the vector width. */
HU_LEVELS(double, hu_dot_block, (const double *x, const double *y, int64_t n));

#endif
