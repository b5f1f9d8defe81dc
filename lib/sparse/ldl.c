/* ldl.c: L D L' of sparse symmetric quasi-definite matrices: order, elimination tree, and the entry points.
 *
 * Sections: order, the permuted pattern, elimination tree, making and freeing, factoring and solving, refinement.
 */
#include "config.h"
#include "sparse/ldl_private.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>
#include HU_AMD_HEADER

static const double DENSE_WORK = 40.0; /* operations an entry of L above which supernodes pay */

/* ---- order -------------------------------------------------------------------------------------------------------- */

static hu_status check_lower(const hu_csr *a, hu_error *err)
{
    if (a->rows != a->cols || a->is_complex) return hu_fail(err, HU_USAGE, "L D L' needs a real square matrix");
    for (int64_t i = 0; i < a->rows; i++)
        if (a->row_ptr[i + 1] > a->row_ptr[i] && a->col[a->row_ptr[i + 1] - 1] > i)
            return hu_fail(err, HU_USAGE, "L D L' needs a lower triangle; row %lld has an entry above the diagonal", (long long)i + 1);
    return HU_OK;
}

/* AMD takes the pattern of rows as one of columns: the matrix is symmetric. */
static hu_status order(const hu_csr *a, int32_t *perm, hu_error *err)
{
    int32_t *ptr = NULL;
    double control[AMD_CONTROL], info[AMD_INFO];
    if (a->nnz > INT32_MAX) return hu_fail(err, HU_INPUT, "a matrix of %lld entries is more than can be ordered", (long long)a->nnz);
    if (a->rows == 0) return HU_OK;
    if (hu_alloc(a->rows + 1, sizeof *ptr, "column pointers", (void **)&ptr, err)) return err->status;
    for (int64_t i = 0; i <= a->rows; i++) ptr[i] = (int32_t)a->row_ptr[i];
    amd_defaults(control);
    int code = amd_order((int32_t)a->rows, ptr, a->col, perm, control, info);
    hu_free(ptr);
    if (code == AMD_OUT_OF_MEMORY) return hu_fail(err, HU_SYSTEM, "out of memory: ordering %lld rows", (long long)a->rows);
    if (code != AMD_OK && code != AMD_OK_BUT_JUMBLED) return hu_fail(err, HU_USAGE, "the pattern cannot be ordered");
    return HU_OK;
}

/* ---- the permuted pattern ------------------------------------------------------------------------------------------ */

static void invert(hu_ldl *f)
{
    for (int64_t k = 0; k < f->n; k++) f->place[f->perm[k]] = (int32_t)k;
}

/* Row k of the permuted lower triangle lists its columns in the order of the matrix's entries. */
static void permute_rows(hu_ldl *f, const hu_csr *a)
{
    memset(f->row_ptr, 0, (size_t)(f->n + 1) * sizeof *f->row_ptr);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const int32_t x = f->place[i], y = f->place[a->col[p]];
            f->row_ptr[(x > y ? x : y) + 1]++;
        }
    for (int64_t k = 0; k < f->n; k++) f->row_ptr[k + 1] += f->row_ptr[k];
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const int32_t x = f->place[i], y = f->place[a->col[p]], k = x > y ? x : y;
            const int64_t at = f->row_ptr[k]++;
            f->row_col[at] = x > y ? y : x;
            f->row_from[at] = p;
        }
    for (int64_t k = f->n; k > 0; k--) f->row_ptr[k] = f->row_ptr[k - 1];
    f->row_ptr[0] = 0;
}

/* ---- elimination tree ---------------------------------------------------------------------------------------------- */

/* Liu: "A compact row storage scheme for Cholesky factors using elimination trees", ACM TOMS 12, 1986. ancestor: [n] */
static void find_tree(hu_ldl *f, int32_t *ancestor)
{
    for (int32_t k = 0; k < f->n; k++) {
        f->parent[k] = ancestor[k] = -1;
        for (int64_t p = f->row_ptr[k]; p < f->row_ptr[k + 1]; p++)
            for (int32_t i = f->row_col[p], next; i != -1 && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k;
                if (next == -1) f->parent[i] = k;
            }
    }
}

/* post[k]: the k-th node, children before parents, each subtree without a gap. head, next, stack: [n] */
static void find_postorder(const hu_ldl *f, int32_t *post, int32_t *head, int32_t *next, int32_t *stack)
{
    int64_t done = 0;
    for (int64_t k = 0; k < f->n; k++) head[k] = -1;
    for (int32_t k = (int32_t)f->n - 1; k >= 0; k--)
        if (f->parent[k] >= 0) {
            next[k] = head[f->parent[k]];
            head[f->parent[k]] = k;
        }
    for (int32_t root = 0; root < f->n; root++) {
        if (f->parent[root] >= 0) continue;
        int64_t top = 0;
        stack[0] = root;
        while (top >= 0) {
            const int32_t node = stack[top], child = head[node];
            if (child >= 0) {
                head[node] = next[child];
                stack[++top] = child;
            } else {
                post[done++] = node;
                top--;
            }
        }
    }
}

static void reorder_by(hu_ldl *f, const int32_t *post, int32_t *scratch)
{
    for (int64_t k = 0; k < f->n; k++) scratch[k] = f->perm[post[k]];
    memcpy(f->perm, scratch, (size_t)f->n * sizeof *scratch);
    invert(f);
}

/* Entries of each column of L: row k reaches every node on the paths from its columns up to k. */
static void count_columns(hu_ldl *f, int32_t *mark)
{
    memset(f->count, 0, (size_t)f->n * sizeof *f->count);
    for (int32_t k = 0; k < f->n; k++) {
        mark[k] = k;
        for (int64_t p = f->row_ptr[k]; p < f->row_ptr[k + 1]; p++)
            for (int32_t i = f->row_col[p]; mark[i] != k; i = f->parent[i]) {
                mark[i] = k;
                f->count[i]++;
            }
    }
    for (int64_t k = 0; k < f->n; k++) {
        const double c = f->count[k];
        f->facts.entries += f->count[k];
        f->facts.flops += c * (c + 3.0);
    }
}

static hu_status find_structure(hu_ldl *f, const hu_csr *a, hu_error *err)
{
    int32_t *work;
    const int64_t n = f->n;
    if (hu_alloc(4 * n, sizeof *work, "an elimination tree", (void **)&work, err)) return err->status;
    permute_rows(f, a);
    find_tree(f, work);
    find_postorder(f, work, work + n, work + 2 * n, work + 3 * n);
    reorder_by(f, work, work + n);
    permute_rows(f, a);
    find_tree(f, work);
    for (int64_t k = 0; k < n; k++) work[k] = -1;
    count_columns(f, work);
    hu_free(work);
    return HU_OK;
}

/* ---- making and freeing -------------------------------------------------------------------------------------------- */

static hu_status make_room(hu_ldl *f, hu_error *err)
{
    const int64_t n = f->n;
    if (hu_alloc(n, sizeof *f->perm, "an order", (void **)&f->perm, err) || hu_alloc(n, sizeof *f->place, "an order", (void **)&f->place, err) ||
        hu_alloc(n, sizeof *f->parent, "an elimination tree", (void **)&f->parent, err) ||
        hu_alloc(n, sizeof *f->count, "an elimination tree", (void **)&f->count, err) ||
        hu_alloc(n + 1, sizeof *f->row_ptr, "row pointers", (void **)&f->row_ptr, err) ||
        hu_alloc(f->nnz, sizeof *f->row_col, "columns", (void **)&f->row_col, err) ||
        hu_alloc(f->nnz, sizeof *f->row_from, "entries", (void **)&f->row_from, err) || hu_alloc(n, sizeof *f->d, "pivots", (void **)&f->d, err) ||
        hu_alloc(n, sizeof *f->inverse, "pivots", (void **)&f->inverse, err) || hu_alloc(n, sizeof *f->sign, "signs", (void **)&f->sign, err))
        return err->status;
    return HU_OK;
}

hu_status hu_ldl_analyze(const hu_csr *lower, const int32_t *opt_perm, hu_ldl_kind kind, hu_ldl **ret_ldl, hu_error *err)
{
    hu_ldl *f;
    *ret_ldl = NULL;
    if (check_lower(lower, err) || (opt_perm && hu_permutation_check(opt_perm, lower->rows, "the order", err)) ||
        hu_alloc_zero(1, sizeof *f, "a factor", (void **)&f, err))
        return err->status;
    f->n = f->facts.n = lower->rows;
    f->nnz = lower->nnz;
    if (make_room(f, err)) goto failed;
    if (opt_perm) memcpy(f->perm, opt_perm, (size_t)f->n * sizeof *opt_perm);
    else if (order(lower, f->perm, err)) goto failed;
    invert(f);
    if (find_structure(f, lower, err)) goto failed;
    if (kind == HU_LDL_AUTO)
        kind = f->facts.flops > DENSE_WORK * (double)(f->facts.entries + f->n) ? HU_LDL_SUPERNODAL : HU_LDL_SIMPLICIAL;
    f->facts.kind = kind;
    if (kind == HU_LDL_SIMPLICIAL ? hu_ldl_simplicial_prepare(f, err) : hu_ldl_supernodal_prepare(f, err)) goto failed;
    *ret_ldl = f;
    return HU_OK;
failed:
    hu_ldl_free(f);
    return err->status;
}

void hu_ldl_free(hu_ldl *f)
{
    if (!f) return;
    void *const blocks[] = {f->perm, f->place, f->parent, f->count, f->row_ptr, f->row_col, f->row_from, f->d, f->inverse, f->sign, f->col_ptr, f->filled,
                            f->col_row, f->val, f->mark, f->stack, f->sums, f->first, f->node_of, f->node_parent, f->below_ptr, f->below, f->panel_ptr,
                            f->panel, f->entry_ptr, f->entry_from, f->entry_to, f->front, f->updates, f->dense_work, f->local};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) hu_free(blocks[b]);
    hu_free(f);
}

hu_ldl_facts hu_ldl_facts_of(const hu_ldl *ldl)
{
    return ldl->facts;
}

void hu_ldl_pivots_of(const hu_ldl *f, double *ret_d)
{
    for (int64_t k = 0; k < f->n; k++) ret_d[f->perm[k]] = f->d[k];
}

/* ---- factoring and solving ----------------------------------------------------------------------------------------- */

hu_status hu_ldl_factor(hu_ldl *f, const double *val, const int8_t *sign, hu_ldl_pivots pivots, int64_t *opt_replaced, hu_error *err)
{
    int64_t replaced = 0;
    (void)err;
    for (int64_t k = 0; k < f->n; k++) f->sign[k] = sign[f->perm[k]];
    if (f->facts.kind == HU_LDL_SIMPLICIAL) hu_ldl_simplicial_factor(f, val, pivots, &replaced);
    else hu_ldl_supernodal_factor(f, val, pivots, &replaced);
    if (opt_replaced) *opt_replaced = replaced;
    return HU_OK;
}

/* A chunk of vectors at a time, so that what a thread works on does not depend on how many there are. */
hu_status hu_ldl_solve(const hu_ldl *f, double *x, int64_t ld, int64_t count, hu_error *err)
{
    enum { CHUNK = 16 };
    const int64_t n = f->n, chunks = (count + CHUNK - 1) / CHUNK;
    const bool one_by_one = f->facts.kind == HU_LDL_SIMPLICIAL;
    int64_t failures = 0;
#pragma omp parallel for schedule(static) reduction(+ : failures) if (chunks > 1)
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t width = count - c * CHUNK < CHUNK ? count - c * CHUNK : CHUNK;
        double *y, *const from = x + c * CHUNK * ld;
        hu_error own = HU_ERROR_NONE;
        if (hu_alloc(n * width, sizeof *y, "a solve", (void **)&y, &own)) {
            failures++;
            continue;
        }
        for (int64_t v = 0; v < width; v++)
            for (int64_t k = 0; k < n; k++) y[v * n + k] = from[v * ld + f->perm[k]];
        for (int64_t v = 0; v < width && one_by_one; v++) hu_ldl_simplicial_solve(f, y + v * n);
        if (!one_by_one && hu_ldl_supernodal_solve(f, y, n, width, &own)) failures++;
        for (int64_t v = 0; v < width; v++)
            for (int64_t k = 0; k < n; k++) from[v * ld + f->perm[k]] = y[v * n + k];
        hu_free(y);
    }
    return failures ? hu_fail(err, HU_SYSTEM, "out of memory: a solve of %lld rows", (long long)n) : HU_OK;
}

/* ---- refinement ----------------------------------------------------------------------------------------------------- */

void hu_csr_symmetric_multiply(const hu_csr *lower, const double *x, double *ret_y)
{
    memset(ret_y, 0, (size_t)lower->rows * sizeof *ret_y);
    for (int64_t i = 0; i < lower->rows; i++) {
        double sum = 0;
        for (int64_t p = lower->row_ptr[i]; p < lower->row_ptr[i + 1]; p++) {
            const int64_t j = lower->col[p];
            sum += lower->val[p] * x[j];
            if (j < i) ret_y[j] += lower->val[p] * x[i];
        }
        ret_y[i] += sum;
    }
}

double hu_backward_error(const double *r, const double *scale, int64_t n, double *ret_norm)
{
    double largest = 0, most = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = fmax(largest, scale[i]);
        if (!(fabs(r[i]) <= norm)) norm = fabs(r[i]);
    }
    *ret_norm = norm > 0 ? norm / largest : 0;
    if (isnan(norm) || isinf(largest)) return NAN;
    const double least = 0x1p-20 * largest;
    for (int64_t i = 0; i < n; i++) {
        const double e = scale[i] > 0 ? fabs(r[i]) / fmax(scale[i], least) : 0;
        if (!(e <= most)) most = e; /* NaN stays */
    }
    return most;
}

/* r = b - A x and its sizes, as hu_backward_error() gives them; scale: [n]. */
static double residual(const hu_csr *a, const double *b, const double *x, double *r, double *scale, double *ret_norm)
{
    const int64_t n = a->rows;
    for (int64_t i = 0; i < n; i++) {
        r[i] = b[i];
        scale[i] = fabs(b[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, size = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            const int64_t j = a->col[p];
            const double term = a->val[p] * x[j];
            sum += term;
            size += fabs(term);
            if (j < i) {
                const double other = a->val[p] * x[i];
                r[j] -= other;
                scale[j] += fabs(other);
            }
        }
        r[i] -= sum;
        scale[i] += size;
    }
    return hu_backward_error(r, scale, n, ret_norm);
}

bool hu_refinement_goes_on(hu_refinement *state, double error, double norm, const double *x, double *best, int64_t n)
{
    const double merit = sqrt(error * norm);
    const bool better = merit < state->merit, much = merit < 0.7 * state->merit;
    if (better) {
        state->merit = merit;
        state->error = error;
        memcpy(best, x, (size_t)n * sizeof *best);
    }
    return much && error > 0x1p-52;
}

hu_status hu_ldl_solve_refined(const hu_ldl *f, const hu_csr *lower, const double *b, double *ret_x, int most, double *work, double *ret_residual,
                               hu_error *err)
{
    const int64_t n = f->n;
    double *r = work, *scale = work + n, *best = work + 2 * n;
    hu_refinement state = HU_REFINEMENT;
    memcpy(ret_x, b, (size_t)n * sizeof *b);
    if (hu_ldl_solve(f, ret_x, n, 1, err)) return err->status;
    for (int step = 0;; step++) {
        double norm;
        const double error = residual(lower, b, ret_x, r, scale, &norm);
        if (!hu_refinement_goes_on(&state, error, norm, ret_x, best, n) || step == most) break;
        if (hu_ldl_solve(f, r, n, 1, err)) return err->status;
        for (int64_t i = 0; i < n; i++) ret_x[i] += r[i];
    }
    *ret_residual = state.error;
    if (isnan(state.error)) memset(ret_x, 0, (size_t)n * sizeof *ret_x);
    else memcpy(ret_x, best, (size_t)n * sizeof *best);
    return HU_OK;
}
