/* test_pack.c: what packs traces: grammars, the times coder, events as symbols; whatever goes in comes out. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/random.h"
#include "io/grammar.h"
#include "io/trace.h"
#include "io/trace_times.h"

#include <string.h>

/* ---- grammars ---- */

enum { LENGTH = 400, SEQUENCES = 5 };

/* Sequences that repeat with some noise, by the seed. */
static void make_sequences(uint64_t seed, int32_t sequence[SEQUENCES][LENGTH], int *length, int32_t *ret_terminals)
{
    hu_random r = hu_random_stream(11, seed);
    *ret_terminals = 1 + (int32_t)hu_random_below(&r, 5);
    for (int s = 0; s < SEQUENCES; s++) {
        int period = 1 + (int)hu_random_below(&r, 9), noise = (int)hu_random_below(&r, 50);
        length[s] = (int)hu_random_below(&r, LENGTH);
        for (int i = 0; i < length[s]; i++) {
            bool fresh = i < period || (noise > 0 && hu_random_below(&r, noise + 1) == 0);
            sequence[s][i] = fresh ? (int32_t)hu_random_below(&r, *ret_terminals) : sequence[s][i - period];
        }
    }
}

START_TEST(grammar_round_trip)
{
    static int32_t sequence[SEQUENCES][LENGTH];
    for (uint64_t seed = 0; seed < 500; seed++) {
        hu_error err = HU_ERROR_NONE;
        hu_grammar_maker *maker;
        hu_grammar *g;
        uint8_t *bytes;
        int64_t size;
        int length[SEQUENCES];
        int32_t terminals;
        make_sequences(seed, sequence, length, &terminals);
        ck_assert_ok(hu_grammar_new(&maker, &err));
        for (int s = 0; s < SEQUENCES; s++) {
            for (int i = 0; i < length[s]; i++) ck_assert_ok(hu_grammar_put(maker, sequence[s][i], &err));
            ck_assert_ok(hu_grammar_end_sequence(maker, &err));
        }
        ck_assert_ok(hu_grammar_write(maker, &bytes, &size, &err));
        ck_assert_ok(hu_grammar_read(bytes, size, "test", terminals, &g, &err));
        ck_assert_int_eq(hu_grammar_sequences(g), SEQUENCES);
        for (int s = 0; s < SEQUENCES; s++) {
            hu_grammar_start(g, s);
            for (int i = 0; i < length[s]; i++) ck_assert_int_eq(hu_grammar_next(g), sequence[s][i]);
            ck_assert_int_eq(hu_grammar_next(g), -1);
        }
        hu_grammar_free(g);
        for (int64_t cut = 0; cut < size && seed < 20; cut++) { /* never more than it was, and never a crash */
            hu_error cause = HU_ERROR_NONE;
            ck_assert_int_eq(hu_grammar_read(bytes, cut, "test", terminals, &g, &cause), HU_INPUT);
        }
        hu_free(bytes);
        hu_grammar_drop(maker);
    }
}
END_TEST

static int64_t grammar_size(int64_t rounds, int copies)
{
    hu_error err = HU_ERROR_NONE;
    hu_grammar_maker *maker;
    uint8_t *bytes;
    int64_t size;
    ck_assert_ok(hu_grammar_new(&maker, &err));
    for (int c = 0; c < copies; c++) {
        for (int64_t i = 0; i < rounds; i++)
            for (int32_t k = 0; k < 12; k++) ck_assert_ok(hu_grammar_put(maker, k < 8 ? k % 4 : k, &err));
        ck_assert_ok(hu_grammar_end_sequence(maker, &err));
    }
    ck_assert_ok(hu_grammar_write(maker, &bytes, &size, &err));
    hu_free(bytes);
    hu_grammar_drop(maker);
    return size;
}

/* A thousand times the rounds, or the same sequence again, take no more than an exponent's bytes. */
START_TEST(repetition_is_an_exponent)
{
    int64_t one = grammar_size(100, 1);
    ck_assert_int_le(one, 40);
    ck_assert_int_le(grammar_size(100000, 1), one + 4);
    ck_assert_int_le(grammar_size(100, 64), one + 8);
}
END_TEST

START_TEST(hostile_grammars)
{
    static const struct {
        uint8_t byte[8];
        int size;
        const char *reason;
    } bad[] = {{{9}, 1, "fewer rules"},                {{1, 1, 2, 0}, 4, "names what is not there"}, {{1, 1, 40, 0}, 4, "names what is not there"},
               {{0, 1, 0, 99}, 4, "longer than it"},   {{0, 1, 5, 0}, 4, "fewer sequences"},         {{0, 0, 0}, 3, "bytes behind"},
               {{0, 1, 0, 1, 1}, 5, "cut short"},      {{0, 255, 255, 255, 127}, 5, "too many sequences"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hu_error err = HU_ERROR_NONE;
        hu_grammar *g;
        ck_assert_int_eq(hu_grammar_read(bad[i].byte, bad[i].size, "test", 3, &g, &err), HU_INPUT);
        ck_assert_msg(strstr(err.message, bad[i].reason), "%d: %s", (int)i, err.message);
        ck_assert_ptr_null(g);
    }
}
END_TEST

/* ---- times ---- */

static int64_t value_of(int64_t i)
{
    hu_random r = hu_random_stream(3, (uint64_t)i);
    uint64_t v = hu_random_u64(&r);
    return i < 64 ? i : i % 3 ? (int64_t)(v >> 2 >> (v & 63) % 62) : 100 + (int64_t)(v % 300);
}

START_TEST(times_round_trip)
{
    static const int32_t parts[] = {0, 100, 1000, 50000, 100000, 500000};
    enum { N = 20000 };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        hu_error err = HU_ERROR_NONE;
        hu_times *in, *out;
        const uint8_t *bytes;
        uint8_t *copy[2];
        int64_t size[2];
        ck_assert_ok(hu_times_new(parts[k], &in, &err));
        ck_assert_ok(hu_times_new(parts[k], &out, &err));
        for (int part = 0; part < 2; part++) { /* models live on from part to part */
            for (int64_t i = 0; i < N; i++) {
                int64_t v = value_of(i + N * part) % (INT64_MAX / 4);
                ck_assert_ok(hu_times_put(in, (uint32_t)i % 5, (uint32_t)i % 7, v, &err));
                if (i % 10 == 0) ck_assert_ok(hu_times_put_exact(in, 3, v, &err));
                if (i % 10 == 1) ck_assert_ok(hu_times_put_flag(in, 1, v & 1, &err));
            }
            ck_assert_ok(hu_times_finish(in, &bytes, &size[part], &err));
            copy[part] = malloc((size_t)size[part] + 1);
            memcpy(copy[part], bytes, (size_t)size[part]);
        }
        for (int part = 0; part < 2; part++) {
            hu_times_start(out, copy[part], size[part]);
            for (int64_t i = 0; i < N; i++) {
                int64_t v = value_of(i + N * part) % (INT64_MAX / 4), got = hu_times_get(out, (uint32_t)i % 5, (uint32_t)i % 7);
                ck_assert_int_eq(got, hu_times_rounded(in, v));
                __int128 off = got > v ? got - v : v - got;
                ck_assert(off * HU_TIMES_MILLION <= (__int128)v * parts[k]);
                if (i % 10 == 0) ck_assert_int_eq(hu_times_get_exact(out, 3), v);
                if (i % 10 == 1) ck_assert_int_eq(hu_times_get_flag(out, 1), v & 1);
            }
            ck_assert(!hu_times_overrun(out));
            free(copy[part]);
        }
        hu_times_free(in);
        hu_times_free(out);
    }
}
END_TEST

/* ---- packed traces ---- */

static char texts[][32] = {"MPI_Irecv", "untpgcq", "MPI_Waitall", "nRZ", "MPI_Type_contiguous", "ntY", "MPI_Comm_split", "ciiC", "MPI_Recv", "untpgcs", "MPI_Test", "rfs", "MPI_INT", "x"};
static int32_t members[] = {0, 1, 2}, some[] = {2, 0}, local0[] = {0, -1, 1}, local1[] = {0, -1}, worlds[] = {3};
static hu_trace_function functions[] = {{texts[0], texts[1]}, {texts[2], texts[3]}, {texts[4], texts[5]}, {texts[6], texts[7]}, {texts[8], texts[9]}, {texts[10], texts[11]}};
static hu_trace_type types[] = {{texts[12], 4}};
static hu_trace_comm comms[] = {{3, -1, members, NULL}, {2, -1, some, NULL}};
static hu_trace_locals locals[] = {{3, local0}, {2, local1}, {3, local0}};
static char *hosts[] = {texts[13]};
static hu_trace_stream streams[] = {{.rank = 0, .finished = true, .sync = {{0, 0, -1}, {0, 0, -1}}}, {.rank = 0, .thread = 2, .sync = {{0, 0, -1}, {0, 0, -1}}},
                                    {.rank = 1, .sync = {{0, 0, -1}, {0, 0, -1}}}, {.rank = 2, .sync = {{0, 0, -1}, {0, 0, -1}}}};
static const hu_trace_head head = {.command = texts[13], .library = texts[13], .hosts = 1, .functions = 6, .types = 1, .worlds = 1, .ranks = 3, .streams = 4, .comms = 2, .host = hosts,
                                   .function = functions, .type = types, .world = worlds, .stream = streams, .comm = comms, .local = locals};

/* Event i of a stream by the seed alone; calls that mean nothing must come through as well. */
static hu_trace_event event_of(int32_t stream, int64_t i, int64_t *arg)
{
    hu_random r = hu_random_stream(5, (uint64_t)stream << 40 | (uint64_t)i);
    bool regular = i % 300 < 200;
    hu_trace_event e = {.stream = stream, .function = regular ? (int32_t)(i % 2) : (int32_t)hu_random_below(&r, 6), .arg = arg, .count = 1};
    e.enter = 1000 * i + hu_random_below(&r, 900);
    e.leave = e.enter + hu_random_below(&r, 1500) - 50;
    e.busy = e.leave - e.enter;
    e.poll = e.function == 5 && hu_random_below(&r, 2);
    if (e.poll) e.count = 1 + hu_random_below(&r, 1 << 20), e.busy = hu_random_below(&r, 1 << 20);
    e.error = !regular && hu_random_below(&r, 8) == 0;
    e.gap = !regular && hu_random_below(&r, 8) == 0;
    for (const char *l = functions[e.function].letters; *l; l++) {
        int64_t count = hu_trace_letter_width(*l);
        if (hu_trace_letter_is_array(*l)) {
            arg[e.args] = regular ? 1 : hu_random_below(&r, 4);
            count *= arg[e.args++];
        }
        for (int64_t k = 0; k < count; k++) arg[e.args++] = regular ? (*l == 'p' || (*l == 'Z' && k % 3 == 0) ? (streams[stream].rank + 1) % 3 : 1) : hu_random_below(&r, 9) - 3;
    }
    return e;
}

static void pack(hu_trace_time time, double error, int64_t events, hu_output **ret_out)
{
    hu_error err = HU_ERROR_NONE;
    hu_trace_packer *p;
    int64_t arg[256];
    ck_assert_ok(hu_output_memory("memory", ret_out, &err));
    ck_assert_ok(hu_trace_pack_create(&head, time, error, *ret_out, &p, &err));
    for (int32_t s = 0; s < 4; s++) {
        if (s == 1) continue; /* the second thread of rank 0 alternates with the first */
        for (int64_t i = 0; i < events; i++) {
            hu_trace_event e = event_of(s, i, arg);
            ck_assert_ok(hu_trace_pack_put(p, &e, &err));
            if (s > 0) continue;
            e = event_of(1, i, arg);
            ck_assert_ok(hu_trace_pack_put(p, &e, &err));
        }
    }
    ck_assert_ok(hu_trace_pack_finish(&p, &err));
}

START_TEST(packed_round_trip)
{
    enum { N = 3000 };
    for (int mode = 0; mode < 3; mode++) {
        hu_error err = HU_ERROR_NONE;
        hu_output *out;
        hu_source *source;
        hu_trace_reader *reader;
        hu_trace_event e;
        const char *bytes;
        size_t size;
        int64_t arg[256], seen[4] = {0};
        hu_status status;
        pack((hu_trace_time)mode, 0.1, N, &out);
        hu_output_memory_bytes(out, &bytes, &size);
        ck_assert_ok(hu_source_memory("test", bytes, (int64_t)size, &source, &err));
        ck_assert_ok(hu_trace_open(source, &reader, &err));
        ck_assert_int_eq(hu_trace_reader_head(reader)->time, mode);
        while ((status = hu_trace_next(reader, &e, &err)) == HU_OK) {
            hu_trace_event want = event_of(e.stream, seen[e.stream]++, arg);
            ck_assert(e.function == want.function && e.error == want.error && e.poll == want.poll && e.gap == want.gap && e.args == want.args && e.count == want.count);
            ck_assert_msg(memcmp(e.arg, want.arg, (size_t)e.args * sizeof *arg) == 0, "event %d of stream %d", (int)seen[e.stream], e.stream);
            if (mode == HU_TRACE_EXACT) ck_assert(e.enter == want.enter && e.leave == want.leave && e.busy == want.busy);
            if (mode == HU_TRACE_REL) ck_assert(llabs((e.leave - e.enter) - (want.leave - want.enter)) * 10 <= llabs(want.leave - want.enter));
        }
        ck_assert_msg(status == HU_END, "%s", err.message);
        for (int s = 0; s < 4; s++) ck_assert_int_eq(seen[s], N);
        hu_trace_close(reader);
        hu_source_close(source);
        hu_output_abort(&out);
    }
}
END_TEST

START_TEST(ranks_out_of_order)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    hu_trace_packer *p;
    int64_t arg[256];
    ck_assert_ok(hu_output_memory("memory", &out, &err));
    ck_assert_ok(hu_trace_pack_create(&head, HU_TRACE_EXACT, 0.0, out, &p, &err));
    hu_trace_event e = event_of(3, 0, arg);
    ck_assert_ok(hu_trace_pack_put(p, &e, &err));
    e = event_of(0, 0, arg);
    ck_assert_int_eq(hu_trace_pack_put(p, &e, &err), HU_INPUT);
    ck_assert(strstr(err.message, "rank 0 come too late"));
    hu_trace_pack_abort(&p);
    hu_output_abort(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pack");
    TCase *all = tcase_create("pack");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, grammar_round_trip);
    tcase_add_test(all, repetition_is_an_exponent);
    tcase_add_test(all, hostile_grammars);
    tcase_add_test(all, times_round_trip);
    tcase_add_test(all, packed_round_trip);
    tcase_add_test(all, ranks_out_of_order);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
