// simt.h: CUDA kernels run on the CPU, so that every kernel is executed in `make check` on any machine.
//
// A .cu file is compiled by g++ with -fsanitize=thread, whose calls at each load and store come to us (engine.h) and not to the thread
// sanitizer: so plain pointers are checked without a change of the kernel. A CUDA thread is a fibre; fibres run in a seeded random order,
// several blocks at a time where asked. What is found (findings()) names kernel, block, thread and source line:
//
//   bounds      an access outside every device buffer, into a freed one, or to memory of the host
//   misaligned  an access whose address is no multiple of its size
//   unwritten   a read of shared or device memory that nothing has written
//   race        two accesses to one word, one of them a write, not both atomic, that nothing orders (optional: options.races)
//   barrier     __syncthreads that not all threads of the block reach, or that they reach at different places
//   warp        a warp operation whose mask names lanes that do another one, or none
//   hang        threads wait (hu_spin) for what no thread will do
//
// Sections: types and qualifiers, running a kernel, what a kernel calls.
#ifndef HU_SIMT_H
#define HU_SIMT_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#define HU_SIMT 1

// ---- types and qualifiers ------------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define SIMT_INLINE static inline __attribute__((always_inline)) // so that what waits is told by the kernel's own line
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
#define SIMT_VECTOR(name, type, align2, align4) \
    struct alignas(align2) name##2 { type x, y; }; \
    struct name##3 { type x, y, z; }; \
    struct alignas(align4) name##4 { type x, y, z, w; }; \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
SIMT_VECTOR(float, float, 8, 16)
SIMT_VECTOR(int, int, 8, 16)
SIMT_VECTOR(uint, unsigned, 8, 16)
SIMT_VECTOR(longlong, long long, 16, 16)
SIMT_VECTOR(double, double, 16, 16)
#undef SIMT_VECTOR

namespace simt {

// The engine sets these each time it resumes a fibre, so a compiler may keep what it read of them.
extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;

// ---- running a kernel ----------------------------------------------------------------------------------------------------

struct options {
    uint64_t seed = 1;
    unsigned resident = 1;   // blocks that run at a time; more than one interleaves them, as kernels that wait for other blocks need
    bool shuffle_blocks = false; // blocks start in a random order, not by index
    unsigned preempt = 0;    // about one in so many accesses gives the processor to another thread; 0: only where a thread waits
    bool races = false;      // keep the access log that finds races
    unsigned patience = 64;  // rounds of fruitless waiting by all threads after which they hang
};

enum class kind { bounds, misaligned, unwritten, race, barrier, warp, hang };
const char *name_of(kind what);

struct finding {
    kind what;
    std::string kernel;
    uint3 block, thread;
    std::string where;  // file:line in the kernel's source, as well as the compiler's line table knows
    std::string text;
};

void configure(const options &wanted);
const std::vector<finding> &findings();    // one for each fault and place, in the order in which they were found
void clear_findings();
std::string describe(const finding &what); // one line
uint64_t launches();                       // kernels run so far: a test that must not take the CPU's path asks for it

// The engine's side of a launch: runs body once in each thread of the grid. A kernel that goes out of bounds or hangs is cut short.
void run(const char *kernel, dim3 grid, dim3 block, size_t dynamic_shared, void (*body)(const void *closure), const void *closure,
         size_t closure_size);

template <class... P, class... A>
void launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_shared, A... arguments)
{
    struct closure { void (*kernel)(P...); std::tuple<P...> arguments; } all = {kernel, std::tuple<P...>(arguments...)};
    run(name, grid, block, dynamic_shared, [](const void *c) {
        auto *call = static_cast<const closure *>(c);
        std::apply(call->kernel, call->arguments);
    }, &all, sizeof all);
}

// Device memory: guarded, poisoned until it is written. free_device of what is no buffer is a finding.
void *allocate_device(size_t bytes);
bool free_device(void *p);
void mark_written(const void *p, size_t bytes); // the host wrote it
bool is_device(const void *p, size_t bytes);
void set_device_memory(size_t bytes);           // allocations beyond so much fail (default 1 GiB)
size_t device_memory_left();

// ---- what a kernel calls -------------------------------------------------------------------------------------------------

void *shared_memory(const char *file, int line, size_t size, size_t align); // one a block and place
void *dynamic_shared_memory();
void sync_block(int what, int predicate, int *ret_result); // what: 0 plain, 1 count, 2 and, 3 or
void spin();
void fence();

enum warp_op { WARP_SYNC, WARP_SHUFFLE, WARP_BALLOT, WARP_MATCH_ANY, WARP_MATCH_ALL, WARP_ADD, WARP_MIN, WARP_MAX, WARP_AND, WARP_OR, WARP_XOR,
               WARP_MIN_SIGNED, WARP_MAX_SIGNED, WARP_EXCHANGE };
struct warp_payload {
    warp_op op;
    unsigned source;  // shuffle: the lane to read
    uint64_t value;   // in and out
    uint32_t extra;   // out: match_all's predicate
    void *data;       // exchange: each lane's own; complete() sees all 32
    void (*complete)(void *data[32]);
};
void warp_collective(unsigned mask, warp_payload &payload);
unsigned lane();
unsigned active_mask();

enum order { RELAXED, ACQUIRE, RELEASE };
void atomic_begin(const volatile void *p, size_t size, bool writes, order what); // before an atomic access: checks it and orders by it
void atomic_end(const volatile void *p, size_t size, bool writes, order what);

template <class T, class F> SIMT_INLINE T atomic_update(T *p, F next)
{
    atomic_begin(p, sizeof *p, true, RELAXED);
    T old = *const_cast<volatile T *>(p);
    *const_cast<volatile T *>(p) = next(old);
    atomic_end(p, sizeof *p, true, RELAXED);
    return old;
}
template <class T> SIMT_INLINE T load_ordered(const T *p, order what)
{
    atomic_begin(p, sizeof *p, false, what);
    T value = *const_cast<const volatile T *>(p);
    atomic_end(p, sizeof *p, false, what);
    return value;
}
template <class T> SIMT_INLINE void store_ordered(T *p, T value, order what)
{
    atomic_begin(p, sizeof *p, true, what);
    *const_cast<volatile T *>(p) = value;
    atomic_end(p, sizeof *p, true, what);
}

template <class T> SIMT_INLINE T warp_value(unsigned mask, warp_op op, T value, unsigned source = 0)
{
    static_assert(sizeof(T) <= 8, "a warp operation moves at most 8 bytes");
    warp_payload payload = {op, source, 0, 0, nullptr, nullptr};
    std::memcpy(&payload.value, &value, sizeof value);
    warp_collective(mask, payload);
    std::memcpy(&value, &payload.value, sizeof value);
    return value;
}

// The segment of `width` lanes that a shuffle stays in (CUDA C++ Programming Guide, warp shuffle functions).
inline unsigned shuffle_source(int kind_of_shuffle, unsigned by, unsigned width)
{
    unsigned self = lane(), first = self & ~(width - 1), last = first + width - 1;
    switch (kind_of_shuffle) {
    case 0: return first + (by & (width - 1));
    case 1: return self < first + by ? self : self - by;     // up
    case 2: return self + by > last ? self : self + by;      // down
    default: return (self ^ by) > last ? self : self ^ by;   // xor
    }
}

} // namespace simt

#define threadIdx simt::thread_index
#define blockIdx simt::block_index
#define blockDim simt::block_size
#define gridDim simt::grid_size
static constexpr int warpSize = 32;

SIMT_INLINE void __syncthreads() { simt::sync_block(0, 0, nullptr); }
SIMT_INLINE int __syncthreads_count(int predicate) { int r; simt::sync_block(1, predicate, &r); return r; }
SIMT_INLINE int __syncthreads_and(int predicate) { int r; simt::sync_block(2, predicate, &r); return r; }
SIMT_INLINE int __syncthreads_or(int predicate) { int r; simt::sync_block(3, predicate, &r); return r; }
static inline void __threadfence() { simt::fence(); }
static inline void __threadfence_block() { simt::fence(); }
static inline void __threadfence_system() { simt::fence(); }
SIMT_INLINE void __nanosleep(unsigned) { simt::spin(); }

SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { simt::warp_value(mask, simt::WARP_SYNC, 0); }
static inline unsigned __activemask() { return simt::active_mask(); }
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) { return simt::warp_value<unsigned>(mask, simt::WARP_BALLOT, predicate != 0); }
SIMT_INLINE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
SIMT_INLINE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; } // lanes that have ended do not vote
template <class T> SIMT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    return simt::warp_value(mask, simt::WARP_SHUFFLE, value, simt::shuffle_source(0, unsigned(source), unsigned(width)));
}
template <class T> SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    return simt::warp_value(mask, simt::WARP_SHUFFLE, value, simt::shuffle_source(1, by, unsigned(width)));
}
template <class T> SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    return simt::warp_value(mask, simt::WARP_SHUFFLE, value, simt::shuffle_source(2, by, unsigned(width)));
}
template <class T> SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32)
{
    return simt::warp_value(mask, simt::WARP_SHUFFLE, value, simt::shuffle_source(3, unsigned(by), unsigned(width)));
}
template <class T> SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return unsigned(simt::warp_value(mask, simt::WARP_MATCH_ANY, bits));
}
template <class T> SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int *predicate)
{
    simt::warp_payload payload = {simt::WARP_MATCH_ALL, 0, 0, 0, nullptr, nullptr};
    std::memcpy(&payload.value, &value, sizeof value);
    simt::warp_collective(mask, payload);
    *predicate = int(payload.extra);
    return unsigned(payload.value);
}
SIMT_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned v) { return simt::warp_value(mask, simt::WARP_ADD, v); }
SIMT_INLINE int __reduce_add_sync(unsigned mask, int v) { return simt::warp_value(mask, simt::WARP_ADD, v); }
SIMT_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned v) { return simt::warp_value(mask, simt::WARP_MIN, v); }
SIMT_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned v) { return simt::warp_value(mask, simt::WARP_MAX, v); }
SIMT_INLINE int __reduce_min_sync(unsigned mask, int v) { return simt::warp_value(mask, simt::WARP_MIN_SIGNED, v); }
SIMT_INLINE int __reduce_max_sync(unsigned mask, int v) { return simt::warp_value(mask, simt::WARP_MAX_SIGNED, v); }
SIMT_INLINE unsigned __reduce_and_sync(unsigned mask, unsigned v) { return simt::warp_value(mask, simt::WARP_AND, v); }
SIMT_INLINE unsigned __reduce_or_sync(unsigned mask, unsigned v) { return simt::warp_value(mask, simt::WARP_OR, v); }
SIMT_INLINE unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return simt::warp_value(mask, simt::WARP_XOR, v); }

template <class T> SIMT_INLINE T atomicAdd(T *p, T v) { return simt::atomic_update(p, [v](T old) { return T(old + v); }); }
template <class T> SIMT_INLINE T atomicSub(T *p, T v) { return simt::atomic_update(p, [v](T old) { return T(old - v); }); }
template <class T> SIMT_INLINE T atomicMin(T *p, T v) { return simt::atomic_update(p, [v](T old) { return v < old ? v : old; }); }
template <class T> SIMT_INLINE T atomicMax(T *p, T v) { return simt::atomic_update(p, [v](T old) { return v > old ? v : old; }); }
template <class T> SIMT_INLINE T atomicAnd(T *p, T v) { return simt::atomic_update(p, [v](T old) { return T(old & v); }); }
template <class T> SIMT_INLINE T atomicOr(T *p, T v) { return simt::atomic_update(p, [v](T old) { return T(old | v); }); }
template <class T> SIMT_INLINE T atomicXor(T *p, T v) { return simt::atomic_update(p, [v](T old) { return T(old ^ v); }); }
template <class T> SIMT_INLINE T atomicExch(T *p, T v) { return simt::atomic_update(p, [v](T) { return v; }); }
template <class T> SIMT_INLINE T atomicCAS(T *p, T expected, T v) { return simt::atomic_update(p, [=](T old) { return old == expected ? v : old; }); }
SIMT_INLINE unsigned atomicInc(unsigned *p, unsigned top) { return simt::atomic_update(p, [top](unsigned old) { return old >= top ? 0 : old + 1; }); }
SIMT_INLINE unsigned atomicDec(unsigned *p, unsigned top) { return simt::atomic_update(p, [top](unsigned old) { return old == 0 || old > top ? top : old - 1; }); }

template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> T __ldca(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> void __stcg(T *p, T v) { *p = v; }
template <class T> void __stcs(T *p, T v) { *p = v; }
template <class T> void __stwt(T *p, T v) { *p = v; }

// cp.async as a plain copy; the pipeline's waits have nothing left to wait for.
static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
    if (bytes == 16) *static_cast<longlong2 *>(to) = *static_cast<const longlong2 *>(from);
    else if (bytes == 8) *static_cast<long long *>(to) = *static_cast<const long long *>(from);
    else *static_cast<int *>(to) = *static_cast<const int *>(from);
}
static inline void __pipeline_commit() {}
static inline void __pipeline_wait_prior(unsigned) {}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1 / a; }
static inline float __fsqrt_rn(float a) { return std::sqrt(a); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline float rsqrtf(float a) { return 1 / std::sqrt(a); }
#define __expf(a) expf(a)
template <class To, class From> To simt_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "bits of the same size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x) { return simt_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return simt_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return simt_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return simt_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return simt_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return simt_bits<double>(x); }
template <class A, class B> std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <class A, class B> std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

#endif
