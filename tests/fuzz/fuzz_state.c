/* fuzz_state.c: any bytes as a journal of a search, and any records in a journal that is whole. The first byte chooses; records end at zero bytes. */
#include "config.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void try_bytes(const void *bytes, int64_t size)
{
    hu_error err = HU_ERROR_NONE;
    state *s = NULL;
    state_result *result;
    int64_t count;
    double value;
    hu_status status = state_memory("fuzz", bytes, size, &s, &err);
    demand(status == err.status && (status == HU_OK) == (s != NULL), "a state or an error");
    demand(status == HU_OK || status == HU_SYSTEM || (status == HU_INPUT && err.message[0]), "an error that says why");
    if (!s) return;
    if (s->set) {
        demand(state_results(s, &result, &count, &err) == HU_OK && count <= s->runs, "results");
        hu_free(result);
        demand(campaign_best(s, &value, &err) < s->set->rows, "the best");
        for (int64_t i = 0; i < s->set->rows; i++)
            for (int32_t c = 0; c < s->set->columns; c++) demand(strlen(configs_text(s->set, i, c)) < (size_t)size + 64, "a text");
    }
    state_close(s);
}

/* A journal whose checksums are right. */
static void try_records(const uint8_t *data, size_t size)
{
    size_t room = 64 + 32 * (size + 2) + size, used = 19;
    char *bytes = malloc(room);
    uint32_t crc = 0;
    memcpy(bytes, "hpcutils-journal 1\n", 19);
    for (size_t from = 0, to; from < size; from = to + 1) {
        for (to = from; to < size && data[to]; to++) continue;
        crc = hu_crc32c(crc, data + from, to - from);
        snprintf(bytes + used, 19, "%08x %08x ", (unsigned)(to - from), crc);
        snprintf(bytes + used + 18, 10, "%08x ", hu_crc32c(0, bytes + used, 18));
        memcpy(bytes + used + 27, data + from, to - from);
        used += 27 + to - from;
        bytes[used++] = '\n';
    }
    try_bytes(bytes, (int64_t)used);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_set_verbosity(-1);
    if (size < 1) return 0;
    if (data[0] == 'r') try_records(data + 1, size - 1);
    else try_bytes(data + 1, (int64_t)size - 1);
    return 0;
}
