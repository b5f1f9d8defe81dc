/* csv.h: CSV tables (RFC 4180), row by row or whole, and their writing.
 *
 * What is read. UTF-8 with or without a byte order mark; lines ended by LF or CRLF, the last one by nothing if you like. A field in double quotes
 * may hold delimiters, line ends and quotes (doubled); a quote inside a bare field, text behind a closing quote, a bare carriage
 * return and a zero byte are errors. All rows have as many fields as the first. Blank lines are passed over; in a table
 * of one column they are missing values, those at the end of the file excepted. Messages count physical lines from 1.
 *
 * The delimiter, where not told, is the one of comma, semicolon and tab that stands equally often (at least once) in each row of the sample (the
 * first 256 KiB or 1000 rows); where two do it is an error, and where none does the only one in the first row, else the comma. The decimal sign,
 * where not told, is the comma only where the delimiter is another sign, cells like 0,5 are there, none like 0.5 are, and they are not
 * all of a form that could mean thousands (1,250): else an error.
 *
 * Cells. Blanks and tabs around a number do not count. By content, quoted or not:
 *     a number      007 = 7, 1e3, 1d3 = 1000, +3, 1., .5, inf, Infinity, nan in any case
 *     true, false   in any case: 1 and 0
 *     missing       a bare empty cell, and a bare NA
 *     a word        all else: 0x10, 1_000, "" (in quotes), " " (a blank), yes
 * A column without words is numeric; one with any is text, and all its cells are levels, spelt as they stand.
 *
 * Sections: rows, tables, writing.
 */
#ifndef HU_IO_CSV_H
#define HU_IO_CSV_H

#include "base/output.h"
#include "io/source.h"

typedef enum { HU_CSV_HEADER, HU_CSV_NO_HEADER, HU_CSV_HEADER_AUTO } hu_csv_header; /* auto: a first row with any word is one */

typedef struct {
    char delimiter;       /* 0: found from the content */
    char decimal;         /* '.' or ','; 0: found from the content */
    hu_csv_header header;
    char comment;         /* lines that begin with it are passed over; 0: there are none */
} hu_csv_options;

#define HU_CSV_DEFAULTS {0, 0, HU_CSV_HEADER, 0}

/* ---- rows */

typedef struct hu_csv hu_csv;

/* The content of a cell, without its quotes; not ended by a zero byte; valid until the next row is read. */
typedef struct {
    const char *text;
    int64_t size;
    bool quoted;
} hu_csv_field;

typedef enum { HU_CSV_MISSING, HU_CSV_NUMBER, HU_CSV_TRUTH, HU_CSV_WORD } hu_csv_kind;

/* Reads the header and gets ready for the first row. An empty source is HU_INPUT, as are two columns of one name.
 * Free with hu_csv_close(); the source stays open. */
hu_status hu_csv_open(hu_source *source, const hu_csv_options *options, hu_csv **ret_csv, hu_error *err);
void hu_csv_close(hu_csv *csv); /* NULL is allowed */

int64_t hu_csv_columns(const hu_csv *csv);
const char *hu_csv_column_name(const hu_csv *csv, int64_t column); /* "c1", "c2" ... where there is no header */
bool hu_csv_has_header(const hu_csv *csv);
char hu_csv_delimiter(const hu_csv *csv);

/* The next row, hu_csv_columns() fields; HU_END behind the last. */
hu_status hu_csv_next(hu_csv *csv, const hu_csv_field **ret_fields, hu_error *err);

/* The quick way to rows of numbers: takes the next row and gives its values where all cells are bare numbers with a decimal point; else false, and
 * hu_csv_next() gives the same row. The fields of such a row are not kept: hu_csv_cell() must not be asked for them. */
bool hu_csv_next_numbers(hu_csv *csv, double *ret_row);

int64_t hu_csv_line(const hu_csv *csv); /* where that row begins */

/* What a cell of the current row is; *ret_value is set for numbers and truths. A number whose decimal sign contradicts what was found
 * in the sample is HU_INPUT. */
hu_status hu_csv_cell(const hu_csv *csv, int64_t column, hu_csv_kind *ret_kind, double *ret_value, hu_error *err);

/* HU_INPUT "NAME:LINE: column C (its name): reason" for a cell of the current row. */
hu_status hu_csv_fail(const hu_csv *csv, int64_t column, hu_error *err, const char *format, ...) HU_PRINTF(4, 5);

/* ---- tables */

typedef struct {
    char *name;
    bool is_text;
    double *number;     /* numeric: [rows], NaN where missing; in the table's block */
    uint8_t *missing;   /* numeric: [rows], or NULL where nothing is missing */
    int32_t *level;     /* text: [rows], -1 where missing */
    char **levels;      /* text: [level_count] in the order of their bytes */
    int64_t level_count;
    int64_t missing_count;
    int64_t truths;         /* numeric: cells that were true or false */
    int64_t number_levels;  /* text: levels that are numbers; between 0 and level_count the column mixes both */
    int64_t first_word_row; /* text: the row (from 0) of the first word, and its line */
    int64_t first_word_line;
} hu_csv_column;

typedef struct {
    int64_t rows, columns;
    hu_csv_column *column; /* [columns] */
    double *block;         /* the numbers of all columns */
} hu_csv_table;

/* Reads the rest of the source, of at most most_bytes bytes. A table without rows is not an error. Free with hu_csv_table_free(). */
hu_status hu_csv_read(hu_source *source, const hu_csv_options *options, int64_t most_bytes, hu_csv_table **ret_table, hu_error *err);
void hu_csv_table_free(hu_csv_table *table); /* NULL is allowed */

/* The column of that name, or -1. */
int64_t hu_csv_find(const hu_csv_table *table, const char *name);

/* ---- writing: texts are quoted where RFC 4180 or the rules above ask for it, numbers are of the shortest form, lines end with LF */

typedef struct {
    hu_output *out;
    char delimiter;
    int64_t fields; /* in the row so far */
    bool missing;   /* the last one was */
} hu_csv_writer;

hu_csv_writer hu_csv_writer_to(hu_output *out, char delimiter);
hu_status hu_csv_put_text(hu_csv_writer *writer, const char *text, hu_error *err);
hu_status hu_csv_put_number(hu_csv_writer *writer, double value, hu_error *err); /* NaN and infinities as nan, inf, -inf */
hu_status hu_csv_put_integer(hu_csv_writer *writer, int64_t value, hu_error *err);
hu_status hu_csv_put_missing(hu_csv_writer *writer, hu_error *err); /* an empty cell; NA where it is the row's only one */
hu_status hu_csv_end_row(hu_csv_writer *writer, hu_error *err);

/* The text as a field, in quotes where they are needed: at most 2 size + 2 bytes, no zero byte. Returns the length. */
size_t hu_csv_quote(const char *text, size_t size, char delimiter, char *buffer);

#endif
