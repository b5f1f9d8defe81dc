/* compile.h: a generated kernel compiled, loaded and measured. */
#ifndef SPMM_COMPILE_H
#define SPMM_COMPILE_H

#include "emit.h"

/* Writes the kernel into a folder of its own below $TMPDIR, compiles it by $CC (default cc) with -std=c11 -O2, holds its product with B against plain loops and
 * times it: the median seconds of a product on one thread. HU_SYSTEM where there is no compiler or it fails, HU_NO where the product is wrong. */
hu_status spmm_compile_measure(const spmm_matrix *a, const spmm_kernel_choice *choice, const hu_dense *b, hu_dense *c, double *ret_seconds, double *ret_compile_seconds, hu_error *err);

/* Median seconds of work(data), each sample at least a millisecond. */
double spmm_measure(void (*work)(void *data), void *data);

#endif
