/* bundle.c: the container of artefacts of several parts: a pax tar with a manifest, through libarchive.
 *
 * Sections: names and types, writing, reading the archive, the manifest, access.
 */
#include "config.h"
#include "io/bundle.h"
#include "base/crc32c.h"
#include "base/memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays of a bundle are written as they stand in memory: little-endian");

#define MANIFEST "manifest.json"
enum { NAME_LENGTH = 200, TRANSFER = 1 << 16, MANIFEST_BYTES = 64 << 20 };

typedef struct {
    char *name;
    hu_bundle_type type;
    int64_t bytes;
    uint32_t crc;
    const void *data; /* the caller's (writing) or the bundle's (reading); NULL: not read yet */
} member;

/* ---- names and types -------------------------------------------------------------------------------------------- */

static const char *const type_names[] = {"bytes", "i4", "i8", "f4", "f8"};
static const int64_t type_sizes[] = {1, 4, 8, 4, 8};
enum { TYPES = 5 };

static bool name_is_plain(const char *name)
{
    size_t length = strlen(name);
    if (length < 1 || length > NAME_LENGTH || name[length - 1] == '/' || strcmp(name, MANIFEST) == 0) return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool starts = i == 0 || name[i - 1] == '/';
        if (starts && (c == '.' || c == '/')) return false;
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._-/", c))) return false;
    }
    return true;
}

static int compare_members(const void *a, const void *b)
{
    return strcmp(((const member *)a)->name, ((const member *)b)->name);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

struct hu_bundle_writer {
    json_t *manifest;
    json_t *content; /* borrowed from the manifest */
    member *members;
    int64_t count, room;
};

hu_status hu_bundle_create(const char *kind, int major, int minor, hu_bundle_writer **ret_writer, hu_error *err)
{
    hu_bundle_writer *w = *ret_writer = calloc(1, sizeof *w);
    if (!w) return hu_fail(err, HU_SYSTEM, "out of memory");
    w->content = json_object();
    w->manifest = json_pack("{s:s, s:i, s:i, s:o}", "kind", kind, "major", major, "minor", minor, "content", w->content);
    if (w->manifest) return HU_OK;
    hu_bundle_abort(ret_writer);
    return hu_fail(err, HU_SYSTEM, "out of memory");
}

json_t *hu_bundle_content(hu_bundle_writer *writer)
{
    return writer->content;
}

void hu_bundle_abort(hu_bundle_writer **writer)
{
    hu_bundle_writer *w = *writer;
    if (!w) return;
    for (int64_t i = 0; i < w->count; i++) free(w->members[i].name);
    hu_free(w->members);
    json_decref(w->manifest);
    free(w);
    *writer = NULL;
}

hu_status hu_bundle_add_array(hu_bundle_writer *writer, const char *name, hu_bundle_type type, const void *items, int64_t count,
                              hu_error *err)
{
    int64_t bytes;
    if (!name_is_plain(name)) return hu_fail(err, HU_USAGE, "'%s' cannot name a member of a bundle", name);
    if (!hu_mul_size(count, type_sizes[type], &bytes)) return hu_fail(err, HU_USAGE, "bundle member %s: its size is out of range", name);
    if (writer->count == HU_BUNDLE_MEMBERS)
        return hu_fail(err, HU_USAGE, "a bundle holds %d members at most", HU_BUNDLE_MEMBERS);
    if (hu_grow((void **)&writer->members, &writer->room, writer->count + 1, sizeof(member), "the members of a bundle", err))
        return err->status;
    char *copy = strdup(name);
    if (!copy) return hu_fail(err, HU_SYSTEM, "out of memory");
    writer->members[writer->count++] = (member){copy, type, bytes, hu_crc32c(0, items, (size_t)bytes), items};
    return HU_OK;
}

hu_status hu_bundle_add(hu_bundle_writer *writer, const char *name, const void *bytes, int64_t size, hu_error *err)
{
    return hu_bundle_add_array(writer, name, HU_BUNDLE_BYTES, bytes, size, err);
}

typedef struct {
    hu_output *out;
    hu_error *err;
    bool failed; /* what libarchive still writes when it is freed is dropped */
} sink;

static la_ssize_t write_to_sink(struct archive *archive, void *data, const void *bytes, size_t size)
{
    sink *s = data;
    if (s->failed || hu_output_write(s->out, bytes, size, s->err) == HU_OK) return (la_ssize_t)size;
    archive_set_error(archive, EIO, "write failed");
    return -1;
}

static hu_status fail_writing(struct archive *archive, const hu_output *out, hu_error *err)
{
    return hu_fail(err, HU_SYSTEM, "%s: %s", hu_output_name(out), archive_error_string(archive));
}

static hu_status write_member(struct archive *archive, const char *name, const void *bytes, int64_t size, const hu_output *out, hu_error *err)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return hu_fail(err, HU_SYSTEM, "out of memory");
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 0, 0);
    archive_entry_set_size(entry, size);
    hu_status status = archive_write_header(archive, entry) == ARCHIVE_OK ? HU_OK : fail_writing(archive, out, err);
    archive_entry_free(entry);
    for (int64_t done = 0; done < size && !status;) {
        la_ssize_t n = archive_write_data(archive, (const char *)bytes + done, (size_t)(size - done));
        if (n <= 0) status = fail_writing(archive, out, err);
        done += n;
    }
    return status;
}

static struct archive *open_archive(sink *s, hu_bundle_filter filter)
{
    struct archive *archive = archive_write_new();
    if (!archive) {
        hu_fail(s->err, HU_SYSTEM, "out of memory");
        return NULL;
    }
    if (archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK &&
        (filter == HU_BUNDLE_PLAIN || archive_write_add_filter_zstd(archive) == ARCHIVE_OK) &&
        archive_write_set_bytes_per_block(archive, filter == HU_BUNDLE_PLAIN ? 0 : TRANSFER) == ARCHIVE_OK &&
        archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK && /* no padding block */
        archive_write_open(archive, s, NULL, write_to_sink, NULL) == ARCHIVE_OK)
        return archive;
    fail_writing(archive, s->out, s->err);
    archive_write_free(archive);
    return NULL;
}

/* Sorts the members and lists them in the manifest. */
static hu_status list_members(hu_bundle_writer *w, hu_error *err)
{
    if (w->count > 1) qsort(w->members, (size_t)w->count, sizeof *w->members, compare_members);
    json_t *members = json_object();
    if (json_object_set_new(w->manifest, "members", members) != 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    for (int64_t i = 0; i < w->count; i++) {
        const member *m = &w->members[i];
        char crc[9];
        snprintf(crc, sizeof crc, "%08x", m->crc);
        if (i > 0 && strcmp(m[-1].name, m->name) == 0) return hu_fail(err, HU_USAGE, "a bundle has two members %s", m->name);
        json_t *facts = json_pack("{s:I, s:s, s:s}", "bytes", (json_int_t)m->bytes, "crc32c", crc, "type", type_names[m->type]);
        if (json_object_set_new(members, m->name, facts) != 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    }
    return HU_OK;
}

hu_status hu_bundle_finish(hu_bundle_writer **writer, hu_bundle_filter filter, hu_output *out, hu_error *err)
{
    hu_bundle_writer *w = *writer;
    sink s = {out, err, false};
    struct archive *archive = NULL;
    char *manifest = NULL;
    int64_t size;
    hu_status status = list_members(w, err);
    if (!status) status = hu_json_print(w->manifest, &manifest, &size, err);
    if (!status) status = (archive = open_archive(&s, filter)) ? HU_OK : err->status;
    if (!status) status = write_member(archive, MANIFEST, manifest, size, out, err);
    for (int64_t i = 0; i < w->count && !status; i++)
        status = write_member(archive, w->members[i].name, w->members[i].data, w->members[i].bytes, out, err);
    if (!status && archive_write_close(archive) != ARCHIVE_OK) status = fail_writing(archive, out, err);
    s.failed = status != HU_OK;
    if (archive) archive_write_free(archive);
    hu_free(manifest);
    hu_bundle_abort(writer);
    return status;
}

/* ---- reading the archive ------------------------------------------------------------------------------------------ */

struct hu_bundle {
    char *name;  /* of the source */
    char *label; /* of the manifest: "NAME: manifest.json" */
    json_t *manifest;
    hu_json_place root, content;
    int major, minor;
    member *members; /* sorted by name */
    int64_t count;
};

typedef struct {
    hu_source *source;
    hu_error *err;
    char buffer[TRANSFER];
} feed;

static la_ssize_t read_from_feed(struct archive *archive, void *data, const void **ret_bytes)
{
    feed *f = data;
    size_t size;
    *ret_bytes = f->buffer;
    if (hu_source_read(f->source, f->buffer, sizeof f->buffer, &size, f->err) == HU_OK) return (la_ssize_t)size;
    archive_set_error(archive, EIO, "read failed");
    return -1;
}

hu_status hu_bundle_fail(const hu_bundle *bundle, hu_error *err, const char *format, ...)
{
    char reason[700];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return hu_fail(err, HU_INPUT, "%s: %s", bundle->name, reason);
}

static hu_status fail_reading(const hu_bundle *b, struct archive *archive, hu_error *err)
{
    const char *reason = archive_error_string(archive);
    return hu_bundle_fail(b, err, "is no bundle, or a damaged one: %s", reason ? reason : "its archive cannot be read");
}

/* The next member's name; HU_END behind the last. Anything but a plain file is refused. */
static hu_status next_entry(const hu_bundle *b, struct archive *archive, struct archive_entry **ret_entry, const char **ret_name,
                            hu_error *err)
{
    int code = archive_read_next_header(archive, ret_entry);
    if (code == ARCHIVE_EOF) return HU_END;
    if (code != ARCHIVE_OK) return fail_reading(b, archive, err);
    *ret_name = archive_entry_pathname(*ret_entry);
    if (!*ret_name) return hu_bundle_fail(b, err, "is no bundle: a member has no plain name");
    if (archive_entry_filetype(*ret_entry) != AE_IFREG || archive_entry_hardlink(*ret_entry) || !archive_entry_size_is_set(*ret_entry))
        return hu_bundle_fail(b, err, "is no bundle: a member is a link, folder or device");
    return HU_OK;
}

/* The data of the entry, which must be `size` bytes without holes. */
static hu_status read_data(const hu_bundle *b, struct archive *archive, const char *name, int64_t size, void **ret_block, hu_error *err)
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
        if (code != ARCHIVE_OK) status = fail_reading(b, archive, err);
        else if (offset != used || (int64_t)n > size - used) status = hu_bundle_fail(b, err, "member %s has holes", name);
        for (size_t done = 0; done < n && !status;) { /* a block may be larger than what was claimed so far */
            if ((status = hu_grow_claimed(&block, &room, used, size, name, err))) break;
            size_t part = (int64_t)(n - done) < room - used ? n - done : (size_t)(room - used);
            memcpy((char *)block + used, (const char *)bytes + done, part);
            used += (int64_t)part;
            done += part;
        }
    }
    if (!status && used < size) status = hu_bundle_fail(b, err, "member %s is cut short", name);
    if (status) {
        hu_free(block);
        block = NULL;
    }
    *ret_block = block;
    return status;
}

static member *find(const hu_bundle *b, const char *name)
{
    int64_t from = 0, to = b->count;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        int order = strcmp(name, b->members[middle].name);
        if (order == 0) return &b->members[middle];
        if (order < 0) to = middle;
        else from = middle + 1;
    }
    return NULL;
}

static hu_status read_members(hu_bundle *b, struct archive *archive, hu_error *err)
{
    struct archive_entry *entry;
    const char *name;
    int64_t read = 0;
    for (;;) {
        hu_status status = next_entry(b, archive, &entry, &name, err);
        if (status == HU_END) break;
        if (status) return status;
        member *m = find(b, name);
        if (!m) return hu_bundle_fail(b, err, "a member is not in the manifest"); /* its name may be anything */
        if (m->data) return hu_bundle_fail(b, err, "member %s is there twice", m->name);
        if (archive_entry_size(entry) != m->bytes)
            return hu_bundle_fail(b, err, "member %s has %lld bytes, the manifest says %lld", m->name, (long long)archive_entry_size(entry),
                                  (long long)m->bytes);
        void *block;
        if (read_data(b, archive, m->name, m->bytes, &block, err)) return err->status;
        m->data = block;
        if (hu_crc32c(0, block, (size_t)m->bytes) != m->crc) return hu_bundle_fail(b, err, "member %s is damaged: its CRC is wrong", m->name);
        read++;
    }
    for (int64_t i = 0; i < b->count && read < b->count; i++)
        if (!b->members[i].data) return hu_bundle_fail(b, err, "member %s is missing: the bundle is cut short", b->members[i].name);
    return HU_OK;
}

/* ---- the manifest ------------------------------------------------------------------------------------------------- */

static hu_status read_manifest_member(const hu_json_place *members, const char *name, member *ret_member, hu_error *err)
{
    hu_json_place facts;
    const char *crc;
    int type;
    if (!name_is_plain(name)) return hu_json_fail(members, err, "holds a name that a bundle cannot have");
    if (hu_json_member(members, name, &facts, err)) return err->status;
    if (hu_json_integer(&facts, "bytes", 0, INT64_MAX, &ret_member->bytes, err)) return err->status;
    if (hu_json_word(&facts, "type", type_names, TYPES, &type, err)) return err->status;
    if (hu_json_text(&facts, "crc32c", &crc, err)) return err->status;
    if (strlen(crc) != 8 || strspn(crc, "0123456789abcdef") != 8)
        return hu_json_fail(&facts, err, "crc32c: expected 8 hexadecimal digits");
    if (ret_member->bytes % type_sizes[type])
        return hu_json_fail(&facts, err, "bytes: expected a multiple of %lld", (long long)type_sizes[type]);
    ret_member->crc = (uint32_t)strtoul(crc, NULL, 16);
    ret_member->type = (hu_bundle_type)type;
    ret_member->name = strdup(name);
    return ret_member->name ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

static hu_status check_version(hu_bundle *b, const char *kind, int major, hu_error *err)
{
    const char *found;
    int64_t found_major, minor;
    if (hu_json_text(&b->root, "kind", &found, err)) return err->status;
    if (strcmp(found, kind) != 0) return hu_bundle_fail(b, err, "is a bundle of kind '%.100s', not '%s'", found, kind);
    if (hu_json_integer(&b->root, "major", 0, INT32_MAX, &found_major, err)) return err->status;
    if (hu_json_integer(&b->root, "minor", 0, INT32_MAX, &minor, err)) return err->status;
    if (found_major > major)
        return hu_bundle_fail(b, err, "is a '%s' of version %lld.%lld; this program reads versions up to %d: a newer hpcutils is needed", kind,
                              (long long)found_major, (long long)minor, major);
    b->major = (int)found_major;
    b->minor = (int)minor;
    return HU_OK;
}

static hu_status read_manifest(hu_bundle *b, struct archive *archive, const char *kind, int major, int64_t most_bytes, hu_error *err)
{
    struct archive_entry *entry;
    const char *name;
    void *text;
    hu_status status = next_entry(b, archive, &entry, &name, err);
    if (status == HU_END || (!status && strcmp(name, MANIFEST) != 0))
        return hu_bundle_fail(b, err, "is no bundle: it does not start with " MANIFEST);
    if (status) return status;
    int64_t size = archive_entry_size(entry);
    if (size < 0 || size > MANIFEST_BYTES) return hu_bundle_fail(b, err, "its manifest is larger than %d bytes", MANIFEST_BYTES);
    if (read_data(b, archive, MANIFEST, size, &text, err)) return err->status;
    status = hu_json_parse(text, size, b->label, &b->manifest, err);
    hu_free(text);
    if (status) return status;

    hu_json_place members;
    b->root = hu_json_root(b->manifest, b->label);
    if (check_version(b, kind, major, err)) return err->status;
    if (hu_json_member(&b->root, "content", &b->content, err)) return err->status;
    if (hu_json_member(&b->root, "members", &members, err)) return err->status;
    if (!json_is_object(b->content.value)) return hu_json_fail(&b->content, err, "expected an object");
    if (!json_is_object(members.value)) return hu_json_fail(&members, err, "expected an object");
    int64_t count = (int64_t)json_object_size(members.value), total = 0;
    if (count > HU_BUNDLE_MEMBERS) return hu_json_fail(&members, err, "more than %d members", HU_BUNDLE_MEMBERS);
    if (hu_alloc_zero(count, sizeof(member), "the members of a bundle", (void **)&b->members, err)) return err->status;
    json_t *object = json_object_get(b->manifest, "members");
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        member *m = &b->members[b->count];
        if (read_manifest_member(&members, json_object_iter_key(at), m, err)) return err->status;
        b->count++;
        if (!hu_add_size(total, m->bytes, &total) || total > most_bytes)
            return hu_bundle_fail(b, err, "its members are larger than %lld bytes together", (long long)most_bytes);
    }
    if (b->count > 1) qsort(b->members, (size_t)b->count, sizeof(member), compare_members);
    return HU_OK;
}

hu_status hu_bundle_read(hu_source *source, const char *kind, int major, int64_t most_bytes, hu_bundle **ret_bundle, hu_error *err)
{
    hu_bundle *b = *ret_bundle = calloc(1, sizeof *b);
    feed *f = malloc(sizeof *f);
    struct archive *archive = archive_read_new();
    const char *name = hu_source_name(source);
    hu_status status = HU_OK;
    if (!b || !f || !archive || !(b->name = strdup(name)) || asprintf(&b->label, "%s: " MANIFEST, name) < 0) {
        status = hu_fail(err, HU_SYSTEM, "out of memory");
    } else {
        f->source = source;
        f->err = err;
        archive_read_support_filter_zstd(archive);
        archive_read_support_filter_gzip(archive);
        archive_read_support_format_tar(archive);
        if (archive_read_open(archive, f, NULL, read_from_feed, NULL) != ARCHIVE_OK) status = fail_reading(b, archive, err);
        if (!status) status = read_manifest(b, archive, kind, major, most_bytes, err);
        if (!status) status = read_members(b, archive, err);
    }
    if (archive) archive_read_free(archive);
    free(f);
    if (!status) return HU_OK;
    hu_bundle_free(b);
    *ret_bundle = NULL;
    return status;
}

void hu_bundle_free(hu_bundle *bundle)
{
    if (!bundle) return;
    for (int64_t i = 0; i < bundle->count; i++) {
        free(bundle->members[i].name);
        hu_free((void *)(uintptr_t)bundle->members[i].data);
    }
    hu_free(bundle->members);
    json_decref(bundle->manifest);
    free(bundle->label);
    free(bundle->name);
    free(bundle);
}

/* ---- access --------------------------------------------------------------------------------------------------------- */

int hu_bundle_major(const hu_bundle *bundle)
{
    return bundle->major;
}

int hu_bundle_minor(const hu_bundle *bundle)
{
    return bundle->minor;
}

const char *hu_bundle_name(const hu_bundle *bundle)
{
    return bundle->name;
}

hu_json_place hu_bundle_root(const hu_bundle *bundle)
{
    return bundle->content;
}

bool hu_bundle_has(const hu_bundle *bundle, const char *name)
{
    return find(bundle, name) != NULL;
}

hu_status hu_bundle_get(const hu_bundle *bundle, const char *name, const void **ret_bytes, int64_t *ret_size, hu_error *err)
{
    const member *m = find(bundle, name);
    if (!m) return hu_bundle_fail(bundle, err, "has no member %s", name);
    *ret_bytes = m->data;
    *ret_size = m->bytes;
    return HU_OK;
}

hu_status hu_bundle_get_array(const hu_bundle *bundle, const char *name, hu_bundle_type type, const void **ret_items, int64_t *ret_count,
                              hu_error *err)
{
    const member *m = find(bundle, name);
    if (!m) return hu_bundle_fail(bundle, err, "has no member %s", name);
    if (m->type != type)
        return hu_bundle_fail(bundle, err, "member %s is of type %s, not %s", name, type_names[m->type], type_names[type]);
    *ret_items = m->data;
    *ret_count = m->bytes / type_sizes[type];
    return HU_OK;
}

hu_status hu_bundle_get_exactly(const hu_bundle *bundle, const char *name, hu_bundle_type type, int64_t count, const void **ret_items,
                                hu_error *err)
{
    int64_t found = -1;
    if (hu_bundle_get_array(bundle, name, type, ret_items, &found, err)) return err->status;
    if (found != count)
        return hu_bundle_fail(bundle, err, "member %s has %lld items, not %lld", name, (long long)found, (long long)count);
    return HU_OK;
}
