/* output.h: where results go. A file appears whole or not at all; standard output is checked to the last byte.
 *
 * -o FILE is written to an unnamed (or, where the file system has none, a hidden) file in the same folder, synced, and
 * renamed over FILE by hu_output_commit(). A failed or killed run leaves an existing FILE untouched. A FILE that is a
 * device, pipe or socket is written directly. A link is followed, so that its target is replaced.
 */
#ifndef HU_BASE_OUTPUT_H
#define HU_BASE_OUTPUT_H

#include "base/error.h"
#include <stdio.h>

typedef struct hu_output hu_output;

/* Opens path for writing; NULL and "-" are standard output. Free with hu_output_commit() or hu_output_abort(). */
hu_status hu_output_open(const char *path, hu_output **ret_out, hu_error *err);

/* Appends size bytes. */
hu_status hu_output_write(hu_output *out, const void *bytes, size_t size, hu_error *err);
hu_status hu_output_printf(hu_output *out, hu_error *err, const char *format, ...) HU_PRINTF(3, 4);

/* Gives `room` bytes of the buffer to write into, at least size (size <= 64 KiB); then say how many were used. */
hu_status hu_output_reserve(hu_output *out, size_t size, char **ret_room, hu_error *err);
void hu_output_used(hu_output *out, size_t size);

/* Hands all that was written so far to the reader of a pipe. */
hu_status hu_output_flush(hu_output *out, hu_error *err);

const char *hu_output_name(const hu_output *out);

/* Ends the output for good or removes it; *out becomes NULL, and NULL is allowed. */
hu_status hu_output_commit(hu_output **out, hu_error *err);
void hu_output_abort(hu_output **out);

/* An output in memory, for what must be known whole before it is written; the bytes are valid until the next write.
 * Committing or aborting it frees it. */
hu_status hu_output_memory(const char *name, hu_output **ret_out, hu_error *err);
void hu_output_memory_bytes(hu_output *out, const char **ret_bytes, size_t *ret_size);

/* Says that the output is part of an answer other than HU_OK (HU_NO, HU_PROGRAM and up): hu_exit() then commits it all the same. */
void hu_output_keep(hu_output *out);

/* The end of main(): commits the output (which may be NULL) where all went well, or where it is kept and the status is an answer and
 * no failure; removes it otherwise. Prints the error and returns the exit code; a commit that fails decides it. */
int hu_exit(hu_error *err, hu_output *out);
int hu_exit_all(hu_error *err, hu_output **outs, int n); /* the same for several */

#endif
