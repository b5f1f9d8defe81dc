/* bench.c: spmm-pack bench: times the strategies on a matrix, in turn, and says what share of the machine's limit they reach.
 *
 * Sections: options, one case, the table.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "commands.h"
#include "common.h"
#include "input.h"
#include "io/report.h"
#include "sddmm.h"
#include "verify.h"

#include <math.h>
#include <string.h>

/* ---- options ---------------------------------------------------------------------------------------------------- */

enum { KEY_OP = 0x100, KEY_ROUNDS, KEY_DTYPES, WIDTHS = 16, TYPES = 4, STRATEGIES = 8, MOST_ROUNDS = 1000 };

typedef struct {
    spmm_input input;
    const char *path;
    int64_t k[WIDTHS];
    int widths, rounds;
    hu_scalar type[TYPES];
    int types;
    bool sample;
} options;

static const struct argp_option table[] = {
    {NULL, 'k', "LIST", 0, "columns of B (default: 32,128)", 0},
    {"op", KEY_OP, "OP", 0, "mul (default) or sddmm", 0},
    {"dtypes", KEY_DTYPES, "LIST", 0, "types of B: of f64, f32, f16, bf16 (default: f32)", 0},
    {"rounds", KEY_ROUNDS, "N", 0, "rounds, each of which runs every strategy once (default: 7)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const ops[] = {"mul", "sddmm"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &o->input;
        return 0;
    case 'k': o->widths = common_widths(state, arg, o->k, WIDTHS); return 0;
    case KEY_OP: o->sample = hu_option_word(state, "--op", arg, ops, 2) == 1; return 0;
    case KEY_ROUNDS: o->rounds = (int)hu_option_integer(state, "--rounds", arg, 1, MOST_ROUNDS); return 0;
    case KEY_DTYPES:
        o->types = 0;
        for (char *save, *word = strtok_r(arg, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
            if (o->types == TYPES) argp_error(state, "--dtypes: more than %d", TYPES);
            const int scalar = spmm_option_scalar(state, "--dtypes", word);
            if (scalar < 0) argp_error(state, "--dtypes: auto is no type");
            o->type[o->types++] = (hu_scalar)scalar;
        }
        if (o->types == 0) argp_error(state, "--dtypes: none");
        return 0;
    case ARGP_KEY_ARG:
        if (o->path) argp_error(state, "more than one matrix: %s and %s", o->path, arg);
        o->path = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- one case: a number of columns and a type --------------------------------------------------------------------- */

typedef struct {
    const spmm_strategy *strategy; /* NULL: sddmm */
    spmm_plan *plan;
    double sample[MOST_ROUNDS];
} contender;

typedef struct {
    const options *o;
    spmm_packed *packed;
    int64_t k;
    hu_scalar type;
    hu_dense *b, *y, *c; /* y: sddmm's */
    contender *contenders;
    int n;
} trial;

static hu_status random_dense(int64_t rows, int64_t cols, hu_scalar scalar, uint64_t seed, hu_dense **ret, hu_error *err)
{
    if (hu_dense_new(rows, cols, scalar, HU_ROW_MAJOR, ret, err)) return err->status;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        hu_random r = hu_random_stream(seed, (uint64_t)i);
        for (int64_t j = 0; j < cols; j++) hu_scalar_put(scalar, (*ret)->data, i * cols + j, 2 * hu_random_uniform(&r) - 1);
    }
    return HU_OK;
}

static hu_status run(trial *t, int i, hu_error *err)
{
    if (!t->contenders[i].strategy) {
        const spmm_sampling s = {SPMM_DOT, 1, 1, false, false, 0, false};
        return spmm_sddmm(t->packed->a, &s, t->b, t->y, t->c, err);
    }
    const spmm_product p = {t->b, t->c, SPMM_PLAIN};
    return spmm_multiply(t->contenders[i].plan, SPMM_SUM, &p, NULL, err);
}

/* Errors are looked for in the leading columns where there is much to compute. */
static double error_ratio(const trial *t)
{
    const int64_t most = ((int64_t)1 << 27) / (t->packed->a->nnz + 1) + 1;
    hu_dense c = *t->c;
    if (c.cols > most) c.cols = most;
    return spmm_verify(t->packed->a, t->b, &c, 1, 0, NULL);
}

static hu_status make_contenders(trial *t, hu_error *err)
{
    const hu_scalar sums = spmm_sum_scalar(t->type);
    for (int s = 0; t->o->sample ? s < 1 : spmm_strategies[s] != NULL; s++) {
        const spmm_strategy *strategy = t->o->sample ? NULL : spmm_strategies[s];
        if (strategy && t->o->input.strategy && strcmp(t->o->input.strategy, strategy->name) != 0) continue;
        contender *c = &t->contenders[t->n++];
        c->strategy = strategy;
        spmm_options packing = t->o->input.packing;
        packing.k = t->k;
        if (strategy && spmm_packed_plan(t->packed, strategy, &packing, sums, &c->plan, err)) return err->status;
    }
    return HU_OK;
}

static void add_row(hu_report *r, const trial *t, contender *c, const spmm_limits *limits, double ratio, hu_error *err)
{
    const spmm_cost cost = spmm_cost_of(t->packed->a, t->k, t->type, t->c->scalar);
    const double bound = spmm_cost_bound(&cost, limits, spmm_sum_scalar(t->type), NULL), median = hu_clock_median(c->sample, t->o->rounds);
    double least = INFINITY;
    for (int i = 0; i < t->o->rounds; i++) least = fmin(least, c->sample[i]);
    hu_report_text(r, "op", c->strategy ? "mul" : "sddmm", err);
    hu_report_text(r, "strategy", c->strategy ? c->strategy->name : "sddmm", err);
    hu_report_integer(r, "K", t->k, err);
    hu_report_text(r, "dtype", hu_scalar_name(t->type), err);
    hu_report_integer(r, "threads", hu_threads(), err);
    hu_report_number(r, "pack_ms", c->plan ? c->plan->pack_seconds * 1e3 : NAN, err);
    hu_report_number(r, "ms_min", least * 1e3, err);
    hu_report_number(r, "ms_med", median * 1e3, err);
    hu_report_number(r, "gflops", cost.flops / median * 1e-9, err);
    hu_report_number(r, "gbs", cost.bytes / median * 1e-9, err);
    hu_report_number(r, "roof_pct", 100 * bound / median, err);
    hu_report_number(r, "err_ratio", ratio, err);
}

static hu_status time_case(trial *t, const spmm_limits *limits, hu_report *r, bool *first, hu_error *err)
{
    const spmm_matrix *a = t->packed->a;
    const hu_scalar sums = spmm_sum_scalar(t->type);
    if (random_dense(t->o->sample ? a->rows : a->cols, t->k, t->type, 11, &t->b, err) || (t->o->sample && random_dense(a->cols, t->k, t->type, 12, &t->y, err)) ||
        hu_dense_new(t->o->sample ? a->nnz : a->rows, t->o->sample ? 1 : t->k, t->o->sample ? sums : t->type, HU_ROW_MAJOR, &t->c, err) || make_contenders(t, err))
        return err->status;
    for (int round = -1; round < t->o->rounds; round++) /* the first warms up */
        for (int i = 0; i < t->n; i++) {
            const double start = hu_clock_wall();
            if (run(t, i, err)) return err->status;
            if (round >= 0) t->contenders[i].sample[round] = hu_clock_wall() - start;
        }
    for (int i = 0; i < t->n && !err->status; i++) {
        double ratio = NAN;
        if (t->contenders[i].strategy) {
            if (run(t, i, err)) return err->status;
            ratio = error_ratio(t);
            if (!(ratio <= 1)) return hu_fail(err, HU_NO, "strategy %s is off by %.3g times the error bound", t->contenders[i].strategy->name, ratio);
        }
        if (!*first) hu_report_next_row(r);
        *first = false;
        add_row(r, t, &t->contenders[i], limits, ratio, err);
    }
    return err->status;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static hu_status bench(const options *o, spmm_packed *packed, hu_output *out, hu_error *err)
{
    spmm_limits limits;
    hu_report *r = NULL;
    bool first = true;
    void *block;
    if (spmm_limits_measure(&limits, err) || hu_report_new(&r, err) || hu_alloc_zero(STRATEGIES, sizeof(contender), "strategies", &block, err)) goto cleanup;
    for (int w = 0; w < o->widths && !err->status; w++)
        for (int type = 0; type < o->types && !err->status; type++) {
            trial t = {o, packed, o->k[w], o->type[type], NULL, NULL, NULL, block, 0};
            memset(block, 0, STRATEGIES * sizeof(contender));
            time_case(&t, &limits, r, &first, err);
            for (int i = 0; i < t.n; i++) spmm_plan_free(t.contenders[i].plan);
            hu_dense_free(t.b);
            hu_dense_free(t.y);
            hu_dense_free(t.c);
        }
    hu_free(block);
    if (!err->status) hu_report_write(r, true, out, err);
cleanup:
    hu_report_free(r);
    return err->status;
}

int command_bench(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The matrix:", 2}, {&spmm_pack_argp, 0, "Packing:", 3}, {0}};
    const struct argp own = {table, parse, "[MATRIX]", "Time every strategy (or the one of --strategy) on a matrix, in turn: CSV of times, rates, the share of the machine's limit, and the error.",
                             children, NULL, NULL};
    options o = {.input = spmm_input_defaults, .k = {32, 128}, .widths = 2, .rounds = 7, .type = {HU_F32}, .types = 1};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    spmm_packed *packed = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (common_device(&common, &err) == HU_OK && spmm_input_read(o.path ? o.path : "-", &o.input, &packed, NULL, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK)
        bench(&o, packed, out, &err);
    spmm_packed_free(packed);
    return hu_exit(&err, out);
}
