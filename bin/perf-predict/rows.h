/* rows.h: the rows of a CSV table as a model's features, one after another. */
#ifndef PP_ROWS_H
#define PP_ROWS_H

#include "io/csv.h"
#include "learn/model.h"

typedef enum { UNSEEN_ERROR, UNSEEN_OTHER, UNSEEN_NA } rows_unseen;

typedef struct {
    double *x;             /* [features] of the row; NaN where missing or unseen */
    int32_t unseen;        /* features whose level the model has not seen */
    int32_t *unseen_feature; /* [unseen] */
    bool out_of_range;     /* a number is outside what training saw */
    const hu_csv_field *fields; /* all cells of the row, until the next one */
} rows_row;

typedef struct rows rows;

/* The header must have a column for each feature of the model: else PP_MISFIT names it. Columns may stand in any order; others are passed over. */
hu_status rows_open(hu_source *source, const hu_csv_options *csv, const hu_model *model, rows_unseen unseen, rows **ret_rows, hu_error *err);
void rows_close(rows *rows); /* NULL is allowed */

/* The next row; HU_END behind the last. A word in a column of numbers is PP_MISFIT with line and column, as is an unseen level under UNSEEN_ERROR. */
hu_status rows_next(rows *rows, const rows_row **ret_row, hu_error *err);

hu_csv *rows_csv(rows *rows);

/* Says on standard error, once, where cells were missing of which training had none. */
void rows_warn(const rows *rows);

/* The prediction of a row: an unseen level under UNSEEN_OTHER by the mean over the levels of training, as often as they stood there. */
hu_prediction rows_predict(const rows *rows, const rows_row *row);

#endif
