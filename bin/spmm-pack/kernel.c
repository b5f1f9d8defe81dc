/* kernel.c: the hot loops of products with dense matrices (kernel.h), built once per instruction set.
 *
 * Sections: the types, choosing.
 */
#include "config.h"
#include "kernel.h"
#include "simd.h"

/* ---- the types: B's elements and the sums ------------------------------------------------------------------------ */

#define S double
#define V vd
#define VI vl
#define W WIDTH_D
#define SET set_d
#define FMA fma_d
#define LOAD_SUM load_d
#define LOAD_SUM_PART load_part_d
#define STORE_SUM store_d
#define STORE_SUM_PART store_part_d
#define LOAD_16(load, p, n) ((void)(p), (void)(n), (vd){0}) /* never: sums in double go to double */
#define STORE_16(store, p, v, n) ((void)(p), (void)(v), (void)(n))

#define T double
#define LOAD load_d
#define LOAD_PART load_part_d
#define NAME(x) x##_f64
#include "kernel_body.h"
#include "sddmm_body.h"
#undef T
#undef LOAD
#undef LOAD_PART
#undef NAME

#undef S
#undef V
#undef VI
#undef W
#undef SET
#undef FMA
#undef LOAD_SUM
#undef LOAD_SUM_PART
#undef STORE_SUM
#undef STORE_SUM_PART
#undef LOAD_16
#undef STORE_16
#define S float
#define V vf
#define VI vi
#define W WIDTH_F
#define SET set_f
#define FMA fma_f
#define LOAD_SUM load_f
#define LOAD_SUM_PART load_part_f
#define STORE_SUM store_f
#define STORE_SUM_PART store_part_f
#define LOAD_16(load, p, n) load(p, n)
#define STORE_16(store, p, v, n) store(p, v, n)

#define T float
#define LOAD load_f
#define LOAD_PART load_part_f
#define NAME(x) x##_f32
#include "kernel_body.h"
#include "sddmm_body.h"
#undef T
#undef LOAD
#undef LOAD_PART
#undef NAME

#define T uint16_t
#define LOAD load_h
#define LOAD_PART load_part_h
#define NAME(x) x##_f16
#include "kernel_body.h"
#include "sddmm_body.h"
#undef LOAD
#undef LOAD_PART
#undef NAME

#define LOAD load_b
#define LOAD_PART load_part_b
#define NAME(x) x##_bf16
#include "kernel_body.h"
#include "sddmm_body.h"

/* ---- choosing --------------------------------------------------------------------------------------------------- */

void HU_NAME(spmm_rows)(const spmm_tile *t, const int64_t *ptr, const int32_t *row, int64_t first, int64_t n)
{
    switch (t->b_scalar) {
    case HU_F64: rows_f64(t, ptr, row, first, n); break;
    case HU_F16: rows_f16(t, ptr, row, first, n); break;
    case HU_BF16: rows_bf16(t, ptr, row, first, n); break;
    default: rows_f32(t, ptr, row, first, n);
    }
}

void HU_NAME(spmm_extremes)(const spmm_tile *t, bool least, int32_t *arg, int64_t ld_arg, const int64_t *ptr, int64_t first, int64_t n)
{
    switch (t->b_scalar) {
    case HU_F64: extremes_f64(t, least, arg, ld_arg, ptr, first, n); break;
    case HU_F16: extremes_f16(t, least, arg, ld_arg, ptr, first, n); break;
    case HU_BF16: extremes_bf16(t, least, arg, ld_arg, ptr, first, n); break;
    default: extremes_f32(t, least, arg, ld_arg, ptr, first, n);
    }
}

void HU_NAME(spmm_dots_of)(const spmm_dots *d, int64_t row, int64_t from, int64_t to)
{
    switch (d->scalar) {
    case HU_F64: dots_f64(d, row, from, to); break;
    case HU_F16: dots_f16(d, row, from, to); break;
    case HU_BF16: dots_bf16(d, row, from, to); break;
    default: dots_f32(d, row, from, to);
    }
}
