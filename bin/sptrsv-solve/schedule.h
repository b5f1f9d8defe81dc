/* schedule.h: who solves what, when: rows in execution order, tasks of threads, and waits between them.
 *
 * The rows are coarsened to nodes, the nodes sorted by level set, each level split over the threads by work, and narrow levels merged and given to one thread.
 * What a thread does between two waits is a task; a thread counts the tasks that it has done, so a wait is (thread, count), and
 * a task waits at most once for each other thread. Waits that others imply are dropped (vector clocks), which is the complete transitive
 * reduction in this model, in linear time. (Park, Smelyanskiy, Sundaram, Dubey: "Sparsifying synchronization for high-performance shared-memory sparse
 * triangular solver", ISC 2014, for point-to-point waits; AG-SpTRSV, ACM TACO 2024, for the stages.)
 */
#ifndef SPTRSV_SCHEDULE_H
#define SPTRSV_SCHEDULE_H

#include "scheme.h"
#include "system.h"

typedef struct {
    int32_t thread, count; /* until `thread` has done `count` tasks */
} sptrsv_wait;

typedef struct {
    int threads;
    int64_t n, levels, nodes, tasks, waits, longest_path;
    int32_t groups;
    int32_t *order;       /* [n] steps in execution order, thread after thread; NULL: natural order (one thread, one task) */
    int64_t *thread_task; /* [threads + 1] first task of a thread */
    int64_t *task_start;  /* [tasks + 1] first position of a task in the execution order */
    int32_t *task_group;  /* [tasks] ascending in a thread; a task waits only for tasks of earlier groups */
    int64_t *wait_start;  /* [tasks + 1] */
    sptrsv_wait *wait;    /* [waits] */
} sptrsv_schedule;

enum {
    SPTRSV_MOST_THREADS = 256,
    SPTRSV_SORTED_BLOCK = 64 /* rows: blocks that may be as long as this are sorted within by level and length, unless dense blocks are looked for */
};

/* threads is 1 for kinds serial and level. */
hu_status sptrsv_schedule_new(const sptrsv_system *system, const sptrsv_scheme *scheme, int threads, sptrsv_schedule **ret_schedule,
                              hu_error *err);
void sptrsv_schedule_free(sptrsv_schedule *schedule); /* NULL is allowed */

/* A schedule as it came from a file: all its numbers are checked, the order is a permutation, and every dependence is met by order or by a
 * wait. SPTRSV_PLAN_MISFIT says what is wrong. One parallel pass over the entries. */
hu_status sptrsv_schedule_check(const sptrsv_system *system, const sptrsv_schedule *schedule, const char *name, hu_error *err);

/* Nodes of a scheme: nodes + 1 first steps, or NULL where every row is a node; and their level sets. Free with hu_free(). */
hu_status sptrsv_nodes_of(const sptrsv_system *system, sptrsv_node node, int32_t rows, int32_t **ret_first, int64_t *ret_nodes, hu_error *err);
hu_status sptrsv_levels_of(const sptrsv_system *system, const int32_t *opt_first, int64_t nodes, int32_t **ret_level, int32_t *ret_levels,
                           hu_error *err);

#endif
