/* runner.h: commands that measure configurations: one run a configuration, or coprocesses that get one line and answer one line at a time.
 *
 * A command is run by the shell in a process group of its own, with its standard error on ours. What it says last on its standard output is the outcome (outcome.h); an exit status that
 * is not 0 is a failed run, 126 and 127 (it cannot be run) an error.
 */
#ifndef PP_RUNNER_H
#define PP_RUNNER_H

#include "state.h"

typedef enum { PASS_ENV, PASS_ARGS, PASS_JSON, PASS_CSV } runner_pass;

typedef struct {
    const char *command;
    bool coprocess;
    runner_pass pass;  /* variables of the environment; arguments; a line of JSON, or of CSV, on standard input */
    bool wall;         /* the time from start to end is the result, whatever it says */
    double timeout;    /* seconds; infinite: none */
    int jobs;          /* at once */
} runner_options;

typedef struct runner runner;

/* set: where configurations come from; it may grow. Names that the environment cannot hold are HU_USAGE. Free with runner_close(), which ends what still runs. */
hu_status runner_open(const runner_options *options, const config_set *set, runner **ret_runner, hu_error *err);
void runner_close(runner *runner); /* NULL is allowed */

int runner_free_slots(const runner *runner);
int runner_busy(const runner *runner);

/* Starts a run; there must be a free slot. tag comes back with its result. */
hu_status runner_start(runner *runner, int64_t config, int64_t tag, hu_error *err);

/* Waits for a result: outcome and value; cost is the time from start to end in seconds. An interrupt (SIGINT, SIGTERM, SIGHUP) is HU_SYSTEM. */
hu_status runner_wait(runner *runner, int64_t *ret_tag, state_run *ret_run, hu_error *err);

#endif
