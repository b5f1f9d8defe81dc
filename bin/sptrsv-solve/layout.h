/* layout.h: a system's rows as the hot loops read them (kernel.h): one list a thread, in execution order. */
#ifndef SPTRSV_LAYOUT_H
#define SPTRSV_LAYOUT_H

#include "kernel.h"
#include "schedule.h"

/* One thread's rows. */
typedef struct {
    int64_t values, indices, listed, lengths, rows, runs;
    sptrsv_run *run;
    int64_t *task_run; /* [tasks of the thread + 1] first run of a task */
    void *value, *index, *factor;
    int32_t *row;
    uint8_t *length;
} sptrsv_list;

typedef struct {
    sptrsv_precision precision;
    bool is_complex, ascending;
    int index; /* 16 or 32 */
    sptrsv_mode mode;
    int threads;
    sptrsv_list *list; /* [threads] */
} sptrsv_layout;

/* Lays out the pattern: runs, indices, rows. Values are not set yet. index 16 falls back to 32 where a difference does not fit. */
hu_status sptrsv_layout_new(const sptrsv_system *system, const sptrsv_schedule *schedule, const sptrsv_scheme *scheme,
                            sptrsv_precision precision, sptrsv_layout **ret_layout, hu_error *err);
void sptrsv_layout_free(sptrsv_layout *layout); /* NULL is allowed */

/* Lays out values and sets the mode. *ret_folded: false where arith is fold but 1/d or some l/d overflows, vanishes or is subnormal. */
hu_status sptrsv_layout_set_values(sptrsv_layout *layout, const sptrsv_system *system, const sptrsv_schedule *schedule, sptrsv_arith arith,
                                   bool *ret_folded, hu_error *err);

sptrsv_cursor sptrsv_layout_cursor(const sptrsv_layout *layout, int thread);
int64_t sptrsv_layout_bytes(const sptrsv_layout *layout);
size_t sptrsv_layout_scalar(const sptrsv_layout *layout); /* bytes of an element of x */

#endif
