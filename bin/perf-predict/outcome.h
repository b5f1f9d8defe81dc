/* outcome.h: the words in which a run's outcome is told. */
#ifndef PP_OUTCOME_H
#define PP_OUTCOME_H

#include "state.h"

/* Reads a number, nan and inf (failed), fail, failed, error, timeout, or timeout>SECONDS, blanks around it allowed, into outcome and value; false where it is none of these. */
bool outcome_parse(const char *text, int64_t size, state_run *run);

/* Writes it as a cell, so that it can be read again. */
hu_status outcome_put(const state_run *run, hu_csv_writer *writer, hu_error *err);

/* What a run costs where nothing else is told: its time, or the limit that it passed. */
double outcome_cost(const state_run *run, bool maximize);

#endif
