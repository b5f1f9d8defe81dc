/* gpu_solve.h: a triangular system on a GPU. Real systems only; complex ones are the CPU's. */
#ifndef SPTRSV_GPU_SOLVE_H
#define SPTRSV_GPU_SOLVE_H

#include "dense/dense.h"
#include "device/gpu.h"
#include "gpu_scheme.h"
#include "scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sptrsv_gpu_plan sptrsv_gpu_plan;

typedef struct {
    sptrsv_gpu_scheme scheme;
    int64_t nodes, bytes_held, bytes_per_solve; /* per solve: matrix, flags, b and x once each */
    int blocks;                                 /* of a launch */
    double kernel_seconds;                      /* device time of the last solve, without copies */
} sptrsv_gpu_facts;

/* Lays the system out on the device. precision: f64; f32 (values and sums in float); mixed (values in float, sums in double). The plan must be freed before
 * the device is closed. HU_USAGE: a complex system; HU_DEVICE: no room, or a kernel failed. */
hu_status sptrsv_gpu_plan_new(hu_gpu *gpu, const sptrsv_system *system, const sptrsv_gpu_scheme *scheme, sptrsv_precision precision,
                              sptrsv_gpu_plan **ret_plan, hu_error *err);
void sptrsv_gpu_plan_free(sptrsv_gpu_plan *plan); /* NULL is allowed */

/* X = op(T)^-1 B for n x k matrices of doubles (f64, mixed) or floats (f32), any order and leading dimension; x may be b. One column is solved
 * by the scheme; several are taken up to 32 at a time, a lane a column, each summed in the canonical order. The same bits every time. NaN
 * and infinity travel through as arithmetic has them; nothing waits on values. */
hu_status sptrsv_gpu_solve(sptrsv_gpu_plan *plan, const hu_dense *b, hu_dense *x, hu_error *err);

void sptrsv_gpu_describe(const sptrsv_gpu_plan *plan, sptrsv_gpu_facts *ret_facts);

#ifdef __cplusplus
}
#endif
#endif
