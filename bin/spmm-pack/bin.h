/* bin.h: the strategy "bin": panels of rows times bins of columns, so that the rows of B that a bin needs, and the rows of C that a panel makes, stay in
 * the cache.
 *
 * Bin packing (PckGNN; GNNPilot, ACM TACO 2025, 10.1145/3730586) cuts the columns into bins and takes out of each row and bin the run of entries where it is
 * long enough; short runs stay in a remainder of compressed rows. There packs are dealt to warps and add to C by atomics; on a CPU the second dimension
 * pays instead: a panel of rows walks over the bins in order, one thread a panel, its remainder first. So sums have one order for any number of threads.
 */
#ifndef SPMM_BIN_H
#define SPMM_BIN_H

#include "plan.h"

typedef struct {
    int64_t bin_columns, row_panel, threshold; /* columns a bin, rows a panel, least entries of a run */
    int64_t bins, panels;
    int64_t *cell;     /* [panels bins + 1] runs of panel p and bin b begin at cell[p bins + b] */
    int64_t runs;
    int64_t *run_ptr;  /* [runs + 1] entries of a run */
    int32_t *run_row;  /* [runs] row within the panel */
    int32_t *col;      /* [run_ptr[runs]] */
    void *val;         /* the same, of the matrix's scalar */
    int64_t *rest_ptr; /* [rows + 1] the remainder */
    int32_t *rest_col;
    void *rest_val;
} spmm_bin_form;

#endif
