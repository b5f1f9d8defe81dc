/* hu-gen.c: writes a generated matrix, and a right-hand side with its solution, for tests, samples and people.
 *
 * Sections: the command line, writing, main.
 */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "base/output.h"
#include "generate.h"
#include "io/matrix.h"
#include "io/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ------------------------------------------------------------------------------------------- */

typedef struct {
    hu_gen gen;
    hu_common common;
    const char *output, *rhs, *solution;
    int nrhs, digits;
    bool shuffle, has_family;
} options;

enum { OPT_POINTS = 256, OPT_COEFFICIENTS, OPT_DOF, OPT_ROW, OPT_BAND, OPT_ORDER, OPT_VALUES, OPT_PART, OPT_SYMMETRIC, OPT_SHUFFLE,
       OPT_DIGITS, OPT_RHS, OPT_SOLUTION, OPT_NRHS };

static const struct argp_option own_options[] = {
    {"size", 's', "NX[xNY[xNZ]]", 0, "rows, or cells of a grid or mesh (default 10x10x10)", 0},
    {"points", OPT_POINTS, "N", 0, "grid: 3, 5, 7, 9, 13, 19 or 27 points (default 7)", 0},
    {"coefficients", OPT_COEFFICIENTS, "KIND", 0, "grid: constant, variable, anisotropic or convection", 0},
    {"dof", OPT_DOF, "N", 0, "grid: unknowns a cell", 0},
    {"per-row", OPT_ROW, "N", 0, "band, power, layers, supernodes: random entries a row (default 5)", 0},
    {"band", OPT_BAND, "N", 0, "band: width; blocks, layers, supernodes: rows a block (default 1000)", 0},
    {"order", OPT_ORDER, "KIND", 0, "natural, random or rcm", 0},
    {"values", OPT_VALUES, "KIND", 0, "own, dominant or integer (an exact oracle)", 0},
    {"part", OPT_PART, "KIND", 0, "lower, upper or full", 0},
    {"symmetric", OPT_SYMMETRIC, NULL, 0, "symmetric values, and a file declared symmetric", 0},
    {"shuffle", OPT_SHUFFLE, NULL, 0, "entries in random order", 0},
    {"digits", OPT_DIGITS, "N", 0, "significant digits of real values (default 17: exact)", 0},
    {"rhs", OPT_RHS, "FILE", 0, "write b = T x too: .npy, else Matrix Market", 0},
    {"solution", OPT_SOLUTION, "FILE", 0, "write x too", 0},
    {"nrhs", OPT_NRHS, "N", 0, "columns of b and x (default 1)", 0},
    {"output", 'o', "FILE", 0, "the matrix (default: standard output); a bundle where the name ends in .csr", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

static void parse_size(const char *text, hu_gen *g, const struct argp_state *state)
{
    int64_t *const size[] = {&g->nx, &g->ny, &g->nz};
    g->ny = g->nz = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        *size[i] = strtoll(text, &end, 10);
        if (end == text) break;
        if (*end == 0) return;
        if (*end != 'x') break;
        text = end + 1;
    }
    argp_error(state, "--size is NX, NXxNY or NXxNYxNZ");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *opt = state->input;
    hu_gen *g = &opt->gen;
    switch (key) {
    case 's': parse_size(arg, g, state); break;
    case OPT_POINTS: g->points = (int)hu_option_integer(state, "--points", arg, 3, 27); break;
    case OPT_COEFFICIENTS:
        g->coefficients = (hu_gen_coefficient)hu_option_word(state, "--coefficients", arg, hu_gen_coefficient_words, HU_GEN_COEFFICIENTS);
        break;
    case OPT_DOF: g->dof = (int)hu_option_integer(state, "--dof", arg, 1, 64); break;
    case OPT_ROW: g->per_row = (int)hu_option_integer(state, "--per-row", arg, 0, 1000); break;
    case OPT_BAND: g->band = hu_option_integer(state, "--band", arg, 1, HU_MAX_DIMENSION); break;
    case OPT_ORDER: g->order = (hu_gen_order)hu_option_word(state, "--order", arg, hu_gen_order_words, HU_GEN_ORDERS); break;
    case OPT_VALUES: g->values = (hu_gen_values)hu_option_word(state, "--values", arg, hu_gen_values_words, HU_GEN_VALUES); break;
    case OPT_PART: g->part = (hu_gen_part)hu_option_word(state, "--part", arg, hu_gen_part_words, HU_GEN_PARTS); break;
    case OPT_SYMMETRIC: g->symmetric = true; break;
    case OPT_SHUFFLE: opt->shuffle = true; break;
    case OPT_DIGITS: opt->digits = (int)hu_option_integer(state, "--digits", arg, 1, 17); break;
    case OPT_RHS: opt->rhs = arg; break;
    case OPT_SOLUTION: opt->solution = arg; break;
    case OPT_NRHS: opt->nrhs = (int)hu_option_integer(state, "--nrhs", arg, 1, 4096); break;
    case 'o': opt->output = arg; break;
    case ARGP_KEY_ARG:
        if (opt->has_family) argp_error(state, "one family at a time");
        g->family = (hu_gen_family)hu_option_word(state, "FAMILY", arg, hu_gen_family_words, HU_GEN_FAMILIES);
        opt->has_family = true;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "FAMILY is missing"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const char doc[] = "Writes a generated sparse matrix as a Matrix Market file.\v"
                          "FAMILY: grid, band, arrow, chain, diagonal, dense, lastrow, firstcol, blocks, tree, mesh, power, layers or "
                          "supernodes. The same options and --seed give the same bytes.";

static options parse_options(int argc, char **argv)
{
    options opt = {.gen = HU_GEN_DEFAULTS, .nrhs = 1, .digits = 17};
    const struct argp own = {own_options, parse, "FAMILY", doc, NULL, NULL, NULL};
    hu_option_parse(argc, argv, &own, &opt, &opt.common);
    opt.gen.seed = opt.common.seed;
    if (opt.gen.symmetric) opt.gen.part = HU_GEN_LOWER; /* what the file stores */
    return opt;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static hu_status write_matrix(const options *opt, const hu_coo *a, hu_output *out, hu_error *err)
{
    bool integer = opt->gen.values == HU_GEN_INTEGER;
    if (hu_output_printf(out, err, "%%%%MatrixMarket matrix coordinate %s %s\n%" PRId64 " %" PRId64 " %" PRId64 "\n",
                         integer ? "integer" : "real", opt->gen.symmetric ? "symmetric" : "general", a->rows, a->cols, a->nnz))
        return err->status;
    for (int64_t p = 0; p < a->nnz; p++)
        if (hu_output_printf(out, err, "%d %d %.*g\n", a->row[p] + 1, a->col[p] + 1, opt->digits, a->val[p])) return err->status;
    return HU_OK;
}

static hu_status write_npy(const options *opt, int64_t n, const double *x, hu_output *out, hu_error *err)
{
    const int64_t shape[2] = {n, opt->nrhs};
    return hu_npy_write(out, HU_NPY_F8, opt->nrhs == 1 ? 1 : 2, shape, opt->nrhs == 1 ? HU_ROW_MAJOR : HU_COL_MAJOR, x, err);
}

static hu_status write_array(const options *opt, int64_t n, const double *x, hu_output *out, hu_error *err)
{
    if (hu_output_printf(out, err, "%%%%MatrixMarket matrix array real general\n%" PRId64 " %d\n", n, opt->nrhs)) return err->status;
    for (int64_t i = 0; i < n * opt->nrhs; i++)
        if (hu_output_printf(out, err, "%.17g\n", x[i])) return err->status;
    return HU_OK;
}

static hu_status write_vectors(const options *opt, const char *path, int64_t n, const double *x, hu_error *err)
{
    hu_output *out = NULL;
    size_t length = strlen(path);
    bool npy = length > 4 && strcmp(path + length - 4, ".npy") == 0;
    if (hu_output_open(path, &out, err)) return err->status;
    if ((npy ? write_npy : write_array)(opt, n, x, out, err)) {
        hu_output_abort(&out);
        return err->status;
    }
    return hu_output_commit(&out, err);
}

static hu_status write_system(const options *opt, const hu_csr *a, hu_error *err)
{
    double *x = NULL, *b = NULL;
    if (hu_alloc(a->rows * opt->nrhs, sizeof *x, "the solution", (void **)&x, err)) goto cleanup;
    if (hu_alloc(a->rows * opt->nrhs, sizeof *b, "the right-hand side", (void **)&b, err)) goto cleanup;
    hu_gen_solution(&opt->gen, a->rows, opt->nrhs, x);
    hu_gen_rhs(a, opt->nrhs, x, b);
    if (opt->solution && write_vectors(opt, opt->solution, a->rows, x, err)) goto cleanup;
    if (opt->rhs) write_vectors(opt, opt->rhs, a->rows, b, err);
cleanup:
    hu_free(x);
    hu_free(b);
    return err->status;
}

/* Entries row by row. */
static hu_status in_order(const hu_csr *a, hu_coo **ret_coo, hu_error *err)
{
    if (hu_coo_new(a->rows, a->cols, a->nnz, false, ret_coo, err)) return err->status;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) (*ret_coo)->row[p] = (int32_t)i;
    memcpy((*ret_coo)->col, a->col, sizeof *a->col * (size_t)a->nnz);
    memcpy((*ret_coo)->val, a->val, sizeof *a->val * (size_t)a->nnz);
    return HU_OK;
}

/* ---- main ------------------------------------------------------------------------------------------------------- */

static hu_status write_text(const options *opt, const hu_csr *a, hu_output *out, hu_error *err)
{
    hu_coo *entries = NULL;
    if (opt->shuffle ? hu_gen_shuffled(a, opt->gen.seed, &entries, err) : in_order(a, &entries, err)) return err->status;
    write_matrix(opt, entries, out, err);
    hu_coo_free(entries);
    return err->status;
}

int main(int argc, char **argv)
{
    options opt = parse_options(argc, argv);
    hu_csr *a = NULL;
    hu_output *out = NULL;
    hu_error err = HU_ERROR_NONE;

    if (hu_output_open(opt.output, &out, &err)) goto done;
    if (hu_gen_matrix(&opt.gen, &a, &err)) goto done;
    if (hu_ends_in(opt.output, ".csr") ? hu_matrix_write(out, a, NULL, &err) : write_text(&opt, a, out, &err)) goto done;
    if (opt.rhs || opt.solution) write_system(&opt, a, &err);
done:
    hu_csr_free(a);
    return hu_exit(&err, out);
}
