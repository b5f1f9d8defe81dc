/* ldl_private.h: what the parts of the sparse L D L' share. */
#ifndef HU_SPARSE_LDL_PRIVATE_H
#define HU_SPARSE_LDL_PRIVATE_H

#include "sparse/ldl.h"

struct hu_ldl {
    hu_ldl_facts facts;
    int64_t n, nnz;    /* of the matrix */
    int32_t *perm;     /* [n] place k of the order is row perm[k] */
    int32_t *place;    /* [n] its inverse */
    int32_t *parent;   /* [n] the elimination tree, -1 at roots; places ascend from child to parent */
    int32_t *count;    /* [n] entries of each column of L below its diagonal */
    int64_t *row_ptr;  /* [n + 1] rows of the permuted lower triangle: */
    int32_t *row_col;  /* [nnz] their columns */
    int64_t *row_from; /* [nnz] and the entry of the matrix that each is */
    double *d, *inverse; /* [n] pivots by place */
    int8_t *sign;        /* [n] by place */

    /* simplicial: columns of L */
    int64_t *col_ptr, *filled; /* [n + 1], [n] */
    int32_t *col_row;
    double *val;
    int32_t *mark, *stack; /* [n] */
    double *sums;          /* [n] */

    /* supernodal: supernode s has columns first[s]..first[s + 1] - 1, then the rows below, all of a panel of column-major values */
    int64_t supernodes;
    int32_t *first;      /* [supernodes + 1] */
    int32_t *node_of;    /* [n] the supernode of a column */
    int32_t *node_parent; /* [supernodes] */
    int64_t *below_ptr;  /* [supernodes + 1] */
    int32_t *below;      /* rows below, ascending */
    int64_t *panel_ptr;  /* [supernodes + 1] into panel */
    double *panel;
    int64_t *entry_ptr, *entry_from, *entry_to; /* [supernodes + 1] and room for a stack of as many; [nnz], [nnz]: entries of the matrix and their place in the front */
    int64_t front_most, stack_most, below_most; /* sizes of work */
    double *front, *updates, *dense_work;
    int32_t *local; /* [n] the place of a row in the front at hand */
};

hu_status hu_ldl_simplicial_prepare(hu_ldl *f, hu_error *err);
void hu_ldl_simplicial_factor(hu_ldl *f, const double *val, hu_ldl_pivots pivots, int64_t *replaced);
void hu_ldl_simplicial_solve(const hu_ldl *f, double *x);

hu_status hu_ldl_supernodal_prepare(hu_ldl *f, hu_error *err);
void hu_ldl_supernodal_factor(hu_ldl *f, const double *val, hu_ldl_pivots pivots, int64_t *replaced);
hu_status hu_ldl_supernodal_solve(const hu_ldl *f, double *x, int64_t ld, int64_t count, hu_error *err);

#endif
