/* input.c: the sparse operand from any file. */
#include "config.h"
#include "input.h"
#include "io/matrix.h"

#include <string.h>

enum { KEY_STRATEGY = 0x300, KEY_NP, KEY_ALPHA };

static const struct argp_option table[] = {
    {"strategy", KEY_STRATEGY, "NAME", 0, "auto (default), csr, neighbor, bin or panel", 0},
    {"np", KEY_NP, "N", 0, "neighbor: cost of a pack (default: from the matrix)", 0},
    {"row-cost", KEY_ALPHA, "N", 0, "neighbor: cost of a row, in entries (default: 10)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    spmm_input *o = state->input;
    switch (key) {
    case KEY_STRATEGY:
        if (strcmp(arg, "auto") != 0 && !spmm_strategy_find(arg)) argp_error(state, "--strategy: '%s' is none; known are auto, csr, neighbor, bin, panel", arg);
        o->strategy = arg;
        return 0;
    case KEY_NP: o->packing.np = hu_option_integer(state, "--np", arg, 1, INT32_MAX); return 0;
    case KEY_ALPHA: o->packing.alpha = hu_option_integer(state, "--row-cost", arg, 0, INT32_MAX); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp spmm_input_argp = {table, parse, NULL, NULL, NULL, NULL, NULL};

const spmm_strategy *spmm_input_strategy(const spmm_input *options)
{
    return options->strategy ? spmm_strategy_find(options->strategy) : NULL;
}

hu_status spmm_input_read(const char *path, const spmm_input *options, spmm_matrix **ret_matrix, hu_error *err)
{
    const hu_mtx_options how = HU_MTX_DEFAULTS;
    hu_mtx_info info;
    hu_csr *csr;
    (void)options;
    *ret_matrix = NULL;
    if (hu_matrix_read(path, &how, &csr, &info, err)) return err->status;
    return spmm_matrix_from_csr(&csr, info.field == HU_MTX_PATTERN, HU_F64, path, ret_matrix, err);
}
