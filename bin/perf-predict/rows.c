/* rows.c: the rows of a CSV table as a model's features. */
#include "config.h"
#include "rows.h"
#include "base/memory.h"
#include "base/number.h"
#include "commands.h"

#include <math.h>
#include <string.h>

struct rows {
    const hu_model *model;
    rows_unseen policy;
    hu_csv *csv;
    int64_t *column;     /* [features] */
    bool *number_levels; /* [features] all levels are numbers: compared by value */
    int64_t *lost;       /* [features] missing cells, where training had none */
    double *x;
    int32_t *unseen;
    double combinations; /* of the levels of the row's unseen features */
    rows_row row;
};

static const double MOST_COMBINATIONS = 10000;

static bool all_numbers(const hu_feature *feature)
{
    for (int32_t l = 0; l < feature->level_count; l++) {
        double v;
        const char *text = feature->levels[l], *end = text + strlen(text);
        if (hu_number_parse(text, end, &v) != end) return false;
    }
    return feature->level_count > 0;
}

static hu_status find_columns(rows *r, hu_error *err)
{
    for (int32_t f = 0; f < r->model->features; f++) {
        const char *name = r->model->feature[f].name;
        r->column[f] = -1;
        for (int64_t c = 0; c < hu_csv_columns(r->csv) && r->column[f] < 0; c++)
            if (strcmp(hu_csv_column_name(r->csv, c), name) == 0) r->column[f] = c;
        if (r->column[f] < 0) return hu_fail(err, (hu_status)PP_MISFIT, "the table has no column %s, which the model needs", name);
        r->number_levels[f] = all_numbers(&r->model->feature[f]);
    }
    return HU_OK;
}

hu_status rows_open(hu_source *source, const hu_csv_options *csv, const hu_model *model, rows_unseen policy, rows **ret_rows, hu_error *err)
{
    rows *r;
    int32_t n = model->features;
    if (hu_alloc_zero(1, sizeof *r, "rows", (void **)&r, err)) return err->status;
    r->model = model;
    r->policy = policy;
    if (hu_alloc_zero(n, sizeof *r->column, "rows", (void **)&r->column, err) || hu_alloc_zero(n, sizeof *r->number_levels, "rows", (void **)&r->number_levels, err) ||
        hu_alloc_zero(n, sizeof *r->lost, "rows", (void **)&r->lost, err) || hu_alloc_zero(n, sizeof *r->x, "rows", (void **)&r->x, err) ||
        hu_alloc_zero(n, sizeof *r->unseen, "rows", (void **)&r->unseen, err) || hu_csv_open(source, csv, &r->csv, err) || find_columns(r, err)) {
        rows_close(r);
        return err->status;
    }
    r->row.x = r->x;
    r->row.unseen_feature = r->unseen;
    *ret_rows = r;
    return HU_OK;
}

void rows_close(rows *r)
{
    if (!r) return;
    hu_csv_close(r->csv);
    hu_free(r->column);
    hu_free(r->number_levels);
    hu_free(r->lost);
    hu_free(r->x);
    hu_free(r->unseen);
    hu_free(r);
}

hu_csv *rows_csv(rows *r)
{
    return r->csv;
}

/* The same message as for bad input, with the answer that the model does not fit. */
static hu_status misfit(rows *r, int64_t column, const hu_csv_field *field, const char *why, hu_error *err)
{
    hu_csv_fail(r->csv, column, err, "'%.*s' %s", (int)(field->size < 100 ? field->size : 100), field->text, why);
    err->status = (hu_status)PP_MISFIT;
    return err->status;
}

static hu_status take_level(rows *r, int32_t f, hu_csv_kind kind, double value, const hu_csv_field *field, hu_error *err)
{
    const hu_feature *feature = &r->model->feature[f];
    int32_t level = hu_feature_level(feature, field->text, field->size);
    if (level < 0 && r->number_levels[f] && (kind == HU_CSV_NUMBER || kind == HU_CSV_TRUTH)) {
        char text[HU_NUMBER_SIZE];
        level = hu_feature_level(feature, text, (int64_t)hu_number_print(value, text));
    }
    r->x[f] = level < 0 ? NAN : (double)level;
    if (level >= 0) return HU_OK;
    if (r->policy == UNSEEN_ERROR) return misfit(r, r->column[f], field, "is a level that the model has not seen (--on-unseen=other or na predicts it all the same)", err);
    r->unseen[r->row.unseen++] = f;
    r->combinations *= feature->level_count;
    if (r->policy == UNSEEN_OTHER && r->combinations > MOST_COMBINATIONS) return misfit(r, r->column[f], field, "makes too many unseen levels in one row to average over", err);
    return HU_OK;
}

static hu_status take_number(rows *r, int32_t f, hu_csv_kind kind, double value, const hu_csv_field *field, hu_error *err)
{
    const hu_feature *feature = &r->model->feature[f];
    if (kind == HU_CSV_WORD) return misfit(r, r->column[f], field, "is no number; the model learnt numbers here", err);
    if (!isfinite(value)) return hu_csv_fail(r->csv, r->column[f], err, "'%.*s' is not finite", (int)field->size, field->text);
    if (feature->is_log && !(value > 0)) return hu_csv_fail(r->csv, r->column[f], err, "'%.*s' has no logarithm, which the model takes of this column", (int)field->size, field->text);
    if (feature->is_log) value = log(value);
    r->x[f] = value;
    if (!(value >= feature->least && value <= feature->most)) r->row.out_of_range = true;
    return HU_OK;
}

hu_status rows_next(rows *r, const rows_row **ret_row, hu_error *err)
{
    hu_status status = hu_csv_next(r->csv, &r->row.fields, err);
    if (status) return status;
    r->row.unseen = 0;
    r->combinations = 1.0;
    r->row.out_of_range = false;
    for (int32_t f = 0; f < r->model->features; f++) {
        const hu_csv_field *field = &r->row.fields[r->column[f]];
        hu_csv_kind kind;
        double value = NAN;
        if (hu_csv_cell(r->csv, r->column[f], &kind, &value, err)) return err->status;
        if (kind == HU_CSV_MISSING) {
            r->x[f] = NAN;
            r->lost[f] += r->model->feature[f].missing == 0;
        } else if (r->model->feature[f].level_count ? take_level(r, f, kind, value, field, err) : take_number(r, f, kind, value, field, err)) {
            return err->status;
        }
    }
    *ret_row = &r->row;
    return HU_OK;
}

void rows_warn(const rows *r)
{
    for (int32_t f = 0; f < r->model->features; f++)
        if (r->lost[f])
            hu_warn("column %s is missing in %lld rows but never was in training: they go with the larger part at each split", r->model->feature[f].name, (long long)r->lost[f]);
}

/* The mean over the levels of the unseen features from `at` on. */
static hu_prediction mean_over_levels(const rows *r, const rows_row *row, int32_t at)
{
    const hu_model *m = r->model;
    if (at == row->unseen) return hu_model_predict_row(m, row->x);
    int32_t f = row->unseen_feature[at];
    const hu_feature *feature = &m->feature[f];
    double total = 0.0, sum = 0.0, squares = 0.0, value = 0.0;
    for (int32_t l = 0; l < feature->level_count; l++) {
        double share = (double)feature->level_rows[l];
        if (share == 0) continue;
        row->x[f] = l;
        hu_prediction p = mean_over_levels(r, row, at + 1);
        total += share;
        value += share * p.value;
        sum += share * p.mean;
        squares += share * (p.mean * p.mean + p.deviation * p.deviation);
    }
    row->x[f] = NAN;
    double mean = sum / total, variance = squares / total - mean * mean;
    value /= total;
    return (hu_prediction){value, m->is_log ? log(value) : value, variance > 0 ? sqrt(variance) : 0.0};
}

hu_prediction rows_predict(const rows *r, const rows_row *row)
{
    return r->policy == UNSEEN_OTHER && row->unseen ? mean_over_levels(r, row, 0) : hu_model_predict_row(r->model, row->x);
}
