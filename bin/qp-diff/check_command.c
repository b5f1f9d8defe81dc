/* check_command.c: qp-diff check. */
#include "config.h"
#include "commands.h"
#include "base/memory.h"
#include "io/csv.h"
#include "run.h"
#include "verify.h"

#include <math.h>

static hu_status write_lines(const verify_line *line, result *r, int *ret_failed, hu_error *err)
{
    hu_output *out;
    if (result_add_text(r, "check.csv", &out, err)) return err->status;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    static const char *const heads[] = {"check", "value", "limit", "verdict"};
    for (int h = 0; h < 4; h++)
        if (hu_csv_put_text(&w, heads[h], err)) return err->status;
    if (hu_csv_end_row(&w, err)) return err->status;
    for (int i = 0; i < VERIFY_LINES; i++) {
        const bool holds = line[i].value <= line[i].limit;
        *ret_failed += !line[i].skipped && !holds;
        if (line[i].skipped) hu_say(0, "skipped: %s: %s", line[i].name, line[i].why);
        else hu_say(0, "%s: %s (%.1e, at most %.0e)", holds ? "ok" : "FAILED", line[i].name, line[i].value, line[i].limit);
        if (hu_csv_put_text(&w, line[i].name, err) || (line[i].skipped ? hu_csv_put_missing(&w, err) : hu_csv_put_number(&w, line[i].value, err)) ||
            hu_csv_put_number(&w, line[i].limit, err) || hu_csv_put_text(&w, line[i].skipped ? "skipped" : holds ? "ok" : "failed", err) || hu_csv_end_row(&w, err))
            return err->status;
    }
    return HU_OK;
}

static hu_status read_seed(const input *in, int64_t item, const input_problem *p, double *gx, hu_error *err)
{
    hu_dense *a;
    if (input_read_array(in, item, IN_GX, p->n, &a, err)) return err->status;
    for (int64_t j = 0; j < p->p->n; j++) gx[j] = a ? (j < p->n ? ((const double *)a->data)[j] : 0) : 1 + (double)(j % 7);
    hu_dense_free(a);
    return HU_OK;
}

static hu_status work(const run_options *o, const input *in, int64_t item, result *r, hu_error *err)
{
    input_problem p = {NULL, 0, 0, NULL};
    solution *s = NULL;
    gradient_point *g = NULL;
    double *gx = NULL;
    verify_line line[VERIFY_LINES];
    int failed = 0;
    if (run_solve(o, in, item, &p, &s, r, err) || hu_alloc(s->n, sizeof *gx, "a seed", (void **)&gx, err) || read_seed(in, item, &p, gx, err)) goto cleanup;
    if (gradient_point_new(s, o->margin, &g, err) || verify_gradients(g, gx, &o->solve, o->seed, line, err) || write_lines(line, r, &failed, err)) goto cleanup;
    if (run_add_active(&p, g, r, err) || run_add_status(s, &p, g, NAN, HU_OK, NULL, r, err)) goto cleanup;
    if (failed) hu_fail(err, HU_NO, "%d checks failed", failed);
cleanup:
    hu_free(gx);
    gradient_point_free(g);
    solve_free(s);
    input_problem_free(&p);
    return err->status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const run_options *o = state->input;
    if (key == ARGP_KEY_END && o->in.file[IN_GY]) argp_error(state, "the loss of check is gx'x; there is no use for --gy");
    return run_parse(key, arg, state, 3);
}

static const char doc[] = "Verify the gradients of a problem: identities that need no oracle, and differences.\v"
                          "The loss is gx'x, of the member gx or one made up; the direction is drawn by --seed. check.csv of the result has the verdicts; exit 1 where one failed.";

int command_check(int argc, char **argv)
{
    const struct argp_child children[] = {{&run_solve_argp, 0, NULL, 0}, {&input_argp, 0, "Files in place of members:", 2}, {&input_seeds_argp, 0, NULL, 2}, {0}};
    const struct argp own = {NULL, parse, "[PROBLEM]", doc, children, NULL, NULL};
    run_options o = RUN_DEFAULTS("check");
    hu_common common;
    hu_option_parse(argc, argv, &own, &o, &common);
    o.seed = common.seed;
    return run_command(&o, &common, work);
}
