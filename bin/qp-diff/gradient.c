/* gradient.c: derivatives of the solution.
 *
 * Sections: the point, is the system regular, least norm, gradients, directions.
 */
#include "config.h"
#include "gradient.h"
#include "base/memory.h"
#include "base/random.h"
#include "sparse/ldl.h"

#include <math.h>
#include <string.h>

/* ---- the point ------------------------------------------------------------------------------------------------------- */

static double low(const active *a, int64_t k)
{
    return k < a->n ? a->p->lb[k] : a->p->l[k - a->n];
}

static double high(const active *a, int64_t k)
{
    return k < a->n ? a->p->ub[k] : a->p->u[k - a->n];
}

/* Slacks and multipliers relative to their size, as active_search() weighs them. */
static void find_weak(gradient_point *g, double tolerance)
{
    const active *a = g->s->set;
    double weight = 1;
    for (int64_t j = 0; j < a->n; j++) weight = fmax(weight, a->size[j]);
    g->margin = INFINITY;
    for (int64_t k = 0; k < a->n + a->m; k++) {
        const double lo = low(a, k), hi = high(a, k);
        double distance;
        int8_t side = a->side[k];
        g->side[k] = side;
        if (side == SIDE_EQUAL) continue;
        if (side == SIDE_NONE) {
            const double below = isfinite(lo) ? fabs(a->v[k] - lo) / (1 + fabs(lo)) : INFINITY, above = isfinite(hi) ? fabs(hi - a->v[k]) / (1 + fabs(hi)) : INFINITY;
            distance = fmin(below, above);
            side = below < above ? SIDE_LOW : SIDE_HIGH;
        } else {
            distance = fabs(a->w[k]) / (k < a->n ? 1 + a->size[k] : weight);
        }
        if (distance <= tolerance) g->side[k] = g->weak[k] = side, g->weaks++;
        else g->margin = fmin(g->margin, distance);
    }
    for (int64_t k = 0; k < a->n + a->m; k++) {
        if (g->side[k] == SIDE_NONE) continue;
        if (k < a->n) g->bounds++;
        else g->rows++;
    }
}

hu_status gradient_point_new(solution *s, double tolerance, gradient_point **ret_point, hu_error *err)
{
    gradient_point *g;
    const int64_t all = s->n + s->m;
    *ret_point = NULL;
    if (!s->certified) return hu_fail(err, HU_NO, "no active set could be certified at the solution, so it has no gradient that could be vouched for");
    if (hu_alloc_zero(1, sizeof *g, "a point", (void **)&g, err)) return err->status;
    g->s = s;
    g->unique = true;
    if (hu_alloc_zero(2 * all, 1, "a point", (void **)&g->side, err)) {
        hu_free(g);
        return err->status;
    }
    g->weak = g->side + all;
    find_weak(g, tolerance);
    *ret_point = g;
    return HU_OK;
}

void gradient_point_free(gradient_point *g)
{
    if (!g) return;
    hu_free(g->side);
    hu_free(g);
}

/* ---- is the system regular ---------------------------------------------------------------------------------------------- */

static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

/* The size of the solution for a random right-hand side of size 1 in x (in y). */
static hu_status probe(active *a, bool in_x, bool in_y, double *ret_size, hu_error *err)
{
    hu_random r = hu_random_stream(7, 1);
    double residual;
    for (int64_t k = 0; k < a->n + a->m; k++) {
        const double value = 2 * hu_random_uniform(&r) - 1;
        a->b[k] = (k < a->n ? in_x && a->side[k] == SIDE_NONE : in_y && a->side[k] != SIDE_NONE) ? value : 0;
    }
    if (kkt_solve(a->k, a->b, a->d, 0, &residual, err)) return err->status; /* refinement would blur what the shift does */
    *ret_size = largest(a->d, a->n + a->m);
    return HU_OK;
}

/* A solution that is large, and smaller under a larger shift, shows a system that is singular, or too nearly so to tell (below 1e-7 of its scaled size). */
static hu_status is_singular(active *a, bool in_x, bool in_y, bool *ret_singular, hu_error *err)
{
    double size, shifted;
    *ret_singular = false;
    if (probe(a, in_x, in_y, &size, err) || size < 1e6) return err->status;
    const double shift = a->shift;
    a->shift = 300 * shift;
    if (active_factor(a, err) || probe(a, in_x, in_y, &shifted, err)) return err->status;
    a->shift = shift;
    *ret_singular = !(shifted > 0.5 * size);
    return active_factor(a, err);
}

/* The rows of A in force over the free variables as a matrix of unit rows. */
static hu_status rows_in_force(const active *a, bool unit, hu_csr **ret, hu_error *err)
{
    const hu_csr *A = a->p->A;
    int64_t rows = 0, count = 0;
    for (int64_t i = 0; i < a->m; i++) {
        if (a->side[a->n + i] == SIDE_NONE) continue;
        rows++;
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) count += a->side[A->col[p]] == SIDE_NONE;
    }
    if (hu_csr_new(rows, a->n, count, false, ret, err)) return err->status;
    hu_csr *B = *ret;
    int64_t at = 0, row = 0;
    for (int64_t i = 0; i < a->m; i++) {
        if (a->side[a->n + i] == SIDE_NONE) continue;
        double sum = 0;
        const int64_t from = at;
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) {
            if (a->side[A->col[p]] != SIDE_NONE) continue;
            B->col[at] = A->col[p];
            B->val[at++] = A->val[p];
            sum += A->val[p] * A->val[p];
        }
        for (int64_t p = from; p < at && unit && sum > 0; p++) B->val[p] /= sqrt(sum);
        B->row_ptr[++row] = at;
    }
    return HU_OK;
}

/* B B', lower triangle, by the columns that rows share. */
static hu_status gram(const hu_csr *B, hu_csr **ret, hu_error *err)
{
    hu_csr *T = NULL;
    hu_coo *e = NULL;
    int64_t room = 0;
    if (hu_csr_transpose(B, false, &T, err)) return err->status;
    for (int64_t j = 0; j < T->rows; j++) {
        const int64_t c = T->row_ptr[j + 1] - T->row_ptr[j];
        room += c * (c + 1) / 2;
    }
    room += B->rows;
    if (hu_coo_new(B->rows, B->rows, room, false, &e, err) == HU_OK) {
        int64_t at = 0;
        for (int64_t i = 0; i < B->rows; i++, at++) e->row[at] = e->col[at] = (int32_t)i, e->val[at] = 0;
        for (int64_t j = 0; j < T->rows; j++)
            for (int64_t p = T->row_ptr[j]; p < T->row_ptr[j + 1]; p++)
                for (int64_t q = T->row_ptr[j]; q <= p; q++, at++) e->row[at] = T->col[p], e->col[at] = T->col[q], e->val[at] = T->val[p] * T->val[q];
        hu_csr_from_coo(&e, HU_DUP_SUM, "A A'", ret, err);
    }
    hu_csr_free(T);
    return err->status;
}

/* Rows in force less their rank: pivots of L D L' of the Gram matrix of unit rows that vanish. */
static hu_status find_deficit(active *a, int64_t *ret_deficit, hu_error *err)
{
    hu_csr *B = NULL, *G = NULL;
    hu_ldl *f = NULL;
    int8_t *sign = NULL;
    if (rows_in_force(a, true, &B, err) == HU_OK && gram(B, &G, err) == HU_OK && hu_alloc(B->rows, 1, "signs", (void **)&sign, err) == HU_OK) {
        memset(sign, 1, (size_t)B->rows);
        if (hu_ldl_analyze(G, NULL, HU_LDL_AUTO, &f, err) == HU_OK) hu_ldl_factor(f, G->val, sign, (hu_ldl_pivots){1e-11, 1e60}, ret_deficit, err);
    }
    hu_ldl_free(f);
    hu_csr_free(B);
    hu_csr_free(G);
    hu_free(sign);
    return err->status;
}

hu_status gradient_factor(gradient_point *g, gradient_rule rule, hu_error *err)
{
    active *a = g->s->set;
    bool singular, in_x = false, in_y = false;
    int64_t frees = 0, rows = 0;
    for (int64_t k = 0; k < a->n + a->m; k++) a->side[k] = g->weak[k] && rule == DEGENERATE_EXCLUDE ? SIDE_NONE : g->side[k];
    a->shift = 1e-9;
    g->deficit = 0;
    g->unique = true;
    if (active_factor(a, err) || is_singular(a, true, true, &singular, err)) return err->status;
    if (singular) {
        if (is_singular(a, true, false, &in_x, err) || is_singular(a, false, true, &in_y, err)) return err->status;
        g->unique = !in_x;
        if (in_y && find_deficit(a, &g->deficit, err)) return err->status;
    }
    for (int64_t k = 0; k < a->n + a->m; k++) {
        if (k < a->n) frees += a->side[k] == SIDE_NONE;
        else rows += a->side[k] != SIDE_NONE;
    }
    g->vertex = g->unique && frees == rows - g->deficit;
    return HU_OK;
}

/* ---- least norm ------------------------------------------------------------------------------------------------------------ */

/* y over the rows in force := the one of least norm (in the problem's own units) with the same A' y over the free variables. */
static hu_status least_norm(const gradient_point *g, double *y, hu_error *err)
{
    const solution *s = g->s;
    const active *a = s->set;
    const hu_csr *A = s->p->A;
    hu_csr *K = NULL;
    hu_coo *e = NULL;
    hu_ldl *f = NULL;
    double *work = NULL, *shifted = NULL, residual;
    int8_t *sign = NULL;
    const int64_t n = s->n, m = s->m, all = n + m;
    /* minimise 1/2 |y|^2 with A' y = A' y0:  [I A; A' 0] [y; w] = [0; A' y0], rows first */
    if (hu_coo_new(all, all, A->nnz + all, false, &e, err)) return err->status;
    e->nnz = 0;
    for (int64_t i = 0; i < all; i++) e->row[e->nnz] = e->col[e->nnz] = (int32_t)i, e->val[e->nnz++] = i < m ? 1 : a->side[i - m] == SIDE_NONE ? 0 : -1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++)
            if (a->side[n + i] != SIDE_NONE && a->side[A->col[p]] == SIDE_NONE)
                e->row[e->nnz] = (int32_t)(m + A->col[p]), e->col[e->nnz] = (int32_t)i, e->val[e->nnz++] = A->val[p] * s->scaling.D[A->col[p]] * s->scaling.E[i];
    if (hu_csr_from_coo(&e, HU_DUP_SUM, "least norm", &K, err) || hu_alloc_zero(6 * all, sizeof *work, "least norm", (void **)&work, err) ||
        hu_alloc(K->nnz, sizeof *shifted, "least norm", (void **)&shifted, err) || hu_alloc(all, 1, "signs", (void **)&sign, err))
        goto cleanup;
    /* in units where y = E v the norm weighs E^2 */
    double *b = work, *v = work + all;
    for (int64_t i = 0; i < all; i++) {
        sign[i] = i < m ? 1 : -1;
        for (int64_t p = K->row_ptr[i]; p < K->row_ptr[i + 1]; p++) {
            if (K->col[p] == i && i < m) K->val[p] = s->scaling.E[i] * s->scaling.E[i];
            if (i >= m && K->col[p] < m) b[i] += K->val[p] * y[K->col[p]] / s->scaling.E[K->col[p]];
            shifted[p] = K->val[p] - (K->col[p] == i && i >= m && K->val[p] == 0 ? 1e-9 : 0);
        }
    }
    if (hu_ldl_analyze(K, NULL, HU_LDL_AUTO, &f, err) == HU_OK && hu_ldl_factor(f, shifted, sign, (hu_ldl_pivots){1e-300, 1e-9}, NULL, err) == HU_OK &&
        hu_ldl_solve_refined(f, K, b, v, 30, work + 2 * all, &residual, err) == HU_OK)
        for (int64_t i = 0; i < m; i++) y[i] = a->side[n + i] == SIDE_NONE ? 0 : s->scaling.E[i] * v[i];
cleanup:
    hu_ldl_free(f);
    hu_csr_free(K);
    hu_free(work);
    hu_free(shifted);
    hu_free(sign);
    return err->status;
}

/* ---- gradients --------------------------------------------------------------------------------------------------------------- */

/* mub = -(gx + P dx + A' mu) at the bounds in force. */
static void bound_multipliers(const gradient_point *g, const double *gx, const double *dx, const double *mu, double *ret)
{
    const solution *s = g->s;
    qp_multiply(s->p->P, dx, ret);
    qp_add_transposed(s->p->A, mu, ret);
    for (int64_t j = 0; j < s->n; j++) ret[j] = s->set->side[j] == SIDE_NONE ? 0 : -(ret[j] + (gx ? gx[j] : 0));
}

hu_status gradient_seed(gradient_point *g, const double *gx, const double *gy, gradient_adjoint *ret, hu_error *err)
{
    solution *s = g->s;
    active *a = s->set;
    const qp_scaling *k = &s->scaling;
    if (!g->unique) return hu_fail(err, (hu_status)QP_NOT_UNIQUE, "the solution x is not unique, so it has no gradient");
    for (int64_t i = 0; i < s->m; i++) ret->mu[i] = gy && a->side[s->n + i] != SIDE_NONE ? gy[i] : 0;
    if (gy && g->deficit && least_norm(g, ret->mu, err)) return err->status; /* only what y of least norm follows */
    for (int64_t j = 0; j < s->n; j++) a->b[j] = a->side[j] == SIDE_NONE && gx ? -k->D[j] * gx[j] : 0;
    for (int64_t i = 0; i < s->m; i++) a->b[s->n + i] = -k->E[i] * ret->mu[i] / k->c;
    if (active_correct(a, a->b, a->d, err)) return err->status;
    ret->residual = a->residual;
    for (int64_t j = 0; j < s->n; j++) ret->dx[j] = g->vertex && !gy ? 0 : k->c * k->D[j] * a->d[j];
    for (int64_t i = 0; i < s->m; i++) ret->mu[i] = k->E[i] * a->d[s->n + i];
    if (g->deficit && least_norm(g, ret->mu, err)) return err->status;
    bound_multipliers(g, gx, ret->dx, ret->mu, ret->mub);
    return HU_OK;
}

static hu_status same_pattern(const hu_csr *a, hu_csr **ret, hu_error *err)
{
    if (hu_csr_new(a->rows, a->cols, a->nnz, false, ret, err)) return err->status;
    memcpy((*ret)->row_ptr, a->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr);
    memcpy((*ret)->col, a->col, (size_t)a->nnz * sizeof *a->col);
    memset((*ret)->val, 0, (size_t)a->nnz * sizeof *a->val);
    return HU_OK;
}

hu_status gradient_data_new(const qp_problem *p, bool want_P, bool want_A, gradient_data *ret, hu_error *err)
{
    *ret = (gradient_data){0};
    if (hu_alloc_zero(4 * p->n + 3 * p->m, sizeof *ret->dq, "gradients", (void **)&ret->dq, err)) return err->status;
    ret->dlb = ret->dq + p->n;
    ret->dub = ret->dlb + p->n;
    ret->dfx = ret->dub + p->n;
    ret->dl = ret->dfx + p->n;
    ret->du = ret->dl + p->m;
    ret->deq = ret->du + p->m;
    if ((want_P && same_pattern(p->P, &ret->dP, err)) || (want_A && same_pattern(p->A, &ret->dA, err))) gradient_data_free(ret);
    return err->status;
}

void gradient_data_free(gradient_data *d)
{
    hu_free(d->dq);
    hu_csr_free(d->dP);
    hu_csr_free(d->dA);
    *d = (gradient_data){0};
}

static void add_bound(int8_t side, double value, double *low_side, double *high_side, double *both)
{
    if (side == SIDE_LOW) *low_side += value;
    else if (side == SIDE_HIGH) *high_side += value;
    else if (side == SIDE_EQUAL) *both += value;
}

void gradient_add(const gradient_point *g, const gradient_adjoint *a, double factor, gradient_data *d)
{
    const solution *s = g->s;
    const int8_t *side = s->set->side;
    for (int64_t j = 0; j < s->n; j++) {
        d->dq[j] += factor * a->dx[j];
        add_bound(side[j], -factor * a->mub[j], &d->dlb[j], &d->dub[j], &d->dfx[j]);
    }
    for (int64_t i = 0; i < s->m; i++) add_bound(side[s->n + i], -factor * a->mu[i], &d->dl[i], &d->du[i], &d->deq[i]);
    if (d->dP)
#pragma omp parallel for schedule(static) if (d->dP->nnz > 1 << 16)
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t p = d->dP->row_ptr[i]; p < d->dP->row_ptr[i + 1]; p++) {
                const int64_t j = d->dP->col[p];
                d->dP->val[p] += factor * 0.5 * (a->dx[i] * s->x[j] + s->x[i] * a->dx[j]);
            }
    if (d->dA)
#pragma omp parallel for schedule(static) if (d->dA->nnz > 1 << 16)
        for (int64_t i = 0; i < s->m; i++)
            for (int64_t p = d->dA->row_ptr[i]; p < d->dA->row_ptr[i + 1]; p++) {
                const int64_t j = d->dA->col[p];
                d->dA->val[p] += factor * (s->y[i] * a->dx[j] + a->mu[i] * s->x[j]);
            }
}

void gradient_value(const solution *s, gradient_data *d)
{
    const qp_problem *p = s->p;
    for (int64_t j = 0; j < s->n; j++) {
        const int8_t side = p->lb[j] == p->ub[j] ? SIDE_EQUAL : s->z[j] > 0 ? SIDE_HIGH : s->z[j] < 0 ? SIDE_LOW : SIDE_NONE;
        d->dq[j] = s->x[j];
        add_bound(side, -s->z[j], &d->dlb[j], &d->dub[j], &d->dfx[j]);
    }
    for (int64_t i = 0; i < s->m; i++) {
        const int8_t side = p->l[i] == p->u[i] ? SIDE_EQUAL : s->y[i] > 0 ? SIDE_HIGH : s->y[i] < 0 ? SIDE_LOW : SIDE_NONE;
        add_bound(side, -s->y[i], &d->dl[i], &d->du[i], &d->deq[i]);
    }
    for (int64_t i = 0; i < s->n && d->dP; i++)
        for (int64_t k = d->dP->row_ptr[i]; k < d->dP->row_ptr[i + 1]; k++) d->dP->val[k] = 0.5 * s->x[i] * s->x[d->dP->col[k]];
    for (int64_t i = 0; i < s->m && d->dA; i++)
        for (int64_t k = d->dA->row_ptr[i]; k < d->dA->row_ptr[i + 1]; k++) d->dA->val[k] = s->y[i] * s->x[d->dA->col[k]];
}

hu_status gradient_vjp(gradient_point *g, gradient_rule rule, const double *gx, const double *gy, gradient_data *ret, double *ret_residual, hu_error *err)
{
    const solution *s = g->s;
    gradient_adjoint a;
    const bool both = rule == DEGENERATE_MEAN && g->weaks > 0;
    if (hu_alloc_zero(2 * s->n + s->m, sizeof *a.dx, "a seed", (void **)&a.dx, err)) return err->status;
    a.mub = a.dx + s->n;
    a.mu = a.mub + s->n;
    *ret_residual = 0;
    for (int pass = both ? 0 : 1; pass < 2; pass++) {
        /* of both, the second factor stays for the next seed's first pass only where nothing is weak */
        if (both && gradient_factor(g, pass ? DEGENERATE_INCLUDE : DEGENERATE_EXCLUDE, err)) break;
        if (gradient_seed(g, gx, gy, &a, err)) break;
        gradient_add(g, &a, both ? 0.5 : 1.0, ret);
        *ret_residual = fmax(*ret_residual, a.residual);
    }
    hu_free(a.dx);
    return err->status;
}

/* ---- directions ---------------------------------------------------------------------------------------------------------------- */

static double part(const double *opt_x, int64_t i)
{
    return opt_x ? opt_x[i] : 0;
}

/* How the side in force of quantity k moves; false where the two bounds of an equality move apart. */
static bool bound_moves(const gradient_direction *d, int64_t n, int64_t k, int8_t side, double *ret)
{
    const double lo = k < n ? part(d->dlb, k) : part(d->dl, k - n), hi = k < n ? part(d->dub, k) : part(d->du, k - n);
    *ret = side == SIDE_HIGH ? hi : lo;
    return side != SIDE_EQUAL || lo == hi;
}

/* The program over the critical cone: minimise 1/2 d' P d + (P'x + q' + A''y)' d with the rows and bounds in force moving as told, the weak ones on one side only. */
static hu_status critical_program(const gradient_point *g, const gradient_direction *d, qp_problem **ret, hu_error *err)
{
    const solution *s = g->s;
    const int64_t n = s->n, m = s->m;
    qp_problem *c;
    double *work;
    if (qp_copy(s->p, ret, err)) return err->status;
    c = *ret;
    c->c0 = 0;
    if (hu_alloc_zero(m, sizeof *work, "a direction", (void **)&work, err)) return err->status;
    memset(c->q, 0, (size_t)n * sizeof *c->q);
    if (d->dP) qp_multiply(d->dP, s->x, c->q);
    for (int64_t j = 0; j < n; j++) c->q[j] += part(d->dq, j);
    if (d->dA) {
        qp_add_transposed(d->dA, s->y, c->q);
        qp_multiply(d->dA, s->x, work);
    }
    for (int64_t k = 0; k < n + m; k++) {
        double *lo = k < n ? &c->lb[k] : &c->l[k - n], *hi = k < n ? &c->ub[k] : &c->u[k - n], move;
        const int8_t side = g->side[k];
        if (!bound_moves(d, n, k, side, &move)) {
            hu_fail(err, HU_INPUT, "the direction moves the two bounds of %s %lld apart, which are equal", k < n ? "variable" : "row", (long long)(k < n ? k : k - n) + 1);
            break;
        }
        if (k >= n) move -= work[k - n];
        *lo = side == SIDE_NONE || (g->weak[k] && side == SIDE_HIGH) ? -INFINITY : move;
        *hi = side == SIDE_NONE || (g->weak[k] && side == SIDE_LOW) ? INFINITY : move;
    }
    hu_free(work);
    return err->status;
}

hu_status gradient_jvp(gradient_point *g, const gradient_direction *d, double *ret_x, double *ret_y, double *ret_z, hu_error *err)
{
    qp_problem *c = NULL;
    solution *answer = NULL;
    const solve_options options = SOLVE_DEFAULTS;
    const solution *s = g->s;
    if (!g->unique) return hu_fail(err, (hu_status)QP_NOT_UNIQUE, "the solution x is not unique, so it has no derivative");
    if (critical_program(g, d, &c, err) == HU_OK) {
        solve_problem(c, &options, &answer, err);
        if ((int)err->status == QP_INFEASIBLE || (int)err->status == QP_UNBOUNDED) {
            hu_error_clear(err);
            hu_fail(err, HU_INPUT, "no solution follows this direction in the data: the rows in force do not allow it");
        }
    }
    if (!err->status) {
        memcpy(ret_x, answer->x, (size_t)s->n * sizeof *ret_x);
        memcpy(ret_y, answer->y, (size_t)s->m * sizeof *ret_y);
        memcpy(ret_z, answer->z, (size_t)s->n * sizeof *ret_z);
    }
    solve_free(answer);
    qp_free(c);
    return err->status;
}
