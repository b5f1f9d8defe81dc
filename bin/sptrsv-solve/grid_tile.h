/* grid_tile.h: the loops of grid_kernel.c for one precision. REAL: of vectors and arithmetic; COEF: of stored coefficients;
 * TILE: cells a tile; MIXED: COEF is narrower, so rows are scaled by the reciprocal diagonal on the fly and not beforehand.
 *
 * Sections: loads, a tile's sum over other lines, a tile's recurrences, the steps, many right-hand sides, blocks of unknowns,
 * laying out.
 */
#define CAT2(a, b) a##b
#define CAT(a, b) CAT2(a, b)
#define VEC CAT(vec_, REAL_NAME)
#define NFMA CAT(nfma_, REAL_NAME)
#define VNFMA CAT(vnfma_, REAL_NAME)
#define WIDTH (VECTOR / (int)sizeof(REAL)) /* lanes of VEC */

/* ---- loads ------------------------------------------------------------------------------------------------------ */

ALWAYS VEC N(load)(const REAL *p)
{
    VEC v;
    memcpy(&v, p, sizeof v);
    return v;
}

ALWAYS void N(store)(REAL *p, VEC v)
{
    memcpy(p, &v, sizeof v);
}

ALWAYS VEC N(load_coef)(const COEF *p)
{
#if MIXED
    half_f32 v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, VEC);
#else
    return N(load)(p);
#endif
}

/* Lane j is cell first + j (first - j where mirrored) of a line; 0 where that is outside it. */
ALWAYS VEC N(load_edge)(const REAL *line, int first, int nx, bool mirrored)
{
    int low = mirrored ? first - nx + 1 : -first, high = mirrored ? first + 1 : nx - first;
    const REAL *p = mirrored ? line - first : line + first;
#if defined(__AVX512F__)
    unsigned mask = high >= WIDTH ? (1u << WIDTH) - 1 : high > 0 ? (1u << high) - 1 : 0;
    if (low > 0) mask = low >= WIDTH ? 0 : mask & ~((1u << low) - 1);
    return sizeof(REAL) == 8 ? (VEC)_mm512_maskz_loadu_pd((__mmask8)mask, p) : (VEC)_mm512_maskz_loadu_ps((__mmask16)mask, p);
#else
    VEC v;
    for (int j = 0; j < WIDTH; j++) v[j] = j >= low && j < high ? p[j] : 0;
    return v;
#endif
}

/* ---- a tile's sum over other lines ------------------------------------------------------------------------------ */

typedef struct {
    const REAL *b;                         /* cell 0 of the line */
    REAL *x;
    const REAL *from[SPTRSV_GRID_ARRAYS];  /* cell dx of the neighbour's line: what cell 0 refers to */
    REAL last, last2;                      /* x one and two cells back */
    int32_t line, tile;                    /* of the unit; tile < 0 or >= tiles: nothing to do */
    int64_t ahead;                         /* cells from a tile of this line to what comes after it in b and x */
} N(slot);

/* Memory addresses run backwards where mirrored: lane 0 is then the last cell of a tile. */
ALWAYS int N(lane0)(int cell, bool mirrored)
{
    return mirrored ? cell + TILE - 1 : cell;
}

/* s = what the recurrence starts from; c1, c2, d: its coefficients, where they had to be converted. */
ALWAYS void N(sum)(const sptrsv_grid *g, const N(slot) * w, const COEF *c, int cell, REAL *s, REAL *c1, REAL *c2, REAL *d,
                   const int others, const int chain, const bool mirrored, const bool divide, const bool edge)
{
    int64_t stride = g->stride;
    const COEF *diagonal = c + stride * (others + chain);
    int nx = g->shape.nx, first = N(lane0)(cell, mirrored);
    for (int h = 0; h < TILE / WIDTH; h++) {
        int at = mirrored ? first - h * WIDTH : first + h * WIDTH;
        int64_t move = mirrored ? -at : at;
        VEC t = edge ? N(load_edge)(w->b, at, nx, mirrored) : N(load)(w->b + move), r = {0};
        if (!g->unit) r = N(load_coef)(diagonal + h * WIDTH);
        if (!MIXED && !divide && !g->unit) t *= r;
        for (int k = 0; k < others; k++) {
            int dx = g->dx[k];
            VEC x = edge ? N(load_edge)(w->from[k] - (mirrored ? -dx : dx), at + dx, nx, mirrored) : N(load)(w->from[k] + move);
            t = VNFMA(N(load_coef)(c + stride * k + h * WIDTH), x, t);
        }
        if (MIXED) {
            VEC one = {0};
            one += 1;
            if (!g->unit && !divide) {
                r = one / r;
                t *= r;
            } else if (!g->unit) {
                N(store)(d + h * WIDTH, r);
            }
            for (int k = 0; k < chain; k++) {
                VEC v = N(load_coef)(c + stride * (others + k) + h * WIDTH);
                if (!g->unit && !divide) v *= r;
                N(store)((k == chain - 1 ? c1 : c2) + h * WIDTH, v);
            }
        }
        N(store)(s + h * WIDTH, t);
    }
}

/* The same for the first and last tile of a line; one copy serves all stencils. */
static __attribute__((noinline)) void N(sum_edge)(const sptrsv_grid *g, const N(slot) * w, const COEF *c, int cell, REAL *s, REAL *c1,
                                                  REAL *c2, REAL *d)
{
    int others = g->arrays - g->chain;
    if (g->mirrored) N(sum)(g, w, c, cell, s, c1, c2, d, others, g->chain, true, g->divide, true);
    else N(sum)(g, w, c, cell, s, c1, c2, d, others, g->chain, false, g->divide, true);
}

/* ---- a tile's recurrences --------------------------------------------------------------------------------------- */

/* x[i] = s[i] - c2[i] x[i-2] - c1[i] x[i-1] (over d[i]) in `lines` tiles at once, so that one's latency hides the others'. */
ALWAYS void N(recur)(const int lines, REAL *const *s, const REAL *const *c1, const REAL *const *c2, const REAL *const *d,
                     REAL *const *x, REAL *last, REAL *last2, const int chain, const bool mirrored, const bool divide)
{
    REAL p[SPTRSV_GRID_SLOTS], p2[SPTRSV_GRID_SLOTS]; /* in registers */
#pragma GCC unroll 4
    for (int l = 0; l < lines; l++) {
        p[l] = last[l];
        p2[l] = last2[l];
    }
#pragma GCC unroll 16
    for (int i = 0; i < TILE; i++) {
        int j = mirrored ? TILE - 1 - i : i;
#pragma GCC unroll 4
        for (int l = 0; l < lines; l++) {
            REAL v = s[l][j];
            if (chain > 1) v = NFMA(c2[l][j], p2[l], v);
            if (chain > 0) v = NFMA(c1[l][j], p[l], v);
            if (divide) v /= d[l][j];
            p2[l] = p[l];
            p[l] = x[l][j] = v;
        }
    }
#pragma GCC unroll 4
    for (int l = 0; l < lines; l++) {
        last[l] = p[l];
        last2[l] = p2[l];
    }
}

/* ---- the steps -------------------------------------------------------------------------------------------------- */

ALWAYS int64_t N(line_start)(const sptrsv_grid *g, int32_t y, int32_t z, bool mirrored)
{
    int64_t cell = g->shape.nx * (y + (int64_t)g->shape.ny * z);
    return mirrored ? g->n - 1 - cell : cell;
}

/* What is asked for in advance: coefficients so many steps, and on long lines b and x so many tiles. More is worse. */
enum { N(AHEAD) = 2, N(AHEAD_IN_LINE) = 16 };

static void N(begin_line)(const sptrsv_grid *g, N(slot) * w, const REAL *b, REAL *x, int32_t slab, int32_t z, int others,
                          bool mirrored)
{
    int32_t y = g->slab_line[slab] + w->line, ny = g->shape.ny;
    int64_t start = N(line_start)(g, y, z, mirrored);
    w->b = b + start;
    w->x = x + start;
    for (int k = 0; k < others; k++) {
        int32_t yk = y + g->dy[k], zk = z + g->dz[k];
        const REAL *line = (const REAL *)g->zeros + (mirrored ? g->shape.nx + TILE + 3 : 4);
        if (yk >= 0 && yk < ny && zk >= 0) line = x + N(line_start)(g, yk, zk, mirrored);
        w->from[k] = mirrored ? line - g->dx[k] : line + g->dx[k];
    }
    int32_t later = w->line + g->slots < sptrsv_grid_lines(g, slab) ? g->slots : ny - w->line; /* about a plane on */
    w->ahead = g->tiles > 64 ? N(AHEAD_IN_LINE) * TILE : (int64_t)g->shape.nx * later;
    if (mirrored) w->ahead = -w->ahead;
    w->last = w->last2 = 0;
}

/* Puts a slot where it stands before a step: on a line in the middle x is there already. */
static void N(enter)(const sptrsv_grid *g, N(slot) * w, const REAL *b, REAL *x, int32_t slab, int32_t z, int32_t step, int l,
                     int others, bool mirrored)
{
    int32_t q = step - l * g->lag;
    w->line = l + (q < 0 ? 0 : q / g->period * g->slots);
    w->tile = q < 0 ? q : q % g->period;
    if (w->tile <= 0 || w->tile >= g->tiles || w->line >= sptrsv_grid_lines(g, slab)) return;
    N(begin_line)(g, w, b, x, slab, z, others, mirrored);
    if (!g->chain) return;
    int64_t cell = (int64_t)w->tile * TILE;
    w->last = w->x[mirrored ? 1 - cell : cell - 1];
    w->last2 = w->x[mirrored ? 2 - cell : cell - 2];
}

ALWAYS void N(prefetch)(const sptrsv_grid *g, const N(slot) * w, const COEF *c, int l, int cell, const int arrays, const int slots,
                        const bool mirrored)
{
    enum { LINE = 64 / sizeof(COEF) };
    if (LINE == TILE || l % (LINE / TILE) == 0)
        for (int k = 0; k < arrays; k++) __builtin_prefetch(c + g->stride * k + N(AHEAD) * slots * TILE, 0, 3);
    int64_t at = (mirrored ? -N(lane0)(cell, true) : cell) + w->ahead;
    __builtin_prefetch(w->b + at, 0, 3);
    __builtin_prefetch(w->x + at, 1, 3);
}

/* `count` steps in which every slot is on a line and no tile is cut short. */
ALWAYS void N(run_full)(const sptrsv_grid *g, N(slot) * slot, const COEF *c, int32_t count, const int others, const int chain,
                        const int slots, const bool mirrored, const bool divide)
{
    _Alignas(64) REAL scratch[4][SPTRSV_GRID_SLOTS][TILE];
    REAL *s[SPTRSV_GRID_SLOTS], *to_x[SPTRSV_GRID_SLOTS], last[SPTRSV_GRID_SLOTS], last2[SPTRSV_GRID_SLOTS];
    const REAL *c1[SPTRSV_GRID_SLOTS], *c2[SPTRSV_GRID_SLOTS], *d[SPTRSV_GRID_SLOTS];
    const int64_t stride = g->stride;
    int32_t first_edge[SPTRSV_GRID_SLOTS], last_edge[SPTRSV_GRID_SLOTS]; /* steps in which a slot minds its line's ends */
#pragma GCC unroll 4
    for (int l = 0; l < slots; l++) {
        s[l] = scratch[0][l];
        last[l] = slot[l].last;
        last2[l] = slot[l].last2;
        first_edge[l] = g->edge_first ? -slot[l].tile : -1;
        last_edge[l] = g->edge_last ? g->tiles - 1 - slot[l].tile : -1;
    }
    for (int32_t i = 0; i < count; i++, c += slots * TILE) {
#pragma GCC unroll 4
        for (int l = 0; l < slots; l++) {
            const N(slot) *w = &slot[l];
            const COEF *mine = c + l * TILE;
            int cell = (w->tile + i) * TILE;
            N(prefetch)(g, w, mine, l, cell, others + chain + 1, slots, mirrored);
            if (__builtin_expect(i == first_edge[l] || i == last_edge[l], 0))
                N(sum_edge)(g, w, mine, cell, s[l], scratch[1][l], scratch[2][l], scratch[3][l]);
            else
                N(sum)(g, w, mine, cell, s[l], scratch[1][l], scratch[2][l], scratch[3][l], others, chain, mirrored, divide, false);
            c1[l] = MIXED ? scratch[1][l] : (const REAL *)mine + stride * (others + chain - 1);
            c2[l] = MIXED ? scratch[2][l] : (const REAL *)mine + stride * (others + chain - 2);
            d[l] = MIXED ? scratch[3][l] : (const REAL *)mine + stride * (others + chain);
            to_x[l] = w->x + (mirrored ? -N(lane0)(cell, true) : cell);
        }
        if (divide && !g->unit) N(recur)(slots, s, c1, c2, d, to_x, last, last2, chain, mirrored, true);
        else N(recur)(slots, s, c1, c2, d, to_x, last, last2, chain, mirrored, false);
    }
    for (int l = 0; l < slots; l++) {
        slot[l].last = last[l];
        slot[l].last2 = last2[l];
        slot[l].tile += count;
    }
}

/* One step of one slot, in any position. */
static __attribute__((noinline)) void N(step_one)(const sptrsv_grid *g, N(slot) * w, const COEF *mine, int others, bool mirrored)
{
    _Alignas(64) REAL scratch[4][TILE], part[TILE];
    int cell = w->tile * TILE, nx = g->shape.nx;
    REAL *s = scratch[0], *to_x = cell + TILE > nx ? part : w->x + (mirrored ? -N(lane0)(cell, true) : cell);
    bool edge = (w->tile == 0 && g->edge_first) || (w->tile == g->tiles - 1 && g->edge_last);
    if (edge) N(sum_edge)(g, w, mine, cell, s, scratch[1], scratch[2], scratch[3]);
    else N(sum)(g, w, mine, cell, s, scratch[1], scratch[2], scratch[3], others, g->chain, mirrored, g->divide, false);
    const REAL *c1 = MIXED ? scratch[1] : (const REAL *)mine + g->stride * (others + g->chain - 1);
    const REAL *c2 = MIXED ? scratch[2] : (const REAL *)mine + g->stride * (others + g->chain - 2);
    const REAL *d = MIXED ? scratch[3] : (const REAL *)mine + g->stride * (others + g->chain);
    N(recur)(1, &s, &c1, &c2, &d, &to_x, &w->last, &w->last2, g->chain, mirrored, g->divide && !g->unit);
    if (to_x == part)
        for (int i = 0; cell + i < nx; i++) w->x[mirrored ? -(cell + i) : cell + i] = part[mirrored ? TILE - 1 - i : i];
}

/* The steps from..to-1 of a unit; the constants make the compiler's work. others: neighbours on other lines. */
ALWAYS void N(steps)(const sptrsv_grid *g, const REAL *b, REAL *x, int32_t slab, int32_t z, int32_t from, int32_t to, const int others,
                     const int chain, const int slots, const bool mirrored, const bool divide)
{
    N(slot) slot[SPTRSV_GRID_SLOTS];
    int32_t lines = sptrsv_grid_lines(g, slab), full_tiles = g->shape.nx / TILE;
    const COEF *c = (const COEF *)g->coef + (g->slab_base[slab] + (int64_t)z * g->slab_steps[slab] + from) * slots * TILE;
    for (int l = 0; l < slots; l++) N(enter)(g, &slot[l], b, x, slab, z, from, l, others, mirrored);
    for (int32_t step = from; step < to;) {
        int32_t full = to - step; /* steps for which all slots are on a line */
        bool active[SPTRSV_GRID_SLOTS];
        for (int l = 0; l < slots; l++) {
            N(slot) *w = &slot[l];
            active[l] = w->tile >= 0 && w->tile < g->tiles && w->line < lines;
            if (active[l] && w->tile == 0) N(begin_line)(g, w, b, x, slab, z, others, mirrored);
            int32_t more = active[l] ? full_tiles - w->tile : 0;
            full = more < full ? more : full;
        }
        if (full > 0) {
            N(run_full)(g, slot, c, full, others, chain, slots, mirrored, divide);
        } else {
            full = 1;
            for (int l = 0; l < slots; l++) {
                if (active[l]) N(step_one)(g, &slot[l], c + l * TILE, others, mirrored);
                slot[l].tile++;
            }
        }
        step += full;
        c += (int64_t)full * slots * TILE;
        for (int l = 0; l < slots; l++) {
            if (slot[l].tile < g->period) continue;
            slot[l].tile = 0;
            slot[l].line += slots;
        }
    }
}

#define STEPS(others, chain, slots, divide)                                                                            \
    (g->mirrored ? N(steps)(g, b, x, slab, z, from, to, others, chain, slots, true, divide)                            \
                 : N(steps)(g, b, x, slab, z, from, to, others, chain, slots, false, divide))

/* Common stencils have loops of their own; the rest share those with a variable number of neighbours. */
static __attribute__((noinline)) void N(run_any)(const sptrsv_grid *g, const REAL *b, REAL *x, int32_t slab, int32_t z,
                                                 int32_t from, int32_t to)
{
    int others = g->arrays - g->chain;
    if (g->slots == 1) STEPS(others, g->chain, 1, g->divide);
    else STEPS(others, g->chain, SPTRSV_GRID_SLOTS, g->divide);
}

static void N(run)(const sptrsv_grid *g, const void *b_void, void *x_void, int32_t slab, int32_t z, int32_t from, int32_t to)
{
    const REAL *b = b_void;
    REAL *x = x_void;
    int others = g->arrays - g->chain;
    if (g->divide || g->chain != 1 || (g->slots == 1) != (others == 0)) N(run_any)(g, b, x, slab, z, from, to);
    else if (others == 0) STEPS(0, 1, 1, false);                  /* bidiagonal */
    else if (others == 1) STEPS(1, 1, SPTRSV_GRID_SLOTS, false);  /* 5 points */
    else if (others == 2) STEPS(2, 1, SPTRSV_GRID_SLOTS, false);  /* 7 */
    else if (others == 3) STEPS(3, 1, SPTRSV_GRID_SLOTS, false);  /* 9 */
    else if (others == 8) STEPS(8, 1, SPTRSV_GRID_SLOTS, false);  /* 19 */
    else if (others == 12) STEPS(12, 1, SPTRSV_GRID_SLOTS, false); /* 27 */
    else N(run_any)(g, b, x, slab, z, from, to);
}

/* ---- many right-hand sides -------------------------------------------------------------------------------------- */

/* Lanes are right-hand sides; the sum of each is the one that N(steps) makes. */
ALWAYS void N(block_cell)(const sptrsv_grid *g, const int nrhs, const REAL *b, REAL *x, const COEF *c, int32_t cell, const bool *in_box)
{
    REAL t[16];
    int dir = g->mirrored ? -1 : 1, others = g->arrays - g->chain;
    REAL r = g->unit ? 1 : (REAL)c[g->stride * g->arrays];
    bool scale = !g->unit && !g->divide;
    if (MIXED && scale) r = 1 / r;
    for (int j = 0; j < nrhs; j++) t[j] = !MIXED && scale ? b[j] * r : b[j];
    for (int k = 0; k < g->arrays; k++) {
        if (MIXED && scale && k == others)
            for (int j = 0; j < nrhs; j++) t[j] *= r;
        if (!in_box[k] || (uint32_t)(cell + g->dx[k]) >= (uint32_t)g->shape.nx) continue;
        REAL v = (REAL)c[g->stride * k];
        if (MIXED && scale && k >= others) v *= r;
        const REAL *from = x + dir * g->offset[k] * nrhs;
        for (int j = 0; j < nrhs; j++) t[j] = NFMA(v, from[j], t[j]);
    }
    if (MIXED && scale && others == g->arrays)
        for (int j = 0; j < nrhs; j++) t[j] *= r;
    for (int j = 0; j < nrhs; j++) x[j] = !g->unit && g->divide ? t[j] / r : t[j];
}

ALWAYS void N(steps_block)(const sptrsv_grid *g, const int nrhs, const REAL *b, REAL *x, int32_t slab, int32_t z, int32_t from,
                           int32_t to)
{
    const COEF *c = (const COEF *)g->coef + (g->slab_base[slab] + (int64_t)z * g->slab_steps[slab] + from) * g->slots * TILE;
    for (int32_t step = from; step < to; step++, c += g->slots * TILE) {
        for (int l = 0; l < g->slots; l++) {
            int32_t q = step - l * g->lag;
            if (q < 0 || q % g->period >= g->tiles) continue;
            int32_t line = q / g->period * g->slots + l, first = q % g->period * TILE;
            if (line >= sptrsv_grid_lines(g, slab)) continue;
            int32_t y = g->slab_line[slab] + line, end = first + TILE < g->shape.nx ? first + TILE : g->shape.nx;
            bool in_box[SPTRSV_GRID_ARRAYS];
            for (int k = 0; k < g->arrays; k++)
                in_box[k] = y + g->dy[k] >= 0 && y + g->dy[k] < g->shape.ny && z + g->dz[k] >= 0;
            int64_t start = N(line_start)(g, y, z, g->mirrored);
            for (int32_t cell = first; cell < end; cell++) {
                int64_t row = g->mirrored ? start - cell : start + cell;
                int lane = g->mirrored ? TILE - 1 - (cell - first) : cell - first;
                N(block_cell)(g, nrhs, b + row * nrhs, x + row * nrhs, c + l * TILE + lane, cell, in_box);
            }
        }
    }
}

static void N(run_block)(const sptrsv_grid *g, int nrhs, const void *b, void *x, int32_t slab, int32_t z, int32_t from, int32_t to)
{
    if (nrhs == 4) N(steps_block)(g, 4, b, x, slab, z, from, to);
    else if (nrhs == 8) N(steps_block)(g, 8, b, x, slab, z, from, to);
    else N(steps_block)(g, 16, b, x, slab, z, from, to);
}

/* ---- blocks of unknowns ----------------------------------------------------------------------------------------- */

/* A cell's coefficients: [neighbour][column][row], then the own block's columns 0..dof-2 (zero on and above the diagonal), then the
 * diagonal or its reciprocal. A step is a cell. */
ALWAYS void N(steps_dof)(const sptrsv_grid *g, const int dof, const int nrhs, const REAL *b, REAL *x, int32_t slab, int32_t z,
                         int32_t from, int32_t to)
{
    const COEF *c = (const COEF *)g->coef + (g->slab_base[slab] + (int64_t)z * g->slab_steps[slab] + from) * g->stride;
    int64_t dir = g->mirrored ? -1 : 1;
    int32_t nx = g->shape.nx;
    bool scale = !g->unit && !g->divide;
    for (int32_t step = from; step < to; step++, c += g->stride) {
        int32_t y = g->slab_line[slab] + step / nx, cell = step % nx;
        int64_t first = (cell + nx * (y + (int64_t)g->shape.ny * z)) * dof, row = g->mirrored ? g->n - 1 - first : first;
        const COEF *own = c + (int64_t)g->arrays * dof * dof, *diagonal = own + (dof - 1) * dof;
        REAL r[SPTRSV_GRID_MAX_DOF], t[SPTRSV_GRID_MAX_DOF][16];
        __builtin_prefetch(c + 4 * g->stride, 0, 3);
        for (int a = 0; a < dof; a++) {
            r[a] = g->unit ? 1 : (REAL)diagonal[a];
            if (MIXED && scale) r[a] = 1 / r[a];
        }
        for (int a = 0; a < dof; a++)
            for (int j = 0; j < nrhs; j++) {
                REAL v = b[(row + dir * a) * nrhs + j];
                t[a][j] = !MIXED && scale ? v * r[a] : v;
            }
        for (int k = 0; k < g->arrays; k++) {
            int32_t yk = y + g->dy[k];
            if ((uint32_t)(cell + g->dx[k]) >= (uint32_t)nx || yk < 0 || yk >= g->shape.ny || z + g->dz[k] < 0) continue;
            const REAL *xk = x + (row + dir * g->offset[k] * dof) * nrhs;
            for (int col = 0; col < dof; col++)
                for (int j = 0; j < nrhs; j++) {
                    REAL v = xk[dir * col * nrhs + j];
                    for (int a = 0; a < dof; a++) t[a][j] = NFMA((REAL)c[(k * dof + col) * dof + a], v, t[a][j]);
                }
        }
        if (MIXED && scale)
            for (int a = 0; a < dof; a++)
                for (int j = 0; j < nrhs; j++) t[a][j] *= r[a];
        for (int col = 0; col < dof; col++)
            for (int j = 0; j < nrhs; j++) {
                REAL v = !g->unit && g->divide ? t[col][j] / r[col] : t[col][j];
                x[(row + dir * col) * nrhs + j] = v;
                for (int a = col + 1; a < dof; a++) {
                    REAL l = (REAL)own[col * dof + a];
                    if (MIXED && scale) l *= r[a];
                    t[a][j] = NFMA(l, v, t[a][j]);
                }
            }
    }
}

static void N(run_dof)(const sptrsv_grid *g, const void *b, void *x, int32_t slab, int32_t z, int32_t from, int32_t to)
{
    switch (g->shape.dof) {
    case 2: N(steps_dof)(g, 2, 1, b, x, slab, z, from, to); break;
    case 3: N(steps_dof)(g, 3, 1, b, x, slab, z, from, to); break;
    case 4: N(steps_dof)(g, 4, 1, b, x, slab, z, from, to); break;
    case 5: N(steps_dof)(g, 5, 1, b, x, slab, z, from, to); break;
    case 6: N(steps_dof)(g, 6, 1, b, x, slab, z, from, to); break;
    case 7: N(steps_dof)(g, 7, 1, b, x, slab, z, from, to); break;
    default: N(steps_dof)(g, 8, 1, b, x, slab, z, from, to); break;
    }
}

static void N(run_block_dof)(const sptrsv_grid *g, int nrhs, const void *b, void *x, int32_t slab, int32_t z, int32_t from,
                             int32_t to)
{
    if (nrhs == 4) N(steps_dof)(g, g->shape.dof, 4, b, x, slab, z, from, to);
    else if (nrhs == 8) N(steps_dof)(g, g->shape.dof, 8, b, x, slab, z, from, to);
    else N(steps_dof)(g, g->shape.dof, 16, b, x, slab, z, from, to);
}

/* ---- laying out ------------------------------------------------------------------------------------------------- */

/* Quotients and reciprocals must be normal numbers, or zero where the entry is zero, to be formed beforehand. */
ALWAYS bool N(unsafe)(double quotient, double entry)
{
    double size = fabs(quotient);
    return (size > COEF_MAX) | (size != size) | ((size < COEF_MIN) & (entry != 0));
}

/* Puts a tile's values, one array a neighbour and the diagonal last, into their places as COEF; *bad where folding is unsafe. */
ALWAYS void N(put)(const sptrsv_grid *g, const double value[][TILE], COEF *c, bool *bad)
{
    enum { LANES = VECTOR / 8 };
    bool fold = !MIXED && !g->divide && !g->unit;
    mask_f64 unsafe = {0};
    for (int k = 0; k < g->arrays + !g->unit; k++) {
        COEF *to = c + g->stride * k;
        for (int i = 0; i < TILE; i += LANES) {
            vec_f64 v = load_doubles(value[k] + i), q = v;
            if (fold) {
                vec_f64 d = load_doubles(value[g->arrays] + i);
                q = k == g->arrays ? 1 / d : v / d;
                vec_f64 size = (vec_f64)((mask_f64)q & INT64_MAX);
                unsafe |= (size > COEF_MAX) | (size != size) | ((size < COEF_MIN) & (v != 0));
            } else if (MIXED && k == g->arrays) {
                for (int l = 0; l < LANES; l++) {
                    double size = fabs((double)(COEF)v[l]);
                    if (!(size > 0 && size <= COEF_MAX)) *bad = true;
                }
            }
            if (sizeof(COEF) == sizeof(double)) stream_doubles((double *)(void *)(to + i), q);
            else for (int l = 0; l < LANES; l++) to[i + l] = (COEF)q[l];
        }
    }
    long long any = 0;
    for (int l = 0; l < LANES; l++) any |= unsafe[l];
    if (any) *bad = true;
}

/* The entries of a row (step s of the solve), by neighbour. present: which neighbours are inside the box. */
ALWAYS bool N(take_row)(const sptrsv_grid *g, const sptrsv_system *sys, int64_t row, uint64_t present, int lane, double value[][TILE])
{
    const int32_t *col = sys->matrix->col + sys->first[row];
    const double *val = sys->matrix->val + sys->first[row];
    int64_t stride = sys->stride, entries = sys->count[row], e = 0;
    int32_t me = (int32_t)row;
    for (int k = 0; k < g->arrays; k++) {
        bool here = (present >> k & 1) && e < entries && (col[e * stride] - me) * stride == g->offset[k];
        value[k][lane] = here ? val[e * stride] : 0;
        e += here;
    }
    value[g->arrays][lane] = sys->unit ? 1 : sys->matrix->val[sys->diagonal[row]];
    return e == entries;
}

/* The same for a tile inside the box all of whose rows have all neighbours; false where that is not so. */
ALWAYS bool N(take_tile)(const sptrsv_grid *g, const sptrsv_system *sys, int64_t row, const int64_t dir, double value[][TILE])
{
    const int64_t stride = dir;
    int32_t wrong = 0;
    for (int i = 0; i < TILE; i++) wrong |= sys->count[row + dir * i] ^ g->arrays;
    if (wrong) return false;
    for (int i = 0; i < TILE; i++) {
        int32_t me = (int32_t)(row + dir * i);
        const int32_t *col = sys->matrix->col + sys->first[me];
        const double *val = sys->matrix->val + sys->first[me];
        int lane = dir < 0 ? TILE - 1 - i : i;
        for (int k = 0; k < g->arrays; k++) {
            wrong |= (col[k * stride] - me) ^ (int32_t)(g->offset[k] * dir);
            value[k][lane] = val[k * stride];
        }
        value[g->arrays][lane] = sys->unit ? 1 : sys->matrix->val[sys->diagonal[me]];
    }
    return !wrong;
}

static int64_t N(set)(const sptrsv_grid *g, const sptrsv_system *sys, int32_t slab, int32_t z, bool *foldable)
{
    _Alignas(64) double value[SPTRSV_GRID_ARRAYS + 1][TILE];
    int32_t nx = g->shape.nx;
    int64_t dir = g->mirrored ? -1 : 1;
    bool bad = false;
    COEF *base = (COEF *)g->coef + (g->slab_base[slab] + (int64_t)z * g->slab_steps[slab]) * g->slots * TILE;
    int low = 0, high = 0;
    for (int k = 0; k < g->arrays; k++) {
        low = -g->dx[k] > low ? -g->dx[k] : low;
        high = g->dx[k] > high ? g->dx[k] : high;
    }
    for (int32_t line = 0; line < sptrsv_grid_lines(g, slab); line++) {
        int32_t y = g->slab_line[slab] + line, l = line % g->slots;
        uint64_t on_line = 0, all = (UINT64_C(1) << g->arrays) - 1;
        for (int k = 0; k < g->arrays; k++)
            if (y + g->dy[k] >= 0 && y + g->dy[k] < g->shape.ny && z + g->dz[k] >= 0) on_line |= UINT64_C(1) << k;
        int64_t start = N(line_start)(g, y, z, g->mirrored);
        for (int32_t tile = 0; tile < g->tiles; tile++) {
            int32_t first = tile * TILE, end = first + TILE < nx ? first + TILE : nx;
            COEF *c = base + (((int64_t)(line / g->slots) * g->period + tile + l * g->lag) * g->slots + l) * TILE;
            bool inside = on_line == all && first >= low && first + TILE + high <= nx;
            bool taken = inside && (g->mirrored ? N(take_tile)(g, sys, start - first, -1, value)
                                                : N(take_tile)(g, sys, start + first, 1, value));
            if (!taken) {
                for (int32_t cell = first; cell < first + TILE; cell++) {
                    int lane = g->mirrored ? TILE - 1 - (cell - first) : cell - first;
                    if (cell >= end) { /* no such cell: x = 0 / 1 */
                        for (int k = 0; k <= g->arrays; k++) value[k][lane] = k == g->arrays;
                        continue;
                    }
                    uint64_t present = on_line;
                    for (int k = 0; k < g->arrays; k++)
                        if ((uint32_t)(cell + g->dx[k]) >= (uint32_t)nx) present &= ~(UINT64_C(1) << k);
                    if (!N(take_row)(g, sys, start + dir * cell, present, lane, value)) return start + dir * cell;
                }
            }
            N(put)(g, value, c, &bad);
        }
    }
    stream_end();
    if (bad) *foldable = false;
    return -1;
}

/* One row of a cell: where an entry of column (neighbour k, column col) belongs is k * dof + col. */
static bool N(take_row_dof)(const sptrsv_grid *g, const sptrsv_system *sys, int64_t row, int64_t cell, const bool *in_box, int a,
                            double *value)
{
    int dof = g->shape.dof, k = 0;
    const int32_t *col = sys->matrix->col + sys->first[row];
    const double *val = sys->matrix->val + sys->first[row];
    memset(value, 0, sizeof *value * (size_t)((g->arrays + 1) * dof));
    for (int64_t e = 0; e < sys->count[row]; e++) {
        int64_t step = g->mirrored ? g->n - 1 - col[e * sys->stride] : col[e * sys->stride];
        int64_t other = step / dof;
        while (k < g->arrays && (!in_box[k] || cell + g->offset[k] < other)) k++;
        if (k < g->arrays ? cell + g->offset[k] != other : other != cell) return false;
        value[k * dof + (step - other * dof)] = val[e * sys->stride];
    }
    value[g->arrays * dof + a] = sys->unit ? 1 : sys->matrix->val[sys->diagonal[row]];
    return true;
}

static int64_t N(set_dof)(const sptrsv_grid *g, const sptrsv_system *sys, int32_t slab, int32_t z, bool *foldable)
{
    double value[(SPTRSV_GRID_ARRAYS + 1) * SPTRSV_GRID_MAX_DOF];
    int dof = g->shape.dof, columns = (g->arrays + 1) * dof;
    bool fold = !MIXED && !g->divide && !g->unit;
    COEF *c = (COEF *)g->coef + (g->slab_base[slab] + (int64_t)z * g->slab_steps[slab]) * g->stride;
    for (int32_t step = 0; step < g->slab_steps[slab]; step++, c += g->stride) {
        int32_t x = step % g->shape.nx, y = g->slab_line[slab] + step / g->shape.nx;
        int64_t cell = x + g->shape.nx * (y + (int64_t)g->shape.ny * z);
        bool in_box[SPTRSV_GRID_ARRAYS];
        for (int k = 0; k < g->arrays; k++)
            in_box[k] = (uint32_t)(x + g->dx[k]) < (uint32_t)g->shape.nx && y + g->dy[k] >= 0 && y + g->dy[k] < g->shape.ny &&
                        z + g->dz[k] >= 0;
        for (int a = 0; a < dof; a++) {
            int64_t row = g->mirrored ? g->n - 1 - (cell * dof + a) : cell * dof + a;
            if (!N(take_row_dof)(g, sys, row, cell, in_box, a, value)) return row;
            double d = value[g->arrays * dof + a];
            for (int col = 0; col < columns - 1; col++) {
                bool below = col < g->arrays * dof + a; /* not the diagonal, nor beyond it in the own block */
                double q = !below ? 0 : fold ? value[col] / d : value[col];
                c[col * dof + a] = (COEF)q;
                if (fold && N(unsafe)(q, below ? value[col] : 0)) *foldable = false;
            }
            double r = fold ? 1 / d : d;
            COEF stored = (COEF)r;
            c[(columns - 1) * dof + a] = stored;
            if (fold && N(unsafe)(r, 1)) *foldable = false;
            if (MIXED && !(fabs((double)stored) > 0 && fabs((double)stored) <= COEF_MAX)) *foldable = false;
        }
    }
    return -1;
}

#undef STEPS
#undef CAT2
#undef CAT
#undef VEC
#undef NFMA
#undef VNFMA
#undef WIDTH
