/* test_dense.c: containers, sums and products against loops in long double. */
#include "config.h"
#include "hu_test.h"
#include "base/parallel.h"
#include "base/random.h"
#include "dense/dense.h"

#include <math.h>
#include <string.h>

static hu_dense *matrix(int64_t rows, int64_t cols, hu_scalar scalar, hu_order order, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(seed, 3);
    hu_dense *a;
    ck_assert_ok(hu_dense_new(rows, cols, scalar, order, &a, &err));
    const int64_t count = rows * cols * (scalar == HU_C128 ? 2 : 1);
    for (int64_t k = 0; k < count; k++) {
        if (scalar == HU_F32) ((float *)a->data)[k] = (float)hu_random_normal(&r);
        else ((double *)a->data)[k] = hu_random_normal(&r);
    }
    return a;
}

static double at(const hu_dense *a, int64_t i, int64_t j)
{
    int64_t p = a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
    return a->scalar == HU_F32 ? (double)((float *)a->data)[p] : a->scalar == HU_F64 ? ((double *)a->data)[p] : ((double *)a->data)[2 * p];
}

START_TEST(converting)
{
    hu_error err = HU_ERROR_NONE;
    for (int from = 0; from < 6; from++)
        for (int to = 0; to < 6; to++) {
            hu_dense *a = matrix(37, 5, (hu_scalar)(from % 3), (hu_order)(from / 3), 1), *b;
            const hu_scalar scalar = (hu_scalar)(to % 3);
            hu_status status = hu_dense_convert(a, scalar, (hu_order)(to / 3), &b, &err);
            if (a->scalar == HU_C128 && scalar != HU_C128) {
                ck_assert_int_eq(status, HU_INPUT);
                hu_error_clear(&err);
            } else {
                ck_assert_int_eq(status, HU_OK);
                for (int64_t i = 0; i < 37; i++)
                    for (int64_t j = 0; j < 5; j++) {
                        double value = at(a, i, j);
                        ck_assert(at(b, i, j) == (scalar == HU_F32 ? (double)(float)value : value));
                        if (scalar != HU_C128) continue;
                        int64_t p = b->order == HU_COL_MAJOR ? i + j * b->ld : i * b->ld + j;
                        int64_t q = a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
                        double imaginary = a->scalar == HU_C128 ? ((double *)a->data)[2 * q + 1] : 0;
                        ck_assert(((double *)b->data)[2 * p + 1] == imaginary);
                    }
                hu_dense_free(b);
            }
            hu_dense_free(a);
        }
    hu_dense *huge;
    ck_assert_int_eq(hu_dense_new(INT64_MAX / 2, 3, HU_F64, HU_COL_MAJOR, &huge, &err), HU_SYSTEM);
}
END_TEST

START_TEST(finite_values)
{
    hu_error err = HU_ERROR_NONE;
    for (int k = 0; k < 6; k++) {
        hu_dense *a = matrix(300, 4, (hu_scalar)(k % 3), (hu_order)(k / 3), 2);
        ck_assert_ok(hu_dense_check_finite(a, "b", &err));
        const int64_t late = a->order == HU_COL_MAJOR ? 250 + 1 * a->ld : 250 * a->ld + 1;
        const int64_t early = a->order == HU_COL_MAJOR ? 17 + 3 * a->ld : 17 * a->ld + 3;
        if (a->scalar == HU_F32) {
            ((float *)a->data)[late] = NAN;
            ((float *)a->data)[early] = INFINITY;
        } else {
            const int w = a->scalar == HU_C128 ? 2 : 1;
            ((double *)a->data)[late * w + w - 1] = -INFINITY;
            ((double *)a->data)[early * w + w - 1] = NAN;
        }
        ck_assert_int_eq(hu_dense_check_finite(a, "b.npy", &err), HU_INPUT);
        ck_assert_str_eq(err.message, "b.npy: value (18,4) is not finite");
        hu_error_clear(&err);
        hu_dense_free(a);
    }
}
END_TEST

START_TEST(sums)
{
    const int64_t sizes[] = {0, 1, 31, 32, 33, 4095, 4096, 4097, 100003, 5000001};
    const int threads[] = {1, 2, 7};
    for (int s = 0; s < 10; s++) {
        const int64_t n = sizes[s];
        hu_dense *x = matrix(n, 1, HU_F64, HU_COL_MAJOR, 5), *y = matrix(n, 1, HU_F64, HU_COL_MAJOR, 6);
        const double *xv = x->data, *yv = y->data;
        long double sum = 0, size = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += (long double)xv[i] * (long double)yv[i];
            size += fabsl((long double)xv[i] * (long double)yv[i]);
            square += (long double)xv[i] * (long double)xv[i];
        }
        double first = 0;
        for (int t = 0; t < 3; t++) {
            hu_threads_set(threads[t]);
            double got = hu_dot(xv, yv, n);
            if (t == 0) first = got;
            ck_assert(got == first);
            ck_assert(fabsl((long double)got - sum) <= 300 * 0x1p-53L * size);
        }
        ck_assert(fabsl((long double)hu_norm2(xv, n) - sqrtl(square)) <= 300 * 0x1p-53L * sqrtl(square));
        hu_dense_free(x);
        hu_dense_free(y);
    }
}
END_TEST

START_TEST(norms_at_the_ends_of_the_range)
{
    double v[2] = {3e200, 4e200};
    ck_assert_double_eq_tol(hu_norm2(v, 2) / 5e200, 1, 1e-15);
    double w[2] = {3e-200, 4e-200};
    ck_assert_double_eq_tol(hu_norm2(w, 2) / 5e-200, 1, 1e-15);
    double tiny[2] = {3 * 0x1p-1074, 4 * 0x1p-1074};
    ck_assert(hu_norm2(tiny, 2) == 5 * 0x1p-1074);
    double zero[2] = {0, -0.0};
    ck_assert(hu_norm2(zero, 2) == 0);
    double nan[3] = {1e300, NAN, 1e300}, inf[3] = {1, -INFINITY, 1};
    ck_assert(isnan(hu_norm2(nan, 3)));
    ck_assert(isinf(hu_norm2(inf, 3)));
}
END_TEST

START_TEST(products)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t m = 23, n = 17, k = 31;
    for (int bits = 0; bits < 64; bits++) {
        const hu_scalar scalar = bits & 32 ? HU_F32 : HU_F64;
        const bool ta = bits & 1, tb = bits & 2;
        hu_dense *a = matrix(ta ? k : m, ta ? m : k, scalar, bits & 4 ? HU_ROW_MAJOR : HU_COL_MAJOR, 7);
        hu_dense *b = matrix(tb ? n : k, tb ? k : n, scalar, bits & 8 ? HU_ROW_MAJOR : HU_COL_MAJOR, 8);
        hu_dense *c = matrix(m, n, scalar, bits & 16 ? HU_ROW_MAJOR : HU_COL_MAJOR, 9);
        hu_dense *before = matrix(m, n, scalar, c->order, 9);
        ck_assert_ok(hu_dense_mul(2, a, ta, b, tb, -0.5, c, &err));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                long double sum = -0.5L * (long double)at(before, i, j);
                for (int64_t l = 0; l < k; l++) sum += 2 * (long double)(ta ? at(a, l, i) : at(a, i, l)) * (long double)(tb ? at(b, j, l) : at(b, l, j));
                ck_assert(fabsl((long double)at(c, i, j) - sum) <= (scalar == HU_F32 ? 1e-4L : 1e-12L));
            }
        if (!ta) {
            ck_assert_int_eq(hu_dense_mul(1, a, true, b, tb, 0, c, &err), HU_USAGE);
            hu_error_clear(&err);
        }
        hu_dense_free(a);
        hu_dense_free(b);
        hu_dense_free(c);
        hu_dense_free(before);
    }
}
END_TEST

/* All of binary16 and bfloat16 read as the compiler's own types have them and come back; rounding is to nearest, ties to even. */
START_TEST(halves)
{
    uint16_t back;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint16_t half = (uint16_t)bits;
        const uint32_t word = bits << 16;
        float wide;
        memcpy(&wide, &word, sizeof wide);
        const double value = hu_scalar_get(HU_BF16, &half, 0);
        ck_assert(isnan(wide) ? isnan(value) : value == (double)wide && !signbit(value) == !signbit(wide));
        hu_scalar_put(HU_BF16, &back, 0, value);
        ck_assert(isnan(wide) || back == half);
        const double small = hu_scalar_get(HU_F16, &half, 0);
        hu_scalar_put(HU_F16, &back, 0, small);
        ck_assert(isnan(small) || back == half);
#if defined(__FLT16_MAX__)
        _Float16 own;
        memcpy(&own, &half, sizeof own);
        ck_assert(isnan(small) ? isnan((float)own) : small == (double)own && !signbit(small) == !signbit((float)own));
#endif
    }
#if defined(__FLT16_MAX__)
    hu_random r = hu_random_stream(1, 1);
    for (int k = 0; k < 100000; k++) {
        const float value = (float)ldexp(hu_random_normal(&r), (int)hu_random_below(&r, 44) - 28);
        const _Float16 own = (_Float16)value;
        hu_scalar_put(HU_F16, &back, 0, (double)value);
        ck_assert_mem_eq(&back, &own, sizeof back);
    }
#endif
    static const struct { double value; uint16_t f16, bf16; } ties[] = {
        {1 + 0x1p-11, 0x3c00, 0x3f80}, {1 + 3 * 0x1p-11, 0x3c02, 0x3f80}, {1 + 0x1p-8, 0x3c04, 0x3f80}, {1 + 3 * 0x1p-8, 0x3c0c, 0x3f82},
        {65519, 0x7bff, 0x4780}, {65520, 0x7c00, 0x4780}, {0x1p-25, 0, 0x3300}, {0x1.8p-25, 1, 0x3340}, {-0x1p-24, 0x8001, 0xb380}, {1e300, 0x7c00, 0x7f80}, {-0.0, 0x8000, 0x8000}};
    for (size_t k = 0; k < sizeof ties / sizeof *ties; k++) {
        hu_scalar_put(HU_F16, &back, 0, ties[k].value);
        ck_assert_uint_eq(back, ties[k].f16);
        hu_scalar_put(HU_BF16, &back, 0, ties[k].value);
        ck_assert_uint_eq(back, ties[k].bf16);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dense");
    TCase *c = tcase_create("dense");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, converting);
    tcase_add_test(c, finite_values);
    tcase_add_test(c, halves);
    tcase_add_test(c, sums);
    tcase_add_test(c, norms_at_the_ends_of_the_range);
    tcase_add_test(c, products);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
