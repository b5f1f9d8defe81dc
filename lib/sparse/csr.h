/* csr.h: sparse matrices in coordinate (COO) and compressed row (CSR) form, and what is done to them.
 *
 * Indices are 0-based. Dimensions fit 32 bits (checked where a matrix is made); the number of entries does not
 * need to. A compressed column form is the CSR form of the transpose. A CSR made by this library has its columns
 * ascending in each row and no duplicates.
 *
 * Sections: types, making and freeing, conversion, transposing and permuting, triangles, level sets.
 */
#ifndef HU_SPARSE_CSR_H
#define HU_SPARSE_CSR_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HU_MAX_DIMENSION INT32_MAX /* rows and columns; more would need 64-bit indices */

/* A value is one double, or a pair (real, imaginary) where is_complex. */
typedef struct {
    int64_t rows, cols, nnz;
    bool is_complex;
    int64_t *row_ptr; /* [rows + 1] */
    int32_t *col;     /* [nnz] */
    double *val;      /* [nnz], or [2 nnz] where complex */
} hu_csr;

/* Coordinate entries in any order, duplicates allowed. */
typedef struct {
    int64_t rows, cols, nnz;
    bool is_complex;
    int32_t *row, *col; /* [nnz] */
    double *val;        /* [nnz], or [2 nnz] where complex */
} hu_coo;

/* What stands for entries of one place; the greatest is of real values only. */
typedef enum { HU_DUP_SUM, HU_DUP_ERROR, HU_DUP_LAST, HU_DUP_FIRST, HU_DUP_MAX } hu_duplicates;

/* ---- making and freeing */

/* Room for rows x cols with nnz entries; row_ptr[0] = 0, the rest not set. Free with hu_csr_free(). */
hu_status hu_csr_new(int64_t rows, int64_t cols, int64_t nnz, bool is_complex, hu_csr **ret_csr, hu_error *err);
void hu_csr_free(hu_csr *csr); /* NULL is allowed */
hu_status hu_coo_new(int64_t rows, int64_t cols, int64_t nnz, bool is_complex, hu_coo **ret_coo, hu_error *err);
void hu_coo_free(hu_coo *coo);

/* Checks all that the type promises (pointers ascending and in range, columns in range, ascending, no duplicates);
 * for matrices that come from outside. HU_INPUT names the row, 1-based. */
hu_status hu_csr_check(const hu_csr *csr, const char *name, hu_error *err);

/* ---- conversion */

/* Sorts entries into rows with ascending columns and treats duplicates as told, in the order of entry (so that sums are
 * the same for any thread count). Consumes *coo in every case. Memory at the peak, the entries' own included: entries that stand by row are
 * compressed in place, 16 bytes a real entry; others cost 24 bytes at most (and their number must be below 2^32), less where they are
 * near their place, since what was moved is given back at once; and 8 bytes a row. HU_DUP_ERROR: HU_INPUT naming the 1-based place. */
hu_status hu_csr_from_coo(hu_coo **coo, hu_duplicates duplicates, const char *name, hu_csr **ret_csr, hu_error *err);

/* ---- transposing and permuting */

hu_status hu_csr_transpose(const hu_csr *a, bool conjugate, hu_csr **ret_t, hu_error *err);

/* B = P A P': row and column i of B are row and column perm[i] of A. perm is checked to be a permutation of 0..rows-1. */
hu_status hu_csr_permute(const hu_csr *a, const int32_t *perm, hu_csr **ret_b, hu_error *err);

/* Checks that perm[0..n-1] is a permutation; HU_INPUT names the 1-based place. */
hu_status hu_permutation_check(const int32_t *perm, int64_t n, const char *name, hu_error *err);

/* ---- triangles */

typedef enum { HU_LOWER, HU_UPPER } hu_uplo;

/* The lower or upper triangle with the diagonal (without it where strict). */
hu_status hu_csr_triangle(const hu_csr *a, hu_uplo uplo, bool strict, hu_csr **ret_t, hu_error *err);

/* ---- level sets */

/* Level of each row of the graph of a lower (upper) triangular matrix: 0 where a row has no off-diagonal entry, else 1 +
 * the greatest level it refers to. Entries outside the triangle are passed over. level: [rows], caller's. */
void hu_csr_levels(const hu_csr *a, hu_uplo uplo, int32_t *level, int32_t *ret_levels);

#ifdef __cplusplus
}
#endif
#endif
