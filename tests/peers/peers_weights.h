/* peers_weights.h: other libraries' products of a pruned weight with a dense matrix behind one C interface, for scripts/bench spmm-pack. */
#ifndef HU_PEERS_WEIGHTS_H
#define HU_PEERS_WEIGHTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A weight: rows of ascending columns. */
typedef struct {
    int64_t rows, cols, nnz;
    const int64_t *row_ptr;
    const int32_t *col;
    const float *val;
} peer_weight;

/* A prepared product C = A B of k columns, row major without gaps, on one thread. */
typedef struct {
    const char *name;
    void *data;
    void (*multiply)(void *data, const float *b, float *c);
    void (*release)(void *data);
} peer_product;

enum { PEER_PRODUCTS = 4 };

/* Prepares Eigen, XNNPACK, LIBXSMM and CBLAS (dense), those that this build has; returns their number. LIBXSMM, whose set-up of large weights takes long, only for up to
 * most_xsmm entries. */
int peer_products_open(const peer_weight *a, int64_t k, int64_t most_xsmm, peer_product ret_products[PEER_PRODUCTS]);

/* Names of libraries that this build lacks, and versions. */
const char *peer_products_absent(void);
const char *peer_products_versions(void);

#ifdef __cplusplus
}
#endif
#endif
