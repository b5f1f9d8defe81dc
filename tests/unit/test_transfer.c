/* test_transfer.c: models taken over: known truths, each method recomputed from its definition, levels that the source has not seen, files. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "learn/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 3 };

/* Two numbers and one column of the given levels; y by the function of row and level's name. */
static hu_frame *make_frame(int64_t rows, uint64_t seed, const char *const *levels, int32_t level_count, double (*target)(double a, double b, char level))
{
    hu_error err = HU_ERROR_NONE;
    static const char *const names[] = {"a", "b", "mode"};
    hu_frame *frame;
    hu_random r = hu_random_stream(seed, 0);
    ck_assert_ok(hu_frame_new(rows, FEATURES, &frame, &err));
    for (int f = 0; f < FEATURES; f++) frame->feature[f].name = strdup(names[f]);
    ck_assert_ok(hu_alloc_zero(level_count, sizeof(char *), "levels", (void **)&frame->feature[2].levels, &err));
    for (int l = 0; l < level_count; l++) frame->feature[2].levels[l] = strdup(levels[l]);
    frame->feature[2].level_count = level_count;
    for (int64_t i = 0; i < rows; i++) {
        int32_t level = (int32_t)hu_random_below(&r, level_count);
        double a = 1 + (double)hu_random_below(&r, 12), b = (double)hu_random_below(&r, 5);
        frame->column[0][i] = a;
        frame->column[1][i] = b;
        frame->column[2][i] = level;
        frame->y[i] = target(a, b, levels[level][0]);
    }
    ck_assert_ok(hu_frame_finish(frame, &err));
    return frame;
}

static const char *const two[] = {"c", "s"}, *const four[] = {"b", "c", "s", "x"};

static double here(double a, double b, char level)
{
    return a * (1 + b) * (level == 's' ? 2 : 1);
}

static double three_times(double a, double b, char level)
{
    return 3 * here(a, b, level);
}

/* Another machine: a power of the time, and b counts differently. */
static double there(double a, double b, char level)
{
    return 0.5 * pow(here(a, b, level), 1.2) * (b > 2 ? 1.5 : 1);
}

static double unlike(double a, double b, char level)
{
    return level == 's' ? 100 - 7 * a : 3 + fmod(a * 5 + b * 3, 7) * 11;
}

static hu_model *train(const hu_frame *frame, int kind, int log, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    hu_model_options o = HU_MODEL_DEFAULTS;
    hu_model *m;
    o.kind = kind;
    o.log = log;
    o.forest.trees = 40;
    o.forest.seed = seed;
    ck_assert_ok(hu_model_train(frame, "y", &o, &m, NULL, NULL, &err));
    return m;
}

static hu_model *source_model(int log)
{
    hu_frame *frame = make_frame(400, 1, two, 2, here);
    hu_model *m = train(frame, HU_MODEL_RF, log, 1);
    hu_frame_free(frame);
    return m;
}

static hu_model *transfer(const hu_frame *frame, hu_model *source, int method, hu_transfer_choice *choice)
{
    hu_error err = HU_ERROR_NONE;
    hu_transfer_options o = {.method = method, .model = HU_MODEL_DEFAULTS};
    hu_model *m;
    o.model.forest.trees = 40;
    ck_assert_ok(hu_transfer_train(frame, "y", &source, &o, &m, choice, &err));
    ck_assert_ptr_null(source);
    return m;
}

static hu_model *again(const hu_model *m)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    hu_source *source;
    hu_model *copy;
    const char *bytes;
    size_t size;
    ck_assert_ok(hu_output_memory("m", &out, &err));
    ck_assert_ok(hu_model_write(m, out, &err));
    hu_output_memory_bytes(out, &bytes, &size);
    ck_assert_ok(hu_source_memory("m", bytes, (int64_t)size, &source, &err));
    ck_assert_ok(hu_model_read(source, &copy, &err));
    hu_source_close(source);
    hu_output_abort(&out);
    return copy;
}

static double error_on(const hu_model *m, const hu_frame *frame)
{
    double sum = 0;
    for (int64_t i = 0; i < frame->rows; i++) sum += fabs(hu_model_predict_row(m, frame->x + FEATURES * i).value / frame->y[i] - 1);
    return sum / (double)frame->rows;
}

/* A machine that is three times slower: every answer is the source's times 3, to the bit of the median. */
START_TEST(a_factor_between_machines)
{
    hu_frame *frame = make_frame(25, 5, two, 2, three_times);
    hu_transfer_choice choice;
    double difference[25];
    hu_model *source = source_model(1), *m = transfer(frame, source_model(1), HU_TRANSFER_SHIFT, &choice);
    for (int i = 0; i < 25; i++) {
        difference[i] = log(frame->y[i]) - hu_model_predict_row(source, frame->x + FEATURES * i).mean;
        for (int j = i; j > 0 && difference[j] < difference[j - 1]; j--) {
            double swap = difference[j];
            difference[j] = difference[j - 1];
            difference[j - 1] = swap;
        }
    }
    ck_assert_double_eq_tol(difference[12], log(3), 0.1);
    for (int64_t i = 0; i < frame->rows; i++) {
        double p = hu_model_predict_row(source, frame->x + FEATURES * i).mean;
        ck_assert_double_eq(hu_model_predict_row(m, frame->x + FEATURES * i).mean, 0.0 + (1.0 * p + difference[12]));
    }
    hu_model_free(source);
    hu_model_free(m);
    hu_frame_free(frame);
}
END_TEST

/* With few runs of a machine that is alike in kind, auto beats the runs alone on other rows, and a forest that has the source the same forest without. */
START_TEST(the_source_helps)
{
    hu_frame *few = make_frame(30, 11, two, 2, there), *others = make_frame(800, 12, two, 2, there);
    hu_transfer_choice choice;
    hu_model *alone = transfer(few, source_model(1), HU_TRANSFER_ALONE, &choice), *forest = train(few, HU_MODEL_RF, 1, 1), *m = transfer(few, source_model(1), -1, &choice);
    ck_assert_ptr_null(alone->source.model);
    ck_assert_double_lt(error_on(m, others), 0.6 * error_on(alone, others));
    ck_assert_int_ne(choice.method, HU_TRANSFER_ALONE);
    for (int k = 0; k < HU_TRANSFER_METHODS; k++) ck_assert_double_le(0.9 * choice.error[choice.method], choice.error[k]);
    hu_model_free(m);
    for (int method = HU_TRANSFER_RESIDUAL; method <= HU_TRANSFER_FEATURE; method++) {
        m = transfer(few, source_model(1), method, &choice);
        ck_assert_double_lt(error_on(m, others), 0.8 * error_on(forest, others));
        hu_model_free(m);
    }
    hu_model_free(alone);
    hu_model_free(forest);
    hu_frame_free(few);
    hu_frame_free(others);
}
END_TEST

/* Where the machines have nothing in common, auto does about as well as the runs alone. */
START_TEST(a_source_that_does_not_help)
{
    hu_frame *few = make_frame(60, 21, two, 2, unlike), *others = make_frame(800, 22, two, 2, unlike);
    hu_transfer_choice choice;
    hu_model *alone = transfer(few, source_model(1), HU_TRANSFER_ALONE, &choice), *m = transfer(few, source_model(1), -1, &choice), *shift = transfer(few, source_model(1), HU_TRANSFER_SHIFT, &choice);
    ck_assert_double_lt(error_on(m, others), 1.1 * error_on(alone, others));
    ck_assert_double_gt(error_on(shift, others), 1.5 * error_on(alone, others));
    hu_model_free(alone);
    hu_model_free(shift);
    hu_model_free(m);
    hu_frame_free(few);
    hu_frame_free(others);
}
END_TEST

static void line_of(const double *s, const double *y, int64_t n, double *slope, double *offset)
{
    double s1 = 0, s2 = 0, y1 = 0, sy = 0;
    for (int64_t i = 0; i < n; i++) {
        s1 += s[i];
        s2 += s[i] * s[i];
        y1 += y[i];
        sy += s[i] * y[i];
    }
    *slope = ((double)n * sy - s1 * y1) / ((double)n * s2 - s1 * s1);
    *offset = (y1 - *slope * s1) / (double)n;
}

/* residual: the line by the normal equations, and a forest of the rest over the features and the answer; feature: a forest of the target over the same. */
START_TEST(methods_by_definition)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *few = make_frame(40, 31, two, 2, there);
    for (int log_source = 0; log_source < 2; log_source++) {
        hu_model *source = source_model(log_source);
        hu_transfer_choice choice;
        hu_model *residual = transfer(few, source_model(log_source), HU_TRANSFER_RESIDUAL, &choice), *feature = transfer(few, source_model(log_source), HU_TRANSFER_FEATURE, &choice);
        double s[40], y[40], rest[40], slope, offset, wide[FEATURES + 1];
        hu_forest_options o = residual->options;
        for (int i = 0; i < 40; i++) {
            s[i] = log(hu_model_predict_row(source, few->x + FEATURES * i).value);
            y[i] = log(few->y[i]);
        }
        line_of(s, y, 40, &slope, &offset);
        ck_assert_double_eq_tol(residual->source.slope, slope, 1e-9);
        ck_assert_double_eq_tol(residual->source.offset, offset, 1e-9);
        ck_assert_double_eq(feature->source.slope, 0.0);
        for (int i = 0; i < 40; i++) rest[i] = y[i] - (residual->source.slope * s[i] + residual->source.offset);
        hu_forest *forest[2];
        double *column[FEATURES + 1] = {few->column[0], few->column[1], few->column[2], s};
        int32_t levels[FEATURES + 1] = {0, 0, 2, 0};
        hu_bins *bins;
        ck_assert_ok(hu_bins_make((const double *const *)column, 40, FEATURES + 1, levels, &bins, &err));
        ck_assert_ok(hu_forest_train(bins, rest, NULL, 40, &o, &forest[0], &err));
        ck_assert_ok(hu_forest_train(bins, y, NULL, 40, &o, &forest[1], &err));
        for (int i = 0; i < 40; i++) {
            memcpy(wide, few->x + FEATURES * i, FEATURES * sizeof *wide);
            wide[FEATURES] = s[i];
            ck_assert_double_eq_tol(hu_model_predict_row(residual, few->x + FEATURES * i).mean, hu_forest_predict_row(forest[0], wide, NULL) + slope * s[i] + offset, 1e-9);
            ck_assert_double_eq_tol(hu_model_predict_row(feature, few->x + FEATURES * i).mean, hu_forest_predict_row(forest[1], wide, NULL), 1e-9);
        }
        hu_forest_free(forest[0]);
        hu_forest_free(forest[1]);
        hu_bins_free(bins);
        hu_model_free(source);
        hu_model_free(residual);
        hu_model_free(feature);
    }
    hu_frame_free(few);
}
END_TEST

/* weight: w times the line and 1 - w times the model of the runs alone. */
START_TEST(weight_by_definition)
{
    hu_frame *few = make_frame(30, 41, two, 2, there);
    hu_model *source = source_model(1);
    hu_transfer_choice choice;
    hu_model *m = transfer(few, source_model(1), HU_TRANSFER_WEIGHT, &choice), *alone = train(few, (int)m->kind, m->is_log, 1);
    double s[30], y[30], slope, offset;
    ck_assert(m->is_log && choice.weight >= 0 && choice.weight <= 1);
    for (int i = 0; i < 30; i++) {
        s[i] = hu_model_predict_row(source, few->x + FEATURES * i).mean;
        y[i] = log(few->y[i]);
    }
    line_of(s, y, 30, &slope, &offset);
    for (int i = 0; i < 30; i++) {
        hu_prediction p = hu_model_predict_row(m, few->x + FEATURES * i), a = hu_model_predict_row(alone, few->x + FEATURES * i);
        ck_assert_double_eq_tol(p.mean, choice.weight * (slope * s[i] + offset) + (1 - choice.weight) * a.mean, 1e-9);
        ck_assert_double_eq_tol(p.deviation, (1 - choice.weight) * a.deviation, 1e-6);
    }
    hu_model_free(source);
    hu_model_free(alone);
    hu_model_free(m);
    hu_frame_free(few);
}
END_TEST

/* Levels that only the new machine has: what the source says of the others stays to the bit; a new level goes the way of a missing one. */
START_TEST(new_levels)
{
    for (int kind = HU_MODEL_RF; kind <= HU_MODEL_HYBRID; kind++) {
        hu_frame *frame = make_frame(300, 51, two, 2, here), *few = make_frame(40, 52, four, 4, there);
        hu_transfer_choice choice;
        hu_model *source = train(frame, kind, 0, 1), *m = transfer(few, train(frame, kind, 0, 1), HU_TRANSFER_RESIDUAL, &choice), *copy = again(m);
        ck_assert_int_eq(m->feature[2].level_count, 4);
        for (int64_t i = 0; i < few->rows; i++) {
            double x[FEATURES], *row = few->x + FEATURES * i;
            const char *level = four[(int)row[2]];
            memcpy(x, row, sizeof x);
            x[2] = *level == 'c' ? 0 : *level == 's' ? 1 : NAN;
            double answer = kind >= HU_MODEL_LINEAR && isnan(x[2]) ? NAN : hu_model_predict_row(source, x).value;
            if (!isnan(answer)) ck_assert_double_eq(hu_model_predict_row(m->source.model, row).value, answer);
            ck_assert_double_eq(hu_model_predict_row(copy, row).value, hu_model_predict_row(m, row).value);
        }
        ck_assert_int_eq(m->feature[2].level_rows[1], frame->feature[2].level_rows[0] + few->feature[2].level_rows[1]);
        hu_model_free(copy);
        hu_model_free(source);
        hu_model_free(m);
        hu_frame_free(few);
        hu_frame_free(frame);
    }
}
END_TEST

/* A written model is the model: row by row and all at once, each tree, bands; also of models taken over again. */
START_TEST(files_and_chains)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *few = make_frame(50, 61, two, 2, there);
    hu_transfer_choice choice;
    hu_model *m = source_model(1);
    hu_prediction p[50];
    double each[40];
    for (int depth = 1; depth <= HU_MODEL_SOURCES; depth++) {
        static const int methods[] = {HU_TRANSFER_RESIDUAL, HU_TRANSFER_FEATURE, HU_TRANSFER_SHIFT, HU_TRANSFER_WEIGHT};
        m = transfer(few, m, methods[depth - 1], &choice);
        hu_model *copy = again(m);
        ck_assert_ok(hu_model_predict(copy, few->x, 50, p, &err));
        for (int i = 0; i < 50; i++) {
            hu_prediction q = hu_model_predict_row(m, few->x + FEATURES * i);
            ck_assert_double_eq(p[i].value, q.value);
            ck_assert_double_eq(p[i].deviation, q.deviation);
            ck_assert_double_eq(hu_model_quantile(copy, &p[i], 0.9), hu_model_quantile(m, &q, 0.9));
            double sum = 0;
            int32_t n = hu_model_each(m, few->x + FEATURES * i, each);
            for (int t = 0; t < n; t++) sum += log(each[t]);
            ck_assert_double_eq_tol(q.mean, sum / n, 1e-9);
        }
        hu_model_free(copy);
    }
    hu_transfer_options o = {.method = HU_TRANSFER_SHIFT, .model = HU_MODEL_DEFAULTS};
    hu_model *more = NULL;
    ck_assert_int_eq(hu_transfer_train(few, "y", &m, &o, &more, &choice, &err), HU_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "taken over 4 times"));
    ck_assert_ptr_null(m);
    hu_frame_free(few);
}
END_TEST

/* One run: a factor. No comparison, no band. */
START_TEST(a_single_run)
{
    hu_frame *one = make_frame(1, 71, two, 2, three_times);
    hu_transfer_choice choice;
    hu_model *m = transfer(one, source_model(1), -1, &choice);
    ck_assert_int_eq(choice.method, HU_TRANSFER_SHIFT);
    ck_assert(isnan(choice.error[HU_TRANSFER_SHIFT]));
    ck_assert_double_eq_tol(hu_model_predict_row(m, one->x).value, one->y[0], 1e-9 * one->y[0]);
    ck_assert_int_eq(m->scores, 0);
    hu_model_free(m);
    hu_frame_free(one);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("learn/transfer");
    TCase *c = tcase_create("transfer");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, a_factor_between_machines);
    tcase_add_test(c, the_source_helps);
    tcase_add_test(c, a_source_that_does_not_help);
    tcase_add_test(c, methods_by_definition);
    tcase_add_test(c, weight_by_definition);
    tcase_add_test(c, new_levels);
    tcase_add_test(c, files_and_chains);
    tcase_add_test(c, a_single_run);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
