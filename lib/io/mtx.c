/* mtx.c: reading Matrix Market files, in parallel and exactly.
 *
 * The text is cut into blocks that begin at a line. Each thread takes a block, parses it into a buffer of its own and
 * marks it ready; blocks are retired in the order of the file, which is when the place of their entries in the matrix,
 * their line numbers, and which error was first are known. Of a plain file the threads read their blocks by themselves;
 * from a pipe or decompressor one thread at a time reads while the others parse. So the text is never in memory whole,
 * and neither the result nor the message depends on the number of threads.
 *
 * Sections: lines and tokens, banner and size, parsing a block, taking blocks, retiring blocks, the whole file, the
 * matrix.
 */
#include "config.h"
#include "io/mtx.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/progress.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { BLOCK = 1 << 19, PAD = 64, LONGEST_HEADER = 1 << 26, LONGEST_LINE = 1 << 26, REASON = 240 };

/* A piece of the text and what it held. */
struct block {
    int64_t number;
    bool in_use, ready;
    char *text;                        /* [text_capacity + PAD] */
    int64_t text_capacity, begin, end; /* the lines of the block are text[begin .. end) */
    int32_t *row, *col;
    double *val;
    int64_t capacity, count; /* entries made: with the mirrored ones */
    int64_t entries;         /* entries read: one a line */
    int64_t lines;           /* lines read */
    int64_t bad_line;        /* 1-based in the block; 0: none */
    char reason[REASON];
    bool any_lower, any_upper;
    int64_t inexact_line; /* the first integer that no double holds; 0: none */
    int64_t place;        /* of its first entry in the matrix */
    hu_error failure;     /* the text could not be had */
};

struct reader {
    hu_source *source;
    const char *name;
    const hu_mtx_options *options;
    hu_mtx_info info;
    int width;    /* doubles a value */
    bool mirror;  /* an entry off the diagonal stands for two */
    int64_t line; /* lines before the next block to retire */
    /* the text that is still to come */
    pthread_mutex_t source_lock;
    char *carry; /* of a stream: bytes read, not yet given to a block */
    int64_t carry_capacity, carry_size;
    bool source_ended;
    int fd; /* of a plain file; else -1 */
    int64_t file_begin, file_end;
    int64_t next_block;
    /* blocks under way */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct block *blocks;
    int block_count;
    int64_t next_retired;
    bool stop;
    hu_error error;
    /* what was read */
    int64_t capacity; /* entries that there can be */
    int64_t entries, count;
    bool any_lower, any_upper;
    int64_t inexact_line;
    hu_coo *coo;                  /* of a coordinate file */
    hu_dense *dense;              /* of an array file: column-major */
    int64_t array_row, array_col; /* where its next value goes */
};

/* ---- lines and tokens ------------------------------------------------------------------------------------------- */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline const char *skip_blanks(const char *p)
{
    while (is_blank(*p)) p++;
    return p;
}

static const char *line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

/* The token at p, for a message: cut where it is long, and with '?' for what does not print. */
static const char *quoted(const char *p, const char *end, char buffer[44])
{
    int n = 0;
    for (; p < end && *p != '\n' && !is_blank(*p) && n < 40; p++) buffer[n++] = *p > ' ' && *p < 0x7f ? *p : '?';
    if (n == 40) memset(buffer + 37, '.', 3);
    buffer[n] = '\0';
    return buffer;
}

/* ---- banner and size -------------------------------------------------------------------------------------------- */

static int find_word(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcasecmp(word, words[i]) == 0) return i;
    return -1;
}

/* %%MatrixMarket matrix FORMAT FIELD SYMMETRY */
static hu_status parse_banner(struct reader *r, const char *p, const char *end, hu_error *err)
{
    static const char *const formats[] = {"coordinate", "array"};
    static const char *const fields[] = {"real", "integer", "pattern", "complex", "double"};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    char word[5][44];
    int count = 0;
    for (p += 14; p < end; count++) {
        p = skip_blanks(p);
        if (p >= end) break;
        const char *next = p;
        while (next < end && !is_blank(*next)) next++;
        if (count < 5) quoted(p, next, word[count]);
        p = next;
    }
    if (count != 4)
        return hu_fail_line(
            err, r->name, r->line,
            "the banner has %d words after %%%%MatrixMarket; it needs four: matrix, format, field, symmetry", count);
    if (strcasecmp(word[0], "matrix") != 0)
        return hu_fail_line(err, r->name, r->line, "the object is '%s'; only 'matrix' can be read", word[0]);
    int format = find_word(word[1], formats, 2), field = find_word(word[2], fields, 5),
        symmetry = find_word(word[3], symmetries, 4);
    if (format < 0)
        return hu_fail_line(err, r->name, r->line, "the format '%s' is neither coordinate nor array", word[1]);
    if (field < 0)
        return hu_fail_line(err, r->name, r->line, "the field '%s' is none of real, integer, pattern, complex",
                            word[2]);
    if (symmetry < 0)
        return hu_fail_line(err, r->name, r->line,
                            "the symmetry '%s' is none of general, symmetric, skew-symmetric, hermitian", word[3]);
    r->info.format = (hu_mtx_format)format;
    r->info.field = field == 4 ? HU_MTX_REAL : (hu_mtx_field)field;
    r->info.symmetry = (hu_mtx_symmetry)symmetry;
    if (r->info.field == HU_MTX_PATTERN && r->info.format == HU_MTX_ARRAY)
        return hu_fail_line(err, r->name, r->line, "an array cannot be a pattern");
    if (r->info.field == HU_MTX_PATTERN && (r->info.symmetry == HU_MTX_SKEW || r->info.symmetry == HU_MTX_HERMITIAN))
        return hu_fail_line(err, r->name, r->line, "a pattern cannot be %s", word[3]);
    if (r->info.field != HU_MTX_COMPLEX && r->info.symmetry == HU_MTX_HERMITIAN)
        return hu_fail_line(err, r->name, r->line, "a hermitian matrix must be complex");
    return HU_OK;
}

/* The entries that a file of this kind stores; false where the number does not fit. */
static bool array_entries(hu_mtx_symmetry symmetry, int64_t n, int64_t cols, int64_t *ret_entries)
{
    if (symmetry == HU_MTX_GENERAL) return hu_mul_size(n, cols, ret_entries);
    *ret_entries = symmetry == HU_MTX_SKEW ? n * (n - 1) / 2 : n * (n + 1) / 2; /* n < 2^31 */
    return true;
}

static hu_status parse_size(struct reader *r, const char *p, const char *end, hu_error *err)
{
    static const char *const what[] = {"rows", "columns", "entries"};
    hu_mtx_info *info = &r->info;
    int64_t size[3] = {0};
    int wanted = info->format == HU_MTX_ARRAY ? 2 : 3, count = 0;
    char token[44];
    for (p = skip_blanks(p); p < end; p = skip_blanks(p), count++) {
        if (count == wanted) break;
        bool overflow;
        const char *next = hu_number_parse_integer(p, end, &size[count], &overflow);
        if (!next || (next < end && !is_blank(*next)))
            return hu_fail_line(err, r->name, r->line, "the number of %s is '%s', not a whole number", what[count],
                                quoted(p, end, token));
        if (size[count] < 0) return hu_fail_line(err, r->name, r->line, "the number of %s is negative", what[count]);
        if (overflow || (count < 2 && size[count] > HU_MAX_DIMENSION))
            return hu_fail_line(err, r->name, r->line, "%s %s are more than %lld", quoted(p, end, token), what[count],
                                count < 2 ? (long long)HU_MAX_DIMENSION : (long long)INT64_MAX);
        p = next;
    }
    if (count < wanted || p < end)
        return hu_fail_line(err, r->name, r->line, "the size line needs %s",
                            wanted == 2 ? "two numbers: rows columns" : "three numbers: rows columns entries");
    info->rows = size[0];
    info->cols = size[1];
    info->entries = size[2];
    if (info->symmetry != HU_MTX_GENERAL && info->rows != info->cols)
        return hu_fail_line(err, r->name, r->line,
                            "the matrix is declared symmetric, skew-symmetric or hermitian, but is not square");
    if (info->format == HU_MTX_ARRAY && !array_entries(info->symmetry, info->rows, info->cols, &info->entries))
        return hu_fail_line(err, r->name, r->line, "the array is too large");
    r->width = info->field == HU_MTX_COMPLEX ? 2 : 1;
    r->mirror = info->symmetry != HU_MTX_GENERAL && r->options->half == HU_MTX_BOTH;
    return HU_OK;
}

/* One line of the header; *ret_done when it was the size line. */
static hu_status parse_header_line(struct reader *r, const char *p, const char *end, bool *ret_done, hu_error *err)
{
    static const char banner[] = "%%MatrixMarket";
    *ret_done = false;
    if (r->line++ == 0) {
        if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3; /* the mark that some editors put first */
        if (end - p >= 14 && strncasecmp(p, banner, 14) == 0) return parse_banner(r, p, end, err);
        if (!r->options->lenient)
            return hu_fail_line(err, r->name, r->line, "not a Matrix Market file: it does not begin with %s (a reader told to be lenient takes it for a real general matrix)", banner);
        hu_warn("%s: no %s line; taken for a real general matrix in coordinate format", r->name, banner);
    }
    p = skip_blanks(p);
    if (p >= end || *p == '%') return HU_OK;
    *ret_done = true;
    return parse_size(r, p, end, err);
}

/* Reads up to and with the size line; what was read beyond it is left in r->carry. */
static hu_status read_header(struct reader *r, hu_error *err)
{
    int64_t used = 0;
    bool done = false;
    void *text = NULL;
    while (!done) {
        if (hu_grow(&text, &r->carry_capacity, r->carry_size + (1 << 16) + PAD, 1, "the header", err)) goto cleanup;
        r->carry = text;
        size_t n;
        if (hu_source_read(r->source, r->carry + r->carry_size, 1 << 16, &n, err)) goto cleanup;
        r->carry_size += (int64_t)n;
        r->source_ended = n < 1 << 16;
        const char *end = r->carry + r->carry_size;
        r->carry[r->carry_size] = '\n';
        while (!done && used < r->carry_size) {
            const char *p = r->carry + used, *stop = line_end(p, end);
            if (stop == end && !r->source_ended) break;
            if (parse_header_line(r, p, stop, &done, err)) goto cleanup;
            used = stop + (stop < end) - r->carry;
        }
        if (!done && r->source_ended) {
            hu_fail_line(err, r->name, r->line, r->line ? "the file ends before its size line" : "the file is empty");
            goto cleanup;
        }
        if (!done && r->carry_size > LONGEST_HEADER) {
            hu_fail_line(err, r->name, r->line, "no size line in the first %d bytes", LONGEST_HEADER);
            goto cleanup;
        }
    }
    r->fd = -1;
    if (hu_source_is_plain(r->source, &r->fd, &r->file_end)) {
        r->file_begin = hu_source_offset(r->source) - (r->carry_size - used);
        r->carry_size = 0;
        hu_source_seek(r->source, r->file_end);
    } else {
        r->carry_size -= used;
        memmove(r->carry, r->carry + used, (size_t)r->carry_size);
    }
    return HU_OK;
cleanup:
    r->carry = text;
    return err->status;
}

/* ---- parsing a block -------------------------------------------------------------------------------------------- */

static void HU_PRINTF(2, 3) refuse(struct block *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(b->reason, sizeof b->reason, format, args);
    va_end(args);
    b->bad_line = b->lines;
}

/* What is wrong with the index at p, or its value where it has a sign or very many digits. */
static const char *parse_odd_index(struct block *b, const char *p, const char *end, const char *what, int64_t most,
                                   int64_t *ret_value)
{
    bool overflow = false;
    char token[44];
    const char *next = hu_number_parse_integer(p, end, ret_value, &overflow);
    if (*p == '\n' || p >= end) refuse(b, "the line ends before its %s", what);
    else if (!next || (next < end && !is_blank(*next) && *next != '\n'))
        refuse(b, "the %s '%s' is not a whole number", what, quoted(p, end, token));
    else if (overflow) refuse(b, "%s %s is outside 1..%lld", what, quoted(p, end, token), (long long)most);
    else return next;
    return NULL;
}

static inline const char *take_index(struct block *b, const char *p, const char *end, const char *what, int64_t most,
                                     int64_t *ret_value)
{
    uint32_t value = 0;
    int n = hu_number_digits(p, &value); /* the text is padded */
    const char *next = p + n;
    *ret_value = value;
    if (n == 8)
        for (; (unsigned char)(*next - '0') < 10 && n < 18; n++) *ret_value = *ret_value * 10 + (*next++ - '0');
    if (__builtin_expect(n == 0 || !(is_blank(*next) || *next == '\n'), 0)) {
        next = parse_odd_index(b, p, end, what, most, ret_value);
        if (!next) return NULL;
    }
    if (__builtin_expect((uint64_t)(*ret_value - 1) >= (uint64_t)most, 0)) {
        refuse(b, "%s %lld is outside 1..%lld", what, (long long)*ret_value, (long long)most);
        return NULL;
    }
    return next;
}

/* A value of an integer file: any 64-bit integer; what no double holds is rounded and remembered. */
static const char *take_integer(struct block *b, const char *p, const char *end, double *ret_value)
{
    int64_t value;
    bool overflow;
    char token[44];
    const char *next = hu_number_parse_integer(p, end, &value, &overflow);
    if (!next || (next < end && !is_blank(*next) && *next != '\n')) {
        refuse(b, "'%s' is not an integer", quoted(p, end, token));
        return NULL;
    }
    if (overflow) {
        refuse(b, "the integer %s does not fit 64 bits", quoted(p, end, token));
        return NULL;
    }
    *ret_value = (double)value;
    if ((value > (int64_t)1 << 53 || value < -((int64_t)1 << 53)) && !b->inexact_line && (__int128)*ret_value != value)
        b->inexact_line = b->lines;
    return next;
}

static inline const char *take_value(struct block *b, const char *p, const char *end, hu_mtx_field field,
                                     bool keep_nonfinite, double *ret_value)
{
    char token[44];
    if (__builtin_expect(*p == '\n' || p >= end, 0)) {
        refuse(b, "the line ends before its value");
        return NULL;
    }
    if (field == HU_MTX_INTEGER) return take_integer(b, p, end, ret_value);
    const char *next = hu_number_parse(p, end, ret_value);
    if (__builtin_expect(!next || (next < end && !is_blank(*next) && *next != '\n'), 0)) {
        refuse(b, "'%s' is not a number", quoted(p, end, token));
        return NULL;
    }
    if (__builtin_expect(!isfinite(*ret_value), 0) && !keep_nonfinite) {
        refuse(b, "the value '%s' is not finite", quoted(p, end, token));
        return NULL;
    }
    return next;
}

/* Stores an entry of a file with a symmetry: the wanted half, or both. Returns false where the symmetry forbids it. */
static bool store_mirrored(struct block *b, const struct reader *r, int32_t row, int32_t col, double re, double im)
{
    hu_mtx_symmetry symmetry = r->info.symmetry;
    int w = r->width;
    if (row == col && symmetry == HU_MTX_SKEW && (re != 0 || im != 0)) {
        refuse(b, "entry (%d,%d): the diagonal of a skew-symmetric matrix is zero", row + 1, col + 1);
        return false;
    }
    if (row == col && symmetry == HU_MTX_HERMITIAN && im != 0) {
        refuse(b, "entry (%d,%d): the diagonal of a hermitian matrix is real", row + 1, col + 1);
        return false;
    }
    bool upper = row < col;
    b->any_upper |= upper;
    b->any_lower |= row > col;
    double mirrored_re = symmetry == HU_MTX_SKEW ? -re : re, mirrored_im = symmetry == HU_MTX_SYMMETRIC ? im : -im;
    hu_mtx_half half = r->options->half;
    if (half == HU_MTX_BOTH || row == col || upper == (half == HU_MTX_UPPER)) {
        b->row[b->count] = row;
        b->col[b->count] = col;
        b->val[b->count * w] = re;
        if (w == 2) b->val[b->count * w + 1] = im;
        b->count++;
    }
    if (row != col && (half == HU_MTX_BOTH || upper != (half == HU_MTX_UPPER))) {
        b->row[b->count] = col;
        b->col[b->count] = row;
        b->val[b->count * w] = mirrored_re;
        if (w == 2) b->val[b->count * w + 1] = mirrored_im;
        b->count++;
    }
    return true;
}

/* One entry line from its first token on; NULL where it was refused. Inlined into a loop for each kind of file. */
static inline __attribute__((always_inline)) const char *parse_entry(struct block *b, const struct reader *r,
                                                                     const char *p, const char *end,
                                                                     hu_mtx_format format, hu_mtx_field field,
                                                                     bool general)
{
    int64_t row = 0, col = 0;
    double re = r->options->pattern_value, im = 0;
    bool keep_nonfinite = r->options->keep_nonfinite;
    if (format == HU_MTX_COORDINATE) {
        p = take_index(b, p, end, "row", r->info.rows, &row);
        if (!p) return NULL;
        p = take_index(b, skip_blanks(p), end, "column", r->info.cols, &col);
        if (!p) return NULL;
        p = skip_blanks(p);
    }
    if (field != HU_MTX_PATTERN) {
        p = take_value(b, p, end, field, keep_nonfinite, &re);
        if (!p) return NULL;
    }
    if (field == HU_MTX_COMPLEX) {
        p = take_value(b, skip_blanks(p), end, field, keep_nonfinite, &im);
        if (!p) return NULL;
    }
    p = skip_blanks(p);
    if (__builtin_expect(*p != '\n', 0)) {
        char token[44];
        refuse(b, "more than one entry on a line, or something behind it: '%s'", quoted(p, end, token));
        return NULL;
    }
    int64_t k = b->count;
    if (format == HU_MTX_COORDINATE && !general) {
        if (!store_mirrored(b, r, (int32_t)(row - 1), (int32_t)(col - 1), re, im)) return NULL;
    } else {
        if (format == HU_MTX_COORDINATE) {
            b->row[k] = (int32_t)(row - 1);
            b->col[k] = (int32_t)(col - 1);
        }
        if (field == HU_MTX_COMPLEX) {
            b->val[2 * k] = re;
            b->val[2 * k + 1] = im;
        } else {
            b->val[k] = re;
        }
        b->count++;
    }
    b->entries++;
    return p;
}

static inline __attribute__((always_inline)) void parse_lines(struct block *b, const struct reader *r,
                                                              hu_mtx_format format, hu_mtx_field field, bool general)
{
    const char *p = b->text + b->begin, *end = b->text + b->end;
    while (p < end) {
        b->lines++;
        p = skip_blanks(p);
        if (__builtin_expect(*p == '\n', 0)) {
            p++;
        } else if (__builtin_expect(*p == '%', 0)) {
            p = line_end(p, end) + 1;
        } else {
            p = parse_entry(b, r, p, end, format, field, general);
            if (!p) return;
            p++;
        }
    }
}

static void parse_block(struct block *b, const struct reader *r)
{
    b->entries = b->count = b->lines = b->bad_line = b->inexact_line = 0;
    b->any_lower = b->any_upper = false;
    memset(b->text + b->end, '\n', PAD);
    hu_mtx_field field = r->info.field;
    bool general = r->info.symmetry == HU_MTX_GENERAL;
    if (r->info.format == HU_MTX_ARRAY) {
        if (field == HU_MTX_REAL) parse_lines(b, r, HU_MTX_ARRAY, HU_MTX_REAL, true);
        else if (field == HU_MTX_INTEGER) parse_lines(b, r, HU_MTX_ARRAY, HU_MTX_INTEGER, true);
        else parse_lines(b, r, HU_MTX_ARRAY, HU_MTX_COMPLEX, true);
    } else if (general && field == HU_MTX_REAL) {
        parse_lines(b, r, HU_MTX_COORDINATE, HU_MTX_REAL, true);
    } else if (field == HU_MTX_REAL) {
        parse_lines(b, r, HU_MTX_COORDINATE, HU_MTX_REAL, false);
    } else if (field == HU_MTX_INTEGER) {
        parse_lines(b, r, HU_MTX_COORDINATE, HU_MTX_INTEGER, general);
    } else if (field == HU_MTX_PATTERN) {
        parse_lines(b, r, HU_MTX_COORDINATE, HU_MTX_PATTERN, general);
    } else {
        parse_lines(b, r, HU_MTX_COORDINATE, HU_MTX_COMPLEX, general);
    }
}

/* ---- taking blocks ---------------------------------------------------------------------------------------------- */

static hu_status grow_text(struct block *b, int64_t need, hu_error *err)
{
    int64_t capacity = b->text ? b->text_capacity + PAD : 0;
    void *text = b->text;
    if (hu_grow(&text, &capacity, need + PAD, 1, "a block of text", err)) return err->status;
    b->text = text;
    b->text_capacity = capacity - PAD;
    return HU_OK;
}

/* Bytes of the shortest entry: "1", "1 1", "1 1 1" or "1 1 1 1", with its newline. */
static int shortest_entry(const struct reader *r)
{
    int values = r->info.field == HU_MTX_PATTERN ? 0 : r->width;
    return 2 * (values + (r->info.format == HU_MTX_ARRAY ? 0 : 2));
}

/* Room for all the entries that the text of the block can hold. */
static hu_status grow_entries(struct block *b, const struct reader *r, hu_error *err)
{
    bool array = r->info.format == HU_MTX_ARRAY;
    int64_t need = ((b->end - b->begin) / shortest_entry(r) + 2) * (r->mirror ? 2 : 1);
    if (need <= b->capacity) return HU_OK;
    hu_free(b->row);
    hu_free(b->col);
    hu_free(b->val);
    b->row = b->col = NULL;
    b->val = NULL;
    b->capacity = 0;
    void *block;
    if (!array) {
        if (hu_alloc(need, sizeof *b->row, "a block of rows", &block, err)) return err->status;
        b->row = block;
        if (hu_alloc(need, sizeof *b->col, "a block of columns", &block, err)) return err->status;
        b->col = block;
    }
    if (hu_alloc(need, (size_t)r->width * sizeof(double), "a block of values", &block, err)) return err->status;
    b->val = block;
    b->capacity = need;
    return HU_OK;
}

static hu_status read_at(const struct reader *r, char *buffer, int64_t offset, int64_t size, hu_error *err)
{
    while (size > 0) {
        ssize_t n = pread(r->fd, buffer, (size_t)size, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hu_fail_errno(err, errno, r->name, "read failed");
        if (n == 0) return hu_fail_line(err, r->name, 0, "the file became shorter while it was read");
        buffer += n;
        offset += n;
        size -= n;
    }
    return HU_OK;
}

/* Of a plain file: the lines that begin in block `number`. One byte before it is read too, to see whether a line begins
 * just there; the last line is followed beyond the end of the block. */
static hu_status take_plain(struct reader *r, struct block *b, hu_error *err)
{
    int64_t begin = r->file_begin + b->number * BLOCK, end = begin + BLOCK < r->file_end ? begin + BLOCK : r->file_end;
    int64_t before = b->number > 0, size = end - begin + before;
    if (grow_text(b, size, err) || read_at(r, b->text, begin - before, size, err)) return err->status;
    b->begin = b->end = size;
    if (before) {
        const char *newline = memchr(b->text, '\n', (size_t)size);
        if (!newline || newline + 1 == b->text + size) return HU_OK; /* no line begins here */
        b->begin = newline + 1 - b->text;
    } else {
        b->begin = 0;
    }
    while (b->text[b->end - 1] != '\n' && end < r->file_end) {
        int64_t more = r->file_end - end < 4096 ? r->file_end - end : 4096;
        if (b->end - b->begin > LONGEST_LINE)
            return hu_fail_line(err, r->name, 0, "a line is longer than %d bytes", LONGEST_LINE);
        if (grow_text(b, b->end + more, err) || read_at(r, b->text + b->end, end, more, err)) return err->status;
        const char *newline = memchr(b->text + b->end, '\n', (size_t)more);
        end += more;
        b->end = newline ? newline + 1 - b->text : b->end + more;
    }
    return HU_OK;
}

/* Of a stream: the next lines; what is behind the last whole line is carried over. Under source_lock. */
static hu_status take_stream(struct reader *r, struct block *b, hu_error *err)
{
    if (grow_text(b, r->carry_size + BLOCK, err)) return err->status;
    memcpy(b->text, r->carry, (size_t)r->carry_size);
    b->begin = 0;
    b->end = r->carry_size;
    r->carry_size = 0;
    char *newline = NULL;
    while (!newline && !r->source_ended) {
        size_t n;
        if (b->end > LONGEST_LINE) return hu_fail_line(err, r->name, 0, "a line is longer than %d bytes", LONGEST_LINE);
        if (grow_text(b, b->end + BLOCK, err) || hu_source_read(r->source, b->text + b->end, BLOCK, &n, err))
            return err->status;
        newline = n ? memrchr(b->text + b->end, '\n', n) : NULL;
        b->end += (int64_t)n;
        r->source_ended = n < BLOCK;
    }
    if (r->source_ended) return HU_OK;
    r->carry_size = b->text + b->end - (newline + 1);
    void *carry = r->carry;
    if (hu_grow(&carry, &r->carry_capacity, r->carry_size, 1, "a line", err)) return err->status;
    r->carry = carry;
    memcpy(r->carry, newline + 1, (size_t)r->carry_size);
    b->end -= r->carry_size;
    return HU_OK;
}

/* Gives the block its number and text; *ret_any is false where the file has no more. A failure is kept as that of the
 * block. */
static void take_block(struct reader *r, struct block *b, bool *ret_any)
{
    hu_error *err = &b->failure;
    pthread_mutex_lock(&r->source_lock);
    b->number = r->next_block;
    if (r->fd >= 0) *ret_any = b->number * BLOCK < r->file_end - r->file_begin;
    else *ret_any = r->carry_size > 0 || !r->source_ended;
    if (*ret_any) r->next_block++;
    if (*ret_any && r->fd < 0) take_stream(r, b, err);
    pthread_mutex_unlock(&r->source_lock);
    if (*ret_any && r->fd >= 0) take_plain(r, b, err);
}

/* ---- retiring blocks -------------------------------------------------------------------------------------------- */

/* The line in the block that holds its entry number `wanted`, from 0. */
static int64_t line_of_entry(const struct block *b, int64_t wanted)
{
    const char *p = b->text + b->begin, *end = b->text + b->end;
    int64_t line = 0;
    for (; p < end; p = line_end(p, end) + 1) {
        line++;
        const char *first = skip_blanks(p);
        if (*first != '\n' && *first != '%' && wanted-- == 0) break;
    }
    return line;
}

static hu_status retire_array(struct reader *r, const struct block *b, hu_error *err)
{
    double *data = r->dense->data;
    int64_t n = r->info.rows, w = r->width;
    hu_mtx_symmetry symmetry = r->info.symmetry;
    if (symmetry == HU_MTX_GENERAL) {
        memcpy(data + r->entries * w, b->val, (size_t)(b->entries * w) * sizeof(double));
        return HU_OK;
    }
    hu_mtx_half half = r->options->half;
    for (int64_t k = 0; k < b->entries; k++) {
        int64_t i = r->array_row, j = r->array_col;
        const double *v = b->val + k * w;
        if (i == j && symmetry == HU_MTX_HERMITIAN && v[1] != 0)
            return hu_fail_line(err, r->name, r->line + line_of_entry(b, k),
                                "entry (%lld,%lld): the diagonal of a hermitian matrix is real", (long long)i + 1,
                                (long long)j + 1);
        double *lower = data + (i + j * n) * w, *upper = data + (j + i * n) * w;
        if (i == j || half != HU_MTX_UPPER) memcpy(lower, v, (size_t)w * sizeof(double));
        if (i != j && half != HU_MTX_LOWER) {
            upper[0] = symmetry == HU_MTX_SKEW ? -v[0] : v[0];
            if (w == 2) upper[1] = symmetry == HU_MTX_SYMMETRIC ? v[1] : -v[1];
        }
        if (++r->array_row == n) {
            r->array_col++;
            r->array_row = r->array_col + (symmetry == HU_MTX_SKEW);
        }
    }
    return HU_OK;
}

/* Cuts the block before its entry number `wanted`, from 0. */
static void cut_block(struct block *b, const struct reader *r, int64_t wanted)
{
    int64_t line = line_of_entry(b, wanted);
    const char *p = b->text + b->begin, *end = b->text + b->end;
    while (--line > 0) p = line_end(p, end) + 1;
    b->end = p - b->text;
    parse_block(b, r);
}

/* Adds a block, the next of the file, to the whole: its place, its line numbers, its error. Under r->lock. */
static hu_status retire(struct reader *r, struct block *b, hu_error *err)
{
    if (b->failure.status) {
        *err = b->failure;
        return err->status;
    }
    int64_t room = r->info.entries - r->entries;
    if (b->entries > room) {
        int64_t line = r->line + line_of_entry(b, room), wanted = r->info.entries;
        if (!r->options->lenient)
            return hu_fail_line(err, r->name, line, "more entries than the %lld that the size line says",
                                (long long)wanted);
        hu_warn("%s:%lld: more entries than the %lld that the size line says; the rest is passed over", r->name,
                (long long)line, (long long)wanted);
        cut_block(b, r, room);
        r->stop = true;
    }
    if (b->bad_line) return hu_fail_line(err, r->name, r->line + b->bad_line, "%s", b->reason);
    if (b->inexact_line && !r->inexact_line) r->inexact_line = r->line + b->inexact_line;
    if (r->dense && retire_array(r, b, err)) return err->status;
    b->place = r->count;
    r->count += b->count;
    r->entries += b->entries;
    r->line += b->lines;
    r->any_lower |= b->any_lower;
    r->any_upper |= b->any_upper;
    return HU_OK;
}

/* Retires what is ready, in the order of the file. Returns how many blocks are now the caller's to copy. Under r->lock.
 */
static int retire_ready(struct reader *r, struct block **ret_placed)
{
    int placed = 0;
    for (int i = 0; i < r->block_count && !r->stop;) {
        struct block *b = &r->blocks[i];
        if (!b->ready || b->number != r->next_retired) {
            i++;
            continue;
        }
        b->ready = false;
        if (retire(r, b, &r->error)) r->stop = true;
        else ret_placed[placed++] = b;
        r->next_retired++;
        i = 0;
    }
    return placed;
}

/* Copies the entries of a block to their place. */
static void copy_block(struct reader *r, const struct block *b)
{
    if (!r->coo) return;
    size_t n = (size_t)b->count, w = (size_t)r->width;
    memcpy(r->coo->row + b->place, b->row, n * sizeof *b->row);
    memcpy(r->coo->col + b->place, b->col, n * sizeof *b->col);
    memcpy(r->coo->val + b->place * r->width, b->val, n * w * sizeof *b->val);
}

static struct block *free_block(struct reader *r)
{
    for (int i = 0; i < r->block_count; i++)
        if (!r->blocks[i].in_use) return &r->blocks[i];
    return NULL;
}

/* ---- the whole file --------------------------------------------------------------------------------------------- */

/* What each thread does: take, parse, retire, copy. */
static void work(struct reader *r, struct block **placed)
{
    for (bool any = true; any;) {
        struct block *b = NULL;
        pthread_mutex_lock(&r->lock);
        while (!r->stop && !(b = free_block(r))) pthread_cond_wait(&r->changed, &r->lock);
        if (r->stop) any = false;
        else b->in_use = true;
        pthread_mutex_unlock(&r->lock);
        if (!any) break;
        take_block(r, b, &any);
        if (any && !b->failure.status && !grow_entries(b, r, &b->failure)) parse_block(b, r);
        pthread_mutex_lock(&r->lock);
        b->ready = any;
        b->in_use = any;
        int count = retire_ready(r, placed);
        int64_t done = r->next_retired * BLOCK;
        pthread_mutex_unlock(&r->lock);
        for (int i = 0; i < count; i++) copy_block(r, placed[i]);
        pthread_mutex_lock(&r->lock);
        for (int i = 0; i < count; i++) placed[i]->in_use = false;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        if (omp_get_thread_num() == 0) hu_progress("reading", done, r->fd >= 0 ? r->file_end - r->file_begin : 0);
    }
}

static void release_blocks(struct reader *r)
{
    for (int i = 0; r->blocks && i < r->block_count; i++) {
        hu_free(r->blocks[i].text);
        hu_free(r->blocks[i].row);
        hu_free(r->blocks[i].col);
        hu_free(r->blocks[i].val);
    }
    hu_free(r->blocks);
    hu_free(r->carry);
    r->blocks = NULL;
    r->carry = NULL;
}

/* Reads all blocks by as many threads as the text is worth. */
static hu_status read_entries(struct reader *r, hu_error *err)
{
    int64_t pieces = r->fd >= 0 ? (r->file_end - r->file_begin + BLOCK - 1) / BLOCK : r->source_ended ? 1 : INT32_MAX;
    int threads = pieces < hu_threads() ? (int)(pieces > 0 ? pieces : 1) : hu_threads();
    void *block;
    r->block_count = threads == 1 ? 1 : 2 * threads + 1;
    if (hu_alloc_zero(r->block_count, sizeof *r->blocks, "blocks of text", &block, err)) return err->status;
    r->blocks = block;
    if (hu_alloc((int64_t)threads * r->block_count, sizeof(struct block *), "blocks of text", &block, err))
        return err->status;
    struct block **placed = block;
#pragma omp parallel num_threads(threads)
    work(r, placed + (int64_t)omp_get_thread_num() * r->block_count);
    hu_free(placed);
    hu_progress_end();
    if (r->error.status) {
        *err = r->error;
        return err->status;
    }
    if (r->inexact_line)
        hu_warn("%s:%lld: an integer beyond 2^53 is rounded to the nearest double", r->name,
                (long long)r->inexact_line);
    if (r->entries == r->info.entries) return HU_OK;
    if (!r->options->lenient)
        return hu_fail_line(err, r->name, r->line, "the file ends after %lld of %lld entries", (long long)r->entries,
                            (long long)r->info.entries);
    hu_warn("%s:%lld: the file ends after %lld of %lld entries", r->name, (long long)r->line, (long long)r->entries,
            (long long)r->info.entries);
    return HU_OK;
}

/* Room that the matrix takes at the least; what cannot fit this machine is refused before a byte is allocated. */
static hu_status check_memory(const struct reader *r, hu_error *err)
{
    const hu_mtx_info *info = &r->info;
    double value = r->width * 8.0, bytes;
    if (info->format == HU_MTX_ARRAY) bytes = (double)info->rows * (double)info->cols * value;
    else bytes = 8.0 * (double)info->rows + (4.0 + value) * (double)r->capacity;
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (bytes <= machine) return HU_OK;
    return hu_fail(err, HU_SYSTEM, "%s: %s %lld x %lld with %lld entries needs %.1f GB; this machine has %.1f GB",
                   r->name, info->format == HU_MTX_ARRAY ? "an array of" : "a matrix of", (long long)info->rows,
                   (long long)info->cols, (long long)info->entries, bytes * 1e-9, machine * 1e-9);
}

/* Room for the entries: what the size line says, but not more than a plain file has bytes for. */
static hu_status make_room(struct reader *r, hu_error *err)
{
    const hu_mtx_info *info = &r->info;
    r->capacity = info->entries;
    if (r->fd >= 0) {
        int64_t most = (r->file_end - r->file_begin + 1) / shortest_entry(r);
        if (r->capacity > most) r->capacity = most;
    }
    if (check_memory(r, err)) return err->status;
    if (info->format == HU_MTX_COORDINATE)
        return hu_coo_new(info->rows, info->cols, r->capacity * (r->mirror ? 2 : 1), r->width == 2, &r->coo, err);
    if (r->capacity < info->entries && !r->options->lenient)
        return hu_fail_line(err, r->name, r->line,
                            "the size line means %lld values, but the file ends after %lld more bytes",
                            (long long)info->entries, (long long)(r->file_end - r->file_begin));
    if (hu_dense_new(info->rows, info->cols, r->width == 2 ? HU_C128 : HU_F64, HU_COL_MAJOR, &r->dense, err))
        return err->status;
    if (info->symmetry != HU_MTX_GENERAL || r->options->lenient)
        memset(r->dense->data, 0, (size_t)(info->rows * info->cols * r->width) * sizeof(double));
    r->array_row = info->symmetry == HU_MTX_SKEW;
    return HU_OK;
}

/* Reads the source into ret->coo or ret->dense, the caller's to free. */
static hu_status read_all(hu_source *source, const hu_mtx_options *options, struct reader *r, hu_error *err)
{
    *r = (struct reader){.source = source, .name = hu_source_name(source), .options = options, .fd = -1};
    pthread_mutex_init(&r->source_lock, NULL);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    if (!read_header(r, err) && !make_room(r, err)) read_entries(r, err);
    release_blocks(r);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->source_lock);
    if (!err->status) return HU_OK;
    hu_coo_free(r->coo);
    hu_dense_free(r->dense);
    r->coo = NULL;
    r->dense = NULL;
    return err->status;
}

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

/* The entries of an array that are not zero, row by row. */
static hu_status csr_from_dense(const hu_dense *a, hu_csr **ret_csr, hu_error *err)
{
    const double *data = a->data;
    const int w = a->scalar == HU_C128 ? 2 : 1;
    int64_t nnz = 0, n = a->rows * a->cols;
    for (int64_t k = 0; k < n; k++) nnz += data[k * w] != 0 || (w == 2 && data[k * w + 1] != 0);
    if (hu_csr_new(a->rows, a->cols, nnz, w == 2, ret_csr, err)) return err->status;
    hu_csr *csr = *ret_csr;
    int64_t p = 0;
    csr->row_ptr[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t j = 0; j < a->cols; j++) {
            const double *v = data + (i + j * a->ld) * w;
            if (v[0] == 0 && (w == 1 || v[1] == 0)) continue;
            csr->col[p] = (int32_t)j;
            memcpy(csr->val + p++ * w, v, (size_t)w * sizeof *v);
        }
        csr->row_ptr[i + 1] = p;
    }
    return HU_OK;
}

static hu_status csr_from_reader(struct reader *r, hu_csr **ret_csr, hu_error *err)
{
    if (r->dense) return csr_from_dense(r->dense, ret_csr, err);
    r->coo->nnz = r->count;
    /* Entries of a symmetric matrix may stand in either triangle, but not the same entry in both: then nobody could
     * tell whether the sum or one of the two is meant. */
    bool both = r->any_lower && r->any_upper;
    hu_status status = hu_csr_from_coo(&r->coo, both ? HU_DUP_ERROR : r->options->duplicates, r->name, ret_csr, err);
    if (status == HU_INPUT && both) {
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used,
                 ", or in both triangles, which a symmetric file must not do");
    }
    return status;
}

hu_status hu_mtx_read_csr(hu_source *source, const hu_mtx_options *options, hu_csr **ret_csr, hu_mtx_info *opt_info,
                          hu_error *err)
{
    struct reader r;
    *ret_csr = NULL;
    if (read_all(source, options, &r, err)) return err->status;
    csr_from_reader(&r, ret_csr, err);
    hu_coo_free(r.coo);
    hu_dense_free(r.dense);
    if (opt_info) *opt_info = r.info;
    return err->status;
}

hu_status hu_mtx_read_dense(hu_source *source, const hu_mtx_options *options, hu_dense **ret_dense,
                            hu_mtx_info *opt_info, hu_error *err)
{
    struct reader r;
    hu_csr *csr = NULL;
    *ret_dense = NULL;
    if (read_all(source, options, &r, err)) return err->status;
    if (opt_info) *opt_info = r.info;
    if (r.dense) {
        *ret_dense = r.dense;
        return HU_OK;
    }
    r.info.format = HU_MTX_ARRAY; /* the size to check is now that of the array */
    if (check_memory(&r, err) || csr_from_reader(&r, &csr, err)) goto cleanup;
    if (hu_dense_new(csr->rows, csr->cols, csr->is_complex ? HU_C128 : HU_F64, HU_COL_MAJOR, ret_dense, err))
        goto cleanup;
    double *data = (*ret_dense)->data;
    size_t w = csr->is_complex ? 2 : 1;
    memset(data, 0, (size_t)csr->rows * (size_t)csr->cols * w * sizeof *data);
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t p = csr->row_ptr[i]; p < csr->row_ptr[i + 1]; p++)
            memcpy(data + (size_t)(i + csr->col[p] * csr->rows) * w, csr->val + (size_t)p * w, w * sizeof *data);
cleanup:
    hu_coo_free(r.coo);
    hu_csr_free(csr);
    return err->status;
}
