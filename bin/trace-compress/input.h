/* input.h: the trace that a command reads. */
#ifndef TC_INPUT_H
#define TC_INPUT_H

#include "io/trace.h"

typedef struct {
    hu_source *source;
    hu_trace_reader *reader;
    const hu_trace_head *head;
} input;

/* Opens FILE, or standard input for "-" and NULL. Close with input_close(), also after a failure. */
hu_status input_open(const char *path, input *ret_input, hu_error *err);
void input_close(input *in);

#endif
