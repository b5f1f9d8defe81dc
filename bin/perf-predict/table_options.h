/* table_options.h: the options of commands that read a table to learn from. */
#ifndef PP_TABLE_OPTIONS_H
#define PP_TABLE_OPTIONS_H

#include "base/option.h"
#include "table.h"

extern const struct argp table_argp; /* its input is a table_options */
extern const struct argp csv_argp;   /* its input is a hu_csv_options */

#endif
