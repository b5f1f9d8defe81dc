/* sddmm.h: sampled products of dense matrices: a value for each entry (i,j) of a sparse matrix, from row i of X and row j of Y.
 *
 *     dot    e_ij = sum over k of x_ik y_jk, for each of H heads over its share of the columns
 *     add sub mul    e_ij = x_ik + y_jk (-, times), a value for each column k
 *     then e = alpha e, times a_ij where masked by value; LeakyReLU; softmax over the entries of a row, per head or column
 */
#ifndef SPMM_SDDMM_H
#define SPMM_SDDMM_H

#include "sparse.h"

typedef enum { SPMM_DOT, SPMM_ADD, SPMM_SUB, SPMM_MUL } spmm_edge_op;

typedef struct {
    spmm_edge_op op;
    int64_t heads;    /* of dot */
    double alpha;
    bool by_value;    /* mask: times the entry's value */
    bool is_leaky;
    double leaky;     /* the slope below 0 */
    bool softmax;
} spmm_sampling;

/* Values an entry: heads of dot, else columns of X. */
int64_t spmm_sampling_width(const spmm_sampling *s, int64_t k);

/* x: [rows x K], y: [cols x K], row major and of one scalar; e: [nnz x width] row major of the sums' scalar (double for HU_F64, else float). A dot is
 * summed in float or double, in an order that depends on K and the instruction level only. Shapes are checked (HU_USAGE). Values of *a become those of the
 * sums' scalar where they are used. Softmax is stable (the row's greatest is taken off first); an empty row has no entries. */
hu_status spmm_sddmm(spmm_matrix *a, const spmm_sampling *s, const hu_dense *x, const hu_dense *y, hu_dense *e, hu_error *err);

#endif
