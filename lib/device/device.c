/* device.c: where a run takes place. */
#include "config.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* "cuda" or "cuda:N" with N in 0..999. */
static bool parse_cuda(const char *word, int *ret_index)
{
    *ret_index = 0;
    if (strncmp(word, "cuda", 4) != 0) return false;
    if (word[4] == '\0') return true;
    if (word[4] != ':' || word[5] < '0' || word[5] > '9') return false;
    char *end;
    long index = strtol(word + 5, &end, 10);
    *ret_index = (int)index;
    return *end == '\0' && index <= 999;
}

/* auto: the GPU where there is one. */
static hu_status pick_auto(bool has_gpu_kernel, hu_gpu **ret_gpu, hu_error *err)
{
    if (has_gpu_kernel && hu_gpu_built()) {
        if (hu_gpu_open(0, ret_gpu, err) == HU_OK) {
            hu_say(1, "device: GPU 0 (%s)", hu_gpu_describe(*ret_gpu)->name);
            return HU_OK;
        }
        if (err->status != HU_DEVICE) return err->status;
        hu_say(1, "device: the CPU (%s)", err->message);
        hu_error_clear(err);
        return HU_OK;
    }
    hu_say(1, "device: the CPU");
    return HU_OK;
}

hu_status hu_device_pick(const char *wanted, bool has_gpu_kernel, hu_gpu **ret_gpu, hu_error *err)
{
    int index;
    *ret_gpu = NULL;
    if (strcmp(wanted, "cpu") == 0) return HU_OK;
    if (strcmp(wanted, "auto") == 0) return pick_auto(has_gpu_kernel, ret_gpu, err);
    if (!parse_cuda(wanted, &index)) return hu_fail(err, HU_USAGE, "--device=%s: auto, cpu, cuda or cuda:N is wanted", wanted);
    if (!has_gpu_kernel) return hu_fail(err, HU_DEVICE, "--device=%s: this job has no GPU kernel; use --device=cpu or --device=auto", wanted);
    return hu_gpu_open(index, ret_gpu, err);
}

hu_status hu_device_cpu_only(const char *wanted, hu_error *err)
{
    hu_gpu *none;
    return hu_device_pick(wanted, false, &none, err);
}
