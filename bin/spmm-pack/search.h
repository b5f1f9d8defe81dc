/* search.h: the search for the best kernel for one weight: features, ranks, proxies, compiled survivors.
 *
 * The candidates are all forms and shapes that fit. Each feature ranks them; the sum of the ranks, not a predicted time, discards all but a few (the rank-based cost
 * model of EC-SpMM, ICPP 2023, 10.1145/3605573.3605632). Of those the same inner loops run from the library, without any code generated, on a sample of the
 * panels (the simplified proxies of LO-SpMM, ACM TACO 2024). The best `keep` are compiled and measured.
 */
#ifndef SPMM_SEARCH_H
#define SPMM_SEARCH_H

#include "emit.h"

typedef enum { SPMM_SEARCH_RANK, SPMM_SEARCH_PROXY, SPMM_SEARCH_EXHAUSTIVE } spmm_search_kind;

enum { SPMM_FEATURES = 6 };
extern const char *const spmm_feature_names[SPMM_FEATURES];

typedef struct {
    spmm_kernel_choice choice;
    double feature[SPMM_FEATURES]; /* the less the better */
    double rank_sum;
    double proxy_seconds, seconds, compile_seconds; /* of a product of the whole weight; NaN: not measured */
} spmm_candidate;

typedef struct {
    spmm_candidate *list; /* [n] by rank */
    int n, proxies, compiled, best;
    double rank_seconds, proxy_seconds, compile_seconds, measure_seconds;
} spmm_search;

typedef struct {
    spmm_search_kind kind;
    int keep;      /* survivors to compile */
    bool compile;  /* else the best by proxy, or by rank, is taken as it is */
    uint64_t seed; /* of the sample and of B */
} spmm_search_options;

/* a: values f32. Free what it returns with spmm_search_free(). */
hu_status spmm_search_run(const spmm_matrix *a, int64_t k, const spmm_search_options *options, spmm_search *ret_search, hu_error *err);
void spmm_search_free(spmm_search *search);

#endif
