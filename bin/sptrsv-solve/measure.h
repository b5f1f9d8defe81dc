/* measure.h: how long a plan takes, and the naive loop; the search of --tune=search.
 *
 * Sections: timing, the search.
 */
#ifndef SPTRSV_MEASURE_H
#define SPTRSV_MEASURE_H

#include "plan.h"

typedef struct {
    double median, least; /* seconds a solve */
    int repetitions;
} sptrsv_time;

/* Solves with `columns` right-hand sides of ones until both `repetitions` samples and `seconds` are reached (whichever is later, but no
 * more than ten times the repetitions). Solves shorter than the clock can tell are timed in batches. Samples during which the kernel took a processor away are set
 * aside, unless fewer than three others remain. */
hu_status sptrsv_measure(const sptrsv_plan *plan, const sptrsv_system *system, int columns, int repetitions, double seconds, sptrsv_time *ret_time,
                         hu_error *err);

/* The same for the loop that everyone writes first: natural order, in double, one right-hand side. NaN for complex systems. */
hu_status sptrsv_measure_naive(const sptrsv_system *system, int repetitions, double seconds, sptrsv_time *ret_time, hu_error *err);

/* Measures candidates for about `seconds`, the more promising first and the best three against each other at the end; ret_plan is
 * the winner's plan. The rule's choice is always among those measured. */
hu_status sptrsv_search(const sptrsv_system *system, sptrsv_precision precision, int threads, bool allow_grid, int columns, double seconds,
                        sptrsv_plan **ret_plan, hu_error *err);

#endif
