/* grid_kernel.c: the hot loops of grid.c, built once an instruction level; the loops themselves stand in grid_tile.h, which
 * is included once a precision.
 *
 * Arithmetic is canonical (system.h): sums run over the neighbours in solve order, fused where the level has FMA, so that a
 * grid gives the bits that any other scheme gives.
 */
#include "config.h"
#include "grid_kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__FMA__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { VECTOR = 64 };
#elif defined(__AVX__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

#define PASTE2(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE2(a, b, c)
#define ALWAYS static inline __attribute__((always_inline))

/* s - c x, fused where the level can. */
ALWAYS double nfma_f64(double c, double x, double s)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(-c, x, s);
#else
    return s - c * x;
#endif
}

ALWAYS float nfma_f32(float c, float x, float s)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(-c, x, s);
#else
    return s - c * x;
#endif
}

typedef double vec_f64 __attribute__((vector_size(VECTOR)));
typedef long long mask_f64 __attribute__((vector_size(VECTOR)));
typedef float vec_f32 __attribute__((vector_size(VECTOR)));
typedef float half_f32 __attribute__((vector_size(VECTOR / 2)));

ALWAYS vec_f64 load_doubles(const double *p)
{
    vec_f64 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* A store past the caches to an aligned place: what is written once and read much later need not be read first. */
ALWAYS void stream_doubles(double *p, vec_f64 v)
{
#if defined(__AVX512F__)
    _mm512_stream_pd(p, v);
#elif defined(__FMA__)
    _mm256_stream_pd(p, v);
#else
    memcpy(p, &v, sizeof v);
#endif
}

/* Before others may read what was streamed. */
ALWAYS void stream_end(void)
{
#if defined(__FMA__)
    _mm_sfence();
#endif
}

ALWAYS vec_f64 vnfma_f64(vec_f64 c, vec_f64 x, vec_f64 s)
{
#if defined(__AVX512F__)
    return _mm512_fnmadd_pd(c, x, s);
#elif defined(__FMA__)
    return _mm256_fnmadd_pd(c, x, s);
#elif defined(__aarch64__)
    for (int i = 0; i < VECTOR / 8; i++) s[i] = __builtin_fma(-c[i], x[i], s[i]);
    return s;
#else
    return s - c * x;
#endif
}

ALWAYS vec_f32 vnfma_f32(vec_f32 c, vec_f32 x, vec_f32 s)
{
#if defined(__AVX512F__)
    return _mm512_fnmadd_ps(c, x, s);
#elif defined(__FMA__)
    return _mm256_fnmadd_ps(c, x, s);
#elif defined(__aarch64__)
    for (int i = 0; i < VECTOR / 4; i++) s[i] = __builtin_fmaf(-c[i], x[i], s[i]);
    return s;
#else
    return s - c * x;
#endif
}

#define REAL double
#define REAL_NAME f64
#define COEF double
#define COEF_MIN DBL_MIN
#define COEF_MAX DBL_MAX
#define TILE 8
#define MIXED 0
#define N(name) PASTE(name, f64, HU_LEVEL)
#include "grid_tile.h"
#undef REAL
#undef REAL_NAME
#undef COEF
#undef COEF_MIN
#undef COEF_MAX
#undef TILE
#undef MIXED
#undef N

#define REAL float
#define REAL_NAME f32
#define COEF float
#define COEF_MIN ((double)FLT_MIN)
#define COEF_MAX ((double)FLT_MAX)
#define TILE 16
#define MIXED 0
#define N(name) PASTE(name, f32, HU_LEVEL)
#include "grid_tile.h"
#undef REAL
#undef REAL_NAME
#undef COEF
#undef COEF_MIN
#undef COEF_MAX
#undef TILE
#undef MIXED
#undef N

#define REAL double
#define REAL_NAME f64
#define COEF float
#define COEF_MIN ((double)FLT_MIN)
#define COEF_MAX ((double)FLT_MAX)
#define TILE 8
#define MIXED 1
#define N(name) PASTE(name, mixed, HU_LEVEL)
#include "grid_tile.h"

#define TABLE2(level) sptrsv_grid_kernels_##level
#define TABLE(level) TABLE2(level)
#define ROW(precision)                                                                                                 \
    {                                                                                                                  \
        PASTE(run, precision, HU_LEVEL), PASTE(run_dof, precision, HU_LEVEL), PASTE(run_block, precision, HU_LEVEL),   \
            PASTE(run_block_dof, precision, HU_LEVEL), PASTE(set, precision, HU_LEVEL),                                \
            PASTE(set_dof, precision, HU_LEVEL)                                                                        \
    }

const sptrsv_grid_kernels TABLE(HU_LEVEL)[3] = {
    [SPTRSV_F64] = ROW(f64), [SPTRSV_F32] = ROW(f32), [SPTRSV_MIXED] = ROW(mixed)};
