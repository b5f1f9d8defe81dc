/* options.c: the command line of sptrsv-solve. */
#include "config.h"
#include "options.h"
#include "gpu_scheme.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_SOLVE = 0x100, KEY_ANALYZE, KEY_INFO, KEY_BENCH, KEY_FACTOR, KEY_PCG, KEY_SYMGS, KEY_PLAN, KEY_OUT_L, KEY_OUT_U,
    KEY_LOWER, KEY_UPPER, KEY_AUTO, KEY_OTHER, KEY_DIAG, KEY_PERM, KEY_PERMUTED, KEY_FORMAT, KEY_OUT_FORMAT, KEY_STREAM,
    KEY_F64, KEY_F32, KEY_MIXED, KEY_REFINE, KEY_TUNE, KEY_SCHEME, KEY_GPU_SCHEME, KEY_GRID, KEY_OFFSETS, KEY_CHECK, KEY_STRICT, KEY_LENIENT,
    KEY_PATTERN, KEY_DUP, KEY_PRECOND, KEY_TOL, KEY_ITERATIONS, KEY_COLUMNS, KEY_SPACE, KEY_MODEL
};

enum { OF_TRIANGLES, OF_SCHEMES, OF_PCG, OF_COLUMNS }; /* options.noted */

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "What to do:", 1},
    {"solve", KEY_SOLVE, NULL, 0, "solve T x = b (default)", 0},
    {"analyze", KEY_ANALYZE, NULL, 0, "write the plan of MATRIX, to be used by --plan", 0},
    {"info", KEY_INFO, NULL, 0, "say what MATRIX is, which scheme is taken and why, and how near to the machine's limit it runs", 0},
    {"bench", KEY_BENCH, "REPS", OPTION_ARG_OPTIONAL, "measure every scheme and write a table (CSV)", 0},
    {"factor", KEY_FACTOR, "KIND", 0, "write the incomplete factors of MATRIX, ilu0 or ic0, to --out-l and --out-u", 0},
    {"pcg", KEY_PCG, NULL, 0, "solve the symmetric positive definite MATRIX by preconditioned conjugate gradients", 0},
    {"symgs", KEY_SYMGS, "SWEEPS", 0, "apply SWEEPS symmetric Gauss-Seidel sweeps to MATRIX x = b, from x = 0", 0},
    {NULL, 0, NULL, 0, "Input and output:", 2},
    {"rhs", 'b', "FILE", 0, "right-hand sides (default: standard input)", 0},
    {"rhs-format", KEY_FORMAT, "FORMAT", 0, "auto, npy, mtx, csv, or raw (doubles without a header) (default: auto)", 0},
    {"out-format", KEY_OUT_FORMAT, "FORMAT", 0, "auto (by the ending of -o, else as the right-hand side), npy, mtx, csv or raw", 0},
    {"rhs-stream", KEY_STREAM, NULL, 0, "solve for one right-hand side after another until the input ends, each written at once", 0},
    {"plan", KEY_PLAN, "FILE", 0, "use a plan that --analyze wrote", 0},
    {"out-l", KEY_OUT_L, "FILE", 0, "the lower factor of --factor", 0},
    {"out-u", KEY_OUT_U, "FILE", 0, "the upper factor of --factor=ilu0", 0},
    {NULL, 0, NULL, 0, "The system:", 3},
    {"lower", KEY_LOWER, NULL, 0, "MATRIX is lower triangular (default)", 0},
    {"upper", KEY_UPPER, NULL, 0, "MATRIX is upper triangular", 0},
    {"auto", KEY_AUTO, NULL, 0, "lower or upper, as the entries are", 0},
    {"other", KEY_OTHER, "WHAT", 0, "entries outside the triangle: error (default) or ignore", 0},
    {"transpose", 'T', NULL, 0, "solve with the transpose", 0},
    {"conjugate", 'H', NULL, 0, "solve with the conjugate transpose", 0},
    {"diag", KEY_DIAG, "WHAT", 0, "stored (default), or unit: the diagonal counts as 1", 0},
    {"perm", KEY_PERM, "FILE.npy", 0, "row and column FILE[i] (0-based) of MATRIX is number i of the triangular system", 0},
    {"permuted-io", KEY_PERMUTED, NULL, 0, "with --perm: right-hand sides and results stand in the order of the triangular system", 0},
    {"strict", KEY_STRICT, NULL, 0, "refuse a Matrix Market file that deviates from its format (default)", 0},
    {"lenient", KEY_LENIENT, NULL, 0, "read a Matrix Market file without banner or with a wrong entry count", 0},
    {"pattern-value", KEY_PATTERN, "V", 0, "value of the entries of a pattern file (default: 1)", 0},
    {"dup", KEY_DUP, "WHAT", 0, "entries given twice: sum (default), error, or last", 0},
    {NULL, 0, NULL, 0, "Arithmetic:", 4},
    {"f64", KEY_F64, NULL, 0, "values and arithmetic in double (default)", 0},
    {"f32", KEY_F32, NULL, 0, "values and arithmetic in float", 0},
    {"mixed", KEY_MIXED, NULL, 0, "values stored as float, arithmetic in double", 0},
    {"refine", KEY_REFINE, "N", 0, "N steps of iterative refinement with the matrix in double", 0},
    {"check", KEY_CHECK, "C", OPTION_ARG_OPTIONAL,
     "certify each solution: every row's residual within C (default 1) times its rounding bound; exit 1 if not", 0},
    {NULL, 0, NULL, 0, "The scheme:", 5},
    {"tune", KEY_TUNE, "HOW", 0, "model (default: a learned model of what schemes take), rule, search[:SECONDS] (measure and choose), or off (serial, natural order)", 0},
    {"model", KEY_MODEL, "FILE", 0, "the model of --tune=model (default: the one that comes with the program)", 0},
    {"scheme", KEY_SCHEME, "KEY:VALUE,...", 0, "set dimensions of the scheme: kind arith node rows merge index super fat rhs tile", 0},
    {"gpu-scheme", KEY_GPU_SCHEME, "KEY:VALUE,...", 0, "set dimensions of the scheme on a GPU: lanes threads node rows order group take", 0},
    {"block", 'k', "N", 0, "right-hand sides a pass: 1, 4, 8 or 16", 0},
    {"columns", KEY_COLUMNS, "N", 0, "right-hand sides a solve that the scheme is chosen, or measured, for (default: 1)", 0},
    {"space", KEY_SPACE, "WHAT", 0, "schemes of --bench: all (default), or ranked: those that a model chooses among", 0},
    {"grid", KEY_GRID, "WHAT", 0, "auto (default): find structured grids; off; or the sizes NX[xNY[xNZ]]", 0},
    {"offsets", KEY_OFFSETS, "DX,DY,DZ;...", 0,
     "MATRIX is a .npy of grid coefficients [neighbour][z][y][x] with these offsets; needs --grid=NX[xNY[xNZ]]", 0},
    {NULL, 0, NULL, 0, "Conjugate gradients:", 6},
    {"precond", KEY_PRECOND, "KIND", 0, "ic0 (default), ilu0, symgs or none", 0},
    {"tol", KEY_TOL, "T", 0, "stop when the residual is T times the right-hand side (default: 1e-8)", 0},
    {"iterations", KEY_ITERATIONS, "N", 0, "most iterations (default: 10000)", 0},
    {0}};

static const char doc[] = "Solve a sparse triangular system, by the scheme that suits the matrix and the machine.\v"
                          "MATRIX is a Matrix Market file (also gz, xz, zst, bz2, or a tar or zip that holds one), a SciPy .npz, a folder of "
                          "indptr.npy, indices.npy and data.npy, or a .csr bundle; '-' is standard input.  "
                          "Exit status: 0 done, 1 not certified or not converged, 2 usage, 3 bad input, 4 system, 5 device, "
                          "10 singular, 11 not triangular, 12 the plan does not fit, 13 breakdown of a factorisation.";

/* ---- one option ------------------------------------------------------------------------------------------------- */

static void parse_tune(options *o, const char *arg, struct argp_state *state)
{
    static const char *const words[] = {"model", "rule", "search", "off"};
    if (strncmp(arg, "search:", 7) == 0) {
        o->tune = TUNE_SEARCH;
        o->tune_seconds = hu_option_number(state, "--tune=search", arg + 7, 0, 86400);
        return;
    }
    o->tune = (tune)(TUNE_MODEL + hu_option_word(state, "--tune", arg, words, 4));
}

/* "120", "120x80" or "120x80x60". */
static bool parse_sizes(const char *text, int32_t sizes[3])
{
    sizes[0] = sizes[1] = sizes[2] = 1;
    for (int d = 0; d < 3; d++) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < 1 || value > INT32_MAX) return false;
        sizes[d] = (int32_t)value;
        if (!*end) return true;
        if (*end != 'x') return false;
        text = end + 1;
    }
    return false;
}

static void parse_grid(options *o, const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "auto") == 0) o->grid = GRID_AUTO;
    else if (strcmp(arg, "off") == 0) o->grid = GRID_OFF;
    else if (parse_sizes(arg, o->sizes)) o->grid = GRID_SIZES;
    else argp_error(state, "--grid: '%s' is none of auto, off, NX, NXxNY, NXxNYxNZ", arg);
}

static void parse_scheme(options *o, const char *arg, struct argp_state *state)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme scratch = {0};
    if (sptrsv_scheme_parse(arg, &scratch, &err)) argp_error(state, "--scheme: %s", err.message);
    size_t used = strlen(o->scheme), more = strlen(arg) + 2;
    if (used + more > sizeof o->scheme) argp_error(state, "--scheme: the text is too long");
    snprintf(o->scheme + used, more, "%s%s", used ? "," : "", arg);
}

static void parse_gpu_scheme(options *o, const char *arg, struct argp_state *state)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_gpu_scheme scratch = {.threads = 64};
    if (sptrsv_gpu_scheme_parse(arg, &scratch, &err)) argp_error(state, "--gpu-scheme: %s", err.message);
    o->gpu_scheme = arg;
}

static void parse_block(options *o, const char *arg, struct argp_state *state)
{
    static const char *const blocks[] = {"1", "4", "8", "16"};
    char text[16];
    snprintf(text, sizeof text, "rhs:%s", blocks[hu_option_word(state, "-k", arg, blocks, 4)]);
    parse_scheme(o, text, state);
}

static hu_array_format parse_format(const char *option, const char *arg, struct argp_state *state)
{
    static const char *const words[] = {"auto", "npy", "mtx", "csv", "raw"};
    static const hu_array_format formats[] = {HU_ARRAY_AUTO, HU_ARRAY_NPY, HU_ARRAY_MTX, HU_ARRAY_CSV, HU_ARRAY_RAW};
    return formats[hu_option_word(state, option, arg, words, 5)];
}

static void add_file(options *o, const char *arg, struct argp_state *state)
{
    if (o->matrix) argp_error(state, "one MATRIX is wanted; '%s' is a second one (right-hand sides go with -b)", arg);
    o->matrix = arg;
}

static const char *one_of(const char *option, const char *arg, const char *const *words, int n, struct argp_state *state)
{
    return words[hu_option_word(state, option, arg, words, n)];
}

/* ---- all together ----------------------------------------------------------------------------------------------- */

/* An option that its mode would pass over in silence is a misunderstanding. */
static void check_effect(const options *o, struct argp_state *state)
{
    static const char *const names[] = {"--solve", "--analyze", "--info", "--bench", "--factor", "--pcg", "--symgs"};
    bool whole = o->mode == MODE_FACTOR || o->mode == MODE_PCG || o->mode == MODE_SYMGS;
    bool writes_x = o->mode == MODE_SOLVE || o->mode == MODE_PCG || o->mode == MODE_SYMGS;
    const char *idle = NULL;
    if (whole && o->noted[OF_TRIANGLES]) idle = o->noted[OF_TRIANGLES];
    else if ((whole || o->mode == MODE_BENCH) && o->noted[OF_SCHEMES]) idle = o->noted[OF_SCHEMES];
    else if (whole && o->noted[OF_COLUMNS]) idle = o->noted[OF_COLUMNS];
    else if (o->mode != MODE_BENCH && o->space != SPTRSV_SPACE_ALL) idle = "--space";
    else if (whole && o->grid != GRID_AUTO && !o->offsets) idle = "--grid";
    else if (o->mode != MODE_PCG && o->noted[OF_PCG]) idle = o->noted[OF_PCG];
    else if (!writes_x && o->rhs_format != HU_ARRAY_AUTO) idle = "--rhs-format";
    else if (!writes_x && o->out_format != HU_ARRAY_AUTO) idle = "--out-format";
    else if (o->mode == MODE_FACTOR && strcmp(o->common.output, "-") != 0) idle = "-o";
    if (idle) argp_error(state, "%s has no effect with %s", idle, names[o->mode]);
}

/* What no single option can see. */
static void check_together(const options *o, struct argp_state *state)
{
    bool factor_needs = o->mode == MODE_FACTOR;
    const char *rhs = o->rhs ? o->rhs : "-";
    bool reads_rhs = o->mode == MODE_SOLVE || o->mode == MODE_PCG || o->mode == MODE_SYMGS;
    int standard = (strcmp(o->matrix, "-") == 0) + (reads_rhs && strcmp(rhs, "-") == 0) + (o->perm && strcmp(o->perm, "-") == 0) +
                   (o->plan && strcmp(o->plan, "-") == 0);
    if (standard > 1) argp_error(state, "only one of MATRIX, the right-hand side, --perm and --plan can be standard input; give the others as files");
    if (o->rhs && !reads_rhs) argp_error(state, "-b goes with --solve, --pcg and --symgs");
    if (factor_needs && !o->out_l) argp_error(state, "--factor needs --out-l=FILE");
    if (factor_needs && strcmp(o->factor, "ilu0") == 0 && !o->out_u) argp_error(state, "--factor=ilu0 needs --out-u=FILE");
    if (factor_needs && strcmp(o->factor, "ic0") == 0 && o->out_u)
        argp_error(state, "--factor=ic0 has one factor; solve with its transpose by -T");
    if (factor_needs && o->out_u && strcmp(o->out_l, o->out_u) == 0)
        argp_error(state, "--out-l and --out-u must be two files");
    if (!factor_needs && (o->out_l || o->out_u)) argp_error(state, "--out-l and --out-u go with --factor");
    if (o->permuted_io && !o->perm) argp_error(state, "--permuted-io goes with --perm");
    if (o->offsets && o->grid != GRID_SIZES) argp_error(state, "--offsets needs --grid=NX[xNY[xNZ]]");
    if (o->plan && o->mode != MODE_SOLVE && o->mode != MODE_INFO) argp_error(state, "--plan goes with --solve and --info");
    if (o->plan && (o->scheme[0] || o->tune != TUNE_DEFAULT || o->model || o->noted[OF_COLUMNS]))
        argp_error(state, "--plan brings its scheme; leave --scheme, -k, --tune, --model and --columns out");
    if (o->model && o->tune != TUNE_DEFAULT && o->tune != TUNE_MODEL) argp_error(state, "--model goes with --tune=model");
    if (o->model && o->has_scheme && o->tune == TUNE_DEFAULT) argp_error(state, "--scheme changes the rule's choice; say --tune=model to change the model's");
    if (o->gpu_scheme && strncmp(o->common.device, "cuda", 4) != 0) argp_error(state, "--gpu-scheme goes with --device=cuda");
    if (o->stream && o->mode != MODE_SOLVE) argp_error(state, "--rhs-stream goes with --solve");
    if (o->refine && o->mode != MODE_SOLVE) argp_error(state, "--refine goes with --solve");
    if (o->check != 0 && o->mode != MODE_SOLVE) argp_error(state, "--check goes with --solve");
    check_effect(o, state);
}

/* Remembers an option that only some modes obey. */
static void note_option(options *o, int key)
{
    static const struct {
        int key, kind;
        const char *name;
    } known[] = {{KEY_LOWER, OF_TRIANGLES, "--lower"}, {KEY_UPPER, OF_TRIANGLES, "--upper"}, {KEY_AUTO, OF_TRIANGLES, "--auto"},
                 {KEY_OTHER, OF_TRIANGLES, "--other"}, {'T', OF_TRIANGLES, "-T"}, {'H', OF_TRIANGLES, "-H"},
                 {KEY_DIAG, OF_TRIANGLES, "--diag"}, {KEY_PERM, OF_TRIANGLES, "--perm"}, {KEY_F32, OF_TRIANGLES, "--f32"},
                 {KEY_MIXED, OF_TRIANGLES, "--mixed"}, {KEY_TUNE, OF_SCHEMES, "--tune"}, {KEY_SCHEME, OF_SCHEMES, "--scheme"},
                 {KEY_MODEL, OF_SCHEMES, "--model"},
                 {'k', OF_SCHEMES, "-k"}, {KEY_COLUMNS, OF_COLUMNS, "--columns"}, {KEY_PRECOND, OF_PCG, "--precond"}, {KEY_TOL, OF_PCG, "--tol"},
                 {KEY_ITERATIONS, OF_PCG, "--iterations"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (key == known[i].key) o->noted[known[i].kind] = known[i].name;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const others[] = {"error", "ignore"}, *const diags[] = {"stored", "unit"};
    static const char *const dups[] = {"sum", "error", "last"}, *const factors[] = {"ilu0", "ic0"};
    static const char *const preconditioners[] = {"ic0", "ilu0", "symgs", "none"};
    options *o = state->input;
    note_option(o, key);
    switch (key) {
    case KEY_SOLVE: o->mode = MODE_SOLVE; return 0;
    case KEY_ANALYZE: o->mode = MODE_ANALYZE; return 0;
    case KEY_INFO: o->mode = MODE_INFO; return 0;
    case KEY_BENCH:
        o->mode = MODE_BENCH;
        if (arg) o->repetitions = (int)hu_option_integer(state, "--bench", arg, 1, 1000);
        return 0;
    case KEY_FACTOR:
        o->mode = MODE_FACTOR;
        o->factor = one_of("--factor", arg, factors, 2, state);
        return 0;
    case KEY_PCG: o->mode = MODE_PCG; return 0;
    case KEY_SYMGS:
        o->mode = MODE_SYMGS;
        o->sweeps = (int)hu_option_integer(state, "--symgs", arg, 1, 1000000);
        return 0;
    case 'b': o->rhs = arg; return 0;
    case KEY_FORMAT: o->rhs_format = parse_format("--rhs-format", arg, state); return 0;
    case KEY_OUT_FORMAT: o->out_format = parse_format("--out-format", arg, state); return 0;
    case KEY_STREAM: o->stream = true; return 0;
    case KEY_PLAN: o->plan = arg; return 0;
    case KEY_OUT_L: o->out_l = arg; return 0;
    case KEY_OUT_U: o->out_u = arg; return 0;
    case KEY_LOWER: o->problem.uplo = HU_LOWER; o->auto_triangle = false; return 0;
    case KEY_UPPER: o->problem.uplo = HU_UPPER; o->auto_triangle = false; return 0;
    case KEY_AUTO: o->auto_triangle = true; return 0;
    case KEY_OTHER: o->problem.ignore_other = hu_option_word(state, "--other", arg, others, 2) == 1; return 0;
    case 'T': o->problem.op = SPTRSV_TRANSPOSED; return 0;
    case 'H': o->problem.op = SPTRSV_CONJUGATE; return 0;
    case KEY_DIAG: o->problem.unit_diagonal = hu_option_word(state, "--diag", arg, diags, 2) == 1; return 0;
    case KEY_PERM: o->perm = arg; return 0;
    case KEY_PERMUTED: o->permuted_io = true; return 0;
    case KEY_STRICT: o->reader.lenient = false; return 0;
    case KEY_LENIENT: o->reader.lenient = true; return 0;
    case KEY_PATTERN: o->reader.pattern_value = hu_option_number(state, "--pattern-value", arg, -1e308, 1e308); return 0;
    case KEY_DUP: o->reader.duplicates = (hu_duplicates)hu_option_word(state, "--dup", arg, dups, 3); return 0;
    case KEY_F64: o->precision = SPTRSV_F64; return 0;
    case KEY_F32: o->precision = SPTRSV_F32; return 0;
    case KEY_MIXED: o->precision = SPTRSV_MIXED; return 0;
    case KEY_REFINE: o->refine = (int)hu_option_integer(state, "--refine", arg, 0, 100); return 0;
    case KEY_CHECK: o->check = arg ? hu_option_number(state, "--check", arg, 1e-300, 1e300) : 1; return 0;
    case KEY_TUNE: parse_tune(o, arg, state); return 0;
    case KEY_MODEL: o->model = arg; return 0;
    case KEY_SCHEME:
        parse_scheme(o, arg, state);
        o->has_scheme = true;
        return 0;
    case KEY_GPU_SCHEME: parse_gpu_scheme(o, arg, state); return 0;
    case 'k': parse_block(o, arg, state); return 0;
    case KEY_COLUMNS: o->columns = (int)hu_option_integer(state, "--columns", arg, 1, 4096); return 0;
    case KEY_SPACE: o->space = (sptrsv_space)hu_option_word(state, "--space", arg, sptrsv_space_words, SPTRSV_SPACES); return 0;
    case KEY_GRID: parse_grid(o, arg, state); return 0;
    case KEY_OFFSETS: o->offsets = arg; return 0;
    case KEY_PRECOND: o->preconditioner = one_of("--precond", arg, preconditioners, 4, state); return 0;
    case KEY_TOL: o->tolerance = hu_option_number(state, "--tol", arg, 0, 1); return 0;
    case KEY_ITERATIONS: o->iterations = hu_option_integer(state, "--iterations", arg, 1, INT64_MAX); return 0;
    case ARGP_KEY_ARG: add_file(o, arg, state); return 0;
    case ARGP_KEY_END:
        if (!o->matrix) argp_error(state, "MATRIX is missing ('-' is standard input)");
        check_together(o, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void options_parse(int argc, char **argv, options *ret_options)
{
    static const struct argp argp = {table, parse, "MATRIX", doc, NULL, NULL, NULL};
    *ret_options = (options){.reader = HU_MTX_DEFAULTS, .tune_seconds = 2, .repetitions = 20, .columns = 1, .space = SPTRSV_SPACE_ALL, .preconditioner = "ic0",
                             .tolerance = 1e-8, .iterations = 10000, .rhs_format = HU_ARRAY_AUTO, .out_format = HU_ARRAY_AUTO};
    hu_option_parse(argc, argv, &argp, ret_options, &ret_options->common);
    if (!ret_options->rhs) ret_options->rhs = "-";
}
