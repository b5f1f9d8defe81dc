/* verify.c: whether the gradients of a problem are right.
 *
 * Sections: directions, identities, differences, all of them.
 */
#include "config.h"
#include "verify.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/dense.h"

#include <math.h>
#include <string.h>

typedef struct {
    gradient_point *g;
    const qp_problem *p;
    const double *gx;
    const solve_options *options;
    gradient_data loss, value; /* gradients of gx' x and of the optimal value */
    qp_problem *d;             /* the direction, as a problem of the same patterns */
    double *work;              /* [3 n + 2 m] */
} checker;

/* ---- directions --------------------------------------------------------------------------------------------------------- */

static double draw(hu_random *r, double value)
{
    return isfinite(value) ? (0.1 + fabs(value)) * (2 * hu_random_uniform(r) - 1) : 0;
}

/* Bounds that are equal move together. */
static void draw_bounds(hu_random *r, const double *lo, const double *hi, double *dlo, double *dhi, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        dlo[i] = draw(r, lo[i]);
        dhi[i] = lo[i] == hi[i] ? dlo[i] : draw(r, hi[i]);
    }
}

static hu_status draw_direction(checker *c, uint64_t seed, hu_error *err)
{
    hu_random r = hu_random_stream(seed, 5);
    if (qp_copy(c->p, &c->d, err)) return err->status;
    qp_problem *d = c->d;
    for (int64_t i = 0; i < c->p->n; i++)
        for (int64_t p = d->P->row_ptr[i]; p < d->P->row_ptr[i + 1]; p++) { /* entry (i, j) and (j, i) draw the same */
            const int64_t j = d->P->col[p], low = i < j ? i : j, high = i < j ? j : i;
            hu_random own = hu_random_stream(seed + (uint64_t)low * 1000003u, 1000 + (uint64_t)high);
            d->P->val[p] = draw(&own, d->P->val[p]);
        }
    for (int64_t p = 0; p < d->A->nnz; p++) d->A->val[p] = draw(&r, d->A->val[p]);
    for (int64_t j = 0; j < c->p->n; j++) d->q[j] = draw(&r, d->q[j]);
    draw_bounds(&r, c->p->l, c->p->u, d->l, d->u, c->p->m);
    draw_bounds(&r, c->p->lb, c->p->ub, d->lb, d->ub, c->p->n);
    return HU_OK;
}

/* <gradient, direction> and the sum of the sizes of its terms. */
static double along(const gradient_data *g, const qp_problem *d, double *ret_size)
{
    double sum = 0, size = 0;
    const struct { const double *g, *d; int64_t n; } parts[] = {
        {g->dq, d->q, d->n}, {g->dl, d->l, d->m}, {g->du, d->u, d->m}, {g->deq, d->l, d->m}, {g->dlb, d->lb, d->n}, {g->dub, d->ub, d->n}, {g->dfx, d->lb, d->n},
        {g->dP->val, d->P->val, d->P->nnz}, {g->dA->val, d->A->val, d->A->nnz}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int64_t k = 0; k < parts[i].n; k++) {
            if (parts[i].g[k] == 0) continue;
            sum += parts[i].g[k] * parts[i].d[k];
            size += fabs(parts[i].g[k] * parts[i].d[k]);
        }
    *ret_size = size;
    return sum;
}

/* ---- identities ----------------------------------------------------------------------------------------------------------- */

static double relative(double difference, double size)
{
    return size > 0 ? fabs(difference) / size : fabs(difference);
}

static const double CANCELLED = 1e-6; /* of the whole: what is smaller may be all rounding */

/* gx' J d = (J' gx)' d, where jvp and vjp go different ways. */
static hu_status check_adjoint(checker *c, verify_line *ret, hu_error *err)
{
    const qp_problem *d = c->d;
    const gradient_direction way = {d->P, d->A, d->q, d->l, d->u, d->lb, d->ub};
    const int64_t n = c->p->n, m = c->p->m;
    double size;
    *ret = (verify_line){.name = "vjp and jvp are adjoint", .limit = 1e-9};
    if (c->g->weaks > 0 || c->g->deficit > 0) {
        ret->skipped = true;
        ret->why = c->g->deficit > 0 ? "rows in force depend on each other, so not every direction can be followed" : "the point is degenerate";
        return HU_OK;
    }
    if (gradient_jvp(c->g, &way, c->work, c->work + n, c->work + n + m, err)) return err->status;
    const double forward = hu_dot(c->gx, c->work, n), back = along(&c->loss, d, &size);
    for (int64_t j = 0; j < n; j++) size += fabs(c->gx[j] * c->work[j]);
    ret->value = relative(forward - back, size);
    return HU_OK;
}

/* P and q times t leave x: <dP, P> + <dq, q> = 0. */
static void check_objective(const checker *c, verify_line *ret)
{
    double sum = 0, size = 0;
    for (int64_t k = 0; k < c->p->P->nnz; k++) sum += c->loss.dP->val[k] * c->p->P->val[k], size += fabs(c->loss.dP->val[k] * c->p->P->val[k]);
    for (int64_t j = 0; j < c->p->n; j++) sum += c->loss.dq[j] * c->p->q[j], size += fabs(c->loss.dq[j] * c->p->q[j]);
    for (int64_t j = 0; j < c->p->n; j++) size += CANCELLED * fabs(c->gx[j] * c->g->s->x[j]);
    *ret = (verify_line){.name = "scaling of the objective", .value = relative(sum, size), .limit = 1e-9};
}

static double times(double g, double bound)
{
    return g == 0 ? 0 : g * bound;
}

/* A row times t with its bounds leaves x: <dA_i, A_i> + dl_i l_i + du_i u_i + deq_i u_i = 0, for each row. */
static void check_rows(const checker *c, verify_line *ret)
{
    const hu_csr *A = c->p->A;
    double worst = 0, seed = 0;
    for (int64_t j = 0; j < c->p->n; j++) seed = fmax(seed, fabs(c->gx[j] * c->g->s->x[j]));
    for (int64_t i = 0; i < c->p->m; i++) {
        const double low = times(c->loss.dl[i], c->p->l[i]), high = times(c->loss.du[i], c->p->u[i]), both = times(c->loss.deq[i], c->p->u[i]);
        double sum = low + high + both, size = fabs(low) + fabs(high) + fabs(both);
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) {
            const double term = c->loss.dA->val[p] * A->val[p];
            sum += term;
            size += fabs(term);
        }
        worst = fmax(worst, size > 1e-300 ? relative(sum, size + CANCELLED * seed) : 0);
    }
    *ret = (verify_line){.name = "scaling of each row", .value = worst, .limit = 1e-9};
}

/* Moving the origin by t moves x by t: -P dq + A'(dl + du + deq) + dlb + dub + dfx = gx. */
static void check_translation(checker *c, verify_line *ret)
{
    const int64_t n = c->p->n, m = c->p->m;
    double *sum = c->work, *size = c->work + n, *rows = c->work + 2 * n, worst = 0;
    qp_multiply(c->p->P, c->loss.dq, sum);
    qp_multiply_abs(c->p->P, c->loss.dq, size);
    for (int64_t j = 0; j < n; j++) {
        sum[j] = -sum[j] + c->loss.dlb[j] + c->loss.dub[j] + c->loss.dfx[j] - c->gx[j];
        size[j] += fabs(c->loss.dlb[j]) + fabs(c->loss.dub[j]) + fabs(c->loss.dfx[j]) + fabs(c->gx[j]);
    }
    for (int64_t i = 0; i < m; i++) rows[i] = c->loss.dl[i] + c->loss.du[i] + c->loss.deq[i];
    qp_add_transposed(c->p->A, rows, sum);
    qp_add_transposed_abs(c->p->A, rows, size);
    double largest = 0;
    for (int64_t j = 0; j < n; j++) largest = fmax(largest, size[j]);
    for (int64_t j = 0; j < n; j++) worst = fmax(worst, relative(sum[j], size[j] + CANCELLED * largest));
    *ret = (verify_line){.name = "translation of the origin", .value = worst, .limit = 1e-9};
}

/* ---- differences ------------------------------------------------------------------------------------------------------------ */

static void step_vector(const double *x, const double *d, double h, double *ret, int64_t n)
{
    for (int64_t i = 0; i < n; i++) ret[i] = isfinite(x[i]) ? x[i] + h * d[i] : x[i];
}

/* Loss and value of the problem a step away; *ret_same: the same rows and bounds are in force. */
static hu_status evaluate(const checker *c, double h, double *ret_loss, double *ret_value, bool *ret_same, hu_error *err)
{
    qp_problem *moved = NULL;
    solution *s = NULL;
    const qp_problem *p = c->p, *d = c->d;
    if (qp_copy(p, &moved, err)) return err->status;
    step_vector(p->P->val, d->P->val, h, moved->P->val, p->P->nnz);
    step_vector(p->A->val, d->A->val, h, moved->A->val, p->A->nnz);
    step_vector(p->q, d->q, h, moved->q, p->n);
    step_vector(p->l, d->l, h, moved->l, p->m);
    step_vector(p->u, d->u, h, moved->u, p->m);
    step_vector(p->lb, d->lb, h, moved->lb, p->n);
    step_vector(p->ub, d->ub, h, moved->ub, p->n);
    solve_problem(moved, c->options, &s, err);
    *ret_same = !err->status && s->certified && memcmp(s->set->side, c->g->side, (size_t)(p->n + p->m)) == 0;
    if (!err->status) {
        *ret_loss = hu_dot(c->gx, s->x, p->n);
        *ret_value = s->quality.objective;
    } else if (err->status >= HU_PROGRAM) {
        hu_error_clear(err); /* a step too far */
    }
    solve_free(s);
    qp_free(moved);
    return err->status;
}

/* (4 D(h/2) - D(h)) / 3 of central differences D, the longest step whose four points have the same set in force. */
static hu_status check_differences(const checker *c, verify_line *loss, verify_line *value, hu_error *err)
{
    double size, value_size;
    const double wanted = along(&c->loss, c->d, &size), wanted_value = along(&c->value, c->d, &value_size);
    *loss = (verify_line){.name = "differences of the loss", .limit = 1e-6, .skipped = true, .why = "the set in force changes at every step"};
    *value = (verify_line){.name = "differences of the value", .limit = 1e-6, .skipped = true, .why = loss->why};
    for (double h = 1e-3; h > 1e-7; h /= 10) {
        double f[4], v[4];
        bool same = true;
        for (int k = 0; k < 4 && same; k++)
            if (evaluate(c, (k % 2 ? -h : h) / (k < 2 ? 1 : 2), &f[k], &v[k], &same, err)) return err->status;
        if (!same) continue;
        const double found = (4 * (f[2] - f[3]) / h - (f[0] - f[1]) / (2 * h)) / 3, found_value = (4 * (v[2] - v[3]) / h - (v[0] - v[1]) / (2 * h)) / 3;
        loss->value = relative(found - wanted, size);
        value->value = relative(found_value - wanted_value, value_size);
        loss->skipped = value->skipped = false;
        loss->why = value->why = NULL;
        return HU_OK;
    }
    return HU_OK;
}

/* ---- all of them -------------------------------------------------------------------------------------------------------------- */

hu_status verify_gradients(gradient_point *g, const double *gx, const solve_options *o, uint64_t seed, verify_line *ret, hu_error *err)
{
    checker c = {.g = g, .p = g->s->p, .gx = gx, .options = o};
    double residual;
    if (hu_alloc(3 * c.p->n + 2 * c.p->m, sizeof *c.work, "checks", (void **)&c.work, err) || gradient_data_new(c.p, true, true, &c.loss, err) ||
        gradient_data_new(c.p, true, true, &c.value, err) || draw_direction(&c, seed, err))
        goto cleanup;
    if (gradient_factor(g, DEGENERATE_EXCLUDE, err) || gradient_vjp(g, DEGENERATE_EXCLUDE, gx, NULL, &c.loss, &residual, err)) goto cleanup;
    gradient_value(g->s, &c.value);
    if (check_adjoint(&c, &ret[0], err)) goto cleanup;
    check_objective(&c, &ret[1]);
    check_rows(&c, &ret[2]);
    check_translation(&c, &ret[3]);
    if (check_differences(&c, &ret[4], &ret[5], err)) goto cleanup;
    ret[6] = (verify_line){.name = "backward error of the gradient", .value = residual, .limit = 1e-10};
cleanup:
    hu_free(c.work);
    gradient_data_free(&c.loss);
    gradient_data_free(&c.value);
    qp_free(c.d);
    return err->status;
}
