/* cells.c: columns known by name, and their cells as numbers within bounds. */
#include "config.h"
#include "cells.h"

#include <math.h>
#include <string.h>

int64_t cells_column(const hu_csv *csv, const char *name)
{
    for (int64_t c = 0; c < hu_csv_columns(csv); c++)
        if (strcmp(hu_csv_column_name(csv, c), name) == 0) return c;
    return -1;
}

hu_status cells_need(const hu_csv *csv, const char *source, const char *name, int64_t *ret_column, hu_error *err)
{
    *ret_column = cells_column(csv, name);
    return *ret_column < 0 ? hu_fail_line(err, source, 1, "there is no column %s", name) : HU_OK;
}

hu_status cells_number(const hu_csv *csv, int64_t column, double least, double most, bool whole, double absent, double *ret, hu_error *err)
{
    hu_csv_kind kind;
    *ret = absent;
    if (column < 0) return HU_OK;
    if (hu_csv_cell(csv, column, &kind, ret, err)) return err->status;
    if (kind == HU_CSV_MISSING && !isnan(absent)) {
        *ret = absent;
        return HU_OK;
    }
    if (kind != HU_CSV_NUMBER || !(*ret >= least && *ret <= most) || (whole && *ret != floor(*ret)))
        return hu_csv_fail(csv, column, err, "a %snumber from %.10g to %.10g is wanted", whole ? "whole " : "", least, most);
    return HU_OK;
}
