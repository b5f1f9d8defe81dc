/* plan.c: plans: choosing a strategy, packing, multiplying. */
#include "config.h"
#include "plan.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

const spmm_strategy *const spmm_strategies[] = {&spmm_csr, &spmm_neighbor, &spmm_bin, &spmm_panel, NULL};

const spmm_strategy *spmm_strategy_find(const char *name)
{
    for (int i = 0; spmm_strategies[i]; i++)
        if (strcmp(spmm_strategies[i]->name, name) == 0) return spmm_strategies[i];
    return NULL;
}

const spmm_strategy *spmm_strategy_advise(const spmm_matrix *a, int64_t k, hu_scalar b, const char **opt_why)
{
    enum { WEIGHT_DEGREE = 4, WEIGHT_DENSITY = 100, WEIGHT_PLACES = 1 << 26 };
    const double mean = a->rows ? (double)a->nnz / (double)a->rows : 0;
    const int64_t l2 = hu_cpu_cache_bytes(2) ? hu_cpu_cache_bytes(2) : 1 << 20;
    const char *why = "packs of equal cost suit any distribution of row lengths";
    const spmm_strategy *strategy = &spmm_neighbor;
    if (mean >= 100 && k > 0 && a->cols * k * (int64_t)hu_scalar_size(b) > l2) {
        why = "rows are long and B is larger than the second cache: bins keep its rows near";
        strategy = &spmm_bin;
    }
    if (a->rows && a->cols && a->nnz / a->rows >= WEIGHT_DEGREE && a->nnz * WEIGHT_DENSITY >= a->rows * a->cols && a->rows * a->cols <= WEIGHT_PLACES) {
        why = "rows of a small matrix share the rows of B, as in pruned weights: panels of rows use each while it is near";
        strategy = &spmm_panel;
    }
    if (opt_why) *opt_why = why;
    return strategy;
}

hu_status spmm_plan_new(spmm_matrix *a, const spmm_strategy *strategy, const spmm_options *options, hu_scalar sums, spmm_plan **ret_plan, hu_error *err)
{
    void *block;
    *ret_plan = NULL;
    if (spmm_matrix_widen(a, sums, err) || hu_alloc_zero(1, sizeof(spmm_plan), "a plan", &block, err)) return err->status;
    spmm_plan *p = block;
    double start = hu_clock_wall();
    p->a = a;
    p->strategy = strategy ? strategy : spmm_strategy_advise(a, options->k, sums, NULL);
    if (p->strategy->pack(a, options, &p->pack, err)) {
        hu_free(p);
        return err->status;
    }
    p->pack_seconds = hu_clock_wall() - start;
    *ret_plan = p;
    return HU_OK;
}

void spmm_plan_free(spmm_plan *plan)
{
    if (!plan) return;
    plan->strategy->free(plan->pack);
    hu_free(plan);
}

spmm_tile spmm_tile_of(const spmm_matrix *a, const spmm_product *p, bool near)
{
    const int64_t row_bytes = p->b->cols * (int64_t)hu_scalar_size(p->b->scalar);
    const int64_t ahead = SPMM_AHEAD_BYTES / (row_bytes ? row_bytes : 1);
    spmm_tile t = {.col = a->col, .val = a->val, .last = a->nnz - 1, .b_scalar = p->b->scalar, .c_scalar = p->c->scalar, .b = p->b->data, .ldb = p->b->ld,
                   .c = p->c->data, .ldc = p->c->ld, .from = 0, .width = 0, .resume = false, .finish = &p->finish};
    if (!near) t.ahead = ahead < 2 ? 2 : ahead > 32 ? 32 : (int)ahead;
    return t;
}

int64_t spmm_tile_width(int64_t cols, int64_t k, hu_scalar b)
{
    const int64_t size = (int64_t)hu_scalar_size(b), l2 = hu_cpu_cache_bytes(2) ? hu_cpu_cache_bytes(2) : 1 << 20;
    for (int64_t bytes = SPMM_TILE_BYTES; bytes >= SPMM_TILE_BYTES / 4; bytes /= 2)
        if (cols * bytes <= l2 / 4 * 3) return bytes / size < k ? bytes / size : k;
    return k;
}

/* ---- products --------------------------------------------------------------------------------------------------- */

static hu_status check(const spmm_plan *plan, const spmm_product *p, hu_error *err)
{
    const spmm_matrix *a = plan->a;
    const hu_scalar sums = spmm_sum_scalar(p->b->scalar);
    const bool scalars_fit = p->b->scalar != HU_C128 && a->scalar == sums && (p->c->scalar == sums || (sums == HU_F32 && hu_scalar_size(p->c->scalar) == 2));
    if (p->b->rows != a->cols || p->c->rows != a->rows || p->c->cols != p->b->cols)
        return hu_fail(err, HU_USAGE, "a product of %lld x %lld and %lld x %lld does not give %lld x %lld", (long long)a->rows, (long long)a->cols, (long long)p->b->rows,
                       (long long)p->b->cols, (long long)p->c->rows, (long long)p->c->cols);
    if (!scalars_fit || p->b->order != HU_ROW_MAJOR || p->c->order != HU_ROW_MAJOR)
        return hu_fail(err, HU_USAGE, "a product needs values of the sums' type and dense matrices in row order");
    return HU_OK;
}

/* Shares of about equal numbers of entries and rows; each row is one unit. */
static void extremes(const spmm_matrix *a, const spmm_product *p, bool least, int32_t *opt_arg)
{
    enum { ROWS = 64 };
    spmm_tile t = spmm_tile_of(a, p, true);
    t.width = p->b->cols;
#pragma omp parallel for schedule(dynamic, 1) if (a->rows > ROWS)
    for (int64_t from = 0; from < a->rows; from += ROWS)
        HU_PICK(spmm_extremes)(&t, least, opt_arg, p->c->cols, a->row_ptr + from, from, a->rows - from < ROWS ? a->rows - from : ROWS);
}

hu_status spmm_multiply(const spmm_plan *plan, spmm_reduce reduce, const spmm_product *p, int32_t *opt_arg, hu_error *err)
{
    spmm_product with_mean = *p;
    if (check(plan, p, err)) return err->status;
    if (p->c->rows == 0 || p->c->cols == 0) return HU_OK;
    if (reduce == SPMM_MAX || reduce == SPMM_MIN) {
        extremes(plan->a, p, reduce == SPMM_MIN, opt_arg);
        return HU_OK;
    }
    with_mean.finish.mean_ptr = reduce == SPMM_MEAN ? plan->a->row_ptr : NULL;
    return plan->strategy->multiply(plan->pack, plan->a, &with_mean, err);
}
