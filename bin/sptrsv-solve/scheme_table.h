/* scheme_table.h: every scheme of a space measured on a system, as a table: what a model of schemes is trained on. */
#ifndef SPTRSV_SCHEME_TABLE_H
#define SPTRSV_SCHEME_TABLE_H

#include "candidates.h"
#include "base/output.h"

typedef struct {
    sptrsv_precision precision;
    int threads, columns; /* columns: right-hand sides a solve */
    sptrsv_space space;
    bool allow_grid;
    int repetitions;
} sptrsv_bench_options;

/* Writes one CSV row a candidate with a header: matrix, features, machine, the columns that describe the candidate (candidate_columns of choice.h), and what
 * was measured. Schemes are measured in turn, three rounds of them, so that noise meets all alike, where their plans fit 2 GB together. solve_s is the median of
 * the rounds' least times, or of all samples where there was one round. relative, cost and of_best are of the least times, as other programs can only add to
 * a time. */
hu_status sptrsv_bench(const sptrsv_system *system, const char *name, const sptrsv_bench_options *options, hu_output *out, hu_error *err);

#endif
