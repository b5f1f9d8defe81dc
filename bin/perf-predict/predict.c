/* predict.c: perf-predict predict: a model and a table in, predictions out, row by row. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "rows.h"
#include "table_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_QUANTILES = 64, BLOCK = 2048 };

typedef struct {
    hu_csv_options csv;
    const char *model, *input;
    double interval; /* 0: none */
    double quantile[MOST_QUANTILES];
    int quantiles;
    const char *quantile_text[MOST_QUANTILES];
    rows_unseen unseen;
    bool flag_range, per_tree, keep;
} options;

enum { KEY_INTERVAL = 0x100, KEY_QUANTILES, KEY_UNSEEN, KEY_RANGE, KEY_TREES, KEY_KEEP };

static const struct argp_option table[] = {
    {"interval", KEY_INTERVAL, "P", 0, "add low and high, between which the target lies with probability P", 0},
    {"quantiles", KEY_QUANTILES, "P,...", 0, "add a column qP for each P: the target lies below with that probability", 0},
    {"on-unseen", KEY_UNSEEN, "HOW", 0, "a level that training has not seen: error (default, exit 11), other (the mean over the known levels), or na (as if missing)", 0},
    {"flag-range", KEY_RANGE, NULL, 0, "add range: out where a number is outside what training saw, else in", 0},
    {"per-tree", KEY_TREES, NULL, 0, "add each tree's prediction", 0},
    {"keep", KEY_KEEP, NULL, 0, "put the table's own columns in front", 0},
    {0}};

static void parse_quantiles(options *o, char *arg, struct argp_state *state)
{
    for (char *word = strtok(arg, ","); word; word = strtok(NULL, ",")) {
        if (o->quantiles == MOST_QUANTILES) argp_error(state, "--quantiles: more than %d", MOST_QUANTILES);
        o->quantile_text[o->quantiles] = word;
        o->quantile[o->quantiles++] = hu_option_number(state, "--quantiles", word, 0, 1);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const unseen[] = {"error", "other", "na"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->csv; return 0;
    case KEY_INTERVAL: o->interval = hu_option_number(state, "--interval", arg, 1e-6, 1 - 1e-6); return 0;
    case KEY_QUANTILES: parse_quantiles(o, arg, state); return 0;
    case KEY_UNSEEN: o->unseen = (rows_unseen)hu_option_word(state, "--on-unseen", arg, unseen, 3); return 0;
    case KEY_RANGE: o->flag_range = true; return 0;
    case KEY_TREES: o->per_tree = true; return 0;
    case KEY_KEEP: o->keep = true; return 0;
    case ARGP_KEY_ARG: common_argument(&o->model, &o->input, arg, state); return 0;
    case ARGP_KEY_END: common_arguments_end(o->model, o->input, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Rows that wait to be predicted together. */
typedef struct {
    const options *o;
    const hu_model *model;
    hu_csv_writer writer;
    hu_output *kept;     /* the rows' own cells as text, where they are wanted */
    int64_t count;
    double *x;           /* [BLOCK][features] */
    hu_prediction *p;    /* [BLOCK] */
    bool *known;         /* [BLOCK] p is set already */
    bool *out_of_range;  /* [BLOCK] */
    char **unseen;       /* [BLOCK] what the column unseen says, or NULL */
    char **cells;        /* [BLOCK] the table's own cells as they were, or NULL */
    double *each;        /* [trees] */
} block;

static hu_status put_header(block *b, hu_csv *csv, hu_error *err)
{
    const options *o = b->o;
    hu_csv_writer *w = &b->writer;
    char name[64];
    for (int64_t c = 0; o->keep && c < hu_csv_columns(csv); c++)
        if (hu_csv_put_text(w, hu_csv_column_name(csv, c), err)) return err->status;
    if (hu_csv_put_text(w, "predicted", err) || hu_csv_put_text(w, "sigma", err)) return err->status;
    if (o->interval > 0 && (hu_csv_put_text(w, "low", err) || hu_csv_put_text(w, "high", err))) return err->status;
    for (int k = 0; k < o->quantiles; k++) {
        snprintf(name, sizeof name, "q%.60s", o->quantile_text[k]);
        if (hu_csv_put_text(w, name, err)) return err->status;
    }
    if (o->flag_range && hu_csv_put_text(w, "range", err)) return err->status;
    if (o->unseen != UNSEEN_ERROR && hu_csv_put_text(w, "unseen", err)) return err->status;
    for (int32_t t = 0; o->per_tree && t < (b->model->forest ? b->model->forest->trees : 1); t++) {
        snprintf(name, sizeof name, "tree%d", t + 1);
        if (hu_csv_put_text(w, name, err)) return err->status;
    }
    return hu_csv_end_row(w, err);
}

static hu_status put_row(block *b, int64_t i, hu_error *err)
{
    const options *o = b->o;
    const hu_prediction *p = &b->p[i];
    hu_csv_writer *w = &b->writer;
    if (b->cells[i] && (hu_output_write(w->out, b->cells[i], strlen(b->cells[i]), err) || hu_output_write(w->out, ",", 1, err))) return err->status;
    if (hu_csv_put_number(w, p->value, err) || hu_csv_put_number(w, hu_model_sigma(b->model, p), err)) return err->status;
    double tail = (1.0 - o->interval) / 2;
    if (o->interval > 0 && (hu_csv_put_number(w, hu_model_quantile(b->model, p, tail), err) || hu_csv_put_number(w, hu_model_quantile(b->model, p, 1.0 - tail), err))) return err->status;
    for (int k = 0; k < o->quantiles; k++)
        if (hu_csv_put_number(w, hu_model_quantile(b->model, p, o->quantile[k]), err)) return err->status;
    if (o->flag_range && hu_csv_put_text(w, b->out_of_range[i] ? "out" : "in", err)) return err->status;
    if (o->unseen != UNSEEN_ERROR && (b->unseen[i] ? hu_csv_put_text(w, b->unseen[i], err) : hu_csv_put_missing(w, err))) return err->status;
    int32_t trees = o->per_tree ? hu_model_each(b->model, b->x + i * b->model->features, b->each) : 0;
    for (int32_t t = 0; t < trees; t++)
        if (hu_csv_put_number(w, b->each[t], err)) return err->status;
    return hu_csv_end_row(w, err);
}

static hu_status flush(block *b, hu_error *err)
{
    int64_t pending = 0;
    for (int64_t i = 0; i < b->count; i++) pending += !b->known[i];
    if (pending == b->count) {
        if (b->count && hu_model_predict(b->model, b->x, b->count, b->p, err)) return err->status;
    } else {
        for (int64_t i = 0; i < b->count; i++)
            if (!b->known[i]) b->p[i] = hu_model_predict_row(b->model, b->x + i * b->model->features);
    }
    for (int64_t i = 0; i < b->count && !err->status; i++) put_row(b, i, err);
    for (int64_t i = 0; i < b->count; i++) {
        free(b->unseen[i]);
        free(b->cells[i]);
        b->unseen[i] = b->cells[i] = NULL;
    }
    b->count = 0;
    return err->status;
}

/* "a;b": the features whose level is unseen. */
static char *name_unseen(const hu_model *model, const rows_row *row)
{
    size_t size = 1;
    for (int32_t k = 0; k < row->unseen; k++) size += strlen(model->feature[row->unseen_feature[k]].name) + 1;
    char *text = calloc(1, size);
    for (int32_t k = 0; text && k < row->unseen; k++) {
        if (k) strcat(text, ";");
        strcat(text, model->feature[row->unseen_feature[k]].name);
    }
    return text;
}

/* The row's cells as CSV. */
static char *copy_cells(const hu_csv *csv, const rows_row *row)
{
    size_t room = 1, used = 0;
    for (int64_t c = 0; c < hu_csv_columns(csv); c++) room += 2 * (size_t)row->fields[c].size + 3;
    char *text = malloc(room);
    for (int64_t c = 0; text && c < hu_csv_columns(csv); c++) {
        const hu_csv_field *f = &row->fields[c];
        if (c) text[used++] = ',';
        if (f->quoted) {
            text[used++] = '"';
            for (int64_t k = 0; k < f->size; k++) {
                if (f->text[k] == '"') text[used++] = '"';
                text[used++] = f->text[k];
            }
            text[used++] = '"';
        } else if (memchr(f->text, ',', (size_t)f->size)) {
            used += hu_csv_quote(f->text, (size_t)f->size, ',', text + used);
        } else {
            memcpy(text + used, f->text, (size_t)f->size);
            used += (size_t)f->size;
        }
    }
    if (text) text[used] = '\0';
    return text;
}

static hu_status add_row(block *b, const rows *rows_of, const hu_csv *csv, const rows_row *row, hu_error *err)
{
    int64_t i = b->count++, features = b->model->features;
    memcpy(b->x + i * features, row->x, (size_t)features * sizeof *b->x);
    b->known[i] = row->unseen > 0;
    b->out_of_range[i] = row->out_of_range;
    if (b->known[i]) b->p[i] = rows_predict(rows_of, row);
    if (row->unseen && !(b->unseen[i] = name_unseen(b->model, row))) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (b->o->keep && !(b->cells[i] = copy_cells(csv, row))) return hu_fail(err, HU_SYSTEM, "out of memory");
    return b->count == BLOCK ? flush(b, err) : HU_OK;
}

static hu_status open_block(block *b, const options *o, const hu_model *model, hu_output *out, hu_error *err)
{
    *b = (block){.o = o, .model = model, .writer = hu_csv_writer_to(out, ',')};
    if (hu_alloc(BLOCK, (size_t)model->features * sizeof *b->x, "rows", (void **)&b->x, err) || hu_alloc(BLOCK, sizeof *b->p, "rows", (void **)&b->p, err) ||
        hu_alloc(BLOCK, sizeof *b->known, "rows", (void **)&b->known, err) || hu_alloc(BLOCK, sizeof *b->out_of_range, "rows", (void **)&b->out_of_range, err) ||
        hu_alloc_zero(BLOCK, sizeof *b->unseen, "rows", (void **)&b->unseen, err) || hu_alloc_zero(BLOCK, sizeof *b->cells, "rows", (void **)&b->cells, err))
        return err->status;
    return hu_alloc(model->forest ? model->forest->trees : 1, sizeof *b->each, "rows", (void **)&b->each, err);
}

static void close_block(block *b)
{
    for (int64_t i = 0; i < b->count; i++) {
        free(b->unseen[i]);
        free(b->cells[i]);
    }
    hu_free(b->x);
    hu_free(b->p);
    hu_free(b->known);
    hu_free(b->out_of_range);
    hu_free(b->unseen);
    hu_free(b->cells);
    hu_free(b->each);
}

static hu_status predict(const options *o, const hu_model *model, int64_t *ret_rows, hu_output *out, hu_error *err)
{
    hu_source *source = NULL;
    rows *reader = NULL;
    const rows_row *row;
    block b = {0};
    hu_status status = HU_OK;
    if ((o->interval > 0 || o->quantiles > 0) && model->scores < 2) {
        hu_fail(err, HU_USAGE, "%s: the model has no errors of rows held out, so no interval: too few rows", o->model);
        return err->status;
    }
    if (hu_source_open(o->input, NULL, &source, err) || rows_open(source, &o->csv, model, o->unseen, &reader, err) || open_block(&b, o, model, out, err) ||
        put_header(&b, rows_csv(reader), err))
        goto cleanup;
    while ((status = rows_next(reader, &row, err)) == HU_OK)
        if (++*ret_rows, add_row(&b, reader, rows_csv(reader), row, err)) goto cleanup;
    if (status == HU_END && flush(&b, err) == HU_OK) rows_warn(reader);
cleanup:
    close_block(&b);
    rows_close(reader);
    hu_source_close(source);
    return err->status;
}

static const char doc[] = "Predict the rows of a table by a model that train wrote.\v"
                          "The table has a header that names every column of the model, in any order; other columns are passed over.  The result has one row for each: "
                          "predicted and sigma (the standard deviation over the trees), and what the options add.  Exit status 11: the model does not fit the table.";

int command_predict(int argc, char **argv)
{
    const struct argp_child children[] = {{&csv_argp, 0, "The table:", 2}, {0}};
    const struct argp own = {table, parse, "MODEL [TABLE.csv]", doc, children, NULL, NULL};
    options o = {.csv = HU_CSV_DEFAULTS};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_model *model = NULL;
    int64_t count = 0;
    hu_option_parse(argc, argv, &own, &o, &common);
    double start = hu_clock_wall();
    if (common_device(&common, &err) == HU_OK && common_model(o.model, &model, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK &&
        predict(&o, model, &count, out, &err) == HU_OK)
        common_report(&common, "predict", o.input, count, model, start, &err);
    hu_model_free(model);
    return hu_exit(&err, out);
}
