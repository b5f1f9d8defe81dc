/* members.c: all files of an archive in memory.
 *
 * Sections: reading, the manifest, access.
 */
#include "config.h"
#include "io/members.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "io/json.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST "manifest.json"
enum { TRANSFER = 1 << 16, MOST_MEMBERS = 1 << 20 };

typedef struct {
    char *name;
    char *bytes;
    int64_t size;
} member;

struct hu_members {
    char *archive;
    member *list; /* by name */
    int64_t count, room, bytes;
};

/* What libarchive reads from. */
typedef struct {
    hu_source *source;
    hu_error *err;
    char buffer[TRANSFER];
} feed;

/* ---- reading -------------------------------------------------------------------------------------------------------- */

static la_ssize_t read_feed(struct archive *archive, void *data, const void **ret_bytes)
{
    feed *f = data;
    size_t size;
    *ret_bytes = f->buffer;
    if (hu_source_read(f->source, f->buffer, sizeof f->buffer, &size, f->err)) {
        archive_set_error(archive, EIO, "%s", f->err->message);
        return -1;
    }
    return (la_ssize_t)size;
}

static hu_status fail(const hu_members *m, hu_error *err, const char *reason, const char *name)
{
    return hu_fail(err, HU_INPUT, "%s: %s%s%.200s", m->archive, reason, name ? " " : "", name ? name : "");
}

static hu_status fail_archive(const hu_members *m, struct archive *archive, hu_error *err)
{
    if (err->status) return err->status; /* the source itself failed */
    const char *why = archive_error_string(archive);
    return hu_fail(err, HU_INPUT, "%s: is no archive, or a damaged one (%.200s)", m->archive, why ? why : "it cannot be read");
}

static bool name_is_safe(const char *name)
{
    if (*name == '/' || !*name) return false;
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2])) return false;
    return true;
}

/* The bytes of the entry, as far as they are there. */
static hu_status read_bytes(hu_members *m, struct archive *archive, int64_t most, member *ret, hu_error *err)
{
    int64_t room = 0;
    for (;;) {
        const void *bytes;
        size_t size;
        la_int64_t offset;
        const int code = archive_read_data_block(archive, &bytes, &size, &offset);
        if (code == ARCHIVE_EOF) return HU_OK;
        if (code != ARCHIVE_OK) return fail_archive(m, archive, err);
        if (size == 0) continue;
        if (offset != ret->size) return fail(m, err, "a member has holes:", ret->name);
        if ((int64_t)size > most - m->bytes) return hu_fail(err, HU_INPUT, "%s: its members are larger than %lld bytes together", m->archive, (long long)most);
        if (hu_grow((void **)&ret->bytes, &room, ret->size + (int64_t)size, 1, "a member", err)) return err->status;
        memcpy(ret->bytes + ret->size, bytes, size);
        ret->size += (int64_t)size;
        m->bytes += (int64_t)size;
    }
}

static hu_status read_entry(hu_members *m, struct archive *archive, struct archive_entry *entry, int64_t most, hu_error *err)
{
    const char *name = archive_entry_pathname(entry);
    if (archive_entry_filetype(entry) == AE_IFDIR) return HU_OK;
    if (!name) return fail(m, err, "a member has no plain name", NULL);
    while (strncmp(name, "./", 2) == 0) name += 2;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry)) return fail(m, err, "a member is a link or device:", name);
    if (!name_is_safe(name)) return fail(m, err, "a member's name leads out of the archive:", name);
    if (m->count == MOST_MEMBERS) return fail(m, err, "more than 2^20 members", NULL);
    if (hu_grow((void **)&m->list, &m->room, m->count + 1, sizeof *m->list, "members", err)) return err->status;
    member *now = &m->list[m->count];
    *now = (member){strdup(name), NULL, 0};
    if (!now->name) return hu_fail(err, HU_SYSTEM, "out of memory");
    m->count++;
    return read_bytes(m, archive, most, now, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

static hu_status sort_members(hu_members *m, hu_error *err)
{
    if (m->count > 1) qsort(m->list, (size_t)m->count, sizeof *m->list, by_name);
    for (int64_t i = 1; i < m->count; i++)
        if (strcmp(m->list[i - 1].name, m->list[i].name) == 0) return fail(m, err, "a member is there twice:", m->list[i].name);
    return HU_OK;
}

/* ---- the manifest ----------------------------------------------------------------------------------------------------- */

static hu_status check_member(const hu_members *m, const hu_json_place *members, const char *name, hu_error *err)
{
    hu_json_place facts;
    const char *crc;
    int64_t bytes;
    const int64_t at = hu_members_find(m, name);
    if (hu_json_member(members, name, &facts, err) || hu_json_integer(&facts, "bytes", 0, INT64_MAX, &bytes, err) || hu_json_text(&facts, "crc32c", &crc, err)) return err->status;
    if (at < 0) return fail(m, err, "the manifest names a member that is not there:", name);
    char found[9];
    snprintf(found, sizeof found, "%08x", hu_crc32c(0, m->list[at].bytes ? m->list[at].bytes : "", (size_t)m->list[at].size));
    if (m->list[at].size != bytes || strcmp(found, crc) != 0) return fail(m, err, "a member is damaged:", name);
    return HU_OK;
}

static hu_status check_manifest(const hu_members *m, const char *kind, int major, hu_error *err)
{
    const int64_t at = hu_members_find(m, MANIFEST);
    json_t *document = NULL;
    hu_json_place root, members;
    const char *found;
    int64_t version;
    char *label;
    if (at < 0) return HU_OK;
    if (asprintf(&label, "%s: " MANIFEST, m->archive) < 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_json_parse(m->list[at].bytes ? m->list[at].bytes : "", m->list[at].size, label, &document, err)) goto cleanup;
    root = hu_json_root(document, label);
    if (hu_json_text(&root, "kind", &found, err) || hu_json_integer(&root, "major", 0, INT32_MAX, &version, err) || hu_json_member(&root, "members", &members, err)) goto cleanup;
    if (strcmp(found, kind) != 0) hu_fail(err, HU_INPUT, "%s: is a bundle of kind '%.100s', not '%s'", m->archive, found, kind);
    else if (version > major) hu_fail(err, HU_INPUT, "%s: is a '%s' of version %lld; this program reads versions up to %d: a newer hpcutils is needed", m->archive, kind, (long long)version, major);
    else if (!json_is_object(members.value)) hu_json_fail(&members, err, "expected an object");
    if (err->status) goto cleanup;
    json_t *object = json_object_get(document, "members");
    for (void *i = json_object_iter(object); i && !err->status; i = json_object_iter_next(object, i)) check_member(m, &members, json_object_iter_key(i), err);
cleanup:
    json_decref(document);
    free(label);
    return err->status;
}

hu_status hu_members_read(hu_source *source, const char *kind, int major, int64_t most_bytes, hu_members **ret_members, hu_error *err)
{
    hu_members *m = calloc(1, sizeof *m);
    feed *f = malloc(sizeof *f);
    struct archive *archive = archive_read_new();
    *ret_members = NULL;
    if (!m || !f || !archive || !(m->archive = strdup(hu_source_name(source)))) {
        hu_fail(err, HU_SYSTEM, "out of memory");
        goto cleanup;
    }
    f->source = source;
    f->err = err;
    archive_read_support_filter_zstd(archive);
    archive_read_support_filter_gzip(archive);
    archive_read_support_filter_xz(archive);
    archive_read_support_filter_bzip2(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_format_zip_streamable(archive);
    if (archive_read_open(archive, f, NULL, read_feed, NULL) != ARCHIVE_OK) {
        fail_archive(m, archive, err);
        goto cleanup;
    }
    for (;;) {
        struct archive_entry *entry;
        const int code = archive_read_next_header(archive, &entry);
        if (code == ARCHIVE_EOF) break;
        if (code != ARCHIVE_OK) {
            fail_archive(m, archive, err);
            goto cleanup;
        }
        if (read_entry(m, archive, entry, most_bytes, err)) goto cleanup;
    }
    if (m->count == 0) fail(m, err, "holds no files", NULL);
    else if (sort_members(m, err) == HU_OK) check_manifest(m, kind, major, err);
cleanup:
    if (archive) archive_read_free(archive);
    free(f);
    if (err->status) hu_members_free(m);
    else *ret_members = m;
    return err->status;
}

void hu_members_free(hu_members *m)
{
    if (!m) return;
    for (int64_t i = 0; i < m->count; i++) {
        free(m->list[i].name);
        free(m->list[i].bytes);
    }
    free(m->list);
    free(m->archive);
    free(m);
}

/* ---- access ------------------------------------------------------------------------------------------------------------ */

const char *hu_members_archive(const hu_members *m)
{
    return m->archive;
}

int64_t hu_members_count(const hu_members *m)
{
    return m->count;
}

const char *hu_members_name(const hu_members *m, int64_t index)
{
    return m->list[index].name;
}

int64_t hu_members_find(const hu_members *m, const char *name)
{
    int64_t from = 0, to = m->count;
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        const int order = strcmp(name, m->list[middle].name);
        if (order == 0) return middle;
        if (order < 0) to = middle;
        else from = middle + 1;
    }
    return -1;
}

hu_status hu_members_open(const hu_members *m, int64_t index, hu_source **ret_source, hu_error *err)
{
    char *name;
    if (asprintf(&name, "%s:%s", m->archive, m->list[index].name) < 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    hu_source_memory(name, m->list[index].bytes ? m->list[index].bytes : "", m->list[index].size, ret_source, err);
    free(name);
    return err->status;
}
