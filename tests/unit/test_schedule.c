/* test_schedule.c: schedules against cases worked by hand, a simulation that looks at everything at every event, and the best of all schedules of few jobs.
 *
 * Sections: making, by hand, the plain simulation, laws, the best of all.
 */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/random.h"
#include "schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------------------------------------- */

enum { MOST_JOBS = 300, MOST_GPUS = 64 };

typedef struct {
    sim_node node[16];
    sim_cluster cluster;
    sim_job job[MOST_JOBS];
    sim_jobs jobs;
    sim_interference curves;
} scene;

static void add_node(scene *s, int32_t gpus)
{
    s->cluster.node = s->node;
    s->node[s->cluster.nodes++] = (sim_node){(char *)"n", s->cluster.gpus, gpus};
    s->cluster.gpus += gpus;
    if (gpus > s->cluster.most) s->cluster.most = gpus;
}

static void add_job(scene *s, double submit, double duration, int32_t gpus, double occupancy, double real)
{
    s->jobs.job = s->job;
    s->job[s->jobs.jobs++] = (sim_job){(char *)"j", submit, duration, gpus, (int32_t)lrint(occupancy * SHARE), (int32_t)lrint(real * SHARE), s->curves.curves ? 0 : -1};
}

static schedule run_scene(const scene *s, schedule_policy p, double cap)
{
    hu_error err = HU_ERROR_NONE;
    schedule result;
    ck_assert_ok(schedule_run(&s->cluster, &s->jobs, &s->curves, p, cap, &result, &err));
    return result;
}

static void random_scene(scene *s, uint64_t seed, int64_t jobs, bool exact)
{
    hu_random r = hu_random_stream(seed, 7);
    *s = (scene){0};
    int nodes = 1 + (int)hu_random_below(&r, 5);
    for (int n = 0; n < nodes; n++) add_node(s, 1 + (int32_t)hu_random_below(&r, 4));
    for (int64_t k = 0; k < jobs; k++) {
        double occupancy = (double)(1 + hu_random_below(&r, 20)) / 20, real = exact ? occupancy : (double)(1 + hu_random_below(&r, 20)) / 20;
        add_job(s, (double)hu_random_below(&r, jobs * 2), (double)hu_random_below(&r, 30), 1 + (int32_t)(hu_random_below(&r, 3) * hu_random_below(&r, 2)), occupancy, real);
    }
}

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

static void is(const schedule *s, int job, double start, double end)
{
    ck_assert_msg(s->placement[job].start == start && s->placement[job].end == end, "job %d: %g to %g, not %g to %g", job, s->placement[job].start, s->placement[job].end, start, end);
}

/* One GPU; A 10 s of half, B 4 s of half at 1, C 5 s of 0.6 at 2. */
START_TEST(three_jobs_on_one_gpu)
{
    scene s = {0};
    add_node(&s, 1);
    add_job(&s, 0, 10, 1, 0.5, 0.5);
    add_job(&s, 1, 4, 1, 0.5, 0.5);
    add_job(&s, 2, 5, 1, 0.6, 0.6);
    for (schedule_policy p = POLICY_FIFO; p <= POLICY_EXCL; p++) {
        schedule a = run_scene(&s, p, 1.0);
        is(&a, 0, 0, 10);
        is(&a, 1, 10, 14);
        is(&a, 2, 14, 19);
        ck_assert_double_eq(a.makespan, 19);
        ck_assert_double_eq_tol(a.used, (10 * 0.5 + 4 * 0.5 + 5 * 0.6) / 19, 1e-12);
        ck_assert_double_eq(a.busy, 1.0);
        ck_assert_int_eq(a.queued, 2);
        schedule_free(&a);
    }
    for (schedule_policy p = POLICY_PACK; p <= POLICY_OCC; p++) {
        schedule a = run_scene(&s, p, 1.0);
        is(&a, 0, 0, 10);
        is(&a, 1, 1, 5);
        is(&a, 2, 10, 15);
        schedule_free(&a);
    }
}
END_TEST

/* Cap 1.1: A and C together ask for 1.1 GPUs, so each goes at 1 / 1.1; alone again, A at 1. */
START_TEST(more_than_a_gpu_is_shared_fairly)
{
    scene s = {0};
    add_node(&s, 1);
    add_job(&s, 0, 10, 1, 0.5, 0.5);
    add_job(&s, 2, 5, 1, 0.6, 0.6);
    schedule a = run_scene(&s, POLICY_PACK, 1.1);
    ck_assert_double_eq_tol(a.placement[1].end, 2 + 5 * 1.1, 1e-9);
    ck_assert_double_eq_tol(a.placement[0].end, 2 + 5.5 + (10 - 2 - 5), 1e-9);
    ck_assert_double_eq_tol(a.most, 1.1, 1e-12);
    ck_assert_double_eq(a.over, 0);
    schedule_free(&a);
    s.job[1].real = 800000; /* what the policy does not know */
    a = run_scene(&s, POLICY_PACK, 1.1);
    ck_assert_double_eq_tol(a.placement[1].end, 2 + 5 * 1.3, 1e-9);
    ck_assert_double_eq_tol(a.over, 5 * 1.3, 1e-9);
    schedule_free(&a);
}
END_TEST

/* Who comes behind a large job: fifo waits for it, excl passes it. */
START_TEST(passing)
{
    scene s = {0};
    add_node(&s, 2);
    add_job(&s, 0, 10, 1, 1, 1);
    add_job(&s, 1, 3, 2, 1, 1);
    add_job(&s, 2, 4, 1, 1, 1);
    schedule a = run_scene(&s, POLICY_FIFO, 1.0);
    is(&a, 1, 10, 13);
    is(&a, 2, 13, 17);
    schedule_free(&a);
    a = run_scene(&s, POLICY_EXCL, 1.0);
    is(&a, 2, 2, 6);
    is(&a, 1, 10, 13);
    schedule_free(&a);
}
END_TEST

/* Two GPUs with 0.7 and 0.3 taken; a job of 0.3: the first, or the tightest. Then the greatest first. */
START_TEST(where_and_who)
{
    scene s = {0};
    add_node(&s, 1);
    add_node(&s, 1);
    add_job(&s, 0, 100, 1, 0.3, 0.3);
    add_job(&s, 0, 100, 1, 0.8, 0.8);
    add_job(&s, 1, 100, 1, 0.2, 0.2);
    schedule a = run_scene(&s, POLICY_PACK, 1.0);
    ck_assert(a.placement[0].node == 0 && a.placement[1].node == 1 && a.placement[2].node == 0);
    schedule_free(&a);
    a = run_scene(&s, POLICY_BESTFIT, 1.0);
    ck_assert(a.placement[0].node == 0 && a.placement[1].node == 1 && a.placement[2].node == 1);
    schedule_free(&a);
    scene t = {0};
    add_node(&t, 1);
    add_job(&t, 0, 5, 1, 0.4, 0.4);
    add_job(&t, 0, 5, 1, 0.9, 0.9);
    a = run_scene(&t, POLICY_OCC, 1.0);
    is(&a, 1, 0, 5);
    is(&a, 0, 5, 10);
    schedule_free(&a);
}
END_TEST

START_TEST(jobs_that_can_never_run)
{
    scene s = {0};
    add_node(&s, 2);
    add_job(&s, 0, 5, 3, 0.1, 0.1);
    add_job(&s, 0, 5, 1, 0.9, 0.9);
    add_job(&s, 0, 0, 2, 0.5, 0.5);
    schedule a = run_scene(&s, POLICY_PACK, 0.8);
    ck_assert_int_eq(a.never, 2);
    ck_assert(isnan(a.placement[0].start) && a.placement[0].node == -1 && a.placement[1].node == -1);
    is(&a, 2, 0, 0); /* no work takes no time */
    schedule_free(&a);
    a = run_scene(&s, POLICY_FIFO, 0.8); /* whole GPUs: occupancy does not count, and the first does not hold up the others */
    ck_assert_int_eq(a.never, 1);
    is(&a, 1, 0, 5);
    schedule_free(&a);
}
END_TEST

START_TEST(interference_by_a_curve)
{
    scene s = {0};
    double load[] = {0.0, 0.5}, slowdown[] = {1.0, 2.0};
    sim_curve line = {(char *)"", 2, 2, load, slowdown};
    s.curves = (sim_interference){1, 1, &line};
    ck_assert_double_eq(curve_slowdown(&line, 0.0), 1.0);
    ck_assert_double_eq(curve_slowdown(&line, 0.25), 1.5);
    ck_assert_double_eq(curve_slowdown(&line, 0.9), 2.0);
    add_node(&s, 1);
    add_job(&s, 0, 12, 1, 0.5, 0.5);
    add_job(&s, 4, 4, 1, 0.25, 0.25);
    schedule a = run_scene(&s, POLICY_PACK, 1.0);
    ck_assert_double_eq_tol(a.placement[1].end, 12, 1e-9);              /* 4 s at half speed */
    ck_assert_double_eq_tol(a.placement[0].end, 12 + 8 - 8 / 1.5, 1e-9); /* 4 s, then 8 s at 1/1.5, then the rest */
    schedule_free(&a);
}
END_TEST

/* ---- the plain simulation: lists, and everything looked at anew at every event --------------------------------------------- */

typedef struct {
    double start, end, left;
    bool come, started, done;
    int32_t gpu[8];
} plain_job;

static double load_of(const scene *s, const plain_job *p, int32_t gpu)
{
    double load = 0;
    for (int64_t k = 0; k < s->jobs.jobs; k++)
        for (int32_t i = 0; i < s->job[k].gpus && p[k].started && !p[k].done; i++) load += p[k].gpu[i] == gpu ? (double)s->job[k].real / SHARE : 0;
    return load;
}

static int64_t free_parts(const scene *s, const plain_job *p, int32_t gpu, schedule_policy policy, int64_t cap)
{
    int64_t left = cap;
    for (int64_t k = 0; k < s->jobs.jobs; k++)
        for (int32_t i = 0; i < s->job[k].gpus && p[k].started && !p[k].done; i++)
            if (p[k].gpu[i] == gpu) left -= policy <= POLICY_EXCL ? cap : s->job[k].occupancy;
    return left;
}

/* The GPUs that a job would get, or false. */
static bool plain_place(const scene *s, const plain_job *p, int64_t k, schedule_policy policy, int64_t cap, int32_t *gpu)
{
    bool tight = policy >= POLICY_BESTFIT, found = false;
    int64_t best = INT64_MAX, need = policy <= POLICY_EXCL ? cap : s->job[k].occupancy;
    for (int32_t n = 0; n < s->cluster.nodes && (tight || !found); n++) {
        int32_t pick[MOST_GPUS], fit = 0;
        for (int32_t g = 0; g < s->node[n].gpus; g++)
            if (free_parts(s, p, s->node[n].first + g, policy, cap) >= need) pick[fit++] = s->node[n].first + g;
        if (fit < s->job[k].gpus) continue;
        /* the key of a node: what is left on as many of its GPUs as are wanted, at best */
        for (int32_t a = 0; a < fit; a++)
            for (int32_t b = a + 1; b < fit && tight; b++) {
                int64_t x = free_parts(s, p, pick[a], policy, cap), y = free_parts(s, p, pick[b], policy, cap);
                if (y < x || (y == x && pick[b] < pick[a])) {
                    int32_t swap = pick[a];
                    pick[a] = pick[b];
                    pick[b] = swap;
                }
            }
        int64_t key = tight ? free_parts(s, p, pick[fit - s->job[k].gpus], policy, cap) : 0;
        if (key >= best) continue;
        best = key;
        found = true;
        memcpy(gpu, pick, (size_t)s->job[k].gpus * sizeof *gpu);
    }
    return found;
}

static bool goes_first(const scene *s, int64_t a, int64_t b, schedule_policy policy)
{
    if (policy == POLICY_OCC && s->job[a].occupancy != s->job[b].occupancy) return s->job[a].occupancy > s->job[b].occupancy;
    if (s->job[a].submit != s->job[b].submit) return s->job[a].submit < s->job[b].submit;
    return a < b;
}

static void plain_start(const scene *s, plain_job *p, schedule_policy policy, int64_t cap, double now)
{
    for (;;) {
        int64_t next = -1;
        int32_t gpu[8];
        for (int64_t k = 0; k < s->jobs.jobs; k++) {
            if (!p[k].come || p[k].started) continue;
            if (next >= 0 && !goes_first(s, k, next, policy)) continue;
            if (policy == POLICY_FIFO || plain_place(s, p, k, policy, cap, gpu)) next = k;
        }
        if (next < 0 || !plain_place(s, p, next, policy, cap, gpu)) return;
        memcpy(p[next].gpu, gpu, sizeof gpu);
        p[next].started = true;
        p[next].start = now;
        p[next].left = s->job[next].duration;
    }
}

static void plain_run(const scene *s, schedule_policy policy, int64_t cap, plain_job *p)
{
    double now = 0;
    memset(p, 0, (size_t)s->jobs.jobs * sizeof *p);
    for (;;) {
        double next = INFINITY, rate[MOST_JOBS];
        for (int64_t k = 0; k < s->jobs.jobs; k++) {
            if (!p[k].come && s->job[k].submit < next) next = s->job[k].submit;
            if (!p[k].started || p[k].done) continue;
            rate[k] = 1.0;
            for (int32_t i = 0; i < s->job[k].gpus; i++) rate[k] = fmin(rate[k], 1.0 / fmax(1.0, load_of(s, p, p[k].gpu[i])));
            if (now + p[k].left / rate[k] < next) next = now + p[k].left / rate[k];
        }
        if (isinf(next)) return;
        for (int64_t k = 0; k < s->jobs.jobs; k++) {
            if (!p[k].started || p[k].done) continue;
            p[k].left -= (next - now) * rate[k];
            if (p[k].left > 1e-9) continue;
            p[k].done = true;
            p[k].end = next;
        }
        now = next;
        for (int64_t k = 0; k < s->jobs.jobs; k++)
            if (!p[k].come && s->job[k].submit <= now) p[k].come = true;
        plain_start(s, p, policy, cap, now);
    }
}

START_TEST(against_the_plain_simulation)
{
    scene *s = malloc(sizeof *s);
    plain_job *p = malloc(MOST_JOBS * sizeof *p);
    int64_t shared = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (schedule_policy policy = POLICY_FIFO; policy < POLICIES; policy++) {
            random_scene(s, seed, 60, true);
            for (int64_t k = 0; k < s->jobs.jobs; k++)
                if (s->job[k].gpus > s->cluster.most) s->job[k].gpus = 1;
            schedule a = run_scene(s, policy, 1.0);
            plain_run(s, policy, SHARE, p);
            for (int64_t k = 0; k < s->jobs.jobs; k++) {
                ck_assert_msg(fabs(a.placement[k].start - p[k].start) < 1e-7 && fabs(a.placement[k].end - p[k].end) < 1e-7, "seed %d policy %d job %d: %g to %g, plain %g to %g", (int)seed, policy, (int)k,
                              a.placement[k].start, a.placement[k].end, p[k].start, p[k].end);
                for (int32_t i = 0; i < s->job[k].gpus; i++) {
                    bool same = false;
                    for (int32_t j = 0; j < s->job[k].gpus; j++) same |= p[k].gpu[j] == a.placement[k].gpu[i];
                    ck_assert(same);
                    if (i) ck_assert_int_gt(a.placement[k].gpu[i], a.placement[k].gpu[i - 1]);
                }
                for (int64_t l = 0; l < k; l++) shared += a.placement[l].gpu[0] == a.placement[k].gpu[0] && a.placement[l].start < a.placement[k].end && a.placement[k].start < a.placement[l].end;
            }
            schedule_free(&a);
        }
    ck_assert_int_gt(shared, 1000); /* jobs did share GPUs */
    free(p);
    free(s);
}
END_TEST

/* ---- laws ---------------------------------------------------------------------------------------------------------------------- */

/* No GPU is promised beyond the cap; work is conserved; no schedule is shorter than its longest job or its work over its GPUs. */
START_TEST(laws_of_schedules)
{
    scene *s = malloc(sizeof *s);
    for (uint64_t seed = 100; seed < 130; seed++)
        for (schedule_policy policy = POLICY_FIFO; policy < POLICIES; policy++) {
            random_scene(s, seed, MOST_JOBS, true);
            double cap = seed % 3 == 0 ? 1.5 : 1.0, work = 0, first = INFINITY, longest = 0;
            schedule a = run_scene(s, policy, cap);
            for (int64_t k = 0; k < s->jobs.jobs; k++) {
                const placement *p = &a.placement[k];
                first = fmin(first, s->job[k].submit);
                if (p->node < 0) {
                    ck_assert_int_gt(s->job[k].gpus, s->cluster.most);
                    continue;
                }
                work += s->job[k].duration * s->job[k].gpus * s->job[k].real / SHARE;
                longest = fmax(longest, s->job[k].duration);
                ck_assert_double_ge(p->start, s->job[k].submit);
                ck_assert_double_ge(p->end - p->start, s->job[k].duration - 1e-9);
                for (int32_t i = 0; i < s->job[k].gpus; i++) {
                    int64_t sum = 0; /* at the start of k: loads only rise at starts */
                    for (int64_t l = 0; l < s->jobs.jobs; l++)
                        for (int32_t j = 0; j < s->job[l].gpus && a.placement[l].node >= 0; j++)
                            if (a.placement[l].gpu[j] == p->gpu[i] && a.placement[l].start <= p->start && a.placement[l].end > p->start) sum += policy <= POLICY_EXCL ? llrint(cap * SHARE) : s->job[l].occupancy;
                    ck_assert_int_le(sum, llrint(cap * SHARE));
                }
            }
            double all = a.makespan * s->cluster.gpus;
            if (cap == 1.0) ck_assert_double_eq_tol(a.used * all, work, 1e-6 * work);
            ck_assert_double_ge(a.makespan, longest);
            ck_assert_double_ge(a.makespan * s->cluster.gpus, work * (1 - 1e-9));
            ck_assert_double_le(a.used, a.busy + 1e-12);
            schedule_free(&a);
        }
    free(s);
}
END_TEST

/* What comes first does not depend on durations that nobody can know yet: with other durations the jobs that start at time 0 are the same, on the same GPUs. */
START_TEST(policies_do_not_see_durations)
{
    scene *s = malloc(sizeof *s);
    for (uint64_t seed = 1; seed < 40; seed++)
        for (schedule_policy policy = POLICY_FIFO; policy < POLICIES; policy++) {
            random_scene(s, seed, 50, false);
            for (int64_t k = 0; k < s->jobs.jobs; k++) {
                s->job[k].submit = 0;
                s->job[k].duration += 1;
            }
            schedule a = run_scene(s, policy, 1.0);
            for (int64_t k = 0; k < s->jobs.jobs; k++) {
                s->job[k].duration = 1 + (double)(k * 7919 % 31);
                s->job[k].real = SHARE - s->job[k].real / 2;
            }
            schedule b = run_scene(s, policy, 1.0);
            for (int64_t k = 0; k < s->jobs.jobs; k++) {
                ck_assert((a.placement[k].start == 0) == (b.placement[k].start == 0));
                if (a.placement[k].start == 0) ck_assert(memcmp(a.placement[k].gpu, b.placement[k].gpu, (size_t)s->job[k].gpus * sizeof(int32_t)) == 0);
            }
            schedule_free(&a);
            schedule_free(&b);
        }
    free(s);
}
END_TEST

/* ---- the best of all ------------------------------------------------------------------------------------------------------------- */

enum { FEW = 6 };

/* The earliest time from which a job can run on a GPU between those that are placed. */
static double earliest(const scene *s, const int *placed, int count, const double *start, const int *on, int job, int gpu)
{
    double best = INFINITY;
    for (int c = -1; c < count; c++) { /* candidates: 0 and ends */
        double t = c < 0 ? 0 : start[placed[c]] + s->job[placed[c]].duration;
        bool fits = true;
        for (int e = -1; e < count && fits; e++) { /* the load rises at starts only */
            double at = e < 0 ? t : start[placed[e]];
            if (at < t || at >= t + s->job[job].duration) continue;
            int64_t load = s->job[job].occupancy;
            for (int l = 0; l < count; l++)
                if (on[placed[l]] == gpu && start[placed[l]] <= at && start[placed[l]] + s->job[placed[l]].duration > at) load += s->job[placed[l]].occupancy;
            fits = load <= SHARE;
        }
        if (fits && t < best) best = t;
    }
    return best;
}

/* Every order and every choice of GPUs. */
static void search(const scene *s, int *placed, int count, double *start, int *on, unsigned used, double span, double *best)
{
    if (span >= *best) return;
    if (count == s->jobs.jobs) {
        *best = span;
        return;
    }
    for (int k = 0; k < s->jobs.jobs; k++) {
        if (used >> k & 1) continue;
        for (int g = 0; g < s->cluster.gpus; g++) {
            start[k] = earliest(s, placed, count, start, on, k, g);
            on[k] = g;
            placed[count] = k;
            search(s, placed, count + 1, start, on, used | 1u << k, fmax(span, start[k] + s->job[k].duration), best);
        }
    }
}

START_TEST(the_best_of_all_schedules)
{
    int met[POLICIES] = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        scene s = {0};
        hu_random r = hu_random_stream(seed, 99);
        double start[FEW], best = INFINITY, alone = INFINITY;
        int placed[FEW], on[FEW];
        add_node(&s, 1);
        if (seed % 2) add_node(&s, 1);
        for (int k = 0; k < FEW; k++) {
            double occupancy = (double)(1 + hu_random_below(&r, 10)) / 10;
            add_job(&s, 0, (double)(1 + hu_random_below(&r, 9)), 1, occupancy, occupancy);
        }
        search(&s, placed, 0, start, on, 0, 0, &best);
        scene whole = s;
        whole.cluster.node = whole.node;
        whole.jobs.job = whole.job;
        for (int k = 0; k < FEW; k++) whole.job[k].occupancy = SHARE;
        search(&whole, placed, 0, start, on, 0, 0, &alone);
        ck_assert_double_le(best, alone);
        for (schedule_policy policy = POLICY_FIFO; policy < POLICIES; policy++) {
            schedule a = run_scene(&s, policy, 1.0);
            double optimum = policy <= POLICY_EXCL ? alone : best;
            ck_assert_double_ge(a.makespan, optimum - 1e-9);
            /* Graham's bounds for lists: below 2 for whole machines, below 3 with one resource (Garey, Graham 1975) */
            ck_assert_double_lt(a.makespan, (policy <= POLICY_EXCL ? 2 : 3) * optimum);
            met[policy] += a.makespan < optimum + 1e-9;
            schedule_free(&a);
        }
    }
    for (int p = 0; p < POLICIES; p++) ck_assert_int_ge(met[p], 10); /* the best is met often enough that the search is no mere lower bound */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perf-predict/schedule");
    TCase *c = tcase_create("schedule");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, three_jobs_on_one_gpu);
    tcase_add_test(c, more_than_a_gpu_is_shared_fairly);
    tcase_add_test(c, passing);
    tcase_add_test(c, where_and_who);
    tcase_add_test(c, jobs_that_can_never_run);
    tcase_add_test(c, interference_by_a_curve);
    tcase_add_test(c, against_the_plain_simulation);
    tcase_add_test(c, laws_of_schedules);
    tcase_add_test(c, policies_do_not_see_durations);
    tcase_add_test(c, the_best_of_all_schedules);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
