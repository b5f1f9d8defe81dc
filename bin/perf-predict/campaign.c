/* campaign.c: which configurations to measure next.
 *
 * Sections: costs, the table to learn from, choosing.
 */
#include "config.h"
#include "campaign.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- costs ----------------------------------------------------------------------------------------------------------------------- */

/* What is told, as costs that are to become small. */
typedef struct {
    state_result *result; /* [count]; value is the cost */
    int64_t count, good;  /* of which ran */
    bool inverse;         /* the cost is 1 / target */
    double least, worst;  /* costs of those that ran */
} costs;

const char *campaign_target_name(const state *s, bool inverse, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s", !s->maximize ? "" : inverse ? "1/" : "-", s->target);
    return buffer;
}

static hu_status read_costs(const state *s, costs *c, hu_error *err)
{
    *c = (costs){.least = INFINITY, .worst = -INFINITY, .inverse = s->maximize};
    if (!s->set) return HU_OK;
    if (state_results(s, &c->result, &c->count, err)) return err->status;
    for (int64_t i = 0; i < c->count; i++)
        if (c->result[i].outcome == RUN_TIME && !(c->result[i].value > 0)) c->inverse = false;
    for (int64_t i = 0; i < c->count; i++) {
        state_result *r = &c->result[i];
        if (r->outcome != RUN_TIME) continue;
        if (s->maximize) r->value = c->inverse ? 1.0 / r->value : -r->value;
        c->good++;
        c->least = fmin(c->least, r->value);
        c->worst = fmax(c->worst, r->value);
    }
    return HU_OK;
}

/* Failed runs as the worst one; a limit that was passed counts as it stands where the target is a time. */
static void settle_failures(const state *s, costs *c, table_fails fails)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++) {
        state_result *r = &c->result[i];
        if (r->outcome != RUN_TIME && (fails == FAILS_DROP || c->good == 0)) continue;
        if (r->outcome == RUN_FAIL || (r->outcome == RUN_TIMEOUT && (s->maximize || !(r->value > 0)))) r->value = c->worst;
        c->result[kept++] = *r;
    }
    c->count = kept;
}

/* ---- the table to learn from ------------------------------------------------------------------------------------------------------- */

static hu_status make_frame(const state *s, const config_view *view, const costs *c, hu_frame **ret_frame, hu_error *err)
{
    hu_frame *frame = NULL;
    if (hu_frame_new(c->count, s->set->columns, &frame, err)) return err->status;
    for (int32_t f = 0; f < frame->features; f++) {
        if (hu_feature_copy(&view->feature[f], &frame->feature[f], err)) goto failed;
        hu_free(frame->feature[f].level_rows);
        frame->feature[f].level_rows = NULL;
        for (int64_t i = 0; i < c->count; i++) frame->column[f][i] = view->value[f][s->set->code[c->result[i].config * s->set->columns + f]];
    }
    for (int64_t i = 0; i < c->count; i++) frame->y[i] = c->result[i].value;
    if (hu_frame_finish(frame, err)) goto failed;
    *ret_frame = frame;
    return HU_OK;
failed:
    hu_frame_free(frame);
    return err->status;
}

void campaign_view_free(campaign_view *v)
{
    hu_free(v->config);
    hu_free(v->mean);
    hu_free(v->sigma);
    hu_free(v->score);
    hu_frame_free(v->frame);
    learner_free(&v->learner);
    *v = (campaign_view){0};
}

/* ---- choosing ------------------------------------------------------------------------------------------------------------------------ */

int64_t campaign_known(const state *s)
{
    int64_t known = 0;
    bool *seen = calloc((size_t)(s->set ? s->set->rows : 0) + 1, sizeof *seen);
    for (int64_t i = 0; seen && i < s->runs; i++) {
        known += !seen[s->run[i].config];
        seen[s->run[i].config] = true;
    }
    for (int64_t i = 0; seen && i < s->claims; i++) known += !seen[s->claim[i].config];
    free(seen);
    return known;
}

bool campaign_is_spent(const state *s, const campaign_options *o)
{
    return s->spent >= o->budget_cost || campaign_known(s) >= o->budget_runs;
}

/* The pool without what is told or out, each once. */
static hu_status list_candidates(const state *s, const int64_t *pool, int64_t n, campaign_view *v, hu_error *err)
{
    bool *seen;
    if (hu_alloc_zero(s->set->rows, sizeof *seen, "candidates", (void **)&seen, err)) return err->status;
    for (int64_t i = 0; i < s->runs; i++) seen[s->run[i].config] = true;
    for (int64_t i = 0; i < s->claims; i++) seen[s->claim[i].config] = true;
    if (hu_alloc(n, sizeof *v->config, "candidates", (void **)&v->config, err) || hu_alloc(n, sizeof *v->mean, "candidates", (void **)&v->mean, err) ||
        hu_alloc(n, sizeof *v->sigma, "candidates", (void **)&v->sigma, err) || hu_alloc(n, sizeof *v->score, "candidates", (void **)&v->score, err))
        goto cleanup;
    for (int64_t i = 0; i < n; i++) {
        if (seen[pool[i]]) continue;
        seen[pool[i]] = true;
        v->mean[v->candidates] = v->sigma[v->candidates] = v->score[v->candidates] = NAN;
        v->config[v->candidates++] = pool[i];
    }
cleanup:
    hu_free(seen);
    return err->status;
}

static hu_status check_costs(const state *s, const costs *c, const campaign_options *o, hu_error *err)
{
    if (!score_needs_positive(o->score.kind) || c->least > 0) return HU_OK;
    if (s->maximize) return hu_fail(err, HU_INPUT, "column %s has values that are not above 0, and --score=%s divides by them: use --score=ei, or tell positive rates", s->target, score_names[o->score.kind]);
    return hu_fail(err, HU_INPUT,
                   "column %s has values that are not above 0, and --score=%s divides by the time: a rate such as flop/s is told as a positive number with --direction=max, or as its inverse; --score=ei takes any number",
                   s->target, score_names[o->score.kind]);
}

static hu_status train_and_score(const state *s, costs *c, const campaign_options *o, campaign_view *v, hu_error *err)
{
    config_view view;
    double *x = NULL;
    if (check_costs(s, c, o, err) || configs_view(s->set, &view, err)) return err->status;
    settle_failures(s, c, o->fails);
    if (make_frame(s, &view, c, &v->frame, err) || learner_train(v->frame, &o->learner, &v->learner, err)) goto cleanup;
    if (hu_alloc(v->candidates, (size_t)s->set->columns * sizeof *x, "candidates", (void **)&x, err)) goto cleanup;
    for (int64_t i = 0; i < v->candidates; i++) configs_x(s->set, &view, v->config[i], x + i * s->set->columns);
    if (learner_predict(&v->learner, x, v->candidates, v->mean, v->sigma, err) == HU_OK) score_rows(&o->score, v->mean, v->sigma, v->candidates, c->least, v->score, err);
cleanup:
    configs_view_free(&view);
    hu_free(x);
    return err->status;
}

/* Picks by score, and of the rest at random where there is no model: `random` ones first. */
static hu_status pick(const state *s, const campaign_options *o, const campaign_view *v, int64_t random, int64_t want, int64_t *ret_config, int64_t *ret_count, hu_error *err)
{
    uint64_t *tie = NULL;
    bool *taken = NULL;
    double *none = NULL;
    int64_t *row = NULL, n = v->candidates, count;
    if (hu_alloc(n, sizeof *tie, "candidates", (void **)&tie, err) || hu_alloc_zero(n, sizeof *taken, "candidates", (void **)&taken, err) ||
        hu_alloc_zero(n, sizeof *none, "candidates", (void **)&none, err) || hu_alloc(want, sizeof *row, "candidates", (void **)&row, err))
        goto cleanup;
    for (int64_t i = 0; i < n; i++) tie[i] = configs_hash(s->set, v->config[i], o->learner.seed);
    count = score_pick(none, tie, taken, n, random < want ? random : want, row);
    for (int64_t i = 0; i < count; i++) taken[row[i]] = true;
    count += score_pick(v->frame ? v->score : none, tie, taken, n, want - count, row + count);
    for (int64_t i = 0; i < count; i++) ret_config[i] = v->config[row[i]];
    *ret_count = count;
cleanup:
    hu_free(tie);
    hu_free(taken);
    hu_free(none);
    hu_free(row);
    return err->status;
}

hu_status campaign_choose(const state *s, const int64_t *pool, int64_t n, const campaign_options *o, int64_t want, int64_t *ret_config, int64_t *ret_count, campaign_view *opt_view, hu_error *err)
{
    campaign_view own = {0}, *v = opt_view ? opt_view : &own;
    costs c = {0};
    int64_t known = campaign_known(s), left = o->budget_runs - known;
    *ret_count = 0;
    *v = (campaign_view){.known = known};
    if (read_costs(s, &c, err)) goto cleanup;
    v->least = c.least;
    if (list_candidates(s, pool, n, v, err) || campaign_is_spent(s, o) || v->candidates == 0) goto cleanup;
    want = want < left ? want : left;
    want = want < v->candidates ? want : v->candidates;
    int64_t random = o->start > known ? o->start - known : 0;
    bool modelled = c.good > 0 && (want > random || opt_view) && o->score.kind != SCORE_RAND;
    if (modelled && train_and_score(s, &c, o, v, err)) goto cleanup;
    pick(s, o, v, random, want, ret_config, ret_count, err);
cleanup:
    hu_free(c.result);
    campaign_view_free(&own);
    return err->status;
}

int64_t campaign_best(const state *s, double *ret_value, hu_error *err)
{
    state_result *result;
    int64_t count, best = -1;
    if (!s->set || state_results(s, &result, &count, err)) return -1;
    for (int64_t i = 0; i < count; i++) {
        if (result[i].outcome != RUN_TIME) continue;
        if (best < 0 || (s->maximize ? result[i].value > result[best].value : result[i].value < result[best].value)) best = i;
    }
    if (best >= 0) *ret_value = result[best].value;
    int64_t config = best < 0 ? -1 : result[best].config;
    hu_free(result);
    return config;
}
