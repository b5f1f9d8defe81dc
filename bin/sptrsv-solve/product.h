/* product.h: y = A x for a symmetric matrix, with the dot product that conjugate gradients need along with it.
 *
 * Where the entries lie on few diagonals and the two halves are equal to the bit, only the lower half is kept, one array a diagonal,
 * without indices: y_i = sum_d c_d[i] x[i + o_d], and the upper half is the same arrays, shifted. Otherwise the rows are read as stored.
 * The terms of a row are added in the order of their columns in both forms.
 */
#ifndef SPTRSV_PRODUCT_H
#define SPTRSV_PRODUCT_H

#include "sparse/csr.h"

enum { SPTRSV_MOST_DIAGONALS = 16 };

typedef struct {
    const hu_csr *matrix;
    int diagonals;                         /* of the lower half, the main one last; 0: rows as stored */
    int64_t offset[SPTRSV_MOST_DIAGONALS]; /* ascending, <= 0 */
    int64_t stride;                        /* items from one diagonal's array to the next */
    int64_t margin;                        /* zeros that x needs before its first and after its last item */
    double *coefficient;
} sptrsv_product;

/* a: real and square, must outlive the object. halves_equal: a_ij and a_ji have the same bits throughout. */
hu_status sptrsv_product_new(const hu_csr *a, bool halves_equal, sptrsv_product **ret_product, hu_error *err);
void sptrsv_product_free(sptrsv_product *product); /* NULL is allowed */

/* y = A x; returns x'y, summed in blocks of fixed size. x has product->margin zeros on either side. */
double sptrsv_product_apply(const sptrsv_product *product, int threads, const double *x, double *y);

#endif
