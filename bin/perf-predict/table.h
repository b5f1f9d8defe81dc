/* table.h: a CSV table of runs as a table to learn from. */
#ifndef PP_TABLE_H
#define PP_TABLE_H

#include "io/csv.h"
#include "learn/frame.h"

typedef enum { FAILS_ERROR, FAILS_DROP, FAILS_CENSOR } table_fails;
typedef enum { DUP_KEEP, DUP_MEAN, DUP_MEDIAN, DUP_MIN } table_dup;

typedef struct {
    const char *target;
    const char *take;     /* NULL: all columns; else "a,b:cat,n:num,m:log" */
    const char *drop;     /* "c,d", or NULL */
    const char *fail_col; /* NULL, or the column that says whether a run failed */
    table_fails fails;
    table_dup dup;
    hu_csv_options csv;
    const hu_feature *like; /* NULL, or what take and drop then do not say: the columns, in this order, with these levels and those of the table */
    int32_t likes;
} table_options;

/* Reads the whole source. Rows without a finite target failed: fails says whether that is an error, whether they are left out, or count as the worst target
 * seen. A column of `like` that is absent, or has words for numbers, is PP_MISFIT. Says on standard error what was left out, turned into levels, or looks like a failure marker. Free with hu_frame_free(). */
hu_status table_read(hu_source *source, const table_options *options, hu_frame **ret_frame, hu_error *err);

/* Whether name stands in a list "a,b:cat"; *opt_kind points behind the colon or is NULL. */
bool table_listed(const char *list, const char *name, const char **opt_kind);

#endif
