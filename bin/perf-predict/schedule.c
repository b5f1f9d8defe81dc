/* schedule.c: the course of jobs on a cluster of GPUs, event by event.
 *
 * Sections: the state, the heap of ends, speed, the queue, placing, the course.
 */
#include "config.h"
#include "schedule.h"
#include "base/memory.h"
#include "room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t *job;         /* [jobs] that run on it */
    int64_t jobs, space;
    int64_t real;         /* their real occupancies, parts */
    double since;         /* when that last changed */
    bool changed;
} gpu_state;

typedef struct {
    double left, rate;    /* seconds of work, and how many of them go by in a second */
    double since, end;    /* when that was so, and when it ends if nothing changes */
    int64_t at;           /* in the heap */
    int64_t demand;       /* parts of each GPU, as the policy counts them */
    int32_t class;
    int32_t rank;         /* in the policy's order */
} job_state;

typedef struct {
    const sim_cluster *cluster;
    const sim_jobs *jobs;
    const sim_interference *curves;
    schedule_policy policy;
    int64_t cap;          /* parts */
    schedule *result;
    job_state *job;       /* [jobs] */
    gpu_state *gpu;       /* [GPUs] */
    int32_t *changed;     /* [GPUs] those whose jobs changed at this time */
    int32_t changes;
    int32_t *heap;        /* [jobs] that run, the first to end first */
    int64_t running, waiting;
    int32_t *arrival;     /* [jobs] in the order of arrival */
    int32_t *of_rank;     /* [jobs] */
    int32_t classes;
    int32_t *wanted;      /* [classes] GPUs */
    tournament *queue;    /* [classes] by rank: minus the demand of jobs that wait */
    room room;
} course;

static bool is_shared(schedule_policy p)
{
    return p == POLICY_PACK || p == POLICY_BESTFIT || p == POLICY_OCC;
}

static bool is_tight(schedule_policy p)
{
    return p == POLICY_BESTFIT || p == POLICY_OCC;
}

/* ---- the heap of ends ------------------------------------------------------------------------------------------------- */

static bool is_before(const course *c, int32_t a, int32_t b)
{
    if (c->job[a].end != c->job[b].end) return c->job[a].end < c->job[b].end;
    return a < b;
}

static void heap_put(course *c, int64_t at, int32_t job)
{
    c->heap[at] = job;
    c->job[job].at = at;
}

/* Moves a job whose end has changed to its place. */
static void heap_fix(course *c, int32_t job)
{
    int64_t at = c->job[job].at;
    for (; at > 0 && is_before(c, job, c->heap[(at - 1) / 2]); at = (at - 1) / 2) heap_put(c, at, c->heap[(at - 1) / 2]);
    for (int64_t child; (child = 2 * at + 1) < c->running; at = child) {
        if (child + 1 < c->running && is_before(c, c->heap[child + 1], c->heap[child])) child++;
        if (!is_before(c, c->heap[child], job)) break;
        heap_put(c, at, c->heap[child]);
    }
    heap_put(c, at, job);
}

static int32_t heap_take(course *c)
{
    int32_t first = c->heap[0], last = c->heap[--c->running];
    if (c->running > 0) {
        heap_put(c, 0, last);
        heap_fix(c, last);
    }
    return first;
}

/* ---- speed -------------------------------------------------------------------------------------------------------------- */

/* Adds up what a GPU did since its jobs last changed. */
static void account(course *c, gpu_state *g, double now)
{
    double span = now - g->since;
    schedule *s = c->result;
    g->since = now;
    if (g->jobs == 0 || !(span > 0)) return;
    s->busy += span;
    s->used += span * (g->real < SHARE ? (double)g->real / SHARE : 1.0);
    if (g->real > c->cap) s->over += span;
}

static void change(course *c, int32_t gpu, double now)
{
    account(c, &c->gpu[gpu], now);
    if (c->gpu[gpu].changed) return;
    c->gpu[gpu].changed = true;
    c->changed[c->changes++] = gpu;
}

static double slowdown_on(const course *c, const sim_job *j, const gpu_state *g)
{
    if (j->curve >= 0) return curve_slowdown(&c->curves->curve[j->curve], (double)(g->real - j->real) / SHARE);
    return g->real > SHARE ? (double)g->real / SHARE : 1.0;
}

/* A job at the speed that its GPUs allow from now on. Where that stays what it was, its end stays to the bit. */
static void set_speed(course *c, int32_t number, double now)
{
    const sim_job *j = &c->jobs->job[number];
    job_state *s = &c->job[number];
    double slowest = 1.0;
    for (int32_t k = 0; k < j->gpus; k++) {
        double slowdown = slowdown_on(c, j, &c->gpu[c->result->placement[number].gpu[k]]);
        if (slowdown > slowest) slowest = slowdown;
    }
    double rate = 1.0 / slowest;
    if (rate == s->rate) return;
    s->left -= (now - s->since) * s->rate;
    if (s->left < 0) s->left = 0;
    s->since = now;
    s->rate = rate;
    s->end = now + s->left * slowest;
    heap_fix(c, number);
}

static void settle(course *c, double now)
{
    for (int32_t k = 0; k < c->changes; k++) {
        gpu_state *g = &c->gpu[c->changed[k]];
        double load = (double)g->real / SHARE;
        g->changed = false;
        if (load > c->result->most) c->result->most = load;
        for (int64_t i = 0; i < g->jobs; i++) set_speed(c, g->job[i], now);
    }
    c->changes = 0;
}

/* ---- the queue ------------------------------------------------------------------------------------------------------------ */

static void enqueue(course *c, int32_t number)
{
    job_state *s = &c->job[number];
    tournament_set(&c->queue[s->class], s->rank, -s->demand);
    if (++c->waiting > c->result->queued) c->result->queued = c->waiting;
}

/* The next job that the policy starts, or -1: the first in its order of those that find room; of fifo the first of all, where it finds some. */
static int32_t next_job(const course *c)
{
    int64_t best = INT64_MAX;
    for (int32_t k = 0; k < c->classes; k++) {
        int64_t most = room_most(&c->room, k);
        if (most <= 0 && c->policy != POLICY_FIFO) continue;
        int64_t rank = tournament_first(&c->queue[k], c->policy == POLICY_FIFO ? INT64_MIN + 1 : -most);
        if (rank >= 0 && rank < best) best = rank;
    }
    if (best == INT64_MAX) return -1;
    int32_t number = c->of_rank[best];
    return c->job[number].demand <= room_most(&c->room, c->job[number].class) ? number : -1;
}

/* ---- placing ---------------------------------------------------------------------------------------------------------------- */

static hu_status start_job(course *c, int32_t number, double now, hu_error *err)
{
    const sim_job *j = &c->jobs->job[number];
    job_state *s = &c->job[number];
    placement *p = &c->result->placement[number];
    tournament_set(&c->queue[s->class], s->rank, INT64_MIN);
    c->waiting--;
    p->node = is_tight(c->policy) ? room_tightest(&c->room, s->class, s->demand) : room_first(&c->room, s->class, s->demand);
    room_choose(&c->room, p->node, j->gpus, s->demand, is_tight(c->policy), p->gpu);
    for (int32_t k = 0; k < j->gpus; k++) {
        gpu_state *g = &c->gpu[p->gpu[k]];
        if (hu_grow((void **)&g->job, &g->space, g->jobs + 1, sizeof *g->job, "jobs of a GPU", err)) return err->status;
        change(c, p->gpu[k], now);
        g->job[g->jobs++] = number;
        g->real += j->real;
        c->room.left[p->gpu[k]] -= s->demand;
    }
    room_changed(&c->room, p->node);
    p->start = s->since = now;
    s->left = j->duration;
    s->rate = 1.0;
    s->end = now + j->duration;
    s->at = c->running++;
    heap_fix(c, number);
    return HU_OK;
}

static void end_job(course *c, int32_t number, double now)
{
    const sim_job *j = &c->jobs->job[number];
    placement *p = &c->result->placement[number];
    p->end = now;
    for (int32_t k = 0; k < j->gpus; k++) {
        gpu_state *g = &c->gpu[p->gpu[k]];
        int64_t i = 0;
        change(c, p->gpu[k], now);
        while (g->job[i] != number) i++;
        memmove(g->job + i, g->job + i + 1, (size_t)(--g->jobs - i) * sizeof *g->job);
        g->real -= j->real;
        c->room.left[p->gpu[k]] += c->job[number].demand;
    }
    room_changed(&c->room, p->node);
}

/* ---- the course ---------------------------------------------------------------------------------------------------------------- */

/* The order of arrival, and of equals that of the table. */
typedef struct {
    double submit;
    int64_t demand;
    int32_t number;
} order;

static int by_arrival(const void *a, const void *b)
{
    const order *p = a, *q = b;
    if (p->submit != q->submit) return p->submit < q->submit ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

static int by_demand(const void *a, const void *b)
{
    const order *p = a, *q = b;
    if (p->demand != q->demand) return p->demand > q->demand ? -1 : 1;
    return by_arrival(a, b);
}

static hu_status set_orders(course *c, hu_error *err)
{
    int64_t n = c->jobs->jobs;
    order *o;
    if (hu_alloc(n, sizeof *o, "jobs", (void **)&o, err)) return err->status;
    for (int32_t k = 0; k < n; k++) o[k] = (order){c->jobs->job[k].submit, c->job[k].demand, k};
    qsort(o, (size_t)n, sizeof *o, by_arrival);
    for (int64_t k = 0; k < n; k++) c->arrival[k] = o[k].number;
    if (c->policy == POLICY_OCC) qsort(o, (size_t)n, sizeof *o, by_demand);
    for (int32_t k = 0; k < n; k++) {
        c->of_rank[k] = o[k].number;
        c->job[o[k].number].rank = k;
    }
    hu_free(o);
    return HU_OK;
}

/* A class for each number of GPUs that a job wants and a node has. */
static hu_status set_classes(course *c, hu_error *err)
{
    int32_t *class;
    if (hu_alloc_zero(c->cluster->most + 1, sizeof *class, "classes", (void **)&class, err) || hu_alloc(c->cluster->most, sizeof *c->wanted, "classes", (void **)&c->wanted, err)) goto cleanup;
    for (int64_t k = 0; k < c->jobs->jobs; k++)
        if (c->jobs->job[k].gpus <= c->cluster->most) class[c->jobs->job[k].gpus] = 1;
    for (int32_t g = 1; g <= c->cluster->most; g++) {
        if (!class[g]) continue;
        class[g] = c->classes;
        c->wanted[c->classes++] = g;
    }
    for (int64_t k = 0; k < c->jobs->jobs; k++) {
        int32_t gpus = c->jobs->job[k].gpus;
        c->job[k].class = gpus <= c->cluster->most ? class[gpus] : -1;
        c->job[k].demand = is_shared(c->policy) ? c->jobs->job[k].occupancy : c->cap;
    }
    if (hu_alloc_zero(c->classes, sizeof *c->queue, "queues", (void **)&c->queue, err)) goto cleanup;
    for (int32_t k = 0; k < c->classes; k++)
        if (tournament_open(c->jobs->jobs, &c->queue[k], err)) goto cleanup;
cleanup:
    hu_free(class);
    return err->status;
}

static hu_status open_result(course *c, hu_error *err)
{
    schedule *s = c->result;
    int64_t total = 0, n = c->jobs->jobs;
    for (int64_t k = 0; k < n; k++) total += c->job[k].class >= 0 ? c->jobs->job[k].gpus : 0;
    if (hu_alloc(n, sizeof *s->placement, "jobs", (void **)&s->placement, err) || hu_alloc(total, sizeof *s->gpus, "GPUs of jobs", (void **)&s->gpus, err)) return err->status;
    total = 0;
    for (int64_t k = 0; k < n; k++) {
        s->placement[k] = (placement){NAN, NAN, -1, s->gpus + total};
        total += c->job[k].class >= 0 ? c->jobs->job[k].gpus : 0;
    }
    return HU_OK;
}

static hu_status open_course(course *c, hu_error *err)
{
    int64_t n = c->jobs->jobs, gpus = c->cluster->gpus;
    if (hu_alloc_zero(n, sizeof *c->job, "jobs", (void **)&c->job, err) || hu_alloc_zero(gpus, sizeof *c->gpu, "GPUs", (void **)&c->gpu, err) ||
        hu_alloc(gpus, sizeof *c->changed, "GPUs", (void **)&c->changed, err) || hu_alloc(n, sizeof *c->heap, "jobs", (void **)&c->heap, err) ||
        hu_alloc(n, sizeof *c->arrival, "jobs", (void **)&c->arrival, err) || hu_alloc(n, sizeof *c->of_rank, "jobs", (void **)&c->of_rank, err) || set_classes(c, err) || set_orders(c, err) ||
        open_result(c, err))
        return err->status;
    return room_open(c->cluster, c->cap, c->wanted, c->classes, is_tight(c->policy), &c->room, err);
}

static void close_course(course *c)
{
    for (int32_t g = 0; c->gpu && g < c->cluster->gpus; g++) free(c->gpu[g].job);
    for (int32_t k = 0; c->queue && k < c->classes; k++) tournament_close(&c->queue[k]);
    room_close(&c->room);
    hu_free(c->queue);
    hu_free(c->wanted);
    hu_free(c->of_rank);
    hu_free(c->arrival);
    hu_free(c->heap);
    hu_free(c->changed);
    hu_free(c->gpu);
    hu_free(c->job);
}

/* Time goes from event to event: at each, first who ends leaves, then who comes queues, then the policy starts what it can. */
static hu_status run(course *c, hu_error *err)
{
    int64_t n = c->jobs->jobs, come = 0;
    double now = 0.0;
    while (come < n || c->running > 0) {
        double arrives = come < n ? c->jobs->job[c->arrival[come]].submit : INFINITY;
        now = c->running > 0 && c->job[c->heap[0]].end < arrives ? c->job[c->heap[0]].end : arrives;
        while (c->running > 0 && c->job[c->heap[0]].end <= now) end_job(c, heap_take(c), now);
        for (; come < n && c->jobs->job[c->arrival[come]].submit <= now; come++) {
            int32_t number = c->arrival[come];
            if (c->job[number].class < 0 || c->job[number].demand > c->cap) c->result->never++;
            else enqueue(c, number);
        }
        for (int32_t number; (number = next_job(c)) >= 0;)
            if (start_job(c, number, now, err)) return err->status;
        settle(c, now);
    }
    return HU_OK;
}

static void summarise(const course *c)
{
    schedule *s = c->result;
    double last = -INFINITY;
    for (int64_t k = 0; k < c->jobs->jobs; k++)
        if (s->placement[k].end > last) last = s->placement[k].end;
    s->makespan = isinf(last) ? NAN : last - c->jobs->job[c->arrival[0]].submit;
    double all = s->makespan * c->cluster->gpus;
    s->used = all > 0 ? s->used / all : NAN;
    s->busy = all > 0 ? s->busy / all : NAN;
}

hu_status schedule_run(const sim_cluster *cluster, const sim_jobs *jobs, const sim_interference *curves, schedule_policy policy, double cap, schedule *ret_schedule, hu_error *err)
{
    course c = {.cluster = cluster, .jobs = jobs, .curves = curves, .policy = policy, .cap = llrint(cap * SHARE), .result = ret_schedule};
    *ret_schedule = (schedule){0};
    if (open_course(&c, err) == HU_OK && run(&c, err) == HU_OK) summarise(&c);
    close_course(&c);
    if (err->status) schedule_free(ret_schedule);
    return err->status;
}

void schedule_free(schedule *s)
{
    hu_free(s->placement);
    hu_free(s->gpus);
    *s = (schedule){0};
}
