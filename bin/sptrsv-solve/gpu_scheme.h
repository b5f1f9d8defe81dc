/* gpu_scheme.h: the GPU scheme space, after AG-SpTRSV (ACM TACO 2024): how rows become nodes, in what order nodes are solved, which threads
 * take them, and how many threads work on a row. Set with --gpu-scheme=KEY:VALUE,...
 *
 *   lanes     threads a row: 1, 2, 4, 8, 16, 32 (a warp), or block (a thread block, for rows of thousands of entries)
 *   threads   threads a block: 64, 128, 256, 512 or 1024
 *   node      what a group of lanes takes at a time: fixed (`rows` rows), thresh (rows until one has more than `rows` entries, at most 32), or
 *             mean (of 32 rows with fewer than `rows` entries on average one node, else each row by itself)
 *   rows      the parameter of node, 1 .. 1024
 *   order     level (by level sets) or row (as in the matrix)
 *   group     simple, or balance: within a level the nodes with most entries first
 *   take      how groups come to their nodes: ticket (the next one in order, when a warp is free), robin (each group takes every k-th), or
 *             least (each node goes to the group that has least to do; decided beforehand)
 *
 * Sums are taken by lane and then over the lanes of a row, so the bits of a solution depend on `lanes`, and on nothing else.
 */
#ifndef SPTRSV_GPU_SCHEME_H
#define SPTRSV_GPU_SCHEME_H

#include "system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPTRSV_GPU_FIXED, SPTRSV_GPU_THRESH, SPTRSV_GPU_MEAN } sptrsv_gpu_node;
typedef enum { SPTRSV_GPU_BY_LEVEL, SPTRSV_GPU_BY_ROW } sptrsv_gpu_order;
typedef enum { SPTRSV_GPU_SIMPLE, SPTRSV_GPU_BALANCE } sptrsv_gpu_group;
typedef enum { SPTRSV_GPU_TICKET, SPTRSV_GPU_ROBIN, SPTRSV_GPU_LEAST } sptrsv_gpu_take;

typedef struct {
    int lanes;   /* 0: the block */
    int threads;
    sptrsv_gpu_node node;
    int32_t rows;
    sptrsv_gpu_order order;
    sptrsv_gpu_group group;
    sptrsv_gpu_take take;
} sptrsv_gpu_scheme;

/* As sptrsv_scheme_parse() and sptrsv_scheme_print(). */
hu_status sptrsv_gpu_scheme_parse(const char *text, sptrsv_gpu_scheme *scheme, hu_error *err);
void sptrsv_gpu_scheme_print(const sptrsv_gpu_scheme *scheme, char *ret_text, size_t size);

/* The default: lanes after the mean length of a row; tickets, which need no block to be resident. */
void sptrsv_gpu_scheme_by_rule(const sptrsv_system *system, sptrsv_gpu_scheme *ret_scheme);

/* Who solves what: rows in execution order, nodes of consecutive rows, and, where `take` is least, each worker's nodes. A worker is a group
 * of lanes. A node refers only to nodes before it, so whoever takes nodes in ascending order cannot wait for himself. */
typedef struct {
    int64_t n, nodes;
    int workers;          /* 0 unless take is least */
    int32_t *row;         /* [n] at each position */
    int32_t *node_start;  /* [nodes + 1] */
    int64_t *list_start;  /* [workers + 1] */
    int32_t *list;        /* [nodes] ascending in each worker */
} sptrsv_gpu_schedule;

/* workers: groups that run at a time; used by least. */
hu_status sptrsv_gpu_schedule_new(const sptrsv_system *system, const sptrsv_gpu_scheme *scheme, int workers, sptrsv_gpu_schedule **ret_schedule,
                                  hu_error *err);
void sptrsv_gpu_schedule_free(sptrsv_gpu_schedule *schedule); /* NULL is allowed */

/* The protocol, checked on the CPU: every row stands in one node, every entry refers to an earlier position, every node is taken once and each
 * worker's in ascending order. HU_INPUT says what is wrong. */
hu_status sptrsv_gpu_schedule_check(const sptrsv_system *system, const sptrsv_gpu_schedule *schedule, hu_error *err);

#ifdef __cplusplus
}
#endif
#endif
