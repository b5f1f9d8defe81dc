/* cat.c: trace-compress cat: a trace as text or CSV, one line an event. */
#include "config.h"
#include "base/option.h"
#include "commands.h"
#include "input.h"
#include "io/csv.h"
#include "text.h"

#include <math.h>

typedef struct {
    const char *path;
    bool no_time, csv;
} options;

enum { KEY_NO_TIME = 0x100, KEY_CSV };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_CSV: o->csv = true; return 0;
    case KEY_NO_TIME: o->no_time = true; return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one trace: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* An event as a row; its arguments are one field. */
static hu_status put_row(hu_csv_writer *w, const hu_trace_head *head, const hu_trace_event *e, bool timed, hu_error *err)
{
    const hu_trace_stream *s = &head->stream[e->stream];
    hu_output *arguments;
    const char *text;
    size_t size;
    if (hu_output_memory("arguments", &arguments, err)) return err->status;
    hu_csv_put_integer(w, s->rank, err);
    hu_csv_put_integer(w, s->thread, err);
    if (timed) {
        hu_csv_put_integer(w, s->start + e->enter + llrint(hu_trace_correction(s, e->enter)), err);
        hu_csv_put_integer(w, e->leave - e->enter, err);
    }
    hu_csv_put_text(w, head->function[e->function].name, err);
    hu_csv_put_integer(w, e->poll ? e->count : 0, err);
    hu_csv_put_integer(w, e->error, err);
    hu_csv_put_integer(w, e->gap, err);
    if (text_arguments(head, e, arguments, err) == HU_OK && hu_output_write(arguments, "", 1, err) == HU_OK) {
        hu_output_memory_bytes(arguments, &text, &size);
        hu_csv_put_text(w, *text == ' ' ? text + 1 : text, err);
        hu_csv_end_row(w, err);
    }
    hu_output_abort(&arguments);
    return err->status;
}

static hu_status print_rows(const input *in, const options *o, hu_output *out, hu_error *err)
{
    static const char *const names[] = {"rank", "thread", "enter_ns", "duration_ns", "function", "polls", "error", "gap", "arguments"};
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    hu_trace_event event;
    bool timed = !o->no_time && in->head->time != HU_TRACE_NONE;
    for (int i = 0; i < 9; i++)
        if (timed || (i != 2 && i != 3)) hu_csv_put_text(&w, names[i], err);
    hu_csv_end_row(&w, err);
    while (!err->status && hu_trace_next(in->reader, &event, err) == HU_OK)
        if (put_row(&w, in->head, &event, timed, err)) break;
    return err->status;
}

static hu_status print_events(const input *in, const options *o, hu_output *out, hu_error *err)
{
    hu_trace_event event;
    hu_status status;
    bool timed = !o->no_time && in->head->time != HU_TRACE_NONE;
    while ((status = hu_trace_next(in->reader, &event, err)) == HU_OK)
        if (text_event(in->head, &event, timed, out, err)) break;
    return err->status;
}

int command_cat(int argc, char **argv)
{
    static const struct argp_option table[] = {{"csv", KEY_CSV, NULL, 0, "as CSV with a header", 1}, {"no-time", KEY_NO_TIME, NULL, 0, "leave the times out", 1}, {0}};
    static const struct argp own = {table, parse, "[FILE]", "Print a trace, one line an event.", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    input in;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (input_open(o.path, &in, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) {
        if (o.csv) print_rows(&in, &o, out, &err);
        else print_events(&in, &o, out, &err);
    }
    input_close(&in);
    return hu_exit(&err, out);
}
