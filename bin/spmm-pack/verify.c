/* verify.c: a product against one by plain loops in higher precision. */
#include "config.h"
#include "verify.h"

#include <math.h>

double spmm_verify(const spmm_matrix *a, const hu_dense *b, const hu_dense *c, double alpha, double beta, const hu_dense *opt_c0)
{
    const double u = a->scalar == HU_F64 ? 0x1p-53 : 0x1p-24, u_out = c->scalar == HU_F16 ? 0x1p-11 : c->scalar == HU_BF16 ? 0x1p-8 : 0;
    const double least = c->scalar == HU_F16 ? 0x1p-24 : c->scalar == HU_F64 ? 0x1p-1074 : 0x1p-126;
    double worst = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(max : worst)
    for (int64_t i = 0; i < a->rows; i++) {
        const double n = (double)(a->row_ptr[i + 1] - a->row_ptr[i]) + 2, g = n * u / (1 - n * u);
        for (int64_t j = 0; j < c->cols; j++) {
            long double sum = 0, size = 0;
            for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
                const long double term = (long double)hu_scalar_get(a->scalar, a->val, p) * (long double)hu_scalar_get(b->scalar, b->data, a->col[p] * b->ld + j);
                sum += term;
                size += fabsl(term);
            }
            const double before = opt_c0 ? beta * hu_scalar_get(opt_c0->scalar, opt_c0->data, i * opt_c0->ld + j) : 0;
            const double r = (double)((long double)alpha * sum + (long double)before), found = hu_scalar_get(c->scalar, c->data, i * c->ld + j);
            const double bound = g * ((double)size * fabs(alpha) + fabs(before)) + u_out * fabs(r) + least;
            double ratio = fabs(found - r) / bound;
            if (isfinite(r) != isfinite(found)) ratio = INFINITY;
            else if (!isfinite(r)) ratio = 0;
            if (ratio > worst) worst = ratio;
        }
    }
    return worst;
}
