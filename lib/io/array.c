/* array.c: vectors and matrices of numbers in any format, one after another.
 *
 * Sections: Matrix Market, CSV, raw, the reader, writing.
 */
#include "config.h"
#include "io/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"
#include "io/mtx.h"
#include "io/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw arrays are read and written as they stand in memory: little-endian");

struct hu_array_reader {
    hu_source *source;
    hu_array_format wanted, found;
    int64_t raw_rows, raw_cols; /* raw_cols 0: vectors */
    int64_t most_bytes;
    bool keep_nonfinite;
};

/* ---- Matrix Market: the text of one file is cut out of the stream by counting its lines, then read as any other ---- */

typedef struct {
    char *text;
    int64_t size, room;
    int64_t line; /* where the line begins that is being gathered */
    bool banner, sized, array, symmetric, skew;
    int64_t left; /* lines of entries still to come */
} cut;

/* n numbers of a size line. */
static bool read_numbers(const char *p, const char *end, int n, int64_t *ret_numbers)
{
    for (int i = 0; i < n; i++) {
        bool overflow;
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        p = hu_number_parse_integer(p, end, &ret_numbers[i], &overflow);
        if (!p || overflow || ret_numbers[i] < 0) return false;
    }
    return true;
}

/* How many lines of entries the size line announces. What cannot be told takes in all that follows: the reader will say what is wrong. */
static int64_t lines_of(const cut *c, const char *p, const char *end)
{
    int64_t n[3], product;
    if (!read_numbers(p, end, c->array ? 2 : 3, n)) return INT64_MAX;
    if (!c->array) return n[2];
    if (!c->symmetric) return hu_mul_size(n[0], n[1], &product) ? product : INT64_MAX;
    if (!hu_mul_size(n[0], n[0] + 1, &product)) return INT64_MAX;
    return c->skew ? product / 2 - n[0] : product / 2;
}

static bool has_word(const char *line, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = line; p + length <= end; p++)
        if (strncasecmp(p, word, length) == 0) return true;
    return false;
}

/* Looks at a whole line; false behind the last one of the file. */
static bool count_line(cut *c, const char *p, const char *end)
{
    const char *line = p;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    if (!c->banner) {
        c->banner = true;
        c->array = has_word(line, end, "array");
        c->skew = has_word(line, end, "skew");
        c->symmetric = has_word(line, end, "symmetric") || has_word(line, end, "hermitian");
        return true;
    }
    if (p == end || *p == '%') return true;
    if (c->sized) return --c->left > 0;
    c->sized = true;
    c->left = lines_of(c, p, end);
    return c->left > 0;
}

/* Takes the text of one Matrix Market file and no byte more. */
static hu_status cut_mtx(hu_source *source, cut *c, hu_error *err)
{
    for (bool goes_on = true; goes_on;) {
        const void *bytes;
        size_t size, read, used = 0;
        if (hu_source_peek_some(source, &bytes, &size, err)) return err->status;
        if (size == 0) break;
        if (hu_grow((void **)&c->text, &c->room, c->size + (int64_t)size, 1, hu_source_name(source), err)) return err->status;
        memcpy(c->text + c->size, bytes, size);
        while (goes_on && used < size) {
            const char *start = c->text + c->size + used, *newline = memchr(start, '\n', size - used);
            used = newline ? (size_t)(newline - (c->text + c->size)) + 1 : size;
            if (!newline) break;
            goes_on = count_line(c, c->text + c->line, newline);
            c->line = c->size + (int64_t)used;
        }
        if (hu_source_read(source, c->text + c->size, used, &read, err)) return err->status;
        c->size += (int64_t)read;
    }
    return HU_OK;
}

static hu_status read_mtx(const hu_array_reader *reader, hu_dense **ret_dense, hu_error *err)
{
    hu_mtx_options reading = HU_MTX_DEFAULTS;
    hu_source *source = reader->source;
    reading.keep_nonfinite = reader->keep_nonfinite;
    cut c = {0};
    char *name = NULL;
    hu_source *part = NULL;
    int64_t start = hu_source_offset(source);
    hu_status status = cut_mtx(source, &c, err);
    if (!status && asprintf(&name, start > 0 ? "%s, array at byte %lld" : "%s", hu_source_name(source), (long long)start) < 0)
        status = hu_fail(err, HU_SYSTEM, "out of memory");
    if (!status) status = hu_source_memory(name, c.text, c.size, &part, err);
    if (!status) status = hu_mtx_read_dense(part, &reading, ret_dense, NULL, err);
    hu_source_close(part);
    hu_free(c.text);
    free(name);
    return status;
}

/* ---- CSV ---------------------------------------------------------------------------------------------------------- */

static hu_status read_cell(const hu_csv *csv, int64_t j, const hu_csv_field *f, bool keep_nonfinite, double *ret_value, hu_error *err)
{
    hu_csv_kind kind;
    if (hu_csv_cell(csv, j, &kind, ret_value, err)) return err->status;
    if (kind == HU_CSV_MISSING) return hu_csv_fail(csv, j, err, "a number is missing");
    if (kind != HU_CSV_NUMBER) return hu_csv_fail(csv, j, err, "'%.*s' is no number", f->size < 40 ? (int)f->size : 40, f->text);
    if (!isfinite(*ret_value) && !keep_nonfinite)
        return hu_csv_fail(csv, j, err, "'%.*s' is not a finite number", f->size < 40 ? (int)f->size : 40, f->text);
    return HU_OK;
}

static bool all_finite(const double *row, int64_t n)
{
    bool finite = true;
    for (int64_t j = 0; j < n; j++) finite &= isfinite(row[j]);
    return finite;
}

static hu_status fail_nonfinite(const hu_csv *csv, const double *row, hu_error *err)
{
    int64_t j = 0;
    while (isfinite(row[j])) j++;
    return hu_csv_fail(csv, j, err, "'%s' is not a finite number", isnan(row[j]) ? "nan" : row[j] < 0 ? "-inf" : "inf");
}

static hu_status read_csv_rows(hu_csv *csv, const hu_array_reader *reader, double **x, int64_t *ret_rows, hu_error *err)
{
    const hu_csv_field *fields;
    int64_t cols = hu_csv_columns(csv), room = 0, n = 0;
    const char *name = hu_source_name(reader->source);
    hu_status status;
    for (;;) {
        if (hu_grow((void **)x, &room, n + cols, sizeof **x, name, err)) return err->status;
        bool quick = hu_csv_next_numbers(csv, *x + n);
        if (!quick && (status = hu_csv_next(csv, &fields, err)) != HU_OK) break;
        if (n > reader->most_bytes / 8 - cols)
            return hu_fail_line(err, name, hu_csv_line(csv), "the array is larger than %lld bytes", (long long)reader->most_bytes);
        if (quick && (reader->keep_nonfinite || all_finite(*x + n, cols))) {
            n += cols;
            continue;
        }
        if (quick) return fail_nonfinite(csv, *x + n, err);
        for (int64_t j = 0; j < cols; j++)
            if (read_cell(csv, j, &fields[j], reader->keep_nonfinite, &(*x)[n++], err)) return err->status;
    }
    *ret_rows = n / cols;
    return status == HU_END ? HU_OK : status;
}

static hu_status read_csv(const hu_array_reader *reader, hu_dense **ret_dense, hu_error *err)
{
    hu_csv_options reading = HU_CSV_DEFAULTS;
    hu_csv *csv = NULL;
    double *x = NULL;
    int64_t rows = 0;
    reading.header = HU_CSV_HEADER_AUTO;
    hu_status status = hu_csv_open(reader->source, &reading, &csv, err);
    if (!status) status = read_csv_rows(csv, reader, &x, &rows, err);
    if (!status) status = hu_dense_new(rows, hu_csv_columns(csv), HU_F64, HU_ROW_MAJOR, ret_dense, err);
    if (!status) {
        if (rows > 0) memcpy((*ret_dense)->data, x, (size_t)(rows * (*ret_dense)->cols) * sizeof *x);
        (*ret_dense)->dims = (*ret_dense)->cols == 1 ? 1 : 2;
    }
    hu_free(x);
    hu_csv_close(csv);
    return status;
}

/* ---- raw ---------------------------------------------------------------------------------------------------------- */

static hu_status read_raw(const hu_array_reader *reader, hu_dense **ret_dense, hu_error *err)
{
    int64_t rows = reader->raw_rows, cols = reader->raw_cols > 0 ? reader->raw_cols : 1, count, bytes, start = hu_source_offset(reader->source);
    size_t read;
    if (!hu_mul_size(rows, cols, &count) || !hu_mul_size(count, sizeof(double), &bytes))
        return hu_fail(err, HU_USAGE, "%s: a raw array of %lld x %lld is too large", hu_source_name(reader->source), (long long)rows, (long long)cols);
    if (hu_dense_new(rows, cols, HU_F64, HU_COL_MAJOR, ret_dense, err)) return err->status;
    (*ret_dense)->dims = reader->raw_cols > 0 ? 2 : 1;
    if (hu_source_read(reader->source, (*ret_dense)->data, (size_t)bytes, &read, err)) return err->status;
    if ((int64_t)read == bytes) return HU_OK;
    return hu_fail_byte(err, hu_source_name(reader->source), start + (int64_t)read, "the raw array of %lld x %lld doubles is cut short", (long long)rows,
                        (long long)cols);
}

/* ---- the reader --------------------------------------------------------------------------------------------------- */

hu_status hu_array_reader_new(hu_source *source, hu_array_format format, int64_t raw_rows, hu_array_reader **ret_reader, hu_error *err)
{
    *ret_reader = NULL;
    if (format == HU_ARRAY_RAW && raw_rows < 1)
        return hu_fail(err, HU_USAGE, "%s: how many rows a raw array has must be told", hu_source_name(source));
    hu_array_reader *reader = *ret_reader = calloc(1, sizeof *reader);
    if (!reader) return hu_fail(err, HU_SYSTEM, "out of memory");
    reader->source = source;
    reader->wanted = format;
    reader->raw_rows = raw_rows;
    reader->most_bytes = INT64_MAX;
    return HU_OK;
}

void hu_array_reader_free(hu_array_reader *reader)
{
    free(reader);
}

void hu_array_reader_raw_columns(hu_array_reader *reader, int64_t cols)
{
    reader->raw_cols = cols;
}

void hu_array_reader_keep_nonfinite(hu_array_reader *reader)
{
    reader->keep_nonfinite = true;
}

void hu_array_reader_limit(hu_array_reader *reader, int64_t most_bytes)
{
    reader->most_bytes = most_bytes;
}

/* Passes over line ends between arrays of text. */
static hu_status skip_line_ends(hu_source *source, hu_error *err)
{
    const void *bytes;
    size_t size;
    for (;;) {
        char byte;
        if (hu_source_peek_some(source, &bytes, &size, err)) return err->status;
        if (size == 0 || !memchr("\r\n", *(const char *)bytes, 2)) return HU_OK;
        if (hu_source_read(source, &byte, 1, &size, err)) return err->status;
    }
}

/* The format by the first byte: of npy it is 0x93, of Matrix Market '%', which neither a number nor a header has in practice. */
static hu_status find_format(hu_source *source, hu_array_format *format, bool *ret_end, hu_error *err)
{
    const void *bytes;
    size_t size;
    if (*format != HU_ARRAY_RAW && *format != HU_ARRAY_NPY && skip_line_ends(source, err)) return err->status;
    if (hu_source_peek_some(source, &bytes, &size, err)) return err->status;
    *ret_end = size == 0;
    if (*format == HU_ARRAY_AUTO && size > 0) {
        unsigned char first = *(const unsigned char *)bytes;
        *format = first == 0x93 ? HU_ARRAY_NPY : first == '%' ? HU_ARRAY_MTX : HU_ARRAY_CSV;
    }
    return HU_OK;
}

static hu_status read_npy(const hu_array_reader *reader, hu_dense **ret_dense, hu_error *err)
{
    hu_npy *array;
    hu_status status = hu_npy_read(reader->source, reader->most_bytes, &array, err);
    return status ? status : hu_npy_to_dense(&array, hu_source_name(reader->source), ret_dense, err);
}

hu_status hu_array_read_next(hu_array_reader *reader, hu_dense **ret_dense, hu_error *err)
{
    hu_array_format format = reader->wanted;
    bool end = false;
    *ret_dense = NULL;
    if (find_format(reader->source, &format, &end, err)) return err->status;
    if (end) return HU_END;
    reader->found = format;
    hu_status status = format == HU_ARRAY_NPY   ? read_npy(reader, ret_dense, err)
                       : format == HU_ARRAY_MTX ? read_mtx(reader, ret_dense, err)
                       : format == HU_ARRAY_CSV ? read_csv(reader, ret_dense, err)
                                                : read_raw(reader, ret_dense, err);
    if (!status && !reader->keep_nonfinite && format != HU_ARRAY_CSV) status = hu_dense_check_finite(*ret_dense, hu_source_name(reader->source), err);
    if (status) {
        hu_dense_free(*ret_dense);
        *ret_dense = NULL;
    }
    return status;
}

hu_array_format hu_array_format_read(const hu_array_reader *reader)
{
    return reader->found;
}

hu_status hu_array_expect_end(hu_array_reader *reader, hu_error *err)
{
    hu_array_format format = reader->found;
    bool end = false;
    if (find_format(reader->source, &format, &end, err) || end) return err->status;
    return hu_fail_byte(err, hu_source_name(reader->source), hu_source_offset(reader->source), "the %s array is followed by more",
                        hu_array_format_name(format));
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static bool ends_in(const char *text, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    return length > size && strncasecmp(text + length - size, suffix, size) == 0;
}

hu_array_format hu_array_format_of(const char *opt_path)
{
    static const char *const packed[] = {".gz", ".xz", ".zst", ".bz2"};
    static const struct {
        const char *suffix;
        hu_array_format format;
    } known[] = {{".npy", HU_ARRAY_NPY}, {".mtx", HU_ARRAY_MTX}, {".csv", HU_ARRAY_CSV},
                 {".f64", HU_ARRAY_RAW}, {".raw", HU_ARRAY_RAW}, {".bin", HU_ARRAY_RAW}};
    size_t length = opt_path ? strlen(opt_path) : 0;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_in(opt_path, length, packed[i])) length -= strlen(packed[i]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_in(opt_path, length, known[i].suffix)) return known[i].format;
    return HU_ARRAY_AUTO;
}

const char *hu_array_format_name(hu_array_format format)
{
    static const char *const names[] = {"auto", "npy", "mtx", "csv", "raw"};
    return names[format];
}

static hu_status write_csv(hu_output *out, const hu_dense *a, hu_error *err)
{
    int64_t down = a->order == HU_COL_MAJOR ? 1 : a->ld, right = a->order == HU_COL_MAJOR ? a->ld : 1;
    if (a->scalar == HU_C128) return hu_fail(err, HU_USAGE, "%s: CSV cannot hold complex numbers", hu_output_name(out));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++) {
            char *room;
            if (hu_output_reserve(out, HU_NUMBER_SIZE + 1, &room, err)) return err->status;
            int64_t place = i * down + j * right;
            double value = hu_scalar_get(a->scalar, a->data, place);
            size_t size = a->scalar == HU_F64 ? hu_number_print(value, room) : hu_number_print_float((float)value, room);
            room[size] = j + 1 < a->cols ? ',' : '\n';
            hu_output_used(out, size + 1);
        }
    return HU_OK;
}

static hu_status write_raw(hu_output *out, const hu_dense *a, hu_error *err)
{
    hu_dense *copy = NULL;
    hu_status status = HU_OK;
    if (a->scalar == HU_C128) return hu_fail(err, HU_USAGE, "%s: a raw array cannot hold complex numbers", hu_output_name(out));
    if (a->scalar != HU_F64 || (a->order != HU_COL_MAJOR && a->cols > 1)) status = hu_dense_convert(a, HU_F64, HU_COL_MAJOR, &copy, err);
    if (copy) a = copy;
    for (int64_t j = 0; j < a->cols && !status; j++) {
        if (a->order == HU_ROW_MAJOR && a->ld > 1) { /* a column with gaps */
            for (int64_t i = 0; i < a->rows && !status; i++)
                status = hu_output_write(out, (const double *)a->data + i * a->ld, sizeof(double), err);
        } else {
            status = hu_output_write(out, (const double *)a->data + j * a->ld, (size_t)a->rows * sizeof(double), err);
        }
    }
    hu_dense_free(copy);
    return status;
}

hu_status hu_array_write(hu_output *out, const hu_dense *dense, hu_array_format format, hu_error *err)
{
    switch (format) {
    case HU_ARRAY_MTX: return hu_mtx_write_dense(out, dense, NULL, err);
    case HU_ARRAY_CSV: return write_csv(out, dense, err);
    case HU_ARRAY_RAW: return write_raw(out, dense, err);
    case HU_ARRAY_NPY:
    case HU_ARRAY_AUTO: break;
    }
    return hu_npy_write_dense(out, dense, err);
}
