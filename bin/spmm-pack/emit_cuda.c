/* emit_cuda.c: a product with one sparse weight as CUDA C (emit.h).
 *
 * A warp takes one row of the weight for 32 x VEC columns of B: its lanes are columns, so that rows of B are read whole, and each thread keeps VEC sums. A block
 * takes rows of about equal length: rows go to the warps longest first (order), so that no warp waits for a long neighbour.
 */
#include "config.h"
#include "base/memory.h"
#include "emit.h"

static const char kernel[] =
    "#include <cuda_runtime.h>\n"
    "\n"
    "enum { WARPS = 8 };\n"
    "\n"
    "static __global__ __launch_bounds__(32 * WARPS) void product(const float *__restrict__ b, long ldb, float *__restrict__ c, long ldc)\n"
    "{\n"
    "    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, place = (int)blockIdx.x * WARPS + warp;\n"
    "    const int j = (int)blockIdx.y * 32 * VEC + lane;\n"
    "    if (place >= ROWS) return;\n"
    "    const int i = row_order[place], end = row_ptr[i + 1];\n"
    "    float sum[VEC] = {};\n"
    "    for (int p = row_ptr[i]; p < end; p++) {\n"
    "        const float *x = b + row_col[p] * ldb;\n"
    "        const float v = row_val[p];\n"
    "#pragma unroll\n"
    "        for (int l = 0; l < VEC; l++)\n"
    "            if (j + 32 * l < K) sum[l] = fmaf(v, x[j + 32 * l], sum[l]);\n"
    "    }\n"
    "#pragma unroll\n"
    "    for (int l = 0; l < VEC; l++)\n"
    "        if (j + 32 * l < K) c[i * ldc + j + 32 * l] = sum[l];\n"
    "}\n\n";

/* Rows, longest first; equal ones as they stand. */
static hu_status order_rows(const spmm_matrix *a, int32_t **ret_order, hu_error *err)
{
    int64_t *count;
    int32_t *order;
    *ret_order = NULL;
    if (hu_alloc_zero(a->cols + 2, sizeof *count, "lengths", (void **)&count, err)) return err->status;
    if (hu_alloc(a->rows, sizeof *order, "rows", (void **)&order, err) == HU_OK) {
        for (int64_t i = 0; i < a->rows; i++) count[a->cols - (a->row_ptr[i + 1] - a->row_ptr[i]) + 1]++;
        for (int64_t l = 0; l <= a->cols; l++) count[l + 1] += count[l];
        for (int64_t i = 0; i < a->rows; i++) order[count[a->cols - (a->row_ptr[i + 1] - a->row_ptr[i])]++] = (int32_t)i;
        *ret_order = order;
    }
    hu_free(count);
    return err->status;
}

hu_status spmm_emit_cuda(const spmm_matrix *a, const spmm_emit_options *o, hu_output *out, hu_error *err)
{
    const int vec = o->k > 96 ? 4 : o->k > 32 ? 2 : 1;
    int32_t *order;
    char what[96];
    if (a->nnz > INT32_MAX) return hu_fail(err, HU_USAGE, "%lld entries are too many for CUDA text", (long long)a->nnz);
    if (order_rows(a, &order, err)) return err->status;
    snprintf(what, sizeof what, "CUDA, a warp a row, longest rows first, %d columns a thread", vec);
    spmm_emit_head(a, o, what, out, err);
    hu_output_printf(out, err, "enum { ROWS = %lld, COLS = %lld, K = %lld, VEC = %d };\n\n", (long long)a->rows, (long long)a->cols, (long long)o->k, vec);
    spmm_emit_integers(out, "static __device__ const int row_order", 4, order, a->rows, err);
    spmm_emit_integers(out, "static __device__ const int row_ptr", 8, a->row_ptr, a->rows + 1, err);
    spmm_emit_integers(out, "static __device__ const int row_col", 4, a->col, a->nnz, err);
    spmm_emit_floats(out, "static __device__ const float row_val", a->val, a->nnz, err);
    hu_output_printf(out, err, "\n%s", kernel);
    hu_output_printf(out, err, "extern \"C\" cudaError_t %s(const float *b, long ldb, float *c, long ldc, cudaStream_t stream)\n{\n", o->name);
    hu_output_printf(out, err, "    const dim3 grid((ROWS + WARPS - 1) / WARPS, (K + 32 * VEC - 1) / (32 * VEC));\n");
    hu_output_printf(out, err, "    product<<<grid, 32 * WARPS, 0, stream>>>(b, ldb, c, ldc);\n    return cudaGetLastError();\n}\n");
    if (o->selftest) spmm_emit_selftest(a, o, true, out, err);
    hu_free(order);
    return err->status;
}
