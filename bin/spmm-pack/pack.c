/* pack.c: spmm-pack pack and unpack: a matrix to a packed file and back. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "commands.h"
#include "common.h"
#include "input.h"
#include "io/matrix.h"
#include "verify.h"

#include <string.h>

enum { KEY_ZSTD = 0x100, KEY_VERIFY, KEY_INDEX, KEY_K };

typedef struct {
    spmm_input input;
    const char *path;
    bool zstd, verify, wide;
    int64_t k;
} options;

static const struct argp_option table[] = {
    {"zstd", KEY_ZSTD, NULL, 0, "compress the file, for transport; a plain one is read faster", 0},
    {"index", KEY_INDEX, "BITS", 0, "width of the column numbers in the file: 32 (default) or 64", 0},
    {"columns", KEY_K, "K", 0, "columns of B that are expected, for --strategy=auto", 0},
    {"verify", KEY_VERIFY, NULL, 0, "multiply the packed form by a random B and hold it against plain loops; exit 1 beyond the error bound", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const widths[] = {"32", "64"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &o->input;
        return 0;
    case KEY_ZSTD: o->zstd = true; return 0;
    case KEY_VERIFY: o->verify = true; return 0;
    case KEY_INDEX: o->wide = hu_option_word(state, "--index", arg, widths, 2) == 1; return 0;
    case KEY_K: o->k = hu_option_integer(state, "--columns", arg, 1, INT32_MAX); return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one matrix: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* HU_NO where the plan's product is beyond the bound. */
static hu_status verify(const spmm_plan *plan, uint64_t seed, hu_error *err)
{
    enum { COLUMNS = 5 };
    hu_dense *b = NULL, *c = NULL;
    hu_random random = hu_random_stream(seed, 7);
    if (hu_dense_new(plan->a->cols, COLUMNS, plan->a->scalar, HU_ROW_MAJOR, &b, err) || hu_dense_new(plan->a->rows, COLUMNS, plan->a->scalar, HU_ROW_MAJOR, &c, err)) goto cleanup;
    for (int64_t i = 0; i < b->rows * COLUMNS; i++) hu_scalar_put(b->scalar, b->data, i, hu_random_normal(&random));
    const spmm_product p = {b, c, SPMM_PLAIN};
    if (spmm_multiply(plan, SPMM_SUM, &p, NULL, err)) goto cleanup;
    const double ratio = spmm_verify(plan->a, b, c, 1, 0, NULL);
    hu_say(0, "verified: error at most %.3g of the bound", ratio);
    if (!(ratio <= 1)) hu_fail(err, HU_NO, "the packed form's product is off by %.3g times the error bound", ratio);
cleanup:
    hu_dense_free(b);
    hu_dense_free(c);
    return err->status;
}

static void explain(const spmm_plan *plan, const options *o)
{
    const char *why = NULL;
    spmm_stats s;
    plan->strategy->stats(plan->pack, plan->a, &s);
    if (!o->input.strategy) spmm_strategy_advise(plan->a, o->k, plan->a->scalar, &why);
    hu_say(1, "strategy %s%s%s; %lld packs, load %g to %g; %lld rows cut into %lld parts; %lld of %lld entries covered, %lld in the remainder; %lld bytes more than the matrix; packed in %.3g s",
           plan->strategy->name, why ? ": " : "", why ? why : "", (long long)s.packs, s.least_load, s.greatest_load, (long long)s.split_rows, (long long)s.pieces, (long long)s.covered,
           (long long)plan->a->nnz, (long long)s.remainder, (long long)s.bytes, plan->pack_seconds);
}

int command_pack(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The matrix:", 2}, {&spmm_pack_argp, 0, "Packing:", 3}, {0}};
    const struct argp own = {table, parse, "[MATRIX]", "Pack a sparse matrix for products with dense ones; the result is a .spk file.", children, NULL, NULL};
    options o = {.input = spmm_input_defaults};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    spmm_packed *packed = NULL;
    spmm_plan *plan = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    const char *path = o.path ? o.path : "-";
    double start = hu_clock_wall();
    if (common_device(&common, &err) == HU_OK && spmm_input_read(path, &o.input, &packed, NULL, &err) == HU_OK &&
        spmm_input_plan(packed, &o.input, o.k, packed->storage == HU_F64 ? HU_F64 : HU_F32, &plan, &err) == HU_OK &&
        (!o.verify || verify(plan, common.seed, &err) == HU_OK) && hu_output_open(common.output, &out, &err) == HU_OK) {
        explain(plan, &o);
        packed->wide_index = o.wide;
        if (spmm_packed_write(packed, plan, o.zstd ? HU_BUNDLE_ZSTD : HU_BUNDLE_PLAIN, out, &err) == HU_OK) {
            const common_run run = {"pack", path, packed->a, plan->strategy->name, 0, packed->storage, plan->pack_seconds, hu_clock_wall() - start};
            common_report(&common, &run, &err);
        }
    }
    spmm_plan_free(plan);
    spmm_packed_free(packed);
    return hu_exit(&err, out);
}

int command_unpack(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The matrix:", 2}, {0}};
    const struct argp own = {NULL, parse, "[PACKED]", "Write a packed matrix as Matrix Market (or a .csr bundle, by the name of -o), in its original order.", children, NULL, NULL};
    options o = {.input = spmm_input_defaults};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    spmm_packed *packed = NULL;
    hu_csr *csr = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (spmm_input_read(o.path ? o.path : "-", &o.input, &packed, NULL, &err) == HU_OK && spmm_packed_to_csr(packed, &csr, &err) == HU_OK &&
        hu_output_open(common.output, &out, &err) == HU_OK)
        hu_matrix_write(out, csr, packed->made, &err);
    hu_csr_free(csr);
    spmm_packed_free(packed);
    return hu_exit(&err, out);
}
