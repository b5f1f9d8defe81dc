/* clock.h: time for people and for benchmarks. */
#ifndef HU_BASE_CLOCK_H
#define HU_BASE_CLOCK_H

#include <stdint.h>

double hu_clock_wall(void);        /* seconds, monotonic */
double hu_clock_cpu(void);         /* seconds of processor time of this process, all threads */
int64_t hu_clock_peak_bytes(void); /* peak resident set of this process */

/* How often the kernel took a processor away from this process, any thread of it, while it wanted to go on: a measurement meanwhile is disturbed. */
int64_t hu_clock_preemptions(void);

/* The median of n samples, which are reordered; NaN where n < 1. */
double hu_clock_median(double *samples, int n);

#endif
