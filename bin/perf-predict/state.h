/* state.h: what an active search knows: the configurations measured, and those that were handed out and not told yet. A journal (io/journal.h) of JSON records:
 *
 *     {"kind": "perf-predict-state", "major": 1, "minor": 0, "columns": [...], "target": "time", "maximize": false}       the first one
 *     {"op": "ask", "worker": "", "time": seconds since 1970, "rows": [configuration...]}
 *     {"op": "tell", "dup": "mean", "rows": [{"c": configuration, "cost": 2.5, and "t": 2.5 or "fail": true or "timeout": 60}...]}
 *
 * A configuration is an array with a value for each column. The state stays locked from state_open() to state_close().
 */
#ifndef PP_STATE_H
#define PP_STATE_H

#include "configs.h"
#include "io/journal.h"
#include "table.h"

typedef enum { RUN_TIME, RUN_FAIL, RUN_TIMEOUT } run_outcome;

typedef struct {
    int64_t config;      /* row of the set */
    run_outcome outcome;
    double value;        /* the target, or the limit that was passed */
    double cost;         /* what the run took */
} state_run;

/* A configuration that somebody has to measure. */
typedef struct {
    int64_t config;
    double since;        /* seconds since 1970 */
    char *worker;
} state_claim;

typedef struct {
    hu_journal *journal;
    config_set *set;     /* NULL: a new state, of which nothing is known */
    char *target;
    bool maximize;
    table_dup dup;       /* how repeated runs of a configuration count */
    state_run *run;      /* [runs] in the order in which they were told */
    int64_t runs, run_capacity;
    state_claim *claim;  /* [claims] in the order in which they were asked */
    int64_t claims, claim_capacity;
    int64_t asked;       /* records of that kind */
    double spent;        /* the sum of the costs */
} state;

/* Opens and locks. create: an absent file is made. Free with state_close(). */
hu_status state_open(const char *path, bool create, state **ret_state, hu_error *err);
hu_status state_memory(const char *name, const void *bytes, int64_t size, state **ret_state, hu_error *err); /* to read only */
void state_close(state *state); /* NULL is allowed */

/* Gives a new state its columns and target. One that has them must have the same columns in any order, target and direction: else HU_USAGE or PP_MISFIT. */
hu_status state_begin(state *state, const char *const *names, int32_t columns, const char *target, bool maximize, hu_error *err);

/* Notes that a worker has the configurations now, whoever had them before. */
hu_status state_ask(state *state, const int64_t *config, int64_t count, const char *worker, double now, hu_error *err);

/* Notes runs, but for those that are known already (same configuration and outcome, as often as they are known). *ret_new: how many are. */
hu_status state_tell(state *state, const state_run *run, int64_t count, table_dup dup, int64_t *ret_new, hu_error *err);

/* What configurations are known to cost: one a configuration, or each run under DUP_KEEP. */
typedef struct {
    int64_t config;
    double value;      /* the target; of a failed run NaN; of one that ran out of time the limit */
    run_outcome outcome;
} state_result;

/* Free *ret_result with hu_free(). */
hu_status state_results(const state *state, state_result **ret_result, int64_t *ret_count, hu_error *err);

#endif
