/* certify_kernel.c: residuals of a triangular system in double-double arithmetic, one build per instruction set.
 *
 * Error-free sum and product after Knuth (TAOCP 2, 4.2.2) and the fused multiply-add; the running sum keeps its error apart, as in
 * Ogita, Rump and Oishi, "Accurate sum and dot product" (2005), Dot2: the error is about u |r| + k^2 u^2 (|T||x| + |b|).
 * Built without contraction: a fused product would break the error-free sum.
 */
#include "config.h"
#include "certify_kernel.h"

#include <math.h>

typedef struct {
    double high, low;
} dd;

/* s -= t x */
static inline void subtract_product(dd *s, double t, double x)
{
    double p = t * x, e = fma(t, x, -p);
    double sum = s->high - p, part = sum - s->high;
    double lost = (s->high - (sum - part)) - (p + part);
    s->high = sum;
    s->low += lost - e;
}

static inline double total(dd s)
{
    double sum = s.high + s.low;
    return isnan(sum) ? s.high : sum; /* high may be infinite, and low is then no number */
}

typedef struct {
    bool rounded;
    const double *x;
    dd re, im;
    double size, storage;
} row_sums;

static inline void add_real(row_sums *r, double t, int64_t j)
{
    double narrow = (double)(float)t, used = r->rounded ? narrow : t, x = r->x[j];
    subtract_product(&r->re, used, x);
    r->size += fabs(used) * fabs(x);
    r->storage += fabs(t - narrow) * fabs(x);
}

static inline void add_complex(row_sums *r, double tr, double ti, int64_t j)
{
    double nr = (double)(float)tr, ni = (double)(float)ti, ur = r->rounded ? nr : tr, ui = r->rounded ? ni : ti;
    double xr = r->x[2 * j], xi = r->x[2 * j + 1], x = hypot(xr, xi);
    subtract_product(&r->re, ur, xr);
    subtract_product(&r->re, -ui, xi);
    subtract_product(&r->im, ur, xi);
    subtract_product(&r->im, ui, xr);
    r->size += hypot(ur, ui) * x;
    r->storage += hypot(tr - nr, ti - ni) * x;
}

void HU_NAME(sptrsv_residual)(const sptrsv_system *s, int64_t from, int64_t to, bool rounded, const double *b, const double *x,
                              double *residual, double *opt_size, double *opt_storage)
{
    const int32_t *col = s->matrix->col;
    const double *val = s->matrix->val;
    for (int64_t i = from; i < to; i++) {
        row_sums r = {.rounded = rounded, .x = x};
        const int64_t k = i - from;
        if (s->is_complex) {
            r.re.high = b[2 * i];
            r.im.high = b[2 * i + 1];
            r.size = hypot(b[2 * i], b[2 * i + 1]);
            for (int64_t e = 0, p = s->first[i]; e < s->count[i]; e++, p += s->stride)
                add_complex(&r, val[2 * p], val[2 * p + 1], col[p]);
            if (s->unit) add_complex(&r, 1, 0, i);
            else add_complex(&r, val[2 * s->diagonal[i]], val[2 * s->diagonal[i] + 1], i);
            residual[2 * k] = total(r.re);
            residual[2 * k + 1] = total(r.im);
        } else {
            r.re.high = b[i];
            r.size = fabs(b[i]);
            for (int64_t e = 0, p = s->first[i]; e < s->count[i]; e++, p += s->stride) add_real(&r, val[p], col[p]);
            add_real(&r, s->unit ? 1 : val[s->diagonal[i]], i);
            residual[k] = total(r.re);
        }
        if (opt_size) opt_size[k] = r.size;
        if (opt_storage) opt_storage[k] = r.storage;
    }
}
