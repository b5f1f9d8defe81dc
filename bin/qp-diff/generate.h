/* generate.h: problems of known kinds and, of kind kkt, known solutions; the same for any number of threads.
 *
 *   bpqp       P = B'B + 0.001 I with B, q, A and the point of b, u uniform in [0, 1): dense, n/5 equalities and n/5 inequalities, of which next to none is in force
 *              (the generator of the BPQP paper)
 *   kkt        x, y, z and what is in force are chosen first, then q = -P x - A'y - z: exact by construction for any share in force, on both sides, bounds included
 *   portfolio  minimise x'Dx + |F'x|^2 - mu'x / gamma, sum x = 1, x >= 0 with k factors, F half filled (the generator of the OSQP paper), as d and F
 *   random     P = B'B + 0.01 I, B and A of density 0.15, l and u around 0 (likewise)
 */
#ifndef QP_GENERATE_H
#define QP_GENERATE_H

#include "problem.h"

typedef enum { GENERATE_BPQP, GENERATE_KKT, GENERATE_PORTFOLIO, GENERATE_RANDOM, GENERATE_KINDS } generate_kind;
extern const char *const generate_names[GENERATE_KINDS];

typedef struct {
    generate_kind kind;
    int64_t n;      /* variables */
    int64_t m;      /* kkt, random: rows; -1: n/2, 10 n */
    int64_t k;      /* portfolio: factors; -1: n/100, at least 1 */
    double active;  /* kkt: the share of inequalities and bounds in force */
    double density; /* kkt: of P's factor and of A */
    uint64_t seed;
} generate_options;

typedef struct {
    qp_problem *p;   /* of kind portfolio: with P = 2 D alone; F stands apart */
    double *x, *y;   /* kkt: the solution; NULL otherwise */
    hu_csr *F;       /* portfolio */
    double *d;       /* portfolio: the diagonal */
} generated;

hu_status generate_problem(const generate_options *o, generated *ret, hu_error *err);
void generated_free(generated *g);

#endif
