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

hu_status hu_device_pick(const char *wanted, bool has_gpu_kernel, hu_device *ret_device, hu_error *err)
{
    *ret_device = (hu_device){HU_DEVICE_CPU, 0};
    int index;
    if (strcmp(wanted, "cpu") == 0) return HU_OK;
    if (strcmp(wanted, "auto") == 0) {
        hu_say(1, has_gpu_kernel ? "device: the CPU (this build has no GPU back end)" : "device: the CPU");
        return HU_OK;
    }
    if (!parse_cuda(wanted, &index))
        return hu_fail(err, HU_USAGE, "--device=%s: auto, cpu, cuda or cuda:N is wanted", wanted);
    return hu_fail(err, HU_DEVICE, "--device=%s: this build has no GPU back end; use --device=cpu or --device=auto", wanted);
}
