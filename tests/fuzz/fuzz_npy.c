/* fuzz_npy.c: any bytes as NumPy arrays back to back, from memory and from a pipe. What is read must have the size that its shape says, and must
 * read back from what we write to the same items.
 */
#include "config.h"
#include "base/memory.h"
#include "io/npy.h"

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

static void write_and_read_back(const hu_npy *a)
{
    hu_error err = HU_ERROR_NONE;
    char path[40];
    hu_output *out;
    hu_source *source;
    hu_npy *b;
    int ends[2];
    demand(pipe(ends) == 0, "a pipe");
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    demand(hu_output_open(path, &out, &err) == HU_OK && hu_npy_write(out, a->type, a->dims, a->shape, a->order, a->data, &err) == HU_OK &&
               hu_output_commit(&out, &err) == HU_OK, "writing to a pipe");
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    demand(hu_source_open(path, NULL, &source, &err) == HU_OK && hu_npy_read(source, INT64_MAX, &b, &err) == HU_OK, "reading back");
    demand(b->type == a->type && b->dims == a->dims && b->order == a->order && b->count == a->count, "the same array");
    demand(memcmp(b->data, a->data, (size_t)a->count * hu_npy_size(a->type)) == 0, "the same items");
    hu_npy_free(b);
    hu_source_close(source);
    close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_npy *array;
    hu_status status;
    if (size > 1 << 15) return 0;
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    while ((status = hu_npy_read(source, 1 << 30, &array, &err)) == HU_OK) {
        hu_dense *dense;
        int64_t *items;
        demand(array->count * (int64_t)hu_npy_size(array->type) <= (int64_t)size, "no more items than bytes");
        write_and_read_back(array);
        if (hu_npy_to_integers(array, "fuzz", -1000, 1000, &items, &err) == HU_OK) hu_free(items);
        hu_error_clear(&err);
        if (hu_npy_to_dense(&array, "fuzz", &dense, &err) == HU_OK) hu_dense_free(dense);
        hu_error_clear(&err);
    }
    demand(status == HU_END ? err.status == HU_OK : err.status == HU_INPUT && err.message[0], "an end or an error that says why");
    hu_source_close(source);
    return 0;
}
