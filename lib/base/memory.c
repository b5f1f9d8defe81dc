/* memory.c: allocation whose sizes cannot overflow and whose failure is an error, not a crash. */
#include "config.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

bool hu_mul_size(int64_t a, int64_t b, int64_t *ret)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, ret);
}

bool hu_add_size(int64_t a, int64_t b, int64_t *ret)
{
    return a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, ret);
}

hu_status hu_alloc(int64_t count, size_t size, const char *what, void **ret_block, hu_error *err)
{
    int64_t bytes;
    *ret_block = NULL;
    if (!hu_mul_size(count, (int64_t)size, &bytes) || bytes > PTRDIFF_MAX - HUGE_PAGE)
        return hu_fail(err, HU_SYSTEM, "%s: %lld items of %zu bytes are more than memory can address", what,
                       (long long)count, size);
    if (bytes == 0) bytes = 1;
    size_t align = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : HU_ALIGN;
    size_t rounded = ((size_t)bytes + HU_ALIGN - 1) / HU_ALIGN * HU_ALIGN;
    if (posix_memalign(ret_block, align, rounded) != 0) {
        *ret_block = NULL;
        return hu_fail(err, HU_SYSTEM, "out of memory: %s needs %lld bytes", what, (long long)bytes);
    }
    if (align == HUGE_PAGE) madvise(*ret_block, rounded, MADV_HUGEPAGE); /* a hint; its refusal costs speed only */
    return HU_OK;
}

hu_status hu_alloc_zero(int64_t count, size_t size, const char *what, void **ret_block, hu_error *err)
{
    hu_status status = hu_alloc(count, size, what, ret_block, err);
    if (status == HU_OK) memset(*ret_block, 0, (size_t)count * size);
    return status;
}

hu_status hu_grow(void **block, int64_t *capacity, int64_t need, size_t size, const char *what, hu_error *err)
{
    if (need <= *capacity) return HU_OK;
    int64_t wanted = *capacity + *capacity / 2 + 16, bytes;
    if (wanted < need) wanted = need;
    if (!hu_mul_size(wanted, (int64_t)size, &bytes))
        return hu_fail(err, HU_SYSTEM, "%s: %lld items of %zu bytes are more than memory can address", what,
                       (long long)wanted, size);
    void *grown = realloc(*block, (size_t)bytes);
    if (!grown) return hu_fail(err, HU_SYSTEM, "out of memory: %s needs %lld bytes", what, (long long)bytes);
    *block = grown;
    *capacity = wanted;
    return HU_OK;
}

hu_status hu_grow_claimed(void **block, int64_t *capacity, int64_t used, int64_t most, const char *what, hu_error *err)
{
    const int64_t at_once = 64 << 20;
    if (*block && (used < *capacity || *capacity >= most)) return HU_OK;
    int64_t wanted = *capacity < at_once / 2 ? at_once : *capacity > most / 2 ? most : 2 * *capacity;
    if (wanted > most) wanted = most;
    void *grown;
    if (hu_alloc(wanted, 1, what, &grown, err)) return err->status;
    if (used > 0) memcpy(grown, *block, (size_t)used);
    hu_free(*block);
    *block = grown;
    *capacity = wanted;
    return HU_OK;
}

void hu_free(void *block)
{
    free(block);
}
