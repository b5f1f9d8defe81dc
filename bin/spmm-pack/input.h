/* input.h: the sparse operand from any file, with what the command line asks to be done to it, for every command alike. */
#ifndef SPMM_INPUT_H
#define SPMM_INPUT_H

#include "base/option.h"
#include "graph.h"
#include "packed.h"
#include "read.h"

typedef struct {
    spmm_read_options read;
    bool is_packed;        /* --format=spk: also where neither name nor first bytes tell */
    bool transpose;
    spmm_loops loops;
    spmm_norm norm;
    spmm_order order;
    int dtype;             /* of hu_scalar, or -1: as it comes */
    spmm_options packing;
    const char *strategy;  /* NULL: auto */
} spmm_input;

extern const spmm_input spmm_input_defaults;

/* The options of reading and of packing, for a command's children; the input of both is a spmm_input. */
extern const struct argp spmm_read_argp, spmm_pack_argp;

/* Values of --dtype and the like; "auto" is -1. */
int spmm_option_scalar(const struct argp_state *state, const char *option, const char *text);

/* Reads a matrix, packed or not, and does to it what was asked for. opt_info: what the file said (of a packed one: its entries). Free with spmm_packed_free(). */
hu_status spmm_input_read(const char *path, const spmm_input *options, spmm_packed **ret_packed, spmm_read_info *opt_info, hu_error *err);

/* A plan by --strategy, or the file's packing, or the rule; k: columns of B, 0 where not known. */
hu_status spmm_input_plan(spmm_packed *packed, const spmm_input *options, int64_t k, hu_scalar sums, spmm_plan **ret_plan, hu_error *err);

/* Rows of a dense matrix by the order of a reordered one, in place: to it (row i becomes row perm[i] of what was), or back. */
hu_status spmm_input_permute(const spmm_packed *packed, hu_dense **dense, bool back, hu_error *err);

#endif
