/* progress_plot.h: how a search goes on: a line on standard error, and a picture. */
#ifndef PP_PROGRESS_PLOT_H
#define PP_PROGRESS_PLOT_H

#include "state.h"

typedef struct {
    double *spent, *value; /* [count] after each run: the sum of the costs, and the target; NaN: failed */
    int64_t count, capacity, value_capacity;
    int64_t failed;
    double best, total;    /* best NaN: none */
    bool maximize;
} progress_points;

/* Takes the runs of the state that are not there yet. */
hu_status progress_take(progress_points *points, const state *state, hu_error *err);
void progress_free(progress_points *points);

/* "runs 12, failed 1, best 3.2, cost 45". most: INT64_MAX where not known. */
void progress_say(const progress_points *points, int64_t most);

/* Each run over the costs so far, and the best one so far as a line. */
hu_status progress_draw(const progress_points *points, const char *path, const char *target, bool maximize, hu_error *err);

#endif
