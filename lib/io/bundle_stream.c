/* bundle_stream.c: bundles that are written before their members are known, and read member by member (bundle.h says how they differ).
 *
 * Sections: writing, reading.
 */
#include "config.h"
#include "io/bundle_archive.h"
#include "base/crc32c.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define INDEX "index"
enum { CRC_BYTES = 4 };

/* What the index says, kept on both sides. */
typedef struct {
    int64_t members, bytes;
    uint32_t crc;
} tally;

static void count_member(tally *t, const char *name, int64_t size, const unsigned char *trailer)
{
    t->members++;
    t->bytes += size;
    t->crc = hu_crc32c(t->crc, name, strlen(name) + 1);
    t->crc = hu_crc32c(t->crc, trailer, CRC_BYTES);
}

static void put_crc(unsigned char *trailer, uint32_t crc)
{
    for (int i = 0; i < CRC_BYTES; i++) trailer[i] = (unsigned char)(crc >> 8 * i);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

struct hu_bundle_outflow {
    hu_archive_sink sink;
    hu_error own; /* of the sink while no caller's is at hand */
    struct archive *archive;
    tally tally;
    void *block; /* a member with its trailer */
    int64_t room;
};

static hu_status put_manifest(hu_bundle_outflow *f, const char *kind, int major, int minor, json_t *content, hu_error *err)
{
    char *text = NULL;
    int64_t size;
    json_t *manifest = json_pack("{s:s, s:i, s:i, s:b, s:O}", "kind", kind, "major", major, "minor", minor, "stream", 1, "content", content);
    if (!manifest) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_json_print(manifest, &text, &size, err) == HU_OK) hu_archive_put(f->archive, HU_ARCHIVE_MANIFEST, text, size, f->sink.out, err);
    hu_free(text);
    json_decref(manifest);
    return err->status;
}

hu_status hu_bundle_outflow_open(const char *kind, int major, int minor, json_t *content, hu_bundle_filter filter, int level, hu_output *out, hu_bundle_outflow **ret_flow,
                                 hu_error *err)
{
    hu_bundle_outflow *f = *ret_flow = calloc(1, sizeof *f);
    if (!f) return hu_fail(err, HU_SYSTEM, "out of memory");
    f->sink = (hu_archive_sink){out, err, false};
    if ((f->archive = hu_archive_create(&f->sink, filter, level))) put_manifest(f, kind, major, minor, content, err);
    if (err->status) hu_bundle_outflow_abort(ret_flow);
    return err->status;
}

hu_status hu_bundle_outflow_put(hu_bundle_outflow *flow, const char *name, const void *bytes, int64_t size, hu_error *err)
{
    flow->sink.err = err;
    if (!hu_archive_name_is_plain(name)) return hu_fail(err, HU_USAGE, "'%s' cannot name a member of a bundle", name);
    if (hu_grow(&flow->block, &flow->room, size + CRC_BYTES, 1, "a member of a bundle", err)) return err->status;
    unsigned char *block = flow->block;
    if (size > 0) memcpy(block, bytes, (size_t)size);
    put_crc(block + size, hu_crc32c(0, block, (size_t)size));
    if (strcmp(name, INDEX) != 0) count_member(&flow->tally, name, size, block + size);
    return hu_archive_put(flow->archive, name, block, size + CRC_BYTES, flow->sink.out, err);
}

hu_status hu_bundle_outflow_finish(hu_bundle_outflow **flow, hu_error *err)
{
    hu_bundle_outflow *f = *flow;
    char text[128];
    f->sink.err = err;
    int n = snprintf(text, sizeof text, "{\"bytes\":%lld,\"crc32c\":\"%08x\",\"members\":%lld}\n", (long long)f->tally.bytes, f->tally.crc, (long long)f->tally.members);
    if (hu_bundle_outflow_put(f, INDEX, text, n, err) == HU_OK && archive_write_close(f->archive) != ARCHIVE_OK) hu_archive_fail_writing(f->archive, f->sink.out, err);
    hu_bundle_outflow_abort(flow);
    return err->status;
}

void hu_bundle_outflow_abort(hu_bundle_outflow **flow)
{
    hu_bundle_outflow *f = *flow;
    if (!f) return;
    f->sink.failed = true;
    f->sink.err = &f->own;
    if (f->archive) archive_write_free(f->archive);
    hu_free(f->block);
    free(f);
    *flow = NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

struct hu_bundle_inflow {
    hu_archive_feed feed;
    hu_error own;
    struct archive *archive;
    const char *source;
    char *label;
    json_t *manifest;
    hu_json_place root, content;
    int major, minor;
    tally tally;
    char *name;
    void *block;
    bool ended;
};

static hu_status read_manifest(hu_bundle_inflow *f, const char *kind, int major, hu_error *err)
{
    struct archive_entry *entry;
    const char *name;
    void *text;
    bool stream;
    hu_status status = hu_archive_next(f->source, f->archive, &entry, &name, err);
    if (status == HU_END || (!status && strcmp(name, HU_ARCHIVE_MANIFEST) != 0))
        return hu_fail(err, HU_INPUT, "%s: is no bundle: it does not start with " HU_ARCHIVE_MANIFEST, f->source);
    if (status) return status;
    int64_t size = archive_entry_size(entry);
    if (size < 0 || size > HU_ARCHIVE_MANIFEST_BYTES) return hu_fail(err, HU_INPUT, "%s: its manifest is larger than %d bytes", f->source, HU_ARCHIVE_MANIFEST_BYTES);
    if (hu_archive_data(f->source, f->archive, HU_ARCHIVE_MANIFEST, size, &text, err)) return err->status;
    status = hu_json_parse(text, size, f->label, &f->manifest, err);
    hu_free(text);
    if (status) return status;
    f->root = hu_json_root(f->manifest, f->label);
    if (hu_archive_version(&f->root, f->source, kind, major, &f->major, &f->minor, err)) return err->status;
    if (hu_json_member(&f->root, "content", &f->content, err)) return err->status;
    if (!json_is_object(f->content.value)) return hu_json_fail(&f->content, err, "expected an object");
    if (hu_json_bool(&f->root, "stream", &stream, err)) return err->status;
    return stream ? HU_OK : hu_fail(err, HU_INPUT, "%s: is no streamed bundle", f->source);
}

hu_status hu_bundle_inflow_open(hu_source *source, const char *kind, int major, hu_bundle_inflow **ret_flow, hu_error *err)
{
    hu_bundle_inflow *f = *ret_flow = calloc(1, sizeof *f);
    if (!f) return hu_fail(err, HU_SYSTEM, "out of memory");
    f->feed.source = source;
    f->feed.err = err;
    f->source = hu_source_name(source);
    if (asprintf(&f->label, "%s: " HU_ARCHIVE_MANIFEST, f->source) < 0) {
        f->label = NULL;
        hu_fail(err, HU_SYSTEM, "out of memory");
    } else if ((f->archive = hu_archive_open(&f->feed))) {
        read_manifest(f, kind, major, err);
    }
    if (!err->status) return HU_OK;
    hu_bundle_inflow_close(f);
    *ret_flow = NULL;
    return err->status;
}

void hu_bundle_inflow_close(hu_bundle_inflow *flow)
{
    if (!flow) return;
    flow->feed.err = &flow->own;
    if (flow->archive) archive_read_free(flow->archive);
    json_decref(flow->manifest);
    hu_free(flow->block);
    free(flow->name);
    free(flow->label);
    free(flow);
}

int hu_bundle_inflow_minor(const hu_bundle_inflow *flow)
{
    return flow->minor;
}

hu_json_place hu_bundle_inflow_root(const hu_bundle_inflow *flow)
{
    return flow->content;
}

const char *hu_bundle_inflow_name(const hu_bundle_inflow *flow)
{
    return flow->source;
}

/* The index, and nothing behind it. */
static hu_status check_index(hu_bundle_inflow *f, int64_t size, hu_error *err)
{
    json_t *document = NULL;
    int64_t members = 0, bytes = 0;
    const char *crc, *name;
    char expected[9], label[300];
    struct archive_entry *entry;
    snprintf(label, sizeof label, "%.200s: " INDEX, f->source);
    if (hu_json_parse(f->block, size, label, &document, err)) return err->status;
    hu_json_place root = hu_json_root(document, label);
    snprintf(expected, sizeof expected, "%08x", f->tally.crc);
    if (hu_json_integer(&root, "members", 0, INT64_MAX, &members, err) == HU_OK && hu_json_integer(&root, "bytes", 0, INT64_MAX, &bytes, err) == HU_OK &&
        hu_json_text(&root, "crc32c", &crc, err) == HU_OK && (members != f->tally.members || bytes != f->tally.bytes || strcmp(crc, expected) != 0))
        hu_fail(err, HU_INPUT, "%s: its index says %lld members of %lld bytes together, but there are %lld of %lld", f->source, (long long)members, (long long)bytes,
                (long long)f->tally.members, (long long)f->tally.bytes);
    json_decref(document);
    if (err->status) return err->status;
    f->ended = true;
    hu_status status = hu_archive_next(f->source, f->archive, &entry, &name, err);
    if (status) return status; /* the end, or damage */
    return hu_fail(err, HU_INPUT, "%s: there are members behind its index", f->source);
}

hu_status hu_bundle_inflow_next(hu_bundle_inflow *flow, int64_t most_bytes, const char **ret_name, const void **ret_bytes, int64_t *ret_size, hu_error *err)
{
    struct archive_entry *entry;
    const char *name;
    flow->feed.err = err;
    if (flow->ended) return HU_END;
    hu_status status = hu_archive_next(flow->source, flow->archive, &entry, &name, err);
    if (status == HU_END)
        return hu_fail(err, HU_INPUT, "%s: is cut short behind its member %s: there is no index", flow->source,
                       flow->name ? flow->name : HU_ARCHIVE_MANIFEST);
    if (status) return status;
    if (!hu_archive_name_is_plain(name)) return hu_fail(err, HU_INPUT, "%s: holds a name that a bundle cannot have", flow->source);
    int64_t size = archive_entry_size(entry) - CRC_BYTES;
    if (size < 0) return hu_fail(err, HU_INPUT, "%s: member %s is too short to have a CRC", flow->source, name);
    if (size > most_bytes) return hu_fail(err, HU_INPUT, "%s: member %s is larger than %lld bytes", flow->source, name, (long long)most_bytes);
    free(flow->name);
    hu_free(flow->block);
    flow->block = NULL;
    if (!(flow->name = strdup(name))) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_archive_data(flow->source, flow->archive, flow->name, size + CRC_BYTES, &flow->block, err)) return err->status;
    unsigned char trailer[CRC_BYTES], *found = (unsigned char *)flow->block + size;
    put_crc(trailer, hu_crc32c(0, flow->block, (size_t)size));
    if (memcmp(trailer, found, CRC_BYTES) != 0) return hu_fail(err, HU_INPUT, "%s: member %s is damaged: its CRC is wrong", flow->source, flow->name);
    if (strcmp(flow->name, INDEX) == 0) return check_index(flow, size, err);
    count_member(&flow->tally, flow->name, size, found);
    *ret_name = flow->name;
    *ret_bytes = flow->block;
    *ret_size = size;
    return HU_OK;
}
