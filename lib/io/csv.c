/* csv.c: CSV tables, row by row or whole, and their writing.
 *
 * Sections: the reader's bytes, rows, cells, what the sample tells, opening, tables, writing.
 */
#include "config.h"
#include "io/csv.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_ROWS = 1000, NAME_ROOM = 100 };
static const int64_t sample_bytes = 1 << 18, longest_row = (int64_t)1 << 30;

/* ---- the reader's bytes ----------------------------------------------------------------------------------------- */

/* Gets more bytes behind those that are not yet taken, which may move. */
static hu_status refill(hu_csv *r, hu_error *err)
{
    int64_t kept = r->end - r->p;
    if (kept > longest_row) return hu_fail_line(err, r->name, r->line, "a row is longer than %lld bytes", (long long)longest_row);
    if (r->p > r->buffer) memmove(r->buffer, r->p, (size_t)kept);
    int64_t need = kept > sample_bytes / 2 ? 2 * kept : sample_bytes;
    if (need > r->room) {
        if (hu_grow((void **)&r->buffer, &r->room, need, 1, r->name, err)) return err->status;
    }
    size_t size;
    if (hu_source_read(r->source, r->buffer + kept, (size_t)(r->room - kept), &size, err)) return err->status;
    r->final = (int64_t)size < r->room - kept;
    r->marks = r->next_mark = 0;
    r->p = r->buffer;
    r->end = r->buffer + kept + size;
    return HU_OK;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

typedef enum { NEXT_FIELD, END_OF_ROW, NEED_BYTES, BROKEN } token;

typedef struct {
    const char *p;
    int64_t line;
    const char *problem;
} scan;

/* What stands behind a field; takes it. */
static token end_field(const hu_csv *r, scan *s)
{
    if (s->p == r->end) return r->final ? END_OF_ROW : NEED_BYTES;
    if (*s->p == r->delimiter) {
        s->p++;
        return NEXT_FIELD;
    }
    if (*s->p == '\r') {
        if (s->p + 1 == r->end && !r->final) return NEED_BYTES;
        if (s->p + 1 < r->end && s->p[1] == '\n') s->p++;
    }
    if (*s->p == '\n') {
        s->p++;
        s->line++;
        return END_OF_ROW;
    }
    s->problem = *s->p == '\r'   ? "a carriage return without a line feed"
                 : *s->p == '\0' ? "a zero byte: this is no text"
                 : *s->p == '"'  ? "a quote inside a field that does not begin with one"
                                 : "text behind a closing quote";
    return BROKEN;
}

static token scan_quoted(const hu_csv *r, scan *s, raw_field *ret_field)
{
    const char *start = ++s->p;
    int64_t line = s->line;
    bool doubled = false;
    for (;; s->p++) {
        if (s->p == r->end) {
            if (!r->final) return NEED_BYTES;
            s->line = line;
            s->problem = "a quote that is never closed";
            return BROKEN;
        }
        if (*s->p == '\n') s->line++;
        if (*s->p == '\0') {
            s->problem = "a zero byte: this is no text";
            return BROKEN;
        }
        if (*s->p != '"') continue;
        if (s->p + 1 == r->end && !r->final) return NEED_BYTES;
        if (s->p + 1 == r->end || s->p[1] != '"') break;
        doubled = true;
        s->p++;
    }
    *ret_field = (raw_field){start, s->p - start, true, doubled};
    s->p++;
    return end_field(r, s);
}

static token scan_field(const hu_csv *r, scan *s, raw_field *ret_field)
{
    if (s->p < r->end && *s->p == '"') return scan_quoted(r, s, ret_field);
    const char *start = s->p;
    while (s->p < r->end && !r->stop[(unsigned char)*s->p]) s->p++;
    *ret_field = (raw_field){start, s->p - start, false, false};
    return end_field(r, s);
}

/* The length of the line end at p: 1 or 2, or 0 where there is none; -1 where more bytes must come to tell. */
static int line_end(const hu_csv *r, const char *p)
{
    if (p == r->end) return r->final ? 0 : -1;
    if (*p == '\n') return 1;
    if (*p != '\r') return 0;
    if (p + 1 == r->end) return r->final ? 0 : -1;
    return p[1] == '\n' ? 2 : 0;
}

/* Passes over blank lines and comments in front of a row. END_OF_ROW: a row follows (or, with r->blanks, is made of the blanks). */
static token skip_lines(hu_csv *r, scan *s)
{
    int64_t blanks = 0, line = s->line;
    for (;;) {
        int size = line_end(r, s->p);
        if (size < 0) return NEED_BYTES;
        if (s->p == r->end) return BROKEN; /* the end; s->problem stays NULL */
        if (size > 0) {
            s->p += size;
            blanks++;
        } else if (r->comment && *s->p == r->comment && !(blanks > 0 && r->columns == 1)) {
            const char *newline = memchr(s->p, '\n', (size_t)(r->end - s->p));
            if (!newline && !r->final) return NEED_BYTES;
            s->p = newline ? newline + 1 : r->end;
            line++;
        } else {
            break;
        }
        s->line++;
    }
    if (r->columns == 1 && blanks > 0) {
        r->blanks = blanks;
        r->blank_line = line;
    }
    return END_OF_ROW;
}

/* Scans one row into r->raw; HU_END at the end. */
static hu_status scan_row(hu_csv *r, hu_error *err)
{
    if (r->blanks > 0) {
        r->blanks--;
        r->row_line = r->blank_line++;
        r->fields = 1;
        r->raw[0] = (raw_field){"", 0, false, false};
        return HU_OK;
    }
    for (;;) {
        scan s = {r->p, r->line, NULL};
        token t = skip_lines(r, &s);
        if (t == BROKEN) {
            r->p = s.p;
            r->line = s.line;
            return HU_END;
        }
        if (t == END_OF_ROW && r->blanks > 0) {
            r->p = s.p;
            r->line = s.line;
            return scan_row(r, err);
        }
        int64_t row_line = s.line, n = 0;
        const char *row = s.p;
        if (t == END_OF_ROW)
            do {
                if (n == r->raw_room && hu_grow((void **)&r->raw, &r->raw_room, n + 1, sizeof *r->raw, "the fields of a row", err))
                    return err->status;
                t = scan_field(r, &s, &r->raw[n++]);
            } while (t == NEXT_FIELD);
        if (t == BROKEN) {
            const char *start = s.p;
            while (start > r->p && start[-1] != '\n') start--;
            return hu_fail_line(err, r->name, s.line, "field %lld, byte %lld of the line: %s", (long long)n, (long long)(s.p - start) + 1, s.problem);
        }
        if (t == END_OF_ROW) {
            r->p = s.p;
            r->line = s.line;
            r->row = row;
            r->row_line = row_line;
            r->fields = n;
            break;
        }
        if (refill(r, err)) return err->status;
    }
    if (r->columns > 0 && r->fields != r->columns)
        return hu_fail_line(err, r->name, r->row_line, "%lld field%s, where the first row has %lld", (long long)r->fields, r->fields == 1 ? "" : "s",
                            (long long)r->columns);
    return HU_OK;
}

static int64_t undouble(const raw_field *f, char *plain)
{
    char *q = plain;
    for (int64_t i = 0; i < f->size; i++) {
        *q++ = f->text[i];
        if (f->text[i] == '"') i++;
    }
    return q - plain;
}

/* The contents of the fields of r->raw. */
static hu_status fields_of(hu_csv *r, hu_error *err)
{
    int64_t need = 0, used = 0;
    for (int64_t j = 0; j < r->fields; j++) need += r->raw[j].doubled ? r->raw[j].size : 0;
    if (hu_grow((void **)&r->plain, &r->plain_room, need, 1, "a row of text", err)) return err->status;
    for (int64_t j = 0; j < r->fields; j++) {
        const raw_field *f = &r->raw[j];
        r->field[j] = (hu_csv_field){f->text, f->size, f->quoted};
        if (!f->doubled) continue;
        r->field[j].text = r->plain + used;
        r->field[j].size = undouble(f, r->plain + used);
        used += r->field[j].size;
    }
    return HU_OK;
}

hu_status hu_csv_next(hu_csv *csv, const hu_csv_field **ret_fields, hu_error *err)
{
    hu_status status = scan_row(csv, err);
    if (!status) status = fields_of(csv, err);
    *ret_fields = csv->field;
    return status;
}

/* ---- cells -------------------------------------------------------------------------------------------------------- */

bool hu_csv_next_numbers(hu_csv *csv, double *ret_row)
{
    return hu_csv_take_plain(csv, NULL, NULL, 0, ret_row, NULL);
}

static bool is_word(const char *text, int64_t size, const char *word)
{
    for (int64_t i = 0; i < size; i++, word++)
        if (!*word || (text[i] | 0x20) != *word) return false;
    return *word == '\0';
}

static void trim(const char **text, int64_t *size)
{
    while (*size > 0 && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*size;
    }
    while (*size > 0 && ((*text)[*size - 1] == ' ' || (*text)[*size - 1] == '\t')) --*size;
}

/* Whether the text is a number under the decimal sign. */
static bool read_number(const char *text, int64_t size, char decimal, double *ret_value)
{
    char copy[512];
    trim(&text, &size);
    if (decimal == ',') {
        if (size > (int64_t)sizeof copy || memchr(text, '.', (size_t)size)) return false;
        const char *comma = memchr(text, ',', (size_t)size);
        if (comma) {
            memcpy(copy, text, (size_t)size);
            copy[comma - text] = '.';
            text = copy;
        }
    }
    return size > 0 && hu_number_parse(text, text + size, ret_value) == text + size;
}

static hu_csv_kind kind_of(const char *text, int64_t size, bool quoted, char decimal, double *ret_value)
{
    if (!quoted && (size == 0 || (size == 2 && memcmp(text, "NA", 2) == 0))) return HU_CSV_MISSING;
    if (read_number(text, size, decimal, ret_value)) return HU_CSV_NUMBER;
    trim(&text, &size);
    bool yes = is_word(text, size, "true");
    if (!yes && !is_word(text, size, "false")) return HU_CSV_WORD;
    *ret_value = yes ? 1 : 0;
    return HU_CSV_TRUTH;
}

/* A word that would be a number under the other decimal sign, where that sign was only found in a sample. */
static bool contradicts(const hu_csv *r, const char *text, int64_t size)
{
    double value;
    return r->decimal_found && r->delimiter != ',' && read_number(text, size, r->decimal == ',' ? '.' : ',', &value);
}

hu_status hu_csv_fail(const hu_csv *csv, int64_t column, hu_error *err, const char *format, ...)
{
    char reason[400];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!csv->has_header) return hu_fail_line(err, csv->name, csv->row_line, "column %lld: %s", (long long)column + 1, reason);
    return hu_fail_line(err, csv->name, csv->row_line, "column %lld (%.*s): %s", (long long)column + 1, NAME_ROOM, csv->names[column], reason);
}

static hu_status fail_decimal(const hu_csv *r, int64_t column, hu_error *err)
{
    return hu_csv_fail(r, column, err, "a number with a decimal %s, where the file began with decimal %ss; say which it is",
                       r->decimal == ',' ? "point" : "comma", r->decimal == ',' ? "comma" : "point");
}

hu_status hu_csv_cell(const hu_csv *csv, int64_t column, hu_csv_kind *ret_kind, double *ret_value, hu_error *err)
{
    const hu_csv_field *f = &csv->field[column];
    *ret_kind = kind_of(f->text, f->size, f->quoted, csv->decimal, ret_value);
    if (*ret_kind == HU_CSV_WORD && contradicts(csv, f->text, f->size)) return fail_decimal(csv, column, err);
    return HU_OK;
}

int64_t hu_csv_columns(const hu_csv *csv)
{
    return csv->columns;
}

const char *hu_csv_column_name(const hu_csv *csv, int64_t column)
{
    return csv->names[column];
}

bool hu_csv_has_header(const hu_csv *csv)
{
    return csv->has_header;
}

char hu_csv_delimiter(const hu_csv *csv)
{
    return csv->delimiter;
}

int64_t hu_csv_line(const hu_csv *csv)
{
    return csv->row_line;
}

/* ---- what the sample tells ---------------------------------------------------------------------------------------- */

/* Delimiters of one kind outside quotes in the row at p; *ret_next: the row behind, or NULL where the row is not all there. */
static int64_t count_in_row(const hu_csv *r, const char *p, char delimiter, const char **ret_next)
{
    int64_t n = 0;
    bool quoted = false;
    for (; p < r->end; p++) {
        if (*p == '"') quoted = !quoted;
        else if (!quoted && *p == delimiter) n++;
        else if (!quoted && *p == '\n') break;
    }
    *ret_next = p < r->end ? p + 1 : r->final ? r->end : NULL;
    return n;
}

static bool is_passed_over(const hu_csv *r, const char *p)
{
    return line_end(r, p) != 0 || (r->comment && *p == r->comment);
}

static hu_status find_delimiter(hu_csv *r, hu_error *err)
{
    static const char candidates[] = {',', ';', '\t'};
    static const char *const words[] = {"commas", "semicolons", "tabs"};
    int even[3], evens = 0, firsts = 0, first = 0;
    for (int k = 0; k < 3; k++) {
        int64_t in_first = -1;
        bool same = true;
        int rows = 0;
        const char *next;
        for (const char *p = r->p; p < r->end && same; p = next) {
            int64_t n = count_in_row(r, p, candidates[k], &next);
            if (!next || ++rows > SAMPLE_ROWS) break;
            if (is_passed_over(r, p)) continue;
            if (in_first < 0) in_first = n;
            same = n == in_first;
        }
        if (in_first > 0) {
            first = k;
            firsts++;
            if (same) even[evens++] = k;
        }
    }
    if (evens > 1)
        return hu_fail_line(err, r->name, r->line, "fields could be separated by %s or by %s; say which it is", words[even[0]], words[even[1]]);
    if (evens == 0 && firsts > 1)
        return hu_fail_line(err, r->name, r->line, "the first row holds several of comma, semicolon and tab; say which one separates fields");
    r->delimiter = evens == 1 ? candidates[even[0]] : firsts == 1 ? candidates[first] : ',';
    return HU_OK;
}

/* Whether a number with a decimal comma could also be one with commas between thousands: 1 to 3 digits, comma, 3 digits. */
static bool may_mean_thousands(const char *text, int64_t size)
{
    trim(&text, &size);
    if (size > 0 && (*text == '-' || *text == '+')) {
        text++;
        size--;
    }
    const char *comma = memchr(text, ',', (size_t)size);
    return comma && comma - text >= 1 && comma - text <= 3 && size - (comma - text) == 4 && *text != '0' && !memchr(text, 'e', (size_t)size) &&
           !memchr(text, 'E', (size_t)size);
}

static hu_status find_decimal(hu_csv *r, hu_error *err)
{
    scan s = {r->p, r->line, NULL};
    int64_t commas = 0, points = 0, certain = 0, rows = 0, comma_line = 0;
    r->decimal = '.';
    r->decimal_found = true;
    if (r->delimiter == ',') return HU_OK;
    for (token t = END_OF_ROW; rows < SAMPLE_ROWS && s.p < r->end;) {
        raw_field f;
        double value;
        t = scan_field(r, &s, &f);
        if (t == NEED_BYTES || t == BROKEN) break; /* reading will tell */
        rows += t == END_OF_ROW;
        bool comma = memchr(f.text, ',', (size_t)f.size), point = memchr(f.text, '.', (size_t)f.size);
        if (comma && read_number(f.text, f.size, ',', &value)) {
            if (commas++ == 0) comma_line = s.line - (t == END_OF_ROW);
            certain += !may_mean_thousands(f.text, f.size);
        }
        if (point && read_number(f.text, f.size, '.', &value)) points++;
    }
    if (commas == 0) return HU_OK;
    if (points > 0 || certain == 0)
        return hu_fail_line(err, r->name, comma_line, "a number with a comma, which could %s; say which the decimal sign is",
                            points ? "be decimal, but others have a decimal point" : "be decimal or separate thousands");
    r->decimal = ',';
    return HU_OK;
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static bool is_utf8(const char *text, int64_t size)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + size;
    while (p < end) {
        if (*p < 0x80) {
            p++;
            continue;
        }
        int more = *p >= 0xc2 && *p < 0xe0 ? 1 : *p >= 0xe0 && *p < 0xf0 ? 2 : *p >= 0xf0 && *p < 0xf5 ? 3 : 0;
        if (more == 0 || end - p <= more) return false;
        if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
            return false; /* overlong forms, surrogates, beyond U+10FFFF */
        for (int i = 1; i <= more; i++)
            if (p[i] < 0x80 || p[i] > 0xbf) return false;
        p += more + 1;
    }
    return true;
}

static hu_status skip_mark(hu_csv *r, hu_error *err)
{
    int64_t size = r->end - r->p;
    if (size >= 3 && memcmp(r->p, "\xef\xbb\xbf", 3) == 0) r->p += 3;
    else if (size >= 2 && (memcmp(r->p, "\xff\xfe", 2) == 0 || memcmp(r->p, "\xfe\xff", 2) == 0))
        return hu_fail_line(err, r->name, 1, "the file is UTF-16; UTF-8 is needed");
    return HU_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(**(char **const *)a, **(char **const *)b);
}

/* Two columns of one name. */
static hu_status check_names(const hu_csv *r, hu_error *err)
{
    void *block;
    if (hu_alloc(r->columns, sizeof(char **), "the names of columns", &block, err)) return err->status;
    char ***sorted = block;
    hu_status status = HU_OK;
    for (int64_t j = 0; j < r->columns; j++) sorted[j] = &r->names[j];
    qsort(sorted, (size_t)r->columns, sizeof *sorted, compare_names);
    for (int64_t j = 1; j < r->columns && !status; j++) {
        if (strcmp(*sorted[j - 1], *sorted[j]) != 0) continue;
        long long a = sorted[j - 1] - r->names + 1, b = sorted[j] - r->names + 1;
        status = hu_fail_line(err, r->name, r->row_line, "columns %lld and %lld are both named '%.*s'", a < b ? a : b, a < b ? b : a, NAME_ROOM,
                              *sorted[j]);
    }
    hu_free(block);
    return status;
}

static hu_status set_names(hu_csv *r, hu_error *err)
{
    for (int64_t j = 0; j < r->columns; j++) {
        const hu_csv_field *f = &r->field[j];
        if (r->has_header && !is_utf8(f->text, f->size))
            return hu_fail_line(err, r->name, r->row_line, "the name of column %lld is not UTF-8", (long long)j + 1);
        if (r->has_header) r->names[j] = strndup(f->text, (size_t)f->size);
        else if (asprintf(&r->names[j], "c%lld", (long long)j + 1) < 0) r->names[j] = NULL;
        if (!r->names[j]) return hu_fail(err, HU_SYSTEM, "out of memory");
    }
    return r->has_header ? check_names(r, err) : HU_OK;
}

/* Reads the first row: how many columns there are, and what they are called. */
static hu_status read_first_row(hu_csv *r, hu_csv_header header, hu_error *err)
{
    hu_status status = scan_row(r, err);
    if (status == HU_END) return hu_fail_line(err, r->name, 0, "the table is empty: it has no row");
    if (status) return status;
    if (hu_alloc_zero(r->fields, sizeof *r->names, "the names of columns", (void **)&r->names, err)) return err->status;
    if (hu_alloc_zero(r->fields, sizeof *r->field, "the fields of a row", (void **)&r->field, err)) return err->status;
    r->columns = r->fields;
    if (fields_of(r, err)) return err->status;
    r->has_header = header == HU_CSV_HEADER;
    for (int64_t j = 0; j < r->columns && header == HU_CSV_HEADER_AUTO && !r->has_header; j++) {
        double value;
        r->has_header = kind_of(r->field[j].text, r->field[j].size, r->field[j].quoted, r->decimal, &value) == HU_CSV_WORD;
    }
    if (set_names(r, err)) return err->status;
    if (!r->has_header) { /* it is a row of cells: back to its start */
        r->p = r->row;
        r->line = r->row_line;
    }
    return HU_OK;
}

static hu_status begin(hu_csv *r, const hu_csv_options *options, hu_error *err)
{
    static const hu_csv_options defaults = HU_CSV_DEFAULTS;
    if (!options) options = &defaults;
    r->line = 1;
    r->comment = options->comment;
    r->delimiter = options->delimiter;
    r->decimal = options->decimal;
    if (skip_mark(r, err)) return err->status;
    if (!r->delimiter && find_delimiter(r, err)) return err->status;
    r->stop['\n'] = r->stop['\r'] = r->stop['"'] = r->stop['\0'] = r->stop[(unsigned char)r->delimiter] = true;
    if (!r->decimal && find_decimal(r, err)) return err->status;
    return read_first_row(r, options->header, err);
}

hu_status hu_csv_open(hu_source *source, const hu_csv_options *options, hu_csv **ret_csv, hu_error *err)
{
    hu_csv *r = *ret_csv = calloc(1, sizeof *r);
    if (!r) return hu_fail(err, HU_SYSTEM, "out of memory");
    r->source = source;
    r->name = hu_source_name(source);
    if (refill(r, err) == HU_OK && begin(r, options, err) == HU_OK) return HU_OK;
    hu_csv_close(r);
    *ret_csv = NULL;
    return err->status;
}

void hu_csv_close(hu_csv *csv)
{
    if (!csv) return;
    for (int64_t j = 0; j < csv->columns && csv->names; j++) free(csv->names[j]);
    hu_free(csv->names);
    hu_free(csv->field);
    hu_free(csv->raw);
    hu_free(csv->plain);
    hu_free(csv->buffer);
    hu_free(csv->mark);
    free(csv);
}

/* ---- tables: numbers in a first pass over the bytes, the levels of text columns in a second --------------------------- */

enum { FIRST_ROWS = 1024, ODD = 72 };

/* Moves the numbers into a block with room for `wanted` rows. Columns begin an odd number of cache lines apart, so that a row's cells do not fall on each other. */
static hu_status move_numbers(hu_csv_table *t, int64_t wanted, hu_error *err)
{
    int64_t numeric = 0, stride = (wanted + 7) / 8 * 8 + ODD;
    double *block;
    for (int64_t j = 0; j < t->columns; j++) numeric += !t->column[j].is_text;
    if (hu_alloc(numeric, (size_t)stride * sizeof *block, "a table of numbers", (void **)&block, err)) return err->status;
    double *to = block;
    for (int64_t j = 0; j < t->columns; j++) {
        hu_csv_column *c = &t->column[j];
        if (c->is_text) continue;
        if (t->rows) memcpy(to, c->number, (size_t)t->rows * sizeof *to);
        c->number = to;
        to += stride;
    }
    hu_free(t->block);
    t->block = block;
    return HU_OK;
}

/* Room for a row more, and at least for `expected` rows. */
static hu_status make_room(hu_csv_table *t, int64_t expected, int64_t *room, hu_error *err)
{
    int64_t wanted = *room + *room / 2 > FIRST_ROWS ? *room + *room / 2 : FIRST_ROWS;
    if (t->rows < *room && expected <= *room) return HU_OK;
    if (wanted < expected) wanted = expected;
    if (move_numbers(t, wanted, err)) return err->status;
    for (int64_t j = 0; j < t->columns; j++) {
        hu_csv_column *c = &t->column[j];
        int64_t have = *room;
        if (!c->missing) continue;
        if (hu_grow((void **)&c->missing, &have, wanted, 1, c->name, err)) return err->status;
        memset(c->missing + *room, 0, (size_t)(have - *room));
    }
    *room = wanted;
    return HU_OK;
}

static hu_status set_missing(hu_csv_column *c, int64_t row, int64_t room, hu_error *err)
{
    if (!c->missing && hu_alloc_zero(room, 1, c->name, (void **)&c->missing, err)) return err->status;
    c->missing[row] = 1;
    c->number[row] = NAN;
    c->missing_count++;
    return HU_OK;
}

/* Reads a row of any kind; columns with words become text. */
static hu_status read_row(hu_csv *r, hu_csv_table *t, int64_t room, hu_error *err)
{
    hu_status status = scan_row(r, err);
    if (!status) status = fields_of(r, err);
    for (int64_t j = 0; j < t->columns && !status; j++) {
        hu_csv_column *c = &t->column[j];
        hu_csv_kind kind;
        if (c->is_text) continue;
        if (hu_csv_cell(r, j, &kind, &c->number[t->rows], err)) return err->status;
        if (kind == HU_CSV_MISSING) status = set_missing(c, t->rows, room, err);
        c->truths += kind == HU_CSV_TRUTH;
        if (kind != HU_CSV_WORD) continue;
        c->is_text = true;
        c->first_word_row = t->rows;
        c->first_word_line = r->row_line;
        hu_free(c->missing);
        c->number = NULL;
        c->missing = NULL;
        c->missing_count = c->truths = 0;
    }
    return status;
}

/* Where the next row begins, in bytes from some start. */
static int64_t place_of(const hu_csv *r, bool whole)
{
    return whole ? r->p - r->buffer : hu_source_offset(r->source) - (r->end - r->p);
}

/* The first pass. size: of the source's bytes, counted as place_of() does. */
static hu_status read_rows(hu_csv *r, bool whole, int64_t size, hu_csv_table *t, hu_error *err)
{
    int64_t room = 0, n = t->columns, begin = place_of(r, whole), expected = 0;
    void *block;
    if (hu_alloc_zero(n, sizeof(double *) + sizeof(bool) + 1, "a row of numbers", &block, err)) return err->status;
    double **number = block;
    bool *is_text = (bool *)(number + n);
    uint8_t *kind = (uint8_t *)(is_text + n);
    hu_status status = HU_OK;
    for (; !status; t->rows++) {
        if (t->rows == FIRST_ROWS) /* the others will be as long; few more, so that memory is touched once */
            expected = (int64_t)((double)FIRST_ROWS * (double)(size - begin) / (double)(place_of(r, whole) - begin) * 1.02);
        if (t->rows == room || t->rows == FIRST_ROWS) {
            if ((status = make_room(t, expected, &room, err))) break;
            for (int64_t j = 0; j < n; j++) number[j] = t->column[j].number;
        }
        if (hu_csv_take_plain(r, is_text, number, t->rows, NULL, kind)) {
            for (int64_t j = 0; j < n && !status; j++) {
                if (kind[j] == HU_CSV_NUMBER) continue;
                if (kind[j] == HU_CSV_MISSING) status = set_missing(&t->column[j], t->rows, room, err);
                else t->column[j].truths++;
            }
            continue;
        }
        if ((status = read_row(r, t, room, err))) break;
        for (int64_t j = 0; j < n; j++) {
            is_text[j] = t->column[j].is_text;
            number[j] = t->column[j].number;
        }
    }
    hu_free(block);
    return status == HU_END ? HU_OK : status;
}

/* The levels met so far in a text column, in the order of their first appearance, and a hash table of them (open addressing). */
typedef struct {
    int32_t *slot; /* level + 1, or 0 */
    int64_t slots;
    int64_t room; /* of the column's levels */
} levels;

static uint64_t hash_of(const char *text, int64_t size)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, with a final mixing */
    for (int64_t i = 0; i < size; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static hu_status grow_slots(levels *l, const hu_csv_column *c, hu_error *err)
{
    if (2 * (c->level_count + 1) <= l->slots) return HU_OK;
    int64_t wanted = l->slots ? 2 * l->slots : 64;
    hu_free(l->slot);
    l->slots = 0;
    if (hu_alloc_zero(wanted, sizeof *l->slot, c->name, (void **)&l->slot, err)) return err->status;
    l->slots = wanted;
    for (int64_t i = 0; i < c->level_count; i++) {
        uint64_t s = hash_of(c->levels[i], (int64_t)strlen(c->levels[i]));
        while (l->slot[s & (uint64_t)(wanted - 1)]) s++;
        l->slot[s & (uint64_t)(wanted - 1)] = (int32_t)i + 1;
    }
    return HU_OK;
}

static hu_status intern(levels *l, hu_csv_column *c, const hu_csv *r, const hu_csv_field *f, int64_t column, int32_t *ret_level, hu_error *err)
{
    if (grow_slots(l, c, err)) return err->status;
    uint64_t s = hash_of(f->text, f->size), mask = (uint64_t)(l->slots - 1);
    for (; l->slot[s & mask]; s++) {
        *ret_level = l->slot[s & mask] - 1;
        const char *level = c->levels[*ret_level];
        if (strncmp(level, f->text, (size_t)f->size) == 0 && level[f->size] == '\0') return HU_OK;
    }
    double value;
    if (c->level_count == INT32_MAX - 1) return hu_csv_fail(r, column, err, "too many different words");
    if (!is_utf8(f->text, f->size)) return hu_csv_fail(r, column, err, "the text is not UTF-8");
    if (hu_grow((void **)&c->levels, &l->room, c->level_count + 1, sizeof(char *), c->name, err)) return err->status;
    char *copy = strndup(f->text, (size_t)f->size);
    if (!copy) return hu_fail(err, HU_SYSTEM, "out of memory");
    c->number_levels += read_number(f->text, f->size, r->decimal, &value);
    *ret_level = (int32_t)c->level_count;
    c->levels[c->level_count++] = copy;
    l->slot[s & mask] = *ret_level + 1;
    return HU_OK;
}

static int compare_levels(const void *a, const void *b)
{
    return strcmp(**(char **const *)a, **(char **const *)b);
}

/* Levels into the order of their bytes, so that they do not depend on the order of rows. */
static hu_status sort_levels(hu_csv_column *c, int64_t rows, hu_error *err)
{
    void *a = NULL, *b = NULL, *d = NULL;
    hu_status status = hu_alloc(c->level_count, sizeof(char **), c->name, &a, err);
    if (!status) status = hu_alloc(c->level_count, sizeof(int32_t), c->name, &b, err);
    if (!status) status = hu_alloc(c->level_count, sizeof(char *), c->name, &d, err);
    if (!status) {
        char ***sorted = a, **ordered = d;
        int32_t *rank = b;
        for (int64_t i = 0; i < c->level_count; i++) sorted[i] = &c->levels[i];
        qsort(sorted, (size_t)c->level_count, sizeof *sorted, compare_levels);
        for (int64_t i = 0; i < c->level_count; i++) {
            rank[sorted[i] - c->levels] = (int32_t)i;
            ordered[i] = *sorted[i];
        }
        for (int64_t i = 0; i < rows; i++)
            if (c->level[i] >= 0) c->level[i] = rank[c->level[i]];
        hu_free(c->levels);
        c->levels = ordered;
        d = NULL;
    }
    hu_free(a);
    hu_free(b);
    hu_free(d);
    return status;
}

/* The second pass: reads all rows again for the text columns. */
static hu_status read_levels(hu_csv *r, hu_csv_table *t, hu_error *err)
{
    void *block;
    if (hu_alloc_zero(t->columns, sizeof(levels), "the levels of columns", &block, err)) return err->status;
    levels *l = block;
    hu_status status = HU_OK;
    for (int64_t j = 0; j < t->columns && !status; j++)
        if (t->column[j].is_text) status = hu_alloc(t->rows, sizeof(int32_t), t->column[j].name, (void **)&t->column[j].level, err);
    for (int64_t i = 0; i < t->rows && !status; i++) {
        status = scan_row(r, err);
        if (!status) status = fields_of(r, err);
        for (int64_t j = 0; j < t->columns && !status; j++) {
            hu_csv_column *c = &t->column[j];
            const hu_csv_field *f = &r->field[j];
            if (!c->is_text) continue;
            if (!f->quoted && (f->size == 0 || (f->size == 2 && memcmp(f->text, "NA", 2) == 0))) {
                c->level[i] = -1;
                c->missing_count++;
            } else {
                status = intern(&l[j], c, r, f, j, &c->level[i], err);
            }
        }
    }
    for (int64_t j = 0; j < t->columns; j++) {
        if (t->column[j].is_text && !status) status = sort_levels(&t->column[j], t->rows, err);
        hu_free(l[j].slot);
    }
    hu_free(block);
    return status;
}

static hu_status new_table(const hu_csv *r, hu_csv_table **ret_table, hu_error *err)
{
    hu_csv_table *t = *ret_table = calloc(1, sizeof *t);
    if (!t) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_alloc_zero(r->columns, sizeof *t->column, "the columns of a table", (void **)&t->column, err)) return err->status;
    t->columns = r->columns;
    for (int64_t j = 0; j < t->columns; j++) {
        t->column[j].name = strdup(r->names[j]);
        if (!t->column[j].name) return hu_fail(err, HU_SYSTEM, "out of memory");
    }
    return HU_OK;
}

/* whole: all bytes are in the buffer; else the source can go back to an offset. */
static hu_status read_table(hu_csv *r, bool whole, int64_t size, hu_csv_table **ret_table, hu_error *err)
{
    if (new_table(r, ret_table, err)) return err->status;
    hu_csv_table *t = *ret_table;
    const char *rows_begin = r->p;
    int64_t rows_offset = hu_source_offset(r->source) - (r->end - r->p), rows_line = r->line;
    if (read_rows(r, whole, size, t, err)) return err->status;
    bool text = false;
    for (int64_t j = 0; j < t->columns; j++) text |= t->column[j].is_text;
    if (!text) return HU_OK;
    r->line = rows_line;
    r->marks = r->next_mark = 0;
    if (whole) {
        r->p = rows_begin;
    } else {
        hu_source_seek(r->source, rows_offset);
        r->p = r->end = r->buffer;
        r->final = false;
    }
    return read_levels(r, t, err);
}

hu_status hu_csv_read(hu_source *source, const hu_csv_options *options, int64_t most_bytes, hu_csv_table **ret_table, hu_error *err)
{
    int64_t size;
    int fd;
    *ret_table = NULL;
    hu_csv *r = calloc(1, sizeof *r);
    if (!r) return hu_fail(err, HU_SYSTEM, "out of memory");
    r->source = source;
    r->name = hu_source_name(source);
    bool whole = !hu_source_is_plain(source, &fd, &size);
    hu_status status;
    if (whole) { /* what cannot be read twice is kept in memory */
        status = hu_source_slurp(source, most_bytes, &r->buffer, &size, err);
        r->p = r->buffer;
        r->end = r->buffer + (status ? 0 : size);
        r->final = true;
    } else if (size - hu_source_offset(source) > most_bytes) {
        status = hu_fail_line(err, r->name, 0, "is longer than %lld bytes", (long long)most_bytes);
    } else {
        status = refill(r, err);
    }
    if (!status) status = begin(r, options, err);
    if (!status) status = read_table(r, whole, size, ret_table, err);
    hu_csv_close(r);
    if (!status) return HU_OK;
    hu_csv_table_free(*ret_table);
    *ret_table = NULL;
    return status;
}

void hu_csv_table_free(hu_csv_table *table)
{
    if (!table) return;
    for (int64_t j = 0; j < table->columns; j++) {
        hu_csv_column *c = &table->column[j];
        for (int64_t i = 0; i < c->level_count; i++) free(c->levels[i]);
        hu_free(c->levels);
        hu_free(c->level);
        hu_free(c->missing);
        free(c->name);
    }
    hu_free(table->block);
    hu_free(table->column);
    free(table);
}

int64_t hu_csv_find(const hu_csv_table *table, const char *name)
{
    for (int64_t j = 0; j < table->columns; j++)
        if (strcmp(table->column[j].name, name) == 0) return j;
    return -1;
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

size_t hu_csv_quote(const char *text, size_t size, char delimiter, char *buffer)
{
    bool needed = size == 0 || text[0] == ' ' || text[0] == '\t' || text[0] == '#' || text[size - 1] == ' ' || text[size - 1] == '\t' ||
                  (size == 2 && memcmp(text, "NA", 2) == 0);
    for (size_t i = 0; i < size && !needed; i++)
        needed = text[i] == '"' || text[i] == '\n' || text[i] == '\r' || text[i] == delimiter || text[i] == ';' || text[i] == '\t' || text[i] == ',';
    if (!needed) {
        memcpy(buffer, text, size);
        return size;
    }
    char *q = buffer;
    *q++ = '"';
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') *q++ = '"';
        *q++ = text[i];
    }
    *q++ = '"';
    return (size_t)(q - buffer);
}

hu_csv_writer hu_csv_writer_to(hu_output *out, char delimiter)
{
    return (hu_csv_writer){out, delimiter, 0, false};
}

/* Room for a short field, with the delimiter before it. */
static hu_status begin_field(hu_csv_writer *w, char **ret_room, hu_error *err)
{
    if (hu_output_reserve(w->out, HU_NUMBER_SIZE + 1, ret_room, err)) return err->status;
    if (w->fields++ > 0) {
        *(*ret_room)++ = w->delimiter;
        hu_output_used(w->out, 1);
    }
    w->missing = false;
    return HU_OK;
}

hu_status hu_csv_put_text(hu_csv_writer *writer, const char *text, hu_error *err)
{
    char *room;
    void *quoted;
    size_t size = strlen(text);
    if (begin_field(writer, &room, err)) return err->status;
    if (hu_alloc(2 * (int64_t)size + 2, 1, "a field", &quoted, err)) return err->status;
    hu_status status = hu_output_write(writer->out, quoted, hu_csv_quote(text, size, writer->delimiter, quoted), err);
    hu_free(quoted);
    return status;
}

hu_status hu_csv_put_number(hu_csv_writer *writer, double value, hu_error *err)
{
    char *room;
    if (begin_field(writer, &room, err)) return err->status;
    hu_output_used(writer->out, hu_number_print(value, room));
    return HU_OK;
}

hu_status hu_csv_put_integer(hu_csv_writer *writer, int64_t value, hu_error *err)
{
    char *room;
    if (begin_field(writer, &room, err)) return err->status;
    hu_output_used(writer->out, hu_number_print_integer(value, room));
    return HU_OK;
}

hu_status hu_csv_put_missing(hu_csv_writer *writer, hu_error *err)
{
    char *room;
    if (begin_field(writer, &room, err)) return err->status;
    writer->missing = true;
    return HU_OK;
}

hu_status hu_csv_end_row(hu_csv_writer *writer, hu_error *err)
{
    bool blank = writer->fields == 1 && writer->missing; /* would read as no row */
    writer->fields = 0;
    return blank ? hu_output_write(writer->out, "NA\n", 3, err) : hu_output_write(writer->out, "\n", 1, err);
}
