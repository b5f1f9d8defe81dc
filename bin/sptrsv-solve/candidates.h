/* candidates.h: the schemes worth trying on a system. */
#ifndef SPTRSV_CANDIDATES_H
#define SPTRSV_CANDIDATES_H

#include "survey.h"

/* ranked: those that a model chooses among, about thirty; all: every one that differs on the system, about two hundred for several threads. */
typedef enum { SPTRSV_SPACE_RANKED, SPTRSV_SPACE_ALL, SPTRSV_SPACES } sptrsv_space;

extern const char *const sptrsv_space_words[SPTRSV_SPACES];

/* The schemes of a space for a number of right-hand sides, the rule's choice first; none twice. Deterministic. Free *ret_schemes with hu_free(). */
hu_status sptrsv_candidates(const sptrsv_survey *survey, sptrsv_space space, int columns, sptrsv_scheme **ret_schemes, int *ret_n, hu_error *err);

#endif
