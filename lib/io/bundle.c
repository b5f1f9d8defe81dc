/* bundle.c: the container of artefacts of several parts: a pax tar with a manifest, through libarchive.
 *
 * Sections: names and types, writing, reading the archive, the manifest, access.
 */
#include "config.h"
#include "io/bundle.h"
#include "io/bundle_archive.h"
#include "base/crc32c.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays of a bundle are written as they stand in memory: little-endian");

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
    if (!hu_archive_name_is_plain(name)) return hu_fail(err, HU_USAGE, "'%s' cannot name a member of a bundle", name);
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
    hu_archive_sink s = {out, err, false};
    struct archive *archive = NULL;
    char *manifest = NULL;
    int64_t size;
    hu_status status = list_members(w, err);
    if (!status) status = hu_json_print(w->manifest, &manifest, &size, err);
    if (!status) status = (archive = hu_archive_create(&s, filter, 0)) ? HU_OK : err->status;
    if (!status) status = hu_archive_put(archive, HU_ARCHIVE_MANIFEST, manifest, size, out, err);
    for (int64_t i = 0; i < w->count && !status; i++)
        status = hu_archive_put(archive, w->members[i].name, w->members[i].data, w->members[i].bytes, out, err);
    if (!status && archive_write_close(archive) != ARCHIVE_OK) status = hu_archive_fail_writing(archive, out, err);
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

hu_status hu_bundle_fail(const hu_bundle *bundle, hu_error *err, const char *format, ...)
{
    char reason[700];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return hu_fail(err, HU_INPUT, "%s: %s", bundle->name, reason);
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
        hu_status status = hu_archive_next(b->name, archive, &entry, &name, err);
        if (status == HU_END) break;
        if (status) return status;
        member *m = find(b, name);
        if (!m) return hu_bundle_fail(b, err, "a member is not in the manifest"); /* its name may be anything */
        if (m->data) return hu_bundle_fail(b, err, "member %s is there twice", m->name);
        if (archive_entry_size(entry) != m->bytes)
            return hu_bundle_fail(b, err, "member %s has %lld bytes, the manifest says %lld", m->name, (long long)archive_entry_size(entry),
                                  (long long)m->bytes);
        void *block;
        if (hu_archive_data(b->name, archive, m->name, m->bytes, &block, err)) return err->status;
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
    if (!hu_archive_name_is_plain(name)) return hu_json_fail(members, err, "holds a name that a bundle cannot have");
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

static hu_status read_manifest(hu_bundle *b, struct archive *archive, const char *kind, int major, int64_t most_bytes, hu_error *err)
{
    struct archive_entry *entry;
    const char *name;
    void *text;
    hu_status status = hu_archive_next(b->name, archive, &entry, &name, err);
    if (status == HU_END || (!status && strcmp(name, HU_ARCHIVE_MANIFEST) != 0))
        return hu_bundle_fail(b, err, "is no bundle: it does not start with " HU_ARCHIVE_MANIFEST);
    if (status) return status;
    int64_t size = archive_entry_size(entry);
    if (size < 0 || size > HU_ARCHIVE_MANIFEST_BYTES) return hu_bundle_fail(b, err, "its manifest is larger than %d bytes", HU_ARCHIVE_MANIFEST_BYTES);
    if (hu_archive_data(b->name, archive, HU_ARCHIVE_MANIFEST, size, &text, err)) return err->status;
    status = hu_json_parse(text, size, b->label, &b->manifest, err);
    hu_free(text);
    if (status) return status;

    hu_json_place members;
    b->root = hu_json_root(b->manifest, b->label);
    if (hu_archive_version(&b->root, b->name, kind, major, &b->major, &b->minor, err)) return err->status;
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
    hu_archive_feed *f = malloc(sizeof *f);
    struct archive *archive = NULL;
    const char *name = hu_source_name(source);
    hu_status status = HU_OK;
    if (!b || !f || !(b->name = strdup(name)) || asprintf(&b->label, "%s: " HU_ARCHIVE_MANIFEST, name) < 0) {
        status = hu_fail(err, HU_SYSTEM, "out of memory");
    } else {
        f->source = source;
        f->err = err;
        if (!(archive = hu_archive_open(f))) status = err->status;
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
