/* peers_spmm.h: other libraries' products of a sparse matrix and a row-major dense one, in float, behind one C interface. */
#ifndef HU_PEERS_SPMM_H
#define HU_PEERS_SPMM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t rows, cols, nnz;
    const int64_t *row_ptr;
    const int32_t *col;
    const float *val;
} spmm_peer_matrix;

/* A prepared product C = A B with k columns. */
typedef struct {
    const char *name;
    void *data;
    void (*multiply)(void *data, const float *b, float *c);
    void (*release)(void *data);
} spmm_peer;

enum { SPMM_PEERS_MOST = 4 };

/* Prepares every product that this build has; returns their number. */
int spmm_peers_open(const spmm_peer_matrix *a, int64_t k, spmm_peer ret_peers[SPMM_PEERS_MOST]);

/* "Eigen 3.4.0, ..." */
void spmm_peers_versions(char *ret_text, int size);

#ifdef __cplusplus
}
#endif
#endif
