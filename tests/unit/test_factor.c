/* test_factor.c: ILU(0) and IC(0) against their defining property, in long double, and breakdowns. */
#include "config.h"
#include "hu_test.h"
#include "test_matrices.h"
#include "base/parallel.h"
#include "io/mtx.h"
#include "factor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* |(LU)_ij - a_ij| <= (k + 2) u (|L| |U|)_ij on the pattern of A, k the number of terms. l: strictly lower, its diagonal 1, or lower
 * with its diagonal where `ut` is its own transpose. Rows of U are found through columns of U', which are rows of ut. */
static void check_product(const hu_csr *a, const hu_csr *l, bool unit, const hu_csr *ut, bool lower_only)
{
    long double *row = calloc((size_t)a->rows, sizeof *row);
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t p = l->row_ptr[i]; p < l->row_ptr[i + 1]; p++) row[l->col[p]] = (long double)l->val[p];
        if (unit) row[i] = 1;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const int64_t j = a->col[p];
            if (lower_only && j > i) continue;
            long double sum = 0, size = 0;
            int k = 0;
            for (int64_t q = ut->row_ptr[j]; q < ut->row_ptr[j + 1]; q++) {
                long double term = row[ut->col[q]] * (long double)ut->val[q];
                if (ut->col[q] > i || term == 0) continue;
                sum += term;
                size += fabsl(term);
                k++;
            }
            long double bound = (k + 2) * 0x1p-53L * size;
            ck_assert_msg(fabsl(sum - (long double)a->val[p]) <= bound, "(%ld,%ld): %Lg against %g, bound %Lg", (long)i, (long)j,
                          sum, a->val[p], bound);
        }
        for (int64_t p = l->row_ptr[i]; p < l->row_ptr[i + 1]; p++) row[l->col[p]] = 0;
        row[i] = 0;
    }
    free(row);
}

static void check_ilu(const hu_csr *a)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *l, *u, *ut;
    ck_assert_ok(sptrsv_ilu0(a, "a", &l, &u, &err));
    ck_assert_ok(hu_csr_check(l, "l", &err));
    ck_assert_ok(hu_csr_check(u, "u", &err));
    ck_assert_int_eq(l->nnz + u->nnz, a->nnz);
    ck_assert_ok(hu_csr_transpose(u, false, &ut, &err));
    check_product(a, l, true, ut, false);
    hu_csr_free(l);
    hu_csr_free(u);
    hu_csr_free(ut);
}

static void check_ic(const hu_csr *a)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *l, *half, *from_half, *upper, *from_upper;
    ck_assert_ok(sptrsv_ic0(a, "a", &l, &err));
    ck_assert_ok(hu_csr_check(l, "l", &err));
    check_product(a, l, false, l, true);
    ck_assert_ok(hu_csr_triangle(a, HU_LOWER, false, &half, &err));
    ck_assert_ok(sptrsv_ic0(half, "half", &from_half, &err));
    ck_assert_ok(hu_csr_triangle(a, HU_UPPER, false, &upper, &err));
    ck_assert_ok(sptrsv_ic0(upper, "upper", &from_upper, &err));
    ck_assert(test_csr_same(l, from_half));
    ck_assert(test_csr_same(l, from_upper));
    hu_csr_free(l);
    hu_csr_free(half);
    hu_csr_free(from_half);
    hu_csr_free(upper);
    hu_csr_free(from_upper);
}

START_TEST(factors_of_random_matrices)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        hu_csr *a = test_random(20 + (int64_t)seed * 7, 6, true, false, seed);
        check_ilu(a);
        hu_csr_free(a);
        a = test_random(20 + (int64_t)seed * 7, 6, true, true, seed);
        check_ilu(a);
        check_ic(a);
        hu_csr_free(a);
    }
}
END_TEST

START_TEST(factors_of_grids)
{
    hu_csr *a = test_poisson(12, 11, 10);
    check_ilu(a);
    check_ic(a);
    hu_csr_free(a);
}
END_TEST

static hu_csr *shared_matrix(const char *name)
{
    hu_error err = HU_ERROR_NONE;
    char path[512];
    const char *folder = getenv("HU_SRC");
    hu_source *source = NULL;
    hu_csr *a = NULL;
    const hu_mtx_options options = HU_MTX_DEFAULTS;
    snprintf(path, sizeof path, "%s/../shared/data/matrices/%s", folder ? folder : ".", name);
    if (access(path, R_OK) != 0) return NULL; /* the data are not everywhere */
    ck_assert_ok(hu_source_open(path, NULL, &source, &err));
    ck_assert_ok(hu_mtx_read_csr(source, &options, &a, NULL, &err));
    hu_source_close(source);
    return a;
}

/* Matrices of structural mechanics, whose IC(0) may break down in truth: then the row is named, and a shifted diagonal mends it. */
START_TEST(factors_of_real_matrices)
{
    static const char *const ilu[] = {"bayer10.mtx", "cryg2500.mtx", "olm1000.mtx"};
    static const char *const ic[] = {"bcsstk13.mtx", "bcsstk16.mtx", "lap3D_7pt_n20.mtx", "gr_900_900_crg.mtx"};
    for (int k = 0; k < 3; k++) {
        hu_error err = HU_ERROR_NONE;
        hu_csr *a = shared_matrix(ilu[k]), *l, *u;
        if (!a) continue;
        hu_status status = sptrsv_ilu0(a, ilu[k], &l, &u, &err);
        if (status == HU_OK) {
            hu_csr_free(l);
            hu_csr_free(u);
            check_ilu(a);
        } else {
            ck_assert_int_eq(status, (hu_status)SPTRSV_BREAKDOWN);
            ck_assert_ptr_nonnull(strstr(err.message, "row "));
        }
        hu_csr_free(a);
    }
    for (int k = 0; k < 4; k++) {
        hu_error err = HU_ERROR_NONE;
        hu_csr *a = shared_matrix(ic[k]), *l = NULL;
        if (!a) continue;
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
                if (a->col[p] == i) a->val[p] *= 2;
        ck_assert_ok(sptrsv_ic0(a, ic[k], &l, &err));
        hu_csr_free(l);
        check_ic(a);
        hu_csr_free(a);
    }
}
END_TEST

/* Levels wide enough that the threads share them: the same bits for 1, 2 and 7 threads. */
START_TEST(same_bits_for_any_threads)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_poisson(64, 60, 50), *l[3], *u[3], *c[3];
    const int threads[3] = {1, 2, 7};
    for (int t = 0; t < 3; t++) {
        hu_threads_set(threads[t]);
        ck_assert_ok(sptrsv_ilu0(a, "a", &l[t], &u[t], &err));
        ck_assert_ok(sptrsv_ic0(a, "a", &c[t], &err));
        ck_assert(test_csr_same(l[0], l[t]) && test_csr_same(u[0], u[t]) && test_csr_same(c[0], c[t]));
    }
    for (int t = 0; t < 3; t++) {
        hu_csr_free(l[t]);
        hu_csr_free(u[t]);
        hu_csr_free(c[t]);
    }
    hu_csr_free(a);
}
END_TEST

static void check_breakdown(const hu_csr *a, bool ic, const char *row, const char *value)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *l = NULL, *u = NULL;
    hu_status status = ic ? sptrsv_ic0(a, "m.mtx", &l, &err) : sptrsv_ilu0(a, "m.mtx", &l, &u, &err);
    ck_assert_int_eq(status, (hu_status)SPTRSV_BREAKDOWN);
    ck_assert_msg(strstr(err.message, row) && strstr(err.message, value), "message: %s", err.message);
    ck_assert_ptr_null(l);
    ck_assert_ptr_null(u);
}

/* The SPD matrix (leading minors 3, 5, 3, 1) whose IC(0) has the exact pivot -5 in row 4: 3 - (2/sqrt 3)^2 - ... by hand. */
START_TEST(ic_of_spd_breaks_down)
{
    hu_csr *a = test_dense((const double[]){3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3}, 4);
    check_breakdown(a, true, "row 4", "pivot is -5");
    hu_csr_free(a);
}
END_TEST

START_TEST(ilu_breakdowns)
{
    hu_csr *a = test_dense((const double[]){0, 1, 1, 0}, 2);
    check_breakdown(a, false, "row 1", "absent");
    hu_csr_free(a);
    a = test_dense((const double[]){1, 1, 0, 1, 1, 1, 0, 1, 1}, 3); /* u_22 = 1 - 1 = 0 */
    check_breakdown(a, false, "row 2", "pivot is 0");
    hu_csr_free(a);
    a = test_dense((const double[]){1e-300, 1e10, 1e10, 1}, 2); /* l_21 overflows */
    check_breakdown(a, false, "row 2", "inf");
    hu_csr_free(a);
    a = test_dense((const double[]){1e-310, 0, 0, 1}, 2); /* nothing can be divided by it */
    check_breakdown(a, false, "row 1", "pivot is");
    hu_csr_free(a);
    a = test_dense((const double[]){4, 2, 2, 0}, 2);
    check_breakdown(a, true, "row 2", "absent");
    hu_csr_free(a);
}
END_TEST

START_TEST(shapes_are_checked)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a, *l, *u;
    ck_assert_ok(hu_csr_new(2, 3, 0, false, &a, &err));
    memset(a->row_ptr, 0, 3 * sizeof *a->row_ptr);
    ck_assert_int_eq(sptrsv_ilu0(a, "a", &l, &u, &err), HU_INPUT);
    hu_error_clear(&err);
    ck_assert_int_eq(sptrsv_ic0(a, "a", &l, &err), HU_INPUT);
    hu_csr_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("factor");
    TCase *c = tcase_create("factor");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, factors_of_random_matrices);
    tcase_add_test(c, factors_of_grids);
    tcase_add_test(c, factors_of_real_matrices);
    tcase_add_test(c, same_bits_for_any_threads);
    tcase_add_test(c, ic_of_spd_breaks_down);
    tcase_add_test(c, ilu_breakdowns);
    tcase_add_test(c, shapes_are_checked);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
