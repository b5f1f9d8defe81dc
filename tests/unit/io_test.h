/* io_test.h: bytes to sources and outputs to bytes, for the tests of lib/io. */
#ifndef HU_IO_TEST_H
#define HU_IO_TEST_H

#include "base/output.h"
#include "hu_test.h"
#include "io/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static inline hu_source *source_of(const void *bytes, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    ck_assert_ok(hu_source_memory("test", bytes, (int64_t)size, &source, &err));
    return source;
}

#define source_of_text(text) source_of(text, strlen(text))

/* A source that is a pipe, which a child fills in pieces of `piece` bytes. */
static inline hu_source *source_through_pipe(const void *bytes, size_t size, size_t piece)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    int ends[2];
    char path[64];
    ck_assert_int_eq(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[0]);
        for (size_t done = 0; done < size; done += piece) {
            size_t n = size - done < piece ? size - done : piece;
            if (write(ends[1], (const char *)bytes + done, n) != (ssize_t)n) break;
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    ck_assert_ok(hu_source_open(path, hu_source_as_it_is, &source, &err));
    close(ends[0]);
    return source;
}

/* A file without a name in any folder that the test needs to know; *ret_path is its path while fd is open. */
static inline int scratch_file(char path[64])
{
    int fd = memfd_create("hu_test", 0);
    ck_assert_int_ge(fd, 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static inline hu_source *source_of_file(const void *bytes, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    char path[64];
    int fd = scratch_file(path);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    ck_assert_ok(hu_source_open(path, hu_source_as_it_is, &source, &err));
    close(fd);
    return source;
}

/* An output into a temporary file; collect() ends it and gives what was written (free it). */
static char collect_path[] = "/tmp/hu_test_XXXXXX";

static inline hu_output *output_to_collect(void)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    strcpy(collect_path, "/tmp/hu_test_XXXXXX");
    int fd = mkstemp(collect_path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_ok(hu_output_open(collect_path, &out, &err));
    return out;
}

static inline char *collect(hu_output *out, size_t *ret_size)
{
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(hu_output_commit(&out, &err));
    int fd = open(collect_path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    off_t size = lseek(fd, 0, SEEK_END);
    char *bytes = malloc((size_t)size + 1);
    ck_assert_int_eq(pread(fd, bytes, (size_t)size, 0), size);
    bytes[size] = '\0';
    *ret_size = (size_t)size;
    close(fd);
    unlink(collect_path);
    return bytes;
}

#define ck_assert_fails(call, wanted_status, part)                                                                     \
    do {                                                                                                               \
        hu_status hu_test_status = (call);                                                                             \
        ck_assert_msg(hu_test_status == (wanted_status) && strstr(err.message, part), "%s: status %d: %s", #call,      \
                      (int)hu_test_status, err.message);                                                               \
        hu_error_clear(&err);                                                                                          \
    } while (0)

#endif
