/* cat.c: trace-compress cat: a trace as text, one line an event. */
#include "config.h"
#include "base/option.h"
#include "commands.h"
#include "input.h"
#include "text.h"

typedef struct {
    const char *path;
    bool no_time;
} options;

enum { KEY_NO_TIME = 0x100 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_NO_TIME: o->no_time = true; return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one trace: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
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
    static const struct argp_option table[] = {{"no-time", KEY_NO_TIME, NULL, 0, "leave the times out", 1}, {0}};
    static const struct argp own = {table, parse, "[FILE]", "Print a trace, one line an event.", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    input in;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (input_open(o.path, &in, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) print_events(&in, &o, out, &err);
    input_close(&in);
    return hu_exit(&err, out);
}
