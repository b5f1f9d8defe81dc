/* gen.c: spmm-pack gen: matrices for trials. */
#include "config.h"
#include "commands.h"
#include "base/option.h"
#include "generate.h"
#include "io/matrix.h"

#include <stdio.h>

enum { KEY_ROWS = 0x100, KEY_COLS, KEY_DEGREE, KEY_MOST, KEY_DENSITY, KEY_BLOCK, KEY_VALUES };

static const struct argp_option table[] = {
    {"rows", KEY_ROWS, "N", 0, "rows (default: 1000)", 0},
    {"cols", KEY_COLS, "N", 0, "columns (default: as many as rows)", 0},
    {"degree", KEY_DEGREE, "X", 0, "powerlaw, rmat, regular, star: mean entries of a row (default: 8)", 0},
    {"max-degree", KEY_MOST, "N", 0, "powerlaw: entries of the longest row (default: from the size)", 0},
    {"density", KEY_DENSITY, "P", 0, "pruned, block, banded: share of the places that hold an entry (default: 0.1)", 0},
    {"block", KEY_BLOCK, "N", 0, "block: its rows; banded: places beside the diagonal (default: 16)", 0},
    {"values", KEY_VALUES, "KIND", 0, "ones (default), uniform (-1..1), normal, or integer (-4..4 without 0)", 0},
    {0}};

typedef struct {
    spmm_gen gen;
    bool any;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const values[] = {"ones", "uniform", "normal", "integer"};
    options *o = state->input;
    switch (key) {
    case KEY_ROWS: o->gen.rows = hu_option_integer(state, "--rows", arg, 0, HU_MAX_DIMENSION); return 0;
    case KEY_COLS: o->gen.cols = hu_option_integer(state, "--cols", arg, 0, HU_MAX_DIMENSION); return 0;
    case KEY_DEGREE: o->gen.degree = hu_option_number(state, "--degree", arg, 0, 1e9); return 0;
    case KEY_MOST: o->gen.max_degree = hu_option_integer(state, "--max-degree", arg, 1, HU_MAX_DIMENSION); return 0;
    case KEY_DENSITY: o->gen.density = hu_option_number(state, "--density", arg, 0, 1); return 0;
    case KEY_BLOCK: o->gen.block = hu_option_integer(state, "--block", arg, 1, HU_MAX_DIMENSION); return 0;
    case KEY_VALUES: o->gen.values = (spmm_gen_values)hu_option_word(state, "--values", arg, values, 4); return 0;
    case ARGP_KEY_ARG:
        if (o->any) argp_error(state, "one family, no more: %s", arg);
        o->gen.family = (spmm_gen_family)hu_option_word(state, "FAMILY", arg, spmm_gen_family_words, SPMM_GEN_FAMILIES);
        o->any = true;
        return 0;
    case ARGP_KEY_END:
        if (!o->any) argp_error(state, "no family; one of powerlaw, rmat, regular, pruned, block, banded, star");
        if (o->gen.cols < 0) o->gen.cols = o->gen.rows;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int command_gen(int argc, char **argv)
{
    static const struct argp own = {table, parse, "FAMILY", "Write a random matrix: powerlaw, rmat, regular or star graphs; pruned, block or banded weights.", NULL, NULL, NULL};
    options o = {.gen = SPMM_GEN_DEFAULTS};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_csr *a = NULL;
    char comment[200];
    o.gen.cols = -1;
    hu_option_parse(argc, argv, &own, &o, &common);
    o.gen.seed = common.seed;
    snprintf(comment, sizeof comment, "spmm-pack gen %s --rows=%lld --cols=%lld --seed=%llu", spmm_gen_family_words[o.gen.family], (long long)o.gen.rows, (long long)o.gen.cols,
             (unsigned long long)o.gen.seed);
    if (spmm_generate(&o.gen, &a, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) hu_matrix_write(out, a, comment, &err);
    hu_csr_free(a);
    return hu_exit(&err, out);
}
