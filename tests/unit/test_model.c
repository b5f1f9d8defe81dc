/* test_model.c: linear parts against known truths, and models: bands, files, errors by definition. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "learn/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Four columns: two numbers, one of three levels, one more number; the targets by a function of the row. */
static hu_frame *make_frame(int64_t rows, uint64_t seed, double (*target)(const double *x, hu_random *r))
{
    hu_error err = HU_ERROR_NONE;
    static const char *const names[] = {"a", "b", "mode", "p"}, *const levels[] = {"fast", "odd", "slow"};
    hu_frame *frame;
    hu_random r = hu_random_stream(seed, 0);
    ck_assert_ok(hu_frame_new(rows, 4, &frame, &err));
    for (int f = 0; f < 4; f++) frame->feature[f].name = strdup(names[f]);
    ck_assert_ok(hu_alloc_zero(3, sizeof(char *), "levels", (void **)&frame->feature[2].levels, &err));
    for (int l = 0; l < 3; l++) frame->feature[2].levels[l] = strdup(levels[l]);
    frame->feature[2].level_count = 3;
    for (int64_t i = 0; i < rows; i++) {
        double x[4] = {(double)hu_random_below(&r, 2), (double)hu_random_below(&r, 10), (double)hu_random_below(&r, 3), (double)(1 << hu_random_below(&r, 6))};
        for (int f = 0; f < 4; f++) frame->column[f][i] = x[f];
        frame->y[i] = target(x, &r);
    }
    ck_assert_ok(hu_frame_finish(frame, &err));
    return frame;
}

static double sparse_truth(const double *x, hu_random *r)
{
    (void)r;
    return 7 + 3 * x[1] - 2 * x[0] * x[1] + (x[2] == 2 ? 5 : 0);
}

static double strong_scaling(const double *x, hu_random *r)
{
    (void)r;
    return 0.5 + 96 / x[3];
}

static double product_scaling(const double *x, hu_random *r)
{
    (void)r;
    return 2 + 0.75 * x[3] * log2(x[3]);
}

static double noisy(const double *x, hu_random *r)
{
    return (10 + x[1] * (1 + x[0]) + 4 * x[2]) * exp(0.1 * hu_random_normal(r));
}

START_TEST(lasso_finds_a_sparse_truth)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame = make_frame(150, 3, sparse_truth), *other = make_frame(300, 4, sparse_truth);
    hu_linear *linear;
    ck_assert_ok(hu_linear_lasso(frame, frame->y, NULL, frame->rows, true, 1, &linear, &err));
    double worst = 0;
    for (int64_t i = 0; i < other->rows; i++) worst = fmax(worst, fabs(hu_linear_value(linear, other->x + 4 * i) - other->y[i]));
    ck_assert_double_lt(worst, 0.2); /* of a range of 32; shrinkage leaves a trace */
    hu_linear_free(linear);
    /* without products the truth cannot be met */
    ck_assert_ok(hu_linear_lasso(frame, frame->y, NULL, frame->rows, false, 1, &linear, &err));
    worst = 0;
    for (int64_t i = 0; i < other->rows; i++) worst = fmax(worst, fabs(hu_linear_value(linear, other->x + 4 * i) - other->y[i]));
    ck_assert_double_gt(worst, 1.0);
    hu_linear_free(linear);
    hu_frame_free(frame);
    hu_frame_free(other);
}
END_TEST

/* The optimality conditions of the lasso hold for the constant: residuals have mean zero. */
START_TEST(residuals_have_mean_zero)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame = make_frame(80, 9, noisy);
    hu_linear *linear;
    double sum = 0, squares = 0;
    ck_assert_ok(hu_linear_lasso(frame, frame->y, NULL, frame->rows, true, 1, &linear, &err));
    for (int64_t i = 0; i < frame->rows; i++) {
        double e = frame->y[i] - hu_linear_value(linear, frame->x + 4 * i);
        sum += e;
        squares += e * e;
    }
    ck_assert_double_lt(fabs(sum / 80), 1e-3 * sqrt(squares / 80));
    hu_linear_free(linear);
    hu_frame_free(frame);
}
END_TEST

START_TEST(powers_reach_beyond_the_table)
{
    hu_error err = HU_ERROR_NONE;
    static const int32_t scale[] = {3};
    double (*truth[])(const double *, hu_random *) = {strong_scaling, product_scaling};
    for (int k = 0; k < 2; k++) {
        hu_frame *frame = make_frame(60, 5, truth[k]);
        hu_linear *linear;
        ck_assert_ok(hu_linear_pmnf(frame, frame->y, NULL, frame->rows, scale, 1, &linear, &err));
        double x[4] = {0, 0, 0, 4096}, want = truth[k](x, NULL);
        ck_assert_double_lt(fabs(hu_linear_value(linear, x) / want - 1), 1e-6);
        hu_linear_free(linear);
        frame->column[3][7] = frame->x[4 * 7 + 3] = -1;
        ck_assert_int_eq(hu_linear_pmnf(frame, frame->y, NULL, frame->rows, scale, 1, &linear, &err), HU_INPUT);
        hu_error_clear(&err);
        hu_frame_free(frame);
    }
}
END_TEST

START_TEST(errors_by_definition)
{
    double truth[] = {1, 2, 4, 8, 0}, prediction[] = {1.1, 1.8, NAN, 10, 1}, work[5];
    hu_model_error e = hu_model_judge(truth, prediction, 5, work);
    ck_assert_int_eq(e.rows, 4);
    ck_assert_double_eq_tol(e.mape, (0.1 + 0.1 + 0.25) / 3, 1e-12); /* the zero has no relative error */
    ck_assert_double_eq_tol(e.mdape, 0.1, 1e-12);
    ck_assert_double_eq_tol(e.rmse, sqrt((0.01 + 0.04 + 4 + 1) / 4), 1e-12);
    double mean = 11 / 4.0, spread = pow(1 - mean, 2) + pow(2 - mean, 2) + pow(8 - mean, 2) + mean * mean;
    ck_assert_double_eq_tol(e.r2, 1 - 5.05 / spread, 1e-12);
}
END_TEST

static hu_model *train(const hu_frame *frame, int kind, int is_log)
{
    hu_error err = HU_ERROR_NONE;
    hu_model_options o = HU_MODEL_DEFAULTS;
    hu_model *model;
    o.kind = kind;
    o.log = is_log;
    o.forest.trees = 100;
    ck_assert_ok(hu_model_train(frame, "time", &o, &model, NULL, NULL, &err));
    return model;
}

START_TEST(bands_cover)
{
    hu_frame *frame = make_frame(300, 21, noisy), *other = make_frame(3000, 22, noisy);
    for (int kind = HU_MODEL_RF; kind <= HU_MODEL_HYBRID; kind++) {
        hu_model *m = train(frame, kind, 1);
        double inside = 0, low = 0;
        for (int64_t i = 0; i < other->rows; i++) {
            hu_prediction p = hu_model_predict_row(m, other->x + 4 * i);
            double a = hu_model_quantile(m, &p, 0.05), b = hu_model_quantile(m, &p, 0.5), c = hu_model_quantile(m, &p, 0.95);
            ck_assert(a <= b && b <= c);
            inside += other->y[i] >= a && other->y[i] <= c;
            low += other->y[i] < b;
        }
        ck_assert_msg(inside / 3000 > 0.85 && inside / 3000 < 0.95, "%s covers %g", hu_model_kind_name((hu_model_kind)kind), inside / 3000);
        ck_assert_msg(low / 3000 > 0.4 && low / 3000 < 0.6, "%s: %g below the median", hu_model_kind_name((hu_model_kind)kind), low / 3000);
        hu_model_free(m);
    }
    hu_frame_free(frame);
    hu_frame_free(other);
}
END_TEST

START_TEST(a_model_file_is_the_model)
{
    hu_frame *frame = make_frame(60, 31, noisy);
    for (int kind = HU_MODEL_RF; kind <= HU_MODEL_HYBRID; kind++) {
        hu_error err = HU_ERROR_NONE;
        hu_model *m = train(frame, kind, kind % 2), *again = NULL;
        hu_output *out, *twice;
        hu_source *source;
        const char *bytes, *same;
        size_t size, same_size;
        ck_assert_ok(hu_output_memory("m", &out, &err));
        ck_assert_ok(hu_model_write(m, out, &err));
        hu_output_memory_bytes(out, &bytes, &size);
        ck_assert_ok(hu_source_memory("m", bytes, (int64_t)size, &source, &err));
        ck_assert_ok(hu_model_read(source, &again, &err));
        for (int64_t i = 0; i < frame->rows; i++) {
            hu_prediction p = hu_model_predict_row(m, frame->x + 4 * i), q = hu_model_predict_row(again, frame->x + 4 * i);
            ck_assert_double_eq(p.value, q.value);
            ck_assert_double_eq(p.deviation, q.deviation);
            ck_assert_double_eq(hu_model_quantile(m, &p, 0.9), hu_model_quantile(again, &q, 0.9));
        }
        ck_assert_ok(hu_output_memory("m", &twice, &err));
        ck_assert_ok(hu_model_write(again, twice, &err));
        hu_output_memory_bytes(twice, &same, &same_size);
        ck_assert(size == same_size && memcmp(bytes, same, size) == 0);
        hu_source_close(source);
        hu_output_abort(&out);
        hu_output_abort(&twice);
        hu_model_free(m);
        hu_model_free(again);
    }
    hu_frame_free(frame);
}
END_TEST

START_TEST(the_trees_of_a_row_have_its_mean)
{
    hu_frame *frame = make_frame(100, 41, noisy);
    hu_model *m = train(frame, HU_MODEL_HYBRID, 1);
    double each[100];
    for (int64_t i = 0; i < frame->rows; i++) {
        hu_prediction p = hu_model_predict_row(m, frame->x + 4 * i);
        double sum = 0;
        ck_assert_int_eq(hu_model_each(m, frame->x + 4 * i, each), 100);
        for (int t = 0; t < 100; t++) sum += log(each[t]);
        ck_assert_double_eq_tol(p.mean, sum / 100, 1e-10);
    }
    hu_model_free(m);
    hu_frame_free(frame);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("learn/model");
    TCase *c = tcase_create("model");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, lasso_finds_a_sparse_truth);
    tcase_add_test(c, residuals_have_mean_zero);
    tcase_add_test(c, powers_reach_beyond_the_table);
    tcase_add_test(c, errors_by_definition);
    tcase_add_test(c, bands_cover);
    tcase_add_test(c, a_model_file_is_the_model);
    tcase_add_test(c, the_trees_of_a_row_have_its_mean);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
