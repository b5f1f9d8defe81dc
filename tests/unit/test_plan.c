/* test_plan.c: every scheme against exact integer solutions, against each other bit by bit, and plans on real matrices. */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/random.h"
#include "plan.h"
#include "survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- systems of ten shapes -------------------------------------------------------------------------------------- */

enum { CHAIN, ARROW, DIAGONAL, DENSE_ROW, DENSE_COLUMN, BLOCKS, TREE, GRID, BAND, RANDOM, SHAPES };

/* Whether a lower triangular matrix of a shape has entry (i, j), j < i. */
static bool has_entry(int shape, int64_t n, int64_t i, int64_t j, hu_random *r)
{
    switch (shape) {
    case CHAIN: return j == i - 1;
    case ARROW: return i == n - 1 || (i % 7 == 3 && j == 0);
    case DIAGONAL: return false;
    case DENSE_ROW: return i == n - 1 || (j == i - 3 && i % 2 == 0);
    case DENSE_COLUMN: return j == 0 || j == i - 5;
    case BLOCKS: return i / 6 == j / 6 || (j / 6 == i / 6 - 2) || (j / 6 == i / 6 - 7);
    case TREE: return j == (i - 1) / 2 && i > 0;
    case GRID: return (j == i - 1 && i % 16 != 0) || j == i - 16 || j == i - 15;
    case BAND: return i - j < 12 && hu_random_below(r, 3) > 0;
    default: return hu_random_below(r, n) < 9;
    }
}

/* Lower, or where upper its mirror image (rows and columns reversed). Values: -2..2 without 0 and a diagonal of +-1, +-2 (exact), or random reals. */
static hu_csr *make_matrix(int shape, int64_t n, bool upper, bool exact, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = NULL;
    hu_random r = hu_random_stream(seed, (uint64_t)shape);
    ck_assert_ok(hu_csr_new(n, n, n * n / 2 + n, false, &a, &err));
    int64_t nnz = 0;
    for (int64_t row = 0; row < n; row++) {
        int64_t i = upper ? n - 1 - row : row;
        for (int64_t c = upper ? row : 0; c <= (upper ? n - 1 : row); c++) {
            int64_t j = upper ? n - 1 - c : c;
            if (i != j && !has_entry(shape, n, i, j, &r)) continue;
            a->col[nnz] = (int32_t)c;
            double v = exact ? (double)(1 + hu_random_below(&r, 2)) : 0.1 + hu_random_uniform(&r);
            if (hu_random_below(&r, 2)) v = -v;
            if (!exact && i == j) v *= 8;
            a->val[nnz++] = v;
        }
        a->row_ptr[row + 1] = nnz;
    }
    a->nnz = nnz;
    return a;
}

/* b = op(T) x in 64-bit integers, T as the problem sees it. Solutions are small where sums would grow. */
static void multiply(const hu_csr *a, const sptrsv_problem *p, const int64_t *x, int64_t *b)
{
    memset(b, 0, (size_t)a->rows * sizeof *b);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t e = a->row_ptr[i]; e < a->row_ptr[i + 1]; e++) {
            int64_t j = a->col[e], v = i == j && p->unit_diagonal ? 1 : (int64_t)a->val[e];
            if (p->op == SPTRSV_PLAIN) b[i] += v * x[j];
            else b[j] += v * x[i];
        }
}

/* ---- schemes ---------------------------------------------------------------------------------------------------- */

static const char *const schemes[] = {
    "kind:serial,index:32,super:0",
    "kind:serial,index:16,super:1",
    "kind:serial,arith:divide,index:16",
    "kind:level,node:row,index:16",
    "kind:level,node:chain,rows:8,super:1,index:32",
    "kind:barrier,node:row",
    "kind:barrier,node:block,rows:4,arith:divide",
    "kind:task,node:row,merge:0,index:16",
    "kind:task,node:row,merge:100,index:32",
    "kind:task,node:chain,rows:5,merge:0,super:1",
    "kind:task,node:block,rows:16,merge:50,super:1,index:16",
    "kind:task,node:block,rows:3,merge:0,arith:divide",
    "kind:level,node:block,rows:128",
    "kind:task,node:block,rows:64,merge:0,index:16",
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static sptrsv_scheme scheme_of(const char *text, int rhs)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme s = {.rows = 1, .index = 32, .rhs = rhs};
    ck_assert_ok(sptrsv_scheme_parse(text, &s, &err));
    return s;
}

/* Solves nrhs right-hand sides of one system under one scheme and wants x exactly. */
static void solve_exactly(const sptrsv_system *s, const char *text, sptrsv_precision precision, int threads, int nrhs, hu_order order,
                          const int64_t *x, const int64_t *b)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme scheme = scheme_of(text, nrhs == 1 ? 1 : nrhs <= 8 ? 8 : 16);
    sptrsv_plan *plan = NULL;
    hu_dense *rhs = NULL;
    ck_assert_ok(sptrsv_plan_new(s, &scheme, precision, threads, &plan, &err));
    ck_assert_ok(hu_dense_new(s->n, nrhs, precision == SPTRSV_F32 ? HU_F32 : HU_F64, order, &rhs, &err));
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < nrhs; j++) {
            int64_t at = order == HU_ROW_MAJOR ? i * rhs->ld + j : i + j * rhs->ld, scale = 1 << j % 4;
            if (precision == SPTRSV_F32) ((float *)rhs->data)[at] = (float)(b[i] * scale);
            else ((double *)rhs->data)[at] = (double)(b[i] * scale);
        }
    if (nrhs == 1) sptrsv_solve(plan, rhs->data, rhs->data);
    else ck_assert_ok(sptrsv_solve_many(plan, rhs, rhs, &err));
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < nrhs; j++) {
            int64_t at = order == HU_ROW_MAJOR ? i * rhs->ld + j : i + j * rhs->ld;
            double got = precision == SPTRSV_F32 ? (double)((float *)rhs->data)[at] : ((double *)rhs->data)[at];
            ck_assert_msg(got == (double)(x[i] * (1 << j % 4)), "%s, %d threads, %d rhs, precision %d: row %lld: %g, not %lld", text,
                          threads, nrhs, (int)precision, (long long)i, got, (long long)x[i] << j % 4);
        }
    hu_dense_free(rhs);
    sptrsv_plan_free(plan);
}

static void exact_case(int shape, sptrsv_problem problem)
{
    static const int thread_counts[] = {1, 2, 3, 7}, rhs_counts[] = {1, 3, 8, 17};
    enum { N = 300 };
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix(shape, N, problem.uplo == HU_UPPER, true, 11);
    hu_random r = hu_random_stream(5, 6);
    int64_t x[N], b[N];
    for (int i = 0; i < N; i++) x[i] = hu_random_below(&r, 7) - 3;
    multiply(a, &problem, x, b);
    sptrsv_system *s = NULL;
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    int turn = shape; /* which precision, count of right-hand sides and order go with which scheme changes from case to case */
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < SCHEMES; k++, turn++) {
            bool parallel = strstr(schemes[k], "task") || strstr(schemes[k], "barrier");
            if (!parallel && t > 0) continue;
            if (thread_counts[t] == 7 && k % 3 != shape % 3) continue; /* more threads than processors: waits are long */
            solve_exactly(s, schemes[k], (sptrsv_precision)(turn % 3), thread_counts[t], 1, HU_COL_MAJOR, x, b);
            solve_exactly(s, schemes[k], (sptrsv_precision)((turn + 1) % 3), thread_counts[t], rhs_counts[1 + turn % 2 + turn % 5 / 3],
                          turn % 2 ? HU_ROW_MAJOR : HU_COL_MAJOR, x, b);
        }
    sptrsv_system_free(s);
    hu_csr_free(a);
}

START_TEST(exact_lower)
{
    exact_case(_i, (sptrsv_problem){HU_LOWER, SPTRSV_PLAIN, false, false});
}
END_TEST

START_TEST(exact_upper)
{
    exact_case(_i, (sptrsv_problem){HU_UPPER, SPTRSV_PLAIN, false, false});
}
END_TEST

START_TEST(exact_transposed)
{
    exact_case(_i, (sptrsv_problem){HU_LOWER, SPTRSV_TRANSPOSED, false, false});
    exact_case(_i, (sptrsv_problem){HU_UPPER, SPTRSV_TRANSPOSED, false, false});
}
END_TEST

START_TEST(exact_unit)
{
    exact_case(_i, (sptrsv_problem){HU_LOWER, SPTRSV_PLAIN, true, false});
    exact_case(_i, (sptrsv_problem){HU_UPPER, SPTRSV_TRANSPOSED, true, false});
}
END_TEST

/* ---- the same bits ---------------------------------------------------------------------------------------------- */

static void solve_one(const sptrsv_system *s, const char *text, int threads, const double *b, double *x)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme scheme = scheme_of(text, 1);
    sptrsv_plan *plan;
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, threads, &plan, &err));
    sptrsv_solve(plan, b, x);
    sptrsv_plan_free(plan);
}

/* Random reals: every folding scheme and thread count gives the bits of the first, and every dividing one those of the first of its kind;
 * eight columns give the bits of eight solves. */
START_TEST(bits_do_not_depend_on_the_scheme)
{
    enum { N = 400 };
    hu_error err = HU_ERROR_NONE;
    bool upper = _i % 2;
    hu_csr *a = make_matrix(_i, N, upper, false, 21);
    sptrsv_system *s;
    sptrsv_problem problem = {upper ? HU_UPPER : HU_LOWER, SPTRSV_PLAIN, false, false};
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    double b[N], x[N], folded[N], divided[N];
    hu_random r = hu_random_stream(3, 4);
    for (int i = 0; i < N; i++) b[i] = hu_random_normal(&r);
    solve_one(s, "kind:serial", 1, b, folded);
    solve_one(s, "kind:serial,arith:divide", 1, b, divided);
    for (int k = 0; k < SCHEMES; k++)
        for (int threads = 1; threads <= 3; threads++) {
            solve_one(s, schemes[k], threads, b, x);
            ck_assert_msg(memcmp(x, strstr(schemes[k], "divide") ? divided : folded, sizeof x) == 0, "%s, %d threads", schemes[k], threads);
        }
    hu_dense *many;
    ck_assert_ok(hu_dense_new(N, 13, HU_F64, HU_COL_MAJOR, &many, &err));
    for (int j = 0; j < 13; j++) memcpy((double *)many->data + j * many->ld, b, sizeof b);
    for (int k = 0; k < SCHEMES; k += 3) {
        sptrsv_plan *plan;
        sptrsv_scheme scheme = scheme_of(schemes[k], 8);
        ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 2, &plan, &err));
        hu_dense *out;
        ck_assert_ok(hu_dense_new(N, 13, HU_F64, k % 2 ? HU_ROW_MAJOR : HU_COL_MAJOR, &out, &err));
        ck_assert_ok(sptrsv_solve_many(plan, many, out, &err));
        sptrsv_solve(plan, b, x);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 13; j++)
                ck_assert(((double *)out->data)[out->order == HU_ROW_MAJOR ? i * out->ld + j : i + j * out->ld] == x[i]);
        hu_dense_free(out);
        sptrsv_plan_free(plan);
    }
    hu_dense_free(many);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* Scaling rows of T and b by powers of two leaves x as it is, to the last bit; and new values of the same pattern give what a new plan gives. */
/* Last rows, or (upper) first ones, so long that they have chunks, among short ones; exact, and the bits of one thread. */
static hu_csr *fat_matrix(int64_t n, bool upper, bool exact)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = NULL;
    hu_random r = hu_random_stream(5, (uint64_t)n);
    ck_assert_ok(hu_csr_new(n, n, 5 * n, false, &a, &err));
    int64_t nnz = 0;
    for (int64_t row = 0; row < n; row++) {
        int64_t i = upper ? n - 1 - row : row;
        bool fat = i == n - 1 || i == n - 2 || i == n / 2 + 4500;
        for (int64_t c = upper ? row : 0; c <= (upper ? n - 1 : row); c++) {
            int64_t j = upper ? n - 1 - c : c;
            if (i != j && !(fat && (i != n - 1 || j != n - 2)) && j != i - 3) continue;
            a->col[nnz] = (int32_t)c;
            double v = exact ? (double)(1 + hu_random_below(&r, 2)) : 0.1 + hu_random_uniform(&r);
            a->val[nnz++] = hu_random_below(&r, 2) ? -v : v;
        }
        a->row_ptr[row + 1] = nnz;
    }
    a->nnz = nnz;
    return a;
}

START_TEST(fat_rows_are_shared)
{
    static const char *const fat[] = {"kind:serial,index:32,fat:100", "kind:serial,index:16,fat:4096", "kind:level,node:row,index:32,fat:1",
                                      "kind:serial,index:32,arith:divide,fat:100"};
    static const int threads[] = {1, 2, 3, 7};
    enum { N = 14000 };
    hu_error err = HU_ERROR_NONE;
    int64_t *x = calloc(N, sizeof *x), *b = calloc(N, sizeof *b);
    double *rhs = calloc(N, sizeof *rhs), *one = calloc(N, sizeof *one), *got = calloc(N, sizeof *got);
    hu_random r = hu_random_stream(3, 3);
    for (int upper = 0; upper < 2; upper++) {
        const sptrsv_problem problem = {upper ? HU_UPPER : HU_LOWER, SPTRSV_PLAIN, false, false};
        hu_csr *a = fat_matrix(N, upper, true), *real = fat_matrix(N, upper, false);
        sptrsv_system *s = NULL, *sr = NULL;
        ck_assert_ok(sptrsv_system_new(a, &problem, "fat", &s, &err));
        ck_assert_ok(sptrsv_system_new(real, &problem, "fat", &sr, &err));
        for (int64_t i = 0; i < N; i++) x[i] = hu_random_below(&r, 5) - 2, rhs[i] = hu_random_normal(&r);
        multiply(a, &problem, x, b);
        for (int k = 0; k < 4; k++)
            for (int t = 0; t < 4; t++) {
                sptrsv_plan *plan = NULL;
                sptrsv_plan_facts facts;
                sptrsv_scheme scheme = scheme_of(fat[k], 1);
                for (int p = 0; p < 3; p++) solve_exactly(s, fat[k], (sptrsv_precision)p, threads[t], 1, HU_COL_MAJOR, x, b);
                ck_assert_ok(sptrsv_plan_new(sr, &scheme, SPTRSV_F64, threads[t], &plan, &err));
                sptrsv_plan_describe(plan, &facts);
                ck_assert_int_eq(facts.scheme.fat, scheme.fat);
                ck_assert_int_eq(facts.threads, threads[t]);
                sptrsv_solve(plan, rhs, t == 0 ? one : got);
                if (t > 0) ck_assert_msg(memcmp(one, got, N * sizeof *got) == 0, "%s: bits of %d threads", fat[k], threads[t]);
                sptrsv_plan_free(plan);
            }
        sptrsv_system_free(s);
        sptrsv_system_free(sr);
        hu_csr_free(a);
        hu_csr_free(real);
    }
    free(x), free(b), free(rhs), free(one), free(got);
}
END_TEST

START_TEST(row_scaling_and_new_values)
{
    enum { N = 300 };
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix(_i, N, false, false, 31), *scaled = make_matrix(_i, N, false, false, 31);
    sptrsv_system *s, *t;
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    double b[N], c[N], x[N], y[N];
    for (int i = 0; i < N; i++) {
        double scale = ldexp(1, i % 11 - 5);
        b[i] = sin(i + 1.0);
        c[i] = b[i] * scale;
        for (int64_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; k++) scaled->val[k] *= scale;
    }
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    ck_assert_ok(sptrsv_system_new(scaled, &problem, "test", &t, &err));
    sptrsv_scheme scheme = scheme_of(schemes[9], 1);
    sptrsv_plan *plan;
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 2, &plan, &err));
    sptrsv_solve(plan, b, x);
    ck_assert_ok(sptrsv_plan_set_values(plan, t, &err));
    sptrsv_solve(plan, c, y);
    ck_assert_int_eq(memcmp(x, y, sizeof x), 0);
    sptrsv_plan_free(plan);
    sptrsv_system_free(s);
    sptrsv_system_free(t);
    hu_csr_free(a);
    hu_csr_free(scaled);
}
END_TEST

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static hu_csr *two_by_two(double d0, double l, double d1)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    ck_assert_ok(hu_csr_new(2, 2, 3, false, &a, &err));
    memcpy(a->row_ptr, (int64_t[]){0, 1, 3}, 3 * sizeof(int64_t));
    memcpy(a->col, (int32_t[]){0, 0, 1}, 3 * sizeof(int32_t));
    memcpy(a->val, (double[]){d0, l, d1}, 3 * sizeof(double));
    return a;
}

/* 1/d is subnormal, yet x = 1, 0.5 is an ordinary answer: the plan divides and says so. Then an answer that truly overflows names its row. */
START_TEST(folding_is_given_up_where_it_overflows)
{
    hu_error err = HU_ERROR_NONE;
    double huge = 0x1p1023;
    hu_csr *a = two_by_two(huge, huge / 2, huge), *worse = two_by_two(1, 1e300, 1e-300);
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    sptrsv_system *s;
    sptrsv_plan *plan;
    sptrsv_plan_facts facts;
    sptrsv_scheme scheme = scheme_of("kind:serial", 1);
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 1, &plan, &err));
    sptrsv_plan_describe(plan, &facts);
    ck_assert_int_eq(facts.scheme.arith, SPTRSV_DIVIDE);
    ck_assert_msg(strstr(facts.remark, "divides") != NULL, "%s", facts.remark);
    double x[2] = {huge, huge};
    sptrsv_solve(plan, x, x);
    ck_assert(x[0] == 1 && x[1] == 0.5);
    sptrsv_plan_free(plan);
    sptrsv_system_free(s);
    ck_assert_ok(sptrsv_system_new(worse, &problem, "test", &s, &err));
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 1, &plan, &err));
    hu_dense *b;
    ck_assert_ok(hu_dense_new(2, 1, HU_F64, HU_COL_MAJOR, &b, &err));
    ((double *)b->data)[0] = ((double *)b->data)[1] = 1;
    ck_assert_int_eq(sptrsv_solve_checked(plan, s, b, b, &err), HU_INPUT);
    ck_assert_msg(strstr(err.message, "row 2") != NULL, "%s", err.message);
    hu_dense_free(b);
    sptrsv_plan_free(plan);
    sptrsv_system_free(s);
    hu_csr_free(a);
    hu_csr_free(worse);
}
END_TEST

START_TEST(sizes_zero_and_one)
{
    for (int64_t n = 0; n <= 1; n++)
        for (int k = 0; k < SCHEMES; k++) {
            hu_error err = HU_ERROR_NONE;
            hu_csr *a;
            ck_assert_ok(hu_csr_new(n, n, n, false, &a, &err));
            sptrsv_problem problem = {HU_UPPER, SPTRSV_PLAIN, false, false};
            sptrsv_system *s;
            sptrsv_plan *plan;
            double x[1] = {6};
            if (n == 1) a->row_ptr[1] = 1, a->col[0] = 0, a->val[0] = 2;
            sptrsv_scheme scheme = scheme_of(schemes[k], 8);
            ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
            ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 3, &plan, &err));
            sptrsv_solve(plan, x, x);
            ck_assert(n == 0 || x[0] == 3);
            sptrsv_plan_free(plan);
            sptrsv_system_free(s);
            hu_csr_free(a);
        }
}
END_TEST

/* (1 + i) x = 2i and x + i y = 1, also conjugated and transposed: answers by hand. */
START_TEST(complex_by_hand)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    ck_assert_ok(hu_csr_new(2, 2, 3, true, &a, &err));
    memcpy(a->row_ptr, (int64_t[]){0, 1, 3}, 3 * sizeof(int64_t));
    memcpy(a->col, (int32_t[]){0, 0, 1}, 3 * sizeof(int32_t));
    memcpy(a->val, (double[]){1, 1, 1, 0, 0, 1}, 6 * sizeof(double)); /* [[1+i, 0], [1, i]] */
    static const char *const texts[] = {"kind:serial", "kind:task,merge:0", "kind:serial,arith:divide"};
    for (int k = 0; k < 3; k++) {
        sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
        sptrsv_system *s;
        sptrsv_plan *plan;
        sptrsv_scheme scheme = scheme_of(texts[k], 1);
        ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
        ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 2, &plan, &err));
        double x[4] = {0, 2, 1, 0}; /* x = 2i / (1+i) = 1+i; y = (1 - (1+i)) / i = -1 */
        sptrsv_solve(plan, x, x);
        ck_assert(x[0] == 1 && x[1] == 1 && x[2] == -1 && x[3] == 0);
        sptrsv_plan_free(plan);
        sptrsv_system_free(s);
        problem.op = SPTRSV_CONJUGATE; /* [[1-i, 1], [0, -i]] */
        ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
        ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 2, &plan, &err));
        double z[4] = {1, 0, 0, -1}; /* y = 1; x = (1 - 1) / (1-i) = 0 */
        sptrsv_solve(plan, z, z);
        ck_assert(z[0] == 0 && z[1] == 0 && z[2] == 1 && z[3] == 0);
        sptrsv_plan_free(plan);
        sptrsv_system_free(s);
    }
    hu_csr_free(a);
}
END_TEST

/* A plan of four threads inside a parallel region, where the runtime gives one: every caller solves alone, and right. So does a whole
 * program under OMP_THREAD_LIMIT=1. */
START_TEST(fewer_threads_than_planned)
{
    enum { N = 300, CALLERS = 2 };
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix(_i, N, false, false, 51);
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    sptrsv_system *s;
    double b[N], wanted[N], x[CALLERS][N];
    for (int i = 0; i < N; i++) b[i] = sin(i + 1.0);
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    solve_one(s, "kind:serial", 1, b, wanted);
    for (int k = 0; k < SCHEMES; k++) {
        if (strstr(schemes[k], "divide")) continue;
        sptrsv_plan *plan;
        sptrsv_scheme scheme = scheme_of(schemes[k], 1);
        ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 4, &plan, &err));
        memset(x, 0, sizeof x);
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
        for (int t = 0; t < CALLERS; t++) sptrsv_solve(plan, b, x[t]);
        for (int t = 0; t < CALLERS; t++) ck_assert_msg(memcmp(x[t], wanted, sizeof wanted) == 0, "%s, caller %d", schemes[k], t);
        sptrsv_plan_free(plan);
    }
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

/* The rule gives a scheme that solves right on every shape. */
START_TEST(the_rule_solves)
{
    enum { N = 300 };
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix(_i, N, false, true, 41);
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    sptrsv_system *s;
    sptrsv_scheme scheme;
    char text[256];
    int64_t x[N], b[N];
    for (int i = 0; i < N; i++) x[i] = i % 5 - 2;
    multiply(a, &problem, x, b);
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    for (int threads = 1; threads < 4; threads++) {
        ck_assert_ok(sptrsv_scheme_by_rule(s, threads, true, &scheme, &err));
        sptrsv_scheme_print(&scheme, text, sizeof text);
        solve_exactly(s, text, SPTRSV_F64, threads, 1, HU_COL_MAJOR, x, b);
    }
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sptrsv plan");
    TCase *exact = tcase_create("exact");
    tcase_set_timeout(exact, 120);
    tcase_add_loop_test(exact, exact_lower, 0, SHAPES);
    tcase_add_loop_test(exact, exact_upper, 0, SHAPES);
    tcase_add_loop_test(exact, exact_transposed, 0, SHAPES);
    tcase_add_loop_test(exact, exact_unit, 0, SHAPES);
    suite_add_tcase(suite, exact);
    TCase *bits = tcase_create("bits");
    tcase_set_timeout(bits, 120);
    tcase_add_loop_test(bits, bits_do_not_depend_on_the_scheme, 0, SHAPES);
    tcase_add_test(bits, fat_rows_are_shared);
    tcase_add_loop_test(bits, row_scaling_and_new_values, 0, SHAPES);
    suite_add_tcase(suite, bits);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, folding_is_given_up_where_it_overflows);
    tcase_add_test(edges, sizes_zero_and_one);
    tcase_add_test(edges, complex_by_hand);
    tcase_add_loop_test(edges, fewer_threads_than_planned, 0, SHAPES);
    tcase_add_loop_test(edges, the_rule_solves, 0, SHAPES);
    suite_add_tcase(suite, edges);
    return hu_test_run(suite);
}
