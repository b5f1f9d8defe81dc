/* trace_private.h: what trace.c, trace_read.c and trace_grammar.c share. */
#ifndef HU_IO_TRACE_PRIVATE_H
#define HU_IO_TRACE_PRIVATE_H

#include "io/trace.h"
#include "io/varint.h"

#define HU_TRACE_DEFS "defs"
#define HU_TRACE_EVENTS "events/"
#define HU_TRACE_GRAMMAR "grammar"
#define HU_TRACE_TIMES "time/"

enum { HU_TRACE_LIMIT = 1 << 28 }; /* no array of a head or an event is larger */

/* The head: as the manifest's content and the member "defs". */
hu_status hu_trace_head_content(const hu_trace_head *head, json_t **ret_content, hu_error *err);
hu_status hu_trace_head_defs(const hu_trace_head *head, uint8_t **ret_bytes, int64_t *ret_size, hu_error *err);
hu_status hu_trace_head_read(const hu_json_place *content, hu_trace_head *ret_head, hu_error *err);
hu_status hu_trace_head_read_defs(const void *bytes, int64_t size, const char *name, hu_trace_head *head, hu_error *err);

/* ---- the packed form, read: unpack.c */

typedef struct hu_trace_unpacker hu_trace_unpacker;

hu_status hu_trace_unpack_open(const hu_trace_head *head, hu_bundle_inflow *flow, const void *grammar, int64_t size, hu_trace_unpacker **ret_unpacker, hu_error *err);
void hu_trace_unpack_close(hu_trace_unpacker *unpacker); /* NULL is allowed */

/* The next event; HU_END behind the last, when the bundle's end was reached too. */
hu_status hu_trace_unpack_next(hu_trace_unpacker *unpacker, hu_trace_event *ret_event, hu_error *err);

/* Contexts of an event's times: by its function and the one before, and by the symbols. */
typedef struct {
    uint32_t gap, gap_finer, duration, duration_finer, busy, busy_finer;
} hu_trace_contexts;

static inline hu_trace_contexts hu_trace_contexts_of(int32_t function, int32_t before, int32_t symbol, int32_t symbol_before)
{
    uint32_t pair = (uint32_t)(before + 1) << 12 | (uint32_t)function, symbols = (uint32_t)(symbol_before + 1) * 40503u + (uint32_t)symbol;
    return (hu_trace_contexts){pair, symbols << 2, 1u << 30 | pair, symbols << 2 | 1, 2u << 30 | (uint32_t)function, (uint32_t)symbol << 2 | 2};
}

/* A finer context with the power of two of the time before: of a gap the duration before it, of a duration its gap. */
static inline uint32_t hu_trace_finer(uint32_t context, int64_t before)
{
    return context ^ (uint32_t)(before > 0 ? 64 - __builtin_clzll((uint64_t)before) : 0) << 24;
}

enum { HU_TRACE_FLAG_BACKWARD, HU_TRACE_FLAG_GAP, HU_TRACE_FLAG_DURATION }; /* flags of the times coder */
enum { HU_TRACE_COUNTS = 1 };                                              /* context of exact values */

#endif
