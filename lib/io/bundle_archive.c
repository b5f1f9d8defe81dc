/* bundle_archive.c: the libarchive side of bundles.
 *
 * Sections: names, writing, reading, versions.
 */
#include "config.h"
#include "io/bundle_archive.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_LENGTH = 200 };

/* ---- names ---- */

bool hu_archive_name_is_plain(const char *name)
{
    size_t length = strlen(name);
    if (length < 1 || length > NAME_LENGTH || name[length - 1] == '/' || strcmp(name, HU_ARCHIVE_MANIFEST) == 0) return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool starts = i == 0 || name[i - 1] == '/';
        if (starts && (c == '.' || c == '/')) return false;
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._-/", c))) return false;
    }
    return true;
}

/* ---- writing ---- */

static la_ssize_t write_to_sink(struct archive *archive, void *data, const void *bytes, size_t size)
{
    hu_archive_sink *s = data;
    if (s->failed || hu_output_write(s->out, bytes, size, s->err) == HU_OK) return (la_ssize_t)size;
    archive_set_error(archive, EIO, "write failed");
    return -1;
}

hu_status hu_archive_fail_writing(struct archive *archive, const hu_output *out, hu_error *err)
{
    return hu_fail(err, HU_SYSTEM, "%s: %s", hu_output_name(out), archive_error_string(archive));
}

hu_status hu_archive_put(struct archive *archive, const char *name, const void *bytes, int64_t size, const hu_output *out, hu_error *err)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return hu_fail(err, HU_SYSTEM, "out of memory");
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 0, 0);
    archive_entry_set_size(entry, size);
    hu_status status = archive_write_header(archive, entry) == ARCHIVE_OK ? HU_OK : hu_archive_fail_writing(archive, out, err);
    archive_entry_free(entry);
    for (int64_t done = 0; done < size && !status;) {
        la_ssize_t n = archive_write_data(archive, (const char *)bytes + done, (size_t)(size - done));
        if (n <= 0) status = hu_archive_fail_writing(archive, out, err);
        done += n;
    }
    return status;
}

static bool add_zstd(struct archive *archive, int level)
{
    char text[16];
    snprintf(text, sizeof text, "%d", level);
    return archive_write_add_filter_zstd(archive) == ARCHIVE_OK &&
           (level == 0 || archive_write_set_filter_option(archive, "zstd", "compression-level", text) == ARCHIVE_OK);
}

struct archive *hu_archive_create(hu_archive_sink *s, hu_bundle_filter filter, int level)
{
    struct archive *archive = archive_write_new();
    if (!archive) {
        hu_fail(s->err, HU_SYSTEM, "out of memory");
        return NULL;
    }
    if (archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK &&
        (filter == HU_BUNDLE_PLAIN || add_zstd(archive, level)) &&
        archive_write_set_bytes_per_block(archive, filter == HU_BUNDLE_PLAIN ? 0 : HU_ARCHIVE_TRANSFER) == ARCHIVE_OK &&
        archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK && /* no padding block */
        archive_write_open(archive, s, NULL, write_to_sink, NULL) == ARCHIVE_OK)
        return archive;
    hu_archive_fail_writing(archive, s->out, s->err);
    archive_write_free(archive);
    return NULL;
}

/* ---- reading ---- */


static la_ssize_t read_from_feed(struct archive *archive, void *data, const void **ret_bytes)
{
    hu_archive_feed *f = data;
    size_t size;
    *ret_bytes = f->buffer;
    if (hu_source_read(f->source, f->buffer, sizeof f->buffer, &size, f->err) == HU_OK) return (la_ssize_t)size;
    archive_set_error(archive, EIO, "read failed");
    return -1;
}

static hu_status fail_reading(const char *source, struct archive *archive, hu_error *err)
{
    const char *reason = archive_error_string(archive);
    return hu_fail(err, HU_INPUT, "%s: is no bundle, or a damaged one: %s", source, reason ? reason : "its archive cannot be read");
}

struct archive *hu_archive_open(hu_archive_feed *f)
{
    const char *source = hu_source_name(f->source);
    struct archive *archive = archive_read_new();
    if (!archive) {
        hu_fail(f->err, HU_SYSTEM, "out of memory");
        return NULL;
    }
    archive_read_support_filter_zstd(archive);
    archive_read_support_filter_gzip(archive);
    archive_read_support_format_tar(archive);
    if (archive_read_open(archive, f, NULL, read_from_feed, NULL) == ARCHIVE_OK) return archive;
    fail_reading(source, archive, f->err);
    archive_read_free(archive);
    return NULL;
}

hu_status hu_archive_next(const char *source, struct archive *archive, struct archive_entry **ret_entry, const char **ret_name,
                            hu_error *err)
{
    int code = archive_read_next_header(archive, ret_entry);
    if (code == ARCHIVE_EOF) return HU_END;
    if (code != ARCHIVE_OK) return fail_reading(source, archive, err);
    *ret_name = archive_entry_pathname(*ret_entry);
    if (!*ret_name) return hu_fail(err, HU_INPUT, "%s: is no bundle: a member has no plain name", source);
    if (archive_entry_filetype(*ret_entry) != AE_IFREG || archive_entry_hardlink(*ret_entry) || !archive_entry_size_is_set(*ret_entry))
        return hu_fail(err, HU_INPUT, "%s: is no bundle: a member is a link, folder or device", source);
    return HU_OK;
}

hu_status hu_archive_data(const char *source, struct archive *archive, const char *name, int64_t size, void **ret_block, hu_error *err)
{
    int64_t used = 0, room = 0;
    void *block = NULL;
    hu_status status = hu_grow_claimed(&block, &room, 0, size, name, err);
    while (!status) {
        const void *bytes;
        size_t n;
        la_int64_t offset;
        int code = archive_read_data_block(archive, &bytes, &n, &offset);
        if (code == ARCHIVE_EOF) break;
        if (code != ARCHIVE_OK) status = fail_reading(source, archive, err);
        else if (offset != used || (int64_t)n > size - used) status = hu_fail(err, HU_INPUT, "%s: member %s has holes", source, name);
        for (size_t done = 0; done < n && !status;) { /* a block may be larger than what was claimed so far */
            if ((status = hu_grow_claimed(&block, &room, used, size, name, err))) break;
            size_t part = (int64_t)(n - done) < room - used ? n - done : (size_t)(room - used);
            memcpy((char *)block + used, (const char *)bytes + done, part);
            used += (int64_t)part;
            done += part;
        }
    }
    if (!status && used < size) status = hu_fail(err, HU_INPUT, "%s: member %s is cut short", source, name);
    if (status) {
        hu_free(block);
        block = NULL;
    }
    *ret_block = block;
    return status;
}

/* ---- versions ---- */

hu_status hu_archive_version(const hu_json_place *root, const char *source, const char *kind, int major, int *ret_major, int *ret_minor, hu_error *err)
{
    const char *found;
    int64_t found_major, minor;
    if (hu_json_text(root, "kind", &found, err)) return err->status;
    if (strcmp(found, kind) != 0) return hu_fail(err, HU_INPUT, "%s: is a bundle of kind '%.100s', not '%s'", source, found, kind);
    if (hu_json_integer(root, "major", 0, INT32_MAX, &found_major, err)) return err->status;
    if (hu_json_integer(root, "minor", 0, INT32_MAX, &minor, err)) return err->status;
    if (found_major > major)
        return hu_fail(err, HU_INPUT, "%s: is a '%s' of version %lld.%lld; this program reads versions up to %d: a newer hpcutils is needed", source, kind,
                              (long long)found_major, (long long)minor, major);
    *ret_major = (int)found_major;
    *ret_minor = (int)minor;
    return HU_OK;
}
