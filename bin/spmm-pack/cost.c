/* cost.c: what a product needs and what this machine could do. */
#include "config.h"
#include "cost.h"
#include "device/cpu.h"

hu_status spmm_limits_measure(spmm_limits *ret_limits, hu_error *err)
{
    static spmm_limits known;
    if (known.bandwidth <= 0) {
        if (hu_cpu_read_bandwidth(&known.bandwidth, err)) return err->status;
        known.flops = hu_cpu_fma_peak();
    }
    *ret_limits = known;
    return HU_OK;
}

spmm_cost spmm_cost_of(const spmm_matrix *a, int64_t k, hu_scalar b, hu_scalar c)
{
    const double nnz = (double)a->nnz, wide = (double)k;
    spmm_cost cost = {.flops = 2 * nnz * wide, .gather_bytes = nnz * wide * (double)hu_scalar_size(b)};
    cost.bytes = 8.0 * (double)(a->rows + 1) + nnz * (4 + (a->val ? (double)hu_scalar_size(a->scalar) : 0)) + (double)a->cols * wide * (double)hu_scalar_size(b) +
                 (double)a->rows * wide * (double)hu_scalar_size(c);
    return cost;
}

double spmm_cost_bound(const spmm_cost *cost, const spmm_limits *limits, hu_scalar sums, const char **opt_limit)
{
    const double compute = cost->flops / (sums == HU_F64 ? limits->flops : 2 * limits->flops), memory = cost->bytes / limits->bandwidth;
    if (opt_limit) *opt_limit = compute > memory ? "operations" : "memory";
    return compute > memory ? compute : memory;
}
