/* trace.c: writing traces: events to chunk members of their streams. */
#include "config.h"
#include "io/trace_private.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *bytes;
    int64_t used, room;
    int64_t events, first, last; /* of the chunk; enter of its first event, leave of its last */
    int32_t chunks;
} stream_buffer;

struct hu_trace_writer {
    const hu_trace_head *head;
    hu_bundle_outflow *flow;
    stream_buffer *stream; /* [head->streams] */
    uint8_t *chunk;        /* a chunk with its own head */
    int64_t chunk_room;
};

hu_status hu_trace_create(const hu_trace_head *head, hu_bundle_filter filter, int level, hu_output *out, hu_trace_writer **ret_writer, hu_error *err)
{
    json_t *content = NULL;
    uint8_t *defs = NULL;
    int64_t size = 0;
    hu_trace_writer *w = *ret_writer = calloc(1, sizeof *w);
    if (!w) return hu_fail(err, HU_SYSTEM, "out of memory");
    w->head = head;
    if (hu_trace_head_content(head, &content, err) == HU_OK && hu_trace_head_defs(head, &defs, &size, err) == HU_OK &&
        hu_alloc_zero(head->streams, sizeof *w->stream, "the streams of a trace", (void **)&w->stream, err) == HU_OK &&
        hu_bundle_outflow_open(HU_TRACE_KIND, HU_TRACE_MAJOR, HU_TRACE_MINOR, content, filter, level, out, &w->flow, err) == HU_OK)
        hu_bundle_outflow_put(w->flow, HU_TRACE_DEFS, defs, size, err);
    json_decref(content);
    hu_free(defs);
    if (err->status) hu_trace_abort(ret_writer);
    return err->status;
}

static hu_status flush_chunk(hu_trace_writer *w, int32_t stream, hu_error *err)
{
    stream_buffer *b = &w->stream[stream];
    char name[64];
    if (b->events == 0) return HU_OK;
    if (hu_grow((void **)&w->chunk, &w->chunk_room, b->used + 3 * HU_VARINT_MOST, 1, "a chunk of a trace", err)) return err->status;
    uint8_t *p = hu_varint_put(w->chunk, (uint64_t)stream);
    p = hu_varint_put(p, (uint64_t)b->events);
    p = hu_varint_put_signed(p, b->first);
    memcpy(p, b->bytes, (size_t)b->used);
    snprintf(name, sizeof name, HU_TRACE_EVENTS "%06d.%d/%06d", w->head->stream[stream].rank, w->head->stream[stream].thread, b->chunks++);
    int64_t size = p + b->used - w->chunk;
    b->used = b->events = 0;
    return hu_bundle_outflow_put(w->flow, name, w->chunk, size, err);
}

hu_status hu_trace_put(hu_trace_writer *writer, const hu_trace_event *event, hu_error *err)
{
    stream_buffer *b = &writer->stream[event->stream];
    int64_t most = ((int64_t)event->args + 5) * HU_VARINT_MOST;
    if (b->used > 0 && b->used + most > HU_TRACE_CHUNK - 3 * HU_VARINT_MOST && flush_chunk(writer, event->stream, err)) return err->status;
    if (b->used + most > b->room && hu_grow((void **)&b->bytes, &b->room, b->used + most, 1, "a chunk of a trace", err)) return err->status;
    if (b->events++ == 0) b->first = b->last = event->enter;
    uint8_t *p = b->bytes + b->used;
    p = hu_varint_put(p, (uint64_t)event->function << 3 | (event->error ? 1u : 0u) | (event->poll ? 2u : 0u) | (event->gap ? 4u : 0u));
    p = hu_varint_put_signed(p, event->enter - b->last);
    p = hu_varint_put_signed(p, event->leave - event->enter);
    if (event->poll) p = hu_varint_put(hu_varint_put(p, (uint64_t)event->count), (uint64_t)event->busy);
    for (int32_t i = 0; i < event->args; i++) p = hu_varint_put_signed(p, event->arg[i]);
    b->used = p - b->bytes;
    b->last = event->leave;
    return HU_OK;
}

hu_status hu_trace_end_stream(hu_trace_writer *writer, int32_t stream, hu_error *err)
{
    hu_status status = flush_chunk(writer, stream, err);
    hu_free(writer->stream[stream].bytes);
    writer->stream[stream].bytes = NULL;
    writer->stream[stream].room = 0;
    return status;
}

hu_status hu_trace_finish(hu_trace_writer **writer, hu_error *err)
{
    hu_trace_writer *w = *writer;
    for (int32_t i = 0; i < w->head->streams && !err->status; i++) flush_chunk(w, i, err);
    if (!err->status) hu_bundle_outflow_finish(&w->flow, err);
    hu_trace_abort(writer);
    return err->status;
}

void hu_trace_abort(hu_trace_writer **writer)
{
    hu_trace_writer *w = *writer;
    if (!w) return;
    hu_bundle_outflow_abort(&w->flow);
    for (int32_t i = 0; w->stream && i < w->head->streams; i++) hu_free(w->stream[i].bytes);
    hu_free(w->stream);
    hu_free(w->chunk);
    free(w);
    *writer = NULL;
}
