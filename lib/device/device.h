/* device.h: where a run takes place. The GPU back ends come with their own issue; a build without them knows the CPU only. */
#ifndef HU_DEVICE_DEVICE_H
#define HU_DEVICE_DEVICE_H

#include "base/error.h"

typedef enum { HU_DEVICE_CPU, HU_DEVICE_CUDA } hu_device_kind;

typedef struct {
    hu_device_kind kind;
    int index; /* of the CUDA device */
} hu_device;

/* wanted: "auto", "cpu", "cuda" or "cuda:N". auto takes a usable GPU where the program says it has a kernel for this job
 * (has_gpu_kernel), else the CPU. HU_DEVICE with what to do where a GPU was asked for by name and cannot be had. */
hu_status hu_device_pick(const char *wanted, bool has_gpu_kernel, hu_device *ret_device, hu_error *err);

#endif
