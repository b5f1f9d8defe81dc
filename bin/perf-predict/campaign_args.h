/* campaign_args.h: the options of the commands that choose what to measure: ask and loop. */
#ifndef PP_CAMPAIGN_ARGS_H
#define PP_CAMPAIGN_ARGS_H

#include "base/option.h"
#include "campaign.h"
#include "pool.h"

typedef struct {
    campaign_options campaign;
    pool_options pool;
    const char *state, *target, *worker;
    bool maximize, needs_no_pool;
    int64_t batch;
    double lease; /* seconds after which what another worker has counts as lost */
} campaign_args;

#define CAMPAIGN_ARGS_DEFAULTS {.campaign = CAMPAIGN_DEFAULTS, .pool = {.csv = HU_CSV_DEFAULTS, .candidates = 2048}, .target = "time", .worker = "", .batch = 1, .lease = INFINITY}

extern const struct argp campaign_argp; /* its input is a campaign_args; ends the program where --state or the pool is missing */

/* Takes over what the common options say. */
void campaign_args_finish(campaign_args *args, const hu_common *common);

/* Opens the state, lists the pool, and finds up to `want` configurations for the worker, which are noted as his: those that he has out already (unless only_new), then those
 * that others have lost, then new ones. *ret_count 0: the pool or the budget is spent. */
typedef struct {
    bool only_new, take_pending; /* take_pending: what others have out counts as lost at once */
} campaign_wish;

hu_status campaign_next(const campaign_args *args, const pool *pool, state *state, campaign_wish wish, int64_t want, int64_t *ret_config, int64_t *ret_count, campaign_view *opt_view, hu_error *err);

/* Appends a row to --report, if it was given: command, state, runs, out, cost, best, wall and processor seconds. */
hu_status campaign_report(const hu_common *common, const char *command, const state *state, double start, hu_error *err);

/* Room for what campaign_next() may give: everything that is out, and `want`. */
int64_t campaign_room(const state *state, int64_t want);

#endif
