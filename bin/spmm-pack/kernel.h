/* kernel.h: the hot loops of products with dense matrices, built once per instruction set. Private to the engine.
 *
 * Everything that a strategy multiplies is rows of entries (column, value) times rows of B, a tile of B's columns at a time. Sums are kept in
 * registers over a whole row, entry after entry in the order of storage, fused where the level has it; so a row's bits depend on its entries and
 * on the instruction level only.
 */
#ifndef SPMM_KERNEL_H
#define SPMM_KERNEL_H

#include "dense/dense.h"
#include "device/level.h"

enum {
    SPMM_TILE_BYTES = 1024,   /* the widest tile of B's columns, in bytes of the sums */
    SPMM_AHEAD_BYTES = 4096   /* of B that are fetched ahead, about */
};

/* What becomes of a row's sum s: with n the entries of the row (mean only),
 *     v = alpha (s / n) + beta c + bias,   v = max(v, 0) where relu,   v = min(v, cap). NaN stays NaN. */
typedef struct {
    double alpha, beta;
    const int64_t *mean_ptr;   /* row_ptr of the matrix where the mean is wanted, else NULL; an empty row stays 0 */
    double bias;               /* for all */
    const double *bias_of_row; /* [rows] or NULL */
    const double *bias_of_col; /* [columns of C] or NULL */
    bool relu;
    double cap;                /* infinity: none */
} spmm_finish;

#define SPMM_PLAIN {1, 0, NULL, 0, NULL, NULL, false, __builtin_inf()}

static inline bool spmm_finish_is_plain(const spmm_finish *f)
{
    return f->alpha == 1 && f->beta == 0 && !f->mean_ptr && f->bias == 0 && !f->bias_of_row && !f->bias_of_col && !f->relu && f->cap == __builtin_inf();
}

/* One tile: `width` columns from column `from` on. Scalars: B is f64, f32, f16 or bf16; sums and values are double where B is f64, else float.
 * C is of the sums' scalar or any of 16 bits (of float sums). finish NULL: sums are stored as they are, in the sums' scalar. */
typedef struct {
    const int32_t *col;
    const void *val;
    int64_t last;       /* the greatest entry, for fetching ahead */
    int ahead;          /* entries whose rows of B are fetched ahead; 0: B is near */
    hu_scalar b_scalar, c_scalar;
    const void *b;      /* of B's column 0 */
    int64_t ldb;
    void *c;            /* of C's row 0, column 0 */
    int64_t ldc;
    int64_t from, width;
    bool resume;        /* sums go on from C, which is of their scalar */
    const spmm_finish *finish;
} spmm_tile;

/* Rows i = 0..n-1: entries ptr[i]..ptr[i+1]-1 into row `row[i]` of C, or first + i where row is NULL. */
HU_LEVELS(void, spmm_rows, (const spmm_tile *t, const int64_t *ptr, const int32_t *row, int64_t first, int64_t n));

/* The greatest or least of value times B over a row's entries, for all columns of the tile; NaN wins; of equals the first entry. arg (may be NULL):
 * column + 1 of the entry, [row ld_arg + column]; a row without entries gives 0 and -1. finish as above, without a mean. */
HU_LEVELS(void, spmm_extremes, (const spmm_tile *t, bool least, int32_t *arg, int64_t ld_arg, const int64_t *ptr, int64_t first, int64_t n));

/* Dots of rows of X and Y at the places of a pattern; e: [nnz x heads] of the sums' scalar. */
typedef struct {
    const int64_t *row_ptr;
    const int32_t *col;
    int64_t nnz, k, heads; /* heads divides k */
    hu_scalar scalar;
    const void *x, *y;
    int64_t ldx, ldy;
    void *e;
} spmm_dots;

/* Entries from..to-1, of which the first is in row `row`. An entry's bits do not depend on where it stands. */
HU_LEVELS(void, spmm_dots_of, (const spmm_dots *d, int64_t row, int64_t from, int64_t to));

/* The sum type of a type of B. */
static inline hu_scalar spmm_sum_scalar(hu_scalar b)
{
    return b == HU_F64 ? HU_F64 : HU_F32;
}

#endif
