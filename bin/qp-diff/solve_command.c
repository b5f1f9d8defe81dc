/* solve_command.c: qp-diff solve. */
#include "config.h"
#include "commands.h"
#include "run.h"

#include <math.h>

static hu_status work(const run_options *o, const input *in, int64_t item, result *r, hu_error *err)
{
    input_problem p = {NULL, 0, 0, NULL};
    solution *s = NULL;
    gradient_point *g = NULL;
    if (run_solve(o, in, item, &p, &s, r, err)) goto cleanup;
    if (s->certified && (gradient_point_new(s, o->margin, &g, err) || gradient_factor(g, DEGENERATE_INCLUDE, err) || run_add_active(&p, g, r, err))) goto cleanup;
    run_add_status(s, &p, g, NAN, HU_OK, NULL, r, err);
cleanup:
    gradient_point_free(g);
    solve_free(s);
    input_problem_free(&p);
    return err->status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return run_parse(key, arg, state, 2);
}

static const char doc[] = "Solve  minimise 1/2 x'Px + q'x + c0  over  l <= Ax <= u, lb <= x <= ub.\v"
                          "PROBLEM is an archive with members P, q, A, l, u, lb, ub, c0 (.mtx, .npy or .csv; missing ones are zero or no bound). The result is a bundle: x, y, z, active.csv, status.csv; "
                          "on exit 10 y and z prove that no x is feasible, on exit 11 x is a direction without end.";

int command_solve(int argc, char **argv)
{
    const struct argp_child children[] = {{&run_solve_argp, 0, NULL, 0}, {&input_argp, 0, "Files in place of members:", 2}, {0}};
    const struct argp own = {NULL, parse, "[PROBLEM]", doc, children, NULL, NULL};
    run_options o = RUN_DEFAULTS("solve");
    hu_common common;
    hu_option_parse(argc, argv, &own, &o, &common);
    return run_command(&o, &common, work);
}
