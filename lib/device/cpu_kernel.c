/* cpu_kernel.c: the loops that measure what the processor can do, one build per instruction set. */
#include "config.h"
#include "device/cpu_kernel.h"

typedef double lanes __attribute__((vector_size(HU_LANES * sizeof(double))));

double HU_NAME(hu_probe_read)(const double *a, int64_t bytes)
{
    enum { LINE = 64 / sizeof(lanes) }; /* vectors a cache line */
    const int64_t stream = bytes / HU_PROBE_STREAMS / (int64_t)sizeof(lanes);
    const lanes *const v = (const lanes *)a;
    lanes sum[HU_PROBE_STREAMS] = {{0}};
    for (int64_t k = 0; k < stream; k += LINE)
        for (int s = 0; s < HU_PROBE_STREAMS; s++)
            for (int l = 0; l < LINE; l++) sum[s] += v[s * stream + k + l];
    for (int s = 1; s < HU_PROBE_STREAMS; s++) sum[0] += sum[s];
    double total = 0;
    for (int l = 0; l < HU_LANES; l++) total += sum[0][l];
    return total;
}

/* Keeps a value in a register and out of the compiler's sight. */
#if defined(__x86_64__)
#define HIDE(value) __asm__ volatile("" : "+v"(value))
#elif defined(__aarch64__)
#define HIDE(value) __asm__ volatile("" : "+w"(value))
#else
#define HIDE(value) __asm__ volatile("" : "+m"(value))
#endif

double HU_NAME(hu_probe_fma)(int64_t steps)
{
    enum { CHAINS = 12 }; /* two units of latency 4 or 5 are full; all fits 16 registers */
    lanes x[CHAINS], half, one;
    for (int l = 0; l < HU_LANES; l++) half[l] = 0.5, one[l] = 1;
    for (int c = 0; c < CHAINS; c++) x[c] = one;
    for (int64_t k = 0; k < steps; k++)
        for (int c = 0; c < CHAINS; c++) x[c] = x[c] * half + one;
    for (int c = 0; c < CHAINS; c++) HIDE(x[c]);
    return 2.0 * CHAINS * HU_LANES * (double)steps;
}
