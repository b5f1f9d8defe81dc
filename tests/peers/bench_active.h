/* bench_active.h: what active sampling saves, replayed on public tables; a part of bench_learn. */
#ifndef HU_BENCH_ACTIVE_H
#define HU_BENCH_ACTIVE_H

#include "bench.h"

/* data: the folder with tuning/NAME.csv. */
void bench_sampling(bench *run, const char *data);

#endif
