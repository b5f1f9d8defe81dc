/* campaign.h: which configurations to measure next: the step that ask and loop share. */
#ifndef PP_CAMPAIGN_H
#define PP_CAMPAIGN_H

#include "learner.h"
#include "state.h"

typedef struct {
    score_options score;
    learner_options learner;
    int64_t start;       /* configurations at random before the first model */
    double budget_cost;  /* no more where the costs told reach it; infinite: no bound */
    int64_t budget_runs; /* no more than these configurations; INT64_MAX: no bound */
    table_fails fails;   /* FAILS_DROP, or FAILS_CENSOR: a failed run counts as the worst one told, one out of time as its limit */
} campaign_options;

#define CAMPAIGN_DEFAULTS {SCORE_DEFAULTS, LEARNER_DEFAULTS, 10, INFINITY, INT64_MAX, FAILS_CENSOR}

/* What a choice was made by, for those who want to see it. */
typedef struct {
    int64_t candidates;
    int64_t *config;              /* [candidates] not told and not out */
    double *mean, *sigma, *score; /* [candidates] NaN where there was no model */
    int64_t known;                /* configurations told */
    double least;                 /* the least cost told */
    hu_frame *frame;              /* what was learnt from, or NULL */
    learner learner;
} campaign_view;

void campaign_view_free(campaign_view *view);

/* Chooses up to `want` of the configurations pool[n] that were neither told nor asked; of equal ones by the seed, whatever the order of the pool. *ret_count is 0 where the pool or
 * the budget is spent. A target that the score cannot work with is HU_INPUT. opt_view is filled; free it then, also after an error. */
hu_status campaign_choose(const state *state, const int64_t *pool, int64_t n, const campaign_options *options, int64_t want, int64_t *ret_config, int64_t *ret_count, campaign_view *opt_view,
                          hu_error *err);

/* Configurations told or asked. */
int64_t campaign_known(const state *state);

/* Whether a budget allows no further run. */
bool campaign_is_spent(const state *state, const campaign_options *options);

/* The configuration of the best run told, or -1; *ret_value its target. */
int64_t campaign_best(const state *state, double *ret_value, hu_error *err);

/* What the model learns: of --direction=max the inverse of the target where all are above 0, else the negative one. */
const char *campaign_target_name(const state *state, bool inverse, char *buffer, size_t size);

#endif
