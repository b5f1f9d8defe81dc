/* jobs.h: what a schedule is simulated of: nodes with GPUs, jobs, and how jobs on one GPU slow each other down; from CSV tables. */
#ifndef PP_JOBS_H
#define PP_JOBS_H

#include "io/csv.h"
#include "io/source.h"

enum { SHARE = 1000000 }; /* parts of a GPU: occupancies are whole numbers of them, so that sums are exact */

typedef struct {
    char *name;
    int32_t first, gpus; /* its GPUs: first .. first + gpus - 1 of the cluster's */
} sim_node;

typedef struct {
    int32_t nodes, gpus, most; /* most: GPUs of the largest node */
    int64_t room;
    sim_node *node;
} sim_cluster;

typedef struct {
    char *name;
    double submit, duration; /* seconds; duration: alone on its GPUs */
    int32_t gpus;
    int32_t occupancy;       /* predicted, of each of its GPUs, in parts: all that a policy sees */
    int32_t real;            /* what it takes indeed */
    int32_t curve;           /* of interference; -1: none of its kind */
} sim_job;

/* Slowdown by the load of the others on the GPU: straight lines between points, level behind the last; (0, 1) is the first. */
typedef struct {
    char *kind;              /* "": of all that have no curve of their own */
    int64_t points, room;
    double *load, *slowdown; /* [points] */
} sim_curve;

typedef struct {
    int32_t curves;
    int64_t room;
    sim_curve *curve;
} sim_interference;

typedef struct {
    int64_t jobs, room;
    sim_job *job;
} sim_jobs;

/* Columns node and gpus. Free with cluster_free(). */
hu_status cluster_read(hu_source *source, const hu_csv_options *csv, sim_cluster *ret_cluster, hu_error *err);
void cluster_free(sim_cluster *c);

/* Columns load and slowdown (at least 1), and maybe kind; the loads of a kind ascend. Free with interference_free(). */
hu_status interference_read(hu_source *source, const hu_csv_options *csv, sim_interference *ret, hu_error *err);
void interference_free(sim_interference *i);

double curve_slowdown(const sim_curve *c, double load);

/* Columns job, submit, duration, and maybe gpus (default 1), occupancy (a share, default 1), real_occupancy (default the same), kind. Free with jobs_free(). */
hu_status jobs_read(hu_source *source, const hu_csv_options *csv, const sim_interference *curves, sim_jobs *ret_jobs, hu_error *err);
void jobs_free(sim_jobs *jobs);

#endif
