/* info.c: spmm-pack info: what a matrix is, what products with it need, and what is advised. */
#include "config.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/parallel.h"
#include "commands.h"
#include "common.h"
#include "describe.h"
#include "input.h"
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_K = 0x100, KEY_NO_MEASURE, WIDTHS = 16 };

typedef struct {
    spmm_input input;
    const char *path;
    int64_t k[WIDTHS];
    int widths;
    bool no_measure;
} options;

static const struct argp_option table[] = {
    {NULL, 'k', "LIST", 0, "columns of B for which bytes, operations and bounds are told (default: 32,128)", 0},
    {"no-measure", KEY_NO_MEASURE, NULL, 0, "do not measure this machine's limits, and tell no bounds", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &o->input;
        return 0;
    case 'k': o->widths = common_widths(state, arg, o->k, WIDTHS); return 0;
    case KEY_NO_MEASURE: o->no_measure = true; return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one matrix: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Rows of two cells, name and value; the first failure stays in err. */
static void put_number(hu_csv_writer *w, const char *name, double value, hu_error *err)
{
    if (!err->status && hu_csv_put_text(w, name, err) == HU_OK && hu_csv_put_number(w, value, err) == HU_OK) hu_csv_end_row(w, err);
}

static void put_text(hu_csv_writer *w, const char *name, const char *value, hu_error *err)
{
    if (!err->status && hu_csv_put_text(w, name, err) == HU_OK && hu_csv_put_text(w, value, err) == HU_OK) hu_csv_end_row(w, err);
}

static void put_width(hu_csv_writer *w, const spmm_packed *packed, int64_t k, bool measure, hu_error *err)
{
    const spmm_matrix *a = packed->a;
    char name[64];
    const char *limit, *why;
    spmm_limits limits;
    const spmm_cost cost = spmm_cost_of(a, k, HU_F32, HU_F32);
    snprintf(name, sizeof name, "k%lld.flops", (long long)k);
    put_number(w, name, cost.flops, err);
    snprintf(name, sizeof name, "k%lld.bytes", (long long)k);
    put_number(w, name, cost.bytes, err);
    snprintf(name, sizeof name, "k%lld.gather_bytes", (long long)k);
    put_number(w, name, cost.gather_bytes, err);
    if (measure && !err->status && spmm_limits_measure(&limits, err) == HU_OK) {
        const double bound = spmm_cost_bound(&cost, &limits, HU_F32, &limit);
        snprintf(name, sizeof name, "k%lld.bound_ms", (long long)k);
        put_number(w, name, bound * 1e3, err);
        snprintf(name, sizeof name, "k%lld.limit", (long long)k);
        put_text(w, name, limit, err);
    }
    snprintf(name, sizeof name, "k%lld.advice", (long long)k);
    put_text(w, name, spmm_strategy_advise(a, k, HU_F32, &why)->name, err);
    snprintf(name, sizeof name, "k%lld.why", (long long)k);
    put_text(w, name, why, err);
}

static hu_status put_packing(hu_csv_writer *w, spmm_packed *packed, const options *o, hu_error *err)
{
    spmm_plan *plan;
    spmm_stats s;
    if (!packed->bundle) return HU_OK;
    put_text(w, "packed.strategy", packed->strategy->name, err);
    if (packed->cpu) put_text(w, "packed.cpu", packed->cpu, err);
    if (packed->made) put_text(w, "packed.made", packed->made, err);
    put_text(w, "packed.dtype", hu_scalar_name(packed->storage), err);
    put_text(w, "packed.reordered", packed->perm ? "yes" : "no", err);
    put_text(w, "packed.tuned", packed->tune ? "yes" : "no", err);
    if (err->status || spmm_input_plan(packed, &o->input, 0, packed->storage == HU_F64 ? HU_F64 : HU_F32, &plan, err)) return err->status;
    plan->strategy->stats(plan->pack, plan->a, &s);
    put_number(w, "packed.packs", (double)s.packs, err);
    put_number(w, "packed.split_rows", (double)s.split_rows, err);
    put_number(w, "packed.pieces", (double)s.pieces, err);
    put_number(w, "packed.load_min", s.least_load, err);
    put_number(w, "packed.load_max", s.greatest_load, err);
    put_number(w, "packed.covered", (double)s.covered, err);
    put_number(w, "packed.remainder", (double)s.remainder, err);
    put_number(w, "packed.bytes", (double)s.bytes, err);
    spmm_plan_free(plan);
    return err->status;
}

static hu_status print(const options *o, spmm_packed *packed, const spmm_read_info *info, hu_output *out, hu_error *err)
{
    const spmm_matrix *a = packed->a;
    hu_csv_writer writer = hu_csv_writer_to(out, ','), *w = &writer;
    spmm_description d;
    if (spmm_describe(a, &d, err)) return err->status;
    put_text(w, "property", "value", err);
    put_number(w, "rows", (double)a->rows, err);
    put_number(w, "cols", (double)a->cols, err);
    put_number(w, "nnz", (double)a->nnz, err);
    put_number(w, "file_entries", (double)info->entries, err);
    put_text(w, "file_symmetric", info->is_symmetric ? "yes" : "no", err);
    if (!info->is_symmetric && !o->input.transpose && o->input.loops == SPMM_LOOPS_NONE) put_number(w, "duplicates", (double)(info->entries - a->nnz), err);
    put_text(w, "values", a->val ? hu_scalar_name(a->scalar) : "pattern", err);
    put_number(w, "explicit_zeros", (double)d.zeros, err);
    put_number(w, "empty_rows", (double)d.empty_rows, err);
    put_number(w, "empty_cols", (double)d.empty_cols, err);
    put_number(w, "self_loops", (double)d.loops, err);
    put_number(w, "row_mean", d.mean, err);
    put_number(w, "row_variance", d.variance, err);
    put_number(w, "row_max", (double)d.greatest_row, err);
    put_number(w, "col_max", (double)d.greatest_col, err);
    put_number(w, "row_gini", d.gini, err);
    put_number(w, "bandwidth", (double)d.bandwidth, err);
    put_text(w, "symmetric", d.values_symmetric ? "yes" : d.pattern_symmetric ? "pattern" : "no", err);
    for (int i = 0; i < o->widths; i++) put_width(w, packed, o->k[i], !o->no_measure, err);
    return err->status ? err->status : put_packing(w, packed, o, err);
}

int command_info(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The matrix:", 2}, {&spmm_pack_argp, 0, "Packing:", 3}, {0}};
    const struct argp own = {table, parse, "[MATRIX]", "Say what a sparse matrix is like, what products with it need and could reach here, and what is advised: CSV of property and value.",
                             children, NULL, NULL};
    options o = {.input = spmm_input_defaults, .k = {32, 128}, .widths = 2};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    spmm_packed *packed = NULL;
    spmm_read_info info;
    hu_option_parse(argc, argv, &own, &o, &common);
    const char *path = o.path ? o.path : "-";
    double start = hu_clock_wall();
    if (common_device(&common, &err) == HU_OK && spmm_input_read(path, &o.input, &packed, &info, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK &&
        print(&o, packed, &info, out, &err) == HU_OK) {
        const common_run run = {"info", path, packed->a, NULL, 0, packed->storage, 0, hu_clock_wall() - start};
        common_report(&common, &run, &err);
    }
    spmm_packed_free(packed);
    return hu_exit(&err, out);
}
