/* trace_times.h: times and counts in few bytes, exact or within a stated relative error: cells of a logarithmic scale by adaptive binary models and a range coder.
 *
 * The scale cuts 0, 1, 2, ... into cells, each with one value that stands for it: v is at most e v from that of its cell. Exact values are a cell of a scale of 6 %, then
 * their place in it. A cell's number goes bit by bit from the top through the mean of two adaptive models, one by each context; the bits behind the tenth as they are.
 * Everything is integer arithmetic, so that every machine reads the same.
 */
#ifndef HU_IO_TRACE_TIMES_H
#define HU_IO_TRACE_TIMES_H

#include "base/error.h"

typedef struct hu_times hu_times;

enum { HU_TIMES_MILLION = 1000000 };

/* parts: the relative error in parts per million (100 to 500 000), or 0 for exact values. */
hu_status hu_times_new(int32_t parts, hu_times **ret_times, hu_error *err);
void hu_times_free(hu_times *times); /* NULL is allowed */

/* ---- writing: the context is two numbers, whatever is known of the value already */
hu_status hu_times_put(hu_times *t, uint32_t context, uint32_t finer, int64_t value, hu_error *err);
hu_status hu_times_put_exact(hu_times *t, uint32_t context, int64_t value, hu_error *err); /* exact whatever the error */

hu_status hu_times_put_flag(hu_times *t, int which, bool flag, hu_error *err);               /* which: 0 to 7 */

/* The bytes so far, ended; they belong to the coder until the next put, which begins anew (the models stay). */
hu_status hu_times_finish(hu_times *t, const uint8_t **ret_bytes, int64_t *ret_size, hu_error *err);
int64_t hu_times_size(const hu_times *t); /* bytes so far */

/* ---- reading: bytes are borrowed; behind their end come zero bytes, and hu_times_overrun() says so */
void hu_times_start(hu_times *t, const uint8_t *bytes, int64_t size);
int64_t hu_times_get(hu_times *t, uint32_t context, uint32_t finer);
int64_t hu_times_get_exact(hu_times *t, uint32_t context);
bool hu_times_get_flag(hu_times *t, int which);
bool hu_times_overrun(const hu_times *t);

/* What a value >= 0 becomes. */
int64_t hu_times_rounded(const hu_times *t, int64_t value);

#endif
