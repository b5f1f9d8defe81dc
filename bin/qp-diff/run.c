/* run.c: what the commands that work on problems have in common.
 *
 * Sections: options, members, items.
 */
#include "config.h"
#include "run.h"
#include "base/clock.h"
#include "base/memory.h"
#include "device/device.h"
#include "io/csv.h"
#include "io/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ----------------------------------------------------------------------------------------------------------- */

enum { KEY_EPS = 0x100, KEY_ITERATIONS, KEY_PATH, KEY_FORMAT, KEY_DEGENERATE, KEY_STRICT, KEY_WRT, KEY_WEAK };

static const struct argp_option solve_table[] = {
    {"eps", KEY_EPS, "E", 0, "the relative residual that the interior point method is to reach before the active set takes over (default: 1e-9)", 0},
    {"iterations", KEY_ITERATIONS, "N", 0, "at most so many iterations (default: 200)", 0},
    {"path", KEY_PATH, "WHICH", 0, "linear algebra: auto (default: by density), sparse or dense", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "vectors of the result: mtx (default) or npy", 0},
    {0}};

static const struct argp_option gradient_table[] = {
    {"wrt", KEY_WRT, "NAMES", 0, "gradients in these only: P, q, A, rows (l and u), bounds (lb and ub), separated by commas (default: all)", 0},
    {"degenerate", KEY_DEGENERATE, "RULE", 0, "rows and bounds in force with a multiplier of zero: exclude (default), include, or mean", 0},
    {"strict", KEY_STRICT, NULL, 0, "a gradient that is not unique is an error (exit 14)", 0},
    {"weak", KEY_WEAK, "T", 0, "slacks and multipliers below T, relative, count as zero (default: 1e-9)", 0},
    {0}};

static unsigned parse_wrt(struct argp_state *state, const char *arg)
{
    static const char *const words[] = {"P", "q", "A", "rows", "bounds"};
    unsigned wrt = 0;
    char *copy = strdup(arg), *rest = copy, *word;
    if (!copy) argp_error(state, "out of memory");
    while ((word = strsep(&rest, ","))) wrt |= 1u << hu_option_word(state, "--wrt", word, words, 5);
    free(copy);
    return wrt;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const paths[] = {"auto", "sparse", "dense"}, *const formats[] = {"mtx", "npy"}, *const rules[] = {"exclude", "include", "mean"};
    run_options *o = state->input;
    switch (key) {
    case KEY_EPS: o->solve.eps = hu_option_number(state, "--eps", arg, 1e-14, 1e-2); return 0;
    case KEY_ITERATIONS: o->solve.iterations = (int)hu_option_integer(state, "--iterations", arg, 0, 100000); return 0;
    case KEY_PATH: o->solve.path = (kkt_path)hu_option_word(state, "--path", arg, paths, 3); return 0;
    case KEY_FORMAT: o->format = hu_option_word(state, "--format", arg, formats, 2) ? HU_ARRAY_NPY : HU_ARRAY_MTX; return 0;
    case KEY_WRT: o->wrt = parse_wrt(state, arg); return 0;
    case KEY_DEGENERATE: o->rule = (gradient_rule)hu_option_word(state, "--degenerate", arg, rules, 3); return 0;
    case KEY_STRICT: o->strict = true; return 0;
    case KEY_WEAK: o->margin = hu_option_number(state, "--weak", arg, 0, 1); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp run_solve_argp = {solve_table, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp run_gradient_argp = {gradient_table, parse, NULL, NULL, NULL, NULL, NULL};

error_t run_parse(int key, char *arg, struct argp_state *state, int children)
{
    run_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: /* the first child is run_solve_argp, where there is a second of ours it is run_gradient_argp */
        for (int c = 0; c < children; c++) state->child_inputs[c] = &o->in;
        state->child_inputs[0] = o;
        return 0;
    case ARGP_KEY_ARG:
        if (o->in.archive) argp_error(state, "one problem, no more: %s", arg);
        o->in.archive = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- members ------------------------------------------------------------------------------------------------------------ */

/* "row 3" or "variable 7", 1-based. */
static hu_status put_place(hu_csv_writer *w, int64_t k, int64_t n, hu_error *err)
{
    if (hu_csv_put_text(w, k < n ? "bound" : "row", err)) return err->status;
    return hu_csv_put_integer(w, (k < n ? k : k - n) + 1, err);
}

hu_status run_add_active(const input_problem *p, const gradient_point *g, result *r, hu_error *err)
{
    const solution *s = g->s;
    hu_output *out;
    if (result_add_text(r, "active.csv", &out, err)) return err->status;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    static const char *const heads[] = {"kind", "index", "side", "strength", "multiplier", "slack"};
    for (int h = 0; h < 6; h++)
        if (hu_csv_put_text(&w, heads[h], err)) return err->status;
    if (hu_csv_end_row(&w, err)) return err->status;
    for (int64_t k = 0; k < s->n + s->m; k++) {
        const int64_t i = k - s->n;
        const int8_t side = g->side[k];
        if (side == SIDE_NONE || (k < s->n ? k >= p->n : i >= p->m)) continue;
        const double at = k < s->n ? s->x[k] : s->ax[i], bound = k < s->n ? (side == SIDE_HIGH ? s->p->ub[k] : s->p->lb[k]) : side == SIDE_HIGH ? s->p->u[i] : s->p->l[i];
        if (put_place(&w, k, s->n, err) || hu_csv_put_text(&w, side == SIDE_EQUAL ? "equal" : side == SIDE_HIGH ? "upper" : "lower", err) ||
            hu_csv_put_text(&w, g->weak[k] ? "weak" : "strong", err) || hu_csv_put_number(&w, k < s->n ? s->z[k] : s->y[i], err) ||
            hu_csv_put_number(&w, fabs(bound - at), err) || hu_csv_end_row(&w, err))
            return err->status;
    }
    return HU_OK;
}

hu_status run_add_status(const solution *s, const input_problem *p, const gradient_point *opt_point, double gradient_residual, hu_status status, const char *message, result *r,
                         hu_error *err)
{
    static const char *const words[] = {"solved", "infeasible", "unbounded", "limit", "nonconvex", "not unique"};
    const bool solved = s && status == HU_OK, own = status >= HU_PROGRAM && status <= (hu_status)QP_NOT_UNIQUE;
    hu_report *row;
    hu_output *out;
    char worst[40] = "";
    if (solved && s->quality.worst >= 0)
        snprintf(worst, sizeof worst, "%s %lld", s->quality.worst < s->m ? "row" : "variable", (long long)(s->quality.worst < s->m ? s->quality.worst : s->quality.worst - s->m) + 1);
    if (hu_report_new(&row, err)) return err->status;
    if (result_add_text(r, "status.csv", &out, err) || hu_report_text(row, "status", own ? words[status - HU_PROGRAM + 1] : status == HU_OK ? words[0] : "failed", err) ||
        hu_report_integer(row, "code", status, err) || hu_report_text(row, "reason", message && *message ? message : NULL, err) ||
        hu_report_integer(row, "variables", p->n, err) || hu_report_integer(row, "rows", p->m, err) || hu_report_number(row, "objective", solved ? s->quality.objective : NAN, err) ||
        hu_report_number(row, "residual", solved ? s->quality.residual : NAN, err) || hu_report_number(row, "primal", solved ? s->quality.primal : NAN, err) ||
        hu_report_number(row, "dual", solved ? s->quality.dual : NAN, err) || hu_report_number(row, "complementarity", solved ? s->quality.gap : NAN, err) ||
        hu_report_text(row, "worst", *worst ? worst : NULL, err) || hu_report_text(row, "active_set", solved ? (s->certified ? "certified" : "none") : NULL, err) ||
        hu_report_integer(row, "iterations", s ? s->iterations : 0, err) || hu_report_number(row, "active_rows", opt_point ? (double)opt_point->rows : NAN, err) ||
        hu_report_number(row, "active_bounds", opt_point ? (double)opt_point->bounds : NAN, err) || hu_report_number(row, "weak", opt_point ? (double)opt_point->weaks : NAN, err) ||
        hu_report_number(row, "margin", opt_point && isfinite(opt_point->margin) ? opt_point->margin : NAN, err) ||
        hu_report_number(row, "licq_deficit", opt_point ? (double)opt_point->deficit : NAN, err) || hu_report_text(row, "unique", opt_point ? (opt_point->unique ? "yes" : "no") : NULL, err) ||
        hu_report_number(row, "vertex", opt_point ? (double)opt_point->vertex : NAN, err) || hu_report_number(row, "gradient_residual", gradient_residual, err))
        goto cleanup;
    hu_report_write(row, true, out, err);
cleanup:
    hu_report_free(row);
    return err->status;
}

static hu_status add_certificate(const solution *s, const input_problem *p, result *r, hu_status status, hu_error *err)
{
    if (!s || !s->has_ray) return HU_OK;
    if (status == (hu_status)QP_UNBOUNDED) return result_add_array(r, "x", s->x, p->n, 1, s->n, err);
    if (result_add_array(r, "y", s->y, p->m, 1, s->m, err)) return err->status;
    return result_add_array(r, "z", s->z, p->n, 1, s->n, err);
}

static void say_solved(const solution *s)
{
    hu_say(1, "solved: objective %.17g, relative residuals primal %.1e, dual %.1e, complementarity %.1e; %d iterations, active set %s", s->quality.objective, s->quality.primal,
           s->quality.dual, s->quality.gap, s->iterations, s->certified ? "certified" : "not found");
    hu_say(1, "linear algebra: %s, %.0f numbers in the factor, %lld factorisations", kkt_is_dense(s->k) ? "dense" : "sparse", kkt_entries(s->k), (long long)kkt_factors(s->k));
    if (!s->certified) hu_warn("no active set could be certified; the point is within %.1e of optimal, relative", s->quality.residual);
}

hu_status run_solve(const run_options *o, const input *in, int64_t item, input_problem *ret_problem, solution **ret_solution, result *r, hu_error *err)
{
    *ret_solution = NULL;
    if (input_read_problem(in, item, ret_problem, err)) return err->status;
    const input_problem *p = ret_problem;
    hu_status status = solve_problem(p->p, &o->solve, ret_solution, err);
    if (status >= HU_PROGRAM) {
        hu_error late = HU_ERROR_NONE;
        if (add_certificate(*ret_solution, p, r, status, &late)) {
            hu_error_clear(err);
            hu_fail(err, late.status, "%s", late.message);
        }
    }
    if (err->status) return err->status;
    const solution *s = *ret_solution;
    say_solved(s);
    if (result_add_array(r, "x", s->x, p->n, 1, s->n, err) || result_add_array(r, "y", s->y, p->m, 1, s->m, err)) return err->status;
    return result_add_array(r, "z", s->z, p->n, 1, s->n, err);
}

/* ---- items ----------------------------------------------------------------------------------------------------------------- */

/* One item; its own trouble goes to its status.csv, where the result can still be written. */
static hu_status run_one(const run_options *o, const input *in, int64_t item, run_item work, result **ret_result, hu_error *err)
{
    const input_problem none = {NULL, 0, 0, NULL};
    hu_error late = HU_ERROR_NONE;
    if (result_new("qp-result", o->format, ret_result, err) || (in->folder && result_folder(*ret_result, in->folder[item], err))) return err->status;
    work(o, in, item, *ret_result, err);
    if (err->status == HU_OK || err->status == HU_NO) return err->status;
    if (run_add_status(NULL, &none, NULL, NAN, err->status, err->message, *ret_result, &late)) hu_say(1, "%s", late.message);
    return err->status;
}

static hu_status run_items(const run_options *o, const input *in, run_item work, result *all, hu_error *err)
{
    result **results = NULL;
    hu_error *errors = NULL;
    int64_t failed = 0, first = -1;
    if (hu_alloc_zero(in->items, sizeof *results, "a batch", (void **)&results, err) || hu_alloc_zero(in->items, sizeof *errors, "a batch", (void **)&errors, err)) goto cleanup;
#pragma omp parallel for schedule(dynamic) if (in->items > 1)
    for (int64_t i = 0; i < in->items; i++) run_one(o, in, i, work, &results[i], &errors[i]);
    for (int64_t i = 0; i < in->items; i++) {
        if (results[i]) result_take(all, &results[i], err);
        if (errors[i].status == HU_OK) continue;
        if (failed++ == 0) first = i;
        if (in->folder) hu_say(0, "%s%s: %s", in->name, in->folder[i], errors[i].message);
    }
    if (err->status || failed == 0) goto cleanup;
    if (!in->folder) hu_fail(err, errors[first].status, "%s", errors[first].message);
    else hu_fail(err, HU_NO, "%lld of %lld problems have no answer; the status.csv of each says why", (long long)failed, (long long)in->items);
cleanup:
    for (int64_t i = 0; i < in->items && results; i++) result_abort(&results[i]);
    hu_free(results);
    hu_free(errors);
    return err->status;
}

static hu_status append_report(const run_options *o, const hu_common *common, const input *in, double start, hu_error *err)
{
    hu_report *r = NULL;
    if (!common->report) return HU_OK;
    if (hu_report_new(&r, err) || hu_report_text(r, "command", o->command, err) || hu_report_text(r, "input", in->name, err) || hu_report_integer(r, "problems", in->items, err) ||
        hu_report_number(r, "wall_s", hu_clock_wall() - start, err) || hu_report_number(r, "cpu_s", hu_clock_cpu(), err) ||
        hu_report_integer(r, "peak_bytes", hu_clock_peak_bytes(), err))
        goto cleanup;
    hu_report_append(r, common->report, err);
cleanup:
    hu_report_free(r);
    return err->status;
}

int run_command(const run_options *o, const hu_common *common, run_item work)
{
    hu_error err = HU_ERROR_NONE, late = HU_ERROR_NONE;
    hu_output *out = NULL;
    input *in = NULL;
    result *all = NULL;
    const double start = hu_clock_wall();
    if (hu_device_cpu_only(common->device, &err) || input_open(&o->in, &in, &err) || hu_output_open(common->output, &out, &err) ||
        result_new("qp-result", o->format, &all, &err))
        goto done;
    run_items(o, in, work, all, &err);
    if (err.status == HU_OK || err.status == HU_NO || err.status >= HU_PROGRAM) { /* an answer: written even where it is no */
        if (result_finish(&all, out, &late) == HU_OK) hu_output_keep(out);
        if (!late.status) append_report(o, common, in, start, &late);
        if (late.status) {
            hu_error_print(&err);
            err = late;
        }
    }
done:
    result_abort(&all);
    input_close(in);
    return hu_exit(&err, out);
}
