/* plan.h: a sparse matrix made ready for products with dense ones: C = alpha op(A B) + beta C by one of several strategies.
 *
 *     csr       rows as they are, an equal number of rows a thread
 *     neighbor  packs of about equal cost; long rows are cut and their parts added in order (PckGNN, GNNPilot; neighbor.h)
 *     bin       panels of rows times bins of columns, which stay in the cache; short runs in a remainder (bin.h)
 *     panel     panels of a few rows whose entries share columns, for pruned weights (panel.h)
 *
 * A strategy is a table of functions on a packed form of its own. The bits of a product depend on the matrix, the strategy with its parameters and the
 * instruction level, never on the number of threads.
 *
 * Sections: strategies, plans, products.
 */
#ifndef SPMM_PLAN_H
#define SPMM_PLAN_H

#include "io/bundle.h"
#include "kernel.h"
#include "sparse.h"

typedef enum { SPMM_SUM, SPMM_MEAN, SPMM_MAX, SPMM_MIN } spmm_reduce;

/* ---- strategies ------------------------------------------------------------------------------------------------- */

/* Parameters of all strategies; 0 (alpha: -1) stands for the strategy's own rule. */
typedef struct {
    int64_t np, alpha;                        /* neighbor: cost of a pack; cost of a row's write-back */
    int64_t bin_columns, bin_threshold, bin_block, row_panel; /* bin: see bin.h */
    int64_t k;                                /* columns of B that are expected; 0: not known */
    int64_t panel_rows, k_block, masks, panel_order; /* panel: the members of spmm_panel_shape; masks and order count from 1 (panel.h) */
} spmm_options;

#define SPMM_OPTIONS {0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0}

typedef struct {
    int64_t packs, split_rows, pieces;  /* units of work, rows that are cut, parts of those */
    double least_load, greatest_load;   /* entries of a unit */
    int64_t covered;                    /* entries in packs, each counted */
    int64_t remainder;                  /* entries outside, in a remainder */
    int64_t bytes;                      /* of the packed form, the matrix aside */
} spmm_stats;

/* One product. B: [cols x K] row major, of any real scalar; C: [rows x K] row major, of the sums' scalar (spmm_sum_scalar()), or of a 16-bit one where the
 * sums are float. finish holds alpha, beta and what follows. */
typedef struct {
    const hu_dense *b;
    hu_dense *c;
    spmm_finish finish;
} spmm_product;

/* The matrix that all functions get is the one that was packed; its values are of the sums' scalar (spmm_matrix_widen()). */
typedef struct {
    const char *name;
    hu_status (*pack)(const spmm_matrix *a, const spmm_options *options, void **ret_pack, hu_error *err);
    hu_status (*multiply)(const void *pack, const spmm_matrix *a, const spmm_product *p, hu_error *err);
    void (*stats)(const void *pack, const spmm_matrix *a, spmm_stats *ret_stats);
    /* Adds members to a bundle, and what is not an array to its content under the strategy's name; values are narrowed to `storage`, exactly. Blocks that
     * must live until the bundle is written go to *ret_scratch, which hu_free() frees. NULL where there is nothing but the options. */
    hu_status (*save)(const void *pack, const spmm_matrix *a, hu_scalar storage, hu_bundle_writer *w, void **ret_scratch, hu_error *err);
    /* From a bundle, as untrusted as any input. */
    hu_status (*load)(const hu_bundle *bundle, const spmm_matrix *a, hu_scalar storage, void **ret_pack, hu_error *err);
    void (*free)(void *pack);
} spmm_strategy;

extern const spmm_strategy spmm_csr, spmm_neighbor, spmm_bin, spmm_panel;

/* All strategies, in the order above; NULL ends the list. */
extern const spmm_strategy *const spmm_strategies[];

/* The strategy of that name, or NULL. */
const spmm_strategy *spmm_strategy_find(const char *name);

/* What a rule of thumb takes for k columns (0: not known) of elements of that scalar; *opt_why says why. */
const spmm_strategy *spmm_strategy_advise(const spmm_matrix *a, int64_t k, hu_scalar b, const char **opt_why);

/* ---- plans ------------------------------------------------------------------------------------------------------ */

typedef struct {
    spmm_matrix *a;
    const spmm_strategy *strategy;
    void *pack;
    double pack_seconds;
} spmm_plan;

/* Packs; strategy NULL: as advised. The matrix stays the caller's and must outlive the plan. Its values become those of `sums` (HU_F32 or HU_F64).
 * Free with spmm_plan_free(). */
hu_status spmm_plan_new(spmm_matrix *a, const spmm_strategy *strategy, const spmm_options *options, hu_scalar sums, spmm_plan **ret_plan, hu_error *err);
void spmm_plan_free(spmm_plan *plan); /* NULL is allowed */

/* ---- products --------------------------------------------------------------------------------------------------- */

/* C = finish(reduce(A B)). Shapes and scalars are checked (HU_USAGE). MAX and MIN go row by row whatever the strategy is; arg: [rows x K] or NULL. */
hu_status spmm_multiply(const spmm_plan *plan, spmm_reduce reduce, const spmm_product *p, int32_t *opt_arg, hu_error *err);

/* For strategies: a tile without columns yet, B and C of the product. near: B's rows stay in a near cache, so that nothing need be fetched ahead. */
spmm_tile spmm_tile_of(const spmm_matrix *a, const spmm_product *p, bool near);

/* For strategies: the number of B's columns to be taken at once over many rows whose columns span `cols` rows of B. */
int64_t spmm_tile_width(int64_t cols, int64_t k, hu_scalar b);

#endif
