/* kernel.c: the hot loops, built once for each instruction level (HU_LEVEL); the arithmetic is stated in kernel.h.
 *
 * Sections: helpers, real scalars (kernel_body.h), complex, the table.
 */
#include "config.h"
#include "kernel.h"
#include "complex_pair.h"

#include <stddef.h>
#include <string.h>
#if defined(__FMA__)
#include <immintrin.h>
#endif

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

enum { AHEAD = SPTRSV_AHEAD };

/* s - c x, fused where the level has it. */
#if defined(__FMA__) || defined(__aarch64__)
INLINE double fms_double(double c, double x, double s) { return __builtin_fma(-c, x, s); }
INLINE float fms_float(float c, float x, float s) { return __builtin_fmaf(-c, x, s); }
#else
INLINE double fms_double(double c, double x, double s) { return s - c * x; }
INLINE float fms_float(float c, float x, float s) { return s - c * x; }
#endif

/* The same for vectors of 16, 32 or 64 bytes. */
typedef double vector_double_16 __attribute__((vector_size(16)));
typedef double vector_double_32 __attribute__((vector_size(32)));
typedef double vector_double_64 __attribute__((vector_size(64)));
typedef float vector_float_16 __attribute__((vector_size(16)));
typedef float vector_float_32 __attribute__((vector_size(32)));
typedef float vector_float_64 __attribute__((vector_size(64)));

#define VECTOR_FMS(scalar, bytes, fused)                                                                               \
    INLINE vector_##scalar##_##bytes fms_##scalar##_##bytes(vector_##scalar##_##bytes c, vector_##scalar##_##bytes x,   \
                                                            vector_##scalar##_##bytes s)                               \
    {                                                                                                                  \
        return fused;                                                                                                  \
    }
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
VECTOR_FMS(double, 64, (vector_double_64)_mm512_fnmadd_pd((__m512d)c, (__m512d)x, (__m512d)s))
VECTOR_FMS(float, 64, (vector_float_64)_mm512_fnmadd_ps((__m512)c, (__m512)x, (__m512)s))
#elif defined(__AVX2__) && defined(__FMA__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#if defined(__FMA__)
VECTOR_FMS(double, 32, (vector_double_32)_mm256_fnmadd_pd((__m256d)c, (__m256d)x, (__m256d)s))
VECTOR_FMS(float, 32, (vector_float_32)_mm256_fnmadd_ps((__m256)c, (__m256)x, (__m256)s))
VECTOR_FMS(double, 16, (vector_double_16)_mm_fnmadd_pd((__m128d)c, (__m128d)x, (__m128d)s))
VECTOR_FMS(float, 16, (vector_float_16)_mm_fnmadd_ps((__m128)c, (__m128)x, (__m128)s))
#elif defined(__aarch64__)
VECTOR_FMS(double, 16, ((vector_double_16){fms_double(c[0], x[0], s[0]), fms_double(c[1], x[1], s[1])}))
VECTOR_FMS(float, 16, ((vector_float_16){fms_float(c[0], x[0], s[0]), fms_float(c[1], x[1], s[1]), fms_float(c[2], x[2], s[2]), fms_float(c[3], x[3], s[3])}))
#else
VECTOR_FMS(double, 16, s - c * x)
VECTOR_FMS(float, 16, s - c * x)
#endif
#undef VECTOR_FMS

/* ---- real scalars ----------------------------------------------------------------------------------------------- */

#define FMS fms_double
#define A_SIZE 8
#define VECTOR_OF(bytes) vector_double_##bytes
#define FMS_OF(bytes) fms_double_##bytes
#define V double
#define A double
#define I uint16_t
#define NAME(x) x##_f64_16
#include "kernel_body.h"
#undef I
#undef NAME
#define I int32_t
#define NAME(x) x##_f64_32
#include "kernel_body.h"
#undef I
#undef NAME
#undef V

#define V float
#define I uint16_t
#define NAME(x) x##_mixed_16
#include "kernel_body.h"
#undef I
#undef NAME
#define I int32_t
#define NAME(x) x##_mixed_32
#include "kernel_body.h"
#undef I
#undef NAME
#undef A
#undef FMS

#undef A_SIZE
#undef VECTOR_OF
#undef FMS_OF
#define FMS fms_float
#define A_SIZE 4
#define VECTOR_OF(bytes) vector_float_##bytes
#define FMS_OF(bytes) fms_float_##bytes
#define A float
#define I uint16_t
#define NAME(x) x##_f32_16
#include "kernel_body.h"
#undef I
#undef NAME
#define I int32_t
#define NAME(x) x##_f32_32
#include "kernel_body.h"
#undef I
#undef NAME
#undef A
#undef V
#undef FMS

/* ---- complex ---------------------------------------------------------------------------------------------------- */

/* Products in separate real operations: no fusing across real and imaginary parts, so that all levels with fused operations agree. */
INLINE double complex fms_complex(double complex c, double complex x, double complex s)
{
    double re = fms_double(creal(c), creal(x), creal(s)), im = fms_double(creal(c), cimag(x), cimag(s));
    return CMPLX(fms_double(-cimag(c), cimag(x), re), fms_double(cimag(c), creal(x), im));
}

/* A quotient by Smith's method (Communications of the ACM 5(8), 1962): no overflow of |d|^2. */
INLINE double complex quotient(double complex a, double complex d)
{
    double re = creal(d), im = cimag(d);
    if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) {
        double t = im / re, w = re + im * t;
        return CMPLX((creal(a) + cimag(a) * t) / w, (cimag(a) - creal(a) * t) / w);
    }
    double t = re / im, w = re * t + im;
    return CMPLX((creal(a) * t + cimag(a)) / w, (cimag(a) * t - creal(a)) / w);
}

INLINE double complex times(double complex a, double complex b)
{
    return fms_complex(-a, b, 0);
}

/* Complex rows have 32-bit indices and runs of the kinds EVEN, CARRY and MIXED only; all their sums are in order. */
INLINE void rows_complex(sptrsv_cursor *c, int mode, const sptrsv_run *run, int64_t runs, const void *b_any, void *x_any)
{
    const double complex *v = c->value, *factor = c->factor, *b = b_any;
    const int32_t *e = c->index;
    double complex *x = x_any;
    for (const sptrsv_run *stop = run + runs; run < stop; run++) {
        int64_t row = run->first;
        bool is_carry = run->kind == SPTRSV_RUN_CARRY;
        for (int32_t i = 0; i < run->rows; i++, row += c->direction) {
            if (run->first < 0) row = *c->row++;
            int64_t k = run->kind == SPTRSV_RUN_MIXED ? *c->length++ : run->length;
            double complex r = mode == SPTRSV_MODE_UNIT ? 1 : *factor++;
            double complex s = mode == SPTRSV_MODE_FOLD ? times(b[row], r) : b[row];
            for (int64_t j = 0; j < k - is_carry; j++) s = fms_complex(v[j], x[e[j]], s);
            if (is_carry) s = fms_complex(v[k - 1], x[row - c->direction], s);
            x[row] = mode == SPTRSV_MODE_DIVIDE ? quotient(s, r) : s;
            v += k;
            e += k - is_carry;
        }
    }
    c->value = v;
    c->factor = factor;
    c->index = e;
}

static void rows_complex_unit(sptrsv_cursor *c, const sptrsv_run *run, int64_t runs, const void *b, void *x)
{
    rows_complex(c, SPTRSV_MODE_UNIT, run, runs, b, x);
}

static void rows_complex_fold(sptrsv_cursor *c, const sptrsv_run *run, int64_t runs, const void *b, void *x)
{
    rows_complex(c, SPTRSV_MODE_FOLD, run, runs, b, x);
}

static void rows_complex_divide(sptrsv_cursor *c, const sptrsv_run *run, int64_t runs, const void *b, void *x)
{
    rows_complex(c, SPTRSV_MODE_DIVIDE, run, runs, b, x);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

sptrsv_loops HU_NAME(sptrsv_loops_of)(sptrsv_precision precision, bool is_complex, int index, sptrsv_mode mode)
{
    if (is_complex)
        return (sptrsv_loops){mode == SPTRSV_MODE_UNIT     ? rows_complex_unit
                              : mode == SPTRSV_MODE_DIVIDE ? rows_complex_divide
                                                           : rows_complex_fold,
                              {NULL, NULL, NULL},
                              {NULL, NULL, NULL, NULL}};
    if (precision == SPTRSV_F64) return index == 16 ? loops_f64_16(mode) : loops_f64_32(mode);
    if (precision == SPTRSV_F32) return index == 16 ? loops_f32_16(mode) : loops_f32_32(mode);
    return index == 16 ? loops_mixed_16(mode) : loops_mixed_32(mode);
}
