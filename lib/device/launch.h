/* launch.h: what a .cu file uses in place of CUDA's own words, so that tests/simt can run its kernels on the CPU.
 *
 *     HU_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...)     a template kernel in parentheses: (kernel<float, 4>)
 *     HU_SHARED(float, tile, [32][33]);                                      shared memory of a block
 *     HU_SHARED_DYNAMIC(double, buffer);                                     the shared_bytes of the launch
 *     while (!hu_load_acquire(flag)) hu_spin();                              waiting for another block
 */
#ifndef HU_DEVICE_LAUNCH_H
#define HU_DEVICE_LAUNCH_H

#include <cuda_runtime.h>

#ifdef HU_SIMT

#define HU_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
    simt::launch(#kernel, kernel, dim3(grid), dim3(block), shared_bytes, ##__VA_ARGS__)
#define HU_SHARED(type, name, extent) \
    using name##_in_shared = type extent; \
    name##_in_shared &name = *static_cast<name##_in_shared *>(simt::shared_memory(__FILE__, __LINE__, sizeof(name##_in_shared), alignof(type)))
#define HU_SHARED_DYNAMIC(type, name) type *const name = static_cast<type *>(simt::dynamic_shared_memory())
#define hu_spin() simt::spin()
template <class T> SIMT_INLINE T hu_load_acquire(const T *p) { return simt::load_ordered(p, simt::ACQUIRE); }
template <class T> SIMT_INLINE void hu_store_release(T *p, T value) { simt::store_ordered(p, value, simt::RELEASE); }

#else

#define HU_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) hu_launch(kernel, grid, block, shared_bytes, stream, ##__VA_ARGS__)
#define HU_SHARED(type, name, extent) __shared__ type name extent
#define HU_SHARED_DYNAMIC(type, name) \
    extern __shared__ __align__(16) unsigned char hu_dynamic_shared[]; \
    type *const name = reinterpret_cast<type *>(hu_dynamic_shared)

template <class... P, class... A>
static inline void hu_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, A... arguments)
{
    kernel<<<grid, block, shared_bytes, stream>>>(static_cast<P>(arguments)...);
}

static __device__ __forceinline__ void hu_spin() { __nanosleep(20); }

/* Loads and stores that order what stands after and before them, for the whole device (PTX ISA, ld.acquire and st.release). */
static __device__ __forceinline__ int hu_load_acquire(const int *p)
{
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
static __device__ __forceinline__ void hu_store_release(int *p, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}
static __device__ __forceinline__ unsigned hu_load_acquire(const unsigned *p) { return unsigned(hu_load_acquire(reinterpret_cast<const int *>(p))); }
static __device__ __forceinline__ void hu_store_release(unsigned *p, unsigned value) { hu_store_release(reinterpret_cast<int *>(p), int(value)); }

#endif
#endif
