/* replay.h: active sampling with a table in the place of the program that would be measured. */
#ifndef HU_REPLAY_H
#define HU_REPLAY_H

#include "learner.h"

typedef struct {
    score_options score;
    learner_options learner;
    int64_t start, batch, most; /* points at random first, points a step, points in all */
    double share;               /* of the test rows, the fastest, on which errors are taken */
} replay_options;

#define REPLAY_DEFAULTS {SCORE_DEFAULTS, LEARNER_DEFAULTS, 10, 5, 300, 0.05}

/* After each step: the sum of the costs of the points measured so far, and the root mean square error on the share of fastest test rows. */
typedef struct {
    int64_t steps;
    double *spent, *error;
} replay_curve;

/* pool and test share no row. Free with replay_free(). */
hu_status replay_run(const hu_frame *pool, const hu_frame *test, const replay_options *options, replay_curve *ret_curve, hu_error *err);
void replay_free(replay_curve *curve);

/* What a curve had spent when its error first was at most `level`; infinite where it never was. */
double replay_spent_at(const replay_curve *curve, double level);
double replay_least_error(const replay_curve *curve);

#endif
