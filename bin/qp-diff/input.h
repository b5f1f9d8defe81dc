/* input.h: problems and their companions (seeds, directions, points) from an archive of named members, or from files of their own.
 *
 * An archive's member NAME.mtx, NAME.npy or NAME.csv is NAME; so is the file of the option --NAME=FILE, which comes first. The names:
 *     P q A l u lb ub c0   the problem (problem.h); P and A may be absent (zero, no rows), as may bounds
 *     d F                  in place of P: P = diag(d) + F F', which is never formed: rows t = F' x are added instead
 *     gx gy                seeds, a column each
 *     dP dq dA dl du dlb dub   a direction in the data
 *     x y                  a point
 * In a batch, the members of item K stand in the folder K.
 *
 * Sections: options, opening, reading.
 */
#ifndef QP_INPUT_H
#define QP_INPUT_H

#include "dense/dense.h"
#include "io/members.h"
#include "problem.h"
#include <argp.h>

/* ---- options */

typedef enum {
    IN_P, IN_Q, IN_A, IN_L, IN_U, IN_LB, IN_UB, IN_C0, IN_D, IN_F, IN_GX, IN_GY, IN_DP, IN_DQ, IN_DA, IN_DL, IN_DU, IN_DLB, IN_DUB, IN_X, IN_Y, IN_NAMES
} input_name;

typedef enum { TRIANGLE_NONE, TRIANGLE_LOWER, TRIANGLE_UPPER, TRIANGLE_MEAN } input_triangle;

typedef struct {
    const char *archive; /* NULL: standard input, unless files make up the problem */
    const char *file[IN_NAMES];
    input_triangle triangle; /* what of a P that is not symmetric counts */
} input_options;

/* Parsers of --P=FILE and the like for the problem, for seeds, for directions, for a point; their input is an input_options. */
extern const struct argp input_argp, input_seeds_argp, input_directions_argp, input_point_argp;

/* ---- opening */

typedef struct {
    const input_options *options;
    hu_members *members; /* NULL where files make up the problem */
    const char *name;    /* for messages */
    char **folder;       /* [items] of a batch; NULL: one problem */
    int64_t items;
} input;

hu_status input_open(const input_options *options, input **ret_input, hu_error *err);
void input_close(input *in); /* NULL is allowed */

/* ---- reading; item: of a batch, else 0 */

/* The problem as solved. With factors d and F the variables t = F' x follow those of x, and the rows F' x - t = 0 those of A; n and m are the numbers without them. */
typedef struct {
    qp_problem *p;
    int64_t n, m;
    hu_csr *F; /* n x k, NULL where P was given */
} input_problem;

hu_status input_read_problem(const input *in, int64_t item, input_problem *ret_problem, hu_error *err);
void input_problem_free(input_problem *p);

/* A dense companion with `rows` rows (HU_INPUT otherwise), column major in double; NULL where it is absent. */
hu_status input_read_array(const input *in, int64_t item, input_name name, int64_t rows, hu_dense **ret_array, hu_error *err);

/* A sparse companion of that shape; NULL where it is absent. */
hu_status input_read_matrix(const input *in, int64_t item, input_name name, int64_t rows, int64_t cols, hu_csr **ret_matrix, hu_error *err);

/* HU_INPUT naming the row where a matrix differs from its transpose. */
hu_status input_check_symmetric(const hu_csr *a, const char *label, hu_error *err);

const char *input_name_of(input_name name);

#endif
