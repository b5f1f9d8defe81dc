/* mul.c: spmm-pack mul: C = alpha op(A B) + beta C, and what may follow. */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "dense_in.h"
#include "device/device.h"
#include "input.h"
#include "io/npy.h"

#include <math.h>
#include <string.h>

typedef struct {
    spmm_input input;
    const char *a, *b, *c;
    double alpha, beta;
    int reduce;
} options;

enum { KEY_SCALE = 0x100, KEY_BETA, KEY_REDUCE };

static const struct argp_option table[] = {
    {NULL, 'a', "FILE", 0, "the sparse matrix A (default: -)", 0},
    {NULL, 'b', "FILE", 0, "the dense matrix B (default: -)", 0},
    {NULL, 'c', "FILE", 0, "the dense matrix C that --beta scales", 0},
    {"alpha", KEY_SCALE, "X", 0, "scales the product (default: 1)", 0},
    {"beta", KEY_BETA, "X", 0, "scales C, which is added (default: 1 where -c is given)", 0},
    {"reduce", KEY_REDUCE, "HOW", 0, "over the entries of a row: sum (default), mean, max or min", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const reduces[] = {"sum", "mean", "max", "min"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->input; return 0;
    case 'a': o->a = arg; return 0;
    case 'b': o->b = arg; return 0;
    case 'c': o->c = arg; return 0;
    case KEY_SCALE: o->alpha = hu_option_number(state, "--alpha", arg, -INFINITY, INFINITY); return 0;
    case KEY_BETA: o->beta = hu_option_number(state, "--beta", arg, -INFINITY, INFINITY); return 0;
    case KEY_REDUCE: o->reduce = hu_option_word(state, "--reduce", arg, reduces, 4); return 0;
    case ARGP_KEY_ARG: argp_error(state, "%s: give the matrices by -a and -b", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static hu_status multiply(const options *o, hu_output *out, hu_error *err)
{
    spmm_matrix *a = NULL;
    spmm_plan *plan = NULL;
    hu_dense *b = NULL, *c = NULL;
    spmm_product p = {NULL, NULL, SPMM_PLAIN};
    if (spmm_input_read(o->a, &o->input, &a, err) || spmm_dense_read(o->b, false, &b, err) || spmm_dense_make(&b, b->scalar, err)) goto cleanup;
    const hu_scalar sums = spmm_sum_scalar(b->scalar);
    if (o->c ? spmm_dense_read(o->c, false, &c, err) || spmm_dense_make(&c, b->scalar, err) : hu_dense_new(a->rows, b->cols, b->scalar, HU_ROW_MAJOR, &c, err)) goto cleanup;
    c->dims = b->dims;
    p.b = b;
    p.c = c;
    p.finish.alpha = o->alpha;
    p.finish.beta = o->c ? o->beta : 0;
    if (spmm_plan_new(a, spmm_input_strategy(&o->input), &o->input.packing, sums, &plan, err) || spmm_multiply(plan, (spmm_reduce)o->reduce, &p, NULL, err)) goto cleanup;
    hu_npy_write_dense(out, c, err);
cleanup:
    spmm_plan_free(plan);
    spmm_matrix_free(a);
    hu_dense_free(b);
    hu_dense_free(c);
    return err->status;
}

static const char doc[] = "Multiply a sparse matrix A by a dense matrix B: C = alpha A B + beta C.";

int command_mul(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_input_argp, 0, "The sparse matrix:", 2}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.input = SPMM_INPUT, .a = "-", .b = "-", .alpha = 1, .beta = 1};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_device device;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (hu_device_pick(common.device, false, &device, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) multiply(&o, out, &err);
    return hu_exit(&err, out);
}
