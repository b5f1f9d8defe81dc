/* sample.c: spmm-pack sddmm: values at the places of a sparse matrix from pairs of dense rows. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "commands.h"
#include "common.h"
#include "dense_in.h"
#include "input.h"
#include "io/array.h"
#include "io/matrix.h"
#include "io/npy.h"
#include "sddmm.h"

#include <math.h>
#include <string.h>

enum { KEY_OP = 0x100, KEY_MASK, KEY_SCALE, KEY_HEADS, KEY_SOFTMAX, KEY_LEAKY, KEY_BF16, KEY_ARRAY };

typedef struct {
    spmm_input input;
    spmm_sampling sampling;
    const char *s, *x, *y;
    bool is_bf16, as_array;
} options;

static const struct argp_option table[] = {
    {NULL, 's', "FILE", 0, "the sparse matrix S whose places are taken (default: standard input)", 0},
    {NULL, 'x', "FILE", 0, "X: a row for each row of S (default: standard input)", 0},
    {NULL, 'y', "FILE", 0, "Y: a row for each column of S (default: X)", 0},
    {"op", KEY_OP, "OP", 0, "of row i of X and row j of Y: dot (default), or add, sub, mul for each column", 0},
    {"mask", KEY_MASK, "HOW", 0, "spy (default): the places only; mul: times the value of S", 0},
    {"alpha", KEY_SCALE, "X", 0, "scales the values (default: 1)", 0},
    {"heads", KEY_HEADS, "H", 0, "dot: H dots, each over its share of the columns (default: 1)", 0},
    {"leaky", KEY_LEAKY, "SLOPE", 0, "then LeakyReLU: values below 0 times the slope", 0},
    {"softmax", KEY_SOFTMAX, "row", 0, "then softmax over the entries of each row", 0},
    {"bf16", KEY_BF16, NULL, 0, "arrays of type u2 hold bfloat16", 0},
    {"array", KEY_ARRAY, NULL, 0, "write an .npy array, entries by heads, in the order of rows and columns, although one value an entry fits Matrix Market", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const ops[] = {"dot", "add", "sub", "mul"}, *const masks[] = {"spy", "mul"}, *const axes[] = {"row"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->input; return 0;
    case 's': o->s = arg; return 0;
    case 'x': o->x = arg; return 0;
    case 'y': o->y = arg; return 0;
    case KEY_OP: o->sampling.op = (spmm_edge_op)hu_option_word(state, "--op", arg, ops, 4); return 0;
    case KEY_MASK: o->sampling.by_value = hu_option_word(state, "--mask", arg, masks, 2) == 1; return 0;
    case KEY_SCALE: o->sampling.alpha = hu_option_number(state, "--alpha", arg, -1e300, 1e300); return 0;
    case KEY_HEADS: o->sampling.heads = hu_option_integer(state, "--heads", arg, 1, INT32_MAX); return 0;
    case KEY_LEAKY:
        o->sampling.is_leaky = true;
        o->sampling.leaky = hu_option_number(state, "--leaky", arg, 0, 1e300);
        return 0;
    case KEY_SOFTMAX:
        hu_option_word(state, "--softmax", arg, axes, 1);
        o->sampling.softmax = true;
        return 0;
    case KEY_BF16: o->is_bf16 = true; return 0;
    case KEY_ARRAY: o->as_array = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "%s: give the matrices by -s, -x and -y", arg); return 0;
    case ARGP_KEY_END:
        if ((strcmp(o->s, "-") == 0) + (strcmp(o->x, "-") == 0) + (o->y && strcmp(o->y, "-") == 0) > 1) argp_error(state, "only one of S, X and Y can be standard input");
        if (o->sampling.op != SPMM_DOT && o->sampling.heads != 1) argp_error(state, "--heads is for --op=dot; add, sub and mul give a value for each column");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

typedef struct {
    spmm_packed *packed;
    hu_dense *x, *own_y, *e;
    hu_csr *csr;
} work;

static hu_status read_all(const options *o, work *w, hu_error *err)
{
    if (spmm_input_read(o->s, &o->input, &w->packed, NULL, err)) return err->status;
    const spmm_matrix *a = w->packed->a;
    if (w->packed->perm) return hu_fail(err, HU_INPUT, "%s: is reordered, so that its entries are not in the order of rows and columns; unpack it first", o->s);
    if (spmm_dense_read(o->x, o->is_bf16, &w->x, err) || (o->y && spmm_dense_read(o->y, o->is_bf16, &w->own_y, err))) return err->status;
    const hu_dense *y = o->y ? w->own_y : w->x;
    if (w->x->rows != a->rows) return hu_fail(err, HU_INPUT, "%s: X has %lld rows; S has %lld", o->x, (long long)w->x->rows, (long long)a->rows);
    if (y->rows != a->cols) return hu_fail(err, HU_INPUT, "%s: Y has %lld rows; S has %lld columns", o->y ? o->y : o->x, (long long)y->rows, (long long)a->cols);
    if (y->cols != w->x->cols) return hu_fail(err, HU_INPUT, "%s: Y has %lld columns; X has %lld", o->y, (long long)y->cols, (long long)w->x->cols);
    if (o->sampling.op == SPMM_DOT && w->x->cols % o->sampling.heads)
        return hu_fail(err, HU_INPUT, "%s: %lld columns do not part into %lld heads", o->x, (long long)w->x->cols, (long long)o->sampling.heads);
    hu_scalar scalar = o->input.dtype >= 0 ? (hu_scalar)o->input.dtype : w->x->scalar;
    if (o->input.dtype < 0 && y->scalar != scalar) scalar = HU_F64; /* two types: the one that holds both */
    if (spmm_dense_make(&w->x, scalar, err) || (w->own_y && spmm_dense_make(&w->own_y, scalar, err))) return err->status;
    return hu_dense_new(a->nnz, spmm_sampling_width(&o->sampling, w->x->cols), spmm_sum_scalar(scalar), HU_ROW_MAJOR, &w->e, err);
}

static hu_status write(const options *o, work *w, hu_output *out, hu_error *err)
{
    if (w->e->cols != 1 || o->as_array || hu_array_format_of(hu_output_name(out)) == HU_ARRAY_NPY) {
        w->e->dims = w->e->cols == 1 ? 1 : 2;
        return hu_npy_write_dense(out, w->e, err);
    }
    if (spmm_matrix_to_csr(w->packed->a, &w->csr, err)) return err->status;
    for (int64_t p = 0; p < w->csr->nnz; p++) w->csr->val[p] = hu_scalar_get(w->e->scalar, w->e->data, p);
    return hu_matrix_write(out, w->csr, NULL, err);
}

static const char doc[] = "Values at the places (i,j) of a sparse matrix S, from row i of X and row j of Y: dots, or sums, differences, products column by column.\v"
                          "One value an entry is written as a sparse matrix (Matrix Market, or .npy by the name of -o); several (heads, columns) as an .npy array, one row an entry, in "
                          "the order of rows and columns.";

int command_sddmm(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The sparse matrix:", 2}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.input = spmm_input_defaults, .sampling = {SPMM_DOT, 1, 1, false, false, 0, false}, .s = "-", .x = "-"};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    work w = {0};
    hu_option_parse(argc, argv, &own, &o, &common);
    if (common_device(&common, &err) == HU_OK && read_all(&o, &w, &err) == HU_OK) {
        double start = hu_clock_wall();
        if (spmm_sddmm(w.packed->a, &o.sampling, w.x, w.own_y ? w.own_y : w.x, w.e, &err) == HU_OK) {
            const common_run run = {"sddmm", o.s, w.packed->a, "sddmm", w.x->cols, w.x->scalar, 0, hu_clock_wall() - start};
            if (hu_output_open(common.output, &out, &err) == HU_OK && write(&o, &w, out, &err) == HU_OK && common_explain(&run, &err) == HU_OK) common_report(&common, &run, &err);
        }
    }
    spmm_packed_free(w.packed);
    hu_dense_free(w.x);
    hu_dense_free(w.own_y);
    hu_dense_free(w.e);
    hu_csr_free(w.csr);
    return hu_exit(&err, out);
}
