/* frame.c: a table of rows to learn from. */
#include "config.h"
#include "learn/frame.h"
#include "base/crc32c.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hu_status hu_frame_new(int64_t rows, int32_t features, hu_frame **ret_frame, hu_error *err)
{
    hu_frame *frame;
    double *columns = NULL;
    if (hu_alloc_zero(1, sizeof *frame, "a table", (void **)&frame, err)) return err->status;
    frame->rows = rows;
    frame->features = features;
    if (hu_alloc_zero(features, sizeof *frame->feature, "a table", (void **)&frame->feature, err) ||
        hu_alloc_zero(features + 1, sizeof *frame->column, "a table", (void **)&frame->column, err) ||
        hu_alloc(rows, (size_t)features * sizeof *columns, "a table", (void **)&columns, err) ||
        hu_alloc(rows, (size_t)features * sizeof *frame->x, "a table", (void **)&frame->x, err) ||
        hu_alloc(rows, sizeof *frame->y, "a table", (void **)&frame->y, err)) {
        hu_free(columns);
        hu_frame_free(frame);
        return err->status;
    }
    frame->column[features] = columns; /* the block that holds them all */
    for (int32_t f = 0; f < features; f++) frame->column[f] = columns + f * rows;
    *ret_frame = frame;
    return HU_OK;
}

void hu_frame_free(hu_frame *frame)
{
    if (!frame) return;
    for (int32_t f = 0; frame->feature && f < frame->features; f++) hu_feature_clear(&frame->feature[f]);
    hu_free(frame->feature);
    if (frame->column) hu_free(frame->column[frame->features]);
    hu_free(frame->column);
    hu_free(frame->x);
    hu_free(frame->y);
    hu_free(frame);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static hu_status finish_feature(hu_feature *feature, const double *x, int64_t rows, double *work, hu_error *err)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rows; i++)
        if (!isnan(x[i])) work[n++] = x[i];
    feature->missing = rows - n;
    feature->least = feature->most = feature->median = NAN;
    if (feature->level_count) {
        if (hu_alloc_zero(feature->level_count, sizeof *feature->level_rows, feature->name, (void **)&feature->level_rows, err)) return err->status;
        for (int64_t i = 0; i < n; i++) feature->level_rows[(int64_t)work[i]]++;
        return HU_OK;
    }
    if (n == 0) return HU_OK;
    qsort(work, (size_t)n, sizeof *work, compare_doubles);
    feature->least = work[0];
    feature->most = work[n - 1];
    feature->median = work[(n - 1) / 2];
    return HU_OK;
}

hu_status hu_frame_finish(hu_frame *frame, hu_error *err)
{
    double *work;
    if (hu_alloc(frame->rows, sizeof *work, "a table", (void **)&work, err)) return err->status;
    for (int32_t f = 0; f < frame->features; f++)
        if (finish_feature(&frame->feature[f], frame->column[f], frame->rows, work, err)) break;
    hu_free(work);
    for (int64_t i = 0; i < frame->rows; i++)
        for (int32_t f = 0; f < frame->features; f++) frame->x[i * frame->features + f] = frame->column[f][i];
    return err->status;
}

hu_status hu_frame_rows(const hu_frame *frame, const int32_t *row, int64_t n, hu_frame **ret_part, hu_error *err)
{
    hu_frame *part = NULL;
    if (hu_frame_new(n, frame->features, &part, err)) return err->status;
    for (int32_t f = 0; f < frame->features; f++) {
        if (hu_feature_copy(&frame->feature[f], &part->feature[f], err)) goto failed;
        hu_free(part->feature[f].level_rows);
        part->feature[f].level_rows = NULL;
        for (int64_t i = 0; i < n; i++) part->column[f][i] = frame->column[f][row[i]];
    }
    for (int64_t i = 0; i < n; i++) part->y[i] = frame->y[row[i]];
    if (hu_frame_finish(part, err)) goto failed;
    *ret_part = part;
    return HU_OK;
failed:
    hu_frame_free(part);
    return err->status;
}

hu_status hu_feature_copy(const hu_feature *from, hu_feature *to, hu_error *err)
{
    *to = *from;
    to->name = strdup(from->name);
    to->levels = NULL;
    to->level_rows = NULL;
    to->level_count = 0;
    if (!to->name) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_alloc_zero(from->level_count, sizeof *to->levels, from->name, (void **)&to->levels, err) ||
        hu_alloc_zero(from->level_count, sizeof *to->level_rows, from->name, (void **)&to->level_rows, err))
        return err->status;
    to->level_count = from->level_count;
    for (int32_t l = 0; l < from->level_count; l++) {
        to->levels[l] = strdup(from->levels[l]);
        if (!to->levels[l]) return hu_fail(err, HU_SYSTEM, "out of memory");
        if (from->level_rows) to->level_rows[l] = from->level_rows[l];
    }
    return HU_OK;
}

void hu_feature_clear(hu_feature *feature)
{
    free(feature->name);
    for (int32_t l = 0; feature->levels && l < feature->level_count; l++) free(feature->levels[l]);
    hu_free(feature->levels);
    hu_free(feature->level_rows);
    *feature = (hu_feature){0};
}

int32_t hu_feature_level(const hu_feature *feature, const char *text, int64_t size)
{
    int32_t low = 0, high = feature->level_count - 1;
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        const char *level = feature->levels[middle];
        int order = strncmp(level, text, (size_t)size);
        if (order == 0 && level[size] != '\0') order = 1;
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

uint32_t hu_frame_crc(const hu_frame *frame)
{
    uint32_t crc = hu_crc32c(0, frame->y, (size_t)frame->rows * sizeof *frame->y);
    return hu_crc32c(crc, frame->x, (size_t)(frame->rows * frame->features) * sizeof *frame->x);
}
