/* certify.c: answers that prove themselves.
 *
 * Sections: infeasible, unbounded, convex.
 */
#include "config.h"
#include "certify.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/dense.h"
#include "sparse/ldl.h"

#include <math.h>
#include <string.h>

static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

/* ---- infeasible ----------------------------------------------------------------------------------------------------- */

/* Rows of one sign only where the other side has no bound; what the row adds to the support. */
static double support(double w, double low, double high, double *ret_size)
{
    if (w == 0) return 0;
    const double term = w > 0 ? w * high : w * low;
    *ret_size += fabs(term);
    return term;
}

bool certify_infeasible(const qp_problem *p, const double *y, double *ret_ray, hu_error *err)
{
    const int64_t n = p->n, m = p->m;
    double *z = ret_ray, *w = ret_ray + n, sum = 0, size = 0, left = 0, bounds = 1;
    const double scale = largest(y, m);
    (void)err;
    if (!(scale > 0) || !isfinite(scale)) return false;
    for (int64_t i = 0; i < m; i++) {
        w[i] = y[i] / scale;
        if ((w[i] > 0 && isinf(p->u[i])) || (w[i] < 0 && isinf(p->l[i]))) {
            if (fabs(w[i]) > 1e-6) return false;
            w[i] = 0; /* noise of the wrong sign */
        }
        if (fabs(w[i]) < 1e-12) w[i] = 0;
        sum += support(w[i], p->l[i], p->u[i], &size);
        if (w[i] != 0) bounds = fmax(bounds, fabs(w[i] > 0 ? p->u[i] : p->l[i]));
    }
    memset(z, 0, (size_t)n * sizeof *z);
    qp_add_transposed(p->A, w, z);
    for (int64_t j = 0; j < n; j++) {
        z[j] = -z[j];
        if ((z[j] > 0 && isinf(p->ub[j])) || (z[j] < 0 && isinf(p->lb[j]))) {
            left += fabs(z[j]);
            z[j] = 0;
            continue;
        }
        sum += support(z[j], p->lb[j], p->ub[j], &size);
        if (z[j] != 0) bounds = fmax(bounds, fabs(z[j] > 0 ? p->ub[j] : p->lb[j]));
    }
    /* 1e-14 of the terms is rounding; what is left over must not matter for any x of 1e8 times the bounds' size */
    return sum < -1e-13 * size && left * 1e8 * bounds <= -sum;
}

/* ---- unbounded ------------------------------------------------------------------------------------------------------- */

bool certify_unbounded(const qp_problem *p, const double *d, double *ret_ray, hu_error *err)
{
    const int64_t n = p->n, m = p->m;
    const double scale = largest(d, n);
    double *r = ret_ray, *work;
    if (!(scale > 0) || !isfinite(scale)) return false;
    for (int64_t j = 0; j < n; j++) {
        r[j] = d[j] / scale;
        if (fabs(r[j]) < 1e-9) r[j] = 0;
        if ((r[j] > 0 && isfinite(p->ub[j])) || (r[j] < 0 && isfinite(p->lb[j]))) return false;
    }
    const double slope = hu_dot(p->q, r, n), size = largest(p->q, n);
    if (!(slope < -1e-6 * size)) return false;
    if (hu_alloc(n + m, sizeof *work, "a ray", (void **)&work, err)) return false;
    double *const bend = work, *const ar = work + n;
    qp_multiply(p->P, r, bend);
    qp_multiply(p->A, r, ar);
    const double bent = largest(bend, n);
    qp_multiply_abs(p->P, r, bend);
    bool good = bent <= 1e-9 * -slope && bent <= 1e-7 * largest(bend, n); /* a P that is small beside q is no P that is zero */
    for (int64_t i = 0; i < m && good; i++)
        good = !(isfinite(p->u[i]) && ar[i] > 1e-9) && !(isfinite(p->l[i]) && ar[i] < -1e-9);
    hu_free(work);
    return good;
}

/* ---- convex ----------------------------------------------------------------------------------------------------------- */

/* The least eigenvalue of the k x k tridiagonal matrix of Lanczos, by bisection on the Sturm count. */
static double least_of_tridiagonal(const double *alpha, const double *beta, int k)
{
    double low = INFINITY, high = INFINITY;
    for (int i = 0; i < k; i++) {
        const double radius = (i > 0 ? fabs(beta[i - 1]) : 0) + (i < k - 1 ? fabs(beta[i]) : 0);
        low = fmin(low, alpha[i] - radius);
        high = fmin(high, alpha[i]);
    }
    for (int step = 0; step < 200 && high - low > 1e-15 * (fabs(low) + fabs(high)); step++) {
        const double middle = 0.5 * (low + high);
        int below = 0;
        double pivot = 1;
        for (int i = 0; i < k; i++) {
            pivot = alpha[i] - middle - (i > 0 ? beta[i - 1] * beta[i - 1] / pivot : 0);
            if (pivot == 0) pivot = -1e-300;
            below += pivot < 0;
        }
        if (below > 0) high = middle;
        else low = middle;
    }
    return high;
}

/* Lanczos with full reorthogonalisation. */
static hu_status least_eigenvalue(const hu_csr *P, double *ret_least, hu_error *err)
{
    enum { STEPS = 120 };
    const int64_t n = P->rows;
    const int most = n < STEPS ? (int)n : STEPS;
    double *v, alpha[STEPS], beta[STEPS];
    int k = 0;
    if (hu_alloc((most + 1) * n, sizeof *v, "Lanczos vectors", (void **)&v, err)) return err->status;
    hu_random r = hu_random_stream(1, 77);
    for (int64_t i = 0; i < n; i++) v[i] = hu_random_normal(&r);
    double norm = hu_norm2(v, n);
    for (int64_t i = 0; i < n; i++) v[i] /= norm;
    while (k < most) {
        double *const at = v + k * n, *const next = at + n;
        qp_multiply(P, at, next);
        alpha[k] = hu_dot(at, next, n);
        for (int again = 0; again < 2; again++)
            for (int j = 0; j <= k; j++) {
                const double overlap = hu_dot(v + j * n, next, n);
                for (int64_t i = 0; i < n; i++) next[i] -= overlap * v[j * n + i];
            }
        norm = beta[k] = hu_norm2(next, n);
        k++;
        if (norm < 1e-12 * (fabs(alpha[0]) + 1e-300)) break;
        for (int64_t i = 0; i < n; i++) next[i] /= norm;
    }
    *ret_least = k ? least_of_tridiagonal(alpha, beta, k) : 0;
    hu_free(v);
    return HU_OK;
}

/* P + shift by its entries in a dense front. */
static hu_status replaced_dense(const hu_csr *P, double shift, const int8_t *sign, int64_t *ret_replaced, hu_error *err)
{
    const int64_t n = P->rows;
    double *front = NULL, *work = NULL;
    if (hu_alloc_zero(n * n, sizeof *front, "P", (void **)&front, err) || hu_alloc(2 * n + hu_dense_ldl_work(n), sizeof *work, "P", (void **)&work, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t p = P->row_ptr[i]; p < P->row_ptr[i + 1] && P->col[p] <= i; p++) front[P->col[p] * n + i] = P->val[p];
        front[i * n + i] += shift;
    }
    hu_dense_ldl(front, n, n, n, sign, (hu_ldl_pivots){0, 1e300}, work, work + n, work + 2 * n, ret_replaced);
cleanup:
    hu_free(front);
    hu_free(work);
    return err->status;
}

static hu_status replaced_sparse(const hu_csr *P, double shift, const int8_t *sign, int64_t *ret_replaced, hu_error *err)
{
    hu_csr *lower = NULL, *whole = NULL;
    hu_ldl *f = NULL;
    hu_coo *e = NULL;
    const int64_t n = P->rows;
    int64_t at = 0;
    /* the diagonal must be in the pattern: it is added where it is not */
    if (hu_csr_triangle(P, HU_LOWER, false, &lower, err) || hu_coo_new(n, n, lower->nnz + n, false, &e, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = lower->row_ptr[i]; k < lower->row_ptr[i + 1]; k++, at++) e->row[at] = (int32_t)i, e->col[at] = lower->col[k], e->val[at] = lower->val[k];
        e->row[at] = e->col[at] = (int32_t)i;
        e->val[at++] = shift;
    }
    if (hu_csr_from_coo(&e, HU_DUP_SUM, "P", &whole, err) == HU_OK && hu_ldl_analyze(whole, NULL, HU_LDL_AUTO, &f, err) == HU_OK)
        hu_ldl_factor(f, whole->val, sign, (hu_ldl_pivots){0, 1e300}, ret_replaced, err);
cleanup:
    hu_coo_free(e);
    hu_csr_free(lower);
    hu_csr_free(whole);
    hu_ldl_free(f);
    return err->status;
}

/* P + shift has an L D L' with positive pivots only where P's eigenvalues are above -shift. */
hu_status certify_convex(const qp_problem *p, bool *ret_convex, double *ret_least, hu_error *err)
{
    const hu_csr *P = p->P;
    int8_t *sign;
    int64_t replaced = 0;
    double size = 0;
    *ret_convex = true;
    *ret_least = 0;
    for (int64_t i = 0; i < P->nnz; i++) size = fmax(size, fabs(P->val[i]));
    if (size == 0) return HU_OK;
    if (hu_alloc(p->n, 1, "signs", (void **)&sign, err)) return err->status;
    memset(sign, 1, (size_t)p->n);
    const bool dense = (double)P->nnz > 0.2 * (double)p->n * (double)p->n;
    dense ? replaced_dense(P, 1e-10 * size, sign, &replaced, err) : replaced_sparse(P, 1e-10 * size, sign, &replaced, err);
    hu_free(sign);
    if (err->status || replaced == 0) return err->status;
    if (least_eigenvalue(P, ret_least, err)) return err->status;
    *ret_convex = !(*ret_least <= -1e-11 * size); /* else a pivot of rounding, not of curvature */
    return HU_OK;
}
