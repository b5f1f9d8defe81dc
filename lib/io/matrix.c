/* matrix.c: a sparse matrix from any file that the toolkit reads.
 *
 * Sections: NumPy triples, the bundle, choosing.
 */
#include "config.h"
#include "io/matrix.h"
#include "base/memory.h"
#include "io/bundle.h"
#include "io/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t MOST_BYTES = INT64_MAX / 2; /* memory follows what is there, so the file's own size is the bound */

static hu_status check_values(const hu_csr *a, const hu_mtx_options *options, const char *name, hu_error *err)
{
    if (hu_csr_check(a, name, err)) return err->status;
    if (options->keep_nonfinite) return HU_OK;
    int parts = a->is_complex ? 2 : 1;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i] * parts; p < a->row_ptr[i + 1] * parts; p++)
            if (!isfinite(a->val[p])) return hu_fail(err, HU_INPUT, "%s: row %lld holds a value that is not finite", name, (long long)i + 1);
    return HU_OK;
}

static void describe(const hu_csr *a, hu_mtx_info *opt_info)
{
    if (!opt_info) return;
    *opt_info = (hu_mtx_info){HU_MTX_COORDINATE, a->is_complex ? HU_MTX_COMPLEX : HU_MTX_REAL, HU_MTX_GENERAL, a->rows, a->cols, a->nnz};
}

/* ---- NumPy triples ---------------------------------------------------------------------------------------------- */

typedef struct {
    hu_npy *ptr, *index, *data, *shape;
    bool by_column;
} triple;

static void free_triple(triple *t)
{
    hu_npy_free(t->ptr);
    hu_npy_free(t->index);
    hu_npy_free(t->data);
    hu_npy_free(t->shape);
}

/* member: "indptr.npy" of the archive or folder `path`, joined by separator. */
static hu_status open_member(const char *path, char separator, const char *member, hu_source **ret_source, hu_error *err)
{
    char *whole;
    if (asprintf(&whole, "%s%c%s", path, separator, member) < 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    hu_status status = hu_source_open(whole, NULL, ret_source, err);
    free(whole);
    return status;
}

static hu_status read_member(const char *path, char separator, const char *member, hu_npy **ret_array, hu_error *err)
{
    hu_source *source;
    if (open_member(path, separator, member, &source, err)) return err->status;
    hu_status status = hu_npy_read(source, MOST_BYTES, ret_array, err);
    if (status == HU_END) status = hu_fail(err, HU_INPUT, "%s: %s is empty", path, member);
    hu_source_close(source);
    return status;
}

/* SciPy stores the word csr or csc as a text array, which is no number: its last bytes are the word, one or four bytes a letter. */
static hu_status read_format(const char *path, bool *ret_by_column, hu_error *err)
{
    hu_source *source;
    char *text, word[4] = "";
    int64_t size;
    if (open_member(path, ':', "format.npy", &source, err)) return err->status;
    hu_status status = hu_source_slurp(source, 4096, &text, &size, err);
    hu_source_close(source);
    if (status) return status;
    int letters = 3;
    for (int64_t i = size - 1; i >= 0 && letters > 0; i--)
        if (text[i]) word[--letters] = text[i];
    hu_free(text);
    *ret_by_column = strcmp(word, "csc") == 0;
    if (!*ret_by_column && strcmp(word, "csr") != 0)
        return hu_fail(err, HU_INPUT, "%s: sparse format '%.3s' is not csr or csc; convert it with .tocsr()", path, letters ? "?" : word);
    return HU_OK;
}

static hu_status read_shape(const triple *t, const char *path, int64_t ret_shape[2], hu_error *err)
{
    int64_t *items;
    if (t->shape->count != 2) return hu_fail(err, HU_INPUT, "%s: shape must hold two numbers", path);
    if (hu_npy_to_integers(t->shape, path, 0, HU_MAX_DIMENSION, &items, err)) return err->status;
    ret_shape[0] = items[0];
    ret_shape[1] = items[1];
    hu_free(items);
    return HU_OK;
}

/* Takes the triple's arrays over into coordinate entries, which are then sorted and checked like those of any file. */
static hu_status triple_to_csr(triple *t, const char *path, hu_duplicates duplicates, hu_csr **ret_csr, hu_error *err)
{
    int64_t *ptr = NULL, *index = NULL, shape[2] = {0, 0}, count = t->index->count;
    hu_dense *values = NULL;
    hu_coo *coo = NULL;
    if (t->ptr->count < 1 || t->ptr->count - 1 > HU_MAX_DIMENSION)
        return hu_fail(err, HU_INPUT, "%s: indptr has %lld items", path, (long long)t->ptr->count);
    if (hu_npy_to_integers(t->ptr, path, 0, count, &ptr, err)) goto cleanup;
    if (hu_npy_to_integers(t->index, path, 0, HU_MAX_DIMENSION - 1, &index, err)) goto cleanup;
    if (hu_npy_to_dense(&t->data, path, &values, err)) goto cleanup;
    int64_t major = t->ptr->count - 1, minor = 0;
    for (int64_t k = 0; k < count; k++)
        if (index[k] >= minor) minor = index[k] + 1;
    if (t->shape && read_shape(t, path, shape, err)) goto cleanup;
    if (!t->shape) shape[0] = major, shape[1] = minor > major ? minor : major;
    if (shape[t->by_column ? 1 : 0] != major || shape[t->by_column ? 0 : 1] < minor || values->rows * values->cols != count ||
        ptr[0] != 0 || ptr[major] != count) {
        hu_fail(err, HU_INPUT, "%s: indptr (%lld), indices (%lld), data (%lld) and shape (%lld x %lld) do not fit together", path,
                (long long)t->ptr->count, (long long)count, (long long)(values->rows * values->cols), (long long)shape[0],
                (long long)shape[1]);
        goto cleanup;
    }
    for (int64_t i = 0; i < major; i++)
        if (ptr[i + 1] < ptr[i]) {
            hu_fail(err, HU_INPUT, "%s: indptr falls at item %lld", path, (long long)i + 2);
            goto cleanup;
        }
    if (hu_coo_new(shape[0], shape[1], count, values->scalar == HU_C128, &coo, err)) goto cleanup;
    for (int64_t i = 0; i < major; i++)
        for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {
            coo->row[k] = (int32_t)(t->by_column ? index[k] : i);
            coo->col[k] = (int32_t)(t->by_column ? i : index[k]);
        }
    if (values->scalar == HU_F32)
        for (int64_t k = 0; k < count; k++) coo->val[k] = ((float *)values->data)[k];
    else memcpy(coo->val, values->data, (size_t)count * hu_scalar_size(values->scalar));
    hu_csr_from_coo(&coo, duplicates, path, ret_csr, err);
cleanup:
    hu_free(ptr);
    hu_free(index);
    hu_dense_free(values);
    hu_coo_free(coo);
    return err->status;
}

static bool has_file(const char *folder, const char *name)
{
    char *whole;
    struct stat st;
    if (asprintf(&whole, "%s/%s", folder, name) < 0) return false;
    bool there = stat(whole, &st) == 0;
    free(whole);
    return there;
}

static hu_status read_triple(const char *path, bool is_folder, hu_duplicates duplicates, hu_csr **ret_csr, hu_error *err)
{
    triple t = {0};
    char separator = is_folder ? '/' : ':';
    if (is_folder && !has_file(path, "indptr.npy")) {
        return hu_fail(err, HU_SYSTEM, "%s: is a folder; as a matrix it must hold indptr.npy, indices.npy and data.npy", path);
    }
    bool shaped = !is_folder || has_file(path, "shape.npy");
    if ((!is_folder && read_format(path, &t.by_column, err)) || read_member(path, separator, "indptr.npy", &t.ptr, err) ||
        read_member(path, separator, "indices.npy", &t.index, err) || read_member(path, separator, "data.npy", &t.data, err) ||
        (shaped && read_member(path, separator, "shape.npy", &t.shape, err)))
        goto cleanup;
    triple_to_csr(&t, path, duplicates, ret_csr, err);
cleanup:
    free_triple(&t);
    return err->status;
}

/* ---- the bundle ------------------------------------------------------------------------------------------------- */

static const char KIND[] = "csr";
enum { MAJOR = 1, MINOR = 0 };

static hu_status read_bundle(const char *path, hu_csr **ret_csr, hu_error *err)
{
    hu_source *source = NULL;
    hu_bundle *bundle = NULL;
    hu_csr *a = NULL;
    int64_t rows, cols, nnz;
    bool is_complex;
    const void *ptr, *col, *val;
    if (hu_source_open(path, NULL, &source, err) || hu_bundle_read(source, KIND, MAJOR, MOST_BYTES, &bundle, err)) goto cleanup;
    hu_json_place root = hu_bundle_root(bundle);
    if (hu_json_integer(&root, "rows", 0, HU_MAX_DIMENSION, &rows, err) ||
        hu_json_integer(&root, "cols", 0, HU_MAX_DIMENSION, &cols, err) ||
        hu_json_integer(&root, "nnz", 0, INT64_MAX / 32, &nnz, err) || hu_json_bool(&root, "complex", &is_complex, err) ||
        hu_bundle_get_exactly(bundle, "row_ptr.i8", HU_BUNDLE_I8, rows + 1, &ptr, err) ||
        hu_bundle_get_exactly(bundle, "col.i4", HU_BUNDLE_I4, nnz, &col, err) ||
        hu_bundle_get_exactly(bundle, "val.f8", HU_BUNDLE_F8, is_complex ? 2 * nnz : nnz, &val, err) ||
        hu_csr_new(rows, cols, nnz, is_complex, &a, err))
        goto cleanup;
    memcpy(a->row_ptr, ptr, (size_t)(rows + 1) * sizeof *a->row_ptr);
    memcpy(a->col, col, (size_t)nnz * sizeof *a->col);
    memcpy(a->val, val, (size_t)(is_complex ? 2 * nnz : nnz) * sizeof *a->val);
    *ret_csr = a;
    a = NULL;
cleanup:
    hu_csr_free(a);
    hu_bundle_free(bundle);
    hu_source_close(source);
    return err->status;
}

static hu_status write_bundle(hu_output *out, const hu_csr *a, hu_error *err)
{
    hu_bundle_writer *w;
    if (hu_bundle_create(KIND, MAJOR, MINOR, &w, err)) return err->status;
    json_t *content = hu_bundle_content(w);
    if (json_object_set_new(content, "rows", json_integer(a->rows)) || json_object_set_new(content, "cols", json_integer(a->cols)) ||
        json_object_set_new(content, "nnz", json_integer(a->nnz)) ||
        json_object_set_new(content, "complex", json_boolean(a->is_complex))) {
        hu_bundle_abort(&w);
        return hu_fail(err, HU_SYSTEM, "out of memory");
    }
    if (hu_bundle_add_array(w, "row_ptr.i8", HU_BUNDLE_I8, a->row_ptr, a->rows + 1, err) ||
        hu_bundle_add_array(w, "col.i4", HU_BUNDLE_I4, a->col, a->nnz, err) ||
        hu_bundle_add_array(w, "val.f8", HU_BUNDLE_F8, a->val, a->is_complex ? 2 * a->nnz : a->nnz, err)) {
        hu_bundle_abort(&w);
        return err->status;
    }
    return hu_bundle_finish(&w, HU_BUNDLE_PLAIN, out, err);
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

hu_status hu_matrix_read(const char *path, const hu_mtx_options *options, hu_csr **ret_csr, hu_mtx_info *opt_info, hu_error *err)
{
    struct stat st;
    *ret_csr = NULL;
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (is_folder || hu_ends_in(path, ".npz") || hu_ends_in(path, ".csr")) {
        hu_status status = is_folder || hu_ends_in(path, ".npz") ? read_triple(path, is_folder, options->duplicates, ret_csr, err)
                                                              : read_bundle(path, ret_csr, err);
        if (!status) status = check_values(*ret_csr, options, path, err);
        if (!status) describe(*ret_csr, opt_info);
        else hu_csr_free(*ret_csr), *ret_csr = NULL;
        return status;
    }
    hu_source *source;
    if (hu_source_open(path, ".mtx", &source, err)) return err->status;
    hu_status status = hu_mtx_read_csr(source, options, ret_csr, opt_info, err);
    hu_source_close(source);
    return status;
}

hu_status hu_matrix_write(hu_output *out, const hu_csr *csr, const char *opt_comment, hu_error *err)
{
    if (hu_ends_in(hu_output_name(out), ".csr")) return write_bundle(out, csr, err);
    return hu_mtx_write_csr(out, csr, opt_comment, err);
}
