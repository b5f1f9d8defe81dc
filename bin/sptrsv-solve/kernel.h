/* kernel.h: the storage that the hot loops read, and the hot loops' table. Private to the engine.
 *
 * A list holds the rows that one thread solves, in the order in which it solves them, as runs of rows that one loop can serve. Values, indices, scale
 * factors, row numbers and row lengths stand in streams that a cursor walks once a solve; nothing is addressed by row.
 *
 * Canonical arithmetic of a row with k off-diagonal entries, the same in every scheme, so that every scheme gives the same bits:
 *     UNIT    s = b,      x = s               the diagonal is 1 throughout
 *     FOLD    s = b r,    x = s               values hold c = l/d, r = 1/d
 *     SCALE   s = b,      x = s r             mixed precision: l stays as rounded, r = 1/d in double
 *     DIVIDE  s = b,      x = s / d
 * with s = s - c x_k fused, in canonical order. Where k >= SPTRSV_LONG_ROW the first part, all but the last 8 + k mod 8 entries, is summed in chunks of
 * SPTRSV_FAT_CHUNK entries; each chunk in eight interleaved sums from zero, added as ((0+4)+(2+6))+((1+5)+(3+7)); s takes the chunks one by one,
 * and then the last entries in order.
 */
#ifndef SPTRSV_KERNEL_H
#define SPTRSV_KERNEL_H

#include "device/level.h"
#include "scheme.h"

enum {
    SPTRSV_LONG_ROW = 64,
    SPTRSV_FAT_CHUNK = 4096,  /* a multiple of 8 */
    SPTRSV_SUPER_ROWS = 8,    /* most rows of a dense block */
    SPTRSV_EVEN_ROWS = 8,     /* fewest rows of one length that make a run of their own */
    SPTRSV_MIXED_LENGTH = 63,  /* longest row of a mixed run: none is long */
    SPTRSV_AHEAD = 24          /* rows by which b and x of listed rows are fetched ahead; padding of the row stream */
};

/* Runs. Rows of a run follow each other in steps where first >= 0 (the row of the first step), else their numbers come from the row stream. */
typedef enum {
    SPTRSV_RUN_EVEN,  /* `length` entries each */
    SPTRSV_RUN_CARRY, /* the same, and the last entry of each row is the row solved before, which the index stream leaves out */
    SPTRSV_RUN_MIXED, /* lengths come from the length stream */
    SPTRSV_RUN_SUPER  /* a dense block: row j has the `length` shared entries and j entries within the block. Values: [entry][row], then the
                         block's columns; indices once */
} sptrsv_run_kind;

typedef struct {
    int32_t kind, rows, length, first;
} sptrsv_run;

typedef enum { SPTRSV_MODE_UNIT, SPTRSV_MODE_FOLD, SPTRSV_MODE_SCALE, SPTRSV_MODE_DIVIDE } sptrsv_mode;

/* Where a thread stands in its list's streams. 16-bit indices: column = row + shift + index. */
typedef struct {
    const void *value;     /* storage scalars */
    const void *index;     /* uint16_t or int32_t */
    const void *factor;    /* r or d, arithmetic scalars; none in UNIT mode */
    const int32_t *row;
    const uint8_t *length;
    int32_t shift, direction, mode;
} sptrsv_cursor;

/* Solves runs for one right-hand side. */
typedef void sptrsv_rows(sptrsv_cursor *cursor, const sptrsv_run *run, int64_t runs, const void *b, void *x);

/* Solves runs for a panel of right-hand sides, element (row, j) at [row ld + j]. */
typedef void sptrsv_panel(sptrsv_cursor *cursor, const sptrsv_run *run, int64_t runs, const void *b, int64_t ldb, void *x, int64_t ldx);

/* One long row of an EVEN or CARRY run, `length` entries, in pieces that threads can share; the cursor stands at it. sum: one arithmetic scalar.
 * begin: from b. chunk: the sum of entries from..from+count-1 (multiples of 8), which add() adds to *sum in order. end: the last entries,
 * x, and the cursor moves on. Head: the entries that come in chunks, see sptrsv_row_head(). */
typedef struct {
    void (*begin)(const sptrsv_cursor *cursor, int64_t row, const void *b, void *sum);
    void (*chunk)(const sptrsv_cursor *cursor, int64_t row, int64_t from, int64_t count, const void *x, double *partial);
    void (*add)(const double *partial, int64_t n, void *sum);
    void (*end)(sptrsv_cursor *cursor, const sptrsv_run *run, int64_t row, const void *sum, void *x);
} sptrsv_long_row;

static inline int64_t sptrsv_row_head(int64_t length)
{
    return length - 8 - length % 8;
}

typedef struct {
    sptrsv_rows *rows;
    sptrsv_panel *panel[3]; /* 4, 8, 16 right-hand sides; NULL where complex */
    sptrsv_long_row long_row; /* NULL where complex */
} sptrsv_loops;

/* The loops of an instruction level. */
HU_LEVELS(sptrsv_loops, sptrsv_loops_of, (sptrsv_precision precision, bool is_complex, int index, sptrsv_mode mode));

#endif
