/* bins.h: a table of features as small integers, so that trees split by exact histograms: each distinct value of a column is a bin, in
 * ascending order, and a missing value is the bin behind the last. Splits between bins are the splits that sorting would find.
 */
#ifndef HU_LEARN_BINS_H
#define HU_LEARN_BINS_H

#include "base/error.h"

enum {
    HU_BINS_NARROW = 64,    /* bins of a column whose histogram is kept whole; more go through a bitmap of the occupied ones */
    HU_BINS_MOST = 65535,   /* distinct values of a column that are told apart; more share bins of equal numbers of rows */
    HU_BINS_FEATURES = 8192 /* columns at most */
};

typedef struct {
    int32_t bins;     /* of values; code `bins` is the missing one where there is one */
    bool is_set;      /* levels without order: split into two sets of levels */
    bool has_missing;
    bool is_wide;     /* in wide[], else in narrow[] */
    int32_t slot;     /* its column there */
    int32_t offset;   /* narrow: what is added to its codes, so that all narrow columns share one histogram */
    double *low, *high; /* [bins] the least and greatest value of each bin (the same, but for more than HU_BINS_MOST values) */
} hu_bin_column;

typedef struct {
    int64_t rows;
    int32_t features;
    int32_t narrow_count, wide_count;
    int32_t narrow_bins;   /* of all narrow columns together */
    int32_t stride;        /* of narrow: narrow_count rounded up */
    hu_bin_column *column; /* [features] */
    uint16_t *narrow;      /* [rows][stride], codes with the offset of the column */
    uint16_t *wide;        /* [wide_count][rows] */
} hu_bins;

/* x[f][row] is the value of feature f, NaN where missing: a number where levels[f] is 0, else the index of one of levels[f] <= HU_BINS_MOST levels.
 * Free with hu_bins_free(). HU_INPUT where there are more columns or rows than an index holds. */
hu_status hu_bins_make(const double *const *x, int64_t rows, int32_t features, const int32_t *levels, hu_bins **ret_bins, hu_error *err);
void hu_bins_free(hu_bins *bins); /* NULL is allowed */

/* The code of a row in a column, without offset. */
static inline int32_t hu_bins_code(const hu_bins *b, const hu_bin_column *c, int64_t row)
{
    return c->is_wide ? b->wide[(int64_t)c->slot * b->rows + row] : b->narrow[row * b->stride + c->slot] - c->offset;
}

#endif
