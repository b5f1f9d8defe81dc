/* problem.c: the convex quadratic program as data.
 *
 * Sections: making and freeing, checks, products, scaling, quality.
 */
#include "config.h"
#include "problem.h"
#include "base/memory.h"
#include "dense/dense.h"

#include <math.h>
#include <string.h>

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static hu_status vector(int64_t n, double value, double **ret, hu_error *err)
{
    if (hu_alloc(n, sizeof **ret, "a vector", (void **)ret, err)) return err->status;
    for (int64_t i = 0; i < n; i++) (*ret)[i] = value;
    return HU_OK;
}

hu_status qp_new(hu_csr *P, hu_csr *A, int64_t n, qp_problem **ret_problem, hu_error *err)
{
    qp_problem *p;
    *ret_problem = NULL;
    if (hu_alloc_zero(1, sizeof *p, "a problem", (void **)&p, err)) {
        hu_csr_free(P);
        hu_csr_free(A);
        return err->status;
    }
    p->P = P;
    p->A = A;
    p->n = n;
    if (!A && hu_csr_new(0, n, 0, false, &p->A, err)) goto failed;
    if (!P) {
        if (hu_csr_new(n, n, 0, false, &p->P, err)) goto failed;
        memset(p->P->row_ptr, 0, (size_t)(n + 1) * sizeof *p->P->row_ptr);
    }
    p->m = p->A->rows;
    if (vector(n, 0, &p->q, err) || vector(n, -INFINITY, &p->lb, err) || vector(n, INFINITY, &p->ub, err) || vector(p->m, -INFINITY, &p->l, err) ||
        vector(p->m, INFINITY, &p->u, err))
        goto failed;
    *ret_problem = p;
    return HU_OK;
failed:
    qp_free(p);
    return err->status;
}

void qp_free(qp_problem *p)
{
    if (!p) return;
    hu_csr_free(p->P);
    hu_csr_free(p->A);
    hu_free(p->q);
    hu_free(p->lb);
    hu_free(p->ub);
    hu_free(p->l);
    hu_free(p->u);
    hu_free(p);
}

static hu_status copy_matrix(const hu_csr *a, hu_csr **ret, hu_error *err)
{
    if (hu_csr_new(a->rows, a->cols, a->nnz, false, ret, err)) return err->status;
    memcpy((*ret)->row_ptr, a->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr);
    memcpy((*ret)->col, a->col, (size_t)a->nnz * sizeof *a->col);
    memcpy((*ret)->val, a->val, (size_t)a->nnz * sizeof *a->val);
    return HU_OK;
}

hu_status qp_copy(const qp_problem *p, qp_problem **ret_copy, hu_error *err)
{
    hu_csr *P = NULL, *A = NULL;
    *ret_copy = NULL;
    if (copy_matrix(p->P, &P, err) || copy_matrix(p->A, &A, err)) {
        hu_csr_free(P);
        hu_csr_free(A);
        return err->status;
    }
    if (qp_new(P, A, p->n, ret_copy, err)) return err->status;
    qp_problem *c = *ret_copy;
    memcpy(c->q, p->q, (size_t)p->n * sizeof *p->q);
    memcpy(c->lb, p->lb, (size_t)p->n * sizeof *p->q);
    memcpy(c->ub, p->ub, (size_t)p->n * sizeof *p->q);
    memcpy(c->l, p->l, (size_t)p->m * sizeof *p->q);
    memcpy(c->u, p->u, (size_t)p->m * sizeof *p->q);
    c->c0 = p->c0;
    return HU_OK;
}

/* ---- checks -------------------------------------------------------------------------------------------------------- */

static hu_status check_pair(double *low, double *high, int64_t n, const char *what, const char *name, hu_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (isnan(low[i]) || isnan(high[i])) return hu_fail(err, HU_INPUT, "%s: %s %lld: a bound is NaN", name, what, (long long)i + 1);
        if (low[i] >= QP_INFINITY || high[i] <= -QP_INFINITY)
            return hu_fail(err, HU_INPUT, "%s: %s %lld: its %s bound is %sinfinite", name, what, (long long)i + 1, low[i] >= QP_INFINITY ? "lower" : "upper",
                           low[i] >= QP_INFINITY ? "+" : "-");
        if (low[i] > high[i])
            return hu_fail(err, HU_INPUT, "%s: %s %lld: its lower bound %.17g is above its upper bound %.17g", name, what, (long long)i + 1, low[i], high[i]);
        if (low[i] <= -QP_INFINITY) low[i] = -INFINITY;
        if (high[i] >= QP_INFINITY) high[i] = INFINITY;
    }
    return HU_OK;
}

hu_status qp_check_bounds(qp_problem *p, const char *name, hu_error *err)
{
    if (check_pair(p->l, p->u, p->m, "row", name, err)) return err->status;
    return check_pair(p->lb, p->ub, p->n, "variable", name, err);
}

/* ---- products ------------------------------------------------------------------------------------------------------ */

enum { SMALL = 1 << 20 }; /* entries that one thread multiplies as fast as many */

void qp_multiply(const hu_csr *a, const double *x, double *ret_y)
{
#pragma omp parallel for schedule(static) if (a->nnz > SMALL)
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum += a->val[p] * x[a->col[p]];
        ret_y[i] = sum;
    }
}

void qp_multiply_abs(const hu_csr *a, const double *x, double *ret_y)
{
#pragma omp parallel for schedule(static) if (a->nnz > SMALL)
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum += fabs(a->val[p] * x[a->col[p]]);
        ret_y[i] = sum;
    }
}

void qp_add_transposed(const hu_csr *a, const double *y, double *x)
{
    for (int64_t i = 0; i < a->rows; i++) {
        const double factor = y[i];
        if (factor == 0) continue;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) x[a->col[p]] += a->val[p] * factor;
    }
}

void qp_add_transposed_abs(const hu_csr *a, const double *y, double *x)
{
    for (int64_t i = 0; i < a->rows; i++) {
        const double factor = fabs(y[i]);
        if (factor == 0) continue;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) x[a->col[p]] += fabs(a->val[p]) * factor;
    }
}

double qp_objective(const qp_problem *p, const double *x, double *work)
{
    qp_multiply(p->P, x, work);
    return 0.5 * hu_dot(x, work, p->n) + hu_dot(p->q, x, p->n) + p->c0;
}

/* ---- scaling ------------------------------------------------------------------------------------------------------- */

static void largest(const hu_csr *a, const double *row, const double *col, double *opt_rows, double *opt_cols)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const int64_t j = a->col[p];
            const double size = fabs(a->val[p]) * row[i] * col[j];
            if (opt_rows && size > opt_rows[i]) opt_rows[i] = size;
            if (opt_cols && size > opt_cols[j]) opt_cols[j] = size;
        }
}

static void divide_by_roots(double *scale, double *norms, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (norms[i] > 0) scale[i] /= sqrt(norms[i]);
        scale[i] = fmin(fmax(scale[i], 0x1p-40), 0x1p40);
        norms[i] = 0;
    }
}

static void round_to_powers(double *scale, int64_t n)
{
    for (int64_t i = 0; i < n; i++) scale[i] = exp2(rint(log2(scale[i])));
}

static void apply_scaling(qp_problem *s, const qp_scaling *k)
{
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t p = s->P->row_ptr[i]; p < s->P->row_ptr[i + 1]; p++) s->P->val[p] *= k->c * k->D[i] * k->D[s->P->col[p]];
        s->q[i] *= k->c * k->D[i];
        s->lb[i] /= k->D[i];
        s->ub[i] /= k->D[i];
    }
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t p = s->A->row_ptr[i]; p < s->A->row_ptr[i + 1]; p++) s->A->val[p] *= k->E[i] * k->D[s->A->col[p]];
        s->l[i] *= k->E[i];
        s->u[i] *= k->E[i];
    }
    s->c0 *= k->c;
}

/* The objective's gradient becomes of size 1. */
static double cost_scale(const qp_problem *p, const double *D)
{
    double size = 0;
    for (int64_t i = 0; i < p->n; i++) {
        size = fmax(size, fabs(p->q[i]) * D[i]);
        for (int64_t e = p->P->row_ptr[i]; e < p->P->row_ptr[i + 1]; e++) size = fmax(size, fabs(p->P->val[e]) * D[i] * D[p->P->col[e]]);
    }
    return size > 0 ? exp2(rint(-log2(fmin(fmax(size, 1e-12), 1e12)))) : 1.0;
}

hu_status qp_scale(const qp_problem *p, qp_problem **ret_scaled, qp_scaling *ret_scaling, hu_error *err)
{
    enum { SWEEPS = 10 };
    qp_scaling k = {NULL, NULL, 1.0};
    double *cols = NULL, *rows = NULL;
    *ret_scaled = NULL;
    if (vector(p->n, 1, &k.D, err) || vector(p->m, 1, &k.E, err) || vector(p->n, 0, &cols, err) || vector(p->m, 0, &rows, err)) goto cleanup;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        largest(p->P, k.D, k.D, cols, NULL);
        largest(p->A, k.E, k.D, rows, cols);
        divide_by_roots(k.D, cols, p->n);
        divide_by_roots(k.E, rows, p->m);
    }
    round_to_powers(k.D, p->n);
    round_to_powers(k.E, p->m);
    k.c = cost_scale(p, k.D);
    if (qp_copy(p, ret_scaled, err)) goto cleanup;
    apply_scaling(*ret_scaled, &k);
cleanup:
    hu_free(cols);
    hu_free(rows);
    if (err->status) qp_scaling_free(&k);
    *ret_scaling = k;
    return err->status;
}

void qp_scaling_free(qp_scaling *s)
{
    hu_free(s->D);
    hu_free(s->E);
    *s = (qp_scaling){NULL, NULL, 1.0};
}

/* ---- quality ------------------------------------------------------------------------------------------------------- */

static void note(double *most, double value, qp_quality *q, int64_t where)
{
    if (value <= *most) return;
    *most = value; /* NaN counts as larger than all */
    if (!(value <= fmax(q->primal, q->dual))) q->worst = where;
}

/* One row or bound: value v made of parts of size `size`, multiplier w relative to `weight`. */
static void judge_side(double v, double size, double low, double high, double w, double weight, int64_t where, qp_quality *q)
{
    const double below = low - v, above = v - high;
    const double scale_low = 1 + fabs(low) + size, scale_high = 1 + fabs(high) + size;
    if (isfinite(low)) note(&q->primal, fmax(below, 0) / scale_low, q, where);
    if (isfinite(high)) note(&q->primal, fmax(above, 0) / scale_high, q, where);
    const double slack = w > 0 ? (isfinite(high) ? fabs(above) / scale_high : INFINITY) : w < 0 ? (isfinite(low) ? fabs(below) / scale_low : INFINITY) : 0;
    const double both = fmin(fabs(w) / weight, slack);
    if (!(both <= q->gap)) q->gap = both;
}

hu_status qp_judge(const qp_problem *p, const double *x, const double *y, const double *z, qp_quality *ret_quality, hu_error *err)
{
    const int64_t n = p->n, m = p->m;
    double *work;
    qp_quality q = {0, 0, 0, 0, -1, 0};
    if (hu_alloc(3 * n + 2 * m, sizeof *work, "a verdict", (void **)&work, err)) return err->status;
    double *gradient = work, *size = work + n, *scratch = work + 2 * n, *ax = work + 3 * n, *ax_size = ax + m;
    q.objective = qp_objective(p, x, gradient);
    qp_multiply_abs(p->P, x, size);
    for (int64_t j = 0; j < n; j++) {
        gradient[j] += p->q[j] + z[j];
        size[j] += fabs(p->q[j]) + fabs(z[j]) + 1;
        scratch[j] = 0;
    }
    qp_add_transposed(p->A, y, gradient);
    qp_add_transposed_abs(p->A, y, size);
    qp_multiply(p->A, x, ax);
    qp_multiply_abs(p->A, x, ax_size);
    double weight = 1; /* of multipliers: the gradient that they balance */
    for (int64_t j = 0; j < n; j++) {
        note(&q.dual, fabs(gradient[j]) / size[j], &q, m + j);
        weight = fmax(weight, size[j]);
    }
    for (int64_t i = 0; i < m; i++) judge_side(ax[i], ax_size[i], p->l[i], p->u[i], y[i], weight, i, &q);
    for (int64_t j = 0; j < n; j++) judge_side(x[j], fabs(x[j]), p->lb[j], p->ub[j], z[j], size[j], m + j, &q);
    q.residual = fmax(q.primal, fmax(q.dual, q.gap));
    if (isnan(q.primal) || isnan(q.dual) || isnan(q.gap) || isnan(q.objective)) q.residual = INFINITY;
    hu_free(work);
    *ret_quality = q;
    return HU_OK;
}
