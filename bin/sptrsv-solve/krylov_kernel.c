/* krylov_kernel.c: hot loops of conjugate gradients, one build per instruction set. */
#include "config.h"
#include "krylov_kernel.h"
#include "dense/dense_kernel.h"

typedef double lanes __attribute__((vector_size(HU_LANES * sizeof(double)), aligned(8), may_alias));

enum { VECTORS = 4, TILE = VECTORS * HU_LANES };

static inline void add_tile(lanes sum[VECTORS], const double *c, const double *x)
{
    for (int v = 0; v < VECTORS; v++) sum[v] += *(const lanes *)(c + v * HU_LANES) * *(const lanes *)(x + v * HU_LANES);
}

void HU_NAME(sptrsv_multiply_diagonals)(const sptrsv_product *a, int64_t from, int64_t to, const double *x, double *y)
{
    const double *const c = a->coefficient;
    const int64_t *const offset = a->offset, stride = a->stride;
    const int m = a->diagonals;
    int64_t i = from;
    for (; i + TILE <= to; i += TILE) {
        lanes sum[VECTORS] = {{0}};
        for (int d = 0; d < m; d++) add_tile(sum, c + d * stride + i, x + i + offset[d]);
        for (int d = m - 2; d >= 0; d--) add_tile(sum, c + d * stride + i - offset[d], x + i - offset[d]);
        for (int v = 0; v < VECTORS; v++) *(lanes *)(y + i + v * HU_LANES) = sum[v];
    }
    for (; i < to; i++) {
        double sum = 0;
        for (int d = 0; d < m; d++) sum += c[d * stride + i] * x[i + offset[d]];
        for (int d = m - 2; d >= 0; d--) sum += c[d * stride + i - offset[d]] * x[i - offset[d]];
        y[i] = sum;
    }
}

void HU_NAME(sptrsv_multiply_rows)(const hu_csr *a, int64_t from, int64_t to, const double *x, double *y)
{
    const int32_t *const col = a->col;
    const double *const val = a->val;
    for (int64_t i = from; i < to; i++) {
        double sum = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum += val[p] * x[col[p]];
        y[i] = sum;
    }
}

double HU_NAME(sptrsv_step)(int64_t n, double alpha, const double *restrict p, const double *restrict q, double *restrict x,
                            double *restrict r)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
    }
    return HU_NAME(hu_dot_block)(r, r, n); /* the block is still in the first cache */
}

void HU_NAME(sptrsv_direct)(int64_t n, double beta, const double *restrict z, double *restrict p)
{
    for (int64_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
}
