/* fuzz_trace.c: any bytes as a trace: the whole file, and as the members of a sound bundle, events or packed. What is read stays within what the head says. */
#include "config.h"
#include "io/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 20000 };

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void read_trace(const void *bytes, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_trace_reader *reader;
    hu_trace_event e;
    int64_t sum = 0, events = 0;
    demand(hu_source_memory("fuzz", bytes, (int64_t)size, &source, &err) == HU_OK, "a source");
    hu_status status = hu_trace_open(source, &reader, &err);
    demand((status == HU_OK) == (reader != NULL), "a reader or an error");
    while (!status && events++ < MOST && (status = hu_trace_next(reader, &e, &err)) == HU_OK) { /* a few bytes of grammar may stand for more events than time has */
        const hu_trace_head *head = hu_trace_reader_head(reader);
        const int64_t *value;
        int64_t n;
        demand(e.stream >= 0 && e.stream < head->streams && e.function >= 0 && e.function < head->functions && e.count >= 1, "an event of the head");
        hu_trace_walk w = hu_trace_walk_of(head, &e);
        while (hu_trace_walk_next(&w, &value, &n))
            for (int64_t i = 0; i < n; i++) sum ^= value[i];
        demand(w.at == w.end, "arguments as the letters say");
    }
    demand(events > MOST || status == HU_END || (status == HU_INPUT && err.message[0]) || status == HU_SYSTEM, "an error that says why");
    hu_trace_close(reader);
    hu_source_close(source);
    if (sum == 42) putchar(0); /* so that the loop stays */
}

/* The bytes as defs, and one member of events or a grammar and its times: the first byte says how many belong to defs, the second how many to the grammar. */
static void read_members(const uint8_t *data, size_t size, bool packed)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    hu_bundle_outflow *flow = NULL;
    const char *bytes;
    size_t length, defs = size > 0 ? data[0] : 0, grammar = size > 1 && packed ? data[1] : 0, start = packed ? 2 : 1;
    if (size < start + defs + grammar) return;
    json_t *content = json_pack("{s:s, s:i, s:i, s:s, s:s, s:[s], s:[[s,s],[s,s]], s:[]}", "time", "exact", "error", 0, "coded", 0, "command", "", "library", "", "hosts", "h", "functions", "MPI_Waitall", "nRZ",
                                "MPI_Send", "untpgc", "types");
    demand(hu_output_memory("memory", &out, &err) == HU_OK && hu_bundle_outflow_open(HU_TRACE_KIND, 1, 0, content, HU_BUNDLE_PLAIN, 0, out, &flow, &err) == HU_OK, "a bundle");
    data += start;
    size -= start + defs + grammar;
    hu_bundle_outflow_put(flow, "defs", data, (int64_t)defs, &err);
    if (packed) hu_bundle_outflow_put(flow, "grammar", data + defs, (int64_t)grammar, &err);
    hu_bundle_outflow_put(flow, packed ? "time/000000" : "events/000000.0/000000", data + defs + grammar, (int64_t)size, &err);
    demand(hu_bundle_outflow_finish(&flow, &err) == HU_OK, "a bundle");
    json_decref(content);
    hu_output_memory_bytes(out, &bytes, &length);
    read_trace(bytes, length);
    hu_output_abort(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16) return 0;
    read_trace(data, size);
    read_members(data, size, false);
    read_members(data, size, true);
    return 0;
}
