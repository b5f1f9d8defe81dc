/* common.c: what the commands do with the options that all of them have. */
#include "config.h"
#include "common.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "device/device.h"
#include "io/report.h"
#include "kernel.h"

#include <math.h>
#include <string.h>

hu_status common_device(const hu_common *common, hu_error *err)
{
    return hu_device_cpu_only(common->device, err);
}

int common_widths(const struct argp_state *state, char *arg, int64_t *k, int most)
{
    int n = 0;
    for (char *save, *word = strtok_r(arg, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        if (n == most) argp_error(state, "-k: more than %d numbers", most);
        k[n++] = hu_option_integer(state, "-k", word, 1, INT32_MAX);
    }
    if (n == 0) argp_error(state, "-k: a number is needed");
    return n;
}

hu_status common_report(const hu_common *common, const common_run *run, hu_error *err)
{
    hu_report *r = NULL;
    spmm_limits limits = {NAN, NAN};
    const char *limit = NULL;
    if (!common->report) return HU_OK;
    if (run->k && spmm_limits_measure(&limits, err)) return err->status;
    const spmm_cost cost = spmm_cost_of(run->a, run->k, run->scalar, run->scalar);
    const double bound = run->k ? spmm_cost_bound(&cost, &limits, spmm_sum_scalar(run->scalar), &limit) : NAN;
    if (hu_report_new(&r, err) || hu_report_text(r, "command", run->command, err) || hu_report_text(r, "input", run->input, err) || hu_report_integer(r, "rows", run->a->rows, err) ||
        hu_report_integer(r, "cols", run->a->cols, err) || hu_report_integer(r, "nnz", run->a->nnz, err) || hu_report_text(r, "strategy", run->strategy, err) ||
        hu_report_integer(r, "k", run->k, err) || hu_report_text(r, "dtype", hu_scalar_name(run->scalar), err) || hu_report_integer(r, "threads", hu_threads(), err) ||
        hu_report_text(r, "machine", hu_cpu_model(), err) || hu_report_text(r, "cpu", hu_cpu_level_name(hu_cpu()), err) || hu_report_number(r, "pack_s", run->pack_seconds, err) ||
        hu_report_number(r, "seconds", run->seconds, err) || hu_report_number(r, "flops", run->k ? cost.flops : NAN, err) || hu_report_number(r, "bytes", run->k ? cost.bytes : NAN, err) ||
        hu_report_number(r, "bound_s", bound, err) || hu_report_text(r, "limit", limit, err) || hu_report_number(r, "limit_share", bound / run->seconds, err) ||
        hu_report_integer(r, "peak_bytes", hu_clock_peak_bytes(), err))
        goto cleanup;
    hu_report_append(r, common->report, err);
cleanup:
    hu_report_free(r);
    return err->status;
}

hu_status common_explain(const common_run *run, hu_error *err)
{
    spmm_limits limits;
    const char *limit;
    if (hu_verbosity() < 1 || !run->k) return HU_OK;
    if (spmm_limits_measure(&limits, err)) return err->status;
    const spmm_cost cost = spmm_cost_of(run->a, run->k, run->scalar, run->scalar);
    const double bound = spmm_cost_bound(&cost, &limits, spmm_sum_scalar(run->scalar), &limit);
    hu_say(1, "strategy %s, %d threads: %.3g operations and %.3g bytes in %.3g ms (%.3g GF/s, %.3g GB/s); bound %.3g ms by %s at %.3g GB/s and %.3g GF/s; share %.0f %%", run->strategy, hu_threads(),
           cost.flops, cost.bytes, run->seconds * 1e3, cost.flops / run->seconds * 1e-9, cost.bytes / run->seconds * 1e-9, bound * 1e3, limit, limits.bandwidth * 1e-9,
           (spmm_sum_scalar(run->scalar) == HU_F64 ? 1 : 2) * limits.flops * 1e-9, 100 * bound / run->seconds);
    return HU_OK;
}
