/* space_command.c: perf-predict space: a space file in; its size, all its configurations, or some drawn evenly, out. */
#include "config.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "io/csv.h"
#include "space_sample.h"

#include <stdio.h>

typedef struct {
    const char *input;
    bool count, grid;
    int64_t sample;
} options;

enum { KEY_COUNT = 0x100, KEY_GRID, KEY_SAMPLE };

static const struct argp_option table[] = {
    {"count", KEY_COUNT, NULL, 0, "print how many configurations there are", 0},
    {"grid", KEY_GRID, NULL, 0, "print all of them", 0},
    {"sample", KEY_SAMPLE, "N", 0, "print N of them, all different, drawn evenly by --seed", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_COUNT: o->count = true; return 0;
    case KEY_GRID: o->grid = true; return 0;
    case KEY_SAMPLE: o->sample = hu_option_integer(state, "--sample", arg, 1, INT32_MAX); return 0;
    case ARGP_KEY_ARG:
        if (o->input) argp_error(state, "more than one space: %s and %s", o->input, arg);
        o->input = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->count + o->grid + (o->sample > 0) != 1) argp_error(state, "one of --count, --grid and --sample=N says what to print");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static hu_status print_count(const space *s, uint64_t seed, hu_output *out, hu_error *err)
{
    space_count count;
    double about, low, high;
    char text[64];
    bool fits = space_size(s, &count, &about);
    if (space_is_exact(s)) return fits ? hu_output_printf(out, err, "%s\n", space_count_text(count, text)) : hu_output_printf(out, err, "%.15g\n", about);
    if (space_estimate(s, seed, &about, &low, &high, err)) return err->status;
    return hu_output_printf(out, err, "estimate %.6g, between %.6g and %.6g with 95 %%\n", about, low, high);
}

static hu_status put_names(const space *s, hu_csv_writer *w, hu_error *err)
{
    for (int64_t p = 0; p < s->parameters; p++)
        if (hu_csv_put_text(w, s->parameter[p].name, err)) return err->status;
    return hu_csv_end_row(w, err);
}

static hu_status put_row(const space *s, const int32_t *code, hu_csv_writer *w, hu_error *err)
{
    for (int64_t p = 0; p < s->parameters; p++)
        if (hu_csv_put_text(w, s->parameter[p].value[code[p]].text, err)) return err->status;
    return hu_csv_end_row(w, err);
}

static hu_status print_grid(const space *s, hu_output *out, hu_error *err)
{
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    space_count size, rows = 0;
    double about;
    int32_t *code = NULL;
    expr_range *work = NULL;
    if (!space_size(s, &size, &about)) return hu_fail(err, HU_USAGE, "--grid of %.3g configurations would never end; --sample draws some", about);
    if (hu_alloc(s->parameters, sizeof *code, "a configuration", (void **)&code, err) || hu_alloc(space_work(s), sizeof *work, "a configuration", (void **)&work, err) || put_names(s, &w, err))
        goto cleanup;
    for (space_count i = 0; i < size; i++) {
        space_nth(s, i, code);
        if (!space_accepts(s, code, work)) continue;
        if (put_row(s, code, &w, err)) goto cleanup;
        rows++;
    }
    if (rows == 0) hu_fail(err, HU_INPUT, "%s: no configuration meets the conditions", s->name);
cleanup:
    hu_free(code);
    hu_free(work);
    return err->status;
}

static hu_status print_sample(const space *s, const options *o, uint64_t seed, hu_output *out, hu_error *err)
{
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    int32_t *code;
    int64_t count;
    if (space_sample(s, seed, 0, o->sample, &code, &count, err)) return err->status;
    if (count == 0) hu_fail(err, HU_INPUT, "%s: no configuration was found that meets the conditions", s->name);
    else if (count < o->sample) hu_warn("%s: %lld configurations are %s", s->name, (long long)count, space_is_exact(s) ? "all there are" : "all that were found");
    if (err->status == HU_OK) put_names(s, &w, err);
    for (int64_t i = 0; i < count && !err->status; i++) put_row(s, code + i * s->parameters, &w, err);
    hu_free(code);
    return err->status;
}

static const char doc[] = "Count, list or draw the configurations of a space.\v"
                          "The space file has a parameter a line, NAME = {VALUE, ...} or NAME = FIRST..LAST, and conditions: where CONDITION.  The result is CSV with a header.";

int command_space(int argc, char **argv)
{
    const struct argp own = {table, parse, "[SPACE]", doc, NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_source *source = NULL;
    space *s = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (hu_device_cpu_only(common.device, &err) || hu_source_open(o.input, NULL, &source, &err) || space_read(source, &s, &err) || hu_output_open(common.output, &out, &err)) goto done;
    if (o.count) print_count(s, common.seed, out, &err);
    else if (o.grid) print_grid(s, out, &err);
    else print_sample(s, &o, common.seed, out, &err);
done:
    space_free(s);
    hu_source_close(source);
    return hu_exit(&err, out);
}
