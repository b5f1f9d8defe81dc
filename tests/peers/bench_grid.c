/* bench_grid.c: the structured-grid kernels against the textbook's loop over CSR, with the machine's read bandwidth beside them.
 *
 *     bench_grid [repetitions [threads]]
 */
#include "config.h"
#include "grid.h"
#include "grid_maker.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "device/cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name;
    grid_maker maker;
    sptrsv_precision precision;
    double read; /* bytes a row */
} bench_case;

static double value(void *context, int64_t row, int64_t col)
{
    double spread = *(double *)context;
    if (row == col) return 1 + 0.001 * (double)(row % 97);
    return -(0.9 + 0.0001 * (double)((row * 7 + col * 13) % 1000)) / spread;
}

static void naive(const hu_csr *a, const double *b, double *x)
{
    for (int64_t i = 0; i < a->rows; i++) {
        double s = b[i];
        int64_t last = a->row_ptr[i + 1] - 1;
        for (int64_t p = a->row_ptr[i]; p < last; p++) s -= a->val[p] * x[a->col[p]];
        x[i] = s / a->val[last];
    }
}

static void *fresh(int64_t n, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    void *block;
    if (hu_alloc_zero(n, size, "a vector", &block, &err)) exit(4);
    return block;
}

static void run(const bench_case *c, int reps, int threads)
{
    hu_error err = HU_ERROR_NONE;
    double spread = c->maker.count + 0.5;
    hu_csr *a = grid_maker_lower(&c->maker, value, &spread);
    if (!a) exit(4);
    int64_t n = a->rows;
    sptrsv_system *system;
    sptrsv_problem problem = {.uplo = HU_LOWER};
    if (sptrsv_system_new(a, &problem, "bench", &system, &err)) goto failed;
    bool is_grid, foldable;
    sptrsv_grid_shape shape;
    const char *why;
    double *wall_naive = fresh(reps, 8), *wall = fresh(reps, 8), *wall_set = fresh(reps, 8), *wall_detect = fresh(reps, 8),
           *bandwidth = fresh(reps, 8);
    if (sptrsv_grid_detect(system, NULL, &is_grid, &shape, &why, &err)) goto failed;
    if (!is_grid || shape.nx != c->maker.nx || shape.ny != c->maker.ny || shape.nz != c->maker.nz || shape.dof != c->maker.dof) {
        printf("%s: detection: %s %d %d %d %d\n", c->name, why, shape.nx, shape.ny, shape.nz, shape.dof);
        return;
    }
    sptrsv_grid *grid;
    sptrsv_scheme scheme = {.kind = SPTRSV_GRID, .arith = SPTRSV_FOLD, .tile = threads > 1 ? SPTRSV_TILE_SLAB : SPTRSV_TILE_LINE};
    if (sptrsv_grid_new(system, &shape, &scheme, c->precision, threads, &grid, &err)) goto failed;
    if (sptrsv_grid_set_values(grid, system, &foldable, &err)) goto failed;
    bool single = c->precision == SPTRSV_F32;
    double *b = fresh(n, 8), *x = fresh(n, 8), *reference = fresh(n, 8);
    float *bf = (float *)b, *xf = (float *)x;
    double *right = fresh(n, 8);
    for (int64_t i = 0; i < n; i++) right[i] = 1 + (double)(i % 11) / 11;
    for (int64_t i = 0; i < n; i++) {
        if (single) bf[i] = (float)right[i];
        else b[i] = right[i];
    }
    for (int r = 0; r < reps; r++) {
        double t = hu_clock_wall();
        naive(a, right, reference);
        wall_naive[r] = hu_clock_wall() - t;
        t = hu_clock_wall();
        sptrsv_grid_solve(grid, b, x);
        wall[r] = hu_clock_wall() - t;
        if (hu_cpu_read_bandwidth(&bandwidth[r], &err)) goto failed;
        t = hu_clock_wall();
        sptrsv_grid_solve(grid, b, x);
        double again = hu_clock_wall() - t;
        if (again < wall[r]) wall[r] = again;
        if (r >= 5) {
            wall_set[r] = wall_set[r % 5];
            wall_detect[r] = wall_detect[r % 5];
            continue;
        }
        t = hu_clock_wall();
        if (sptrsv_grid_set_values(grid, system, &foldable, &err)) goto failed;
        wall_set[r] = hu_clock_wall() - t;
        t = hu_clock_wall();
        if (sptrsv_grid_detect(system, NULL, &is_grid, &shape, &why, &err)) goto failed;
        wall_detect[r] = hu_clock_wall() - t;
    }
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        double e = fabs((single ? (double)xf[i] : x[i]) - reference[i]) / (fabs(reference[i]) + 1e-30);
        if (!(e <= worst)) worst = e;
    }
    double t = hu_clock_median(wall, reps), tn = hu_clock_median(wall_naive, reps), bw = hu_clock_median(bandwidth, reps);
    printf("%-10s naive %7.2f ms  grid %6.2f ms (min %6.2f)  %5.2fx  %5.1f of %5.1f GB/s = %4.2f  set %6.2f ms  detect %5.2f ms  error %.1e%s\n",
           c->name, tn * 1e3, t * 1e3, wall[0] * 1e3, tn / t, c->read * (double)n / t * 1e-9, bw * 1e-9, c->read * (double)n / t / bw,
           hu_clock_median(wall_set, reps) * 1e3, hu_clock_median(wall_detect, reps) * 1e3, worst, foldable ? "" : " (not folded)");
    fflush(stdout);
    sptrsv_grid_free(grid);
    sptrsv_system_free(system);
    hu_csr_free(a);
    hu_free(b);
    hu_free(x);
    hu_free(reference);
    hu_free(right);
    return;
failed:
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

int main(int argc, char **argv)
{
    int reps = argc > 1 ? atoi(argv[1]) : 7, threads = hu_threads_set(argc > 2 ? atoi(argv[2]) : 0);
    const bench_case cases[] = {
        {"P1", grid_maker_of(160, 160, 160, 1, 1, 1), SPTRSV_F64, 48},
        {"P7.mixed", grid_maker_of(160, 160, 160, 1, 1, 1), SPTRSV_MIXED, 32},
        {"P7.f32", grid_maker_of(160, 160, 160, 1, 1, 1), SPTRSV_F32, 24},
        {"P2", grid_maker_of(112, 112, 112, 1, 1, 3), SPTRSV_F64, 128},
        {"P3", grid_maker_of(2000, 1000, 1, 1, 1, 1), SPTRSV_F64, 40},
        {"P6", grid_maker_of(1000000, 1, 1, 1, 1, 1), SPTRSV_F64, 32},
        {"9pt", grid_maker_of(1500, 1000, 1, 1, 1, 2), SPTRSV_F64, 56},
        {"19pt", grid_maker_of(120, 120, 120, 1, 1, 2), SPTRSV_F64, 96},
        {"7pt.dof3", grid_maker_of(64, 64, 64, 3, 1, 1), SPTRSV_F64, (27 + 6 + 3 + 6) * 8 / 3.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc <= 3 || strcmp(argv[3], cases[i].name) == 0) run(&cases[i], reps, threads);
    return 0;
}
