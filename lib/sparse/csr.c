/* csr.c: sparse matrices in coordinate (COO) and compressed row (CSR) form, and what is done to them.
 *
 * Sections: making and freeing, checks, sorting a row, conversion, transposing and permuting, triangles, level sets.
 */
#include "config.h"
#include "sparse/csr.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { SMALL = 16384 }; /* rows or entries that one thread works as fast as many */

/* ---- making and freeing ----------------------------------------------------------------------------------------- */

static size_t value_size(bool is_complex)
{
    return is_complex ? 2 * sizeof(double) : sizeof(double);
}

static hu_status check_shape(int64_t rows, int64_t cols, int64_t nnz, hu_error *err)
{
    if (rows < 0 || cols < 0 || nnz < 0 || rows > HU_MAX_DIMENSION || cols > HU_MAX_DIMENSION)
        return hu_fail(err, HU_INPUT, "a matrix of %lld x %lld with %lld entries is outside 0..%d rows and columns",
                       (long long)rows, (long long)cols, (long long)nnz, (int)HU_MAX_DIMENSION);
    return HU_OK;
}

hu_status hu_csr_new(int64_t rows, int64_t cols, int64_t nnz, bool is_complex, hu_csr **ret_csr, hu_error *err)
{
    void *block;
    *ret_csr = NULL;
    if (check_shape(rows, cols, nnz, err)) return err->status;
    if (hu_alloc_zero(1, sizeof(hu_csr), "a matrix", &block, err)) return err->status;
    hu_csr *a = block;
    a->rows = rows;
    a->cols = cols;
    a->nnz = nnz;
    a->is_complex = is_complex;
    if (hu_alloc(rows + 1, sizeof *a->row_ptr, "row pointers", &block, err)) goto failed;
    a->row_ptr = block;
    a->row_ptr[0] = 0;
    if (hu_alloc(nnz, sizeof *a->col, "columns", &block, err)) goto failed;
    a->col = block;
    if (hu_alloc(nnz, value_size(is_complex), "values", &block, err)) goto failed;
    a->val = block;
    *ret_csr = a;
    return HU_OK;
failed:
    hu_csr_free(a);
    return err->status;
}

void hu_csr_free(hu_csr *a)
{
    if (!a) return;
    hu_free(a->row_ptr);
    hu_free(a->col);
    hu_free(a->val);
    hu_free(a);
}

hu_status hu_coo_new(int64_t rows, int64_t cols, int64_t nnz, bool is_complex, hu_coo **ret_coo, hu_error *err)
{
    void *block;
    *ret_coo = NULL;
    if (check_shape(rows, cols, nnz, err)) return err->status;
    if (hu_alloc_zero(1, sizeof(hu_coo), "a matrix", &block, err)) return err->status;
    hu_coo *a = block;
    a->rows = rows;
    a->cols = cols;
    a->nnz = nnz;
    a->is_complex = is_complex;
    if (hu_alloc(nnz, sizeof *a->row, "row indices", &block, err)) goto failed;
    a->row = block;
    if (hu_alloc(nnz, sizeof *a->col, "columns", &block, err)) goto failed;
    a->col = block;
    if (hu_alloc(nnz, value_size(is_complex), "values", &block, err)) goto failed;
    a->val = block;
    *ret_coo = a;
    return HU_OK;
failed:
    hu_coo_free(a);
    return err->status;
}

void hu_coo_free(hu_coo *a)
{
    if (!a) return;
    hu_free(a->row);
    hu_free(a->col);
    hu_free(a->val);
    hu_free(a);
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

/* Sums counts[0..n-1], kept in ptr[1..n], to pointers ptr[0..n]. */
static void sum_counts(int64_t *ptr, int64_t n)
{
    ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) ptr[i + 1] += ptr[i];
}

static bool row_is_good(const hu_csr *a, int64_t i)
{
    int64_t last = -1;
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
        if (a->col[p] <= last || a->col[p] >= a->cols) return false;
        last = a->col[p];
    }
    return true;
}

hu_status hu_csr_check(const hu_csr *a, const char *name, hu_error *err)
{
    if (check_shape(a->rows, a->cols, a->nnz, err)) return err->status;
    if (a->row_ptr[0] != 0 || a->row_ptr[a->rows] != a->nnz)
        return hu_fail(err, HU_INPUT, "%s: row pointers run from %lld to %lld instead of 0 to %lld", name,
                       (long long)a->row_ptr[0], (long long)a->row_ptr[a->rows], (long long)a->nnz);
    int64_t bad = a->rows;
#pragma omp parallel for reduction(min : bad) schedule(static) if (a->nnz + a->rows > SMALL)
    for (int64_t i = 0; i < a->rows; i++)
        if (i < bad && (a->row_ptr[i] < 0 || a->row_ptr[i] > a->row_ptr[i + 1] || a->row_ptr[i + 1] > a->nnz)) bad = i;
    if (bad < a->rows)
        return hu_fail(err, HU_INPUT, "%s: row %lld: the row pointers do not ascend", name, (long long)bad + 1);
#pragma omp parallel for reduction(min : bad) schedule(static) if (a->nnz + a->rows > SMALL)
    for (int64_t i = 0; i < a->rows; i++)
        if (i < bad && !row_is_good(a, i)) bad = i;
    if (bad < a->rows)
        return hu_fail(err, HU_INPUT, "%s: row %lld: the columns do not ascend strictly within 1..%lld", name,
                       (long long)bad + 1, (long long)a->cols);
    return HU_OK;
}

hu_status hu_permutation_check(const int32_t *perm, int64_t n, const char *name, hu_error *err)
{
    void *block;
    if (hu_alloc_zero(n, 1, "a permutation's marks", &block, err)) return err->status;
    char *seen = block;
    hu_status status = HU_OK;
    for (int64_t i = 0; i < n && status == HU_OK; i++) {
        if (perm[i] < 0 || perm[i] >= n)
            status = hu_fail(err, HU_INPUT, "%s: place %lld: %lld is outside 1..%lld", name, (long long)i + 1,
                             (long long)perm[i] + 1, (long long)n);
        else if (seen[perm[i]]++)
            status = hu_fail(err, HU_INPUT, "%s: place %lld: %lld comes a second time", name, (long long)i + 1,
                             (long long)perm[i] + 1);
    }
    hu_free(seen);
    return status;
}

/* ---- sorting a row ---------------------------------------------------------------------------------------------- */

/* What a thread needs to sort long rows; grows as needed. */
typedef struct {
    uint64_t *key; /* column << 32 | place, and as many again for the passes of the radix sort */
    double *val;
    int64_t key_room, val_room;
} row_sorter;

enum { SHORT_ROW = 24 };

static void sort_short_row(int32_t *col, double *val, int64_t count, int w)
{
    for (int64_t k = 1; k < count; k++) {
        const int32_t c = col[k];
        const double re = val[k * w], im = val[k * w + w - 1];
        int64_t at = k;
        for (; at > 0 && col[at - 1] > c; at--) {
            col[at] = col[at - 1];
            memmove(val + at * w, val + (at - 1) * w, (size_t)w * sizeof *val);
        }
        col[at] = c;
        val[at * w] = re;
        val[at * w + w - 1] = w == 2 ? im : re;
    }
}

/* Radix sort by column, least byte first, which keeps the order of equal columns. Returns the sorted keys. */
static uint64_t *sort_keys(uint64_t *key, uint64_t *other, int64_t count, int64_t cols)
{
    for (int shift = 32; shift < 64 && (cols - 1) >> (shift - 32) > 0; shift += 8) {
        int64_t place[257] = {0};
        for (int64_t k = 0; k < count; k++) place[(key[k] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++) place[d + 1] += place[d];
        for (int64_t k = 0; k < count; k++) other[place[key[k] >> shift & 255]++] = key[k];
        uint64_t *swap = key;
        key = other;
        other = swap;
    }
    return key;
}

static hu_status sort_long_row(row_sorter *sorter, int32_t *col, double *val, int64_t count, int w, int64_t cols, hu_error *err)
{
    if (count > UINT32_MAX) return hu_fail(err, HU_INPUT, "a row has more than 2^32 entries");
    if (hu_grow((void **)&sorter->key, &sorter->key_room, 2 * count, sizeof *sorter->key, "a row's keys", err) ||
        hu_grow((void **)&sorter->val, &sorter->val_room, count * w, sizeof *sorter->val, "a row's values", err))
        return err->status;
    for (int64_t k = 0; k < count; k++) sorter->key[k] = (uint64_t)col[k] << 32 | (uint64_t)k;
    const uint64_t *key = sort_keys(sorter->key, sorter->key + count, count, cols);
    memcpy(sorter->val, val, (size_t)(count * w) * sizeof *val);
    for (int64_t k = 0; k < count; k++) {
        col[k] = (int32_t)(key[k] >> 32);
        memcpy(val + k * w, sorter->val + (int64_t)(key[k] & UINT32_MAX) * w, (size_t)w * sizeof *val);
    }
    return HU_OK;
}

static bool ascends(const int32_t *col, int64_t count, int64_t *repeats)
{
    bool good = true;
    int64_t equal = 0;
    for (int64_t k = 1; k < count; k++) {
        good = good && col[k - 1] <= col[k];
        equal += col[k - 1] == col[k];
    }
    *repeats += equal;
    return good;
}

/* Sorts each row by column, equal columns in their order; *ret_repeats counts the entries whose place was given before. */
static hu_status sort_rows(hu_csr *a, int64_t *ret_repeats, hu_error *err)
{
    const int w = a->is_complex ? 2 : 1;
    int64_t repeats = 0;
#pragma omp parallel reduction(+ : repeats) if (a->nnz + a->rows > SMALL)
    {
        row_sorter sorter = {NULL, NULL, 0, 0};
        hu_error own = HU_ERROR_NONE;
#pragma omp for schedule(dynamic, 1024)
        for (int64_t i = 0; i < a->rows; i++) {
            int32_t *col = a->col + a->row_ptr[i];
            double *val = a->val + a->row_ptr[i] * w;
            const int64_t count = a->row_ptr[i + 1] - a->row_ptr[i];
            int64_t here = 0;
            if (!ascends(col, count, &here) && own.status == HU_OK) {
                if (count <= SHORT_ROW) sort_short_row(col, val, count, w);
                else sort_long_row(&sorter, col, val, count, w, a->cols, &own);
                here = 0;
                ascends(col, count, &here);
            }
            repeats += here;
        }
        hu_free(sorter.key);
        hu_free(sorter.val);
        if (own.status != HU_OK)
#pragma omp critical(hu_csr_sort)
            hu_fail(err, own.status, "%s", own.message);
    }
    *ret_repeats = repeats;
    return err->status;
}

/* ---- conversion ------------------------------------------------------------------------------------------------- */

/* Gives the whole pages of a part of a block back to the system; what stood there reads as 0 from then on. */
static void give_back(void *block, size_t from, size_t to)
{
    const uintptr_t page = 4096, begin = ((uintptr_t)block + from + page - 1) / page * page, end = ((uintptr_t)block + to) / page * page;
    if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED); /* a hint; its refusal costs memory only */
}

static bool rows_ascend(const hu_coo *e)
{
    int64_t steps_back = 0;
#pragma omp parallel for schedule(static) reduction(+ : steps_back) if (e->nnz + e->rows > SMALL)
    for (int64_t k = 1; k < e->nnz; k++) steps_back += e->row[k - 1] > e->row[k];
    return steps_back == 0;
}

/* Row pointers of entries that stand by row. */
static void point_to_rows(const hu_coo *e, int64_t *row_ptr)
{
#pragma omp parallel for schedule(static) if (e->nnz + e->rows > SMALL)
    for (int64_t k = 0; k <= e->nnz; k++) {
        const int64_t before = k > 0 ? e->row[k - 1] : -1, here = k < e->nnz ? e->row[k] : e->rows;
        for (int64_t i = before + 1; i <= here; i++) row_ptr[i] = k;
    }
}

/* How many parts may count for themselves, lest their counters outgrow what is freed before the peak: 8 bytes an entry. */
static int counting_parts(int64_t counters, int64_t nnz)
{
    int64_t most = 2 * nnz / (counters + 1);
    return most < 1 || nnz <= SMALL ? 1 : most > hu_threads() ? hu_threads() : (int)most;
}

/* Turns counts by part into first places by part, counted from the start of the row, and adds the row's total to ptr[i + 1]. */
static void sum_parts(uint32_t *count, int parts, int64_t n, int64_t *ptr)
{
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int64_t i = 0; i < n; i++) {
        uint32_t sum = 0;
        for (int t = 0; t < parts; t++) {
            uint32_t here = count[t * n + i];
            count[t * n + i] = sum;
            sum += here;
        }
        ptr[i + 1] = sum;
    }
    sum_counts(ptr, n);
}

/* Replaces each entry's row by its place in the order of rows, equal rows in their order. */
static hu_status rows_to_places(hu_coo *e, int64_t *row_ptr, hu_error *err)
{
    void *block;
    const int parts = counting_parts(e->rows, e->nnz);
    if (hu_alloc_zero(e->rows * parts, sizeof(int32_t), "row counts", &block, err)) return err->status;
    uint32_t *const count = block;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; t++) {
        int64_t from, to;
        hu_share(e->nnz, parts, t, &from, &to);
        for (int64_t k = from; k < to; k++) count[t * e->rows + e->row[k]]++;
    }
    sum_parts(count, parts, e->rows, row_ptr);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; t++) {
        int64_t from, to;
        hu_share(e->nnz, parts, t, &from, &to);
        for (int64_t k = from; k < to; k++) {
            const int64_t i = e->row[k];
            const uint32_t place = (uint32_t)(row_ptr[i] + count[t * e->rows + i]++);
            memcpy(e->row + k, &place, sizeof place);
        }
    }
    hu_free(count);
    return HU_OK;
}

/* to[place[k]] = from[k] for items of size bytes; `from` is given back piece by piece. */
static void scatter(const int32_t *place, void *from, void *to, int64_t count, size_t size)
{
    enum { PIECE = 1 << 19 };
#pragma omp parallel for schedule(static) if (count > SMALL)
    for (int64_t begin = 0; begin < count; begin += PIECE) {
        const int64_t end = begin + PIECE < count ? begin + PIECE : count;
        switch (size) { /* constant sizes, so that each is a load and a store */
        case 4:
            for (int64_t k = begin; k < end; k++) memcpy((char *)to + (size_t)(uint32_t)place[k] * 4, (char *)from + k * 4, 4);
            break;
        case 8:
            for (int64_t k = begin; k < end; k++) memcpy((char *)to + (size_t)(uint32_t)place[k] * 8, (char *)from + k * 8, 8);
            break;
        default:
            for (int64_t k = begin; k < end; k++) memcpy((char *)to + (size_t)(uint32_t)place[k] * 16, (char *)from + k * 16, 16);
        }
        give_back(from, (size_t)begin * size, (size_t)end * size);
    }
}

/* Moves the entries into the order of rows, one array after the other, so that only one of them stands twice at a time. */
static hu_status arrange_by_row(hu_coo *e, int64_t *row_ptr, const char *name, hu_error *err)
{
    void *block;
    if (e->nnz >= UINT32_MAX)
        return hu_fail(err, HU_INPUT, "%s: %lld entries that are not sorted by row are more than 2^32", name, (long long)e->nnz);
    if (rows_to_places(e, row_ptr, err) || hu_alloc(e->nnz, sizeof *e->col, "columns", &block, err)) return err->status;
    scatter(e->row, e->col, block, e->nnz, sizeof *e->col);
    hu_free(e->col);
    e->col = block;
    if (hu_alloc(e->nnz, value_size(e->is_complex), "values", &block, err)) return err->status;
    scatter(e->row, e->val, block, e->nnz, value_size(e->is_complex));
    hu_free(e->val);
    e->val = block;
    return HU_OK;
}

static hu_status fail_duplicate(const hu_csr *a, const char *name, hu_error *err)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i] + 1; p < a->row_ptr[i + 1]; p++)
            if (a->col[p - 1] == a->col[p])
                return hu_fail(err, HU_INPUT, "%s: entry (%lld,%lld) is given more than once", name, (long long)i + 1,
                               (long long)a->col[p] + 1);
    return HU_OK;
}

/* What stands for two equal places: the value so far and the next one. */
static double merged(hu_duplicates duplicates, double before, double next)
{
    switch (duplicates) {
    case HU_DUP_SUM: return before + next;
    case HU_DUP_FIRST: return before;
    case HU_DUP_MAX: return next > before ? next : before;
    default: return next;
    }
}

/* Merges equal places in their order, and closes the gaps. */
static hu_status merge_duplicates(hu_csr *a, hu_duplicates duplicates, const char *name, hu_error *err)
{
    const int w = a->is_complex ? 2 : 1;
    const int64_t before = a->nnz;
    int64_t kept = 0;
    for (int64_t i = 0, p = 0; i < a->rows; i++) {
        const int64_t first = kept;
        for (; p < a->row_ptr[i + 1]; p++) {
            const bool again = kept > first && a->col[kept - 1] == a->col[p];
            double *into = a->val + (again ? kept - 1 : kept) * w;
            const double *from = a->val + p * w;
            for (int c = 0; c < w; c++) {
                const double sum = again ? merged(duplicates, into[c], from[c]) : from[c];
                if (again && !isfinite(sum) && isfinite(into[c]) && isfinite(from[c]))
                    return hu_fail(err, HU_INPUT, "%s: the sum of the entries (%lld,%lld) overflows", name, (long long)i + 1,
                                   (long long)a->col[p] + 1);
                into[c] = sum;
            }
            if (!again) a->col[kept++] = a->col[p];
        }
        a->row_ptr[i] = first;
    }
    a->row_ptr[a->rows] = a->nnz = kept;
    give_back(a->col, (size_t)kept * sizeof *a->col, (size_t)before * sizeof *a->col);
    give_back(a->val, (size_t)kept * value_size(a->is_complex), (size_t)before * value_size(a->is_complex));
    return HU_OK;
}

hu_status hu_csr_from_coo(hu_coo **coo, hu_duplicates duplicates, const char *name, hu_csr **ret_csr, hu_error *err)
{
    hu_coo *e = *coo;
    void *block;
    int64_t repeats;
    hu_csr *a = NULL;
    *coo = NULL;
    *ret_csr = NULL;
    if (hu_alloc_zero(1, sizeof(hu_csr), "a matrix", &block, err)) goto failed;
    a = block;
    *a = (hu_csr){.rows = e->rows, .cols = e->cols, .nnz = e->nnz, .is_complex = e->is_complex};
    if (hu_alloc(e->rows + 1, sizeof *a->row_ptr, "row pointers", &block, err)) goto failed;
    a->row_ptr = block;
    if (rows_ascend(e)) point_to_rows(e, a->row_ptr);
    else if (arrange_by_row(e, a->row_ptr, name, err)) goto failed;
    a->col = e->col;
    a->val = e->val;
    e->col = NULL;
    e->val = NULL;
    hu_coo_free(e);
    e = NULL;
    if (sort_rows(a, &repeats, err)) goto failed;
    if (repeats && duplicates == HU_DUP_ERROR) {
        fail_duplicate(a, name, err);
        goto failed;
    }
    if (repeats && merge_duplicates(a, duplicates, name, err)) goto failed;
    *ret_csr = a;
    return HU_OK;
failed:
    hu_coo_free(e);
    hu_csr_free(a);
    return err->status;
}

/* ---- transposing and permuting ---------------------------------------------------------------------------------- */

/* First row of a part of about the same number of entries as the others. */
static int64_t part_start(const hu_csr *a, int parts, int part)
{
    if (part == parts) return a->rows;
    const int64_t target = (int64_t)((double)a->nnz / parts * part);
    int64_t low = 0, high = a->rows;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (a->row_ptr[mid] < target) low = mid + 1;
        else high = mid;
    }
    return low;
}

hu_status hu_csr_transpose(const hu_csr *a, bool conjugate, hu_csr **ret_t, hu_error *err)
{
    void *block;
    *ret_t = NULL;
    const int parts = counting_parts(a->cols, a->nnz);
    if (hu_alloc_zero(a->cols * parts, sizeof(int32_t), "column counts", &block, err)) return err->status;
    uint32_t *const count = block;
    if (hu_csr_new(a->cols, a->rows, a->nnz, a->is_complex, ret_t, err)) {
        hu_free(count);
        return err->status;
    }
    hu_csr *const t = *ret_t;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        uint32_t *own = count + part * a->cols;
        const int64_t end = a->row_ptr[part_start(a, parts, part + 1)];
        for (int64_t p = a->row_ptr[part_start(a, parts, part)]; p < end; p++) own[a->col[p]]++;
    }
    sum_parts(count, parts, a->cols, t->row_ptr);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        uint32_t *own = count + part * a->cols;
        const int64_t end = part_start(a, parts, part + 1);
        for (int64_t i = part_start(a, parts, part); i < end; i++)
            for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
                const int64_t j = a->col[p], q = t->row_ptr[j] + own[j]++;
                t->col[q] = (int32_t)i;
                if (a->is_complex) {
                    t->val[2 * q] = a->val[2 * p];
                    t->val[2 * q + 1] = conjugate ? -a->val[2 * p + 1] : a->val[2 * p + 1];
                } else {
                    t->val[q] = a->val[p];
                }
            }
    }
    hu_free(count);
    return HU_OK;
}

hu_status hu_csr_permute(const hu_csr *a, const int32_t *perm, hu_csr **ret_b, hu_error *err)
{
    const int64_t n = a->rows;
    const int w = a->is_complex ? 2 : 1;
    hu_csr *b = NULL;
    void *block = NULL;
    int64_t repeats;
    *ret_b = NULL;
    if (a->rows != a->cols)
        return hu_fail(err, HU_INPUT, "a symmetric permutation needs a square matrix, not %lld x %lld", (long long)a->rows,
                       (long long)a->cols);
    if (hu_permutation_check(perm, n, "permutation", err) || hu_csr_new(n, n, a->nnz, a->is_complex, &b, err) ||
        hu_alloc(n, sizeof(int32_t), "an inverse permutation", &block, err))
        goto done;
    int32_t *const inverse = block;
    for (int64_t i = 0; i < n; i++) {
        inverse[perm[i]] = (int32_t)i;
        b->row_ptr[i + 1] = b->row_ptr[i] + a->row_ptr[perm[i] + 1] - a->row_ptr[perm[i]];
    }
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = a->row_ptr[perm[i]], to = b->row_ptr[i], length = b->row_ptr[i + 1] - to;
        for (int64_t k = 0; k < length; k++) b->col[to + k] = inverse[a->col[from + k]];
        memcpy(b->val + to * w, a->val + from * w, (size_t)(length * w) * sizeof *a->val);
    }
    if (sort_rows(b, &repeats, err)) goto done;
    *ret_b = b;
    b = NULL;
done:
    hu_csr_free(b);
    hu_free(block);
    return err->status;
}

/* ---- triangles -------------------------------------------------------------------------------------------------- */

/* First entry of row i with a column not below `col`, by bisection. */
static int64_t lower_bound(const hu_csr *a, int64_t i, int64_t col)
{
    int64_t low = a->row_ptr[i], high = a->row_ptr[i + 1];
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (a->col[mid] < col) low = mid + 1;
        else high = mid;
    }
    return low;
}

hu_status hu_csr_triangle(const hu_csr *a, hu_uplo uplo, bool strict, hu_csr **ret_t, hu_error *err)
{
    void *block;
    hu_csr *t;
    *ret_t = NULL;
    if (hu_alloc_zero(a->rows + 1, sizeof(int64_t), "row pointers", &block, err)) return err->status;
    int64_t *ptr = block;
    const int64_t shift = (uplo == HU_LOWER) != strict; /* row i is cut before column i + shift */
#pragma omp parallel for schedule(static) if (a->nnz + a->rows > SMALL)
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t cut = lower_bound(a, i, i + shift);
        ptr[i + 1] = uplo == HU_LOWER ? cut - a->row_ptr[i] : a->row_ptr[i + 1] - cut;
    }
    sum_counts(ptr, a->rows);
    if (hu_csr_new(a->rows, a->cols, ptr[a->rows], a->is_complex, &t, err)) {
        hu_free(ptr);
        return err->status;
    }
    hu_free(t->row_ptr);
    t->row_ptr = ptr;
#pragma omp parallel for schedule(static) if (a->nnz + a->rows > SMALL)
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t count = ptr[i + 1] - ptr[i], from = uplo == HU_LOWER ? a->row_ptr[i] : a->row_ptr[i + 1] - count;
        const int w = a->is_complex ? 2 : 1;
        memcpy(t->col + ptr[i], a->col + from, (size_t)count * sizeof *t->col);
        memcpy(t->val + ptr[i] * w, a->val + from * w, (size_t)(count * w) * sizeof *t->val);
    }
    *ret_t = t;
    return HU_OK;
}

/* ---- level sets ------------------------------------------------------------------------------------------------- */

void hu_csr_levels(const hu_csr *a, hu_uplo uplo, int32_t *level, int32_t *ret_levels)
{
    int32_t levels = 0;
    for (int64_t s = 0; s < a->rows; s++) {
        int64_t i = uplo == HU_LOWER ? s : a->rows - 1 - s;
        int32_t own = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            int64_t j = a->col[p];
            bool earlier = uplo == HU_LOWER ? j < i : j > i && j < a->rows;
            if (earlier && level[j] >= own) own = level[j] + 1;
        }
        level[i] = own;
        if (own >= levels) levels = own + 1;
    }
    *ret_levels = levels;
}
