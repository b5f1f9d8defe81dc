/* compare.h: two traces side by side: calls, messages, their order on each channel, times. */
#ifndef TC_COMPARE_H
#define TC_COMPARE_H

#include "input.h"

typedef struct compare compare;

hu_status compare_new(compare **ret_compare, hu_error *err);
void compare_free(compare *c); /* NULL is allowed */

/* Reads a whole trace as side 0 or 1. */
hu_status compare_read(compare *c, int side, const input *in, hu_error *err);

/* What was found; the names are borrowed. Differences: of counts the absolute ones; of the matrices the sum of |a - b| over the sum of a; of times |a - b| / a. */
typedef struct {
    char name[160];
    double a, b, difference;
    bool judged; /* without a tolerance of its own it must be 0; else it is only told */
} compare_metric;

int64_t compare_metrics(const compare *c);
compare_metric compare_metric_of(const compare *c, int64_t index);

#endif
