/* bundle_archive.h: the libarchive side of bundles, for bundle.c and bundle_stream.c alone. */
#ifndef HU_IO_BUNDLE_ARCHIVE_H
#define HU_IO_BUNDLE_ARCHIVE_H

#include "io/bundle.h"

#include <archive.h>
#include <archive_entry.h>

#define HU_ARCHIVE_MANIFEST "manifest.json"
enum { HU_ARCHIVE_TRANSFER = 1 << 16, HU_ARCHIVE_MANIFEST_BYTES = 64 << 20 };

/* Whether a name can be a member's: 1 to 200 of a-z A-Z 0-9 . _ - in parts joined by '/', no part starting with '.', and not the manifest's. */
bool hu_archive_name_is_plain(const char *name);

/* ---- writing */

typedef struct {
    hu_output *out;
    hu_error *err;
    bool failed; /* what libarchive still writes when it is freed is dropped */
} hu_archive_sink;

/* level: of zstd; 0 is its default. NULL on failure. Free with archive_write_free(). */
struct archive *hu_archive_create(hu_archive_sink *s, hu_bundle_filter filter, int level);
hu_status hu_archive_put(struct archive *archive, const char *name, const void *bytes, int64_t size, const hu_output *out, hu_error *err);
hu_status hu_archive_fail_writing(struct archive *archive, const hu_output *out, hu_error *err);

/* ---- reading; source: what messages call it */

typedef struct {
    hu_source *source;
    hu_error *err;
    char buffer[HU_ARCHIVE_TRANSFER];
} hu_archive_feed;

/* NULL on failure. Free with archive_read_free(). */
struct archive *hu_archive_open(hu_archive_feed *f);

/* The next member's name; HU_END behind the last. Anything but a plain file is refused. */
hu_status hu_archive_next(const char *source, struct archive *archive, struct archive_entry **ret_entry, const char **ret_name, hu_error *err);

/* The data of the entry, which must be `size` bytes without holes; free with hu_free(). */
hu_status hu_archive_data(const char *source, struct archive *archive, const char *name, int64_t size, void **ret_block, hu_error *err);

/* Checks kind and version of a manifest, which stands at root. */
hu_status hu_archive_version(const hu_json_place *root, const char *source, const char *kind, int major, int *ret_major, int *ret_minor, hu_error *err);

#endif
