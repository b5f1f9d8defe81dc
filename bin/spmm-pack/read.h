/* read.h: sparse matrices from any file that spmm-pack knows.
 *
 *     mtx     Matrix Market, and what else hu_matrix_read() takes (.npz, .csr, folders)
 *     smtx    patterns of pruned weights (DLMC): a line "rows, cols, nnz", a line of row offsets, a line of columns, all from 0
 *     edges   a list, one edge a line, source and destination and perhaps a weight, by commas, semicolons, tabs or blanks; lines with # are comments
 *     npy     a dense array, whose zeros are left out
 *
 * All may be compressed, in an archive, or come from a pipe.
 */
#ifndef SPMM_READ_H
#define SPMM_READ_H

#include "io/mtx.h"
#include "io/source.h"

typedef enum { SPMM_FORMAT_AUTO, SPMM_FORMAT_MTX, SPMM_FORMAT_SMTX, SPMM_FORMAT_EDGES, SPMM_FORMAT_NPY } spmm_format;

typedef struct {
    spmm_format format;
    hu_mtx_options mtx;    /* its duplicates are for all formats */
    int base;              /* edges: the least number of a node, 0 or 1; -1: not told, which is an error for a list */
    int64_t nodes;         /* edges: their number; 0: the greatest that is there */
    bool dst_first;        /* edges: destination before source */
} spmm_read_options;

/* What the file said: entries as stored there, and whether it is a pattern. */
typedef struct {
    int64_t entries;
    bool is_pattern, is_symmetric;
} spmm_read_info;

/* Reads from an open source (bundles aside). A row is a destination: entry (i,j) is the edge from j to i. Free with hu_csr_free(). */
hu_status spmm_read(hu_source *source, const spmm_read_options *options, hu_csr **ret_csr, spmm_read_info *ret_info, hu_error *err);

#endif
