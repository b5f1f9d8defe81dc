/* dense.c: dense vectors and matrices. A vector is a matrix of one column.
 *
 * Sections: the container, sums that do not depend on the thread count.
 */
#include "config.h"
#include "dense/dense.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "dense/dense_kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the container ---------------------------------------------------------------------------------------------- */

size_t hu_scalar_size(hu_scalar scalar)
{
    static const size_t sizes[] = {sizeof(double), sizeof(float), 2 * sizeof(double), 2, 2};
    return sizes[scalar];
}

const char *hu_scalar_name(hu_scalar scalar)
{
    static const char *const names[] = {"f64", "f32", "c128", "f16", "bf16"};
    return names[scalar];
}

/* Rounds a finite magnitude to a multiple of 2^(e - bits + 1), where 2^e is its power of two or the least normal one, 2^least; ties to even,
 * by adding a number whose last bit has that weight. */
static double round_to(double magnitude, int bits, int least)
{
    uint64_t word;
    double shift;
    memcpy(&word, &magnitude, sizeof word);
    int e = (int)(word >> 52) - 1023;
    if (e < least) e = least;
    if (e > 200) return magnitude; /* beyond the range of both */
    word = (uint64_t)(e + 53 - bits + 1023) << 52 | (uint64_t)1 << 51;
    memcpy(&shift, &word, sizeof shift);
    return (magnitude + shift) - shift;
}

static uint16_t to_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value)) return sign | 0x7e00;
    const double magnitude = isinf(value) ? INFINITY : round_to(fabs(value), 11, -14);
    if (magnitude > 65504) return sign | 0x7c00;
    if (magnitude < 0x1p-14) return (uint16_t)(sign | (uint16_t)(magnitude * 0x1p24));
    uint64_t word;
    memcpy(&word, &magnitude, sizeof word);
    return (uint16_t)(sign | (uint16_t)((word >> 42) - ((uint64_t)(1023 - 15) << 10)));
}

static uint16_t to_bfloat(double value)
{
    if (isnan(value)) return signbit(value) ? 0xffc0 : 0x7fc0;
    const float rounded = isinf(value) ? (float)value : (float)copysign(round_to(fabs(value), 8, -126), value);
    uint32_t word;
    memcpy(&word, &rounded, sizeof word);
    return (uint16_t)(word >> 16);
}

static double from_half(uint16_t half)
{
    const uint32_t word = (uint32_t)(half & 0x7fff) << 13;
    float magnitude;
    memcpy(&magnitude, &word, sizeof magnitude);
    if ((half & 0x7c00) == 0x7c00) return half & 0x3ff ? NAN : half & 0x8000 ? -INFINITY : INFINITY;
    return (half & 0x8000 ? -0x1p112 : 0x1p112) * (double)magnitude; /* the exponents' biases differ by 112 */
}

static double from_bfloat(uint16_t bfloat)
{
    const uint32_t word = (uint32_t)bfloat << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

double hu_scalar_get(hu_scalar scalar, const void *data, int64_t at)
{
    switch (scalar) {
    case HU_F64: return ((const double *)data)[at];
    case HU_F32: return (double)((const float *)data)[at];
    case HU_F16: return from_half(((const uint16_t *)data)[at]);
    case HU_BF16: return from_bfloat(((const uint16_t *)data)[at]);
    default: return ((const double *)data)[2 * at];
    }
}

void hu_scalar_put(hu_scalar scalar, void *data, int64_t at, double value)
{
    switch (scalar) {
    case HU_F64: ((double *)data)[at] = value; break;
    case HU_F32: ((float *)data)[at] = (float)value; break;
    case HU_F16: ((uint16_t *)data)[at] = to_half(value); break;
    case HU_BF16: ((uint16_t *)data)[at] = to_bfloat(value); break;
    default: ((double *)data)[2 * at] = value, ((double *)data)[2 * at + 1] = 0;
    }
}

hu_status hu_dense_new(int64_t rows, int64_t cols, hu_scalar scalar, hu_order order, hu_dense **ret_a, hu_error *err)
{
    void *block;
    int64_t count;
    *ret_a = NULL;
    if (!hu_mul_size(rows, cols, &count))
        return hu_fail(err, HU_SYSTEM, "an array of %lld x %lld is more than memory can address", (long long)rows,
                       (long long)cols);
    if (hu_alloc_zero(1, sizeof(hu_dense), "an array", &block, err)) return err->status;
    hu_dense *a = block;
    *a = (hu_dense){.rows = rows, .cols = cols, .ld = order == HU_COL_MAJOR ? rows : cols, .scalar = scalar, .order = order,
                    .dims = 2};
    if (hu_alloc(count, hu_scalar_size(scalar), "an array", &a->data, err)) {
        hu_free(a);
        return err->status;
    }
    *ret_a = a;
    return HU_OK;
}

void hu_dense_free(hu_dense *a)
{
    if (!a) return;
    hu_free(a->data);
    hu_free(a);
}

static inline int64_t place(const hu_dense *a, int64_t i, int64_t j)
{
    return a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
}

/* Copies n elements that stand `step_a` and `step_b` elements apart. */
static void convert_line(const hu_dense *a, int64_t p, int64_t step_a, hu_dense *b, int64_t q, int64_t step_b, int64_t n)
{
    const double *from = a->data;
    double *to = b->data;
    for (int64_t k = 0; k < n; k++, p += step_a, q += step_b) {
        if (a->scalar == HU_C128) {
            to[2 * q] = from[2 * p];
            to[2 * q + 1] = from[2 * p + 1];
        } else {
            hu_scalar_put(b->scalar, b->data, q, hu_scalar_get(a->scalar, a->data, p));
        }
    }
}

hu_status hu_dense_convert(const hu_dense *a, hu_scalar scalar, hu_order order, hu_dense **ret_b, hu_error *err)
{
    *ret_b = NULL;
    if (a->scalar == HU_C128 && scalar != HU_C128) return hu_fail(err, HU_INPUT, "complex values cannot become real ones");
    hu_dense *b;
    if (hu_dense_new(a->rows, a->cols, scalar, order, &b, err)) return err->status;
    b->dims = a->dims;
    const int64_t lines = order == HU_COL_MAJOR ? a->cols : a->rows, n = order == HU_COL_MAJOR ? a->rows : a->cols;
    const int64_t step_a = a->order == order ? 1 : a->ld;
    enum { CHUNK = 4096 };
    const int64_t chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for collapse(2) schedule(static) if (lines * n > 1 << 16)
    for (int64_t l = 0; l < lines; l++)
        for (int64_t c = 0; c < chunks; c++) {
            int64_t k = c * CHUNK, count = n - k < CHUNK ? n - k : CHUNK;
            int64_t p = order == HU_COL_MAJOR ? place(a, k, l) : place(a, l, k);
            int64_t q = order == HU_COL_MAJOR ? place(b, k, l) : place(b, l, k);
            convert_line(a, p, step_a, b, q, 1, count);
        }
    *ret_b = b;
    return HU_OK;
}

static bool is_finite_at(const hu_dense *a, int64_t p)
{
    const double *v = a->data;
    return a->scalar == HU_C128 ? isfinite(v[2 * p]) && isfinite(v[2 * p + 1]) : isfinite(hu_scalar_get(a->scalar, a->data, p));
}

hu_status hu_dense_check_finite(const hu_dense *a, const char *name, hu_error *err)
{
    int64_t bad = INT64_MAX; /* the first place in row order */
    const bool by_row = a->order == HU_ROW_MAJOR;
    int64_t outer = by_row ? a->rows : a->cols;
    const int64_t inner = by_row ? a->cols : a->rows, count = outer * inner;
    if (a->ld == inner) { /* without gaps: one line, however short the rows are */
        outer = 0;
#pragma omp parallel for reduction(min : bad) schedule(static) if (count > 1 << 14)
        for (int64_t k = 0; k < count; k++) {
            if (is_finite_at(a, k)) continue;
            int64_t at = by_row ? k : k % a->rows * a->cols + k / a->rows;
            if (at < bad) bad = at;
        }
    }
    for (int64_t o = 0; o < outer; o++) {
#pragma omp parallel for reduction(min : bad) schedule(static) if (inner > 1 << 14)
        for (int64_t k = 0; k < inner; k++) {
            int64_t i = by_row ? o : k, j = by_row ? k : o;
            if (i * a->cols + j < bad && !is_finite_at(a, place(a, i, j))) bad = i * a->cols + j;
        }
    }
    if (bad == INT64_MAX) return HU_OK;
    if (a->dims == 1) return hu_fail(err, HU_INPUT, "%s: value %lld is not finite", name, (long long)bad + 1);
    return hu_fail(err, HU_INPUT, "%s: value (%lld,%lld) is not finite", name, (long long)(bad / a->cols) + 1,
                   (long long)(bad % a->cols) + 1);
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

double hu_dot(const double *x, const double *y, int64_t n)
{
    enum { GROUP = 512 }; /* blocks whose sums are kept apart before they are added in their order */
    double (*const dot_block)(const double *, const double *, int64_t) = HU_PICK(hu_dot_block);
    double total = 0;
    for (int64_t from = 0; from < n; from += (int64_t)GROUP * HU_SUM_BLOCK) {
        double part[GROUP];
        int64_t rest = n - from, blocks = rest < (int64_t)GROUP * HU_SUM_BLOCK ? (rest + HU_SUM_BLOCK - 1) / HU_SUM_BLOCK : GROUP;
#pragma omp parallel for schedule(static) if (blocks > 4)
        for (int64_t b = 0; b < blocks; b++) {
            int64_t k = from + b * HU_SUM_BLOCK;
            part[b] = dot_block(x + k, y + k, n - k < HU_SUM_BLOCK ? n - k : HU_SUM_BLOCK);
        }
        for (int64_t b = 0; b < blocks; b++) total += part[b];
    }
    return total;
}

double hu_norm2(const double *x, int64_t n)
{
    double square = hu_dot(x, x, n);
    if (square >= DBL_MIN / DBL_EPSILON && square <= DBL_MAX) return sqrt(square);
    double largest = 0; /* the squares left the range: scale by a power of two */
    for (int64_t k = 0; k < n; k++) {
        if (isnan(x[k])) return x[k];
        if (fabs(x[k]) > largest) largest = fabs(x[k]);
    }
    if (largest == 0 || isinf(largest)) return largest;
    int exponent;
    frexp(largest, &exponent);
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double scaled = ldexp(x[k], -exponent);
        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), exponent);
}
