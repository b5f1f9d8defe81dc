/* choice.h: a scheme chosen by a learned model.
 *
 * A model (lib/learn/model.h, as perf-predict train writes it) predicts what a candidate takes, as a multiple of the naive loop's time, from what describes it:
 * the columns of --bench that are inputs. After AG-SpTRSV's learned model (ACM TACO 2024), which classifies 630 schemes of a GPU by ten features; here one model
 * of the time of any scheme on a CPU, for which the rule's estimates are features too.
 *
 * Sections: inputs, models, the choice.
 */
#ifndef SPTRSV_CHOICE_H
#define SPTRSV_CHOICE_H

#include "candidates.h"
#include "learn/model.h"

/* ---- inputs: what describes a candidate: the features of the system, then what is asked for, then the scheme */

typedef struct {
    const char *name, *text; /* text: a word; NULL: a number */
    double number;           /* NaN: missing */
} sptrsv_input;

enum { SPTRSV_INPUTS = SPTRSV_FEATURES + 13 };

/* columns: right-hand sides a solve. */
void sptrsv_inputs_of(const sptrsv_survey *survey, sptrsv_precision precision, int columns, const sptrsv_scheme *scheme, sptrsv_input ret[SPTRSV_INPUTS]);

#endif
