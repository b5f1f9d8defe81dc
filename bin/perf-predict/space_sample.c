/* space_sample.c: distinct configurations of a space, drawn evenly. */
#include "config.h"
#include "space_sample.h"
#include "base/memory.h"
#include "base/random.h"
#include "configs.h"

#include <math.h>
#include <string.h>

enum { LISTED = 1 << 22, TRIALS = 2000000, DRAWS = 100000 };

/* Small spaces: all numbers in random order, the first n that are accepted. */
static hu_status sample_listed(const space *s, int64_t size, hu_random random, int64_t n, int32_t *code, expr_range *work, int64_t *ret_count, hu_error *err)
{
    int32_t *number;
    if (hu_alloc(size, sizeof *number, "a sample", (void **)&number, err)) return err->status;
    for (int64_t i = 0; i < size; i++) number[i] = (int32_t)i;
    hu_random_shuffle(&random, number, size);
    for (int64_t i = 0; i < size && *ret_count < n; i++) {
        space_nth(s, (space_count)number[i], code + *ret_count * s->parameters);
        *ret_count += space_accepts(s, code + *ret_count * s->parameters, work);
    }
    hu_free(number);
    return HU_OK;
}

/* Large ones: draws, without those that came already. */
static hu_status sample_drawn(const space *s, uint64_t seed, uint64_t salt, int64_t n, int32_t *code, expr_range *work, int64_t *ret_count, hu_error *err)
{
    config_set *seen;
    if (configs_new(NULL, 0, &seen, err)) return err->status;
    seen->columns = (int32_t)s->parameters;
    for (int64_t i = 0, vain = 0; *ret_count < n && vain < TRIALS; i++, vain++) {
        int32_t *row = code + *ret_count * s->parameters;
        int64_t at;
        space_draw(s, seed, salt << 40 | (uint64_t)i, row);
        if (!space_accepts(s, row, work)) continue;
        if (configs_add(seen, row, &at, err)) break;
        if (at < *ret_count) continue;
        ++*ret_count;
        vain = 0;
    }
    seen->columns = 0;
    configs_free(seen);
    return err->status;
}

hu_status space_sample(const space *s, uint64_t seed, uint64_t salt, int64_t n, int32_t **ret_code, int64_t *ret_count, hu_error *err)
{
    space_count size;
    double about;
    expr_range *work = NULL;
    bool fits = space_size(s, &size, &about);
    *ret_count = 0;
    if (fits && (space_count)n > size) n = (int64_t)size;
    if (hu_alloc(n + 1, (size_t)s->parameters * sizeof **ret_code, "a sample", (void **)ret_code, err)) return err->status;
    if (hu_alloc(space_work(s), sizeof *work, "a sample", (void **)&work, err)) goto failed;
    if (size == 0) goto done;
    if (fits && size <= LISTED ? sample_listed(s, (int64_t)size, hu_random_stream(seed, salt << 40), n, *ret_code, work, ret_count, err)
                               : sample_drawn(s, seed, salt, n, *ret_code, work, ret_count, err))
        goto failed;
done:
    hu_free(work);
    return HU_OK;
failed:
    hu_free(work);
    hu_free(*ret_code);
    return err->status;
}

hu_status space_estimate(const space *s, uint64_t seed, double *ret_count, double *ret_low, double *ret_high, hu_error *err)
{
    static const double z = 1.959963984540054;
    space_count size;
    double about, n = DRAWS, accepted = 0;
    expr_range *work = NULL;
    int32_t *code = NULL;
    space_size(s, &size, &about);
    if (hu_alloc(space_work(s), sizeof *work, "an estimate", (void **)&work, err) || hu_alloc(s->parameters, sizeof *code, "an estimate", (void **)&code, err)) goto cleanup;
    for (int64_t i = 0; i < DRAWS && size > 0; i++) {
        space_draw(s, seed, (uint64_t)i, code);
        accepted += space_accepts(s, code, work);
    }
    double p = accepted / n, middle = (p + z * z / (2 * n)) / (1 + z * z / n), half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    *ret_count = about * p;
    *ret_low = about * fmax(middle - half, 0);
    *ret_high = about * fmin(middle + half, 1);
cleanup:
    hu_free(work);
    hu_free(code);
    return err->status;
}
