/* csv_quick.c: the quick way through rows of plain cells.
 *
 * A kernel lists where fields end, some kilobytes at a time, so that a cell's parse does not wait for the one before; short numbers are parsed eight digits at
 * once without a branch on their length. What is not plain is left to csv.c, which knows all cases.
 *
 * Sections: cells, rows byte by byte, rows by marks.
 */
#include "config.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/csv_kernel.h"
#include "io/csv_reader.h"

#include <string.h>

/* ---- cells -------------------------------------------------------------------------------------------------------- */

static const char *plain_truth(const char *p, const char *end, double *ret_value)
{
    static const char words[2][6] = {"false", "true"};
    int yes = (*p | 0x20) == 't';
    const char *word = words[yes];
    while (*word && p < end && (*p | 0x20) == *word) {
        p++;
        word++;
    }
    *ret_value = yes;
    return *word ? NULL : p;
}

static const char *plain_text(const hu_csv *r, const char *p, const char *end)
{
    if (p < end && *p == '"') {
        const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
        return close && !memchr(p, '\n', (size_t)(close - p)) && !memchr(p, '\0', (size_t)(close - p)) ? close + 1 : NULL;
    }
    while (p < end && !r->stop[(unsigned char)*p]) p++;
    return p;
}

/* A number of up to 7 digits, or 7 before the point and 7 behind it, as most cells are: without a branch on their number. NULL where p has no such number; what
 * stands behind it may still make it another one. The digits are a whole number below 2^53 and the power of ten is exact, so that the quotient is rounded once. */
static inline const char *short_number(const char *p, double *ret_value)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    static const uint32_t whole_tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    bool negative = *p == '-';
    uint32_t whole, rest = 0;
    p += negative;
    int n = hu_number_digits(p, &whole);
    if (n == 0 || n == 8) return NULL;
    p += n;
    double value = whole;
    if (*p == '.') {
        n = hu_number_digits(++p, &rest);
        if (n == 8) return NULL;
        if (n > 0) value = (double)((uint64_t)whole * whole_tens[n] + rest) / tens[n];
        p += n;
    }
    *ret_value = negative ? -value : value;
    return p;
}

/* Up to eight digits that end at `end`, of which n are the cell: the bytes before it are made zeros. False where there is any other sign. At least 8 bytes must
 * stand before end. */
static inline bool short_whole(const char *end, int64_t n, double *ret_value)
{
    uint64_t v;
    memcpy(&v, end - 8, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    v = (v ^ 0x3030303030303030u) >> (64 - 8 * n) << (64 - 8 * n);
    if (((v + 0x7676767676767676u) | v) & 0x8080808080808080u) return false;
    v = v * 10 + (v >> 8); /* as in hu_number_digits() */
    v = (v & 0x000000ff000000ffu) * 0x000f424000000064u + (v >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u;
    *ret_value = (double)(uint32_t)(v >> 32);
    return true;
}

/* ---- rows byte by byte --------------------------------------------------------------------------------------------- */

/* Byte by byte. */
static __attribute__((noinline)) bool take_slowly(hu_csv *r, const bool *skip, double *const *column, int64_t at, double *row, uint8_t *opt_kind)
{
    const char *p = r->p, *end = r->end;
    for (int64_t j = 0; j < r->columns; j++) {
        const char *start = p;
        if (opt_kind) opt_kind[j] = HU_CSV_NUMBER;
        if (skip && skip[j]) {
            p = plain_text(r, p, end);
        } else {
            double *to = column ? &column[j][at] : &row[j];
            p = hu_number_parse(p, end, to);
            if (!p && opt_kind && start < end && (p = plain_truth(start, end, to))) opt_kind[j] = HU_CSV_TRUTH;
        }
        if (!p || p == end) return false;
        if (j + 1 < r->columns) {
            if (*p++ != r->delimiter) return false;
        } else if (*p == '\r' && p + 1 < end) {
            p++;
        }
    }
    if (*p != '\n') return false;
    r->row_line = r->line++;
    r->p = p + 1;
    return true;
}

/* ---- rows by marks ------------------------------------------------------------------------------------------------- */

enum { MARKED = 1 << 15, MARGIN = 24 }; /* bytes that are marked at once; bytes that must be there before and behind a cell */

/* Lists the marks from r->p on. */
static __attribute__((noinline)) bool list_marks(hu_csv *r, int64_t need)
{
    int64_t size = r->end - r->p < MARKED ? r->end - r->p : MARKED;
    hu_error ignored = HU_ERROR_NONE;
    if (!r->mark && hu_alloc(MARKED, sizeof *r->mark, "marks", (void **)&r->mark, &ignored)) return false; /* the slow way needs none */
    r->marked_from = r->p;
    r->next_mark = 0;
    r->marks = HU_PICK(hu_csv_marks)(r->p, size, r->delimiter, r->mark);
    return r->marks >= need;
}

/* Makes the next mark the first that is not before r->p, with `need` of them if the bytes at hand have as many. */
static inline bool have_marks(hu_csv *r, int64_t need)
{
    while (r->next_mark < r->marks && r->marked_from + r->mark[r->next_mark] < r->p) r->next_mark++;
    return r->marks - r->next_mark >= need || list_marks(r, need);
}

static __attribute__((noinline)) bool take_rare(const char *p, const char *end, double *to, uint8_t *opt_kind)
{
    bool is_missing = p == end || (end - p == 2 && memcmp(p, "NA", 2) == 0);
    if (!is_missing && hu_number_parse(p, end, to) == end) return true;
    if (!opt_kind || (!is_missing && plain_truth(p, end, to) != end)) return false;
    *opt_kind = is_missing ? HU_CSV_MISSING : HU_CSV_TRUTH;
    return true;
}

static inline bool take_cell(const char *p, const char *end, double *to)
{
    uint64_t n = (uint64_t)(end - p);
    return (n - 1 < 8 && short_whole(end, (int64_t)n, to)) || (n <= 16 && short_number(p, to) == end);
}

/* The same as take_slowly(), where the row and a margin about it are at hand; it may decline what take_slowly() takes. */
static bool take_by_marks(hu_csv *r, const bool *skip, double *const *column, int64_t at, double *row, uint8_t *opt_kind)
{
    const char *p = r->p;
    int64_t n = r->columns;
    if (!have_marks(r, n + 1)) return false; /* one more: a carriage return */
    const uint32_t *mark = r->mark + r->next_mark;
    const char *from = r->marked_from, *last = from + mark[n - 1];
    if (p - r->buffer < MARGIN || r->end - last < MARGIN) return false;
    bool returns = *last == '\r';
    const char delimiter = r->delimiter;
    if (returns ? from + mark[n] != last + 1 || last[1] != '\n' : *last != '\n') return false;
    if (opt_kind) memset(opt_kind, HU_CSV_NUMBER, (size_t)n);
    for (int64_t j = 0; j < n; j++) {
        const char *end = from + mark[j];
        if (*end != delimiter && j + 1 < n) return false;
        if (!skip || !skip[j]) {
            double *to = column ? column[j] + at : row + j;
            if (!take_cell(p, end, to) && !take_rare(p, end, to, opt_kind ? &opt_kind[j] : NULL)) return false;
        }
        p = end + 1;
    }
    r->next_mark += n + returns;
    r->row_line = r->line++;
    r->p = last + 1 + returns;
    return true;
}

bool hu_csv_take_plain(hu_csv *r, const bool *skip, double *const *column, int64_t at, double *row, uint8_t *opt_kind)
{
    const char *p = r->p;
    if (p == r->end || r->blanks > 0 || r->decimal != '.' || *p == '\n' || *p == '\r' || (r->comment && *p == r->comment)) return false;
    return take_by_marks(r, skip, column, at, row, opt_kind) || take_slowly(r, skip, column, at, row, opt_kind);
}
