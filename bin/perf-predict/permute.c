/* permute.c: what columns are worth to a model, by shuffling them. */
#include "config.h"
#include "permute.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* Mean squared error of what the model works on, of the rows x: out of bag where bags left rows out, else by all of the model. */
static hu_status squared_error(const hu_model *m, const hu_frame *frame, const double *x, double *mean, int32_t *count, bool *ret_unseen, double *ret, hu_error *err)
{
    double sum = 0.0;
    int64_t n = 0;
    if (hu_model_oob(m, x, frame->rows, mean, count, ret_unseen, err)) return err->status;
    for (int64_t i = 0; i < frame->rows; i++) {
        double p = *ret_unseen ? mean[i] : hu_model_predict_row(m, x + i * frame->features).mean;
        if (isnan(p)) continue;
        double e = p - (m->is_log ? log(frame->y[i]) : frame->y[i]);
        sum += e * e;
        n++;
    }
    *ret = n ? sum / (double)n : NAN;
    return HU_OK;
}

hu_status permute_columns(const hu_model *m, const hu_frame *frame, const int32_t *group, int32_t groups, uint64_t seed, double *worth, hu_error *err)
{
    int64_t n = frame->rows, d = frame->features;
    double *x = NULL, *mean = NULL, base, error;
    int32_t *order = NULL, *count = NULL;
    bool unseen;
    if (hu_alloc(n, (size_t)d * sizeof *x, "rows", (void **)&x, err) || hu_alloc(n, sizeof *mean, "rows", (void **)&mean, err) || hu_alloc(n, sizeof *order, "rows", (void **)&order, err) ||
        hu_alloc(n, sizeof *count, "rows", (void **)&count, err) || squared_error(m, frame, frame->x, mean, count, &unseen, &base, err))
        goto cleanup;
    if (!unseen) hu_say(0, "the trees of this model leave no rows out: the errors are those of rows that it has seen");
    for (int32_t k = 0; k < groups; k++) {
        hu_random random = hu_random_stream(seed, (uint64_t)k);
        for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
        hu_random_shuffle(&random, order, n);
        memcpy(x, frame->x, (size_t)(n * d) * sizeof *x);
        for (int32_t f = 0; f < d; f++)
            for (int64_t i = 0; i < n && group[f] == k; i++) x[i * d + f] = frame->x[order[i] * d + f];
        if (squared_error(m, frame, x, mean, count, &unseen, &error, err)) goto cleanup;
        worth[k] = error - base;
    }
cleanup:
    hu_free(x);
    hu_free(mean);
    hu_free(order);
    hu_free(count);
    return err->status;
}
