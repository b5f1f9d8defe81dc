/* sparse.c: the sparse operand. */
#include "config.h"
#include "sparse.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

hu_status spmm_values_as(const void *val, hu_scalar from, hu_scalar to, int64_t n, void **ret_val, hu_error *err)
{
    void *block;
    *ret_val = NULL;
    if (hu_alloc(n, hu_scalar_size(to), "values", &block, err)) return err->status;
    if (from == to) {
        memcpy(block, val, (size_t)n * hu_scalar_size(to));
    } else {
#pragma omp parallel for schedule(static) if (n > 1 << 16)
        for (int64_t p = 0; p < n; p++) hu_scalar_put(to, block, p, hu_scalar_get(from, val, p));
    }
    *ret_val = block;
    return HU_OK;
}

/* ones */
static hu_status ones(hu_scalar scalar, int64_t n, void **ret_val, hu_error *err)
{
    if (hu_alloc(n, hu_scalar_size(scalar), "values", ret_val, err)) return err->status;
    for (int64_t p = 0; p < n; p++) hu_scalar_put(scalar, *ret_val, p, 1);
    return HU_OK;
}

hu_status spmm_matrix_new(int64_t rows, int64_t cols, int64_t nnz, hu_scalar scalar, bool is_pattern, spmm_matrix **ret_matrix, hu_error *err)
{
    void *block;
    *ret_matrix = NULL;
    if (hu_alloc_zero(1, sizeof(spmm_matrix), "a matrix", &block, err)) return err->status;
    spmm_matrix *a = block;
    *a = (spmm_matrix){.rows = rows, .cols = cols, .nnz = nnz, .scalar = scalar};
    if (hu_alloc(rows + 1, sizeof(int64_t), "a matrix's rows", (void **)&a->row_ptr, err) ||
        hu_alloc(nnz, sizeof(int32_t), "a matrix's columns", (void **)&a->col, err) ||
        (!is_pattern && hu_alloc(nnz, hu_scalar_size(scalar), "a matrix's values", &a->val, err))) {
        spmm_matrix_free(a);
        return err->status;
    }
    *ret_matrix = a;
    return HU_OK;
}

void spmm_matrix_free(spmm_matrix *a)
{
    if (!a) return;
    if (!a->borrowed) hu_free(a->row_ptr);
    if (!a->borrowed_col) hu_free(a->col);
    if (!a->borrowed_val) hu_free(a->val);
    hu_free(a);
}

hu_status spmm_matrix_from_csr(hu_csr **csr, bool is_pattern, hu_scalar scalar, const char *name, spmm_matrix **ret_matrix, hu_error *err)
{
    hu_csr *c = *csr;
    void *block;
    *csr = NULL;
    *ret_matrix = NULL;
    if (c->is_complex) {
        hu_csr_free(c);
        return hu_fail(err, HU_INPUT, "%s: complex values; a real matrix is needed", name);
    }
    if (hu_alloc_zero(1, sizeof(spmm_matrix), "a matrix", &block, err)) {
        hu_csr_free(c);
        return err->status;
    }
    spmm_matrix *a = block;
    *a = (spmm_matrix){.rows = c->rows, .cols = c->cols, .nnz = c->nnz, .scalar = HU_F64, .row_ptr = c->row_ptr, .col = c->col, .val = c->val};
    c->row_ptr = NULL;
    c->col = NULL;
    c->val = NULL;
    hu_csr_free(c);
    if (is_pattern) {
        hu_free(a->val);
        a->val = NULL;
        a->scalar = scalar;
    } else if (spmm_matrix_widen(a, scalar, err)) {
        spmm_matrix_free(a);
        return err->status;
    }
    *ret_matrix = a;
    return HU_OK;
}

hu_status spmm_matrix_widen(spmm_matrix *a, hu_scalar scalar, hu_error *err)
{
    void *val;
    if (a->val && a->scalar == scalar) return HU_OK;
    if (a->val ? spmm_values_as(a->val, a->scalar, scalar, a->nnz, &val, err) : ones(scalar, a->nnz, &val, err)) return err->status;
    if (!a->borrowed_val) hu_free(a->val);
    a->val = val;
    a->scalar = scalar;
    a->borrowed_val = false;
    return HU_OK;
}

hu_status spmm_matrix_to_csr(const spmm_matrix *a, hu_csr **ret_csr, hu_error *err)
{
    if (hu_csr_new(a->rows, a->cols, a->nnz, false, ret_csr, err)) return err->status;
    hu_csr *c = *ret_csr;
    memcpy(c->row_ptr, a->row_ptr, (size_t)(a->rows + 1) * sizeof *c->row_ptr);
    memcpy(c->col, a->col, (size_t)a->nnz * sizeof *c->col);
    for (int64_t p = 0; p < a->nnz; p++) c->val[p] = a->val ? hu_scalar_get(a->scalar, a->val, p) : 1;
    return HU_OK;
}

hu_status spmm_matrix_check(const spmm_matrix *a, const char *name, hu_error *err)
{
    if (a->row_ptr[0] != 0 || a->row_ptr[a->rows] != a->nnz) return hu_fail(err, HU_INPUT, "%s: the row pointers do not run from 0 to the %lld entries", name, (long long)a->nnz);
    for (int64_t i = 0; i < a->rows; i++)
        if (a->row_ptr[i + 1] < a->row_ptr[i]) return hu_fail(err, HU_INPUT, "%s: the row pointers fall at row %lld", name, (long long)i + 1);
    int64_t bad = a->rows; /* the first row whose columns are not right */
#pragma omp parallel for schedule(static) reduction(min : bad) if (a->nnz > 1 << 16)
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i], before = -1; p < a->row_ptr[i + 1]; before = a->col[p++])
            if (a->col[p] <= before || a->col[p] >= a->cols) bad = i < bad ? i : bad;
    if (bad < a->rows) return hu_fail(err, HU_INPUT, "%s: the columns of row %lld do not ascend within 1..%lld", name, (long long)bad + 1, (long long)a->cols);
    return HU_OK;
}
