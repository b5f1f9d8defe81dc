// test_gpu_solve.cpp: the GPU kernels of sptrsv-solve, run by the emulator, against exact integer solutions: every dimension of the scheme space, many seeds,
// blocks one at a time and interleaved. Also the device layer, and what must not hang.
#include "cuda_runtime.h"
#include "simt_test.h"

#include "dense/dense.h"
#include "device/gpu.h"
#include "generate.h"
#include "sptrsv-solve/gpu_solve.h"
#include "sptrsv-solve/system.h"

#include <limits>

namespace {

struct problem {
    hu_csr *a = nullptr;
    sptrsv_system *system = nullptr;
    std::vector<double> x, b; // of columns, one after another
    int64_t n = 0, columns = 0;
    ~problem()
    {
        sptrsv_system_free(system);
        hu_csr_free(a);
    }
};

// A matrix of small integers, and a right-hand side whose solution is known exactly.
void make(hu_gen_family family, int64_t columns, bool upper, sptrsv_op op, uint64_t seed, problem &p)
{
    hu_error err = HU_ERROR_NONE;
    hu_gen g = HU_GEN_DEFAULTS;
    g.family = family;
    g.nx = family == HU_GEN_GRID || family == HU_GEN_MESH ? 9 : 110;
    g.ny = family == HU_GEN_GRID || family == HU_GEN_MESH ? 11 : 1;
    g.nz = 1;
    g.band = family == HU_GEN_BLOCKS ? 7 : 30;
    g.values = HU_GEN_INTEGER;
    g.part = upper ? HU_GEN_UPPER : HU_GEN_LOWER;
    g.seed = seed;
    if (family == HU_GEN_GRID) g.points = 9;
    check_ok(hu_gen_matrix(&g, &p.a, &err), err);
    sptrsv_problem what = {upper ? HU_UPPER : HU_LOWER, op, false, false};
    check_ok(sptrsv_system_new(p.a, &what, "test", &p.system, &err), err);
    p.n = p.a->rows;
    p.columns = columns;
    p.x.resize(size_t(p.n * columns));
    p.b.assign(size_t(p.n * columns), 0);
    for (size_t i = 0; i < p.x.size(); i++) p.x[i] = double(int64_t((i * 7 + seed) % 5) - 2);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < p.n; i++)
            for (int64_t e = p.a->row_ptr[i]; e < p.a->row_ptr[i + 1]; e++) {
                int64_t from = op == SPTRSV_PLAIN ? i : p.a->col[e], to = op == SPTRSV_PLAIN ? p.a->col[e] : i;
                p.b[size_t(from + c * p.n)] += p.a->val[e] * p.x[size_t(to + c * p.n)];
            }
}

hu_dense dense_of(std::vector<double> &v, int64_t n, int64_t columns) { return {n, columns, n, HU_F64, HU_COL_MAJOR, 2, v.data()}; }
hu_dense dense_of(std::vector<float> &v, int64_t n, int64_t columns) { return {n, columns, n, HU_F32, HU_COL_MAJOR, 2, v.data()}; }

template <class A> void solve_and_compare(const problem &p, const sptrsv_gpu_scheme &scheme, sptrsv_precision precision, const char *what)
{
    hu_error err = HU_ERROR_NONE;
    hu_gpu *gpu;
    sptrsv_gpu_plan *plan;
    check_ok(hu_gpu_open(0, &gpu, &err), err);
    check_ok(sptrsv_gpu_plan_new(gpu, p.system, &scheme, precision, &plan, &err), err);
    std::vector<A> b(p.b.begin(), p.b.end()), x(b.size(), A(99));
    hu_dense B = dense_of(b, p.n, p.columns), X = dense_of(x, p.n, p.columns);
    for (int again = 0; again < 2; again++) { // the second solve finds the flags of the first
        check_ok(sptrsv_gpu_solve(plan, &B, &X, &err), err);
        want_none();
        for (size_t i = 0; i < x.size(); i++)
            ck_assert_msg(double(x[i]) == p.x[i], "%s: row %d: %g, not %g", what, int(i), double(x[i]), p.x[i]);
    }
    sptrsv_gpu_plan_free(plan);
    hu_gpu_close(gpu);
}

void solve(const problem &p, const char *text, sptrsv_precision precision)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_gpu_scheme scheme;
    sptrsv_gpu_schedule *schedule;
    sptrsv_gpu_scheme_by_rule(p.system, &scheme);
    check_ok(sptrsv_gpu_scheme_parse(text, &scheme, &err), err);
    check_ok(sptrsv_gpu_schedule_new(p.system, &scheme, 5, &schedule, &err), err);
    check_ok(sptrsv_gpu_schedule_check(p.system, schedule, &err), err);
    sptrsv_gpu_schedule_free(schedule);
    if (precision == SPTRSV_F32) solve_and_compare<float>(p, scheme, precision, text);
    else solve_and_compare<double>(p, scheme, precision, text);
}

const hu_gen_family families[] = {HU_GEN_GRID, HU_GEN_BAND, HU_GEN_ARROW, HU_GEN_CHAIN, HU_GEN_DIAGONAL, HU_GEN_LASTROW, HU_GEN_FIRSTCOL,
                                  HU_GEN_BLOCKS, HU_GEN_TREE, HU_GEN_MESH, HU_GEN_POWER};

} // namespace

START_TEST(every_scheme)
{
    const char *lanes[] = {"1", "2", "4", "8", "16", "32", "block"}, *nodes[] = {"fixed,rows:1", "fixed,rows:5", "thresh,rows:3", "mean,rows:4"};
    const char *orders[] = {"level,group:simple", "level,group:balance", "row"}, *takes[] = {"ticket", "robin", "least"};
    uint64_t turn = 0;
    for (const char *l : lanes)
        for (const char *n : nodes)
            for (const char *o : orders)
                for (const char *t : takes) {
                    problem p;
                    char text[128];
                    bool is_static = t != takes[0];
                    std::snprintf(text, sizeof text, "lanes:%s,threads:64,node:%s,order:%s,take:%s", l, n, o, t);
                    make(families[turn % 11], 1, turn % 3 == 1, turn % 5 == 2 ? SPTRSV_TRANSPOSED : SPTRSV_PLAIN, turn, p);
                    configure(turn, is_static ? 4096 : 1 + unsigned(turn % 3), true);
                    solve(p, text, sptrsv_precision(turn % 3));
                    turn++;
                }
}
END_TEST

START_TEST(every_family_and_seed)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (hu_gen_family family : families) {
            problem p;
            make(family, 1, false, SPTRSV_PLAIN, seed, p);
            configure(seed, 1 + unsigned(seed % 4), seed % 4 == 0);
            solve(p, seed % 2 ? "threads:64,lanes:1,take:ticket" : "threads:64,lanes:8,take:ticket", SPTRSV_F64);
        }
}
END_TEST

START_TEST(many_columns)
{
    for (int64_t columns : {2, 3, 8, 17, 40})
        for (int precision = 0; precision < 3; precision++) {
            problem p;
            make(families[size_t(columns) % 11], columns, false, SPTRSV_PLAIN, uint64_t(columns), p);
            configure(uint64_t(columns), 2, columns < 10);
            solve(p, "threads:64", sptrsv_precision(precision));
        }
}
END_TEST

// A value that is not a number reaches the rows that depend on it, and holds nobody up.
START_TEST(nan_does_not_hang)
{
    hu_error err = HU_ERROR_NONE;
    problem p;
    make(HU_GEN_CHAIN, 1, false, SPTRSV_PLAIN, 1, p);
    configure(1, 2, true);
    hu_gpu *gpu;
    sptrsv_gpu_plan *plan;
    sptrsv_gpu_scheme scheme;
    sptrsv_gpu_scheme_by_rule(p.system, &scheme);
    check_ok(hu_gpu_open(0, &gpu, &err), err);
    check_ok(sptrsv_gpu_plan_new(gpu, p.system, &scheme, SPTRSV_F64, &plan, &err), err);
    std::vector<double> b = p.b;
    b[10] = std::numeric_limits<double>::quiet_NaN();
    hu_dense B = dense_of(b, p.n, 1);
    check_ok(sptrsv_gpu_solve(plan, &B, &B, &err), err); // in place
    want_none();
    for (size_t i = 0; i < b.size(); i++) ck_assert_msg(i < 10 ? b[i] == p.x[i] : b[i] != b[i], "row %d: %g", int(i), b[i]);
    sptrsv_gpu_plan_free(plan);
    hu_gpu_close(gpu);
}
END_TEST

START_TEST(no_room_on_the_device)
{
    hu_error err = HU_ERROR_NONE;
    problem p;
    hu_gpu *gpu;
    sptrsv_gpu_plan *plan;
    sptrsv_gpu_scheme scheme;
    make(HU_GEN_BAND, 1, false, SPTRSV_PLAIN, 1, p);
    sptrsv_gpu_scheme_by_rule(p.system, &scheme);
    check_ok(hu_gpu_open(0, &gpu, &err), err);
    simt::set_device_memory(2000);
    ck_assert_int_eq(sptrsv_gpu_plan_new(gpu, p.system, &scheme, SPTRSV_F64, &plan, &err), HU_DEVICE);
    ck_assert_ptr_nonnull(std::strstr(err.message, "--device=cpu"));
    ck_assert_ptr_null(plan);
    simt::set_device_memory(size_t(1) << 30);
    hu_gpu_close(gpu);
    hu_error_clear(&err);
    ck_assert_int_eq(hu_gpu_open(1, &gpu, &err), HU_DEVICE);
    ck_assert_ptr_nonnull(std::strstr(err.message, "there is no GPU 1"));
}
END_TEST

START_TEST(schemes_as_text)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_gpu_scheme s = {4, 256, SPTRSV_GPU_FIXED, 1, SPTRSV_GPU_BY_LEVEL, SPTRSV_GPU_SIMPLE, SPTRSV_GPU_TICKET};
    char text[200];
    check_ok(sptrsv_gpu_scheme_parse("lanes:block,take:least,rows:17,node:mean,order:row,threads:1024", &s, &err), err);
    sptrsv_gpu_scheme_print(&s, text, sizeof text);
    ck_assert_str_eq(text, "lanes:block,threads:1024,node:mean,rows:17,order:row,group:simple,take:least");
    for (const char *wrong : {"lanes:3", "lanes", "lane:4", "rows:0", "rows:1025", "take:ticket,rows:x"}) {
        sptrsv_gpu_scheme before = s;
        ck_assert_int_eq(sptrsv_gpu_scheme_parse(wrong, &s, &err), HU_USAGE);
        ck_assert(before.rows == s.rows && before.take == s.take);
        hu_error_clear(&err);
    }
}
END_TEST

int main()
{
    Suite *s = suite_create("gpu solve");
    TCase *c = tcase_create("emulated");
    tcase_add_test(c, every_scheme);
    tcase_add_test(c, every_family_and_seed);
    tcase_add_test(c, many_columns);
    tcase_add_test(c, nan_does_not_hang);
    tcase_add_test(c, no_room_on_the_device);
    tcase_add_test(c, schemes_as_text);
    suite_add_tcase(s, c);
    return run_suite(s);
}
