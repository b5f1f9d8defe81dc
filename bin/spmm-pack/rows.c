/* rows.c: the strategy "csr": the matrix as it is, an equal number of rows a thread. */
#include "config.h"
#include "plan.h"
#include "base/parallel.h"

static hu_status pack(const spmm_matrix *a, const spmm_options *options, void **ret_pack, hu_error *err)
{
    (void)a;
    (void)options;
    (void)err;
    *ret_pack = NULL;
    return HU_OK;
}

static hu_status multiply(const void *nothing, const spmm_matrix *a, const spmm_product *p, hu_error *err)
{
    enum { ROWS = 512 }; /* whose entries stay near for the next tile */
    const int64_t k = p->b->cols, width = spmm_tile_width(a->cols, k, p->b->scalar);
    const bool near = width < k || a->cols * p->b->ld * (int64_t)hu_scalar_size(p->b->scalar) <= hu_cpu_cache_bytes(2) / 4 * 3;
    (void)nothing;
    (void)err;
#pragma omp parallel
    {
        int64_t from, to;
        spmm_tile t = spmm_tile_of(a, p, near);
#pragma omp for schedule(static, 1)
        for (int part = 0; part < hu_threads(); part++) {
            hu_share(a->rows, hu_threads(), part, &from, &to);
            for (t.from = 0; t.from < k; t.from += width) {
                t.width = k - t.from < width ? k - t.from : width;
                for (int64_t i = from; i < to; i += ROWS) HU_PICK(spmm_rows)(&t, a->row_ptr + i, NULL, i, to - i < ROWS ? to - i : ROWS);
            }
        }
    }
    return HU_OK;
}

static void stats(const void *nothing, const spmm_matrix *a, spmm_stats *ret_stats)
{
    (void)nothing;
    *ret_stats = (spmm_stats){.packs = hu_threads(), .covered = a->nnz};
    ret_stats->least_load = (double)a->nnz;
    for (int part = 0; part < hu_threads(); part++) {
        int64_t from, to;
        hu_share(a->rows, hu_threads(), part, &from, &to);
        const double load = (double)(a->row_ptr[to] - a->row_ptr[from]);
        if (load < ret_stats->least_load) ret_stats->least_load = load;
        if (load > ret_stats->greatest_load) ret_stats->greatest_load = load;
    }
}

static hu_status load(const hu_bundle *bundle, const spmm_matrix *a, hu_scalar storage, void **ret_pack, hu_error *err)
{
    (void)bundle;
    (void)storage;
    return pack(a, NULL, ret_pack, err);
}

static void free_pack(void *nothing)
{
    (void)nothing;
}

const spmm_strategy spmm_csr = {"csr", pack, multiply, stats, NULL, load, free_pack};
