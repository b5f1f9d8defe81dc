/* occupancy.c: perf-predict occupancy: how full the kernels of a list or a trace can make a GPU. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "io/report.h"
#include "kernels.h"
#include "table_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    hu_csv_options csv;
    const char *kernels, *trace, *gpu;
    bool by_name, total, hints;
    gpu device;
} options;

enum { KEY_KERNELS = 0x100, KEY_TRACE, KEY_GPU, KEY_NAMES, KEY_TOTAL, KEY_HINTS };

static const struct argp_option table[] = {
    {"kernels", KEY_KERNELS, "FILE.csv", 0, "a table with the columns threads, registers, and maybe name, shared, grid, duration_us, count", 0},
    {"trace", KEY_TRACE, "FILE.json", 0, "a trace of the PyTorch profiler, maybe compressed", 0},
    {"gpu", KEY_GPU, "GPU", 0, "a100, h200, v100 ... or cc=8.6; then maybe ,sms=N,threads=N,blocks=N,registers=N,shared=BYTES,block-shared=BYTES (default: what the trace describes)", 0},
    {"by-name", KEY_NAMES, NULL, 0, "one row for each kernel name, the longest time first", 0},
    {"total", KEY_TOTAL, NULL, 0, "only the means over all, and the time by limit", 0},
    {"hints", KEY_HINTS, NULL, 0, "add the registers, the shared memory, and the block size that would allow more", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->csv; return 0;
    case KEY_KERNELS: o->kernels = arg; return 0;
    case KEY_TRACE: o->trace = arg; return 0;
    case KEY_GPU: o->gpu = arg; return 0;
    case KEY_NAMES: o->by_name = true; return 0;
    case KEY_TOTAL: o->total = true; return 0;
    case KEY_HINTS: o->hints = true; return 0;
    case ARGP_KEY_END:
        if (!o->kernels == !o->trace) argp_error(state, "one of --kernels=FILE.csv and --trace=FILE.json is wanted");
        if (o->kernels && !o->gpu) argp_error(state, "--kernels: on which GPU? --gpu=a100, h200, v100 ... or cc=8.6");
        if (o->by_name + o->total + o->hints > 1) argp_error(state, "--by-name, --total and --hints exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- each kernel ---------------------------------------------------------------------------------------------------- */

/* The GPU on which a kernel runs. */
static hu_status gpu_of(const options *o, const kernel_list *list, const kernel *k, const gpu **ret, hu_error *err)
{
    *ret = &o->device;
    if (o->gpu) return HU_OK;
    int32_t device = k->device < 0 ? 0 : k->device;
    if (device >= list->devices || list->device[device].threads == 0)
        return hu_fail(err, HU_INPUT, "%s: the trace does not describe device %d of kernel %s: say it by --gpu", o->trace, device, list->name[k->name]);
    *ret = &list->device[device];
    return HU_OK;
}

static hu_status put_share(hu_csv_writer *w, double share, hu_error *err)
{
    return isnan(share) ? hu_csv_put_missing(w, err) : hu_csv_put_number(w, share, err);
}

static hu_status put_count(hu_csv_writer *w, int64_t n, hu_error *err)
{
    return n < 0 ? hu_csv_put_missing(w, err) : hu_csv_put_integer(w, n, err);
}

static hu_status put_header(hu_csv_writer *w, const char *const *columns, hu_error *err)
{
    for (; *columns; columns++)
        if (hu_csv_put_text(w, *columns, err)) return err->status;
    return HU_OK;
}

static hu_status put_kernel(hu_csv_writer *w, const kernel_list *list, const kernel *k, const gpu *g, const gpu_occupancy *occupancy, bool hints, hu_error *err)
{
    char limits[48];
    int64_t warps = occupancy->blocks * ((k->launch.threads + 31) / 32);
    if (hu_csv_put_text(w, list->name[k->name], err) || hu_csv_put_text(w, g->name, err) || hu_csv_put_integer(w, k->launch.threads, err) || hu_csv_put_integer(w, k->launch.registers, err) ||
        hu_csv_put_integer(w, k->launch.shared, err) || put_count(w, k->launch.grid ? k->launch.grid : -1, err) || hu_csv_put_integer(w, k->count, err) || hu_csv_put_number(w, k->duration, err) ||
        hu_csv_put_integer(w, occupancy->blocks, err) || hu_csv_put_integer(w, warps, err) || hu_csv_put_number(w, occupancy->theoretical, err) || put_share(w, occupancy->estimated, err) ||
        hu_csv_put_text(w, gpu_limits_text(occupancy->limits, limits), err))
        return err->status;
    if (hints) {
        gpu_hint h = gpu_advise(g, &k->launch);
        if (put_count(w, h.registers, err) || put_count(w, h.shared, err) || put_count(w, h.threads, err)) return err->status;
    }
    return hu_csv_end_row(w, err);
}

/* ---- sums ------------------------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t name;
    int64_t launches;
    double time, theoretical, estimated; /* the latter two times the time */
    double known_time;                   /* of kernels whose estimate is known */
    double by_limit[1 << GPU_LIMITS];    /* the time by what limits */
} sum;

static void add(sum *s, const kernel *k, const gpu_occupancy *o)
{
    s->launches += k->count;
    s->time += k->duration;
    s->theoretical += k->duration * o->theoretical;
    s->by_limit[o->limits] += k->duration;
    if (isnan(o->estimated)) return;
    s->known_time += k->duration;
    s->estimated += k->duration * o->estimated;
}

static double mean(double total, double time)
{
    return time > 0 ? total / time : NAN;
}

static hu_status put_metric(hu_csv_writer *w, const char *name, double value, hu_error *err)
{
    return hu_csv_put_text(w, name, err) || put_share(w, value, err) ? err->status : hu_csv_end_row(w, err);
}

static hu_status put_total(hu_csv_writer *w, const sum *s, hu_error *err)
{
    char limits[48], name[64];
    if (hu_csv_put_text(w, "metric", err) || hu_csv_put_text(w, "value", err) || hu_csv_end_row(w, err) || put_metric(w, "launches", (double)s->launches, err) ||
        put_metric(w, "duration_us", s->time, err) || put_metric(w, "theoretical", mean(s->theoretical, s->time), err) || put_metric(w, "estimated", mean(s->estimated, s->known_time), err))
        return err->status;
    for (int k = 1; k < 1 << GPU_LIMITS; k++) {
        if (!(s->by_limit[k] > 0)) continue;
        snprintf(name, sizeof name, "time_by_%s", gpu_limits_text(k, limits));
        if (put_metric(w, name, s->by_limit[k] / s->time, err)) return err->status;
    }
    return HU_OK;
}

static int compare_sums(const void *a, const void *b)
{
    const sum *p = a, *q = b;
    if (p->time != q->time) return p->time > q->time ? -1 : 1;
    return (p->name > q->name) - (p->name < q->name);
}

static hu_status put_names(hu_csv_writer *w, const kernel_list *list, sum *s, double time, hu_error *err)
{
    static const char *const columns[] = {"name", "launches", "duration_us", "share", "theoretical", "estimated", "limit", NULL};
    char limits[48];
    qsort(s, (size_t)list->names, sizeof *s, compare_sums);
    if (put_header(w, columns, err) || hu_csv_end_row(w, err)) return err->status;
    for (int32_t n = 0; n < list->names; n++) {
        int most = 0;
        for (int k = 1; k < 1 << GPU_LIMITS; k++)
            if (s[n].by_limit[k] > s[n].by_limit[most]) most = k;
        if (hu_csv_put_text(w, list->name[s[n].name], err) || hu_csv_put_integer(w, s[n].launches, err) || hu_csv_put_number(w, s[n].time, err) || put_share(w, mean(s[n].time, time), err) ||
            put_share(w, mean(s[n].theoretical, s[n].time), err) || put_share(w, mean(s[n].estimated, s[n].known_time), err) || hu_csv_put_text(w, gpu_limits_text(most, limits), err) ||
            hu_csv_end_row(w, err))
            return err->status;
    }
    return HU_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------------ */

static hu_status put_list(const options *o, const kernel_list *list, sum *all, sum *names, int64_t *ret_impossible, hu_csv_writer *w, hu_error *err)
{
    static const char *const columns[] = {"name", "gpu", "threads", "registers", "shared", "grid", "count", "duration_us", "blocks_per_sm", "warps_per_sm", "theoretical", "estimated", "limit", NULL};
    static const char *const hints[] = {"registers_for_more", "shared_for_more", "threads_for_more", NULL};
    bool rows = !o->total && !o->by_name;
    if (rows && (put_header(w, columns, err) || (o->hints && put_header(w, hints, err)) || hu_csv_end_row(w, err))) return err->status;
    for (int64_t i = 0; i < list->kernels; i++) {
        const kernel *k = &list->kernel[i];
        const gpu *g;
        if (gpu_of(o, list, k, &g, err)) return err->status;
        gpu_occupancy occupancy = gpu_occupy(g, &k->launch);
        *ret_impossible += occupancy.blocks == 0;
        add(all, k, &occupancy);
        if (names) add(&names[k->name], k, &occupancy);
        if (rows && put_kernel(w, list, k, g, &occupancy, o->hints, err)) return err->status;
    }
    return HU_OK;
}

static hu_status report(const options *o, const hu_common *common, const sum *s, double start, hu_error *err)
{
    hu_report *r = NULL;
    if (!common->report) return HU_OK;
    if (hu_report_new(&r, err) || hu_report_text(r, "command", "occupancy", err) || hu_report_text(r, "input", o->trace ? o->trace : o->kernels, err) || hu_report_text(r, "gpu", o->gpu, err) ||
        hu_report_integer(r, "launches", s->launches, err) || hu_report_number(r, "duration_us", s->time, err) || hu_report_number(r, "theoretical", mean(s->theoretical, s->time), err) ||
        hu_report_number(r, "estimated", mean(s->estimated, s->known_time), err) || hu_report_number(r, "wall_s", hu_clock_wall() - start, err))
        goto cleanup;
    hu_report_append(r, common->report, err);
cleanup:
    hu_report_free(r);
    return err->status;
}

static hu_status list_occupancy(options *o, const hu_common *common, hu_output *out, hu_error *err)
{
    double start = hu_clock_wall();
    hu_source *source = NULL;
    kernel_list list = {0};
    sum *all = NULL, *names = NULL;
    int64_t impossible = 0;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (o->gpu && gpu_find(o->gpu, &o->device, err)) return err->status;
    if (hu_source_open(o->trace ? o->trace : o->kernels, NULL, &source, err)) return err->status;
    if (o->trace ? kernels_read_trace(source, &list, err) : kernels_read_csv(source, &o->csv, &list, err)) goto cleanup;
    if (list.passed) hu_warn("%lld kernels have no launch dimensions and are left out", (long long)list.passed);
    if (hu_alloc_zero(1, sizeof *all, "sums", (void **)&all, err) || (o->by_name && hu_alloc_zero(list.names, sizeof *names, "sums", (void **)&names, err))) goto cleanup;
    for (int32_t n = 0; names && n < list.names; n++) names[n].name = n;
    if (put_list(o, &list, all, names, &impossible, &w, err)) goto cleanup;
    if (o->total && put_total(&w, all, err)) goto cleanup;
    if (o->by_name && put_names(&w, &list, names, all->time, err)) goto cleanup;
    if (report(o, common, all, start, err)) goto cleanup;
    hu_say(1, "%lld launches, mean occupancy by time: theoretical %.4f, estimated %.4f", (long long)all->launches, mean(all->theoretical, all->time), mean(all->estimated, all->known_time));
    if (impossible == 0) goto cleanup;
    hu_output_keep(out);
    hu_fail(err, HU_NO, "%lld kernels cannot be launched on this GPU: their blocks_per_sm is 0, and limit says why", (long long)impossible);
cleanup:
    kernels_free(&list);
    hu_source_close(source);
    hu_free(all);
    hu_free(names);
    return err->status;
}

static const char doc[] = "Say how full the kernels of a list or a trace can make a GPU.\v"
                          "The result has one row for each launch: theoretical is the share of an SM's warps that are active when nothing but registers, shared memory, warps and blocks limit it; estimated the "
                          "same with no more blocks than the grid has for each SM; limit what does not allow one block more.";

int command_occupancy(int argc, char **argv)
{
    const struct argp_child children[] = {{&csv_argp, 0, "The table:", 2}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.csv = HU_CSV_DEFAULTS};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (common_device(&common, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) list_occupancy(&o, &common, out, &err);
    return hu_exit(&err, out);
}
