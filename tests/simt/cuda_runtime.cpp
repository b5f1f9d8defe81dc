// cuda_runtime.cpp: the calls of the fake cuda_runtime.h.
#include "cuda_runtime.h"

#include <chrono>

namespace {
cudaError_t last = cudaSuccess;
cudaError_t keep(cudaError_t status)
{
    if (status != cudaSuccess) last = status;
    return status;
}
double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
} // namespace

struct simt_event { double at; };

const char *cudaGetErrorString(cudaError_t status)
{
    switch (status) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    default: return "unspecified launch failure";
    }
}
const char *cudaGetErrorName(cudaError_t status) { return cudaGetErrorString(status); }
cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
cudaError_t cudaSetDevice(int index) { return keep(index == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaGetDevice(int *index) { *index = 0; return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int index)
{
    if (index != 0) return keep(cudaErrorInvalidDevice);
    *p = cudaDeviceProp{};
    std::strcpy(p->name, "emulator");
    p->totalGlobalMem = simt::device_memory_left();
    p->sharedMemPerBlock = 48 << 10, p->sharedMemPerBlockOptin = 227 << 10, p->sharedMemPerMultiprocessor = 228 << 10;
    p->major = 9, p->multiProcessorCount = 2, p->maxThreadsPerMultiProcessor = 512, p->l2CacheSize = 50 << 20;
    p->warpSize = 32, p->maxThreadsPerBlock = 1024, p->regsPerMultiprocessor = 65536;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { *version = 0; return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *version) { *version = 0; return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) { *free_bytes = *total = simt::device_memory_left(); return cudaSuccess; }
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    *p = bytes ? simt::allocate_device(bytes) : nullptr;
    return keep(*p || !bytes ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void *p) { return keep(!p || simt::free_device(p) ? cudaSuccess : cudaErrorInvalidValue); }
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind direction)
{
    bool to_device = direction == cudaMemcpyHostToDevice || direction == cudaMemcpyDeviceToDevice;
    bool from_device = direction == cudaMemcpyDeviceToHost || direction == cudaMemcpyDeviceToDevice;
    if ((to_device && !simt::is_device(to, bytes)) || (from_device && !simt::is_device(from, bytes))) return keep(cudaErrorInvalidValue);
    if (!bytes) return cudaSuccess;
    std::memmove(to, from, bytes);
    if (to_device) simt::mark_written(to, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind direction, cudaStream_t) { return cudaMemcpy(to, from, bytes, direction); }
cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    if (!simt::is_device(p, bytes)) return keep(cudaErrorInvalidValue);
    if (!bytes) return cudaSuccess;
    std::memset(p, value, bytes);
    simt::mark_written(p, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t) { return cudaMemset(p, value, bytes); }
cudaError_t cudaGetLastError() { cudaError_t was = last; last = cudaSuccess; return was; }
cudaError_t cudaPeekAtLastError() { return last; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t *stream) { *stream = nullptr; return cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *event) { *event = new simt_event{0}; return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t event) { delete event; return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) { event->at = seconds(); return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) { *ms = float((to->at - from->at) * 1e3); return cudaSuccess; }
