/* bench.c: side-by-side benchmarks.
 *
 * Sections: the run, sides, rows.
 */
#include "config.h"
#include "bench.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "device/cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

/* ---- the run ---------------------------------------------------------------------------------------------------- */

static const int64_t flush_bytes = 64 << 20;

void bench_begin(bench *run, const char *versions)
{
    struct utsname system;
    hu_error err = HU_ERROR_NONE;
    uname(&system);
    run->cache_bytes = hu_cpu_cache_bytes(3) > 0 ? hu_cpu_cache_bytes(3) : 32 << 20;
    if (hu_alloc_zero(flush_bytes, 1, "the cache flush", (void **)&run->flush, &err)) {
        hu_error_print(&err);
        exit(err.status);
    }
    printf("# machine: %s, %d threads, last cache %lld MiB, level %s, %s %s\n", hu_cpu_model(), hu_threads(),
           (long long)(run->cache_bytes >> 20), hu_cpu_level_name(hu_cpu()), system.sysname, system.release);
    printf("# compiler: gcc %s; peers and harness at -O3 -march=native\n# versions: hpcutils %s, %s\n", __VERSION__, PACKAGE_VERSION,
           versions);
    printf("# medians of interleaved repetitions, in place on every side unless the case says otherwise; `#time' lines: side, median, "
           "least (ms), samples that count\n");
    if (run->quick) printf("# --quick: small cases; their verdicts are an indication only\n");
    printf("bar,case,ours,unit,peer,theirs,ratio,limit_share,floor,verdict\n");
}

void bench_end(bench *run)
{
    hu_free(run->flush);
}

bool bench_wants(const bench *run, const char *bar)
{
    for (int i = 0; i < run->wanted_count; i++)
        if (strcmp(run->wanted[i], bar) == 0) return true;
    return run->wanted_count == 0;
}

void bench_probe(bench *run, const char *name, bool after)
{
    double before = run->bandwidth, now = 0;
    if (run->quick && !after && before > 0) return; /* the probe after the last case serves as the one before this */
    hu_error err = HU_ERROR_NONE;
    if (hu_cpu_read_bandwidth(&now, &err)) hu_error_print(&err);
    run->bandwidth = after ? fmax(before, now) : now;
    if (!after) return;
    bool noisy = fabs(before - now) > 0.15 * fmax(before, now);
    printf("#probe,%s,read bandwidth before %.1f and after %.1f GB/s,%s\n", name, before / 1e9, now / 1e9, noisy ? "NOISY" : "quiet");
}

/* ---- sides ------------------------------------------------------------------------------------------------------ */

static void flush_caches(bench *run)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < flush_bytes; i += 64) run->flush[i]++;
}

static double sample(side *s)
{
    if (s->batch == 1 && s->prepare) s->prepare(s);
    double start = hu_clock_wall();
    for (int k = 0; k < s->batch; k++) {
        if (s->batch > 1 && s->prepare) s->prepare(s);
        s->work(s);
    }
    return (hu_clock_wall() - start) / s->batch;
}

/* Solves in a sample, the same for all sides, so that the quickest takes 50 us. */
static int batch_of(side *sides, int count)
{
    double quickest = INFINITY;
    for (int i = 0; i < count; i++) {
        if (sides[i].left_out) continue;
        sides[i].batch = 1;
        for (int k = 0; k < 3; k++) quickest = fmin(quickest, sample(&sides[i]));
    }
    return quickest < 50e-6 ? (int)(50e-6 / fmax(quickest, 1e-8)) + 1 : 1;
}

static void conclude(const char *name, side *s)
{
    const int all = s->count + s->disturbed;
    if (s->count < 5) {
        memcpy(s->samples + s->count, s->disturbed_samples, sizeof *s->samples * (size_t)s->disturbed);
        s->count = all;
    }
    s->least = INFINITY;
    for (int r = 0; r < s->count; r++) s->least = fmin(s->least, s->samples[r]);
    s->median = hu_clock_median(s->samples, s->count);
    printf("#time,%s,%s,%.5g,%.5g,%d of %d\n", name, s->name, 1e3 * s->median, 1e3 * s->least, s->count, all);
}

void bench_time(bench *run, const char *name, side *sides, int count, double seconds, int64_t working_set)
{
    bool flush = working_set < 4 * run->cache_bytes;
    int batch = batch_of(sides, count);
    for (int i = 0; i < count; i++) {
        sides[i].batch = batch;
        sides[i].count = sides[i].disturbed = 0;
    }
    double start = hu_clock_wall();
    for (int r = 0; r < BENCH_REPETITIONS && (r < 5 || hu_clock_wall() - start < seconds); r++)
        for (int k = 0; k < count; k++) {
            side *s = &sides[(k + r) % count];
            if (s->left_out) continue;
            if (flush) flush_caches(run);
            long before = hu_clock_preemptions();
            double taken = sample(s);
            if (hu_clock_preemptions() == before) s->samples[s->count++] = taken;
            else s->disturbed_samples[s->disturbed++] = taken;
        }
    for (int i = 0; i < count; i++)
        if (!sides[i].left_out) conclude(name, &sides[i]);
    fflush(stdout);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void number(double value)
{
    if (isnan(value)) printf(",");
    else printf(",%.4g", value);
}

void bench_row(const bench *run, const char *bar, const char *name, double ours, const char *unit, const char *peer, double theirs,
               double ratio, double limit_share, double floor)
{
    if (!bench_wants(run, bar)) return;
    printf("%s,%s", bar, name);
    number(ours);
    printf(",%s,%s", unit, peer);
    number(theirs);
    number(ratio);
    number(limit_share);
    number(floor);
    printf(",%s\n", ratio >= floor ? "pass" : "short");
    fflush(stdout);
}

void bench_skip(const bench *run, const char *bar, const char *name, const char *peer)
{
    if (bench_wants(run, bar)) printf("%s,%s,,,%s,,,,,skipped\n", bar, name, peer);
}
