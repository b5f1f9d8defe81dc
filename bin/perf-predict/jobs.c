/* jobs.c: nodes, jobs and interference from CSV tables.
 *
 * Sections: nodes, interference, jobs.
 */
#include "config.h"
#include "jobs.h"
#include "base/memory.h"
#include "cells.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_TIME = 1e15; /* seconds */
enum { MOST_GPUS = 1 << 24, MOST_OF_A_NODE = 4096 };

static hu_status copy_text(const hu_csv_field *field, char **ret, hu_error *err)
{
    *ret = strndup(field->text, (size_t)field->size);
    return *ret ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

/* ---- nodes --------------------------------------------------------------------------------------------------------- */

void cluster_free(sim_cluster *c)
{
    for (int32_t k = 0; k < c->nodes; k++) free(c->node[k].name);
    free(c->node);
    *c = (sim_cluster){0};
}

static hu_status take_node(hu_csv *csv, int64_t name, int64_t gpus, const hu_csv_field *fields, sim_cluster *c, hu_error *err)
{
    double n;
    if (cells_number(csv, gpus, 1, MOST_OF_A_NODE, true, NAN, &n, err)) return err->status;
    if (c->gpus > MOST_GPUS - (int32_t)n) return hu_csv_fail(csv, gpus, err, "the cluster has more than %d GPUs", MOST_GPUS);
    if (hu_grow((void **)&c->node, &c->room, c->nodes + 1, sizeof *c->node, "nodes", err)) return err->status;
    sim_node *new = &c->node[c->nodes];
    *new = (sim_node){NULL, c->gpus, (int32_t)n};
    if (copy_text(&fields[name], &new->name, err)) return err->status;
    c->nodes++;
    c->gpus += new->gpus;
    if (new->gpus > c->most) c->most = new->gpus;
    return HU_OK;
}

hu_status cluster_read(hu_source *source, const hu_csv_options *options, sim_cluster *ret, hu_error *err)
{
    hu_csv *csv;
    const hu_csv_field *fields;
    const char *from = hu_source_name(source);
    int64_t name, gpus;
    hu_status status;
    *ret = (sim_cluster){0};
    if (hu_csv_open(source, options, &csv, err)) return err->status;
    if (cells_need(csv, from, "node", &name, err) || cells_need(csv, from, "gpus", &gpus, err)) goto cleanup;
    while ((status = hu_csv_next(csv, &fields, err)) == HU_OK)
        if (take_node(csv, name, gpus, fields, ret, err)) goto cleanup;
    if (status == HU_END && ret->nodes == 0) hu_fail_line(err, from, 0, "the table has a header but no node");
cleanup:
    hu_csv_close(csv);
    if (err->status) cluster_free(ret);
    return err->status;
}

/* ---- interference ------------------------------------------------------------------------------------------------------ */

void interference_free(sim_interference *i)
{
    for (int32_t k = 0; k < i->curves; k++) {
        free(i->curve[k].kind);
        free(i->curve[k].load);
    }
    free(i->curve);
    *i = (sim_interference){0};
}

/* The curve of a kind, or -1. */
static int32_t find_curve(const sim_interference *i, const char *kind, size_t size)
{
    for (int32_t k = 0; k < i->curves; k++)
        if (strlen(i->curve[k].kind) == size && memcmp(i->curve[k].kind, kind, size) == 0) return k;
    return -1;
}

static hu_status add_point(sim_curve *c, double load, double slowdown, hu_error *err)
{
    if (hu_grow((void **)&c->load, &c->room, 2 * (c->points + 1), sizeof *c->load, "interference", err)) return err->status;
    c->load[2 * c->points] = load; /* pairs while they are read */
    c->load[2 * c->points++ + 1] = slowdown;
    return HU_OK;
}

static hu_status add_curve(sim_interference *i, const char *kind, size_t size, hu_error *err)
{
    if (hu_grow((void **)&i->curve, &i->room, i->curves + 1, sizeof *i->curve, "interference", err)) return err->status;
    i->curve[i->curves] = (sim_curve){0};
    if (!(i->curve[i->curves].kind = strndup(kind, size))) return hu_fail(err, HU_SYSTEM, "out of memory");
    i->curves++;
    return HU_OK;
}

static hu_status take_point(hu_csv *csv, int64_t load, int64_t slowdown, int64_t kind, const hu_csv_field *fields, sim_interference *i, hu_error *err)
{
    double x, y;
    const char *text = kind < 0 ? "" : fields[kind].text;
    size_t size = kind < 0 ? 0 : (size_t)fields[kind].size;
    if (cells_number(csv, load, 0, 1000, false, NAN, &x, err) || cells_number(csv, slowdown, 1, 1e6, false, NAN, &y, err)) return err->status;
    int32_t k = find_curve(i, text, size);
    if (k < 0) {
        k = i->curves;
        if (add_curve(i, text, size, err)) return err->status;
        if (x > 0 && add_point(&i->curve[k], 0.0, 1.0, err)) return err->status;
        if (x == 0 && y != 1) return hu_csv_fail(csv, slowdown, err, "at load 0 a job is alone: its slowdown is 1");
    }
    sim_curve *c = &i->curve[k];
    if (c->points && !(x > c->load[2 * c->points - 2])) return hu_csv_fail(csv, load, err, "the loads of a kind must ascend");
    return add_point(c, x, y, err);
}

/* Pairs into two arrays. */
static hu_status part_points(sim_curve *c, hu_error *err)
{
    double *both = malloc((size_t)(2 * c->points) * sizeof *both);
    if (!both) return hu_fail(err, HU_SYSTEM, "out of memory");
    for (int64_t p = 0; p < c->points; p++) {
        both[p] = c->load[2 * p];
        both[c->points + p] = c->load[2 * p + 1];
    }
    free(c->load);
    c->load = both;
    c->slowdown = both + c->points;
    return HU_OK;
}

hu_status interference_read(hu_source *source, const hu_csv_options *options, sim_interference *ret, hu_error *err)
{
    hu_csv *csv;
    const hu_csv_field *fields;
    const char *from = hu_source_name(source);
    int64_t load, slowdown;
    hu_status status;
    *ret = (sim_interference){0};
    if (hu_csv_open(source, options, &csv, err)) return err->status;
    int64_t kind = cells_column(csv, "kind");
    if (cells_need(csv, from, "load", &load, err) || cells_need(csv, from, "slowdown", &slowdown, err)) goto cleanup;
    while ((status = hu_csv_next(csv, &fields, err)) == HU_OK)
        if (take_point(csv, load, slowdown, kind, fields, ret, err)) goto cleanup;
    if (status == HU_END && ret->curves == 0) hu_fail_line(err, from, 0, "the table has a header but no row");
    for (int32_t k = 0; k < ret->curves && !err->status; k++) part_points(&ret->curve[k], err);
cleanup:
    hu_csv_close(csv);
    if (err->status) interference_free(ret);
    return err->status;
}

double curve_slowdown(const sim_curve *c, double load)
{
    int64_t p = 1;
    while (p < c->points && c->load[p] < load) p++;
    if (p == c->points) return c->slowdown[p - 1];
    double part = (load - c->load[p - 1]) / (c->load[p] - c->load[p - 1]);
    return c->slowdown[p - 1] + part * (c->slowdown[p] - c->slowdown[p - 1]);
}

/* ---- jobs ------------------------------------------------------------------------------------------------------------ */

void jobs_free(sim_jobs *list)
{
    for (int64_t k = 0; k < list->jobs; k++) free(list->job[k].name);
    free(list->job);
    *list = (sim_jobs){0};
}

typedef struct {
    int64_t name, submit, duration, gpus, occupancy, real, kind; /* columns; -1: there is none */
} job_columns;

static int32_t parts_of(double share)
{
    int32_t parts = (int32_t)lrint(share * SHARE);
    return parts < 1 ? 1 : parts;
}

static hu_status take_job(hu_csv *csv, const job_columns *c, const hu_csv_field *fields, const sim_interference *curves, sim_jobs *list, hu_error *err)
{
    double gpus, occupancy, real;
    sim_job j = {.curve = -1};
    if (cells_number(csv, c->submit, 0, MOST_TIME, false, NAN, &j.submit, err) || cells_number(csv, c->duration, 0, MOST_TIME, false, NAN, &j.duration, err) ||
        cells_number(csv, c->gpus, 1, INT32_MAX, true, 1, &gpus, err) || cells_number(csv, c->occupancy, 0, 1, false, 1, &occupancy, err) ||
        cells_number(csv, c->real, 0, 1, false, occupancy, &real, err))
        return err->status;
    j.gpus = (int32_t)gpus;
    j.occupancy = parts_of(occupancy);
    j.real = parts_of(real);
    if (curves->curves && c->kind >= 0) j.curve = find_curve(curves, fields[c->kind].text, (size_t)fields[c->kind].size);
    if (j.curve < 0) j.curve = find_curve(curves, "", 0);
    if (curves->curves && j.curve < 0) return hu_csv_fail(csv, c->kind < 0 ? c->name : c->kind, err, "the table of interference has no curve for this kind, and none for all");
    if (hu_grow((void **)&list->job, &list->room, list->jobs + 1, sizeof *list->job, "jobs", err) || copy_text(&fields[c->name], &j.name, err)) return err->status;
    list->job[list->jobs++] = j;
    return HU_OK;
}

hu_status jobs_read(hu_source *source, const hu_csv_options *options, const sim_interference *curves, sim_jobs *ret, hu_error *err)
{
    hu_csv *csv;
    job_columns c;
    const hu_csv_field *fields;
    const char *from = hu_source_name(source);
    hu_status status;
    *ret = (sim_jobs){0};
    if (hu_csv_open(source, options, &csv, err)) return err->status;
    c.gpus = cells_column(csv, "gpus");
    c.occupancy = cells_column(csv, "occupancy");
    c.real = cells_column(csv, "real_occupancy");
    c.kind = cells_column(csv, "kind");
    if (cells_need(csv, from, "job", &c.name, err) || cells_need(csv, from, "submit", &c.submit, err) || cells_need(csv, from, "duration", &c.duration, err)) goto cleanup;
    while ((status = hu_csv_next(csv, &fields, err)) == HU_OK) {
        if (ret->jobs == INT32_MAX - 1) hu_fail_line(err, from, hu_csv_line(csv), "too many jobs");
        if (err->status || take_job(csv, &c, fields, curves, ret, err)) goto cleanup;
    }
    if (status == HU_END && ret->jobs == 0) hu_fail_line(err, from, 0, "the table has a header but no job");
cleanup:
    hu_csv_close(csv);
    if (err->status) jobs_free(ret);
    return err->status;
}
