/* bench_engine.c: schemes of the engine against the naive CSR loop, interleaved in one process; to tune with.
 *
 * bench_engine [-tTHREADS] [-rREPS] [-nRHS] CASE [SCHEME...]. CASE: rand, 27pt, 7pt, 5pt, chain, diagonal, arrow, dense, lastrow, mesh, tiny, or a Matrix
 * Market file, whose IC(0), or else ILU(0), lower factor is taken. A SCHEME changes the rule's; "rule" is the rule's own.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "factor.h"
#include "io/mtx.h"
#include "plan.h"
#include "survey.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const hu_error *err)
{
    hu_error_print(err);
    exit(1);
}

/* ---- matrices --------------------------------------------------------------------------------------------------- */

typedef struct {
    hu_csr *a;
    int64_t nnz, room;
} builder;

static void add_entry(builder *b, int64_t col, double value)
{
    if (b->nnz == b->room) exit(2);
    b->a->col[b->nnz] = (int32_t)col;
    b->a->val[b->nnz++] = value;
}

static int by_value(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}

static void grid_row(builder *b, const int64_t size[3], int64_t i, int reach)
{
    int64_t x = i % size[0], y = i / size[0] % size[1], z = i / size[0] / size[1];
    for (int64_t dz = -1; dz <= 0; dz++)
        for (int64_t dy = -1; dy <= 1; dy++)
            for (int64_t dx = -1; dx <= 1; dx++) {
                int64_t d = (dz * size[1] + dy) * size[0] + dx, l1 = llabs(dx) + llabs(dy) + llabs(dz);
                bool before = dz < 0 || (dz == 0 && (dy < 0 || (dy == 0 && dx < 0)));
                if (!before || l1 > reach) continue;
                if (x + dx < 0 || x + dx >= size[0] || y + dy < 0 || y + dy >= size[1] || z + dz < 0) continue;
                add_entry(b, i + d, -0.1 - 0.001 * (double)(i % 17));
            }
}

static hu_csr *make(const char *name)
{
    static const struct {
        const char *name;
        int64_t n, per_row, size[3];
        int reach;
    } known[] = {{"rand", 3000000, 6, {0}, 0},   {"27pt", 1404928, 14, {112, 112, 112}, 3}, {"7pt", 4096000, 4, {160, 160, 160}, 1},
                 {"5pt", 2000000, 3, {2000, 1000, 1}, 1}, {"chain", 1000000, 2, {0}, 0},     {"diagonal", 1000000, 1, {0}, 0},
                 {"arrow", 1000000, 3, {0}, 0},  {"dense", 3000, 3000, {0}, 0},             {"lastrow", 1000000, 3, {0}, 0},
                 {"mesh", 1000000, 5, {1000, 1000, 1}, 2}, {"tiny", 10, 10, {0}, 0},         {"small", 1000, 8, {0}, 0}};
    hu_error err = HU_ERROR_NONE;
    size_t c = 0;
    while (c < sizeof known / sizeof *known && strcmp(known[c].name, name) != 0) c++;
    if (c == sizeof known / sizeof *known) return NULL;
    int64_t n = known[c].n;
    builder b = {NULL, 0, n * known[c].per_row};
    hu_random r = hu_random_stream(1, 2);
    if (hu_csr_new(n, n, b.room, false, &b.a, &err)) die(&err);
    for (int64_t i = 0; i < n; i++) {
        double d = 1.5 + 0.001 * (double)(i % 31);
        if (known[c].size[0]) grid_row(&b, known[c].size, i, known[c].reach);
        else if (!strcmp(name, "chain") && i > 0) add_entry(&b, i - 1, -0.4);
        else if (!strcmp(name, "dense")) for (int64_t j = 0; j < i; j++) add_entry(&b, j, -1e-4);
        else if (!strcmp(name, "arrow") && i > 0) add_entry(&b, 0, -0.1);
        else if (!strcmp(name, "lastrow") && i == n - 1) for (int64_t j = 0; j < i; j++) add_entry(&b, j, -1e-6);
        else if (!strcmp(name, "rand") || !strcmp(name, "small") || !strcmp(name, "tiny")) {
            int32_t col[16];
            int64_t most = !strcmp(name, "tiny") ? 4 : 6, count = 0, wanted = hu_random_below(&r, 2 * most - 1) + 1, reach = i < 30000 ? i : 30000;
            if (wanted > 9) wanted = 9;
            for (int64_t k = 0; k < wanted && reach > 0; k++) col[count++] = (int32_t)(i - 1 - hu_random_below(&r, reach));
            qsort(col, (size_t)count, sizeof *col, by_value);
            for (int64_t k = 0; k < count && b.nnz < b.room - (n - i); k++)
                if (k == 0 || col[k] != col[k - 1]) add_entry(&b, col[k], -0.05);
        }
        add_entry(&b, i, d);
        b.a->row_ptr[i + 1] = b.nnz;
    }
    b.a->nnz = b.nnz;
    return b.a;
}

static hu_csr *read_factor(const char *path)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_csr *a = NULL, *l = NULL, *u = NULL;
    hu_mtx_options options = HU_MTX_DEFAULTS;
    if (hu_source_open(path, ".mtx", &source, &err) || hu_mtx_read_csr(source, &options, &a, NULL, &err)) die(&err);
    hu_source_close(source);
    if (sptrsv_ic0(a, path, &l, &err) == HU_OK) {
        hu_csr_free(a);
        return l;
    }
    hu_error_clear(&err);
    if (sptrsv_ilu0(a, path, &l, &u, &err)) die(&err);
    hu_csr_free(u);
    builder b = {NULL, 0, l->nnz + l->rows}; /* with the diagonal of ones, for the naive loop */
    if (hu_csr_new(l->rows, l->rows, b.room, false, &b.a, &err)) die(&err);
    for (int64_t i = 0; i < l->rows; i++) {
        for (int64_t k = l->row_ptr[i]; k < l->row_ptr[i + 1]; k++) add_entry(&b, l->col[k], l->val[k]);
        add_entry(&b, i, 1);
        b.a->row_ptr[i + 1] = b.nnz;
    }
    hu_csr_free(a);
    hu_csr_free(l);
    return b.a;
}

/* ---- timing ----------------------------------------------------------------------------------------------------- */

static void naive(const hu_csr *a, const double *b, double *x)
{
    for (int64_t i = 0; i < a->rows; i++) {
        double s = b[i];
        int64_t k = a->row_ptr[i];
        for (; k < a->row_ptr[i + 1] - 1; k++) s -= a->val[k] * x[a->col[k]];
        x[i] = s / a->val[k];
    }
}

enum { MOST = 16, MOST_REPS = 101 };

int main(int argc, char **argv)
{
    hu_error err = HU_ERROR_NONE;
    int threads = 2, reps = 15, rhs = 1, option;
    while ((option = getopt(argc, argv, "t:r:n:")) != -1) {
        if (option == 't') threads = atoi(optarg);
        if (option == 'r') reps = atoi(optarg) < MOST_REPS ? atoi(optarg) : MOST_REPS;
        if (option == 'n') rhs = atoi(optarg);
    }
    if (optind >= argc) return 2;
    hu_threads_set(threads);
    hu_csr *a = make(argv[optind]);
    if (!a) a = read_factor(argv[optind]);
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, true};
    sptrsv_system *s;
    if (sptrsv_system_new(a, &problem, argv[optind], &s, &err)) die(&err);
    hu_dense *b, *x;
    if (hu_dense_new(a->rows, rhs, HU_F64, rhs > 1 ? HU_ROW_MAJOR : HU_COL_MAJOR, &b, &err)) die(&err);
    if (hu_dense_new(a->rows, rhs, HU_F64, rhs > 1 ? HU_ROW_MAJOR : HU_COL_MAJOR, &x, &err)) die(&err);
    for (int64_t i = 0; i < a->rows * rhs; i++) ((double *)b->data)[i] = 1 + (double)(i % 7);
    int schemes = argc - optind - 1;
    sptrsv_plan *plan[MOST];
    double made[MOST], rule_time = 0, set[MOST], sample[MOST + 1][MOST_REPS];
    int inner = a->nnz < 300000 ? (int)(300000 / (a->nnz + 1)) + 1 : 1;
    sptrsv_scheme rule;
    double t = hu_clock_wall();
    if (sptrsv_scheme_by_rule(s, threads, false, &rule, &err)) die(&err);
    rule_time = hu_clock_wall() - t;
    for (int i = 0; i < schemes; i++) {
        sptrsv_scheme scheme = rule;
        const char *text = argv[optind + 1 + i];
        if (strcmp(text, "rule") && sptrsv_scheme_parse(text, &scheme, &err)) die(&err);
        t = hu_clock_wall();
        if (sptrsv_plan_new(s, &scheme, SPTRSV_F64, threads, &plan[i], &err)) die(&err);
        made[i] = hu_clock_wall() - t;
        t = hu_clock_wall();
        if (sptrsv_plan_set_values(plan[i], s, &err)) die(&err);
        set[i] = hu_clock_wall() - t;
    }
    for (int rep = 0; rep < reps; rep++)
        for (int i = 0; i <= schemes; i++) {
            t = hu_clock_wall();
            for (int k = 0; k < inner; k++) {
                if (i == schemes) naive(a, b->data, x->data);
                else if (rhs == 1) sptrsv_solve(plan[i], b->data, x->data);
                else if (sptrsv_solve_many(plan[i], b, x, &err)) die(&err);
            }
            sample[i][rep] = (hu_clock_wall() - t) / inner;
        }
    double base = hu_clock_median(sample[schemes], reps);
    printf("%s: n %lld, nnz %lld, naive %.4f ms, rule %.1f naive\n", argv[optind], (long long)a->rows, (long long)a->nnz, 1e3 * base,
           rule_time / base);
    for (int i = 0; i < schemes; i++) {
        sptrsv_plan_facts f;
        char text[256];
        sptrsv_plan_describe(plan[i], &f);
        sptrsv_scheme_print(&f.scheme, text, sizeof text);
        double m = hu_clock_median(sample[i], reps), least = m;
        for (int rep = 0; rep < reps; rep++) least = sample[i][rep] < least ? sample[i][rep] : least;
        printf("  %8.4f ms (least %.4f)  %5.2fx naive a rhs  %5.1f GB/s  plan %.1f  values %.2f naive; levels %lld tasks %lld waits %lld path %lld  %s %s\n", 1e3 * m, 1e3 * least,
               rhs * base / m, 1e-9 * (double)f.bytes_per_solve / m, made[i] / base, set[i] / base, (long long)f.levels, (long long)f.tasks,
               (long long)f.waits, (long long)f.longest_path, text, f.remark);
        sptrsv_plan_free(plan[i]);
    }
    sptrsv_system_free(s);
    hu_csr_free(a);
    hu_dense_free(b);
    hu_dense_free(x);
    return 0;
}
