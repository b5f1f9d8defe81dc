/* dense_in.c: dense operands from any file. */
#include "config.h"
#include "dense_in.h"
#include "base/memory.h"
#include "io/array.h"
#include "io/npy.h"

#include <string.h>

static const int64_t MOST_BYTES = INT64_MAX / 2; /* memory follows what is there */

/* A two-byte array as it is: its memory changes hands. */
static hu_status halves(hu_npy **array, hu_scalar scalar, const char *name, hu_dense **ret_dense, hu_error *err)
{
    hu_npy *a = *array;
    if (a->dims > 2) return hu_fail(err, HU_INPUT, "%s: the array has %d dimensions; a vector or a matrix is needed", name, a->dims);
    if (hu_dense_new(0, 0, scalar, a->dims == 2 ? a->order : HU_COL_MAJOR, ret_dense, err)) return err->status;
    hu_dense *d = *ret_dense;
    void *empty = d->data;
    d->rows = a->dims > 0 ? a->shape[0] : 1;
    d->cols = a->dims > 1 ? a->shape[1] : 1;
    d->ld = d->order == HU_COL_MAJOR ? d->rows : d->cols;
    d->dims = a->dims == 2 ? 2 : 1;
    d->data = a->data;
    a->data = empty;
    return HU_OK;
}

static hu_status read_npy(hu_source *source, bool is_bf16, hu_dense **ret_dense, hu_error *err)
{
    const char *name = hu_source_name(source);
    hu_npy *array;
    if (hu_npy_read(source, MOST_BYTES, &array, err)) return err->status;
    if (is_bf16 && array->type != HU_NPY_U2) hu_fail(err, HU_INPUT, "%s: --bf16 needs an array of type u2, this is %s", name, hu_npy_type_name(array->type));
    else if (is_bf16) halves(&array, HU_BF16, name, ret_dense, err);
    else if (array->type == HU_NPY_F2) halves(&array, HU_F16, name, ret_dense, err);
    else hu_npy_to_dense(&array, name, ret_dense, err);
    hu_npy_free(array);
    return err->status;
}

hu_status spmm_dense_read(const char *path, bool is_bf16, hu_dense **ret_dense, hu_error *err)
{
    hu_source *source = NULL;
    hu_array_reader *reader = NULL;
    const void *head;
    size_t size;
    *ret_dense = NULL;
    if (hu_source_open(path, NULL, &source, err) || hu_source_peek(source, 6, &head, &size, err) ||
        hu_array_reader_new(source, HU_ARRAY_AUTO, 0, &reader, err))
        goto cleanup;
    hu_array_reader_keep_nonfinite(reader);
    if (size == 6 && memcmp(head, "\x93NUMPY", 6) == 0) read_npy(source, is_bf16, ret_dense, err);
    else if (is_bf16) hu_fail(err, HU_INPUT, "%s: --bf16 needs an .npy array of type u2", hu_source_name(source));
    else if (hu_array_read_next(reader, ret_dense, err) == HU_END) hu_fail(err, HU_INPUT, "%s: is empty; an array is needed", hu_source_name(source));
    if (!err->status && (*ret_dense)->scalar == HU_C128) hu_fail(err, HU_INPUT, "%s: complex values; a real array is needed", hu_source_name(source));
    if (!err->status) hu_array_expect_end(reader, err);
cleanup:
    hu_array_reader_free(reader);
    hu_source_close(source);
    if (!err->status) return HU_OK;
    hu_dense_free(*ret_dense);
    *ret_dense = NULL;
    return err->status;
}

hu_status spmm_dense_make(hu_dense **a, hu_scalar scalar, hu_error *err)
{
    hu_dense *b;
    if ((*a)->scalar == scalar && ((*a)->order == HU_ROW_MAJOR || ((*a)->cols == 1 && (*a)->ld == (*a)->rows) || (*a)->rows == 0)) {
        if ((*a)->order != HU_ROW_MAJOR) (*a)->ld = (*a)->cols;
        (*a)->order = HU_ROW_MAJOR;
        return HU_OK;
    }
    if (hu_dense_convert(*a, scalar, HU_ROW_MAJOR, &b, err)) return err->status;
    hu_dense_free(*a);
    *a = b;
    return HU_OK;
}
