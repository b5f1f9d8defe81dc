/* plan.h: a plan is a triangular system prepared for solving under one scheme: order, tasks and waits, and the values laid out as
 * the kernels read them. The same plan serves any number of solves; new values of the same pattern cost one pass.
 *
 * Sections: making, solving, what a plan tells of itself, files.
 */
#ifndef SPTRSV_PLAN_H
#define SPTRSV_PLAN_H

#include "base/output.h"
#include "dense/dense.h"
#include "io/source.h"
#include "scheme.h"
#include "system.h"

typedef struct sptrsv_plan sptrsv_plan;

/* Who chose a plan's scheme. */
typedef enum { SPTRSV_BY_USER, SPTRSV_BY_MODEL, SPTRSV_BY_RULE, SPTRSV_BY_SEARCH, SPTRSV_CHOOSERS } sptrsv_chooser;
extern const char *const sptrsv_chooser_words[SPTRSV_CHOOSERS]; /* user, model, rule, search */

/* Prepares a system. threads: 1 and up; the bits of a solution do not depend on it. A scheme that the system cannot have (grid
 * on no grid) is HU_USAGE. Where folding is unsafe for some row (l/d or 1/d overflows or is subnormal) the plan divides throughout. */
hu_status sptrsv_plan_new(const sptrsv_system *system, const sptrsv_scheme *scheme, sptrsv_precision precision, int threads,
                          sptrsv_plan **ret_plan, hu_error *err);
void sptrsv_plan_free(sptrsv_plan *plan); /* NULL is allowed */

/* Notes who chose the scheme; a plan file keeps it. */
void sptrsv_plan_set_chooser(sptrsv_plan *plan, sptrsv_chooser chooser);

/* Lays out new values of the same pattern. */
hu_status sptrsv_plan_set_values(sptrsv_plan *plan, const sptrsv_system *system, hu_error *err);

/* x = op(T)^-1 b. Vectors of doubles (SPTRSV_F64, SPTRSV_MIXED), floats (SPTRSV_F32) or pairs of doubles (complex). x may be b.
 * Nothing is checked and nothing can fail: overflow shows as Inf or NaN in x (see sptrsv_solve_checked()). */
void sptrsv_solve(const sptrsv_plan *plan, const void *b, void *x);

/* Many right-hand sides at once, any order and leading dimension; scalar as above, shapes checked (HU_INPUT). Column j of x has
 * the bits that a single solve gives. x may be b. */
hu_status sptrsv_solve_many(const sptrsv_plan *plan, const hu_dense *b, hu_dense *x, hu_error *err);

/* The same, then: a result that is not finite is solved again with divisions in natural order, and if it still is not finite the error
 * (HU_INPUT) names the first such row. */
hu_status sptrsv_solve_checked(const sptrsv_plan *plan, const sptrsv_system *system, const hu_dense *b, hu_dense *x, hu_error *err);

/* What a plan tells of itself. */
typedef struct {
    sptrsv_scheme scheme;      /* as carried out; differs from what was asked where `remark` says why */
    sptrsv_precision precision;
    int threads;
    int64_t levels, nodes, tasks, waits;
    int64_t bytes_per_solve;   /* what one solve must read and write in memory, x and b once each, with write allocation */
    int64_t bytes_held;
    int64_t longest_path;      /* tasks on the longest chain of waits */
    char remark[256];
    sptrsv_chooser chooser;
} sptrsv_plan_facts;

void sptrsv_plan_describe(const sptrsv_plan *plan, sptrsv_plan_facts *ret_facts);

/* Plan files are bundles (hpcutils-formats(5)) and untrusted: every index is checked, and so is that every wait is for earlier work.
 * They hold the pattern's hash, scheme, order, tasks, grid and machine, never values. */
hu_status sptrsv_plan_save(const sptrsv_plan *plan, const sptrsv_system *system, hu_output *out, hu_error *err);

/* Reads a plan and lays out the system's values. SPTRSV_PLAN_MISFIT says what does not fit. */
hu_status sptrsv_plan_load(hu_source *source, const sptrsv_system *system, int threads, sptrsv_plan **ret_plan, hu_error *err);

#endif
