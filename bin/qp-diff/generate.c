/* generate.c: problems of known kinds.
 *
 * Sections: matrices, the kinds.
 */
#include "config.h"
#include "generate.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

const char *const generate_names[GENERATE_KINDS] = {"bpqp", "kkt", "portfolio", "random"};

enum { STREAM_P = 1, STREAM_A, STREAM_Q, STREAM_X, STREAM_SIDES };

/* ---- matrices ----------------------------------------------------------------------------------------------------------- */

/* rows x cols, each entry there with that probability: uniform in [0, 1) or normal. */
static hu_status draw(int64_t rows, int64_t cols, double density, bool normal, hu_random *r, hu_csr **ret, hu_error *err)
{
    hu_coo *e;
    int64_t count;
    if (!hu_mul_size(rows, cols, &count)) return hu_fail(err, HU_USAGE, "%lld x %lld entries are too many", (long long)rows, (long long)cols);
    const int64_t room = density >= 1 ? count : (int64_t)(density * (double)count + 8 * sqrt((double)count) + 16);
    if (hu_coo_new(rows, cols, room, false, &e, err)) return err->status;
    e->nnz = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            if (density < 1 && hu_random_uniform(r) >= density) continue;
            if (e->nnz == room) break;
            e->row[e->nnz] = (int32_t)i;
            e->col[e->nnz] = (int32_t)j;
            e->val[e->nnz++] = normal ? hu_random_normal(r) : hu_random_uniform(r);
        }
    return hu_csr_from_coo(&e, HU_DUP_SUM, "random", ret, err);
}

/* B'B + shift I, both triangles. Row by row through a dense accumulator. */
static hu_status square(const hu_csr *B, double shift, hu_csr **ret, hu_error *err)
{
    const int64_t n = B->cols;
    hu_csr *T = NULL;
    double *sum = NULL;
    int32_t *seen = NULL;
    hu_coo *e = NULL;
    int64_t room = 0, used = 0;
    int32_t *rows = NULL, *cols = NULL;
    double *vals = NULL;
    int64_t rooms[3] = {0, 0, 0};
    if (hu_csr_transpose(B, false, &T, err) || hu_alloc_zero(n, sizeof *sum, "a product", (void **)&sum, err) || hu_alloc(n, sizeof *seen, "a product", (void **)&seen, err)) goto cleanup;
    for (int64_t j = 0; j < n; j++) seen[j] = -1;
    for (int32_t i = 0; i < n; i++) {
        seen[i] = i;
        sum[i] = shift;
        for (int64_t p = T->row_ptr[i]; p < T->row_ptr[i + 1]; p++)
            for (int64_t q = B->row_ptr[T->col[p]]; q < B->row_ptr[T->col[p] + 1]; q++) {
                const int32_t j = B->col[q];
                if (seen[j] != i) seen[j] = i, sum[j] = 0;
                sum[j] += T->val[p] * B->val[q];
            }
        for (int32_t j = 0; j < n; j++) {
            if (seen[j] != i) continue;
            room = used + 1;
            if (hu_grow((void **)&rows, &rooms[0], room, sizeof *rows, "a product", err) || hu_grow((void **)&cols, &rooms[1], room, sizeof *cols, "a product", err) ||
                hu_grow((void **)&vals, &rooms[2], room, sizeof *vals, "a product", err))
                goto cleanup;
            rows[used] = i;
            cols[used] = j;
            vals[used++] = sum[j];
        }
    }
    if (hu_coo_new(n, n, used, false, &e, err)) goto cleanup;
    memcpy(e->row, rows, (size_t)used * sizeof *rows);
    memcpy(e->col, cols, (size_t)used * sizeof *cols);
    memcpy(e->val, vals, (size_t)used * sizeof *vals);
    hu_csr_from_coo(&e, HU_DUP_SUM, "B'B", ret, err);
cleanup:
    hu_csr_free(T);
    hu_free(sum);
    hu_free(seen);
    hu_free(rows);
    hu_free(cols);
    hu_free(vals);
    return err->status;
}

/* Exactly symmetric: the lower triangle counts for both. */
static void symmetrise(hu_csr *P)
{
    for (int64_t i = 0; i < P->rows; i++)
        for (int64_t p = P->row_ptr[i]; p < P->row_ptr[i + 1] && P->col[p] < i; p++) {
            const int64_t j = P->col[p];
            int64_t from = P->row_ptr[j], to = P->row_ptr[j + 1];
            while (from < to) {
                const int64_t middle = from + (to - from) / 2;
                if (P->col[middle] < i) from = middle + 1;
                else to = middle;
            }
            P->val[from] = P->val[p];
        }
}

static hu_status definite(int64_t rows, int64_t n, double density, bool normal, double shift, uint64_t seed, hu_csr **ret, hu_error *err)
{
    hu_csr *B = NULL;
    hu_random r = hu_random_stream(seed, STREAM_P);
    if (draw(rows, n, density, normal, &r, &B, err) == HU_OK && square(B, shift, ret, err) == HU_OK) symmetrise(*ret);
    hu_csr_free(B);
    return err->status;
}

/* ---- the kinds ------------------------------------------------------------------------------------------------------------ */

static hu_status make(hu_csr *P, hu_csr *A, int64_t n, generated *ret, hu_error *err)
{
    return qp_new(P, A, n, &ret->p, err);
}

static hu_status make_bpqp(const generate_options *o, generated *ret, hu_error *err)
{
    const int64_t n = o->n, half = n / 5;
    hu_csr *P = NULL, *A = NULL;
    double *z;
    hu_random a = hu_random_stream(o->seed, STREAM_A), q = hu_random_stream(o->seed, STREAM_Q);
    if (definite(n, n, 1, false, 1e-3, o->seed, &P, err) || draw(2 * half, n, 1, false, &a, &A, err)) {
        hu_csr_free(P);
        return err->status;
    }
    if (make(P, A, n, ret, err) || hu_alloc(n, sizeof *z, "a point", (void **)&z, err)) return err->status;
    for (int64_t j = 0; j < n; j++) ret->p->q[j] = hu_random_uniform(&q);
    for (int64_t j = 0; j < n; j++) z[j] = hu_random_uniform(&q);
    qp_multiply(A, z, ret->p->u);
    for (int64_t i = 0; i < half; i++) ret->p->l[i] = ret->p->u[i] = hu_random_uniform(&q);
    hu_free(z);
    return HU_OK;
}

/* One inequality with its multiplier: v is where it is to stand. */
static double choose_side(hu_random *r, double active, double v, double *lo, double *hi)
{
    const bool in_force = hu_random_uniform(r) < active, upper = hu_random_uniform(r) < 0.5, both = hu_random_uniform(r) < 0.5;
    const double gap = 0.1 + hu_random_uniform(r), other = 0.1 + hu_random_uniform(r), w = 0.1 + hu_random_uniform(r);
    *hi = upper || both ? v + (in_force && upper ? 0 : gap) : INFINITY;
    *lo = !upper || both ? v - (in_force && !upper ? 0 : other) : -INFINITY;
    return !in_force ? 0 : upper ? w : -w;
}

static hu_status make_kkt(const generate_options *o, generated *ret, hu_error *err)
{
    const int64_t n = o->n, m = o->m < 0 ? n / 2 : o->m;
    hu_csr *P = NULL, *A = NULL;
    double *work;
    hu_random a = hu_random_stream(o->seed, STREAM_A), r = hu_random_stream(o->seed, STREAM_X), side = hu_random_stream(o->seed, STREAM_SIDES);
    if (definite(n, n, o->density, true, 0.01, o->seed, &P, err) || draw(m, n, o->density, true, &a, &A, err)) {
        hu_csr_free(P);
        return err->status;
    }
    if (make(P, A, n, ret, err) || hu_alloc(n, sizeof *ret->x, "a solution", (void **)&ret->x, err) || hu_alloc(m, sizeof *ret->y, "a solution", (void **)&ret->y, err) ||
        hu_alloc(n + m, sizeof *work, "a solution", (void **)&work, err))
        return err->status;
    qp_problem *p = ret->p;
    for (int64_t j = 0; j < n; j++) ret->x[j] = hu_random_normal(&r);
    double *ax = work + n;
    qp_multiply(A, ret->x, ax);
    /* a row in eight is an equality; of the variables, a quarter of the rows' number at most goes to bounds in force, lest more be in force than there are variables */
    for (int64_t i = 0; i < m; i++) {
        if (hu_random_uniform(&side) < 0.125) {
            p->l[i] = p->u[i] = ax[i];
            ret->y[i] = hu_random_normal(&side);
        } else {
            ret->y[i] = choose_side(&side, o->active, ax[i], &p->l[i], &p->u[i]);
        }
    }
    qp_multiply(P, ret->x, work);
    qp_add_transposed(A, ret->y, work);
    for (int64_t j = 0; j < n; j++) {
        const double z = j % 2 ? choose_side(&side, o->active / 2, ret->x[j], &p->lb[j], &p->ub[j]) : 0;
        p->q[j] = -work[j] - z;
    }
    hu_free(work);
    return HU_OK;
}

static hu_status make_portfolio(const generate_options *o, generated *ret, hu_error *err)
{
    const int64_t n = o->n, k = o->k < 0 ? (n < 100 ? 1 : n / 100) : o->k;
    hu_csr *A = NULL;
    hu_random f = hu_random_stream(o->seed, STREAM_P), q = hu_random_stream(o->seed, STREAM_Q);
    if (draw(n, k, 0.5, true, &f, &ret->F, err) || hu_csr_new(1, n, n, false, &A, err)) return err->status;
    for (int64_t j = 0; j < n; j++) A->col[j] = (int32_t)j, A->val[j] = 1;
    A->row_ptr[1] = n;
    if (make(NULL, A, n, ret, err) || hu_alloc(n, sizeof *ret->d, "a diagonal", (void **)&ret->d, err)) return err->status;
    /* minimise x'Dx + |F'x|^2 - mu'x: twice that of 1/2 x'(D + FF')x */
    for (int64_t j = 0; j < n; j++) ret->d[j] = 2 * sqrt((double)k) * hu_random_uniform(&q);
    for (int64_t p = 0; p < ret->F->nnz; p++) ret->F->val[p] *= sqrt(2.0);
    for (int64_t j = 0; j < n; j++) ret->p->q[j] = -hu_random_normal(&q);
    for (int64_t j = 0; j < n; j++) ret->p->lb[j] = 0;
    ret->p->l[0] = ret->p->u[0] = 1;
    return HU_OK;
}

static hu_status make_random(const generate_options *o, generated *ret, hu_error *err)
{
    const int64_t n = o->n, m = o->m < 0 ? 10 * n : o->m;
    hu_csr *P = NULL, *A = NULL;
    hu_random a = hu_random_stream(o->seed, STREAM_A), q = hu_random_stream(o->seed, STREAM_Q);
    if (definite(n, n, 0.15, true, 0.01, o->seed, &P, err) || draw(m, n, 0.15, true, &a, &A, err)) {
        hu_csr_free(P);
        return err->status;
    }
    if (make(P, A, n, ret, err)) return err->status;
    for (int64_t j = 0; j < n; j++) ret->p->q[j] = hu_random_normal(&q);
    for (int64_t i = 0; i < m; i++) ret->p->l[i] = -hu_random_uniform(&q), ret->p->u[i] = hu_random_uniform(&q);
    return HU_OK;
}

hu_status generate_problem(const generate_options *o, generated *ret, hu_error *err)
{
    static hu_status (*const makers[])(const generate_options *, generated *, hu_error *) = {make_bpqp, make_kkt, make_portfolio, make_random};
    *ret = (generated){0};
    if (makers[o->kind](o, ret, err)) generated_free(ret);
    return err->status;
}

void generated_free(generated *g)
{
    qp_free(g->p);
    hu_csr_free(g->F);
    hu_free(g->x);
    hu_free(g->y);
    hu_free(g->d);
    *g = (generated){0};
}
