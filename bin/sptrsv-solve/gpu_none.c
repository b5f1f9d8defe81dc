/* gpu_none.c: gpu_solve.h in a build without CUDA. A device is what every function needs, and hu_gpu_open() has said that there is none. */
#include "config.h"
#include "gpu_solve.h"

static hu_status none(hu_error *err)
{
    return hu_fail(err, HU_DEVICE, "this build has no GPU back end; use --device=cpu");
}

hu_status sptrsv_gpu_plan_new(hu_gpu *gpu, const sptrsv_system *system, const sptrsv_gpu_scheme *scheme, sptrsv_precision precision,
                              sptrsv_gpu_plan **ret_plan, hu_error *err)
{
    (void)gpu, (void)system, (void)scheme, (void)precision;
    *ret_plan = NULL;
    return none(err);
}

void sptrsv_gpu_plan_free(sptrsv_gpu_plan *plan)
{
    (void)plan;
}

hu_status sptrsv_gpu_solve(sptrsv_gpu_plan *plan, const hu_dense *b, hu_dense *x, hu_error *err)
{
    (void)plan, (void)b, (void)x;
    return none(err);
}

void sptrsv_gpu_describe(const sptrsv_gpu_plan *plan, sptrsv_gpu_facts *ret_facts)
{
    (void)plan, (void)ret_facts;
}
