/* simd.h: vectors of float and double as wide as the instruction level has them, and loads and stores that also take storage types (f16, bf16) and
 * parts of a vector. For kernels only: each build of a kernel gets its own.
 *
 * A part is the first n lanes: nothing behind them is read or written, and they load as zero.
 *
 * Sections: types, float, double, f16 and bf16.
 */
#ifndef SPMM_SIMD_H
#define SPMM_SIMD_H

#include "dense/dense.h"
#include "device/level.h"

#include <string.h>
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* ---- types ------------------------------------------------------------------------------------------------------ */

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define SIMD_512
enum { SIMD_BYTES = 64 };
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define SIMD_256
enum { SIMD_BYTES = 32 };
#else
enum { SIMD_BYTES = 16 };
#endif
enum { WIDTH_F = SIMD_BYTES / 4, WIDTH_D = SIMD_BYTES / 8 };

typedef float vf __attribute__((vector_size(SIMD_BYTES)));
typedef double vd __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t vi __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t vl __attribute__((vector_size(SIMD_BYTES)));

/* ---- float ------------------------------------------------------------------------------------------------------ */

INLINE vf set_f(float x) { return x - (vf){0}; }

INLINE vf load_f(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store_f(float *p, vf v) { memcpy(p, &v, sizeof v); }

INLINE vf fma_f(vf a, vf b, vf c)
{
#if defined(SIMD_512)
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(SIMD_256)
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

INLINE vf load_part_f(const float *p, int n)
{
#if defined(SIMD_512)
    return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif defined(SIMD_256)
    return (vf)_mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
#else
    vf v = {0};
    for (int l = 0; l < n; l++) v[l] = p[l];
    return v;
#endif
}

INLINE void store_part_f(float *p, vf v, int n)
{
#if defined(SIMD_512)
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#else
    for (int l = 0; l < n; l++) p[l] = v[l];
#endif
}

/* ---- double ----------------------------------------------------------------------------------------------------- */

INLINE vd set_d(double x) { return x - (vd){0}; }

INLINE vd load_d(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store_d(double *p, vd v) { memcpy(p, &v, sizeof v); }

INLINE vd fma_d(vd a, vd b, vd c)
{
#if defined(SIMD_512)
    return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(SIMD_256)
    return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

INLINE vd load_part_d(const double *p, int n)
{
#if defined(SIMD_512)
    return (vd)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
#elif defined(SIMD_256)
    return (vd)_mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)));
#else
    vd v = {0};
    for (int l = 0; l < n; l++) v[l] = p[l];
    return v;
#endif
}

INLINE void store_part_d(double *p, vd v, int n)
{
#if defined(SIMD_512)
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), (__m512d)v);
#else
    for (int l = 0; l < n; l++) p[l] = v[l];
#endif
}

/* ---- f16 and bf16: loaded as float, exactly; stored rounded to nearest, ties to even ----------------------------- */

INLINE vf load_part_h(const uint16_t *p, int n)
{
#if defined(SIMD_512)
    return (vf)_mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p));
#else
    uint16_t part[WIDTH_F] = {0};
    for (int l = 0; l < n; l++) part[l] = p[l];
#if defined(SIMD_256)
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)part));
#else
    vf v;
    for (int l = 0; l < WIDTH_F; l++) v[l] = (float)hu_scalar_get(HU_F16, part, l);
    return v;
#endif
#endif
}

INLINE vf load_h(const uint16_t *p)
{
#if defined(SIMD_512)
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
#elif defined(SIMD_256)
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
#else
    return load_part_h(p, WIDTH_F);
#endif
}

INLINE vf widen_b(const uint16_t *p)
{
    vi v;
    for (int l = 0; l < WIDTH_F; l++) v[l] = (int32_t)((uint32_t)p[l] << 16);
    return (vf)v;
}

INLINE vf load_b(const uint16_t *p)
{
#if defined(SIMD_512)
    return (vf)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p)), 16);
#elif defined(SIMD_256)
    return (vf)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)), 16);
#else
    return widen_b(p);
#endif
}

INLINE vf load_part_b(const uint16_t *p, int n)
{
#if defined(SIMD_512)
    return (vf)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p)), 16);
#else
    uint16_t part[WIDTH_F] = {0};
    for (int l = 0; l < n; l++) part[l] = p[l];
    return load_b(part);
#endif
}

INLINE void store_part_h(uint16_t *p, vf v, int n)
{
#if defined(SIMD_512)
    _mm256_mask_storeu_epi16(p, (__mmask16)((1u << n) - 1), _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(SIMD_256)
    uint16_t part[WIDTH_F];
    _mm_storeu_si128((__m128i *)(void *)part, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
    for (int l = 0; l < n; l++) p[l] = part[l];
#else
    for (int l = 0; l < n; l++) hu_scalar_put(HU_F16, p, l, (double)v[l]);
#endif
}

INLINE void store_part_b(uint16_t *p, vf v, int n)
{
    vi bits = (vi)v;
    const vi is_nan = v != v;
    bits += 0x7fff + (bits >> 16 & 1); /* never past infinity, which has no lower half */
    bits = (bits & ~is_nan) | (((vi)v | 0x400000) & is_nan);
    for (int l = 0; l < n; l++) p[l] = (uint16_t)((uint32_t)bits[l] >> 16);
}

#endif
