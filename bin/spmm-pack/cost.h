/* cost.h: what a product needs and what this machine could do: operations, bytes, the roofline's bound. */
#ifndef SPMM_COST_H
#define SPMM_COST_H

#include "sparse.h"

/* Of this machine with hu_threads() threads, measured once a process (about half a second). */
typedef struct {
    double bandwidth; /* bytes read from memory a second */
    double flops;     /* operations a second in double; float has twice as many */
} spmm_limits;

hu_status spmm_limits_measure(spmm_limits *ret_limits, hu_error *err);

/* C = A B with k columns; sizes of elements of B, C and of values. */
typedef struct {
    double flops;        /* 2 nnz k */
    double bytes;        /* every operand once: row pointers, columns, values, B and C */
    double gather_bytes; /* rows of B as they are fetched: nnz k elements */
} spmm_cost;

spmm_cost spmm_cost_of(const spmm_matrix *a, int64_t k, hu_scalar b, hu_scalar c);

/* The least seconds: the greater of operations over the peak and bytes over the bandwidth; *opt_limit says which. */
double spmm_cost_bound(const spmm_cost *cost, const spmm_limits *limits, hu_scalar sums, const char **opt_limit);

#endif
