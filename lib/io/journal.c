/* journal.c: an append-only file of records that several processes share and that survives their death. */
#include "config.h"
#include "io/journal.h"
#include "base/crc32c.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "hpcutils-journal 1\n";

enum { FIRST = sizeof first_line - 1, HEAD = 27, COVERED = 18 };
static const int64_t MOST = (int64_t)1 << 31;

struct hu_journal {
    char *name;
    int fd;             /* -1: in memory */
    char *own;          /* the bytes, where they are ours */
    const char *bytes;
    int64_t size;       /* of whole records */
    int64_t torn;
    int64_t next, last; /* where the next record begins, and where the last given one did */
    uint32_t crc;       /* of the record before `next` */
};

static bool read_word(const char *p, uint32_t *ret)
{
    uint32_t v = 0;
    for (int i = 0; i < 8; i++) {
        const char *digits = "0123456789abcdef", *at = memchr(digits, p[i], 16);
        if (!at) return false;
        v = v << 4 | (uint32_t)(at - digits);
    }
    *ret = v;
    return p[8] == ' ';
}

/* A record at `at`: HU_OK with its text, HU_END where the bytes end in it, HU_INPUT. */
static hu_status record_at(const hu_journal *j, int64_t at, int64_t size, uint32_t before, int64_t *ret_length, uint32_t *ret_crc, hu_error *err)
{
    uint32_t length, crc, head;
    if (size - at < HEAD) return HU_END;
    const char *p = j->bytes + at;
    if (!read_word(p, &length) || !read_word(p + 9, &crc) || !read_word(p + 18, &head) || hu_crc32c(0, p, COVERED) != head)
        return hu_fail_byte(err, j->name, at, "the head of a record is damaged");
    if ((int64_t)length > MOST) return hu_fail_byte(err, j->name, at, "a record of %u bytes", length);
    if (size - at < HEAD + (int64_t)length + 1) return HU_END;
    if (hu_crc32c(before, p + HEAD, length) != crc) return hu_fail_byte(err, j->name, at, "a record is damaged (its checksum differs)");
    if (p[HEAD + length] != '\n') return hu_fail_byte(err, j->name, at + HEAD + length, "a record does not end in a newline");
    *ret_length = length;
    *ret_crc = crc;
    return HU_OK;
}

/* Checks all records; what is torn at the end leaves the size. */
static hu_status check(hu_journal *j, int64_t size, hu_error *err)
{
    int64_t at = FIRST, length = 0;
    uint32_t crc = 0;
    if (memcmp(j->bytes, first_line, (size_t)(size < FIRST ? size : FIRST))) return hu_fail_byte(err, j->name, 0, "this is no journal of hpcutils (version 1)");
    if (size < FIRST) {
        j->torn = size;
        return HU_OK;
    }
    for (;;) {
        hu_status status = record_at(j, at, size, crc, &length, &crc, err);
        if (status == HU_INPUT) return status;
        if (status == HU_END) break;
        at += HEAD + length + 1;
    }
    j->size = at;
    j->torn = size - at;
    j->next = FIRST;
    return HU_OK;
}

static hu_status new_journal(const char *name, hu_journal **ret, hu_error *err)
{
    if (hu_alloc_zero(1, sizeof **ret, "a journal", (void **)ret, err)) return err->status;
    (*ret)->fd = -1;
    (*ret)->name = strdup(name);
    return (*ret)->name ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

hu_status hu_journal_memory(const char *name, const void *bytes, int64_t size, hu_journal **ret_journal, hu_error *err)
{
    hu_journal *j = NULL;
    if (new_journal(name, &j, err) == HU_OK) {
        j->bytes = bytes;
        if (check(j, size, err) == HU_OK) {
            *ret_journal = j;
            return HU_OK;
        }
    }
    hu_journal_close(j);
    return err->status;
}

/* The name and the descriptor must be of one file: another process may have removed it before we had the lock. */
static hu_status open_locked(hu_journal *j, bool create, hu_error *err)
{
    for (;;) {
        struct stat here, there;
        j->fd = open(j->name, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
        if (j->fd < 0) return hu_fail_errno(err, errno, j->name, "open");
        while (flock(j->fd, LOCK_EX))
            if (errno != EINTR) return hu_fail_errno(err, errno, j->name, "lock");
        if (fstat(j->fd, &here)) return hu_fail_errno(err, errno, j->name, "stat");
        if (!S_ISREG(here.st_mode)) return hu_fail(err, HU_SYSTEM, "%s: a journal must be a regular file", j->name);
        if (stat(j->name, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino) return HU_OK;
        close(j->fd);
        j->fd = -1;
    }
}

static hu_status read_all(hu_journal *j, int64_t *ret_size, hu_error *err)
{
    struct stat s;
    int64_t got = 0;
    if (fstat(j->fd, &s)) return hu_fail_errno(err, errno, j->name, "stat");
    if (hu_alloc((int64_t)s.st_size, 1, j->name, (void **)&j->own, err)) return err->status;
    while (got < (int64_t)s.st_size) {
        ssize_t n = pread(j->fd, j->own + got, (size_t)(s.st_size - got), got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hu_fail_errno(err, errno, j->name, "read");
        if (n == 0) break;
        got += n;
    }
    j->bytes = j->own;
    *ret_size = got;
    return HU_OK;
}

/* The folder too, so that a new file is there after a power cut. */
static void sync_folder(const char *path)
{
    char *copy = strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash) slash[slash == copy] = '\0';
    int fd = copy ? open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(copy);
}

static hu_status write_all(hu_journal *j, const char *bytes, int64_t size, hu_error *err)
{
    for (int64_t done = 0; done < size;) {
        ssize_t n = pwrite(j->fd, bytes + done, (size_t)(size - done), j->size + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            hu_fail_errno(err, errno, j->name, "write");
            if (ftruncate(j->fd, j->size)) hu_warn("%s: what was written of the record stays behind; the next run drops it", j->name);
            return err->status;
        }
        done += n;
    }
    if (fsync(j->fd)) return hu_fail_errno(err, errno, j->name, "sync");
    j->size += size;
    return HU_OK;
}

hu_status hu_journal_open(const char *path, bool create, hu_journal **ret_journal, hu_error *err)
{
    hu_journal *j = NULL;
    int64_t size = 0;
    if (new_journal(path, &j, err) || open_locked(j, create, err) || read_all(j, &size, err) || check(j, size, err)) goto failed;
    if (j->torn) {
        hu_warn("%s: the last %lld bytes are of a record that was cut while it was written: dropped", path, (long long)j->torn);
        if (ftruncate(j->fd, j->size)) {
            hu_fail_errno(err, errno, path, "truncate");
            goto failed;
        }
    }
    if (j->size == 0) {
        if (write_all(j, first_line, FIRST, err)) goto failed;
        sync_folder(path);
        j->next = FIRST;
    }
    *ret_journal = j;
    return HU_OK;
failed:
    hu_journal_close(j);
    return err->status;
}

void hu_journal_close(hu_journal *j)
{
    if (!j) return;
    if (j->fd >= 0) close(j->fd);
    hu_free(j->own);
    free(j->name);
    hu_free(j);
}

hu_status hu_journal_next(hu_journal *j, const char **ret_text, int64_t *ret_size, hu_error *err)
{
    if (j->next >= j->size) return HU_END;
    if (record_at(j, j->next, j->size, j->crc, ret_size, &j->crc, err)) return err->status;
    *ret_text = j->bytes + j->next + HEAD;
    j->last = j->next;
    j->next += HEAD + *ret_size + 1;
    return HU_OK;
}

hu_status hu_journal_fail(const hu_journal *j, hu_error *err, const char *format, ...)
{
    char reason[HU_ERROR_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return hu_fail_byte(err, j->name, j->last, "%s", reason);
}

hu_status hu_journal_append(hu_journal *j, const char *text, int64_t size, hu_error *err)
{
    char *record;
    if (size > MOST) return hu_fail(err, HU_INPUT, "%s: a record of %lld bytes is too long", j->name, (long long)size);
    if (hu_alloc(HEAD + size + 2, 1, "a record", (void **)&record, err)) return err->status;
    uint32_t crc = hu_crc32c(j->crc, text, (size_t)size);
    snprintf(record, HEAD + 1, "%08x %08x ", (unsigned)size, crc);
    snprintf(record + COVERED, HEAD + 1 - COVERED, "%08x ", hu_crc32c(0, record, COVERED));
    memcpy(record + HEAD, text, (size_t)size);
    record[HEAD + size] = '\n';
    if (write_all(j, record, HEAD + size + 1, err) == HU_OK) {
        j->crc = crc;
        j->next = j->size;
    }
    hu_free(record);
    return err->status;
}

const char *hu_journal_name(const hu_journal *j)
{
    return j->name;
}

int64_t hu_journal_torn(const hu_journal *j)
{
    return j->torn;
}
