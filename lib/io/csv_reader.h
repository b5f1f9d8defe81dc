/* csv_reader.h: the inside of a CSV reader, shared by csv.c and csv_quick.c; nobody else includes it. */
#ifndef HU_IO_CSV_READER_H
#define HU_IO_CSV_READER_H

#include "io/csv.h"

typedef struct {
    const char *text; /* between the quotes */
    int64_t size;
    bool quoted, doubled; /* doubled: holds quotes that are doubled */
} raw_field;

struct hu_csv {
    hu_source *source;
    const char *name;
    char delimiter, decimal, comment;
    bool decimal_found;  /* not told by the caller */
    bool has_header;
    bool stop[256];      /* bytes that end a run of a bare field's bytes */

    char *buffer;
    int64_t room;
    const char *p, *end; /* bytes that are there and not yet taken */
    bool final;          /* no more will come */
    int64_t line;        /* of p */
    const char *row; /* where the last row begins */
    int64_t row_line;
    int64_t blanks;      /* blank lines that still count as rows of one missing value */
    int64_t blank_line;

    char **names;
    int64_t columns; /* 0: not known yet */
    raw_field *raw;
    int64_t raw_room, fields;
    hu_csv_field *field;
    char *plain; /* contents of fields with doubled quotes */
    int64_t plain_room;

    uint32_t *mark;          /* [marks] where fields and lines end, from marked_from on (csv_quick.c); next_mark is the first not passed */
    int64_t marks, next_mark;
    const char *marked_from;
};

/* Takes the next row if it is plain: bare numbers under a decimal point, and in columns that are passed over bare text, or quoted text in one line; with opt_kind
 * also true, false and missing cells, and it tells what each cell is (hu_csv_kind). The numbers go to column[j][at], or where column is NULL to row[j]; of missing cells
 * nothing is put. skip (may be NULL) tells the columns to pass over. Of a row that is not plain nothing is taken, but some numbers may have been put. */
bool hu_csv_take_plain(hu_csv *r, const bool *skip, double *const *column, int64_t at, double *row, uint8_t *opt_kind);

#endif
