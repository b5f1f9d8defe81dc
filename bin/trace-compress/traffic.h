/* traffic.h: what an event sends: messages of their own, and shares in collectives. */
#ifndef TC_TRAFFIC_H
#define TC_TRAFFIC_H

#include "io/trace.h"

typedef struct traffic traffic;

typedef struct {
    int32_t comm;   /* of head.comm; -1: SELF */
    int32_t to;     /* rank in the trace; -1: not known (another world) */
    int64_t tag, bytes;
} traffic_message;

typedef struct {
    int64_t messages;
    const traffic_message *message; /* point to point that left with this event; none to MPI_PROC_NULL */
    int64_t received;               /* bytes that arrived, by the statuses */
    bool collective;
    int32_t comm;                   /* of the event's first communicator in head.comm; -1: SELF or none */
    int64_t local;                  /* the same as the process numbers it; -1: none */
} traffic_result;

/* The head is borrowed. Free with traffic_free(). */
hu_status traffic_new(const hu_trace_head *head, traffic **ret_traffic, hu_error *err);
void traffic_free(traffic *t); /* NULL is allowed */

/* To be asked for every event in turn. flat: collectives count as messages too, each share straight from who has it to who gets it. */
hu_status traffic_of(traffic *t, const hu_trace_event *event, bool flat, traffic_result *ret_result, hu_error *err);

#endif
