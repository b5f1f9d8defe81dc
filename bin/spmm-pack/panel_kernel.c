/* panel_kernel.c: the hot loops of panels (panel_kernel.h), built once per instruction set.
 *
 * Sections: sums in float, sums in double, tiles of B, limits of the level.
 */
#include "config.h"
#include "panel_kernel.h"
#include "simd.h"

/* ---- sums in float ---------------------------------------------------------------------------------------------- */

#define S float
#define V vf
#define W WIDTH_F
#define SET set_f
#define FMA fma_f
#define LOAD load_f
#define LOAD_PART load_part_f
#define STORE store_f
#define STORE_PART store_part_f
#define NAME(x) x##_f32
#include "panel_body.h"
#undef S
#undef V
#undef W
#undef SET
#undef FMA
#undef LOAD
#undef LOAD_PART
#undef STORE
#undef STORE_PART
#undef NAME

void HU_NAME(spmm_panels_f32)(spmm_panels *p)
{
    run_f32(p);
}

/* ---- sums in double --------------------------------------------------------------------------------------------- */

#define S double
#define V vd
#define W WIDTH_D
#define SET set_d
#define FMA fma_d
#define LOAD load_d
#define LOAD_PART load_part_d
#define STORE store_d
#define STORE_PART store_part_d
#define NAME(x) x##_f64
#include "panel_body.h"

void HU_NAME(spmm_panels_f64)(spmm_panels *p)
{
    run_f64(p);
}

/* ---- tiles of B ------------------------------------------------------------------------------------------------- */

#define TILE(name, T, S, W, LOAD, LOAD_PART, STORE)                                                                      \
    static void name(const T *b, int64_t ldb, int64_t n, int64_t width, S *tile)                                         \
    {                                                                                                                    \
        for (int64_t i = 0; i < n; i++, b += ldb) {                                                                      \
            int64_t j = 0;                                                                                               \
            for (; j + W <= width; j += W, tile += W) STORE(tile, LOAD(b + j));                                          \
            if (j == width) continue;                                                                                    \
            STORE(tile, LOAD_PART(b + j, (int)(width - j)));                                                             \
            tile += W;                                                                                                   \
        }                                                                                                                \
    }
TILE(tile_f64, double, double, WIDTH_D, load_d, load_part_d, store_d)
TILE(tile_f32, float, float, WIDTH_F, load_f, load_part_f, store_f)
TILE(tile_f16, uint16_t, float, WIDTH_F, load_h, load_part_h, store_f)
TILE(tile_bf16, uint16_t, float, WIDTH_F, load_b, load_part_b, store_f)

void HU_NAME(spmm_panel_tile)(hu_scalar scalar, const void *b, int64_t ldb, int64_t n, int64_t from, int64_t width, void *tile)
{
    switch (scalar) {
    case HU_F64: tile_f64((const double *)b + from, ldb, n, width, tile); break;
    case HU_F16: tile_f16((const uint16_t *)b + from, ldb, n, width, tile); break;
    case HU_BF16: tile_bf16((const uint16_t *)b + from, ldb, n, width, tile); break;
    default: tile_f32((const float *)b + from, ldb, n, width, tile);
    }
}

/* ---- limits of the level ---------------------------------------------------------------------------------------- */

int HU_NAME(spmm_panel_lanes)(size_t size)
{
    return (int)(SIMD_BYTES / size);
}

/* Sums in registers, and some left for the rest: 16 of 32, 8 of 16. */
int HU_NAME(spmm_panel_most_nv)(int rows)
{
    const int most = SIMD_BYTES == 64 ? 16 / rows : 8 / rows;
    return most > 8 ? 8 : most;
}
