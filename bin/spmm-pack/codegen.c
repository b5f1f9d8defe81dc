/* codegen.c: spmm-pack codegen: the source of a kernel for one pruned weight. */
#include "config.h"
#include "base/memory.h"
#include "commands.h"
#include "common.h"
#include "input.h"
#include "search.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct {
    spmm_input input;
    const char *a, *name;
    int64_t k, keep;
    int lang, search;
    bool compile, selftest;
} options;

enum { KEY_K = 0x600, KEY_LANG, KEY_SEARCH, KEY_KEEP, KEY_COMPILE, KEY_SELFTEST, KEY_NAME };

static const struct argp_option table[] = {
    {NULL, 'a', "FILE", 0, "the weight (default: -)", 0},
    {"k", KEY_K, "N", 0, "columns of B and C (default: 128)", 0},
    {"lang", KEY_LANG, "LANG", 0, "c (default) or cuda", 0},
    {"search", KEY_SEARCH, "HOW", 0, "rank, proxy (default) or exhaustive: what chooses the kernel", 0},
    {"keep", KEY_KEEP, "N", 0, "with --compile: how many kernels are compiled (default: 3)", 0},
    {"compile", KEY_COMPILE, NULL, 0, "compile the best by $CC (default: cc) and measure them", 0},
    {"selftest", KEY_SELFTEST, NULL, 0, "add a main() that holds the kernel against three plain loops", 0},
    {"name", KEY_NAME, "NAME", 0, "of the function (default: spmm_weight)", 0},
    {0}};

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_') return false;
    return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const langs[] = {"c", "cuda"}, *const kinds[] = {"rank", "proxy", "exhaustive"};
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->input; return 0;
    case 'a': o->a = arg; return 0;
    case KEY_K: o->k = hu_option_integer(state, "--k", arg, 1, 1 << 20); return 0;
    case KEY_LANG: o->lang = hu_option_word(state, "--lang", arg, langs, 2); return 0;
    case KEY_SEARCH: o->search = hu_option_word(state, "--search", arg, kinds, 3); return 0;
    case KEY_KEEP: o->keep = hu_option_integer(state, "--keep", arg, 1, 256); return 0;
    case KEY_COMPILE: o->compile = true; return 0;
    case KEY_SELFTEST: o->selftest = true; return 0;
    case KEY_NAME:
        if (!is_identifier(arg)) argp_error(state, "--name: '%s' is no name of a C function", arg);
        o->name = arg;
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "%s: give the weight by -a", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* A literal needs a finite value of float. */
static hu_status check_values(const spmm_matrix *a, const char *name, hu_error *err)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
            if (!isfinite(((const float *)a->val)[p]))
                return hu_fail(err, HU_INPUT, "%s: row %lld, column %lld: the value is not a finite float, which source text needs", name, (long long)i + 1, (long long)a->col[p] + 1);
    return HU_OK;
}

static const char *const forms[SPMM_FORMS] = {"loop", "straight", "dense"};

/* At -v: each candidate with its features and ranks; always: what was searched and what was taken. */
static void report(const options *o, const spmm_search *s)
{
    const spmm_candidate *b = &s->list[s->best];
    for (int i = 0; i < s->n; i++) {
        const spmm_candidate *c = &s->list[i];
        char line[512];
        int at = snprintf(line, sizeof line, "rank %d: %s R=%d k-block=%d masks=%s order=%s nv=%d: rank sum %g", i + 1, forms[c->choice.form], c->choice.shape.rows, c->choice.shape.k_block,
                          spmm_masks_names[c->choice.shape.masks], spmm_panel_order_names[c->choice.shape.order], c->choice.nv, c->rank_sum);
        for (int f = 0; f < SPMM_FEATURES; f++) at += snprintf(line + at, sizeof line - (size_t)at, ", %s %.3g", spmm_feature_names[f], c->feature[f]);
        if (!isnan(c->proxy_seconds)) at += snprintf(line + at, sizeof line - (size_t)at, ", proxy %.4g ms", 1e3 * c->proxy_seconds);
        if (!isnan(c->seconds)) snprintf(line + at, sizeof line - (size_t)at, ", measured %.4g ms", 1e3 * c->seconds);
        hu_say(1, "%s", line);
    }
    hu_say(0, "candidates %d (%.3g s), pruned by rank %d, proxies %d (%.3g s), compiled %d (%.3g s, measured in %.3g s)", s->n, s->rank_seconds,
           o->search == SPMM_SEARCH_EXHAUSTIVE ? 0 : s->n - (s->proxies > s->compiled ? s->proxies : s->compiled), s->proxies, s->proxy_seconds, s->compiled, s->compile_seconds, s->measure_seconds);
    hu_say(0, "takes %s R=%d k-block=%d masks=%s order=%s nv=%d%s", forms[b->choice.form], b->choice.shape.rows, b->choice.shape.k_block, spmm_masks_names[b->choice.shape.masks],
           spmm_panel_order_names[b->choice.shape.order], b->choice.nv, b->choice.form == SPMM_FORM_DENSE ? ": with so few zeros a dense loop wins" : "");
}

static hu_status generate(const options *o, uint64_t seed, hu_output *out, hu_error *err)
{
    spmm_packed *packed = NULL;
    spmm_search s = {0};
    const spmm_emit_options emit = {o->name, o->a, o->k, o->selftest};
    const spmm_search_options how = {(spmm_search_kind)o->search, (int)o->keep, o->compile, seed};
    if (spmm_input_read(o->a, &o->input, &packed, NULL, err)) return err->status;
    spmm_matrix *a = packed->a;
    if (packed->perm) hu_fail(err, HU_USAGE, "%s: the matrix is reordered; a kernel needs it in its own order", o->a);
    else if (a->rows == 0 || a->cols == 0) hu_fail(err, HU_INPUT, "%s: %lld x %lld: no kernel for an empty weight", o->a, (long long)a->rows, (long long)a->cols);
    if (err->status || spmm_matrix_widen(a, HU_F32, err) || check_values(a, o->a, err)) goto cleanup;
    if (o->lang == 1) {
        spmm_emit_cuda(a, &emit, out, err);
    } else if (spmm_search_run(a, o->k, &how, &s, err) == HU_OK) {
        report(o, &s);
        spmm_emit_c(a, &s.list[s.best].choice, &emit, out, err);
    }
cleanup:
    spmm_search_free(&s);
    spmm_packed_free(packed);
    return err->status;
}

static const char doc[] = "Write the source of a kernel that multiplies one pruned weight by dense matrices: C that builds alone, or CUDA.";

int command_codegen(int argc, char **argv)
{
    const struct argp_child children[] = {{&spmm_read_argp, 0, "The weight:", 2}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.input = spmm_input_defaults, .a = "-", .name = "spmm_weight", .k = 128, .keep = 3, .search = SPMM_SEARCH_PROXY};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (common_device(&common, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) generate(&o, common.seed, out, &err);
    return hu_exit(&err, out);
}
