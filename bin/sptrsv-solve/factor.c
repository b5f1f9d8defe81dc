/* factor.c: incomplete factors without fill, on the pattern of the matrix and in its natural order.
 *
 * Sections: rows in level order, ILU(0), IC(0).
 */
#include "config.h"
#include "factor.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* ---- rows in level order ---------------------------------------------------------------------------------------- */

/* What a factorisation works on: row i of `lu` is overwritten by row i of the factors. */
typedef struct {
    hu_csr *lu;
    int64_t *diagonal; /* [n] position of the diagonal entry, -1 where absent */
} factor_job;

/* Works row i with the thread's own scratch of n items; returns whether its pivot is good. */
typedef bool factor_row(const factor_job *job, int64_t i, void *scratch);

enum { LEVEL_WORK = 1500 }; /* entries a level that pay for a barrier (about 5 microseconds) */

/* Rows sorted by level, natural order within: order[start[l] .. start[l+1]]. *ret_order is NULL where levels are too small to pay. */
static hu_status sort_by_level(const hu_csr *a, int32_t **ret_order, int64_t **ret_start, int32_t *ret_levels, hu_error *err)
{
    void *block;
    int32_t *level = NULL;
    *ret_order = NULL;
    *ret_start = NULL;
    *ret_levels = 0;
    if (hu_threads() == 1) return HU_OK;
    if (hu_alloc(a->rows, sizeof *level, "levels", &block, err)) return err->status;
    level = block;
    hu_csr_levels(a, HU_LOWER, level, ret_levels);
    if (a->nnz / (*ret_levels + 1) < LEVEL_WORK) goto done;
    if (hu_alloc_zero((int64_t)*ret_levels + 1, sizeof **ret_start, "level pointers", &block, err)) goto done;
    int64_t *start = *ret_start = block;
    if (hu_alloc(a->rows, sizeof **ret_order, "the level order", &block, err)) goto done;
    *ret_order = block;
    for (int64_t i = 0; i < a->rows; i++) start[level[i] + 1]++;
    for (int32_t l = 0; l < *ret_levels; l++) start[l + 1] += start[l];
    for (int64_t i = 0; i < a->rows; i++) (*ret_order)[start[level[i]]++] = (int32_t)i;
    memmove(start + 1, start, (size_t)*ret_levels * sizeof *start);
    start[0] = 0;
done:
    hu_free(level);
    return err->status;
}

/* Works all rows; *ret_bad is the first row without a good pivot, or n. Later rows are worked in any case, so that the first one is
 * the same for any thread count: a row is spoilt only by rows before it. */
static hu_status work_rows(const factor_job *job, factor_row *work, size_t scratch_size, hu_error *err, int64_t *ret_bad)
{
    const int64_t n = job->lu->rows;
    int32_t *order = NULL, levels;
    int64_t *start = NULL, bad = n;
    void *block = NULL;
    *ret_bad = n;
    if (sort_by_level(job->lu, &order, &start, &levels, err)) goto done;
    const int threads = !order ? 1 : hu_threads() < hu_processors() ? hu_threads() : hu_processors(); /* more would only wait */
    if (hu_alloc_zero(n * threads, scratch_size, "a factorisation's scratch", &block, err)) goto done;
    char *scratch = block;
    if (!order) {
        for (int64_t i = 0; i < n; i++)
            if (!work(job, i, scratch) && i < bad) bad = i;
    } else {
#pragma omp parallel num_threads(threads) reduction(min : bad)
        for (int32_t l = 0; l < levels; l++) {
            char *own = scratch + (size_t)omp_get_thread_num() * (size_t)n * scratch_size;
#pragma omp for schedule(static)
            for (int64_t k = start[l]; k < start[l + 1]; k++)
                if (!work(job, order[k], own) && order[k] < bad) bad = order[k];
        }
    }
    *ret_bad = bad;
done:
    hu_free(block);
    hu_free(order);
    hu_free(start);
    return err->status;
}

static hu_status check_matrix(const hu_csr *a, const char *name, hu_error *err)
{
    if (a->rows != a->cols)
        return hu_fail(err, HU_INPUT, "%s: the matrix is %lld x %lld; a factorisation needs a square one", name,
                       (long long)a->rows, (long long)a->cols);
    if (a->is_complex) return hu_fail(err, HU_INPUT, "%s: incomplete factors are for real matrices", name);
    return HU_OK;
}

static hu_status copy_matrix(const hu_csr *a, hu_csr **ret_b, hu_error *err)
{
    if (hu_csr_new(a->rows, a->cols, a->nnz, false, ret_b, err)) return err->status;
    memcpy((*ret_b)->row_ptr, a->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr);
    memcpy((*ret_b)->col, a->col, (size_t)a->nnz * sizeof *a->col);
    memcpy((*ret_b)->val, a->val, (size_t)a->nnz * sizeof *a->val);
    return HU_OK;
}

static hu_status find_diagonal(const hu_csr *a, int64_t **ret_diagonal, hu_error *err)
{
    void *block;
    if (hu_alloc(a->rows, sizeof **ret_diagonal, "diagonal positions", &block, err)) return err->status;
    int64_t *diagonal = *ret_diagonal = block;
#pragma omp parallel for schedule(static) if (a->rows > 8192)
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t p = a->row_ptr[i], end = a->row_ptr[i + 1];
        while (p < end && a->col[p] < i) p++;
        diagonal[i] = p < end && a->col[p] == i ? p : -1;
    }
    return HU_OK;
}

static hu_status fail_pivot(const factor_job *job, const char *what, int64_t row, const char *name, hu_error *err)
{
    int64_t p = job->diagonal[row];
    if (p < 0)
        return hu_fail(err, (hu_status)SPTRSV_BREAKDOWN, "%s: row %lld: %s breaks down: the diagonal entry is absent", name,
                       (long long)row + 1, what);
    return hu_fail(err, (hu_status)SPTRSV_BREAKDOWN, "%s: row %lld: %s breaks down: the pivot is %.17g", name, (long long)row + 1,
                   what, job->lu->val[p]);
}

/* ---- ILU(0) ----------------------------------------------------------------------------------------------------- */

/* Row i in the IKJ order: for each k < i in the row, l_ik = a_ik / u_kk and row i -= l_ik (row k of U), where row i has an entry.
 * place[j]: 1 + position of (i, j) in the row; 0 elsewhere and between calls. */
static bool ilu_row(const factor_job *job, int64_t i, void *scratch)
{
    int32_t *const place = scratch;
    const int64_t *const row_ptr = job->lu->row_ptr;
    const int32_t *const col = job->lu->col;
    double *const val = job->lu->val, *const row = val + row_ptr[i];
    const int32_t *const row_col = col + row_ptr[i];
    const int32_t count = (int32_t)(row_ptr[i + 1] - row_ptr[i]);
    for (int32_t p = 0; p < count; p++) place[row_col[p]] = p + 1;
    for (int32_t p = 0; p < count && row_col[p] < i; p++) {
        const int64_t k = row_col[p], d = job->diagonal[k];
        if (d < 0) continue;
        const double l = row[p] /= val[d];
        for (int64_t q = d + 1; q < row_ptr[k + 1]; q++) {
            int32_t at = place[col[q]];
            if (at) row[at - 1] -= l * val[q];
        }
    }
    bool good = job->diagonal[i] >= 0 && fabs(val[job->diagonal[i]]) * DBL_MAX >= 1.0; /* else 1 / pivot overflows */
    for (int32_t p = 0; p < count; p++) {
        place[row_col[p]] = 0;
        good = good && isfinite(row[p]);
    }
    return good;
}

hu_status sptrsv_ilu0(const hu_csr *a, const char *name, hu_csr **ret_l, hu_csr **ret_u, hu_error *err)
{
    factor_job job = {NULL, NULL};
    int64_t bad;
    *ret_l = *ret_u = NULL;
    if (check_matrix(a, name, err) || copy_matrix(a, &job.lu, err) || find_diagonal(a, &job.diagonal, err) ||
        work_rows(&job, ilu_row, sizeof(int32_t), err, &bad))
        goto done;
    if (bad < a->rows) {
        fail_pivot(&job, "ILU(0)", bad, name, err);
        goto done;
    }
    if (hu_csr_triangle(job.lu, HU_LOWER, true, ret_l, err)) goto done;
    if (hu_csr_triangle(job.lu, HU_UPPER, false, ret_u, err)) {
        hu_csr_free(*ret_l);
        *ret_l = NULL;
    }
done:
    hu_csr_free(job.lu);
    hu_free(job.diagonal);
    return err->status;
}

/* ---- IC(0) ------------------------------------------------------------------------------------------------------ */

/* Row i: l_ij = (a_ij - sum_{k<j} l_ik l_jk) / l_jj for the j < i of the row, then l_ii = sqrt(a_ii - sum_k l_ik^2).
 * work[k]: l_ik; 0 elsewhere and between calls, so that the sum runs over row j without a search. */
static bool ic_row(const factor_job *job, int64_t i, void *scratch)
{
    double *const work = scratch;
    const int64_t *const row_ptr = job->lu->row_ptr;
    const int32_t *const col = job->lu->col;
    double *const val = job->lu->val;
    const int64_t d = job->diagonal[i];
    if (d < 0) return false;
    double pivot = val[d];
    for (int64_t p = row_ptr[i]; p < d; p++) {
        const int64_t j = col[p];
        if (job->diagonal[j] < 0) continue;
        double sum = val[p];
        for (int64_t q = row_ptr[j]; q < job->diagonal[j]; q++) sum -= val[q] * work[col[q]];
        val[p] = work[j] = sum / val[job->diagonal[j]];
        pivot -= val[p] * val[p];
    }
    for (int64_t p = row_ptr[i]; p < d; p++) work[col[p]] = 0;
    bool good = pivot > 0 && isfinite(pivot); /* then no l_ij can have overflowed: its square was subtracted */
    val[d] = good ? sqrt(pivot) : pivot;
    return good;
}

/* The lower half with the diagonal; of a matrix that holds only its upper half, the transpose of that. */
static hu_status lower_half(const hu_csr *a, hu_csr **ret_lower, hu_error *err)
{
    if (hu_csr_triangle(a, HU_LOWER, false, ret_lower, err)) return err->status;
    for (int64_t i = 0; i < a->rows; i++)
        if (a->row_ptr[i] < a->row_ptr[i + 1] && a->col[a->row_ptr[i]] < i) return HU_OK;
    if (a->nnz == (*ret_lower)->nnz) return HU_OK; /* diagonal */
    hu_csr_free(*ret_lower);
    return hu_csr_transpose(a, false, ret_lower, err);
}

hu_status sptrsv_ic0(const hu_csr *a, const char *name, hu_csr **ret_l, hu_error *err)
{
    factor_job job = {NULL, NULL};
    int64_t bad;
    *ret_l = NULL;
    if (check_matrix(a, name, err) || lower_half(a, &job.lu, err) || find_diagonal(job.lu, &job.diagonal, err) ||
        work_rows(&job, ic_row, sizeof(double), err, &bad))
        goto done;
    if (bad < a->rows) {
        fail_pivot(&job, "IC(0)", bad, name, err);
        goto done;
    }
    *ret_l = job.lu;
    job.lu = NULL;
done:
    hu_csr_free(job.lu);
    hu_free(job.diagonal);
    return err->status;
}
