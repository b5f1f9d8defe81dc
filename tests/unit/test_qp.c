/* test_qp.c: quadratic programs whose solution was chosen first, their gradients against a long double elimination of the whole system with every row and bound in
 * force, and certificates multiplied out.
 */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "qp-diff/certify.h"
#include "qp-diff/generate.h"
#include "qp-diff/gradient.h"

#include <math.h>
#include <string.h>

static const kkt_path paths[] = {KKT_SPARSE, KKT_DENSE};

/* Gaussian elimination with partial pivoting; b becomes the solution. */
static void eliminate(long double *a, long double *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabsl(a[i * n + k]) > fabsl(a[best * n + k])) best = i;
        for (int64_t j = 0; j < n; j++) {
            long double t = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = t;
        }
        long double t = b[k];
        b[k] = b[best];
        b[best] = t;
        ck_assert(a[k * n + k] != 0);
        for (int64_t i = k + 1; i < n; i++) {
            const long double f = a[i * n + k] / a[k * n + k];
            if (f == 0) continue;
            for (int64_t j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

/* dx [n] and mu of rows and bounds in force, in the order bounds, rows, by the definition: every bound a row of its own. */
static void oracle(const gradient_point *g, const double *gx, const double *gy, double *dx, double *mu)
{
    const qp_problem *p = g->s->p;
    const int64_t n = p->n, m = p->m;
    int64_t count = n;
    int64_t *place = malloc((size_t)(n + m) * sizeof *place);
    for (int64_t k = 0; k < n + m; k++) place[k] = g->s->set->side[k] != SIDE_NONE ? count++ : -1;
    long double *a = calloc((size_t)(count * count), sizeof *a), *b = calloc((size_t)count, sizeof *b);
    for (int64_t i = 0; i < n; i++) {
        b[i] = gx ? -gx[i] : 0;
        for (int64_t e = p->P->row_ptr[i]; e < p->P->row_ptr[i + 1]; e++) a[i * count + p->P->col[e]] = p->P->val[e];
        if (place[i] >= 0) a[place[i] * count + i] = a[i * count + place[i]] = 1;
    }
    for (int64_t i = 0; i < m; i++) {
        const int64_t r = place[n + i];
        if (r < 0) continue;
        b[r] = gy ? -gy[i] : 0;
        for (int64_t e = p->A->row_ptr[i]; e < p->A->row_ptr[i + 1]; e++) a[r * count + p->A->col[e]] = a[p->A->col[e] * count + r] = p->A->val[e];
    }
    eliminate(a, b, count);
    for (int64_t j = 0; j < n; j++) dx[j] = (double)b[j];
    for (int64_t k = 0; k < n + m; k++) mu[k] = place[k] >= 0 ? (double)b[place[k]] : 0;
    free(place), free(a), free(b);
}

/* Relative to the whole; where all is rounding of zero, to 1e-15. */
static void near(const double *got, const double *want, int64_t n, const char *what)
{
    double off = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        off += (got[i] - want[i]) * (got[i] - want[i]);
        size += want[i] * want[i];
    }
    ck_assert_msg(sqrt(off) <= 1e-9 * fmax(sqrt(size), 1e-6), "%s: %g of %g", what, sqrt(off), sqrt(size));
}

START_TEST(solutions_and_gradients)
{
    const struct { int64_t n, m; double density; } cases[] = {{1, 0, 1}, {3, 2, 1}, {10, 5, 1}, {60, 40, 1}, {90, 60, 0.05}, {150, 40, 0.02}};
    hu_error err = HU_ERROR_NONE;
    int dependent = 0;
    for (int c = 0; c < 6; c++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            for (int path = 0; path < 2; path++) {
                const generate_options o = {GENERATE_KKT, cases[c].n, cases[c].m, -1, 0.5, cases[c].density, seed};
                solve_options options = SOLVE_DEFAULTS;
                generated g;
                solution *s;
                gradient_point *point;
                options.path = paths[path];
                ck_assert_ok(generate_problem(&o, &g, &err));
                ck_assert_ok(solve_problem(g.p, &options, &s, &err));
                ck_assert(s->certified && s->quality.residual < 1e-13);
                near(s->x, g.x, g.p->n, "x");
                ck_assert_ok(gradient_point_new(s, 1e-9, &point, &err));
                ck_assert_ok(gradient_factor(point, DEGENERATE_EXCLUDE, &err));
                if (point->deficit > 0) { /* a sparse row may lie in the space of the bounds in force: y is another then, and the oracle singular */
                    dependent++;
                    gradient_point_free(point);
                    solve_free(s);
                    generated_free(&g);
                    continue;
                }
                near(s->y, g.y, g.p->m, "y");
                const int64_t n = g.p->n, m = g.p->m;
                double *v = calloc((size_t)(6 * n + 6 * m), sizeof *v), *gx = v, *gy = v + n, *dx = gy + m, *mu = dx + n, *own = mu + n + m;
                gradient_adjoint adjoint = {own, own + n, own + n + m, 0};
                for (int64_t j = 0; j < n; j++) gx[j] = (double)(j % 5) - 1.5;
                for (int64_t i = 0; i < m; i++) gy[i] = (double)(i % 3) - 0.5;
                for (int kind = 0; kind < 3; kind++) {
                    const double *x = kind != 1 ? gx : NULL, *y = kind != 0 ? gy : NULL;
                    if (kind == 1 && point->rows == 0) continue; /* y does not move: all is zero */
                    ck_assert_ok(gradient_seed(point, x, y, &adjoint, &err));
                    oracle(point, x, y, dx, mu);
                    near(adjoint.dx, dx, n, "dx");
                    near(adjoint.mub, mu, n, "multipliers of bounds");
                    near(adjoint.mu, mu + n, m, "multipliers of rows");
                }
                free(v);
                gradient_point_free(point);
                solve_free(s);
                generated_free(&g);
            }
    ck_assert_int_le(dependent, 12); /* of 48 */
}
END_TEST

/* The same bits for any number of threads, and in every run. */
START_TEST(same_bits)
{
    hu_error err = HU_ERROR_NONE;
    const generate_options o = {GENERATE_KKT, 500, 260, -1, 0.5, 1, 3};
    const solve_options options = SOLVE_DEFAULTS;
    generated g;
    double *first = NULL;
    ck_assert_ok(generate_problem(&o, &g, &err));
    for (int threads = 1; threads <= 4; threads += 3) {
        solution *s;
        hu_threads_set(threads);
        ck_assert_ok(solve_problem(g.p, &options, &s, &err));
        if (!first) {
            first = malloc((size_t)g.p->n * sizeof *first);
            memcpy(first, s->x, (size_t)g.p->n * sizeof *first);
        }
        ck_assert_int_eq(memcmp(first, s->x, (size_t)g.p->n * sizeof *first), 0);
        solve_free(s);
    }
    free(first);
    generated_free(&g);
}
END_TEST

/* A row that contradicts the solution chosen: the certificate is multiplied out in long double. */
START_TEST(infeasible)
{
    hu_error err = HU_ERROR_NONE;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int path = 0; path < 2; path++) {
            const generate_options o = {GENERATE_KKT, 30, 12, -1, 0.5, 1, seed};
            solve_options options = SOLVE_DEFAULTS;
            generated g;
            solution *s;
            options.path = paths[path];
            ck_assert_ok(generate_problem(&o, &g, &err));
            qp_problem *p = g.p;
            for (int64_t j = 0; j < 30; j++) p->lb[j] = -1, p->ub[j] = 1;
            double most = 0; /* that row 0 can reach within the box */
            for (int64_t e = p->A->row_ptr[0]; e < p->A->row_ptr[1]; e++) most += fabs(p->A->val[e]);
            p->l[0] = most + 0.5;
            p->u[0] = INFINITY;
            ck_assert_int_eq((int)solve_problem(p, &options, &s, &err), QP_INFEASIBLE);
            ck_assert(s->has_ray);
            long double sum = 0, worst = 0;
            for (int64_t j = 0; j < 30; j++) {
                long double column = s->z[j];
                for (int64_t i = 0; i < 12; i++)
                    for (int64_t e = p->A->row_ptr[i]; e < p->A->row_ptr[i + 1]; e++)
                        if (p->A->col[e] == j) column += (long double)p->A->val[e] * s->y[i];
                if (fabsl(column) > worst) worst = fabsl(column);
                sum += s->z[j] > 0 ? (long double)s->z[j] * p->ub[j] : (long double)s->z[j] * p->lb[j];
            }
            for (int64_t i = 0; i < 12; i++)
                if (s->y[i] != 0) sum += s->y[i] > 0 ? (long double)s->y[i] * p->u[i] : (long double)s->y[i] * p->l[i];
            ck_assert(sum < 0 && worst * 30 < -sum * 1e-6L);
            hu_error_clear(&err);
            solve_free(s);
            generated_free(&g);
        }
}
END_TEST

START_TEST(convexity)
{
    hu_error err = HU_ERROR_NONE;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (double density = 1; density > 0.01; density /= 20) {
            const generate_options o = {GENERATE_KKT, 80, 5, -1, 0.5, density, seed};
            generated g;
            bool convex;
            double least;
            ck_assert_ok(generate_problem(&o, &g, &err));
            ck_assert_ok(certify_convex(g.p, &convex, &least, &err));
            ck_assert(convex);
            for (int64_t e = g.p->P->row_ptr[7]; e < g.p->P->row_ptr[8]; e++)
                if (g.p->P->col[e] == 7) g.p->P->val[e] = -3; /* an eigenvalue at or below the diagonal's entry */
            ck_assert_ok(certify_convex(g.p, &convex, &least, &err));
            ck_assert(!convex && least <= -3 + 1e-12);
            generated_free(&g);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("qp");
    TCase *t = tcase_create("qp");
    tcase_add_test(t, solutions_and_gradients);
    tcase_add_test(t, same_bits);
    tcase_add_test(t, infeasible);
    tcase_add_test(t, convexity);
    suite_add_tcase(s, t);
    return hu_test_run(s);
}
