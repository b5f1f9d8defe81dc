/* fuzz_kernels.c: any bytes as a trace of the PyTorch profiler, as a table of kernels, and as a cluster, jobs and interference. What is accepted has occupancies between 0 and 1, and a
 * schedule; all else must be refused with a reason.
 */
#include "config.h"
#include "kernels.h"
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static hu_source *source_of(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    return source;
}

static void try_kernels(const uint8_t *data, size_t size, bool trace)
{
    hu_error err = HU_ERROR_NONE;
    hu_csv_options csv = HU_CSV_DEFAULTS;
    kernel_list list;
    gpu g;
    hu_source *source = source_of(data, size);
    hu_status status = trace ? kernels_read_trace(source, &list, &err) : kernels_read_csv(source, &csv, &list, &err);
    hu_source_close(source);
    demand(status == err.status && (status == HU_OK || status == HU_SYSTEM || (status == HU_INPUT && err.message[0])), "a list or an error that says why");
    if (status) return;
    demand(list.kernels > 0 && gpu_find("h200", &g, &err) == HU_OK, "kernels");
    for (int64_t k = 0; k < list.kernels; k++) {
        gpu_occupancy o = gpu_occupy(&g, &list.kernel[k].launch);
        demand(o.theoretical >= 0 && o.theoretical <= 1 && !(o.estimated < 0) && !(o.estimated > 1), "occupancies between 0 and 1");
        if (o.blocks > 0 && k < 100) gpu_advise(&g, &list.kernel[k].launch);
    }
    kernels_free(&list);
}

/* Three tables with a zero byte between. */
static void try_schedule(const uint8_t *data, size_t size, schedule_policy policy)
{
    hu_error err = HU_ERROR_NONE;
    hu_csv_options csv = HU_CSV_DEFAULTS;
    sim_cluster cluster = {0};
    sim_jobs jobs = {0};
    sim_interference curves = {0};
    schedule s;
    hu_source *source[3];
    for (int k = 0; k < 3; k++) {
        const uint8_t *end = memchr(data, '\0', size);
        size_t part = end ? (size_t)(end - data) : size;
        source[k] = source_of(data, part);
        data += end ? part + 1 : part;
        size -= end ? part + 1 : part;
    }
    if (cluster_read(source[0], &csv, &cluster, &err) == HU_OK && (policy % 2 == 0 || interference_read(source[2], &csv, &curves, &err) == HU_OK) && jobs_read(source[1], &csv, &curves, &jobs, &err) == HU_OK &&
        cluster.gpus < 100000 && schedule_run(&cluster, &jobs, &curves, policy, 1.0, &s, &err) == HU_OK) {
        for (int64_t k = 0; k < jobs.jobs; k++) demand(s.placement[k].node < 0 || (s.placement[k].start >= jobs.job[k].submit && s.placement[k].end >= s.placement[k].start), "times in order");
        schedule_free(&s);
    }
    demand(!err.status || err.message[0], "an error that says why");
    for (int k = 0; k < 3; k++) hu_source_close(source[k]);
    cluster_free(&cluster);
    jobs_free(&jobs);
    interference_free(&curves);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    hu_set_verbosity(-1);
    int way = data[0] % 8;
    if (way < 2) try_kernels(data + 1, size - 1, way == 0);
    else try_schedule(data + 1, size - 1, (schedule_policy)(way % POLICIES));
    return 0;
}
