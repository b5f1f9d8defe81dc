/* bench.h: side-by-side benchmarks: several sides do one job in turn, are verified, and end as rows of CSV (DESIGN.md section 7).
 *
 * Sections: the run, sides, rows.
 */
#ifndef HU_BENCH_H
#define HU_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the run */

typedef struct {
    bool quick;
    const char *const *wanted; /* names of bars */
    int wanted_count;
    double bandwidth;          /* bytes a second read, the better of the last two probes */
    int64_t cache_bytes;       /* of the last level */
    char *flush;               /* 64 MiB that push everything else out of the caches */
} bench;

/* Prints machine, compiler and versions as comment lines, then the header. */
void bench_begin(bench *run, const char *versions);
void bench_end(bench *run);

bool bench_wants(const bench *run, const char *bar);

/* Probes the read bandwidth before (after) a case; after, says whether the machine was quiet: the two differ by 15 % at most. */
void bench_probe(bench *run, const char *name, bool after);

/* ---- sides */

enum { BENCH_REPETITIONS = 40 };

typedef struct side {
    char name[64];
    void *data;
    void (*prepare)(struct side *self); /* outside the timing; may be NULL */
    void (*work)(struct side *self);
    double samples[BENCH_REPETITIONS], disturbed_samples[BENCH_REPETITIONS];
    int count, disturbed; /* samples taken, and samples set aside because the kernel took a processor away meanwhile */
    int batch;            /* pairs of prepare and work that one sample holds */
    double median, least; /* seconds */
    bool left_out;     /* absent or wrong: not timed */
} side;

/* Times the sides in turn, A B C A B C ..., 40 times each unless that takes more than `seconds` (then at least 5). Samples during which the
 * kernel gave a processor to another program are set aside; where fewer than 5 others remain, all count. Work that is shorter than 50 us is timed in batches that include the preparation. working_set: bytes that one turn touches; below
 * four times the last cache, the caches are flushed before every sample. */
void bench_time(bench *run, const char *name, side *sides, int count, double seconds, int64_t working_set);

/* ---- rows */

/* One row; ratio: the bigger the better, passing from `floor` up. NaN: no such figure. */
void bench_row(const bench *run, const char *bar, const char *name, double ours, const char *unit, const char *peer, double theirs,
               double ratio, double limit_share, double floor);

/* The same for a bar that cannot be measured here: `peer` names what is missing. */
void bench_skip(const bench *run, const char *bar, const char *name, const char *peer);

#endif
