/* schedule.h: the course of jobs on a cluster of GPUs that they share by predicted occupancy, event by event.
 *
 * Policies. All see a job's arrival, its number of GPUs and its predicted occupancy, and never its duration nor what it really takes.
 *     fifo     whole GPUs; strictly in the order of arrival: a job that finds no room holds up all behind it
 *     excl     whole GPUs; in the order of arrival, but who finds room passes who does not
 *     pack     shared GPUs; order as excl; the first node with room, its first GPUs with room
 *     bestfit  shared GPUs; order as excl; the node and GPUs with least room beyond what is wanted
 *     occ      shared GPUs; the job of greatest predicted occupancy that finds room first (of equals by arrival); nodes as bestfit: best fit decreasing
 * All GPUs of a job are of one node. A GPU's predicted occupancies never sum to more than the cap.
 *
 * Jobs on one GPU slow each other down by the curve of their kind, at the real load of the others; without curves they share fairly what they together ask of more
 * than the whole GPU. A job goes as fast as its slowest GPU lets it.
 */
#ifndef PP_SCHEDULE_H
#define PP_SCHEDULE_H

#include "jobs.h"

typedef enum { POLICY_FIFO, POLICY_EXCL, POLICY_PACK, POLICY_BESTFIT, POLICY_OCC, POLICIES } schedule_policy;

typedef struct {
    double start, end; /* NaN: can never run */
    int32_t node;      /* -1: can never run */
    int32_t *gpu;      /* [job's gpus] of the cluster, ascending; in the schedule's gpus[] */
} placement;

typedef struct {
    placement *placement; /* [jobs] */
    int32_t *gpus;
    int64_t never;        /* jobs that no empty node could take */
    double makespan;      /* from the first arrival to the last end */
    double used, busy;    /* shares of GPUs x makespan: real load, at most 1 a GPU; at least one job */
    double over;          /* GPU seconds at which the real load was beyond the cap */
    double most;          /* the greatest real load of a GPU */
    int64_t queued;       /* jobs that waited at a time, at most */
} schedule;

/* O((jobs + events) log): cap in (0, 4]. Free with schedule_free(). */
hu_status schedule_run(const sim_cluster *cluster, const sim_jobs *jobs, const sim_interference *curves, schedule_policy policy, double cap, schedule *ret_schedule, hu_error *err);
void schedule_free(schedule *s);

#endif
