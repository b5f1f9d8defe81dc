/* packed.c: packed matrices as files (.spk).
 *
 * Sections: memory, reading, plans, writing.
 */
#include "config.h"
#include "packed.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KIND "spmm-pack"
enum { MAJOR = 1, MINOR = 0 };

static const int64_t MOST_BYTES = INT64_MAX / 2; /* memory follows what is there */
static const char *const scalar_words[] = {"f64", "f32", "f16", "bf16"};
static const hu_scalar scalars[] = {HU_F64, HU_F32, HU_F16, HU_BF16};

/* ---- memory ----------------------------------------------------------------------------------------------------- */

void spmm_packed_free(spmm_packed *packed)
{
    if (!packed) return;
    spmm_matrix_free(packed->a);
    hu_free(packed->perm);
    free(packed->made);
    free(packed->cpu);
    free(packed->tune);
    hu_bundle_free(packed->bundle);
    hu_free(packed);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

hu_status spmm_packed_sniff(hu_source *source, bool *ret_is, hu_error *err)
{
    static const char first[] = "manifest.json";
    static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    const void *head;
    size_t size;
    if (hu_source_peek(source, sizeof first, &head, &size, err)) return err->status;
    *ret_is = size == sizeof first && (memcmp(head, first, sizeof first) == 0 || memcmp(head, zstd, sizeof zstd) == 0);
    return HU_OK;
}

/* Columns: borrowed from the bundle, or narrowed to 32 bits. */
static hu_status read_columns(spmm_packed *p, hu_error *err)
{
    spmm_matrix *a = p->a;
    const void *items;
    if (hu_bundle_get_exactly(p->bundle, "COLI", p->wide_index ? HU_BUNDLE_I8 : HU_BUNDLE_I4, a->nnz, &items, err)) return err->status;
    if (!p->wide_index) {
        a->col = (int32_t *)(uintptr_t)items;
        return HU_OK;
    }
    if (hu_alloc(a->nnz, sizeof *a->col, "columns", (void **)&a->col, err)) return err->status;
    a->borrowed_col = false;
    for (int64_t k = 0; k < a->nnz; k++) {
        const int64_t col = ((const int64_t *)items)[k];
        a->col[k] = col >= 0 && col < a->cols ? (int32_t)col : -1; /* found by the check */
    }
    return HU_OK;
}

static hu_status read_members(spmm_packed *p, bool is_pattern, hu_error *err)
{
    spmm_matrix *a = p->a;
    const hu_bundle *b = p->bundle;
    const void *items;
    int64_t size;
    if (hu_bundle_get_exactly(b, "ROWP", HU_BUNDLE_I8, a->rows + 1, &items, err)) return err->status;
    a->row_ptr = (int64_t *)(uintptr_t)items;
    if (read_columns(p, err)) return err->status;
    if (!is_pattern) {
        if (hu_bundle_get(b, "VALS", &items, &size, err)) return err->status;
        if (size != a->nnz * (int64_t)hu_scalar_size(p->storage)) return hu_bundle_fail(b, err, "VALS has %lld bytes, not %lld values of %s", (long long)size, (long long)a->nnz, hu_scalar_name(p->storage));
        a->val = (void *)(uintptr_t)items;
    }
    if (spmm_matrix_check(a, hu_bundle_name(b), err)) return err->status;
    if (hu_bundle_has(b, "PERM")) {
        if (hu_bundle_get_exactly(b, "PERM", HU_BUNDLE_I4, a->rows, &items, err)) return err->status;
        if (a->rows != a->cols) return hu_bundle_fail(b, err, "PERM: only a square matrix can be reordered");
        if (hu_permutation_check(items, a->rows, hu_bundle_name(b), err) || hu_alloc(a->rows, sizeof *p->perm, "an order", (void **)&p->perm, err)) return err->status;
        memcpy(p->perm, items, (size_t)a->rows * sizeof *p->perm);
    }
    if (hu_bundle_has(b, "TUNE")) {
        if (hu_bundle_get(b, "TUNE", &items, &p->tune_size, err)) return err->status;
        p->tune = malloc((size_t)p->tune_size + 1);
        if (!p->tune) return hu_fail(err, HU_SYSTEM, "out of memory");
        memcpy(p->tune, items, (size_t)p->tune_size);
        p->tune[p->tune_size] = '\0';
    }
    return HU_OK;
}

static hu_status read_text(const hu_json_place *root, const char *key, char **ret, hu_error *err)
{
    const char *text;
    if (!hu_json_has(root, key)) return HU_OK;
    if (hu_json_text(root, key, &text, err)) return err->status;
    *ret = strdup(text);
    return *ret ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

static hu_status read_content(spmm_packed *p, hu_error *err)
{
    hu_json_place root = hu_bundle_root(p->bundle);
    int64_t index, rows, cols, nnz;
    const char *strategy;
    bool is_pattern;
    int word;
    if (hu_json_integer(&root, "rows", 0, HU_MAX_DIMENSION, &rows, err) || hu_json_integer(&root, "cols", 0, HU_MAX_DIMENSION, &cols, err) ||
        hu_json_integer(&root, "nnz", 0, INT64_MAX / 32, &nnz, err) || hu_json_bool(&root, "pattern", &is_pattern, err) ||
        hu_json_word(&root, "dtype", scalar_words, 4, &word, err) || hu_json_integer(&root, "index", 32, 64, &index, err) || hu_json_text(&root, "strategy", &strategy, err) ||
        read_text(&root, "made", &p->made, err) || read_text(&root, "cpu", &p->cpu, err))
        return err->status;
    if (index != 32 && index != 64) return hu_bundle_fail(p->bundle, err, "index is %lld, not 32 or 64", (long long)index);
    p->storage = scalars[word];
    p->wide_index = index == 64;
    p->strategy = spmm_strategy_find(strategy);
    if (!p->strategy) return hu_bundle_fail(p->bundle, err, "is packed for '%.40s', which this program does not know", strategy);
    void *block;
    if (hu_alloc_zero(1, sizeof(spmm_matrix), "a matrix", &block, err)) return err->status;
    p->a = block;
    *p->a = (spmm_matrix){.rows = rows, .cols = cols, .nnz = nnz, .scalar = p->storage, .borrowed = true, .borrowed_col = true, .borrowed_val = true};
    return read_members(p, is_pattern, err);
}

hu_status spmm_packed_read(hu_source *source, spmm_packed **ret_packed, hu_error *err)
{
    void *block;
    *ret_packed = NULL;
    if (hu_alloc_zero(1, sizeof(spmm_packed), "a packed matrix", &block, err)) return err->status;
    spmm_packed *p = block;
    if (hu_bundle_read(source, KIND, MAJOR, MOST_BYTES, &p->bundle, err) || read_content(p, err)) {
        spmm_packed_free(p);
        return err->status;
    }
    *ret_packed = p;
    return HU_OK;
}

/* ---- plans ------------------------------------------------------------------------------------------------------ */

hu_status spmm_packed_plan(spmm_packed *packed, const spmm_strategy *strategy, const spmm_options *options, hu_scalar sums, spmm_plan **ret_plan, hu_error *err)
{
    void *block;
    *ret_plan = NULL;
    if (!packed->bundle || (strategy && strategy != packed->strategy)) return spmm_plan_new(packed->a, strategy, options, sums, ret_plan, err);
    if (spmm_matrix_widen(packed->a, sums, err) || hu_alloc_zero(1, sizeof(spmm_plan), "a plan", &block, err)) return err->status;
    spmm_plan *p = block;
    p->a = packed->a;
    p->strategy = packed->strategy;
    if (p->strategy->load(packed->bundle, packed->a, packed->storage, &p->pack, err)) {
        hu_free(p);
        return err->status;
    }
    *ret_plan = p;
    return HU_OK;
}

hu_status spmm_packed_to_csr(const spmm_packed *packed, hu_csr **ret_csr, hu_error *err)
{
    hu_csr *a;
    void *block;
    if (spmm_matrix_to_csr(packed->a, ret_csr, err) || !packed->perm) return err->status;
    if (hu_alloc(packed->a->rows, sizeof(int32_t), "an order", &block, err)) return err->status;
    int32_t *inverse = block;
    for (int64_t i = 0; i < packed->a->rows; i++) inverse[packed->perm[i]] = (int32_t)i;
    hu_csr_permute(*ret_csr, inverse, &a, err);
    hu_free(inverse);
    hu_csr_free(*ret_csr);
    *ret_csr = err->status ? NULL : a;
    return err->status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static hu_status put_content(const spmm_packed *p, const spmm_plan *plan, bool is_pattern, json_t *content, hu_error *err)
{
    const spmm_matrix *a = p->a;
    char cpu[256];
    snprintf(cpu, sizeof cpu, "%s (%s)", hu_cpu_model(), hu_cpu_level_name(hu_cpu()));
    if (json_object_set_new(content, "rows", json_integer(a->rows)) || json_object_set_new(content, "cols", json_integer(a->cols)) ||
        json_object_set_new(content, "nnz", json_integer(a->nnz)) || json_object_set_new(content, "pattern", json_boolean(is_pattern)) ||
        json_object_set_new(content, "dtype", json_string(hu_scalar_name(p->storage))) || json_object_set_new(content, "index", json_integer(p->wide_index ? 64 : 32)) ||
        json_object_set_new(content, "strategy", json_string(plan->strategy->name)) || json_object_set_new(content, "cpu", json_string(cpu)) ||
        (p->made && json_object_set_new(content, "made", json_string(p->made))))
        return hu_fail(err, HU_SYSTEM, "out of memory");
    return HU_OK;
}

static bool all_ones(const spmm_matrix *a)
{
    for (int64_t k = 0; a->val && k < a->nnz; k++)
        if (hu_scalar_get(a->scalar, a->val, k) != 1) return false;
    return true;
}

static hu_status add_columns(const spmm_packed *p, hu_bundle_writer *w, int64_t **ret_wide, hu_error *err)
{
    const spmm_matrix *a = p->a;
    if (!p->wide_index) return hu_bundle_add_array(w, "COLI", HU_BUNDLE_I4, a->col, a->nnz, err);
    if (hu_alloc(a->nnz, sizeof(int64_t), "columns", (void **)ret_wide, err)) return err->status;
    for (int64_t k = 0; k < a->nnz; k++) (*ret_wide)[k] = a->col[k];
    return hu_bundle_add_array(w, "COLI", HU_BUNDLE_I8, *ret_wide, a->nnz, err);
}

hu_status spmm_packed_write(const spmm_packed *p, const spmm_plan *plan, hu_bundle_filter filter, hu_output *out, hu_error *err)
{
    const spmm_matrix *a = p->a;
    hu_bundle_writer *w = NULL;
    void *val = NULL, *scratch = NULL;
    int64_t *wide = NULL;
    const bool is_pattern = all_ones(a);
    if (hu_bundle_create(KIND, MAJOR, MINOR, &w, err) || put_content(p, plan, is_pattern, hu_bundle_content(w), err) ||
        hu_bundle_add_array(w, "ROWP", HU_BUNDLE_I8, a->row_ptr, a->rows + 1, err) || add_columns(p, w, &wide, err))
        goto cleanup;
    if (!is_pattern && (spmm_values_as(a->val, a->scalar, p->storage, a->nnz, &val, err) ||
                        hu_bundle_add(w, "VALS", val, a->nnz * (int64_t)hu_scalar_size(p->storage), err)))
        goto cleanup;
    if (p->perm && hu_bundle_add_array(w, "PERM", HU_BUNDLE_I4, p->perm, a->rows, err)) goto cleanup;
    if (p->tune && hu_bundle_add(w, "TUNE", p->tune, p->tune_size, err)) goto cleanup;
    if (plan->strategy->save && plan->strategy->save(plan->pack, a, p->storage, w, &scratch, err)) goto cleanup;
    hu_bundle_finish(&w, filter, out, err);
cleanup:
    hu_bundle_abort(&w);
    hu_free(val);
    hu_free(wide);
    hu_free(scratch);
    return err->status;
}
