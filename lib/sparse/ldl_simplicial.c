/* ldl_simplicial.c: the sparse L D L' row by row, for factors of little fill. */
#include "config.h"
#include "sparse/ldl_private.h"
#include "base/memory.h"

#include <string.h>

hu_status hu_ldl_simplicial_prepare(hu_ldl *f, hu_error *err)
{
    const int64_t n = f->n;
    f->facts.stored = f->facts.entries;
    if (hu_alloc(n + 1, sizeof *f->col_ptr, "column pointers", (void **)&f->col_ptr, err) ||
        hu_alloc(n, sizeof *f->filled, "column pointers", (void **)&f->filled, err) ||
        hu_alloc(f->facts.entries, sizeof *f->col_row, "rows of a factor", (void **)&f->col_row, err) ||
        hu_alloc(f->facts.entries, sizeof *f->val, "values of a factor", (void **)&f->val, err) ||
        hu_alloc(n, sizeof *f->mark, "marks", (void **)&f->mark, err) || hu_alloc(n, sizeof *f->stack, "a stack", (void **)&f->stack, err) ||
        hu_alloc(n, sizeof *f->sums, "sums", (void **)&f->sums, err))
        return err->status;
    f->col_ptr[0] = 0;
    for (int64_t k = 0; k < n; k++) f->col_ptr[k + 1] = f->col_ptr[k] + f->count[k];
    return HU_OK;
}

/* The columns of row k of L in an order in which each comes after those it depends on: stack[top..n-1]. */
static int64_t row_pattern(hu_ldl *f, int32_t k, const double *val)
{
    int64_t top = f->n;
    f->mark[k] = k;
    for (int64_t p = f->row_ptr[k]; p < f->row_ptr[k + 1]; p++) {
        int64_t length = 0;
        f->sums[f->row_col[p]] += val[f->row_from[p]];
        for (int32_t i = f->row_col[p]; f->mark[i] != k; i = f->parent[i]) {
            f->stack[length++] = i;
            f->mark[i] = k;
        }
        while (length > 0) f->stack[--top] = f->stack[--length];
    }
    return top;
}

/* Row k of L solves L(0:k-1, 0:k-1) D y = A(0:k-1, k). */
void hu_ldl_simplicial_factor(hu_ldl *f, const double *val, hu_ldl_pivots pivots, int64_t *replaced)
{
    memset(f->sums, 0, (size_t)f->n * sizeof *f->sums);
    memcpy(f->filled, f->col_ptr, (size_t)f->n * sizeof *f->filled);
    for (int64_t k = 0; k < f->n; k++) f->mark[k] = -1;
    for (int32_t k = 0; k < f->n; k++) {
        int64_t at = row_pattern(f, k, val);
        double pivot = f->sums[k];
        f->sums[k] = 0;
        for (; at < f->n; at++) {
            const int32_t i = f->stack[at];
            const double y = f->sums[i], l = y * f->inverse[i];
            f->sums[i] = 0;
            for (int64_t p = f->col_ptr[i]; p < f->filled[i]; p++) f->sums[f->col_row[p]] -= f->val[p] * y;
            pivot -= l * y;
            f->col_row[f->filled[i]] = k;
            f->val[f->filled[i]++] = l;
        }
        if (!(pivot * f->sign[k] > pivots.least)) {
            pivot = f->sign[k] * pivots.replacement;
            (*replaced)++;
        }
        f->d[k] = pivot;
        f->inverse[k] = 1.0 / pivot;
    }
}

void hu_ldl_simplicial_solve(const hu_ldl *f, double *x)
{
    for (int64_t k = 0; k < f->n; k++)
        for (int64_t p = f->col_ptr[k]; p < f->col_ptr[k + 1]; p++) x[f->col_row[p]] -= f->val[p] * x[k];
    for (int64_t k = 0; k < f->n; k++) x[k] *= f->inverse[k];
    for (int64_t k = f->n - 1; k >= 0; k--) {
        double sum = 0;
        for (int64_t p = f->col_ptr[k]; p < f->col_ptr[k + 1]; p++) sum += f->val[p] * x[f->col_row[p]];
        x[k] -= sum;
    }
}
