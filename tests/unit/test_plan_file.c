/* test_plan_file.c: plans through files, and schedules from outside that are not right. */
#include "config.h"
#include "hu_test.h"
#include "base/random.h"
#include "plan.h"
#include "schedule.h"

#include <string.h>
#include <unistd.h>

enum { N = 600 };

/* A grid-like band with random extra entries: many levels with several rows each. */
static hu_csr *make_matrix(void)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    hu_random r = hu_random_stream(7, 8);
    ck_assert_ok(hu_csr_new(N, N, 6 * N, false, &a, &err));
    int64_t nnz = 0;
    for (int64_t i = 0; i < N; i++) {
        int64_t extra = i > 60 ? hu_random_below(&r, i - 50) : -1;
        if (extra >= 0) a->col[nnz] = (int32_t)extra, a->val[nnz++] = 0.25;
        if (i >= 25) a->col[nnz] = (int32_t)(i - 25), a->val[nnz++] = -0.5;
        if (i % 25) a->col[nnz] = (int32_t)(i - 1), a->val[nnz++] = -0.75;
        a->col[nnz] = (int32_t)i, a->val[nnz++] = 1.5 + (double)(i % 3);
        a->row_ptr[i + 1] = nnz;
    }
    a->nnz = nnz;
    return a;
}

static sptrsv_system *system_of(const hu_csr *a)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    sptrsv_system *s;
    ck_assert_ok(sptrsv_system_new(a, &problem, "test", &s, &err));
    return s;
}

static sptrsv_scheme scheme_of(const char *text)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme s = {.rows = 1, .index = 32, .rhs = 1};
    ck_assert_ok(sptrsv_scheme_parse(text, &s, &err));
    return s;
}

static const char *const schemes[] = {"kind:serial", "kind:level", "kind:task,merge:0", "kind:task,node:chain,rows:4,merge:40,super:1",
                                      "kind:barrier,node:block,rows:3"};

static void save(const sptrsv_plan *plan, const sptrsv_system *s, char *path)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    strcpy(path, "/tmp/hu_plan_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_ok(hu_output_open(path, &out, &err));
    ck_assert_ok(sptrsv_plan_save(plan, s, out, &err));
    ck_assert_ok(hu_output_commit(&out, &err));
}

static hu_status load(const char *path, const sptrsv_system *s, int threads, sptrsv_plan **plan, hu_error *err)
{
    hu_source *source;
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    sptrsv_plan_load(source, s, threads, plan, err);
    hu_source_close(source);
    return err->status;
}

/* A plan that was saved and loaded gives the same bits, also with new values (the fault of plans that keep old ones) and another thread count. */
START_TEST(a_loaded_plan_solves)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix();
    sptrsv_system *s = system_of(a);
    sptrsv_scheme scheme = scheme_of(schemes[_i]);
    sptrsv_plan *plan, *loaded;
    char path[40];
    double b[N], x[N], y[N];
    for (int i = 0; i < N; i++) b[i] = 1.0 / (i + 1);
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 3, &plan, &err));
    save(plan, s, path);
    sptrsv_plan_free(plan);
    for (int64_t k = 0; k < a->nnz; k++) a->val[k] *= 1.0 + 0.01 * (double)(k % 7);
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 1, &plan, &err));
    sptrsv_solve(plan, b, x);
    for (int threads = 1; threads <= 3; threads++) {
        ck_assert_ok(load(path, s, threads, &loaded, &err));
        sptrsv_solve(loaded, b, y);
        ck_assert_int_eq(memcmp(x, y, sizeof x), 0);
        sptrsv_plan_free(loaded);
    }
    unlink(path);
    sptrsv_plan_free(plan);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

START_TEST(another_matrix_is_refused)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix(), *other = make_matrix();
    other->col[other->row_ptr[301]]++; /* the extra entry of row 301 one to the right: same counts, another pattern */
    sptrsv_system *s = system_of(a), *t = system_of(other);
    sptrsv_scheme scheme = scheme_of(schemes[2]);
    sptrsv_plan *plan, *loaded;
    char path[40];
    ck_assert_ok(sptrsv_plan_new(s, &scheme, SPTRSV_F64, 2, &plan, &err));
    save(plan, s, path);
    ck_assert_int_eq(load(path, t, 2, &loaded, &err), SPTRSV_PLAN_MISFIT);
    ck_assert_msg(strstr(err.message, "pattern differs") != NULL, "%s", err.message);
    ck_assert_ptr_null(loaded);
    hu_error_clear(&err);
    ck_assert_int_eq(truncate(path, 3000), 0);
    ck_assert_int_eq(load(path, s, 2, &loaded, &err), SPTRSV_PLAN_MISFIT);
    unlink(path);
    sptrsv_plan_free(plan);
    sptrsv_system_free(s);
    sptrsv_system_free(t);
    hu_csr_free(a);
    hu_csr_free(other);
}
END_TEST

static void refused(const sptrsv_system *s, const sptrsv_schedule *schedule, const char *what)
{
    hu_error err = HU_ERROR_NONE;
    ck_assert_msg(sptrsv_schedule_check(s, schedule, "test", &err) == (hu_status)SPTRSV_PLAN_MISFIT, "%s was accepted", what);
}

/* Waits are a transitive reduction: each is needed, so a schedule without any one of them, or with less of it, must be refused; and so must wrong numbers. */
START_TEST(a_damaged_schedule_is_refused)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = make_matrix();
    sptrsv_system *s = system_of(a);
    sptrsv_scheme scheme = scheme_of(schemes[2 + _i]);
    sptrsv_schedule *d;
    ck_assert_ok(sptrsv_schedule_new(s, &scheme, 3, &d, &err));
    ck_assert_ok(sptrsv_schedule_check(s, d, "test", &err));
    ck_assert_int_gt(d->waits, 5);
    for (int64_t w = 0; w < d->waits; w++) {
        sptrsv_wait kept = d->wait[w];
        d->wait[w].count = kept.count - 1;
        refused(s, d, "a weaker wait");
        d->wait[w].count = INT32_MAX;
        refused(s, d, "a wait without end");
        d->wait[w] = (sptrsv_wait){3, 1};
        refused(s, d, "a wait for no thread");
        d->wait[w] = kept;
    }
    int32_t kept = d->order[N / 2];
    d->order[N / 2] = d->order[N / 2 + 1];
    refused(s, d, "a row twice");
    d->order[N / 2] = N;
    refused(s, d, "a row outside");
    d->order[N / 2] = -1;
    refused(s, d, "a row before the first");
    d->order[N / 2] = kept;
    int64_t start = d->task_start[1];
    d->task_start[1] = N + 1;
    refused(s, d, "a task outside");
    d->task_start[1] = -5;
    refused(s, d, "a task before the first");
    d->task_start[1] = start;
    d->task_group[0] = d->groups;
    refused(s, d, "a group outside");
    sptrsv_schedule_free(d);
    sptrsv_system_free(s);
    hu_csr_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sptrsv plan files");
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 60);
    tcase_add_loop_test(files, a_loaded_plan_solves, 0, sizeof schemes / sizeof *schemes);
    tcase_add_test(files, another_matrix_is_refused);
    tcase_add_loop_test(files, a_damaged_schedule_is_refused, 0, 2);
    suite_add_tcase(suite, files);
    return hu_test_run(suite);
}
