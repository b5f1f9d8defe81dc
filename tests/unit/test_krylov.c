/* test_krylov.c: conjugate gradients against the textbook's loop in long double, sweeps against plain Gauss-Seidel. */
#include "config.h"
#include "hu_test.h"
#include "test_matrices.h"
#include "base/parallel.h"
#include "factor.h"
#include "krylov.h"
#include "sweep.h"

#include <math.h>
#include <string.h>

typedef long double real;

static real *reals(int64_t n)
{
    return calloc((size_t)n, sizeof(real));
}

static double *some_vector(int64_t n, uint64_t seed)
{
    hu_random random = hu_random_stream(seed, 1);
    double *v = malloc((size_t)n * sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = hu_random_normal(&random);
    return v;
}

static void multiply(const hu_csr *a, const real *x, real *y)
{
    for (int64_t i = 0; i < a->rows; i++) {
        y[i] = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) y[i] += (real)a->val[p] * x[a->col[p]];
    }
}

static real dot(const real *x, const real *y, int64_t n)
{
    real sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Half a Gauss-Seidel sweep on a, from the definition. */
static void half_sweep(const hu_csr *a, const real *b, real *x, bool forward)
{
    for (int64_t s = 0; s < a->rows; s++) {
        const int64_t i = forward ? s : a->rows - 1 - s;
        real sum = b[i], d = 1;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            if (a->col[p] == i) d = (real)a->val[p];
            else sum -= (real)a->val[p] * x[a->col[p]];
        }
        x[i] = sum / d;
    }
}

/* z = M^-1 r with dense loops over the factors that sptrsv_ic0 or sptrsv_ilu0 gave (tested by themselves). */
static void precondition(const hu_csr *a, sptrsv_preconditioner kind, const real *r, real *z)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t n = a->rows;
    hu_csr *l = NULL, *u = NULL;
    memcpy(z, r, (size_t)n * sizeof *z);
    if (kind == SPTRSV_PRE_NONE) return;
    if (kind == SPTRSV_PRE_SYMGS) {
        memset(z, 0, (size_t)n * sizeof *z);
        half_sweep(a, r, z, true);
        half_sweep(a, r, z, false);
        return;
    }
    if (kind == SPTRSV_PRE_IC0) {
        ck_assert_ok(sptrsv_ic0(a, "a", &l, &err));
        ck_assert_ok(hu_csr_transpose(l, false, &u, &err));
    } else {
        ck_assert_ok(sptrsv_ilu0(a, "a", &l, &u, &err));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = l->row_ptr[i]; p < l->row_ptr[i + 1]; p++)
            z[i] = l->col[p] < i ? z[i] - (real)l->val[p] * z[l->col[p]] : z[i] / (real)l->val[p];
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t p = u->row_ptr[i + 1] - 1; p >= u->row_ptr[i]; p--)
            z[i] = u->col[p] > i ? z[i] - (real)u->val[p] * z[u->col[p]] : z[i] / (real)u->val[p];
    hu_csr_free(l);
    hu_csr_free(u);
}

/* Iterations that the textbook's loop takes in long double, x besides. */
static int64_t textbook(const hu_csr *a, sptrsv_preconditioner kind, const double *b, real tolerance, real *x)
{
    const int64_t n = a->rows;
    real *r = reals(n), *z = reals(n), *p = reals(n), *q = reals(n), rz = 0;
    for (int64_t i = 0; i < n; i++) r[i] = (real)b[i];
    const real goal = tolerance * sqrtl(dot(r, r, n));
    int64_t k = 0;
    for (; sqrtl(dot(r, r, n)) > goal && k < 5000; k++) {
        precondition(a, kind, r, z);
        real before = rz;
        rz = dot(r, z, n);
        for (int64_t i = 0; i < n; i++) p[i] = z[i] + (k ? rz / before : 0) * p[i];
        multiply(a, p, q);
        real alpha = rz / dot(p, q, n);
        for (int64_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
    }
    free(r);
    free(z);
    free(p);
    free(q);
    return k;
}

static void check_case(const hu_csr *a, sptrsv_preconditioner kind, bool structured)
{
    hu_error err = HU_ERROR_NONE;
    double *b = some_vector(a->rows, 5), *x = malloc((size_t)a->rows * sizeof *x);
    real *exact = reals(a->rows), *check = reals(a->rows), *ax = reals(a->rows);
    const sptrsv_pcg_options options = {kind, 1e-8, 1000, 1, NULL};
    sptrsv_pcg *g;
    sptrsv_pcg_result result;
    int64_t expected = textbook(a, kind, b, 1e-8L, exact);
    ck_assert_ok(sptrsv_pcg_new(a, &options, "a", &g, &err));
    ck_assert_ok(sptrsv_pcg_solve(g, b, x, &result, &err));
    ck_assert_msg(llabs(result.iterations - expected) <= 1, "%lld iterations, the textbook takes %lld", (long long)result.iterations,
                  (long long)expected);
    ck_assert_int_eq(result.structured, structured);
    real norm_r = 0, norm_b = 0;
    for (int64_t i = 0; i < a->rows; i++) check[i] = (real)x[i];
    multiply(a, check, ax);
    for (int64_t i = 0; i < a->rows; i++) {
        norm_r += ((real)b[i] - ax[i]) * ((real)b[i] - ax[i]);
        norm_b += (real)b[i] * (real)b[i];
    }
    double residual = (double)sqrtl(norm_r / norm_b);
    ck_assert_double_le(residual, 1.01e-8);
    ck_assert_double_le(fabs(residual - result.true_residual), 1e-3 * residual);
    ck_assert_double_le(result.residual, 1e-8);
    sptrsv_pcg_free(g);
    free(b);
    free(x);
    free(exact);
    free(check);
    free(ax);
}

static const sptrsv_preconditioner kinds[] = {SPTRSV_PRE_NONE, SPTRSV_PRE_IC0, SPTRSV_PRE_ILU0, SPTRSV_PRE_SYMGS};

START_TEST(iterations_of_the_textbook)
{
    hu_csr *a = test_poisson(13, 11, 9), *b = test_poisson(45, 31, 1), *c = test_random(900, 8, true, true, 3);
    for (int k = 0; k < 4; k++) {
        check_case(a, kinds[k], true);
        check_case(b, kinds[k], true);
        check_case(c, kinds[k], false);
    }
    hu_csr_free(a);
    hu_csr_free(b);
    hu_csr_free(c);
}
END_TEST

START_TEST(same_bits_for_any_threads)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_poisson(31, 29, 30);
    double *b = some_vector(a->rows, 6), *x[3];
    const int threads[3] = {1, 2, 7};
    sptrsv_pcg_result result[3];
    for (int t = 0; t < 3; t++) {
        hu_threads_set(threads[t]);
        const sptrsv_pcg_options options = {SPTRSV_PRE_IC0, 1e-8, 1000, threads[t], NULL};
        sptrsv_pcg *g;
        x[t] = malloc((size_t)a->rows * sizeof(double));
        ck_assert_ok(sptrsv_pcg_new(a, &options, "a", &g, &err));
        ck_assert_ok(sptrsv_pcg_solve(g, b, x[t], &result[t], &err));
        ck_assert_int_eq(memcmp(x[0], x[t], (size_t)a->rows * sizeof(double)), 0);
        ck_assert_int_eq(result[0].iterations, result[t].iterations);
        ck_assert(result[0].true_residual == result[t].true_residual);
        sptrsv_pcg_free(g);
    }
    for (int t = 0; t < 3; t++) free(x[t]);
    free(b);
    hu_csr_free(a);
}
END_TEST

/* b times a power of two: x times the same, to the bit, even where squares would leave the range. */
START_TEST(scale_of_b_does_not_matter)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_poisson(12, 12, 12);
    double *b = some_vector(a->rows, 6), *c = malloc((size_t)a->rows * sizeof *c), *x = malloc((size_t)a->rows * sizeof *x);
    double *y = malloc((size_t)a->rows * sizeof *y);
    const sptrsv_pcg_options options = {SPTRSV_PRE_IC0, 1e-8, 1000, 2, NULL};
    sptrsv_pcg_result result, other;
    sptrsv_pcg *g;
    ck_assert_ok(sptrsv_pcg_new(a, &options, "a", &g, &err));
    ck_assert_ok(sptrsv_pcg_solve(g, b, x, &result, &err));
    const double factors[] = {0x1p-900, 0x1p+900};
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < a->rows; i++) c[i] = b[i] * factors[k];
        ck_assert_ok(sptrsv_pcg_solve(g, c, y, &other, &err));
        for (int64_t i = 0; i < a->rows; i++) ck_assert(y[i] == x[i] * factors[k]);
        ck_assert_int_eq(result.iterations, other.iterations);
    }
    memset(b, 0, (size_t)a->rows * sizeof *b);
    ck_assert_ok(sptrsv_pcg_solve(g, b, x, &result, &err));
    ck_assert_int_eq(result.iterations, 0);
    for (int64_t i = 0; i < a->rows; i++) ck_assert(x[i] == 0);
    b[3] = NAN;
    ck_assert_int_eq(sptrsv_pcg_solve(g, b, x, &result, &err), HU_INPUT);
    sptrsv_pcg_free(g);
    hu_csr_free(a);
    free(b);
    free(c);
    free(x);
    free(y);
}
END_TEST

static void check_refusal(const hu_csr *a, sptrsv_preconditioner kind, int64_t most, hu_status expected, const char *words)
{
    hu_error err = HU_ERROR_NONE;
    double *b = some_vector(a->rows, 5), *x = malloc((size_t)a->rows * sizeof *x);
    const sptrsv_pcg_options options = {kind, 1e-8, most, 2, NULL};
    sptrsv_pcg_result result;
    sptrsv_pcg *g;
    hu_status status = sptrsv_pcg_new(a, &options, "m.mtx", &g, &err);
    if (status == HU_OK) status = sptrsv_pcg_solve(g, b, x, &result, &err);
    ck_assert_int_eq(status, expected);
    ck_assert_msg(strstr(err.message, words) != NULL, "message: %s", err.message);
    sptrsv_pcg_free(g);
    free(b);
    free(x);
}

START_TEST(honest_refusals)
{
    hu_csr *a = test_poisson(20, 20, 20);
    check_refusal(a, SPTRSV_PRE_IC0, 3, HU_NO, "not converged after 3 iterations");
    hu_csr_free(a);
    a = test_dense((const double[]){1, 0, 0, 0, -1, 0, 0, 0, 2}, 3);
    check_refusal(a, SPTRSV_PRE_NONE, 50, HU_NO, "p'Ap");
    check_refusal(a, SPTRSV_PRE_ILU0, 50, HU_NO, "r'z");
    check_refusal(a, SPTRSV_PRE_IC0, 50, (hu_status)SPTRSV_BREAKDOWN, "row 2");
    hu_csr_free(a);
    a = test_dense((const double[]){1, 0, 0, 0, 1, 2, 0, 3, 20}, 3);
    check_refusal(a, SPTRSV_PRE_NONE, 50, HU_INPUT, "entry (2,3)");
    hu_csr_free(a);
    a = test_dense((const double[]){1, 0, 0, 0, 1, 2, 0, 0, 20}, 3);
    check_refusal(a, SPTRSV_PRE_NONE, 50, HU_INPUT, "entry (2,3)");
    hu_csr_free(a);
}
END_TEST

static void check_sweeps(const hu_csr *a, bool from_zero)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t n = a->rows;
    double *b = some_vector(n, 7), *x = some_vector(n, 8);
    real *bl = reals(n), *xl = reals(n), largest = 0;
    sptrsv_symgs *g;
    ck_assert_ok(sptrsv_symgs_new(a, "a", NULL, 2, &g, &err));
    for (int64_t i = 0; i < n; i++) {
        bl[i] = (real)b[i];
        xl[i] = from_zero ? 0 : (real)x[i];
    }
    sptrsv_symgs_apply(g, 5, from_zero, b, x);
    for (int sweep = 0; sweep < 5; sweep++) {
        half_sweep(a, bl, xl, true);
        half_sweep(a, bl, xl, false);
    }
    for (int64_t i = 0; i < n; i++) largest = fmaxl(largest, fabsl(xl[i]));
    for (int64_t i = 0; i < n; i++) ck_assert(fabsl(xl[i] - (real)x[i]) <= 1e-13L * largest);
    sptrsv_symgs_free(g);
    free(b);
    free(x);
    free(bl);
    free(xl);
}

START_TEST(sweeps_are_gauss_seidel)
{
    hu_csr *a = test_poisson(11, 12, 13), *b = test_random(400, 6, true, false, 8);
    for (int zero = 0; zero < 2; zero++) {
        check_sweeps(a, zero);
        check_sweeps(b, zero);
    }
    hu_csr_free(a);
    hu_csr_free(b);
}
END_TEST

/* A complex system that is a real one times i: b times i gives the same x. */
START_TEST(sweeps_of_complex_matrices)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_random(300, 6, true, false, 8), *z;
    const int64_t n = a->rows;
    double *b = some_vector(n, 7), *x = some_vector(n, 8), *bz = calloc((size_t)n, 16), *xz = calloc((size_t)n, 16);
    ck_assert_ok(hu_csr_new(n, n, a->nnz, true, &z, &err));
    memcpy(z->row_ptr, a->row_ptr, (size_t)(n + 1) * sizeof *a->row_ptr);
    memcpy(z->col, a->col, (size_t)a->nnz * sizeof *a->col);
    for (int64_t p = 0; p < a->nnz; p++) {
        z->val[2 * p] = 0;
        z->val[2 * p + 1] = a->val[p];
    }
    for (int64_t i = 0; i < n; i++) {
        bz[2 * i + 1] = b[i];
        xz[2 * i] = x[i];
    }
    sptrsv_symgs *g, *gz;
    ck_assert_ok(sptrsv_symgs_new(a, "a", NULL, 2, &g, &err));
    ck_assert_ok(sptrsv_symgs_new(z, "z", NULL, 2, &gz, &err));
    sptrsv_symgs_apply(g, 3, false, b, x);
    sptrsv_symgs_apply(gz, 3, false, bz, xz);
    for (int64_t i = 0; i < n; i++) ck_assert(fabs(xz[2 * i] - x[i]) < 1e-13 && fabs(xz[2 * i + 1]) < 1e-13);
    sptrsv_symgs_free(g);
    sptrsv_symgs_free(gz);
    hu_csr_free(a);
    hu_csr_free(z);
    free(b);
    free(x);
    free(bz);
    free(xz);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("krylov");
    TCase *c = tcase_create("krylov");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, iterations_of_the_textbook);
    tcase_add_test(c, same_bits_for_any_threads);
    tcase_add_test(c, scale_of_b_does_not_matter);
    tcase_add_test(c, honest_refusals);
    tcase_add_test(c, sweeps_are_gauss_seidel);
    tcase_add_test(c, sweeps_of_complex_matrices);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
