/* memory.h: allocation whose sizes cannot overflow and whose failure is an error, not a crash. */
#ifndef HU_BASE_MEMORY_H
#define HU_BASE_MEMORY_H

#include "base/error.h"

#define HU_ALIGN 64 /* bytes; a cache line and a 512-bit vector */

/* Allocates count items of size bytes, aligned to HU_ALIGN, not cleared. Large blocks ask for huge pages.
 * A count of 0 gives a valid block. `what` names the thing in the message. Free with hu_free(). */
hu_status hu_alloc(int64_t count, size_t size, const char *what, void **ret_block, hu_error *err);

/* The same, cleared to zero. */
hu_status hu_alloc_zero(int64_t count, size_t size, const char *what, void **ret_block, hu_error *err);

/* Makes room for at least `need` items of `size` bytes in *block, whose capacity is *capacity items; grows by half. */
hu_status hu_grow(void **block, int64_t *capacity, int64_t need, size_t size, const char *what, hu_error *err);

/* Makes room behind the first `used` bytes of *block, which is aligned to HU_ALIGN: up to `most` bytes in all, of which 64 MiB come at
 * once and more only as they fill, so that memory follows the bytes that are really there and not what a header claims.
 * Start with *block = NULL and *capacity = 0. */
hu_status hu_grow_claimed(void **block, int64_t *capacity, int64_t used, int64_t most, const char *what, hu_error *err);

/* NULL is allowed. */
void hu_free(void *block);

/* a * b and a + b for sizes >= 0; false where the result does not fit. */
bool hu_mul_size(int64_t a, int64_t b, int64_t *ret);
bool hu_add_size(int64_t a, int64_t b, int64_t *ret);

#endif
