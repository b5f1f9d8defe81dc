/* source.h: any input as a stream of bytes: FILE or '-' (standard input), gz, xz, zst, bz2 by content, and the
 * wanted member of a tar or zip, through zlib and libarchive. A plain file is read directly.
 */
#ifndef HU_IO_SOURCE_H
#define HU_IO_SOURCE_H

#include "base/error.h"

typedef struct hu_source hu_source;

/* Opens path; NULL and "-" are standard input. suffix (may be NULL): of a tar, the member to take is the one whose name
 * ends in suffix; if several do, the one named like the archive (NAME.tar.gz -> NAME/NAME.mtx); if there is no single
 * choice the error lists the members. A path "ARCHIVE:MEMBER" names the member where no file of that whole name exists.
 * A tar is read once, from front to back, so a pipe will do; a member that may have to give way to a better one is set
 * aside in a temporary file. An absent file or a folder is HU_SYSTEM, damaged or cut compression HU_INPUT (when it is
 * opened or read). Free with hu_source_close(). */
hu_status hu_source_open(const char *path, const char *suffix, hu_source **ret_source, hu_error *err);

/* The suffix that opens any file as it is, without looking into archives or compression: for bundles (bundle.h), which do it themselves. A bundle
 * that is plain or of gzip is told by its first member, manifest.json, and opened whole under any suffix; one of zstd needs this one. */
extern const char hu_source_as_it_is[];

/* A source of bytes that are in memory; they are copied. */
hu_status hu_source_memory(const char *name, const void *bytes, int64_t size, hu_source **ret_source, hu_error *err);

void hu_source_close(hu_source *source); /* NULL is allowed */

/* What messages call it: the path, "standard input", or "ARCHIVE:MEMBER". */
const char *hu_source_name(const hu_source *source);

/* Reads up to size bytes, and size bytes unless the end comes first: *ret_size < size means the end. */
hu_status hu_source_read(hu_source *source, void *buffer, size_t size, size_t *ret_size, hu_error *err);

/* Looks at up to size (<= 4096) coming bytes without taking them. */
hu_status hu_source_peek(hu_source *source, size_t size, const void **ret_bytes, size_t *ret_size, hu_error *err);

/* Looks at the bytes that are there already, at least one unless the end comes first, so that nobody waits for what may come later. */
hu_status hu_source_peek_some(hu_source *source, const void **ret_bytes, size_t *ret_size, hu_error *err);

/* Whether a path ends in a suffix, letter by letter. */
bool hu_ends_in(const char *path, const char *suffix);

/* Bytes taken so far; of a plain file, the position in it (standard input may begin in the middle of a file). */
int64_t hu_source_offset(const hu_source *source);

/* A plain regular file can be read by several threads at once: the descriptor to pread() from and the file's size; the
 * stream stands at hu_source_offset(). Returns false for anything else. After its use, hu_source_seek() says where the
 * stream goes on. */
bool hu_source_is_plain(const hu_source *source, int *ret_fd, int64_t *ret_size);
void hu_source_seek(hu_source *source, int64_t offset);

/* The rest of the source in memory, one zero byte after it; free with hu_free(). HU_INPUT where it is longer than most.
 */
hu_status hu_source_slurp(hu_source *source, int64_t most, char **ret_text, int64_t *ret_size, hu_error *err);

#endif
