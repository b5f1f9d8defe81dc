/* gradient_command.c: qp-diff vjp, jvp, value and back.
 *
 * Sections: writing gradients, seeds, vjp, back, value, jvp.
 */
#include "config.h"
#include "commands.h"
#include "run.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- writing gradients -------------------------------------------------------------------------------------------------- */

/* The gradients of all seeds, column by column. */
typedef struct {
    double *dq, *dlb, *dub, *dfx, *dl, *du, *deq, *dd; /* [n k] or [m k], of the problem as given */
    int64_t n, m, seeds;
} columns;

static hu_status columns_new(const input_problem *p, int64_t seeds, columns *ret, hu_error *err)
{
    *ret = (columns){.n = p->n, .m = p->m, .seeds = seeds};
    if (hu_alloc_zero((5 * p->n + 3 * p->m) * seeds, sizeof *ret->dq, "gradients", (void **)&ret->dq, err)) return err->status;
    ret->dlb = ret->dq + p->n * seeds;
    ret->dub = ret->dlb + p->n * seeds;
    ret->dfx = ret->dub + p->n * seeds;
    ret->dd = ret->dfx + p->n * seeds;
    ret->dl = ret->dd + p->n * seeds;
    ret->du = ret->dl + p->m * seeds;
    ret->deq = ret->du + p->m * seeds;
    return HU_OK;
}

static hu_status add_matrix(result *r, const char *name, int64_t seed, int64_t seeds, const hu_csr *a, hu_error *err)
{
    char whole[32];
    if (seeds == 1) snprintf(whole, sizeof whole, "%s", name);
    else snprintf(whole, sizeof whole, "%s-%lld", name, (long long)seed + 1);
    return result_add_csr(r, whole, a, err);
}

/* The leading rows and columns of a CSR matrix. */
static hu_status leading(const hu_csr *a, int64_t rows, int64_t cols, hu_csr **ret, hu_error *err)
{
    int64_t at = 0;
    if (hu_csr_new(rows, cols, a->row_ptr[rows], false, ret, err)) return err->status;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
            if (a->col[p] < cols) (*ret)->col[at] = a->col[p], (*ret)->val[at++] = a->val[p];
        (*ret)->row_ptr[i + 1] = at;
    }
    (*ret)->nnz = at;
    return HU_OK;
}

/* dF from the rows F' x - t = 0 of the lifted problem. */
static hu_status factor_gradient(const input_problem *p, const hu_csr *dA, hu_csr **ret, hu_error *err)
{
    hu_csr *rows;
    const int64_t k = p->F->cols, from = dA->row_ptr[p->m];
    int64_t at = 0;
    if (hu_csr_new(k, p->n, dA->nnz - from, false, &rows, err)) return err->status;
    for (int64_t r = 0; r < k; r++) {
        for (int64_t e = dA->row_ptr[p->m + r]; e < dA->row_ptr[p->m + r + 1]; e++)
            if (dA->col[e] < p->n) rows->col[at] = dA->col[e], rows->val[at++] = dA->val[e];
        rows->row_ptr[r + 1] = at;
    }
    rows->nnz = at;
    hu_csr_transpose(rows, false, ret, err);
    hu_csr_free(rows);
    return err->status;
}

/* The diagonal of dP. */
static void diagonal(const hu_csr *dP, int64_t n, double *ret)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t e = dP->row_ptr[j]; e < dP->row_ptr[j + 1]; e++)
            if (dP->col[e] == j) ret[j] = dP->val[e];
}

static hu_status take_matrices(const run_options *o, const input_problem *p, const gradient_data *d, columns *c, int64_t seed, result *r, hu_error *err)
{
    hu_csr *part = NULL;
    if (p->F) {
        if (o->wrt & WRT_P) {
            diagonal(d->dP, p->n, c->dd + seed * p->n);
            if (p->F->cols > 0 && (factor_gradient(p, d->dA, &part, err) || add_matrix(r, "dF", seed, c->seeds, part, err))) goto cleanup;
            hu_csr_free(part);
            part = NULL;
        }
        if ((o->wrt & WRT_A) && p->m > 0 && leading(d->dA, p->m, p->n, &part, err) == HU_OK) add_matrix(r, "dA", seed, c->seeds, part, err);
    } else {
        if ((o->wrt & WRT_P) && add_matrix(r, "dP", seed, c->seeds, d->dP, err)) goto cleanup;
        if ((o->wrt & WRT_A) && p->m > 0) add_matrix(r, "dA", seed, c->seeds, d->dA, err);
    }
cleanup:
    hu_csr_free(part);
    return err->status;
}

static hu_status take_seed(const run_options *o, const input_problem *p, const gradient_data *d, columns *c, int64_t seed, result *r, hu_error *err)
{
    const size_t n = (size_t)p->n * sizeof(double), m = (size_t)p->m * sizeof(double);
    memcpy(c->dq + seed * p->n, d->dq, n);
    memcpy(c->dlb + seed * p->n, d->dlb, n);
    memcpy(c->dub + seed * p->n, d->dub, n);
    memcpy(c->dfx + seed * p->n, d->dfx, n);
    memcpy(c->dl + seed * p->m, d->dl, m);
    memcpy(c->du + seed * p->m, d->du, m);
    memcpy(c->deq + seed * p->m, d->deq, m);
    return take_matrices(o, p, d, c, seed, r, err);
}

static hu_status write_columns(const run_options *o, const input_problem *p, const columns *c, result *r, hu_error *err)
{
    const struct { const char *name; const double *x; int64_t rows; bool wanted; } parts[] = {
        {"dq", c->dq, p->n, o->wrt & WRT_Q}, {"dd", c->dd, p->n, p->F && (o->wrt & WRT_P)},
        {"dl", c->dl, p->m, p->m && (o->wrt & WRT_ROWS)}, {"du", c->du, p->m, p->m && (o->wrt & WRT_ROWS)}, {"deq", c->deq, p->m, p->m && (o->wrt & WRT_ROWS)},
        {"dlb", c->dlb, p->n, o->wrt & WRT_BOUNDS}, {"dub", c->dub, p->n, o->wrt & WRT_BOUNDS}, {"dfx", c->dfx, p->n, o->wrt & WRT_BOUNDS}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].wanted && result_add_array(r, parts[i].name, parts[i].x, parts[i].rows, c->seeds, parts[i].rows, err)) return err->status;
    return HU_OK;
}

static hu_status data_for(const run_options *o, const input_problem *p, gradient_data *ret, hu_error *err)
{
    return gradient_data_new(p->p, o->wrt & WRT_P, (o->wrt & WRT_A) || (p->F && (o->wrt & WRT_P)), ret, err);
}

/* ---- seeds ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
    hu_dense *gx, *gy;
    int64_t count;
} seeds;

static void seeds_free(seeds *s)
{
    hu_dense_free(s->gx);
    hu_dense_free(s->gy);
}

static hu_status seeds_read(const input *in, int64_t item, const input_problem *p, seeds *ret, hu_error *err)
{
    *ret = (seeds){NULL, NULL, 0};
    if (input_read_array(in, item, IN_GX, p->n, &ret->gx, err) || input_read_array(in, item, IN_GY, p->m, &ret->gy, err)) return err->status;
    if (!ret->gx && !ret->gy) return hu_fail(err, HU_INPUT, "%s: holds no seed: neither gx nor gy (give --gx=FILE)", in->name);
    ret->count = ret->gx ? ret->gx->cols : ret->gy->cols;
    if (ret->gx && ret->gy && ret->gx->cols != ret->gy->cols)
        return hu_fail(err, HU_INPUT, "%s: gx has %lld columns and gy %lld; a seed is a column of each", in->name, (long long)ret->gx->cols, (long long)ret->gy->cols);
    return HU_OK;
}

/* Column `seed`, with zeros for what the factors added. */
static const double *column(const hu_dense *a, int64_t seed, int64_t rows, double *room)
{
    if (!a) return NULL;
    memset(room, 0, (size_t)rows * sizeof *room);
    memcpy(room, (const double *)a->data + seed * a->ld, (size_t)a->rows * sizeof *room);
    return room;
}

/* ---- vjp -------------------------------------------------------------------------------------------------------------------- */

/* Whether the rules differ or the point is otherwise special, said aloud; under --strict an end. */
static hu_status judge_point(const run_options *o, const gradient_point *g, hu_error *err)
{
    static const char *const rules[] = {"exclude", "include", "mean"};
    if (g->weaks > 0) {
        if (o->strict) return hu_fail(err, (hu_status)QP_NOT_UNIQUE, "%lld rows or bounds are in force with a multiplier of zero, so the solution has no gradient there", (long long)g->weaks);
        hu_warn("%lld rows or bounds are in force with a multiplier of zero: the gradient is one-sided there; taken by the rule %s", (long long)g->weaks, rules[o->rule]);
    }
    if (g->deficit > 0) {
        if (o->strict) return hu_fail(err, (hu_status)QP_NOT_UNIQUE, "the rows in force depend on each other (%lld too many), so their multipliers have no gradient", (long long)g->deficit);
        hu_warn("the rows in force depend on each other, %lld too many: gradients in their bounds and coefficients are those of least norm", (long long)g->deficit);
    }
    return HU_OK;
}

static hu_status all_seeds(const run_options *o, const input_problem *p, gradient_point *g, const seeds *s, result *r, double *ret_residual, hu_error *err)
{
    columns c = {0};
    double *room = NULL;
    const int64_t n = p->p->n, m = p->p->m;
    if (columns_new(p, s->count, &c, err) || hu_alloc(n + m, sizeof *room, "a seed", (void **)&room, err)) goto cleanup;
    for (int64_t seed = 0; seed < s->count && !err->status; seed++) {
        gradient_data d;
        double residual;
        if (data_for(o, p, &d, err)) break;
        if (gradient_vjp(g, o->rule, column(s->gx, seed, n, room), column(s->gy, seed, m, room + n), &d, &residual, err) == HU_OK) {
            *ret_residual = fmax(*ret_residual, residual);
            take_seed(o, p, &d, &c, seed, r, err);
        }
        gradient_data_free(&d);
    }
    if (!err->status) write_columns(o, p, &c, r, err);
cleanup:
    hu_free(room);
    hu_free(c.dq);
    return err->status;
}

/* Gradients at a solution. No member of a gradient is added unless all of it is right. */
static hu_status differentiate(const run_options *o, const input *in, int64_t item, const input_problem *p, solution *s, result *r, hu_error *err)
{
    gradient_point *g = NULL;
    seeds seed = {NULL, NULL, 0};
    result *gradients = NULL;
    double residual = 0;
    if (seeds_read(in, item, p, &seed, err) || gradient_point_new(s, o->margin, &g, err)) goto cleanup;
    if (gradient_factor(g, o->rule == DEGENERATE_INCLUDE ? DEGENERATE_INCLUDE : DEGENERATE_EXCLUDE, err) || judge_point(o, g, err)) goto cleanup;
    if (result_new("qp-result", o->format, &gradients, err) || (in->folder && result_folder(gradients, in->folder[item], err))) goto cleanup;
    if (all_seeds(o, p, g, &seed, gradients, &residual, err) || result_take(r, &gradients, err)) goto cleanup;
    hu_say(1, "gradient: %lld rows and %lld bounds in force, %lld weak, %lld dependent, backward error %.1e", (long long)g->rows, (long long)g->bounds, (long long)g->weaks,
           (long long)g->deficit, residual);
    if (run_add_active(p, g, r, err) == HU_OK) run_add_status(s, p, g, residual, HU_OK, NULL, r, err);
cleanup:
    result_abort(&gradients);
    seeds_free(&seed);
    gradient_point_free(g);
    return err->status;
}

static hu_status work_vjp(const run_options *o, const input *in, int64_t item, result *r, hu_error *err)
{
    input_problem p = {NULL, 0, 0, NULL};
    solution *s = NULL;
    if (run_solve(o, in, item, &p, &s, r, err) == HU_OK) differentiate(o, in, item, &p, s, r, err);
    solve_free(s);
    input_problem_free(&p);
    return err->status;
}

static error_t parse_four(int key, char *arg, struct argp_state *state)
{
    run_options *o = state->input;
    const error_t code = run_parse(key, arg, state, 4);
    if (key == ARGP_KEY_INIT) state->child_inputs[1] = o;
    return code;
}

static error_t parse_five(int key, char *arg, struct argp_state *state)
{
    run_options *o = state->input;
    const error_t code = run_parse(key, arg, state, 5);
    if (key == ARGP_KEY_INIT) state->child_inputs[1] = o;
    return code;
}

static const char vjp_doc[] = "Solve, and give the gradients of a loss in all data from its gradients gx in x and gy in y.\v"
                              "The result has the solution, and dq, dP, dA, dl, du, deq (rows whose bounds are equal), dlb, dub, dfx (variables whose bounds are equal); with factors dd and dF in place of dP. "
                              "Each seed is a column; of several, dP-1, dA-1, and so on. No gradient is written for a problem that is not solved.";

int command_vjp(int argc, char **argv)
{
    const struct argp_child children[] = {{&run_solve_argp, 0, NULL, 0}, {&run_gradient_argp, 0, NULL, 0}, {&input_argp, 0, "Files in place of members:", 2}, {&input_seeds_argp, 0, NULL, 2}, {0}};
    const struct argp own = {NULL, parse_four, "[PROBLEM]", vjp_doc, children, NULL, NULL};
    run_options o = RUN_DEFAULTS("vjp");
    hu_common common;
    hu_option_parse(argc, argv, &own, &o, &common);
    return run_command(&o, &common, work_vjp);
}

/* ---- back ------------------------------------------------------------------------------------------------------------------- */

/* t = F' x and its multipliers, which are t again. */
static void complete(const input_problem *p, double *x, double *y)
{
    if (!p->F) return;
    double *t = x + p->n;
    memset(t, 0, (size_t)p->F->cols * sizeof *t);
    qp_add_transposed(p->F, x, t);
    memcpy(y + p->m, t, (size_t)p->F->cols * sizeof *t);
}

static hu_status read_point(const input *in, int64_t item, const input_problem *p, double *x, double *y, hu_error *err)
{
    hu_dense *dx = NULL, *dy = NULL;
    if (input_read_array(in, item, IN_X, p->n, &dx, err) || input_read_array(in, item, IN_Y, p->m, &dy, err)) goto cleanup;
    if (!dx || (!dy && p->m > 0)) {
        hu_fail(err, HU_INPUT, "%s: lacks the point: %s (give --x=FILE and --y=FILE)", in->name, dx ? "y" : "x");
        goto cleanup;
    }
    memcpy(x, dx->data, (size_t)p->n * sizeof *x);
    if (dy) memcpy(y, dy->data, (size_t)p->m * sizeof *y);
    complete(p, x, y);
cleanup:
    hu_dense_free(dx);
    hu_dense_free(dy);
    return err->status;
}

static hu_status work_back(const run_options *o, const input *in, int64_t item, result *r, hu_error *err)
{
    input_problem p = {NULL, 0, 0, NULL};
    solution *s = NULL;
    double *x = NULL;
    if (input_read_problem(in, item, &p, err) || hu_alloc_zero(p.p->n + p.p->m, sizeof *x, "a point", (void **)&x, err)) goto cleanup;
    if (read_point(in, item, &p, x, x + p.p->n, err) || solve_from_point(p.p, &o->solve, x, x + p.p->n, &s, err)) goto cleanup;
    if (result_add_array(r, "x", s->x, p.n, 1, s->n, err) || result_add_array(r, "y", s->y, p.m, 1, s->m, err) || result_add_array(r, "z", s->z, p.n, 1, s->n, err)) goto cleanup;
    differentiate(o, in, item, &p, s, r, err);
cleanup:
    hu_free(x);
    solve_free(s);
    input_problem_free(&p);
    return err->status;
}

static const char back_doc[] = "Give the gradients of vjp at a solution x, y that came from elsewhere, without solving again.\v"
                               "The point is carried to the solution that its active set determines; where none near it is right, the end is 1. The point comes from members x and y or by --x and --y.";

int command_back(int argc, char **argv)
{
    const struct argp_child children[] = {{&run_solve_argp, 0, NULL, 0}, {&run_gradient_argp, 0, NULL, 0}, {&input_argp, 0, "Files in place of members:", 2}, {&input_seeds_argp, 0, NULL, 2},
                                          {&input_point_argp, 0, NULL, 2}, {0}};
    const struct argp own = {NULL, parse_five, "[PROBLEM]", back_doc, children, NULL, NULL};
    run_options o = RUN_DEFAULTS("back");
    hu_common common;
    hu_option_parse(argc, argv, &own, &o, &common);
    return run_command(&o, &common, work_back);
}

/* ---- value ------------------------------------------------------------------------------------------------------------------ */

static hu_status work_value(const run_options *o, const input *in, int64_t item, result *r, hu_error *err)
{
    input_problem p = {NULL, 0, 0, NULL};
    solution *s = NULL;
    gradient_data d = {0};
    columns c = {0};
    if (run_solve(o, in, item, &p, &s, r, err) || data_for(o, &p, &d, err) || columns_new(&p, 1, &c, err)) goto cleanup;
    gradient_value(s, &d);
    if (take_seed(o, &p, &d, &c, 0, r, err) || write_columns(o, &p, &c, r, err)) goto cleanup;
    run_add_status(s, &p, NULL, NAN, HU_OK, NULL, r, err);
cleanup:
    hu_free(c.dq);
    gradient_data_free(&d);
    solve_free(s);
    input_problem_free(&p);
    return err->status;
}

static error_t parse_three(int key, char *arg, struct argp_state *state)
{
    run_options *o = state->input;
    const error_t code = run_parse(key, arg, state, 3);
    if (key == ARGP_KEY_INIT) state->child_inputs[1] = o;
    return code;
}

static const char value_doc[] = "Solve, and give the gradients of the optimal value in all data, which need no further solve.\v"
                                "dq = x, dP = 1/2 xx', dA = yx', and -y or -z of bounds in force; members as those of vjp.";

int command_value(int argc, char **argv)
{
    const struct argp_child children[] = {{&run_solve_argp, 0, NULL, 0}, {&run_gradient_argp, 0, NULL, 0}, {&input_argp, 0, "Files in place of members:", 2}, {0}};
    const struct argp own = {NULL, parse_three, "[PROBLEM]", value_doc, children, NULL, NULL};
    run_options o = RUN_DEFAULTS("value");
    hu_common common;
    hu_option_parse(argc, argv, &own, &o, &common);
    return run_command(&o, &common, work_value);
}

/* ---- jvp -------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    hu_csr *dP, *dA;
    hu_dense *part[5]; /* dq dl du dlb dub */
} direction;

static void direction_free(direction *d)
{
    hu_csr_free(d->dP);
    hu_csr_free(d->dA);
    for (int i = 0; i < 5; i++) hu_dense_free(d->part[i]);
}

static hu_status direction_read(const input *in, int64_t item, const input_problem *p, direction *ret, hu_error *err)
{
    static const input_name names[] = {IN_DQ, IN_DL, IN_DU, IN_DLB, IN_DUB};
    bool any;
    *ret = (direction){0};
    if (p->F) return hu_fail(err, HU_INPUT, "%s: jvp wants P, not factors d and F", in->name);
    if (input_read_matrix(in, item, IN_DP, p->n, p->n, &ret->dP, err) || input_read_matrix(in, item, IN_DA, p->m, p->n, &ret->dA, err)) return err->status;
    if (ret->dP && input_check_symmetric(ret->dP, "dP", err)) return err->status;
    any = ret->dP || ret->dA;
    for (int i = 0; i < 5; i++) {
        if (input_read_array(in, item, names[i], i == 1 || i == 2 ? p->m : p->n, &ret->part[i], err)) return err->status;
        if (ret->part[i] && ret->part[i]->cols != 1) return hu_fail(err, HU_INPUT, "%s: %s has %lld columns, not one", in->name, input_name_of(names[i]), (long long)ret->part[i]->cols);
        any = any || ret->part[i];
    }
    return any ? HU_OK : hu_fail(err, HU_INPUT, "%s: holds no direction: none of dP, dq, dA, dl, du, dlb, dub", in->name);
}

static hu_status follow(const run_options *o, const input_problem *p, solution *s, const direction *d, result *r, hu_error *err)
{
    gradient_point *g = NULL;
    double *x = NULL;
    const int64_t n = s->n, m = s->m;
    const double *part[5];
    for (int i = 0; i < 5; i++) part[i] = d->part[i] ? d->part[i]->data : NULL;
    const gradient_direction way = {d->dP, d->dA, part[0], part[1], part[2], part[3], part[4]};
    if (gradient_point_new(s, o->margin, &g, err) || gradient_factor(g, DEGENERATE_INCLUDE, err) || hu_alloc(2 * n + m, sizeof *x, "a direction", (void **)&x, err)) goto cleanup;
    if (g->weaks > 0) {
        if (judge_point(o, g, err)) goto cleanup;
    }
    if (gradient_jvp(g, &way, x, x + n, x + n + m, err)) goto cleanup;
    if (result_add_array(r, "dx", x, n, 1, n, err) || result_add_array(r, "dy", x + n, m, 1, m, err) || result_add_array(r, "dz", x + n + m, n, 1, n, err)) goto cleanup;
    if (run_add_active(p, g, r, err) == HU_OK) run_add_status(s, p, g, NAN, HU_OK, NULL, r, err);
cleanup:
    hu_free(x);
    gradient_point_free(g);
    return err->status;
}

static hu_status work_jvp(const run_options *o, const input *in, int64_t item, result *r, hu_error *err)
{
    input_problem p = {NULL, 0, 0, NULL};
    solution *s = NULL;
    direction d = {0};
    if (run_solve(o, in, item, &p, &s, r, err) == HU_OK && direction_read(in, item, &p, &d, err) == HU_OK) follow(o, &p, s, &d, r, err);
    direction_free(&d);
    solve_free(s);
    input_problem_free(&p);
    return err->status;
}

static const char jvp_doc[] = "Solve, and give the derivative dx, dy, dz of the solution along a direction in the data.\v"
                              "Where rows or bounds are in force with a multiplier of zero, it is the exact one-sided derivative, from the program over the critical cone.";

int command_jvp(int argc, char **argv)
{
    const struct argp_child children[] = {{&run_solve_argp, 0, NULL, 0}, {&run_gradient_argp, 0, NULL, 0}, {&input_argp, 0, "Files in place of members:", 2}, {&input_directions_argp, 0, NULL, 2}, {0}};
    const struct argp own = {NULL, parse_four, "[PROBLEM]", jvp_doc, children, NULL, NULL};
    run_options o = RUN_DEFAULTS("jvp");
    hu_common common;
    hu_option_parse(argc, argv, &own, &o, &common);
    return run_command(&o, &common, work_jvp);
}
