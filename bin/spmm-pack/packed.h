/* packed.h: packed matrices as files (.spk): bundles of kind spmm-pack, version 1.
 *
 * Content: rows, cols, nnz, pattern, dtype (f64 f32 f16 bf16), index (32 or 64), strategy, cpu (model and level of the machine that packed), made (what
 * was done to the matrix), and an object of the strategy's name with its parameters.
 * Members: ROWP (i8, rows + 1 row pointers), COLI (i4, or i8 where index is 64; nnz columns that ascend in each row), VALS (bytes: nnz values of dtype,
 * little-endian; none for a pattern), PERM (i4, of a reordered matrix: row and column i stand for PERM[i] of the original), TUNE (bytes), and
 * those of the strategy: NPAK; BINP.cell BINP.ptr BINP.row BINP.col BINP.val REMA.ptr REMA.col REMA.val; PANL.*.
 */
#ifndef SPMM_PACKED_H
#define SPMM_PACKED_H

#include "io/source.h"
#include "plan.h"

typedef struct {
    spmm_matrix *a;
    hu_scalar storage;               /* of the values on disc */
    bool wide_index;                 /* index 64 */
    int32_t *perm;                   /* [rows] or NULL */
    const spmm_strategy *strategy;   /* of a file: what it was packed for; NULL: none yet */
    char *made, *cpu;                /* how and where it was packed; may be NULL */
    char *tune;                      /* TUNE's bytes, or NULL */
    int64_t tune_size;
    hu_bundle *bundle;               /* of a file: keeps the arrays */
} spmm_packed;

void spmm_packed_free(spmm_packed *packed); /* NULL is allowed */

/* Whether a source that stands at its start is such a file, or another bundle. */
hu_status spmm_packed_sniff(hu_source *source, bool *ret_is, hu_error *err);

/* Reads a file, from a pipe too, as untrusted as any input: every pointer and column is checked. Free with spmm_packed_free(). */
hu_status spmm_packed_read(hu_source *source, spmm_packed **ret_packed, hu_error *err);

/* A plan by the packing in the file, or by `strategy` where it is not NULL and not the file's. */
hu_status spmm_packed_plan(spmm_packed *packed, const spmm_strategy *strategy, const spmm_options *options, hu_scalar sums, spmm_plan **ret_plan, hu_error *err);

/* The matrix in its original order as hu_csr, values in double. */
hu_status spmm_packed_to_csr(const spmm_packed *packed, hu_csr **ret_csr, hu_error *err);

/* Writes the matrix and the plan's packing. */
hu_status spmm_packed_write(const spmm_packed *packed, const spmm_plan *plan, hu_bundle_filter filter, hu_output *out, hu_error *err);

#endif
