/* report.c: one row a run, appended to a CSV file. */
#include "config.h"
#include "io/report.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char *bytes;
    int64_t size, room;
} text;

struct hu_report {
    text header, rows;
    bool first_row;
    int64_t fields; /* in the row so far */
};

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

hu_status hu_report_new(hu_report **ret_report, hu_error *err)
{
    *ret_report = calloc(1, sizeof **ret_report);
    if (!*ret_report) return hu_fail(err, HU_SYSTEM, "out of memory");
    (*ret_report)->first_row = true;
    return HU_OK;
}

void hu_report_free(hu_report *report)
{
    if (!report) return;
    hu_free(report->header.bytes);
    hu_free(report->rows.bytes);
    free(report);
}

/* Appends a field to a line that always ends with a line feed. */
static hu_status add_field(text *t, bool first, const char *bytes, size_t size, bool quote, hu_error *err)
{
    if (hu_grow((void **)&t->bytes, &t->room, t->size + 2 * (int64_t)size + 4, 1, "a report", err)) return err->status;
    if (!first) t->bytes[t->size - 1] = ',';
    char *field = t->bytes + t->size;
    if (quote) size = hu_csv_quote(bytes, size, ',', field);
    else memcpy(field, bytes, size);
    field[size] = '\n';
    t->size += (int64_t)size + 1;
    return HU_OK;
}

static hu_status add(hu_report *report, const char *column, const char *value, size_t size, bool quote, hu_error *err)
{
    bool first = report->fields++ == 0;
    if (report->first_row && add_field(&report->header, first, column, strlen(column), true, err)) return err->status;
    return add_field(&report->rows, first, value, size, quote, err);
}

hu_status hu_report_text(hu_report *report, const char *column, const char *value, hu_error *err)
{
    return value ? add(report, column, value, strlen(value), true, err) : add(report, column, "", 0, false, err);
}

hu_status hu_report_integer(hu_report *report, const char *column, int64_t value, hu_error *err)
{
    char digits[HU_NUMBER_SIZE];
    return add(report, column, digits, hu_number_print_integer(value, digits), false, err);
}

hu_status hu_report_number(hu_report *report, const char *column, double value, hu_error *err)
{
    char digits[HU_NUMBER_SIZE];
    return add(report, column, digits, isnan(value) ? 0 : hu_number_print(value, digits), false, err);
}

void hu_report_next_row(hu_report *report)
{
    report->first_row = false;
    report->fields = 0;
}

hu_status hu_report_write(const hu_report *report, bool header, hu_output *out, hu_error *err)
{
    if (header && hu_output_write(out, report->header.bytes, (size_t)report->header.size, err)) return err->status;
    return hu_output_write(out, report->rows.bytes, (size_t)report->rows.size, err);
}

/* ---- appending ------------------------------------------------------------------------------------------------------- */

static hu_status read_start(int fd, const char *path, char *bytes, size_t size, size_t *ret_size, hu_error *err)
{
    for (*ret_size = 0; *ret_size < size;) {
        ssize_t n = pread(fd, bytes + *ret_size, size - *ret_size, (off_t)*ret_size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hu_fail_errno(err, errno, path, "read failed");
        if (n == 0) break;
        *ret_size += (size_t)n;
    }
    return HU_OK;
}

/* HU_INPUT unless the file's first line is the report's header (LF or CRLF, with or without a byte order mark) and the file ends a line. */
static hu_status check_header(const hu_report *report, int fd, int64_t file_size, const char *path, hu_error *err)
{
    size_t size = (size_t)report->header.size, read;
    void *block;
    if (hu_alloc((int64_t)size + 4, 1, "a header", &block, err)) return err->status;
    char *found = block, last = '\n';
    hu_status status = read_start(fd, path, found, size + 4, &read, err);
    char *line = read >= 3 && memcmp(found, "\xef\xbb\xbf", 3) == 0 ? found + 3 : found;
    char *newline = status ? NULL : memchr(line, '\n', (size_t)(found + read - line));
    size_t length = newline ? (size_t)(newline - line) : (size_t)(found + read - line);
    if (newline && length > 0 && line[length - 1] == '\r') length--;
    if (!status && (length != size - 1 || memcmp(line, report->header.bytes, size - 1) != 0))
        status = hu_fail_line(err, path, 1, "the file has another header (%.*s%s) than this report (%.*s)", length < 200 ? (int)length : 200, line,
                              newline ? "" : "...", size - 1 < 400 ? (int)size - 1 : 400, report->header.bytes);
    if (!status && (pread(fd, &last, 1, file_size - 1) != 1 || last != '\n'))
        status = hu_fail_line(err, path, 0, "the file's last line has no end, so no row can be appended");
    hu_free(block);
    return status;
}

static hu_status write_at_end(int fd, const char *path, const text *t, hu_error *err)
{
    for (int64_t done = 0; done < t->size;) {
        ssize_t n = write(fd, t->bytes + done, (size_t)(t->size - done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hu_fail_errno(err, errno, path, "write failed");
        done += n;
    }
    return HU_OK;
}

/* Appends under the lock; what was written of a row that failed is cut off again. */
static hu_status append_locked(const hu_report *report, int fd, const char *path, hu_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return hu_fail_errno(err, errno, path, "cannot be read");
    hu_status status = HU_OK;
    bool regular = S_ISREG(st.st_mode), header = !regular || st.st_size == 0;
    if (!header) status = check_header(report, fd, st.st_size, path, err);
    if (status) return status;
    if (header) status = write_at_end(fd, path, &report->header, err);
    if (!status) status = write_at_end(fd, path, &report->rows, err);
    if (!status && regular && fsync(fd) != 0) status = hu_fail_errno(err, errno, path, "write failed");
    if (status && regular && ftruncate(fd, st.st_size) != 0) hu_warn("%s: an incomplete row could not be taken back: %s", path, strerror(errno));
    return status;
}

hu_status hu_report_append(const hu_report *report, const char *path, hu_error *err)
{
    if (strcmp(path, "-") == 0) {
        hu_output *out;
        if (hu_output_open(path, &out, err)) return err->status;
        hu_status status = hu_report_write(report, true, out, err);
        if (!status) status = hu_output_flush(out, err);
        hu_output_abort(&out); /* leaves standard output open */
        return status;
    }
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 && (errno == ENXIO || errno == EINVAL || errno == EACCES)) fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) return hu_fail_errno(err, errno, path, "cannot be written");
    while (flock(fd, LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        if (errno == ENOLCK || errno == EINVAL || errno == EOPNOTSUPP) break; /* a file system or device without locks */
        hu_fail_errno(err, errno, path, "cannot be locked");
        close(fd);
        return err->status;
    }
    hu_status status = append_locked(report, fd, path, err);
    if (close(fd) != 0 && !status) status = hu_fail_errno(err, errno, path, "close failed");
    return status;
}
