/* solve.c: a problem from its data to a certified answer.
 *
 * Sections: making and freeing, between the scales, answers, solving.
 */
#include "config.h"
#include "solve.h"
#include "base/memory.h"
#include "certify.h"

#include <math.h>
#include <string.h>

static const double RIGHT = 1e-10; /* rows, bounds and signs of a certified active set, relative */
static const double ACCEPTED = 1e-8; /* residual of a point without one */
enum { ROUNDS = 60 };

/* ---- making and freeing ------------------------------------------------------------------------------------------------ */

static hu_status make(const qp_problem *p, kkt_path path, solution **ret, hu_error *err)
{
    solution *s;
    *ret = NULL;
    if (hu_alloc_zero(1, sizeof *s, "a solution", (void **)&s, err)) return err->status;
    s->p = p;
    s->n = p->n;
    s->m = p->m;
    if (hu_alloc_zero(2 * (p->n + p->m), sizeof *s->x, "a solution", (void **)&s->x, err) || qp_scale(p, &s->scaled, &s->scaling, err) ||
        kkt_new(s->scaled, path, &s->k, err) || active_new(s->scaled, s->k, &s->set, err)) {
        solve_free(s);
        return err->status;
    }
    s->z = s->x + p->n;
    s->y = s->z + p->n;
    s->ax = s->y + p->m;
    *ret = s;
    return HU_OK;
}

void solve_free(solution *s)
{
    if (!s) return;
    active_free(s->set);
    kkt_free(s->k);
    qp_free(s->scaled);
    qp_scaling_free(&s->scaling);
    hu_free(s->x);
    hu_free(s);
}

/* ---- between the scales -------------------------------------------------------------------------------------------------- */

static void unscale(solution *s, const double *x, const double *w)
{
    const qp_scaling *k = &s->scaling;
    for (int64_t j = 0; j < s->n; j++) {
        s->x[j] = k->D[j] * x[j];
        s->z[j] = w[j] / (k->c * k->D[j]);
    }
    for (int64_t i = 0; i < s->m; i++) s->y[i] = k->E[i] * w[s->n + i] / k->c;
    qp_multiply(s->p->A, s->x, s->ax);
}

/* ---- answers --------------------------------------------------------------------------------------------------------------- */

static hu_status answer_infeasible(solution *s, const double *ray, hu_error *err)
{
    const qp_scaling *k = &s->scaling;
    double most = 0;
    for (int64_t j = 0; j < s->n; j++) most = fmax(most, fabs(s->z[j] = ray[j] / k->D[j]));
    for (int64_t i = 0; i < s->m; i++) most = fmax(most, fabs(s->y[i] = ray[s->n + i] * k->E[i]));
    for (int64_t j = 0; j < s->n; j++) s->z[j] /= most;
    for (int64_t i = 0; i < s->m; i++) s->y[i] /= most;
    s->has_ray = true;
    return hu_fail(err, (hu_status)QP_INFEASIBLE, "infeasible: no x satisfies all rows and bounds; y and z of the result prove it");
}

static hu_status answer_unbounded(solution *s, const double *ray, hu_error *err)
{
    double most = 0;
    for (int64_t j = 0; j < s->n; j++) most = fmax(most, fabs(s->x[j] = ray[j] * s->scaling.D[j]));
    for (int64_t j = 0; j < s->n; j++) s->x[j] /= most;
    s->has_ray = true;
    return hu_fail(err, (hu_status)QP_UNBOUNDED, "unbounded: the objective falls without end along the direction x of the result");
}

/* A row without entries holds or not whatever x is. */
static hu_status check_empty_rows(solution *s, hu_error *err)
{
    const qp_problem *p = s->p;
    for (int64_t i = 0; i < p->m; i++) {
        bool empty = true;
        for (int64_t e = p->A->row_ptr[i]; e < p->A->row_ptr[i + 1]; e++) empty = empty && p->A->val[e] == 0;
        if (!empty || (p->l[i] <= 0 && p->u[i] >= 0)) continue;
        s->y[i] = p->l[i] > 0 ? -1 : 1;
        s->has_ray = true;
        return hu_fail(err, (hu_status)QP_INFEASIBLE, "infeasible: row %lld has no entries, and 0 is not within its bounds %.17g and %.17g", (long long)i + 1, p->l[i], p->u[i]);
    }
    return HU_OK;
}

static hu_status check_convex(const solution *s, hu_error *err)
{
    bool convex;
    double least;
    if (certify_convex(s->p, &convex, &least, err) || convex) return err->status;
    return hu_fail(err, (hu_status)QP_NONCONVEX, "P is not positive semidefinite: it has an eigenvalue of at most %.9g", least);
}

/* ---- solving ---------------------------------------------------------------------------------------------------------------- */

/* Takes the point of the active set where the search finds one that is no worse than the interior point. */
static hu_status cross_over(solution *s, const ipm_state *state, hu_error *err)
{
    bool found;
    qp_quality quality;
    active_guess(s->set, state->v, state->w);
    if (active_search(s->set, RIGHT, ROUNDS, &found, err)) return err->status;
    s->rounds = s->set->rounds;
    if (found) {
        unscale(s, s->set->x, s->set->w);
        if (qp_judge(s->p, s->x, s->y, s->z, &quality, err)) return err->status;
        hu_say(2, "active set: primal %.2e, dual %.2e, complementarity %.2e", quality.primal, quality.dual, quality.gap);
        if (quality.residual <= fmax(s->quality.residual, RIGHT)) {
            s->quality = quality;
            s->certified = true;
            return HU_OK;
        }
    }
    unscale(s, state->x, state->w);
    return qp_judge(s->p, s->x, s->y, s->z, &s->quality, err);
}

static hu_status finish(solution *s, const ipm_state *state, const ipm_result *r, hu_error *err)
{
    if (r->outcome == IPM_INFEASIBLE) return answer_infeasible(s, state->ray, err);
    if (r->outcome == IPM_UNBOUNDED) return answer_unbounded(s, state->ray, err);
    unscale(s, state->x, state->w);
    if (qp_judge(s->p, s->x, s->y, s->z, &s->quality, err) || cross_over(s, state, err)) return err->status;
    if (s->certified || s->quality.residual <= ACCEPTED) return HU_OK;
    return hu_fail(err, (hu_status)QP_LIMIT, "not solved after %d iterations: relative residuals primal %.2e, dual %.2e, complementarity %.2e", r->iterations, s->quality.primal,
                   s->quality.dual, s->quality.gap);
}

hu_status solve_problem(const qp_problem *p, const solve_options *o, solution **ret_solution, hu_error *err)
{
    ipm_state *state = NULL;
    ipm_result r = {.outcome = IPM_LIMIT};
    if (make(p, o->path, ret_solution, err)) return err->status;
    solution *s = *ret_solution;
    if (check_empty_rows(s, err) || check_convex(s, err)) return err->status;
    if (ipm_new(s->scaled, &state, err) == HU_OK && ipm_solve(s->scaled, s->k, o->eps, o->iterations, state, &r, err) == HU_OK) {
        s->iterations = r.iterations;
        finish(s, state, &r, err);
    }
    ipm_free(state);
    return err->status;
}

/* The point in the scale of the active set: v = (x, A x), w = (z, y) with z what the gradient leaves at bounds. */
static void scale_point(solution *s, const double *x, const double *y, double *v, double *w)
{
    const qp_scaling *k = &s->scaling;
    for (int64_t j = 0; j < s->n; j++) v[j] = x[j] / k->D[j];
    for (int64_t i = 0; i < s->m; i++) w[s->n + i] = k->c * y[i] / k->E[i];
    qp_multiply(s->scaled->A, v, v + s->n);
    qp_multiply(s->scaled->P, v, w);
    for (int64_t j = 0; j < s->n; j++) w[j] += s->scaled->q[j];
    qp_add_transposed(s->scaled->A, w + s->n, w);
    for (int64_t j = 0; j < s->n; j++) w[j] = -w[j];
}

hu_status solve_from_point(const qp_problem *p, const solve_options *o, const double *x, const double *y, solution **ret_solution, hu_error *err)
{
    double *v = NULL, moved = 0, size = 1;
    bool found;
    if (make(p, o->path, ret_solution, err)) return err->status;
    solution *s = *ret_solution;
    const int64_t all = s->n + s->m;
    if (check_empty_rows(s, err) || check_convex(s, err) || hu_alloc(2 * all, sizeof *v, "a point", (void **)&v, err)) return err->status;
    scale_point(s, x, y, v, v + all);
    active_guess(s->set, v, v + all);
    hu_free(v);
    if (active_search(s->set, RIGHT, ROUNDS, &found, err)) return err->status;
    unscale(s, s->set->x, s->set->w);
    if (qp_judge(p, s->x, s->y, s->z, &s->quality, err)) return err->status;
    for (int64_t j = 0; j < s->n; j++) {
        size = fmax(size, fabs(x[j]));
        if (!(fabs(s->x[j] - x[j]) <= moved)) moved = fabs(s->x[j] - x[j]);
    }
    s->certified = found && s->quality.residual <= RIGHT;
    if (!s->certified) return hu_fail(err, HU_NO, "the point is no solution: its active set gives none (relative residual %.2e)", s->quality.residual);
    if (!(moved <= 1e-3 * size)) return hu_fail(err, HU_NO, "the point is no solution: the nearest one differs by %.2e in x", moved);
    return HU_OK;
}
