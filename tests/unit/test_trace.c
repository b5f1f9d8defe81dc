/* test_trace.c: streamed bundles and traces: what is written reads back, whatever is damaged is refused. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/random.h"
#include "io/trace.h"
#include "io/varint.h"

#include <string.h>

static hu_source *source_of(const void *bytes, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    ck_assert_ok(hu_source_memory("test", bytes, (int64_t)size, &source, &err));
    return source;
}

START_TEST(varints)
{
    static const uint64_t value[] = {0, 1, 127, 128, 16383, 16384, 1ull << 35, UINT64_MAX - 1, UINT64_MAX};
    static const int bytes[] = {1, 1, 1, 2, 2, 3, 6, 10, 10};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        uint8_t room[16] = {0};
        ck_assert_int_eq(hu_varint_put(room, value[i]) - room, bytes[i]);
        hu_varint_reader in = {room, room + bytes[i], false};
        ck_assert(hu_varint_get(&in) == value[i] && !in.bad && in.p == in.end);
        hu_varint_reader cut = {room, room + bytes[i] - 1, false};
        hu_varint_get(&cut);
        ck_assert(cut.bad);
    }
    ck_assert_uint_eq(hu_zigzag(0), 0);
    ck_assert_uint_eq(hu_zigzag(-1), 1);
    ck_assert_uint_eq(hu_zigzag(1), 2);
    ck_assert_int_eq(hu_unzigzag(hu_zigzag(INT64_MIN)), INT64_MIN);
    uint8_t large[11];
    memset(large, 0xff, sizeof large);
    hu_varint_reader in = {large, large + sizeof large, false};
    hu_varint_get(&in);
    ck_assert(in.bad); /* more than 64 bits */
}
END_TEST

/* ---- streamed bundles ---- */

static void write_stream(const char *kind, int major, int minor, const char *const *name, const char *const *text, int n, hu_bundle_filter filter, hu_output **ret_out)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle_outflow *flow;
    json_t *content = json_pack("{s:i}", "x", 5);
    ck_assert_ok(hu_output_memory("memory", ret_out, &err));
    ck_assert_ok(hu_bundle_outflow_open(kind, major, minor, content, filter, 0, *ret_out, &flow, &err));
    for (int i = 0; i < n; i++) ck_assert_ok(hu_bundle_outflow_put(flow, name[i], text[i], (int64_t)strlen(text[i]), &err));
    ck_assert_ok(hu_bundle_outflow_finish(&flow, &err));
    ck_assert_ptr_null(flow);
    json_decref(content);
}

/* Reads all members: how many, and the status at the end. */
static hu_status read_stream(const char *bytes, size_t size, int *ret_members, hu_error *err)
{
    hu_source *source = source_of(bytes, size);
    hu_bundle_inflow *flow;
    const char *name;
    const void *data;
    int64_t length;
    *ret_members = 0;
    hu_status status = hu_bundle_inflow_open(source, "k", 1, &flow, err);
    while (!status && (status = hu_bundle_inflow_next(flow, 1 << 20, &name, &data, &length, err)) == HU_OK) ++*ret_members;
    hu_bundle_inflow_close(flow);
    hu_source_close(source);
    return status;
}

static const char *const names[] = {"b", "a/1", "a/2"}, *const texts[] = {"one", "", "three"};

START_TEST(stream_round_trip)
{
    for (int filter = 0; filter < 2; filter++) {
        hu_error err = HU_ERROR_NONE;
        hu_output *out;
        const char *bytes;
        size_t size;
        write_stream("k", 1, 7, names, texts, 3, filter ? HU_BUNDLE_ZSTD : HU_BUNDLE_PLAIN, &out);
        hu_output_memory_bytes(out, &bytes, &size);
        hu_source *source = source_of(bytes, size);
        hu_bundle_inflow *flow;
        const char *name;
        const void *data;
        int64_t length;
        ck_assert_ok(hu_bundle_inflow_open(source, "k", 1, &flow, &err));
        ck_assert_int_eq(hu_bundle_inflow_minor(flow), 7);
        hu_json_place root = hu_bundle_inflow_root(flow);
        int64_t x;
        ck_assert_ok(hu_json_integer(&root, "x", 0, 9, &x, &err));
        ck_assert_int_eq(x, 5);
        for (int i = 0; i < 3; i++) {
            ck_assert_ok(hu_bundle_inflow_next(flow, 100, &name, &data, &length, &err));
            ck_assert_str_eq(name, names[i]);
            ck_assert_int_eq(length, (int64_t)strlen(texts[i]));
            ck_assert(memcmp(data, texts[i], (size_t)length) == 0);
        }
        ck_assert_int_eq(hu_bundle_inflow_next(flow, 100, &name, &data, &length, &err), HU_END);
        hu_bundle_inflow_close(flow);
        hu_source_close(source);
        hu_output_abort(&out);
    }
}
END_TEST

/* Every cut and every changed bit of a plain one is seen, but for the bits of tar that mean nothing. */
START_TEST(stream_damage)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    const char *bytes;
    size_t size;
    int members;
    write_stream("k", 1, 0, names, texts, 3, HU_BUNDLE_PLAIN, &out);
    hu_output_memory_bytes(out, &bytes, &size);
    ck_assert_int_eq(read_stream(bytes, size, &members, &err), HU_END);
    ck_assert_int_eq(members, 3);
    for (size_t cut = 0; cut + 1024 < size; cut += 97) {
        hu_error cause = HU_ERROR_NONE;
        ck_assert_int_eq(read_stream(bytes, cut, &members, &cause), HU_INPUT);
        ck_assert(cause.message[0] && members <= 3);
    }
    char *copy = malloc(size);
    for (const char *p = strstr(bytes + 512, "one") ? memmem(bytes, size, "three", 5) : NULL; p && p < bytes + size && p < (const char *)memmem(bytes, size, "three", 5) + 9; p++) {
        hu_error cause = HU_ERROR_NONE;
        memcpy(copy, bytes, size);
        copy[p - bytes] ^= 4;
        ck_assert_int_eq(read_stream(copy, size, &members, &cause), HU_INPUT);
        ck_assert(strstr(cause.message, "a/2 is damaged"));
    }
    free(copy);
    hu_output_abort(&out);
    write_stream("other", 1, 0, names, texts, 3, HU_BUNDLE_PLAIN, &out);
    hu_output_memory_bytes(out, &bytes, &size);
    ck_assert_int_eq(read_stream(bytes, size, &members, &err), HU_INPUT);
    ck_assert(strstr(err.message, "of kind 'other'"));
    hu_output_abort(&out);
    hu_error_clear(&err);
    write_stream("k", 2, 0, names, texts, 3, HU_BUNDLE_PLAIN, &out);
    hu_output_memory_bytes(out, &bytes, &size);
    ck_assert_int_eq(read_stream(bytes, size, &members, &err), HU_INPUT);
    ck_assert(strstr(err.message, "newer hpcutils"));
    hu_output_abort(&out);
}
END_TEST

/* ---- traces ---- */

static char send_name[] = "MPI_Send", send_letters[] = "untpgc", wait_name[] = "MPI_Waitall", wait_letters[] = "nRZ", type_name[] = "MPI_Type_contiguous", type_letters[] = "ntY", empty[] = "";
static char basic[] = "MPI_INT";
static int32_t members[] = {0, 1, 2}, some[] = {2, 0}, local0[] = {0, -1, 1}, local1[] = {0, -1}, worlds[] = {3};
static hu_trace_function functions[] = {{send_name, send_letters}, {wait_name, wait_letters}, {type_name, type_letters}, {send_name, empty}};
static hu_trace_type types[] = {{basic, 4}};
static hu_trace_comm comms[] = {{3, -1, members, NULL}, {2, 1, some, members}};
static hu_trace_locals locals[] = {{3, local0}, {2, local1}, {3, local0}};
static char *hosts[] = {basic};
static hu_trace_stream streams[] = {{0, 0, 0, true, 0, 3, 100, {{150, 5000, 20}, {1150, 5100, 20}}}, {0, 1, 0, false, 9, 0, 70, {{0, 0, -1}, {0, 0, -1}}}, {2, 0, 0, true, 0, 0, 0, {{5, 3, 7}, {50, 4, 7}}}};
static const hu_trace_head head = {.command = send_name, .library = basic, .hosts = 1, .functions = 4, .types = 1, .worlds = 1, .ranks = 3, .streams = 3, .comms = 2, .host = hosts,
                                   .function = functions, .type = types, .world = worlds, .stream = streams, .comm = comms, .local = locals};

enum { MOST = 70000 };

/* Event number i of a stream, by the seed alone; big: an array larger than a chunk. */
static hu_trace_event event_of(int32_t stream, int64_t i, int64_t *arg)
{
    hu_random random = hu_random_stream(7, (uint64_t)stream << 32 | (uint64_t)i);
    uint64_t r = hu_random_u64(&random);
    hu_trace_event e = {.stream = stream, .function = (int32_t)(r & 3), .error = (r >> 2 & 15) == 0, .poll = (r >> 6 & 7) == 0, .gap = (r >> 9 & 31) == 0, .enter = 1000 * i + (int64_t)(r >> 14 & 255), .arg = arg};
    e.leave = e.enter + (int64_t)(r >> 22 & 1023) - 20;
    e.count = e.poll ? 1 + (int64_t)(r >> 32 & 0xfffff) : 1;
    e.busy = e.poll ? (int64_t)(r >> 40) : e.leave - e.enter;
    if (e.function == 0 || e.function == 2)
        for (int k = 0; k < 6; k++) arg[e.args++] = k % 2 ? (int64_t)(r ^ 1ull << 63) : (int64_t)(r >> 8 * k & 255);
    if (e.function == 1) {
        int64_t n = i == 500 || i == 501 ? MOST / 4 : (int64_t)(r >> 50 & 3);
        arg[e.args++] = n;
        for (int pass = 1; pass <= 3; pass += 2) {
            arg[e.args++] = n;
            for (int64_t k = 0; k < n * pass; k++) arg[e.args++] = k - 2 + (i == 500 ? INT64_MAX / 2 : 0);
        }
    }
    return e;
}

static void write_trace(int64_t events, hu_output **ret_out)
{
    hu_error err = HU_ERROR_NONE;
    hu_trace_writer *w;
    int64_t *arg = malloc(3 * MOST * sizeof *arg);
    ck_assert_ok(hu_output_memory("memory", ret_out, &err));
    ck_assert_ok(hu_trace_create(&head, HU_BUNDLE_ZSTD, 1, *ret_out, &w, &err));
    for (int64_t i = 0; i < events; i++)
        for (int32_t s = 0; s < 2; s++) { /* the third has none */
            hu_trace_event e = event_of(s, i, arg);
            ck_assert_ok(hu_trace_put(w, &e, &err));
        }
    ck_assert_ok(hu_trace_end_stream(w, 0, &err));
    ck_assert_ok(hu_trace_finish(&w, &err));
    free(arg);
}

START_TEST(trace_round_trip)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    const char *bytes;
    size_t size;
    int64_t events = 20000, seen[3] = {0}, *arg = malloc(3 * MOST * sizeof *arg);
    write_trace(events, &out);
    hu_output_memory_bytes(out, &bytes, &size);
    hu_source *source = source_of(bytes, size);
    hu_trace_reader *reader;
    ck_assert_ok(hu_trace_open(source, &reader, &err));
    const hu_trace_head *h = hu_trace_reader_head(reader);
    ck_assert_int_eq(h->streams, 3);
    ck_assert_int_eq(h->ranks, 3);
    ck_assert_int_eq(h->comms, 2);
    ck_assert_str_eq(h->function[1].letters, "nRZ");
    ck_assert_int_eq(hu_trace_find(h, "MPI_Waitall"), 1);
    ck_assert_int_eq(hu_trace_find(h, "MPI_Wait"), -1);
    ck_assert(h->comm[1].member[0] == 2 && h->comm[1].member[1] == 0 && h->comm[1].remote == 1 && h->local[2].comm[2] == 1);
    for (int i = 0; i < 3; i++) {
        ck_assert(memcmp(h->stream[i].sync, streams[i].sync, sizeof streams[i].sync) == 0);
        ck_assert(h->stream[i].start == streams[i].start && h->stream[i].finished == streams[i].finished && h->stream[i].dropped == streams[i].dropped);
    }
    hu_trace_event e;
    hu_status status;
    while ((status = hu_trace_next(reader, &e, &err)) == HU_OK) {
        hu_trace_event want = event_of(e.stream, seen[e.stream]++, arg);
        ck_assert(e.function == want.function && e.error == want.error && e.poll == want.poll && e.gap == want.gap && e.enter == want.enter && e.leave == want.leave &&
                  e.count == want.count && e.busy == want.busy && e.args == want.args);
        ck_assert(memcmp(e.arg, want.arg, (size_t)e.args * sizeof *arg) == 0);
    }
    ck_assert_int_eq(status, HU_END);
    ck_assert(seen[0] == events && seen[1] == events && seen[2] == 0);
    hu_trace_close(reader);
    hu_source_close(source);
    hu_output_abort(&out);
    free(arg);
}
END_TEST

/* By hand: between the two measurements the offset moves in a straight line; equal clocks are not touched. */
START_TEST(clocks)
{
    ck_assert(hu_trace_correction(&streams[0], 50) == 5000.0);
    ck_assert(hu_trace_correction(&streams[0], 550) == 5050.0);
    ck_assert(hu_trace_correction(&streams[0], 2050) == 5200.0);
    ck_assert(hu_trace_correction(&streams[1], 50) == 0.0);
    ck_assert(hu_trace_correction(&streams[2], 50) == 0.0);
}
END_TEST

START_TEST(walk)
{
    static const int64_t arg[] = {2, 2, 7, 8, 1, 4, 5, 6};
    hu_trace_event e = {.function = 1, .args = 8, .arg = arg};
    hu_trace_walk w = hu_trace_walk_of(&head, &e);
    const int64_t *value;
    int64_t n;
    ck_assert(hu_trace_walk_next(&w, &value, &n) == 'n' && n == 1 && *value == 2);
    ck_assert(hu_trace_walk_next(&w, &value, &n) == 'R' && n == 2 && value[1] == 8);
    ck_assert(hu_trace_walk_next(&w, &value, &n) == 'Z' && n == 3 && value[2] == 6);
    ck_assert(hu_trace_walk_next(&w, &value, &n) == 0);
}
END_TEST

/* Events whose bytes may be anything, in a bundle that is sound. */
static hu_status read_events(const void *defs, int64_t defs_size, const void *events, int64_t size, hu_error *err)
{
    hu_error own = HU_ERROR_NONE;
    hu_output *out;
    hu_bundle_outflow *flow;
    const char *bytes;
    size_t length;
    json_t *content = json_pack("{s:s, s:i, s:i, s:s, s:s, s:[s], s:[[s,s]], s:[]}", "time", "exact", "error", 0, "coded", 0, "command", "", "library", "", "hosts", "h", "functions", "MPI_Waitall", "nRZ", "types");
    ck_assert_int_eq(hu_output_memory("memory", &out, &own), HU_OK);
    ck_assert_int_eq(hu_bundle_outflow_open(HU_TRACE_KIND, 1, 3, content, HU_BUNDLE_PLAIN, 0, out, &flow, &own), HU_OK);
    hu_bundle_outflow_put(flow, "defs", defs, defs_size, &own);
    hu_bundle_outflow_put(flow, "news/of-a-later-version", "?", 1, &own);
    hu_bundle_outflow_put(flow, "events/000000.0/000000", events, size, &own);
    ck_assert_int_eq(hu_bundle_outflow_finish(&flow, &own), HU_OK);
    json_decref(content);
    hu_output_memory_bytes(out, &bytes, &length);
    hu_source *source = source_of(bytes, length);
    hu_trace_reader *reader;
    hu_trace_event e;
    hu_status status = hu_trace_open(source, &reader, err);
    while (!status && (status = hu_trace_next(reader, &e, err)) == HU_OK) continue;
    hu_trace_close(reader);
    hu_source_close(source);
    hu_output_abort(&out);
    return status;
}

START_TEST(hostile_events)
{
    static const uint8_t defs[] = {2, 2, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 0, 0, 2, 1, 4, 0, 0, 2, 1, 0, 2};
    static const uint8_t sound[] = {0, 1, 0, 0, 2, 4, 4, 2, 0, 2, 0, 0, 0};
    hu_error err = HU_ERROR_NONE;
    hu_status status = read_events(defs, sizeof defs, sound, sizeof sound, &err);
    ck_assert_msg(status == HU_END, "%s", err.message); /* an unknown member and a newer minor version are passed over */
    static const struct {
        uint8_t byte[14];
        int size;
        const char *reason;
    } bad[] = {{{1, 1, 0, 0, 2, 4, 4, 2, 0, 2, 0, 0, 0}, 13, "its stream is not one of the trace"}, {{0, 99, 0, 0, 2, 4, 4, 2, 0, 2, 0, 0, 0}, 13, "fewer events"},
               {{0, 1, 0, 8, 2, 4, 4, 2, 0, 2, 0, 0, 0}, 13, "function is not one"},            {{0, 1, 0, 0, 2, 4, 4, 126, 0, 2, 0, 0, 0}, 13, "array is longer"},
               {{0, 1, 0, 0, 2, 4, 4, 1, 0, 2, 0, 0, 0}, 13, "array is longer"},                {{0, 1, 0, 0, 2, 4, 4, 2, 0, 2, 0, 0}, 12, "cut short"},
               {{0, 1, 0, 0, 2, 4, 4, 2, 0, 2, 0, 0, 0, 0}, 14, "bytes behind the last"},       {{0}, 0, "its stream is not one"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hu_error cause = HU_ERROR_NONE;
        ck_assert_int_eq(read_events(defs, sizeof defs, bad[i].byte, bad[i].size, &cause), HU_INPUT);
        ck_assert_msg(strstr(cause.message, bad[i].reason), "%d: %s", (int)i, cause.message);
    }
    for (size_t cut = 0; cut < sizeof defs; cut++) {
        hu_error cause = HU_ERROR_NONE;
        ck_assert_int_eq(read_events(defs, (int64_t)cut, sound, sizeof sound, &cause), HU_INPUT);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *all = tcase_create("trace");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, varints);
    tcase_add_test(all, stream_round_trip);
    tcase_add_test(all, stream_damage);
    tcase_add_test(all, trace_round_trip);
    tcase_add_test(all, clocks);
    tcase_add_test(all, walk);
    tcase_add_test(all, hostile_events);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
