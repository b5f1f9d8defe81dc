/* text.h: an event as a line of text. */
#ifndef TC_TEXT_H
#define TC_TEXT_H

#include "io/trace.h"

/* " name=value" for each argument; arrays as [a,b], statuses as (source,tag,bytes). */
hu_status text_arguments(const hu_trace_head *head, const hu_trace_event *event, hu_output *out, hu_error *err);

/* RANK.THREAD ENTER DURATION NAME ARGUMENTS, times in ns (corrected to rank 0's clock where corrected); polls with how many they are. */
hu_status text_event(const hu_trace_head *head, const hu_trace_event *event, bool timed, hu_output *out, hu_error *err);

#endif
