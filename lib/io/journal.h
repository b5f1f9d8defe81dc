/* journal.h: an append-only file of records that several processes share and that survives their death.
 *
 * The format. The line "hpcutils-journal 1", then records: LENGTH CRC HEAD, each of 8 hexadecimal digits and a blank, LENGTH bytes of text, and a newline.
 * CRC is the CRC-32C of the text behind that of the record before; HEAD is the CRC-32C of the 18 bytes before it. So a record that was cut while it was written
 * (a killed process, a power cut) can be told from one that was changed: what is cut at the end is dropped and said, all else is HU_INPUT with its byte.
 */
#ifndef HU_IO_JOURNAL_H
#define HU_IO_JOURNAL_H

#include "base/error.h"

typedef struct hu_journal hu_journal;

/* Opens a journal for this process alone (flock(); others wait) and reads it whole. An absent file is made where `create` says so, else it is HU_SYSTEM. A file
 * that is no journal, or is damaged, is HU_INPUT and stays as it is. A torn end is cut off, with a warning. Free with hu_journal_close(). */
hu_status hu_journal_open(const char *path, bool create, hu_journal **ret_journal, hu_error *err);

/* The same for bytes in memory, which must stay; nothing can be appended. */
hu_status hu_journal_memory(const char *name, const void *bytes, int64_t size, hu_journal **ret_journal, hu_error *err);

/* Writes what was appended and gives the file free. */
void hu_journal_close(hu_journal *journal); /* NULL is allowed */

/* The next record's text, not ended by a zero byte, valid until the journal is closed; HU_END behind the last. */
hu_status hu_journal_next(hu_journal *journal, const char **ret_text, int64_t *ret_size, hu_error *err);

/* HU_INPUT "NAME: byte OFFSET: reason" for the record that hu_journal_next() gave last. */
hu_status hu_journal_fail(const hu_journal *journal, hu_error *err, const char *format, ...) HU_PRINTF(3, 4);

/* Appends a record, whole and synced or not at all. All others must have been read. */
hu_status hu_journal_append(hu_journal *journal, const char *text, int64_t size, hu_error *err);

const char *hu_journal_name(const hu_journal *journal);

/* Bytes of a torn end that were dropped. */
int64_t hu_journal_torn(const hu_journal *journal);

#endif
