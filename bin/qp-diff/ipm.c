/* ipm.c: the interior point method.
 *
 * Sections: the state, start, directions, steps, the loop.
 */
#include "config.h"
#include "ipm.h"
#include "base/memory.h"
#include "certify.h"
#include "dense/dense.h"

#include <math.h>
#include <string.h>

static const double SHIFT = 1e-9; /* static, of both diagonals */
enum { REFINE = 6, PROVEN = 3 }; /* no certificate is looked for before the third step: a near start proves nothing */

typedef struct {
    const qp_problem *p;
    kkt *k;
    ipm_state *s;
    int64_t n, m, sides; /* finite sides of what is neither fixed nor an equality */
    double *lo, *hi;     /* [n + m] */
    double *rd;          /* [n] dual residual */
    double *rl, *ru;     /* [n + m] v - lo - tl, hi - v - tu */
    double *cl, *cu;     /* [n + m] what complementarity is to become */
    double *g;           /* [n + m] */
    double *dx, *ds;     /* [n], [m] diagonals */
    double *b, *d;       /* [n + m] right-hand side and direction */
    double *dv, *dw;     /* [n + m] */
    double *dtl, *dtu, *dzl, *dzu;
    double *best;        /* [2 (n + m)]: v, w */
    double residual;     /* of the last solve */
} ipm;

/* ---- the state --------------------------------------------------------------------------------------------------- */

hu_status ipm_new(const qp_problem *p, ipm_state **ret_state, hu_error *err)
{
    ipm_state *s;
    const int64_t all = p->n + p->m;
    *ret_state = NULL;
    if (hu_alloc_zero(1, sizeof *s, "a state", (void **)&s, err)) return err->status;
    s->n = p->n;
    s->m = p->m;
    if (hu_alloc_zero(7 * all, sizeof *s->v, "a state", (void **)&s->v, err)) {
        hu_free(s);
        return err->status;
    }
    s->x = s->v;
    s->w = s->v + all;
    s->tl = s->v + 2 * all;
    s->tu = s->v + 3 * all;
    s->zl = s->v + 4 * all;
    s->zu = s->v + 5 * all;
    s->ray = s->v + 6 * all;
    *ret_state = s;
    return HU_OK;
}

void ipm_free(ipm_state *s)
{
    if (!s) return;
    hu_free(s->v);
    hu_free(s);
}

static bool has_low(const ipm *c, int64_t k)
{
    return isfinite(c->lo[k]) && c->lo[k] < c->hi[k];
}

static bool has_high(const ipm *c, int64_t k)
{
    return isfinite(c->hi[k]) && c->lo[k] < c->hi[k];
}

static bool is_equal(const ipm *c, int64_t k)
{
    return c->lo[k] == c->hi[k];
}

static hu_status make_room(ipm *c, hu_error *err)
{
    const int64_t all = c->n + c->m;
    double *block;
    if (hu_alloc_zero(19 * all, sizeof *block, "an interior point method", (void **)&block, err)) return err->status;
    double **const parts[] = {&c->lo, &c->hi, &c->rd, &c->rl, &c->ru, &c->cl, &c->cu, &c->g, &c->dx, &c->ds, &c->b, &c->d, &c->dv, &c->dw, &c->dtl, &c->dtu, &c->dzl, &c->dzu};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = block + (int64_t)i * all;
    if (hu_alloc(2 * all, sizeof *c->best, "an interior point method", (void **)&c->best, err)) {
        hu_free(block);
        c->lo = NULL;
        return err->status;
    }
    memcpy(c->lo, c->p->lb, (size_t)c->n * sizeof *block);
    memcpy(c->hi, c->p->ub, (size_t)c->n * sizeof *block);
    memcpy(c->lo + c->n, c->p->l, (size_t)c->m * sizeof *block);
    memcpy(c->hi + c->n, c->p->u, (size_t)c->m * sizeof *block);
    for (int64_t k = 0; k < all; k++) c->sides += has_low(c, k) + has_high(c, k);
    return HU_OK;
}

/* v = (x, A x). */
static void evaluate(ipm *c)
{
    qp_multiply(c->p->A, c->s->x, c->s->v + c->n);
}

/* ---- start -------------------------------------------------------------------------------------------------------- */

/* The point that is nearest to all sides in the sense of least squares, then slacks and multipliers pushed away from zero. */
static hu_status start(ipm *c, hu_error *err)
{
    ipm_state *s = c->s;
    const int64_t n = c->n, all = n + c->m;
    for (int64_t k = 0; k < all; k++) {
        const bool low = has_low(c, k), high = has_high(c, k);
        const double middle = low && high ? 0.5 * (c->lo[k] + c->hi[k]) : low ? c->lo[k] : high ? c->hi[k] : 0;
        const double weight = low || high ? 1.0 : 0.0;
        if (k < n) {
            s->x[k] = is_equal(c, k) ? c->lo[k] : 0;
            c->dx[k] = is_equal(c, k) ? INFINITY : weight;
            c->b[k] = weight * middle - c->p->q[k];
        } else {
            c->ds[k - n] = is_equal(c, k) ? 0 : weight > 0 ? 1 : INFINITY;
            c->b[k] = is_equal(c, k) ? c->lo[k] : middle;
        }
    }
    qp_multiply(c->p->P, s->x, c->g);
    qp_multiply(c->p->A, s->x, c->dv);
    for (int64_t j = 0; j < n; j++) c->b[j] -= c->g[j];
    for (int64_t i = 0; i < c->m; i++) c->b[n + i] -= c->dv[i];
    if (kkt_factor(c->k, c->dx, c->ds, SHIFT, SHIFT, err) || kkt_solve(c->k, c->b, c->d, REFINE, &c->residual, err)) return err->status;
    for (int64_t j = 0; j < n; j++)
        if (!is_equal(c, j)) s->x[j] = c->d[j];
    evaluate(c);
    memcpy(s->w + n, c->d + n, (size_t)c->m * sizeof *c->d);
    double short_t = 0, short_z = 0;
    for (int64_t k = 0; k < all; k++) {
        const bool low = has_low(c, k), high = has_high(c, k);
        if (!low && !high) continue;
        const double middle = low && high ? 0.5 * (c->lo[k] + c->hi[k]) : low ? c->lo[k] : c->hi[k];
        const double w = s->v[k] - middle; /* the multiplier of the least squares problem */
        if (low) {
            s->tl[k] = s->v[k] - c->lo[k];
            s->zl[k] = fmax(-w, 0);
            short_t = fmax(short_t, -s->tl[k]);
            short_z = fmax(short_z, -s->zl[k]);
        }
        if (high) {
            s->tu[k] = c->hi[k] - s->v[k];
            s->zu[k] = fmax(w, 0);
            short_t = fmax(short_t, -s->tu[k]);
        }
    }
    double sum_t = 0, sum_z = 0, product = 0;
    const double push = 1.0 + 1.5 * short_t;
    for (int64_t k = 0; k < all; k++) {
        if (has_low(c, k)) {
            s->tl[k] = fmax(s->tl[k], 0) + push;
            s->zl[k] += 1.0;
            sum_t += s->tl[k], sum_z += s->zl[k], product += s->tl[k] * s->zl[k];
        }
        if (has_high(c, k)) {
            s->tu[k] = fmax(s->tu[k], 0) + push;
            s->zu[k] += 1.0;
            sum_t += s->tu[k], sum_z += s->zu[k], product += s->tu[k] * s->zu[k];
        }
        if (has_low(c, k) || has_high(c, k)) s->w[k] = s->zu[k] - s->zl[k];
        else if (k < n) s->w[k] = 0;
    }
    const double more_t = sum_z > 0 ? 0.5 * product / sum_z : 0, more_z = sum_t > 0 ? 0.5 * product / sum_t : 0;
    for (int64_t k = 0; k < all; k++) {
        if (has_low(c, k)) s->tl[k] += more_t, s->zl[k] += more_z;
        if (has_high(c, k)) s->tu[k] += more_t, s->zu[k] += more_z;
        if (has_low(c, k) || has_high(c, k)) s->w[k] = s->zu[k] - s->zl[k];
    }
    return HU_OK;
}

/* ---- directions --------------------------------------------------------------------------------------------------- */

static double complementarity(const ipm *c)
{
    double sum = 0;
    for (int64_t k = 0; k < c->n + c->m; k++) {
        if (has_low(c, k)) sum += c->s->tl[k] * c->s->zl[k];
        if (has_high(c, k)) sum += c->s->tu[k] * c->s->zu[k];
    }
    return c->sides ? sum / (double)c->sides : 0;
}

static void find_residuals(ipm *c)
{
    const ipm_state *s = c->s;
    qp_multiply(c->p->P, s->x, c->rd);
    for (int64_t j = 0; j < c->n; j++) c->rd[j] += c->p->q[j] + (is_equal(c, j) ? 0 : s->w[j]);
    qp_add_transposed(c->p->A, s->w + c->n, c->rd);
    for (int64_t k = 0; k < c->n + c->m; k++) {
        c->rl[k] = has_low(c, k) ? s->v[k] - c->lo[k] - s->tl[k] : 0;
        c->ru[k] = has_high(c, k) ? c->hi[k] - s->v[k] - s->tu[k] : 0;
    }
}

static hu_status factor(ipm *c, hu_error *err)
{
    const ipm_state *s = c->s;
    for (int64_t k = 0; k < c->n + c->m; k++) {
        double sigma = 0;
        if (has_low(c, k)) sigma += s->zl[k] / s->tl[k];
        if (has_high(c, k)) sigma += s->zu[k] / s->tu[k];
        if (k < c->n) c->dx[k] = is_equal(c, k) ? INFINITY : fmin(sigma, 1e30);
        else c->ds[k - c->n] = is_equal(c, k) ? 0 : sigma > 0 ? fmax(1.0 / sigma, 1e-30) : INFINITY;
    }
    return kkt_factor(c->k, c->dx, c->ds, SHIFT, SHIFT, err);
}

/* Newton's direction towards complementarity cl, cu (given as what is to be added to products: target - t z). */
static hu_status find_direction(ipm *c, hu_error *err)
{
    const ipm_state *s = c->s;
    const int64_t n = c->n, all = n + c->m;
    for (int64_t k = 0; k < all; k++) {
        double g = 0, sigma = 0;
        if (has_high(c, k)) g += (c->cu[k] - s->zu[k] * c->ru[k]) / s->tu[k], sigma += s->zu[k] / s->tu[k];
        if (has_low(c, k)) g -= (c->cl[k] - s->zl[k] * c->rl[k]) / s->tl[k], sigma += s->zl[k] / s->tl[k];
        c->g[k] = g;
        if (k < n) c->b[k] = -c->rd[k] - g;
        else c->b[k] = is_equal(c, k) ? c->lo[k] - s->v[k] : sigma > 0 ? -g / sigma : 0;
    }
    if (kkt_solve(c->k, c->b, c->d, REFINE, &c->residual, err)) return err->status;
    memcpy(c->dv, c->d, (size_t)n * sizeof *c->d);
    qp_multiply(c->p->A, c->d, c->dv + n);
    for (int64_t k = 0; k < all; k++) {
        const bool low = has_low(c, k), high = has_high(c, k);
        c->dw[k] = k < n ? 0 : c->d[k];
        c->dtl[k] = c->dtu[k] = c->dzl[k] = c->dzu[k] = 0;
        if (!low && !high) continue;
        if (low) c->dtl[k] = c->dv[k] + c->rl[k], c->dzl[k] = (c->cl[k] - s->zl[k] * c->dtl[k]) / s->tl[k];
        if (high) c->dtu[k] = c->ru[k] - c->dv[k], c->dzu[k] = (c->cu[k] - s->zu[k] * c->dtu[k]) / s->tu[k];
        if (k < n) {
            c->dw[k] = c->dzu[k] - c->dzl[k];
            continue;
        }
        /* of a row, the side in force takes its multiplier from the system's solution, and its slack from that: A dx has lost the digits */
        const bool lower_leads = low && (!high || s->tl[k] < s->tu[k]);
        if (lower_leads && s->zl[k] > s->tl[k]) {
            c->dzl[k] = c->dzu[k] - c->dw[k];
            c->dtl[k] = (c->cl[k] - s->tl[k] * c->dzl[k]) / s->zl[k];
        } else if (!lower_leads && s->zu[k] > s->tu[k]) {
            c->dzu[k] = c->dzl[k] + c->dw[k];
            c->dtu[k] = (c->cu[k] - s->tu[k] * c->dzu[k]) / s->zu[k];
        } else {
            c->dw[k] = c->dzu[k] - c->dzl[k];
        }
    }
    return HU_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------- */

static double limit(double step, double value, double change)
{
    return change < 0 && -value / change < step ? -value / change : step;
}

static void longest_steps(const ipm *c, double *ret_primal, double *ret_dual)
{
    const ipm_state *s = c->s;
    double primal = INFINITY, dual = INFINITY;
    for (int64_t k = 0; k < c->n + c->m; k++) {
        if (has_low(c, k)) primal = limit(primal, s->tl[k], c->dtl[k]), dual = limit(dual, s->zl[k], c->dzl[k]);
        if (has_high(c, k)) primal = limit(primal, s->tu[k], c->dtu[k]), dual = limit(dual, s->zu[k], c->dzu[k]);
    }
    *ret_primal = primal;
    *ret_dual = dual;
}

static double complementarity_after(const ipm *c, double primal, double dual)
{
    const ipm_state *s = c->s;
    double sum = 0;
    for (int64_t k = 0; k < c->n + c->m; k++) {
        if (has_low(c, k)) sum += (s->tl[k] + primal * c->dtl[k]) * (s->zl[k] + dual * c->dzl[k]);
        if (has_high(c, k)) sum += (s->tu[k] + primal * c->dtu[k]) * (s->zu[k] + dual * c->dzu[k]);
    }
    return c->sides ? sum / (double)c->sides : 0;
}

static void take_step(ipm *c, double primal, double dual)
{
    ipm_state *s = c->s;
    for (int64_t k = 0; k < c->n + c->m; k++) {
        const bool low = has_low(c, k), high = has_high(c, k);
        if (k < c->n && !is_equal(c, k)) s->x[k] += primal * c->dv[k];
        if (low) s->tl[k] += primal * c->dtl[k], s->zl[k] += dual * c->dzl[k];
        if (high) s->tu[k] += primal * c->dtu[k], s->zu[k] += dual * c->dzu[k];
        if (low || high) s->w[k] = s->zu[k] - s->zl[k];
        else if (k >= c->n && is_equal(c, k)) s->w[k] += dual * c->dw[k];
    }
    evaluate(c);
}

/* ---- the loop ------------------------------------------------------------------------------------------------------- */

/* A fixed variable's multiplier is what its gradient leaves. */
static void set_fixed(ipm *c)
{
    for (int64_t j = 0; j < c->n; j++)
        if (is_equal(c, j)) c->s->w[j] = -c->rd[j];
}

static void keep_best(ipm *c, const qp_quality *now, qp_quality *best)
{
    const int64_t all = c->n + c->m;
    if (!(now->residual < best->residual)) return;
    *best = *now;
    memcpy(c->best, c->s->v, (size_t)all * sizeof *c->best);
    memcpy(c->best + all, c->s->w, (size_t)all * sizeof *c->best);
}

static hu_status step(ipm *c, double mu, double *ret_length, hu_error *err)
{
    const ipm_state *s = c->s;
    const int64_t all = c->n + c->m;
    double primal, dual;
    for (int64_t k = 0; k < all; k++) c->cl[k] = -s->tl[k] * s->zl[k], c->cu[k] = -s->tu[k] * s->zu[k];
    if (factor(c, err) || find_direction(c, err)) return err->status;
    longest_steps(c, &primal, &dual);
    const bool separate = c->p->P->nnz == 0;
    primal = fmin(primal, 1), dual = fmin(dual, 1);
    if (!separate) primal = dual = fmin(primal, dual);
    if (c->sides) {
        const double after = complementarity_after(c, primal, dual), ratio = after / mu, target = mu * ratio * ratio * ratio;
        for (int64_t k = 0; k < all; k++) {
            c->cl[k] = target - s->tl[k] * s->zl[k] - c->dtl[k] * c->dzl[k];
            c->cu[k] = target - s->tu[k] * s->zu[k] - c->dtu[k] * c->dzu[k];
        }
        if (find_direction(c, err)) return err->status;
        longest_steps(c, &primal, &dual);
    }
    const double shy = fmax(0.99, 1 - mu);
    primal = fmin(shy * primal, 1), dual = fmin(shy * dual, 1);
    if (!separate) primal = dual = fmin(primal, dual);
    take_step(c, primal, dual);
    *ret_length = fmin(primal, dual);
    return HU_OK;
}

/* Whether the multipliers or the point, or their last steps, prove that there is no solution. */
static bool prove(const ipm *c, ipm_result *r, hu_error *err)
{
    ipm_state *s = c->s;
    if (certify_infeasible(c->p, s->w + c->n, s->ray, err) || certify_infeasible(c->p, c->dw + c->n, s->ray, err)) r->outcome = IPM_INFEASIBLE;
    else if (certify_unbounded(c->p, s->x, s->ray, err) || certify_unbounded(c->p, c->dv, s->ray, err)) r->outcome = IPM_UNBOUNDED;
    return r->outcome != IPM_LIMIT || err->status;
}

static hu_status run(ipm *c, double eps, int most, ipm_result *r, hu_error *err)
{
    ipm_state *s = c->s;
    const int64_t n = c->n, all = n + c->m;
    qp_quality best = {INFINITY, INFINITY, INFINITY, INFINITY, -1, 0};
    int idle = 0;
    if (start(c, err)) return err->status;
    r->outcome = IPM_LIMIT;
    for (r->iterations = 0;; r->iterations++) {
        qp_quality now;
        double length = 0;
        find_residuals(c);
        set_fixed(c);
        if (qp_judge(c->p, s->x, s->w + n, s->w, &now, err)) return err->status;
        idle = now.residual < 0.9 * best.residual ? 0 : idle + 1;
        keep_best(c, &now, &best);
        const double mu = complementarity(c);
        hu_say(2, "%3d: objective %.10g, primal %.2e, dual %.2e, gap %.2e, mu %.2e, solve %.1e", r->iterations, now.objective, now.primal, now.dual, now.gap, mu, c->residual);
        if (best.residual <= eps && mu <= eps) r->outcome = IPM_SOLVED;
        else if (r->iterations >= PROVEN && prove(c, r, err)) break;
        else if (!isfinite(now.residual) || idle >= 25) r->outcome = IPM_STALLED;
        if (err->status || r->outcome != IPM_LIMIT || r->iterations == most) break;
        if (step(c, mu, &length, err)) return err->status;
        if (length < 1e-9) {
            r->outcome = IPM_STALLED;
            break;
        }
    }
    r->quality = best;
    if (r->outcome == IPM_STALLED || r->outcome == IPM_LIMIT || r->outcome == IPM_SOLVED) {
        memcpy(s->v, c->best, (size_t)all * sizeof *c->best);
        memcpy(s->w, c->best + all, (size_t)all * sizeof *c->best);
    }
    if (r->outcome == IPM_STALLED && best.residual <= eps) r->outcome = IPM_SOLVED;
    return err->status;
}

hu_status ipm_solve(const qp_problem *p, kkt *k, double eps, int most, ipm_state *s, ipm_result *ret_result, hu_error *err)
{
    ipm c = {.p = p, .k = k, .s = s, .n = p->n, .m = p->m};
    if (make_room(&c, err) == HU_OK) run(&c, eps, most, ret_result, err);
    hu_free(c.lo);
    hu_free(c.best);
    return err->status;
}
