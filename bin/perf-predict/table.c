/* table.c: a CSV table of runs as a table to learn from.
 *
 * Sections: which line, columns, targets, the frame, rows that repeat, reading.
 */
#include "config.h"
#include "table.h"
#include "base/memory.h"
#include "base/number.h"
#include "commands.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int64_t most_bytes = (int64_t)1 << 36;

/* What is at hand while a table is read. text: the source's bytes, where it cannot be read twice. */
typedef struct {
    hu_source *source;
    int64_t start;
    char *text;
    int64_t size;
    const table_options *options;
    hu_csv_table *table;
    int64_t target, fail_col; /* columns; -1: none */
    int32_t *feature_column;  /* [features] */
    bool *as_levels;          /* [features] numbers that -x calls cat */
    bool *as_log;             /* [features] numbers that -x calls log */
    int32_t features;
    int64_t *row;             /* [rows] rows of the CSV table that are used */
    double *y;                /* [rows] their targets */
    int64_t rows;
} reading;

/* ---- which line --------------------------------------------------------------------------------------------------------- */

/* HU_INPUT "NAME:LINE: column C: message" for a cell of row `row` (from 0): the source is read again up to there. */
static hu_status fail_cell(reading *r, int64_t row, int64_t column, const char *message, hu_error *err)
{
    hu_source *again = NULL;
    hu_csv *csv = NULL;
    hu_error other = HU_ERROR_NONE;
    const hu_csv_field *fields;
    int64_t line = 0;
    if (r->text) {
        if (hu_source_memory(hu_source_name(r->source), r->text, r->size, &again, &other)) goto done;
    } else {
        hu_source_seek(r->source, r->start);
    }
    if (hu_csv_open(again ? again : r->source, &r->options->csv, &csv, &other)) goto done;
    for (int64_t i = 0; i <= row; i++)
        if (hu_csv_next(csv, &fields, &other)) goto done;
    line = hu_csv_line(csv);
done:
    hu_csv_close(csv);
    hu_source_close(again);
    return hu_fail_line(err, hu_source_name(r->source), line, "column %lld (%s): %s", (long long)column + 1, r->table->column[column].name, message);
}

/* ---- columns -------------------------------------------------------------------------------------------------------------- */

static const char *const kinds[] = {"cat", "num", "log"};

/* The size where the text is one of the kinds, else 0. */
static size_t kind_size(const char *text, size_t size)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (size == strlen(kinds[k]) && memcmp(text, kinds[k], size) == 0) return size;
    return 0;
}

bool table_listed(const char *list, const char *name, const char **opt_kind)
{
    size_t length = strlen(name);
    for (const char *p = list; p && *p;) {
        const char *end = strchr(p, ',');
        size_t size = end ? (size_t)(end - p) : strlen(p);
        size_t kind = size > length && p[length] == ':' ? kind_size(p + length + 1, size - length - 1) : 0; /* a name may have colons itself */
        if ((size == length || kind) && memcmp(p, name, length) == 0) {
            if (opt_kind) *opt_kind = kind ? p + length + 1 : NULL;
            return true;
        }
        p = end ? end + 1 : NULL;
    }
    return false;
}

/* Every name of a list must be a column. */
static hu_status check_list(const reading *r, const char *option, const char *list, hu_error *err)
{
    for (const char *p = list; p && *p;) {
        const char *end = strchr(p, ',');
        size_t size = end ? (size_t)(end - p) : strlen(p);
        char *name = strndup(p, size);
        if (!name) return hu_fail(err, HU_SYSTEM, "out of memory");
        bool known = false;
        for (int64_t c = 0; c < r->table->columns && !known; c++) {
            const char *column = r->table->column[c].name;
            known = table_listed(name, column, NULL);
        }
        if (!known) hu_fail_line(err, hu_source_name(r->source), 1, "there is no column %s, which %s names", name, option);
        free(name);
        if (!known) return err->status;
        p = end ? end + 1 : NULL;
    }
    return HU_OK;
}

static hu_status find_column(const reading *r, const char *name, int64_t *ret_column, hu_error *err)
{
    *ret_column = name ? hu_csv_find(r->table, name) : -1;
    if (name && *ret_column < 0) return hu_fail_line(err, hu_source_name(r->source), 1, "there is no column %s", name);
    return HU_OK;
}

/* The columns of `like`, in its order. */
static hu_status find_likes(reading *r, hu_error *err)
{
    for (int32_t f = 0; f < r->options->likes; f++) {
        const hu_feature *like = &r->options->like[f];
        int64_t c = hu_csv_find(r->table, like->name);
        if (c < 0) return hu_fail(err, (hu_status)PP_MISFIT, "%s: the table has no column %s, which the model needs", hu_source_name(r->source), like->name);
        const hu_csv_column *column = &r->table->column[c];
        if (column->is_text && !like->level_count) {
            fail_cell(r, column->first_word_row, c, "is no number; the model learnt numbers here", err);
            err->status = (hu_status)PP_MISFIT;
            return err->status;
        }
        r->as_levels[f] = like->level_count && !column->is_text;
        r->as_log[f] = like->is_log;
        r->feature_column[f] = (int32_t)c;
    }
    r->features = r->options->likes;
    return HU_OK;
}

static hu_status choose_columns(reading *r, hu_error *err)
{
    const table_options *o = r->options;
    int64_t columns = r->table->columns;
    if (find_column(r, o->target, &r->target, err) || find_column(r, o->fail_col, &r->fail_col, err) || check_list(r, "-x", o->take, err) || check_list(r, "--drop", o->drop, err))
        return err->status;
    int64_t most = columns > o->likes ? columns : o->likes;
    if (hu_alloc_zero(most, sizeof *r->feature_column, "columns", (void **)&r->feature_column, err) || hu_alloc_zero(most, sizeof *r->as_levels, "columns", (void **)&r->as_levels, err) ||
        hu_alloc_zero(most, sizeof *r->as_log, "columns", (void **)&r->as_log, err))
        return err->status;
    if (o->like) return find_likes(r, err);
    for (int64_t c = 0; c < columns; c++) {
        const hu_csv_column *column = &r->table->column[c];
        const char *kind = NULL;
        if (c == r->target || c == r->fail_col || table_listed(o->drop, column->name, NULL)) continue;
        if (o->take && !table_listed(o->take, column->name, &kind)) continue;
        bool levels = kind && strncmp(kind, "cat", 3) == 0;
        if (kind && !levels && column->is_text) return fail_cell(r, column->first_word_row, c, "is no number", err);
        if (column->is_text && column->number_levels > 0) /* numbers and words */
            hu_warn("%s:%lld: column %s mixes numbers and words: all its cells are levels", hu_source_name(r->source), (long long)column->first_word_line, column->name);
        r->as_levels[r->features] = levels && !column->is_text;
        r->as_log[r->features] = kind && strncmp(kind, "log", 3) == 0;
        r->feature_column[r->features++] = (int32_t)c;
    }
    if (r->features == 0) return hu_fail_line(err, hu_source_name(r->source), 1, "there is no column to learn from beside %s", o->target);
    return HU_OK;
}

/* ---- targets ---------------------------------------------------------------------------------------------------------------- */

/* The target of a row; false where the run failed. */
static bool target_of(const hu_csv_column *c, int64_t row, double *ret)
{
    if (!c->is_text) {
        *ret = c->number[row];
        return isfinite(*ret);
    }
    if (c->level[row] < 0) return false;
    const char *text = c->levels[c->level[row]], *end = text + strlen(text), *p = hu_number_parse(text, end, ret);
    return p && p == end && isfinite(*ret);
}

static bool run_succeeded(const hu_csv_column *c, int64_t row)
{
    static const char *const good[] = {"ok", "success", "succeeded", "passed", "pass", "correct", "done", "completed"};
    if (!c->is_text) return isnan(c->number[row]) || c->number[row] == 1.0;
    if (c->level[row] < 0) return true;
    const char *text = c->levels[c->level[row]];
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        if (strcasecmp(text, good[k]) == 0) return true;
    return text[0] == '\0';
}

static const char *failure_of(const hu_csv_column *c, int64_t row)
{
    if (!c->is_text) return c->missing && c->missing[row] ? "is missing" : isnan(c->number[row]) ? "is not a number (nan)" : "is infinite";
    return c->level[row] < 0 ? "is missing" : "is no number";
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kernel Tuner's older cache files and others mark failures by 1e20: far beyond everything else, that is no time. */
static hu_status suspect_markers(reading *r, hu_error *err)
{
    double *sorted;
    if (r->rows < 3) return HU_OK;
    if (hu_alloc(r->rows, sizeof *sorted, "targets", (void **)&sorted, err)) return err->status;
    memcpy(sorted, r->y, (size_t)r->rows * sizeof *sorted);
    qsort(sorted, (size_t)r->rows, sizeof *sorted, compare_doubles);
    double median = sorted[r->rows / 2], most = sorted[r->rows - 1];
    int64_t first = -1, count = 0;
    for (int64_t i = r->rows - 1; i >= 0; i--)
        if (r->y[i] == most) {
            first = i;
            count++;
        }
    hu_free(sorted);
    if (most >= 1e15 && most > 1e6 * fabs(median))
        hu_warn("%s: column %s: %g in %lld rows (the first is row %lld) looks like a mark of failed runs; write nan there and use --fails=drop", hu_source_name(r->source), r->options->target, most,
                (long long)count, (long long)r->row[first] + 1);
    return HU_OK;
}

/* Lists the rows that are learnt from. */
static hu_status take_rows(reading *r, hu_error *err)
{
    const hu_csv_column *c = &r->table->column[r->target];
    table_fails fails = r->fail_col >= 0 && r->options->fails == FAILS_ERROR ? FAILS_DROP : r->options->fails;
    int64_t total = r->table->rows, failed = 0, first = -1;
    double worst = -INFINITY, y;
    if (total == 0) return hu_fail_line(err, hu_source_name(r->source), 0, "the table has a header but no row");
    if (hu_alloc(total, sizeof *r->row, "rows", (void **)&r->row, err) || hu_alloc(total, sizeof *r->y, "rows", (void **)&r->y, err)) return err->status;
    for (int64_t i = 0; i < total; i++) {
        bool good = target_of(c, i, &y);
        if (r->fail_col >= 0 && !run_succeeded(&r->table->column[r->fail_col], i)) good = false;
        else if (!good && r->options->fails == FAILS_ERROR) return fail_cell(r, i, r->target, failure_of(c, i), err);
        if (good && y > worst) worst = y;
        if (!good && failed++ == 0) first = i;
        if (!good && fails == FAILS_DROP) continue;
        r->row[r->rows] = i;
        r->y[r->rows++] = good ? y : NAN;
    }
    if (failed == total) return hu_fail_line(err, hu_source_name(r->source), 0, "column %s: every run failed", r->options->target);
    for (int64_t i = 0; i < r->rows; i++)
        if (isnan(r->y[i])) r->y[i] = worst;
    if (failed > 0)
        hu_warn("%s: %lld of %lld runs failed (the first is row %lld) and %s", hu_source_name(r->source), (long long)failed, (long long)total, (long long)first + 1,
                fails == FAILS_DROP ? "are left out" : "count as the worst target");
    return suspect_markers(r, err);
}

/* ---- the frame -------------------------------------------------------------------------------------------------------------- */

static hu_status add_level(hu_feature *feature, const char *text, hu_error *err)
{
    char *copy = strdup(text);
    if (!copy) return hu_fail(err, HU_SYSTEM, "out of memory");
    feature->levels[feature->level_count++] = copy;
    return HU_OK;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The distinct numbers of a column as levels, by their shortest spelling. */
static hu_status number_levels(const double *number, int64_t rows, hu_feature *feature, double *ret_column, hu_error *err)
{
    double *sorted;
    if (hu_alloc(rows, sizeof *sorted, feature->name, (void **)&sorted, err)) return err->status;
    int64_t n = 0, distinct = 0;
    for (int64_t i = 0; i < rows; i++)
        if (!isnan(number[i])) sorted[n++] = number[i];
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1]) sorted[distinct++] = sorted[i];
    if (distinct > 65535) hu_fail(err, HU_INPUT, "column %s has %lld levels, more than 65535", feature->name, (long long)distinct);
    else if (hu_alloc_zero(distinct, sizeof *feature->levels, feature->name, (void **)&feature->levels, err) == HU_OK) {
        char text[HU_NUMBER_SIZE + 1];
        for (int64_t k = 0; k < distinct && !err->status; k++) {
            text[hu_number_print(sorted[k], text)] = '\0';
            add_level(feature, text, err);
        }
        qsort(feature->levels, (size_t)feature->level_count, sizeof *feature->levels, compare_texts);
        for (int64_t i = 0; i < rows && !err->status; i++) {
            size_t size = isnan(number[i]) ? 0 : hu_number_print(number[i], text);
            ret_column[i] = isnan(number[i]) ? NAN : (double)hu_feature_level(feature, text, (int64_t)size);
        }
    }
    hu_free(sorted);
    return err->status;
}

/* The levels that the rows taken use, in their order. */
static hu_status text_levels(const hu_csv_column *c, const int64_t *row, int64_t rows, hu_feature *feature, double *ret_column, hu_error *err)
{
    int32_t *number;
    if (hu_alloc(c->level_count, sizeof *number, c->name, (void **)&number, err)) return err->status;
    for (int64_t l = 0; l < c->level_count; l++) number[l] = -1;
    for (int64_t i = 0; i < rows; i++)
        if (c->level[row[i]] >= 0) number[c->level[row[i]]] = 0;
    int64_t used = 0;
    for (int64_t l = 0; l < c->level_count; l++) used += number[l] == 0;
    if (used > 65535) hu_fail(err, HU_INPUT, "column %s has %lld levels, more than 65535", c->name, (long long)used);
    else if (hu_alloc_zero(used, sizeof *feature->levels, c->name, (void **)&feature->levels, err) == HU_OK) {
        for (int64_t l = 0; l < c->level_count && !err->status; l++) {
            if (number[l] < 0) continue;
            number[l] = feature->level_count;
            add_level(feature, c->levels[l], err);
        }
        for (int64_t i = 0; i < rows; i++) ret_column[i] = c->level[row[i]] < 0 ? NAN : (double)number[c->level[row[i]]];
    }
    hu_free(number);
    return err->status;
}

/* Adds the levels of `like` to those of the table, each once, in order. */
static hu_status join_levels(const hu_feature *like, hu_feature *feature, double *column, int64_t rows, hu_error *err)
{
    hu_feature own = *feature;
    int32_t *number = NULL, a = 0, b = 0;
    feature->levels = NULL;
    feature->level_count = 0;
    if (hu_alloc(own.level_count, sizeof *number, own.name, (void **)&number, err) ||
        hu_alloc_zero((int64_t)own.level_count + like->level_count, sizeof *feature->levels, own.name, (void **)&feature->levels, err))
        goto cleanup;
    while ((a < own.level_count || b < like->level_count) && !err->status) {
        int order = a == own.level_count ? 1 : b == like->level_count ? -1 : strcmp(own.levels[a], like->levels[b]);
        if (order <= 0) number[a] = feature->level_count;
        add_level(feature, order <= 0 ? own.levels[a] : like->levels[b], err);
        a += order <= 0;
        b += order >= 0;
    }
    if (feature->level_count > 65535) hu_fail(err, HU_INPUT, "column %s has, with those of the model, %d levels, more than 65535", own.name, feature->level_count);
    for (int64_t i = 0; i < rows && !err->status; i++)
        if (!isnan(column[i])) column[i] = number[(int32_t)column[i]];
cleanup:
    for (int32_t l = 0; l < own.level_count; l++) free(own.levels[l]);
    hu_free(own.levels);
    hu_free(number);
    return err->status;
}

/* The logarithms of a column, in place. */
static hu_status take_logarithms(reading *r, int32_t f, hu_feature *feature, double *column, hu_error *err)
{
    feature->is_log = true;
    for (int64_t i = 0; i < r->rows; i++) {
        if (isnan(column[i])) continue;
        if (!(column[i] > 0) || isinf(column[i])) return fail_cell(r, r->row[i], r->feature_column[f], "has no logarithm (-x NAME:log wants numbers above 0)", err);
        column[i] = log(column[i]);
    }
    return HU_OK;
}

static hu_status fill_feature(reading *r, int32_t f, hu_frame *frame, hu_error *err)
{
    const hu_feature *like = r->options->like ? &r->options->like[f] : NULL;
    const hu_csv_column *c = &r->table->column[r->feature_column[f]];
    hu_feature *feature = &frame->feature[f];
    double *column = frame->column[f];
    if (!(feature->name = strdup(c->name))) return hu_fail(err, HU_SYSTEM, "out of memory");
    for (int64_t i = 0; i < r->rows && !c->is_text; i++) column[i] = c->number[r->row[i]];
    if (r->as_log[f]) return take_logarithms(r, f, feature, column, err);
    if (c->is_text ? text_levels(c, r->row, r->rows, feature, column, err) : r->as_levels[f] && number_levels(column, r->rows, feature, column, err)) return err->status;
    return like && like->level_count ? join_levels(like, feature, column, r->rows, err) : HU_OK;
}

static void warn_constant(const reading *r, const hu_frame *frame)
{
    char list[512] = "";
    int count = 0;
    for (int32_t f = 0; f < frame->features; f++) {
        const hu_feature *feature = &frame->feature[f];
        const double *x = frame->column[f];
        bool varies = false;
        for (int64_t i = 1; i < frame->rows && !varies; i++) varies = x[i] != x[0] && !(isnan(x[i]) && isnan(x[0]));
        if (varies) continue;
        size_t used = strlen(list);
        if (used + strlen(feature->name) + 8 < sizeof list) snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", feature->name);
        else if (used + 4 < sizeof list && strcmp(list + used - 3, "...") != 0) strcat(list, "...");
        count++;
    }
    if (count && frame->rows > 1) hu_warn("%s: %d column%s the same in every row: %s", hu_source_name(r->source), count, count > 1 ? "s are" : " is", list);
}

/* ---- rows that repeat --------------------------------------------------------------------------------------------------------- */

typedef struct {
    const double *x;
    double y;
    int32_t features;
    int64_t row;
} key;

static int compare_keys(const void *a, const void *b)
{
    const key *p = a, *q = b;
    int order = memcmp(p->x, q->x, (size_t)p->features * sizeof *p->x);
    if (order) return order;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static double merge(const key *k, int64_t n, table_dup how)
{
    double sum = 0.0;
    if (how == DUP_MIN) return k[0].y;
    if (how == DUP_MEDIAN) return n % 2 ? k[n / 2].y : k[n / 2 - 1].y / 2 + k[n / 2].y / 2;
    for (int64_t i = 0; i < n; i++) sum += k[i].y - k[0].y;
    return k[0].y + sum / (double)n;
}

/* Rows of the same features become one, in the place of the first. */
static hu_status merge_rows(hu_frame *frame, table_dup how, hu_error *err)
{
    key *keys;
    bool *gone = NULL;
    int64_t n = frame->rows, d = frame->features, kept = 0;
    if (hu_alloc(n, sizeof *keys, "rows", (void **)&keys, err) || hu_alloc_zero(n, sizeof *gone, "rows", (void **)&gone, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) keys[i] = (key){frame->x + i * d, frame->y[i], frame->features, i};
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    for (int64_t i = 0, end; i < n; i = end) {
        int64_t first = keys[i].row;
        for (end = i + 1; end < n && memcmp(keys[i].x, keys[end].x, (size_t)d * sizeof(double)) == 0; end++) first = keys[end].row < first ? keys[end].row : first;
        for (int64_t k = i; k < end; k++) gone[keys[k].row] = keys[k].row != first;
        frame->y[first] = merge(keys + i, end - i, how);
    }
    for (int64_t i = 0; i < n; i++) {
        if (gone[i]) continue;
        for (int32_t f = 0; f < d; f++) frame->column[f][kept] = frame->column[f][i];
        frame->y[kept++] = frame->y[i];
    }
    if (kept < n) hu_say(0, "%lld rows that repeat others are merged", (long long)(n - kept));
    frame->rows = kept;
cleanup:
    hu_free(keys);
    hu_free(gone);
    return err->status;
}

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

static hu_status make_frame(reading *r, hu_frame **ret_frame, hu_error *err)
{
    hu_frame *frame = NULL;
    if (hu_frame_new(r->rows, r->features, &frame, err)) return err->status;
    memcpy(frame->y, r->y, (size_t)r->rows * sizeof *r->y);
    for (int32_t f = 0; f < r->features; f++)
        if (fill_feature(r, f, frame, err)) goto failed;
    if (r->options->dup != DUP_KEEP) {
        for (int64_t i = 0; i < frame->rows; i++)
            for (int32_t f = 0; f < frame->features; f++) frame->x[i * frame->features + f] = frame->column[f][i] + 0.0;
        if (merge_rows(frame, r->options->dup, err)) goto failed;
    }
    if (hu_frame_finish(frame, err)) goto failed;
    warn_constant(r, frame);
    *ret_frame = frame;
    return HU_OK;
failed:
    hu_frame_free(frame);
    return err->status;
}

static hu_status read_csv(reading *r, hu_error *err)
{
    int fd;
    int64_t size;
    hu_source *copy = NULL;
    r->start = hu_source_offset(r->source);
    if (hu_source_is_plain(r->source, &fd, &size)) return hu_csv_read(r->source, &r->options->csv, most_bytes, &r->table, err);
    if (hu_source_slurp(r->source, most_bytes, &r->text, &r->size, err) || hu_source_memory(hu_source_name(r->source), r->text, r->size, &copy, err)) return err->status;
    hu_csv_read(copy, &r->options->csv, most_bytes, &r->table, err);
    hu_source_close(copy);
    return err->status;
}

hu_status table_read(hu_source *source, const table_options *options, hu_frame **ret_frame, hu_error *err)
{
    reading r = {.source = source, .options = options};
    if (read_csv(&r, err) == HU_OK && choose_columns(&r, err) == HU_OK && take_rows(&r, err) == HU_OK) make_frame(&r, ret_frame, err);
    hu_csv_table_free(r.table);
    hu_free(r.text);
    hu_free(r.feature_column);
    hu_free(r.as_levels);
    hu_free(r.as_log);
    hu_free(r.row);
    hu_free(r.y);
    return err->status;
}
