/* trace_pack.c: traces packed: events to symbols, symbols to a grammar that all processes share, times and numbers of polls through the times coder.
 *
 * Sections: symbols by number, times, streams, writing.
 */
#include "config.h"
#include "io/grammar.h"
#include "io/trace_private.h"
#include "io/trace_symbol.h"
#include "io/trace_times.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 18, LEVEL = 19 };

typedef struct {
    int32_t symbol, function;
    bool poll;
    int64_t gap, duration, count, busy;
} packed;

typedef struct {
    packed *event; /* those of a stream that has to wait for its turn */
    int64_t events, room;
    int64_t last;  /* leave of its last event */
    hu_trace_symbols *symbols;
} stream_state;

struct hu_trace_packer {
    hu_trace_head head; /* a copy with other times; what it points to is the caller's */
    hu_output *out;
    hu_grammar_maker *grammar;
    hu_times *times;
    uint8_t *text;      /* all symbols, each with its length in front */
    int64_t text_used, text_room;
    int64_t *at;        /* [symbols] where each begins */
    int64_t symbols, at_room;
    int32_t *hash;
    int64_t hash_size;
    stream_state *stream; /* [streams] */
    int32_t turn;         /* the stream whose events go on at once */
    int32_t function_before, symbol_before;
    int64_t duration_before; /* as a reader knows it */
    uint8_t *parts;       /* finished parts of times, each with its length (8 bytes) in front */
    int64_t parts_used, parts_room, part_events;
};

/* ---- symbols by number --------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const uint8_t *bytes, int64_t size)
{
    uint64_t h = (uint64_t)size * 0x9e3779b97f4a7c15u, word;
    for (; size >= 8; bytes += 8, size -= 8) {
        memcpy(&word, bytes, 8);
        h = (h ^ word) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    word = 0;
    memcpy(&word, bytes, (size_t)size);
    h = (h ^ word) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static int32_t *slot_of(const hu_trace_packer *p, const uint8_t *bytes, int64_t size)
{
    uint64_t mask = (uint64_t)p->hash_size - 1;
    for (uint64_t at = hash_of(bytes, size) & mask;; at = (at + 1) & mask) {
        int32_t n = p->hash[at];
        if (n < 0) return &p->hash[at];
        hu_varint_reader in = {p->text + p->at[n], p->text + p->text_used, false};
        int64_t length = (int64_t)hu_varint_get(&in);
        if (length == size && memcmp(in.p, bytes, (size_t)size) == 0) return &p->hash[at];
    }
}

static hu_status grow_hash(hu_trace_packer *p, hu_error *err)
{
    if (p->hash_size > 2 * (p->symbols + 1)) return HU_OK;
    hu_free(p->hash);
    p->hash_size = p->hash_size ? 2 * p->hash_size : 4096;
    if (hu_alloc(p->hash_size, sizeof *p->hash, "symbols", (void **)&p->hash, err)) return err->status;
    for (int64_t i = 0; i < p->hash_size; i++) p->hash[i] = -1;
    for (int64_t i = 0; i < p->symbols; i++) {
        hu_varint_reader in = {p->text + p->at[i], p->text + p->text_used, false};
        int64_t length = (int64_t)hu_varint_get(&in);
        *slot_of(p, in.p, length) = (int32_t)i;
    }
    return HU_OK;
}

static hu_status number_symbol(hu_trace_packer *p, const uint8_t *bytes, int64_t size, int32_t *ret_symbol, hu_error *err)
{
    int32_t *slot = slot_of(p, bytes, size);
    *ret_symbol = *slot;
    if (*slot >= 0) return HU_OK;
    if (p->symbols == INT32_MAX / 4) return hu_fail(err, HU_SYSTEM, "a trace has too many different events");
    if (hu_grow((void **)&p->text, &p->text_room, p->text_used + size + HU_VARINT_MOST, 1, "symbols", err) || hu_grow((void **)&p->at, &p->at_room, p->symbols + 1, sizeof *p->at, "symbols", err))
        return err->status;
    p->at[p->symbols] = p->text_used;
    uint8_t *end = hu_varint_put(p->text + p->text_used, (uint64_t)size);
    memcpy(end, bytes, (size_t)size);
    p->text_used = end + size - p->text;
    *ret_symbol = *slot = (int32_t)p->symbols++;
    return grow_hash(p, err);
}

/* ---- times --------------------------------------------------------------------------------------------------------------------- */

/* A part's events and bytes; the models live on. */
static hu_status end_part(hu_trace_packer *p, hu_error *err)
{
    const uint8_t *bytes;
    int64_t size;
    if (p->part_events == 0) return HU_OK;
    if (hu_times_finish(p->times, &bytes, &size, err) || hu_grow((void **)&p->parts, &p->parts_room, p->parts_used + 8 + HU_VARINT_MOST + size, 1, "times", err)) return err->status;
    uint8_t *start = p->parts + p->parts_used + 8, *end = hu_varint_put(start, (uint64_t)p->part_events);
    if (size > 0) memcpy(end, bytes, (size_t)size);
    int64_t length = end + size - start;
    memcpy(start - 8, &length, 8);
    p->parts_used += 8 + length;
    p->part_events = 0;
    return HU_OK;
}

static hu_status put_times(hu_trace_packer *p, const packed *e, hu_error *err)
{
    hu_times *t = p->times;
    bool timed = p->head.time != HU_TRACE_NONE, backward = e->gap < 0 || e->duration < 0;
    if (!timed && !e->poll) return HU_OK;
    if (timed) {
        hu_trace_contexts c = hu_trace_contexts_of(e->function, p->function_before, e->symbol, p->symbol_before);
        hu_times_put_flag(t, HU_TRACE_FLAG_BACKWARD, backward, err);
        if (backward) {
            hu_times_put_flag(t, HU_TRACE_FLAG_GAP, e->gap < 0, err);
            hu_times_put_flag(t, HU_TRACE_FLAG_DURATION, e->duration < 0, err);
        }
        hu_times_put(t, c.gap, hu_trace_finer(c.gap_finer, p->duration_before), llabs(e->gap), err);
        hu_times_put(t, c.duration, hu_trace_finer(c.duration_finer, hu_times_rounded(t, llabs(e->gap))), llabs(e->duration), err);
        p->duration_before = hu_times_rounded(t, llabs(e->duration));
        if (e->poll) hu_times_put(t, c.busy, c.busy_finer, e->busy, err);
    }
    if (e->poll) hu_times_put_exact(t, HU_TRACE_COUNTS, e->count, err);
    p->part_events++;
    return err->status ? err->status : hu_times_size(t) >= PART ? end_part(p, err) : HU_OK;
}

/* ---- streams ------------------------------------------------------------------------------------------------------------------- */

static hu_status emit(hu_trace_packer *p, const packed *e, hu_error *err)
{
    if (hu_grammar_put(p->grammar, e->symbol, err) || put_times(p, e, err)) return err->status;
    p->function_before = e->function;
    p->symbol_before = e->symbol;
    return HU_OK;
}

/* The stream whose turn it is has ended; the next one's turn comes, with what has waited. */
static hu_status next_turn(hu_trace_packer *p, hu_error *err)
{
    if (hu_grammar_end_sequence(p->grammar, err)) return err->status;
    hu_trace_symbols_free(p->stream[p->turn].symbols);
    p->stream[p->turn].symbols = NULL;
    p->turn++;
    p->function_before = p->symbol_before = -1;
    p->duration_before = 0;
    if (p->turn == p->head.streams) return HU_OK;
    stream_state *s = &p->stream[p->turn];
    for (int64_t i = 0; i < s->events; i++)
        if (emit(p, &s->event[i], err)) return err->status;
    hu_free(s->event);
    s->event = NULL;
    return HU_OK;
}

hu_status hu_trace_pack_put(hu_trace_packer *packer, const hu_trace_event *event, hu_error *err)
{
    hu_trace_packer *p = packer;
    stream_state *s = &p->stream[event->stream];
    const uint8_t *bytes;
    int64_t size;
    if (event->stream < p->turn) return hu_fail(err, HU_INPUT, "events of rank %d come too late: the trace's ranks are not in their order", p->head.stream[event->stream].rank);
    while (p->head.stream[p->turn].rank < p->head.stream[event->stream].rank)
        if (next_turn(p, err)) return err->status;
    if (!s->symbols) {
        if (hu_trace_symbols_new(&p->head, &s->symbols, err)) return err->status;
        hu_trace_symbols_start(s->symbols, event->stream);
    }
    packed e = {0, event->function, event->poll, event->enter - s->last, event->leave - event->enter, event->count, event->busy};
    if (hu_trace_symbols_pack(s->symbols, event, &bytes, &size, err) || number_symbol(p, bytes, size, &e.symbol, err)) return err->status;
    s->last = event->leave;
    if (event->stream == p->turn) return emit(p, &e, err);
    if (hu_grow((void **)&s->event, &s->room, s->events + 1, sizeof *s->event, "events of a thread", err)) return err->status;
    s->event[s->events++] = e;
    return HU_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */

hu_status hu_trace_pack_create(const hu_trace_head *head, hu_trace_time time, double error, hu_output *out, hu_trace_packer **ret_packer, hu_error *err)
{
    hu_trace_packer *p = *ret_packer = calloc(1, sizeof *p);
    if (!p) return hu_fail(err, HU_SYSTEM, "out of memory");
    p->head = *head;
    p->head.time = head->time == HU_TRACE_NONE ? HU_TRACE_NONE : time;
    p->head.error = p->head.coded = p->head.time == HU_TRACE_REL ? error : 0.0;
    if (head->time == HU_TRACE_REL && p->head.time != HU_TRACE_NONE) { /* errors add up, and do not go away */
        p->head.error = p->head.error + head->error + p->head.error * head->error;
        p->head.time = HU_TRACE_REL;
    }
    p->out = out;
    p->function_before = p->symbol_before = -1;
    int32_t parts = p->head.time == HU_TRACE_REL && time == HU_TRACE_REL ? (int32_t)lround(error * HU_TIMES_MILLION) : 0;
    if (hu_grammar_new(&p->grammar, err) == HU_OK && hu_times_new(parts, &p->times, err) == HU_OK && grow_hash(p, err) == HU_OK)
        hu_alloc_zero(head->streams, sizeof *p->stream, "streams", (void **)&p->stream, err);
    if (err->status) hu_trace_pack_abort(ret_packer);
    return err->status;
}

static hu_status put_grammar(hu_trace_packer *p, hu_bundle_outflow *flow, hu_error *err)
{
    uint8_t *rules = NULL, *whole = NULL;
    int64_t size;
    if (hu_grammar_write(p->grammar, &rules, &size, err) == HU_OK && hu_alloc(HU_VARINT_MOST + p->text_used + size, 1, "a grammar", (void **)&whole, err) == HU_OK) {
        uint8_t *end = hu_varint_put(whole, (uint64_t)p->symbols);
        if (p->text_used > 0) memcpy(end, p->text, (size_t)p->text_used);
        end += p->text_used;
        memcpy(end, rules, (size_t)size);
        hu_bundle_outflow_put(flow, HU_TRACE_GRAMMAR, whole, end + size - whole, err);
    }
    hu_free(rules);
    hu_free(whole);
    return err->status;
}

static hu_status put_parts(hu_trace_packer *p, hu_bundle_outflow *flow, hu_error *err)
{
    char name[32];
    int n = 0;
    for (int64_t at = 0; at < p->parts_used && !err->status;) {
        int64_t length;
        memcpy(&length, p->parts + at, 8);
        snprintf(name, sizeof name, HU_TRACE_TIMES "%06d", n++);
        hu_bundle_outflow_put(flow, name, p->parts + at + 8, length, err);
        at += 8 + length;
    }
    return err->status;
}

hu_status hu_trace_pack_finish(hu_trace_packer **packer, hu_error *err)
{
    hu_trace_packer *p = *packer;
    hu_bundle_outflow *flow = NULL;
    json_t *content = NULL;
    uint8_t *defs = NULL;
    int64_t size;
    while (p->turn < p->head.streams && next_turn(p, err) == HU_OK) continue;
    if (!err->status && end_part(p, err) == HU_OK && hu_trace_head_content(&p->head, &content, err) == HU_OK && hu_trace_head_defs(&p->head, &defs, &size, err) == HU_OK &&
        hu_bundle_outflow_open(HU_TRACE_KIND, HU_TRACE_MAJOR, HU_TRACE_MINOR, content, HU_BUNDLE_ZSTD, LEVEL, p->out, &flow, err) == HU_OK &&
        hu_bundle_outflow_put(flow, HU_TRACE_DEFS, defs, size, err) == HU_OK && put_grammar(p, flow, err) == HU_OK && put_parts(p, flow, err) == HU_OK)
        hu_bundle_outflow_finish(&flow, err);
    hu_bundle_outflow_abort(&flow);
    json_decref(content);
    hu_free(defs);
    hu_trace_pack_abort(packer);
    return err->status;
}

void hu_trace_pack_abort(hu_trace_packer **packer)
{
    hu_trace_packer *p = *packer;
    if (!p) return;
    for (int32_t i = 0; p->stream && i < p->head.streams; i++) {
        hu_trace_symbols_free(p->stream[i].symbols);
        hu_free(p->stream[i].event);
    }
    hu_grammar_drop(p->grammar);
    hu_times_free(p->times);
    hu_free(p->text);
    hu_free(p->at);
    hu_free(p->hash);
    hu_free(p->stream);
    hu_free(p->parts);
    free(p);
    *packer = NULL;
}
