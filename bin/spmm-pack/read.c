/* read.c: sparse matrices from any file that spmm-pack knows.
 *
 * Sections: patterns of pruned weights, edges, dense arrays, choosing.
 */
#include "config.h"
#include "read.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"
#include "io/npy.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_BYTES = INT64_MAX / 2; /* memory follows what is there */

/* ---- patterns of pruned weights ---------------------------------------------------------------------------------- */

typedef struct {
    const char *p, *end, *name;
    int64_t line;
    hu_error *err;
} cursor;

/* The next whole number, on this line; commas and blanks part them. */
static hu_status next_integer(cursor *c, int64_t least, int64_t most, const char *what, int64_t *ret)
{
    bool overflow;
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == ',' || *c->p == '\r')) c->p++;
    const char *after = c->p < c->end ? hu_number_parse_integer(c->p, c->end, ret, &overflow) : NULL;
    if (!after) return hu_fail_line(c->err, c->name, c->line, "%s: a whole number is missing", what);
    if (after < c->end && !strchr(" \t\r\n,", *after)) return hu_fail_line(c->err, c->name, c->line, "%s: a whole number is followed by '%c'", what, *after);
    if (overflow || *ret < least || *ret > most) return hu_fail_line(c->err, c->name, c->line, "%s is outside %lld..%lld", what, (long long)least, (long long)most);
    c->p = after;
    return HU_OK;
}

static hu_status end_line(cursor *c, const char *what)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r' || *c->p == ',')) c->p++;
    if (c->p < c->end && *c->p != '\n') return hu_fail_line(c->err, c->name, c->line, "more %s than the first line says", what);
    if (c->p < c->end) c->p++, c->line++;
    return HU_OK;
}

static hu_status parse_smtx(cursor *c, hu_coo **ret_coo)
{
    int64_t rows, cols, nnz, at = 0, start, stop;
    if (next_integer(c, 0, HU_MAX_DIMENSION, "rows", &rows) || next_integer(c, 0, HU_MAX_DIMENSION, "columns", &cols) ||
        next_integer(c, 0, INT64_MAX / 32, "the number of entries", &nnz) || end_line(c, "sizes"))
        return c->err->status;
    if (nnz > c->end - c->p || rows > c->end - c->p) /* each needs a byte at least */
        return hu_fail_line(c->err, c->name, 1, "%lld rows and %lld entries do not fit the %lld bytes that follow", (long long)rows, (long long)nnz, (long long)(c->end - c->p));
    if (hu_coo_new(rows, cols, nnz, false, ret_coo, c->err) || next_integer(c, 0, 0, "the first row offset", &start)) return c->err->status;
    hu_coo *coo = *ret_coo;
    for (int64_t i = 0; i < rows; i++, start = stop) {
        if (next_integer(c, start, nnz, "a row offset", &stop)) return c->err->status;
        for (; at < stop; at++) coo->row[at] = (int32_t)i;
    }
    if (at != nnz) return hu_fail_line(c->err, c->name, c->line, "the row offsets end at %lld, not at %lld entries", (long long)at, (long long)nnz);
    if (end_line(c, "row offsets")) return c->err->status;
    for (at = 0; at < nnz; at++) {
        int64_t col;
        if (next_integer(c, 0, cols - 1, "a column", &col)) return c->err->status;
        coo->col[at] = (int32_t)col;
        coo->val[at] = 1;
    }
    if (end_line(c, "columns")) return c->err->status;
    while (c->p < c->end && isspace((unsigned char)*c->p)) c->p++;
    return c->p < c->end ? hu_fail_line(c->err, c->name, c->line, "something follows the columns") : HU_OK;
}

static hu_status read_smtx(hu_source *source, const spmm_read_options *o, hu_csr **ret_csr, spmm_read_info *info, hu_error *err)
{
    char *text;
    int64_t size;
    hu_coo *coo = NULL;
    if (hu_source_slurp(source, MOST_BYTES, &text, &size, err)) return err->status;
    cursor c = {text, text + size, hu_source_name(source), 1, err};
    if (parse_smtx(&c, &coo) == HU_OK) {
        info->entries = coo->nnz;
        info->is_pattern = true;
        hu_csr_from_coo(&coo, o->mtx.duplicates, c.name, ret_csr, err);
    }
    hu_coo_free(coo);
    hu_free(text);
    return err->status;
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t *row, *col;
    double *val;
    int64_t n, room_row, room_col, room_val, greatest;
} edges;

static hu_status add_edge(edges *e, const hu_csv *csv, const double *cell, int64_t cells, const spmm_read_options *o, hu_error *err)
{
    for (int k = 0; k < 2; k++) {
        if (!(cell[k] >= o->base && cell[k] <= HU_MAX_DIMENSION) || cell[k] != floor(cell[k]))
            return hu_csv_fail(csv, k, err, "is no node: nodes are whole numbers from %d on (--base)", o->base);
        if (o->nodes && cell[k] - o->base >= (double)o->nodes) return hu_csv_fail(csv, k, err, "is beyond the %lld nodes that --nodes says", (long long)o->nodes);
    }
    if (cells > 2 && !isfinite(cell[2]) && !o->mtx.keep_nonfinite) return hu_csv_fail(csv, 2, err, "the weight is not finite");
    if (hu_grow((void **)&e->row, &e->room_row, e->n + 1, sizeof *e->row, "edges", err) || hu_grow((void **)&e->col, &e->room_col, e->n + 1, sizeof *e->col, "edges", err) ||
        hu_grow((void **)&e->val, &e->room_val, e->n + 1, sizeof *e->val, "edges", err))
        return err->status;
    const int64_t src = (int64_t)cell[o->dst_first ? 1 : 0] - o->base, dst = (int64_t)cell[o->dst_first ? 0 : 1] - o->base;
    e->row[e->n] = (int32_t)dst;
    e->col[e->n] = (int32_t)src;
    e->val[e->n++] = cells > 2 ? cell[2] : 1;
    if (src > e->greatest) e->greatest = src;
    if (dst > e->greatest) e->greatest = dst;
    return HU_OK;
}

/* A list whose lines have none of the other delimiters is parted by blanks. */
static hu_status choose_delimiter(hu_source *source, char *ret_delimiter, hu_error *err)
{
    const void *bytes;
    size_t size;
    *ret_delimiter = 0;
    if (hu_source_peek(source, 4096, &bytes, &size, err)) return err->status;
    const char *p = bytes, *end = p + size;
    while (p < end && (*p == '#' || *p == '\n' || *p == '\r')) {
        while (p < end && *p != '\n') p++;
        if (p < end) p++;
    }
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    const size_t length = (size_t)((newline ? newline : end) - p);
    if (!memchr(p, ',', length) && !memchr(p, ';', length) && !memchr(p, '\t', length)) *ret_delimiter = ' ';
    return HU_OK;
}

static hu_status read_rows_of_edges(hu_csv *csv, edges *e, const spmm_read_options *o, hu_error *err)
{
    const hu_csv_field *fields;
    const int64_t cells = hu_csv_columns(csv);
    double cell[3];
    for (;;) {
        if (!hu_csv_next_numbers(csv, cell)) {
            const hu_status status = hu_csv_next(csv, &fields, err);
            if (status == HU_END) return HU_OK;
            if (status) return status;
            for (int64_t k = 0; k < cells; k++) {
                hu_csv_kind kind;
                if (hu_csv_cell(csv, k, &kind, &cell[k], err)) return err->status;
                if (kind != HU_CSV_NUMBER) return hu_csv_fail(csv, k, err, "a number is needed");
            }
        }
        if (add_edge(e, csv, cell, cells, o, err)) return err->status;
    }
}

static hu_status read_edges(hu_source *source, const spmm_read_options *o, hu_csr **ret_csr, spmm_read_info *info, hu_error *err)
{
    hu_csv_options how = {0, '.', HU_CSV_HEADER_AUTO, '#'};
    hu_csv *csv = NULL;
    hu_coo *coo = NULL;
    edges e = {.greatest = -1};
    if (o->base < 0) return hu_fail(err, HU_USAGE, "%s: is a list of edges; say whether its nodes count from 0 or from 1 (--base=0 or --base=1)", hu_source_name(source));
    if (choose_delimiter(source, &how.delimiter, err) || hu_csv_open(source, &how, &csv, err)) goto cleanup;
    const int64_t cells = hu_csv_columns(csv);
    if (cells < 2 || cells > 3) {
        hu_fail_line(err, hu_source_name(source), 1, "a list of edges has 2 or 3 columns, not %lld", (long long)cells);
        goto cleanup;
    }
    if (read_rows_of_edges(csv, &e, o, err)) goto cleanup;
    const int64_t nodes = o->nodes ? o->nodes : e.greatest + 1;
    if (hu_coo_new(nodes, nodes, e.n, false, &coo, err)) goto cleanup;
    if (e.n) {
        memcpy(coo->row, e.row, (size_t)e.n * sizeof *e.row);
        memcpy(coo->col, e.col, (size_t)e.n * sizeof *e.col);
        memcpy(coo->val, e.val, (size_t)e.n * sizeof *e.val);
    }
    info->entries = e.n;
    info->is_pattern = cells == 2;
    hu_csr_from_coo(&coo, o->mtx.duplicates, hu_source_name(source), ret_csr, err);
cleanup:
    hu_csv_close(csv);
    hu_coo_free(coo);
    free(e.row);
    free(e.col);
    free(e.val);
    return err->status;
}

/* ---- dense arrays ----------------------------------------------------------------------------------------------- */

static hu_status sparse_of(const hu_dense *d, const char *name, bool keep_nonfinite, hu_csr **ret_csr, hu_error *err)
{
    int64_t nnz = 0;
    const int64_t down = d->order == HU_COL_MAJOR ? 1 : d->ld, right = d->order == HU_COL_MAJOR ? d->ld : 1;
    if (d->scalar == HU_C128) return hu_fail(err, HU_INPUT, "%s: complex values; a real matrix is needed", name);
    if (d->rows > HU_MAX_DIMENSION || d->cols > HU_MAX_DIMENSION) return hu_fail(err, HU_INPUT, "%s: more than %d rows or columns", name, HU_MAX_DIMENSION);
    if (!keep_nonfinite && hu_dense_check_finite(d, name, err)) return err->status;
    for (int64_t k = 0; k < d->rows * d->cols; k++) nnz += hu_scalar_get(d->scalar, d->data, k) != 0;
    if (hu_csr_new(d->rows, d->cols, nnz, false, ret_csr, err)) return err->status;
    hu_csr *a = *ret_csr;
    int64_t at = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        for (int64_t j = 0; j < d->cols; j++) {
            const double value = hu_scalar_get(d->scalar, d->data, i * down + j * right);
            if (value == 0) continue;
            a->col[at] = (int32_t)j;
            a->val[at++] = value;
        }
        a->row_ptr[i + 1] = at;
    }
    return HU_OK;
}

static hu_status read_npy(hu_source *source, const spmm_read_options *o, hu_csr **ret_csr, spmm_read_info *info, hu_error *err)
{
    hu_npy *array;
    hu_dense *dense = NULL;
    const hu_status status = hu_npy_read(source, MOST_BYTES, &array, err);
    if (status == HU_END) return hu_fail(err, HU_INPUT, "%s: is empty; a matrix is needed", hu_source_name(source));
    if (status || hu_npy_to_dense(&array, hu_source_name(source), &dense, err)) return err->status;
    if (sparse_of(dense, hu_source_name(source), o->mtx.keep_nonfinite, ret_csr, err) == HU_OK) info->entries = (*ret_csr)->nnz;
    hu_dense_free(dense);
    return err->status;
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

/* By the name, where that says .mtx: what has lost its banner is no list of edges. Else by the first bytes; of plain numbers, three parted by commas with a line of offsets from 0 behind are a pruned pattern, and others edges. */
static hu_status sniff(hu_source *source, spmm_format *ret_format, hu_error *err)
{
    const void *bytes;
    size_t size;
    *ret_format = SPMM_FORMAT_MTX;
    if (hu_ends_in(hu_source_name(source), ".mtx")) return HU_OK;
    if (hu_source_peek(source, 4096, &bytes, &size, err)) return err->status;
    const char *p = bytes, *end = p + size;
    while (p < end && isspace((unsigned char)*p)) p++;
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) *ret_format = SPMM_FORMAT_NPY;
    else if (p == end || *p == '%' || (size >= 4 && memcmp(bytes, "\xef\xbb\xbf%", 4) == 0)) *ret_format = SPMM_FORMAT_MTX;
    else *ret_format = SPMM_FORMAT_EDGES;
    if (*ret_format != SPMM_FORMAT_EDGES) return HU_OK;
    int numbers = 0;
    for (int64_t value; numbers < 4; numbers++) {
        bool overflow;
        while (p < end && (*p == ' ' || *p == ',' || *p == '\t' || *p == '\r')) p++;
        const char *after = p < end ? hu_number_parse_integer(p, end, &value, &overflow) : NULL;
        if (!after) break;
        p = after;
    }
    if (numbers == 3 && end - p > 2 && p[0] == '\n' && p[1] == '0' && (p[2] == ' ' || p[2] == '\n') && memchr(bytes, ',', (size_t)(p - (const char *)bytes)))
        *ret_format = SPMM_FORMAT_SMTX;
    return HU_OK;
}

hu_status spmm_read(hu_source *source, const spmm_read_options *options, hu_csr **ret_csr, spmm_read_info *ret_info, hu_error *err)
{
    spmm_format format = options->format;
    hu_mtx_info info;
    *ret_csr = NULL;
    *ret_info = (spmm_read_info){0};
    if (format == SPMM_FORMAT_AUTO && sniff(source, &format, err)) return err->status;
    switch (format) {
    case SPMM_FORMAT_SMTX: return read_smtx(source, options, ret_csr, ret_info, err);
    case SPMM_FORMAT_EDGES: return read_edges(source, options, ret_csr, ret_info, err);
    case SPMM_FORMAT_NPY: return read_npy(source, options, ret_csr, ret_info, err);
    default: break;
    }
    if (hu_mtx_read_csr(source, &options->mtx, ret_csr, &info, err)) return err->status;
    *ret_info = (spmm_read_info){info.entries, info.field == HU_MTX_PATTERN, info.symmetry != HU_MTX_GENERAL};
    return HU_OK;
}
