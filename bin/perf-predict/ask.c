/* ask.c: perf-predict ask: a pool in, the configurations to measure next out. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "campaign_args.h"
#include "commands.h"
#include "common.h"
#include "outcome.h"

#include <math.h>

typedef struct {
    campaign_args campaign;
    const char *explain, *model;
    bool pending, history;
} options;

enum { KEY_PENDING = 0x100, KEY_HISTORY, KEY_EXPLAIN, KEY_MODEL };

static const struct argp_option table[] = {
    {"pending", KEY_PENDING, NULL, 0, "take over what other workers have out, without waiting for its lease", 0},
    {"history", KEY_HISTORY, NULL, 0, "ask nothing: print what was told, with its outcome and its cost", 0},
    {"explain", KEY_EXPLAIN, "FILE.csv", 0, "write every candidate with its mean, sigma and score", 0},
    {"model", KEY_MODEL, "FILE", 0, "write the model that the choice was made by", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *argp)
{
    options *o = argp->input;
    switch (key) {
    case ARGP_KEY_INIT: argp->child_inputs[0] = &o->campaign; return 0;
    case KEY_PENDING: o->pending = true; return 0;
    case KEY_HISTORY: o->history = o->campaign.needs_no_pool = true; return 0;
    case KEY_EXPLAIN: o->explain = arg; return 0;
    case KEY_MODEL: o->model = arg; return 0;
    case ARGP_KEY_ARG: argp_error(argp, "no file is expected: %s", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static hu_status put_configs(const state *s, const int64_t *config, int64_t count, hu_output *out, hu_error *err)
{
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (configs_put_names(s->set, &w, err) || hu_csv_end_row(&w, err)) return err->status;
    for (int64_t i = 0; i < count; i++)
        if (configs_put(s->set, config[i], &w, err) || hu_csv_end_row(&w, err)) return err->status;
    return HU_OK;
}

/* In the form that tell reads. */
static hu_status put_history(const state *s, hu_output *out, hu_error *err)
{
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (!s->set) return hu_fail(err, HU_INPUT, "%s: nothing was asked or told yet", hu_journal_name(s->journal));
    if (configs_put_names(s->set, &w, err) || hu_csv_put_text(&w, s->target, err) || hu_csv_put_text(&w, "cost_of_run", err) || hu_csv_end_row(&w, err)) return err->status;
    for (int64_t i = 0; i < s->runs; i++)
        if (configs_put(s->set, s->run[i].config, &w, err) || outcome_put(&s->run[i], &w, err) || hu_csv_put_number(&w, s->run[i].cost, err) || hu_csv_end_row(&w, err)) return err->status;
    return HU_OK;
}

static hu_status put_scores(const char *path, const state *s, const campaign_view *v, hu_error *err)
{
    hu_output *out = NULL;
    if (hu_output_open(path, &out, err)) return err->status;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (configs_put_names(s->set, &w, err) || hu_csv_put_text(&w, "mu", err) || hu_csv_put_text(&w, "sigma", err) || hu_csv_put_text(&w, "score", err) || hu_csv_end_row(&w, err)) goto failed;
    for (int64_t i = 0; i < v->candidates; i++) {
        if (configs_put(s->set, v->config[i], &w, err)) goto failed;
        const double value[] = {v->mean[i], v->sigma[i], v->score[i]};
        for (int k = 0; k < 3; k++)
            if (isnan(value[k]) ? hu_csv_put_missing(&w, err) : hu_csv_put_number(&w, value[k], err)) goto failed;
        if (hu_csv_end_row(&w, err)) goto failed;
    }
    return hu_output_commit(&out, err);
failed:
    hu_output_abort(&out);
    return err->status;
}

static hu_status put_model(const options *o, const state *s, const campaign_view *v, hu_error *err)
{
    hu_output *out = NULL;
    hu_model *model = NULL;
    hu_model_options m = learner_model_options(&v->learner, &o->campaign.campaign.learner);
    char name[512];
    if (!v->frame) return hu_fail(err, HU_USAGE, "--model: there is no model yet: the first configurations are drawn at random");
    bool inverse = s->maximize && v->least > 0;
    if (hu_model_train(v->frame, campaign_target_name(s, inverse, name, sizeof name), &m, &model, NULL, NULL, err) || hu_output_open(o->model, &out, err) || hu_model_write(model, out, err)) {
        hu_output_abort(&out);
        hu_model_free(model);
        return err->status;
    }
    hu_model_free(model);
    return hu_output_commit(&out, err);
}

static hu_status say_exhausted(const options *o, const state *s, hu_error *err)
{
    const campaign_options *c = &o->campaign.campaign;
    if (s->spent >= c->budget_cost) return hu_fail(err, (hu_status)PP_EXHAUSTED, "the budget is spent: %g of --budget-cost=%g", s->spent, c->budget_cost);
    if (campaign_is_spent(s, c)) return hu_fail(err, (hu_status)PP_EXHAUSTED, "the budget is spent: %lld configurations of --budget-runs=%lld", (long long)campaign_known(s), (long long)c->budget_runs);
    if (s->claims) return hu_fail(err, (hu_status)PP_EXHAUSTED, "nothing is left to ask; %lld configurations are out with other workers (--pending takes them over)", (long long)s->claims);
    return hu_fail(err, (hu_status)PP_EXHAUSTED, "every configuration of the pool was told");
}

/* The rows are written when the state is free again: who reads them may want to tell before the last one is read. */
static hu_status write_out(hu_output *memory, hu_output *out, hu_error *err)
{
    const char *bytes;
    size_t size;
    hu_output_memory_bytes(memory, &bytes, &size);
    return hu_output_write(out, bytes, size, err);
}

static hu_status ask(const options *o, const hu_common *common, hu_output *out, hu_error *err)
{
    hu_output *rows = NULL;
    pool *from = NULL;
    state *s = NULL;
    campaign_view view = {0};
    int64_t *config = NULL, count;
    double start = hu_clock_wall();
    bool explain = o->explain || o->model;
    if (hu_output_memory("rows", &rows, err) || (!o->history && pool_open(&o->campaign.pool, &from, err)) || state_open(o->campaign.state, !o->history, &s, err)) goto cleanup;
    if (o->history) {
        put_history(s, rows, err);
        goto cleanup;
    }
    if (hu_alloc(campaign_room(s, o->campaign.batch), sizeof *config, "configurations", (void **)&config, err)) goto cleanup;
    if (campaign_next(&o->campaign, from, s, (campaign_wish){false, o->pending}, o->campaign.batch, config, &count, explain ? &view : NULL, err)) goto cleanup;
    if (count == 0) {
        say_exhausted(o, s, err);
        goto cleanup;
    }
    if (explain && !view.config) hu_warn("these configurations were chosen earlier: there is nothing to explain");
    if (o->explain && view.config && put_scores(o->explain, s, &view, err)) goto cleanup;
    if (o->model && view.config && put_model(o, s, &view, err)) goto cleanup;
    if (put_configs(s, config, count, rows, err) == HU_OK) campaign_report(common, "ask", s, start, err);
cleanup:
    campaign_view_free(&view);
    hu_free(config);
    state_close(s);
    pool_close(from);
    if (err->status == HU_OK) write_out(rows, out, err);
    hu_output_abort(&rows);
    return err->status;
}

static const char doc[] = "Choose the configurations to measure next, and print them as CSV.\v"
                          "The same rows are printed again until they were told; parallel shells give themselves names with --worker.  Exit status 10: the pool or the budget is spent.";

int command_ask(int argc, char **argv)
{
    const struct argp_child children[] = {{&campaign_argp, 0, "The search:", 1}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.campaign = CAMPAIGN_ARGS_DEFAULTS};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    campaign_args_finish(&o.campaign, &common);
    if (hu_device_cpu_only(common.device, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) ask(&o, &common, out, &err);
    return hu_exit(&err, out);
}
