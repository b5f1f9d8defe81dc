/* recover.c: trace-compress recover and merge: traces of what a killed run left, of a cut file, of the spools of several nodes. */
#include "config.h"
#include "base/option.h"
#include "base/output.h"
#include "commands.h"
#include "convert.h"
#include "io/bundle.h"
#include "io/trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    char **path;
    int paths;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    (void)arg;
    if (key != ARGP_KEY_ARGS) return ARGP_ERR_UNKNOWN;
    o->path = state->argv + state->next;
    o->paths = state->argc - state->next;
    return 0;
}

static hu_status convert(const options *o, hu_output *out, hu_error *err)
{
    spool s;
    if (spool_open(o->path, o->paths, &s, err)) return err->status;
    convert_spool(&s, out, err);
    spool_close(&s);
    return err->status;
}

/* Copies the members that are whole. */
static hu_status keep_members(hu_bundle_inflow *in, hu_output *out, hu_error *err)
{
    hu_bundle_outflow *flow = NULL;
    hu_error end = HU_ERROR_NONE;
    const char *name;
    const void *bytes;
    int64_t size, members = 0;
    hu_json_place root = hu_bundle_inflow_root(in);
    if (hu_bundle_outflow_open(HU_TRACE_KIND, HU_TRACE_MAJOR, hu_bundle_inflow_minor(in), (json_t *)(uintptr_t)root.value, HU_BUNDLE_ZSTD, 0, out, &flow, err)) return err->status;
    for (; hu_bundle_inflow_next(in, INT64_MAX / 2, &name, &bytes, &size, &end) == HU_OK; members++)
        if (hu_bundle_outflow_put(flow, name, bytes, size, err)) break;
    if (!err->status && members == 0) hu_fail(err, HU_INPUT, "%s: not even the definitions are whole: nothing can be kept", hu_bundle_inflow_name(in));
    if (!err->status) hu_bundle_outflow_finish(&flow, err);
    hu_bundle_outflow_abort(&flow);
    if (err->status) return err->status;
    if (end.status) hu_warn("%s; %lld members before it are kept", end.message, (long long)members);
    else hu_say(0, "%s: is whole", hu_bundle_inflow_name(in));
    return HU_OK;
}

static hu_status keep(const char *path, hu_output *out, hu_error *err)
{
    hu_source *source;
    hu_bundle_inflow *in;
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    if (hu_bundle_inflow_open(source, HU_TRACE_KIND, HU_TRACE_MAJOR, &in, err) == HU_OK) keep_members(in, out, err);
    hu_bundle_inflow_close(err->status && !in ? NULL : in);
    hu_source_close(source);
    return err->status;
}

/* A folder, or a file that starts like one of the recorder's. */
static bool is_spool(const char *path)
{
    struct stat facts;
    char start[8] = "";
    if (strcmp(path, "-") == 0) return false;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) return true;
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(start, 1, sizeof start, f) : 0;
    if (f) fclose(f);
    return n == sizeof start && memcmp(start, HU_SPOOL_MAGIC, 7) == 0;
}

static int run(int argc, char **argv, const struct argp *own, bool spools)
{
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    char *standard = (char *)(uintptr_t) "-";
    hu_option_parse(argc, argv, own, &o, &common);
    if (o.paths == 0 && spools) hu_fail(&err, HU_USAGE, "no spool: name the folders or files that the nodes wrote");
    else if (o.paths == 0) o.path = &standard, o.paths = 1;
    if (!err.status && hu_output_open(common.output, &out, &err) == HU_OK) {
        if (spools || is_spool(o.path[0])) convert(&o, out, &err);
        else if (o.paths > 1) hu_fail(&err, HU_USAGE, "recover takes one trace, or spools");
        else keep(o.path[0], out, &err);
    }
    return hu_exit(&err, out);
}

int command_recover(int argc, char **argv)
{
    static const struct argp own = {NULL, parse, "[SPOOL... | FILE]",
                                    "Make a trace of the spool (a folder or files) that a killed run left, or keep what is whole of a trace that is cut short.", NULL, NULL, NULL};
    return run(argc, argv, &own, false);
}

int command_merge(int argc, char **argv)
{
    static const struct argp own = {NULL, parse, "SPOOL...", "Make one trace of the spools (folders or files) that several nodes wrote.", NULL, NULL, NULL};
    return run(argc, argv, &own, true);
}
