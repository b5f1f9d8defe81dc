/* describe.c: what a sparse matrix is like. */
#include "config.h"
#include "describe.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static hu_status row_lengths(const spmm_matrix *a, spmm_description *d, hu_error *err)
{
    void *block;
    double square = 0, ranked = 0;
    if (a->rows == 0) return HU_OK;
    if (hu_alloc(a->rows, sizeof(int64_t), "row lengths", &block, err)) return err->status;
    int64_t *length = block;
    d->mean = (double)a->nnz / (double)a->rows;
    for (int64_t i = 0; i < a->rows; i++) {
        length[i] = a->row_ptr[i + 1] - a->row_ptr[i];
        d->empty_rows += length[i] == 0;
        if (length[i] > d->greatest_row) d->greatest_row = length[i];
        square += ((double)length[i] - d->mean) * ((double)length[i] - d->mean);
    }
    d->variance = square / (double)a->rows;
    qsort(length, (size_t)a->rows, sizeof *length, ascending);
    for (int64_t i = 0; i < a->rows; i++) ranked += (double)(i + 1) * (double)length[i];
    if (a->nnz) d->gini = 2 * ranked / ((double)a->rows * (double)a->nnz) - (double)(a->rows + 1) / (double)a->rows;
    hu_free(length);
    return HU_OK;
}

static hu_status columns(const spmm_matrix *a, spmm_description *d, hu_error *err)
{
    void *block;
    if (hu_alloc_zero(a->cols, sizeof(int64_t), "column lengths", &block, err)) return err->status;
    int64_t *length = block;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const int64_t j = a->col[p], distance = i > j ? i - j : j - i;
            length[j]++;
            d->loops += i == j;
            if (distance > d->bandwidth) d->bandwidth = distance;
            d->zeros += a->val && hu_scalar_get(a->scalar, a->val, p) == 0;
        }
    for (int64_t j = 0; j < a->cols; j++) {
        d->empty_cols += length[j] == 0;
        if (length[j] > d->greatest_col) d->greatest_col = length[j];
    }
    hu_free(length);
    return HU_OK;
}

static hu_status symmetry(const spmm_matrix *a, spmm_description *d, hu_error *err)
{
    hu_csr *c = NULL, *t = NULL;
    d->is_square = a->rows == a->cols;
    if (!d->is_square) return HU_OK;
    if (spmm_matrix_to_csr(a, &c, err) == HU_OK && hu_csr_transpose(c, false, &t, err) == HU_OK) {
        d->pattern_symmetric = memcmp(c->row_ptr, t->row_ptr, (size_t)(c->rows + 1) * sizeof *c->row_ptr) == 0 && memcmp(c->col, t->col, (size_t)c->nnz * sizeof *c->col) == 0;
        d->values_symmetric = d->pattern_symmetric && memcmp(c->val, t->val, (size_t)c->nnz * sizeof *c->val) == 0;
    }
    hu_csr_free(c);
    hu_csr_free(t);
    return err->status;
}

hu_status spmm_describe(const spmm_matrix *a, spmm_description *d, hu_error *err)
{
    *d = (spmm_description){0};
    if (row_lengths(a, d, err) || columns(a, d, err)) return err->status;
    return symmetry(a, d, err);
}
