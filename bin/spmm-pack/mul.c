/* mul.c: spmm-pack mul: C = alpha op(A B) + beta C, and what may follow.
 *
 * Sections: options, operands, the product.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "commands.h"
#include "common.h"
#include "dense_in.h"
#include "input.h"
#include "io/npy.h"
#include "verify.h"

#include <math.h>
#include <string.h>

/* ---- options ---------------------------------------------------------------------------------------------------- */

typedef struct {
    spmm_input input;
    const char *a, *b, *c, *arg_out, *bias;
    double alpha, beta, cap;
    int reduce, acc, out_dtype;
    bool is_bf16, relu, check;
} options;

enum { KEY_SCALE = 0x100, KEY_BETA, KEY_REDUCE, KEY_ARG_OUT, KEY_ACC, KEY_OUT_DTYPE, KEY_BF16, KEY_BIAS, KEY_RELU, KEY_CAP, KEY_CHECK };

static const struct argp_option table[] = {
    {NULL, 'a', "FILE", 0, "the sparse matrix A (default: standard input)", 0},
    {NULL, 'b', "FILE", 0, "the dense matrix B (default: standard input)", 0},
    {NULL, 'c', "FILE", 0, "the dense matrix C that --beta scales", 0},
    {"alpha", KEY_SCALE, "X", 0, "scales the product (default: 1)", 0},
    {"beta", KEY_BETA, "X", 0, "scales C, which is added (default: 1 where -c is given)", 0},
    {"reduce", KEY_REDUCE, "HOW", 0, "over the entries of a row: sum (default), mean, max or min", 0},
    {"arg-out", KEY_ARG_OUT, "FILE", 0, "max, min: write whose column it was, from 1; -1 where a row is empty", 0},
    {"acc", KEY_ACC, "TYPE", 0, "sum in f32 or f64 (default: f64 where B is f64, else f32)", 0},
    {"out-dtype", KEY_OUT_DTYPE, "TYPE", 0, "the result's type: f64, f32, f16 or bf16 (default: B's)", 0},
    {"bf16", KEY_BF16, NULL, 0, "an array of type u2 (B, C) holds bfloat16", 0},
    {"bias", KEY_BIAS, "X", 0, "add a number, or from a file a value for each row (a vector) or column (one row)", 0},
    {"relu", KEY_RELU, NULL, 0, "then max(C, 0)", 0},
    {"cap", KEY_CAP, "X", 0, "then min(C, X)", 0},
    {"check", KEY_CHECK, NULL, 0, "sum only: hold the result against plain loops; exit 1 beyond the error bound", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const reduces[] = {"sum", "mean", "max", "min"}, *const accs[] = {"f64", "f32"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &o->input;
        return 0;
    case 'a': o->a = arg; return 0;
    case 'b': o->b = arg; return 0;
    case 'c': o->c = arg; return 0;
    case KEY_SCALE: o->alpha = hu_option_number(state, "--alpha", arg, -1e300, 1e300); return 0;
    case KEY_BETA: o->beta = hu_option_number(state, "--beta", arg, -1e300, 1e300); return 0;
    case KEY_REDUCE: o->reduce = hu_option_word(state, "--reduce", arg, reduces, 4); return 0;
    case KEY_ARG_OUT: o->arg_out = arg; return 0;
    case KEY_ACC: o->acc = hu_option_word(state, "--acc", arg, accs, 2) ? HU_F32 : HU_F64; return 0;
    case KEY_OUT_DTYPE: o->out_dtype = spmm_option_scalar(state, "--out-dtype", arg); return 0;
    case KEY_BF16: o->is_bf16 = true; return 0;
    case KEY_BIAS: o->bias = arg; return 0;
    case KEY_RELU: o->relu = true; return 0;
    case KEY_CAP: o->cap = hu_option_number(state, "--cap", arg, -1e300, 1e300); return 0;
    case KEY_CHECK: o->check = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "%s: give the matrices by -a and -b", arg); return 0;
    case ARGP_KEY_END:
        if (strcmp(o->a, "-") == 0 && strcmp(o->b, "-") == 0) argp_error(state, "A and B cannot both be standard input; give one by -a or -b");
        if (o->arg_out && o->reduce < SPMM_MAX) argp_error(state, "--arg-out needs --reduce=max or min");
        if (o->check && (o->reduce != SPMM_SUM || o->bias || o->relu || o->cap < INFINITY)) argp_error(state, "--check is for sums without --bias, --relu and --cap");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

typedef struct {
    spmm_packed *packed;
    spmm_plan *plan;
    hu_dense *b, *c, *c0, *bias;
    int32_t *arg;
    hu_scalar out; /* the result's type */
} work;

static void free_work(work *w)
{
    spmm_plan_free(w->plan);
    spmm_packed_free(w->packed);
    hu_dense_free(w->b);
    hu_dense_free(w->c);
    hu_dense_free(w->c0);
    hu_dense_free(w->bias);
    hu_free(w->arg);
}

static hu_status wrong_shape(const char *what, const char *path, const hu_dense *d, int64_t rows, int64_t cols, hu_error *err)
{
    return hu_fail(err, HU_INPUT, "%s: %s is %lld x %lld; %lld x %lld is needed", path, what, (long long)d->rows, (long long)d->cols, (long long)rows, (long long)cols);
}

/* B in the type that is summed from, C with what --beta scales. */
static hu_status read_dense(const options *o, work *w, hu_error *err)
{
    const spmm_matrix *a = w->packed->a;
    if (spmm_dense_read(o->b, o->is_bf16, &w->b, err)) return err->status;
    hu_scalar scalar = o->input.dtype >= 0 ? (hu_scalar)o->input.dtype : w->b->scalar;
    if (w->b->rows != a->cols) return wrong_shape("B", o->b, w->b, a->cols, w->b->cols, err);
    w->out = o->out_dtype >= 0 ? (hu_scalar)o->out_dtype : scalar;
    if (spmm_dense_make(&w->b, scalar, err)) return err->status; /* rounded to --dtype first, then perhaps widened for --acc */
    if (o->acc == HU_F64) scalar = HU_F64;
    if (o->acc == HU_F32 && scalar == HU_F64) scalar = HU_F32;
    if (spmm_dense_make(&w->b, scalar, err) || spmm_input_permute(w->packed, &w->b, false, err)) return err->status;
    const hu_scalar sums = spmm_sum_scalar(scalar), c = sums == HU_F32 && w->out != HU_F64 ? w->out : sums; /* others are converted at the end */
    if (!o->c) {
        if (hu_dense_new(a->rows, w->b->cols, c, HU_ROW_MAJOR, &w->c, err)) return err->status;
    } else {
        if (spmm_dense_read(o->c, o->is_bf16, &w->c, err)) return err->status;
        if (w->c->rows != a->rows || w->c->cols != w->b->cols) return wrong_shape("C", o->c, w->c, a->rows, w->b->cols, err);
        if (spmm_dense_make(&w->c, sums, err) || spmm_input_permute(w->packed, &w->c, false, err)) return err->status; /* no digit of C is lost before it is scaled */
    }
    w->c->dims = w->b->dims;
    return HU_OK;
}

/* --bias: a number, or a file. */
static hu_status read_bias(const options *o, work *w, spmm_finish *f, hu_error *err)
{
    const char *end = o->bias ? o->bias + strlen(o->bias) : NULL;
    if (!o->bias) return HU_OK;
    if (hu_number_parse(o->bias, end, &f->bias) == end && isfinite(f->bias)) return HU_OK;
    f->bias = 0;
    if (spmm_dense_read(o->bias, false, &w->bias, err)) return err->status;
    const bool by_row = w->bias->cols == 1 && w->bias->rows == w->c->rows;
    if (!by_row && !(w->bias->rows == 1 && w->bias->cols == w->c->cols))
        return hu_fail(err, HU_INPUT, "%s: a bias is a vector of %lld (rows) or one row of %lld (columns); this is %lld x %lld", o->bias, (long long)w->c->rows, (long long)w->c->cols,
                       (long long)w->bias->rows, (long long)w->bias->cols);
    if (spmm_dense_make(&w->bias, HU_F64, err) || (by_row && spmm_input_permute(w->packed, &w->bias, false, err))) return err->status;
    if (by_row) f->bias_of_row = w->bias->data;
    else f->bias_of_col = w->bias->data;
    return HU_OK;
}

/* ---- the product ------------------------------------------------------------------------------------------------ */

/* Columns in the file's numbers, rows in its order. */
static hu_status write_arg(const options *o, const work *w, hu_error *err)
{
    hu_output *out;
    hu_dense *rows = NULL;
    const int64_t shape[] = {w->c->rows, w->c->cols}, count = w->c->rows * w->c->cols;
    const int32_t *perm = w->packed->perm;
    for (int64_t i = 0; perm && i < count; i++)
        if (w->arg[i] > 0) w->arg[i] = perm[w->arg[i] - 1] + 1;
    if (perm) { /* rows back to their places, as numbers of four bytes */
        if (hu_dense_new(shape[0], shape[1], HU_F32, HU_ROW_MAJOR, &rows, err)) return err->status;
        memcpy(rows->data, w->arg, (size_t)count * sizeof *w->arg);
        if (spmm_input_permute(w->packed, &rows, true, err)) return err->status;
    }
    if (hu_output_open(o->arg_out, &out, err) == HU_OK) {
        if (hu_npy_write(out, HU_NPY_I4, w->c->dims, shape, HU_ROW_MAJOR, rows ? rows->data : w->arg, err) == HU_OK) hu_output_commit(&out, err);
        else hu_output_abort(&out);
    }
    hu_dense_free(rows);
    return err->status;
}

static hu_status check_result(const options *o, const work *w, double beta, hu_error *err)
{
    const double ratio = spmm_verify(w->packed->a, w->b, w->c, o->alpha, beta, w->c0);
    hu_say(0, "checked: error at most %.3g of the bound", ratio);
    return ratio <= 1 ? HU_OK : hu_fail(err, HU_NO, "the result is off by %.3g times the error bound", ratio);
}

static hu_status multiply(const options *o, const hu_common *common, work *w, hu_output *out, hu_error *err)
{
    spmm_product p = {NULL, NULL, SPMM_PLAIN};
    if (spmm_input_read(o->a, &o->input, &w->packed, NULL, err) || read_dense(o, w, err) || read_bias(o, w, &p.finish, err)) return err->status;
    p.b = w->b;
    p.c = w->c;
    p.finish.alpha = o->alpha;
    p.finish.beta = o->c ? o->beta : 0;
    p.finish.relu = o->relu;
    p.finish.cap = o->cap;
    if (o->arg_out && hu_alloc(w->c->rows * w->c->cols, sizeof *w->arg, "columns of extremes", (void **)&w->arg, err)) return err->status;
    if (o->check && o->c && hu_dense_convert(w->c, w->c->scalar, HU_ROW_MAJOR, &w->c0, err)) return err->status;
    if (spmm_input_plan(w->packed, &o->input, w->b->cols, spmm_sum_scalar(w->b->scalar), &w->plan, err)) return err->status;
    double start = hu_clock_wall();
    if (spmm_multiply(w->plan, (spmm_reduce)o->reduce, &p, w->arg, err)) return err->status;
    const common_run run = {"mul", o->a, w->packed->a, w->plan->strategy->name, w->b->cols, w->b->scalar, w->plan->pack_seconds, hu_clock_wall() - start};
    if (o->check && check_result(o, w, p.finish.beta, err)) return err->status;
    if (w->arg && write_arg(o, w, err)) return err->status;
    if (spmm_dense_make(&w->c, w->out, err) || spmm_input_permute(w->packed, &w->c, true, err) || hu_npy_write_dense(out, w->c, err)) return err->status;
    if (common_explain(&run, err)) return err->status;
    return common_report(common, &run, err);
}

static const char doc[] = "Multiply a sparse matrix A by a dense matrix B: C = alpha A B + beta C.\v"
                          "Row i of A gathers: C(i,:) is the sum of A(i,j) B(j,:) over the entries of the row. The result is an .npy array.";

int command_mul(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The sparse matrix:", 2}, {&spmm_pack_argp, 0, "Packing:", 3}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.input = spmm_input_defaults, .a = "-", .b = "-", .alpha = 1, .beta = 1, .cap = INFINITY, .acc = -1, .out_dtype = -1};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    work w = {0};
    hu_option_parse(argc, argv, &own, &o, &common);
    if (common_device(&common, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) multiply(&o, &common, &w, out, &err);
    free_work(&w);
    return hu_exit(&err, out);
}
