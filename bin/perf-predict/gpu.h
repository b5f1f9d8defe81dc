/* gpu.h: GPUs as far as occupancy goes: what an SM has of threads, blocks, registers and shared memory, and how many blocks of a kernel that holds.
 *
 * The numbers of compute capabilities are those of NVIDIA's "CUDA C++ Programming Guide", technical specifications per compute capability; how registers and
 * shared memory are handed out is that of its occupancy calculator. 7.0 to 12.0 are known.
 */
#ifndef PP_GPU_H
#define PP_GPU_H

#include "base/error.h"

typedef struct {
    char name[64];
    int major, minor;         /* the compute capability */
    int sms;                  /* 0: not known */
    int threads, blocks;      /* of an SM, at most */
    int block_threads;        /* of a block, at most */
    int registers;            /* of an SM, and of a block */
    int shared, block_shared; /* bytes of an SM, and of a block at most (where it asks for all) */
    int reserved;             /* bytes of each block that the system takes */
} gpu;

typedef struct {
    int64_t threads, registers, shared; /* of a block, of a thread, bytes of a block (static and dynamic) */
    int64_t grid;                       /* blocks; 0: not known */
} gpu_launch;

enum { GPU_WARPS = 1, GPU_BLOCKS = 2, GPU_REGISTERS = 4, GPU_SHARED = 8, GPU_GRID = 16, GPU_LIMITS = 5 };

typedef struct {
    int blocks;         /* of an SM at the same time; 0: the kernel cannot be launched */
    int limits;         /* GPU_WARPS ...: what does not allow one more (GPU_GRID alone: the grid does not fill the SMs) */
    double theoretical; /* active warps over those that an SM can hold */
    double estimated;   /* the same with no more blocks an SM than the grid has for each; NaN: not known */
} gpu_occupancy;

/* The GPU of that name (a100, h200 ... in any case), with further "key=value" behind commas, or "cc=8.6,..." alone. HU_USAGE lists what is known. */
hu_status gpu_find(const char *text, gpu *ret_gpu, hu_error *err);

/* Names of all that gpu_find() knows: entry `index`, or NULL behind the last. */
const char *gpu_name(int index);

/* What a compute capability gives; false where it is not known. */
bool gpu_of_capability(int major, int minor, gpu *ret_gpu);

gpu_occupancy gpu_occupy(const gpu *g, const gpu_launch *launch);

/* What allows one more block an SM: at most so many registers a thread, at most so many bytes of shared memory a block, and both where both are given; -1 where that is
 * no limit now, or no value will do. And the block size nearest to the present one by which more warps are active, all else the same; -1: none. */
typedef struct {
    int64_t registers, shared, threads;
} gpu_hint;

gpu_hint gpu_advise(const gpu *g, const gpu_launch *launch);

/* "registers+shared" of limits; text[48]. */
const char *gpu_limits_text(int limits, char *text);

#endif
