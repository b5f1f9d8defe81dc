/* bin.c: the strategy "bin": panels of rows times bins of columns (bin.h).
 *
 * Sections: packing, multiplying, files, the table.
 */
#include "config.h"
#include "bin.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

enum { BIN_COLUMNS = 1024, LEAST_PANEL = 512, GREATEST_PANEL = 4096, PANELS = 16, THRESHOLD = 2 };

/* ---- packing ---------------------------------------------------------------------------------------------------- */

static void free_pack(void *block)
{
    spmm_bin_form *f = block;
    if (!f) return;
    hu_free(f->cell);
    hu_free(f->run_ptr);
    hu_free(f->run_row);
    hu_free(f->col);
    hu_free(f->val);
    hu_free(f->rest_ptr);
    hu_free(f->rest_col);
    hu_free(f->rest_val);
    hu_free(f);
}

static int64_t panel_rows(const spmm_bin_form *f, const spmm_matrix *a, int64_t panel)
{
    const int64_t rest = a->rows - panel * f->row_panel;
    return rest < f->row_panel ? rest : f->row_panel;
}

/* The end of the run that begins at entry p of a row that ends at `end`. */
static int64_t run_end(const spmm_bin_form *f, const spmm_matrix *a, int64_t p, int64_t end)
{
    const int64_t limit = (a->col[p] / f->bin_columns + 1) * f->bin_columns;
    int64_t q = p + 1;
    while (q < end && a->col[q] < limit) q++;
    return q;
}

/* Runs and entries of each cell of a panel, and the remainder of each row. */
static void count_panel(const spmm_bin_form *f, const spmm_matrix *a, int64_t panel, int64_t *runs, int64_t *entries)
{
    for (int64_t i = panel * f->row_panel, stop = i + panel_rows(f, a, panel); i < stop; i++) {
        f->rest_ptr[i + 1] = 0;
        for (int64_t p = a->row_ptr[i], q; p < a->row_ptr[i + 1]; p = q) {
            q = run_end(f, a, p, a->row_ptr[i + 1]);
            if (q - p < f->threshold) {
                f->rest_ptr[i + 1] += q - p;
                continue;
            }
            runs[a->col[p] / f->bin_columns]++;
            entries[a->col[p] / f->bin_columns] += q - p;
        }
    }
}

static void copy_entries(const spmm_matrix *a, int64_t p, int64_t n, int32_t *col, void *val, int64_t at)
{
    const size_t size = hu_scalar_size(a->scalar);
    memcpy(col + at, a->col + p, (size_t)n * sizeof *col);
    memcpy((char *)val + (size_t)at * size, (const char *)a->val + (size_t)p * size, (size_t)n * size);
}

/* run[b], entry[b]: where the next run of bin b goes; both move on. */
static void fill_panel(const spmm_bin_form *f, const spmm_matrix *a, int64_t panel, int64_t *run, int64_t *entry)
{
    const int64_t first = panel * f->row_panel, stop = first + panel_rows(f, a, panel);
    for (int64_t i = first; i < stop; i++) {
        int64_t rest = f->rest_ptr[i];
        for (int64_t p = a->row_ptr[i], q; p < a->row_ptr[i + 1]; p = q) {
            const int64_t b = a->col[p] / f->bin_columns;
            q = run_end(f, a, p, a->row_ptr[i + 1]);
            if (q - p < f->threshold) {
                copy_entries(a, p, q - p, f->rest_col, f->rest_val, rest);
                rest += q - p;
                continue;
            }
            f->run_row[run[b]] = (int32_t)(i - first);
            f->run_ptr[run[b]++] = entry[b];
            copy_entries(a, p, q - p, f->col, f->val, entry[b]);
            entry[b] += q - p;
        }
    }
}

static hu_status pack_cells(spmm_bin_form *f, const spmm_matrix *a, hu_error *err)
{
    const size_t size = hu_scalar_size(a->scalar);
    const int64_t cells = f->panels * f->bins;
    int64_t *run = NULL, *entry = NULL, runs = 0, entries = 0;
    if (hu_alloc(cells + 1, sizeof *f->cell, "bins", (void **)&f->cell, err) || hu_alloc(a->rows + 1, sizeof *f->rest_ptr, "the remainder", (void **)&f->rest_ptr, err) ||
        hu_alloc_zero(cells, sizeof *run, "bins", (void **)&run, err) || hu_alloc_zero(cells, sizeof *entry, "bins", (void **)&entry, err))
        goto cleanup;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t p = 0; p < f->panels; p++) count_panel(f, a, p, run + p * f->bins, entry + p * f->bins);
    f->rest_ptr[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) f->rest_ptr[i + 1] += f->rest_ptr[i];
    for (int64_t c = 0; c < cells; c++) {
        const int64_t n = run[c], e = entry[c];
        f->cell[c] = run[c] = runs;
        entry[c] = entries;
        runs += n;
        entries += e;
    }
    f->cell[cells] = f->runs = runs;
    if (hu_alloc(runs + 1, sizeof *f->run_ptr, "runs", (void **)&f->run_ptr, err) || hu_alloc(runs, sizeof *f->run_row, "runs", (void **)&f->run_row, err) ||
        hu_alloc(entries, sizeof *f->col, "packed columns", (void **)&f->col, err) || hu_alloc(entries, size, "packed values", &f->val, err) ||
        hu_alloc(f->rest_ptr[a->rows], sizeof *f->rest_col, "the remainder", (void **)&f->rest_col, err) ||
        hu_alloc(f->rest_ptr[a->rows], size, "the remainder", &f->rest_val, err))
        goto cleanup;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t p = 0; p < f->panels; p++) fill_panel(f, a, p, run + p * f->bins, entry + p * f->bins);
    f->run_ptr[runs] = entries;
cleanup:
    hu_free(run);
    hu_free(entry);
    return err->status;
}

static void divide(spmm_bin_form *f, const spmm_matrix *a)
{
    f->bins = (a->cols + f->bin_columns - 1) / f->bin_columns;
    f->panels = (a->rows + f->row_panel - 1) / f->row_panel;
}

static hu_status pack(const spmm_matrix *a, const spmm_options *o, void **ret_pack, hu_error *err)
{
    void *block;
    *ret_pack = NULL;
    if (hu_alloc_zero(1, sizeof(spmm_bin_form), "bins", &block, err)) return err->status;
    spmm_bin_form *f = block;
    const int64_t share = a->rows / PANELS;
    f->bin_columns = o->bin_columns ? o->bin_columns : BIN_COLUMNS;
    f->row_panel = o->row_panel ? o->row_panel : share < LEAST_PANEL ? LEAST_PANEL : share > GREATEST_PANEL ? GREATEST_PANEL : share;
    f->threshold = o->bin_threshold ? o->bin_threshold : THRESHOLD;
    divide(f, a);
    int64_t cells;
    if (!hu_mul_size(f->panels, f->bins, &cells) || cells > a->nnz + (1 << 20))
        hu_fail(err, HU_USAGE, "%lld x %lld bins are more than the matrix has entries; take larger ones (--bin, --row-panel)", (long long)f->panels, (long long)f->bins);
    if (err->status || pack_cells(f, a, err)) {
        free_pack(f);
        return err->status;
    }
    *ret_pack = f;
    return HU_OK;
}

/* ---- multiplying ------------------------------------------------------------------------------------------------ */

/* One panel into c (row 0 is the panel's first), sums only. */
static void multiply_panel(const spmm_bin_form *f, const spmm_matrix *a, const spmm_product *p, int64_t panel, int64_t width, void *c, int64_t ldc)
{
    const int64_t k = p->b->cols, first = panel * f->row_panel;
    spmm_tile t = spmm_tile_of(a, p, false);
    t.c = c;
    t.ldc = ldc;
    t.c_scalar = a->scalar;
    t.finish = NULL;
    for (t.from = 0; t.from < k; t.from += width) {
        t.width = k - t.from < width ? k - t.from : width;
        t.resume = false;
        t.col = f->rest_col;
        t.val = f->rest_val;
        t.last = f->rest_ptr[a->rows] - 1;
        HU_PICK(spmm_rows)(&t, f->rest_ptr + first, NULL, 0, panel_rows(f, a, panel));
        t.resume = true;
        t.col = f->col;
        t.val = f->val;
        t.last = f->run_ptr[f->runs] - 1;
        for (int64_t b = 0; b < f->bins; b++) {
            const int64_t run = f->cell[panel * f->bins + b];
            HU_PICK(spmm_rows)(&t, f->run_ptr + run, f->run_row + run, 0, f->cell[panel * f->bins + b + 1] - run);
        }
    }
}

/* Sums in `scratch` become rows of C: a product of the identity with them. */
static void finish_panel(const spmm_bin_form *f, const spmm_matrix *a, const spmm_product *p, int64_t panel, const void *scratch, const int64_t *ptr, const int32_t *col, const void *one)
{
    spmm_tile t = spmm_tile_of(a, p, true);
    t.b = scratch;
    t.ldb = t.width = p->b->cols;
    t.b_scalar = a->scalar;
    t.col = col;
    t.val = one;
    HU_PICK(spmm_rows)(&t, ptr, NULL, panel * f->row_panel, panel_rows(f, a, panel));
}

static hu_status multiply(const void *block, const spmm_matrix *a, const spmm_product *p, hu_error *err)
{
    const spmm_bin_form *f = block;
    const size_t size = hu_scalar_size(a->scalar);
    const int64_t k = p->b->cols, width = spmm_tile_width(f->bin_columns, k, p->b->scalar), n = f->row_panel < a->rows ? f->row_panel : a->rows;
    const bool direct = p->c->scalar == a->scalar && spmm_finish_is_plain(&p->finish);
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    void *one = NULL, *scratch = NULL;
    int64_t scratch_size = 0;
    if (!direct) {
        if (!hu_mul_size(n, k, &scratch_size)) return hu_fail(err, HU_SYSTEM, "a panel of %lld x %lld is more than memory can address", (long long)n, (long long)k);
        if (hu_alloc(n + 1, sizeof *ptr, "a panel", (void **)&ptr, err) || hu_alloc(n, sizeof *col, "a panel", (void **)&col, err) || hu_alloc(n, size, "a panel", &one, err) ||
            hu_alloc(hu_threads(), (size_t)scratch_size * size, "a panel", &scratch, err))
            goto cleanup;
        for (int64_t i = 0; i <= n; i++) ptr[i] = i;
        for (int64_t i = 0; i < n; i++) {
            col[i] = (int32_t)i;
            hu_scalar_put(a->scalar, one, i, 1);
        }
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t panel = 0; panel < f->panels; panel++) {
        if (direct) {
            multiply_panel(f, a, p, panel, width, (char *)p->c->data + (size_t)(panel * f->row_panel * p->c->ld) * size, p->c->ld);
        } else {
            void *own = (char *)scratch + (size_t)(hu_thread() * scratch_size) * size;
            multiply_panel(f, a, p, panel, width, own, k);
            finish_panel(f, a, p, panel, own, ptr, col, one);
        }
    }
cleanup:
    hu_free(ptr);
    hu_free(col);
    hu_free(one);
    hu_free(scratch);
    return err->status;
}

static void stats(const void *block, const spmm_matrix *a, spmm_stats *ret_stats)
{
    const spmm_bin_form *f = block;
    const int64_t packed = f->run_ptr[f->runs], rest = f->rest_ptr[a->rows];
    *ret_stats = (spmm_stats){.packs = f->runs, .covered = packed + rest, .remainder = rest, .least_load = (double)a->nnz};
    for (int64_t panel = 0; panel < f->panels; panel++) {
        const int64_t first = panel * f->row_panel;
        const double load = (double)(a->row_ptr[first + panel_rows(f, a, panel)] - a->row_ptr[first]);
        if (load < ret_stats->least_load) ret_stats->least_load = load;
        if (load > ret_stats->greatest_load) ret_stats->greatest_load = load;
    }
    ret_stats->bytes = (f->panels * f->bins + 1 + f->runs + 1 + a->rows + 1) * 8 + f->runs * 4 + (packed + rest) * (int64_t)(4 + hu_scalar_size(a->scalar));
}

/* ---- files: BINP.cell BINP.ptr BINP.row BINP.col BINP.val, REMA.ptr REMA.col REMA.val -------------------------------------- */

static hu_status save(const void *block, const spmm_matrix *a, hu_scalar storage, hu_bundle_writer *w, void **ret_scratch, hu_error *err)
{
    const spmm_bin_form *f = block;
    const int64_t packed = f->run_ptr[f->runs], rest = f->rest_ptr[a->rows];
    const size_t size = hu_scalar_size(storage);
    json_t *own = json_object();
    *ret_scratch = NULL;
    if (!own || json_object_set_new(hu_bundle_content(w), "bin", own) || json_object_set_new(own, "bin_columns", json_integer(f->bin_columns)) ||
        json_object_set_new(own, "row_panel", json_integer(f->row_panel)) || json_object_set_new(own, "threshold", json_integer(f->threshold)) ||
        json_object_set_new(own, "runs", json_integer(f->runs)))
        return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_alloc(packed + rest, size, "values", ret_scratch, err)) return err->status;
    for (int64_t p = 0; p < packed; p++) hu_scalar_put(storage, *ret_scratch, p, hu_scalar_get(a->scalar, f->val, p));
    for (int64_t p = 0; p < rest; p++) hu_scalar_put(storage, *ret_scratch, packed + p, hu_scalar_get(a->scalar, f->rest_val, p));
    if (hu_bundle_add_array(w, "BINP.cell", HU_BUNDLE_I8, f->cell, f->panels * f->bins + 1, err) || hu_bundle_add_array(w, "BINP.ptr", HU_BUNDLE_I8, f->run_ptr, f->runs + 1, err) ||
        hu_bundle_add_array(w, "BINP.row", HU_BUNDLE_I4, f->run_row, f->runs, err) || hu_bundle_add_array(w, "BINP.col", HU_BUNDLE_I4, f->col, packed, err) ||
        hu_bundle_add(w, "BINP.val", *ret_scratch, packed * (int64_t)size, err) || hu_bundle_add_array(w, "REMA.ptr", HU_BUNDLE_I8, f->rest_ptr, a->rows + 1, err) ||
        hu_bundle_add_array(w, "REMA.col", HU_BUNDLE_I4, f->rest_col, rest, err) || hu_bundle_add(w, "REMA.val", (char *)*ret_scratch + (size_t)packed * size, rest * (int64_t)size, err))
        return err->status;
    return HU_OK;
}

/* Pointers 0..items that never fall. */
static hu_status check_ptr(const hu_bundle *bundle, const char *member, const int64_t *ptr, int64_t n, int64_t items, hu_error *err)
{
    bool good = ptr[0] == 0 && ptr[n] == items;
    for (int64_t i = 0; i < n && good; i++) good = ptr[i] <= ptr[i + 1];
    return good ? HU_OK : hu_bundle_fail(bundle, err, "%s does not rise from 0 to %lld", member, (long long)items);
}

/* A copy of an array of n items, and of values of the storage's scalar in the matrix's. */
static hu_status copy_member(const hu_bundle *bundle, const char *name, hu_bundle_type type, int64_t n, void **ret, hu_error *err)
{
    const size_t size = type == HU_BUNDLE_I8 ? 8 : 4;
    const void *items;
    if (hu_bundle_get_exactly(bundle, name, type, n, &items, err) || hu_alloc(n, size, name, ret, err)) return err->status;
    memcpy(*ret, items, (size_t)n * size);
    return HU_OK;
}

static hu_status copy_values(const hu_bundle *bundle, const char *name, hu_scalar storage, hu_scalar scalar, int64_t n, void **ret, hu_error *err)
{
    const void *bytes;
    int64_t size;
    if (hu_bundle_get(bundle, name, &bytes, &size, err)) return err->status;
    if (size != n * (int64_t)hu_scalar_size(storage)) return hu_bundle_fail(bundle, err, "%s has %lld bytes, not %lld values", name, (long long)size, (long long)n);
    return spmm_values_as(bytes, storage, scalar, n, ret, err);
}

/* Each run must be of its panel and bin, and each entry of the matrix be there: the entries of a row, its remainder and runs together, in number; columns in
 * the bin. What the columns are otherwise is what the product is of. */
static hu_status check_runs(const spmm_bin_form *f, const spmm_matrix *a, const hu_bundle *bundle, hu_error *err)
{
    for (int64_t panel = 0; panel < f->panels; panel++)
        for (int64_t b = 0; b < f->bins; b++)
            for (int64_t r = f->cell[panel * f->bins + b]; r < f->cell[panel * f->bins + b + 1]; r++) {
                if (f->run_row[r] < 0 || f->run_row[r] >= panel_rows(f, a, panel)) return hu_bundle_fail(bundle, err, "BINP.row: run %lld is outside its panel", (long long)r + 1);
                for (int64_t p = f->run_ptr[r]; p < f->run_ptr[r + 1]; p++)
                    if (f->col[p] < b * f->bin_columns || f->col[p] >= (b + 1) * f->bin_columns || f->col[p] >= a->cols)
                        return hu_bundle_fail(bundle, err, "BINP.col: entry %lld is outside its bin", (long long)p + 1);
            }
    for (int64_t p = 0; p < f->rest_ptr[a->rows]; p++)
        if (f->rest_col[p] < 0 || f->rest_col[p] >= a->cols) return hu_bundle_fail(bundle, err, "REMA.col: entry %lld is outside the matrix", (long long)p + 1);
    return HU_OK;
}

static hu_status load(const hu_bundle *bundle, const spmm_matrix *a, hu_scalar storage, void **ret_pack, hu_error *err)
{
    hu_json_place root = hu_bundle_root(bundle), own;
    void *block;
    int64_t packed, cells;
    *ret_pack = NULL;
    if (hu_alloc_zero(1, sizeof(spmm_bin_form), "bins", &block, err)) return err->status;
    spmm_bin_form *f = block;
    if (hu_json_member(&root, "bin", &own, err) || hu_json_integer(&own, "bin_columns", 1, INT32_MAX, &f->bin_columns, err) ||
        hu_json_integer(&own, "row_panel", 1, INT32_MAX, &f->row_panel, err) || hu_json_integer(&own, "threshold", 1, INT32_MAX, &f->threshold, err) ||
        hu_json_integer(&own, "runs", 0, a->nnz, &f->runs, err))
        goto failed;
    divide(f, a);
    if (!hu_mul_size(f->panels, f->bins, &cells)) {
        hu_bundle_fail(bundle, err, "too many bins");
        goto failed;
    }
    if (copy_member(bundle, "BINP.cell", HU_BUNDLE_I8, cells + 1, (void **)&f->cell, err) || check_ptr(bundle, "BINP.cell", f->cell, cells, f->runs, err) ||
        copy_member(bundle, "BINP.ptr", HU_BUNDLE_I8, f->runs + 1, (void **)&f->run_ptr, err))
        goto failed;
    packed = f->run_ptr[f->runs];
    if (packed < 0 || packed > a->nnz) {
        hu_bundle_fail(bundle, err, "BINP.ptr ends outside the matrix");
        goto failed;
    }
    if (check_ptr(bundle, "BINP.ptr", f->run_ptr, f->runs, packed, err) || copy_member(bundle, "BINP.row", HU_BUNDLE_I4, f->runs, (void **)&f->run_row, err) ||
        copy_member(bundle, "BINP.col", HU_BUNDLE_I4, packed, (void **)&f->col, err) || copy_values(bundle, "BINP.val", storage, a->scalar, packed, &f->val, err) ||
        copy_member(bundle, "REMA.ptr", HU_BUNDLE_I8, a->rows + 1, (void **)&f->rest_ptr, err) ||
        check_ptr(bundle, "REMA.ptr", f->rest_ptr, a->rows, a->nnz - packed, err) ||
        copy_member(bundle, "REMA.col", HU_BUNDLE_I4, a->nnz - packed, (void **)&f->rest_col, err) ||
        copy_values(bundle, "REMA.val", storage, a->scalar, a->nnz - packed, &f->rest_val, err) || check_runs(f, a, bundle, err))
        goto failed;
    *ret_pack = f;
    return HU_OK;
failed:
    free_pack(f);
    return err->status;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

const spmm_strategy spmm_bin = {"bin", pack, multiply, stats, save, load, free_pack};
