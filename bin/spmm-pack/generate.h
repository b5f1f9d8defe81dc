/* generate.h: matrices for trials: graphs and pruned weights, made from a few numbers and a seed, the same for any number of threads. */
#ifndef SPMM_GENERATE_H
#define SPMM_GENERATE_H

#include "sparse/csr.h"

typedef enum {
    SPMM_GEN_POWERLAW, /* row lengths after a power law from max_degree down, of mean `degree`; columns as often as their node is long */
    SPMM_GEN_RMAT,     /* recursive quadrants of probability .57 .19 .19 .05 (Chakrabarti, Zhan, Faloutsos, SDM 2004) */
    SPMM_GEN_REGULAR,  /* `degree` random columns in each row */
    SPMM_GEN_PRUNED,   /* each place holds an entry by the probability `density` */
    SPMM_GEN_BLOCK,    /* dense blocks of `block` rows and columns, each there by the probability `density` */
    SPMM_GEN_BANDED,   /* each place within `block` of the diagonal by the probability `density` */
    SPMM_GEN_STAR,     /* `degree` random columns in each row, and one row in the middle with as many entries as all others together */
    SPMM_GEN_FAMILIES
} spmm_gen_family;

extern const char *const spmm_gen_family_words[SPMM_GEN_FAMILIES];

typedef enum { SPMM_GEN_ONES, SPMM_GEN_UNIFORM, SPMM_GEN_NORMAL, SPMM_GEN_INTEGER } spmm_gen_values; /* 1; in (-1,1); of variance 1; in -4..4 without 0 */

typedef struct {
    spmm_gen_family family;
    int64_t rows, cols;
    double degree, density;
    int64_t max_degree, block;
    spmm_gen_values values;
    uint64_t seed;
} spmm_gen;

#define SPMM_GEN_DEFAULTS {SPMM_GEN_POWERLAW, 1000, 1000, 8, 0.1, 0, 16, SPMM_GEN_ONES, 1}

/* Columns ascend, no duplicates. HU_USAGE where the numbers make no matrix. Free with hu_csr_free(). */
hu_status spmm_generate(const spmm_gen *g, hu_csr **ret_csr, hu_error *err);

#endif
