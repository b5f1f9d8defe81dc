/* gpu.cu: one CUDA device.
 *
 * Sections: opening, memory and copies, time.
 */
#include "device/gpu_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hu_gpu {
    hu_gpu_facts facts;
    cudaStream_t stream;
    cudaEvent_t from, to;
};

hu_status hu_gpu_check(const hu_gpu *gpu, cudaError_t status, const char *what, hu_error *err)
{
    if (status == cudaSuccess) return HU_OK;
    return hu_fail(err, HU_DEVICE, "GPU %d (%s): %s: %s", gpu->facts.index, gpu->facts.name, what, cudaGetErrorString(status));
}

cudaStream_t hu_gpu_stream(const hu_gpu *gpu)
{
    return gpu->stream;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

extern "C" bool hu_gpu_built(void)
{
    return true;
}

static __global__ void first_kernel(int *word)
{
    *word = 42;
}

/* A build has code for some architectures only; a launch tells whether this device's is among them. */
static hu_status try_kernel(hu_gpu *gpu, hu_error *err)
{
    int *word = NULL, answer = 0;
    if (hu_gpu_alloc(gpu, 1, sizeof *word, "a word", (void **)&word, err)) return err->status;
    HU_LAUNCH(first_kernel, 1, 1, 0, gpu->stream, word);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaMemcpy(&answer, word, sizeof answer, cudaMemcpyDeviceToHost);
    hu_gpu_free(gpu, word);
    if (status == cudaSuccess && answer == 42) return HU_OK;
    return hu_fail(err, HU_DEVICE, "GPU %d (%s, compute capability %d.%d): this build's kernels do not run on it (%s); configure with --with-cuda and "
                   "NVCC_ARCH for it, or use --device=cpu", gpu->facts.index, gpu->facts.name, gpu->facts.major, gpu->facts.minor, cudaGetErrorString(status));
}

static hu_status read_facts(hu_gpu *gpu, int index, hu_error *err)
{
    cudaDeviceProp p;
    size_t free_bytes = 0, total = 0;
    gpu->facts.index = index;
    if (hu_gpu_check(gpu, cudaGetDeviceProperties(&p, index), "its properties", err)) return err->status;
    snprintf(gpu->facts.name, sizeof gpu->facts.name, "%s", p.name);
    if (hu_gpu_check(gpu, cudaSetDevice(index), "choosing it", err)) return err->status;
    if (hu_gpu_check(gpu, cudaMemGetInfo(&free_bytes, &total), "its memory", err)) return err->status;
    gpu->facts.major = p.major;
    gpu->facts.minor = p.minor;
    gpu->facts.processors = p.multiProcessorCount;
    gpu->facts.threads_per_processor = p.maxThreadsPerMultiProcessor;
    gpu->facts.memory_bytes = (int64_t)total;
    gpu->facts.free_bytes = (int64_t)free_bytes;
    gpu->facts.l2_bytes = p.l2CacheSize;
    gpu->facts.shared_bytes = (int64_t)p.sharedMemPerBlockOptin;
    return HU_OK;
}

static hu_status open_streams(hu_gpu *gpu, hu_error *err)
{
    if (hu_gpu_check(gpu, cudaStreamCreate(&gpu->stream), "a stream", err)) return err->status;
    if (hu_gpu_check(gpu, cudaEventCreate(&gpu->from), "an event", err)) return err->status;
    return hu_gpu_check(gpu, cudaEventCreate(&gpu->to), "an event", err);
}

extern "C" hu_status hu_gpu_open(int index, hu_gpu **ret_gpu, hu_error *err)
{
    int count = 0;
    *ret_gpu = NULL;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
        return hu_fail(err, HU_DEVICE, "no GPU can be used (%s); use --device=cpu", status == cudaSuccess ? "none is there" : cudaGetErrorString(status));
    if (index >= count) return hu_fail(err, HU_DEVICE, "there is no GPU %d: %d of them, from 0", index, count);
    hu_gpu *gpu = (hu_gpu *)calloc(1, sizeof *gpu);
    if (!gpu) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (read_facts(gpu, index, err) || open_streams(gpu, err) || try_kernel(gpu, err)) {
        hu_gpu_close(gpu);
        return err->status;
    }
    *ret_gpu = gpu;
    return HU_OK;
}

extern "C" void hu_gpu_close(hu_gpu *gpu)
{
    if (!gpu) return;
    if (gpu->to) cudaEventDestroy(gpu->to);
    if (gpu->from) cudaEventDestroy(gpu->from);
    if (gpu->stream) cudaStreamDestroy(gpu->stream);
    free(gpu);
}

extern "C" const hu_gpu_facts *hu_gpu_describe(const hu_gpu *gpu)
{
    return &gpu->facts;
}

/* ---- memory and copies ------------------------------------------------------------------------------------------- */

extern "C" hu_status hu_gpu_alloc(hu_gpu *gpu, int64_t count, size_t size, const char *what, void **ret_block, hu_error *err)
{
    *ret_block = NULL;
    if (count == 0) return HU_OK;
    if (count < 0 || (uint64_t)count > (uint64_t)INT64_MAX / size) return hu_fail(err, HU_DEVICE, "%s: too large", what);
    cudaError_t status = cudaMalloc(ret_block, (size_t)count * size);
    if (status == cudaSuccess) return HU_OK;
    cudaGetLastError(); /* it is told here, and must not be told again at the next launch */
    *ret_block = NULL;
    size_t left = 0, total = 0;
    cudaMemGetInfo(&left, &total);
    return hu_fail(err, HU_DEVICE, "GPU %d (%s): %s: %.1f MB wanted, %.1f MB free (%s); use --device=cpu", gpu->facts.index, gpu->facts.name, what,
                   (double)count * (double)size / 1e6, (double)left / 1e6, cudaGetErrorString(status));
}

extern "C" void hu_gpu_free(hu_gpu *gpu, void *block)
{
    (void)gpu;
    if (block) cudaFree(block);
}

static hu_status copy(hu_gpu *gpu, void *to, const void *from, int64_t bytes, cudaMemcpyKind direction, const char *what, hu_error *err)
{
    if (bytes == 0) return HU_OK;
    if (hu_gpu_check(gpu, cudaMemcpyAsync(to, from, (size_t)bytes, direction, gpu->stream), what, err)) return err->status;
    return hu_gpu_check(gpu, cudaStreamSynchronize(gpu->stream), what, err);
}

extern "C" hu_status hu_gpu_upload(hu_gpu *gpu, void *device_block, const void *host_block, int64_t bytes, hu_error *err)
{
    return copy(gpu, device_block, host_block, bytes, cudaMemcpyHostToDevice, "a copy to it", err);
}

extern "C" hu_status hu_gpu_download(hu_gpu *gpu, void *host_block, const void *device_block, int64_t bytes, hu_error *err)
{
    return copy(gpu, host_block, device_block, bytes, cudaMemcpyDeviceToHost, "a copy from it", err);
}

extern "C" hu_status hu_gpu_zero(hu_gpu *gpu, void *device_block, int64_t bytes, hu_error *err)
{
    if (bytes == 0) return HU_OK;
    return hu_gpu_check(gpu, cudaMemsetAsync(device_block, 0, (size_t)bytes, gpu->stream), "clearing memory", err);
}

extern "C" hu_status hu_gpu_copy(hu_gpu *gpu, int64_t count, size_t size, const char *what, const void *host_block, void **ret_block, hu_error *err)
{
    if (hu_gpu_alloc(gpu, count, size, what, ret_block, err)) return err->status;
    if (hu_gpu_upload(gpu, *ret_block, host_block, count * (int64_t)size, err) == HU_OK) return HU_OK;
    hu_gpu_free(gpu, *ret_block);
    *ret_block = NULL;
    return err->status;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

extern "C" hu_status hu_gpu_wait(hu_gpu *gpu, hu_error *err)
{
    return hu_gpu_check(gpu, cudaStreamSynchronize(gpu->stream), "a kernel", err);
}

extern "C" hu_status hu_gpu_clock_start(hu_gpu *gpu, hu_error *err)
{
    return hu_gpu_check(gpu, cudaEventRecord(gpu->from, gpu->stream), "an event", err);
}

extern "C" hu_status hu_gpu_clock_stop(hu_gpu *gpu, double *ret_seconds, hu_error *err)
{
    float ms = 0;
    if (hu_gpu_check(gpu, cudaEventRecord(gpu->to, gpu->stream), "an event", err)) return err->status;
    if (hu_gpu_check(gpu, cudaEventSynchronize(gpu->to), "a kernel", err)) return err->status;
    if (hu_gpu_check(gpu, cudaEventElapsedTime(&ms, gpu->from, gpu->to), "an event", err)) return err->status;
    *ret_seconds = ms * 1e-3;
    return HU_OK;
}
