/* bench_active.c: what active sampling saves, replayed on public tables.
 *
 * Each table of runs is dealt by a seed into rows to test on (3 in 10, at most 2000) and a pool (the others, at most 5000). A replay takes 10 points of the pool at
 * random, then 5 a step by a score, 300 in all; after each step it notes the sum of the times measured so far, and the error on the fastest 5 % of the test
 * rows. Two curves are compared at the least error that both reach.
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

enum { POOL = 5000, TEST = 2000, METHODS = 3 };

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

/* Logarithms of: what the other spends for what pwu spends; the other's last error for pwu's. */
typedef struct {
    double spent, last, aspent, alast;
} gain;

static gain compare(const replay_curve *pwu, const replay_curve *other)
{
    double level = fmax(replay_least_error(pwu), replay_least_error(other));
    return (gain){.spent = log(replay_spent_at(other, level) / replay_spent_at(pwu, level)), .last = log(other->error[other->steps - 1] / pwu->error[pwu->steps - 1])};
}

static void add_curve(replay_curve *sum, const replay_curve *c, int seeds)
{
    if (!sum->spent) {
        *sum = (replay_curve){c->steps, calloc(400, 8), calloc(400, 8)};
    }
    for (int64_t i = 0; i < c->steps; i++) { sum->spent[i] += c->spent[i] / seeds; sum->error[i] += log(c->error[i]) / seeds; }
}
static void replay_kernel(const hu_frame *all, int seeds, const score_kind *kinds, int methods, gain *sum)
{
    hu_error err = HU_ERROR_NONE;
    replay_curve mean[16]={0};
    for (int s = 1; s <= seeds; s++) {
        hu_frame *pool, *test;
        replay_curve curve[METHODS + 8];
        deal(all, (uint64_t)s, &pool, &test);
        for (int m = 0; m < methods; m++) {
            replay_options o = REPLAY_DEFAULTS;
            o.score.kind = kinds[m];
            o.learner.seed = (uint64_t)s;
            if (getenv("LOG")) o.learner.log = atoi(getenv("LOG"));
            must(replay_run(pool, test, &o, &curve[m], &err), &err);
        }
        for (int m = 1; m < methods; m++) {
            gain g = compare(&curve[0], &curve[m]);
            sum[m].spent += g.spent / seeds;
            sum[m].last += g.last / seeds;
        }
        for (int m = 0; m < methods; m++) add_curve(&mean[m], &curve[m], seeds), replay_free(&curve[m]);
        hu_frame_free(pool);
        hu_frame_free(test);
    }
    for (int m = 0; m < methods; m++) {
        for (int64_t i = 0; i < mean[m].steps; i++) mean[m].error[i] = exp(mean[m].error[i]);
        if (m) { gain g = compare(&mean[0], &mean[m]); sum[m].aspent = g.spent; sum[m].alast = g.last; }
    }
}

void bench_sampling(bench *run, const char *data)
{
    static const char *const kernels[] = {"lu", "mm", "jacobi", "trmm", "correlation", "gemver", "bicgkernel", "stencil3d", "atax"};
    static const score_kind kinds[] = {SCORE_PWU, SCORE_RAND, SCORE_PBU, SCORE_EI, SCORE_CV, SCORE_MAXU, SCORE_BEST};
    int methods = getenv("M") ? atoi(getenv("M")) : 3, seeds = getenv("S")?atoi(getenv("S")):3, count = 0;
    gain total[8] = {0};
    if (!bench_wants(run, "sampling")) return;
    hu_threads_set(0);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        hu_frame *all = load(data, kernels[k]);
        gain g[8] = {0};
        if (!all) continue;
        replay_kernel(all, seeds, kinds, methods, g);
        printf("# %-12s", kernels[k]);
        for (int m = 1; m < methods; m++) printf(" %s %.2f %.2f (%.2f)|", score_names[kinds[m]], exp(g[m].spent), exp(-g[m].last), exp(g[m].aspent));
        printf("\n");
        fflush(stdout);
        hu_frame_free(all);
        if (strcmp(kernels[k], "adi") == 0) continue;
        for (int m = 1; m < methods; m++) {
            total[m].spent += g[m].spent; total[m].aspent += g[m].aspent;
            total[m].last += g[m].last;
        }
        count++;
    }
    printf("# geomean     ");
    for (int m = 1; m < methods; m++) printf(" %s %.2f %.2f (%.2f)|", score_names[kinds[m]], exp(total[m].spent / count), exp(-total[m].last / count), exp(total[m].aspent/count));
    printf("\n");
}
