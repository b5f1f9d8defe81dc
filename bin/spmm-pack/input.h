/* input.h: the sparse operand from any file, with what the command line asks to be done to it, for every command alike. */
#ifndef SPMM_INPUT_H
#define SPMM_INPUT_H

#include "base/option.h"
#include "plan.h"

typedef struct {
    spmm_options packing;
    const char *strategy; /* NULL: auto */
} spmm_input;

#define SPMM_INPUT {SPMM_OPTIONS, NULL}

/* The options of reading and packing, for a command's children; its input is a spmm_input. */
extern const struct argp spmm_input_argp;

/* Reads a matrix with values of its own scalar. Free with spmm_matrix_free(). */
hu_status spmm_input_read(const char *path, const spmm_input *options, spmm_matrix **ret_matrix, hu_error *err);

/* The strategy that was asked for, or NULL. */
const spmm_strategy *spmm_input_strategy(const spmm_input *options);

#endif
