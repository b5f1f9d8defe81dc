/* info.h: what sptrsv-solve says of a matrix: its structure, the scheme it takes and why, what a solve needs, what this machine can
 * give, and what was reached (--info).
 */
#ifndef SPTRSV_INFO_H
#define SPTRSV_INFO_H

#include "plan.h"

/* Writes the text. chosen_by: "the default rule", "--scheme" and the like. The plan is measured for about a second. */
hu_status sptrsv_info(const sptrsv_system *system, const sptrsv_plan *plan, const char *name, const char *chosen_by, double analysis_seconds,
                      hu_output *out, hu_error *err);

#endif
