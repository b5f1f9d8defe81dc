/* choice.h: a scheme chosen by a learned model.
 *
 * A model (lib/learn/model.h, as perf-predict train writes it) predicts the cost of a candidate, its time as a multiple of the naive loop's but at most 1, from what describes it:
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

enum { SPTRSV_SYSTEM_INPUTS = SPTRSV_FEATURES + 4, SPTRSV_INPUTS = SPTRSV_SYSTEM_INPUTS + 9 };

/* columns: right-hand sides a solve. */
void sptrsv_inputs_of(const sptrsv_survey *survey, sptrsv_precision precision, int columns, const sptrsv_scheme *scheme, sptrsv_input ret[SPTRSV_INPUTS]);

/* ---- models */

extern const char sptrsv_model_file[]; /* the model that comes with the program, for hu_share_find() */

/* Reads a model and checks that it can serve: a damaged one, one of another target than `cost` and one with a feature that is no input are
 * HU_INPUT; the message names the feature. Free with hu_model_free(). */
hu_status sptrsv_model_read(const char *path, hu_model **ret_model, hu_error *err);

/* ---- the choice */

typedef struct {
    sptrsv_scheme *schemes;     /* [n] the ranked space, the rule's choice first */
    hu_prediction *predictions; /* [n] */
    int n, chosen;              /* n is 0 where the model was not asked */
    char model[256];            /* its path; "": there is none */
    char why_not[160];          /* in words, where it was not asked */
} sptrsv_choice;

/* Predicts n candidates of one system and picks one: the least prediction, where those of several threads count for 15 percent more, as other programs want the
 * processors too; or the first, the rule's, where the gain over it is less than 5 percent. Where the model does not know the like of the system (a word that
 * training lacked, other numbers of threads or right-hand sides, a larger system), it is not asked: *ret_foreign is the name of that input, else NULL, and the first is
 * taken. Deterministic: the least index of equals. */
int sptrsv_rank(const hu_model *model, sptrsv_input (*inputs)[SPTRSV_INPUTS], int n, hu_prediction *ret_predictions, const char **ret_foreign);

/* Ranks the schemes for a system that was surveyed at least by SPTRSV_LOOK_MODEL. The model is not asked for a complex system, for one that is small, and for one
 * unlike those of its training: why_not then says so. Free with sptrsv_choice_clear(). */
hu_status sptrsv_choose(const hu_model *model, const sptrsv_survey *survey, bool is_complex, sptrsv_precision precision, int columns,
                        sptrsv_choice *ret_choice, hu_error *err);
void sptrsv_choice_clear(sptrsv_choice *choice);

#endif
