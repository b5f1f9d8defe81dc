/* kernel_body.h: the hot loops for one type of B's elements, T, summed in S; kernel.c includes it once for each.
 *
 * V: a vector of S, W lanes. LOAD, LOAD_PART, LOAD_SUM(_PART), STORE_SUM(_PART), SET, FMA: from simd.h. NAME(x) makes the names apart.
 *
 * Sections: the end of a row, sums, extremes.
 */

/* ---- the end of a row ------------------------------------------------------------------------------------------- */

/* C's lanes j..j+n-1 of a row, and back. */
INLINE V NAME(load_c)(const spmm_tile *t, int64_t at, int n)
{
    if (t->c_scalar == HU_F16) return LOAD_16(load_part_h, (const uint16_t *)t->c + at, n);
    if (t->c_scalar == HU_BF16) return LOAD_16(load_part_b, (const uint16_t *)t->c + at, n);
    return n == W ? LOAD_SUM((const S *)t->c + at) : LOAD_SUM_PART((const S *)t->c + at, n);
}

INLINE void NAME(store_c)(const spmm_tile *t, int64_t at, V v, int n)
{
    if (t->c_scalar == HU_F16) STORE_16(store_part_h, (uint16_t *)t->c + at, v, n);
    else if (t->c_scalar == HU_BF16) STORE_16(store_part_b, (uint16_t *)t->c + at, v, n);
    else if (n == W) STORE_SUM((S *)t->c + at, v);
    else STORE_SUM_PART((S *)t->c + at, v, n);
}

static __attribute__((noinline)) V NAME(finished)(const spmm_tile *t, V v, int64_t row, int64_t column, int n)
{
    const spmm_finish *f = t->finish;
    if (f->mean_ptr) {
        const int64_t count = f->mean_ptr[row + 1] - f->mean_ptr[row];
        if (count > 1) v /= SET((S)count);
    }
    if (f->alpha != 1) v *= SET((S)f->alpha);
    if (f->beta != 0) v = FMA(SET((S)f->beta), NAME(load_c)(t, row * t->ldc + column, n), v);
    if (f->bias != 0) v += SET((S)f->bias);
    if (f->bias_of_row) v += SET((S)f->bias_of_row[row]);
    if (f->bias_of_col)
        for (int l = 0; l < n; l++) v[l] += (S)f->bias_of_col[column + l];
    if (f->relu) v = (V)((VI)v & ~(v < 0));
    if (f->cap != __builtin_inf()) {
        const VI over = v > SET((S)f->cap);
        v = (V)(((VI)v & ~over) | ((VI)SET((S)f->cap) & over));
    }
    return v;
}

INLINE void NAME(put)(const spmm_tile *t, bool plain, V v, int64_t row, int64_t column, int n)
{
    if (!plain) v = NAME(finished)(t, v, row, column, n);
    NAME(store_c)(t, row * t->ldc + column, v, n);
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* nv vectors, of which the last has `rest` lanes where it is part of one. */
INLINE void NAME(sum_rows)(const spmm_tile *t, const int64_t *ptr, const int32_t *rows, int64_t first, int64_t n, int nv, bool part, bool fetch)
{
    enum { LINE = 64 / sizeof(T) };
    const int full = part ? nv - 1 : nv, rest = (int)t->width - full * W;
    const T *const b = (const T *)t->b + t->from;
    const S *const val = t->val;
    const int32_t *const col = t->col;
    const bool plain = !t->finish || spmm_finish_is_plain(t->finish);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows ? rows[i] : first + i, end = ptr[i + 1];
        V sum[16];
        for (int v = 0; v < nv; v++) sum[v] = (V){0};
        if (t->resume) {
            const S *c = (const S *)t->c + row * t->ldc + t->from;
            for (int v = 0; v < full; v++) sum[v] = LOAD_SUM(c + v * W);
            if (part) sum[nv - 1] = LOAD_SUM_PART(c + full * W, rest);
        }
        for (int64_t p = ptr[i]; p < end; p++) {
            const T *x = b + col[p] * t->ldb;
            const V a = SET(val[p]);
            if (fetch) {
                const int64_t q = p + t->ahead < t->last ? p + t->ahead : t->last;
                const T *next = b + col[q] * t->ldb;
                for (int l = 0; l < nv * W; l += LINE) __builtin_prefetch(next + l);
            }
            for (int v = 0; v < full; v++) sum[v] = FMA(a, LOAD(x + v * W), sum[v]);
            if (part) sum[nv - 1] = FMA(a, LOAD_PART(x + full * W, rest), sum[nv - 1]);
        }
        for (int v = 0; v < full; v++) NAME(put)(t, plain, sum[v], row, t->from + v * W, W);
        if (part) NAME(put)(t, plain, sum[nv - 1], row, t->from + full * W, rest);
    }
}

#define SUM_ROWS(nv)                                                                                                            \
    static void NAME(sum_rows_##nv)(const spmm_tile *t, const int64_t *ptr, const int32_t *rows, int64_t first, int64_t n)         \
    {                                                                                                                           \
        if (t->width % W) {                                                                                                     \
            if (t->ahead) NAME(sum_rows)(t, ptr, rows, first, n, nv, true, true);                                                  \
            else NAME(sum_rows)(t, ptr, rows, first, n, nv, true, false);                                                          \
        } else {                                                                                                                \
            if (t->ahead) NAME(sum_rows)(t, ptr, rows, first, n, nv, false, true);                                                 \
            else NAME(sum_rows)(t, ptr, rows, first, n, nv, false, false);                                                         \
        }                                                                                                                       \
    }
SUM_ROWS(1)
SUM_ROWS(2)
SUM_ROWS(3)
SUM_ROWS(4)
SUM_ROWS(5)
SUM_ROWS(6)
SUM_ROWS(7)
SUM_ROWS(8)
#if defined(SIMD_512)
SUM_ROWS(16)
#endif
#undef SUM_ROWS

static void NAME(rows)(const spmm_tile *whole, const int64_t *ptr, const int32_t *rows, int64_t first, int64_t n)
{
    static void (*const loops[])(const spmm_tile *, const int64_t *, const int32_t *, int64_t, int64_t) = {
        NAME(sum_rows_1), NAME(sum_rows_2), NAME(sum_rows_3), NAME(sum_rows_4), NAME(sum_rows_5), NAME(sum_rows_6), NAME(sum_rows_7), NAME(sum_rows_8)};
    spmm_tile t = *whole;
    const int64_t end = whole->from + whole->width;
    for (t.from = whole->from; t.from < end; t.from += t.width) {
        t.width = end - t.from;
#if defined(SIMD_512)
        if (t.width >= 16 * W || (t.width > 15 * W)) {
            if (t.width > 16 * W) t.width = 16 * W;
            NAME(sum_rows_16)(&t, ptr, rows, first, n);
            continue;
        }
#endif
        if (t.width > 8 * W) t.width = 8 * W;
        loops[(t.width + W - 1) / W - 1](&t, ptr, rows, first, n);
    }
}

/* ---- extremes --------------------------------------------------------------------------------------------------- */

/* One vector of columns of one row; arg: [n] or NULL. */
INLINE V NAME(extreme)(const spmm_tile *t, bool least, int32_t *arg, int64_t from, int64_t to, int64_t column, int n)
{
    const S *const val = t->val;
    V best = {0};
    VI at = (VI){0} - 1;
    for (int64_t p = from; p < to; p++) {
        const T *x = (const T *)t->b + t->col[p] * t->ldb + column;
        const V v = SET(val[p]) * (n == W ? LOAD(x) : LOAD_PART(x, n));
        VI better = (least ? v < best : v > best) | ((v != v) & (best == best));
        if (p == from) better = (VI){0} - 1;
        best = (V)(((VI)v & better) | ((VI)best & ~better));
        at = (((VI){0} + t->col[p] + 1) & better) | (at & ~better);
    }
    if (arg)
        for (int l = 0; l < n; l++) arg[l] = (int32_t)at[l];
    return best;
}

static void NAME(extremes)(const spmm_tile *t, bool least, int32_t *arg, int64_t ld_arg, const int64_t *ptr, int64_t first, int64_t n)
{
    const bool plain = !t->finish || spmm_finish_is_plain(t->finish);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = t->from; j < t->from + t->width; j += W) {
            const int lanes = t->from + t->width - j < W ? (int)(t->from + t->width - j) : W;
            const V v = NAME(extreme)(t, least, arg ? arg + (first + i) * ld_arg + j : NULL, ptr[i], ptr[i + 1], j, lanes);
            NAME(put)(t, plain, v, first + i, j, lanes);
        }
}
