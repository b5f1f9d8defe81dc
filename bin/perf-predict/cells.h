/* cells.h: the columns that a command knows by name, and their cells as numbers within bounds. */
#ifndef PP_CELLS_H
#define PP_CELLS_H

#include "io/csv.h"

/* The column of that name, or -1. */
int64_t cells_column(const hu_csv *csv, const char *name);

/* The same, where it must be there: HU_INPUT names it. */
hu_status cells_need(const hu_csv *csv, const char *source, const char *name, int64_t *ret_column, hu_error *err);

/* The number in a cell of the current row, from least to most, whole where it shall be. absent: what counts where there is no such column (-1) or the cell is empty; NaN: it must be
 * there. HU_INPUT "NAME:LINE: column ...". */
hu_status cells_number(const hu_csv *csv, int64_t column, double least, double most, bool whole, double absent, double *ret, hu_error *err);

#endif
