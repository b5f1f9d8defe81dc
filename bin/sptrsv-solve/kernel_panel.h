/* kernel_panel.h: rows with WIDTH right-hand sides at once, for the scalars and the index type of kernel_body.h, which includes it once a
 * width. Lanes are right-hand sides: PARTS vectors of LANES_N each; the sum of each side is the one that a single solve makes.
 */
#if WIDTH * A_SIZE < VECTOR_BYTES
#define LANES_N WIDTH
#else
#define LANES_N (VECTOR_BYTES / A_SIZE)
#endif
#if LANES_N * A_SIZE == 64
#define VEC VECTOR_OF(64)
#define VFMS FMS_OF(64)
#elif LANES_N * A_SIZE == 32
#define VEC VECTOR_OF(32)
#define VFMS FMS_OF(32)
#else
#define VEC VECTOR_OF(16)
#define VFMS FMS_OF(16)
#endif
#define PARTS (WIDTH / LANES_N)
#define PNAME(x) PNAME2(x, WIDTH)
#define PNAME2(x, width) PNAME3(x, width)
#define PNAME3(x, width) NAME(x##width)
#define EACH for (int p = 0; p < PARTS; p++)

INLINE VEC PNAME(load)(const A *x, int p)
{
    VEC v;
    memcpy(&v, x + p * LANES_N, sizeof v);
    return v;
}

INLINE VEC PNAME(all)(A value)
{
    VEC zero = {0};
    return zero + value;
}

/* One row: entries v[j step], indices e[j]; the last one is `carry` where it is not NULL. */
INLINE void PNAME(panel_row)(const V *restrict v, int step, const I *restrict e, int64_t k, const A *x, int64_t ldx, const A *carry, VEC *s)
{
    int64_t j = 0, last = k - (carry != NULL);
    if (k >= SPTRSV_LONG_ROW) {
        int64_t head = sptrsv_row_head(k);
        for (int64_t chunk = 0; chunk < head; chunk += SPTRSV_FAT_CHUNK) {
            int64_t stop = chunk + SPTRSV_FAT_CHUNK < head ? chunk + SPTRSV_FAT_CHUNK : head;
            VEC sum[8][PARTS];
            for (int m = 0; m < 8; m++) EACH sum[m][p] = PNAME(all)(0);
            for (j = chunk; j < stop; j += 8)
                for (int m = 0; m < 8; m++) {
                    const A *xe = x + (int64_t)e[j + m] * ldx;
                    VEC value = PNAME(all)((A)v[(j + m) * step]);
                    EACH sum[m][p] = VFMS(value, PNAME(load)(xe, p), sum[m][p]);
                }
            EACH s[p] += ((sum[0][p] + sum[4][p]) + (sum[2][p] + sum[6][p])) + ((sum[1][p] + sum[5][p]) + (sum[3][p] + sum[7][p]));
        }
        j = head;
    }
    for (; j < last; j++) {
        const A *xe = x + (int64_t)e[j] * ldx;
        VEC value = PNAME(all)((A)v[j * step]);
        EACH s[p] = VFMS(value, PNAME(load)(xe, p), s[p]);
    }
    if (!carry) return;
    VEC value = PNAME(all)((A)v[(k - 1) * step]);
    EACH s[p] = VFMS(value, PNAME(load)(carry, p), s[p]);
}

INLINE VEC PNAME(begin)(int mode, VEC b, A r)
{
    return mode == SPTRSV_MODE_FOLD ? b * r : b;
}

INLINE VEC PNAME(end)(int mode, VEC s, A r)
{
    return mode == SPTRSV_MODE_SCALE ? s * r : mode == SPTRSV_MODE_DIVIDE ? s / r : s;
}

static void PNAME(panel)(sptrsv_cursor *c, const sptrsv_run *run, int64_t runs, const void *b_any, int64_t ldb, void *x_any, int64_t ldx)
{
    const A *b = b_any;
    A *x = x_any;
    const int mode = c->mode;
    NAME(at) at = {c->value, c->index, c->factor, c->row, c->length};
    for (const sptrsv_run *stop = run + runs; run < stop; run++) {
        bool is_block = run->kind == SPTRSV_RUN_SUPER, is_carry = run->kind == SPTRSV_RUN_CARRY;
        int64_t row = run->first;
        const int64_t block_row = run->first;
        const V *triangle = at.v + (int64_t)run->length * run->rows;
        for (int32_t i = 0; i < run->rows; i++, row += c->direction) {
            if (run->first < 0) {
                row = *at.row++;
                const A *ahead = b + (int64_t)at.row[AHEAD / 2] * ldb, *x_ahead = x + (int64_t)at.row[AHEAD / 2] * ldx;
                __builtin_prefetch(ahead);
                __builtin_prefetch(x_ahead, 1);
            }
            int64_t k = run->kind == SPTRSV_RUN_MIXED ? *at.length++ : run->length;
            VEC s[PARTS];
            A factor = mode == SPTRSV_MODE_UNIT ? 1 : *at.r++;
            EACH s[p] = PNAME(begin)(mode, PNAME(load)(b + row * ldb, p), factor);
            const A *xr = sizeof(I) == 2 ? x + ((is_block ? block_row : row) + c->shift) * ldx : x;
            if (is_block) {
                PNAME(panel_row)(at.v + i, run->rows, at.e, k, xr, ldx, NULL, s);
                const V *column = triangle + i - 1;
                for (int32_t j = 0; j < i; j++) {
                    const A *xe = x + (block_row + j * c->direction) * ldx;
                    VEC value = PNAME(all)((A)*column);
                    EACH s[p] = VFMS(value, PNAME(load)(xe, p), s[p]);
                    column += run->rows - 2 - j;
                }
            } else {
                PNAME(panel_row)(at.v, 1, at.e, k, xr, ldx, is_carry ? x + (row - c->direction) * ldx : NULL, s);
                at.v += k;
                at.e += k - is_carry;
            }
            EACH {
                VEC out = PNAME(end)(mode, s[p], factor);
                memcpy(x + row * ldx + p * LANES_N, &out, sizeof out);
            }
        }
        if (is_block) {
            at.v = triangle + run->rows * (run->rows - 1) / 2;
            at.e += run->length;
        }
    }
    c->value = at.v;
    c->index = at.e;
    c->factor = at.r;
    c->row = at.row;
    c->length = at.length;
}

#undef EACH
#undef PNAME
#undef PNAME2
#undef PNAME3
#undef PARTS
#undef VEC
#undef VFMS
#undef LANES_N
