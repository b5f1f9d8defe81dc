/* trace_private.h: what trace.c, trace_read.c and trace_grammar.c share. */
#ifndef HU_IO_TRACE_PRIVATE_H
#define HU_IO_TRACE_PRIVATE_H

#include "io/trace.h"
#include "io/varint.h"

#define HU_TRACE_DEFS "defs"
#define HU_TRACE_EVENTS "events/"
#define HU_TRACE_GRAMMAR "grammar/"
#define HU_TRACE_TIMES "time/"

enum { HU_TRACE_LIMIT = 1 << 28 }; /* no array of a head or an event is larger */

/* The head: as the manifest's content and the member "defs". */
hu_status hu_trace_head_content(const hu_trace_head *head, json_t **ret_content, hu_error *err);
hu_status hu_trace_head_defs(const hu_trace_head *head, uint8_t **ret_bytes, int64_t *ret_size, hu_error *err);
hu_status hu_trace_head_read(const hu_json_place *content, hu_trace_head *ret_head, hu_error *err);
hu_status hu_trace_head_read_defs(const void *bytes, int64_t size, const char *name, hu_trace_head *head, hu_error *err);

#endif
