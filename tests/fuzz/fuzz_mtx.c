/* fuzz_mtx.c: any bytes as a Matrix Market file. What is read must be a valid matrix, the same from a file and from a
 * pipe and for any number of threads, and must read back from what we write to the same bits; what is refused must be
 * refused with the same words.
 */
#include "config.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/parallel.h"
#include "io/mtx.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIPE = 1 << 20 };

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* Whether the first line that is no comment asks for little memory. What asks for much is for the unit tests. */
static bool is_small(const uint8_t *data, size_t size)
{
    char line[200];
    for (size_t p = 0; p < size;) {
        const uint8_t *end = memchr(data + p, '\n', size - p);
        size_t length = end ? (size_t)(end - data) - p : size - p,
               n = length < sizeof line - 1 ? length : sizeof line - 1;
        for (size_t i = 0; i < n; i++) line[i] = data[p + i] ? (char)data[p + i] : ' ';
        line[n] = '\0';
        p += length + 1;
        const char *first = line + strspn(line, " \t\r\v\f");
        if (*first == '%' || !*first || strncmp(first, "\xef\xbb\xbf", 3) == 0) continue;
        double a = 0, b = 0, c = 0;
        sscanf(first, "%lf %lf %lf", &a, &b, &c);
        return a < 1e5 && b < 1e5 && a * b < 1e6 && c < 1e6;
    }
    return true;
}

static void name_of(int fd, char name[40])
{
    snprintf(name, 40, "/proc/self/fd/%d", fd);
}

/* Opens a stream of the bytes: a file in memory, or a pipe that holds them all. */
static int open_bytes(const uint8_t *data, size_t size, bool as_pipe)
{
    int ends[2];
    if (as_pipe) {
        demand(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, PIPE) >= (int)size, "a pipe");
    } else {
        ends[0] = ends[1] = memfd_create("mtx", 0);
        demand(ends[0] >= 0, "a file in memory");
    }
    demand(write(ends[1], data, size) == (ssize_t)size, "writing");
    if (as_pipe) close(ends[1]);
    return ends[0];
}

static hu_csr *read_fd(int fd, int threads, const hu_mtx_options *options, hu_error *err)
{
    char name[40];
    hu_source *source = NULL;
    hu_csr *csr = NULL;
    name_of(fd, name);
    hu_threads_set(threads);
    if (!hu_source_open(name, ".mtx", &source, err)) hu_mtx_read_csr(source, options, &csr, NULL, err);
    hu_source_close(source);
    close(fd);
    demand((err->status == HU_OK) == (csr != NULL), "a matrix or an error");
    return csr;
}

static bool same(const hu_csr *a, const hu_csr *b)
{
    size_t w = a->is_complex ? 2 : 1;
    if (a->rows != b->rows || a->cols != b->cols || a->nnz != b->nnz || a->is_complex != b->is_complex) return false;
    if (memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr) != 0) return false;
    if (memcmp(a->col, b->col, (size_t)a->nnz * sizeof *a->col) != 0) return false;
    for (size_t k = 0; k < (size_t)a->nnz * w; k++) /* a NaN may change its payload */
        if (memcmp(&a->val[k], &b->val[k], sizeof *a->val) != 0 && (a->val[k] == a->val[k] || b->val[k] == b->val[k]))
            return false;
    return true;
}

static void write_and_read_back(const hu_csr *a)
{
    hu_error err = HU_ERROR_NONE;
    hu_mtx_options options = HU_MTX_DEFAULTS;
    options.keep_nonfinite = true;
    if (a->nnz > PIPE / 80) return;
    int ends[2];
    char name[40];
    hu_output *out = NULL;
    demand(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, PIPE) > 0, "a pipe");
    name_of(ends[1], name);
    demand(hu_output_open(name, &out, &err) == HU_OK && hu_mtx_write_csr(out, a, "c", &err) == HU_OK &&
               hu_output_commit(&out, &err) == HU_OK,
           "writing");
    close(ends[1]);
    hu_csr *b = read_fd(ends[0], 2, &options, &err);
    demand(b && same(a, b), "what is written reads back");
    hu_csr_free(b);
}

static void try(const uint8_t *data, size_t size, const hu_mtx_options *options)
{
    hu_error first = HU_ERROR_NONE, second = HU_ERROR_NONE, err = HU_ERROR_NONE;
    hu_csr *a = read_fd(open_bytes(data, size, false), 1, options, &first);
    hu_csr *b = read_fd(open_bytes(data, size, true), 3, options, &second);
    demand((a == NULL) == (b == NULL), "a file and a pipe are read alike");
    if (a) {
        demand(hu_csr_check(a, "fuzz", &err) == HU_OK, "a valid matrix");
        demand(same(a, b), "the same matrix from a file and a pipe");
        write_and_read_back(a);
    } else {
        const char *one = strrchr(first.message, ':'), *two = strrchr(second.message, ':');
        demand(one && two && (strcmp(one, two) == 0 || strstr(one, "means")),
               "the same message from a file and a pipe");
    }
    hu_csr_free(a);
    hu_csr_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > PIPE / 16 || !is_small(data, size)) return 0;
    hu_set_verbosity(-1);
    hu_mtx_options strict = HU_MTX_DEFAULTS, loose = HU_MTX_DEFAULTS;
    loose = (hu_mtx_options){HU_MTX_UPPER, HU_DUP_LAST, 0.5, true, true};
    try(data, size, &strict);
    try(data, size, &loose);
    return 0;
}
