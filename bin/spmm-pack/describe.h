/* describe.h: what a sparse matrix is like: rows, columns, spread of the row lengths, symmetry. */
#ifndef SPMM_DESCRIBE_H
#define SPMM_DESCRIBE_H

#include "sparse.h"

typedef struct {
    int64_t zeros;                    /* stored zeros */
    int64_t empty_rows, empty_cols, loops;
    double mean, variance, gini;      /* of the entries a row; Gini: 0 where all rows are alike, towards 1 where one has all */
    int64_t greatest_row, greatest_col, bandwidth;
    bool is_square, pattern_symmetric, values_symmetric;
} spmm_description;

hu_status spmm_describe(const spmm_matrix *a, spmm_description *ret_description, hu_error *err);

#endif
