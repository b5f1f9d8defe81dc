/* graph.h: what is done to a matrix as a graph before it is used: self-loops, normalisation, order.
 *
 * Row i holds the edges that end at node i.
 */
#ifndef SPMM_GRAPH_H
#define SPMM_GRAPH_H

#include "sparse/csr.h"

typedef enum { SPMM_LOOPS_NONE, SPMM_LOOPS_ADD, SPMM_LOOPS_REMAINING, SPMM_LOOPS_REMOVE } spmm_loops;
typedef enum { SPMM_NORM_NONE, SPMM_NORM_GCN, SPMM_NORM_ROW, SPMM_NORM_COL } spmm_norm;
typedef enum { SPMM_ORDER_NONE, SPMM_ORDER_DEGREE, SPMM_ORDER_RCM, SPMM_ORDER_CLUSTER } spmm_order;

/* A becomes A + I (add: a loop that is there grows by 1), A with 1 on diagonal places that hold no entry (remaining), or A without its diagonal. Replaces
 * *a. HU_INPUT unless square (remove takes any shape). */
hu_status spmm_graph_loops(hu_csr **a, spmm_loops loops, const char *name, hu_error *err);

/* Scales values in place. gcn: D^-1/2 A D^-1/2 with D the row sums (Kipf, Welling, ICLR 2017, section 2); row: D^-1 A; col: A E^-1 with E the column sums. The
 * factor of a sum of 0 is 0; a negative sum is HU_INPUT under gcn. */
hu_status spmm_graph_normalise(hu_csr *a, spmm_norm norm, const char *name, hu_error *err);

/* perm[new] = old: nodes by falling number of entries; by reverse Cuthill-McKee over A + A'; or so that rows whose columns overlap stand together (rows
 * grouped by the least hashes of their columns). Square matrices only (HU_INPUT). perm: [rows], free with hu_free(). */
hu_status spmm_graph_order(const hu_csr *a, spmm_order order, const char *name, int32_t **ret_perm, hu_error *err);

#endif
