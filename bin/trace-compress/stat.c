/* stat.c: trace-compress stat: sums of a trace by function, rank, communicator or message size, as CSV. */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "input.h"
#include "io/csv.h"
#include "traffic.h"

typedef struct {
    const char *path;
    int by;
} options;

enum { KEY_BY = 0x100 };
enum { BY_FUNC, BY_RANK, BY_COMM, BY_SIZE };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const ways[] = {"func", "rank", "comm", "size"};
    options *o = state->input;
    switch (key) {
    case KEY_BY: o->by = hu_option_word(state, "--by", arg, ways, 4); return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one trace: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

typedef struct {
    int64_t calls, polls, errors, time, messages, sent, received, first, last;
} sum;

/* Which sum an event belongs to; sizes are of messages: by their highest bit, 0 for empty ones. */
static int64_t group_of(const input *in, const hu_trace_event *e, const traffic_result *r, int by)
{
    if (by == BY_FUNC) return e->function;
    if (by == BY_RANK) return e->stream;
    return r->local < 0 ? -1 : r->comm < 0 ? in->head->comms : r->comm;
}

static int size_class(int64_t bytes)
{
    return bytes <= 0 ? 0 : 64 - __builtin_clzll((uint64_t)bytes);
}

static void count_event(sum *s, const hu_trace_event *e, const traffic_result *r)
{
    if (s->calls + s->polls == 0) s->first = e->enter;
    if (e->poll) s->polls += e->count;
    else s->calls++;
    s->errors += e->error;
    s->time += e->busy;
    s->messages += r->messages;
    for (int64_t i = 0; i < r->messages; i++) s->sent += r->message[i].bytes;
    s->received += r->received;
    s->last = e->leave;
}

static hu_status sum_up(const input *in, const options *o, traffic *t, sum *s, hu_error *err)
{
    hu_trace_event event;
    traffic_result r;
    hu_status status;
    while ((status = hu_trace_next(in->reader, &event, err)) == HU_OK) {
        if (traffic_of(t, &event, false, &r, err)) break;
        if (o->by == BY_SIZE) {
            for (int64_t i = 0; i < r.messages; i++) {
                sum *c = &s[size_class(r.message[i].bytes)];
                c->messages++;
                c->sent += r.message[i].bytes;
            }
            continue;
        }
        int64_t group = group_of(in, &event, &r, o->by);
        if (group >= 0) count_event(&s[group], &event, &r);
    }
    return err->status;
}

static void put_integers(hu_csv_writer *w, const int64_t *value, int n, hu_error *err)
{
    for (int i = 0; i < n; i++) hu_csv_put_integer(w, value[i], err);
    hu_csv_end_row(w, err);
}

static void put_header(hu_csv_writer *w, const char *const *name, int n, hu_error *err)
{
    for (int i = 0; i < n; i++) hu_csv_put_text(w, name[i], err);
    hu_csv_end_row(w, err);
}

static hu_status print_sums(const input *in, const options *o, const sum *s, int64_t groups, hu_output *out, hu_error *err)
{
    static const char *const func[] = {"function", "calls", "polls", "errors", "time_ns", "messages", "bytes_sent", "bytes_received"};
    static const char *const rank[] = {"rank", "thread", "finished", "dropped", "nested", "calls", "polls", "errors", "mpi_ns", "span_ns", "messages", "bytes_sent", "bytes_received"};
    static const char *const comm[] = {"comm", "size", "calls", "polls", "time_ns", "messages", "bytes_sent"};
    static const char *const size[] = {"bytes_from", "bytes_to", "messages", "bytes_sent"};
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (o->by == BY_FUNC) put_header(&w, func, 8, err);
    else if (o->by == BY_RANK) put_header(&w, rank, 13, err);
    else if (o->by == BY_COMM) put_header(&w, comm, 7, err);
    else put_header(&w, size, 4, err);
    for (int64_t i = 0; i < groups && !err->status; i++) {
        const sum *g = &s[i];
        if (o->by == BY_FUNC) {
            hu_csv_put_text(&w, in->head->function[i].name, err);
            put_integers(&w, (int64_t[]){g->calls, g->polls, g->errors, g->time, g->messages, g->sent, g->received}, 7, err);
        } else if (o->by == BY_RANK) {
            const hu_trace_stream *t = &in->head->stream[i];
            put_integers(&w, (int64_t[]){t->rank, t->thread, t->finished, t->dropped, t->nested, g->calls, g->polls, g->errors, g->time, g->last - g->first, g->messages, g->sent, g->received}, 13, err);
        } else if (o->by == BY_COMM && g->calls + g->polls > 0) {
            put_integers(&w, (int64_t[]){i < in->head->comms ? i : -1, i < in->head->comms ? in->head->comm[i].size : 1, g->calls, g->polls, g->time, g->messages, g->sent}, 7, err);
        } else if (o->by == BY_SIZE && g->messages > 0) {
            put_integers(&w, (int64_t[]){i ? (int64_t)1 << (i - 1) : 0, i ? (int64_t)(((uint64_t)1 << i) - 1) : 0, g->messages, g->sent}, 4, err);
        }
    }
    return err->status;
}

int command_stat(int argc, char **argv)
{
    static const struct argp_option table[] = {{"by", KEY_BY, "WHAT", 0, "func (default), rank, comm (communicator; -1 is SELF), or size (of messages)", 1}, {0}};
    static const struct argp own = {table, parse, "[FILE]", "Print calls, times and bytes of a trace by function, rank, communicator or message size (CSV).", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    traffic *t = NULL;
    sum *s = NULL;
    input in;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (input_open(o.path, &in, &err) == HU_OK) {
        int64_t groups = o.by == BY_FUNC ? in.head->functions : o.by == BY_RANK ? in.head->streams : o.by == BY_COMM ? in.head->comms + 1 : 65;
        if (traffic_new(in.head, &t, &err) == HU_OK && hu_alloc_zero(groups, sizeof *s, "sums", (void **)&s, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK &&
            sum_up(&in, &o, t, s, &err) == HU_OK)
            print_sums(&in, &o, s, groups, out, &err);
    }
    hu_free(s);
    traffic_free(t);
    input_close(&in);
    return hu_exit(&err, out);
}
