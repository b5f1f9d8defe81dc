/* panel.c: the strategy "panel": panels of rows with mask buckets (panel.h).
 *
 * Sections: shapes, packing a block, packing, multiplying, the strategy.
 */
#include "config.h"
#include "panel.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "panel_kernel.h"

#include <string.h>

enum { MOST_BUCKETS = 11 };

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

const char *const spmm_masks_names[SPMM_MASKS_KINDS] = {"none", "full", "all"};
const char *const spmm_panel_order_names[SPMM_ROWS_KINDS] = {"none", "degree", "similar"};

/* Lock step of 4 rows, whose tile of B (4 vectors wide where B is) fills two thirds of the nearest cache, but rows get at least ENTRIES in a block, else the
 * sums move more than the entries. Columns are shared where neighbouring rows repeat each other, as in weights pruned by blocks. */
spmm_panel_shape spmm_panel_rule(const spmm_matrix *a, int64_t k, hu_scalar b)
{
    enum { ENTRIES = 12, VECTORS = 4, WIDE = 2, SPARSE = 20 };
    const int64_t size = b == HU_F64 ? 8 : 4, cache = hu_cpu_cache_bytes(1) ? hu_cpu_cache_bytes(1) : 32 << 10;
    const int64_t most = VECTORS * HU_PICK(spmm_panel_lanes)((size_t)size), width = k > 0 && k < most ? k : most;
    const int64_t need = a->nnz ? ENTRIES * a->rows * a->cols / a->nnz : 16;
    spmm_panel_shape s = {4, 16, SPMM_MASKS_NONE, SPMM_ROWS_DEGREE};
    int64_t repeated = 0, pairs = 0;
    for (int64_t i = 0; i + 1 < a->rows; i += 2) {
        int64_t p = a->row_ptr[i], q = a->row_ptr[i + 1];
        while (p < a->row_ptr[i + 1] && q < a->row_ptr[i + 2]) {
            repeated += a->col[p] == a->col[q];
            const bool next_p = a->col[p] <= a->col[q], next_q = a->col[q] <= a->col[p];
            p += next_p;
            q += next_q;
        }
        pairs += (a->row_ptr[i + 2] - a->row_ptr[i]) / 2;
    }
    if (repeated * 2 > pairs) {
        s.masks = SPMM_MASKS_FULL;
        s.order = SPMM_ROWS_NONE;
    } else if (k >= WIDE * most && a->nnz * SPARSE < a->rows * a->cols) {
        s.rows = 2; /* C outweighs the entries: its rows are written in order, in wide pieces */
        s.order = SPMM_ROWS_NONE;
    }
    while (s.k_block < SPMM_MOST_K_BLOCK && s.k_block < a->cols && (s.k_block * 2 * width * size <= cache * 3 / 4 || s.k_block < need)) s.k_block *= 2;
    return s;
}

hu_status spmm_panel_shape_check(const spmm_panel_shape *s, hu_error *err)
{
    if (s->rows != 1 && s->rows != 2 && s->rows != 4 && s->rows != 8) return hu_fail(err, HU_USAGE, "a panel of %d rows: it has 1, 2, 4 or 8", s->rows);
    if (s->k_block < 16 || s->k_block > SPMM_MOST_K_BLOCK || (s->k_block & (s->k_block - 1)))
        return hu_fail(err, HU_USAGE, "a block of %d columns: it has a power of two from 16 to %d", s->k_block, SPMM_MOST_K_BLOCK);
    if (s->masks == SPMM_MASKS_ALL && s->rows > 4) return hu_fail(err, HU_USAGE, "all masks of %d rows: panels with all masks have 4 rows at most", s->rows);
    return HU_OK;
}

int spmm_panel_buckets(const spmm_panel_shape *s, int *mask)
{
    static const int four[MOST_BUCKETS] = {15, 7, 11, 13, 14, 3, 5, 6, 9, 10, 12};
    if (s->rows == 1 || s->masks == SPMM_MASKS_NONE) return 0;
    if (s->masks == SPMM_MASKS_ALL && s->rows == 4) {
        memcpy(mask, four, sizeof four);
        return MOST_BUCKETS;
    }
    mask[0] = (1 << s->rows) - 1;
    return 1;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int log2_of(int32_t power)
{
    return __builtin_ctz((unsigned)power);
}

/* ---- packing a block -------------------------------------------------------------------------------------------- */

/* What one thread needs to pack a chunk of rows. */
typedef struct {
    const spmm_matrix *a;
    spmm_panel_form *f;
    int64_t first, n;   /* the chunk's rows */
    int64_t *start;     /* [blocks n + 1] entries of a row in a block: entry[start[b n + i]] .. */
    int64_t *entry;     /* entries of the matrix by block, row, order */
    int64_t entry_room;
    uint16_t *order;    /* [n] rows in the order of the panels */
    int64_t *count;     /* [k_block + 2] */
    uint64_t *bits;     /* [n][words] columns of a row in the block, for similarity */
    uint8_t *mask;      /* [k_block] rows of a panel that have a column */
    int64_t *at;        /* [8][k_block] and their entries */
} packer;

/* Sorts the entries of a chunk by block and row, as stored within. */
static hu_status by_block(packer *w, hu_error *err)
{
    const int shift = log2_of(w->f->shape.k_block);
    const int64_t *ptr = w->a->row_ptr + w->first, blocks = w->f->blocks, n = w->n;
    if (hu_grow((void **)&w->entry, &w->entry_room, ptr[n] - ptr[0] + 1, sizeof *w->entry, "entries", err)) return err->status;
    memset(w->start, 0, (size_t)(blocks * n + 1) * sizeof *w->start);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) w->start[(w->a->col[p] >> shift) * n + i + 1]++;
    for (int64_t s = 0; s < blocks * n; s++) w->start[s + 1] += w->start[s];
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) w->entry[w->start[(w->a->col[p] >> shift) * n + i]++] = p;
    for (int64_t s = blocks * n; s > 0; s--) w->start[s] = w->start[s - 1];
    w->start[0] = 0;
    return HU_OK;
}

/* Longest first, equal ones as they are. */
static void order_by_degree(packer *w, const int64_t *start)
{
    const int32_t most = w->f->shape.k_block;
    memset(w->count, 0, ((size_t)most + 2) * sizeof *w->count);
    for (int64_t i = 0; i < w->n; i++) w->count[most - least(start[i + 1] - start[i], most) + 1]++;
    for (int32_t c = 0; c <= most; c++) w->count[c + 1] += w->count[c];
    for (int64_t i = 0; i < w->n; i++) w->order[w->count[most - least(start[i + 1] - start[i], most)]++] = (uint16_t)i;
}

/* From the longest row on, the row that shares the most columns with the panel's first joins it. */
static void order_by_likeness(packer *w, const int64_t *start, int64_t from_col)
{
    const int64_t words = (w->f->shape.k_block + 63) / 64;
    order_by_degree(w, start);
    memset(w->bits, 0, (size_t)(w->n * words) * sizeof *w->bits);
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t e = start[i]; e < start[i + 1]; e++) {
            const int64_t c = w->a->col[w->entry[e]] - from_col;
            w->bits[i * words + c / 64] |= UINT64_C(1) << (c & 63);
        }
    for (int64_t k = 0; k < w->n; k++) {
        if (k % w->f->shape.rows == 0) continue;
        const uint64_t *head = w->bits + w->order[k - k % w->f->shape.rows] * words;
        int64_t best = k, best_common = -1;
        for (int64_t j = k; j < w->n; j++) {
            const uint64_t *other = w->bits + w->order[j] * words;
            int64_t common = 0;
            for (int64_t x = 0; x < words; x++) common += __builtin_popcountll(head[x] & other[x]);
            if (common > best_common) {
                best = j;
                best_common = common;
            }
        }
        const uint16_t chosen = w->order[best];
        memmove(w->order + k + 1, w->order + k, (size_t)(best - k) * sizeof *w->order);
        w->order[k] = chosen;
    }
}

typedef struct {
    uint16_t *col;
    char *val;
    int64_t from_col; /* of the block */
} place;

static void emit(packer *w, place *to, int64_t p, bool with_col)
{
    const size_t size = hu_scalar_size(w->a->scalar);
    if (with_col) *to->col++ = (uint16_t)(w->a->col[p] - to->from_col);
    memcpy(to->val, (const char *)w->a->val + p * (int64_t)size, size);
    to->val += size;
}

/* The rows of each column of a panel, and the entries; a second entry of a place stays out. */
static void mark(packer *w, const int64_t *start, int rows, const uint16_t *row, int64_t from_col)
{
    const int64_t width = w->f->shape.k_block;
    memset(w->mask, 0, (size_t)width);
    for (int r = 0; r < rows; r++)
        for (int64_t e = start[row[r]]; e < start[row[r] + 1]; e++) {
            const int64_t c = w->a->col[w->entry[e]] - from_col;
            if (w->mask[c] >> r & 1) continue;
            w->mask[c] |= (uint8_t)(1 << r);
            w->at[r * width + c] = e;
        }
}

/* Whether the columns of a mask are in a bucket. */
static bool is_shared(const spmm_panel_shape *s, int mask)
{
    const int count = __builtin_popcount((unsigned)mask);
    return s->rows > 1 && (s->masks == SPMM_MASKS_ALL ? count > 1 : s->masks == SPMM_MASKS_FULL && count == s->rows);
}

/* Rows and their entries in lock step, longest first. */
static void sort_rows(packer *w, const int64_t *start, int rows, const uint16_t *order, uint16_t *row, uint16_t *len, int64_t from_col)
{
    int64_t n[8];
    const bool shares = rows > 1 && w->f->shape.masks != SPMM_MASKS_NONE;
    for (int r = 0; r < rows; r++) n[r] = start[order[r] + 1] - start[order[r]];
    if (shares) {
        mark(w, start, rows, order, from_col);
        for (int64_t c = 0; c < w->f->shape.k_block; c++)
            for (int r = 0; r < rows && is_shared(&w->f->shape, w->mask[c]); r++) n[r] -= w->mask[c] >> r & 1;
    }
    for (int r = 0; r < rows; r++) {
        int k = r;
        for (; k > 0 && len[k - 1] < n[r]; k--) {
            len[k] = len[k - 1];
            row[k] = row[k - 1];
        }
        len[k] = (uint16_t)n[r];
        row[k] = order[r];
    }
}

/* The shared columns of a panel by bucket; their entries become -1 - entry. Returns how many columns, counts entries in *shared. */
static int64_t emit_shared(packer *w, const int64_t *start, const uint16_t *row, uint16_t *bucket, place *to, int64_t *shared)
{
    int masks[MOST_BUCKETS];
    const int rows = w->f->shape.rows, buckets = spmm_panel_buckets(&w->f->shape, masks);
    int64_t columns = 0;
    if (buckets) mark(w, start, rows, row, to->from_col);
    for (int m = 0; m < buckets; m++) {
        bucket[m] = 0;
        for (int64_t c = 0; c < w->f->shape.k_block; c++) {
            if (w->mask[c] != masks[m]) continue;
            bool first = true;
            for (int r = 0; r < rows; r++) {
                if (!(masks[m] >> r & 1)) continue;
                int64_t *e = &w->entry[w->at[r * w->f->shape.k_block + c]];
                emit(w, to, *e, first);
                first = false;
                *e = -1 - *e;
                ++*shared;
            }
            bucket[m]++;
            columns++;
        }
    }
    return columns;
}

/* One entry of each row that has one left, in turn. Returns how many. */
static int64_t emit_steps(packer *w, const int64_t *start, int rows, const uint16_t *row, const uint16_t *len, place *to)
{
    int64_t at[8], total = 0;
    for (int r = 0; r < rows; r++) {
        at[r] = start[row[r]];
        total += len[r];
    }
    for (int64_t t = 0; t < len[0]; t++)
        for (int r = 0; r < rows && t < len[r]; r++) {
            while (w->entry[at[r]] < 0) at[r]++;
            emit(w, to, w->entry[at[r]++], true);
        }
    return total;
}

/* ---- packing ---------------------------------------------------------------------------------------------------- */

static int64_t panels_of(const spmm_matrix *a, const spmm_panel_shape *s, int64_t first)
{
    return least(a->rows - first, SPMM_CHUNK_ROWS) / s->rows;
}

static void pack_block(packer *w, int64_t chunk, int64_t b, int64_t *columns, int64_t *shared)
{
    spmm_panel_form *f = w->f;
    int masks[MOST_BUCKETS];
    const int rows = f->shape.rows, buckets = spmm_panel_buckets(&f->shape, masks);
    const int64_t *start = w->start + b * w->n, panels = panels_of(w->a, &f->shape, w->first);
    const int64_t value = f->ptr[chunk * f->blocks + b], from_col = b * f->shape.k_block;
    uint16_t *row = f->row + b * w->a->rows + w->first, *len = f->len + b * w->a->rows + w->first;
    uint16_t *bucket = f->bucket + (b * (w->a->rows / rows + 1) + w->first / rows) * buckets;
    place to = {f->col + value, (char *)f->val + value * (int64_t)hu_scalar_size(w->a->scalar), from_col};
    if (f->shape.order == SPMM_ROWS_DEGREE) order_by_degree(w, start);
    else if (f->shape.order == SPMM_ROWS_SIMILAR) order_by_likeness(w, start, from_col);
    else
        for (int64_t i = 0; i < w->n; i++) w->order[i] = (uint16_t)i;
    for (int64_t k = 0; k < panels * rows; k += rows) {
        sort_rows(w, start, rows, w->order + k, row + k, len + k, from_col);
        *columns += emit_shared(w, start, row + k, bucket, &to, shared);
        *columns += emit_steps(w, start, rows, row + k, len + k, &to);
        if (bucket) bucket += buckets;
    }
    for (int64_t k = panels * rows; k < w->n; k++) {
        sort_rows(w, start, 1, w->order + k, row + k, len + k, from_col);
        *columns += emit_steps(w, start, 1, row + k, len + k, &to);
    }
    memset(to.col, 0, (size_t)(f->col + f->ptr[chunk * f->blocks + b + 1] - to.col) * sizeof *to.col);
}

static void packer_free(packer *w)
{
    hu_free(w->start);
    hu_free(w->entry);
    hu_free(w->order);
    hu_free(w->count);
    hu_free(w->bits);
    hu_free(w->mask);
    hu_free(w->at);
}

static hu_status packer_make(packer *w, const spmm_matrix *a, spmm_panel_form *f, hu_error *err)
{
    const int64_t n = least(a->rows, SPMM_CHUNK_ROWS), width = f->shape.k_block, words = f->shape.order == SPMM_ROWS_SIMILAR ? (width + 63) / 64 : 0;
    *w = (packer){.a = a, .f = f};
    if (hu_alloc(f->blocks * n + 1, sizeof *w->start, "rows in blocks", (void **)&w->start, err) || hu_alloc(n, sizeof *w->order, "rows", (void **)&w->order, err) ||
        hu_alloc(width + 2, sizeof *w->count, "lengths", (void **)&w->count, err) || hu_alloc(n * words, sizeof *w->bits, "columns", (void **)&w->bits, err) ||
        hu_alloc(width, 1, "masks", (void **)&w->mask, err) || hu_alloc(8 * width, sizeof *w->at, "entries", (void **)&w->at, err))
        packer_free(w);
    return err->status;
}

/* Where the values of each block begin. */
static void count_blocks(const spmm_matrix *a, spmm_panel_form *f)
{
    const int shift = log2_of(f->shape.k_block);
    memset(f->ptr, 0, (size_t)(f->chunks * f->blocks + 1) * sizeof *f->ptr);
    for (int64_t c = 0; c < f->chunks; c++) {
        const int64_t end = a->row_ptr[least(a->rows, (c + 1) * SPMM_CHUNK_ROWS)];
        for (int64_t p = a->row_ptr[c * SPMM_CHUNK_ROWS]; p < end; p++) f->ptr[c * f->blocks + (a->col[p] >> shift) + 1]++;
    }
    for (int64_t s = 0; s < f->chunks * f->blocks; s++) f->ptr[s + 1] += f->ptr[s];
}

/* Room for everything. */
static hu_status form_new(const spmm_matrix *a, const spmm_panel_shape *shape, spmm_panel_form **ret_form, hu_error *err)
{
    enum { DENSER = 16 }; /* rows of blocks an entry, at most */
    void *block;
    int masks[MOST_BUCKETS];
    int64_t cells, buckets;
    *ret_form = NULL;
    if (spmm_panel_shape_check(shape, err) || hu_alloc_zero(1, sizeof(spmm_panel_form), "panels", &block, err)) return err->status;
    spmm_panel_form *f = block;
    f->shape = *shape;
    f->chunks = (a->rows + SPMM_CHUNK_ROWS - 1) / SPMM_CHUNK_ROWS;
    f->blocks = (a->cols + shape->k_block - 1) / shape->k_block;
    f->entries = a->nnz;
    if (!hu_mul_size(f->blocks, a->rows, &cells) || !hu_mul_size(f->blocks, (a->rows / shape->rows + 1) * spmm_panel_buckets(shape, masks), &buckets)) {
        spmm_panel_free(f);
        return hu_fail(err, HU_SYSTEM, "%lld x %lld is too much for panels", (long long)a->rows, (long long)a->cols);
    }
    if (cells / DENSER > a->nnz + SPMM_CHUNK_ROWS * 1024) {
        spmm_panel_free(f);
        return hu_fail(err, HU_USAGE, "too few entries for panels: %lld in %lld rows of %lld blocks of columns; take wider blocks or another strategy", (long long)a->nnz,
                       (long long)a->rows, (long long)((a->cols + shape->k_block - 1) / shape->k_block));
    }
    if (hu_alloc(f->chunks * f->blocks + 1, sizeof *f->ptr, "blocks", (void **)&f->ptr, err) || hu_alloc(cells, sizeof *f->row, "rows of panels", (void **)&f->row, err) ||
        hu_alloc(cells, sizeof *f->len, "lengths of rows", (void **)&f->len, err) || hu_alloc(buckets, sizeof *f->bucket, "buckets", (void **)&f->bucket, err) ||
        hu_alloc(a->nnz, sizeof *f->col, "columns of panels", (void **)&f->col, err) ||
        hu_alloc(a->nnz, hu_scalar_size(a->scalar), "values of panels", &f->val, err)) {
        spmm_panel_free(f);
        return err->status;
    }
    *ret_form = f;
    return HU_OK;
}

void spmm_panel_free(spmm_panel_form *f)
{
    if (!f) return;
    hu_free(f->ptr);
    hu_free(f->row);
    hu_free(f->len);
    hu_free(f->bucket);
    hu_free(f->col);
    hu_free(f->val);
    hu_free(f);
}

/* Lengths are 16 bits: a row holds fewer than 65536 entries in a block, whose columns are at most half of that, so only one with repeated entries may not. */
static hu_status check_lengths(const packer *w, hu_error *err)
{
    for (int64_t s = 0; s < w->f->blocks * w->n; s++)
        if (w->start[s + 1] - w->start[s] > UINT16_MAX) return hu_fail(err, HU_INPUT, "row %lld repeats its entries too often for panels", (long long)(w->first + s % w->n) + 1);
    return HU_OK;
}

hu_status spmm_panel_pack(const spmm_matrix *a, const spmm_panel_shape *shape, spmm_panel_form **ret_form, hu_error *err)
{
    if (form_new(a, shape, ret_form, err)) return err->status;
    spmm_panel_form *f = *ret_form;
    int64_t columns = 0, shared = 0;
    count_blocks(a, f);
#pragma omp parallel if (a->nnz > 1 << 16) reduction(+ : columns, shared)
    {
        packer w;
        hu_error own = HU_ERROR_NONE;
        packer_make(&w, a, f, &own);
#pragma omp for schedule(dynamic, 1)
        for (int64_t c = 0; c < f->chunks; c++) {
            if (own.status) continue;
            w.first = c * SPMM_CHUNK_ROWS;
            w.n = least(a->rows - w.first, SPMM_CHUNK_ROWS);
            if (by_block(&w, &own) || check_lengths(&w, &own)) continue;
            for (int64_t b = 0; b < f->blocks; b++) pack_block(&w, c, b, &columns, &shared);
        }
        if (own.status) {
#pragma omp critical(panel_error)
            if (!err->status) *err = own;
        } else {
            packer_free(&w);
        }
    }
    f->columns = columns;
    f->shared = shared;
    if (err->status) {
        spmm_panel_free(f);
        *ret_form = NULL;
    }
    return err->status;
}

/* ---- multiplying ------------------------------------------------------------------------------------------------ */

typedef struct {
    const spmm_panel_form *f;
    const spmm_matrix *a;
    const void *b; /* the tile's part of row 0 */
    int64_t ldb, ldc;
    char *c;       /* of column 0, row 0 */
    int64_t from;
    int nv, rest;
    int buckets;
} panel_job;

/* All blocks of a chunk of rows, for one tile. */
static void multiply_chunk(const panel_job *j, int64_t chunk)
{
    const spmm_panel_form *f = j->f;
    const int64_t size = (int64_t)hu_scalar_size(j->a->scalar), first = chunk * SPMM_CHUNK_ROWS, n = least(j->a->rows - first, SPMM_CHUNK_ROWS);
    const int64_t panels = n / f->shape.rows, tail = n % f->shape.rows;
    for (int64_t b = 0; b < f->blocks; b++) {
        const int64_t begin = f->ptr[chunk * f->blocks + b], cell = b * j->a->rows + first;
        if (b && f->ptr[chunk * f->blocks + b + 1] == begin) continue;
        spmm_panels p = {.row = f->row + cell, .len = f->len + cell, .col = f->col + begin, .val = (const char *)f->val + begin * size, .panels = panels,
                         .bucket = f->bucket + (b * (j->a->rows / f->shape.rows + 1) + first / f->shape.rows) * j->buckets, .rows = f->shape.rows, .buckets = j->buckets,
                         .b = (const char *)j->b + b * f->shape.k_block * j->ldb * size, .ldb = j->ldb, .c = j->c + (first * j->ldc + j->from) * size, .ldc = j->ldc,
                         .nv = j->nv, .rest = j->rest, .resume = b > 0};
        void (*const run)(spmm_panels *) = size == 8 ? HU_PICK(spmm_panels_f64) : HU_PICK(spmm_panels_f32);
        run(&p);
        if (tail == 0) continue;
        p.row += panels * f->shape.rows;
        p.len += panels * f->shape.rows;
        p.panels = tail;
        p.rows = 1;
        p.buckets = 0;
        run(&p);
    }
}

/* Tile t of `tiles`: whole vectors, shared out evenly. */
static void tile_place(int64_t k, int lanes, int64_t tiles, int64_t t, int64_t *ret_from, int64_t *ret_width)
{
    int64_t from, to;
    hu_share((k + lanes - 1) / lanes, (int)tiles, (int)t, &from, &to);
    *ret_from = from * lanes;
    *ret_width = least(k, to * lanes) - *ret_from;
}

/* C = A B into C of the sums' scalar. B is used where it stands if a tile of it is compact there or is used too seldom to be copied. */
static hu_status multiply_plain(const spmm_panel_form *f, const spmm_matrix *a, const hu_dense *b, const hu_dense *c, hu_error *err)
{
    enum { SELDOM = 6, ROWS = 64 };
    int masks[MOST_BUCKETS];
    const int64_t k = b->cols, size = (int64_t)hu_scalar_size(c->scalar);
    const int lanes = HU_PICK(spmm_panel_lanes)((size_t)size), most = HU_PICK(spmm_panel_most_nv)(f->shape.rows), buckets = spmm_panel_buckets(&f->shape, masks);
    const int64_t vectors = (k + lanes - 1) / lanes, tiles = (vectors + most - 1) / most;
    const bool direct = b->scalar == c->scalar && k % lanes == 0 && (tiles == 1 || f->columns < SELDOM * a->cols);
    void *tile = NULL;
    if (tiles > INT32_MAX) return hu_fail(err, HU_USAGE, "%lld columns are too many", (long long)k);
    if (!direct && hu_alloc(a->cols * least(most, vectors), (size_t)(lanes * size), "a tile of B", &tile, err)) return err->status;
#pragma omp parallel if (f->entries * k > 1 << 18)
    for (int64_t t = 0; t < tiles; t++) {
        int64_t from, width;
        tile_place(k, lanes, tiles, t, &from, &width);
        const int nv = (int)((width + lanes - 1) / lanes);
        panel_job j = {f, a, tile, nv * lanes, c->ld, c->data, from, nv, (int)(width - (nv - 1) * lanes), buckets};
        if (direct) {
            j.b = (const char *)b->data + from * size;
            j.ldb = b->ld;
        } else {
#pragma omp for schedule(static)
            for (int64_t i = 0; i < a->cols; i += ROWS)
                HU_PICK(spmm_panel_tile)(b->scalar, (const char *)b->data + i * b->ld * (int64_t)hu_scalar_size(b->scalar), b->ld, least(ROWS, a->cols - i), from, width,
                                         (char *)tile + i * j.ldb * size);
        }
#pragma omp for schedule(dynamic, 1)
        for (int64_t chunk = 0; chunk < f->chunks; chunk++) multiply_chunk(&j, chunk);
    }
    hu_free(tile);
    return HU_OK;
}

/* C = finish(sums), as a product of the identity with the sums. */
static hu_status finish(const spmm_matrix *a, const spmm_product *p, const hu_dense *sums, hu_error *err)
{
    int32_t col[SPMM_CHUNK_ROWS];
    int64_t ptr[SPMM_CHUNK_ROWS + 1];
    void *one;
    if (hu_alloc(SPMM_CHUNK_ROWS, hu_scalar_size(sums->scalar), "ones", &one, err)) return err->status;
    for (int32_t i = 0; i < SPMM_CHUNK_ROWS; i++) {
        col[i] = i;
        ptr[i] = i;
        hu_scalar_put(sums->scalar, one, i, 1);
    }
    ptr[SPMM_CHUNK_ROWS] = SPMM_CHUNK_ROWS;
#pragma omp parallel for schedule(static) if (a->rows > SPMM_CHUNK_ROWS)
    for (int64_t first = 0; first < a->rows; first += SPMM_CHUNK_ROWS) {
        spmm_tile t = spmm_tile_of(a, p, true);
        t.col = col;
        t.val = one;
        t.last = SPMM_CHUNK_ROWS - 1;
        t.b_scalar = sums->scalar;
        t.b = (const char *)sums->data + first * sums->ld * (int64_t)hu_scalar_size(sums->scalar);
        t.ldb = sums->ld;
        t.width = sums->cols;
        HU_PICK(spmm_rows)(&t, ptr, NULL, first, least(SPMM_CHUNK_ROWS, a->rows - first));
    }
    hu_free(one);
    return HU_OK;
}

static hu_status multiply(const void *block, const spmm_matrix *a, const spmm_product *p, hu_error *err)
{
    const spmm_panel_form *f = block;
    hu_dense *sums;
    if (spmm_finish_is_plain(&p->finish) && p->c->scalar == a->scalar && a->cols > 0) return multiply_plain(f, a, p->b, p->c, err);
    if (hu_dense_new(a->rows, p->b->cols, a->scalar, HU_ROW_MAJOR, &sums, err)) return err->status;
    if (a->cols == 0) memset(sums->data, 0, (size_t)(a->rows * sums->ld) * hu_scalar_size(a->scalar));
    if (a->cols == 0 || multiply_plain(f, a, p->b, sums, err) == HU_OK) finish(a, p, sums, err);
    hu_dense_free(sums);
    return err->status;
}

/* ---- the strategy ----------------------------------------------------------------------------------------------- */

static hu_status pack(const spmm_matrix *a, const spmm_options *options, void **ret_pack, hu_error *err)
{
    spmm_panel_form *f;
    spmm_panel_shape s = spmm_panel_rule(a, options->k, a->scalar);
    if (options->panel_rows) s.rows = (int32_t)options->panel_rows;
    if (options->k_block) s.k_block = (int32_t)options->k_block;
    if (options->masks) s.masks = (spmm_masks)(options->masks - 1);
    if (options->panel_order) s.order = (spmm_panel_order)(options->panel_order - 1);
    *ret_pack = NULL;
    if (spmm_panel_pack(a, &s, &f, err)) return err->status;
    *ret_pack = f;
    return HU_OK;
}

static void stats(const void *block, const spmm_matrix *a, spmm_stats *ret_stats)
{
    const spmm_panel_form *f = block;
    *ret_stats = (spmm_stats){.packs = f->blocks * ((a->rows + f->shape.rows - 1) / f->shape.rows), .least_load = (double)a->nnz, .covered = f->shared};
    ret_stats->bytes = f->entries * (int64_t)(2 + hu_scalar_size(a->scalar)) + f->blocks * a->rows * 4 + f->chunks * f->blocks * 8;
    for (int64_t s = 0; s < f->blocks * a->rows; s++) ret_stats->covered += f->len[s];
    for (int64_t s = 0; s < f->chunks * f->blocks; s++) {
        const double load = (double)(f->ptr[s + 1] - f->ptr[s]);
        if (load < ret_stats->least_load) ret_stats->least_load = load;
        if (load > ret_stats->greatest_load) ret_stats->greatest_load = load;
    }
}

static void free_pack(void *pack)
{
    spmm_panel_free(pack);
}

/* The shape alone: panels are made anew faster than they are read. Content panel: rows, k_block, masks, order. */
static hu_status save(const void *block, const spmm_matrix *a, hu_scalar storage, hu_bundle_writer *w, void **ret_scratch, hu_error *err)
{
    const spmm_panel_shape *s = &((const spmm_panel_form *)block)->shape;
    json_t *own = json_object();
    (void)a;
    (void)storage;
    *ret_scratch = NULL;
    if (!own || json_object_set_new(hu_bundle_content(w), "panel", own) || json_object_set_new(own, "rows", json_integer(s->rows)) ||
        json_object_set_new(own, "k_block", json_integer(s->k_block)) || json_object_set_new(own, "masks", json_integer(s->masks)) ||
        json_object_set_new(own, "order", json_integer(s->order)))
        return hu_fail(err, HU_SYSTEM, "out of memory");
    return HU_OK;
}

static hu_status load(const hu_bundle *bundle, const spmm_matrix *a, hu_scalar storage, void **ret_pack, hu_error *err)
{
    hu_json_place root = hu_bundle_root(bundle), own;
    int64_t rows, k_block, masks, order;
    spmm_panel_form *f;
    (void)storage;
    *ret_pack = NULL;
    if (hu_json_member(&root, "panel", &own, err) || hu_json_integer(&own, "rows", 1, 8, &rows, err) || hu_json_integer(&own, "k_block", 1, SPMM_MOST_K_BLOCK, &k_block, err) ||
        hu_json_integer(&own, "masks", 0, SPMM_MASKS_KINDS - 1, &masks, err) || hu_json_integer(&own, "order", 0, SPMM_ROWS_KINDS - 1, &order, err))
        return err->status;
    const spmm_panel_shape s = {(int32_t)rows, (int32_t)k_block, (spmm_masks)masks, (spmm_panel_order)order};
    hu_error why = HU_ERROR_NONE;
    if (spmm_panel_shape_check(&s, &why)) return hu_bundle_fail(bundle, err, "panel: %s", why.message);
    if (spmm_panel_pack(a, &s, &f, err)) return err->status;
    *ret_pack = f;
    return HU_OK;
}

const spmm_strategy spmm_panel = {"panel", pack, multiply, stats, save, load, free_pack};
