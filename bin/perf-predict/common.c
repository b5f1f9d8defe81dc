/* common.c: what the commands do with the options that all of them have. */
#include "config.h"
#include "common.h"
#include "base/clock.h"
#include "device/device.h"
#include "io/report.h"

#include <math.h>
#include <string.h>

hu_status common_device(const hu_common *common, hu_error *err)
{
    return hu_device_cpu_only(common->device, err);
}

void common_argument(const char **model, const char **input, const char *arg, struct argp_state *state)
{
    if (!*model) *model = arg;
    else if (!*input) *input = arg;
    else argp_error(state, "a model and a table, no more: %s", arg);
}

void common_arguments_end(const char *model, const char *input, struct argp_state *state)
{
    if (!model) argp_error(state, "no model");
    if (strcmp(model, "-") == 0 && (!input || strcmp(input, "-") == 0)) argp_error(state, "the model and the table cannot both be standard input");
}

hu_status common_model(const char *path, hu_model **ret_model, hu_error *err)
{
    hu_source *source;
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    hu_model_read(source, ret_model, err);
    hu_source_close(source);
    return err->status;
}

hu_status common_report(const hu_common *common, const char *command, const char *input, int64_t rows, const hu_model *model, double start, hu_error *err)
{
    hu_report *r = NULL;
    if (!common->report) return HU_OK;
    if (hu_report_new(&r, err) || hu_report_text(r, "command", command, err) || hu_report_text(r, "input", input ? input : "-", err) ||
        (rows < 0 ? hu_report_number(r, "rows", NAN, err) : hu_report_integer(r, "rows", rows, err)) || hu_report_integer(r, "columns", model->features, err) ||
        hu_report_text(r, "model", hu_model_kind_name(model->kind), err) || hu_report_text(r, "target", model->is_log ? "log" : "raw", err) ||
        hu_report_integer(r, "trees", model->forest ? model->forest->trees : 0, err) || hu_report_number(r, "held_out_mape", model->held_out.mape, err) ||
        hu_report_number(r, "wall_s", hu_clock_wall() - start, err) || hu_report_number(r, "cpu_s", hu_clock_cpu(), err) || hu_report_integer(r, "peak_bytes", hu_clock_peak_bytes(), err))
        goto cleanup;
    hu_report_append(r, common->report, err);
cleanup:
    hu_report_free(r);
    return err->status;
}
