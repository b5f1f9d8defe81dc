/* fuzz_members.c: any bytes as an archive of named members. Names must be sorted, single and harmless, and each member open and read to its end or fail with a reason. */
#include "config.h"
#include "base/memory.h"
#include "io/members.h"

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

static void read_all(const hu_members *m, int64_t i)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    char *text;
    int64_t size;
    if (hu_members_open(m, i, &source, &err) == HU_OK) {
        if (hu_source_slurp(source, 1 << 24, &text, &size, &err) == HU_OK) hu_free(text);
        hu_source_close(source);
    }
    demand(err.status == HU_OK || err.message[0], "an error that says why");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_members *m;
    if (size > 1 << 16) return 0;
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    hu_status status = hu_members_read(source, "qp-problem", 1, 1 << 24, &m, &err);
    demand(status == err.status && (status == HU_OK) == (m != NULL), "members or an error");
    demand(status == HU_OK || (status == HU_INPUT && err.message[0]), "an error that says why");
    for (int64_t i = 0; m && i < hu_members_count(m) && i < 8; i++) {
        const char *name = hu_members_name(m, i);
        demand(*name && *name != '/' && strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0, "a harmless name");
        demand(i == 0 || strcmp(hu_members_name(m, i - 1), name) < 0, "sorted names");
        demand(hu_members_find(m, name) == i, "a name that is found");
        read_all(m, i);
    }
    hu_members_free(m);
    hu_source_close(source);
    return 0;
}
