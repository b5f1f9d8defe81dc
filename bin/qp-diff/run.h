/* run.h: what the commands that work on problems have in common: options, the items of a batch, and the members that every answer has.
 *
 * Sections: options, items, members.
 */
#ifndef QP_RUN_H
#define QP_RUN_H

#include "base/option.h"
#include "gradient.h"
#include "input.h"
#include "result.h"

/* ---- options */

enum { WRT_P = 1, WRT_Q = 2, WRT_A = 4, WRT_ROWS = 8, WRT_BOUNDS = 16, WRT_ALL = 31 };

typedef struct {
    input_options in;
    solve_options solve;
    hu_array_format format;
    gradient_rule rule;
    bool strict;
    unsigned wrt;
    double margin;
    const char *command;
    uint64_t seed; /* of check */
} run_options;

#define RUN_DEFAULTS(name)                                                                                                                           \
    {                                                                                                                                                \
        .solve = SOLVE_DEFAULTS, .format = HU_ARRAY_MTX, .wrt = WRT_ALL, .margin = 1e-9, .command = name                                              \
    }

/* --eps --iterations --path --format, of all commands; --degenerate --strict --wrt --weak, of those that differentiate. Their input is a run_options. */
extern const struct argp run_solve_argp, run_gradient_argp;

/* Hands the parts of a run_options to the parsers above and those of input.h, and takes the file. To be called from a command's own parser. */
error_t run_parse(int key, char *arg, struct argp_state *state, int children);

/* ---- items */

/* What a command does with one problem: reads, works, adds members. On QP_INFEASIBLE and the like it may leave a certificate in r. */
typedef hu_status (*run_item)(const run_options *o, const input *in, int64_t item, result *r, hu_error *err);

/* The whole of a command: input, each item on a thread of its own, output. In a batch, an item that fails gets status.csv with its status and reason, the others are not
 * touched, and the end is HU_NO. Returns the exit code. */
int run_command(const run_options *o, const hu_common *common, run_item work);

/* ---- members */

/* Solves the item's problem and adds x, y, z, active.csv and status.csv, or the certificate. *ret_solution and *ret_problem are the caller's, also on failure. */
hu_status run_solve(const run_options *o, const input *in, int64_t item, input_problem *ret_problem, solution **ret_solution, result *r, hu_error *err);

/* The lines of status.csv and active.csv; opt_point: what is known of degeneracy. */
hu_status run_add_status(const solution *s, const input_problem *p, const gradient_point *opt_point, double gradient_residual, hu_status status, const char *message, result *r,
                         hu_error *err);
hu_status run_add_active(const input_problem *p, const gradient_point *g, result *r, hu_error *err);

#endif
