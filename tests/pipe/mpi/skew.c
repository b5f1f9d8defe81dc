/* skew.c: a clock that is wrong: preloaded, it sets CLOCK_MONOTONIC of rank 1 five seconds ahead and lets it run 100 parts in a million too fast. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *t)
{
    static long long start;
    long code = syscall(SYS_clock_gettime, which, t);
    const char *rank = getenv("PMI_RANK");
    if (code != 0 || which != CLOCK_MONOTONIC || !rank || strcmp(rank, "1") != 0) return (int)code;
    long long now = t->tv_sec * 1000000000LL + t->tv_nsec;
    if (!start) start = now;
    now += 5000000000LL + (now - start) / 10000;
    t->tv_sec = now / 1000000000LL;
    t->tv_nsec = now % 1000000000LL;
    return 0;
}
