/* matrix.c: trace-compress matrix: who sends how much to whom, as Matrix Market. */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "input.h"
#include "traffic.h"

typedef struct {
    const char *path;
    int what, collectives;
} options;

enum { KEY_WHAT = 0x100, KEY_COLL };
enum { WHAT_BYTES, WHAT_COUNT };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const whats[] = {"bytes", "count"}, *const collectives[] = {"none", "flat"};
    options *o = state->input;
    switch (key) {
    case KEY_WHAT: o->what = hu_option_word(state, "--what", arg, whats, 2); return 0;
    case KEY_COLL: o->collectives = hu_option_word(state, "--coll", arg, collectives, 2); return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one trace: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

typedef struct {
    int32_t from, to;
    int64_t value;
} entry;

typedef struct {
    int64_t *row; /* [ranks] of the rank that is read; -1: nothing */
    int32_t rank;
    entry *entry;
    int64_t entries, room, unknown;
} sums;

/* The row of a rank that has ended becomes entries. */
static hu_status end_row(sums *s, int32_t ranks, hu_error *err)
{
    for (int32_t to = 0; to < ranks && s->rank >= 0; to++) {
        if (s->row[to] < 0) continue;
        if (hu_grow((void **)&s->entry, &s->room, s->entries + 1, sizeof *s->entry, "the matrix", err)) return err->status;
        s->entry[s->entries++] = (entry){s->rank, to, s->row[to]};
        s->row[to] = -1;
    }
    return HU_OK;
}

static hu_status sum_up(const input *in, const options *o, traffic *t, sums *s, hu_error *err)
{
    hu_trace_event event;
    traffic_result result;
    hu_status status;
    for (int32_t i = 0; i < in->head->ranks; i++) s->row[i] = -1;
    while ((status = hu_trace_next(in->reader, &event, err)) == HU_OK) {
        int32_t rank = in->head->stream[event.stream].rank;
        if (rank != s->rank && end_row(s, in->head->ranks, err)) break;
        s->rank = rank;
        if (traffic_of(t, &event, o->collectives, &result, err)) break;
        for (int64_t i = 0; i < result.messages; i++) {
            int32_t to = result.message[i].to;
            if (to < 0) {
                s->unknown++;
                continue;
            }
            if (s->row[to] < 0) s->row[to] = 0;
            s->row[to] += o->what == WHAT_BYTES ? result.message[i].bytes : 1;
        }
    }
    return err->status ? err->status : end_row(s, in->head->ranks, err);
}

static hu_status print_matrix(const sums *s, const options *o, int32_t ranks, hu_output *out, hu_error *err)
{
    hu_output_printf(out, err, "%%%%MatrixMarket matrix coordinate integer general\n%% %s sent by the row's rank to the column's, ranks from 1%s\n%d %d %lld\n",
                     o->what == WHAT_BYTES ? "bytes" : "messages", o->collectives ? ", collectives straight" : "", ranks, ranks, (long long)s->entries);
    for (int64_t i = 0; i < s->entries && !err->status; i++) hu_output_printf(out, err, "%d %d %lld\n", s->entry[i].from + 1, s->entry[i].to + 1, (long long)s->entry[i].value);
    return err->status;
}

int command_matrix(int argc, char **argv)
{
    static const struct argp_option table[] = {{"what", KEY_WHAT, "WHAT", 0, "bytes (default) or count, of messages", 1},
                                               {"coll", KEY_COLL, "HOW", 0, "collectives: none (default), or flat: each share straight from who has it to who gets it", 1}, {0}};
    static const struct argp own = {table, parse, "[FILE]", "Print who sends how much to whom, as a matrix (Matrix Market).", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    traffic *t = NULL;
    sums s = {.rank = -1};
    input in;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (input_open(o.path, &in, &err) == HU_OK && traffic_new(in.head, &t, &err) == HU_OK && hu_alloc(in.head->ranks, sizeof *s.row, "the matrix", (void **)&s.row, &err) == HU_OK &&
        hu_output_open(common.output, &out, &err) == HU_OK && sum_up(&in, &o, t, &s, &err) == HU_OK) {
        print_matrix(&s, &o, in.head->ranks, out, &err);
        if (s.unknown) hu_warn("%lld messages to processes of other worlds are left out", (long long)s.unknown);
    }
    hu_free(s.row);
    hu_free(s.entry);
    traffic_free(t);
    input_close(&in);
    return hu_exit(&err, out);
}
