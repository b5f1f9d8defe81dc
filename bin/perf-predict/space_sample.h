/* space_sample.h: distinct configurations of a space, drawn evenly, and estimates of its size. */
#ifndef PP_SPACE_SAMPLE_H
#define PP_SPACE_SAMPLE_H

#include "space.h"

/* Up to n distinct configurations, evenly from all that the space has (each set of n is as likely as any other): code[*ret_count][parameters]. Fewer where the space has fewer, or where its
 * conditions by trial let none through in two million draws. The same seed and salt give the same ones. Free *ret_code with hu_free(). */
hu_status space_sample(const space *space, uint64_t seed, uint64_t salt, int64_t n, int32_t **ret_code, int64_t *ret_count, hu_error *err);

/* The number of configurations where conditions are by trial: the share of 100000 draws that they let through, and the interval that holds it with 95 % (Wilson 1927). */
hu_status space_estimate(const space *space, uint64_t seed, double *ret_count, double *ret_low, double *ret_high, hu_error *err);

#endif
