/* cpu.h: what the processor can do, and what its limits are as measured.
 *
 * Sections: the instruction level of the hot loops, caches, measured limits.
 */
#ifndef HU_DEVICE_CPU_H
#define HU_DEVICE_CPU_H

#include "base/error.h"

/* Instruction levels for which hot loops are built: baseline, x86-64-v3 (AVX2, FMA), x86-64-v4 (AVX-512). */
typedef enum { HU_CPU_BASE, HU_CPU_V3, HU_CPU_V4, HU_CPU_LEVELS } hu_cpu_level;

/* The level in use: the best that the processor has, or what HPCUTILS_CPU=base|v3|v4 forces; chosen once.
 * A forced level that the processor lacks or a word it does not know is said on standard error and the best one is taken. */
hu_cpu_level hu_cpu(void);
bool hu_cpu_has(hu_cpu_level level);
const char *hu_cpu_level_name(hu_cpu_level level);

/* Model name, for reports; "unknown" where the system does not tell. */
const char *hu_cpu_model(void);

/* Bytes of the data cache of a level (1, 2, 3) as one core sees it; 0 where there is none or the system does not tell. */
int64_t hu_cpu_cache_bytes(int level);

/* Measured now, with all threads of hu_threads(): bytes per second read from memory (8 streams a thread, arrays beyond the last
 * cache), and fused multiply-add operations per second (2 a FMA) in double. Each takes about 0.2 s at least. */
hu_status hu_cpu_read_bandwidth(double *ret_bytes_per_second, hu_error *err);
double hu_cpu_fma_peak(void);

#endif
