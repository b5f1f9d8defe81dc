/* generate.h: matrices for tests, samples and benchmarks, made from a few numbers and a seed.
 *
 * Every matrix starts as a graph whose edges (i, j), i > j, carry two values, a_ij and a_ji; an order may renumber its vertices;
 * then the lower triangle, the upper one, or all of it is taken. The same options and seed give the same bits everywhere.
 */
#ifndef HU_TOOLS_GENERATE_H
#define HU_TOOLS_GENERATE_H

#include "sparse/csr.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HU_GEN_GRID,     /* stencil on nx x ny x nz cells: points, coefficients, dof */
    HU_GEN_BAND,     /* per_row random columns among the `band` before the diagonal */
    HU_GEN_ARROW,    /* dense last row, and a diagonal */
    HU_GEN_CHAIN,    /* bidiagonal */
    HU_GEN_DIAGONAL,
    HU_GEN_DENSE,    /* every entry of the triangle */
    HU_GEN_LASTROW,  /* a chain whose last row is dense */
    HU_GEN_FIRSTCOL, /* dense first column, and a diagonal */
    HU_GEN_BLOCKS,   /* dense triangles of `band` rows along the diagonal */
    HU_GEN_TREE,     /* binary tree: row i refers to (i - 1) / 2 */
    HU_GEN_MESH,     /* planar triangulation of nx x ny jittered points, each cell cut along its Delaunay diagonal */
    HU_GEN_POWER,    /* row lengths after a power law of mean about per_row, columns crowded at the front */
    HU_GEN_LAYERS,   /* layers of `band` rows, each row with per_row random columns in the layer before: level sets of one width */
    HU_GEN_SUPERNODES, /* dense triangles of `band` rows, all of a triangle with the same per_row random columns before it, as in a factor with fill */
    HU_GEN_FAMILIES
} hu_gen_family;

typedef enum { HU_GEN_CONSTANT, HU_GEN_VARIABLE, HU_GEN_ANISOTROPIC, HU_GEN_CONVECTION, HU_GEN_COEFFICIENTS } hu_gen_coefficient;
typedef enum { HU_GEN_ORDER_NATURAL, HU_GEN_ORDER_RANDOM, HU_GEN_ORDER_RCM, HU_GEN_ORDERS } hu_gen_order;

typedef enum {
    HU_GEN_OWN,      /* grids: the coefficients; else as dominant */
    HU_GEN_DOMINANT, /* off-diagonals in +-(0.1, 1), diagonal above the sum of its row in the whole matrix */
    HU_GEN_INTEGER,  /* off-diagonals in {-2, -1, 1, 2}, diagonal +-1, 2, 4 or 8: with hu_gen_solution() an exact oracle */
    HU_GEN_VALUES
} hu_gen_values;

typedef enum { HU_GEN_LOWER, HU_GEN_UPPER, HU_GEN_FULL, HU_GEN_PARTS } hu_gen_part;

/* Words for the above, in the order of each enumeration. */
extern const char *const hu_gen_family_words[HU_GEN_FAMILIES], *const hu_gen_coefficient_words[HU_GEN_COEFFICIENTS],
    *const hu_gen_order_words[HU_GEN_ORDERS], *const hu_gen_values_words[HU_GEN_VALUES], *const hu_gen_part_words[HU_GEN_PARTS];

typedef struct {
    hu_gen_family family;
    int64_t nx, ny, nz; /* rows of the matrix: nx ny nz, times dof for grids */
    int points;         /* grid: 3, 5, 7, 9, 13, 19 or 27 (7 and 13 have a planar form, taken where nz is 1) */
    int dof;            /* grid: unknowns a cell */
    hu_gen_coefficient coefficients;
    int per_row;        /* band, power, layers: off-diagonal entries a row; supernodes: those before the triangle */
    int64_t band;       /* band: width; blocks, layers, supernodes: rows a block */
    hu_gen_order order;
    hu_gen_values values;
    hu_gen_part part;
    bool symmetric;     /* a_ji = a_ij, whatever the values are */
    uint64_t seed;
} hu_gen;

#define HU_GEN_DEFAULTS                                                                                                \
    {HU_GEN_GRID, 10, 10, 10, 7, 1, HU_GEN_CONSTANT, 5, 1000, HU_GEN_ORDER_NATURAL, HU_GEN_OWN, HU_GEN_LOWER, false, 1}

/* The matrix. HU_USAGE where the options make no matrix. Free with hu_csr_free(). */
hu_status hu_gen_matrix(const hu_gen *g, hu_csr **ret_csr, hu_error *err);

/* The same entries in a random order that depends on the seed only. */
hu_status hu_gen_shuffled(const hu_csr *csr, uint64_t seed, hu_coo **ret_coo, hu_error *err);

/* A solution to aim at: column j of x stands at x + j n. Whole numbers in -4 .. 4 for HU_GEN_INTEGER, else uniform in (-1, 1). */
void hu_gen_solution(const hu_gen *g, int64_t n, int nrhs, double *x);

/* b = T x, column by column. Exact, in any order of summation, for a matrix and a solution of whole numbers as above. */
void hu_gen_rhs(const hu_csr *t, int nrhs, const double *x, double *b);

#ifdef __cplusplus
}
#endif
#endif
