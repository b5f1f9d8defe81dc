/* dense_in.h: dense operands from any file: .npy (any type, order and byte order), Matrix Market, CSV; and as the products want them. */
#ifndef SPMM_DENSE_IN_H
#define SPMM_DENSE_IN_H

#include "base/output.h"
#include "dense/dense.h"

/* Reads the one array of a file ("-": standard input) in its own order; f2 becomes HU_F16, f4 HU_F32, whole numbers and f8 HU_F64; u2 HU_BF16 where
 * is_bf16. NaN and infinities are values. Anything behind the array, and complex numbers, are HU_INPUT. Free with hu_dense_free(). */
hu_status spmm_dense_read(const char *path, bool is_bf16, hu_dense **ret_dense, hu_error *err);

/* Makes *a of that scalar and row major, in place where it is so already. */
hu_status spmm_dense_make(hu_dense **a, hu_scalar scalar, hu_error *err);

#endif
