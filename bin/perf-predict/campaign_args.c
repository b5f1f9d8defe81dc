/* campaign_args.c: the options of the commands that choose what to measure, and the step that follows them. */
#include "config.h"
#include "campaign_args.h"
#include "base/clock.h"
#include "base/memory.h"
#include "io/report.h"
#include "table_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KEY_POOL = 0x300, KEY_SPACE, KEY_STATE, KEY_DIRECTION, KEY_SCORE, KEY_ALPHA, KEY_SHARE, KEY_BATCH, KEY_INIT, KEY_COST, KEY_RUNS, KEY_FAILS, KEY_TARGET, KEY_TREES, KEY_LEVELS,
    KEY_DROP, KEY_WORKER, KEY_LEASE, KEY_CANDIDATES
};

static const struct argp_option table[] = {
    {"pool", KEY_POOL, "FILE.csv", 0, "the configurations to choose from, one a row", 0},
    {"space", KEY_SPACE, "FILE", 0, "choose from a space file instead (see space)", 0},
    {"candidates", KEY_CANDIDATES, "N", 0, "configurations drawn from a space for each choice (default: 2048)", 0},
    {"drop", KEY_DROP, "COLUMNS", 0, "columns of the pool that do not count", 0},
    {"levels", KEY_LEVELS, "COLUMNS", 0, "columns whose numbers are levels without order", 0},
    {"state", KEY_STATE, "FILE", 0, "what is asked and told; made where it is not there", 0},
    {NULL, 'y', "COLUMN", 0, "what is measured (default: time)", 0},
    {"direction", KEY_DIRECTION, "WHAT", 0, "min (default): a time, the less the better; max: a rate", 0},
    {"score", KEY_SCORE, "SCORE", 0, "what is worth measuring: pwu (default), pbu, ei, cv, maxu, best or rand", 0},
    {"alpha", KEY_ALPHA, "A", 0, "of pwu: the share of the space that counts as fast (default: 0.05)", 0},
    {"share", KEY_SHARE, "S", 0, "of pbu: the share of least predictions (default: 0.1)", 0},
    {"batch", KEY_BATCH, "N", 0, "configurations at a time (default: 1)", 0},
    {"init", KEY_INIT, "N", 0, "configurations at random before the first model (default: 10)", 0},
    {"budget-cost", KEY_COST, "C", 0, "stop when the costs told (the times, or tell's --cost) reach C", 0},
    {"budget-runs", KEY_RUNS, "N", 0, "stop after N configurations", 0},
    {"fails", KEY_FAILS, "HOW", 0, "failed runs: censor (default: learn them as the worst run told, or the limit that they passed) or drop", 0},
    {"target", KEY_TARGET, "WHAT", 0, "learn the cost raw, its log, or auto (default: the better one out of bag)", 0},
    {"trees", KEY_TREES, "N", 0, "trees (default: 64)", 0},
    {"worker", KEY_WORKER, "NAME", 0, "who asks: each gets other configurations, and the same again until they are told (default: one nameless worker)", 0},
    {"lease", KEY_LEASE, "S", 0, "seconds after which what another worker has out counts as lost and is given again (default: never)", 0},
    {0}};

static void check_end(const campaign_args *a, struct argp_state *argp)
{
    if (!a->state) argp_error(argp, "--state=FILE says where the search keeps what it knows");
    if (!a->needs_no_pool && !a->pool.table == !a->pool.space) argp_error(argp, "--pool=FILE.csv or --space=FILE says what to choose from");
}

static error_t parse(int key, char *arg, struct argp_state *argp)
{
    static const char *const directions[] = {"min", "max"}, *const fails[] = {"drop", "censor"}, *const targets[] = {"raw", "log", "auto"};
    campaign_args *a = argp->input;
    campaign_options *o = &a->campaign;
    switch (key) {
    case ARGP_KEY_INIT: argp->child_inputs[0] = &a->pool.csv; return 0;
    case KEY_POOL: a->pool.table = arg; return 0;
    case KEY_SPACE: a->pool.space = arg; return 0;
    case KEY_CANDIDATES: a->pool.candidates = hu_option_integer(argp, "--candidates", arg, 1, 10000000); return 0;
    case KEY_DROP: a->pool.drop = arg; return 0;
    case KEY_LEVELS: a->pool.levels = arg; return 0;
    case KEY_STATE: a->state = arg; return 0;
    case 'y': a->target = arg; return 0;
    case KEY_DIRECTION: a->maximize = hu_option_word(argp, "--direction", arg, directions, 2); return 0;
    case KEY_SCORE: o->score.kind = (score_kind)hu_option_word(argp, "--score", arg, score_names, SCORE_KINDS); return 0;
    case KEY_ALPHA: o->score.alpha = hu_option_number(argp, "--alpha", arg, 0, 1); return 0;
    case KEY_SHARE: o->score.share = hu_option_number(argp, "--share", arg, 0, 1); return 0;
    case KEY_BATCH: a->batch = hu_option_integer(argp, "--batch", arg, 1, 1000000); return 0;
    case KEY_INIT: o->start = hu_option_integer(argp, "--init", arg, 1, INT32_MAX); return 0;
    case KEY_COST: o->budget_cost = hu_option_number(argp, "--budget-cost", arg, 0, INFINITY); return 0;
    case KEY_RUNS: o->budget_runs = hu_option_integer(argp, "--budget-runs", arg, 0, INT64_MAX); return 0;
    case KEY_FAILS: o->fails = hu_option_word(argp, "--fails", arg, fails, 2) ? FAILS_CENSOR : FAILS_DROP; return 0;
    case KEY_TARGET: o->learner.log = hu_option_word(argp, "--target", arg, targets, 3); o->learner.log = o->learner.log == 2 ? -1 : o->learner.log; return 0;
    case KEY_TREES: o->learner.trees = (int32_t)hu_option_integer(argp, "--trees", arg, 1, 1000000); return 0;
    case KEY_WORKER: a->worker = arg; return 0;
    case KEY_LEASE: a->lease = hu_option_number(argp, "--lease", arg, 0, INFINITY); return 0;
    case ARGP_KEY_END: check_end(a, argp); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&csv_argp, 0, NULL, 0}, {0}};
const struct argp campaign_argp = {table, parse, NULL, NULL, children, NULL, NULL};

void campaign_args_finish(campaign_args *a, const hu_common *common)
{
    a->campaign.learner.seed = common->seed;
    a->pool.seed = common->seed;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t campaign_room(const state *s, int64_t want)
{
    return s->claims + want;
}

hu_status campaign_next(const campaign_args *a, const pool *from, state *s, campaign_wish wish, int64_t want, int64_t *ret_config, int64_t *ret_count, campaign_view *opt_view, hu_error *err)
{
    int64_t *config = NULL, n = 0;
    double time = now();
    *ret_count = 0;
    if (pool_list(from, s, a->target, a->maximize, &config, &n, err) || s->spent >= a->campaign.budget_cost) goto cleanup;
    for (int64_t i = 0; i < s->claims && !wish.only_new; i++)
        if (strcmp(s->claim[i].worker, a->worker) == 0) ret_config[(*ret_count)++] = s->claim[i].config;
    if (*ret_count && !wish.take_pending) goto cleanup;
    int64_t own = *ret_count;
    for (int64_t i = 0; i < s->claims && *ret_count - own < want; i++) {
        const state_claim *c = &s->claim[i];
        if (strcmp(c->worker, a->worker) && (wish.take_pending || time - c->since >= a->lease)) ret_config[(*ret_count)++] = c->config;
    }
    if (*ret_count > own) hu_say(0, "%lld configurations that other workers had are given again", (long long)(*ret_count - own));
    if (*ret_count == 0 && campaign_choose(s, config, n, &a->campaign, want, ret_config, ret_count, opt_view, err)) goto cleanup;
    if (*ret_count > own) state_ask(s, ret_config + own, *ret_count - own, a->worker, time, err);
cleanup:
    hu_free(config);
    return err->status;
}

hu_status campaign_report(const hu_common *common, const char *command, const state *s, double start, hu_error *err)
{
    hu_report *r = NULL;
    double best = NAN;
    if (!common->report) return HU_OK;
    campaign_best(s, &best, err);
    if (hu_report_new(&r, err) || hu_report_text(r, "command", command, err) || hu_report_text(r, "state", hu_journal_name(s->journal), err) ||
        hu_report_integer(r, "runs", s->runs, err) || hu_report_integer(r, "out", s->claims, err) || hu_report_number(r, "cost", s->spent, err) || hu_report_number(r, "best", best, err) ||
        hu_report_number(r, "wall_s", hu_clock_wall() - start, err) || hu_report_number(r, "cpu_s", hu_clock_cpu(), err))
        goto cleanup;
    hu_report_append(r, common->report, err);
cleanup:
    hu_report_free(r);
    return err->status;
}
