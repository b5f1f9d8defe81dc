/* qps.h: problems in the MPS and QPS formats.
 *
 * Read are sections NAME, OBJSENSE, OBJSENSE MAX, OBJNAME, ROWS, COLUMNS, RHS, RANGES, BOUNDS, QUADOBJ (one triangle), QMATRIX and QSECTION (as stated at the
 * function), ENDATA. Names of rows may have blanks where the file keeps the fixed columns of the format (fields at columns 2-3, 5-12, 15-22, 25-36, 40-47, 50-61); a file is read
 * as fixed where free reading fails. A line that begins with * is a comment. Negative right-hand side of the objective is its constant. Sets of RHS,
 * RANGES and BOUNDS beyond the first are passed over with a warning; the name of a set may be absent.
 */
#ifndef QP_QPS_H
#define QP_QPS_H

#include "io/source.h"
#include "problem.h"

typedef struct {
    char *name;            /* of the problem, "" where it has none */
    char **row, **column;  /* [m], [n] */
    bool maximise;         /* the file asks for the maximum; the problem is its negative */
} qps_names;

/* Reads the rest of the source. HU_INPUT names the file, the line and the reason. Free with qp_free() and qps_names_free(). */
hu_status qps_read(hu_source *source, qp_problem **ret_problem, qps_names *ret_names, hu_error *err);
void qps_names_free(qps_names *names, int64_t m, int64_t n);

#endif
