/* outcome.h: the words in which a run's outcome is told. */
#ifndef PP_OUTCOME_H
#define PP_OUTCOME_H

#include "state.h"

/* Reads a number, nan and inf (failed), fail, failed, error, timeout, or timeout>SECONDS, blanks around it allowed, into outcome and value; false where it is none of these. */
bool outcome_parse(const char *text, int64_t size, state_run *run);

/* What a run costs where nothing else is told: its time, or the limit that it passed. */
double outcome_cost(const state_run *run, bool maximize);

#endif
