/* plan_private.h: what a plan is made of, for plan.c and plan_file.c only. */
#ifndef SPTRSV_PLAN_PRIVATE_H
#define SPTRSV_PLAN_PRIVATE_H

#include "grid.h"
#include "layout.h"
#include "plan.h"

struct sptrsv_plan {
    sptrsv_scheme scheme, done; /* as asked; as carried out */
    sptrsv_precision precision;
    int64_t n, nnz;
    int threads;
    int team;                   /* threads that share a fat row, of a plan with one list */
    int64_t fat_rows;           /* rows that they share; 0: none */
    hu_scalar scalar;           /* of x and b */
    sptrsv_grid *grid;          /* kind grid; NULL otherwise, */
    sptrsv_schedule *schedule;  /* and then these three */
    sptrsv_layout *layout;
    sptrsv_loops loops;
    const sptrsv_list *alone;   /* the only list, and its start; NULL: there are several */
    sptrsv_cursor start;
    char remark[256];
    sptrsv_chooser chooser;
};

/* A plan of a schedule, which it takes over, also on failure. threads: those that share fat rows where the schedule has one list. */
hu_status sptrsv_plan_of_schedule(const sptrsv_system *system, const sptrsv_scheme *scheme, sptrsv_precision precision, int threads,
                                  sptrsv_schedule *schedule, sptrsv_plan **ret_plan, hu_error *err);

hu_status sptrsv_plan_of_grid(const sptrsv_system *system, const sptrsv_scheme *scheme, sptrsv_precision precision,
                              const sptrsv_grid_shape *shape, int threads, sptrsv_plan **ret_plan, hu_error *err);

#endif
