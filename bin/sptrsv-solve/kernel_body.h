/* kernel_body.h: the hot loops for one storage scalar V, arithmetic scalar A and index type I; kernel.c includes it once for each.
 *
 * Everything is inlined into the two loops of a mode, whose constants then vanish. NAME(x) makes the names apart.
 *
 * Sections: sums of a row, one right-hand side, panels, the table.
 */

typedef struct {
    const V *v;
    const I *e;
    const A *r;
    const int32_t *row;
    const uint8_t *length;
} NAME(at);

/* ---- sums of a row ---------------------------------------------------------------------------------------------- */

/* s - sum of v[j step] x[e[j]], j = from..to-1, in order. */
INLINE A NAME(in_order)(const V *restrict v, int step, const I *restrict e, int64_t from, int64_t to, const A *x, A s)
{
    for (int64_t j = from; j < to; j++) s = FMS((A)v[j * step], x[e[j]], s);
    return s;
}

/* -sum of v[j step] x[e[j]], j = 0..k-1, in eight interleaved sums; k is a multiple of 8. */
INLINE A NAME(interleaved)(const V *restrict v, int step, const I *restrict e, int64_t k, const A *x)
{
    A sum[8] = {0};
    int64_t span = (int64_t)e[k - 1] - (int64_t)e[0];
    if (step == 1 && span == k - 1) {
        const A *y = x + e[0];
        for (int64_t j = 0; j < k; j += 8) {
            __builtin_prefetch(v + j + 192); /* the rows that follow, too: the hardware starts anew at each page */
            for (int l = 0; l < 8; l++) sum[l] = FMS((A)v[j + l], y[j + l], sum[l]);
        }
    } else if (step == 1 && span == 1 - k) {
        const A *y = x + e[0];
        for (int64_t j = 0; j < k; j += 8)
            for (int l = 0; l < 8; l++) sum[l] = FMS((A)v[j + l], y[-j - l], sum[l]);
    } else {
        A t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0, t7 = 0;
        for (int64_t j = 0; j < k; j += 8) {
            t0 = FMS((A)v[j * step], x[e[j]], t0);
            t1 = FMS((A)v[(j + 1) * step], x[e[j + 1]], t1);
            t2 = FMS((A)v[(j + 2) * step], x[e[j + 2]], t2);
            t3 = FMS((A)v[(j + 3) * step], x[e[j + 3]], t3);
            t4 = FMS((A)v[(j + 4) * step], x[e[j + 4]], t4);
            t5 = FMS((A)v[(j + 5) * step], x[e[j + 5]], t5);
            t6 = FMS((A)v[(j + 6) * step], x[e[j + 6]], t6);
            t7 = FMS((A)v[(j + 7) * step], x[e[j + 7]], t7);
        }
        return ((t0 + t4) + (t2 + t6)) + ((t1 + t5) + (t3 + t7));
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* A long row but for its last entry where `carried`, which stands in the value stream only. */
static A __attribute__((noinline)) NAME(long_row)(const V *restrict v, const I *restrict e, int64_t k, const A *x, A s, bool carried, A carry)
{
    int64_t head = sptrsv_row_head(k);
    for (int64_t j = 0; j < head; j += SPTRSV_FAT_CHUNK) {
        int64_t chunk = head - j < SPTRSV_FAT_CHUNK ? head - j : SPTRSV_FAT_CHUNK;
        s += NAME(interleaved)(v + j, 1, e + j, chunk, x);
    }
    s = NAME(in_order)(v, 1, e, head, k - carried, x, s);
    return carried ? FMS((A)v[k - 1], carry, s) : s;
}

/* ---- one right-hand side ---------------------------------------------------------------------------------------- */

INLINE A NAME(begin)(int mode, A b, A r)
{
    return mode == SPTRSV_MODE_FOLD ? b * r : b;
}

INLINE A NAME(end)(int mode, A s, A r)
{
    return mode == SPTRSV_MODE_SCALE ? s * r : mode == SPTRSV_MODE_DIVIDE ? s / r : s;
}

/* Rows of one length; k < 0: the length is `length`, a run-time number. */
INLINE void NAME(even)(NAME(at) *at, int mode, int k, bool carried, bool listed, const sptrsv_run *run, const sptrsv_cursor *c, const A *b,
                       A *x)
{
    const V *restrict v = at->v;
    const I *restrict e = at->e;
    const A *restrict r = at->r;
    const int32_t *restrict listed_row = at->row;
    int64_t length = k < 0 ? run->length : k, rows = run->rows, row = run->first, shift = c->shift;
    A carry = carried ? x[row - c->direction] : 0;
    for (int64_t i = 0; i < rows; i++) {
        if (listed) {
            row = listed_row[i];
            __builtin_prefetch(&b[listed_row[i + AHEAD]]); /* the row stream is padded by AHEAD */
            __builtin_prefetch(&x[listed_row[i + AHEAD]], 1);
        }
        const A *xr = sizeof(I) == 2 ? x + (row + shift) : x;
        A factor = mode == SPTRSV_MODE_UNIT ? 1 : r[i];
        A s = NAME(begin)(mode, b[row], factor);
        if (k < 0 && length >= SPTRSV_LONG_ROW) {
            s = NAME(long_row)(v, e, length, xr, s, carried, carry);
        } else {
#pragma GCC unroll 16
            for (int64_t j = 0; j < length - carried; j++) s = FMS((A)v[j], xr[e[j]], s);
            if (carried) s = FMS((A)v[length - 1], carry, s);
        }
        s = NAME(end)(mode, s, factor);
        x[row] = s;
        carry = s;
        v += length;
        e += length - carried;
        row += c->direction;
    }
    at->v = v;
    at->e = e;
    if (mode != SPTRSV_MODE_UNIT) at->r = r + rows;
    if (listed) at->row = listed_row + rows;
}

INLINE void NAME(even_any)(NAME(at) *at, int mode, bool carried, bool listed, const sptrsv_run *run, const sptrsv_cursor *c, const A *b, A *x)
{
    if (sizeof(V) < sizeof(double)) { /* loops of fixed length are made for double precision only: they are many */
        NAME(even)(at, mode, -1, carried, listed, run, c, b, x);
        return;
    }
    switch (run->length) {
#define CASE(k) case k: NAME(even)(at, mode, k, carried, listed, run, c, b, x); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13)
#undef CASE
    case 0:
        if (!carried) NAME(even)(at, mode, 0, false, listed, run, c, b, x);
        break;
    default: NAME(even)(at, mode, -1, carried, listed, run, c, b, x); break;
    }
}

INLINE void NAME(mixed)(NAME(at) *at, int mode, bool listed, const sptrsv_run *run, const sptrsv_cursor *c, const A *b, A *x)
{
    const V *restrict v = at->v;
    const I *restrict e = at->e;
    const A *restrict r = at->r;
    const int32_t *restrict listed_row = at->row;
    const uint8_t *restrict lengths = at->length;
    int64_t rows = run->rows, row = run->first, shift = c->shift;
    for (int64_t i = 0; i < rows; i++) {
        if (listed) {
            row = listed_row[i];
            __builtin_prefetch(&b[listed_row[i + AHEAD]]);
            __builtin_prefetch(&x[listed_row[i + AHEAD]], 1);
        }
        int64_t length = lengths[i];
        const A *xr = sizeof(I) == 2 ? x + (row + shift) : x;
        A factor = mode == SPTRSV_MODE_UNIT ? 1 : r[i];
        A s = NAME(begin)(mode, b[row], factor);
        for (const V *stop = v + length; v < stop; v++, e++) s = FMS((A)*v, xr[*e], s);
        x[row] = NAME(end)(mode, s, factor);
        row += c->direction;
    }
    at->v = v;
    at->e = e;
    at->length = lengths + rows;
    if (mode != SPTRSV_MODE_UNIT) at->r = r + rows;
    if (listed) at->row = listed_row + rows;
}

/* A dense block of w rows: the shared entries with a row a lane, then the triangle. LANES >= w: the lanes above w read on into the values that follow
 * (the stream is padded) and are dropped. */
#define BLOCK_SUM(LANES)                                                                                               \
    do {                                                                                                               \
        A sum[LANES] = {0};                                                                                            \
        for (int j = 0; j < w; j++) sum[j] = s[j];                                                                     \
        for (int64_t j = 0; j < length; j++) {                                                                         \
            A known = xr[e[j]];                                                                                        \
            for (int l = 0; l < LANES; l++) sum[l] = FMS((A)v[j * w + l], known, sum[l]);                              \
        }                                                                                                              \
        for (int j = 0; j < w; j++) s[j] = sum[j];                                                                     \
    } while (0)

INLINE void NAME(block)(NAME(at) *at, int mode, int w, const sptrsv_run *run, const sptrsv_cursor *c, const A *b, A *x)
{
    const V *restrict v = at->v;
    const I *restrict e = at->e;
    int64_t length = run->length, row = run->first, step = c->direction;
    const A *xr = sizeof(I) == 2 ? x + (row + c->shift) : x;
    A s[8], factor[8];
#pragma GCC unroll 8
    for (int j = 0; j < w; j++) {
        factor[j] = mode == SPTRSV_MODE_UNIT ? 1 : at->r[j];
        s[j] = NAME(begin)(mode, b[row + j * step], factor[j]);
    }
    if (w <= 2) BLOCK_SUM(2);
    else if (w <= 4) BLOCK_SUM(4);
    else BLOCK_SUM(8);
    v += length * w;
#pragma GCC unroll 8
    for (int j = 0; j < w; j++) {
        s[j] = NAME(end)(mode, s[j], factor[j]);
        x[row + j * step] = s[j];
#pragma GCC unroll 8
        for (int i = j + 1; i < w; i++) s[i] = FMS((A)v[i - j - 1], s[j], s[i]);
        v += w - 1 - j;
    }
    at->v = v;
    at->e = e + length;
    if (mode != SPTRSV_MODE_UNIT) at->r += w;
}

static void __attribute__((noinline)) NAME(any_block)(NAME(at) *at, const sptrsv_run *run, const sptrsv_cursor *c, const A *b, A *x)
{
    switch (run->rows) {
#define CASE(w) case w: NAME(block)(at, c->mode, w, run, c, b, x); break;
    CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
    }
}

INLINE void NAME(rows)(sptrsv_cursor *c, int mode, const sptrsv_run *run, int64_t runs, const void *b_any, void *x_any)
{
    const A *b = b_any;
    A *x = x_any;
    NAME(at) at = {c->value, c->index, c->factor, c->row, c->length};
    for (const sptrsv_run *end = run + runs; run < end; run++) {
        switch (run->kind) {
        case SPTRSV_RUN_EVEN:
            if (run->first < 0) NAME(even_any)(&at, mode, false, true, run, c, b, x);
            else NAME(even_any)(&at, mode, false, false, run, c, b, x);
            break;
        case SPTRSV_RUN_CARRY: NAME(even_any)(&at, mode, true, false, run, c, b, x); break;
        case SPTRSV_RUN_MIXED:
            if (run->first < 0) NAME(mixed)(&at, mode, true, run, c, b, x);
            else NAME(mixed)(&at, mode, false, run, c, b, x);
            break;
        default: NAME(any_block)(&at, run, c, b, x); break;
        }
    }
    c->value = at.v;
    c->index = at.e;
    c->factor = at.r;
    c->row = at.row;
    c->length = at.length;
}
#undef BLOCK_SUM

/* ---- panels ----------------------------------------------------------------------------------------------------- */

#define WIDTH 4
#include "kernel_panel.h"
#undef WIDTH
#define WIDTH 8
#include "kernel_panel.h"
#undef WIDTH
#define WIDTH 16
#include "kernel_panel.h"
#undef WIDTH

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define MODE(name, mode)                                                                                               \
    static void NAME(rows_##name)(sptrsv_cursor *c, const sptrsv_run *run, int64_t runs, const void *b, void *x)       \
    {                                                                                                                  \
        NAME(rows)(c, mode, run, runs, b, x);                                                                          \
    }
MODE(unit, SPTRSV_MODE_UNIT)
MODE(fold, sizeof(V) == sizeof(A) ? SPTRSV_MODE_FOLD : SPTRSV_MODE_SCALE)
MODE(divide, SPTRSV_MODE_DIVIDE)
#undef MODE

/* ---- a long row in pieces: the sums of long_row() ----------------------------------------------------------------- */

static void NAME(long_begin)(const sptrsv_cursor *c, int64_t row, const void *b, void *sum)
{
    A factor = c->mode == SPTRSV_MODE_UNIT ? 1 : *(const A *)c->factor;
    *(A *)sum = NAME(begin)(c->mode, ((const A *)b)[row], factor);
}

/* Partial sums travel as doubles, which hold every float. */
static void NAME(long_chunk)(const sptrsv_cursor *c, int64_t row, int64_t from, int64_t count, const void *x, double *partial)
{
    const A *xr = sizeof(I) == 2 ? (const A *)x + row + c->shift : x;
    *partial = (double)NAME(interleaved)((const V *)c->value + from, 1, (const I *)c->index + from, count, xr);
}

static void NAME(long_add)(const double *partial, int64_t n, void *sum)
{
    A s = *(A *)sum;
    for (int64_t i = 0; i < n; i++) s += (A)partial[i];
    *(A *)sum = s;
}

static void NAME(long_end)(sptrsv_cursor *c, const sptrsv_run *run, int64_t row, const void *sum, void *x_any)
{
    A *x = x_any;
    const A *xr = sizeof(I) == 2 ? x + row + c->shift : x;
    const V *v = c->value;
    const int64_t k = run->length;
    const bool carried = run->kind == SPTRSV_RUN_CARRY;
    A factor = c->mode == SPTRSV_MODE_UNIT ? 1 : *(const A *)c->factor;
    A s = NAME(in_order)(v, 1, c->index, sptrsv_row_head(k), k - carried, xr, *(const A *)sum);
    if (carried) s = FMS((A)v[k - 1], x[row - c->direction], s);
    x[row] = NAME(end)(c->mode, s, factor);
    c->value = v + k;
    c->index = (const I *)c->index + k - carried;
    if (c->mode != SPTRSV_MODE_UNIT) c->factor = (const A *)c->factor + 1;
    if (run->first < 0) c->row++;
}

static sptrsv_loops NAME(loops)(sptrsv_mode mode)
{
    return (sptrsv_loops){mode == SPTRSV_MODE_UNIT     ? NAME(rows_unit)
                          : mode == SPTRSV_MODE_DIVIDE ? NAME(rows_divide)
                                                       : NAME(rows_fold),
                          {NAME(panel4), NAME(panel8), NAME(panel16)},
                          {NAME(long_begin), NAME(long_chunk), NAME(long_add), NAME(long_end)}};
}
