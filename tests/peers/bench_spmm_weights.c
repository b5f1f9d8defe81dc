/* bench_spmm_weights.c: spmm-pack's panels against the libraries that multiply pruned weights (scripts/bench spmm-pack).
 *
 *   bench_spmm_weights [--quick] [BAR...]
 *
 * Bars: eigen, xnnpack, libxsmm, dense (at 90 % and 70 % zeros), csr (our own general kernel), peak (share of the FMA peak at 70 and 90 %), best (no case below
 * 0.9 of the best peer), packing. f32, one thread, warm caches. The weights are DLMC patterns from $HPCUTILS_DATA/pruned/NAME-ZEROS-LAYER.smtx with values drawn.
 *
 * Sections: weights, sides, a case, bars.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"
#include "panel.h"
#include "peers_weights.h"
#include "spmm_maker.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

static void stop(hu_error *err)
{
    fflush(stdout);
    hu_error_print(err);
    exit(err->status ? (int)err->status : HU_SYSTEM);
}

/* ---- weights: three lines: rows, columns, entries; row pointers; columns */

static spmm_matrix *read_weight(const char *path)
{
    hu_error err = HU_ERROR_NONE;
    long long rows, cols, nnz, value;
    spmm_matrix *a;
    hu_random r = hu_random_stream(1, 0);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%lld, %lld, %lld", &rows, &cols, &nnz) != 3) {
        hu_fail(&err, HU_INPUT, "%s: not a weight", path);
        stop(&err);
    }
    if (spmm_matrix_new(rows, cols, nnz, HU_F32, false, &a, &err)) stop(&err);
    for (int64_t i = 0; i <= rows && fscanf(f, "%lld", &value) == 1; i++) a->row_ptr[i] = value;
    for (int64_t p = 0; p < nnz && fscanf(f, "%lld", &value) == 1; p++) {
        a->col[p] = (int32_t)value;
        ((float *)a->val)[p] = (float)hu_random_normal(&r);
    }
    fclose(f);
    if (spmm_matrix_check(a, path, &err)) stop(&err);
    return a;
}

/* ---- sides */

typedef struct {
    peer_product peer;
    spmm_plan *plan;
    hu_dense *b, *c;
} work;

static void multiply_peer(side *s)
{
    work *w = s->data;
    w->peer.multiply(w->peer.data, w->b->data, w->c->data);
}

static void multiply_ours(side *s)
{
    work *w = s->data;
    hu_error err = HU_ERROR_NONE;
    const spmm_product p = {w->b, w->c, SPMM_PLAIN};
    if (spmm_multiply(w->plan, SPMM_SUM, &p, NULL, &err)) stop(&err);
}

/* Another order of sums may differ by the bound of each. */
static void verify(side *s, const spmm_matrix *a, const char *name)
{
    work *w = s->data;
    s->work(s);
    const double error = spmm_error(a, w->b, w->c, 1, 0, NULL);
    if (error <= 1) return;
    printf("# %s: %s is wrong: %g of the bound\n", name, s->name, error);
    s->left_out = true;
}

/* ---- a case */

enum { MOST_SIDES = PEER_PRODUCTS + 2, PANEL = 0, CSR = 1, FIRST_PEER = 2, BARS = 9 };

/* Means of logarithms of ratios for each bar. */
typedef struct {
    double sum;
    int count;
} mean;

static const struct {
    const char *name, *peer;
    double floor;
} bars[BARS] = {{"eigen", "Eigen", 1.9}, {"xnnpack", "XNNPACK", 3}, {"libxsmm", "LIBXSMM", 1}, {"dense90", "dense", 7}, {"dense70", "dense", 2.3},
                {"csr", "csr", 1.3}, {"peak90", "FMA peak", .6}, {"peak70", "FMA peak", .6}, {"best", "best", .9}};

static void note(mean *m, double ratio)
{
    m->sum += log(ratio);
    m->count++;
}

static bool is_bar(int bar, const side *s, int zeros)
{
    if (bar == 3 || bar == 4) return strcmp(s->name, "dense") == 0 && zeros == (bar == 3 ? 90 : 70);
    return strcmp(s->name, bars[bar].peer) == 0;
}

static void weight_case(bench *run, const spmm_matrix *a, const char *weight, int zeros, int64_t k, mean *means)
{
    static const spmm_strategy *const ours[] = {&spmm_panel, &spmm_csr};
    hu_error err = HU_ERROR_NONE;
    char name[128];
    side sides[MOST_SIDES] = {0};
    work works[MOST_SIDES] = {0};
    peer_product peers[PEER_PRODUCTS];
    spmm_options options = SPMM_OPTIONS;
    hu_dense *b, *c;
    snprintf(name, sizeof name, "%s K=%lld", weight, (long long)k);
    if (hu_dense_new(a->cols, k, HU_F32, HU_ROW_MAJOR, &b, &err) || hu_dense_new(a->rows, k, HU_F32, HU_ROW_MAJOR, &c, &err)) stop(&err);
    spmm_fill(b, false, 2);
    options.k = k;
    const peer_weight w = {a->rows, a->cols, a->nnz, a->row_ptr, a->col, a->val};
    const int n = FIRST_PEER + peer_products_open(&w, k, 4000, peers);
    for (int i = 0; i < n; i++) {
        works[i] = (work){.b = b, .c = c};
        sides[i].data = &works[i];
        sides[i].work = i < FIRST_PEER ? multiply_ours : multiply_peer;
        if (i < FIRST_PEER && spmm_plan_new((spmm_matrix *)(uintptr_t)a, ours[i], &options, HU_F32, &works[i].plan, &err)) stop(&err);
        if (i >= FIRST_PEER) works[i].peer = peers[i - FIRST_PEER];
        snprintf(sides[i].name, sizeof sides[i].name, "%s", i < FIRST_PEER ? ours[i]->name : peers[i - FIRST_PEER].name);
        verify(&sides[i], a, name);
    }
    bench_time(run, name, sides, n, run->quick ? .1 : .5, INT64_MAX);
    const double peak = 2 * hu_cpu_fma_peak(), mine = sides[PANEL].median;
    double best = INFINITY;
    for (int i = CSR; i < n; i++) {
        if (sides[i].left_out) continue;
        if (i >= FIRST_PEER) best = fmin(best, sides[i].median);
        for (int bar = 0; bar < BARS; bar++)
            if (is_bar(bar, &sides[i], zeros)) note(&means[bar], sides[i].median / mine);
    }
    const double share = 2 * (double)a->nnz * (double)k / mine / peak;
    if (zeros == 90) note(&means[6], share);
    if (zeros == 70) note(&means[7], share);
    means[8].sum = fmin(means[8].sum, best / mine);
    means[8].count++;
    bench_row(run, "best", name, 1e3 * mine, "ms", "best", 1e3 * best, best / mine, share, .9);
    bench_row(run, "packing", name, 1e3 * works[PANEL].plan->pack_seconds, "ms", "product", 1e3 * mine, 10 * mine / works[PANEL].plan->pack_seconds, NAN, 1);
    for (int i = 0; i < n; i++) {
        if (i < FIRST_PEER) spmm_plan_free(works[i].plan);
        else works[i].peer.release(works[i].peer.data);
    }
    hu_dense_free(b);
    hu_dense_free(c);
}

/* ---- bars */

int main(int argc, char **argv)
{
    static const int64_t widths[] = {32, 64, 128, 256};
    bench run = {.wanted = (const char *const *)argv + 1, .wanted_count = argc - 1};
    mean means[BARS] = {0};
    char pattern[4096];
    const char *data = getenv("HPCUTILS_DATA");
    glob_t found;
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        run.quick = true;
        run.wanted++;
        run.wanted_count--;
    }
    means[8].sum = INFINITY;
    hu_threads_set(1);
    bench_begin(&run, peer_products_versions());
    if (*peer_products_absent()) bench_skip(&run, "best", "weights", peer_products_absent());
    snprintf(pattern, sizeof pattern, "%s/pruned/*.smtx", data ? data : "../shared/data");
    if (glob(pattern, 0, NULL, &found) != 0) {
        bench_skip(&run, "best", "weights", "no weights");
        return 0;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[64];
        const char *base = strrchr(found.gl_pathv[i], '/') + 1, *zeros = strstr(base, "-0.");
        spmm_matrix *a = read_weight(found.gl_pathv[i]);
        snprintf(name, sizeof name, "%.*s", (int)(strlen(base) - 5), base);
        for (size_t k = 0; k < 4; k++)
            if (!run.quick || k == 0 || k == 2) weight_case(&run, a, name, zeros ? (int)lround(100 * atof(zeros + 1)) : 0, widths[k], means);
        spmm_matrix_free(a);
    }
    for (int bar = 0; bar < BARS; bar++) {
        if (means[bar].count == 0) continue;
        const double ratio = bar == 8 ? means[bar].sum : exp(means[bar].sum / means[bar].count);
        char name[64];
        snprintf(name, sizeof name, bar == 8 ? "least of %d cases" : "geometric mean of %d cases", means[bar].count);
        bench_row(&run, bars[bar].name, name, NAN, "", bars[bar].peer, NAN, ratio, NAN, bars[bar].floor);
    }
    globfree(&found);
    bench_end(&run);
    return 0;
}
