/* sddmm_body.h: dots of row pairs for one type of elements, T, summed in S; kernel.c includes it once for each, with kernel_body.h's names.
 *
 * W entries are taken together, whatever rows they are of: W sums run over the columns side by side and are then added across by halving.
 */

/* Lane k is lane index[k] of a and b, one behind the other. */
INLINE V NAME(shuffle)(V a, V b, VI index)
{
#if defined(__clang__)
    V v = {0};
    for (int k = 0; k < W; k++) v[k] = index[k] < W ? a[index[k]] : b[index[k] - W];
    return v;
#else
    return __builtin_shuffle(a, b, index);
#endif
}

/* Lane l of the result is the sum over sum[l]. */
INLINE V NAME(across)(V *sum)
{
    for (int step = 1; step < W; step *= 2) /* pairs that are `step` apart fold into one */
        for (int l = 0; l < W; l += 2 * step) {
            VI even, odd;
            for (int k = 0; k < W; k++) {
                const int block = k / step % 2; /* 0: from the first, 1: from the second */
                even[k] = (k - block * step) + (block ? W : 0);
                odd[k] = (k - block * step) + step + (block ? W : 0);
            }
            sum[l] = NAME(shuffle)(sum[l], sum[l + step], even) + NAME(shuffle)(sum[l], sum[l + step], odd);
        }
    return sum[0];
}

/* n <= W entries: e[l stride] = dot of x[l] and y[l], k columns. */
INLINE void NAME(dot_group)(const T *const *x, const T *const *y, int64_t k, int n, S *e, int64_t stride)
{
    V sum[W];
    for (int l = 0; l < W; l++) sum[l] = (V){0};
    int64_t j = 0;
    for (; j + W <= k; j += W)
        for (int l = 0; l < W; l++) sum[l] = FMA(LOAD(x[l] + j), LOAD(y[l] + j), sum[l]);
    if (j < k)
        for (int l = 0; l < W; l++) sum[l] = FMA(LOAD_PART(x[l] + j, (int)(k - j)), LOAD_PART(y[l] + j, (int)(k - j)), sum[l]);
    const V all = NAME(across)(sum);
    for (int l = 0; l < n; l++) e[l * stride] = all[l];
}

static void NAME(dots)(const spmm_dots *d, int64_t row, int64_t from, int64_t to)
{
    const T *const xs = d->x, *const ys = d->y;
    const int64_t share = d->k / d->heads;
    enum { LINE = 64 / sizeof(T) };
    for (int64_t p = from; p < to; p += W) {
        const T *x[W], *y[W];
        const int n = to - p < W ? (int)(to - p) : W;
        for (int l = 0; l < W; l++) {
            const int64_t q = l < n ? p + l : p + n - 1;
            while (d->row_ptr[row + 1] <= q) row++;
            x[l] = xs + row * d->ldx;
            y[l] = ys + d->col[q] * d->ldy;
        }
        for (int l = 0; l < W; l++) {
            const int64_t q = p + W + l < d->nnz ? p + W + l : d->nnz - 1;
            for (int64_t c = 0; c < d->k; c += LINE) __builtin_prefetch(ys + d->col[q] * d->ldy + c);
        }
        for (int64_t h = 0; h < d->heads; h++) {
            for (int l = 0; h && l < W; l++) x[l] += share, y[l] += share;
            NAME(dot_group)(x, y, share, n, (S *)d->e + p * d->heads + h, d->heads);
        }
    }
}
