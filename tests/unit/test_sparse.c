/* test_sparse.c: conversion, transposing, permuting, triangles and level sets against plain definitions. */
#include "config.h"
#include "hu_test.h"
#include "test_matrices.h"
#include "base/clock.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

typedef struct {
    int32_t row, col;
    int64_t place;
    double re, im;
} entry;

static int by_place(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->col != b->col) return a->col < b->col ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

enum { BY_ROW, BY_COLUMN, SHUFFLED, ROWS_ONLY };

/* Entries of a random matrix in the wanted order; about one in `repeat` stands a second time (0: none does). */
static hu_coo *random_coo(int64_t rows, int64_t cols, int64_t nnz, int order, int repeat, bool is_complex, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(seed, 2);
    hu_coo *e;
    ck_assert_ok(hu_coo_new(rows, cols, nnz, is_complex, &e, &err));
    entry *list = malloc((size_t)nnz * sizeof *list);
    char *taken = repeat ? NULL : calloc((size_t)(rows * cols), 1);
    for (int64_t k = 0; k < nnz; k++) {
        int64_t i = hu_random_below(&r, rows), j = hu_random_below(&r, cols);
        while (taken && taken[i * cols + j]++) {
            i = hu_random_below(&r, rows);
            j = hu_random_below(&r, cols);
        }
        if (repeat && k && hu_random_below(&r, repeat) == 0) {
            i = list[k - 1].row;
            j = list[k - 1].col;
        }
        list[k] = (entry){(int32_t)i, (int32_t)j, order == ROWS_ONLY ? (int64_t)(hu_random_u64(&r) >> 1) : k, hu_random_normal(&r), hu_random_normal(&r)};
    }
    if (order == BY_COLUMN)
        for (int64_t k = 0; k < nnz; k++) list[k] = (entry){list[k].col, list[k].row, k, list[k].re, list[k].im};
    if (order == ROWS_ONLY)
        for (int64_t k = 0; k < nnz; k++) list[k].im = list[k].col, list[k].col = (int32_t)(list[k].place & 0x7fffffff);
    if (order != SHUFFLED) qsort(list, (size_t)nnz, sizeof *list, by_place);
    if (order == ROWS_ONLY)
        for (int64_t k = 0; k < nnz; k++) list[k].col = (int32_t)list[k].im;
    for (int64_t k = 0; k < nnz; k++) {
        e->row[k] = order == BY_COLUMN ? list[k].col : list[k].row;
        e->col[k] = order == BY_COLUMN ? list[k].row : list[k].col;
        e->val[is_complex ? 2 * k : k] = list[k].re;
        if (is_complex) e->val[2 * k + 1] = list[k].im;
    }
    free(list);
    free(taken);
    return e;
}

/* Sorts a list with qsort and merges it from left to right. */
static void check_conversion(hu_coo *e, hu_duplicates duplicates)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t nnz = e->nnz;
    const int w = e->is_complex ? 2 : 1;
    entry *list = malloc((size_t)(nnz + 1) * sizeof *list);
    for (int64_t k = 0; k < nnz; k++) list[k] = (entry){e->row[k], e->col[k], k, e->val[k * w], e->val[k * w + w - 1]};
    qsort(list, (size_t)nnz, sizeof *list, by_place);
    int64_t kept = 0;
    for (int64_t k = 0; k < nnz; k++) {
        if (kept && list[kept - 1].row == list[k].row && list[kept - 1].col == list[k].col) {
            list[kept - 1].re = duplicates == HU_DUP_SUM ? list[kept - 1].re + list[k].re : list[k].re;
            list[kept - 1].im = duplicates == HU_DUP_SUM ? list[kept - 1].im + list[k].im : list[k].im;
        } else {
            list[kept++] = list[k];
        }
    }
    hu_csr *a;
    ck_assert_ok(hu_csr_from_coo(&e, duplicates, "m", &a, &err));
    ck_assert_ptr_null(e);
    ck_assert_ok(hu_csr_check(a, "m", &err));
    ck_assert_int_eq(a->nnz, kept);
    for (int64_t i = 0, k = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++, k++)
            ck_assert(list[k].row == i && list[k].col == a->col[p] && list[k].re == a->val[p * w] &&
                      (w == 1 || list[k].im == a->val[2 * p + 1]));
    hu_csr_free(a);
    free(list);
}

START_TEST(conversion_in_any_order)
{
    const int threads[] = {1, 2, 7};
    uint64_t seed = 1;
    for (int t = 0; t < 3; t++) {
        hu_threads_set(threads[t]);
        for (int order = BY_ROW; order <= ROWS_ONLY; order++)
            for (int duplicates = HU_DUP_SUM; duplicates <= HU_DUP_LAST; duplicates++)
                for (int is_complex = 0; is_complex < 2; is_complex++) {
                    const int repeat = duplicates == HU_DUP_ERROR ? 0 : 5;
                    check_conversion(random_coo(300, 200, 4000, order, repeat, is_complex, seed++), (hu_duplicates)duplicates);
                    check_conversion(random_coo(3, 5000, 9000, order, repeat, is_complex, seed++), (hu_duplicates)duplicates);
                    check_conversion(random_coo(5000, 1, 3000, order, repeat, is_complex, seed++), (hu_duplicates)duplicates);
                }
    }
    check_conversion(random_coo(1000, 70000, 1500000, SHUFFLED, 9, false, 3), HU_DUP_SUM);
    check_conversion(random_coo(70000, 70000, 1500000, BY_COLUMN, 9, false, 3), HU_DUP_SUM);
}
END_TEST

START_TEST(conversion_of_nothing)
{
    hu_error err = HU_ERROR_NONE;
    hu_coo *e;
    hu_csr *a, *t;
    ck_assert_ok(hu_coo_new(0, 0, 0, false, &e, &err));
    ck_assert_ok(hu_csr_from_coo(&e, HU_DUP_SUM, "m", &a, &err));
    ck_assert_ok(hu_csr_check(a, "m", &err));
    ck_assert_ok(hu_csr_transpose(a, false, &t, &err));
    hu_csr_free(a);
    hu_csr_free(t);
    ck_assert_ok(hu_coo_new(5, 3, 0, false, &e, &err));
    ck_assert_ok(hu_csr_from_coo(&e, HU_DUP_SUM, "m", &a, &err));
    ck_assert_ok(hu_csr_check(a, "m", &err));
    ck_assert_int_eq(a->row_ptr[5], 0);
    hu_csr_free(a);
    ck_assert_int_eq(hu_csr_new((int64_t)HU_MAX_DIMENSION + 1, 1, 1, false, &a, &err), HU_INPUT);
}
END_TEST

START_TEST(duplicates_are_named)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    hu_coo *e = test_coo(9, 9, 4);
    test_coo_add(e, 7, 1, 1);
    test_coo_add(e, 2, 3, 1);
    test_coo_add(e, 7, 1, 1);
    ck_assert_int_eq(hu_csr_from_coo(&e, HU_DUP_ERROR, "m.mtx", &a, &err), HU_INPUT);
    ck_assert_ptr_null(e);
    ck_assert_str_eq(err.message, "m.mtx: entry (8,2) is given more than once");
}
END_TEST

/* Entries by row stay where they are; entries by column stand twice for one array at a time. Measured in a fresh process, on blocks
 * large enough that the rest does not count; the peak includes the entries as they came. */
static double peak_per_entry(int order)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t n = 250000, each = 16, nnz = n * each;
    const double before = (double)hu_clock_peak_bytes();
    hu_coo *e;
    hu_csr *a;
    ck_assert_ok(hu_coo_new(n, n, nnz, false, &e, &err));
#pragma omp parallel for
    for (int64_t k = 0; k < nnz; k++) {
        const int64_t major = k / each, minor = (major / 2 + k % each * (n / each)) % n;
        e->row[k] = (int32_t)(order == BY_ROW ? major : minor);
        e->col[k] = (int32_t)(order == BY_ROW ? minor : major);
        e->val[k] = (double)k;
    }
    ck_assert_ok(hu_csr_from_coo(&e, HU_DUP_SUM, "m", &a, &err));
    double peak = ((double)hu_clock_peak_bytes() - before) / (double)nnz;
    ck_assert_ok(hu_csr_check(a, "m", &err));
    hu_csr_free(a);
    return peak;
}

START_TEST(memory_by_row)
{
#ifndef HU_SANITIZED
    ck_assert_double_le(peak_per_entry(BY_ROW), 17.5);
#endif
}
END_TEST

START_TEST(memory_by_column)
{
#ifndef HU_SANITIZED
    ck_assert_double_le(peak_per_entry(BY_COLUMN), 26);
#endif
}
END_TEST

static hu_csr *random_csr(int64_t rows, int64_t cols, int64_t nnz, bool is_complex, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    hu_coo *e = random_coo(rows, cols, nnz, SHUFFLED, 3, is_complex, seed);
    hu_csr *a;
    ck_assert_ok(hu_csr_from_coo(&e, HU_DUP_SUM, "m", &a, &err));
    return a;
}

static int64_t find(const hu_csr *a, int64_t i, int64_t j)
{
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
        if (a->col[p] == j) return p;
    return -1;
}

START_TEST(transposing)
{
    hu_error err = HU_ERROR_NONE;
    const int threads[] = {1, 2, 7};
    for (int t = 0; t < 3; t++) {
        hu_threads_set(threads[t]);
        for (int c = 0; c < 2; c++) {
            hu_csr *a = random_csr(70, 50, 900, c, 5), *b, *back;
            ck_assert_ok(hu_csr_transpose(a, c, &b, &err));
            ck_assert_ok(hu_csr_check(b, "b", &err));
            for (int64_t i = 0; i < a->rows; i++)
                for (int64_t j = 0; j < a->cols; j++) {
                    int64_t p = find(a, i, j), q = find(b, j, i);
                    ck_assert((p < 0) == (q < 0));
                    if (p < 0) continue;
                    ck_assert(a->val[c ? 2 * p : p] == b->val[c ? 2 * q : q]);
                    if (c) ck_assert(a->val[2 * p + 1] == -b->val[2 * q + 1]);
                }
            ck_assert_ok(hu_csr_transpose(b, c, &back, &err));
            ck_assert(test_csr_same(a, back));
            hu_csr_free(a);
            hu_csr_free(b);
            hu_csr_free(back);
        }
    }
}
END_TEST

START_TEST(permuting)
{
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(4, 4);
    const int64_t n = 60;
    int32_t perm[60];
    for (int c = 0; c < 2; c++) {
        hu_csr *a = random_csr(n, n, 2400, c, 6), *b;
        for (int i = 0; i < n; i++) perm[i] = i;
        hu_random_shuffle(&r, perm, n);
        ck_assert_ok(hu_csr_permute(a, perm, &b, &err));
        ck_assert_ok(hu_csr_check(b, "b", &err));
        ck_assert_int_eq(a->nnz, b->nnz);
        for (int64_t i = 0; i < n; i++)
            for (int64_t p = b->row_ptr[i]; p < b->row_ptr[i + 1]; p++) {
                int64_t q = find(a, perm[i], perm[b->col[p]]);
                ck_assert(q >= 0 && memcmp(b->val + (c ? 2 * p : p), a->val + (c ? 2 * q : q), c ? 16 : 8) == 0);
            }
        hu_csr_free(b);
        perm[5] = perm[6];
        ck_assert_int_eq(hu_csr_permute(a, perm, &b, &err), HU_INPUT);
        ck_assert_ptr_nonnull(strstr(err.message, "place 7"));
        hu_error_clear(&err);
        perm[5] = 60;
        ck_assert_int_eq(hu_permutation_check(perm, n, "p.npy", &err), HU_INPUT);
        ck_assert_str_eq(err.message, "p.npy: place 6: 61 is outside 1..60");
        hu_error_clear(&err);
        hu_csr_free(a);
    }
}
END_TEST

START_TEST(triangles)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t shapes[][2] = {{40, 40}, {40, 25}, {25, 40}};
    for (int s = 0; s < 3; s++)
        for (int uplo = HU_LOWER; uplo <= HU_UPPER; uplo++)
            for (int strict = 0; strict < 2; strict++) {
                hu_csr *a = random_csr(shapes[s][0], shapes[s][1], 500, strict, 7), *t;
                ck_assert_ok(hu_csr_triangle(a, (hu_uplo)uplo, strict, &t, &err));
                ck_assert_ok(hu_csr_check(t, "t", &err));
                int64_t expected = 0;
                for (int64_t i = 0; i < a->rows; i++)
                    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
                        const int64_t j = a->col[p], q = find(t, i, j);
                        const bool inside = uplo == HU_LOWER ? (strict ? j < i : j <= i) : (strict ? j > i : j >= i);
                        ck_assert(inside == (q >= 0));
                        if (inside) ck_assert(memcmp(a->val + (strict ? 2 * p : p), t->val + (strict ? 2 * q : q), strict ? 16 : 8) == 0);
                        expected += inside;
                    }
                ck_assert_int_eq(t->nnz, expected);
                hu_csr_free(a);
                hu_csr_free(t);
            }
}
END_TEST

/* On a grid the level of a cell is the sum of its coordinates; of a chain, its place. */
START_TEST(level_sets)
{
    hu_csr *a = test_poisson(7, 6, 5);
    int32_t level[210], levels;
    hu_csr_levels(a, HU_LOWER, level, &levels);
    ck_assert_int_eq(levels, 6 + 5 + 4 + 1);
    for (int c = 0; c < 210; c++) ck_assert_int_eq(level[c], c % 7 + c / 7 % 6 + c / 42);
    hu_csr_levels(a, HU_UPPER, level, &levels);
    ck_assert_int_eq(levels, 16);
    for (int c = 0; c < 210; c++) ck_assert_int_eq(level[c], 15 - (c % 7 + c / 7 % 6 + c / 42));
    hu_csr_free(a);
}
END_TEST

static void check_broken(hu_csr *a, const char *words)
{
    hu_error err = HU_ERROR_NONE;
    ck_assert_int_eq(hu_csr_check(a, "a", &err), HU_INPUT);
    ck_assert_msg(strstr(err.message, words) != NULL, "message: %s", err.message);
}

START_TEST(checks)
{
    hu_csr *a = test_poisson(3, 3, 1);
    int32_t *col = a->col + a->row_ptr[4], kept = col[1];
    col[1] = col[0];
    check_broken(a, "row 5");
    col[1] = 9;
    check_broken(a, "row 5");
    col[1] = -1;
    check_broken(a, "row 5");
    col[1] = kept;
    int64_t pointer = a->row_ptr[3];
    a->row_ptr[3] = a->nnz + 5;
    check_broken(a, "row 3");
    a->row_ptr[3] = -7;
    check_broken(a, "row 3");
    a->row_ptr[3] = pointer;
    a->row_ptr[9]++;
    check_broken(a, "row pointers run");
    hu_csr_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sparse");
    TCase *c = tcase_create("csr");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, conversion_in_any_order);
    tcase_add_test(c, conversion_of_nothing);
    tcase_add_test(c, duplicates_are_named);
    tcase_add_test(c, memory_by_row);
    tcase_add_test(c, memory_by_column);
    tcase_add_test(c, transposing);
    tcase_add_test(c, permuting);
    tcase_add_test(c, triangles);
    tcase_add_test(c, level_sets);
    tcase_add_test(c, checks);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
