/* input.c: the trace that a command reads. */
#include "config.h"
#include "input.h"

hu_status input_open(const char *path, input *ret_input, hu_error *err)
{
    *ret_input = (input){0};
    if (hu_source_open(path, hu_source_as_it_is, &ret_input->source, err) || hu_trace_open(ret_input->source, &ret_input->reader, err)) return err->status;
    ret_input->head = hu_trace_reader_head(ret_input->reader);
    return HU_OK;
}

void input_close(input *in)
{
    hu_trace_close(in->reader);
    hu_source_close(in->source);
    *in = (input){0};
}
