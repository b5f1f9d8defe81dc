/* bench_spmm.c: spmm-pack against the libraries that Debian packages (scripts/bench spmm-pack), one thread but where a bar says two.
 *
 *   bench_spmm [--quick] [BAR...]     bars: graphs, bins, skew, sddmm, halves, packing
 *
 * Every result is held against the error bound before it is timed.
 *
 * Sections: operands, sides, bars, main.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "bench.h"
#include "generate.h"
#include "peers_spmm.h"
#include "plan.h"
#include "sddmm.h"
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(hu_error *err)
{
    fflush(stdout);
    hu_error_print(err);
    exit(err->status ? (int)err->status : HU_SYSTEM);
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    spmm_gen gen;
} graph;

static const graph graphs[] = {
    {"powerlaw-100k", {SPMM_GEN_POWERLAW, 100000, 100000, 15.4, 0, 5333, 1, SPMM_GEN_UNIFORM, 1}},
    {"arxiv-like-169k", {SPMM_GEN_POWERLAW, 169343, 169343, 7, 0, 13155, 1, SPMM_GEN_UNIFORM, 2}},
    {"dense-20k", {SPMM_GEN_REGULAR, 20000, 20000, 280, 0, 0, 1, SPMM_GEN_UNIFORM, 3}},
};

static spmm_matrix *made(spmm_gen g)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *csr;
    spmm_matrix *a;
    if (spmm_generate(&g, &csr, &err) || spmm_matrix_from_csr(&csr, false, HU_F32, "bench", &a, &err)) stop(&err);
    return a;
}

static hu_dense *dense(int64_t rows, int64_t cols, hu_scalar scalar)
{
    hu_error err = HU_ERROR_NONE;
    hu_dense *d;
    if (hu_dense_new(rows, cols, scalar, HU_ROW_MAJOR, &d, &err)) stop(&err);
    for (int64_t i = 0; i < rows; i++) {
        hu_random r = hu_random_stream(1, (uint64_t)i);
        for (int64_t j = 0; j < cols; j++) hu_scalar_put(scalar, d->data, i * cols + j, 2 * hu_random_uniform(&r) - 1);
    }
    return d;
}

static spmm_plan *planned(spmm_matrix *a, const spmm_strategy *strategy, int64_t k)
{
    hu_error err = HU_ERROR_NONE;
    spmm_options o = SPMM_OPTIONS;
    spmm_plan *plan;
    o.k = k;
    if (spmm_plan_new(a, strategy, &o, HU_F32, &plan, &err)) stop(&err);
    return plan;
}

/* ---- sides ------------------------------------------------------------------------------------------------------- */

typedef struct {
    spmm_plan *plan; /* ours */
    spmm_peer peer;  /* or theirs */
    const hu_dense *b;
    hu_dense *c;
    int threads;
} job;

static void work(side *self)
{
    job *j = self->data;
    hu_error err = HU_ERROR_NONE;
    hu_threads_set(j->threads);
    if (!j->plan) {
        j->peer.multiply(j->peer.data, j->b->data, j->c->data);
        return;
    }
    const spmm_product p = {j->b, j->c, SPMM_PLAIN};
    if (spmm_multiply(j->plan, SPMM_SUM, &p, NULL, &err)) stop(&err);
}

/* A side is left out, and said so, where its result is beyond the bound in its leading columns. */
static side side_of(const char *name, job *j, const spmm_matrix *a)
{
    side s = {.data = j, .work = work};
    snprintf(s.name, sizeof s.name, "%s", name);
    memset(j->c->data, 0xff, (size_t)(j->c->rows * j->c->ld) * hu_scalar_size(j->c->scalar)); /* NaN: what is left unwritten shows */
    work(&s);
    hu_dense part = *j->c;
    if (part.cols > 4) part.cols = 4;
    const double ratio = spmm_verify(a, j->b, &part, 1, 0, NULL);
    s.left_out = !(ratio <= 1);
    if (s.left_out) printf("# %s is wrong: %g times the bound\n", name, ratio);
    return s;
}

static double gigaflops(const spmm_matrix *a, int64_t k, double seconds)
{
    return 2e-9 * (double)a->nnz * (double)k / seconds;
}

static int64_t touched(const spmm_matrix *a, int64_t k)
{
    return 8 * a->nnz + 4 * k * (a->rows + a->cols);
}

/* ---- bars -------------------------------------------------------------------------------------------------------- */

/* The advised strategy against the best peer. */
static double one_graph(bench *run, const graph *g, spmm_matrix *a, int64_t k)
{
    enum { MOST = SPMM_PEERS_MOST + 1 };
    char name[80];
    job jobs[MOST];
    side sides[MOST];
    spmm_peer peers[SPMM_PEERS_MOST];
    hu_dense *b = dense(a->cols, k, HU_F32), *c = dense(a->rows, k, HU_F32);
    const spmm_peer_matrix view = {a->rows, a->cols, a->nnz, a->row_ptr, a->col, a->val};
    const int n = spmm_peers_open(&view, k, peers);
    int best = 0;
    snprintf(name, sizeof name, "%s K=%lld", g->name, (long long)k);
    jobs[0] = (job){planned(a, NULL, k), {0}, b, c, 1};
    sides[0] = side_of(jobs[0].plan->strategy->name, &jobs[0], a);
    for (int i = 0; i < n; i++) {
        jobs[i + 1] = (job){NULL, peers[i], b, c, 1};
        sides[i + 1] = side_of(peers[i].name, &jobs[i + 1], a);
    }
    bench_probe(run, name, false);
    bench_time(run, name, sides, n + 1, run->quick ? 2 : 6, touched(a, k));
    bench_probe(run, name, true);
    for (int i = 1; i <= n; i++)
        if (!sides[i].left_out && (best == 0 || sides[i].median < sides[best].median)) best = i;
    const double ratio = best ? sides[best].median / sides[0].median : NAN;
    if (best) bench_row(run, "graphs", name, gigaflops(a, k, sides[0].median), "GF/s", sides[best].name, gigaflops(a, k, sides[best].median), ratio, (double)touched(a, k) / sides[0].median / run->bandwidth, 0.9);
    else bench_skip(run, "graphs", name, "Eigen, librsb");
    for (int i = 0; i < n; i++) peers[i].release(peers[i].data);
    spmm_plan_free(jobs[0].plan);
    hu_dense_free(b);
    hu_dense_free(c);
    return ratio;
}

static void bar_graphs(bench *run)
{
    static const int64_t widths[] = {32, 128, 256};
    static const double floors[] = {2.7, 1.6, 1.6};
    double product[3] = {1, 1, 1};
    const int count = (int)(sizeof graphs / sizeof *graphs);
    for (int g = 0; g < count; g++) {
        spmm_matrix *a = made(graphs[g].gen);
        for (int w = 0; w < 3; w++) product[w] *= one_graph(run, &graphs[g], a, widths[w]);
        spmm_matrix_free(a);
    }
    for (int w = 0; w < 3; w++) {
        char name[40];
        const double mean = pow(product[w], 1.0 / count);
        snprintf(name, sizeof name, "geometric mean K=%lld", (long long)widths[w]);
        bench_row(run, "graphs", name, mean, "ratio", "best", 1, mean, NAN, floors[w]);
    }
}

/* Two of our plans against each other. */
static void versus(bench *run, const char *bar, const char *name, spmm_matrix *a, job *ours, const char *ours_name, job *theirs, const char *theirs_name, double floor)
{
    side sides[] = {side_of(ours_name, ours, a), side_of(theirs_name, theirs, a)};
    const int64_t k = ours->b->cols;
    bench_probe(run, name, false);
    bench_time(run, name, sides, 2, run->quick ? 2 : 6, touched(a, k));
    bench_probe(run, name, true);
    bench_row(run, bar, name, gigaflops(a, k, sides[0].median), "GF/s", theirs_name, gigaflops(a, k, sides[1].median), sides[1].median / sides[0].median, NAN, floor);
}

static void bar_bins(bench *run)
{
    spmm_matrix *a = made(graphs[2].gen);
    for (int64_t k = 32; k <= 256; k *= k == 32 ? 4 : 2) {
        char name[40];
        hu_dense *b = dense(a->cols, k, HU_F32), *c = dense(a->rows, k, HU_F32);
        job bin = {planned(a, k == 32 ? NULL : &spmm_bin, k), {0}, b, c, 1}, neighbor = {planned(a, &spmm_neighbor, k), {0}, b, c, 1};
        snprintf(name, sizeof name, "dense-20k K=%lld", (long long)k);
        versus(run, "bins", name, a, &bin, bin.plan->strategy->name, &neighbor, "neighbor", k == 32 ? 0.95 : 1.6);
        spmm_plan_free(bin.plan);
        spmm_plan_free(neighbor.plan);
        hu_dense_free(b);
        hu_dense_free(c);
    }
    spmm_matrix_free(a);
}

static void bar_skew(bench *run)
{
    const spmm_gen star = {SPMM_GEN_STAR, 60000, 600000, 8, 0, 0, 1, SPMM_GEN_UNIFORM, 5};
    spmm_matrix *a = made(star);
    hu_dense *b = dense(a->cols, 32, HU_F32), *c = dense(a->rows, 32, HU_F32);
    job neighbor = {planned(a, &spmm_neighbor, 32), {0}, b, c, 2}, rows = {planned(a, &spmm_csr, 32), {0}, b, c, 2};
    versus(run, "skew", "star, 2 threads", a, &neighbor, "neighbor", &rows, "csr", 1.35);
    spmm_plan_free(neighbor.plan);
    spmm_plan_free(rows.plan);
    hu_dense_free(b);
    hu_dense_free(c);
    spmm_matrix_free(a);
}

static void bar_halves(bench *run)
{
    spmm_matrix *a = made(graphs[0].gen);
    for (int type = 0; type < 2; type++) {
        const hu_scalar scalar = type ? HU_BF16 : HU_F16;
        hu_dense *b = dense(a->cols, 128, HU_F32), *c = dense(a->rows, 128, HU_F32), *half_b = dense(a->cols, 128, scalar), *half_c = dense(a->rows, 128, scalar);
        job half = {planned(a, &spmm_neighbor, 128), {0}, half_b, half_c, 1}, whole = {planned(a, &spmm_neighbor, 128), {0}, b, c, 1};
        versus(run, "halves", "powerlaw-100k K=128", a, &half, hu_scalar_name(scalar), &whole, "f32", 1.4);
        spmm_plan_free(half.plan);
        spmm_plan_free(whole.plan);
        hu_dense_free(b);
        hu_dense_free(c);
        hu_dense_free(half_b);
        hu_dense_free(half_c);
    }
    spmm_matrix_free(a);
}

/* Sampled dots against plain loops as the compiler has them. */
typedef struct {
    spmm_matrix *a;
    hu_dense *x, *e;
} sampling;

static void our_dots(side *self)
{
    sampling *s = self->data;
    hu_error err = HU_ERROR_NONE;
    const spmm_sampling how = {SPMM_DOT, 1, 1, false, false, 0, false};
    hu_threads_set(1);
    if (spmm_sddmm(s->a, &how, s->x, s->x, s->e, &err)) stop(&err);
}

static void plain_dots(side *self)
{
    sampling *s = self->data;
    const float *x = s->x->data;
    const int64_t k = s->x->cols;
    for (int64_t i = 0; i < s->a->rows; i++)
        for (int64_t p = s->a->row_ptr[i]; p < s->a->row_ptr[i + 1]; p++) {
            float sum = 0;
            for (int64_t j = 0; j < k; j++) sum += x[i * k + j] * x[s->a->col[p] * k + j];
            ((float *)s->e->data)[p] = sum;
        }
}

static void bar_sddmm(bench *run)
{
    spmm_matrix *a = made(graphs[0].gen);
    for (int64_t k = 32; k <= 128; k *= 4) {
        char name[40];
        sampling s = {a, dense(a->rows, k, HU_F32), dense(a->nnz, 1, HU_F32)};
        side sides[] = {{.name = "sddmm", .data = &s, .work = our_dots}, {.name = "plain loops", .data = &s, .work = plain_dots}};
        snprintf(name, sizeof name, "powerlaw-100k K=%lld", (long long)k);
        bench_time(run, name, sides, 2, run->quick ? 2 : 6, touched(a, k));
        bench_row(run, "sddmm", name, gigaflops(a, k, sides[0].median), "GF/s", "plain loops", gigaflops(a, k, sides[1].median), sides[1].median / sides[0].median, NAN, 1.4);
        hu_dense_free(s.x);
        hu_dense_free(s.e);
    }
    spmm_matrix_free(a);
}

/* Seconds of packing in products at 128 columns. */
static void bar_packing(bench *run)
{
    for (int g = 0; g < 3; g += 2) {
        spmm_matrix *a = made(graphs[g].gen);
        hu_dense *b = dense(a->cols, 128, HU_F32), *c = dense(a->rows, 128, HU_F32);
        for (int s = 0; s < 2; s++) {
            const spmm_strategy *strategy = s ? &spmm_bin : &spmm_neighbor;
            double least = INFINITY, pack = INFINITY;
            hu_threads_set(1);
            for (int round = 0; round < 5; round++) {
                spmm_plan *plan = planned(a, strategy, 128);
                job j = {plan, {0}, b, c, 1};
                side self = {.data = &j};
                const double start = hu_clock_wall();
                work(&self);
                least = fmin(least, hu_clock_wall() - start);
                pack = fmin(pack, plan->pack_seconds);
                spmm_plan_free(plan);
            }
            char name[60];
            snprintf(name, sizeof name, "%s %s", graphs[g].name, strategy->name);
            bench_row(run, "packing", name, pack * 1e3, "ms", "products at K=128", least * 1e3, least / pack, NAN, s ? 0.1 : 0.5);
        }
        hu_dense_free(b);
        hu_dense_free(c);
        spmm_matrix_free(a);
    }
}

/* ---- main -------------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*measure)(bench *); } bars[] = {
        {"graphs", bar_graphs}, {"bins", bar_bins}, {"skew", bar_skew}, {"sddmm", bar_sddmm}, {"halves", bar_halves}, {"packing", bar_packing}};
    bench run = {0};
    char versions[200];
    int from = 1;
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) run.quick = true, from = 2;
    run.wanted = (const char *const *)argv + from;
    run.wanted_count = argc - from;
    spmm_peers_versions(versions, sizeof versions);
    hu_threads_set(1);
    bench_begin(&run, versions);
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        if (bench_wants(&run, bars[i].name)) bars[i].measure(&run);
    bench_end(&run);
    return 0;
}
