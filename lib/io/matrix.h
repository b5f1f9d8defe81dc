/* matrix.h: a sparse matrix from any file that the toolkit reads, for every program alike.
 *
 *   Matrix Market   anything else than the below; compressed or in a tar too; standard input
 *   NAME.npz        what scipy.sparse.save_npz writes: members indptr, indices, data, shape, format (csr or csc)
 *   a folder        that holds indptr.npy, indices.npy, data.npy, and shape.npy where the matrix has empty last columns; rows (CSR)
 *   NAME.csr        our own bundle of kind "csr": members row_ptr.i8, col.i4, val.f8; what hu_matrix_write() makes for that ending
 */
#ifndef HU_IO_MATRIX_H
#define HU_IO_MATRIX_H

#include "base/output.h"
#include "io/mtx.h"

/* Reads path; options are for Matrix Market, their keep_nonfinite for all. *opt_info describes the others as real or complex, general, coordinate.
 * Every form is checked as untrusted data: HU_INPUT names the file and the row. */
hu_status hu_matrix_read(const char *path, const hu_mtx_options *options, hu_csr **ret_csr, hu_mtx_info *opt_info, hu_error *err);

/* Writes Matrix Market text, or the bundle where the name of the output ends in .csr. */
hu_status hu_matrix_write(hu_output *out, const hu_csr *csr, const char *opt_comment, hu_error *err);

#endif
