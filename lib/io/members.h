/* members.h: all files of an archive in memory, for inputs of several parts that any tool may have packed: tar (every kind), zip, so .npz as well,
 * plain or compressed. Where the first member is the manifest.json of a bundle (bundle.h), its kind, version and every member's size and CRC are checked.
 */
#ifndef HU_IO_MEMBERS_H
#define HU_IO_MEMBERS_H

#include "io/source.h"

typedef struct hu_members hu_members;

/* Reads the rest of a source, which was opened as it is (hu_source_as_it_is). kind: of the bundle that is expected, should it be one. Folders are passed over; links,
 * devices, names that are absolute or climb by '..', a member that is there twice, and more than most_bytes together are HU_INPUT, as is an archive that is cut
 * short. A leading './' is taken away. Memory follows what is really there. Free with hu_members_free(). */
hu_status hu_members_read(hu_source *source, const char *kind, int major, int64_t most_bytes, hu_members **ret_members, hu_error *err);
void hu_members_free(hu_members *members); /* NULL is allowed */

const char *hu_members_archive(const hu_members *members); /* the source's name */
int64_t hu_members_count(const hu_members *members);
const char *hu_members_name(const hu_members *members, int64_t index);

/* The index of a name, or -1. */
int64_t hu_members_find(const hu_members *members, const char *name);

/* A source of the member's bytes, named ARCHIVE:MEMBER in messages; compressed members are unpacked. Close it with hu_source_close(). */
hu_status hu_members_open(const hu_members *members, int64_t index, hu_source **ret_source, hu_error *err);

#endif
