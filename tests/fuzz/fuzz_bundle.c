/* fuzz_bundle.c: any bytes as a bundle, and as a JSON document. What is read must match its manifest and, written again, read back the same. */
#include "config.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "io/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void try_bundle(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_bundle *b;
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    hu_status status = hu_bundle_read(source, "test-kind", 1, 1 << 24, &b, &err);
    demand(status == err.status && (status == HU_OK) == (b != NULL), "a bundle or an error");
    demand(status == HU_OK || (status == HU_INPUT && err.message[0]), "an error that says why");
    if (b) {
        static const char *const names[] = {"empty", "longs", "part/values.f8", "rows.i4"};
        hu_json_place root = hu_bundle_root(b);
        demand(json_is_object(root.value), "content");
        for (int i = 0; i < 4; i++) {
            const void *bytes;
            int64_t count;
            if (!hu_bundle_has(b, names[i])) continue;
            demand(hu_bundle_get(b, names[i], &bytes, &count, &err) == HU_OK, "a member that is there");
            hu_crc32c(0, bytes, (size_t)count); /* touches every byte */
        }
    }
    hu_bundle_free(b);
    hu_source_close(source);
}

static void try_json(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    json_t *a, *b;
    char *text, *again;
    int64_t length, length_again;
    if (hu_json_parse((const char *)data, (int64_t)size, "fuzz", &a, &err)) {
        demand(err.status == HU_INPUT && err.message[0] && !a, "an error that says why");
        return;
    }
    demand(hu_json_print(a, &text, &length, &err) == HU_OK, "printing");
    demand(hu_json_parse(text, length, "printed", &b, &err) == HU_OK && json_equal(a, b), "what is printed reads back");
    demand(hu_json_print(b, &again, &length_again, &err) == HU_OK && length == length_again && memcmp(text, again, (size_t)length) == 0, "the same text");
    hu_free(text);
    hu_free(again);
    json_decref(a);
    json_decref(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16) return 0;
    try_bundle(data, size);
    try_json(data, size);
    return 0;
}
