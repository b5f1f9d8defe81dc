/* krylov.c: conjugate gradients with the triangular solves as preconditioner.
 *
 * Sections: making, the preconditioner, vectors, the iteration.
 */
#include "config.h"
#include "krylov.h"
#include "factor.h"
#include "krylov_kernel.h"
#include "sweep.h"
#include "survey.h"
#include "base/clock.h"
#include "base/memory.h"
#include "dense/dense.h"
#include "dense/dense_kernel.h"

#include <math.h>
#include <string.h>

struct sptrsv_pcg {
    const hu_csr *matrix;
    sptrsv_preconditioner preconditioner;
    double tolerance;
    int64_t most_iterations, n;
    int threads;
    sptrsv_product *product;
    hu_csr *l, *u;
    sptrsv_system *forward_system, *backward_system;
    sptrsv_plan *forward, *backward;
    sptrsv_symgs *symgs;
    double *vectors;         /* all of the following */
    double *r, *z, *p, *q;   /* p has the margins that the product needs */
    double seconds_setup;
};

/* ---- making ----------------------------------------------------------------------------------------------------- */

/* Equal in pattern, and in values to about 2^-40 relative, since many a symmetric matrix was rounded on its way. */
static hu_status check_symmetric(const hu_csr *a, const char *name, bool *ret_to_the_bit, hu_error *err)
{
    hu_csr *t;
    int64_t odd = a->nnz;
    bool equal = true;
    if (hu_csr_transpose(a, false, &t, err)) return err->status;
#pragma omp parallel for schedule(static) reduction(min : odd) reduction(&& : equal) if (a->rows > 2 * HU_SUM_BLOCK)
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const bool same_place = p < t->row_ptr[i + 1] && p >= t->row_ptr[i] && a->col[p] == t->col[p];
            const double difference = fabs(a->val[p] - t->val[p]);
            if (p < odd && !(same_place && difference <= 0x1p-40 * fabs(a->val[p]))) odd = p;
            equal = equal && difference == 0;
        }
    hu_csr_free(t);
    *ret_to_the_bit = equal && odd == a->nnz;
    if (odd == a->nnz) return HU_OK;
    int64_t row = 0;
    while (a->row_ptr[row + 1] <= odd) row++;
    return hu_fail(err, HU_INPUT, "%s: entry (%lld,%lld) has no equal across the diagonal; conjugate gradients need a symmetric matrix",
                   name, (long long)row + 1, (long long)a->col[odd] + 1);
}

static hu_status plan_triangle(const sptrsv_pcg *g, const hu_csr *t, const sptrsv_problem *problem, const sptrsv_scheme *opt_scheme,
                               const char *name, sptrsv_system **ret_system, sptrsv_plan **ret_plan, hu_error *err)
{
    sptrsv_scheme scheme;
    if (sptrsv_system_new(t, problem, name, ret_system, err)) return err->status;
    if (opt_scheme) scheme = *opt_scheme;
    else if (sptrsv_scheme_by_rule(*ret_system, g->threads, true, &scheme, err)) return err->status;
    return sptrsv_plan_new(*ret_system, &scheme, SPTRSV_F64, g->threads, ret_plan, err);
}

static hu_status make_preconditioner(sptrsv_pcg *g, const sptrsv_scheme *opt_scheme, const char *name, hu_error *err)
{
    const sptrsv_problem lower = {HU_LOWER, SPTRSV_PLAIN, false, false}, turned = {HU_LOWER, SPTRSV_TRANSPOSED, false, false};
    const sptrsv_problem unit_lower = {HU_LOWER, SPTRSV_PLAIN, true, false}, upper = {HU_UPPER, SPTRSV_PLAIN, false, false};
    switch (g->preconditioner) {
    case SPTRSV_PRE_IC0:
        if (sptrsv_ic0(g->matrix, name, &g->l, err) ||
            plan_triangle(g, g->l, &lower, opt_scheme, name, &g->forward_system, &g->forward, err))
            return err->status;
        return plan_triangle(g, g->l, &turned, opt_scheme, name, &g->backward_system, &g->backward, err);
    case SPTRSV_PRE_ILU0:
        if (sptrsv_ilu0(g->matrix, name, &g->l, &g->u, err) ||
            plan_triangle(g, g->l, &unit_lower, opt_scheme, name, &g->forward_system, &g->forward, err))
            return err->status;
        return plan_triangle(g, g->u, &upper, opt_scheme, name, &g->backward_system, &g->backward, err);
    case SPTRSV_PRE_SYMGS: return sptrsv_symgs_new(g->matrix, name, opt_scheme, g->threads, &g->symgs, err);
    default: return HU_OK;
    }
}

static hu_status make_vectors(sptrsv_pcg *g, hu_error *err)
{
    void *block;
    const int64_t margin = g->product->margin, room = g->n + 64;
    if (hu_alloc_zero(4 * room + 2 * margin, sizeof(double), "the iteration's vectors", &block, err)) return err->status;
    g->vectors = block;
    g->r = g->vectors;
    g->z = g->r + room;
    g->q = g->z + room;
    g->p = g->q + room + margin;
    return HU_OK;
}

hu_status sptrsv_pcg_new(const hu_csr *a, const sptrsv_pcg_options *options, const char *name, sptrsv_pcg **ret_pcg, hu_error *err)
{
    void *block;
    bool to_the_bit = false;
    const double start = hu_clock_wall();
    *ret_pcg = NULL;
    if (a->rows != a->cols)
        return hu_fail(err, HU_INPUT, "%s: the matrix is %lld x %lld; conjugate gradients need a square one", name, (long long)a->rows,
                       (long long)a->cols);
    if (a->is_complex) return hu_fail(err, HU_INPUT, "%s: conjugate gradients are for real matrices", name);
    if (check_symmetric(a, name, &to_the_bit, err)) return err->status;
    if (hu_alloc_zero(1, sizeof(sptrsv_pcg), "the iteration", &block, err)) return err->status;
    sptrsv_pcg *g = block;
    g->matrix = a;
    g->n = a->rows;
    g->preconditioner = options->preconditioner;
    g->tolerance = options->tolerance;
    g->most_iterations = options->most_iterations;
    g->threads = options->threads;
    if (sptrsv_product_new(a, to_the_bit, &g->product, err) || make_preconditioner(g, options->opt_scheme, name, err) ||
        make_vectors(g, err)) {
        sptrsv_pcg_free(g);
        return err->status;
    }
    g->seconds_setup = hu_clock_wall() - start;
    *ret_pcg = g;
    return HU_OK;
}

void sptrsv_pcg_free(sptrsv_pcg *g)
{
    if (!g) return;
    sptrsv_plan_free(g->forward);
    sptrsv_plan_free(g->backward);
    sptrsv_system_free(g->forward_system);
    sptrsv_system_free(g->backward_system);
    sptrsv_symgs_free(g->symgs);
    sptrsv_product_free(g->product);
    hu_csr_free(g->l);
    hu_csr_free(g->u);
    hu_free(g->vectors);
    hu_free(g);
}

/* ---- the preconditioner ----------------------------------------------------------------------------------------- */

/* z = M^-1 r; returns r where there is no preconditioner. */
static const double *precondition(sptrsv_pcg *g)
{
    if (g->symgs) {
        sptrsv_symgs_apply(g->symgs, 1, true, g->r, g->z);
    } else if (g->forward) {
        sptrsv_solve(g->forward, g->r, g->z);
        sptrsv_solve(g->backward, g->z, g->z);
    } else {
        return g->r;
    }
    return g->z;
}

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

static int64_t block_size(int64_t n, int64_t from)
{
    return n - from < HU_SUM_BLOCK ? n - from : HU_SUM_BLOCK;
}

/* x += alpha p; r -= alpha q; returns r'r. */
static double step(sptrsv_pcg *g, double alpha, double *x)
{
    enum { GROUP = 512 };
    const int64_t n = g->n, group = (int64_t)GROUP * HU_SUM_BLOCK;
    double total = 0;
    for (int64_t begin = 0; begin < n; begin += group) {
        double part[GROUP];
        const int64_t end = n - begin < group ? n : begin + group, blocks = (end - begin + HU_SUM_BLOCK - 1) / HU_SUM_BLOCK;
#pragma omp parallel for schedule(static) num_threads(g->threads) if (blocks > 2)
        for (int64_t k = 0; k < blocks; k++) {
            int64_t i = begin + k * HU_SUM_BLOCK;
            part[k] = HU_PICK(sptrsv_step)(block_size(n, i), alpha, g->p + i, g->q + i, x + i, g->r + i);
        }
        for (int64_t k = 0; k < blocks; k++) total += part[k];
    }
    return total;
}

/* p = z + beta p */
static void direct(sptrsv_pcg *g, double beta, const double *z)
{
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->n > 2 * HU_SUM_BLOCK)
    for (int64_t i = 0; i < g->n; i += HU_SUM_BLOCK) HU_PICK(sptrsv_direct)(block_size(g->n, i), beta, z + i, g->p + i);
}

static void scale(const sptrsv_pcg *g, double factor, const double *from, double *to)
{
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->n > 2 * HU_SUM_BLOCK)
    for (int64_t i = 0; i < g->n; i++) to[i] = factor * from[i];
}

/* ||b - A x|| of the scaled problem, by the product; uses p and q. */
static double residual_norm(sptrsv_pcg *g, double factor, const double *b, const double *x)
{
    memcpy(g->p, x, (size_t)g->n * sizeof *x);
    sptrsv_product_apply(g->product, g->threads, g->p, g->q);
#pragma omp parallel for schedule(static) num_threads(g->threads) if (g->n > 2 * HU_SUM_BLOCK)
    for (int64_t i = 0; i < g->n; i++) g->q[i] = factor * b[i] - g->q[i];
    return hu_norm2(g->q, g->n);
}

/* ---- the iteration ---------------------------------------------------------------------------------------------- */

/* Iterates from x = 0 and r = b (already set) until ||r|| <= goal; counts in *result. */
static hu_status iterate(sptrsv_pcg *g, double norm_b, double *x, sptrsv_pcg_result *result, hu_error *err)
{
    double rz = 0;
    result->residual = 1;
    while (!(result->residual <= g->tolerance)) {
        if (result->iterations == g->most_iterations)
            return hu_fail(err, HU_NO, "not converged after %lld iterations: the residual is %.3g of b, %.3g was asked",
                           (long long)result->iterations, result->residual, g->tolerance);
        const double *z = precondition(g);
        const double rz_before = rz;
        rz = hu_dot(g->r, z, g->n);
        if (rz == 0) /* the residual is so small that its square underflows: nothing more can be gained */
            return hu_fail(err, HU_NO, "not converged: after %lld iterations the residual is %.3g of b and cannot get smaller, %.3g was asked",
                           (long long)result->iterations, result->residual, g->tolerance);
        if (!(rz > 0 && isfinite(rz)))
            return hu_fail(err, HU_NO, "iteration %lld: r'z = %.3g is not positive and finite; the preconditioner is not positive definite",
                           (long long)result->iterations + 1, rz);
        direct(g, result->iterations ? rz / rz_before : 0, z);
        const double curvature = sptrsv_product_apply(g->product, g->threads, g->p, g->q);
        if (!(curvature > 0 && isfinite(curvature)))
            return hu_fail(err, HU_NO, "iteration %lld: p'Ap = %.3g is not positive and finite; the matrix is not positive definite",
                           (long long)result->iterations + 1, curvature);
        const double alpha = rz / curvature, rr = step(g, alpha, x);
        result->residual = sqrt(rr) / norm_b;
        result->iterations++;
    }
    return HU_OK;
}

hu_status sptrsv_pcg_solve(sptrsv_pcg *g, const double *b, double *x, sptrsv_pcg_result *ret_result, hu_error *err)
{
    const double start = hu_clock_wall(), norm = hu_norm2(b, g->n);
    *ret_result = (sptrsv_pcg_result){.seconds_setup = g->seconds_setup, .structured = g->product->diagonals > 0};
    if (!isfinite(norm)) return hu_fail(err, HU_INPUT, "b has a value that is not finite");
    memset(x, 0, (size_t)g->n * sizeof *x);
    if (norm == 0) return HU_OK;
    /* b is brought near 1 by a power of two, so that no square leaves the range; every number is the same but for its exponent. */
    int exponent;
    frexp(norm, &exponent);
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    const double down = ldexp(1, -exponent), up = ldexp(1, exponent);
    scale(g, down, b, g->r);
    memset(g->p, 0, (size_t)g->n * sizeof *g->p);
    iterate(g, norm * down, x, ret_result, err);
    ret_result->seconds = hu_clock_wall() - start;
    ret_result->true_residual = residual_norm(g, down, b, x) / (norm * down);
    scale(g, up, x, x);
    return err->status;
}
