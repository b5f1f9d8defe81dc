/* gpu_cuda.h: what .cu files need of a device besides gpu.h. */
#ifndef HU_DEVICE_GPU_CUDA_H
#define HU_DEVICE_GPU_CUDA_H

#include "device/gpu.h"
#include "device/launch.h"

cudaStream_t hu_gpu_stream(const hu_gpu *gpu);

/* HU_OK, or HU_DEVICE with "GPU n (name): what: CUDA's words". */
hu_status hu_gpu_check(const hu_gpu *gpu, cudaError_t status, const char *what, hu_error *err);

/* To be called after each HU_LAUNCH: whether the launch itself was accepted. */
static inline hu_status hu_gpu_launched(const hu_gpu *gpu, const char *kernel, hu_error *err)
{
    return hu_gpu_check(gpu, cudaGetLastError(), kernel, err);
}

/* Blocks of a kernel that run on the device at a time: what a grid may have whose blocks wait for each other in a fixed order. */
template <class F> hu_status hu_gpu_resident(const hu_gpu *gpu, F *kernel, int block, size_t shared_bytes, int *ret_blocks, hu_error *err)
{
    int each = 0;
    if (hu_gpu_check(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, block, shared_bytes), "occupancy", err)) return err->status;
    *ret_blocks = each * hu_gpu_describe(gpu)->processors;
    return HU_OK;
}

#endif
