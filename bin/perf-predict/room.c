/* room.c: what is left of each GPU of a cluster. */
#include "config.h"
#include "room.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static int compare_entries(const room_entry *a, int64_t key, int32_t node)
{
    if (a->key != key) return a->key < key ? -1 : 1;
    return (a->node > node) - (a->node < node);
}

/* The first entry that is not before (key, node). */
static int64_t lower_bound(const room *r, const room_class *c, int64_t key, int32_t node)
{
    int64_t low = 0, high = r->cluster->nodes;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (compare_entries(&c->sorted[middle], key, node) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Moves a node's entry to where its new key belongs. */
static void move_entry(const room *r, room_class *c, int32_t node, int64_t before, int64_t after)
{
    int64_t from = lower_bound(r, c, before, node), to = lower_bound(r, c, after, node);
    if (after > before) {
        to--;
        memmove(c->sorted + from, c->sorted + from + 1, (size_t)(to - from) * sizeof *c->sorted);
    } else {
        memmove(c->sorted + to + 1, c->sorted + to, (size_t)(from - to) * sizeof *c->sorted);
    }
    c->sorted[to] = (room_entry){after, node};
}

void room_changed(room *r, int32_t number)
{
    const sim_node *n = &r->cluster->node[number];
    memcpy(r->scratch, r->left + n->first, (size_t)n->gpus * sizeof *r->scratch);
    qsort(r->scratch, (size_t)n->gpus, sizeof *r->scratch, descending);
    for (int32_t k = 0; k < r->classes; k++) {
        room_class *c = &r->class[k];
        int64_t key = c->wanted <= n->gpus ? r->scratch[c->wanted - 1] : -1, before = c->nodes.winner[c->nodes.leaves + number];
        if (key == before) continue;
        if (c->sorted) move_entry(r, c, number, before, key);
        tournament_set(&c->nodes, number, key);
    }
}

static hu_status open_class(const room *r, int32_t wanted, bool sorted, room_class *ret, hu_error *err)
{
    ret->wanted = wanted;
    if (tournament_open(r->cluster->nodes, &ret->nodes, err)) return err->status;
    if (!sorted) return HU_OK;
    if (hu_alloc(r->cluster->nodes, sizeof *ret->sorted, "nodes", (void **)&ret->sorted, err)) return err->status;
    for (int32_t n = 0; n < r->cluster->nodes; n++) ret->sorted[n] = (room_entry){INT64_MIN, n}; /* as the tournament begins */
    return HU_OK;
}

hu_status room_open(const sim_cluster *cluster, int64_t each, const int32_t *wanted, int32_t classes, bool sorted, room *ret, hu_error *err)
{
    *ret = (room){.cluster = cluster, .classes = classes};
    if (hu_alloc(cluster->gpus, sizeof *ret->node_of, "GPUs", (void **)&ret->node_of, err) || hu_alloc(cluster->gpus, sizeof *ret->left, "GPUs", (void **)&ret->left, err) ||
        hu_alloc(cluster->most, sizeof *ret->scratch, "GPUs", (void **)&ret->scratch, err) || hu_alloc_zero(classes, sizeof *ret->class, "nodes", (void **)&ret->class, err))
        return err->status;
    for (int32_t k = 0; k < classes; k++)
        if (open_class(ret, wanted[k], sorted, &ret->class[k], err)) return err->status;
    for (int32_t n = 0; n < cluster->nodes; n++) {
        for (int32_t g = 0; g < cluster->node[n].gpus; g++) {
            ret->node_of[cluster->node[n].first + g] = n;
            ret->left[cluster->node[n].first + g] = each;
        }
        room_changed(ret, n);
    }
    return HU_OK;
}

void room_close(room *r)
{
    for (int32_t k = 0; r->class && k < r->classes; k++) {
        tournament_close(&r->class[k].nodes);
        hu_free(r->class[k].sorted);
    }
    hu_free(r->class);
    hu_free(r->scratch);
    hu_free(r->left);
    hu_free(r->node_of);
    *r = (room){0};
}

int64_t room_most(const room *r, int32_t class)
{
    return tournament_most(&r->class[class].nodes);
}

int32_t room_first(const room *r, int32_t class, int64_t parts)
{
    return (int32_t)tournament_first(&r->class[class].nodes, parts);
}

int32_t room_tightest(const room *r, int32_t class, int64_t parts)
{
    int64_t at = lower_bound(r, &r->class[class], parts, 0);
    return at < r->cluster->nodes ? r->class[class].sorted[at].node : -1;
}

void room_choose(room *r, int32_t number, int32_t wanted, int64_t parts, bool tightest, int32_t *gpu)
{
    const sim_node *n = &r->cluster->node[number];
    int64_t limit = INT64_MAX, below = 0; /* GPUs with less left than the limit are all taken; of those with just it as many as are wanted */
    if (tightest) {
        int32_t fit = 0;
        for (int32_t g = 0; g < n->gpus; g++)
            if (r->left[n->first + g] >= parts) r->scratch[fit++] = r->left[n->first + g];
        qsort(r->scratch, (size_t)fit, sizeof *r->scratch, descending);
        limit = r->scratch[fit - wanted];
        for (int32_t k = fit - wanted; k < fit; k++) below += r->scratch[k] < limit;
    }
    int64_t equal = tightest ? wanted - below : 0;
    for (int32_t g = n->first, taken = 0; taken < wanted; g++) {
        if (r->left[g] < parts || r->left[g] > limit || (tightest && r->left[g] == limit && equal-- <= 0)) continue;
        gpu[taken++] = g;
    }
}
