/* clock.c: time for people and for benchmarks. */
#include "config.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double hu_clock_wall(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double hu_clock_cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t hu_clock_peak_bytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (int64_t)use.ru_maxrss * 1024;
}

int64_t hu_clock_preemptions(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_nivcsw;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hu_clock_median(double *samples, int n)
{
    if (n < 1) return NAN;
    qsort(samples, (size_t)n, sizeof *samples, ascending);
    return n % 2 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
}
