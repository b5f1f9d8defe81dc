/* simulate.c: perf-predict simulate: nodes and jobs in, the schedule that a policy makes of them out. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "common.h"
#include "io/report.h"
#include "schedule.h"
#include "table_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    hu_csv_options csv;
    const char *cluster, *jobs, *interference;
    int policy; /* -1: not said */
    double cap;
    bool summary;
} options;

enum { KEY_CLUSTER = 0x100, KEY_JOBS, KEY_POLICY, KEY_CAP, KEY_INTERFERENCE, KEY_SUMMARY };

static const char *const policies[POLICIES] = {"fifo", "excl", "pack", "bestfit", "occ"};

static const struct argp_option table[] = {
    {"cluster", KEY_CLUSTER, "NODES.csv", 0, "the nodes: columns node and gpus", 0},
    {"jobs", KEY_JOBS, "JOBS.csv", 0, "the jobs: columns job, submit, duration, and maybe gpus, occupancy, real_occupancy, kind", 0},
    {"policy", KEY_POLICY, "POLICY", 0, "fifo or excl (whole GPUs), pack, bestfit or occ (shared by predicted occupancy)", 0},
    {"cap", KEY_CAP, "C", 0, "the predicted occupancies on a GPU sum to no more (default: 1)", 0},
    {"interference", KEY_INTERFERENCE, "FILE.csv", 0, "how jobs on a GPU slow each other down: columns load and slowdown, and maybe kind (default: only where they ask for more than the GPU)", 0},
    {"summary", KEY_SUMMARY, NULL, 0, "print makespan, mean times and utilisation, and not the jobs", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->csv; return 0;
    case KEY_CLUSTER: o->cluster = arg; return 0;
    case KEY_JOBS: o->jobs = arg; return 0;
    case KEY_POLICY: o->policy = hu_option_word(state, "--policy", arg, policies, POLICIES); return 0;
    case KEY_CAP: o->cap = hu_option_number(state, "--cap", arg, 1e-6, 4); return 0;
    case KEY_INTERFERENCE: o->interference = arg; return 0;
    case KEY_SUMMARY: o->summary = true; return 0;
    case ARGP_KEY_END:
        if (!o->cluster) argp_error(state, "--cluster=NODES.csv is wanted");
        if (!o->jobs) argp_error(state, "--jobs=JOBS.csv is wanted");
        if (o->policy < 0) argp_error(state, "--policy is wanted: fifo, excl, pack, bestfit or occ");
        if ((strcmp(o->cluster, "-") == 0) + (strcmp(o->jobs, "-") == 0) + (o->interference && strcmp(o->interference, "-") == 0) > 1)
            argp_error(state, "only one of the tables can be standard input");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

typedef struct {
    sim_cluster cluster;
    sim_jobs jobs;
    sim_interference curves;
} inputs;

static void free_inputs(inputs *in)
{
    cluster_free(&in->cluster);
    jobs_free(&in->jobs);
    interference_free(&in->curves);
}

static hu_status read_inputs(const options *o, inputs *in, hu_error *err)
{
    hu_source *source = NULL;
    *in = (inputs){0};
    if (hu_source_open(o->cluster, NULL, &source, err) == HU_OK) cluster_read(source, &o->csv, &in->cluster, err);
    hu_source_close(source);
    source = NULL;
    if (o->interference && !err->status && hu_source_open(o->interference, NULL, &source, err) == HU_OK) interference_read(source, &o->csv, &in->curves, err);
    hu_source_close(source);
    source = NULL;
    if (!err->status && hu_source_open(o->jobs, NULL, &source, err) == HU_OK) jobs_read(source, &o->csv, &in->curves, &in->jobs, err);
    hu_source_close(source);
    return err->status;
}

/* ---- the jobs --------------------------------------------------------------------------------------------------------- */

/* "0;3": the GPUs of a job within its node. text has room for them. */
static void gpus_text(const inputs *in, const sim_job *j, const placement *p, char *text)
{
    int32_t first = in->cluster.node[p->node].first;
    for (int32_t k = 0; k < j->gpus; k++) text += sprintf(text, "%s%d", k ? ";" : "", p->gpu[k] - first);
}

static double slowdown_of(const sim_job *j, const placement *p)
{
    return j->duration > 0 ? (p->end - p->start) / j->duration : 1.0;
}

static hu_status put_job(hu_csv_writer *w, const inputs *in, const sim_job *j, const placement *p, char *text, hu_error *err)
{
    if (hu_csv_put_text(w, j->name, err) || hu_csv_put_number(w, j->submit, err)) return err->status;
    if (p->node < 0) {
        for (int k = 0; k < 5; k++)
            if (hu_csv_put_missing(w, err)) return err->status;
        if (hu_csv_put_text(w, "never", err) || hu_csv_put_missing(w, err)) return err->status;
        return hu_csv_end_row(w, err);
    }
    gpus_text(in, j, p, text);
    if (hu_csv_put_number(w, p->start, err) || hu_csv_put_number(w, p->end, err) || hu_csv_put_number(w, p->start - j->submit, err) || hu_csv_put_number(w, p->end - j->submit, err) ||
        hu_csv_put_number(w, slowdown_of(j, p), err) || hu_csv_put_text(w, in->cluster.node[p->node].name, err) || hu_csv_put_text(w, text, err))
        return err->status;
    return hu_csv_end_row(w, err);
}

static hu_status put_jobs(const inputs *in, const schedule *s, hu_output *out, hu_error *err)
{
    static const char *const columns[] = {"job", "submit", "start", "end", "wait", "jct", "slowdown", "node", "gpus"};
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    char *text;
    if (hu_alloc(in->cluster.most, 12, "a row", (void **)&text, err)) return err->status;
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        if (hu_csv_put_text(&w, columns[k], err)) goto cleanup;
    if (hu_csv_end_row(&w, err)) goto cleanup;
    for (int64_t k = 0; k < in->jobs.jobs; k++)
        if (put_job(&w, in, &in->jobs.job[k], &s->placement[k], text, err)) goto cleanup;
cleanup:
    hu_free(text);
    return err->status;
}

/* ---- the summary -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    double value; /* NaN: not known */
} metric;

enum { METRICS = 15 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static hu_status measure(const inputs *in, const schedule *s, double cap, metric *ret, hu_error *err)
{
    double *jct, sum = 0.0, wait = 0.0, longest = 0.0, slowdown = 0.0;
    int64_t n = 0;
    if (hu_alloc(in->jobs.jobs, sizeof *jct, "jobs", (void **)&jct, err)) return err->status;
    for (int64_t k = 0; k < in->jobs.jobs; k++) {
        const sim_job *j = &in->jobs.job[k];
        const placement *p = &s->placement[k];
        if (p->node < 0) continue;
        jct[n++] = p->end - j->submit;
        sum += p->end - j->submit;
        wait += p->start - j->submit;
        slowdown += slowdown_of(j, p);
        if (p->start - j->submit > longest) longest = p->start - j->submit;
    }
    qsort(jct, (size_t)n, sizeof *jct, compare_doubles);
    double count = (double)n;
    const metric all[METRICS] = {{"cap", cap}, {"gpus", in->cluster.gpus}, {"jobs", (double)in->jobs.jobs}, {"never", (double)s->never}, {"makespan_s", s->makespan}, {"mean_jct_s", n ? sum / count : NAN},
                                 {"p95_jct_s", n ? jct[(int64_t)ceil(0.95 * count) - 1] : NAN}, {"mean_wait_s", n ? wait / count : NAN}, {"max_wait_s", n ? longest : NAN},
                                 {"mean_slowdown", n ? slowdown / count : NAN}, {"most_waiting", (double)s->queued}, {"utilisation", s->used}, {"busy", s->busy}, {"most_load", s->most},
                                 {"over_cap_gpu_s", s->over}};
    memcpy(ret, all, sizeof all);
    hu_free(jct);
    return HU_OK;
}

static hu_status put_summary(const char *policy, const metric *m, hu_output *out, hu_error *err)
{
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (hu_csv_put_text(&w, "metric", err) || hu_csv_put_text(&w, "value", err) || hu_csv_end_row(&w, err) || hu_csv_put_text(&w, "policy", err) || hu_csv_put_text(&w, policy, err) ||
        hu_csv_end_row(&w, err))
        return err->status;
    for (int k = 0; k < METRICS; k++)
        if (hu_csv_put_text(&w, m[k].name, err) || (isnan(m[k].value) ? hu_csv_put_missing(&w, err) : hu_csv_put_number(&w, m[k].value, err)) || hu_csv_end_row(&w, err)) return err->status;
    return HU_OK;
}

/* One row a run: so that policies can be compared in one file. */
static hu_status report(const options *o, const hu_common *common, const metric *m, double start, hu_error *err)
{
    hu_report *r = NULL;
    if (!common->report) return HU_OK;
    if (hu_report_new(&r, err) || hu_report_text(r, "command", "simulate", err) || hu_report_text(r, "cluster", o->cluster, err) || hu_report_text(r, "jobs_table", o->jobs, err) ||
        hu_report_text(r, "policy", policies[o->policy], err))
        goto cleanup;
    for (int k = 0; k < METRICS; k++)
        if (hu_report_number(r, m[k].name, m[k].value, err)) goto cleanup;
    if (hu_report_number(r, "wall_s", hu_clock_wall() - start, err) == HU_OK) hu_report_append(r, common->report, err);
cleanup:
    hu_report_free(r);
    return err->status;
}

/* ---- the command ---------------------------------------------------------------------------------------------------------- */

/* Names the jobs that no node could ever take, the first ones at least. */
static hu_status tell_never(const inputs *in, const schedule *s, hu_output *out, hu_error *err)
{
    char list[512] = "";
    int64_t told = 0;
    if (s->never == 0) return HU_OK;
    for (int64_t k = 0; k < in->jobs.jobs && told < 5; k++) {
        size_t used = strlen(list);
        if (s->placement[k].node >= 0) continue;
        snprintf(list + used, sizeof list - used, "%s%.80s", told ? ", " : "", in->jobs.job[k].name);
        told++;
    }
    hu_output_keep(out);
    return hu_fail(err, HU_NO, "%lld jobs can never run (more GPUs than any node has, or an occupancy beyond the cap): %s%s", (long long)s->never, list, told < s->never ? " ..." : "");
}

static hu_status simulate(const options *o, const hu_common *common, hu_output *out, hu_error *err)
{
    inputs in;
    schedule s = {0};
    metric m[METRICS];
    double start = hu_clock_wall();
    if (read_inputs(o, &in, err) || schedule_run(&in.cluster, &in.jobs, &in.curves, (schedule_policy)o->policy, o->cap, &s, err) || measure(&in, &s, o->cap, m, err)) goto cleanup;
    if (o->summary ? put_summary(policies[o->policy], m, out, err) : put_jobs(&in, &s, out, err)) goto cleanup;
    if (s.over > 0) hu_warn("the real load of GPUs was beyond the cap for %.6g GPU seconds, at most %.6g: occupancies are predicted too low", s.over, s.most);
    if (report(o, common, m, start, err) == HU_OK) tell_never(&in, &s, out, err);
cleanup:
    schedule_free(&s);
    free_inputs(&in);
    return err->status;
}

static const char doc[] = "Simulate the schedule that a policy makes of jobs which share GPUs.\v"
                          "The result has one row for each job: start, end, wait, jct (end - submit), slowdown (time it ran over its duration), node and gpus.  A policy sees what it would see on a real cluster: "
                          "arrivals, GPUs wanted and predicted occupancies.  Exit status 1: some jobs can never run; they are named, and the others simulated.";

int command_simulate(int argc, char **argv)
{
    const struct argp_child children[] = {{&csv_argp, 0, "The tables:", 2}, {0}};
    const struct argp own = {table, parse, "", doc, children, NULL, NULL};
    options o = {.csv = HU_CSV_DEFAULTS, .policy = -1, .cap = 1.0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (common_device(&common, &err) == HU_OK && hu_output_open(common.output, &out, &err) == HU_OK) simulate(&o, &common, out, &err);
    return hu_exit(&err, out);
}
