/* device.h: where a run takes place. */
#ifndef HU_DEVICE_DEVICE_H
#define HU_DEVICE_DEVICE_H

#include "device/gpu.h"

/* wanted: "auto", "cpu", "cuda" or "cuda:N". has_gpu_kernel: whether the program has a kernel for this job. *ret_gpu is an open device, to be
 * closed by the caller, or NULL for the CPU. auto takes a usable GPU, else the CPU, and says which at -v, and why not the GPU where the build has
 * back ends. HU_DEVICE with what to do where a GPU was asked for by name and cannot be had. */
hu_status hu_device_pick(const char *wanted, bool has_gpu_kernel, hu_gpu **ret_gpu, hu_error *err);

/* For a program or a job that has no GPU kernel: the same words about the same option. */
hu_status hu_device_cpu_only(const char *wanted, hu_error *err);

#endif
