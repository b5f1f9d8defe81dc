/* trace_unpack.c: packed traces read: the grammar gives each stream's symbols, the times come beside them. */
#include "config.h"
#include "io/grammar.h"
#include "io/trace_private.h"
#include "io/trace_symbol.h"
#include "io/trace_times.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hu_trace_unpacker {
    const hu_trace_head *head;
    hu_bundle_inflow *flow;
    uint8_t *text;
    int64_t *at; /* [symbols + 1]: lengths stand in front of each */
    int64_t symbols;
    hu_grammar *grammar;
    hu_trace_symbols *unpack;
    hu_times *times;
    int64_t part_left; /* events to come in the current part of times */
    int32_t stream;
    int64_t last;
    int32_t function_before, symbol_before;
    int64_t duration_before;
    bool started, ended;
};

static hu_status damaged(const hu_trace_unpacker *u, const char *what, hu_error *err)
{
    return hu_fail(err, HU_INPUT, "%s: %s", hu_bundle_inflow_name(u->flow), what);
}

static hu_status read_symbols(hu_trace_unpacker *u, const uint8_t *bytes, int64_t size, int64_t *ret_used, hu_error *err)
{
    hu_varint_reader in = {bytes, bytes + size, false};
    uint64_t n = hu_varint_get(&in);
    if (in.bad || n > (uint64_t)size || n > INT32_MAX / 4) return damaged(u, "its grammar has fewer symbols than it says", err);
    if (hu_alloc((int64_t)n + 1, sizeof *u->at, "symbols", (void **)&u->at, err)) return err->status;
    for (u->symbols = 0; u->symbols < (int64_t)n; u->symbols++) {
        u->at[u->symbols] = in.p - bytes;
        uint64_t length = hu_varint_get(&in);
        if (in.bad || length > (uint64_t)(in.end - in.p)) return damaged(u, "its grammar has fewer symbols than it says", err);
        in.p += length;
    }
    *ret_used = u->at[n] = in.p - bytes;
    if (hu_alloc(*ret_used, 1, "symbols", (void **)&u->text, err)) return err->status;
    memcpy(u->text, bytes, (size_t)*ret_used);
    return HU_OK;
}

hu_status hu_trace_unpack_open(const hu_trace_head *head, hu_bundle_inflow *flow, const void *grammar, int64_t size, hu_trace_unpacker **ret_unpacker, hu_error *err)
{
    hu_trace_unpacker *u = *ret_unpacker = calloc(1, sizeof *u);
    int64_t used = 0;
    if (!u) return hu_fail(err, HU_SYSTEM, "out of memory");
    u->head = head;
    u->flow = flow;
    double parts = head->time == HU_TRACE_REL ? round(head->coded * HU_TIMES_MILLION) : 0.0;
    if (head->time == HU_TRACE_REL && parts != 0.0 && !(parts >= 100 && parts <= HU_TIMES_MILLION / 2)) damaged(u, "its error is out of range", err);
    else if (read_symbols(u, grammar, size, &used, err) == HU_OK &&
             hu_grammar_read((const uint8_t *)grammar + used, size - used, hu_bundle_inflow_name(flow), (int32_t)u->symbols, &u->grammar, err) == HU_OK &&
             hu_trace_symbols_new(head, &u->unpack, err) == HU_OK && hu_times_new((int32_t)parts, &u->times, err) == HU_OK && hu_grammar_sequences(u->grammar) != head->streams)
        damaged(u, "its grammar has not one sequence for each stream", err);
    if (!err->status) return HU_OK;
    hu_trace_unpack_close(u);
    *ret_unpacker = NULL;
    return err->status;
}

void hu_trace_unpack_close(hu_trace_unpacker *unpacker)
{
    if (!unpacker) return;
    hu_free(unpacker->text);
    hu_free(unpacker->at);
    hu_grammar_free(unpacker->grammar);
    hu_trace_symbols_free(unpacker->unpack);
    hu_times_free(unpacker->times);
    free(unpacker);
}

/* The next part of times; other members are of a newer minor version. */
static hu_status next_part(hu_trace_unpacker *u, hu_error *err)
{
    const char *name;
    const void *bytes;
    int64_t size;
    for (;;) {
        hu_status status = hu_bundle_inflow_next(u->flow, HU_TRACE_LIMIT, &name, &bytes, &size, err);
        if (status == HU_END) return damaged(u, "it has fewer times than events", err);
        if (status) return status;
        if (strncmp(name, HU_TRACE_TIMES, strlen(HU_TRACE_TIMES)) == 0) break;
    }
    hu_varint_reader in = {bytes, (const uint8_t *)bytes + size, false};
    uint64_t events = hu_varint_get(&in);
    if (in.bad || events < 1 || events > INT64_MAX / 4) return damaged(u, "a part of its times is damaged", err);
    u->part_left = (int64_t)events;
    hu_times_start(u->times, in.p, in.end - in.p);
    return HU_OK;
}

static hu_status get_times(hu_trace_unpacker *u, int32_t symbol, hu_trace_event *e, hu_error *err)
{
    bool timed = u->head->time != HU_TRACE_NONE;
    const int64_t far = INT64_MAX / 4;
    e->enter = e->leave = 0;
    if (!timed && !e->poll) return HU_OK;
    if (u->part_left == 0 && next_part(u, err)) return err->status;
    u->part_left--;
    if (timed) {
        hu_trace_contexts c = hu_trace_contexts_of(e->function, u->function_before, symbol, u->symbol_before);
        bool backward = hu_times_get_flag(u->times, HU_TRACE_FLAG_BACKWARD), gap_back = backward && hu_times_get_flag(u->times, HU_TRACE_FLAG_GAP);
        bool duration_back = backward && hu_times_get_flag(u->times, HU_TRACE_FLAG_DURATION);
        int64_t gap = hu_times_get(u->times, c.gap, hu_trace_finer(c.gap_finer, u->duration_before)), duration = hu_times_get(u->times, c.duration, hu_trace_finer(c.duration_finer, gap));
        u->duration_before = duration;
        if (u->last > far || u->last < -far) return damaged(u, "a time is out of range", err);
        e->enter = u->last + (gap_back ? -gap : gap);
        e->leave = e->enter > far || e->enter < -far ? e->enter : e->enter + (duration_back ? -duration : duration);
        e->busy = e->poll ? hu_times_get(u->times, c.busy, c.busy_finer) : e->leave - e->enter;
        u->last = e->leave;
    }
    if (e->poll) e->count = hu_times_get_exact(u->times, HU_TRACE_COUNTS);
    if (e->poll && e->count < 1) return damaged(u, "a poll's count is out of range", err);
    return hu_times_overrun(u->times) ? damaged(u, "a part of its times is damaged", err) : HU_OK;
}

/* What follows the last event: nothing that this version knows, and the index. */
static hu_status read_rest(hu_trace_unpacker *u, hu_error *err)
{
    const char *name;
    const void *bytes;
    int64_t size;
    hu_status status = HU_OK;
    if (u->part_left > 0) return damaged(u, "it has more times than events", err);
    while (!status) status = hu_bundle_inflow_next(u->flow, HU_TRACE_LIMIT, &name, &bytes, &size, err);
    return status;
}

hu_status hu_trace_unpack_next(hu_trace_unpacker *unpacker, hu_trace_event *ret_event, hu_error *err)
{
    hu_trace_unpacker *u = unpacker;
    int32_t symbol = -1;
    if (u->ended) return HU_END;
    while (!u->started || (symbol = hu_grammar_next(u->grammar)) < 0) {
        u->stream = u->started ? u->stream + 1 : 0;
        u->started = true;
        if (u->stream >= u->head->streams) {
            u->ended = true;
            return read_rest(u, err);
        }
        hu_grammar_start(u->grammar, u->stream);
        hu_trace_symbols_start(u->unpack, u->stream);
        u->last = 0;
        u->function_before = u->symbol_before = -1;
        u->duration_before = 0;
    }
    hu_varint_reader in = {u->text + u->at[symbol], u->text + u->at[symbol + 1], false};
    hu_varint_get(&in); /* its length */
    if (hu_trace_symbols_unpack(u->unpack, in.p, in.end - in.p, ret_event, err)) return err->status;
    if (get_times(u, symbol, ret_event, err)) return err->status;
    u->function_before = ret_event->function;
    u->symbol_before = symbol;
    return HU_OK;
}
