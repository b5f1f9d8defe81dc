/* import_command.c: qp-diff import: QPS and MPS files to problems. */
#include "config.h"
#include "commands.h"
#include "base/option.h"
#include "io/csv.h"
#include "qps.h"
#include "result.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const char **file = state->input;
    if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
    if (*file) argp_error(state, "one file, no more: %s", arg);
    *file = arg;
    return 0;
}

/* The names of rows and variables. */
static hu_status add_names(result *r, const char *member, char *const *name, int64_t count, hu_error *err)
{
    hu_output *out;
    if (result_add_text(r, member, &out, err)) return err->status;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (hu_csv_put_text(&w, "name", err) || hu_csv_end_row(&w, err)) return err->status;
    for (int64_t i = 0; i < count; i++)
        if (hu_csv_put_text(&w, name[i], err) || hu_csv_end_row(&w, err)) return err->status;
    return HU_OK;
}

static hu_status write_problem(const qp_problem *p, const qps_names *names, hu_output *out, hu_error *err)
{
    result *r;
    if (result_new("qp-problem", HU_ARRAY_MTX, &r, err) == HU_OK && result_add_problem(r, p, err) == HU_OK && add_names(r, "rows.csv", names->row, p->m, err) == HU_OK &&
        add_names(r, "variables.csv", names->column, p->n, err) == HU_OK)
        result_finish(&r, out, err);
    result_abort(&r);
    return err->status;
}

static const char doc[] = "Read a QPS or MPS file and write it as a problem.\v"
                          "Sections and bounds of all usual dialects, free and fixed columns. A maximum becomes the minimum of the negative, and a note says so. The result has the members P, q, A, l, u, lb, "
                          "ub, c0, rows.csv and variables.csv.";

int command_import(int argc, char **argv)
{
    const struct argp own = {NULL, parse, "[FILE.qps]", doc, NULL, NULL, NULL};
    const char *file = NULL;
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_source *source = NULL;
    hu_output *out = NULL;
    qp_problem *p = NULL;
    qps_names names = {0};
    hu_option_parse(argc, argv, &own, &file, &common);
    if (hu_source_open(file, ".qps", &source, &err) || qps_read(source, &p, &names, &err) || hu_output_open(common.output, &out, &err)) goto done;
    if (names.maximise) hu_say(0, "%s asks for a maximum; the problem written is the minimum of the negative", hu_source_name(source));
    write_problem(p, &names, out, &err);
done:
    if (p) qps_names_free(&names, p->m, p->n);
    qp_free(p);
    hu_source_close(source);
    return hu_exit(&err, out);
}
