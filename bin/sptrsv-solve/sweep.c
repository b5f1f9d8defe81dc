/* sweep.c: symmetric Gauss-Seidel as triangular solves.
 *
 * Sections: making, the pass between two solves, sweeps.
 */
#include "config.h"
#include "sweep.h"
#include "survey.h"
#include "base/memory.h"

enum { SPTRSV_SMALL = 8192 }; /* rows that one thread works as fast as many */

struct sptrsv_symgs {
    const hu_csr *matrix;
    sptrsv_system *lower, *upper; /* L + D and D + U, both views of the matrix */
    sptrsv_plan *forward, *backward;
    double *right; /* [n] right-hand side of the solve at hand */
};

/* ---- making ----------------------------------------------------------------------------------------------------- */

static hu_status plan_half(const hu_csr *a, hu_uplo uplo, const char *name, const sptrsv_scheme *opt_scheme, int threads,
                           sptrsv_system **ret_system, sptrsv_plan **ret_plan, hu_error *err)
{
    const sptrsv_problem problem = {uplo, SPTRSV_PLAIN, false, true};
    sptrsv_scheme scheme;
    if (sptrsv_system_new(a, &problem, name, ret_system, err)) return err->status;
    if (opt_scheme) scheme = *opt_scheme;
    else if (sptrsv_scheme_by_rule(*ret_system, threads, true, &scheme, err)) return err->status;
    return sptrsv_plan_new(*ret_system, &scheme, SPTRSV_F64, threads, ret_plan, err);
}

hu_status sptrsv_symgs_new(const hu_csr *a, const char *name, const sptrsv_scheme *opt_scheme, int threads,
                           sptrsv_symgs **ret_symgs, hu_error *err)
{
    void *block;
    *ret_symgs = NULL;
    if (hu_alloc_zero(1, sizeof(sptrsv_symgs), "the sweeps", &block, err)) return err->status;
    sptrsv_symgs *g = block;
    g->matrix = a;
    if (plan_half(a, HU_LOWER, name, opt_scheme, threads, &g->lower, &g->forward, err) ||
        plan_half(a, HU_UPPER, name, opt_scheme, threads, &g->upper, &g->backward, err) ||
        hu_alloc(a->rows, (a->is_complex ? 2 : 1) * sizeof(double), "the sweeps' right-hand side", &block, err)) {
        sptrsv_symgs_free(g);
        return err->status;
    }
    g->right = block;
    *ret_symgs = g;
    return HU_OK;
}

void sptrsv_symgs_free(sptrsv_symgs *g)
{
    if (!g) return;
    sptrsv_plan_free(g->forward);
    sptrsv_plan_free(g->backward);
    sptrsv_system_free(g->lower);
    sptrsv_system_free(g->upper);
    hu_free(g->right);
    hu_free(g);
}

/* ---- the pass between two solves -------------------------------------------------------------------------------- */

/* right_i = (b_i - right_i) + d_i x_i: what the other half needs, since the half just solved has (half) x = right - D x.
 * opt_b NULL: b = right, as after the first solve from 0. */
static void turn(sptrsv_symgs *g, const double *opt_b, const double *x)
{
    const double *val = g->matrix->val;
    const int64_t *diagonal = g->lower->diagonal;
    double *f = g->right;
    if (!g->matrix->is_complex) {
#pragma omp parallel for schedule(static) if (g->lower->n > SPTRSV_SMALL)
        for (int64_t i = 0; i < g->lower->n; i++) f[i] = (opt_b ? opt_b[i] - f[i] : 0) + val[diagonal[i]] * x[i];
        return;
    }
#pragma omp parallel for schedule(static) if (g->lower->n > SPTRSV_SMALL)
    for (int64_t i = 0; i < g->lower->n; i++) {
        const double *d = val + 2 * diagonal[i], *xi = x + 2 * i;
        f[2 * i] = (opt_b ? opt_b[2 * i] - f[2 * i] : 0) + (d[0] * xi[0] - d[1] * xi[1]);
        f[2 * i + 1] = (opt_b ? opt_b[2 * i + 1] - f[2 * i + 1] : 0) + (d[0] * xi[1] + d[1] * xi[0]);
    }
}

/* right = b - U x, U strictly upper. */
static void start_from(sptrsv_symgs *g, const double *b, const double *x)
{
    const sptrsv_system *u = g->upper;
    const int32_t *col = g->matrix->col;
    const double *val = g->matrix->val;
#pragma omp parallel for schedule(static) if (g->lower->n > SPTRSV_SMALL)
    for (int64_t i = 0; i < u->n; i++) {
        double re = g->matrix->is_complex ? b[2 * i] : b[i], im = g->matrix->is_complex ? b[2 * i + 1] : 0;
        for (int64_t k = 0, p = u->first[i]; k < u->count[i]; k++, p += u->stride) {
            if (!g->matrix->is_complex) {
                re -= val[p] * x[col[p]];
                continue;
            }
            const double *t = val + 2 * p, *xj = x + 2 * (int64_t)col[p];
            re -= t[0] * xj[0] - t[1] * xj[1];
            im -= t[0] * xj[1] + t[1] * xj[0];
        }
        if (!g->matrix->is_complex) {
            g->right[i] = re;
        } else {
            g->right[2 * i] = re;
            g->right[2 * i + 1] = im;
        }
    }
}

/* ---- sweeps ----------------------------------------------------------------------------------------------------- */

void sptrsv_symgs_apply(sptrsv_symgs *g, int sweeps, bool from_zero, const double *b, double *x)
{
    if (from_zero) {
        sptrsv_solve(g->forward, b, x);
        turn(g, NULL, x);
    } else {
        start_from(g, b, x);
        sptrsv_solve(g->forward, g->right, x);
        turn(g, b, x);
    }
    sptrsv_solve(g->backward, g->right, x);
    for (int sweep = 1; sweep < sweeps; sweep++) {
        turn(g, b, x);
        sptrsv_solve(g->forward, g->right, x);
        turn(g, b, x);
        sptrsv_solve(g->backward, g->right, x);
    }
}
