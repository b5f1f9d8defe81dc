/* loop.c: perf-predict loop: chooses configurations, has a command measure them, notes the results, and so on.
 *
 * Sections: options, what is to be measured, results, the loop.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "campaign_args.h"
#include "commands.h"
#include "common.h"
#include "outcome.h"
#include "progress_plot.h"
#include "runner.h"

#include <math.h>

/* ---- options ----------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    campaign_args campaign;
    runner_options runner;
    bool pass_given;
    int64_t repeat;
    table_dup dup;
    const char *plot;
} options;

enum { KEY_CMD = 0x100, KEY_COPROC, KEY_PASS, KEY_MEASURE, KEY_TIMEOUT, KEY_REPEAT, KEY_JOBS, KEY_DUP, KEY_PLOT };

static const struct argp_option table[] = {
    {"cmd", KEY_CMD, "COMMAND", 0, "run by the shell for each configuration; the last line that it says is the result, an exit status other than 0 a failed run", 0},
    {"coproc", KEY_COPROC, "COMMAND", 0, "started once: gets a line for each configuration, and answers a line", 0},
    {"pass", KEY_PASS, "HOW", 0, "how the command gets a configuration: env (default: a variable a column), args (in the order of the columns), json or csv (a line on its standard input; coproc: csv by default)", 0},
    {"measure", KEY_MEASURE, "WHAT", 0, "output (default): the result is what the command says; wall: the seconds that it runs", 0},
    {"timeout", KEY_TIMEOUT, "S", 0, "end a run after S seconds, and note timeout>S", 0},
    {"repeat", KEY_REPEAT, "N", 0, "run each configuration N times (default: 1)", 0},
    {"dup", KEY_DUP, "HOW", 0, "several runs of a configuration count as their median (default), mean or min, or keep: each by itself", 0},
    {"jobs", KEY_JOBS, "N", 0, "commands at once (default: 1)", 0},
    {"plot", KEY_PLOT, "FILE.svg", 0, "draw the results over what they cost (needs gnuplot)", 0},
    {0}};

static void check_end(options *o, struct argp_state *argp)
{
    if (!o->runner.command) argp_error(argp, "--cmd=COMMAND or --coproc=COMMAND says what measures");
    if (!o->runner.coprocess) return;
    if (!o->pass_given) o->runner.pass = PASS_CSV;
    if (o->runner.pass == PASS_ENV || o->runner.pass == PASS_ARGS) argp_error(argp, "--coproc: a coprocess is told on its standard input: --pass=csv or json");
    if (o->runner.wall) argp_error(argp, "--coproc: the result of a coprocess is what it says: --measure=output");
}

static void set_command(options *o, const char *command, bool coprocess, struct argp_state *argp)
{
    if (o->runner.command) argp_error(argp, "one of --cmd and --coproc, once");
    o->runner.command = command;
    o->runner.coprocess = coprocess;
}

static error_t parse(int key, char *arg, struct argp_state *argp)
{
    static const char *const passes[] = {"env", "args", "json", "csv"}, *const measures[] = {"output", "wall"}, *const dups[] = {"keep", "mean", "median", "min"};
    options *o = argp->input;
    switch (key) {
    case ARGP_KEY_INIT: argp->child_inputs[0] = &o->campaign; return 0;
    case KEY_CMD: set_command(o, arg, false, argp); return 0;
    case KEY_COPROC: set_command(o, arg, true, argp); return 0;
    case KEY_PASS: o->runner.pass = (runner_pass)hu_option_word(argp, "--pass", arg, passes, 4); o->pass_given = true; return 0;
    case KEY_MEASURE: o->runner.wall = hu_option_word(argp, "--measure", arg, measures, 2); return 0;
    case KEY_TIMEOUT: o->runner.timeout = hu_option_number(argp, "--timeout", arg, 1e-3, 1e9); return 0;
    case KEY_REPEAT: o->repeat = hu_option_integer(argp, "--repeat", arg, 1, 1000000); return 0;
    case KEY_DUP: o->dup = (table_dup)hu_option_word(argp, "--dup", arg, dups, 4); return 0;
    case KEY_JOBS: o->runner.jobs = (int)hu_option_integer(argp, "--jobs", arg, 1, 1024); return 0;
    case KEY_PLOT: o->plot = arg; return 0;
    case ARGP_KEY_ARG: argp_error(argp, "no file is expected: %s", arg); return 0;
    case ARGP_KEY_END: check_end(o, argp); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- what is to be measured ------------------------------------------------------------------------------------------------------------ */

/* A configuration in hand, with its runs so far. */
typedef struct {
    int64_t config;  /* in our own set */
    state_run *run;  /* [repeat] */
    int64_t runs;
    bool done;
} job;

typedef struct {
    const options *o;
    pool *from;
    runner *runner;
    config_set *set;       /* our own: the state's is gone when the state is closed */
    job *job;              /* [jobs] all that were ever taken */
    int64_t jobs, capacity;
    int64_t next;          /* the first that was not started */
    bool asked, exhausted; /* asked: what we had out from before is in hand */
    hu_csv_writer out;
    progress_points points;
} loop;

static hu_status add_job(loop *l, const state *s, int64_t config, hu_error *err)
{
    if (hu_grow((void **)&l->job, &l->capacity, l->jobs + 1, sizeof *l->job, "jobs", err)) return err->status;
    job *j = &l->job[l->jobs];
    *j = (job){0};
    if (configs_copy(s->set, config, l->set, &j->config, err) || hu_alloc_zero(l->o->repeat, sizeof *j->run, "runs", (void **)&j->run, err)) return err->status;
    l->jobs++;
    return HU_OK;
}

/* The set of configurations, the runner, and the header of the results, when the state first tells the columns. */
static hu_status begin(loop *l, const state *s, hu_error *err)
{
    const char **name;
    hu_csv_writer *w = &l->out;
    if (l->set) return HU_OK;
    if (hu_alloc(s->set->columns, sizeof *name, "columns", (void **)&name, err)) return err->status;
    for (int32_t c = 0; c < s->set->columns; c++) name[c] = s->set->column[c].name;
    configs_new(name, s->set->columns, &l->set, err);
    hu_free(name);
    if (err->status || runner_open(&l->o->runner, l->set, &l->runner, err) || progress_take(&l->points, s, err)) return err->status;
    if (configs_put_names(l->set, w, err) || hu_csv_put_text(w, s->target, err) || hu_csv_put_text(w, "cost_of_run", err) || hu_csv_end_row(w, err)) return err->status;
    return hu_output_flush(w->out, err);
}

/* Takes up to a batch of configurations in hand. */
static hu_status take_more(loop *l, hu_error *err)
{
    state *s = NULL;
    int64_t *config = NULL, count = 0;
    const campaign_args *a = &l->o->campaign;
    if (state_open(a->state, true, &s, err) || hu_alloc(campaign_room(s, a->batch), sizeof *config, "configurations", (void **)&config, err) ||
        campaign_next(a, l->from, s, (campaign_wish){l->asked, false}, a->batch, config, &count, NULL, err) || begin(l, s, err))
        goto cleanup;
    l->asked = true;
    l->exhausted = count == 0;
    for (int64_t i = 0; i < count; i++)
        if (add_job(l, s, config[i], err)) goto cleanup;
cleanup:
    hu_free(config);
    state_close(s);
    return err->status;
}

/* ---- results ------------------------------------------------------------------------------------------------------------------------------ */

static hu_status put_run(loop *l, const state_run *run, hu_error *err)
{
    hu_csv_writer *w = &l->out;
    if (configs_put(l->set, run->config, w, err) || outcome_put(run, w, err) || hu_csv_put_number(w, run->cost, err) || hu_csv_end_row(w, err)) return err->status;
    return hu_output_flush(w->out, err);
}

static hu_status tell(loop *l, job *j, hu_error *err)
{
    state *s = NULL;
    int64_t config, fresh;
    for (int64_t i = 0; i < j->runs; i++)
        if (put_run(l, &j->run[i], err)) return err->status;
    if (state_open(l->o->campaign.state, false, &s, err) || configs_copy(l->set, j->config, s->set, &config, err)) goto cleanup;
    for (int64_t i = 0; i < j->runs; i++) j->run[i].config = config;
    if (state_tell(s, j->run, j->runs, l->o->dup, &fresh, err) || progress_take(&l->points, s, err)) goto cleanup;
    j->done = true;
    progress_say(&l->points, l->o->campaign.campaign.budget_runs);
cleanup:
    state_close(s);
    return err->status;
}

/* A run that ended: another one of its configuration, or what it had to give. */
static hu_status finish_run(loop *l, int64_t tag, const state_run *run, hu_error *err)
{
    job *j = &l->job[tag];
    double own = outcome_cost(run, l->o->campaign.maximize);
    j->run[j->runs] = *run;
    if (own > 0) j->run[j->runs].cost = own;
    j->runs++;
    if (run->outcome == RUN_TIME && j->runs < l->o->repeat) return runner_start(l->runner, j->config, tag, err);
    return tell(l, j, err);
}

/* ---- the loop --------------------------------------------------------------------------------------------------------------------------------- */

static hu_status go_round(loop *l, hu_error *err)
{
    for (;;) {
        int64_t tag;
        state_run run;
        if (l->next == l->jobs && !l->exhausted && (!l->runner || runner_free_slots(l->runner) > 0) && take_more(l, err)) return err->status;
        while (l->next < l->jobs && runner_free_slots(l->runner) > 0) {
            if (runner_start(l->runner, l->job[l->next].config, l->next, err)) return err->status;
            l->next++;
        }
        if (l->next == l->jobs && !l->exhausted && runner_free_slots(l->runner) > 0) continue;
        if (runner_busy(l->runner) == 0) return HU_OK;
        if (runner_wait(l->runner, &tag, &run, err) || finish_run(l, tag, &run, err)) return err->status;
    }
}

static hu_status say_best(const options *o, hu_error *err)
{
    state *s = NULL;
    double value = NAN;
    int64_t failed = 0;
    if (state_open(o->campaign.state, false, &s, err)) return err->status;
    int64_t best = campaign_best(s, &value, err);
    for (int64_t i = 0; i < s->runs; i++) failed += s->run[i].outcome != RUN_TIME;
    if (best < 0) hu_fail(err, HU_NO, "none of %lld runs succeeded", (long long)s->runs);
    if (err->status) goto cleanup;
    hu_output *text = NULL;
    const char *bytes;
    size_t size;
    if (hu_output_memory("the best", &text, err)) goto cleanup;
    for (int32_t c = 0; c < s->set->columns; c++) hu_output_printf(text, err, " %s=%s", s->set->column[c].name, configs_text(s->set, best, c));
    hu_output_memory_bytes(text, &bytes, &size);
    hu_say(0, "%lld runs, %lld failed, cost %g; best %s %g:%.*s", (long long)s->runs, (long long)failed, s->spent, s->target, value, (int)size, bytes);
    hu_output_abort(&text);
cleanup:
    state_close(s);
    return err->status;
}

static hu_status report(const options *o, const hu_common *common, double start, hu_error *err)
{
    state *s = NULL;
    if (!common->report) return HU_OK;
    if (state_open(o->campaign.state, false, &s, err) == HU_OK) campaign_report(common, "loop", s, start, err);
    state_close(s);
    return err->status;
}

static hu_status run_loop(const options *o, const hu_common *common, hu_output *out, hu_error *err)
{
    loop l = {.o = o, .out = hu_csv_writer_to(out, ',')};
    double start = hu_clock_wall();
    if (pool_open(&o->campaign.pool, &l.from, err) == HU_OK) go_round(&l, err);
    hu_progress_end();
    runner_close(l.runner);
    if (err->status == HU_OK && o->plot) progress_draw(&l.points, o->plot, o->campaign.target, o->campaign.maximize, err);
    if (err->status == HU_OK && say_best(o, err) == HU_OK) report(o, common, start, err);
    for (int64_t i = 0; i < l.jobs; i++) hu_free(l.job[i].run);
    hu_free(l.job);
    progress_free(&l.points);
    configs_free(l.set);
    pool_close(l.from);
    return err->status;
}

static const char doc[] = "Choose configurations, have a command measure them, learn from the results, until the pool or the budget is spent.\v"
                          "Results are printed as they come: the configuration, what was measured, and what it cost.  The state keeps everything: a loop that was killed goes on where it was.  "
                          "Exit status 1: no run succeeded.";

int command_loop(int argc, char **argv)
{
    const struct argp_child children[] = {{&campaign_argp, 0, "The search:", 1}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.campaign = CAMPAIGN_ARGS_DEFAULTS, .runner = {.timeout = INFINITY, .jobs = 1}, .repeat = 1, .dup = DUP_MEDIAN};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    campaign_args_finish(&o.campaign, &common);
    if (hu_device_cpu_only(common.device, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) run_loop(&o, &common, out, &err);
    return hu_exit(&err, out);
}
