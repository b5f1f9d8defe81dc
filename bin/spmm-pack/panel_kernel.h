/* panel_kernel.h: the hot loops of panels (panel.h), built once per instruction set. Private to the engine. */
#ifndef SPMM_PANEL_KERNEL_H
#define SPMM_PANEL_KERNEL_H

#include "dense/dense.h"
#include "device/level.h"

/* Panels of one block times a tile of B. All sums are of one scalar, f32 or f64. col and val move behind what was used. */
typedef struct {
    const uint16_t *row, *len, *bucket, *col;
    const void *val;
    int64_t panels;
    int rows;             /* R */
    int buckets;          /* 0, 1: all R rows, or 3 (R 2) and 11 (R 4) masks */
    const void *b;        /* the tile's part of row 0 of the block: nv whole vectors a row */
    int64_t ldb;
    void *c;              /* the tile's part of the first row of C */
    int64_t ldc;
    int nv, rest;         /* vectors of the tile; lanes of the last one that C has */
    bool resume;          /* sums go on from C */
} spmm_panels;

HU_LEVELS(void, spmm_panels_f32, (spmm_panels *p));
HU_LEVELS(void, spmm_panels_f64, (spmm_panels *p));

/* Rows of B, `width` columns from one column on, as floats or doubles [n][vectors of the level], zeros behind: what the loops above take as b. */
HU_LEVELS(void, spmm_panel_tile, (hu_scalar scalar, const void *b, int64_t ldb, int64_t n, int64_t from, int64_t width, void *tile));

/* Of the level: lanes of a vector of that many bytes a lane, and the most vectors of a tile for R rows. */
HU_LEVELS(int, spmm_panel_lanes, (size_t size));
HU_LEVELS(int, spmm_panel_most_nv, (int rows));

#endif
