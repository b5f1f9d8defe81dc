/* test_grid.c: structured grids: what is detected and what is refused, and solutions that integers make exact, for every stencil,
 * precision, thread count and direction. HPCUTILS_CPU chooses the instruction level. */
#include "config.h"
#include "hu_test.h"
#include "grid.h"
#include "grid_maker.h"
#include "base/memory.h"
#include "base/random.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* ---- systems ---------------------------------------------------------------------------------------------------- */

/* A hash of the place: entries do not depend on the order in which they are made. */
static uint64_t scramble(int64_t row, int64_t col)
{
    uint64_t h = (uint64_t)row * 0x9E3779B97F4A7C15u ^ (uint64_t)col * 0xC2B2AE3D27D4EB4Fu;
    h ^= h >> 31;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

/* Integers -2..2, diagonal a power of two: every partial sum is exact, so x must come back to the bit. */
static double exact_value(void *context, int64_t row, int64_t col)
{
    (void)context;
    uint64_t h = scramble(row, col);
    if (row == col) return (h & 1 ? 1.0 : -1.0) * (double)(1 << (h >> 1 & 3));
    return (double)(h % 5) - 2;
}

static double random_value(void *context, int64_t row, int64_t col)
{
    double entries = *(double *)context, u = (double)(scramble(row, col) >> 11) * 0x1p-53;
    return row == col ? 1 + u : (u - 0.7) / entries;
}

/* The same matrix turned round both ways: an upper system that is solved from the last row up. */
static hu_csr *mirror(const hu_csr *a)
{
    hu_csr *m;
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(hu_csr_new(a->rows, a->cols, a->nnz, false, &m, &err));
    int64_t p = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t old = a->rows - 1 - i;
        for (int64_t q = a->row_ptr[old + 1] - 1; q >= a->row_ptr[old]; q--, p++) {
            m->col[p] = (int32_t)(a->rows - 1 - a->col[q]);
            m->val[p] = a->val[q];
        }
        m->row_ptr[i + 1] = p;
    }
    return m;
}

static sptrsv_system *system_of(const hu_csr *a, hu_uplo uplo)
{
    sptrsv_system *s;
    sptrsv_problem problem = {.uplo = uplo};
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    return s;
}

static bool detect(const sptrsv_system *s, const int32_t wanted[3], sptrsv_grid_shape *shape)
{
    bool is_grid;
    const char *why;
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(sptrsv_grid_detect(s, wanted, &is_grid, shape, &why, &err));
    ck_assert_int_eq(is_grid, *why == '\0');
    return is_grid;
}

static sptrsv_grid_shape shape_of(const grid_maker *m)
{
    sptrsv_grid_shape s = {.nx = m->nx, .ny = m->ny, .nz = m->nz, .dof = m->dof, .neighbours = m->count};
    for (int k = 0; k < m->count; k++) {
        s.dx[k] = (int8_t)m->d[k][0];
        s.dy[k] = (int8_t)m->d[k][1];
        s.dz[k] = (int8_t)m->d[k][2];
    }
    return s;
}

static sptrsv_grid *grid_of(const sptrsv_system *s, const sptrsv_grid_shape *shape, sptrsv_arith arith, sptrsv_precision precision,
                            int threads)
{
    sptrsv_grid *g;
    sptrsv_scheme scheme = {.kind = SPTRSV_GRID, .arith = arith, .tile = threads > 1 ? SPTRSV_TILE_SLAB : SPTRSV_TILE_LINE};
    bool foldable;
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(sptrsv_grid_new(s, shape, &scheme, precision, threads, &g, &err));
    ck_assert_ok(sptrsv_grid_set_values(g, s, &foldable, &err));
    ck_assert(foldable);
    ck_assert_int_gt(sptrsv_grid_bytes_held(g), 0);
    return g;
}

/* Vectors stand in blocks of exactly their size, so that the address sanitizer sees a read beyond either end; x begins as NaN, so that
 * a read of what is not yet solved spreads. */
static void *vector(int64_t n, size_t size)
{
    void *v = malloc((size_t)(n * (int64_t)size));
    ck_assert_ptr_nonnull(v);
    memset(v, 0xff, (size_t)(n * (int64_t)size));
    return v;
}

static void put(void *v, bool single, int64_t i, double value)
{
    if (single) ((float *)v)[i] = (float)value;
    else ((double *)v)[i] = value;
}

static double get(const void *v, bool single, int64_t i)
{
    return single ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

/* ---- exact solutions -------------------------------------------------------------------------------------------- */

static double known(int64_t row, int j)
{
    return (double)(scramble(row, j + 1000003) % 7) - 3;
}

static void solve_exactly(const hu_csr *a, const sptrsv_system *s, const sptrsv_grid_shape *shape, sptrsv_arith arith,
                          sptrsv_precision precision, int threads, int nrhs)
{
    bool single = precision == SPTRSV_F32;
    int64_t n = a->rows;
    void *b = vector(n * nrhs, single ? 4 : 8), *x = vector(n * nrhs, single ? 4 : 8);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < nrhs; j++) {
            double sum = 0;
            for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum += a->val[p] * known(a->col[p], j);
            put(b, single, i * nrhs + j, sum);
        }
    sptrsv_grid *g = grid_of(s, shape, arith, precision, threads);
    for (int turn = 0; turn < 2; turn++) { /* the second time in place */
        if (turn) memcpy(x, b, (size_t)(n * nrhs) * (single ? 4 : 8));
        if (nrhs == 1) sptrsv_grid_solve(g, turn ? x : b, x);
        else sptrsv_grid_solve_block(g, nrhs, turn ? x : b, x);
        for (int64_t i = 0; i < n; i++)
            for (int j = 0; j < nrhs; j++)
                if (get(x, single, i * nrhs + j) != known(i, j)) /* Check writes a file at each ck_assert: not in loops */
                    ck_abort_msg("%dx%dx%d dof %d, %d neighbours, arith %d, precision %d, threads %d, rhs %d, turn %d: x[%lld,%d] = %g, not %g",
                              shape->nx, shape->ny, shape->nz, shape->dof, shape->neighbours, arith, precision, threads, nrhs,
                              turn, (long long)i, j, get(x, single, i * nrhs + j), known(i, j));
    }
    sptrsv_grid_free(g);
    free(b);
    free(x);
}

static const struct {
    int nx, ny, nz, dof, reach, sum;
} cases[] = {
    {1, 1, 1, 1, 1, 1},    {2, 1, 1, 1, 1, 1},   {1000, 1, 1, 1, 1, 1}, {333, 1, 1, 1, 2, 2},  {77, 1, 1, 1, 0, 0},
    {1, 9, 1, 1, 1, 1},    {2, 30, 1, 1, 1, 1},  {37, 41, 1, 1, 1, 1},  {128, 37, 1, 1, 1, 1}, {150, 23, 1, 1, 1, 2},
    {130, 29, 1, 1, 2, 2}, {70, 30, 1, 1, 2, 4}, {7, 6, 5, 1, 1, 1},    {40, 19, 11, 1, 1, 1}, {64, 16, 9, 1, 1, 1},
    {70, 21, 7, 1, 1, 2},  {65, 17, 6, 1, 1, 3}, {9, 8, 7, 1, 1, 3},    {20, 12, 6, 1, 2, 6},  {72, 13, 5, 1, 2, 6},
    {1, 10, 12, 1, 1, 1},  {33, 2, 9, 1, 1, 3},  {60, 1, 1, 2, 1, 1},   {9, 7, 1, 3, 1, 2},    {40, 11, 1, 4, 1, 1},
    {6, 9, 7, 5, 1, 1},    {5, 4, 6, 6, 1, 3},   {4, 9, 5, 7, 1, 1},    {5, 9, 6, 8, 1, 3},    {300, 5, 1, 2, 2, 4},
};

START_TEST(exact)
{
    grid_maker m = grid_maker_of(cases[_i].nx, cases[_i].ny, cases[_i].nz, cases[_i].dof, cases[_i].reach, cases[_i].sum);
    hu_csr *lower = grid_maker_lower(&m, exact_value, NULL);
    ck_assert_ptr_nonnull(lower);
    hu_csr *upper = mirror(lower);
    sptrsv_grid_shape shape = shape_of(&m);
    const int threads[] = {1, 2, 3, 7};
    for (int turned = 0; turned < 2; turned++) {
        const hu_csr *a = turned ? upper : lower;
        sptrsv_system *s = system_of(a, turned ? HU_UPPER : HU_LOWER);
        for (int precision = 0; precision < 3; precision++)
            for (int t = 0; t < 4; t++) {
                solve_exactly(a, s, &shape, SPTRSV_FOLD, (sptrsv_precision)precision, threads[t], 1);
                if (t != 1) continue;
                solve_exactly(a, s, &shape, SPTRSV_DIVIDE, (sptrsv_precision)precision, threads[t], 1);
                for (int nrhs = 4; nrhs <= 16; nrhs *= 2)
                    solve_exactly(a, s, &shape, SPTRSV_FOLD, (sptrsv_precision)precision, threads[t], nrhs);
            }
        sptrsv_system_free(s);
    }
    hu_csr_free(lower);
    hu_csr_free(upper);
}
END_TEST

/* A unit diagonal is not stored, whatever the matrix says. */
START_TEST(unit_diagonal)
{
    grid_maker m = grid_maker_of(40, 12, 6, 1, 1, 1);
    hu_csr *a = grid_maker_lower(&m, exact_value, NULL);
    sptrsv_problem problem = {.uplo = HU_LOWER, .unit_diagonal = true};
    sptrsv_system *s;
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    for (int64_t i = 0; i < a->rows; i++) a->val[a->row_ptr[i + 1] - 1] = 1; /* for b; the system does not look */
    sptrsv_grid_shape shape = shape_of(&m);
    for (int precision = 0; precision < 3; precision++) {
        solve_exactly(a, s, &shape, SPTRSV_FOLD, (sptrsv_precision)precision, 2, 1);
        solve_exactly(a, s, &shape, SPTRSV_DIVIDE, (sptrsv_precision)precision, 2, 1);
        solve_exactly(a, s, &shape, SPTRSV_FOLD, (sptrsv_precision)precision, 2, 4);
    }
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* ---- rounding --------------------------------------------------------------------------------------------------- */

/* |b - L x| by row in long double within (k + 4) u (|L| |x| + |b|), the matrix rounded first where it is stored as float. */
static void certify(const hu_csr *a, const void *b, const void *x, sptrsv_precision precision)
{
    bool single = precision == SPTRSV_F32;
    long double u = single ? 0x1p-24L : 0x1p-53L;
    for (int64_t i = 0; i < a->rows; i++) {
        long double r = get(b, single, i), size = fabsl(r);
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            long double v = precision == SPTRSV_MIXED ? (long double)(float)a->val[p] : a->val[p];
            long double term = v * get(x, single, a->col[p]);
            r -= term;
            size += fabsl(term);
        }
        long double bound = (long double)(a->row_ptr[i + 1] - a->row_ptr[i] - 1 + 4) * u * size;
        if (!(fabsl(r) <= bound)) ck_abort_msg("precision %d: row %lld: residual %Lg, bound %Lg", precision, (long long)i, fabsl(r), bound);
    }
}

/* Every thread count and number of right-hand sides gives the bits of one thread and one right-hand side. */
START_TEST(rounding_and_bits)
{
    grid_maker m = grid_maker_of(cases[_i].nx, cases[_i].ny, cases[_i].nz, cases[_i].dof, cases[_i].reach, cases[_i].sum);
    double entries = m.count * m.dof + m.dof;
    hu_csr *lower = grid_maker_lower(&m, random_value, &entries), *upper = mirror(lower);
    sptrsv_grid_shape shape = shape_of(&m);
    for (int turned = 0; turned < 2; turned++) {
        const hu_csr *a = turned ? upper : lower;
        sptrsv_system *s = system_of(a, turned ? HU_UPPER : HU_LOWER);
        for (int p = 0; p < 3; p++) {
            sptrsv_precision precision = (sptrsv_precision)p;
            bool single = precision == SPTRSV_F32;
            size_t size = single ? 4 : 8;
            int64_t n = a->rows;
            void *b = vector(n, size), *x = vector(n, size), *other = vector(n, size), *b4 = vector(n * 4, size), *x4 = vector(n * 4, size);
            for (int64_t i = 0; i < n; i++) {
                put(b, single, i, (double)(scramble(i, 7) >> 11) * 0x1p-53 - 0.5);
                for (int j = 0; j < 4; j++) put(b4, single, i * 4 + j, j == 2 ? get(b, single, i) : 1);
            }
            sptrsv_grid *g = grid_of(s, &shape, SPTRSV_FOLD, precision, 1);
            sptrsv_grid_solve(g, b, x);
            certify(a, b, x, precision);
            sptrsv_grid_solve_block(g, 4, b4, x4);
            for (int64_t i = 0; i < n; i++)
                if (get(x4, single, i * 4 + 2) != get(x, single, i)) ck_abort_msg("row %lld: a block differs", (long long)i);
            sptrsv_grid_free(g);
            for (int threads = 2; threads <= 7; threads += 5) {
                g = grid_of(s, &shape, SPTRSV_FOLD, precision, threads);
                sptrsv_grid_solve(g, b, other);
                ck_assert_mem_eq(x, other, (size_t)n * size);
                sptrsv_grid_free(g);
            }
            g = grid_of(s, &shape, SPTRSV_DIVIDE, precision, 2);
            sptrsv_grid_solve(g, b, x);
            certify(a, b, x, precision);
            sptrsv_grid_free(g);
            free(b);
            free(x);
            free(other);
            free(b4);
            free(x4);
        }
        sptrsv_system_free(s);
    }
    hu_csr_free(lower);
    hu_csr_free(upper);
}
END_TEST

/* In double the bits are those of the canonical sum, written out here. */
START_TEST(canonical_sum)
{
    grid_maker m = grid_maker_of(70, 21, 7, 1, 1, 3);
    double entries = 14;
    hu_csr *a = grid_maker_lower(&m, random_value, &entries);
    sptrsv_system *s = system_of(a, HU_LOWER);
    int64_t n = a->rows;
    double *b = vector(n, 8), *x = vector(n, 8);
    const char *level = getenv("HPCUTILS_CPU");
    bool fused = !level || strcmp(level, "base") != 0;
#if defined(__x86_64__)
    fused = fused && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#endif
    for (int64_t i = 0; i < n; i++) b[i] = (double)(scramble(i, 7) >> 11) * 0x1p-53 - 0.5;
    sptrsv_grid_shape shape = shape_of(&m);
    sptrsv_grid *g = grid_of(s, &shape, SPTRSV_FOLD, SPTRSV_F64, 2);
    sptrsv_grid_solve(g, b, x);
    for (int64_t i = 0; i < n; i++) {
        int64_t last = a->row_ptr[i + 1] - 1;
        volatile double r = 1 / a->val[last], sum = b[i] * r;
        for (int64_t p = a->row_ptr[i]; p < last; p++) {
            volatile double c = a->val[p] / a->val[last], product = c * x[a->col[p]];
            sum = fused ? fma(-c, x[a->col[p]], sum) : sum - product;
        }
        if (sum != x[i]) ck_abort_msg("row %lld: %.17g, not %.17g", (long long)i, x[i], sum);
    }
    sptrsv_grid_free(g);
    sptrsv_system_free(s);
    hu_csr_free(a);
    free(b);
    free(x);
}
END_TEST

/* Where a quotient or a reciprocal overflows or is subnormal, rows are not folded. */
START_TEST(unsafe_folding)
{
    grid_maker m = grid_maker_of(50, 9, 1, 1, 1, 1);
    hu_csr *a = grid_maker_lower(&m, exact_value, NULL);
    int64_t row = 222, last = a->row_ptr[row + 1] - 1;
    for (int64_t p = a->row_ptr[row]; p < last; p++) a->val[p] = 0x1p-1070; /* the quotient is subnormal */
    sptrsv_system *s = system_of(a, HU_LOWER);
    sptrsv_grid_shape shape = shape_of(&m);
    sptrsv_grid *g;
    sptrsv_scheme scheme = {.kind = SPTRSV_GRID, .arith = SPTRSV_FOLD, .tile = SPTRSV_TILE_SLAB};
    bool foldable;
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(sptrsv_grid_new(s, &shape, &scheme, SPTRSV_F64, 2, &g, &err));
    ck_assert_ok(sptrsv_grid_set_values(g, s, &foldable, &err));
    ck_assert(!foldable);
    int64_t n = a->rows;
    double *b = vector(n, 8), *x = vector(n, 8);
    for (int64_t i = 0; i < n; i++) {
        b[i] = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) b[i] += a->val[p] * known(a->col[p], 0);
    }
    sptrsv_grid_solve(g, b, x);
    for (int64_t i = 0; i < n; i++) 
        if (x[i] != known(i, 0)) ck_abort_msg("row %lld: %g", (long long)i, x[i]);
    sptrsv_grid_free(g);
    sptrsv_system_free(s);
    hu_csr_free(a);
    free(b);
    free(x);
}
END_TEST

/* ---- detection -------------------------------------------------------------------------------------------------- */

static const struct {
    int nx, ny, nz, dof, reach, sum;
} grids[] = {
    {100, 100, 1, 1, 1, 1}, {20, 20, 20, 1, 1, 1}, {30, 30, 1, 1, 1, 2},  {30, 40, 1, 1, 2, 2},  {16, 17, 18, 1, 1, 2},
    {13, 11, 12, 1, 1, 3},  {5000, 1, 1, 1, 1, 1}, {4000, 1, 1, 1, 2, 2}, {3000, 1, 1, 1, 0, 0}, {64, 8, 50, 1, 1, 3},
    {200, 1, 1, 3, 1, 1},   {20, 30, 1, 2, 1, 1},  {12, 11, 9, 3, 1, 1},  {9, 10, 8, 4, 1, 3},   {7, 9, 8, 8, 1, 1},
    {10, 11, 12, 5, 1, 2},  {14, 15, 1, 6, 1, 2},  {3, 50, 1, 1, 1, 1},   {15, 16, 17, 7, 1, 1},
};

START_TEST(finds_grids)
{
    grid_maker m = grid_maker_of(grids[_i].nx, grids[_i].ny, grids[_i].nz, grids[_i].dof, grids[_i].reach, grids[_i].sum);
    hu_csr *lower = grid_maker_lower(&m, exact_value, NULL), *upper = mirror(lower);
    sptrsv_grid_shape expected = shape_of(&m), shape;
    for (int turned = 0; turned < 2; turned++) {
        sptrsv_system *s = system_of(turned ? upper : lower, turned ? HU_UPPER : HU_LOWER);
        ck_assert(detect(s, NULL, &shape));
        ck_assert_msg(shape.nx == m.nx && shape.ny == m.ny && shape.nz == m.nz && shape.dof == m.dof && shape.neighbours == m.count,
                      "%dx%dx%d dof %d: found %dx%dx%d dof %d, %d neighbours", m.nx, m.ny, m.nz, m.dof, shape.nx, shape.ny, shape.nz,
                      shape.dof, shape.neighbours);
        ck_assert_mem_eq(shape.dx, expected.dx, (size_t)m.count);
        ck_assert_mem_eq(shape.dy, expected.dy, (size_t)m.count);
        ck_assert_mem_eq(shape.dz, expected.dz, (size_t)m.count);
        int32_t right[3] = {m.nx, 0, 0}, wrong[3] = {m.nx + 1, 0, 0};
        ck_assert(detect(s, right, &shape));
        ck_assert_int_eq(shape.nx, m.nx);
        ck_assert(!detect(s, wrong, &shape));
        sptrsv_system_free(s);
    }
    hu_csr_free(lower);
    hu_csr_free(upper);
}
END_TEST

/* Takes out or moves entries of a 30 x 20 x 10 grid of 7 points. change(row, k-th of entries, &col): false drops the entry. */
static sptrsv_system *changed_grid(bool (*change)(int64_t row, int k, int entries, int32_t *col), hu_csr **ret_a)
{
    grid_maker m = grid_maker_of(30, 20, 10, 1, 1, 1);
    hu_csr *a = grid_maker_lower(&m, exact_value, NULL);
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t end = a->row_ptr[i + 1], begin = from;
        for (; from < end; from++) {
            int32_t col = a->col[from];
            if (col < i && !change(i, (int)(from - begin), (int)(end - begin), &col)) continue;
            a->col[to] = col;
            a->val[to++] = a->val[from];
        }
        a->row_ptr[i + 1] = to;
    }
    a->nnz = to;
    *ret_a = a;
    return system_of(a, HU_LOWER);
}

static bool wraps(int64_t row, int k, int entries, int32_t *col)
{
    if (row == 1500 && k + 2 == entries) *col = (int32_t)row - 1; /* x = 0: the cell before is on another line */
    return true;
}

static bool has_holes(int64_t row, int k, int entries, int32_t *col)
{
    (void)entries;
    (void)col;
    return scramble(row, k) % 10 != 0;
}

static bool is_sparse(int64_t row, int k, int entries, int32_t *col)
{
    (void)entries;
    (void)col;
    return scramble(row, k) % 2 != 0;
}

static bool strays(int64_t row, int k, int entries, int32_t *col)
{
    (void)entries;
    if (row == 4321 && k == 0) *col = 17;
    return true;
}

START_TEST(refuses_what_is_no_grid)
{
    hu_csr *a;
    sptrsv_grid_shape shape;
    sptrsv_system *s = changed_grid(wraps, &a);
    ck_assert_msg(!detect(s, NULL, &shape), "a wrap-around passed for a neighbour");
    sptrsv_system_free(s);
    hu_csr_free(a);
    s = changed_grid(strays, &a);
    ck_assert(!detect(s, NULL, &shape));
    sptrsv_system_free(s);
    hu_csr_free(a);
    s = changed_grid(is_sparse, &a);
    ck_assert_msg(!detect(s, NULL, &shape), "half of the neighbours are missing");
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

START_TEST(holes_are_zeros)
{
    hu_csr *a;
    sptrsv_grid_shape shape;
    sptrsv_system *s = changed_grid(has_holes, &a);
    ck_assert(detect(s, NULL, &shape));
    ck_assert_int_eq(shape.nx, 30);
    ck_assert_int_eq(shape.ny, 20);
    solve_exactly(a, s, &shape, SPTRSV_FOLD, SPTRSV_F64, 2, 1);
    solve_exactly(a, s, &shape, SPTRSV_FOLD, SPTRSV_F32, 3, 8);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* Random sparse rows: whatever detection says, a grid that it finds must solve exactly. */
START_TEST(small_random_patterns)
{
    hu_error err = HU_ERROR_NONE;
    hu_random random = hu_random_stream(5, (uint64_t)_i);
    int64_t n = 1 + hu_random_below(&random, 24), p = 0;
    hu_csr *a;
    ck_assert_ok(hu_csr_new(n, n, n * n, false, &a, &err));
    int64_t odds = 1 + hu_random_below(&random, 4);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            if (j < i && (hu_random_below(&random, 4) >= odds || i - j > 6)) continue;
            a->col[p] = (int32_t)j;
            a->val[p++] = exact_value(NULL, i, j);
        }
        a->row_ptr[i + 1] = p;
    }
    a->nnz = p;
    sptrsv_system *s = system_of(a, HU_LOWER);
    sptrsv_grid_shape shape;
    if (detect(s, NULL, &shape)) solve_exactly(a, s, &shape, SPTRSV_FOLD, SPTRSV_F64, 3, 1);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* New values with another pattern are found out, and so is a shape that does not fit. */
START_TEST(wrong_shapes)
{
    grid_maker m = grid_maker_of(30, 20, 1, 1, 1, 2), five = grid_maker_of(30, 20, 1, 1, 1, 1);
    hu_csr *a = grid_maker_lower(&m, exact_value, NULL);
    sptrsv_system *s = system_of(a, HU_LOWER);
    sptrsv_scheme scheme = {.kind = SPTRSV_GRID};
    sptrsv_grid_shape shape = shape_of(&five);
    sptrsv_grid *g;
    bool foldable;
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(sptrsv_grid_new(s, &shape, &scheme, SPTRSV_F64, 2, &g, &err));
    ck_assert_int_eq(sptrsv_grid_set_values(g, s, &foldable, &err), HU_INPUT);
    ck_assert_ptr_nonnull(strstr(err.message, "row 31 ")); /* the first with a diagonal neighbour is cell (0, 1): (1, -1) */
    sptrsv_grid_free(g);
    hu_error_clear(&err);
    shape.ny = 19;
    ck_assert_int_eq(sptrsv_grid_new(s, &shape, &scheme, SPTRSV_F64, 2, &g, &err), HU_INPUT);
    ck_assert_ptr_null(g);
    hu_error_clear(&err);
    shape = shape_of(&five);
    shape.dy[0] = 1;
    ck_assert_int_eq(sptrsv_grid_new(s, &shape, &scheme, SPTRSV_F64, 2, &g, &err), HU_INPUT);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid");
    TCase *solving = tcase_create("solving"), *detecting = tcase_create("detecting");
    tcase_set_timeout(solving, 120);
    tcase_add_loop_test(solving, exact, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(solving, rounding_and_bits, 0, sizeof cases / sizeof *cases);
    tcase_add_test(solving, unit_diagonal);
    tcase_add_test(solving, canonical_sum);
    tcase_add_test(solving, unsafe_folding);
    tcase_set_timeout(detecting, 60);
    tcase_add_loop_test(detecting, finds_grids, 0, sizeof grids / sizeof *grids);
    tcase_add_test(detecting, refuses_what_is_no_grid);
    tcase_add_test(detecting, holes_are_zeros);
    tcase_add_loop_test(detecting, small_random_patterns, 0, 60);
    tcase_add_test(detecting, wrong_shapes);
    suite_add_tcase(suite, solving);
    suite_add_tcase(suite, detecting);
    return hu_test_run(suite);
}
