/* test_spmm_panel.c: products by panels against three loops in double: every shape, any number of columns, all types, threads, what is left untouched. */
#include "config.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "hu_test.h"
#include "panel.h"
#include "spmm_maker.h"

#include <string.h>

static const int32_t all_rows[] = {1, 2, 4, 8};

/* C with NaN in it and behind each row, and `pad` more columns in memory. */
static hu_dense *target(int64_t rows, int64_t cols, int64_t pad, hu_scalar scalar)
{
    hu_error err = HU_ERROR_NONE;
    hu_dense *c;
    ck_assert_ok(hu_dense_new(rows, cols + pad, scalar, HU_ROW_MAJOR, &c, &err));
    for (int64_t i = 0; i < rows * c->ld; i++) hu_scalar_put(scalar, c->data, i, NAN);
    c->cols = cols;
    return c;
}

static void check_untouched(const hu_dense *c)
{
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = c->cols; j < c->ld; j++) {
            const double v = hu_scalar_get(c->scalar, c->data, i * c->ld + j);
            if (v == v) ck_abort_msg("row %lld: written behind its end", (long long)i);
        }
}

static spmm_options options_of(const spmm_panel_shape *s, int64_t k)
{
    spmm_options o = SPMM_OPTIONS;
    o.k = k;
    if (!s) return o;
    o.panel_rows = s->rows;
    o.k_block = s->k_block;
    o.masks = (int64_t)s->masks + 1;
    o.panel_order = (int64_t)s->order + 1;
    return o;
}

/* One product into a padded C; the caller frees. */
static hu_dense *product(spmm_matrix *a, const hu_dense *b, const spmm_panel_shape *s, hu_scalar out, double alpha, double beta, const hu_dense *c0)
{
    hu_error err = HU_ERROR_NONE;
    spmm_plan *plan;
    spmm_stats stats;
    const spmm_options o = options_of(s, b->cols);
    hu_dense *c = target(a->rows, b->cols, 3, out);
    for (int64_t i = 0; c0 && i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) hu_scalar_put(out, c->data, i * c->ld + j, hu_scalar_get(c0->scalar, c0->data, i * c0->ld + j));
    spmm_product p = {b, c, SPMM_PLAIN};
    p.finish.alpha = alpha;
    p.finish.beta = beta;
    ck_assert_ok(spmm_plan_new(a, &spmm_panel, &o, spmm_sum_scalar(b->scalar), &plan, &err));
    spmm_panel.stats(plan->pack, a, &stats);
    ck_assert_int_eq(stats.covered, a->nnz);
    ck_assert_ok(spmm_multiply(plan, SPMM_SUM, &p, NULL, &err));
    spmm_plan_free(plan);
    check_untouched(c);
    return c;
}

static hu_dense *operand(int64_t rows, int64_t cols, hu_scalar scalar, bool whole)
{
    hu_error err = HU_ERROR_NONE;
    hu_dense *b;
    ck_assert_ok(hu_dense_new(rows, cols, scalar, HU_ROW_MAJOR, &b, &err));
    spmm_fill(b, whole, 7);
    return b;
}

/* Whole numbers: every shape must give the one right answer, to the bit. */
START_TEST(test_exact)
{
    static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {13, 300}, {530, 70}}, widths[] = {1, 3, 15, 17, 33, 64, 143};
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++)
        for (int64_t block = 1; block <= 4; block += 3) {
            spmm_matrix *a = spmm_make(sizes[z][0], sizes[z][1], .3, block, true, HU_F32, z);
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
                hu_dense *b = operand(a->cols, widths[w], HU_F32, true);
                hu_dense *right = product(a, b, NULL, HU_F32, 1, 0, NULL);
                ck_assert(spmm_error(a, b, right, 1, 0, NULL) == 0);
                for (size_t r = 0; r < 4; r++)
                    for (int m = 0; m < SPMM_MASKS_KINDS; m++) {
                        const spmm_panel_shape s = {all_rows[r], 32 << r, (spmm_masks)m, (spmm_panel_order)((r + w) % SPMM_ROWS_KINDS)};
                        if (m == SPMM_MASKS_ALL && s.rows == 8) continue;
                        hu_dense *c = product(a, b, &s, HU_F32, 1, 0, NULL);
                        for (int64_t i = 0; i < c->rows; i++)
                            if (memcmp((float *)c->data + i * c->ld, (float *)right->data + i * c->ld, (size_t)c->cols * sizeof(float)) != 0)
                                ck_abort_msg("%lld x %lld, %lld columns, R %d masks %d: row %lld", (long long)a->rows, (long long)a->cols, (long long)widths[w], s.rows, m, (long long)i);
                        hu_dense_free(c);
                    }
                hu_dense_free(right);
                hu_dense_free(b);
            }
            spmm_matrix_free(a);
        }
}
END_TEST

/* Real values of all types of B and C within the bound, with alpha and beta. */
START_TEST(test_bound)
{
    static const hu_scalar types[][2] = {{HU_F32, HU_F32}, {HU_F64, HU_F64}, {HU_F16, HU_F32}, {HU_BF16, HU_F32}, {HU_F16, HU_F16}, {HU_F32, HU_BF16}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int64_t k = 20; k <= 90; k += 35) {
            spmm_matrix *a = spmm_make(70, 500, .2, 1, false, spmm_sum_scalar(types[t][0]), 3);
            hu_dense *b = operand(a->cols, k, types[t][0], false), *c0 = operand(a->rows, k, types[t][1], false);
            for (size_t r = 0; r < 4; r++) {
                const spmm_panel_shape s = {all_rows[r], 128, r == 2 ? SPMM_MASKS_ALL : SPMM_MASKS_NONE, SPMM_ROWS_DEGREE};
                hu_dense *c = product(a, b, &s, types[t][1], 1, 0, NULL), *d = product(a, b, &s, types[t][1], -1.5, .75, c0);
                const double error = spmm_error(a, b, c, 1, 0, NULL), scaled = spmm_error(a, b, d, -1.5, .75, c0);
                ck_assert_msg(error <= 1 && scaled <= 1, "types %s %s, R %d: %g and %g of the bound", hu_scalar_name(types[t][0]), hu_scalar_name(types[t][1]), s.rows, error, scaled);
                hu_dense_free(c);
                hu_dense_free(d);
            }
            hu_dense_free(b);
            hu_dense_free(c0);
            spmm_matrix_free(a);
        }
}
END_TEST

/* The same bits for any number of threads, and for any cut of B into columns. */
START_TEST(test_bits)
{
    spmm_matrix *a = spmm_make(1300, 400, .1, 1, false, HU_F32, 5);
    hu_dense *b = operand(a->cols, 70, HU_F32, false);
    hu_threads_set(1);
    hu_dense *one = product(a, b, NULL, HU_F32, 1, 0, NULL);
    for (int threads = 2; threads <= 3; threads++) {
        hu_threads_set(threads);
        hu_dense *c = product(a, b, NULL, HU_F32, 1, 0, NULL);
        for (int64_t i = 0; i < a->rows; i++) ck_assert_int_eq(memcmp((float *)one->data + i * one->ld, (float *)c->data + i * c->ld, 70 * sizeof(float)), 0);
        hu_dense_free(c);
    }
    hu_dense left = *b, right = *b;
    left.cols = 33;
    right.cols = 37;
    right.data = (float *)b->data + 33;
    const spmm_panel_shape s = spmm_panel_rule(a, 70, HU_F32);
    hu_dense *c1 = product(a, &left, &s, HU_F32, 1, 0, NULL), *c2 = product(a, &right, &s, HU_F32, 1, 0, NULL);
    for (int64_t i = 0; i < a->rows; i++) {
        ck_assert_int_eq(memcmp((float *)one->data + i * one->ld, (float *)c1->data + i * c1->ld, 33 * sizeof(float)), 0);
        ck_assert_int_eq(memcmp((float *)one->data + i * one->ld + 33, (float *)c2->data + i * c2->ld, 37 * sizeof(float)), 0);
    }
    hu_dense_free(one);
    hu_dense_free(c1);
    hu_dense_free(c2);
    hu_dense_free(b);
    spmm_matrix_free(a);
}
END_TEST

/* NaN and infinity in B reach the rows that use them and no other: nothing is padded. */
START_TEST(test_not_finite)
{
    spmm_matrix *a = spmm_make(37, 64, .2, 1, true, HU_F32, 11);
    hu_dense *b = operand(a->cols, 20, HU_F32, true);
    for (int64_t j = 0; j < b->cols; j++) ((float *)b->data)[17 * b->ld + j] = j % 2 ? NAN : INFINITY;
    for (int m = 0; m < SPMM_MASKS_KINDS; m++) {
        const spmm_panel_shape s = {4, 32, (spmm_masks)m, SPMM_ROWS_SIMILAR};
        hu_dense *c = product(a, b, &s, HU_F32, 1, 0, NULL);
        for (int64_t i = 0; i < a->rows; i++) {
            bool uses = false;
            for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) uses |= a->col[p] == 17;
            for (int64_t j = 0; j < b->cols; j++) ck_assert_int_eq(!isfinite(((float *)c->data)[i * c->ld + j]), uses);
        }
        hu_dense_free(c);
    }
    hu_dense_free(b);
    spmm_matrix_free(a);
}
END_TEST

/* No rows, no columns, no entries; shapes that are none. */
START_TEST(test_edges)
{
    static const int64_t sizes[][2] = {{0, 5}, {5, 0}, {6, 4}};
    hu_error err = HU_ERROR_NONE;
    for (size_t z = 0; z < 3; z++) {
        spmm_matrix *a = spmm_make(sizes[z][0], sizes[z][1], 0, 1, true, HU_F32, 1);
        hu_dense *b = operand(a->cols, 5, HU_F32, true), *c = product(a, b, NULL, HU_F32, 1, 0, NULL);
        for (int64_t i = 0; i < c->rows; i++)
            for (int64_t j = 0; j < c->cols; j++) ck_assert(((float *)c->data)[i * c->ld + j] == 0);
        hu_dense_free(b);
        hu_dense_free(c);
        spmm_matrix_free(a);
    }
    static const spmm_panel_shape wrong[] = {{3, 64, 0, 0}, {4, 100, 0, 0}, {4, 8, 0, 0}, {8, 64, SPMM_MASKS_ALL, 0}, {4, 65536, 0, 0}};
    for (size_t z = 0; z < sizeof wrong / sizeof *wrong; z++) {
        ck_assert_int_eq(spmm_panel_shape_check(&wrong[z], &err), HU_USAGE);
        hu_error_clear(&err);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spmm_panel");
    TCase *tc = tcase_create("panels");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_exact);
    tcase_add_test(tc, test_bound);
    tcase_add_test(tc, test_bits);
    tcase_add_test(tc, test_not_finite);
    tcase_add_test(tc, test_edges);
    suite_add_tcase(suite, tc);
    return hu_test_run(suite);
}
