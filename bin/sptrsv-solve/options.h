/* options.h: the command line of sptrsv-solve. */
#ifndef SPTRSV_OPTIONS_H
#define SPTRSV_OPTIONS_H

#include "base/option.h"
#include "io/array.h"
#include "io/mtx.h"
#include "candidates.h"
#include "system.h"

typedef enum { MODE_SOLVE, MODE_ANALYZE, MODE_INFO, MODE_BENCH, MODE_FACTOR, MODE_PCG, MODE_SYMGS } mode;
typedef enum { TUNE_DEFAULT, TUNE_MODEL, TUNE_RULE, TUNE_SEARCH, TUNE_OFF } tune; /* default: the model, or the rule where --scheme is given */
typedef enum { GRID_AUTO, GRID_OFF, GRID_SIZES } grid_use;

typedef struct {
    hu_common common;
    mode mode;
    const char *matrix, *rhs;                         /* paths; "-" is standard input */
    const char *plan, *perm, *out_l, *out_u;          /* NULL: not given */
    hu_mtx_options reader;
    sptrsv_problem problem;
    bool auto_triangle, permuted_io, stream;
    sptrsv_precision precision;
    int refine;
    tune tune;
    double tune_seconds;
    const char *model;                                /* NULL: the one that comes with the program */
    char scheme[512];                                 /* what --scheme and -k named, as one text */
    bool has_scheme;                                  /* --scheme was given, not only -k */
    const char *gpu_scheme;                           /* --gpu-scheme, known to be well formed; NULL: not given */
    grid_use grid;
    int32_t sizes[3];
    const char *offsets;
    double check;                                     /* c of the certificate; 0: no check */
    hu_array_format rhs_format, out_format;
    int repetitions, sweeps;
    int columns;                                      /* right-hand sides a solve that the scheme is chosen and measured for */
    sptrsv_space space;                               /* of --bench */
    const char *factor, *preconditioner;              /* "ilu0" or "ic0"; "none", "ic0", "ilu0" or "symgs" */
    double tolerance;
    int64_t iterations;
    const char *noted[4];                             /* the last option given of a kind that not all modes obey; NULL: none */
} options;

/* Parses; leaves the program with HU_USAGE on a wrong command line. */
void options_parse(int argc, char **argv, options *ret_options);

#endif
