/* report.h: one row a run, appended to a CSV file (--report=FILE.csv), or printed (--bench).
 *
 * A report is a row of named columns. Appending writes the header first where the file is absent or empty; a file with another header is an
 * error, so that no row lands under the wrong names. Runs may append at the same time: each row is written whole under an exclusive
 * flock() and synced. A row that cannot be written in full (full disc) is taken back, so the file stays as it was.
 */
#ifndef HU_IO_REPORT_H
#define HU_IO_REPORT_H

#include "base/output.h"

typedef struct hu_report hu_report;

/* An empty row. Free with hu_report_free(). */
hu_status hu_report_new(hu_report **ret_report, hu_error *err);
void hu_report_free(hu_report *report); /* NULL is allowed */

/* Adds a column with its value. A NaN, and a text that is NULL, become a missing value (an empty cell). */
hu_status hu_report_text(hu_report *report, const char *column, const char *text, hu_error *err);
hu_status hu_report_integer(hu_report *report, const char *column, int64_t value, hu_error *err);
hu_status hu_report_number(hu_report *report, const char *column, double value, hu_error *err);

/* Starts the next row; its columns are then added in the same order (their names are not looked at again). */
void hu_report_next_row(hu_report *report);

/* Appends all rows to the file; "-" is standard output, which gets the header always. Another header in the file is HU_INPUT. */
hu_status hu_report_append(const hu_report *report, const char *path, hu_error *err);

/* Header and rows, or rows only. */
hu_status hu_report_write(const hu_report *report, bool header, hu_output *out, hu_error *err);

#endif
