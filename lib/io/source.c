/* source.c: any input as a stream of bytes.
 *
 * Layers, from below: the file descriptor; for gzip zlib (libarchive passes over a wrong checksum); for other filters,
 * for tar and zip libarchive; the bytes that peek() has looked at.
 *
 * Sections: the descriptor, gzip, telling what it is, archives and their members, opening, reading.
 */
#include "config.h"
#include "io/source.h"
#include "base/memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { INPUT = 1 << 18, AHEAD = 4096, TAR_BLOCK = 512, MOST_LISTED = 12 };

struct hu_source {
    char *name;
    int fd;
    bool standard, plain;
    int64_t size, offset;
    char ahead[AHEAD]; /* looked at, not yet taken */
    size_t ahead_begin, ahead_end;
    unsigned char *input; /* bytes of the descriptor that are not yet used */
    size_t input_begin, input_end;
    bool gzip, gzip_done;
    z_stream inflater;
    struct archive *archive;
    char *feed;          /* what libarchive reads from */
    hu_error feed_error; /* why it could not */
    int64_t fed;
};

/* ---- the descriptor --------------------------------------------------------------------------------------------- */

/* At least one byte unless the end comes first. */
static hu_status read_descriptor(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    *ret_size = 0;
    if (s->fd < 0) return HU_OK; /* in memory: all of it was in s->input */
    for (;;) {
        ssize_t n = read(s->fd, buffer, size);
        if (n >= 0) {
            *ret_size = (size_t)n;
            return HU_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd ready = {s->fd, POLLIN, 0};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return hu_fail_errno(err, errno, s->name, "read failed");
        }
    }
}

static hu_status fill_input(hu_source *s, hu_error *err)
{
    if (s->input_begin < s->input_end) return HU_OK;
    s->input_begin = 0;
    return read_descriptor(s, s->input, INPUT, &s->input_end, err);
}

static hu_status read_raw(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    size_t held = s->input_end - s->input_begin;
    if (held == 0) return read_descriptor(s, buffer, size, ret_size, err);
    *ret_size = size < held ? size : held;
    memcpy(buffer, s->input + s->input_begin, *ret_size);
    s->input_begin += *ret_size;
    return HU_OK;
}

/* ---- gzip ------------------------------------------------------------------------------------------------------- */

/* Behind a member: another member, or zeros as padding to the end of the file, or nothing. */
static hu_status next_member(hu_source *s, hu_error *err)
{
    if (fill_input(s, err)) return err->status;
    if (s->input_begin == s->input_end) {
        s->gzip_done = true;
        return HU_OK;
    }
    if (s->input[s->input_begin] == 0x1f) {
        inflateReset(&s->inflater);
        return HU_OK;
    }
    for (;;) {
        if (fill_input(s, err)) return err->status;
        if (s->input_begin == s->input_end) break;
        while (s->input_begin < s->input_end)
            if (s->input[s->input_begin++] != 0)
                return hu_fail_line(err, s->name, 0, "the compressed data is followed by bytes that are not gzip");
    }
    s->gzip_done = true;
    return HU_OK;
}

static hu_status read_gzip(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    z_stream *z = &s->inflater;
    size_t wanted = size < (1u << 30) ? size : 1u << 30;
    z->next_out = buffer;
    z->avail_out = (uInt)wanted;
    while (z->avail_out > 0 && !s->gzip_done) {
        if (fill_input(s, err)) return err->status;
        if (s->input_begin == s->input_end) return hu_fail_line(err, s->name, 0, "the compressed data is cut off");
        z->next_in = s->input + s->input_begin;
        z->avail_in = (uInt)(s->input_end - s->input_begin);
        int code = inflate(z, Z_NO_FLUSH);
        s->input_begin = s->input_end - z->avail_in;
        if (code == Z_STREAM_END) {
            if (next_member(s, err)) return err->status;
        } else if (code == Z_MEM_ERROR) {
            return hu_fail(err, HU_SYSTEM, "out of memory: decompressing %s", s->name);
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            return hu_fail_line(err, s->name, 0, "the compressed data is damaged (%s)", z->msg ? z->msg : "gzip");
        }
    }
    *ret_size = wanted - z->avail_out;
    return HU_OK;
}

/* What the descriptor holds, less gzip. */
static hu_status read_layer(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    return s->gzip ? read_gzip(s, buffer, size, ret_size, err) : read_raw(s, buffer, size, ret_size, err);
}

/* ---- telling what it is ----------------------------------------------------------------------------------------- */

static bool begins_with(const void *bytes, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(bytes, magic, length) == 0;
}

static bool is_gzip(const unsigned char *p, size_t size)
{
    return begins_with(p, size, "\x1f\x8b\x08", 3);
}

static bool is_filtered(const unsigned char *p, size_t size)
{
    return begins_with(p, size,
                       "\xfd"
                       "7zXZ",
                       5) ||
           begins_with(p, size, "\x28\xb5\x2f\xfd", 4) ||
           (begins_with(p, size, "BZh", 3) && size > 4 && begins_with(p + 4, size - 4, "1AY&SY", 6));
}

/* The header of a member of a zip, which NAME.npz is. */
static bool is_zip(const unsigned char *p, size_t size)
{
    return begins_with(p, size, "PK\x03\x04", 4);
}

/* A header block of a tar: the sum of its bytes, the field of the sum taken as blanks, stands in that field. */
static bool is_tar(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    if (size < TAR_BLOCK || p[0] == 0) return false;
    long sum = 0, stated = 0;
    for (int i = 0; i < TAR_BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : p[i];
    int i = 148;
    while (i < 156 && p[i] == ' ') i++;
    for (; i < 156 && p[i] >= '0' && p[i] <= '7'; i++) stated = stated * 8 + (p[i] - '0');
    return stated == sum;
}

/* A bundle (bundle.h) is a tar that is taken whole, not by a member. */
static bool is_bundle(const void *bytes)
{
    return memcmp(bytes, "manifest.json", sizeof "manifest.json") == 0;
}

/* Whether the first bytes that came can still turn out to be a tar, whose first 100 bytes are a name. */
static bool may_be_tar(const unsigned char *p, size_t size)
{
    size_t named = size < 100 ? size : 100;
    return size > 0 && p[0] != 0 && p[0] < 0x80 && !memchr(p, '\n', named);
}

/* Reads as many first bytes as it takes to tell; a small text on a pipe that stays open is not waited for. */
static hu_status fill_first(hu_source *s, hu_error *err)
{
    while (s->input_end < TAR_BLOCK && (s->input_end < 10 || may_be_tar(s->input, s->input_end))) {
        size_t n = 0;
        if (read_descriptor(s, s->input + s->input_end, INPUT - s->input_end, &n, err)) return err->status;
        if (n == 0) break;
        s->input_end += n;
        if (s->input[0] == '%' || s->input[0] == 0x93) break; /* Matrix Market, NumPy */
    }
    return HU_OK;
}

/* ---- archives and their members --------------------------------------------------------------------------------- */

static la_ssize_t feed_archive(struct archive *archive, void *data, const void **ret_bytes)
{
    hu_source *s = data;
    size_t n = s->ahead_end - s->ahead_begin;
    if (n > 0) {
        memcpy(s->feed, s->ahead + s->ahead_begin, n);
        s->ahead_begin = s->ahead_end = 0;
    } else if (read_layer(s, s->feed, INPUT, &n, &s->feed_error)) {
        archive_set_error(archive, EIO, "%s", s->feed_error.message);
        return ARCHIVE_FATAL;
    }
    s->fed += (int64_t)n;
    *ret_bytes = s->feed;
    return (la_ssize_t)n;
}

static hu_status archive_failed(hu_source *s, hu_error *err)
{
    if (s->feed_error.status) {
        *err = s->feed_error;
        return err->status;
    }
    const char *why = archive_error_string(s->archive);
    if (archive_errno(s->archive) == ENOMEM) return hu_fail(err, HU_SYSTEM, "out of memory: decompressing %s", s->name);
    return hu_fail_line(err, s->name, 0, "the compressed data or archive is damaged: %s",
                        why ? why : "no reason given");
}

static hu_status read_member(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    la_ssize_t n;
    do n = archive_read_data(s->archive, buffer, size);
    while (n == ARCHIVE_RETRY);
    if (n < 0) return archive_failed(s, err);
    *ret_size = (size_t)n;
    /* A single compressed file ends where the data of its filter ends; what libarchive was given must be used up. */
    if (n == 0 && size > 0 && archive_format(s->archive) == ARCHIVE_FORMAT_RAW) {
        char more;
        size_t left = 0;
        int64_t used = archive_filter_bytes(s->archive, -1);
        if (used >= s->fed && read_layer(s, &more, 1, &left, err)) return err->status;
        if (used < s->fed || left > 0)
            return hu_fail_line(err, s->name, 0, "the compressed data is followed by bytes that are not part of it");
    }
    return HU_OK;
}

static hu_status open_archive(hu_source *s, hu_error *err)
{
    void *block;
    if (hu_alloc(INPUT, 1, "the input buffer", &block, err)) return err->status;
    s->feed = block;
    s->archive = archive_read_new();
    if (!s->archive) return hu_fail(err, HU_SYSTEM, "out of memory: reading %s", s->name);
    archive_read_support_filter_xz(s->archive);
    archive_read_support_filter_zstd(s->archive);
    archive_read_support_filter_bzip2(s->archive);
    archive_read_support_format_tar(s->archive);
    archive_read_support_format_zip_streamable(s->archive);
    archive_read_support_format_raw(s->archive);
    archive_read_support_format_empty(s->archive);
    if (archive_read_open(s->archive, s, NULL, feed_archive, NULL) != ARCHIVE_OK) return archive_failed(s, err);
    return HU_OK;
}

/* The part of a path behind its last slash. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool hu_ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n >= k && strcmp(path + n - k, suffix) == 0;
}

/* Whether a member is the one that the archive is about: NAME.tar.gz -> NAME.mtx, or NAME/NAME.mtx in any archive. */
static bool is_namesake(const char *archive, const char *member, const char *suffix)
{
    const char *base = last_part(member);
    if (strlen(base) < strlen(suffix)) return false;
    size_t stem = strlen(base) - strlen(suffix);
    const char *own = last_part(archive);
    if (strncmp(own, base, stem) == 0 && (strncmp(own + stem, ".t", 2) == 0))
        return true; /* .tar, .tar.gz, .tgz, .txz */
    return base - member >= (ptrdiff_t)stem + 1 && strncmp(base - stem - 1, base, stem) == 0 && base[-1] == '/' &&
           (base - member == (ptrdiff_t)stem + 1 || base[-(ptrdiff_t)stem - 2] == '/');
}

/* Copies the current member to an unnamed temporary file, to be taken if no better one follows. */
static hu_status set_aside(hu_source *s, FILE **ret_file, hu_error *err)
{
    FILE *file = tmpfile();
    if (!file) return hu_fail_errno(err, errno, s->name, "no temporary file can be made");
    hu_status status = HU_OK;
    char *buffer = malloc(INPUT);
    if (!buffer) status = hu_fail(err, HU_SYSTEM, "out of memory: reading %s", s->name);
    for (size_t n = 1; !status && n > 0;) {
        status = read_member(s, buffer, INPUT, &n, err);
        if (!status && fwrite(buffer, 1, n, file) != n) status = hu_fail_errno(err, errno, s->name, "temporary file");
    }
    if (!status && fflush(file) != 0) status = hu_fail_errno(err, errno, s->name, "temporary file");
    free(buffer);
    if (status) fclose(file);
    else *ret_file = file;
    return status;
}

/* From now on the source is a plain file. */
static hu_status take_file(hu_source *s, FILE *file, hu_error *err)
{
    int fd = dup(fileno(file));
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return hu_fail_errno(err, errno, s->name, "temporary file");
    if (!s->standard) close(s->fd);
    s->standard = false;
    s->fd = fd;
    archive_read_free(s->archive);
    s->archive = NULL;
    s->ahead_begin = s->ahead_end = 0;
    s->plain = true;
    s->size = st.st_size;
    return HU_OK;
}

static hu_status rename_source(hu_source *s, const char *archive, const char *member, hu_error *err)
{
    char *name;
    if (asprintf(&name, "%s:%s", archive, member) < 0)
        return hu_fail(err, HU_SYSTEM, "out of memory: opening %s", archive);
    free(s->name);
    s->name = name;
    return HU_OK;
}

/* Goes to the wanted member of a tar or zip: exactly `member`, or else by suffix as source.h says. One pass, so that it works
 * on a pipe. */
static hu_status find_member(hu_source *s, const char *suffix, const char *member, hu_error *err)
{
    char list[640] = "", *candidate = NULL;
    FILE *aside = NULL;
    int matching = 0, listed = 0;
    hu_status status = HU_OK;
    struct archive_entry *entry;
    const char *wanted = suffix ? suffix : "";
    for (;;) {
        int code = archive_read_next_header(s->archive, &entry);
        if (code == ARCHIVE_EOF) break;
        if (code < ARCHIVE_WARN) {
            status = archive_failed(s, err);
            goto cleanup;
        }
        if (archive_format(s->archive) == ARCHIVE_FORMAT_RAW) { /* compressed, but no tar */
            if (member) status = hu_fail_line(err, s->name, 0, "is not an archive, so it has no member %s", member);
            goto cleanup;
        }
        const char *path = archive_entry_pathname(entry);
        if (!path || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry)) continue;
        if (listed++ < MOST_LISTED) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", path);
        } else if (listed == MOST_LISTED + 1) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, ", ...");
        }
        if (member ? strcmp(path, member) == 0
                   : *wanted && hu_ends_in(path, wanted) && is_namesake(s->name, path, wanted)) {
            char *archive = strdup(s->name);
            status = archive ? rename_source(s, archive, path, err) : hu_fail(err, HU_SYSTEM, "out of memory");
            free(archive);
            goto cleanup;
        }
        if (member || !hu_ends_in(path, wanted)) continue;
        if (++matching == 1) {
            candidate = strdup(path);
            status = candidate ? set_aside(s, &aside, err) : hu_fail(err, HU_SYSTEM, "out of memory");
            if (status) goto cleanup;
        }
    }
    if (archive_format(s->archive) == ARCHIVE_FORMAT_EMPTY && !member) goto cleanup; /* nothing, compressed */
    if (matching == 1) {
        char *archive = strdup(s->name);
        status = archive ? rename_source(s, archive, candidate, err) : hu_fail(err, HU_SYSTEM, "out of memory");
        free(archive);
        if (!status) status = take_file(s, aside, err);
    } else if (member) {
        status = hu_fail_line(err, s->name, 0, "the archive has no member %s; it holds: %s", member, list);
    } else if (matching == 0) {
        status = hu_fail_line(err, s->name, 0, "the archive has no member whose name ends in '%s'; it holds: %s",
                              wanted, list);
    } else {
        status =
            hu_fail_line(err, s->name, 0,
                         "the archive has %d members whose name ends in '%s'; name one as ARCHIVE:MEMBER; it holds: %s",
                         matching, wanted, list);
    }
cleanup:
    free(candidate);
    if (aside) fclose(aside);
    return status;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* Opens path, or, where it does not exist, what stands before a colon in it; *ret_member is what stands behind. */
static hu_status open_path(hu_source *s, const char *path, const char **ret_member, hu_error *err)
{
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = errno;
    for (const char *colon = path; s->fd < 0 && error == ENOENT && (colon = strchr(colon, ':')); colon++) {
        if (colon == path || !colon[1]) continue;
        char *archive = strndup(path, (size_t)(colon - path));
        if (!archive) return hu_fail(err, HU_SYSTEM, "out of memory: opening %s", path);
        s->fd = open(archive, O_RDONLY | O_CLOEXEC);
        if (s->fd >= 0) {
            *ret_member = colon + 1;
            free(s->name);
            s->name = archive;
        } else {
            free(archive);
        }
    }
    return s->fd >= 0 ? HU_OK : hu_fail_errno(err, error, path, "cannot be opened");
}

static hu_status begin_gzip(hu_source *s, hu_error *err)
{
    if (inflateInit2(&s->inflater, 15 + 16) != Z_OK)
        return hu_fail(err, HU_SYSTEM, "out of memory: decompressing %s", s->name);
    s->gzip = true;
    while (s->ahead_end < TAR_BLOCK) {
        size_t n;
        if (read_gzip(s, s->ahead + s->ahead_end, TAR_BLOCK - s->ahead_end, &n, err)) return err->status;
        if (n == 0) break;
        s->ahead_end += n;
    }
    return HU_OK;
}

const char hu_source_as_it_is[] = "";

/* Sets up the layers that the first bytes ask for. */
static hu_status open_layers(hu_source *s, const char *suffix, const char *member, hu_error *err)
{
    struct stat st;
    if (fstat(s->fd, &st) != 0) return hu_fail_errno(err, errno, s->name, "cannot be opened");
    if (S_ISDIR(st.st_mode)) return hu_fail_errno(err, EISDIR, s->name, "cannot be read");
    void *block;
    if (hu_alloc(INPUT, 1, "the input buffer", &block, err)) return err->status;
    s->input = block;
    off_t start = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(s->fd, 0, SEEK_CUR) : -1;
    if (suffix == hu_source_as_it_is && !member) {
        s->plain = start >= 0;
        s->offset = s->plain ? start : 0;
        s->size = st.st_size;
        return HU_OK;
    }
    if (fill_first(s, err)) return err->status;
    size_t first = s->input_end;
    if (is_gzip(s->input, first) && begin_gzip(s, err)) return err->status;
    const void *start_bytes = s->gzip ? (const void *)s->ahead : s->input;
    bool tar = is_tar(start_bytes, s->gzip ? s->ahead_end : first) && (member || !is_bundle(start_bytes));
    if (tar || (!s->gzip && (is_filtered(s->input, first) || is_zip(s->input, first)))) {
        if (open_archive(s, err)) return err->status;
        return find_member(s, suffix, member, err);
    }
    if (member) return hu_fail_line(err, s->name, 0, "is not an archive, so it has no member %s", member);
    if (start >= 0 && !s->gzip) {
        s->plain = true;
        s->offset = start;
        s->size = st.st_size;
    }
    return HU_OK;
}

hu_status hu_source_open(const char *path, const char *suffix, hu_source **ret_source, hu_error *err)
{
    *ret_source = NULL;
    void *block;
    if (hu_alloc_zero(1, sizeof(hu_source), "the input", &block, err)) return err->status;
    hu_source *s = block;
    const char *member = NULL;
    s->standard = !path || strcmp(path, "-") == 0;
    s->fd = -1;
    s->name = strdup(s->standard ? "standard input" : path);
    if (!s->name) {
        hu_fail(err, HU_SYSTEM, "out of memory: opening %s", path ? path : "-");
        goto failed;
    }
    if (s->standard) s->fd = STDIN_FILENO;
    else if (open_path(s, path, &member, err)) goto failed;
    if (open_layers(s, suffix, member, err)) goto failed;
    *ret_source = s;
    return HU_OK;
failed:
    hu_source_close(s);
    return err->status;
}

void hu_source_close(hu_source *s)
{
    if (!s) return;
    if (s->archive) archive_read_free(s->archive);
    if (s->gzip) inflateEnd(&s->inflater);
    if (s->standard && s->plain) lseek(s->fd, s->offset, SEEK_SET); /* who reads standard input next goes on there */
    if (!s->standard && s->fd >= 0) close(s->fd);
    hu_free(s->input);
    hu_free(s->feed);
    free(s->name);
    hu_free(s);
}

hu_status hu_source_memory(const char *name, const void *bytes, int64_t size, hu_source **ret_source, hu_error *err)
{
    void *block;
    *ret_source = NULL;
    if (hu_alloc_zero(1, sizeof(hu_source), "the input", &block, err)) return err->status;
    hu_source *s = block;
    s->fd = -1;
    s->name = strdup(name);
    if (!s->name) hu_fail(err, HU_SYSTEM, "out of memory: opening %s", name);
    if (!s->name || hu_alloc(size, 1, name, &block, err)) {
        hu_source_close(s);
        return err->status;
    }
    s->input = block;
    memcpy(s->input, bytes, (size_t)size);
    s->input_end = (size_t)size;
    *ret_source = s;
    return HU_OK;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

const char *hu_source_name(const hu_source *s)
{
    return s->name;
}

static hu_status read_plain(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    for (;;) {
        ssize_t n = pread(s->fd, buffer, size, s->offset);
        if (n >= 0) {
            *ret_size = (size_t)n;
            return HU_OK;
        }
        if (errno != EINTR) return hu_fail_errno(err, errno, s->name, "read failed");
    }
}

/* Some of the coming bytes, at least one unless the end comes first. */
static hu_status read_some(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    if (s->plain) return read_plain(s, buffer, size, ret_size, err);
    if (s->archive) return read_member(s, buffer, size, ret_size, err);
    return read_layer(s, buffer, size, ret_size, err);
}

hu_status hu_source_read(hu_source *s, void *buffer, size_t size, size_t *ret_size, hu_error *err)
{
    size_t done = s->ahead_end - s->ahead_begin;
    if (done > size) done = size;
    memcpy(buffer, s->ahead + s->ahead_begin, done);
    s->ahead_begin += done;
    s->offset += (int64_t)done;
    *ret_size = done;
    while (done < size) {
        size_t n;
        if (read_some(s, (char *)buffer + done, size - done, &n, err)) return err->status;
        if (n == 0) break;
        done += n;
        s->offset += (int64_t)n;
        *ret_size = done;
    }
    return HU_OK;
}

hu_status hu_source_peek(hu_source *s, size_t size, const void **ret_bytes, size_t *ret_size, hu_error *err)
{
    if (size > AHEAD) size = AHEAD;
    if (s->plain) s->ahead_begin = s->ahead_end = 0; /* always anew from the offset, which the caller may set */
    if (s->ahead_begin > 0) {
        memmove(s->ahead, s->ahead + s->ahead_begin, s->ahead_end - s->ahead_begin);
        s->ahead_end -= s->ahead_begin;
        s->ahead_begin = 0;
    }
    int64_t offset = s->offset;
    hu_status status = HU_OK;
    while (s->ahead_end < size) {
        size_t n;
        status = read_some(s, s->ahead + s->ahead_end, size - s->ahead_end, &n, err);
        if (status || n == 0) break;
        s->ahead_end += n;
        if (s->plain) s->offset += (int64_t)n;
    }
    s->offset = offset;
    *ret_bytes = s->ahead;
    *ret_size = s->ahead_end < size ? s->ahead_end : size;
    if (s->plain) s->ahead_end = 0;
    return status;
}

hu_status hu_source_peek_some(hu_source *s, const void **ret_bytes, size_t *ret_size, hu_error *err)
{
    hu_status status = HU_OK;
    if (s->plain || s->ahead_begin == s->ahead_end) {
        s->ahead_begin = s->ahead_end = 0;
        status = read_some(s, s->ahead, AHEAD, &s->ahead_end, err);
    }
    *ret_bytes = s->ahead + s->ahead_begin;
    *ret_size = s->ahead_end - s->ahead_begin;
    if (s->plain) s->ahead_end = 0;
    return status;
}

int64_t hu_source_offset(const hu_source *s)
{
    return s->offset;
}

bool hu_source_is_plain(const hu_source *s, int *ret_fd, int64_t *ret_size)
{
    if (!s->plain) return false;
    *ret_fd = s->fd;
    *ret_size = s->size;
    return true;
}

void hu_source_seek(hu_source *s, int64_t offset)
{
    s->offset = offset;
}

hu_status hu_source_slurp(hu_source *s, int64_t most, char **ret_text, int64_t *ret_size, hu_error *err)
{
    void *text = NULL;
    int64_t capacity = 0, size = 0;
    *ret_text = NULL;
    int64_t first = s->plain && s->size > s->offset ? s->size - s->offset + 1 : 1 << 16;
    for (size_t n = 0;;) {
        int64_t need = size == 0 ? (first <= most ? first : most) + 1 : size + 2;
        if (hu_grow(&text, &capacity, need, 1, s->name, err)) goto failed;
        if (hu_source_read(s, (char *)text + size, (size_t)(capacity - size - 1), &n, err)) goto failed;
        size += (int64_t)n;
        if (size > most) {
            hu_fail_line(err, s->name, 0, "is longer than %lld bytes", (long long)most);
            goto failed;
        }
        if (size < capacity - 1) break;
    }
    ((char *)text)[size] = '\0';
    *ret_text = text;
    *ret_size = size;
    return HU_OK;
failed:
    hu_free(text);
    return err->status;
}
