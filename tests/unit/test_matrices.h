/* test_matrices.h: small matrices that several unit tests build. */
#ifndef TEST_MATRICES_H
#define TEST_MATRICES_H

#include "base/random.h"
#include "sparse/csr.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static inline void test_matrices_ok(hu_status status, const hu_error *err)
{
    ck_assert_msg(status == HU_OK, "%s", err->message);
}

static inline hu_coo *test_coo(int64_t rows, int64_t cols, int64_t room)
{
    hu_error err = HU_ERROR_NONE;
    hu_coo *e;
    test_matrices_ok(hu_coo_new(rows, cols, room, false, &e, &err), &err);
    e->nnz = 0;
    return e;
}

static inline void test_coo_add(hu_coo *e, int64_t i, int64_t j, double value)
{
    e->row[e->nnz] = (int32_t)i;
    e->col[e->nnz] = (int32_t)j;
    e->val[e->nnz++] = value;
}

static inline hu_csr *test_coo_end(hu_coo *e)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    test_matrices_ok(hu_csr_from_coo(&e, HU_DUP_SUM, "test", &a, &err), &err);
    return a;
}

/* A square matrix from its rows; zeros are not stored. */
static inline hu_csr *test_dense(const double *values, int64_t n)
{
    hu_coo *e = test_coo(n, n, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (values[i * n + j] != 0) test_coo_add(e, i, j, values[i * n + j]);
    return test_coo_end(e);
}

/* The 7-point Laplacian of an nx x ny x nz grid (5-point where nz = 1). */
static inline hu_csr *test_poisson(int64_t nx, int64_t ny, int64_t nz)
{
    const int64_t n = nx * ny * nz;
    hu_coo *e = test_coo(n, n, 7 * n);
    for (int64_t c = 0; c < n; c++) {
        int64_t x = c % nx, y = c / nx % ny, z = c / (nx * ny);
        if (z > 0) test_coo_add(e, c, c - nx * ny, -1);
        if (y > 0) test_coo_add(e, c, c - nx, -1);
        if (x > 0) test_coo_add(e, c, c - 1, -1);
        test_coo_add(e, c, c, nz > 1 ? 6 : 4);
        if (x < nx - 1) test_coo_add(e, c, c + 1, -1);
        if (y < ny - 1) test_coo_add(e, c, c + nx, -1);
        if (z < nz - 1) test_coo_add(e, c, c + nx * ny, -1);
    }
    return test_coo_end(e);
}

/* About `degree` random entries a row, off the diagonal or not; dominant adds a diagonal above the sum of its row and column. */
static inline hu_csr *test_random(int64_t n, int64_t degree, bool dominant, bool symmetric, uint64_t seed)
{
    hu_random r = hu_random_stream(seed, 77);
    hu_coo *e = test_coo(n, n, (2 * degree + 1) * n);
    double *sum = calloc((size_t)n, sizeof *sum);
    for (int64_t k = 0; k < degree * n / (symmetric ? 2 : 1); k++) {
        int64_t i = hu_random_below(&r, n), j = hu_random_below(&r, n);
        double value = 2 * hu_random_uniform(&r) - 1;
        if (i == j) continue;
        test_coo_add(e, i, j, value);
        if (symmetric) test_coo_add(e, j, i, value);
        sum[i] += 1;
        sum[j] += 1;
    }
    for (int64_t i = 0; i < n && dominant; i++) test_coo_add(e, i, i, sum[i] + 0.5 + hu_random_uniform(&r));
    free(sum);
    return test_coo_end(e);
}

/* Equal to the last bit. */
static inline bool test_csr_same(const hu_csr *a, const hu_csr *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->is_complex == b->is_complex &&
           memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col, b->col, (size_t)a->nnz * sizeof *a->col) == 0 &&
           memcmp(a->val, b->val, (size_t)a->nnz * (a->is_complex ? 2 : 1) * sizeof *a->val) == 0;
}

#endif
