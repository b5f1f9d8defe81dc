/* compare.c: two traces side by side.
 *
 * Sections: tables, reading, metrics.
 */
#include "config.h"
#include "compare.h"
#include "base/memory.h"
#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables from two hashed numbers to what both sides have there -------------------------------------------------------- */

typedef struct {
    uint64_t key[2];
    bool used;
    int64_t value[2], bytes[2];
    uint64_t order[2]; /* of the sizes on a channel */
} cell;

typedef struct {
    cell *cell;
    int64_t size, used;
} table;

enum { MOST_FUNCTIONS = 4096 };

struct compare {
    char *name[MOST_FUNCTIONS]; /* functions of either side */
    int64_t calls[2][MOST_FUNCTIONS];
    int functions;
    table rank_calls, pairs, channels;
    int64_t polls[2], time[2], span[2];
};

static uint64_t stir(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 29;
}

static cell *find(const table *t, const uint64_t *key)
{
    for (uint64_t at = key[0];; at++) {
        cell *c = &t->cell[at % (uint64_t)t->size];
        if (!c->used || (c->key[0] == key[0] && c->key[1] == key[1])) return c;
    }
}

static hu_status cell_of(table *t, const int64_t *what, int n, cell **ret_cell, hu_error *err)
{
    uint64_t key[2] = {1, 0x9e3779b97f4a7c15u};
    if (2 * (t->used + 1) > t->size) {
        table larger = {NULL, t->size ? 2 * t->size : 1024, t->used};
        if (hu_alloc_zero(larger.size, sizeof(cell), "a comparison", (void **)&larger.cell, err)) return err->status;
        for (int64_t i = 0; i < t->size; i++)
            if (t->cell[i].used) *find(&larger, t->cell[i].key) = t->cell[i];
        hu_free(t->cell);
        *t = larger;
    }
    for (int i = 0; i < n; i++) {
        key[0] = stir(key[0], (uint64_t)what[i]);
        key[1] = stir(key[1] + 7, (uint64_t)what[i]);
    }
    cell *c = find(t, key);
    if (!c->used) {
        *c = (cell){.key = {key[0], key[1]}, .used = true};
        t->used++;
    }
    *ret_cell = c;
    return HU_OK;
}

hu_status compare_new(compare **ret_compare, hu_error *err)
{
    *ret_compare = calloc(1, sizeof **ret_compare);
    return *ret_compare ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

void compare_free(compare *c)
{
    if (!c) return;
    for (int i = 0; i < c->functions; i++) free(c->name[i]);
    hu_free(c->rank_calls.cell);
    hu_free(c->pairs.cell);
    hu_free(c->channels.cell);
    free(c);
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------- */

static hu_status function_number(compare *c, const char *name, int *ret_number, hu_error *err)
{
    for (*ret_number = 0; *ret_number < c->functions; ++*ret_number)
        if (strcmp(c->name[*ret_number], name) == 0) return HU_OK;
    if (c->functions == MOST_FUNCTIONS) return hu_fail(err, HU_INPUT, "the traces have more than %d functions together", MOST_FUNCTIONS);
    if (!(c->name[c->functions] = strdup(name))) return hu_fail(err, HU_SYSTEM, "out of memory");
    c->functions++;
    return HU_OK;
}

static hu_status take_messages(compare *c, int side, int32_t rank, const traffic_result *r, hu_error *err)
{
    for (int64_t i = 0; i < r->messages; i++) {
        const traffic_message *m = &r->message[i];
        cell *pair = NULL, *channel = NULL;
        if (cell_of(&c->pairs, (int64_t[]){rank, m->to}, 2, &pair, err) || cell_of(&c->channels, (int64_t[]){m->comm, rank, m->to, m->tag}, 4, &channel, err)) return err->status;
        pair->value[side]++;
        pair->bytes[side] += m->bytes;
        channel->value[side]++;
        channel->order[side] = stir(channel->order[side] + 1, (uint64_t)m->bytes);
    }
    return HU_OK;
}

hu_status compare_read(compare *c, int side, const input *in, hu_error *err)
{
    int *number = NULL;
    traffic *t = NULL;
    hu_trace_event e;
    traffic_result r;
    if (hu_alloc(in->head->functions, sizeof *number, "functions", (void **)&number, err) || traffic_new(in->head, &t, err)) goto cleanup;
    for (int32_t i = 0; i < in->head->functions; i++)
        if (function_number(c, in->head->function[i].name, &number[i], err)) goto cleanup;
    while (hu_trace_next(in->reader, &e, err) == HU_OK) {
        int32_t rank = in->head->stream[e.stream].rank;
        cell *calls;
        if (traffic_of(t, &e, false, &r, err) || take_messages(c, side, rank, &r, err) || cell_of(&c->rank_calls, (int64_t[]){rank, number[e.function]}, 2, &calls, err)) break;
        c->time[side] += e.busy;
        if (e.leave > c->span[side]) c->span[side] = e.leave;
        if (e.poll) {
            c->polls[side] += e.count;
        } else {
            c->calls[side][number[e.function]]++;
            calls->value[side]++;
        }
    }
cleanup:
    hu_free(number);
    traffic_free(t);
    return err->status;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------------------- */

enum { RANK_CALLS, MESSAGES, BYTES, ORDER, POLLS, TIME, SPAN, FIXED };

int64_t compare_metrics(const compare *c)
{
    return c->functions + FIXED;
}

static compare_metric of_table(const table *t, const char *name, bool bytes, bool share)
{
    compare_metric m = {.judged = true};
    snprintf(m.name, sizeof m.name, "%s", name);
    for (int64_t i = 0; i < t->size; i++) {
        if (!t->cell[i].used) continue;
        const int64_t *v = bytes ? t->cell[i].bytes : t->cell[i].value;
        m.a += (double)v[0];
        m.b += (double)v[1];
        m.difference += fabs((double)v[0] - (double)v[1]);
    }
    if (share && m.difference > 0) m.difference /= m.a;
    return m;
}

static compare_metric of_order(const table *t)
{
    compare_metric m = {.name = "channels", .judged = true};
    for (int64_t i = 0; i < t->size; i++) {
        if (!t->cell[i].used) continue;
        m.a += t->cell[i].value[0] > 0;
        m.b += t->cell[i].value[1] > 0;
        m.difference += t->cell[i].value[0] != t->cell[i].value[1] || t->cell[i].order[0] != t->cell[i].order[1];
    }
    return m;
}

static compare_metric of_sums(const char *name, const int64_t *v)
{
    compare_metric m = {.a = (double)v[0], .b = (double)v[1]};
    snprintf(m.name, sizeof m.name, "%s", name);
    m.difference = v[0] == v[1] ? 0.0 : fabs(m.a - m.b) / m.a;
    return m;
}

compare_metric compare_metric_of(const compare *c, int64_t index)
{
    switch (index - c->functions) {
    case RANK_CALLS: return of_table(&c->rank_calls, "rank_calls", false, false);
    case MESSAGES: return of_table(&c->pairs, "messages", false, true);
    case BYTES: return of_table(&c->pairs, "bytes", true, true);
    case ORDER: return of_order(&c->channels);
    case POLLS: return of_sums("polls", c->polls);
    case TIME: return of_sums("mpi_time", c->time);
    case SPAN: return of_sums("span", c->span);
    default: break;
    }
    compare_metric m = {.a = (double)c->calls[0][index], .b = (double)c->calls[1][index], .judged = true};
    snprintf(m.name, sizeof m.name, "calls:%s", c->name[index]);
    m.difference = fabs(m.a - m.b);
    return m;
}
