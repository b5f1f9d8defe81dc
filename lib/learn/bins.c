/* bins.c: a table of features as small integers. */
#include "config.h"
#include "learn/bins.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool ascends(const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (!(x[i - 1] <= x[i])) return false;
    return true;
}

/* The distinct values of x, in order; few are found by insertion into a short list, more by sorting. Returns their number. */
static int64_t find_levels(const double *x, int64_t rows, double *levels, bool *ret_missing)
{
    enum { SHORT = 48 };
    int64_t n = 0, row = 0;
    *ret_missing = false;
    for (; row < rows && n < SHORT; row++) {
        double v = x[row] + 0.0; /* -0 is 0 */
        if (isnan(v)) {
            *ret_missing = true;
            continue;
        }
        int64_t k = n;
        while (k > 0 && levels[k - 1] > v) k--;
        if (k > 0 && levels[k - 1] == v) continue;
        memmove(levels + k + 1, levels + k, (size_t)(n - k) * sizeof *levels);
        levels[k] = v;
        n++;
    }
    if (row == rows) return n;
    n = 0;
    for (row = 0; row < rows; row++) {
        if (isnan(x[row])) *ret_missing = true;
        else levels[n++] = x[row] + 0.0;
    }
    if (!ascends(levels, n)) qsort(levels, (size_t)n, sizeof *levels, compare_doubles);
    return n;
}

/* Sorted values, repeated as often as they stand in the column, to bins. */
static hu_status set_bins(hu_bin_column *c, const double *sorted, int64_t n, hu_error *err)
{
    int64_t distinct = 0;
    for (int64_t i = 0; i < n; i++) distinct += i == 0 || sorted[i] != sorted[i - 1];
    int64_t bins = distinct < HU_BINS_MOST ? distinct : HU_BINS_MOST;
    if (hu_alloc(2 * bins, sizeof(double), "bins", (void **)&c->low, err)) return err->status;
    c->high = c->low + bins;
    double each = (double)n / (double)bins;
    int64_t k = -1;
    for (int64_t i = 0; i < n; i++) {
        bool is_new = i == 0 || sorted[i] != sorted[i - 1];
        if (is_new && (distinct == bins || k < 0 || (double)i >= each * (double)(k + 1))) c->low[++k] = sorted[i];
        c->high[k] = sorted[i];
    }
    c->bins = (int32_t)(k + 1);
    return HU_OK;
}

static int32_t find_bin(const hu_bin_column *c, double v)
{
    const double *at = c->low;
    int32_t n = c->bins;
    while (n > 1) { /* the last bin whose low is not above v */
        int32_t half = n / 2;
        at += at[half] <= v ? half : 0;
        n -= half;
    }
    return (int32_t)(at - c->low);
}

static hu_status make_column(hu_bin_column *c, const double *x, int64_t rows, int32_t levels, double *work, hu_error *err)
{
    int64_t n = find_levels(x, rows, work, &c->has_missing);
    c->is_set = levels > 0;
    if (!c->is_set) return set_bins(c, work, n, err);
    c->bins = levels;
    if (hu_alloc(2 * (int64_t)c->bins, sizeof(double), "bins", (void **)&c->low, err)) return err->status;
    c->high = c->low + c->bins;
    for (int32_t k = 0; k < c->bins; k++) c->low[k] = c->high[k] = k;
    return HU_OK;
}

static void place_columns(hu_bins *b)
{
    for (int32_t f = 0; f < b->features; f++) {
        hu_bin_column *c = &b->column[f];
        int32_t codes = c->bins + c->has_missing;
        c->is_wide = codes > HU_BINS_NARROW || b->narrow_bins + codes > HU_BINS_MOST;
        if (c->is_wide) {
            c->slot = b->wide_count++;
        } else {
            c->slot = b->narrow_count++;
            c->offset = b->narrow_bins;
            b->narrow_bins += codes;
        }
    }
    b->stride = (b->narrow_count + 7) / 8 * 8;
}

static void encode(hu_bins *b, const double *const *x)
{
#pragma omp parallel for schedule(static) if (b->rows * b->features > 200000)
    for (int64_t part = 0; part < (b->rows + 1023) / 1024; part++) {
        int64_t from = part * 1024, to = from + 1024 < b->rows ? from + 1024 : b->rows;
        for (int32_t f = 0; f < b->features; f++) {
            const hu_bin_column *c = &b->column[f];
            for (int64_t row = from; row < to; row++) {
                double v = x[f][row];
                int32_t code = isnan(v) ? c->bins : c->is_set ? (int32_t)v : find_bin(c, v);
                if (c->is_wide) b->wide[(int64_t)c->slot * b->rows + row] = (uint16_t)code;
                else b->narrow[row * b->stride + c->slot] = (uint16_t)(code + c->offset);
            }
        }
    }
}

hu_status hu_bins_make(const double *const *x, int64_t rows, int32_t features, const int32_t *levels, hu_bins **ret_bins, hu_error *err)
{
    hu_bins *b = NULL;
    double *work = NULL;
    if (features > HU_BINS_FEATURES) return hu_fail(err, HU_INPUT, "%d features are more than %d", features, HU_BINS_FEATURES);
    if (rows > INT32_MAX / 4) return hu_fail(err, HU_INPUT, "%lld rows are more than %d", (long long)rows, INT32_MAX / 4);
    if (hu_alloc_zero(1, sizeof *b, "bins", (void **)&b, err)) return err->status;
    b->rows = rows;
    b->features = features;
    if (hu_alloc_zero(features, sizeof *b->column, "bins", (void **)&b->column, err)) goto failed;
    if (hu_alloc(rows + 1, sizeof *work, "bins", (void **)&work, err)) goto failed;
    for (int32_t f = 0; f < features; f++)
        if (make_column(&b->column[f], x[f], rows, levels[f], work, err)) goto failed;
    place_columns(b);
    if (hu_alloc_zero(rows, (size_t)b->stride * sizeof *b->narrow, "codes of the features", (void **)&b->narrow, err)) goto failed;
    if (hu_alloc(rows, (size_t)b->wide_count * sizeof *b->wide, "codes of the features", (void **)&b->wide, err)) goto failed;
    encode(b, x);
    hu_free(work);
    *ret_bins = b;
    return HU_OK;
failed:
    hu_free(work);
    hu_bins_free(b);
    return err->status;
}

void hu_bins_free(hu_bins *b)
{
    if (!b) return;
    for (int32_t f = 0; b->column && f < b->features; f++) hu_free(b->column[f].low);
    hu_free(b->column);
    hu_free(b->narrow);
    hu_free(b->wide);
    hu_free(b);
}
