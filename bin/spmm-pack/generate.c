/* generate.c: matrices for trials.
 *
 * Sections: how long rows are, where their columns are, the matrix.
 */
#include "config.h"
#include "generate.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

const char *const spmm_gen_family_words[SPMM_GEN_FAMILIES] = {"powerlaw", "rmat", "regular", "pruned", "block", "banded", "star"};

/* ---- how long rows are ------------------------------------------------------------------------------------------- */

/* The sum of max(1, most r^-power) over r = 1..n. */
static double power_total(int64_t n, double most, double power)
{
    double sum = 0;
    for (int64_t r = 1; r <= n; r++) {
        const double d = most * pow((double)r, -power);
        sum += d < 1 ? 1 : d;
    }
    return sum;
}

/* Lengths by rank, dealt to the rows at random: the power is found by bisection so that the mean is right. */
static void power_lengths(const spmm_gen *g, int64_t *length)
{
    const double most = g->max_degree > 0 ? (double)g->max_degree : fmin((double)g->cols, 20 * g->degree * sqrt((double)g->rows / 1000));
    double low = 0, high = 8;
    for (int step = 0; step < 60; step++) {
        const double middle = (low + high) / 2;
        if (power_total(g->rows, most, middle) > g->degree * (double)g->rows) low = middle;
        else high = middle;
    }
    for (int64_t r = 0; r < g->rows; r++) {
        const double d = most * pow((double)(r + 1), -high);
        length[r] = (int64_t)(d < 1 ? 1 : d + 0.5);
        if (length[r] > g->cols) length[r] = g->cols;
    }
    hu_random random = hu_random_stream(g->seed, 1);
    for (int64_t r = g->rows - 1; r > 0; r--) {
        const int64_t other = hu_random_below(&random, r + 1), kept = length[r];
        length[r] = length[other];
        length[other] = kept;
    }
}

/* Entries to try in each row, for families that say so beforehand. */
static void lengths(const spmm_gen *g, int64_t *length)
{
    if (g->family == SPMM_GEN_POWERLAW) {
        power_lengths(g, length);
        return;
    }
    const int64_t each = (int64_t)fmin(g->degree + 0.5, (double)g->cols);
    for (int64_t i = 0; i < g->rows; i++) length[i] = each;
    if (g->family == SPMM_GEN_STAR && g->rows) length[g->rows / 2] = (g->rows - 1) * each < g->cols ? (g->rows - 1) * each : g->cols;
}

/* ---- where their columns are -------------------------------------------------------------------------------------- */

typedef struct {
    const spmm_gen *g;
    const int64_t *length, *stub; /* stub: [rows + 1] where each node's share of the ends of edges begins; NULL: all columns alike */
    int64_t stubs;
} source;

/* The node whose share holds end number s. */
static int64_t node_of(const int64_t *stub, int64_t n, int64_t s)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (stub[middle] <= s) low = middle;
        else high = middle - 1;
    }
    return low;
}

static int64_t draw(const source *s, hu_random *random)
{
    if (!s->stub) return hu_random_below(random, s->g->cols);
    return node_of(s->stub, s->g->rows, hu_random_below(random, s->stubs)) % s->g->cols;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int64_t unique(int32_t *col, int64_t n)
{
    int64_t kept = 0;
    if (n) qsort(col, (size_t)n, sizeof *col, ascending);
    for (int64_t k = 0; k < n; k++)
        if (kept == 0 || col[k] != col[kept - 1]) col[kept++] = col[k];
    return kept;
}

/* A row of `want` different columns: a row that is nearly full takes each column by chance instead. Returns how many. */
static int64_t random_row(const source *s, int64_t i, int64_t want, int32_t *col)
{
    hu_random random = hu_random_stream(s->g->seed, 16 + (uint64_t)i);
    const int64_t cols = s->g->cols;
    int64_t n = 0;
    if (want > cols) want = cols;
    if (want > cols / 3) { /* selection sampling (Knuth, volume 2, 3.4.2, algorithm S) */
        for (int64_t j = 0; j < cols; j++)
            if (hu_random_uniform(&random) * (double)(cols - j) < (double)(want - n)) col[n++] = (int32_t)j;
        return n;
    }
    for (int round = 0; n < want && round < 8; round++) {
        for (int64_t k = n; k < want; k++) col[k] = (int32_t)draw(s, &random);
        n = unique(col, want);
    }
    return n;
}

/* Rows whose places hold an entry by chance: `from` to `to`, in units of `unit` columns that share their fate under the stream. */
static int64_t chance_row(const spmm_gen *g, uint64_t stream, int64_t from, int64_t to, int64_t unit, int32_t *col)
{
    hu_random random = hu_random_stream(g->seed, 16 + stream);
    int64_t n = 0;
    for (int64_t j = from; j < to; j += unit) {
        if (hu_random_uniform(&random) >= g->density) continue;
        for (int64_t k = j; k < j + unit && k < to; k++) col[n++] = (int32_t)k;
    }
    return n;
}

static int64_t row_columns(const source *s, int64_t i, int32_t *col)
{
    const spmm_gen *g = s->g;
    switch (g->family) {
    case SPMM_GEN_PRUNED: return chance_row(g, (uint64_t)i, 0, g->cols, 1, col);
    case SPMM_GEN_BLOCK: return chance_row(g, (uint64_t)(i / g->block), 0, g->cols, g->block, col);
    case SPMM_GEN_BANDED: return chance_row(g, (uint64_t)i, i < g->block ? 0 : i - g->block, i + g->block + 1 < g->cols ? i + g->block + 1 : g->cols, 1, col);
    default: return random_row(s, i, s->length[i], col);
    }
}

/* ---- the matrix -------------------------------------------------------------------------------------------------- */

static double value_of(const spmm_gen *g, hu_random *random)
{
    switch (g->values) {
    case SPMM_GEN_UNIFORM: return (double)(float)(2 * hu_random_uniform(random) - 1);
    case SPMM_GEN_NORMAL: return (double)(float)hu_random_normal(random);
    case SPMM_GEN_INTEGER: {
        const int64_t v = hu_random_below(random, 8) - 4;
        return (double)(v < 0 ? v : v + 1);
    }
    default: return 1;
    }
}

/* Edges of a recursive graph, one stream each, as coordinates. */
static hu_status rmat(const spmm_gen *g, hu_csr **ret_csr, hu_error *err)
{
    hu_coo *coo;
    int levels = 0;
    while (((int64_t)1 << levels) < g->rows) levels++;
    if (hu_coo_new(g->rows, g->rows, (int64_t)(g->degree * (double)g->rows), false, &coo, err)) return err->status;
    for (int64_t e = 0; e < coo->nnz; e++) {
        hu_random random = hu_random_stream(g->seed, 16 + (uint64_t)e);
        int64_t row, col;
        do {
            row = col = 0;
            for (int l = 0; l < levels; l++) {
                const double u = hu_random_uniform(&random);
                row = 2 * row + (u >= 0.76);
                col = 2 * col + ((u >= 0.57 && u < 0.76) || u >= 0.95);
            }
        } while (row >= g->rows || col >= g->rows);
        coo->row[e] = (int32_t)row;
        coo->col[e] = (int32_t)col;
        coo->val[e] = value_of(g, &random);
    }
    return hu_csr_from_coo(&coo, HU_DUP_FIRST, "rmat", ret_csr, err);
}

static hu_status check(const spmm_gen *g, hu_error *err)
{
    if (g->rows < 0 || g->cols < 0 || g->rows > HU_MAX_DIMENSION || g->cols > HU_MAX_DIMENSION) return hu_fail(err, HU_USAGE, "rows and columns must be within 0..%d", HU_MAX_DIMENSION);
    if (!(g->degree >= 0) || g->degree * (double)g->rows > 0x1p40) return hu_fail(err, HU_USAGE, "the mean row length makes more entries than can be held");
    if (!(g->density >= 0 && g->density <= 1)) return hu_fail(err, HU_USAGE, "a density is within 0..1");
    if (g->block < 1) return hu_fail(err, HU_USAGE, "a block has a row at least");
    if (g->cols == 0 && g->rows > 0 && g->degree > 0 && g->family != SPMM_GEN_PRUNED && g->family != SPMM_GEN_BLOCK && g->family != SPMM_GEN_BANDED)
        return hu_fail(err, HU_USAGE, "rows of entries need columns");
    if (g->family == SPMM_GEN_RMAT && g->rows != g->cols) return hu_fail(err, HU_USAGE, "rmat makes square matrices only");
    return HU_OK;
}

hu_status spmm_generate(const spmm_gen *g, hu_csr **ret_csr, hu_error *err)
{
    int64_t *length = NULL, *stub = NULL, room = 0, val_room = 0;
    int32_t *row = NULL, *col = NULL;
    double *val = NULL;
    hu_csr *a = NULL;
    *ret_csr = NULL;
    if (check(g, err)) return err->status;
    if (g->family == SPMM_GEN_RMAT) return rmat(g, ret_csr, err);
    if (hu_csr_new(g->rows, g->cols, 0, false, &a, err) || hu_alloc_zero(g->rows, sizeof *length, "row lengths", (void **)&length, err) ||
        hu_alloc(g->rows + 1, sizeof *stub, "row lengths", (void **)&stub, err) || hu_alloc(g->cols, sizeof *row, "a row", (void **)&row, err))
        goto cleanup;
    lengths(g, length);
    stub[0] = 0;
    for (int64_t i = 0; i < g->rows; i++) stub[i + 1] = stub[i] + length[i];
    const source s = {g, length, g->family == SPMM_GEN_POWERLAW && g->rows == g->cols ? stub : NULL, stub[g->rows]};
    for (int64_t i = 0; i < g->rows; i++) {
        const int64_t n = row_columns(&s, i, row), at = a->row_ptr[i];
        hu_random random = hu_random_stream(g->seed ^ 0x9e3779b97f4a7c15u, (uint64_t)i);
        if (hu_grow((void **)&col, &room, at + n + 1, sizeof *col, "entries", err) || hu_grow((void **)&val, &val_room, at + n + 1, sizeof *val, "entries", err)) goto cleanup;
        for (int64_t k = 0; k < n; k++) {
            col[at + k] = row[k];
            val[at + k] = value_of(g, &random);
        }
        a->row_ptr[i + 1] = at + n;
    }
    a->nnz = a->row_ptr[g->rows];
    hu_free(a->col);
    hu_free(a->val);
    a->col = NULL;
    a->val = NULL;
    if (hu_alloc(a->nnz, sizeof *a->col, "columns", (void **)&a->col, err) || hu_alloc(a->nnz, sizeof *a->val, "values", (void **)&a->val, err)) goto cleanup;
    for (int64_t k = 0; k < a->nnz; k++) a->col[k] = col[k], a->val[k] = val[k];
    *ret_csr = a;
    a = NULL;
cleanup:
    hu_csr_free(a);
    hu_free(length);
    hu_free(stub);
    hu_free(row);
    free(col);
    free(val);
    return err->status;
}
