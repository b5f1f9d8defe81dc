/* neighbor.h: the strategy "neighbor": packs of about equal cost.
 *
 * The cost of a pack is its entries plus alpha for each row that it touches (a row's write-back). Walking over the rows, a pack is filled up to np; a row that
 * does not fit is cut: its head tops the open pack up where more than alpha is left, its middle becomes packs of np - alpha entries, its tail opens the
 * next pack. So a pack holds many short rows or a slice of a long one. (Neighbor packing: PckGNN; GNNPilot, ACM TACO 2025, 10.1145/3730586.)
 *
 * There a GPU adds the parts of a cut row by atomics; here each part has a place of its own and they are added in the order of the entries, so that
 * the bits do not depend on who computes what. np does not depend on the number of threads either.
 */
#ifndef SPMM_NEIGHBOR_H
#define SPMM_NEIGHBOR_H

#include "plan.h"

/* Rows row_from..row_to-1 restricted to entries from..to-1: the quadruple of the papers. */
typedef struct {
    int64_t row_from, row_to, from, to;
} spmm_neighbor_pack;

typedef struct {
    int64_t np, alpha, n;
    spmm_neighbor_pack *pack; /* [n] */
    int64_t pieces;           /* parts of cut rows, counted in order */
    int64_t *first_piece;     /* [n] the number of the first part in a pack, or of the next one behind it */
    int64_t cut_rows;
    int32_t *cut_row;         /* [cut_rows] */
    int64_t *cut_ptr;         /* [cut_rows + 1] parts of a cut row */
} spmm_neighbor_form;

#endif
