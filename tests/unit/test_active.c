/* test_active.c: spaces against brute force, scores against their formulas, states that are cut or changed, and a replay of a known function.
 *
 * Sections: spaces, scores, states, replay.
 */
#include "config.h"
#include "io_test.h"
#include "base/memory.h"
#include "campaign.h"
#include "replay.h"
#include "space_sample.h"

#include <math.h>
#include <stdio.h>

/* ---- spaces ------------------------------------------------------------------------------------------------------------------------- */

static space *read_space(const char *text)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    space *s;
    ck_assert_ok(hu_source_memory("s", text, (int64_t)strlen(text), &source, &err));
    ck_assert_ok(space_read(source, &s, &err));
    hu_source_close(source);
    return s;
}

static void refuse_space(const char *text, const char *message)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    space *s = NULL;
    ck_assert_ok(hu_source_memory("s", text, (int64_t)strlen(text), &source, &err));
    ck_assert_fails(space_read(source, &s, &err), HU_INPUT, message);
    hu_source_close(source);
}

static int64_t size_of(const space *s)
{
    space_count count;
    double about;
    ck_assert(space_size(s, &count, &about));
    return (int64_t)count;
}

typedef bool (*condition)(const double *v);

/* Every combination of the values once: those that the condition takes must be exactly what the space lists. */
static void compare(const char *text, condition holds)
{
    space *s = read_space(text);
    int64_t n = s->parameters, listed = size_of(s), found = 0, total = 1;
    int32_t *code = calloc((size_t)n, sizeof *code);
    bool *seen;
    for (int64_t p = 0; p < n; p++) total *= s->parameter[p].count;
    seen = calloc((size_t)total, sizeof *seen);
    ck_assert(space_is_exact(s));
    for (int64_t i = 0; i < listed; i++) {
        int64_t at = 0;
        space_nth(s, (space_count)i, code);
        for (int64_t p = 0; p < n; p++) at = at * s->parameter[p].count + code[p];
        ck_assert(!seen[at]);
        seen[at] = true;
    }
    for (int64_t at = 0; at < total; at++) {
        double v[16];
        int64_t rest = at;
        for (int64_t p = n - 1; p >= 0; p--) {
            const space_value *value = &s->parameter[p].value[rest % s->parameter[p].count];
            v[p] = value->value.word >= 0 ? -1.0 - value->value.word : value->value.number;
            rest /= s->parameter[p].count;
        }
        ck_assert_msg(holds(v) == seen[at], "combination %lld of %s", (long long)at, text);
        found += seen[at];
    }
    ck_assert_int_eq(found, listed);
    free(seen);
    free(code);
    space_free(s);
}

static bool multiples(const double *v)
{
    return v[1] == 1 || fmod(v[1], v[0]) == 0;
}

static bool one_unrolled(const double *v)
{
    return (v[0] > 1) + (v[1] > 1) + (v[2] > 1) <= 1 && v[0] * v[3] <= 8;
}

static bool words(const double *v) /* on is the second word, so -2 */
{
    return (v[0] == -2) == (v[1] > 2) || v[2] != 0;
}

static bool arithmetic(const double *v)
{
    return !(v[0] - v[1] * 2 < -3 || (v[1] != 0 && v[0] / v[1] > 2)) && -v[2] <= v[0] + 1;
}

static bool nothing(const double *v)
{
    return v[0] < 0;
}

static bool negative_remainder(const double *v)
{
    return v[0] - 3 * floor(v[0] / 3) == 1; /* of the sign of the divisor */
}

START_TEST(spaces_are_what_brute_force_finds)
{
    compare("A = {1,2,4,8}\nB = 1..64 times 2\nC = 1..3\nwhere B == 1 or B % A == 0\n", multiples);
    compare("A = 1..5\nB = 1..5\nC = 1..5\nD = 1..4\nwhere (A > 1) + (B > 1) + (C > 1) <= 1\nwhere A * D <= 8", one_unrolled);
    compare("O = {off, on}\nN = 0..4\nT = {false, true}\nwhere (O == on and N > 2) or (not (O == \"on\") && !(N > 2)) || T", words);
    compare("A = 0..6\nB = -1..3\nC = -2..2\nwhere not (A - B*2 < -3 or B != 0 and A / B > 2)\nwhere -C <= A + 1 # end\n", arithmetic);
    compare("A = 1..5\nB = 1..2\nwhere A < 0", nothing);
    compare("A = -7..7\nwhere A % 3 == 1", negative_remainder);
}
END_TEST

/* What a division by 0 gives is no number, and nothing holds of that. */
START_TEST(division_by_zero_never_holds)
{
    static const char *const conditions[] = {"1 / A == 1 / A", "1 / A != 2", "A % A == A % A", "1 / A < 1 or 1 / A >= 1"};
    for (int i = 0; i < 4; i++) {
        char text[100];
        snprintf(text, sizeof text, "A = {0, 3}\nwhere %s", conditions[i]);
        space *s = read_space(text);
        int32_t code;
        ck_assert_int_eq(size_of(s), 1);
        space_nth(s, 0, &code);
        ck_assert_int_eq(code, 1);
        space_free(s);
    }
}
END_TEST

/* 12 values, of which pairs of a tile and its outer tile count 12 + 12 * 13 / 2 - 1 = 89: powers 1..2048 with outer == 1 or a multiple. */
START_TEST(large_spaces_are_counted_exactly)
{
    char text[4000] = "", number[64];
    space_count count, wanted = 1;
    double about;
    for (int i = 0; i < 10; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "A%d = 1..2048 times 2\nB%d = 1..2048 times 2\nwhere B%d == 1 or B%d %% A%d == 0\n", i, i, i, i, i);
        wanted *= 89;
    }
    for (int i = 0; i < 6; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "U%d = 1..30\n", i);
    }
    strcat(text, "where (U0 > 1) + (U1 > 1) + (U2 > 1) + (U3 > 1) + (U4 > 1) + (U5 > 1) <= 1\n");
    wanted *= 1 + 6 * 29;
    space *s = read_space(text);
    ck_assert(space_size(s, &count, &about) && space_is_exact(s));
    ck_assert(count == wanted);
    ck_assert_double_eq_tol(about, (double)wanted, 1e-9 * (double)wanted);
    ck_assert_str_eq(space_count_text(1234567890123456789u, number), "1234567890123456789");
    space_free(s);
}
END_TEST

/* Chi-square of 40000 draws over 35 configurations: far above 34 + 6 sqrt(68) it is not even. */
START_TEST(draws_are_even)
{
    space *s = read_space("A = 1..6\nB = 1..6\nC = {x, y}\nwhere A * B <= 14 and (C == x or A > 2)");
    int64_t n = size_of(s), draws = 1000 * n;
    int32_t code[3], hits[200] = {0}, (*list)[3] = calloc((size_t)n, sizeof *list);
    double chi = 0.0;
    ck_assert_int_lt(n, 200);
    for (int64_t i = 0; i < n; i++) space_nth(s, (space_count)i, list[i]);
    for (int64_t i = 0; i < draws; i++) {
        space_draw(s, 7, (uint64_t)i, code);
        int64_t k = 0;
        while (memcmp(list[k], code, sizeof code)) ck_assert_int_lt(++k, n);
        hits[k]++;
    }
    for (int64_t k = 0; k < n; k++) chi += (hits[k] - 1000.0) * (hits[k] - 1000.0) / 1000.0;
    ck_assert_double_lt(chi, (double)n - 1 + 6 * sqrt(2.0 * ((double)n - 1)));
    free(list);
    space_free(s);
}
END_TEST

/* A condition that ties too much together: sums of many values are tried, and the estimate's interval holds what symmetry tells. */
START_TEST(wide_conditions_are_tried)
{
    hu_error err = HU_ERROR_NONE;
    char text[4000] = "";
    double count, low, high, about;
    space_count size;
    for (int i = 0; i < 12; i++) snprintf(text + strlen(text), sizeof text - strlen(text), "A%d = {%d.137, %d.618, %d.271, %d.414, %d.732, %d.236, %d.057}\n", i, i, i + 3, 2 * i, i + 9, 3 * i + 1, i * i, i + 5);
    strcat(text, "B = 0..999\nwhere A0 * A1 + A2 * A3 + A4 * A5 + A6 * A7 + A8 * A9 + A10 * A11 + B * 1000000 < 500 * 1000000\n");
    space *s = read_space(text);
    ck_assert(!space_is_exact(s));
    space_size(s, &size, &about);
    ck_assert_double_eq(about, pow(7, 12) * 1000);
    ck_assert_ok(space_estimate(s, 3, &count, &low, &high, &err));
    ck_assert_double_lt(low, about / 2); /* the products never reach a million, so B < 500 decides */
    ck_assert_double_gt(high, about / 2);
    ck_assert_double_lt(high - low, 0.01 * about);
    int32_t *code;
    int64_t drawn;
    ck_assert_ok(space_sample(s, 1, 0, 500, &code, &drawn, &err));
    ck_assert_int_eq(drawn, 500);
    for (int64_t i = 0; i < drawn; i++) ck_assert_int_lt(code[i * s->parameters + 12], 500);
    hu_free(code);
    space_free(s);
}
END_TEST

START_TEST(mistakes_are_named_by_line_and_column)
{
    refuse_space("A = {1,2}\nwhere A == x\n", "s:2: column 12: x is neither a parameter");
    refuse_space("A = {1,2}\nB = {1,1}\n", "s:2: column 8: this value stands here twice");
    refuse_space("A = {1,2}\nwhere (A == 1\n\n", "')' is missing");
    refuse_space("A = {1,2}\nwhere A = 1\n", "s:2: column 9: '=' sets a parameter; equality is '=='");
    refuse_space("A = {on,off}\nwhere A < 2\n", "s:2: column 7: a word stands where a number must");
    refuse_space("A = {on,off}\nwhere A == 2\n", "s:2: column 12: a number and a word are compared");
    refuse_space("A = 1..3\nwhere 1 < A < 3\n", "comparisons do not chain");
    refuse_space("A = 1..3 4\n", "s:1: column 10: one statement a line");
    refuse_space("A = 3..1\n", "the first value is above the last");
    refuse_space("A = 1..3 step 0\n", "a step must be above 0");
    refuse_space("A = {1,2\n", "'}' is missing");
    refuse_space("A = {1,,2}\n", "s:1: column 8: a value is missing");
    refuse_space("A = 1..100000\n", "more than 65535 values");
    refuse_space("A = 1..2\nA = 1..2\n", "s:2: column 1: a parameter of this name stands above");
    refuse_space("where A == 1\n", "s:1: column 7: A is neither a parameter above this line");
    refuse_space("and = 1..2\n", "cannot name a parameter");
    refuse_space("A = 1..2\nwhere A == 1 A\n", "s:2: column 14: this belongs to no condition");
    refuse_space("A = 1..2\nwhere A +\n", "s:2: column 10: the condition ends where an operand must follow");
    refuse_space("A = {\"x}\n", "a quote that is never closed");
    refuse_space("", "there is no parameter");
    refuse_space("7 = {1}\n", "s:1: column 1: a line is NAME =");
}
END_TEST

/* ---- scores ---------------------------------------------------------------------------------------------------------------------------- */

START_TEST(scores_are_their_formulas)
{
    hu_error err = HU_ERROR_NONE;
    const double mean[] = {1, 2, 4, 8, 0.5}, sigma[] = {0.5, 0, 1, 4, 0.1};
    double score[5];
    score_options o = SCORE_DEFAULTS;
    for (int a = 0; a <= 4; a++) {
        o.alpha = a / 4.0;
        ck_assert_ok(score_rows(&o, mean, sigma, 5, 1, score, &err));
        for (int i = 0; i < 5; i++) ck_assert_double_eq_tol(score[i], sigma[i] * exp((o.alpha - 1) * log(mean[i])), 1e-14);
    }
    o = (score_options){SCORE_PBU, 0.05, 0.4};
    ck_assert_ok(score_rows(&o, mean, sigma, 5, 1, score, &err));
    ck_assert(score[0] == 0.5 && score[4] == 0.1 && isinf(score[1]) && isinf(score[2]) && isinf(score[3]));
    o.kind = SCORE_EI; /* against the integral of max(least - y, 0) under the density, by Simpson's rule */
    ck_assert_ok(score_rows(&o, mean, sigma, 5, 1.25, score, &err));
    for (int i = 0; i < 5; i++) {
        double sum = 0.0, low = mean[i] - 12 * sigma[i], h = (1.25 - low) / 20000;
        for (int k = 0; k <= 20000 && sigma[i] > 0 && h > 0; k++) {
            double y = low + k * h, z = (y - mean[i]) / sigma[i];
            sum += (k == 0 || k == 20000 ? 1 : k % 2 ? 4 : 2) * (1.25 - y) * exp(-z * z / 2) / (sigma[i] * sqrt(2 * M_PI)) * h / 3;
        }
        ck_assert_double_eq_tol(score[i], sigma[i] > 0 ? sum : 0.0, 1e-9);
    }
}
END_TEST

/* The best first, equal ones once before any of them comes twice, ties by tie[]. */
START_TEST(picks_are_ordered)
{
    const double score[] = {3, 5, 5, 1, 5, 4}, none[6] = {0};
    const uint64_t tie[] = {9, 2, 1, 4, 3, 8};
    const bool taken[] = {false, false, false, false, false, true};
    int64_t row[6];
    ck_assert_int_eq(score_pick(score, tie, taken, 6, 3, row), 3);
    ck_assert(row[0] == 2 && row[1] == 0 && row[2] == 3);
    ck_assert_int_eq(score_pick(score, tie, taken, 6, 6, row), 5);
    ck_assert(row[0] == 2 && row[1] == 0 && row[2] == 3 && row[3] == 1 && row[4] == 4);
    ck_assert_int_eq(score_pick(none, tie, taken, 6, 3, row), 3);
    ck_assert(row[0] == 2 && row[1] == 1 && row[2] == 4);
    ck_assert_int_eq(score_pick(score, tie, taken, 6, 0, row), 0);
}
END_TEST

/* ---- states ------------------------------------------------------------------------------------------------------------------------------ */

static char path[] = "/tmp/hu_test_XXXXXX";

static int64_t make_state(char *bytes, int64_t room)
{
    hu_error err = HU_ERROR_NONE;
    const char *const names[] = {"n", "mode"};
    state *s;
    int64_t config[3], fresh;
    strcpy(path, "/tmp/hu_test_XXXXXX");
    close(mkstemp(path));
    ck_assert_ok(state_open(path, true, &s, &err));
    ck_assert_ok(state_begin(s, names, 2, "time", false, &err));
    for (int i = 0; i < 3; i++) {
        int32_t code[2];
        ck_assert_ok(configs_value(s->set, 0, CONFIG_NUMBER, i + 0.5, NULL, 0, &code[0], &err));
        ck_assert_ok(configs_value(s->set, 1, i ? CONFIG_WORD : CONFIG_MISSING, 0, "a\"b", 3, &code[1], &err));
        ck_assert_ok(configs_add(s->set, code, &config[i], &err));
    }
    ck_assert_ok(state_ask(s, config, 3, "me", 12345.5, &err));
    const state_run runs[] = {{config[0], RUN_TIME, 1.0 / 3, 1}, {config[1], RUN_TIMEOUT, 9, 9}, {config[0], RUN_TIME, 1.0 / 3, 1}, {config[2], RUN_FAIL, 0, 2}};
    ck_assert_ok(state_tell(s, runs, 3, DUP_MEAN, &fresh, &err));
    ck_assert_int_eq(fresh, 3);
    ck_assert_int_eq(s->claims, 1);
    ck_assert_ok(state_tell(s, runs, 4, DUP_MEAN, &fresh, &err));
    ck_assert_int_eq(fresh, 1);
    ck_assert_ok(state_tell(s, runs, 4, DUP_MEAN, &fresh, &err));
    ck_assert_int_eq(fresh, 0);
    state_close(s);
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, bytes, (size_t)room);
    close(fd);
    unlink(path);
    return size;
}

START_TEST(states_come_back)
{
    hu_error err = HU_ERROR_NONE;
    char bytes[4000];
    state *s;
    state_result *result;
    int64_t size = make_state(bytes, sizeof bytes), count;
    ck_assert_ok(state_memory("s", bytes, size, &s, &err));
    ck_assert_int_eq(s->runs, 4);
    ck_assert_int_eq(s->claims, 0);
    ck_assert_double_eq(s->spent, 13);
    ck_assert_str_eq(configs_text(s->set, s->run[1].config, 1), "a\"b");
    ck_assert_ok(state_results(s, &result, &count, &err));
    ck_assert_int_eq(count, 3);
    ck_assert(result[0].outcome == RUN_TIME && result[0].value == 1.0 / 3);
    ck_assert(result[1].outcome == RUN_TIMEOUT && result[1].value == 9);
    ck_assert(result[2].outcome == RUN_FAIL);
    hu_free(result);
    state_close(s);
}
END_TEST

START_TEST(states_cut_or_changed)
{
    char bytes[4000], changed[4000];
    int64_t size = make_state(bytes, sizeof bytes), last = 0;
    for (int64_t cut = 0; cut < size; cut++) {
        hu_error err = HU_ERROR_NONE;
        state *s;
        ck_assert_ok(state_memory("s", bytes, cut, &s, &err));
        ck_assert_int_ge(s->runs, last); /* never more than was there, in order */
        last = s->runs;
        state_close(s);
    }
    ck_assert_int_eq(last, 3);
    for (int64_t bit = 0; bit < 8 * size; bit++) {
        hu_error err = HU_ERROR_NONE;
        state *s = NULL;
        memcpy(changed, bytes, (size_t)size);
        changed[bit / 8] = (char)(changed[bit / 8] ^ 1 << bit % 8);
        ck_assert_fails(state_memory("s", changed, size, &s, &err), HU_INPUT, "s: byte ");
    }
}
END_TEST

/* How runs of one configuration are merged. */
START_TEST(repeated_runs_are_merged)
{
    static const double wanted[] = {NAN, 4.0, 3.0, 1.0};
    for (int dup = DUP_KEEP; dup <= DUP_MIN; dup++) {
        hu_error err = HU_ERROR_NONE;
        state s = {.dup = (table_dup)dup};
        state_run runs[] = {{0, RUN_TIME, 3, 0}, {1, RUN_FAIL, 0, 0}, {0, RUN_TIME, 8, 0}, {0, RUN_FAIL, 0, 0}, {0, RUN_TIME, 1, 0}};
        state_result *result;
        int64_t count;
        s.run = runs;
        s.runs = 5;
        ck_assert_ok(state_results(&s, &result, &count, &err));
        ck_assert_int_eq(count, dup == DUP_KEEP ? 4 : 2);
        if (dup == DUP_KEEP) ck_assert(result[0].value == 3 && result[1].outcome == RUN_FAIL && result[2].value == 8 && result[3].value == 1);
        else ck_assert(result[0].value == wanted[dup] && result[1].outcome == RUN_FAIL);
        hu_free(result);
    }
}
END_TEST

/* ---- replay ------------------------------------------------------------------------------------------------------------------------------- */

/* A time with a narrow fast valley, in a pool of 1500 points, with 300 others to test on. */
static hu_frame *valley(int64_t rows, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame;
    hu_random r = hu_random_stream(seed, 1);
    ck_assert_ok(hu_frame_new(rows, 4, &frame, &err));
    for (int f = 0; f < 4; f++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", f);
        frame->feature[f].name = strdup(name);
        for (int64_t i = 0; i < rows; i++) frame->column[f][i] = hu_random_uniform(&r);
    }
    for (int64_t i = 0; i < rows; i++) {
        double a = frame->column[0][i] - 0.3, b = frame->column[1][i] - 0.7;
        frame->y[i] = 0.1 + 20 * (a * a + b * b) * (0.5 + frame->column[2][i]) + 0.05 * frame->column[3][i];
    }
    ck_assert_ok(hu_frame_finish(frame, &err));
    return frame;
}

/* pwu must reach what both reach for less, and the same seed must give the same curve. */
START_TEST(sampling_pays)
{
    hu_error err = HU_ERROR_NONE;
    double gain = 0.0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        hu_frame *pool = valley(1500, seed), *test = valley(300, seed + 100);
        replay_options o = REPLAY_DEFAULTS;
        replay_curve pwu, again, chance;
        o.most = 120;
        o.learner.seed = seed;
        ck_assert_ok(replay_run(pool, test, &o, &pwu, &err));
        ck_assert_ok(replay_run(pool, test, &o, &again, &err));
        o.score.kind = SCORE_RAND;
        ck_assert_ok(replay_run(pool, test, &o, &chance, &err));
        ck_assert_int_eq(pwu.steps, 23);
        ck_assert_mem_eq(pwu.error, again.error, 23 * sizeof(double));
        ck_assert_mem_eq(pwu.spent, again.spent, 23 * sizeof(double));
        ck_assert_double_eq(pwu.spent[0], chance.spent[0]);
        double level = fmax(replay_least_error(&pwu), replay_least_error(&chance));
        gain += log(replay_spent_at(&chance, level) / replay_spent_at(&pwu, level)) / 4;
        replay_free(&pwu);
        replay_free(&again);
        replay_free(&chance);
        hu_frame_free(pool);
        hu_frame_free(test);
    }
    ck_assert_double_gt(exp(gain), 2.0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perf-predict/active");
    TCase *c = tcase_create("active");
    hu_set_verbosity(-1);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, spaces_are_what_brute_force_finds);
    tcase_add_test(c, division_by_zero_never_holds);
    tcase_add_test(c, large_spaces_are_counted_exactly);
    tcase_add_test(c, draws_are_even);
    tcase_add_test(c, wide_conditions_are_tried);
    tcase_add_test(c, mistakes_are_named_by_line_and_column);
    tcase_add_test(c, scores_are_their_formulas);
    tcase_add_test(c, picks_are_ordered);
    tcase_add_test(c, states_come_back);
    tcase_add_test(c, states_cut_or_changed);
    tcase_add_test(c, repeated_runs_are_merged);
    tcase_add_test(c, sampling_pays);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
