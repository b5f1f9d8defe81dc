/* replay.c: active sampling with a table in the place of the program that would be measured. */
#include "config.h"
#include "replay.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const hu_frame *pool, *test;
    const replay_options *o;
    hu_random random;
    bool *known;       /* [pool->rows] */
    int64_t *row;      /* [most] measured ones */
    int64_t rows;
    double spent, least;
    int64_t *fast;     /* the fastest test rows */
    int64_t fast_rows;
    double *x;         /* [fast_rows][features] */
    double *mean, *sigma, *score; /* [pool->rows] */
    uint64_t *tie;
} replay;

static int compare_rows(const void *a, const void *b, void *context)
{
    const double *y = context;
    int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    return y[i] != y[k] ? (y[i] > y[k]) - (y[i] < y[k]) : (i > k) - (i < k);
}

static hu_status open_replay(replay *r, hu_error *err)
{
    int64_t n = r->pool->rows, m = r->test->rows, d = r->pool->features;
    if (hu_alloc_zero(n, sizeof *r->known, "replay", (void **)&r->known, err) || hu_alloc(r->o->most, sizeof *r->row, "replay", (void **)&r->row, err) ||
        hu_alloc(m, sizeof *r->fast, "replay", (void **)&r->fast, err) || hu_alloc(m, (size_t)d * sizeof *r->x, "replay", (void **)&r->x, err) ||
        hu_alloc(n + m, sizeof *r->mean, "replay", (void **)&r->mean, err) || hu_alloc(n + m, sizeof *r->sigma, "replay", (void **)&r->sigma, err) ||
        hu_alloc(n, sizeof *r->score, "replay", (void **)&r->score, err) || hu_alloc(n, sizeof *r->tie, "replay", (void **)&r->tie, err))
        return err->status;
    for (int64_t i = 0; i < n; i++) r->tie[i] = hu_random_u64(&r->random);
    for (int64_t i = 0; i < m; i++) r->fast[i] = i;
    qsort_r(r->fast, (size_t)m, sizeof *r->fast, compare_rows, r->test->y);
    r->fast_rows = (int64_t)ceil(r->o->share * (double)m);
    for (int64_t i = 0; i < r->fast_rows; i++) memcpy(r->x + i * d, r->test->x + r->fast[i] * d, (size_t)d * sizeof *r->x);
    r->least = INFINITY;
    return HU_OK;
}

static void close_replay(replay *r)
{
    hu_free(r->known);
    hu_free(r->row);
    hu_free(r->fast);
    hu_free(r->x);
    hu_free(r->mean);
    hu_free(r->sigma);
    hu_free(r->score);
    hu_free(r->tie);
}

static void measure(replay *r, const int64_t *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        r->known[row[i]] = true;
        r->row[r->rows++] = row[i];
        r->spent += r->pool->y[row[i]];
        r->least = fmin(r->least, r->pool->y[row[i]]);
    }
}

/* The measured points as a table. */
static hu_status frame_of(const replay *r, hu_frame **ret_frame, hu_error *err)
{
    const hu_frame *p = r->pool;
    hu_frame *frame;
    if (hu_frame_new(r->rows, p->features, &frame, err)) return err->status;
    for (int32_t f = 0; f < p->features; f++) {
        frame->feature[f].name = strdup(p->feature[f].name);
        for (int64_t i = 0; i < r->rows; i++) frame->column[f][i] = p->column[f][r->row[i]];
    }
    for (int64_t i = 0; i < r->rows; i++) frame->y[i] = p->y[r->row[i]];
    *ret_frame = frame;
    return hu_frame_finish(frame, err);
}

/* The scores of the points that are not measured yet; what is measured does not count among them. */
static hu_status score_unknown(replay *r, hu_error *err)
{
    int64_t n = r->pool->rows, left = 0;
    for (int64_t i = 0; i < n; i++) {
        if (r->known[i]) continue;
        r->mean[left] = r->mean[i];
        r->sigma[left++] = r->sigma[i];
    }
    if (score_rows(&r->o->score, r->mean, r->sigma, left, r->least, r->score, err)) return err->status;
    for (int64_t i = n - 1; i >= 0; i--) r->score[i] = r->known[i] ? -INFINITY : r->score[--left];
    return HU_OK;
}

/* Trains, notes the error, and chooses the next points. */
static hu_status step(replay *r, replay_curve *curve, int64_t *next, int64_t *ret_count, hu_error *err)
{
    hu_frame *frame = NULL;
    learner l = {0};
    double squares = 0.0;
    int64_t want = r->o->most - r->rows < r->o->batch ? r->o->most - r->rows : r->o->batch;
    if (frame_of(r, &frame, err) || learner_train(frame, &r->o->learner, &l, err) || learner_predict(&l, r->x, r->fast_rows, r->mean, r->sigma, err)) goto cleanup;
    for (int64_t i = 0; i < r->fast_rows; i++) squares += (r->mean[i] - r->test->y[r->fast[i]]) * (r->mean[i] - r->test->y[r->fast[i]]);
    curve->spent[curve->steps] = r->spent;
    curve->error[curve->steps++] = sqrt(squares / (double)r->fast_rows);
    if (learner_predict(&l, r->pool->x, r->pool->rows, r->mean, r->sigma, err) || score_unknown(r, err)) goto cleanup;
    *ret_count = score_pick(r->score, r->tie, r->known, r->pool->rows, want, next);
cleanup:
    learner_free(&l);
    hu_frame_free(frame);
    return err->status;
}

hu_status replay_run(const hu_frame *pool, const hu_frame *test, const replay_options *o, replay_curve *curve, hu_error *err)
{
    replay r = {.pool = pool, .test = test, .o = o, .random = hu_random_stream(o->learner.seed, 77)};
    int64_t *next = NULL, count;
    *curve = (replay_curve){0};
    if (open_replay(&r, err) || hu_alloc(o->most, sizeof *next, "replay", (void **)&next, err) || hu_alloc(o->most + 1, sizeof(double), "replay", (void **)&curve->spent, err) ||
        hu_alloc(o->most + 1, sizeof(double), "replay", (void **)&curve->error, err))
        goto cleanup;
    memset(r.score, 0, (size_t)pool->rows * sizeof *r.score);
    count = score_pick(r.score, r.tie, r.known, pool->rows, o->start < o->most ? o->start : o->most, next);
    while (count > 0) {
        measure(&r, next, count);
        if (step(&r, curve, next, &count, err)) break;
    }
cleanup:
    close_replay(&r);
    hu_free(next);
    return err->status;
}

void replay_free(replay_curve *curve)
{
    hu_free(curve->spent);
    hu_free(curve->error);
    *curve = (replay_curve){0};
}

double replay_spent_at(const replay_curve *curve, double level)
{
    for (int64_t i = 0; i < curve->steps; i++)
        if (curve->error[i] <= level) return curve->spent[i];
    return INFINITY;
}

double replay_least_error(const replay_curve *curve)
{
    double least = INFINITY;
    for (int64_t i = 0; i < curve->steps; i++) least = fmin(least, curve->error[i]);
    return least;
}
