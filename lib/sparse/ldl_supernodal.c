/* ldl_supernodal.c: the sparse L D L' by fronts of supernodes, for factors where fill is dense.
 *
 * Sections: supernodes, rows and panels, fronts, solving.
 */
#include "config.h"
#include "sparse/ldl_private.h"
#include "base/memory.h"
#include "dense/ldl_kernel.h"

#include <cblas.h>
#include <string.h>

/* ---- supernodes ------------------------------------------------------------------------------------------------------ */

/* Whether a child of `a` columns and rows `ra` below may join its parent of `b` columns and `rb` rows, at the price of stored zeros. */
static bool may_join(int64_t a, int64_t ra, int64_t b, int64_t rb, double zeros_before, double *ret_zeros)
{
    const int64_t columns = a + b;
    const double whole = (double)columns * ((double)columns + 1) / 2 + (double)columns * (double)rb;
    const double zeros = (double)a * (double)(b + rb - ra) + zeros_before; /* each of the child's columns gets all rows of the parent */
    *ret_zeros = zeros;
    if (zeros <= 0 || columns <= 4) return true;
    const double share = zeros / whole;
    return columns <= 16 ? share < 0.4 : columns <= 48 ? share < 0.1 : share < 0.05;
}

/* Columns that follow each other up the tree with the same pattern form a supernode; then last children join their parents where it costs little. */
static hu_status find_supernodes(hu_ldl *f, hu_error *err)
{
    const int64_t n = f->n;
    double *zeros;
    int64_t top = 0;
    if (hu_alloc(n + 1, sizeof *zeros, "supernodes", (void **)&zeros, err)) return err->status;
    for (int64_t j = 0; j < n;) {
        int64_t end = j + 1;
        while (end < n && f->parent[end - 1] == end && f->count[end - 1] == f->count[end] + 1) end++;
        f->first[top] = (int32_t)j;
        zeros[top] = 0;
        f->first[++top] = (int32_t)end;
        while (top > 1) { /* the supernode before may be the last child of this one */
            const int64_t child = f->first[top - 2], begin = f->first[top - 1];
            const int32_t up = f->parent[begin - 1];
            double sum;
            if (up < begin || up >= end) break;
            if (!may_join(begin - child, f->count[begin - 1], end - begin, f->count[end - 1], zeros[top - 2] + zeros[top - 1], &sum)) break;
            zeros[top - 2] = sum;
            f->first[--top] = (int32_t)end;
        }
        j = end;
    }
    f->supernodes = top;
    hu_free(zeros);
    return HU_OK;
}

static void link_supernodes(hu_ldl *f)
{
    for (int64_t s = 0; s < f->supernodes; s++) {
        for (int32_t j = f->first[s]; j < f->first[s + 1]; j++) f->node_of[j] = (int32_t)s;
        if (f->first[s + 1] - f->first[s] > f->facts.widest) f->facts.widest = f->first[s + 1] - f->first[s];
    }
    for (int64_t s = 0; s < f->supernodes; s++) {
        const int32_t up = f->parent[f->first[s + 1] - 1];
        f->node_parent[s] = up < 0 ? -1 : f->node_of[up];
    }
}

/* ---- rows and panels -------------------------------------------------------------------------------------------------- */

/* Row k stands below every supernode on the paths from its columns up to its own; fill: place the rows, else count them. */
static void walk_rows(hu_ldl *f, int32_t *mark, int64_t *next, bool fill)
{
    for (int64_t s = 0; s < f->supernodes; s++) mark[s] = -1;
    for (int32_t k = 0; k < f->n; k++) {
        mark[f->node_of[k]] = k;
        for (int64_t p = f->row_ptr[k]; p < f->row_ptr[k + 1]; p++)
            for (int32_t s = f->node_of[f->row_col[p]]; s >= 0 && mark[s] != k; s = f->node_parent[s]) {
                mark[s] = k;
                if (fill) f->below[next[s]] = k;
                next[s]++;
            }
    }
}

static hu_status find_rows(hu_ldl *f, hu_error *err)
{
    int32_t *mark = NULL;
    int64_t *next = NULL;
    const int64_t count = f->supernodes;
    if (hu_alloc(count, sizeof *mark, "marks", (void **)&mark, err) || hu_alloc_zero(count, sizeof *next, "rows", (void **)&next, err)) goto cleanup;
    walk_rows(f, mark, next, false);
    f->below_ptr[0] = f->panel_ptr[0] = 0;
    for (int64_t s = 0; s < count; s++) {
        const int64_t width = f->first[s + 1] - f->first[s], rows = next[s];
        f->below_ptr[s + 1] = f->below_ptr[s] + rows;
        f->panel_ptr[s + 1] = f->panel_ptr[s] + width * (width + rows);
        if (rows > f->below_most) f->below_most = rows;
        if (rows > 0 && width + rows > f->front_most) f->front_most = width + rows;
        next[s] = f->below_ptr[s];
    }
    if (hu_alloc(f->below_ptr[count], sizeof *f->below, "rows of a factor", (void **)&f->below, err)) goto cleanup;
    walk_rows(f, mark, next, true);
    f->facts.stored = f->panel_ptr[count];
cleanup:
    hu_free(mark);
    hu_free(next);
    return err->status;
}

/* Where each entry of the matrix goes in its supernode's front. */
static hu_status place_entries(hu_ldl *f, hu_error *err)
{
    int64_t *next;
    if (hu_alloc_zero(f->supernodes + 1, sizeof *next, "entries", (void **)&next, err)) return err->status;
    for (int64_t p = 0; p < f->nnz; p++) next[f->node_of[f->row_col[p]] + 1]++;
    f->entry_ptr[0] = 0;
    for (int64_t s = 0; s < f->supernodes; s++) {
        f->entry_ptr[s + 1] = f->entry_ptr[s] + next[s + 1];
        next[s] = f->entry_ptr[s];
    }
    for (int32_t k = 0; k < f->n; k++)
        for (int64_t p = f->row_ptr[k]; p < f->row_ptr[k + 1]; p++) {
            const int64_t s = f->node_of[f->row_col[p]], at = next[s]++;
            f->entry_from[at] = f->row_from[p];
            f->entry_to[at] = (int64_t)f->row_col[p] << 32 | k; /* for now: column and row */
        }
    for (int64_t s = 0; s < f->supernodes; s++) {
        const int64_t width = f->first[s + 1] - f->first[s], rows = f->below_ptr[s + 1] - f->below_ptr[s], ld = width + rows;
        for (int64_t c = 0; c < width; c++) f->local[f->first[s] + c] = (int32_t)c;
        for (int64_t r = 0; r < rows; r++) f->local[f->below[f->below_ptr[s] + r]] = (int32_t)(width + r);
        for (int64_t at = f->entry_ptr[s]; at < f->entry_ptr[s + 1]; at++) {
            const int64_t c = f->entry_to[at] >> 32, k = f->entry_to[at] & INT32_MAX;
            f->entry_to[at] = (int64_t)f->local[c] * ld + f->local[k];
        }
    }
    hu_free(next);
    return HU_OK;
}

/* The updates that wait for their parents stand on a stack; its height at the worst, by the same walk as the factorisation's. */
static void find_stack(hu_ldl *f)
{
    int64_t height = 0, waiting = 0;
    int64_t *const child_of = f->entry_ptr + f->supernodes + 1;
    for (int64_t s = 0; s < f->supernodes; s++) {
        const int64_t rows = f->below_ptr[s + 1] - f->below_ptr[s];
        while (waiting > 0 && f->node_parent[child_of[waiting - 1]] == s) {
            const int64_t c = child_of[--waiting], r = f->below_ptr[c + 1] - f->below_ptr[c];
            height -= r * r;
        }
        if (rows == 0) continue;
        height += rows * rows;
        child_of[waiting++] = s;
        if (height > f->stack_most) f->stack_most = height;
    }
}

hu_status hu_ldl_supernodal_prepare(hu_ldl *f, hu_error *err)
{
    const int64_t n = f->n;
    if (hu_alloc(n + 1, sizeof *f->first, "supernodes", (void **)&f->first, err) ||
        hu_alloc(n, sizeof *f->node_of, "supernodes", (void **)&f->node_of, err) || hu_alloc(n, sizeof *f->local, "supernodes", (void **)&f->local, err))
        return err->status;
    f->first[0] = 0;
    if (find_supernodes(f, err)) return err->status;
    const int64_t count = f->facts.supernodes = f->supernodes;
    if (hu_alloc(count, sizeof *f->node_parent, "supernodes", (void **)&f->node_parent, err) ||
        hu_alloc(count + 1, sizeof *f->below_ptr, "supernodes", (void **)&f->below_ptr, err) ||
        hu_alloc(count + 1, sizeof *f->panel_ptr, "supernodes", (void **)&f->panel_ptr, err) ||
        hu_alloc(2 * count + 1, sizeof *f->entry_ptr, "supernodes", (void **)&f->entry_ptr, err) ||
        hu_alloc(f->nnz, sizeof *f->entry_from, "entries", (void **)&f->entry_from, err) ||
        hu_alloc(f->nnz, sizeof *f->entry_to, "entries", (void **)&f->entry_to, err))
        return err->status;
    link_supernodes(f);
    if (find_rows(f, err) || place_entries(f, err)) return err->status;
    find_stack(f);
    const int64_t widest = f->facts.widest > f->front_most ? f->facts.widest : f->front_most;
    if (hu_alloc(f->facts.stored, sizeof *f->panel, "a factor", (void **)&f->panel, err) ||
        hu_alloc(f->front_most * f->front_most, sizeof *f->front, "a front", (void **)&f->front, err) ||
        hu_alloc(f->stack_most, sizeof *f->updates, "updates", (void **)&f->updates, err) ||
        hu_alloc(hu_dense_ldl_work(widest), sizeof *f->dense_work, "a front", (void **)&f->dense_work, err))
        return err->status;
    return HU_OK;
}

/* ---- fronts ------------------------------------------------------------------------------------------------------------ */

/* Adds a child's update, a lower triangle of its rows, to the front. */
static void extend_add(const hu_ldl *f, int64_t child, const double *update, double *front, int64_t ld)
{
    const int64_t rows = f->below_ptr[child + 1] - f->below_ptr[child];
    const int32_t *below = f->below + f->below_ptr[child];
    for (int64_t c = 0; c < rows; c++) {
        double *const column = front + (int64_t)f->local[below[c]] * ld;
        const double *const from = update + c * rows;
        for (int64_t r = c; r < rows; r++) column[f->local[below[r]]] += from[r];
    }
}

/* Sums what the front of s starts from; returns the new top of the stack, below its children. */
static int64_t assemble(hu_ldl *f, int64_t s, const double *val, double *front, int64_t ld, int64_t *child_of, int64_t *children, int64_t top)
{
    const int64_t width = f->first[s + 1] - f->first[s], rows = ld - width;
    for (int64_t c = 0; c < ld; c++) memset(front + c * ld + c, 0, (size_t)(ld - c) * sizeof *front);
    for (int64_t c = 0; c < width; c++) f->local[f->first[s] + c] = (int32_t)c;
    for (int64_t r = 0; r < rows; r++) f->local[f->below[f->below_ptr[s] + r]] = (int32_t)(width + r);
    for (int64_t at = f->entry_ptr[s]; at < f->entry_ptr[s + 1]; at++) front[f->entry_to[at]] += val[f->entry_from[at]];
    while (*children > 0 && f->node_parent[child_of[*children - 1]] == s) {
        const int64_t c = child_of[--*children], r = f->below_ptr[c + 1] - f->below_ptr[c];
        top -= r * r;
        extend_add(f, c, f->updates + top, front, ld);
    }
    return top;
}

void hu_ldl_supernodal_factor(hu_ldl *f, const double *val, hu_ldl_pivots pivots, int64_t *replaced)
{
    int64_t top = 0, children = 0;
    int64_t *const child_of = f->entry_ptr + f->supernodes + 1; /* the stack of those whose update waits */
    for (int64_t s = 0; s < f->supernodes; s++) {
        const int64_t width = f->first[s + 1] - f->first[s], rows = f->below_ptr[s + 1] - f->below_ptr[s], ld = width + rows;
        double *const panel = f->panel + f->panel_ptr[s], *const front = rows > 0 ? f->front : panel;
        top = assemble(f, s, val, front, ld, child_of, &children, top);
        hu_dense_ldl(front, ld, ld, width, f->sign + f->first[s], pivots, f->d + f->first[s], f->inverse + f->first[s], f->dense_work, replaced);
        if (rows == 0) continue;
        memcpy(panel, front, (size_t)(width * ld) * sizeof *panel);
        for (int64_t c = 0; c < rows; c++)
            memcpy(f->updates + top + c * rows + c, front + (width + c) * ld + width + c, (size_t)(rows - c) * sizeof *front);
        top += rows * rows;
        child_of[children++] = s;
    }
}

/* ---- solving ------------------------------------------------------------------------------------------------------------ */

static void down_many(const double *panel, int64_t ld, int64_t width, double *x, int64_t ldx, int64_t count, double *y)
{
    const int64_t rows = ld - width;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, (int)width, (int)count, 1.0, panel, (int)ld, x, (int)ldx);
    if (rows > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)count, (int)width, -1.0, panel + width, (int)ld, x, (int)ldx, 0.0, y, (int)rows);
}

static void up_many(const double *panel, int64_t ld, int64_t width, double *x, int64_t ldx, int64_t count, const double *y)
{
    const int64_t rows = ld - width;
    if (rows > 0)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)width, (int)count, (int)rows, -1.0, panel + width, (int)ld, y, (int)rows, 1.0, x, (int)ldx);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, (int)width, (int)count, 1.0, panel, (int)ld, x, (int)ldx);
}

hu_status hu_ldl_supernodal_solve(const hu_ldl *f, double *x, int64_t ldx, int64_t count, hu_error *err)
{
    double *y;
    if (hu_alloc(f->below_most * count, sizeof *y, "a solve", (void **)&y, err)) return err->status;
#ifdef OPENBLAS_VERSION
    if (count > 1) openblas_set_num_threads(1);
#endif
    for (int64_t s = 0; s < f->supernodes; s++) {
        const int64_t width = f->first[s + 1] - f->first[s], rows = f->below_ptr[s + 1] - f->below_ptr[s], ld = width + rows;
        const int32_t *below = f->below + f->below_ptr[s];
        const double *panel = f->panel + f->panel_ptr[s];
        if (count == 1) {
            memset(y, 0, (size_t)rows * sizeof *y);
            HU_PICK(hu_ldl_down)(panel, ld, ld, width, x + f->first[s], y);
        } else {
            down_many(panel, ld, width, x + f->first[s], ldx, count, y);
        }
        for (int64_t v = 0; v < count; v++)
            for (int64_t r = 0; r < rows; r++) x[v * ldx + below[r]] += y[v * rows + r];
    }
    for (int64_t v = 0; v < count; v++)
        for (int64_t k = 0; k < f->n; k++) x[v * ldx + k] *= f->inverse[k];
    for (int64_t s = f->supernodes - 1; s >= 0; s--) {
        const int64_t width = f->first[s + 1] - f->first[s], rows = f->below_ptr[s + 1] - f->below_ptr[s], ld = width + rows;
        const int32_t *below = f->below + f->below_ptr[s];
        const double *panel = f->panel + f->panel_ptr[s];
        for (int64_t v = 0; v < count; v++)
            for (int64_t r = 0; r < rows; r++) y[v * rows + r] = x[v * ldx + below[r]];
        if (count == 1) HU_PICK(hu_ldl_up)(panel, ld, ld, width, x + f->first[s], y);
        else up_many(panel, ld, width, x + f->first[s], ldx, count, y);
    }
    hu_free(y);
    return HU_OK;
}
