/* output.c: where results go. A file appears whole or not at all; standard output is checked to the last byte. */
#include "config.h"
#include "base/output.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, LARGEST_RESERVE = 1 << 16, OPEN_FILES = 16 };

struct hu_output {
    int fd;
    bool standard;      /* standard output */
    bool direct;        /* a device, pipe or socket: no rename at the end */
    bool unnamed;       /* O_TMPFILE: has no name until the commit */
    bool memory;        /* the buffer grows and is all there is */
    bool keep;          /* committed although the answer is no */
    char *name;         /* as the user gave it, for messages */
    char *target;       /* links resolved */
    char *temporary;    /* "" until it has a name */
    int slot;           /* in the table of names to remove on a signal, or -1 */
    size_t used;
    int64_t room;       /* of the buffer */
    char *buffer;
};

/* ---- hidden files are removed when a signal ends the program ------------------------------------------------ */

static char removable[OPEN_FILES][PATH_MAX];
static volatile sig_atomic_t removable_used[OPEN_FILES];
static volatile pid_t owner; /* a forked child must not remove its parent's files */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};
enum { SIGNALS = sizeof ending_signals / sizeof *ending_signals };

static void remove_on_signal(int number)
{
    if (getpid() == owner)
        for (int i = 0; i < OPEN_FILES; i++)
            if (removable_used[i]) unlink(removable[i]);
    signal(number, SIG_DFL);
    raise(number);
}

static void block_signals(sigset_t *ret_before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < SIGNALS; i++) sigaddset(&set, ending_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, ret_before);
}

/* Call with the signals blocked, so that no file can exist that nobody remembers. */
static int remember(const char *path)
{
    static bool installed = false;
    if (!installed) {
        owner = getpid();
        for (int i = 0; i < SIGNALS; i++) {
            struct sigaction old;
            if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
                signal(ending_signals[i], remove_on_signal);
        }
        installed = true;
    }
    for (int i = 0; i < OPEN_FILES; i++) {
        if (removable_used[i] || strlen(path) >= PATH_MAX) continue;
        strcpy(removable[i], path);
        removable_used[i] = 1;
        return i;
    }
    return -1;
}

static void forget(int slot)
{
    if (slot >= 0) removable_used[slot] = 0;
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

static void release(hu_output *out)
{
    free(out->name);
    free(out->target);
    free(out->temporary);
    hu_free(out->buffer);
    free(out);
}

/* The folder of out->target, on the heap. */
static char *folder_of(const char *target)
{
    const char *slash = strrchr(target, '/');
    if (!slash) return strdup(".");
    return strndup(target, slash == target ? 1 : (size_t)(slash - target));
}

static char *hidden_name(const char *target)
{
    char *path = NULL, *folder = folder_of(target);
    if (folder && asprintf(&path, "%s/.hu-XXXXXX", folder) < 0) path = NULL;
    free(folder);
    return path;
}

static bool can_name_unnamed(void)
{
    return access("/proc/self/fd", X_OK) == 0;
}

/* Opens the unnamed or hidden file beside out->target. */
static hu_status open_beside(hu_output *out, hu_error *err)
{
    char *folder = folder_of(out->target);
    if (!folder) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (can_name_unnamed()) out->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(folder);
    out->unnamed = out->fd >= 0;
    if (out->unnamed) return HU_OK;
    sigset_t before;
    out->temporary = hidden_name(out->target);
    if (!out->temporary) return hu_fail(err, HU_SYSTEM, "out of memory");
    block_signals(&before);
    out->fd = mkostemp(out->temporary, O_CLOEXEC);
    int failure = errno;
    if (out->fd >= 0) out->slot = remember(out->temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (out->fd >= 0 && out->slot >= 0) return HU_OK;
    if (out->fd < 0) free(out->temporary), out->temporary = NULL;
    return hu_fail_errno(err, out->fd < 0 ? failure : EMFILE, out->name, "cannot be written");
}

/* What the links at path end in, on the heap, though it may not exist. */
static char *follow_links(const char *path)
{
    char *at = strdup(path);
    for (int hops = 0; at && hops < 40; hops++) {
        char link[PATH_MAX];
        ssize_t n = readlink(at, link, sizeof link - 1);
        if (n < 0) return at;
        link[n] = '\0';
        char *next = NULL, *folder = folder_of(at);
        if (link[0] == '/') next = strdup(link);
        else if (!folder || asprintf(&next, "%s/%s", folder, link) < 0) next = NULL;
        free(folder);
        free(at);
        at = next;
    }
    free(at);
    errno = at ? ELOOP : ENOMEM;
    return NULL;
}

static bool names_descriptor(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/self/fd/", 14) == 0;
}

/* Reasons that would otherwise show only at the rename, after all the work. */
static int cannot_be_named(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if (!*path || !*last) return *path ? EISDIR : ENOENT;
    return strlen(last) > NAME_MAX ? ENAMETOOLONG : 0;
}

static hu_output *new_output(const char *name, hu_error *err)
{
    void *buffer;
    hu_output *out = calloc(1, sizeof *out);
    if (out) out->name = strdup(name);
    if (!out || !out->name) {
        free(out);
        hu_fail(err, HU_SYSTEM, "out of memory");
        return NULL;
    }
    out->slot = -1;
    out->fd = -1;
    if (hu_alloc(BUFFER, 1, "the output buffer", &buffer, err)) {
        release(out);
        return NULL;
    }
    out->buffer = buffer;
    out->room = BUFFER;
    return out;
}

/* Opens a file that is to be replaced as a whole, or written directly where it is no regular file. */
static hu_status open_file(hu_output *out, const char *path, hu_error *err)
{
    struct stat st;
    int reason = cannot_be_named(path);
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) reason = EISDIR;
    if (reason) return hu_fail_errno(err, reason, *path ? path : "''", "cannot be written");
    if (exists && (!S_ISREG(st.st_mode) || names_descriptor(path))) {
        out->direct = true;
        out->fd = open(path, O_WRONLY | O_CLOEXEC | (S_ISREG(st.st_mode) ? O_APPEND : 0));
        return out->fd >= 0 ? HU_OK : hu_fail_errno(err, errno, path, "cannot be written");
    }
    if (exists && access(path, W_OK) != 0) /* a rename would get past a read-only file */
        return hu_fail_errno(err, errno, path, "cannot be written");
    out->target = follow_links(path);
    if (!out->target) return hu_fail_errno(err, errno, path, "cannot be written");
    if (open_beside(out, err)) return err->status;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(out->fd, exists ? st.st_mode & 07777 : 0666 & ~mask) != 0 && errno != EPERM && errno != ENOTSUP)
        return hu_fail_errno(err, errno, path, "its mode cannot be set");
    return HU_OK;
}

hu_status hu_output_open(const char *path, hu_output **ret_out, hu_error *err)
{
    *ret_out = NULL;
    bool standard = !path || strcmp(path, "-") == 0;
    hu_output *out = new_output(standard ? "standard output" : path, err);
    if (!out) return err->status;
    out->standard = standard;
    if (standard) out->fd = STDOUT_FILENO;
    else if (open_file(out, path, err)) hu_output_abort(&out);
    *ret_out = out;
    return err->status;
}

hu_status hu_output_memory(const char *name, hu_output **ret_out, hu_error *err)
{
    hu_output *out = *ret_out = new_output(name, err);
    if (!out) return err->status;
    out->memory = true;
    return HU_OK;
}

void hu_output_memory_bytes(hu_output *out, const char **ret_bytes, size_t *ret_size)
{
    *ret_bytes = out->buffer;
    *ret_size = out->used;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static hu_status write_all(hu_output *out, const char *bytes, size_t size, hu_error *err)
{
    while (size > 0) {
        ssize_t n = write(out->fd, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            hu_fail_errno(err, errno, out->name, "write failed");
            err->quiet = out->standard && errno == EPIPE; /* SIGPIPE was ignored by whoever started us */
            return err->status;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return HU_OK;
}

hu_status hu_output_flush(hu_output *out, hu_error *err)
{
    if (out->memory) return HU_OK;
    size_t used = out->used;
    out->used = 0;
    return write_all(out, out->buffer, used, err);
}

/* Makes room for size more bytes in the buffer; size <= BUFFER unless in memory. */
static hu_status make_room(hu_output *out, size_t size, hu_error *err)
{
    if (size <= (size_t)out->room - out->used) return HU_OK;
    if (!out->memory) return hu_output_flush(out, err);
    void *buffer = out->buffer;
    if (size > (size_t)(INT64_MAX / 4)) return hu_fail(err, HU_SYSTEM, "%s: %zu bytes are too many", out->name, size);
    hu_status status = hu_grow(&buffer, &out->room, (int64_t)(out->used + size), 1, out->name, err);
    out->buffer = buffer;
    return status;
}

hu_status hu_output_write(hu_output *out, const void *bytes, size_t size, hu_error *err)
{
    if (!out->memory && size > BUFFER) {
        hu_status status = hu_output_flush(out, err);
        return status ? status : write_all(out, bytes, size, err);
    }
    if (make_room(out, size, err)) return err->status;
    if (size) memcpy(out->buffer + out->used, bytes, size);
    out->used += size;
    return HU_OK;
}

hu_status hu_output_reserve(hu_output *out, size_t size, char **ret_room, hu_error *err)
{
    if (size > LARGEST_RESERVE) return hu_fail(err, HU_SYSTEM, "%s: %zu bytes do not fit the output buffer", out->name, size);
    if (make_room(out, size, err)) return err->status;
    *ret_room = out->buffer + out->used;
    return HU_OK;
}

void hu_output_used(hu_output *out, size_t size)
{
    out->used += size;
}

hu_status hu_output_printf(hu_output *out, hu_error *err, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) return hu_fail(err, HU_SYSTEM, "%s: a line is too long", out->name);
    return hu_output_write(out, text, (size_t)n, err);
}

const char *hu_output_name(const hu_output *out)
{
    return out->name;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Gives an unnamed file a hidden name, so that it can be renamed over the target. */
static hu_status name_it(hu_output *out, hu_error *err)
{
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", out->fd);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        free(out->temporary);
        out->temporary = hidden_name(out->target);
        if (!out->temporary) return hu_fail(err, HU_SYSTEM, "out of memory");
        size_t length = strlen(out->temporary);
        snprintf(out->temporary + length - 6, 7, "%06x", ((unsigned)getpid() * 131 + attempt) & 0xffffffu);
        sigset_t before;
        block_signals(&before);
        int failed = linkat(AT_FDCWD, from, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW), reason = errno;
        if (!failed) out->slot = remember(out->temporary);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (!failed) return HU_OK;
        free(out->temporary);
        out->temporary = NULL;
        if (reason != EEXIST) return hu_fail_errno(err, reason, out->name, "cannot be named");
    }
    return hu_fail_errno(err, EEXIST, out->name, "cannot be named");
}

hu_status hu_output_commit(hu_output **out_pointer, hu_error *err)
{
    hu_output *out = *out_pointer;
    if (!out) return HU_OK;
    hu_status status = hu_output_flush(out, err);
    if (!status && !out->standard && !out->direct && !out->memory) {
        if (fsync(out->fd) != 0) status = hu_fail_errno(err, errno, out->name, "write failed");
        if (!status && out->unnamed) status = name_it(out, err);
        if (!status && rename(out->temporary, out->target) != 0)
            status = hu_fail_errno(err, errno, out->name, "cannot be renamed into place");
        if (!status) {
            free(out->temporary);
            out->temporary = NULL;
        }
    }
    if (!status && out->fd >= 0) {
        int fd = out->fd;
        out->fd = -1;
        if (close(fd) != 0) status = hu_fail_errno(err, errno, out->name, "close failed");
    }
    hu_output_abort(out_pointer);
    return status;
}

void hu_output_abort(hu_output **out_pointer)
{
    hu_output *out = *out_pointer;
    if (!out) return;
    if (out->fd >= 0 && !out->standard) close(out->fd);
    if (out->temporary) unlink(out->temporary);
    forget(out->slot);
    release(out);
    *out_pointer = NULL;
}

void hu_output_keep(hu_output *out)
{
    out->keep = true;
}

int hu_exit_all(hu_error *err, hu_output **outs, int n)
{
    if (err->status == HU_END) err->status = HU_OK;
    bool failed = err->status != HU_OK && err->status != HU_NO && err->status < HU_PROGRAM; /* else done, or an answer */
    hu_error late = HU_ERROR_NONE;
    for (int i = 0; i < n; i++) {
        bool commit = outs[i] && !failed && late.status == HU_OK && (err->status == HU_OK || outs[i]->keep);
        if (commit) hu_output_commit(&outs[i], &late);
        else hu_output_abort(&outs[i]);
    }
    hu_error_print(err);
    hu_error_print(&late);
    return late.status != HU_OK ? (int)late.status : (int)err->status;
}

int hu_exit(hu_error *err, hu_output *out)
{
    return hu_exit_all(err, &out, 1);
}
