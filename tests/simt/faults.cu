// faults.cu: kernels with one planted fault of each kind, and sound ones of the same shape. test_simt.cpp demands that the emulator
// finds the first and is silent about the second.
#include "device/launch.h"
#include "faults.h"

// ---- sums of a block through shared memory ------------------------------------------------------------------------------

template <bool barrier> __global__ void block_sum(const int *x, int *sum)
{
    HU_SHARED(int, part, [128]);
    unsigned t = threadIdx.x;
    part[t] = x[blockIdx.x * 128 + t];
    if (barrier) __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sum[blockIdx.x] = part[0];
}

__global__ void divergent_barrier(int *x)
{
    if (threadIdx.x < 16) {
        x[threadIdx.x] = 1;
        __syncthreads();
    }
    else {
        x[threadIdx.x] = 2;
        __syncthreads();
    }
}

__global__ void barrier_after_return(int *x, int n)
{
    if (int(threadIdx.x) >= n) return;
    x[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = 2;
}

__global__ void read_unwritten_shared(int *x)
{
    HU_SHARED(int, tile, [64]);
    if (threadIdx.x < 63) tile[threadIdx.x] = int(threadIdx.x);
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x];
}

__global__ void beyond_shared(int *x)
{
    HU_SHARED(int, tile, [32]);
    tile[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x + 1];
}

// ---- device memory ---------------------------------------------------------------------------------------------------------

template <int beyond> __global__ void scale(double *x, int n)
{
    int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n + beyond) x[i] *= 2;
}

__global__ void load_vector(const float *x, float *y, int skip)
{
    const float4 *v = reinterpret_cast<const float4 *>(x + skip);
    float4 a = v[threadIdx.x];
    y[threadIdx.x] = a.x + a.y + a.z + a.w;
}

template <bool atomic> __global__ void count(const int *key, int *histogram, int n)
{
    int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    if (atomic) atomicAdd(&histogram[key[i]], 1);
    else histogram[key[i]] += 1;
}

// ---- warps ------------------------------------------------------------------------------------------------------------------

template <bool whole> __global__ void warp_sum(const float *x, float *sum)
{
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int by = 16; by > 0; by /= 2)
        if (whole || threadIdx.x < 24) v += __shfl_down_sync(0xffffffffu, v, unsigned(by));
    if (threadIdx.x == 0) sum[blockIdx.x] = v;
}

__global__ void mixed_warp_operations(int *x)
{
    int v = int(threadIdx.x);
    if (threadIdx.x < 16) v = __shfl_xor_sync(0xffffffffu, v, 1);
    else v = __any_sync(0xffffffffu, v > 20);
    x[threadIdx.x] = v;
}

// Sound: groups of 8 lanes sum by themselves, at their own pace, and then the whole warp meets.
__global__ void groups_then_warp(const int *x, int *sum)
{
    int group = int(threadIdx.x / 8), v = x[threadIdx.x];
    for (int turn = 0; turn < group; turn++)
        for (int by = 4; by > 0; by /= 2) v += __shfl_xor_sync(0xffu << (8 * group), v, by);
    int first = __shfl_sync(0xffffffffu, v, 31);
    sum[threadIdx.x] = first;
}

template <bool sync> __global__ void warp_exchange(int *x)
{
    HU_SHARED(int, slot, [32]);
    slot[threadIdx.x] = int(threadIdx.x);
    if (sync) __syncwarp();
    x[threadIdx.x] = slot[31 - threadIdx.x];
}

__global__ void warp_words(const int *x, unsigned *out)
{
    unsigned t = threadIdx.x, quarter = 0xffu << (t & 24);
    int v = x[t], all;
    out[t] = __ballot_sync(0xffffffffu, v & 1);
    out[32 + t] = __match_any_sync(0xffffffffu, v);
    out[64 + t] = __match_all_sync(quarter, v / 8, &all);
    out[96 + t] = unsigned(all);
    out[128 + t] = __reduce_add_sync(quarter, unsigned(v));
    out[160 + t] = unsigned(__shfl_up_sync(0xffffffffu, v, 3, 8));
    out[192 + t] = unsigned(__shfl_sync(0xffffffffu, v, 5, 16));
}

// ---- blocks that wait for blocks --------------------------------------------------------------------------------------------

// Each block adds its value to what the block before has left: tickets give the order, so no block waits for one that cannot start.
template <handover how> __global__ void chain(const int *value, int *total, int *flag, int *ticket)
{
    HU_SHARED(int, mine, [1]);
    if (threadIdx.x == 0) mine[0] = how == handover::by_index ? int(gridDim.x - 1 - blockIdx.x) : atomicAdd(ticket, 1);
    __syncthreads();
    int k = mine[0];
    if (threadIdx.x != 0) return;
    int before = 0;
    if (k > 0) {
        if (how == handover::fences) {
            while (*(volatile int *)&flag[k - 1] == 0) hu_spin();
            __threadfence();
        }
        else if (how == handover::no_order) { while (*(volatile int *)&flag[k - 1] == 0) hu_spin(); }
        else { while (hu_load_acquire(&flag[k - 1]) == 0) hu_spin(); }
        before = total[k - 1];
    }
    total[k] = before + value[k];
    if (how == handover::lost && k == 2) return;
    if (how == handover::fences) {
        __threadfence();
        *(volatile int *)&flag[k] = 1;
    }
    else if (how == handover::no_order) *(volatile int *)&flag[k] = 1;
    else hu_store_release(&flag[k], 1);
}

// ---- launches ------------------------------------------------------------------------------------------------------------------

void launch_block_sum(bool barrier, const int *x, int *sum, int blocks)
{
    if (barrier) HU_LAUNCH((block_sum<true>), blocks, 128, 0, nullptr, x, sum);
    else HU_LAUNCH((block_sum<false>), blocks, 128, 0, nullptr, x, sum);
}
void launch_divergent_barrier(int *x) { HU_LAUNCH(divergent_barrier, 1, 32, 0, nullptr, x); }
void launch_barrier_after_return(int *x, int n) { HU_LAUNCH(barrier_after_return, 1, 64, 0, nullptr, x, n); }
void launch_read_unwritten_shared(int *x) { HU_LAUNCH(read_unwritten_shared, 1, 64, 0, nullptr, x); }
void launch_beyond_shared(int *x) { HU_LAUNCH(beyond_shared, 1, 32, 0, nullptr, x); }
void launch_scale(bool beyond, double *x, int n)
{
    if (beyond) HU_LAUNCH((scale<1>), (n + 64) / 64, 64, 0, nullptr, x, n);
    else HU_LAUNCH((scale<0>), (n + 63) / 64, 64, 0, nullptr, x, n);
}
void launch_load_vector(const float *x, float *y, int skip) { HU_LAUNCH(load_vector, 1, 8, 0, nullptr, x, y, skip); }
void launch_count(bool atomic, const int *key, int *histogram, int n)
{
    if (atomic) HU_LAUNCH((count<true>), (n + 63) / 64, 64, 0, nullptr, key, histogram, n);
    else HU_LAUNCH((count<false>), (n + 63) / 64, 64, 0, nullptr, key, histogram, n);
}
void launch_warp_sum(bool whole, const float *x, float *sum, int warps)
{
    if (whole) HU_LAUNCH((warp_sum<true>), warps, 32, 0, nullptr, x, sum);
    else HU_LAUNCH((warp_sum<false>), warps, 32, 0, nullptr, x, sum);
}
void launch_mixed_warp_operations(int *x) { HU_LAUNCH(mixed_warp_operations, 1, 32, 0, nullptr, x); }
void launch_groups_then_warp(const int *x, int *sum) { HU_LAUNCH(groups_then_warp, 1, 32, 0, nullptr, x, sum); }
void launch_warp_exchange(bool sync, int *x)
{
    if (sync) HU_LAUNCH((warp_exchange<true>), 1, 32, 0, nullptr, x);
    else HU_LAUNCH((warp_exchange<false>), 1, 32, 0, nullptr, x);
}
void launch_warp_words(const int *x, unsigned *out) { HU_LAUNCH(warp_words, 1, 32, 0, nullptr, x, out); }
void launch_chain(handover how, const int *value, int *total, int *flag, int *ticket, int blocks)
{
    switch (how) {
    case handover::acquire: HU_LAUNCH((chain<handover::acquire>), blocks, 32, 0, nullptr, value, total, flag, ticket); break;
    case handover::fences: HU_LAUNCH((chain<handover::fences>), blocks, 32, 0, nullptr, value, total, flag, ticket); break;
    case handover::no_order: HU_LAUNCH((chain<handover::no_order>), blocks, 32, 0, nullptr, value, total, flag, ticket); break;
    case handover::by_index: HU_LAUNCH((chain<handover::by_index>), blocks, 32, 0, nullptr, value, total, flag, ticket); break;
    case handover::lost: HU_LAUNCH((chain<handover::lost>), blocks, 32, 0, nullptr, value, total, flag, ticket); break;
    }
}
