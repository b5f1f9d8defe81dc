/* compress.c: trace-compress compress and decompress: a trace as a grammar with its times, and back. */
#include "config.h"
#include "base/clock.h"
#include "base/option.h"
#include "commands.h"
#include "input.h"

#include <string.h>

typedef struct {
    const char *path;
    int mode; /* -1: by the times */
    hu_trace_time time;
    bool timed;
    double error;
} options;

enum { KEY_TIME = 0x100 };
enum { MODE_LOSSLESS, MODE_BOUNDED };

static void parse_time(options *o, const char *arg, struct argp_state *state)
{
    o->timed = true;
    if (strcmp(arg, "exact") == 0) o->time = HU_TRACE_EXACT;
    else if (strcmp(arg, "none") == 0) o->time = HU_TRACE_NONE;
    else if (strncmp(arg, "rel=", 4) == 0) {
        o->time = HU_TRACE_REL;
        o->error = hu_option_number(state, "--time=rel", arg + 4, 0.0001, 0.5);
    } else {
        argp_error(state, "--time: '%s' is none of exact, rel=E, none", arg);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const modes[] = {"lossless", "bounded"};
    options *o = state->input;
    switch (key) {
    case 'm': o->mode = hu_option_word(state, "-m", arg, modes, 2); return 0;
    case KEY_TIME: parse_time(o, arg, state); return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one trace: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->mode == MODE_LOSSLESS && o->timed && o->time != HU_TRACE_EXACT) argp_error(state, "-m lossless keeps exact times: leave -m or --time out");
        if (o->mode == MODE_BOUNDED && o->timed && o->time != HU_TRACE_REL) argp_error(state, "-m bounded keeps times within an error: give --time=rel=E, or leave one out");
        if (o->mode == MODE_BOUNDED && !o->timed) o->time = HU_TRACE_REL;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static hu_status pack(const input *in, const options *o, hu_output *out, int64_t *ret_events, hu_error *err)
{
    hu_trace_packer *packer;
    hu_trace_event event;
    hu_status status = hu_trace_pack_create(in->head, o->time, o->error, out, &packer, err);
    while (!status && (status = hu_trace_next(in->reader, &event, err)) == HU_OK) {
        status = hu_trace_pack_put(packer, &event, err);
        ++*ret_events;
    }
    if (!err->status) hu_trace_pack_finish(&packer, err);
    hu_trace_pack_abort(&packer);
    return err->status;
}

static hu_status unpack(const input *in, const options *o, hu_output *out, int64_t *ret_events, hu_error *err)
{
    hu_trace_writer *writer;
    hu_trace_event event;
    int32_t stream = 0;
    (void)o;
    hu_status status = hu_trace_create(in->head, HU_BUNDLE_ZSTD, 3, out, &writer, err);
    while (!status && (status = hu_trace_next(in->reader, &event, err)) == HU_OK) {
        for (; stream < event.stream && in->head->stream[stream].rank < in->head->stream[event.stream].rank && !status; stream++) status = hu_trace_end_stream(writer, stream, err);
        if (!status) status = hu_trace_put(writer, &event, err);
        ++*ret_events;
    }
    if (!err->status) hu_trace_finish(&writer, err);
    hu_trace_abort(&writer);
    return err->status;
}

static int run(int argc, char **argv, const struct argp *own, hu_status (*work)(const input *, const options *, hu_output *, int64_t *, hu_error *))
{
    options o = {.mode = -1, .time = HU_TRACE_EXACT, .error = 0.05};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    input in;
    int64_t events = 0;
    hu_option_parse(argc, argv, own, &o, &common);
    double start = hu_clock_wall();
    if (input_open(o.path, &in, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK && work(&in, &o, out, &events, &err) == HU_OK)
        hu_say(1, "%lld events in %.3f s", (long long)events, hu_clock_wall() - start);
    input_close(&in);
    return hu_exit(&err, out);
}

int command_compress(int argc, char **argv)
{
    static const struct argp_option table[] = {{"mode", 'm', "MODE", 0, "lossless, or bounded (times within a relative error)", 1},
                                               {"time", KEY_TIME, "WHAT", 0, "exact (default), rel=E (gaps and durations within the relative error E, 0.0001 to 0.5), or none", 1}, {0}};
    static const struct argp own = {table, parse, "[FILE]", "Compress a trace: calls and arguments exactly, by a grammar that all ranks share; times exactly, within an error, or not at all.", NULL, NULL, NULL};
    return run(argc, argv, &own, pack);
}

static error_t parse_plain(int key, char *arg, struct argp_state *state)
{
    return key == ARGP_KEY_ARG ? parse(key, arg, state) : ARGP_ERR_UNKNOWN;
}

int command_decompress(int argc, char **argv)
{
    static const struct argp own = {NULL, parse_plain, "[FILE]", "Write a compressed trace event by event again.", NULL, NULL, NULL};
    return run(argc, argv, &own, unpack);
}
