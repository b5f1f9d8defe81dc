/* product.c: y = A x for a symmetric matrix, with the dot product that conjugate gradients need along with it.
 *
 * Sections: making, multiplying.
 */
#include "config.h"
#include "product.h"
#include "krylov_kernel.h"
#include "base/memory.h"
#include "dense/dense_kernel.h"

#include <string.h>

/* ---- making ----------------------------------------------------------------------------------------------------- */

/* Place of a difference in the ascending list, or the place where it belongs. */
static int find_offset(const int64_t *offset, int count, int64_t difference)
{
    int d = 0;
    while (d < count && offset[d] < difference) d++;
    return d;
}

/* Lists the differences of the lower half, main diagonal included; false where there are too many, or too few entries on them. */
static bool find_diagonals(const hu_csr *a, sptrsv_product *product)
{
    int64_t *const offset = product->offset, entries = 0;
    int count = 1;
    offset[0] = 0;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1] && a->col[p] <= i; p++, entries++) {
            const int64_t difference = a->col[p] - i;
            const int d = find_offset(offset, count, difference);
            if (offset[d] == difference) continue; /* d < count: the list ends with 0 */
            if (count == SPTRSV_MOST_DIAGONALS) return false;
            memmove(offset + d + 1, offset + d, (size_t)(count - d) * sizeof *offset);
            offset[d] = difference;
            count++;
        }
    if (2 * count * a->rows > 3 * entries) return false; /* index-free pays while most places are filled */
    product->diagonals = count;
    return true;
}

static hu_status fill_diagonals(const hu_csr *a, sptrsv_product *product, hu_error *err)
{
    enum { SKEW = 72 }; /* keeps the streams off one another's cache sets */
    void *block;
    const int count = product->diagonals;
    product->margin = -product->offset[0] + 64;
    product->stride = a->rows + product->margin + SKEW;
    if (hu_alloc(product->stride * count, sizeof(double), "the diagonals", &block, err)) return err->status;
    double *const c = product->coefficient = block;
#pragma omp parallel for schedule(static) if (a->rows > 2 * HU_SUM_BLOCK)
    for (int64_t i = 0; i < product->stride; i++) {
        for (int d = 0; d < count; d++) c[d * product->stride + i] = 0;
        if (i >= a->rows) continue;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1] && a->col[p] <= i; p++)
            c[find_offset(product->offset, count, a->col[p] - i) * product->stride + i] = a->val[p];
    }
    return HU_OK;
}

hu_status sptrsv_product_new(const hu_csr *a, bool halves_equal, sptrsv_product **ret_product, hu_error *err)
{
    void *block;
    *ret_product = NULL;
    if (hu_alloc_zero(1, sizeof(sptrsv_product), "the product", &block, err)) return err->status;
    sptrsv_product *product = block;
    product->matrix = a;
    if (halves_equal && a->rows > 0 && find_diagonals(a, product) && fill_diagonals(a, product, err)) {
        sptrsv_product_free(product);
        return err->status;
    }
    *ret_product = product;
    return HU_OK;
}

void sptrsv_product_free(sptrsv_product *product)
{
    if (!product) return;
    hu_free(product->coefficient);
    hu_free(product);
}

/* ---- multiplying ------------------------------------------------------------------------------------------------ */

static double multiply_block(const sptrsv_product *a, int64_t from, int64_t to, const double *x, double *y)
{
    if (a->diagonals) HU_PICK(sptrsv_multiply_diagonals)(a, from, to, x, y);
    else HU_PICK(sptrsv_multiply_rows)(a->matrix, from, to, x, y);
    return HU_PICK(hu_dot_block)(x + from, y + from, to - from);
}

double sptrsv_product_apply(const sptrsv_product *a, int threads, const double *x, double *y)
{
    enum { GROUP = 512 }; /* blocks whose sums are kept apart before they are added in their order */
    const int64_t n = a->matrix->rows, group = (int64_t)GROUP * HU_SUM_BLOCK;
    double total = 0;
    for (int64_t begin = 0; begin < n; begin += group) {
        double part[GROUP];
        const int64_t end = n - begin < group ? n : begin + group, blocks = (end - begin + HU_SUM_BLOCK - 1) / HU_SUM_BLOCK;
#pragma omp parallel for schedule(static) num_threads(threads) if (blocks > 2)
        for (int64_t k = 0; k < blocks; k++) {
            int64_t from = begin + k * HU_SUM_BLOCK;
            part[k] = multiply_block(a, from, from + HU_SUM_BLOCK < end ? from + HU_SUM_BLOCK : end, x, y);
        }
        for (int64_t k = 0; k < blocks; k++) total += part[k];
    }
    return total;
}
