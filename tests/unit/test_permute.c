/* test_permute.c: permutation importance against its definition: bags as dumped, each tree by itself. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/random.h"
#include "perf-predict/permute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 80, COLUMNS = 4, TREES = 30 };

static hu_frame *make_frame(void)
{
    hu_error err = HU_ERROR_NONE;
    static const char *const names[COLUMNS] = {"a", "b", "c", "noise"};
    hu_random r = hu_random_stream(11, 0);
    hu_frame *frame;
    ck_assert_ok(hu_frame_new(ROWS, COLUMNS, &frame, &err));
    for (int f = 0; f < COLUMNS; f++) frame->feature[f].name = strdup(names[f]);
    for (int64_t i = 0; i < ROWS; i++) {
        for (int f = 0; f < COLUMNS; f++) frame->column[f][i] = (double)hu_random_below(&r, 12);
        frame->y[i] = 5 + 3 * frame->column[0][i] + frame->column[1][i] * frame->column[2][i] + hu_random_uniform(&r);
    }
    ck_assert_ok(hu_frame_finish(frame, &err));
    return frame;
}

/* How often each tree saw each row. */
static int32_t *list_bags(const hu_model *m)
{
    int32_t *weight = calloc(TREES * ROWS, sizeof *weight), *work = malloc(ROWS * sizeof *work);
    for (int32_t t = 0; t < TREES; t++) hu_forest_bag(&m->options, t, ROWS, work, weight + t * ROWS);
    free(work);
    return weight;
}

/* The mean squared error of the rows x by the trees that have not seen them. */
static double error_by_definition(const hu_model *m, const hu_frame *frame, const int32_t *bag, const double *x)
{
    double sum = 0.0, each[TREES];
    int rows = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        double mean = 0.0;
        int trees = 0;
        ck_assert_int_eq(hu_model_each(m, x + i * COLUMNS, each), TREES);
        for (int t = 0; t < TREES; t++) {
            if (bag[t * ROWS + i]) continue;
            mean += m->is_log ? log(each[t]) : each[t];
            trees++;
        }
        if (trees == 0) continue;
        double e = mean / trees - (m->is_log ? log(frame->y[i]) : frame->y[i]);
        sum += e * e;
        rows++;
    }
    ck_assert_int_gt(rows, ROWS / 2);
    return sum / rows;
}

static void compare(int log_target, const int32_t *group, int32_t groups)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame = make_frame();
    hu_model_options o = HU_MODEL_DEFAULTS;
    hu_model *m;
    double worth[COLUMNS], *x = malloc(ROWS * COLUMNS * sizeof *x);
    const uint64_t seed = 7;
    o.kind = HU_MODEL_RF;
    o.log = log_target;
    o.forest.trees = TREES;
    o.forest.seed = 3;
    ck_assert_ok(hu_model_train(frame, "y", &o, &m, NULL, NULL, &err));
    ck_assert_ok(permute_columns(m, frame, group, groups, seed, worth, &err));
    int32_t *bag = list_bags(m);
    double base = error_by_definition(m, frame, bag, frame->x);
    for (int32_t k = 0; k < groups; k++) {
        int32_t order[ROWS];
        hu_random r = hu_random_stream(seed, (uint64_t)k);
        for (int32_t i = 0; i < ROWS; i++) order[i] = i;
        hu_random_shuffle(&r, order, ROWS);
        for (int64_t i = 0; i < ROWS; i++)
            for (int f = 0; f < COLUMNS; f++) x[i * COLUMNS + f] = frame->column[f][group[f] == k ? order[i] : i];
        double want = error_by_definition(m, frame, bag, x) - base;
        ck_assert_msg(fabs(worth[k] - want) <= 1e-10 * (base + fabs(want)), "group %d: %.17g, by definition %.17g", k, worth[k], want);
    }
    ck_assert(worth[group[0]] > 5 * fabs(worth[group[3]])); /* what the target is made of, against noise */
    free(bag);
    free(x);
    hu_model_free(m);
    hu_frame_free(frame);
}

START_TEST(each_column)
{
    static const int32_t group[COLUMNS] = {0, 1, 2, 3};
    compare(0, group, 4);
    compare(1, group, 4);
}
END_TEST

START_TEST(columns_together)
{
    static const int32_t group[COLUMNS] = {0, 1, 1, 2};
    compare(0, group, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perf-predict/permute");
    TCase *c = tcase_create("permute");
    tcase_add_test(c, each_column);
    tcase_add_test(c, columns_together);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
