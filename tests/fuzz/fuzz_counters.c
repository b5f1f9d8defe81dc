/* fuzz_counters.c: any bytes as what a probed process left (values, calls) and as what gcov says of it: counters, or an error that says why. */
#include "config.h"
#include "counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static const char *name_place(void *context, uint64_t place)
{
    (void)context;
    return place % 3 ? "a.c:f:1" : NULL;
}

static void take_gcov(const uint8_t *data, size_t size, counters *c, hu_error *err)
{
    json_t *document;
    char *top = NULL;
    if (hu_json_parse((const char *)data, (int64_t)size, "fuzz", &document, err)) return;
    if (counters_common_folder(document, "fuzz", &top, err) == HU_OK) counters_take_gcov(c, document, "fuzz", top ? top : "", err);
    free(top);
    json_decref(document);
}

/* The first byte says what the others are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    counters c = {0};
    hu_error err = HU_ERROR_NONE;
    char path[64];
    if (size == 0) return 0;
    if (data[0] % 3 == 0) {
        take_gcov(data + 1, size - 1, &c, &err);
    } else {
        int fd = memfd_create("fuzz", 0);
        demand(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1), "a file");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (data[0] % 3 == 1) counters_take_values(&c, path, name_place, NULL, &err);
        else counters_take_calls(&c, path, &err);
        close(fd);
    }
    demand(err.status == HU_OK || (err.status == HU_INPUT && err.message[0]), "an error that says why");
    counters_end_process(&c);
    for (int64_t i = 0; i < c.count; i++) demand(counters_find(&c, c.counter[i].name) == &c.counter[i], "a counter is found by its name");
    counters_free(&c);
    return 0;
}
