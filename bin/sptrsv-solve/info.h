/* info.h: what sptrsv-solve says of a matrix: its structure, the scheme it takes and why, what a solve needs, what this machine can
 * give, and what was reached (--info).
 */
#ifndef SPTRSV_INFO_H
#define SPTRSV_INFO_H

#include "choice.h"
#include "plan.h"

typedef struct {
    bool from_file;               /* the plan is of a file */
    bool allow_grid;
    const sptrsv_choice *choice;  /* n is 0 where no model was asked for */
    int columns;                  /* right-hand sides a solve */
    double analysis_s;
} sptrsv_info_options;

/* Writes the text. The plan is measured for about a second. */
hu_status sptrsv_info(const sptrsv_system *system, const sptrsv_plan *plan, const char *name, const sptrsv_info_options *options, hu_output *out,
                      hu_error *err);

#endif
