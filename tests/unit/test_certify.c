/* test_certify.c: the certificate against residuals in __float128, and refinement. */
#include "config.h"
#include "hu_test.h"
#include "test_matrices.h"
#include "base/parallel.h"
#include "certify.h"
#include "survey.h"

#include <math.h>
#include <string.h>

typedef __float128 quad;

static hu_dense *vector(int64_t n, hu_scalar scalar)
{
    hu_error err = HU_ERROR_NONE;
    hu_dense *a;
    ck_assert_ok(hu_dense_new(n, 1, scalar, HU_COL_MAJOR, &a, &err));
    a->dims = 1;
    return a;
}

static sptrsv_system *lower_system(const hu_csr *a, bool unit)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_system *s;
    const sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, unit, true};
    ck_assert_ok(sptrsv_system_new(a, &problem, "a", &s, &err));
    return s;
}

static double narrow(double v, bool rounded)
{
    return rounded ? (double)(float)v : v;
}

/* Forward substitution in the working precision, row by row as the textbook does. */
static void substitute(const sptrsv_system *s, sptrsv_precision precision, const double *b, double *x)
{
    for (int64_t i = 0; i < s->n; i++) {
        double sum = b[i];
        float sum_f = (float)b[i];
        for (int32_t k = 0; k < s->count[i]; k++) {
            int64_t p = s->first[i] + k, j = s->matrix->col[p];
            sum -= narrow(s->matrix->val[p], precision != SPTRSV_F64) * x[j];
            sum_f -= (float)s->matrix->val[p] * (float)x[j];
        }
        double d = s->unit ? 1 : narrow(s->matrix->val[s->diagonal[i]], precision != SPTRSV_F64);
        x[i] = precision == SPTRSV_F32 ? (double)(sum_f / (float)d) : sum / d;
    }
}

static quad absolute(quad v)
{
    return v < 0 ? -v : v;
}

/* The greatest ratio of residual and bound over all rows, everything in __float128. */
static double oracle(const sptrsv_system *s, sptrsv_precision precision, const double *b, const double *x, int64_t *ret_row)
{
    const bool rounded = precision != SPTRSV_F64;
    const quad u = precision == SPTRSV_F32 ? (quad)0x1p-24 : (quad)0x1p-53, least = precision == SPTRSV_F32 ? (quad)0x1p-149 : (quad)0x1p-1074;
    double worst = -1;
    for (int64_t i = 0; i < s->n; i++) {
        quad r = (quad)b[i], size = absolute((quad)b[i]);
        for (int32_t k = 0; k < s->count[i]; k++) {
            int64_t p = s->first[i] + k;
            quad term = (quad)narrow(s->matrix->val[p], rounded) * (quad)x[s->matrix->col[p]];
            r -= term;
            size += absolute(term);
        }
        quad d = s->unit ? (quad)1 : (quad)narrow(s->matrix->val[s->diagonal[i]], rounded);
        r -= d * (quad)x[i];
        size += absolute(d * (quad)x[i]);
        quad bound = (quad)(s->count[i] + 4) * u * size + (quad)(s->count[i] + 2) * (absolute(d) > 1 ? absolute(d) : (quad)1) * least;
        double ratio = (double)(absolute(r) / bound);
        if (ratio > worst) {
            worst = ratio;
            *ret_row = i;
        }
    }
    return worst;
}

START_TEST(agrees_with_quadruple_precision)
{
    hu_error err = HU_ERROR_NONE;
    hu_random random = hu_random_stream(3, 3);
    for (int round = 0; round < 24; round++) {
        const sptrsv_precision precision = (sptrsv_precision)(round % 3);
        const bool unit = round % 2;
        hu_csr *a = test_random(2000, 12, true, false, (uint64_t)round + 1);
        if (unit)
            for (int64_t p = 0; p < a->nnz; p++) a->val[p] /= 16;
        sptrsv_system *s = lower_system(a, unit);
        hu_dense *b = vector(s->n, HU_F64), *x = vector(s->n, HU_F64);
        for (int64_t i = 0; i < s->n; i++) ((double *)b->data)[i] = hu_random_normal(&random) * pow(10, (double)hu_random_below(&random, 5));
        if (precision == SPTRSV_F32)
            for (int64_t i = 0; i < s->n; i++) ((double *)b->data)[i] = (double)(float)((double *)b->data)[i];
        substitute(s, precision, b->data, x->data);
        sptrsv_certificate c, again;
        int64_t row = -1;
        double ratio = oracle(s, precision, b->data, x->data, &row);
        hu_threads_set(1);
        ck_assert_ok(sptrsv_certify(s, precision, 1, b, x, &c, &err));
        ck_assert(c.holds);
        ck_assert_int_eq(c.worst_row, row);
        ck_assert_double_le(fabs(c.worst_ratio - ratio), 1e-12 * ratio);
        ck_assert(precision == SPTRSV_F64 ? c.storage == 0 : c.storage > 1e-9 && c.storage < 0x1p-24);
        hu_threads_set(7);
        ck_assert_ok(sptrsv_certify(s, precision, 1, b, x, &again, &err));
        ck_assert(c.worst_row == again.worst_row && c.worst_ratio == again.worst_ratio && c.storage == again.storage);
        /* one value moved by 100 bounds of its row is found, in that row or in one that reads it */
        const int64_t at = hu_random_below(&random, s->n);
        double *value = (double *)x->data + at, move = 100 * (s->count[at] + 4) * (precision == SPTRSV_F32 ? 0x1p-24 : 0x1p-53);
        double d = unit ? 1 : a->val[s->diagonal[at]], size = fabs(((double *)b->data)[at]) + fabs(d * *value);
        for (int32_t k = 0; k < s->count[at]; k++)
            size += fabs(a->val[s->first[at] + k] * ((double *)x->data)[a->col[s->first[at] + k]]);
        *value += move * size / d;
        ck_assert_int_eq(sptrsv_certify(s, precision, 1, b, x, &c, &err), HU_NO);
        ck_assert(!c.holds && c.worst_ratio > 10 && c.worst_row >= at);
        hu_error_clear(&err);
        hu_dense_free(b);
        hu_dense_free(x);
        sptrsv_system_free(s);
        hu_csr_free(a);
    }
}
END_TEST

START_TEST(not_a_number_fails)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_dense((const double[]){2, 0, 0, 1, 1, 0, 0, 1, 4}, 3);
    sptrsv_system *s = lower_system(a, false);
    hu_dense *b = vector(3, HU_F64), *x = vector(3, HU_F64);
    sptrsv_certificate c;
    memcpy(b->data, (const double[]){2, 2, 5}, 3 * sizeof(double));
    memcpy(x->data, (const double[]){1, 1, 1}, 3 * sizeof(double));
    ck_assert_ok(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err));
    ck_assert_double_eq(c.worst_ratio, 0);
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        ((double *)x->data)[2] = wrong[k];
        ck_assert_int_eq(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err), HU_NO);
        ck_assert(!c.holds && c.worst_row == 2 && isinf(c.worst_ratio));
        ck_assert_ptr_nonnull(strstr(err.message, "row 3 of column 1"));
        hu_error_clear(&err);
    }
    hu_dense_free(b);
    hu_dense_free(x);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* x = b / d below the least normal number: the rounding of a subnormal is no relative error, and the bound knows. */
START_TEST(underflow_is_allowed_for)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_dense((const double[]){3, 0, 1e-200, 0x1.8p0}, 2);
    sptrsv_system *s = lower_system(a, false);
    hu_dense *b = vector(2, HU_F64), *x = vector(2, HU_F64);
    sptrsv_certificate c;
    ((double *)b->data)[0] = 10 * 0x1p-1074;
    ((double *)b->data)[1] = 4 * 0x1p-1074;
    substitute(s, SPTRSV_F64, b->data, x->data);
    ck_assert_ok(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err));
    ck_assert_double_gt(c.worst_ratio, 0); /* 10/3 was rounded */
    ((double *)x->data)[0] += 20 * 0x1p-1074;
    ck_assert_int_eq(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err), HU_NO);
    hu_dense_free(b);
    hu_dense_free(x);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* A complex solution by plain substitution holds; the residual of one exact Gaussian integer system is 0, of a wrong one 1. */
START_TEST(complex_systems)
{
    hu_error err = HU_ERROR_NONE;
    hu_random random = hu_random_stream(5, 5);
    hu_csr *a = test_random(500, 20, true, false, 9), *z;
    ck_assert_ok(hu_csr_new(a->rows, a->cols, a->nnz, true, &z, &err));
    memcpy(z->row_ptr, a->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr);
    memcpy(z->col, a->col, (size_t)a->nnz * sizeof *a->col);
    for (int64_t p = 0; p < a->nnz; p++) {
        z->val[2 * p] = a->val[p];
        z->val[2 * p + 1] = hu_random_normal(&random);
    }
    sptrsv_system *s = lower_system(z, false);
    hu_dense *b = vector(s->n, HU_C128), *x = vector(s->n, HU_C128);
    double *bv = b->data, *xv = x->data;
    for (int64_t i = 0; i < 2 * s->n; i++) bv[i] = hu_random_normal(&random);
    for (int64_t i = 0; i < s->n; i++) {
        _Complex double sum = bv[2 * i] + 1.0i * bv[2 * i + 1];
        for (int32_t k = 0; k < s->count[i]; k++) {
            int64_t p = s->first[i] + k, j = z->col[p];
            sum -= (z->val[2 * p] + 1.0i * z->val[2 * p + 1]) * (xv[2 * j] + 1.0i * xv[2 * j + 1]);
        }
        sum /= z->val[2 * s->diagonal[i]] + 1.0i * z->val[2 * s->diagonal[i] + 1];
        xv[2 * i] = __real__ sum;
        xv[2 * i + 1] = __imag__ sum;
    }
    sptrsv_certificate c;
    ck_assert_ok(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err));
    ck_assert(c.worst_ratio > 1e-3 && c.worst_ratio < 1);
    xv[2 * 77 + 1] += 1e-12 * (1 + fabs(xv[2 * 77 + 1]));
    ck_assert_int_eq(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err), HU_NO);
    hu_dense_free(b);
    hu_dense_free(x);
    sptrsv_system_free(s);
    hu_csr_free(a);
    hu_csr_free(z);
}
END_TEST

/* Two columns in row order: the second is wrong, and it is the one named. */
START_TEST(columns_and_shapes)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = test_dense((const double[]){2, 0, 1, 1}, 2);
    sptrsv_system *s = lower_system(a, false);
    hu_dense *b, *x;
    ck_assert_ok(hu_dense_new(2, 2, HU_F64, HU_ROW_MAJOR, &b, &err));
    ck_assert_ok(hu_dense_new(2, 2, HU_F32, HU_COL_MAJOR, &x, &err));
    memcpy(b->data, (const double[]){2, 4, 2, 4}, 4 * sizeof(double));
    memcpy(x->data, (const float[]){1, 1, 2, 3}, 4 * sizeof(float));
    sptrsv_certificate c;
    ck_assert_int_eq(sptrsv_certify(s, SPTRSV_F32, 1, b, x, &c, &err), HU_NO);
    ck_assert_int_eq(c.worst_col, 1);
    ck_assert_int_eq(c.worst_row, 1);
    ck_assert_double_eq(c.residual, 1);
    hu_error_clear(&err);
    ((float *)x->data)[3] = 2;
    ck_assert_ok(sptrsv_certify(s, SPTRSV_F32, 1, b, x, &c, &err));
    x->rows = 1;
    ck_assert_int_eq(sptrsv_certify(s, SPTRSV_F32, 1, b, x, &c, &err), HU_INPUT);
    hu_dense_free(b);
    hu_dense_free(x);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* Refinement of a float solve reaches the certificate of double precision. */
START_TEST(refinement_reaches_double)
{
    hu_error err = HU_ERROR_NONE;
    const sptrsv_precision precisions[] = {SPTRSV_F32, SPTRSV_MIXED, SPTRSV_F64};
    hu_random random = hu_random_stream(8, 8);
    hu_csr *a = test_random(3000, 10, true, false, 4);
    sptrsv_system *s = lower_system(a, false);
    for (int k = 0; k < 3; k++) {
        sptrsv_scheme scheme;
        sptrsv_plan *plan;
        sptrsv_certificate c;
        ck_assert_ok(sptrsv_scheme_by_rule(s, 2, true, &scheme, &err));
        ck_assert_ok(sptrsv_plan_new(s, &scheme, precisions[k], 2, &plan, &err));
        hu_dense *b = vector(s->n, HU_F64), *x = vector(s->n, HU_F64);
        for (int64_t i = 0; i < s->n; i++) {
            ((double *)b->data)[i] = 1e-60 * hu_random_normal(&random); /* far below the range of floats */
            ((double *)x->data)[i] = 0;
        }
        ck_assert_ok(sptrsv_refine(plan, s, 1, b, x, &err));
        if (precisions[k] != SPTRSV_F64) ck_assert_int_eq(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err), HU_NO);
        hu_error_clear(&err);
        ck_assert_ok(sptrsv_refine(plan, s, 3, b, x, &err));
        ck_assert_ok(sptrsv_certify(s, SPTRSV_F64, 1, b, x, &c, &err));
        hu_dense_free(b);
        hu_dense_free(x);
        sptrsv_plan_free(plan);
    }
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("certify");
    TCase *c = tcase_create("certify");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, agrees_with_quadruple_precision);
    tcase_add_test(c, not_a_number_fails);
    tcase_add_test(c, underflow_is_allowed_for);
    tcase_add_test(c, complex_systems);
    tcase_add_test(c, columns_and_shapes);
    tcase_add_test(c, refinement_reaches_double);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
