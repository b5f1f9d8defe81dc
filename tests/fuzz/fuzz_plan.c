/* fuzz_plan.c: schedules with any numbers changed. What sptrsv_schedule_check() accepts must solve exactly, and end; all else must be refused with a reason.
 * Each four bytes of input change one number: which list, where, and the new value.
 */
#include "config.h"
#include "base/memory.h"
#include "plan_private.h"
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N = 60, WIDTH = 6 };

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* A grid of WIDTH columns: entries -1 to the left and above, diagonal 1. */
static hu_csr *grid(hu_error *err)
{
    hu_csr *a;
    if (hu_csr_new(N, N, 3 * N, false, &a, err)) return NULL;
    a->nnz = 0;
    for (int32_t i = 0; i < N; i++) {
        if (i >= WIDTH) a->col[a->nnz] = i - WIDTH, a->val[a->nnz++] = -1;
        if (i % WIDTH) a->col[a->nnz] = i - 1, a->val[a->nnz++] = 1;
        a->col[a->nnz] = i, a->val[a->nnz++] = 1;
        a->row_ptr[i + 1] = a->nnz;
    }
    return a;
}

static void change(sptrsv_schedule *s, const uint8_t *edit)
{
    int32_t value = (int8_t)edit[2] + (edit[3] & 1 ? INT32_MAX - 127 : 0);
    int64_t at = edit[1];
    switch (edit[0] % 6) {
    case 0: s->order[at % s->n] = value; break;
    case 1: s->task_start[at % (s->tasks + 1)] = value; break;
    case 2: s->task_group[at % s->tasks] = value; break;
    case 3: s->wait_start[at % (s->tasks + 1)] = value; break;
    case 4: s->thread_task[at % (s->threads + 1)] = value; break;
    default:
        if (s->waits == 0) break;
        if (edit[3] & 2) s->wait[at % s->waits].thread = value;
        else s->wait[at % s->waits].count = value;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = grid(&err);
    sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    sptrsv_scheme scheme = {SPTRSV_TASK, SPTRSV_FOLD, SPTRSV_NODE_ROW, 1, 0, 32, false, 0, 1, SPTRSV_TILE_LINE};
    sptrsv_system *system = NULL;
    sptrsv_schedule *schedule = NULL;
    sptrsv_plan *plan = NULL;
    demand(a && !sptrsv_system_new(a, &problem, "fuzz", &system, &err), err.message);
    demand(!sptrsv_schedule_new(system, &scheme, 2, &schedule, &err), err.message);
    for (size_t i = 0; i + 4 <= size && i < 400; i += 4) change(schedule, data + i);
    if (sptrsv_schedule_check(system, schedule, "fuzz", &err)) {
        demand((int)err.status == SPTRSV_PLAN_MISFIT && err.message[0], "a refusal without a reason");
        sptrsv_schedule_free(schedule);
    } else {
        double x[N], b[N];
        demand(!sptrsv_plan_of_schedule(system, &scheme, SPTRSV_F64, 1, schedule, &plan, &err), err.message);
        for (int i = 0; i < N; i++) b[i] = (i % 5) - (i >= WIDTH ? (i - WIDTH) % 5 : 0) + (i % WIDTH ? (i - 1) % 5 : 0);
        sptrsv_solve(plan, b, x);
        for (int i = 0; i < N; i++) demand(x[i] == i % 5, "an accepted plan solves wrongly");
        sptrsv_plan_free(plan);
    }
    sptrsv_system_free(system);
    hu_csr_free(a);
    return 0;
}
