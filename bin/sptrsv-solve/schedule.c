/* schedule.c: who solves what, when.
 *
 * Sections: nodes and levels, groups and shares, the execution order, waits, making it, checking one from outside.
 */
#include "config.h"
#include "schedule.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static hu_status alloc(int64_t count, size_t size, const char *what, void *ret, hu_error *err)
{
    return hu_alloc(count, size, what, (void **)ret, err);
}

/* ---- nodes and levels ------------------------------------------------------------------------------------------- */

/* Whether step s refers to step s - 1. Its last entry is the row solved last. */
static inline bool refers_to_previous(const sptrsv_system *a, int64_t step)
{
    int64_t row = sptrsv_step_row(a, step), k = a->count[row];
    return step > 0 && k > 0 && a->matrix->col[a->first[row] + (k - 1) * a->stride] == sptrsv_step_row(a, step - 1);
}

hu_status sptrsv_nodes_of(const sptrsv_system *a, sptrsv_node node, int32_t rows, int32_t **ret_first, int64_t *ret_nodes, hu_error *err)
{
    *ret_first = NULL;
    *ret_nodes = a->n;
    if (node == SPTRSV_NODE_ROW || rows <= 1) return HU_OK;
    int32_t *first;
    if (alloc(a->n + 1, sizeof *first, "nodes", &first, err)) return err->status;
    int64_t nodes = 0;
    for (int64_t step = 0, length = 0; step < a->n; step++, length++) {
        bool on = step > 0 && length < rows && (node == SPTRSV_NODE_BLOCK || refers_to_previous(a, step));
        if (on) continue;
        first[nodes++] = (int32_t)step;
        length = 0;
    }
    first[nodes] = (int32_t)a->n;
    *ret_first = first;
    *ret_nodes = nodes;
    return HU_OK;
}

hu_status sptrsv_levels_of(const sptrsv_system *a, const int32_t *first, int64_t nodes, int32_t **ret_level, int32_t *ret_levels, hu_error *err)
{
    int32_t *level, *level_of_row = NULL, most = -1;
    *ret_level = NULL;
    if (alloc(nodes, sizeof *level, "levels", &level, err)) return err->status;
    if (alloc(a->n, sizeof *level_of_row, "levels of rows", &level_of_row, err)) {
        hu_free(level);
        return err->status;
    }
    for (int64_t node = 0; node < nodes; node++) {
        int64_t from = first ? first[node] : node, to = first ? first[node + 1] : node + 1;
        int32_t here = 0;
        for (int64_t step = from; step < to; step++) {
            int64_t row = sptrsv_step_row(a, step);
            const int32_t *col = a->matrix->col + a->first[row];
            for (int64_t k = 0, stride = a->stride; k < a->count[row]; k++) {
                int32_t there = level_of_row[col[k * stride]] + 1;
                here = there > here ? there : here;
            }
            if (first) level_of_row[row] = -1; /* rows of this node do not count among themselves: -1 + 1 is the least level */
            else level_of_row[row] = here;
        }
        if (first)
            for (int64_t step = from; step < to; step++) level_of_row[sptrsv_step_row(a, step)] = here;
        level[node] = here;
        if (here > most) most = here;
    }
    hu_free(level_of_row);
    *ret_level = level;
    *ret_levels = most + 1;
    return HU_OK;
}

/* ---- groups and shares ------------------------------------------------------------------------------------------ */

/* What making a schedule needs besides the schedule. */
typedef struct {
    const sptrsv_system *system;
    sptrsv_schedule *s;
    int32_t *first;       /* of nodes; NULL: rows */
    int32_t *level;       /* [nodes] */
    int32_t *sorted;      /* [nodes] by level, ascending within a level */
    int64_t *level_start; /* [levels + 1] in sorted */
    int32_t *group_level; /* [groups + 1] first level of a group */
    int64_t *share;       /* [groups][threads + 1] first node in sorted of each thread's share */
    int32_t block_rows;   /* blocks of this many rows are sorted within; 0: not */
    int32_t *code;        /* [n] by row: task number in its thread << bits | thread */
    int bits;
} maker;

static int64_t node_rows(const maker *m, int64_t node)
{
    return m->first ? m->first[node + 1] - m->first[node] : 1;
}

/* Entries, and 4 for what a row costs besides. */
static int64_t node_work(const maker *m, int64_t node)
{
    int64_t from = m->first ? m->first[node] : node, to = m->first ? m->first[node + 1] : node + 1, work = 0;
    for (int64_t step = from; step < to; step++) work += m->system->count[sptrsv_step_row(m->system, step)] + 4;
    return work;
}

/* Counting sort of the nodes by level. */
static hu_status sort_nodes(maker *m, hu_error *err)
{
    int64_t levels = m->s->levels, nodes = m->s->nodes;
    if (alloc(nodes, sizeof *m->sorted, "sorted nodes", &m->sorted, err)) return err->status;
    void *block;
    if (hu_alloc_zero(levels + 2, sizeof *m->level_start, "level starts", &block, err)) return err->status;
    m->level_start = block;
    for (int64_t i = 0; i < nodes; i++) m->level_start[m->level[i] + 2]++;
    for (int64_t l = 0; l < levels; l++) m->level_start[l + 2] += m->level_start[l + 1];
    for (int64_t i = 0; i < nodes; i++) m->sorted[m->level_start[m->level[i] + 1]++] = (int32_t)i;
    return HU_OK;
}

/* Splits level sets over the threads by work, and gives runs of narrow ones to thread 0. */
static hu_status share_levels(maker *m, int32_t merge, hu_error *err)
{
    int threads = m->s->threads;
    int64_t levels = m->s->levels, groups = 0, slots;
    if (alloc(levels + 1, sizeof *m->group_level, "groups", &m->group_level, err)) return err->status;
    if (!hu_mul_size(levels, threads + 1, &slots)) return hu_fail(err, HU_SYSTEM, "too many levels");
    if (alloc(slots, sizeof *m->share, "shares", &m->share, err)) return err->status;
    bool was_narrow = false;
    for (int64_t l = 0; l < levels; l++) {
        int64_t from = m->level_start[l], to = m->level_start[l + 1], work = 0;
        for (int64_t i = from; i < to; i++) work += node_work(m, m->sorted[i]);
        bool narrow = threads == 1 || work < merge;
        if (narrow && was_narrow) {
            int64_t *share = m->share + (groups - 1) * (threads + 1);
            for (int t = 1; t <= threads; t++) share[t] = to;
            continue;
        }
        int64_t *share = m->share + groups * (threads + 1);
        m->group_level[groups++] = (int32_t)l;
        was_narrow = narrow;
        share[0] = from;
        for (int t = 1; t <= threads; t++) share[t] = to;
        if (narrow) continue;
        int64_t done = 0, i = from;
        for (int t = 1; t < threads; t++) {
            for (; i < to && done * threads < work * t; i++) done += node_work(m, m->sorted[i]);
            share[t] = i;
        }
    }
    m->group_level[groups] = (int32_t)levels;
    m->s->groups = (int32_t)groups;
    return HU_OK;
}

/* ---- the execution order ---------------------------------------------------------------------------------------- */

/* Rows of like length together, so that loops need not guess where a row ends: a stable counting sort of one level's rows. */
static void sort_by_length(const sptrsv_system *a, int32_t *step, int64_t n, int32_t *scratch)
{
    enum { MOST = 256 };
    int64_t start[MOST + 1] = {0};
    bool sorted = true;
    int32_t before = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t k = (int32_t)least(a->count[sptrsv_step_row(a, step[i])], MOST - 1);
        start[k + 1]++;
        sorted &= k >= before;
        before = k;
    }
    if (sorted) return;
    for (int k = 0; k < MOST; k++) start[k + 1] += start[k];
    memcpy(scratch, step, (size_t)n * sizeof *step);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = least(a->count[sptrsv_step_row(a, scratch[i])], MOST - 1);
        step[start[k]++] = scratch[i];
    }
}

/* Sorts the rows of a block by level within the block, and by length within a level. Few of a block's entries lie in the block where the band is
 * wide, so that a block becomes a few long runs of independent rows of one length, and yet all its rows of b and x stay in the first cache.
 * work: 4 n + 32 numbers. */
static void sort_block(const sptrsv_system *a, int32_t *step, int64_t n, int32_t *work)
{
    enum { LENGTHS = 16 }; /* longer rows go together */
    int64_t first = step[0], low = sptrsv_step_row(a, first), sign = a->ascending ? 1 : -1;
    int32_t most = 0, *scratch = work, *level = work + n, *start = work + 2 * n;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = low + sign * i, stride = a->stride;
        const int32_t *col = a->matrix->col + a->first[row];
        int32_t here = 0;
        for (int64_t k = a->count[row] - 1; k >= 0; k--) { /* the nearest first: the others lie before the block once one does */
            int64_t at = sign * (col[k * stride] - low);
            if (at < 0) break;
            here = level[at] >= here ? level[at] + 1 : here;
        }
        level[i] = here;
        most = here > most ? here : most;
    }
    if (most >= n / 8 - 1) return; /* too few rows a level */
    memset(start, 0, (size_t)((most + 1) * LENGTHS + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++) start[level[i] * LENGTHS + least(a->count[low + sign * i], LENGTHS - 1) + 1]++;
    for (int64_t k = 0; k < (most + 1) * LENGTHS; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++) scratch[start[level[i] * LENGTHS + least(a->count[low + sign * i], LENGTHS - 1)]++] = (int32_t)(first + i);
    memcpy(step, scratch, (size_t)n * sizeof *step);
}

/* Writes the steps of a thread's tasks in order and their codes. */
static void order_thread(maker *m, int t, int32_t *scratch, int32_t *work)
{
    sptrsv_schedule *s = m->s;
    const sptrsv_system *a = m->system;
    int64_t task = s->thread_task[t];
    for (int32_t g = 0; g < s->groups; g++) {
        const int64_t *share = m->share + (int64_t)g * (s->threads + 1);
        if (share[t] == share[t + 1]) continue;
        int64_t at = s->task_start[task];
        s->task_group[task] = g;
        for (int32_t l = m->group_level[g]; l < m->group_level[g + 1]; l++) {
            int64_t from = m->level_start[l] > share[t] ? m->level_start[l] : share[t], to = least(m->level_start[l + 1], share[t + 1]);
            int64_t start = at;
            for (int64_t i = from; i < to; i++) {
                int32_t node = m->sorted[i];
                int64_t block = at;
                if (!m->first) s->order[at++] = node;
                else for (int32_t step = m->first[node]; step < m->first[node + 1]; step++) s->order[at++] = step;
                if (m->block_rows > 0) sort_block(a, s->order + block, at - block, work);
            }
            if (!m->first && at - start >= 8) sort_by_length(a, s->order + start, at - start, scratch + start);
        }
        if (m->code) {
            int32_t code = (int32_t)(task - s->thread_task[t]) << m->bits | t;
            for (int64_t i = s->task_start[task]; i < at; i++) m->code[sptrsv_step_row(a, s->order[i])] = code;
        }
        task++;
    }
}

/* Counts tasks and their rows, then writes the order. */
static hu_status make_order(maker *m, hu_error *err)
{
    sptrsv_schedule *s = m->s;
    int threads = s->threads;
    if (alloc(threads + 1, sizeof *s->thread_task, "tasks", &s->thread_task, err)) return err->status;
    s->tasks = 0;
    for (int t = 0; t < threads; t++) {
        s->thread_task[t] = s->tasks;
        for (int32_t g = 0; g < s->groups; g++) {
            const int64_t *share = m->share + (int64_t)g * (threads + 1);
            s->tasks += share[t] < share[t + 1];
        }
    }
    s->thread_task[threads] = s->tasks;
    if (alloc(s->tasks + 1, sizeof *s->task_start, "tasks", &s->task_start, err)) return err->status;
    if (alloc(s->tasks, sizeof *s->task_group, "tasks", &s->task_group, err)) return err->status;
    if (alloc(s->n, sizeof *s->order, "the execution order", &s->order, err)) return err->status;
    int64_t task = 0, rows = 0;
    for (int t = 0; t < threads; t++)
        for (int32_t g = 0; g < s->groups; g++) {
            const int64_t *share = m->share + (int64_t)g * (threads + 1);
            if (share[t] == share[t + 1]) continue;
            s->task_start[task++] = rows;
            if (!m->first) rows += share[t + 1] - share[t];
            else for (int64_t i = share[t]; i < share[t + 1]; i++) rows += node_rows(m, m->sorted[i]);
        }
    s->task_start[task] = rows;
    int64_t most = 0;
    for (int t = 0; t < threads; t++)
        if (s->thread_task[t + 1] - s->thread_task[t] > most) most = s->thread_task[t + 1] - s->thread_task[t];
    if (threads > 1 && most > INT32_MAX >> m->bits)
        return hu_fail(err, HU_SYSTEM, "the schedule has too many tasks; merge more levels (--scheme=merge:N)");
    if (threads > 1 && alloc(s->n, sizeof *m->code, "tasks of rows", &m->code, err)) return err->status;
    int32_t *scratch = NULL, *work = NULL;
    int64_t work_size = m->block_rows > 0 ? 4 * (int64_t)m->block_rows + 32 : 0;
    if (alloc(threads * work_size, sizeof *work, "sorting", &work, err)) return err->status;
    if (!m->first && alloc(s->n, sizeof *scratch, "sorting", &scratch, err)) {
        hu_free(work);
        return err->status;
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (s->n > 20000)
    for (int t = 0; t < threads; t++) order_thread(m, t, scratch, work + t * work_size);
    hu_free(scratch);
    hu_free(work);
    return HU_OK;
}

/* ---- waits ------------------------------------------------------------------------------------------------------ */

/* need[task][u]: how many tasks of thread u must be done before; from the entries. */
static void find_needs(const maker *m, int t, int32_t *need)
{
    const sptrsv_schedule *s = m->s;
    const sptrsv_system *a = m->system;
    int32_t mask = (1 << m->bits) - 1;
    for (int64_t task = s->thread_task[t]; task < s->thread_task[t + 1]; task++) {
        int32_t *here = need + task * s->threads;
        memset(here, 0, (size_t)s->threads * sizeof *here);
        for (int64_t i = s->task_start[task]; i < s->task_start[task + 1]; i++) {
            int64_t row = sptrsv_step_row(a, s->order[i]), count = a->count[row], stride = a->stride;
            const int32_t *col = a->matrix->col + a->first[row];
            for (int64_t k = 0; k < count; k++) {
                int32_t code = m->code[col[k * stride]], u = code & mask, done = (code >> m->bits) + 1;
                if (u != t && done > here[u]) here[u] = done;
            }
        }
    }
}

/* Turns needs into waits, group by group. clock[task][u] ends as the number of u's tasks that are done once the task is; it takes the place
 * of need. A need is dropped where the thread's own past, or another need's clock, covers it. */
static void reduce_needs(sptrsv_schedule *s, int32_t *clock, int64_t *next, int64_t *depth, sptrsv_wait *wait, int64_t *longest)
{
    int threads = s->threads;
    for (int t = 0; t < threads; t++) next[t] = s->thread_task[t];
    *longest = 0;
    for (int32_t g = 0; g < s->groups; g++)
        for (int t = 0; t < threads; t++) {
            int64_t task = next[t];
            if (task == s->thread_task[t + 1] || s->task_group[task] != g) continue;
            next[t]++;
            int32_t *here = clock + task * threads, need[SPTRSV_MOST_THREADS];
            bool started = task > s->thread_task[t];
            memcpy(need, here, (size_t)threads * sizeof *need);
            if (started) memcpy(here, here - threads, (size_t)threads * sizeof *here);
            else memset(here, 0, (size_t)threads * sizeof *here);
            depth[task] = started ? depth[task - 1] + 1 : 1;
            sptrsv_wait *mine = wait + task * threads;
            int count = 0;
            for (int u = 0; u < threads; u++) {
                if (u == t || need[u] <= here[u]) continue;
                bool implied = false;
                for (int w = 0; w < threads && !implied; w++)
                    implied = w != u && w != t && need[w] > 0 && clock[(s->thread_task[w] + need[w] - 1) * threads + u] >= need[u];
                if (!implied) mine[count++] = (sptrsv_wait){u, need[u]};
            }
            for (int i = 0; i < count; i++) {
                int64_t other = s->thread_task[mine[i].thread] + mine[i].count - 1;
                for (int u = 0; u < threads; u++)
                    if (clock[other * threads + u] > here[u]) here[u] = clock[other * threads + u];
                if (depth[other] + 1 > depth[task]) depth[task] = depth[other] + 1;
            }
            here[t] = (int32_t)(task - s->thread_task[t]) + 1;
            for (int i = count; i < threads; i++) mine[i].count = 0;
            if (depth[task] > *longest) *longest = depth[task];
        }
}

static hu_status make_waits(maker *m, hu_error *err)
{
    sptrsv_schedule *s = m->s;
    int threads = s->threads;
    int32_t *clock = NULL;
    int64_t *next = NULL, *depth = NULL, slots;
    sptrsv_wait *wait = NULL;
    if (!hu_mul_size(s->tasks, threads, &slots)) return hu_fail(err, HU_SYSTEM, "too many tasks");
    if (alloc(slots, sizeof *clock, "clocks", &clock, err) || alloc(slots, sizeof *wait, "waits", &wait, err) ||
        alloc(threads, sizeof *next, "clocks", &next, err) || alloc(s->tasks, sizeof *depth, "depths", &depth, err) ||
        alloc(s->tasks + 1, sizeof *s->wait_start, "waits", &s->wait_start, err))
        goto cleanup;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (s->n > 20000)
    for (int t = 0; t < threads; t++) find_needs(m, t, clock);
    reduce_needs(s, clock, next, depth, wait, &s->longest_path);
    for (int64_t i = 0; i < slots; i++) s->waits += wait[i].count > 0;
    if (alloc(s->waits, sizeof *s->wait, "waits", &s->wait, err)) goto cleanup;
    s->waits = 0;
    for (int64_t task = 0; task < s->tasks; task++) {
        s->wait_start[task] = s->waits;
        for (int i = 0; i < threads && wait[task * threads + i].count > 0; i++) s->wait[s->waits++] = wait[task * threads + i];
    }
    s->wait_start[s->tasks] = s->waits;
cleanup:
    hu_free(clock);
    hu_free(wait);
    hu_free(next);
    hu_free(depth);
    return err->status;
}

/* ---- making it -------------------------------------------------------------------------------------------------- */

static hu_status make_natural(sptrsv_schedule *s, hu_error *err)
{
    if (alloc(2, sizeof *s->thread_task, "tasks", &s->thread_task, err) || alloc(2, sizeof *s->task_start, "tasks", &s->task_start, err))
        return err->status;
    s->tasks = s->longest_path = s->groups = 1;
    s->nodes = s->n;
    s->thread_task[0] = s->task_start[0] = 0;
    s->thread_task[1] = 1;
    s->task_start[1] = s->n;
    return HU_OK;
}

hu_status sptrsv_schedule_new(const sptrsv_system *a, const sptrsv_scheme *scheme, int threads, sptrsv_schedule **ret_schedule, hu_error *err)
{
    maker m = {.system = a};
    void *block;
    *ret_schedule = NULL;
    if (threads < 1 || threads > SPTRSV_MOST_THREADS)
        return hu_fail(err, HU_USAGE, "%d threads: from 1 to %d are possible", threads, SPTRSV_MOST_THREADS);
    if (hu_alloc_zero(1, sizeof *m.s, "the schedule", &block, err)) return err->status;
    sptrsv_schedule *s = m.s = block;
    s->n = a->n;
    s->threads = threads;
    while (1 << m.bits < threads) m.bits++;
    int32_t levels = 0, merge = scheme->kind == SPTRSV_BARRIER ? 0 : scheme->merge;
    if (scheme->kind == SPTRSV_SERIAL || a->n == 0) {
        s->threads = 1;
        if (make_natural(s, err)) goto failed;
        *ret_schedule = s;
        return HU_OK;
    }
    if (sptrsv_nodes_of(a, scheme->node, scheme->rows, &m.first, &s->nodes, err)) goto failed;
    if (sptrsv_levels_of(a, m.first, s->nodes, &m.level, &levels, err)) goto failed;
    s->levels = levels;
    if (scheme->node == SPTRSV_NODE_BLOCK && scheme->rows >= SPTRSV_SORTED_BLOCK && !scheme->super) m.block_rows = scheme->rows;
    if (sort_nodes(&m, err) || share_levels(&m, merge, err) || make_order(&m, err)) goto failed;
    s->longest_path = 1;
    if (threads > 1 && make_waits(&m, err)) goto failed;
    *ret_schedule = s;
    s = NULL;
failed:
    hu_free(m.first);
    hu_free(m.level);
    hu_free(m.sorted);
    hu_free(m.level_start);
    hu_free(m.group_level);
    hu_free(m.share);
    hu_free(m.code);
    sptrsv_schedule_free(s);
    return err->status;
}

void sptrsv_schedule_free(sptrsv_schedule *s)
{
    if (!s) return;
    hu_free(s->order);
    hu_free(s->thread_task);
    hu_free(s->task_start);
    hu_free(s->task_group);
    hu_free(s->wait_start);
    hu_free(s->wait);
    hu_free(s);
}

/* ---- checking one from outside ---------------------------------------------------------------------------------- */

static hu_status misfit(hu_error *err, const char *name, const char *why)
{
    return hu_fail(err, (hu_status)SPTRSV_PLAN_MISFIT, "%s: the plan is damaged: %s", name, why);
}

/* Bounds, ascending lists, and waits for earlier groups only, which makes the graph of tasks acyclic. */
static const char *find_bad_numbers(const sptrsv_schedule *s)
{
    int threads = s->threads;
    if (s->groups < 1 || s->groups > s->tasks) return "the number of task groups";
    if (s->thread_task[0] != 0 || s->thread_task[threads] != s->tasks) return "tasks of threads";
    for (int t = 0; t < threads; t++)
        if (s->thread_task[t] > s->thread_task[t + 1] || s->thread_task[t + 1] > s->tasks) return "tasks of threads";
    if (s->task_start[0] != 0 || s->task_start[s->tasks] != s->n || s->wait_start[0] != 0 || s->wait_start[s->tasks] != s->waits)
        return "task positions";
    for (int t = 0; t < threads; t++)
        for (int64_t task = s->thread_task[t]; task < s->thread_task[t + 1]; task++) {
            if (s->task_start[task] > s->task_start[task + 1] || s->task_start[task + 1] > s->n) return "task positions";
            if (s->wait_start[task] > s->wait_start[task + 1] || s->wait_start[task + 1] > s->waits) return "wait positions";
            if (s->task_group[task] < 0 || s->task_group[task] >= s->groups) return "task groups";
            if (task > s->thread_task[t] && s->task_group[task - 1] >= s->task_group[task]) return "the order of task groups";
        }
    for (int t = 0; t < threads; t++)
        for (int64_t task = s->thread_task[t]; task < s->thread_task[t + 1]; task++)
            for (int64_t w = s->wait_start[task]; w < s->wait_start[task + 1]; w++) {
                sptrsv_wait wait = s->wait[w];
                if (wait.thread < 0 || wait.thread >= threads || wait.thread == t) return "a wait's thread";
                int64_t first = s->thread_task[wait.thread];
                if (wait.count < 1 || wait.count > s->thread_task[wait.thread + 1] - first) return "a wait's count";
                if (s->task_group[first + wait.count - 1] >= s->task_group[task]) return "a wait for work that is not earlier";
            }
    return NULL;
}

/* clock[task][u]: tasks of thread u that are done before the task begins, its own thread's too. Group by group, so that clocks that are read are there. */
static void clocks_of(const sptrsv_schedule *s, int32_t *clock, int64_t *next)
{
    int threads = s->threads;
    for (int t = 0; t < threads; t++) next[t] = s->thread_task[t];
    for (int32_t g = 0; g < s->groups; g++)
        for (int t = 0; t < threads; t++) {
            int64_t task = next[t];
            if (task == s->thread_task[t + 1] || s->task_group[task] != g) continue;
            next[t]++;
            int32_t *here = clock + task * threads;
            if (task > s->thread_task[t]) memcpy(here, here - threads, (size_t)threads * sizeof *here);
            else memset(here, 0, (size_t)threads * sizeof *here);
            here[t] = (int32_t)(task - s->thread_task[t]);
            for (int64_t w = s->wait_start[task]; w < s->wait_start[task + 1]; w++) {
                const int32_t *there = clock + (s->thread_task[s->wait[w].thread] + s->wait[w].count - 1) * threads;
                for (int u = 0; u < threads; u++)
                    if (there[u] > here[u]) here[u] = there[u];
                if (s->wait[w].count > here[s->wait[w].thread]) here[s->wait[w].thread] = s->wait[w].count;
            }
        }
}

/* Whether every row that a row refers to is solved before it: earlier in the thread's list, or in a task that the clock has. */
static bool dependences_met(const sptrsv_system *a, const sptrsv_schedule *s, const int32_t *place, const int32_t *owner, const int32_t *clock)
{
    bool met = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : met)
    for (int t = 0; t < s->threads; t++)
        for (int64_t task = s->thread_task[t]; task < s->thread_task[t + 1] && met; task++) {
            const int32_t *here = clock + task * s->threads;
            for (int64_t i = s->task_start[task]; i < s->task_start[task + 1]; i++) {
                int64_t row = sptrsv_step_row(a, s->order[i]);
                const int32_t *col = a->matrix->col + a->first[row];
                for (int64_t k = 0; k < a->count[row]; k++) {
                    int64_t other = col[k * a->stride], there = owner[place[other]];
                    int u = 0;
                    while (there >= s->thread_task[u + 1]) u++;
                    met = met && (u == t ? place[other] < i : there - s->thread_task[u] < here[u]);
                }
            }
        }
    return met;
}

hu_status sptrsv_schedule_check(const sptrsv_system *a, const sptrsv_schedule *s, const char *name, hu_error *err)
{
    int32_t *place = NULL, *owner = NULL, *clock = NULL;
    int64_t *next = NULL, slots;
    if (s->n != a->n) return misfit(err, name, "its number of rows");
    if (!s->order) return HU_OK;
    const char *why = find_bad_numbers(s);
    if (why) return misfit(err, name, why);
    if (!hu_mul_size(s->tasks, s->threads, &slots)) return misfit(err, name, "its number of tasks");
    if (alloc(s->n, sizeof *place, "places of rows", &place, err) || alloc(s->n, sizeof *owner, "tasks of rows", &owner, err) ||
        alloc(slots, sizeof *clock, "clocks", &clock, err) || alloc(s->threads, sizeof *next, "clocks", &next, err))
        goto cleanup;
    for (int64_t i = 0; i < s->n; i++) place[i] = -1;
    for (int64_t task = 0; task < s->tasks; task++)
        for (int64_t i = s->task_start[task]; i < s->task_start[task + 1]; i++) {
            int32_t step = s->order[i];
            if (step < 0 || step >= s->n || place[sptrsv_step_row(a, step)] >= 0) {
                misfit(err, name, "its order is not a permutation");
                goto cleanup;
            }
            place[sptrsv_step_row(a, step)] = (int32_t)i;
            owner[i] = (int32_t)task;
        }
    clocks_of(s, clock, next);
    if (!dependences_met(a, s, place, owner, clock)) misfit(err, name, "a row would be solved before one that it refers to");
cleanup:
    hu_free(place);
    hu_free(owner);
    hu_free(clock);
    hu_free(next);
    return err->status;
}
