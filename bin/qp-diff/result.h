/* result.h: bundles that this program writes: of kind "qp-result" and "qp-problem", members by name as in input.h.
 *
 * Sections: a bundle, members.
 */
#ifndef QP_RESULT_H
#define QP_RESULT_H

#include "base/output.h"
#include "io/array.h"
#include "solve.h"

typedef struct result result;

/* format: of vectors (HU_ARRAY_MTX or HU_ARRAY_NPY); sparse matrices are always Matrix Market. Free with result_finish() or result_abort(). */
hu_status result_new(const char *kind, hu_array_format format, result **ret_result, hu_error *err);
hu_status result_finish(result **r, hu_output *out, hu_error *err); /* *r becomes NULL, also on failure */
void result_abort(result **r);                                      /* NULL is allowed */

/* Later members stand in this folder ("" or "0003/"). */
hu_status result_folder(result *r, const char *folder, hu_error *err);

/* Moves the members of *from to r; *from becomes NULL, also on failure. */
hu_status result_take(result *r, result **from, hu_error *err);

hu_status result_add_array(result *r, const char *name, const double *x, int64_t rows, int64_t cols, int64_t ld, hu_error *err);
hu_status result_add_csr(result *r, const char *name, const hu_csr *a, hu_error *err);

/* All parts of a problem that are not their defaults. */
hu_status result_add_problem(result *r, const qp_problem *p, hu_error *err);
hu_status result_add_vectors(result *r, const qp_problem *p, hu_error *err); /* less P and A */

/* A text member, to be written to *ret_out before the result is finished; the output stays the result's. */
hu_status result_add_text(result *r, const char *name, hu_output **ret_out, hu_error *err);

#endif
