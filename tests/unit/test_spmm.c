/* test_spmm.c: products of sparse and dense matrices: exact to the bit on whole numbers for every strategy, width, type and thread count; within the error bound
 * on others; nothing read or written beside the rows.
 *
 * Sections: operands, the exact lane, bounds, what must not change, sampled products, files.
 */
#include "config.h"
#include "hu_test.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "generate.h"
#include "packed.h"
#include "plan.h"
#include "sddmm.h"
#include "verify.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static spmm_matrix *made(spmm_gen g)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *csr;
    spmm_matrix *a;
    ck_assert_ok(spmm_generate(&g, &csr, &err));
    ck_assert_ok(spmm_matrix_from_csr(&csr, g.values == SPMM_GEN_ONES, HU_F64, "test", &a, &err));
    return a;
}

/* Rows of ld elements that end at a page nobody may touch; behind each row's k elements stands a mark. */
typedef struct {
    hu_dense dense;
    void *pages;
    size_t size;
} guarded;

enum { MARK = 77 };

static guarded guard(int64_t rows, int64_t k, int64_t ld, hu_scalar scalar)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)(rows ? (rows - 1) * ld + k : 0) * hu_scalar_size(scalar), room = (bytes + page - 1) / page * page;
    guarded g = {.dense = {rows, k, ld, scalar, HU_ROW_MAJOR, 2, NULL}, .size = room + page};
    g.pages = mmap(NULL, g.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(g.pages, MAP_FAILED);
    ck_assert_int_eq(mprotect((char *)g.pages + room, page, PROT_NONE), 0);
    g.dense.data = (char *)g.pages + room - bytes;
    for (int64_t i = 0; i + 1 < rows; i++)
        for (int64_t j = k; j < ld; j++) hu_scalar_put(scalar, g.dense.data, i * ld + j, MARK);
    return g;
}

static void check_marks(const guarded *g)
{
    const hu_dense *d = &g->dense;
    for (int64_t i = 0; i + 1 < d->rows; i++)
        for (int64_t j = d->cols; j < d->ld; j++) ck_assert(hu_scalar_get(d->scalar, d->data, i * d->ld + j) == MARK);
}

static void release(guarded *g)
{
    munmap(g->pages, g->size);
}

static void fill(hu_dense *d, bool whole, uint64_t seed)
{
    for (int64_t i = 0; i < d->rows; i++) {
        hu_random r = hu_random_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < d->cols; j++) hu_scalar_put(d->scalar, d->data, i * d->ld + j, whole ? (double)(hu_random_below(&r, 7) - 3) : hu_random_normal(&r));
    }
}

/* Matrices with empty rows and columns, a very long row, more rows than columns and the other way, no entry. */
static spmm_gen case_of(int i)
{
    spmm_gen g = SPMM_GEN_DEFAULTS;
    g.values = SPMM_GEN_INTEGER;
    g.rows = 150 + 37 * i;
    g.cols = i % 2 ? 90 : g.rows;
    g.degree = 5;
    g.seed = (uint64_t)i + 1;
    g.family = i == 0 ? SPMM_GEN_POWERLAW : i == 1 ? SPMM_GEN_PRUNED : i == 2 ? SPMM_GEN_STAR : i == 3 ? SPMM_GEN_BLOCK : i == 4 ? SPMM_GEN_BANDED : SPMM_GEN_PRUNED;
    g.block = 20;
    if (i == 5) g.density = 0;
    return g;
}

enum { CASES = 6 };

static const hu_scalar scalars[] = {HU_F64, HU_F32, HU_F16, HU_BF16};

/* ---- the exact lane ---------------------------------------------------------------------------------------------- */

/* C by plain loops on whole numbers. */
static int64_t right(const spmm_matrix *a, const hu_dense *b, int64_t i, int64_t j)
{
    int64_t sum = 0;
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
        sum += (int64_t)hu_scalar_get(a->scalar, a->val, p) * (int64_t)hu_scalar_get(b->scalar, b->data, a->col[p] * b->ld + j);
    return sum;
}

static void check_product(const spmm_plan *plan, const hu_dense *b, hu_scalar out, int64_t ld)
{
    hu_error err = HU_ERROR_NONE;
    guarded c = guard(plan->a->rows, b->cols, ld, out);
    for (int64_t i = 0; i < c.dense.rows; i++)
        for (int64_t j = 0; j < b->cols; j++) hu_scalar_put(out, c.dense.data, i * ld + j, NAN); /* what is left unwritten shows */
    const spmm_product p = {b, &c.dense, SPMM_PLAIN};
    ck_assert_ok(spmm_multiply(plan, SPMM_SUM, &p, NULL, &err));
    for (int64_t i = 0; i < c.dense.rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            double value = (double)right(plan->a, b, i, j), rounded[2];
            hu_scalar_put(out, rounded, 0, value);
            value = hu_scalar_get(out, rounded, 0);
            ck_assert_msg(hu_scalar_get(out, c.dense.data, i * ld + j) == value, "%s, %lld columns of %s: (%lld,%lld) is %g, not %g", plan->strategy->name, (long long)b->cols,
                          hu_scalar_name(b->scalar), (long long)i, (long long)j, hu_scalar_get(out, c.dense.data, i * ld + j), value);
        }
    check_marks(&c);
    release(&c);
}

START_TEST(whole_numbers)
{
    static const int64_t widths[] = {1, 3, 15, 16, 17, 31, 33, 143, 257}; /* either side of vectors, tiles of 8 and 16 vectors */
    hu_error err = HU_ERROR_NONE;
    for (int w = _i % 2; w < 9; w += 2) /* odd and even cases share the widths */
        for (int s = 0; spmm_strategies[s]; s++)
            for (int type = 0; type < 4; type++) {
                spmm_matrix *a = made(case_of(_i));
                spmm_options o = SPMM_OPTIONS;
                spmm_plan *plan;
                guarded b = guard(a->cols, widths[w], widths[w] + (w % 2 ? 5 : 0), scalars[type]);
                o.np = w % 3 == 0 ? 0 : 31 + w;
                o.bin_columns = w % 3 == 0 ? 0 : 32;
                o.row_panel = w % 3 == 0 ? 0 : 40;
                o.k = widths[w];
                fill(&b.dense, true, 5);
                hu_threads_set(1 + (w + s + type) % 3);
                ck_assert_ok(spmm_plan_new(a, spmm_strategies[s], &o, spmm_sum_scalar(scalars[type]), &plan, &err));
                check_product(plan, &b.dense, scalars[type], widths[w] + (w % 2 ? 0 : 3));
                if (type > 1) check_product(plan, &b.dense, HU_F32, widths[w]);
                check_marks(&b);
                spmm_plan_free(plan);
                spmm_matrix_free(a);
                release(&b);
            }
}
END_TEST

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

START_TEST(error_bound)
{
    hu_error err = HU_ERROR_NONE;
    spmm_gen g = {SPMM_GEN_PRUNED, 1, 100000, 8, 1, 0, 16, SPMM_GEN_NORMAL, 3}; /* long rows of both signs, and short ones */
    const hu_scalar type = scalars[_i / 2];
    if (_i % 2) g.cols = 60;
    for (int s = 0; spmm_strategies[s]; s++) {
        spmm_matrix *a = made(g);
        spmm_options o = SPMM_OPTIONS;
        spmm_plan *plan;
        hu_dense *b, *c, *c0;
        ck_assert_ok(hu_dense_new(a->cols, 5, type, HU_ROW_MAJOR, &b, &err));
        ck_assert_ok(hu_dense_new(a->rows, 5, type, HU_ROW_MAJOR, &c, &err));
        fill(b, false, 1);
        fill(c, false, 2);
        ck_assert_ok(hu_dense_convert(c, type, HU_ROW_MAJOR, &c0, &err));
        ck_assert_ok(spmm_plan_new(a, spmm_strategies[s], &o, spmm_sum_scalar(type), &plan, &err));
        spmm_product p = {b, c, SPMM_PLAIN};
        p.finish.alpha = 0.7;
        p.finish.beta = -0.3;
        ck_assert_ok(spmm_multiply(plan, SPMM_SUM, &p, NULL, &err));
        const double ratio = spmm_verify(a, b, c, type == HU_F64 ? 0.7 : (double)0.7f, type == HU_F64 ? -0.3 : (double)-0.3f, c0);
        ck_assert_msg(ratio <= 1, "%s: %g of the bound", spmm_strategies[s]->name, ratio);
        hu_scalar_put(type, c->data, 3, hu_scalar_get(type, c->data, 3) * 1.02 + (_i % 2 ? 0.02 : 2000)); /* the judge must see it */
        ck_assert(spmm_verify(a, b, c, type == HU_F64 ? 0.7 : (double)0.7f, type == HU_F64 ? -0.3 : (double)-0.3f, c0) > 1);
        spmm_plan_free(plan);
        spmm_matrix_free(a);
        hu_dense_free(b);
        hu_dense_free(c);
        hu_dense_free(c0);
    }
}
END_TEST

/* ---- what must not change: the bits for any threads; columns on their own; doubling ----------------------------------- */

static void product(const spmm_matrix *a, const spmm_strategy *strategy, int threads, const hu_dense *b, double alpha, hu_dense **ret_c)
{
    hu_error err = HU_ERROR_NONE;
    spmm_options o = SPMM_OPTIONS;
    spmm_plan *plan;
    o.np = 64;
    o.bin_columns = 50;
    o.row_panel = 30;
    o.k = 16;
    hu_threads_set(threads);
    ck_assert_ok(spmm_plan_new((spmm_matrix *)(uintptr_t)a, strategy, &o, b->scalar, &plan, &err));
    ck_assert_ok(hu_dense_new(a->rows, b->cols, b->scalar, HU_ROW_MAJOR, ret_c, &err));
    spmm_product p = {b, *ret_c, SPMM_PLAIN};
    p.finish.alpha = alpha;
    ck_assert_ok(spmm_multiply(plan, SPMM_SUM, &p, NULL, &err));
    spmm_plan_free(plan);
}

START_TEST(bits)
{
    hu_error err = HU_ERROR_NONE;
    spmm_gen g = case_of(2);
    g.values = SPMM_GEN_NORMAL;
    for (int s = 0; spmm_strategies[s]; s++) {
        spmm_matrix *a = made(g);
        hu_dense *b, *one, *c;
        ck_assert_ok(spmm_matrix_widen(a, HU_F32, &err));
        ck_assert_ok(hu_dense_new(a->cols, 45, HU_F32, HU_ROW_MAJOR, &b, &err));
        fill(b, false, 9);
        product(a, spmm_strategies[s], 1, b, 1, &one);
        for (int threads = 1; threads <= 3; threads++) {
            product(a, spmm_strategies[s], threads, b, 1, &c);
            ck_assert_mem_eq(c->data, one->data, (size_t)(c->rows * c->cols) * sizeof(float));
            hu_dense_free(c);
        }
        product(a, spmm_strategies[s], 2, b, 2, &c);
        for (int64_t k = 0; k < c->rows * c->cols; k++) ck_assert(((float *)c->data)[k] == 2 * ((float *)one->data)[k]);
        hu_dense_free(c);
        for (int64_t from = 0; from < 45; from += 19) { /* A (B1 | B2 | B3) = (A B1 | A B2 | A B3) */
            hu_dense part = *b;
            part.data = (float *)b->data + from;
            part.cols = 45 - from < 19 ? 45 - from : 19;
            product(a, spmm_strategies[s], 2, &part, 1, &c);
            for (int64_t i = 0; i < c->rows; i++) ck_assert_mem_eq((float *)c->data + i * c->ld, (float *)one->data + i * 45 + from, (size_t)part.cols * sizeof(float));
            hu_dense_free(c);
        }
        spmm_matrix_free(a);
        hu_dense_free(b);
        hu_dense_free(one);
    }
}
END_TEST

START_TEST(every_entry_once)
{
    hu_error err = HU_ERROR_NONE;
    for (int s = 0; spmm_strategies[s]; s++) {
        spmm_matrix *a = made(case_of(_i));
        spmm_options o = SPMM_OPTIONS;
        spmm_plan *plan;
        spmm_stats stats;
        o.np = 33;
        o.bin_columns = 16;
        ck_assert_ok(spmm_plan_new(a, spmm_strategies[s], &o, HU_F64, &plan, &err));
        plan->strategy->stats(plan->pack, a, &stats);
        ck_assert_int_eq(stats.covered, a->nnz);
        spmm_plan_free(plan);
        spmm_matrix_free(a);
    }
}
END_TEST

/* ---- sampled products -------------------------------------------------------------------------------------------- */

START_TEST(dots)
{
    static const int64_t widths[] = {1, 2, 16, 30, 34, 144};
    hu_error err = HU_ERROR_NONE;
    for (int w = 0; w < 6; w++)
        for (int type = 0; type < 4; type++) {
            spmm_matrix *a = made(case_of(_i));
            guarded x = guard(a->rows, widths[w], widths[w] + 2, scalars[type]), y = guard(a->cols, widths[w], widths[w], scalars[type]);
            const spmm_sampling s = {SPMM_DOT, widths[w] % 2 ? 1 : 2, 1, true, false, 0, false};
            const int64_t share = widths[w] / s.heads;
            hu_dense *e;
            fill(&x.dense, true, 3);
            fill(&y.dense, true, 4);
            ck_assert_ok(hu_dense_new(a->nnz, s.heads, spmm_sum_scalar(scalars[type]), HU_ROW_MAJOR, &e, &err));
            hu_threads_set(1 + w % 3);
            ck_assert_ok(spmm_sddmm(a, &s, &x.dense, &y.dense, e, &err));
            for (int64_t i = 0; i < a->rows; i++)
                for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
                    for (int64_t h = 0; h < s.heads; h++) {
                        double sum = 0;
                        for (int64_t k = h * share; k < (h + 1) * share; k++)
                            sum += hu_scalar_get(scalars[type], x.dense.data, i * x.dense.ld + k) * hu_scalar_get(scalars[type], y.dense.data, a->col[p] * y.dense.ld + k);
                        ck_assert(hu_scalar_get(e->scalar, e->data, p * s.heads + h) == sum * hu_scalar_get(a->scalar, a->val, p));
                    }
            release(&x);
            release(&y);
            hu_dense_free(e);
            spmm_matrix_free(a);
        }
}
END_TEST

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Writes the plan, reads it, multiplies by both. */
START_TEST(files)
{
    hu_error err = HU_ERROR_NONE;
    for (int s = 0; spmm_strategies[s]; s++) {
        spmm_packed packed = {.a = made(case_of(_i)), .storage = HU_F16};
        spmm_options o = SPMM_OPTIONS;
        spmm_plan *plan, *again;
        spmm_packed *found;
        hu_output *out;
        hu_source *source;
        const char *bytes;
        size_t size;
        guarded b;
        o.np = 40;
        o.bin_columns = 30;
        o.row_panel = 32;
        ck_assert_ok(spmm_plan_new(packed.a, spmm_strategies[s], &o, HU_F32, &plan, &err));
        ck_assert_ok(hu_output_memory("packed", &out, &err));
        ck_assert_ok(spmm_packed_write(&packed, plan, HU_BUNDLE_PLAIN, out, &err));
        hu_output_memory_bytes(out, &bytes, &size);
        ck_assert_ok(hu_source_memory("packed", bytes, (int64_t)size, &source, &err));
        ck_assert_ok(spmm_packed_read(source, &found, &err));
        ck_assert_ptr_eq(found->strategy, spmm_strategies[s]);
        ck_assert_ok(spmm_packed_plan(found, NULL, &o, HU_F32, &again, &err));
        b = guard(packed.a->cols, 20, 20, HU_F32);
        fill(&b.dense, true, 8);
        check_product(again, &b.dense, HU_F32, 20);
        release(&b);
        spmm_plan_free(again);
        spmm_plan_free(plan);
        spmm_packed_free(found);
        hu_source_close(source);
        hu_output_abort(&out);
        spmm_matrix_free(packed.a);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spmm");
    TCase *c = tcase_create("spmm");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, whole_numbers, 0, CASES);
    tcase_add_loop_test(c, error_bound, 0, 8);
    tcase_add_test(c, bits);
    tcase_add_loop_test(c, every_entry_once, 0, CASES);
    tcase_add_loop_test(c, dots, 0, CASES);
    tcase_add_loop_test(c, files, 0, CASES);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
