/* gpu_none.c: the functions of gpu.h in a build without CUDA: there is no device, and hu_gpu_open() says so. */
#include "config.h"
#include "device/gpu.h"

bool hu_gpu_built(void)
{
    return false;
}

static hu_status none(hu_error *err)
{
    return hu_fail(err, HU_DEVICE, "this build has no GPU back end (configure finds nvcc, or takes --with-cuda=DIR); use --device=cpu");
}

hu_status hu_gpu_open(int index, hu_gpu **ret_gpu, hu_error *err)
{
    (void)index;
    *ret_gpu = NULL;
    return none(err);
}

/* Without a device nothing below can be called by a correct program. */
void hu_gpu_close(hu_gpu *gpu) { (void)gpu; }
const hu_gpu_facts *hu_gpu_describe(const hu_gpu *gpu) { (void)gpu; return NULL; }
hu_status hu_gpu_alloc(hu_gpu *gpu, int64_t count, size_t size, const char *what, void **ret_block, hu_error *err)
{
    (void)gpu, (void)count, (void)size, (void)what;
    *ret_block = NULL;
    return none(err);
}
void hu_gpu_free(hu_gpu *gpu, void *block) { (void)gpu, (void)block; }
hu_status hu_gpu_upload(hu_gpu *gpu, void *device_block, const void *host_block, int64_t bytes, hu_error *err)
{
    (void)gpu, (void)device_block, (void)host_block, (void)bytes;
    return none(err);
}
hu_status hu_gpu_download(hu_gpu *gpu, void *host_block, const void *device_block, int64_t bytes, hu_error *err)
{
    (void)gpu, (void)host_block, (void)device_block, (void)bytes;
    return none(err);
}
hu_status hu_gpu_zero(hu_gpu *gpu, void *device_block, int64_t bytes, hu_error *err) { (void)gpu, (void)device_block, (void)bytes; return none(err); }
hu_status hu_gpu_copy(hu_gpu *gpu, int64_t count, size_t size, const char *what, const void *host_block, void **ret_block, hu_error *err)
{
    (void)gpu, (void)count, (void)size, (void)what, (void)host_block;
    *ret_block = NULL;
    return none(err);
}
hu_status hu_gpu_wait(hu_gpu *gpu, hu_error *err) { (void)gpu; return none(err); }
hu_status hu_gpu_clock_start(hu_gpu *gpu, hu_error *err) { (void)gpu; return none(err); }
hu_status hu_gpu_clock_stop(hu_gpu *gpu, double *ret_seconds, hu_error *err) { (void)gpu, (void)ret_seconds; return none(err); }
