/* test_ldl.c: dense and sparse L D L' against exact integers, a long double factorisation, and residuals. */
#include "config.h"
#include "hu_test.h"
#include "test_matrices.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "sparse/ldl.h"

#include <math.h>
#include <string.h>

static const hu_ldl_pivots NO_PIVOTS = {0.0, 1.0};
static const hu_ldl_kind kinds[] = {HU_LDL_SIMPLICIAL, HU_LDL_SUPERNODAL};

/* A dense n x n symmetric matrix (row major) as the lower triangle. */
static hu_csr *lower_of(const double *a, int64_t n)
{
    hu_coo *e = test_coo(n, n, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            if (a[i * n + j] != 0) test_coo_add(e, i, j, a[i * n + j]);
    return test_coo_end(e);
}

/* A quasi-definite matrix [H B'; B -C] with n1 + n2 rows, about `share` of its entries there; its signs. */
static double *quasidefinite(int64_t n1, int64_t n2, double share, uint64_t seed, int8_t *sign)
{
    const int64_t n = n1 + n2;
    hu_random r = hu_random_stream(seed, 3);
    double *a = calloc((size_t)(n * n), sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (hu_random_uniform(&r) < share) a[i * n + j] = a[j * n + i] = hu_random_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.5;
        for (int64_t j = 0; j < n; j++)
            if (j != i && (i < n1) == (j < n1)) sum += fabs(a[i * n + j]);
        sign[i] = i < n1 ? 1 : -1;
        a[i * n + i] = sign[i] * sum;
    }
    return a;
}

/* Pivots in natural order in long double. */
static void long_pivots(const double *a, int64_t n, double *ret_d)
{
    long double *w = malloc((size_t)(n * n) * sizeof *w);
    for (int64_t k = 0; k < n * n; k++) w[k] = a[k];
    for (int64_t k = 0; k < n; k++) {
        ret_d[k] = (double)w[k * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            long double l = w[i * n + k] / w[k * n + k];
            for (int64_t j = k + 1; j <= i; j++) w[i * n + j] -= l * w[j * n + k];
        }
    }
    free(w);
}

/* ||A x - b|| / (||A|| ||x||), in long double. */
static double relative_residual(const double *a, int64_t n, const double *x, const double *b)
{
    long double worst = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        long double sum = -(long double)b[i], row = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += (long double)a[i * n + j] * x[j];
            row += fabsl((long double)a[i * n + j] * x[j]);
        }
        if (fabsl(sum) > worst) worst = fabsl(sum);
        if (row > size) size = row;
    }
    return (double)(worst / size);
}

/* L of small integers and D of powers of two: every step of every method is exact, so the answers are known to the bit. */
START_TEST(exact_integers)
{
    enum { N = 130 };
    hu_error err = HU_ERROR_NONE;
    for (int k = 0; k < 2; k++)
        for (int band = 1; band <= 6; band += 5) {
            hu_random r = hu_random_stream(5, (uint64_t)band);
            double *l = calloc(N * N, sizeof *l), *a = calloc(N * N, sizeof *a), d[N], x[N], b[N], got[N];
            int8_t sign[N];
            int32_t natural[N];
            for (int i = 0; i < N; i++) {
                natural[i] = i;
                l[i * N + i] = 1;
                for (int j = i - band; j < i; j++)
                    if (j >= 0 && hu_random_below(&r, 2)) l[i * N + j] = (double)hu_random_below(&r, 3) - 1;
                sign[i] = hu_random_below(&r, 2) ? 1 : -1;
                d[i] = sign[i] * ldexp(1.0, (int)hu_random_below(&r, 3));
                x[i] = (double)hu_random_below(&r, 9) - 4;
            }
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    for (int c = 0; c < N; c++) a[i * N + j] += l[i * N + c] * d[c] * l[j * N + c];
            for (int i = 0; i < N; i++) {
                b[i] = 0;
                for (int j = 0; j < N; j++) b[i] += a[i * N + j] * x[j];
            }
            hu_csr *lower = lower_of(a, N);
            hu_ldl *f;
            int64_t replaced = -1;
            ck_assert_ok(hu_ldl_analyze(lower, natural, kinds[k], &f, &err));
            ck_assert_ok(hu_ldl_factor(f, lower->val, sign, NO_PIVOTS, &replaced, &err));
            ck_assert_int_eq(replaced, 0);
            hu_ldl_pivots_of(f, got);
            for (int i = 0; i < N; i++) ck_assert(got[i] == d[i]);
            ck_assert_ok(hu_ldl_solve(f, b, N, 1, &err));
            for (int i = 0; i < N; i++) ck_assert_msg(b[i] == x[i], "kind %d band %d: x[%d] = %g, not %g", k, band, i, b[i], x[i]);
            hu_ldl_free(f);
            hu_csr_free(lower);
            free(l);
            free(a);
        }
}
END_TEST

START_TEST(pivots_and_residuals)
{
    const struct { int64_t n1, n2; double share; } cases[] = {{1, 0, 1}, {0, 1, 1}, {5, 3, 0.5}, {40, 25, 0.05}, {40, 25, 1}, {150, 90, 0.02}, {150, 90, 0.3}, {300, 150, 0.004}};
    hu_error err = HU_ERROR_NONE;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int k = 0; k < 2; k++)
            for (int by_amd = 0; by_amd < 2; by_amd++) {
                const int64_t n = cases[c].n1 + cases[c].n2;
                int8_t *sign = malloc((size_t)n);
                double *a = quasidefinite(cases[c].n1, cases[c].n2, cases[c].share, 7 + c, sign), *d = malloc((size_t)n * sizeof *d), *got = malloc((size_t)n * sizeof *d);
                double *b = malloc((size_t)(3 * n) * sizeof *b), *x = malloc((size_t)(3 * n) * sizeof *x);
                int32_t *natural = malloc((size_t)n * sizeof *natural);
                hu_csr *lower = lower_of(a, n);
                hu_ldl *f;
                hu_random r = hu_random_stream(11, c);
                for (int64_t i = 0; i < n; i++) natural[i] = (int32_t)i;
                for (int64_t i = 0; i < 3 * n; i++) x[i] = b[i] = hu_random_normal(&r);
                ck_assert_ok(hu_ldl_analyze(lower, by_amd ? NULL : natural, kinds[k], &f, &err));
                for (int again = 0; again < 2; again++) ck_assert_ok(hu_ldl_factor(f, lower->val, sign, NO_PIVOTS, NULL, &err));
                hu_ldl_pivots_of(f, got);
                long_pivots(a, n, d);
                for (int64_t i = 0; i < n && !by_amd; i++) ck_assert_double_eq_tol(got[i] / d[i], 1.0, 1e-9);
                for (int64_t i = 0; i < n; i++) ck_assert(got[i] * sign[i] > 0);
                ck_assert_ok(hu_ldl_solve(f, x, n, 3, &err));
                for (int v = 0; v < 3; v++) ck_assert_double_lt(relative_residual(a, n, x + v * n, b + v * n), 1e-13);
                hu_ldl_free(f);
                hu_csr_free(lower);
                free(sign), free(a), free(d), free(got), free(b), free(x), free(natural);
            }
}
END_TEST

/* Grids: known fill, deep trees, many supernodes; the automatic choice; one vector as many. */
START_TEST(grids)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t sides[][3] = {{1, 1, 1}, {60, 1, 1}, {40, 40, 1}, {14, 14, 14}};
    for (int g = 0; g < 4; g++)
        for (int k = 0; k < 2; k++) {
            hu_csr *a = test_poisson(sides[g][0], sides[g][1], sides[g][2]), *lower;
            const int64_t n = a->rows;
            int8_t *sign = malloc((size_t)n);
            double *b = malloc((size_t)(40 * n) * sizeof *b), *x = malloc((size_t)(40 * n) * sizeof *x), *work = malloc((size_t)(4 * n) * sizeof *work), residual;
            hu_ldl *f;
            hu_random r = hu_random_stream(3, 1);
            memset(sign, 1, (size_t)n);
            for (int64_t i = 0; i < 40 * n; i++) x[i] = b[i] = hu_random_normal(&r);
            ck_assert_ok(hu_csr_triangle(a, HU_LOWER, false, &lower, &err));
            ck_assert_ok(hu_ldl_analyze(lower, NULL, kinds[k], &f, &err));
            ck_assert_ok(hu_ldl_factor(f, lower->val, sign, NO_PIVOTS, NULL, &err));
            ck_assert_ok(hu_ldl_solve(f, x, n, 40, &err));
            for (int v = 0; v < 40; v += 13) {
                double *one = malloc((size_t)n * sizeof *one);
                ck_assert_ok(hu_ldl_solve_refined(f, lower, b + v * n, one, 3, work, &residual, &err));
                ck_assert_double_lt(residual, 1e-15);
                for (int64_t i = 0; i < n; i++) ck_assert_double_eq_tol(one[i], x[v * n + i], 1e-11);
                free(one);
            }
            hu_ldl_free(f);
            hu_csr_free(a);
            hu_csr_free(lower);
            free(sign), free(b), free(x), free(work);
        }
}
END_TEST

START_TEST(automatic_choice)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *chain = test_poisson(3000, 1, 1), *grid = test_poisson(15, 15, 15), *lower;
    hu_ldl *f;
    ck_assert_ok(hu_csr_triangle(chain, HU_LOWER, false, &lower, &err));
    ck_assert_ok(hu_ldl_analyze(lower, NULL, HU_LDL_AUTO, &f, &err));
    ck_assert_int_eq(hu_ldl_facts_of(f).kind, HU_LDL_SIMPLICIAL);
    ck_assert_int_eq(hu_ldl_facts_of(f).entries, 2999); /* a chain has no fill under minimum degree */
    hu_ldl_free(f);
    hu_csr_free(lower);
    ck_assert_ok(hu_csr_triangle(grid, HU_LOWER, false, &lower, &err));
    ck_assert_ok(hu_ldl_analyze(lower, NULL, HU_LDL_AUTO, &f, &err));
    ck_assert_int_eq(hu_ldl_facts_of(f).kind, HU_LDL_SUPERNODAL);
    ck_assert_int_ge(hu_ldl_facts_of(f).stored, hu_ldl_facts_of(f).entries);
    hu_ldl_free(f);
    hu_csr_free(lower);
    hu_csr_free(chain);
    hu_csr_free(grid);
}
END_TEST

/* The same bits for any number of threads, in the front of one large supernode and in many vectors. */
START_TEST(same_bits)
{
    enum { N = 1000, V = 50 };
    hu_error err = HU_ERROR_NONE;
    int8_t sign[N];
    double *a = quasidefinite(600, 400, 1.0, 2, sign), *x = malloc(N * V * sizeof *x), *first = malloc(N * V * sizeof *x);
    hu_csr *lower = lower_of(a, N);
    for (int threads = 1; threads <= 5; threads += 2) {
        hu_ldl *f;
        hu_threads_set(threads);
        for (int i = 0; i < N * V; i++) x[i] = (i * 7919 % 1000) / 999.0 - 0.5;
        ck_assert_ok(hu_ldl_analyze(lower, NULL, HU_LDL_SUPERNODAL, &f, &err));
        ck_assert_ok(hu_ldl_factor(f, lower->val, sign, NO_PIVOTS, NULL, &err));
        ck_assert_ok(hu_ldl_solve(f, x, N, V, &err));
        if (threads == 1) memcpy(first, x, N * V * sizeof *x);
        ck_assert_int_eq(memcmp(first, x, N * V * sizeof *x), 0);
        hu_ldl_free(f);
    }
    hu_csr_free(lower);
    free(a), free(x), free(first);
}
END_TEST

/* A saddle point matrix with a zero block is factored with a small shift and solved to the last digits by refinement. */
START_TEST(refinement)
{
    enum { N1 = 60, N2 = 25, N = N1 + N2 };
    hu_error err = HU_ERROR_NONE;
    int8_t sign[N];
    double *a = quasidefinite(N1, N2, 0.2, 4, sign), b[N], x[N], work[4 * N], residual, plain;
    for (int i = N1; i < N; i++)
        for (int j = N1; j < N; j++) a[i * N + j] = i == j ? -1e-300 : 0; /* the pattern keeps the diagonal */
    hu_csr *lower = lower_of(a, N);
    double *shifted = malloc((size_t)lower->nnz * sizeof *shifted);
    for (int64_t i = 0; i < N; i++)
        for (int64_t p = lower->row_ptr[i]; p < lower->row_ptr[i + 1]; p++) shifted[p] = lower->val[p] + (lower->col[p] == i ? sign[i] * 1e-7 : 0);
    for (int i = 0; i < N; i++) b[i] = (i * 37 % 11) - 5;
    for (int k = 0; k < 2; k++) {
        hu_ldl *f;
        ck_assert_ok(hu_ldl_analyze(lower, NULL, kinds[k], &f, &err));
        ck_assert_ok(hu_ldl_factor(f, shifted, sign, NO_PIVOTS, NULL, &err));
        ck_assert_ok(hu_ldl_solve_refined(f, lower, b, x, 0, work, &plain, &err));
        ck_assert_double_gt(plain, 1e-12); /* the shift shows */
        ck_assert_ok(hu_ldl_solve_refined(f, lower, b, x, 10, work, &residual, &err));
        ck_assert_double_lt(residual, 1e-15);
        ck_assert_double_lt(relative_residual(a, N, x, b), 1e-15);
        hu_ldl_free(f);
    }
    hu_csr_free(lower);
    free(a), free(shifted);
}
END_TEST

START_TEST(pivots_are_replaced)
{
    hu_error err = HU_ERROR_NONE;
    const double values[] = {4, 2, 0, 2, 1, 0, 0, 0, -3}; /* the second pivot is 4 - 2 * 2 / 1 = 0, the third has the wrong sign */
    const int8_t sign[] = {1, 1, 1};
    const int32_t natural[] = {0, 1, 2};
    hu_csr *lower = lower_of(values, 3);
    for (int k = 0; k < 2; k++) {
        hu_ldl *f;
        int64_t replaced;
        double d[3];
        ck_assert_ok(hu_ldl_analyze(lower, natural, kinds[k], &f, &err));
        ck_assert_ok(hu_ldl_factor(f, lower->val, sign, (hu_ldl_pivots){1e-12, 1e20}, &replaced, &err));
        hu_ldl_pivots_of(f, d);
        ck_assert_int_eq(replaced, 2);
        ck_assert(d[0] == 4 && d[1] == 1e20 && d[2] == 1e20);
        hu_ldl_free(f);
    }
    hu_csr_free(lower);
}
END_TEST

START_TEST(faults)
{
    hu_error err = HU_ERROR_NONE;
    const double upper[] = {1, 2, 0, 1};
    const int32_t twice[] = {0, 0};
    hu_csr *a = test_dense(upper, 2), *none = test_coo_end(test_coo(0, 0, 0)), *lower;
    hu_ldl *f;
    ck_assert_int_eq(hu_ldl_analyze(a, NULL, HU_LDL_AUTO, &f, &err), HU_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "row 1"));
    hu_error_clear(&err);
    ck_assert_ok(hu_csr_triangle(a, HU_LOWER, false, &lower, &err));
    ck_assert_int_eq(hu_ldl_analyze(lower, twice, HU_LDL_AUTO, &f, &err), HU_INPUT);
    hu_error_clear(&err);
    ck_assert_ok(hu_ldl_analyze(none, NULL, HU_LDL_AUTO, &f, &err));
    ck_assert_ok(hu_ldl_factor(f, NULL, NULL, NO_PIVOTS, NULL, &err));
    ck_assert_ok(hu_ldl_solve(f, NULL, 0, 1, &err));
    hu_ldl_free(f);
    hu_csr_free(a);
    hu_csr_free(none);
    hu_csr_free(lower);
}
END_TEST

/* The dense factor of leading columns leaves the Schur complement: against the definition, over sizes around those of blocks and tiles. */
START_TEST(dense_schur)
{
    const int64_t sizes[][2] = {{1, 1}, {20, 7}, {97, 64}, {130, 130}, {500, 200}, {900, 130}};
    for (int c = 0; c < 6; c++) {
        const int64_t n = sizes[c][0], k = sizes[c][1];
        int8_t *sign = malloc((size_t)n);
        double *a = quasidefinite(n / 2 + 1, n - n / 2 - 1, 1.0, 9, sign), *f = malloc((size_t)(n * n) * sizeof *f);
        double *d = malloc((size_t)n * sizeof *d), *inverse = malloc((size_t)n * sizeof *d), *work = malloc((size_t)hu_dense_ldl_work(n) * sizeof *work);
        int64_t replaced = 0;
        memcpy(f, a, (size_t)(n * n) * sizeof *f);
        hu_dense_ldl(f, n, n, k, sign, NO_PIVOTS, d, inverse, work, &replaced);
        double worst = 0, size = 0;
        for (int64_t j = 0; j < n; j += 1 + n / 40)
            for (int64_t i = j; i < n; i += 1 + n / 50) {
                long double sum = j < k ? 0 : (long double)f[j * n + i];
                for (int64_t p = 0; p < k && p <= j; p++)
                    sum += (i == p ? 1.0L : (long double)f[p * n + i]) * d[p] * (j == p ? 1.0L : (long double)f[p * n + j]);
                double off = (double)fabsl(sum - a[j * n + i]);
                if (off > worst) worst = off;
                if (fabs(a[j * n + i]) > size) size = fabs(a[j * n + i]);
            }
        ck_assert_int_eq(replaced, 0);
        ck_assert_double_le(worst, 1e-13 * size);
        free(sign), free(a), free(f), free(d), free(inverse), free(work);
    }
}
END_TEST

START_TEST(gram)
{
    enum { N = 450, M = 70, LDA = 460 };
    double *a = calloc(M * LDA, sizeof *a), *c = calloc(N * N, sizeof *c), *work = malloc(M * N * sizeof *work), w[M];
    for (int i = 0; i < M; i++) {
        w[i] = i % 5 - 2;
        for (int j = 0; j < N; j++) a[i * LDA + j] = (i * 31 + j * 17) % 13 - 6;
    }
    for (int k = 0; k < N * N; k++) c[k] = 1;
    hu_dense_gram(N, M, 2.0, a, LDA, w, c, N, work);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i += 1 + j % 7) {
            double sum = 1; /* whole numbers: exact */
            for (int p = 0; p < M; p++) sum += 2 * a[p * LDA + i] * w[p] * a[p * LDA + j];
            ck_assert(c[j * N + i] == sum);
        }
    free(a), free(c), free(work);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ldl");
    TCase *t = tcase_create("ldl");
    tcase_add_test(t, exact_integers);
    tcase_add_test(t, pivots_and_residuals);
    tcase_add_test(t, grids);
    tcase_add_test(t, automatic_choice);
    tcase_add_test(t, same_bits);
    tcase_add_test(t, refinement);
    tcase_add_test(t, pivots_are_replaced);
    tcase_add_test(t, faults);
    tcase_add_test(t, dense_schur);
    tcase_add_test(t, gram);
    suite_add_tcase(s, t);
    return hu_test_run(s);
}
