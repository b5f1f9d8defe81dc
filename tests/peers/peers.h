/* peers.h: other libraries' triangular solves and conjugate gradients behind one C interface, for the side-by-side benchmarks. */
#ifndef HU_PEERS_H
#define HU_PEERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A lower triangular matrix with its diagonal, or a whole symmetric one: rows of ascending columns. */
typedef struct {
    int64_t n, nnz;
    const int64_t *row_ptr;
    const int32_t *col;
    const double *val;
} peer_matrix;

/* A prepared solve. It works in place: x holds b before and the solution after. */
typedef struct {
    const char *name, *library;
    void *data;
    void (*solve)(void *data, double *x);
    void (*release)(void *data);
    double seconds_setup; /* conversion and the library's own analysis */
} peer;

enum { PEERS_MOST = 8 };

/* Prepares every solve that this build has; returns their number. A library that refuses the matrix is left out. */
int peers_open(const peer_matrix *lower, peer ret_peers[PEERS_MOST]);

/* "Eigen 3.4.0, CXSparse 3.2.0, ..." and the libraries that this build lacks. */
void peers_versions(char *ret_text, int size);
void peers_absent(char *ret_text, int size);

/* Eigen's conjugate gradients with its incomplete Cholesky factor (natural order, no shift) from x = 0 to the relative residual
 * `tolerance`: iterations and seconds without the set-up; false where the build lacks Eigen or it did not converge. */
int peer_eigen_pcg(const peer_matrix *whole, const double *b, double tolerance, double *x, int *ret_iterations, double *ret_seconds);

#ifdef __cplusplus
}
#endif
#endif
