/* bench_qp.c: qp-diff against itself and the published list. Bars:
 *
 *   further  another gradient against the first one, its factor included, dense and by factors
 *   T7   10 variables, 5 rows in process: solution and gradient within 50 us
 *   T10  P = diag(d) + FF' by its factors against the same P formed
 *   T11  problems of the Maros-Meszaros collection solved to a relative residual of 1e-8
 *
 * OSQP, qpth and the other solvers that differentiate are in no Debian package: their bars are skipped and say so.
 */
#include "config.h"
#include "bench.h"
#include "base/memory.h"
#include "generate.h"
#include "gradient.h"
#include "qps.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const qp_problem *p;
    const double *gx;
    gradient_point *point; /* kept factor, for further gradients */
} job;

static void must(hu_status status, const hu_error *err)
{
    if (status == HU_OK) return;
    fprintf(stderr, "bench_qp: %s\n", err->message);
    exit(status);
}

static double *ones(int64_t n)
{
    double *x = malloc((size_t)n * sizeof *x);
    for (int64_t j = 0; j < n; j++) x[j] = 1;
    return x;
}

static void further(side *s)
{
    const job *j = s->data;
    hu_error err = HU_ERROR_NONE;
    gradient_data d;
    double residual;
    must(gradient_data_new(j->p, false, false, &d, &err), &err);
    must(gradient_vjp(j->point, DEGENERATE_EXCLUDE, j->gx, NULL, &d, &residual, &err), &err);
    gradient_data_free(&d);
}

static void first(side *s)
{
    const job *j = s->data;
    hu_error err = HU_ERROR_NONE;
    must(gradient_factor(j->point, DEGENERATE_EXCLUDE, &err), &err);
    further(s);
}

static void whole(side *s)
{
    const job *j = s->data;
    const solve_options o = SOLVE_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    solution *solved;
    gradient_point *point;
    gradient_data d;
    double residual;
    must(solve_problem(j->p, &o, &solved, &err), &err);
    must(gradient_point_new(solved, 1e-9, &point, &err), &err);
    must(gradient_factor(point, DEGENERATE_EXCLUDE, &err), &err);
    must(gradient_data_new(j->p, true, true, &d, &err), &err);
    must(gradient_vjp(point, DEGENERATE_EXCLUDE, j->gx, NULL, &d, &residual, &err), &err);
    gradient_data_free(&d);
    gradient_point_free(point);
    solve_free(solved);
}

/* [A 0; F' -I], diag(d) and 1: the problem by factors; formed: P = diag(d) + FF' instead. */
static qp_problem *portfolio(int64_t n, int64_t k, bool formed)
{
    hu_error err = HU_ERROR_NONE;
    const generate_options o = {GENERATE_PORTFOLIO, n, -1, k, 0.5, 1, 1};
    generated g;
    qp_problem *p;
    hu_coo *P, *A = NULL;
    hu_csr *Pc, *Ac = NULL;
    must(generate_problem(&o, &g, &err), &err);
    const int64_t all = formed ? n : n + k;
    must(hu_coo_new(all, all, formed ? n * n : all, false, &P, &err), &err);
    P->nnz = 0;
    if (formed) {
        double *F = calloc((size_t)(n * k), sizeof *F);
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = g.F->row_ptr[i]; e < g.F->row_ptr[i + 1]; e++) F[i * k + g.F->col[e]] = g.F->val[e];
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = i == j ? g.d[i] : 0;
                for (int64_t c = 0; c < k; c++) sum += F[i * k + c] * F[j * k + c];
                P->row[P->nnz] = (int32_t)i, P->col[P->nnz] = (int32_t)j, P->val[P->nnz++] = sum;
            }
        free(F);
    } else {
        for (int64_t j = 0; j < all; j++) P->row[P->nnz] = P->col[P->nnz] = (int32_t)j, P->val[P->nnz++] = j < n ? g.d[j] : 1;
    }
    must(hu_csr_from_coo(&P, HU_DUP_SUM, "P", &Pc, &err), &err);
    must(hu_coo_new(formed ? 1 : 1 + k, all, n + (formed ? 0 : g.F->nnz + k), false, &A, &err), &err);
    A->nnz = 0;
    for (int64_t j = 0; j < n; j++) A->row[A->nnz] = 0, A->col[A->nnz] = (int32_t)j, A->val[A->nnz++] = 1;
    for (int64_t i = 0; i < n && !formed; i++)
        for (int64_t e = g.F->row_ptr[i]; e < g.F->row_ptr[i + 1]; e++) A->row[A->nnz] = 1 + g.F->col[e], A->col[A->nnz] = (int32_t)i, A->val[A->nnz++] = g.F->val[e];
    for (int64_t c = 0; c < k && !formed; c++) A->row[A->nnz] = (int32_t)(1 + c), A->col[A->nnz] = (int32_t)(n + c), A->val[A->nnz++] = -1;
    must(hu_csr_from_coo(&A, HU_DUP_SUM, "A", &Ac, &err), &err);
    must(qp_new(Pc, Ac, all, &p, &err), &err);
    memcpy(p->q, g.p->q, (size_t)n * sizeof *p->q);
    for (int64_t j = 0; j < n; j++) p->lb[j] = 0;
    for (int64_t i = 0; i < p->m; i++) p->l[i] = p->u[i] = i == 0;
    generated_free(&g);
    return p;
}

/* ---- the bars */

static void bar_further(bench *run, const char *name, qp_problem *p, double floor)
{
    hu_error err = HU_ERROR_NONE;
    const solve_options o = SOLVE_DEFAULTS;
    solution *s;
    job j = {p, ones(p->n), NULL};
    must(solve_problem(p, &o, &s, &err), &err);
    must(gradient_point_new(s, 1e-9, &j.point, &err), &err);
    must(gradient_factor(j.point, DEGENERATE_EXCLUDE, &err), &err);
    side sides[] = {{.name = "a further gradient", .data = &j, .work = further}, {.name = "factor and first gradient", .data = &j, .work = first}};
    bench_time(run, name, sides, 2, 3, INT64_MAX);
    bench_row(run, "further", name, 1e3 * sides[0].median, "ms", "the first gradient with its factor", 1e3 * sides[1].median, sides[1].median / sides[0].median, NAN, floor);
    gradient_point_free(j.point);
    solve_free(s);
    free((void *)(uintptr_t)j.gx);
}

static void bar_small(bench *run)
{
    hu_error err = HU_ERROR_NONE;
    const generate_options o = {GENERATE_KKT, 10, 5, -1, 0.5, 1, 1};
    generated g;
    must(generate_problem(&o, &g, &err), &err);
    job j = {g.p, ones(10), NULL};
    side s = {.name = "solution and gradient", .data = &j, .work = whole};
    bench_time(run, "10x5", &s, 1, 2, INT64_MAX);
    bench_row(run, "T7", "10x5 in process", 1e6 * s.median, "us", "the bar", 50, 50e-6 / s.median, NAN, 1);
    free((void *)(uintptr_t)j.gx);
    generated_free(&g);
}

static void bar_factors(bench *run)
{
    const int64_t n = run->quick ? 600 : 2000;
    qp_problem *by_factors = portfolio(n, 10, false), *formed = portfolio(n, 10, true);
    job a = {by_factors, ones(by_factors->n), NULL}, b = {formed, ones(n), NULL};
    char name[40];
    snprintf(name, sizeof name, "n=%d k=10", (int)n);
    side sides[] = {{.name = "by factors", .data = &a, .work = whole}, {.name = "P formed", .data = &b, .work = whole}};
    bench_time(run, name, sides, 2, 20, INT64_MAX);
    bench_row(run, "T10", name, 1e3 * sides[0].median, "ms", "P formed", 1e3 * sides[1].median, sides[1].median / sides[0].median, NAN, 50);
    free((void *)(uintptr_t)a.gx);
    free((void *)(uintptr_t)b.gx);
    qp_free(by_factors);
    qp_free(formed);
}

static bool is_solved(const char *path)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source = NULL;
    qp_problem *p = NULL;
    qps_names names = {0};
    solution *s = NULL;
    const solve_options o = SOLVE_DEFAULTS;
    bool solved = hu_source_open(path, NULL, &source, &err) == HU_OK && qps_read(source, &p, &names, &err) == HU_OK && solve_problem(p, &o, &s, &err) == HU_OK && s->quality.residual <= 1e-8;
    solve_free(s);
    if (p) qps_names_free(&names, p->m, p->n);
    qp_free(p);
    hu_source_close(source);
    return solved;
}

static void bar_collection(bench *run)
{
    char folder[600];
    const char *data = getenv("HPCUTILS_DATA");
    int solved = 0, all = 0;
    snprintf(folder, sizeof folder, "%.500s/qp", data ? data : ".");
    DIR *d = opendir(folder);
    if (!d) {
        bench_skip(run, "T11", "Maros-Meszaros", "no folder of problems");
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char path[900];
        if (!strstr(e->d_name, ".QPS")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        all++;
        solved += is_solved(path);
    }
    closedir(d);
    bench_row(run, "T11", "Maros-Meszaros", solved, "solved to 1e-8", "problems there", all, all ? (double)solved / all : 0, NAN, 42.0 / 43);
}

int main(int argc, char **argv)
{
    static const char *const absent[] = {"T1", "T2", "T3", "T4", "T5", "T6", "T8"};
    bench run = {0};
    hu_error err = HU_ERROR_NONE;
    for (int a = 1; a < argc && strcmp(argv[a], "--quick") == 0; a++) run.quick = true;
    run.wanted = (const char *const *)argv + 1 + run.quick;
    run.wanted_count = argc - 1 - run.quick;
    bench_begin(&run, "no peer");
    if (bench_wants(&run, "T7")) bar_small(&run);
    if (bench_wants(&run, "further")) {
        const generate_options o = {GENERATE_KKT, run.quick ? 200 : 500, -1, -1, 0.5, 1, 1};
        generated g;
        must(generate_problem(&o, &g, &err), &err);
        bar_further(&run, run.quick ? "dense 200x100" : "dense 500x250", g.p, 1);
        generated_free(&g);
        qp_problem *p = portfolio(run.quick ? 1000 : 5000, run.quick ? 10 : 50, false);
        bar_further(&run, run.quick ? "portfolio 1000,10" : "portfolio 5000,50", p, 1);
        qp_free(p);
    }
    if (bench_wants(&run, "T10")) bar_factors(&run);
    if (bench_wants(&run, "T11")) bar_collection(&run);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) bench_skip(&run, absent[i], "against OSQP and qpth", "in no Debian package");
    bench_end(&run);
    return 0;
}
