/* dump.c: perf-predict dump and export: a model as text, JSON or C source. */
#include "config.h"
#include "base/clock.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "export.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *model, *name;
    int format;
    bool trees;
} options;

enum { KEY_FORMAT = 0x100, KEY_NAME, KEY_TREES };
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_C };

static error_t take_model(options *o, char *arg, struct argp_state *state)
{
    if (o->model) argp_error(state, "more than one model: %s and %s", o->model, arg);
    o->model = arg;
    return 0;
}

/* A name for C functions. */
static bool is_identifier(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_') return false;
    return *text && !isdigit((unsigned char)*text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = {"text", "json", "c"};
    options *o = state->input;
    switch (key) {
    case KEY_FORMAT: o->format = hu_option_word(state, "--format", arg, formats, 3); return 0;
    case KEY_TREES: o->trees = true; return 0;
    case KEY_NAME:
        if (!is_identifier(arg)) argp_error(state, "--name: '%s' is no identifier of C", arg);
        o->name = arg;
        return 0;
    case ARGP_KEY_ARG: return take_model(o, arg, state);
    case ARGP_KEY_END:
        if (!o->model) argp_error(state, "no model");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int run(const char *command, int argc, char **argv, const struct argp *own, options *o)
{
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_model *model = NULL;
    hu_option_parse(argc, argv, own, o, &common);
    double start = hu_clock_wall();
    if (hu_device_cpu_only(common.device, &err) == HU_OK && common_model(o->model, &model, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) {
        if (o->format == FORMAT_TEXT) export_text(model, o->trees, out, &err);
        else if (o->format == FORMAT_JSON) export_json(model, out, &err);
        else export_c(model, o->name, out, &err);
        if (err.status == HU_OK) common_report(&common, command, o->model, -1, model, start, &err);
    }
    hu_model_free(model);
    return hu_exit(&err, out);
}

int command_dump(int argc, char **argv)
{
    static const struct argp_option table[] = {{"trees", KEY_TREES, NULL, 0, "print the trees too", 1}, {0}};
    static const struct argp own = {table, parse, "MODEL", "Say what a model is: target, kind, errors, columns, linear part.", NULL, NULL, NULL};
    options o = {.name = "model"};
    return run("dump", argc, argv, &own, &o);
}

int command_export(int argc, char **argv)
{
    static const struct argp_option table[] = {{"format", KEY_FORMAT, "FORMAT", 0, "text (default: what dump --trees prints), json, or c", 1},
                                               {"name", KEY_NAME, "NAME", 0, "c: the function is NAME_predict (default: model)", 1}, {0}};
    static const struct argp own = {table, parse, "MODEL", "Write a model as text, as JSON, or as C source that compiles alone and predicts the same bits.", NULL, NULL, NULL};
    options o = {.name = "model", .trees = true};
    return run("export", argc, argv, &own, &o);
}
