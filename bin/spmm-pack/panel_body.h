/* panel_body.h: the loops of panels for sums of one type; panel_kernel.c includes it once for each. S: the type, V: a vector of it, W: its lanes.
 *
 * Loops over rows and vectors have constant bounds and vanish: the sums are registers.
 */

/* live rows, one entry of each */
INLINE void NAME(step)(V sum[8][8], int live, int nv, const S *b, int64_t ldb, const uint16_t *col, const S *val)
{
#pragma GCC unroll 8
    for (int r = 0; r < live; r++) {
        const S *x = b + col[r] * ldb;
        const V a = SET(val[r]);
#pragma GCC unroll 8
        for (int v = 0; v < nv; v++) sum[r][v] = FMA(a, LOAD(x + v * W), sum[r][v]);
    }
}

/* one column for the rows of a mask */
INLINE void NAME(column)(V sum[8][8], unsigned mask, int nv, const S *x, const S *val)
{
    V b[8];
#pragma GCC unroll 8
    for (int v = 0; v < nv; v++) b[v] = LOAD(x + v * W);
    int k = 0;
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
        if (mask >> r & 1) {
            const V a = SET(val[k++]);
#pragma GCC unroll 8
            for (int v = 0; v < nv; v++) sum[r][v] = FMA(a, b[v], sum[r][v]);
        }
}

INLINE void NAME(panels)(spmm_panels *p, const int rows, const int nv)
{
    const S *const b = p->b, *val = p->val;
    const uint16_t *col = p->col, *row = p->row, *len = p->len, *bucket = p->bucket;
    const int64_t ldb = p->ldb;
    S *const c = p->c;
    for (int64_t i = 0; i < p->panels; i++, row += rows, len += rows) {
        V sum[8][8];
        int t = 0;
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const S *from = c + row[r] * p->ldc;
#pragma GCC unroll 8
            for (int v = 0; v < nv; v++) sum[r][v] = (V){0};
            if (!p->resume) continue;
#pragma GCC unroll 8
            for (int v = 0; v < nv - 1; v++) sum[r][v] = LOAD(from + v * W);
            sum[r][nv - 1] = p->rest == W ? LOAD(from + (nv - 1) * W) : LOAD_PART(from + (nv - 1) * W, p->rest);
        }
#define BUCKET(mask)                                                                     \
    for (int n = *bucket++; n; n--, val += __builtin_popcount(mask)) NAME(column)(sum, mask, nv, b + *col++ * ldb, val)
        if (p->buckets == 1 && rows > 1) {
            BUCKET((1u << rows) - 1);
        } else if (p->buckets > 1 && rows == 4) {
            BUCKET(15u);
            BUCKET(7u);
            BUCKET(11u);
            BUCKET(13u);
            BUCKET(14u);
            BUCKET(3u);
            BUCKET(5u);
            BUCKET(6u);
            BUCKET(9u);
            BUCKET(10u);
            BUCKET(12u);
        }
#undef BUCKET
#define LIVE(n)                                                                          \
    if (rows >= n)                                                                       \
        for (; t < len[n - 1]; t++, col += n, val += n) NAME(step)(sum, n, nv, b, ldb, col, val)
        LIVE(8);
        LIVE(7);
        LIVE(6);
        LIVE(5);
        LIVE(4);
        LIVE(3);
        LIVE(2);
        LIVE(1);
#undef LIVE
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            S *to = c + row[r] * p->ldc;
#pragma GCC unroll 8
            for (int v = 0; v < nv - 1; v++) STORE(to + v * W, sum[r][v]);
            if (p->rest == W) STORE(to + (nv - 1) * W, sum[r][nv - 1]);
            else STORE_PART(to + (nv - 1) * W, sum[r][nv - 1], p->rest);
        }
    }
    p->col = col;
    p->val = val;
}

#define SHAPE(rows, nv) \
    static void NAME(panels_##rows##_##nv)(spmm_panels *p) { NAME(panels)(p, rows, nv); }
SHAPE(1, 1)
SHAPE(1, 2)
SHAPE(1, 3)
SHAPE(1, 4)
SHAPE(1, 5)
SHAPE(1, 6)
SHAPE(1, 7)
SHAPE(1, 8)
SHAPE(2, 1)
SHAPE(2, 2)
SHAPE(2, 3)
SHAPE(2, 4)
SHAPE(4, 1)
SHAPE(4, 2)
SHAPE(8, 1)
#if defined(SIMD_512)
SHAPE(2, 5)
SHAPE(2, 6)
SHAPE(2, 7)
SHAPE(2, 8)
SHAPE(4, 3)
SHAPE(4, 4)
SHAPE(8, 2)
#endif
#undef SHAPE

static void NAME(run)(spmm_panels *p)
{
    static void (*const shapes[4][8])(spmm_panels *) = {
        {NAME(panels_1_1), NAME(panels_1_2), NAME(panels_1_3), NAME(panels_1_4), NAME(panels_1_5), NAME(panels_1_6), NAME(panels_1_7), NAME(panels_1_8)},
#if defined(SIMD_512)
        {NAME(panels_2_1), NAME(panels_2_2), NAME(panels_2_3), NAME(panels_2_4), NAME(panels_2_5), NAME(panels_2_6), NAME(panels_2_7), NAME(panels_2_8)},
        {NAME(panels_4_1), NAME(panels_4_2), NAME(panels_4_3), NAME(panels_4_4)},
        {NAME(panels_8_1), NAME(panels_8_2)},
#else
        {NAME(panels_2_1), NAME(panels_2_2), NAME(panels_2_3), NAME(panels_2_4)},
        {NAME(panels_4_1), NAME(panels_4_2)},
        {NAME(panels_8_1)},
#endif
    };
    shapes[__builtin_ctz((unsigned)p->rows)][p->nv - 1](p);
}
