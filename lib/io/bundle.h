/* bundle.h: the container of every artefact of several parts (plans, packed matrices, models, traces): a pax tar that
 * `bsdtar -tvf` lists, plain or compressed by zstd.
 *
 * The format. A tar in the pax interchange format (POSIX.1-2001; a member that ustar can describe has no extended header). The first
 * member is manifest.json, the others follow in the order of their names' bytes. Every member is a regular file of mode 0644,
 * owner and group 0 without names, and mtime 0; the archive ends with the two zero blocks of tar and no further padding. Member data start at multiples
 * of 512 bytes of the plain form. Equal content gives equal bytes. The manifest is an object:
 *     kind     what the bundle holds, e.g. "sptrsv-plan"
 *     major    version; a reader refuses a newer one
 *     minor    version; a newer one adds what an old reader may pass over
 *     members  for each member by name: bytes, crc32c (8 hexadecimal digits), type ("bytes", "i4", "i8", "f4", "f8")
 *     content  what the kind itself has to say, an object
 * Arrays are little-endian without padding. A name is 1 to 200 of the characters a-z A-Z 0-9 . _ - in parts joined by single '/', no part
 * starting with '.'; so a bundle unpacks harmlessly anywhere.
 *
 * A streamed bundle (traces) is written before its members are known, and read member by member from a pipe. It differs in three things: the manifest has
 * "stream": true and no "members"; each member ends with four bytes more, the CRC-32C (little-endian) of those before; and the last member is `index`, an object with the
 * number of members before it ("members"), their bytes together, trailers not counted ("bytes"), and the CRC-32C of each one's name, a zero byte and its trailer, in their
 * order ("crc32c"). A file without an index is cut. Members are in the order of writing.
 *
 * Sections: writing, reading, streams.
 */
#ifndef HU_IO_BUNDLE_H
#define HU_IO_BUNDLE_H

#include "base/output.h"
#include "io/json.h"
#include "io/source.h"

#define HU_BUNDLE_MEMBERS 65536 /* at most, the manifest not counted */

typedef enum { HU_BUNDLE_BYTES, HU_BUNDLE_I4, HU_BUNDLE_I8, HU_BUNDLE_F4, HU_BUNDLE_F8 } hu_bundle_type;
typedef enum { HU_BUNDLE_PLAIN, HU_BUNDLE_ZSTD } hu_bundle_filter;

/* ---- writing */

typedef struct hu_bundle_writer hu_bundle_writer;

/* Starts a bundle. Free with hu_bundle_finish() or hu_bundle_abort(). */
hu_status hu_bundle_create(const char *kind, int major, int minor, hu_bundle_writer **ret_writer, hu_error *err);

/* The object that becomes the manifest's "content"; fill it with json_object_set_new(). It belongs to the writer. */
json_t *hu_bundle_content(hu_bundle_writer *writer);

/* Adds a member, in any order. The bytes are not copied: they must stay until the bundle is finished.
 * A wrong or repeated name is HU_USAGE. */
hu_status hu_bundle_add(hu_bundle_writer *writer, const char *name, const void *bytes, int64_t size, hu_error *err);
hu_status hu_bundle_add_array(hu_bundle_writer *writer, const char *name, hu_bundle_type type, const void *items, int64_t count,
                              hu_error *err);

/* Writes the bundle to out (which stays open) and frees the writer, also on failure; *writer becomes NULL. */
hu_status hu_bundle_finish(hu_bundle_writer **writer, hu_bundle_filter filter, hu_output *out, hu_error *err);
void hu_bundle_abort(hu_bundle_writer **writer); /* NULL is allowed */

/* ---- reading */

typedef struct hu_bundle hu_bundle;

/* Reads a whole bundle from any source, a pipe too, into memory, and checks each member's size and CRC. HU_INPUT where it is no bundle, is
 * damaged, is of another kind, has a newer major version, or would hold more than most_bytes. Memory grows with what is really
 * there, not with what headers claim. Free with hu_bundle_free(). */
hu_status hu_bundle_read(hu_source *source, const char *kind, int major, int64_t most_bytes, hu_bundle **ret_bundle, hu_error *err);
void hu_bundle_free(hu_bundle *bundle); /* NULL is allowed */

int hu_bundle_major(const hu_bundle *bundle);
int hu_bundle_minor(const hu_bundle *bundle);
const char *hu_bundle_name(const hu_bundle *bundle); /* of the source, for messages */

/* The manifest's "content", for hu_json_integer() and the like; valid while the bundle is. */
hu_json_place hu_bundle_root(const hu_bundle *bundle);

/* Members; the bytes belong to the bundle and are aligned to HU_ALIGN. An absent member, or one of another type, is HU_INPUT naming it. */
bool hu_bundle_has(const hu_bundle *bundle, const char *name);
hu_status hu_bundle_get(const hu_bundle *bundle, const char *name, const void **ret_bytes, int64_t *ret_size, hu_error *err);
hu_status hu_bundle_get_array(const hu_bundle *bundle, const char *name, hu_bundle_type type, const void **ret_items,
                              int64_t *ret_count, hu_error *err);

/* The same where the number of items is known beforehand: another count is HU_INPUT. */
hu_status hu_bundle_get_exactly(const hu_bundle *bundle, const char *name, hu_bundle_type type, int64_t count, const void **ret_items,
                                hu_error *err);

/* HU_INPUT "NAME: reason" for what the bundle's user finds wrong in it. */
hu_status hu_bundle_fail(const hu_bundle *bundle, hu_error *err, const char *format, ...) HU_PRINTF(3, 4);

/* ---- streams */

typedef struct hu_bundle_outflow hu_bundle_outflow;

/* Starts a streamed bundle: writes its manifest, whose "content" is `content` (borrowed). level: of zstd, 0 is its default. Free with hu_bundle_outflow_finish() or
 * hu_bundle_outflow_abort(). */
hu_status hu_bundle_outflow_open(const char *kind, int major, int minor, json_t *content, hu_bundle_filter filter, int level, hu_output *out, hu_bundle_outflow **ret_flow,
                                 hu_error *err);
hu_status hu_bundle_outflow_put(hu_bundle_outflow *flow, const char *name, const void *bytes, int64_t size, hu_error *err);
hu_status hu_bundle_outflow_finish(hu_bundle_outflow **flow, hu_error *err); /* writes the index; frees the flow, also on failure */
void hu_bundle_outflow_abort(hu_bundle_outflow **flow);                      /* NULL is allowed */

typedef struct hu_bundle_inflow hu_bundle_inflow;

/* Reads the manifest of a streamed bundle from any source, a pipe too. HU_INPUT where it is none, of another kind or of a newer major version. The source must live
 * as long as the flow. Free with hu_bundle_inflow_close(). */
hu_status hu_bundle_inflow_open(hu_source *source, const char *kind, int major, hu_bundle_inflow **ret_flow, hu_error *err);
void hu_bundle_inflow_close(hu_bundle_inflow *flow); /* NULL is allowed */

int hu_bundle_inflow_minor(const hu_bundle_inflow *flow);
hu_json_place hu_bundle_inflow_root(const hu_bundle_inflow *flow); /* the manifest's "content" */
const char *hu_bundle_inflow_name(const hu_bundle_inflow *flow);

/* The next member, of at most most_bytes bytes; name and bytes are valid until the next call. HU_END behind the last, when the index agreed. HU_INPUT where the member is
 * damaged or the bundle is cut short; what came before is sound. */
hu_status hu_bundle_inflow_next(hu_bundle_inflow *flow, int64_t most_bytes, const char **ret_name, const void **ret_bytes, int64_t *ret_size, hu_error *err);

#endif
