/* measure.h: how long a plan takes, and every scheme worth trying on a system.
 *
 * Sections: timing a plan, candidates, the search (--tune=search), the table (--bench).
 */
#ifndef SPTRSV_MEASURE_H
#define SPTRSV_MEASURE_H

#include "plan.h"

typedef struct {
    double median, least; /* seconds a solve */
    int repetitions;
} sptrsv_time;

/* Solves with a right-hand side of ones until both `repetitions` samples and `seconds` are reached (whichever is later, but no
 * more than ten times the repetitions). Solves shorter than the clock can tell are timed in batches. */
hu_status sptrsv_measure(const sptrsv_plan *plan, const sptrsv_system *system, int repetitions, double seconds,
                         sptrsv_time *ret_time, hu_error *err);

/* All schemes of the space that differ on this system for this thread count, the rule's choice first. Free *ret_schemes with hu_free(). */
hu_status sptrsv_candidates(const sptrsv_system *system, sptrsv_precision precision, int threads, sptrsv_scheme **ret_schemes,
                            int *ret_n, hu_error *err);

/* Measures candidates for about `seconds`, the more promising first and the best three against each other at the end; ret_plan is
 * the winner's plan. The rule's choice is always among those measured. */
hu_status sptrsv_search(const sptrsv_system *system, sptrsv_precision precision, int threads, double seconds,
                        sptrsv_plan **ret_plan, hu_error *err);

/* Writes one CSV row a candidate with a header: matrix, features, machine, threads, precision, scheme, seconds of analysis and solve, bytes,
 * rates, and the share of the best. What a scheme model is trained on. */
hu_status sptrsv_bench(const sptrsv_system *system, const char *name, sptrsv_precision precision, int threads, int repetitions,
                       hu_output *out, hu_error *err);

#endif
