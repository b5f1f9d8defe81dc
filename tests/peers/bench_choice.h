/* bench_choice.h: the scheme model against what was measured (bar P10). */
#ifndef HU_BENCH_CHOICE_H
#define HU_BENCH_CHOICE_H

#include "bench.h"

/* Leave one family out: for each family of matrices in the training table, a model is trained on the others as scripts/train-sptrsv does, and chooses among the schemes
 * that were measured on this one. */
void bar_choice(bench *run);

#endif
