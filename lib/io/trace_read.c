/* trace_read.c: reading traces event by event from the members of a streamed bundle. Everything in them may be anything. */
#include "config.h"
#include "io/trace_private.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct hu_trace_reader {
    hu_bundle_inflow *flow;
    hu_trace_head head;
    hu_varint_reader chunk; /* what is left of the events of the current member */
    const char *member;     /* its name */
    const uint8_t *member_start;
    int64_t left, last;     /* events to come in it; leave of the last one */
    int32_t stream;
    int64_t *arg, arg_room;
    hu_trace_unpacker *packed; /* the other form */
};

static hu_status read_defs(hu_trace_reader *r, hu_error *err)
{
    const char *name;
    const void *bytes;
    int64_t size;
    hu_status status = hu_bundle_inflow_next(r->flow, HU_TRACE_LIMIT, &name, &bytes, &size, err);
    if (status == HU_END || (!status && strcmp(name, HU_TRACE_DEFS) != 0))
        return hu_fail(err, HU_INPUT, "%s: is no trace: its first member is not " HU_TRACE_DEFS, hu_bundle_inflow_name(r->flow));
    return status ? status : hu_trace_head_read_defs(bytes, size, hu_bundle_inflow_name(r->flow), &r->head, err);
}

hu_status hu_trace_open(hu_source *source, hu_trace_reader **ret_reader, hu_error *err)
{
    hu_trace_reader *r = *ret_reader = calloc(1, sizeof *r);
    if (!r) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_bundle_inflow_open(source, HU_TRACE_KIND, HU_TRACE_MAJOR, &r->flow, err) == HU_OK) {
        hu_json_place content = hu_bundle_inflow_root(r->flow);
        if (hu_trace_head_read(&content, &r->head, err) == HU_OK) read_defs(r, err);
    }
    if (!err->status) return HU_OK;
    hu_trace_close(r);
    *ret_reader = NULL;
    return err->status;
}

void hu_trace_close(hu_trace_reader *reader)
{
    if (!reader) return;
    hu_trace_head_free(&reader->head);
    hu_trace_unpack_close(reader->packed);
    hu_bundle_inflow_close(reader->flow);
    hu_free(reader->arg);
    free(reader);
}

const hu_trace_head *hu_trace_reader_head(const hu_trace_reader *reader)
{
    return &reader->head;
}

const char *hu_trace_reader_name(const hu_trace_reader *reader)
{
    return hu_bundle_inflow_name(reader->flow);
}

static hu_status damaged(const hu_trace_reader *r, hu_error *err, const char *what)
{
    return hu_fail(err, HU_INPUT, "%s: member %s, byte %lld: %s", hu_trace_reader_name(r), r->member, (long long)(r->chunk.p - r->member_start), what);
}

/* The next member with events; those of other names belong to newer minor versions and are passed over. */
static hu_status next_chunk(hu_trace_reader *r, hu_error *err)
{
    const void *bytes;
    int64_t size;
    for (;;) {
        hu_status status = hu_bundle_inflow_next(r->flow, HU_TRACE_LIMIT, &r->member, &bytes, &size, err);
        if (status) return status;
        if (strncmp(r->member, HU_TRACE_EVENTS, strlen(HU_TRACE_EVENTS)) == 0) break;
        if (strcmp(r->member, HU_TRACE_GRAMMAR) == 0) return hu_trace_unpack_open(&r->head, r->flow, bytes, size, &r->packed, err);
    }
    r->member_start = bytes;
    r->chunk = (hu_varint_reader){bytes, (const uint8_t *)bytes + size, false};
    uint64_t stream = hu_varint_get(&r->chunk), events = hu_varint_get(&r->chunk);
    r->last = hu_varint_get_signed(&r->chunk);
    if (r->chunk.bad || stream >= (uint64_t)r->head.streams) return damaged(r, err, "its stream is not one of the trace");
    if (events > (uint64_t)size) return damaged(r, err, "it has fewer events than it says");
    r->stream = (int32_t)stream;
    r->left = (int64_t)events;
    return HU_OK;
}

/* The arguments by the letters; an array cannot have more items than bytes are left. */
static hu_status read_arguments(hu_trace_reader *r, const char *letters, int32_t *ret_count, hu_error *err)
{
    int64_t n = 0;
    for (; *letters; letters++) {
        int64_t count = hu_trace_letter_width(*letters), length = 1;
        bool is_array = hu_trace_letter_is_array(*letters);
        if (is_array) {
            length = hu_varint_get_signed(&r->chunk);
            if (r->chunk.bad || length < 0 || length > r->chunk.end - r->chunk.p) return damaged(r, err, "an array is longer than its member");
            count *= length;
        }
        if (n + count + 1 > r->arg_room && hu_grow((void **)&r->arg, &r->arg_room, n + count + 1, sizeof *r->arg, "the arguments of an event", err)) return err->status;
        if (is_array) r->arg[n++] = length;
        for (int64_t i = 0; i < count; i++) r->arg[n++] = hu_varint_get_signed(&r->chunk);
    }
    *ret_count = (int32_t)n;
    return HU_OK;
}

hu_status hu_trace_next(hu_trace_reader *reader, hu_trace_event *ret_event, hu_error *err)
{
    hu_trace_reader *r = reader;
    const int64_t far = INT64_MAX / 4;
    while (r->left == 0 && !r->packed) {
        hu_status status = next_chunk(r, err);
        if (status) return status;
    }
    if (r->packed) return hu_trace_unpack_next(r->packed, ret_event, err);
    r->left--;
    uint64_t code = hu_varint_get(&r->chunk);
    int64_t gap = hu_varint_get_signed(&r->chunk), duration = hu_varint_get_signed(&r->chunk);
    if (r->chunk.bad || code >> 3 >= (uint64_t)r->head.functions) return damaged(r, err, "an event's function is not one of the trace");
    if (gap < -far || gap > far || duration < -far || duration > far || r->last < -far || r->last > far) return damaged(r, err, "an event's time is out of range");
    *ret_event = (hu_trace_event){.stream = r->stream, .function = (int32_t)(code >> 3), .error = code & 1, .poll = code & 2, .gap = code & 4, .enter = r->last + gap, .count = 1, .busy = duration};
    ret_event->leave = r->last = ret_event->enter + duration;
    if (ret_event->poll) {
        ret_event->count = (int64_t)hu_varint_get(&r->chunk);
        ret_event->busy = (int64_t)hu_varint_get(&r->chunk);
        if (ret_event->count < 1 || ret_event->count > far || ret_event->busy < 0 || ret_event->busy > far) return damaged(r, err, "a poll's count is out of range");
    }
    if (read_arguments(r, r->head.function[ret_event->function].letters, &ret_event->args, err)) return err->status;
    if (r->chunk.bad) return damaged(r, err, "an event is cut short");
    if (r->left == 0 && r->chunk.p != r->chunk.end) return damaged(r, err, "there are bytes behind the last event");
    ret_event->arg = r->arg;
    return HU_OK;
}
