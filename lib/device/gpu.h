/* gpu.h: one CUDA device, as programs in C use it: memory, copies, time. Kernels stand in .cu files beside their programs (launch.h).
 *
 * A build without nvcc has the same functions (gpu_none.c), of which hu_gpu_open() fails with what to do. Every call is checked: a failure is
 * HU_DEVICE with what was being done and CUDA's own words; a kernel's failure shows at the next hu_gpu_wait() or copy.
 */
#ifndef HU_DEVICE_GPU_H
#define HU_DEVICE_GPU_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hu_gpu hu_gpu;

typedef struct {
    char name[256];
    int index, major, minor;      /* compute capability major.minor */
    int processors;               /* streaming multiprocessors */
    int threads_per_processor;
    int64_t memory_bytes, free_bytes, l2_bytes, shared_bytes; /* shared: most a block may ask for */
} hu_gpu_facts;

/* Whether this build has the GPU back ends. */
bool hu_gpu_built(void);

/* Opens device `index` and makes sure that this build's kernels run on it. HU_DEVICE: no driver, no such device, an architecture that the
 * build has no code for. Free with hu_gpu_close(), after everything allocated on it. */
hu_status hu_gpu_open(int index, hu_gpu **ret_gpu, hu_error *err);
void hu_gpu_close(hu_gpu *gpu); /* NULL is allowed */
const hu_gpu_facts *hu_gpu_describe(const hu_gpu *gpu);

/* count items of size bytes on the device, not cleared; sizes are checked, 0 gives NULL. `what` names the thing in the message. */
hu_status hu_gpu_alloc(hu_gpu *gpu, int64_t count, size_t size, const char *what, void **ret_block, hu_error *err);
void hu_gpu_free(hu_gpu *gpu, void *block); /* NULL is allowed */

/* Copies of bytes; they wait for what was launched before. */
hu_status hu_gpu_upload(hu_gpu *gpu, void *device_block, const void *host_block, int64_t bytes, hu_error *err);
hu_status hu_gpu_download(hu_gpu *gpu, void *host_block, const void *device_block, int64_t bytes, hu_error *err);
hu_status hu_gpu_zero(hu_gpu *gpu, void *device_block, int64_t bytes, hu_error *err);

/* A block on the device with the contents of one on the host: alloc and upload. */
hu_status hu_gpu_copy(hu_gpu *gpu, int64_t count, size_t size, const char *what, const void *host_block, void **ret_block, hu_error *err);

hu_status hu_gpu_wait(hu_gpu *gpu, hu_error *err);

/* Seconds of device time between the two calls; the second waits. */
hu_status hu_gpu_clock_start(hu_gpu *gpu, hu_error *err);
hu_status hu_gpu_clock_stop(hu_gpu *gpu, double *ret_seconds, hu_error *err);

#ifdef __cplusplus
}
#endif
#endif
