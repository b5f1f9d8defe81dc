/* cpu_kernel.h: the loops that measure what the processor can do, one build per instruction set. */
#ifndef HU_DEVICE_CPU_KERNEL_H
#define HU_DEVICE_CPU_KERNEL_H

#include "device/level.h"

enum { HU_PROBE_STREAMS = 8, HU_PROBE_UNIT = HU_PROBE_STREAMS * 4096 }; /* bytes are read in multiples of the unit */

/* Reads `bytes` in 8 streams side by side; the sum of all doubles (finite and small, or it says nothing). */
HU_LEVELS(double, hu_probe_read, (const double *a, int64_t bytes));

/* Runs `steps` rounds of independent chains of multiply-adds; returns how many operations they were (2 a multiply-add). */
HU_LEVELS(double, hu_probe_fma, (int64_t steps));

#endif
