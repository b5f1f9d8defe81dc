/* panel.h: the strategy "panel": blocks of rows times blocks of columns whose part of B stays in the nearest cache, in panels of a few rows.
 *
 * For pruned weights, where rows have many entries and each row of B is used again and again. A block of chunk rows and k_block columns is cut into panels of R
 * rows; the sums of a panel stay in registers. An entry is one of two kinds:
 *
 *     shared    a column that several rows of the panel have: its row of B is loaded once. Columns stand in buckets by the mask of the rows that have them, and
 *               each mask has a loop of its own without branches (the nano kernels of Sparse Register Tiling, Wilkinson et al., PLDI 2023, 10.1145/3591302)
 *     lock step all others: one entry of each row in turn, so that R chains of additions run side by side. Rows are grouped by their length in the block (order
 *               degree), so that they end together, and longest first, so that no entry is padding
 *
 * The sum of a row of C takes the blocks of columns in ascending order, in each the shared columns by bucket and then the others as stored.
 *
 * Sections: shapes, the packed form.
 */
#ifndef SPMM_PANEL_H
#define SPMM_PANEL_H

#include "plan.h"

/* ---- shapes */

typedef enum { SPMM_MASKS_NONE, SPMM_MASKS_FULL, SPMM_MASKS_ALL, SPMM_MASKS_KINDS } spmm_masks; /* shared: no columns; those of all R rows; of two rows and more (R <= 4) */
typedef enum { SPMM_ROWS_NONE, SPMM_ROWS_DEGREE, SPMM_ROWS_SIMILAR, SPMM_ROWS_KINDS } spmm_panel_order; /* of the rows in a block: as they are, by length, alike ones together */

typedef struct {
    int32_t rows;    /* R: 1, 2, 4 or 8 */
    int32_t k_block; /* a power of two, 16 to SPMM_MOST_K_BLOCK */
    spmm_masks masks;
    spmm_panel_order order;
} spmm_panel_shape;

enum { SPMM_MOST_K_BLOCK = 32768, SPMM_CHUNK_ROWS = 512 /* of a block; a multiple of every R */ };

extern const char *const spmm_masks_names[SPMM_MASKS_KINDS], *const spmm_panel_order_names[SPMM_ROWS_KINDS];

/* The shape that suits a matrix and k columns of B (0: not known) of that scalar, by rule. */
spmm_panel_shape spmm_panel_rule(const spmm_matrix *a, int64_t k, hu_scalar b);

/* HU_USAGE where a shape is none. */
hu_status spmm_panel_shape_check(const spmm_panel_shape *s, hu_error *err);

/* Buckets of a shape: the number of masks whose columns are shared. mask[11] gets them, in the order of the loops. */
int spmm_panel_buckets(const spmm_panel_shape *s, int *mask);

/* ---- the packed form */

/* Block (c, b) holds rows c SPMM_CHUNK_ROWS .. and columns b k_block ..; its number is c blocks + b. */
typedef struct {
    spmm_panel_shape shape;
    int64_t chunks, blocks;  /* of rows, of columns */
    int64_t entries, shared; /* all; those in buckets */
    int64_t columns;         /* of B's rows that are loaded: one for each shared column and each other entry */
    int64_t *ptr;            /* [chunks blocks + 1] where the values of a block begin; its columns begin there too, and may be fewer */
    uint16_t *row;           /* [blocks][rows] rows of a block in the order of the panels, from the chunk's first row; those of the last, incomplete panel alone */
    uint16_t *len;           /* [blocks][rows] their entries in lock step, falling within a panel */
    uint16_t *bucket;        /* [blocks][panels of all chunks][buckets] shared columns */
    uint16_t *col;           /* [entries] from the block's first column */
    void *val;               /* [entries] in the order of use; f32 or f64 as the matrix */
} spmm_panel_form;

/* Packs rows `from`.. of the matrix as if they were all; what a trial on a sample of the rows needs. Free with spmm_panel_free(). */
hu_status spmm_panel_pack(const spmm_matrix *a, const spmm_panel_shape *shape, spmm_panel_form **ret_form, hu_error *err);
void spmm_panel_free(spmm_panel_form *form); /* NULL is allowed */

#endif
