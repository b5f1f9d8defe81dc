/* test_choice.c: the scheme by a model: ranking, margins, what a model does not know, candidates, and where shared files are found. */
#include "config.h"
#include "base/memory.h"
#include "base/share.h"
#include "choice.h"
#include "hu_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- models made by hand: one tree on kind and threads, from a table of three kinds ------------------------------------- */

static const char *const kinds[] = {"level", "serial", "task"}; /* in the order of their bytes, as levels are */

/* cost = of_kind[kind], for 1 and 2 threads. */
static hu_model *model_of(const double of_kind[3])
{
    enum { REPEAT = 8, ROWS = 3 * 2 * REPEAT };
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame;
    hu_model *model;
    hu_model_options options = HU_MODEL_DEFAULTS;
    ck_assert_ok(hu_frame_new(ROWS, 2, &frame, &err));
    frame->feature[0].name = strdup("kind");
    frame->feature[0].level_count = 3;
    frame->feature[0].levels = malloc(3 * sizeof(char *));
    for (int l = 0; l < 3; l++) frame->feature[0].levels[l] = strdup(kinds[l]);
    frame->feature[1].name = strdup("threads");
    for (int i = 0; i < ROWS; i++) {
        frame->column[0][i] = i % 3;
        frame->column[1][i] = 1 + i / 3 % 2;
        frame->y[i] = of_kind[i % 3];
    }
    ck_assert_ok(hu_frame_finish(frame, &err));
    options.kind = HU_MODEL_RF;
    options.log = 0;
    options.forest.trees = 1;
    options.bag_auto = false;
    options.forest.bag = 0;
    options.no_held_out = true;
    ck_assert_ok(hu_model_train(frame, "cost", &options, &model, NULL, NULL, &err));
    hu_frame_free(frame);
    return model;
}

static sptrsv_survey survey_of(int threads)
{
    sptrsv_survey s = {.threads = threads};
    s.f.n = 100000;
    s.f.nnz = 500000;
    s.f.natural_s = 1e-3;
    return s;
}

/* The candidates serial (the rule's), level, task, as inputs. */
static void describe(const sptrsv_survey *s, sptrsv_input inputs[3][SPTRSV_INPUTS])
{
    static const sptrsv_kind order[] = {SPTRSV_SERIAL, SPTRSV_LEVEL, SPTRSV_TASK};
    for (int i = 0; i < 3; i++) {
        sptrsv_scheme scheme = {.kind = order[i], .rows = 1, .index = 32, .rhs = 8};
        sptrsv_inputs_of(s, SPTRSV_F64, 1, &scheme, inputs[i]);
    }
}

static int pick(const double of_kind[3], int threads, hu_prediction predictions[3], const char **ret_foreign)
{
    static sptrsv_input inputs[3][SPTRSV_INPUTS];
    hu_model *model = model_of(of_kind);
    sptrsv_survey s = survey_of(threads);
    describe(&s, inputs);
    int at = sptrsv_rank(model, inputs, 3, predictions, ret_foreign);
    hu_model_free(model);
    return at;
}

START_TEST(the_least_wins)
{
    hu_prediction p[3];
    const char *foreign;
    ck_assert_int_eq(pick((double[]){0.5, 1.0, 0.2}, 2, p, &foreign), 2); /* level, serial, task */
    ck_assert_ptr_null(foreign);
    ck_assert_double_eq_tol(p[0].value, 1.0, 1e-12);
    ck_assert_double_eq_tol(p[1].value, 0.5, 1e-12);
    ck_assert_double_eq_tol(p[2].value, 0.2, 1e-12);
    ck_assert_int_eq(pick((double[]){0.2, 1.0, 0.5}, 2, p, &foreign), 1);
}
END_TEST

START_TEST(a_small_gain_leaves_the_rule)
{
    hu_prediction p[3];
    const char *foreign;
    ck_assert_int_eq(pick((double[]){0.99, 1.0, 0.98}, 2, p, &foreign), 0);
    ck_assert_int_eq(pick((double[]){1.0, 1.0, 1.0}, 2, p, &foreign), 0);
    ck_assert_int_eq(pick((double[]){0.3, 1.0, 0.3}, 2, p, &foreign), 1); /* the first of equals */
    ck_assert_int_eq(pick((double[]){0.5, 1.0, 0.45}, 2, p, &foreign), 1); /* threads count for 15 percent more */
    ck_assert_int_eq(pick((double[]){0.5, 1.0, 0.4}, 2, p, &foreign), 2);
}
END_TEST

START_TEST(more_threads_than_in_training)
{
    hu_prediction p[3];
    const char *foreign;
    ck_assert_int_eq(pick((double[]){0.5, 1.0, 0.2}, 7, p, &foreign), 0);
    ck_assert_str_eq(foreign, "threads");
}
END_TEST

START_TEST(not_asked)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_choice c;
    hu_model *model = model_of((double[]){0.5, 1.0, 0.2});
    sptrsv_survey s = survey_of(2);
    ck_assert_ok(sptrsv_choose(model, &s, true, SPTRSV_F64, 1, &c, &err));
    ck_assert_int_eq(c.n, 0);
    ck_assert_ptr_nonnull(strstr(c.why_not, "complex"));
    sptrsv_choice_clear(&c);
    s.is_short = true;
    ck_assert_ok(sptrsv_choose(model, &s, false, SPTRSV_F64, 1, &c, &err));
    ck_assert_int_eq(c.n, 0);
    ck_assert_ptr_nonnull(strstr(c.why_not, "short"));
    sptrsv_choice_clear(&c);
    s.is_short = false;
    ck_assert_ok(sptrsv_choose(model, &s, false, SPTRSV_F64, 1, &c, &err));
    ck_assert_int_gt(c.n, 10);
    ck_assert_int_eq(c.schemes[c.chosen].kind, SPTRSV_TASK);
    sptrsv_choice_clear(&c);
    hu_model_free(model);
}
END_TEST

/* ---- candidates: none twice, the rule's first, all of them plannable in their space ------------------------------------- */

START_TEST(candidates_differ)
{
    hu_error err = HU_ERROR_NONE;
    for (int threads = 1; threads <= 2; threads++)
        for (int columns = 1; columns <= 32; columns *= 32)
            for (int space = 0; space < SPTRSV_SPACES; space++) {
                sptrsv_survey s = survey_of(threads);
                sptrsv_scheme rule, *list;
                int n;
                s.f.block = 0.5;
                s.f.carry = 0.5;
                s.f.is_grid = 1;
                sptrsv_rule_of(&s, &rule);
                ck_assert_ok(sptrsv_candidates(&s, (sptrsv_space)space, columns, &list, &n, &err));
                ck_assert(sptrsv_scheme_equal(&list[0], &rule));
                for (int i = 0; i < n; i++) {
                    for (int k = 0; k < i; k++) ck_assert(!sptrsv_scheme_equal(&list[i], &list[k]));
                    ck_assert(threads > 1 || (list[i].kind != SPTRSV_TASK && list[i].kind != SPTRSV_BARRIER));
                }
                hu_free(list);
            }
}
END_TEST

/* ---- shared files -------------------------------------------------------------------------------------------------------- */

START_TEST(shared_files)
{
    hu_error err = HU_ERROR_NONE;
    char path[4096], folder[] = "/tmp/hpcutils-share.XXXXXX", file[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/thing", folder);
    setenv("HPCUTILS_SHARE", folder, 1);
    ck_assert_int_eq(hu_share_find("thing", path, sizeof path, &err), HU_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.message, folder)); /* says where it looked */
    hu_error_clear(&err);
    FILE *f = fopen(file, "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    ck_assert_ok(hu_share_find("thing", path, sizeof path, &err));
    ck_assert_str_eq(path, file);
    ck_assert_int_eq(hu_share_find("thing", path, 5, &err), HU_SYSTEM); /* no room for the path */
    hu_error_clear(&err);
    unsetenv("HPCUTILS_SHARE");
    ck_assert_int_eq(hu_share_find("no-such-thing-anywhere", path, sizeof path, &err), HU_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.message, "/share"));
    remove(file);
    rmdir(folder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choice");
    TCase *tests = tcase_create("choice");
    tcase_add_test(tests, the_least_wins);
    tcase_add_test(tests, a_small_gain_leaves_the_rule);
    tcase_add_test(tests, more_threads_than_in_training);
    tcase_add_test(tests, not_asked);
    tcase_add_test(tests, candidates_differ);
    tcase_add_test(tests, shared_files);
    suite_add_tcase(suite, tests);
    return hu_test_run(suite);
}
