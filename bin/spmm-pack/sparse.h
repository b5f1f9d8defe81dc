/* sparse.h: the sparse operand: compressed rows whose values may be absent (a pattern: all ones) or of any real scalar.
 *
 * Columns ascend in each row. The arrays may belong to something else, a mapped file for instance, which then must live as long.
 */
#ifndef SPMM_SPARSE_H
#define SPMM_SPARSE_H

#include "dense/dense.h"
#include "sparse/csr.h"

typedef struct {
    int64_t rows, cols, nnz;
    int64_t *row_ptr; /* [rows + 1] */
    int32_t *col;     /* [nnz] */
    hu_scalar scalar; /* of val; real */
    void *val;        /* [nnz], or NULL: all ones */
    bool borrowed, borrowed_col, borrowed_val; /* row_ptr, col, val belong to something else */
} spmm_matrix;

/* Takes the arrays of *csr over (which becomes NULL, also on failure); without its values where is_pattern. Complex values are HU_INPUT. Values stay double
 * where scalar is HU_F64, else are rounded to it. */
hu_status spmm_matrix_from_csr(hu_csr **csr, bool is_pattern, hu_scalar scalar, const char *name, spmm_matrix **ret_matrix, hu_error *err);

/* A matrix of row_ptr, col of its own with room for values. */
hu_status spmm_matrix_new(int64_t rows, int64_t cols, int64_t nnz, hu_scalar scalar, bool is_pattern, spmm_matrix **ret_matrix, hu_error *err);
void spmm_matrix_free(spmm_matrix *a); /* NULL is allowed */

/* Gives the matrix values of that scalar, ones where it is a pattern, each rounded once: what products need (HU_F32 or HU_F64). */
hu_status spmm_matrix_widen(spmm_matrix *a, hu_scalar scalar, hu_error *err);

/* n values of one scalar as another; n may be 0. Free with hu_free(). */
hu_status spmm_values_as(const void *val, hu_scalar from, hu_scalar to, int64_t n, void **ret_val, hu_error *err);

/* A copy as hu_csr: values in double, ones for a pattern. */
hu_status spmm_matrix_to_csr(const spmm_matrix *a, hu_csr **ret_csr, hu_error *err);

/* Checks pointers and columns of data from outside; HU_INPUT names the 1-based row. */
hu_status spmm_matrix_check(const spmm_matrix *a, const char *name, hu_error *err);

#endif
