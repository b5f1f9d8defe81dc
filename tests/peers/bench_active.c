/* bench_active.c: what active sampling saves, replayed on public tables.
 *
 * Each table of runs is dealt by a seed into rows to test on (3 in 10, at most 2000) and a pool (the others, at most 5000). A replay takes 10 points of the pool at
 * random, then 5 a step by a score, 300 in all; after each step it notes the sum of the times measured so far, and the error on the fastest 5 % of the test
 * rows. Two curves are compared at the least error that both reach. `sampling` learns the times themselves, as the papers do; `sampling-auto` them or their logarithms, whichever errs
 * less out of bag, as ask does unless told otherwise.
 */
#include "config.h"
#include "bench_active.h"
#include "base/parallel.h"
#include "base/memory.h"
#include "replay.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 5000, TEST = 2000 };

static void must(hu_status status, const hu_error *err)
{
    if (status == HU_OK) return;
    fprintf(stderr, "bench_active: %s\n", err->message);
    exit(HU_SYSTEM);
}

/* Rows row[from..to) of a table of numbers. */
static hu_frame *part_of(const hu_frame *t, const int32_t *row, int64_t from, int64_t to)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *part;
    must(hu_frame_new(to - from, t->features, &part, &err), &err);
    for (int32_t f = 0; f < t->features; f++) {
        part->feature[f].name = strdup(t->feature[f].name);
        for (int64_t i = from; i < to; i++) part->column[f][i - from] = t->column[f][row[i]];
    }
    for (int64_t i = from; i < to; i++) part->y[i - from] = t->y[row[i]];
    must(hu_frame_finish(part, &err), &err);
    return part;
}

static hu_frame *load(const char *data, const char *name)
{
    hu_error err = HU_ERROR_NONE;
    char path[4096];
    hu_source *source;
    hu_frame *frame;
    table_options o = {.target = "cost", .csv = HU_CSV_DEFAULTS};
    snprintf(path, sizeof path, "%s/tuning/spapt-%s.csv", data, name);
    if (hu_source_open(path, NULL, &source, &err)) return NULL;
    must(table_read(source, &o, &frame, &err), &err);
    hu_source_close(source);
    return frame;
}

static void deal(const hu_frame *all, uint64_t seed, hu_frame **ret_pool, hu_frame **ret_test)
{
    int32_t *row = malloc((size_t)all->rows * sizeof *row);
    hu_random random = hu_random_stream(seed, 5);
    int64_t test = all->rows * 3 / 10 < TEST ? all->rows * 3 / 10 : TEST, pool = all->rows - test < POOL ? all->rows - test : POOL;
    for (int64_t i = 0; i < all->rows; i++) row[i] = (int32_t)i;
    hu_random_shuffle(&random, row, all->rows);
    *ret_test = part_of(all, row, 0, test);
    *ret_pool = part_of(all, row, test, test + pool);
    free(row);
}

enum { PWU, RAND, PBU, METHODS };

/* Logarithms, means over the seeds: what random choice spends for what pwu spends; the last error of pbu for that of pwu. */
typedef struct {
    double spent, last;
} gain;

static double spent_for(const replay_curve *pwu, const replay_curve *other)
{
    double level = fmax(replay_least_error(pwu), replay_least_error(other));
    return log(replay_spent_at(other, level) / replay_spent_at(pwu, level));
}

static gain replay_kernel(const hu_frame *all, int seeds, int log_target)
{
    static const score_kind kinds[METHODS] = {SCORE_PWU, SCORE_RAND, SCORE_PBU};
    hu_error err = HU_ERROR_NONE;
    gain sum = {0};
    for (int s = 1; s <= seeds; s++) {
        hu_frame *pool, *test;
        replay_curve curve[METHODS];
        deal(all, (uint64_t)s, &pool, &test);
        for (int m = 0; m < METHODS; m++) {
            replay_options o = REPLAY_DEFAULTS;
            o.score.kind = kinds[m];
            o.learner.seed = (uint64_t)s;
            o.learner.log = log_target;
            must(replay_run(pool, test, &o, &curve[m], &err), &err);
        }
        sum.spent += spent_for(&curve[PWU], &curve[RAND]) / seeds;
        sum.last += log(curve[PBU].error[curve[PBU].steps - 1] / curve[PWU].error[curve[PWU].steps - 1]) / seeds;
        for (int m = 0; m < METHODS; m++) replay_free(&curve[m]);
        hu_frame_free(pool);
        hu_frame_free(test);
    }
    return sum;
}

static void report(const bench *run, const char *bar, const char *name, gain g, double spent_floor, double last_floor)
{
    char label[128];
    snprintf(label, sizeof label, "%s: cost to one error", name);
    bench_row(run, bar, label, NAN, "s", "random choice", NAN, exp(g.spent), NAN, spent_floor);
    snprintf(label, sizeof label, "%s: error after 300 points", name);
    bench_row(run, bar, label, NAN, "s", "pbu", NAN, exp(g.last), NAN, last_floor);
}

/* adi is nearly noise: nothing can be learnt from it, and it is shown for that. */
static void replay_all(const bench *run, const char *data, const char *bar, int log_target, double spent_floor, double last_floor)
{
    static const char *const kernels[] = {"lu", "mm", "jacobi", "trmm", "correlation", "gemver", "bicgkernel", "stencil3d", "atax", "adi"};
    int seeds = run->quick ? 1 : 3, kernel_count = run->quick ? 4 : 10, count = 0;
    gain total = {0};
    char label[64];
    if (!bench_wants(run, bar)) return;
    for (int k = 0; k < kernel_count; k++) {
        hu_frame *all = load(data, kernels[k]);
        if (!all) {
            bench_skip(run, bar, kernels[k], "the table");
            continue;
        }
        gain g = replay_kernel(all, seeds, log_target);
        hu_frame_free(all);
        report(run, bar, kernels[k], g, 0.0, 0.0);
        if (strcmp(kernels[k], "adi") == 0) continue;
        total.spent += g.spent;
        total.last += g.last;
        count++;
    }
    snprintf(label, sizeof label, "geomean of %d kernels and %d seeds", count, seeds);
    if (count) report(run, bar, label, (gain){total.spent / count, total.last / count}, spent_floor, last_floor);
}

void bench_sampling(bench *run, const char *data)
{
    hu_threads_set(0);
    replay_all(run, data, "sampling", 0, 2.0, 2.0);
    replay_all(run, data, "sampling-auto", -1, 0.0, 0.0);
}
