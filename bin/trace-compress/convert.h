/* convert.h: spool files to a trace. */
#ifndef TC_CONVERT_H
#define TC_CONVERT_H

#include "base/output.h"
#include "spool.h"

/* Reads the files twice: first for what the head must say (functions, communicators, datatypes), then writes the events. Processes that never learnt their rank are
 * left out with a warning. HU_INPUT where two processes claim the same rank of a world (files of several runs). */
hu_status convert_spool(const spool *s, hu_output *out, hu_error *err);

#endif
