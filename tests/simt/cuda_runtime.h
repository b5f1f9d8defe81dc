// cuda_runtime.h: the part of CUDA's runtime that the project's host code calls, on the emulator's device memory. It stands before the
// toolkit's own on the include path, so that a .cu file needs no change. Streams are in order and done at once.
#ifndef HU_SIMT_CUDA_RUNTIME_H
#define HU_SIMT_CUDA_RUNTIME_H

#include "simt.h"

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101, cudaErrorLaunchFailure = 719 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
typedef struct simt_stream *cudaStream_t;
typedef struct simt_event *cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, l2CacheSize, warpSize, maxThreadsPerBlock, regsPerMultiprocessor;
};

const char *cudaGetErrorString(cudaError_t status);
const char *cudaGetErrorName(cudaError_t status);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int index);
cudaError_t cudaGetDevice(int *index);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int index);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMalloc(void **p, size_t bytes);
template <class T> cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc(reinterpret_cast<void **>(p), bytes); }
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind direction);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind direction, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
template <class F> cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int) { return cudaSuccess; }
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *, int block_size, size_t)
{
    *blocks = block_size > 0 && block_size <= 1024 ? (block_size < 512 ? 512 / block_size : 1) : 0; // small, so that grids are larger than it
    return cudaSuccess;
}

#endif
