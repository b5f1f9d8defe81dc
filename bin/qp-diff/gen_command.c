/* gen_command.c: qp-diff gen: problems of known kinds. */
#include "config.h"
#include "commands.h"
#include "base/memory.h"
#include "base/option.h"
#include "generate.h"
#include "result.h"

enum { KEY_KIND = 0x100, KEY_N, KEY_M, KEY_K, KEY_ACTIVE, KEY_DENSITY };

static const struct argp_option table[] = {
    {"kind", KEY_KIND, "KIND", 0, "kkt (default: a solution is chosen first), bpqp, portfolio or random", 0},
    {"n", KEY_N, "N", 0, "variables (default: 100)", 0},
    {"m", KEY_M, "M", 0, "kkt, random: rows (default: n/2, 10 n)", 0},
    {"k", KEY_K, "K", 0, "portfolio: factors (default: n/100)", 0},
    {"active", KEY_ACTIVE, "SHARE", 0, "kkt: the share of inequalities in force (default: 0.5)", 0},
    {"density", KEY_DENSITY, "SHARE", 0, "kkt: of A and of P's factor (default: 1)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    generate_options *o = state->input;
    switch (key) {
    case KEY_KIND: o->kind = (generate_kind)hu_option_word(state, "--kind", arg, generate_names, GENERATE_KINDS); return 0;
    case KEY_N: o->n = hu_option_integer(state, "--n", arg, 1, 1000000); return 0;
    case KEY_M: o->m = hu_option_integer(state, "--m", arg, 0, 10000000); return 0;
    case KEY_K: o->k = hu_option_integer(state, "--k", arg, 1, 100000); return 0;
    case KEY_ACTIVE: o->active = hu_option_number(state, "--active", arg, 0, 1); return 0;
    case KEY_DENSITY: o->density = hu_option_number(state, "--density", arg, 1e-9, 1); return 0;
    case ARGP_KEY_ARG: argp_error(state, "no arguments: %s", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* q, rows and bounds as any problem; P as it is or by its factors; the solution; a seed of ones. */
static hu_status write_problem(const generated *g, result *r, hu_error *err)
{
    const qp_problem *p = g->p;
    double *ones;
    if (result_add_vectors(r, p, err) || (p->m > 0 && result_add_csr(r, "A", p->A, err))) return err->status;
    if (g->F ? result_add_csr(r, "F", g->F, err) || result_add_array(r, "d", g->d, p->n, 1, p->n, err) : result_add_csr(r, "P", p->P, err)) return err->status;
    if (g->x && (result_add_array(r, "x", g->x, p->n, 1, p->n, err) || result_add_array(r, "y", g->y, p->m, 1, p->m, err))) return err->status;
    if (hu_alloc(p->n, sizeof *ones, "a seed", (void **)&ones, err)) return err->status;
    for (int64_t j = 0; j < p->n; j++) ones[j] = 1;
    result_add_array(r, "gx", ones, p->n, 1, p->n, err);
    hu_free(ones);
    return err->status;
}

static const char doc[] = "Make a problem.\v"
                          "Members: the problem (portfolio: d and F in place of P), gx of ones, and of kind kkt the solution x, y. --seed chooses the numbers.";

int command_gen(int argc, char **argv)
{
    const struct argp own = {table, parse, "", doc, NULL, NULL, NULL};
    generate_options o = {GENERATE_KKT, 100, -1, -1, 0.5, 1, 1};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    result *r = NULL;
    generated g = {0};
    hu_option_parse(argc, argv, &own, &o, &common);
    o.seed = common.seed;
    if (generate_problem(&o, &g, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK && result_new("qp-problem", HU_ARRAY_MTX, &r, &err) == HU_OK &&
        write_problem(&g, r, &err) == HU_OK)
        result_finish(&r, out, &err);
    result_abort(&r);
    generated_free(&g);
    return hu_exit(&err, out);
}
