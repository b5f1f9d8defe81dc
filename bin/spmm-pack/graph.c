/* graph.c: self-loops, normalisation, order.
 *
 * Sections: self-loops, normalisation, order.
 */
#include "config.h"
#include "graph.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- self-loops -------------------------------------------------------------------------------------------------- */

hu_status spmm_graph_loops(hu_csr **a, spmm_loops loops, const char *name, hu_error *err)
{
    const hu_csr *from = *a;
    hu_csr *to;
    if (loops == SPMM_LOOPS_NONE) return HU_OK;
    if (loops != SPMM_LOOPS_REMOVE && from->rows != from->cols)
        return hu_fail(err, HU_INPUT, "%s: self-loops need a square matrix; this one is %lld x %lld", name, (long long)from->rows, (long long)from->cols);
    if (hu_csr_new(from->rows, from->cols, from->nnz + (loops == SPMM_LOOPS_REMOVE ? 0 : from->rows), false, &to, err)) return err->status;
    int64_t at = 0;
    for (int64_t i = 0; i < from->rows; i++) {
        bool placed = loops == SPMM_LOOPS_REMOVE;
        for (int64_t p = from->row_ptr[i]; p < from->row_ptr[i + 1]; p++) {
            const int32_t j = from->col[p];
            if (j == i && loops == SPMM_LOOPS_REMOVE) continue;
            if (j > i && !placed) {
                to->col[at] = (int32_t)i;
                to->val[at++] = 1;
                placed = true;
            }
            placed |= j == i;
            to->col[at] = j;
            to->val[at++] = j == i && loops == SPMM_LOOPS_ADD ? from->val[p] + 1 : from->val[p];
        }
        if (!placed) {
            to->col[at] = (int32_t)i;
            to->val[at++] = 1;
        }
        to->row_ptr[i + 1] = at;
    }
    to->nnz = at;
    hu_csr_free(*a);
    *a = to;
    return HU_OK;
}

/* ---- normalisation ------------------------------------------------------------------------------------------------ */

static void sums(const hu_csr *a, bool by_column, double *sum)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum[by_column ? a->col[p] : i] += a->val[p];
}

hu_status spmm_graph_normalise(hu_csr *a, spmm_norm norm, const char *name, hu_error *err)
{
    void *block;
    if (norm == SPMM_NORM_NONE) return HU_OK;
    if (norm == SPMM_NORM_GCN && a->rows != a->cols)
        return hu_fail(err, HU_INPUT, "%s: --norm=gcn needs a square matrix; this one is %lld x %lld", name, (long long)a->rows, (long long)a->cols);
    const int64_t n = norm == SPMM_NORM_COL ? a->cols : a->rows;
    if (hu_alloc_zero(n, sizeof(double), "row sums", &block, err)) return err->status;
    double *scale = block;
    sums(a, norm == SPMM_NORM_COL, scale);
    for (int64_t i = 0; i < n; i++) {
        if (scale[i] < 0 && norm == SPMM_NORM_GCN) {
            hu_free(scale);
            return hu_fail(err, HU_INPUT, "%s: the values of row %lld sum to less than 0: there is no root for --norm=gcn", name, (long long)i + 1);
        }
        scale[i] = scale[i] == 0 ? 0 : norm == SPMM_NORM_GCN ? 1 / sqrt(scale[i]) : 1 / scale[i];
    }
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
            a->val[p] = norm == SPMM_NORM_GCN ? scale[i] * a->val[p] * scale[a->col[p]] : a->val[p] * scale[norm == SPMM_NORM_COL ? a->col[p] : i];
    hu_free(scale);
    return HU_OK;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t key[2];
    int32_t node;
} ranked;

static int compare(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    for (int k = 0; k < 2; k++)
        if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u; /* the finaliser of SplitMix64 */
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The key of a row: its length, or the least of two hashes over its columns. */
static hu_status by_key(const hu_csr *a, bool cluster, int32_t *perm, hu_error *err)
{
    void *block;
    if (hu_alloc(a->rows, sizeof(ranked), "an order", &block, err)) return err->status;
    ranked *r = block;
    for (int64_t i = 0; i < a->rows; i++) {
        r[i] = (ranked){{UINT64_MAX - (uint64_t)(a->row_ptr[i + 1] - a->row_ptr[i]), 0}, (int32_t)i};
        if (!cluster) continue;
        r[i].key[0] = r[i].key[1] = UINT64_MAX;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
            for (int k = 0; k < 2; k++) {
                const uint64_t hash = mix((uint64_t)a->col[p] + (k ? 0x9e3779b97f4a7c15u : 1));
                if (hash < r[i].key[k]) r[i].key[k] = hash;
            }
    }
    if (a->rows) qsort(r, (size_t)a->rows, sizeof *r, compare);
    for (int64_t i = 0; i < a->rows; i++) perm[i] = r[i].node;
    hu_free(r);
    return HU_OK;
}

/* Numbers the nodes by breadth from a node of least degree, neighbours by rising degree, and turns the order round (Cuthill, McKee 1969; George 1971). */
static hu_status rcm(const hu_csr *a, int32_t *perm, hu_error *err)
{
    hu_csr *t = NULL;
    ranked *start = NULL, *next = NULL;
    bool *seen = NULL;
    int64_t done = 0, n = a->rows, widest = 0;
    if (hu_csr_transpose(a, false, &t, err)) return err->status;
    for (int64_t i = 0; i < n; i++) {
        const int64_t degree = a->row_ptr[i + 1] - a->row_ptr[i] + t->row_ptr[i + 1] - t->row_ptr[i];
        if (degree > widest) widest = degree;
    }
    if (hu_alloc(n, sizeof *start, "an order", (void **)&start, err) || hu_alloc(widest, sizeof *next, "an order", (void **)&next, err) ||
        hu_alloc_zero(n, sizeof *seen, "an order", (void **)&seen, err))
        goto cleanup;
    for (int64_t i = 0; i < n; i++)
        start[i] = (ranked){{(uint64_t)(a->row_ptr[i + 1] - a->row_ptr[i] + t->row_ptr[i + 1] - t->row_ptr[i]), 0}, (int32_t)i};
    if (n) qsort(start, (size_t)n, sizeof *start, compare);
    for (int64_t s = 0; s < n; s++) {
        if (seen[start[s].node]) continue;
        seen[start[s].node] = true;
        perm[done] = start[s].node;
        for (int64_t at = done++; at < done; at++) {
            const int32_t i = perm[at];
            int64_t found = 0;
            for (int side = 0; side < 2; side++) {
                const hu_csr *m = side ? t : a;
                for (int64_t p = m->row_ptr[i]; p < m->row_ptr[i + 1]; p++) {
                    const int32_t j = m->col[p];
                    if (seen[j]) continue;
                    seen[j] = true;
                    next[found++] = (ranked){{(uint64_t)(a->row_ptr[j + 1] - a->row_ptr[j] + t->row_ptr[j + 1] - t->row_ptr[j]), 0}, j};
                }
            }
            if (found) qsort(next, (size_t)found, sizeof *next, compare);
            for (int64_t k = 0; k < found; k++) perm[done++] = next[k].node;
        }
    }
    for (int64_t i = 0; i < n / 2; i++) {
        const int32_t kept = perm[i];
        perm[i] = perm[n - 1 - i];
        perm[n - 1 - i] = kept;
    }
cleanup:
    hu_csr_free(t);
    hu_free(start);
    hu_free(next);
    hu_free(seen);
    return err->status;
}

hu_status spmm_graph_order(const hu_csr *a, spmm_order order, const char *name, int32_t **ret_perm, hu_error *err)
{
    void *block;
    *ret_perm = NULL;
    if (a->rows != a->cols) return hu_fail(err, HU_INPUT, "%s: --reorder needs a square matrix; this one is %lld x %lld", name, (long long)a->rows, (long long)a->cols);
    if (hu_alloc(a->rows, sizeof(int32_t), "an order", &block, err)) return err->status;
    *ret_perm = block;
    if (order == SPMM_ORDER_RCM) rcm(a, block, err);
    else by_key(a, order == SPMM_ORDER_CLUSTER, block, err);
    if (!err->status) return HU_OK;
    hu_free(block);
    *ret_perm = NULL;
    return err->status;
}
