/* slice.c: trace-compress slice: some ranks, or a span of time, of a trace. */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *path, *ranks;
    double from, to; /* seconds */
} options;

enum { KEY_RANKS = 0x100, KEY_FROM, KEY_TO };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_RANKS:
        if (strspn(arg, "0123456789-,") != strlen(arg) || !*arg) argp_error(state, "--ranks: '%s' is no list like 0-7,12", arg);
        o->ranks = arg;
        return 0;
    case KEY_FROM: o->from = hu_option_number(state, "--from", arg, 0.0, 1e9); return 0;
    case KEY_TO: o->to = hu_option_number(state, "--to", arg, 0.0, 1e9); return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one trace: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Marks the ranks of a list like 0-7,12. */
static hu_status mark_ranks(const char *list, int32_t ranks, bool *marked, hu_error *err)
{
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        char *end;
        errno = 0;
        long from = strtol(p, &end, 10), to = from;
        bool bad = end == p || *p == '-';
        if (!bad && *end == '-') to = strtol(p = end + 1, &end, 10), bad = end == p || *p == '-';
        if (bad || errno || (*end && *end != ',') || from > to) return hu_fail(err, HU_USAGE, "--ranks: '%s' is no list like 0-7,12", list);
        if (to >= ranks) return hu_fail(err, HU_USAGE, "--ranks: there is no rank %ld; the trace has ranks 0 to %d", to, ranks - 1);
        for (long r = from; r <= to; r++) marked[r] = true;
    }
    return HU_OK;
}

/* The head with the streams that stay; *ret_number: their new numbers, -1 for the others. */
static hu_status cut_head(const hu_trace_head *head, const char *ranks, hu_trace_head *ret_head, int32_t **ret_number, hu_error *err)
{
    bool *marked = NULL;
    *ret_head = *head;
    ret_head->stream = NULL;
    ret_head->streams = 0;
    if (hu_alloc_zero(head->ranks, sizeof *marked, "ranks", (void **)&marked, err) == HU_OK && hu_alloc(head->streams, sizeof **ret_number, "streams", (void **)ret_number, err) == HU_OK &&
        hu_alloc(head->streams, sizeof *head->stream, "streams", (void **)&ret_head->stream, err) == HU_OK) {
        if (ranks) mark_ranks(ranks, head->ranks, marked, err);
        else memset(marked, 1, (size_t)head->ranks);
        for (int32_t i = 0; i < head->streams && !err->status; i++) {
            bool stays = marked[head->stream[i].rank];
            (*ret_number)[i] = stays ? ret_head->streams : -1;
            if (stays) ret_head->stream[ret_head->streams++] = head->stream[i];
        }
    }
    hu_free(marked);
    return err->status;
}

static double start_of(const hu_trace_head *head)
{
    double first = INFINITY;
    for (int32_t i = 0; i < head->streams; i++) first = fmin(first, (double)head->stream[i].start + hu_trace_correction(&head->stream[i], 0));
    return first;
}

static hu_status copy_events(const input *in, const options *o, const int32_t *number, hu_trace_writer *w, hu_error *err)
{
    hu_trace_event e;
    double start = start_of(in->head), from = start + o->from * 1e9, to = start + o->to * 1e9;
    bool all = o->from <= 0 && isinf(o->to);
    while (hu_trace_next(in->reader, &e, err) == HU_OK) {
        const hu_trace_stream *s = &in->head->stream[e.stream];
        if (number[e.stream] < 0) continue;
        double at = (double)(s->start + e.enter) + (all ? 0.0 : hu_trace_correction(s, e.enter));
        if (!all && (at < from || at >= to)) continue;
        e.stream = number[e.stream];
        if (hu_trace_put(w, &e, err)) break;
    }
    return err->status;
}

int command_slice(int argc, char **argv)
{
    static const struct argp_option table[] = {{"ranks", KEY_RANKS, "LIST", 0, "keep these ranks only, for instance 0-7,12", 1},
                                               {"from", KEY_FROM, "SECONDS", 0, "keep calls from this time on, counted from the first process's start", 1},
                                               {"to", KEY_TO, "SECONDS", 0, "keep calls before this time", 1}, {0}};
    static const struct argp own = {table, parse, "[FILE]", "Cut some ranks, or a span of time, out of a trace.", NULL, NULL, NULL};
    options o = {.to = INFINITY};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_trace_writer *w = NULL;
    hu_trace_head head = {0};
    int32_t *number = NULL;
    input in;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (input_open(o.path, &in, &err) == HU_OK && cut_head(in.head, o.ranks, &head, &number, &err) == HU_OK) {
        if (in.head->time == HU_TRACE_NONE && (o.from > 0 || !isinf(o.to))) hu_fail(&err, HU_USAGE, "%s has no times: --from and --to cannot be", hu_trace_reader_name(in.reader));
        else if (hu_output_open(common.output, &out, &err) == HU_OK && hu_trace_create(&head, HU_BUNDLE_ZSTD, 3, out, &w, &err) == HU_OK && copy_events(&in, &o, number, w, &err) == HU_OK)
            hu_trace_finish(&w, &err);
    }
    hu_trace_abort(&w);
    hu_free(head.stream);
    hu_free(number);
    input_close(&in);
    return hu_exit(&err, out);
}
