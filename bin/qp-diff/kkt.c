/* kkt.c: the symmetric systems behind every step.
 *
 * Sections: sparse, dense, choosing.
 */
#include "config.h"
#include "kkt.h"
#include "base/memory.h"
#include "sparse/ldl.h"

#include <math.h>
#include <string.h>

struct kkt {
    const qp_problem *p;
    bool dense;
    int64_t n, m, factors;
    double *work; /* [6 (n + m)] */
    int8_t *sign;
    /* sparse */
    hu_csr *lower;   /* of the system without shifts */
    double *shifted; /* the values with them */
    hu_ldl *ldl;
    /* dense */
    double *dx, *ds;          /* as factored */
    int32_t *free, *border, *gram; /* variables that are not fixed; rows with ds = 0; rows with ds > 0 */
    int64_t frees, borders, grams;
    double *front, *d, *inverse, *dense_work, *rows, *weight;
    int64_t front_room, rows_room;
    double gamma, delta; /* gamma A_b' A_b was added to P */
};

/* ---- sparse ---------------------------------------------------------------------------------------------------------- */

/* Row j < n: the lower triangle of P with its diagonal; row n + i: row i of A, then the diagonal. */
static hu_status build_lower(kkt *k, hu_error *err)
{
    const hu_csr *P = k->p->P, *A = k->p->A;
    const int64_t n = k->n, m = k->m;
    int64_t count = A->nnz + m;
    for (int64_t j = 0; j < n; j++) {
        count++;
        for (int64_t p = P->row_ptr[j]; p < P->row_ptr[j + 1]; p++) count += P->col[p] < j;
    }
    if (hu_csr_new(n + m, n + m, count, false, &k->lower, err)) return err->status;
    hu_csr *t = k->lower;
    int64_t at = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t p = P->row_ptr[j]; p < P->row_ptr[j + 1] && P->col[p] < j; p++) t->col[at++] = P->col[p];
        t->col[at++] = (int32_t)j;
        t->row_ptr[j + 1] = at;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) t->col[at++] = A->col[p];
        t->col[at++] = (int32_t)(n + i);
        t->row_ptr[n + i + 1] = at;
    }
    return HU_OK;
}

static hu_status sparse_new(kkt *k, hu_error *err)
{
    if (build_lower(k, err) || hu_alloc(k->lower->nnz, sizeof *k->shifted, "a system", (void **)&k->shifted, err)) return err->status;
    return hu_ldl_analyze(k->lower, NULL, HU_LDL_AUTO, &k->ldl, err);
}

static hu_status sparse_factor(kkt *k, const double *dx, const double *ds, double rho, double delta, hu_error *err)
{
    const hu_csr *P = k->p->P, *A = k->p->A;
    double *val = k->lower->val;
    int64_t at = 0;
    for (int64_t j = 0; j < k->n; j++) {
        const bool fixed = isinf(dx[j]);
        double diagonal = 0;
        for (int64_t p = P->row_ptr[j]; p < P->row_ptr[j + 1] && P->col[p] <= j; p++) {
            if (P->col[p] == j) diagonal = P->val[p];
            else val[at] = fixed || isinf(dx[P->col[p]]) ? 0 : P->val[p], k->shifted[at] = val[at], at++;
        }
        val[at] = fixed ? 1 : diagonal + dx[j];
        k->shifted[at] = fixed ? 1 : val[at] + rho;
        at++;
    }
    for (int64_t i = 0; i < k->m; i++) {
        const bool away = isinf(ds[i]);
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++, at++) k->shifted[at] = val[at] = away || isinf(dx[A->col[p]]) ? 0 : A->val[p];
        val[at] = away ? -1 : -ds[i];
        k->shifted[at] = away ? -1 : val[at] - delta;
        at++;
    }
    return hu_ldl_factor(k->ldl, k->shifted, k->sign, (hu_ldl_pivots){1e-14, 1e-7}, NULL, err);
}

/* What a fixed variable or an absent row has on the right is nothing. */
static void clear_absent(const kkt *k, const double *b, double *ret)
{
    for (int64_t j = 0; j < k->n; j++) ret[j] = isinf(k->dx[j]) ? 0 : b[j];
    for (int64_t i = 0; i < k->m; i++) ret[k->n + i] = isinf(k->ds[i]) ? 0 : b[k->n + i];
}

/* ---- dense ----------------------------------------------------------------------------------------------------------- */

static hu_status dense_new(kkt *k, hu_error *err)
{
    const int64_t n = k->n, m = k->m;
    if (hu_alloc(n, sizeof *k->free, "variables", (void **)&k->free, err) || hu_alloc(m, sizeof *k->border, "rows", (void **)&k->border, err) ||
        hu_alloc(m, sizeof *k->gram, "rows", (void **)&k->gram, err) || hu_alloc(n + m, sizeof *k->d, "pivots", (void **)&k->d, err) ||
        hu_alloc(n + m, sizeof *k->inverse, "pivots", (void **)&k->inverse, err) || hu_alloc(m, sizeof *k->weight, "weights", (void **)&k->weight, err))
        return err->status;
    return HU_OK;
}

static void sort_out(kkt *k)
{
    k->frees = k->borders = k->grams = 0;
    for (int64_t j = 0; j < k->n; j++)
        if (!isinf(k->dx[j])) k->free[k->frees++] = (int32_t)j;
    for (int64_t i = 0; i < k->m; i++) {
        if (isinf(k->ds[i])) continue;
        if (k->ds[i] == 0) k->border[k->borders++] = (int32_t)i;
        else k->gram[k->grams++] = (int32_t)i;
    }
}

/* Rows of A, less the fixed columns, as a dense row-major matrix; place: [n] of scratch. */
static void gather_rows(const kkt *k, const int32_t *row, int64_t count, double *ret, int32_t *place)
{
    const hu_csr *A = k->p->A;
    for (int64_t j = 0; j < k->n; j++) place[j] = -1;
    for (int64_t f = 0; f < k->frees; f++) place[k->free[f]] = (int32_t)f;
    for (int64_t r = 0; r < count; r++) {
        double *to = ret + r * k->frees;
        memset(to, 0, (size_t)k->frees * sizeof *to);
        for (int64_t p = A->row_ptr[row[r]]; p < A->row_ptr[row[r] + 1]; p++)
            if (place[A->col[p]] >= 0) to[place[A->col[p]]] = A->val[p];
    }
}

/* Sums rows[0..count-1] into the front's leading block, weighted. */
static hu_status add_gram(kkt *k, const int32_t *row, int64_t count, const double *weight, int64_t ld, hu_error *err)
{
    enum { CHUNK = 1024 }; /* rows at a time */
    int64_t need;
    const int64_t chunk = count < CHUNK ? count : CHUNK;
    if (!hu_mul_size(2 * chunk, k->frees, &need)) return hu_fail(err, HU_SYSTEM, "a dense system is more than memory can address");
    if (need > k->rows_room) {
        hu_free(k->rows);
        k->rows = NULL;
        k->rows_room = 0;
        if (hu_alloc(need, sizeof *k->rows, "dense rows", (void **)&k->rows, err)) return err->status;
        k->rows_room = need;
    }
    for (int64_t from = 0; from < count; from += CHUNK) {
        const int64_t now = count - from < CHUNK ? count - from : CHUNK;
        gather_rows(k, row + from, now, k->rows, (int32_t *)k->work);
        hu_dense_gram(k->frees, now, 1.0, k->rows, k->frees, weight + from, k->front, ld, k->rows + now * k->frees);
    }
    return HU_OK;
}

static hu_status fill_front(kkt *k, double rho, double delta, hu_error *err)
{
    const hu_csr *P = k->p->P, *A = k->p->A;
    const int64_t ld = k->frees + k->borders;
    int32_t *place = (int32_t *)k->work;
    for (int64_t c = 0; c < ld; c++) memset(k->front + c * ld + c, 0, (size_t)(ld - c) * sizeof *k->front);
    if (k->grams) {
        for (int64_t g = 0; g < k->grams; g++) k->weight[g] = 1.0 / (k->ds[k->gram[g]] + delta);
        if (add_gram(k, k->gram, k->grams, k->weight, ld, err)) return err->status;
    }
    if (k->gamma > 0) {
        for (int64_t b = 0; b < k->borders; b++) k->weight[b] = k->gamma;
        if (add_gram(k, k->border, k->borders, k->weight, ld, err)) return err->status;
    }
    for (int64_t j = 0; j < k->n; j++) place[j] = -1;
    for (int64_t f = 0; f < k->frees; f++) place[k->free[f]] = (int32_t)f;
    for (int64_t f = 0; f < k->frees; f++) {
        const int64_t j = k->free[f];
        for (int64_t p = P->row_ptr[j]; p < P->row_ptr[j + 1]; p++) {
            const int64_t g = place[P->col[p]];
            if (g >= 0 && g <= f) k->front[g * ld + f] += P->val[p];
        }
        k->front[f * ld + f] += k->dx[j] + rho;
        k->sign[f] = 1;
    }
    for (int64_t b = 0; b < k->borders; b++) {
        const int64_t i = k->border[b], r = k->frees + b;
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++)
            if (place[A->col[p]] >= 0) k->front[(int64_t)place[A->col[p]] * ld + r] = A->val[p];
        k->front[r * ld + r] = -delta;
        k->sign[r] = -1;
    }
    return HU_OK;
}

/* Whether a pivot of P's part was replaced or is next to nothing: then P alone is not definite enough. */
static bool is_weak(const kkt *k, int64_t replaced)
{
    double most = 0, least = INFINITY;
    for (int64_t f = 0; f < k->frees; f++) {
        most = fmax(most, fabs(k->d[f]));
        least = fmin(least, fabs(k->d[f]));
    }
    return replaced > 0 || least < 1e-8 * most;
}

static double largest_entry(const hu_csr *a)
{
    double most = 0;
    for (int64_t p = 0; p < a->nnz; p++) most = fmax(most, fabs(a->val[p]));
    return most;
}

static hu_status dense_factor(kkt *k, double rho, double delta, hu_error *err)
{
    int64_t count;
    sort_out(k);
    const int64_t ld = k->frees + k->borders;
    if (!hu_mul_size(ld, ld, &count)) return hu_fail(err, HU_SYSTEM, "a dense system of %lld rows is more than memory can address", (long long)ld);
    if (count > k->front_room) {
        hu_free(k->front);
        hu_free(k->dense_work);
        k->front = k->dense_work = NULL;
        k->front_room = 0;
        if (hu_alloc(count, sizeof *k->front, "a dense system", (void **)&k->front, err) ||
            hu_alloc(hu_dense_ldl_work(ld), sizeof *k->dense_work, "a dense system", (void **)&k->dense_work, err))
            return err->status;
        k->front_room = count;
    }
    k->gamma = 0;
    k->delta = delta;
    for (int attempt = 0; attempt < 2; attempt++) {
        int64_t replaced = 0;
        if (fill_front(k, rho, delta, err)) return err->status;
        hu_dense_ldl(k->front, ld, ld, ld, k->sign, (hu_ldl_pivots){1e-14, 1e-7}, k->d, k->inverse, k->dense_work, &replaced);
        if (attempt || k->grams || !k->borders || !is_weak(k, replaced)) break;
        /* [P + gamma A'A, A'; A, 0] has the same solution for b1 + gamma A' b2, and its first block is definite where the system is regular */
        const double a = largest_entry(k->p->A);
        k->gamma = a > 0 ? fmax(1.0, largest_entry(k->p->P)) / (a * a) : 0;
        if (k->gamma == 0) break;
    }
    return HU_OK;
}

static void dense_apply(kkt *k, double *x)
{
    const int64_t ld = k->frees + k->borders, n = k->n;
    const hu_csr *A = k->p->A;
    double *full = k->work + 3 * (n + k->m), *v = full + n; /* [n], [n + m] */
    memcpy(full, x, (size_t)n * sizeof *full);
    for (int64_t g = 0; g < k->grams; g++) {
        const int64_t i = k->gram[g];
        const double y = x[n + i] / (k->ds[i] + k->delta);
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) full[A->col[p]] += A->val[p] * y;
    }
    for (int64_t b = 0; b < k->borders && k->gamma > 0; b++) {
        const int64_t i = k->border[b];
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) full[A->col[p]] += A->val[p] * k->gamma * x[n + i];
    }
    for (int64_t f = 0; f < k->frees; f++) v[f] = full[k->free[f]];
    for (int64_t b = 0; b < k->borders; b++) v[k->frees + b] = x[n + k->border[b]];
    hu_dense_ldl_forward(k->front, ld, ld, v, ld, 1);
    for (int64_t r = 0; r < ld; r++) v[r] *= k->inverse[r];
    hu_dense_ldl_backward(k->front, ld, ld, v, ld, 1);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int64_t f = 0; f < k->frees; f++) x[k->free[f]] = v[f];
    for (int64_t g = 0; g < k->grams; g++) {
        const int64_t i = k->gram[g];
        double sum = 0;
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) sum += A->val[p] * x[A->col[p]];
        x[n + i] = (sum - x[n + i]) / (k->ds[i] + k->delta);
    }
    for (int64_t b = 0; b < k->borders; b++) x[n + k->border[b]] = v[k->frees + b];
}

/* r = b - K x, and its componentwise size. */
static double dense_residual(kkt *k, const double *b, const double *x, double *r, double *ret_norm)
{
    const hu_csr *P = k->p->P, *A = k->p->A;
    const int64_t n = k->n;
    double *scale = k->work + 2 * (n + k->m);
#pragma omp parallel for schedule(static) if (P->nnz > 1 << 20)
    for (int64_t j = 0; j < n; j++) {
        double sum = 0, size = 0;
        if (!isinf(k->dx[j])) {
            for (int64_t p = P->row_ptr[j]; p < P->row_ptr[j + 1]; p++) {
                const double term = P->val[p] * x[P->col[p]];
                sum += term;
                size += fabs(term);
            }
            sum += k->dx[j] * x[j];
            size += fabs(k->dx[j] * x[j]);
        }
        r[j] = b[j] - sum;
        scale[j] = fabs(b[j]) + size;
    }
    for (int64_t i = 0; i < k->m; i++) {
        double sum = 0, size = 0;
        r[n + i] = b[n + i];
        scale[n + i] = fabs(b[n + i]);
        if (isinf(k->ds[i])) continue;
        const double y = x[n + i];
        for (int64_t p = A->row_ptr[i]; p < A->row_ptr[i + 1]; p++) {
            const int64_t j = A->col[p];
            const double term = A->val[p] * x[j], back = A->val[p] * y;
            sum += term;
            size += fabs(term);
            r[j] -= back;
            scale[j] += fabs(back);
        }
        r[n + i] -= sum - k->ds[i] * y;
        scale[n + i] += size + fabs(k->ds[i] * y);
    }
    for (int64_t j = 0; j < n; j++)
        if (isinf(k->dx[j])) r[j] = 0;
    return hu_backward_error(r, scale, n + k->m, ret_norm);
}

static void dense_solve(kkt *k, const double *b, double *x, int most, double *ret_residual)
{
    const int64_t count = k->n + k->m;
    double *r = k->work, *best = k->work + count;
    hu_refinement state = HU_REFINEMENT;
    memcpy(x, b, (size_t)count * sizeof *x);
    dense_apply(k, x);
    for (int step = 0;; step++) {
        double norm;
        const double error = dense_residual(k, b, x, r, &norm);
        if (!hu_refinement_goes_on(&state, error, norm, x, best, count) || step == most) break;
        dense_apply(k, r);
        for (int64_t c = 0; c < count; c++) x[c] += r[c];
    }
    *ret_residual = state.error;
    if (isnan(state.error)) memset(x, 0, (size_t)count * sizeof *x);
    else memcpy(x, best, (size_t)count * sizeof *best);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------------- */

static bool is_dense(const qp_problem *p)
{
    const double all = (double)p->n * (double)p->n + 2.0 * (double)p->n * (double)p->m;
    return (double)p->P->nnz + 2.0 * (double)p->A->nnz > 0.2 * all;
}

hu_status kkt_new(const qp_problem *p, kkt_path path, kkt **ret_kkt, hu_error *err)
{
    kkt *k;
    int64_t count;
    *ret_kkt = NULL;
    if (!hu_add_size(p->n, p->m, &count) || count > HU_MAX_DIMENSION)
        return hu_fail(err, HU_INPUT, "%lld variables and %lld rows are more than this program can take", (long long)p->n, (long long)p->m);
    if (hu_alloc_zero(1, sizeof *k, "a system", (void **)&k, err)) return err->status;
    k->p = p;
    k->n = p->n;
    k->m = p->m;
    k->dense = path == KKT_DENSE || (path == KKT_AUTO && is_dense(p));
    if (hu_alloc_zero(6 * count, sizeof *k->work, "a system", (void **)&k->work, err) || hu_alloc(count, 1, "signs", (void **)&k->sign, err) ||
        hu_alloc_zero(k->n, sizeof *k->dx, "a system", (void **)&k->dx, err) || hu_alloc_zero(k->m, sizeof *k->ds, "a system", (void **)&k->ds, err))
        goto failed;
    for (int64_t c = 0; c < count; c++) k->sign[c] = c < k->n ? 1 : -1;
    if (k->dense ? dense_new(k, err) : sparse_new(k, err)) goto failed;
    *ret_kkt = k;
    return HU_OK;
failed:
    kkt_free(k);
    return err->status;
}

void kkt_free(kkt *k)
{
    if (!k) return;
    hu_csr_free(k->lower);
    hu_ldl_free(k->ldl);
    void *const blocks[] = {k->work, k->sign, k->shifted, k->dx, k->ds, k->free, k->border, k->gram, k->front, k->d, k->inverse, k->dense_work, k->rows, k->weight};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) hu_free(blocks[b]);
    hu_free(k);
}

hu_status kkt_factor(kkt *k, const double *dx, const double *ds, double rho, double delta, hu_error *err)
{
    memcpy(k->dx, dx, (size_t)k->n * sizeof *dx);
    memcpy(k->ds, ds, (size_t)k->m * sizeof *ds);
    k->factors++;
    return k->dense ? dense_factor(k, rho, delta, err) : sparse_factor(k, dx, ds, rho, delta, err);
}

hu_status kkt_solve(kkt *k, const double *b, double *ret_x, int most, double *ret_residual, hu_error *err)
{
    double *clean = k->work + 5 * (k->n + k->m);
    clear_absent(k, b, clean);
    if (!k->dense) return hu_ldl_solve_refined(k->ldl, k->lower, clean, ret_x, most, k->work, ret_residual, err);
    dense_solve(k, clean, ret_x, most, ret_residual);
    return HU_OK;
}

bool kkt_is_dense(const kkt *k)
{
    return k->dense;
}

double kkt_entries(const kkt *k)
{
    if (k->dense) return 0.5 * (double)(k->frees + k->borders) * (double)(k->frees + k->borders + 1);
    return (double)hu_ldl_facts_of(k->ldl).stored;
}

int64_t kkt_factors(const kkt *k)
{
    return k->factors;
}
