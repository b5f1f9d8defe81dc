/* gpu_scheme.c: schemes of the GPU as text, and their schedules.
 *
 * Sections: text, the rule, nodes, the order of nodes, workers, checking.
 */
#include "config.h"
#include "gpu_scheme.h"
#include "base/keys.h"
#include "base/memory.h"
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------------------------------- */

enum { LANES, THREADS, NODE, ROWS, ORDER, GROUP, TAKE, KEYS };

static const hu_key keys[KEYS] = {
    [LANES] = {"lanes", "1 2 4 8 16 32 block", 0, 0},
    [THREADS] = {"threads", "64 128 256 512 1024", 0, 0},
    [NODE] = {"node", "fixed thresh mean", 0, 0},
    [ROWS] = {"rows", NULL, 1, 1024},
    [ORDER] = {"order", "level row", 0, 0},
    [GROUP] = {"group", "simple balance", 0, 0},
    [TAKE] = {"take", "ticket robin least", 0, 0},
};
enum { LANES_BLOCK = 6 };

static int log2_of(int x)
{
    int k = 0;
    while (x > 1) x /= 2, k++;
    return k;
}

static void to_values(const sptrsv_gpu_scheme *s, int32_t *v)
{
    v[LANES] = s->lanes == 0 ? LANES_BLOCK : log2_of(s->lanes);
    v[THREADS] = log2_of(s->threads) - 6;
    v[NODE] = (int32_t)s->node;
    v[ROWS] = s->rows;
    v[ORDER] = (int32_t)s->order;
    v[GROUP] = (int32_t)s->group;
    v[TAKE] = (int32_t)s->take;
}

hu_status sptrsv_gpu_scheme_parse(const char *text, sptrsv_gpu_scheme *s, hu_error *err)
{
    int32_t v[KEYS];
    to_values(s, v);
    if (hu_keys_parse(text, keys, KEYS, v, err)) return err->status;
    *s = (sptrsv_gpu_scheme){v[LANES] == LANES_BLOCK ? 0 : 1 << v[LANES], 64 << v[THREADS], (sptrsv_gpu_node)v[NODE], v[ROWS],
                             (sptrsv_gpu_order)v[ORDER], (sptrsv_gpu_group)v[GROUP], (sptrsv_gpu_take)v[TAKE]};
    return HU_OK;
}

void sptrsv_gpu_scheme_print(const sptrsv_gpu_scheme *s, char *ret_text, size_t size)
{
    int32_t v[KEYS];
    to_values(s, v);
    hu_keys_print(keys, KEYS, v, ret_text, size);
}

/* ---- the rule --------------------------------------------------------------------------------------------------- */

void sptrsv_gpu_scheme_by_rule(const sptrsv_system *a, sptrsv_gpu_scheme *ret_scheme)
{
    double mean = a->n > 0 ? (double)a->nnz / (double)a->n : 0;
    int lanes = 1;
    while (lanes < 32 && 2 * lanes <= mean) lanes *= 2;
    *ret_scheme = (sptrsv_gpu_scheme){mean >= 2048 ? 0 : lanes, 256, SPTRSV_GPU_FIXED, 1, SPTRSV_GPU_BY_LEVEL, SPTRSV_GPU_SIMPLE, SPTRSV_GPU_TICKET};
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static int32_t entries(const sptrsv_system *a, int64_t step)
{
    return a->count[sptrsv_step_row(a, step)];
}

/* The end of the node that starts at a step (AG-SpTRSV's row blocks: fixed, by threshold, by average). */
static int64_t node_end(const sptrsv_system *a, const sptrsv_gpu_scheme *s, int64_t step)
{
    enum { WINDOW = 32 };
    int64_t end = step + 1, window = step - step % WINDOW + WINDOW;
    if (s->node == SPTRSV_GPU_FIXED) end = step + s->rows;
    else if (s->node == SPTRSV_GPU_THRESH)
        for (end = step; end < a->n && end < step + WINDOW && (end == step || entries(a, end - 1) <= s->rows);) end++;
    else if (step % WINDOW == 0) {
        int64_t last = window < a->n ? window : a->n, sum = 0;
        for (int64_t i = step; i < last; i++) sum += entries(a, i);
        if (sum < (int64_t)s->rows * (last - step)) end = last;
    }
    return end < a->n ? end : a->n;
}

static hu_status make_nodes(const sptrsv_system *a, const sptrsv_gpu_scheme *s, int32_t **ret_first, int64_t *ret_nodes, hu_error *err)
{
    void *block;
    if (hu_alloc(a->n + 1, sizeof **ret_first, "nodes", &block, err)) return err->status;
    int32_t *first = block;
    int64_t nodes = 0;
    for (int64_t step = 0; step < a->n; step = node_end(a, s, step)) first[nodes++] = (int32_t)step;
    first[nodes] = (int32_t)a->n;
    *ret_first = first;
    *ret_nodes = nodes;
    return HU_OK;
}

/* ---- the order of nodes ------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t level, node;
    int64_t work; /* entries; 0 where the order does not look at them */
} place;

static int compare_places(const void *x, const void *y)
{
    const place *a = x, *b = y;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->work != b->work) return a->work > b->work ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int64_t node_entries(const sptrsv_system *a, const int32_t *first, int64_t node)
{
    int64_t sum = 0;
    for (int64_t step = first[node]; step < first[node + 1]; step++) sum += entries(a, step);
    return sum;
}

/* Nodes sorted by level set, and by work within one where asked. */
static hu_status sort_nodes(const sptrsv_system *a, const sptrsv_gpu_scheme *s, const int32_t *first, int64_t nodes, place **ret_places, hu_error *err)
{
    void *block;
    int32_t *level = NULL, levels;
    if (hu_alloc(nodes, sizeof(place), "the order of nodes", &block, err)) return err->status;
    place *p = *ret_places = block;
    bool by_level = s->order == SPTRSV_GPU_BY_LEVEL;
    if (by_level && sptrsv_levels_of(a, first, nodes, &level, &levels, err)) return err->status;
    for (int64_t i = 0; i < nodes; i++)
        p[i] = (place){by_level ? level[i] : 0, (int32_t)i, by_level && s->group == SPTRSV_GPU_BALANCE ? node_entries(a, first, i) : 0};
    hu_free(level);
    if (by_level) qsort(p, (size_t)nodes, sizeof *p, compare_places);
    return HU_OK;
}

static void lay_out(const sptrsv_system *a, const int32_t *first, const place *p, sptrsv_gpu_schedule *s)
{
    int32_t at = 0;
    for (int64_t i = 0; i < s->nodes; i++) {
        s->node_start[i] = at;
        for (int32_t step = first[p[i].node]; step < first[p[i].node + 1]; step++) s->row[at++] = (int32_t)sptrsv_step_row(a, step);
    }
    s->node_start[s->nodes] = at;
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t load;
    int32_t worker;
} heap_item;

static bool is_less(const heap_item *a, const heap_item *b)
{
    return a->load != b->load ? a->load < b->load : a->worker < b->worker;
}

static void sift_down(heap_item *heap, int count)
{
    for (int i = 0, child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && is_less(&heap[child + 1], &heap[child])) child++;
        if (!is_less(&heap[child], &heap[i])) return;
        heap_item item = heap[i];
        heap[i] = heap[child];
        heap[child] = item;
    }
}

/* Each node, in order, to the worker that has least to do; 4 entries are what a row costs besides. */
static hu_status give_to_workers(const sptrsv_system *a, sptrsv_gpu_schedule *s, hu_error *err)
{
    void *heap_block = NULL, *owner_block = NULL;
    if (hu_alloc(s->workers, sizeof(heap_item), "workers", &heap_block, err) || hu_alloc(s->nodes, sizeof(int32_t), "owners", &owner_block, err)) {
        hu_free(heap_block);
        return err->status;
    }
    heap_item *heap = heap_block;
    int32_t *owner = owner_block;
    for (int w = 0; w < s->workers; w++) heap[w] = (heap_item){0, w};
    for (int64_t k = 0; k < s->nodes; k++) {
        owner[k] = heap[0].worker;
        for (int32_t i = s->node_start[k]; i < s->node_start[k + 1]; i++) heap[0].load += a->count[s->row[i]] + 4;
        sift_down(heap, s->workers);
        s->list_start[owner[k] + 1]++;
    }
    for (int w = 0; w < s->workers; w++) s->list_start[w + 1] += s->list_start[w];
    for (int64_t k = s->nodes - 1; k >= 0; k--) s->list[--s->list_start[owner[k] + 1]] = (int32_t)k; /* from the back: starts move to their place */
    memmove(s->list_start, s->list_start + 1, (size_t)s->workers * sizeof *s->list_start);
    s->list_start[s->workers] = s->nodes;
    hu_free(heap_block);
    hu_free(owner_block);
    return HU_OK;
}

static hu_status alloc_schedule(int64_t n, int64_t nodes, int workers, sptrsv_gpu_schedule **ret_schedule, hu_error *err)
{
    void *block;
    if (hu_alloc_zero(1, sizeof(sptrsv_gpu_schedule), "the schedule", &block, err)) return err->status;
    sptrsv_gpu_schedule *s = *ret_schedule = block;
    s->n = n;
    s->nodes = nodes;
    s->workers = workers;
    if (hu_alloc(n, sizeof *s->row, "rows", (void **)&s->row, err)) return err->status;
    if (hu_alloc(nodes + 1, sizeof *s->node_start, "nodes", (void **)&s->node_start, err)) return err->status;
    if (!workers) return HU_OK;
    if (hu_alloc_zero(workers + 1, sizeof *s->list_start, "lists", (void **)&s->list_start, err)) return err->status;
    return hu_alloc(nodes, sizeof *s->list, "lists", (void **)&s->list, err);
}

hu_status sptrsv_gpu_schedule_new(const sptrsv_system *a, const sptrsv_gpu_scheme *scheme, int workers, sptrsv_gpu_schedule **ret_schedule, hu_error *err)
{
    int32_t *first = NULL;
    place *places = NULL;
    int64_t nodes;
    *ret_schedule = NULL;
    if (make_nodes(a, scheme, &first, &nodes, err) || sort_nodes(a, scheme, first, nodes, &places, err)) goto cleanup;
    if (alloc_schedule(a->n, nodes, scheme->take == SPTRSV_GPU_LEAST ? workers : 0, ret_schedule, err)) goto cleanup;
    lay_out(a, first, places, *ret_schedule);
    if (scheme->take == SPTRSV_GPU_LEAST) give_to_workers(a, *ret_schedule, err);
cleanup:
    hu_free(first);
    hu_free(places);
    if (err->status) {
        sptrsv_gpu_schedule_free(*ret_schedule);
        *ret_schedule = NULL;
    }
    return err->status;
}

void sptrsv_gpu_schedule_free(sptrsv_gpu_schedule *s)
{
    if (!s) return;
    hu_free(s->row);
    hu_free(s->node_start);
    hu_free(s->list_start);
    hu_free(s->list);
    hu_free(s);
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static hu_status check_lists(const sptrsv_gpu_schedule *s, hu_error *err)
{
    void *block;
    if (hu_alloc_zero(s->nodes, 1, "nodes taken", &block, err)) return err->status;
    char *taken = block;
    for (int w = 0; w < s->workers && !err->status; w++)
        for (int64_t i = s->list_start[w]; i < s->list_start[w + 1] && !err->status; i++) {
            if (i > s->list_start[w] && s->list[i] <= s->list[i - 1]) hu_fail(err, HU_INPUT, "worker %d takes node %d after node %d", w, s->list[i], s->list[i - 1]);
            else if (taken[s->list[i]]++) hu_fail(err, HU_INPUT, "node %d is taken twice", s->list[i]);
        }
    if (!err->status && s->list_start[s->workers] != s->nodes) hu_fail(err, HU_INPUT, "not every node is taken");
    hu_free(block);
    return err->status;
}

static hu_status check_order(const sptrsv_system *a, const sptrsv_gpu_schedule *s, int32_t *position, hu_error *err)
{
    memset(position, -1, (size_t)a->n * sizeof *position);
    if (s->node_start[0] != 0 || s->node_start[s->nodes] != a->n) return hu_fail(err, HU_INPUT, "the nodes do not hold all rows");
    for (int64_t k = 0; k < s->nodes; k++)
        for (int32_t i = s->node_start[k]; i < s->node_start[k + 1]; i++) {
            int64_t row = s->row[i];
            if (position[row] >= 0) return hu_fail(err, HU_INPUT, "row %lld stands twice", (long long)row + 1);
            for (int64_t e = 0; e < a->count[row]; e++)
                if (position[a->matrix->col[a->first[row] + e * a->stride]] < 0)
                    return hu_fail(err, HU_INPUT, "row %lld stands before a row that it needs", (long long)row + 1);
            position[row] = i;
        }
    return HU_OK;
}

hu_status sptrsv_gpu_schedule_check(const sptrsv_system *a, const sptrsv_gpu_schedule *s, hu_error *err)
{
    void *block;
    if (hu_alloc(a->n, sizeof(int32_t), "positions", &block, err)) return err->status;
    if (check_order(a, s, block, err) == HU_OK && s->workers > 0) check_lists(s, err);
    hu_free(block);
    return err->status;
}
