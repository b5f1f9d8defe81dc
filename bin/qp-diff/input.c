/* input.c: problems and their companions from an archive or from files.
 *
 * Sections: options, opening, finding a part, matrices, arrays, the problem, factors.
 */
#include "config.h"
#include "input.h"
#include "base/memory.h"
#include "base/option.h"
#include "io/array.h"
#include "io/matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[IN_NAMES] = {"P", "q", "A", "l", "u", "lb", "ub", "c0", "d", "F", "gx", "gy", "dP", "dq", "dA", "dl", "du", "dlb", "dub", "x", "y"};
static const int64_t MOST_BYTES = INT64_MAX / 2; /* memory follows what is there */

const char *input_name_of(input_name name)
{
    return names[name];
}

/* ---- options ------------------------------------------------------------------------------------------------------------ */

enum { KEY_NAME = 0x400, KEY_TRIANGLE = 0x500 };

static const struct argp_option problem_options[] = {
    {"P", KEY_NAME + IN_P, "FILE", 0, "the matrix of the objective", 0},
    {"q", KEY_NAME + IN_Q, "FILE", 0, "its vector", 0},
    {"A", KEY_NAME + IN_A, "FILE", 0, "the rows", 0},
    {"l", KEY_NAME + IN_L, "FILE", 0, "lower bounds of the rows", 0},
    {"u", KEY_NAME + IN_U, "FILE", 0, "upper bounds of the rows", 0},
    {"lb", KEY_NAME + IN_LB, "FILE", 0, "lower bounds of the variables", 0},
    {"ub", KEY_NAME + IN_UB, "FILE", 0, "upper bounds of the variables", 0},
    {"c0", KEY_NAME + IN_C0, "FILE", 0, "the constant of the objective", 0},
    {"d", KEY_NAME + IN_D, "FILE", 0, "P = diag(d) + F F' in place of P", 0},
    {"F", KEY_NAME + IN_F, "FILE", 0, "the factor of it", 0},
    {"triangle", KEY_TRIANGLE, "WHICH", 0, "what of a P that is not symmetric counts: lower, upper, or sym, the mean with its transpose", 0},
    {0}};

static const struct argp_option seeds_options[] = {
    {"gx", KEY_NAME + IN_GX, "FILE", 0, "the gradient of the loss in x, a seed each column", 0},
    {"gy", KEY_NAME + IN_GY, "FILE", 0, "the gradient of the loss in y", 0},
    {0}};

static const struct argp_option directions_options[] = {
    {"dP", KEY_NAME + IN_DP, "FILE", 0, "the direction in P", 0},
    {"dq", KEY_NAME + IN_DQ, "FILE", 0, "in q", 0},
    {"dA", KEY_NAME + IN_DA, "FILE", 0, "in A", 0},
    {"dl", KEY_NAME + IN_DL, "FILE", 0, "in l", 0},
    {"du", KEY_NAME + IN_DU, "FILE", 0, "in u", 0},
    {"dlb", KEY_NAME + IN_DLB, "FILE", 0, "in lb", 0},
    {"dub", KEY_NAME + IN_DUB, "FILE", 0, "in ub", 0},
    {0}};

static const struct argp_option point_options[] = {
    {"x", KEY_NAME + IN_X, "FILE", 0, "the solution x", 0},
    {"y", KEY_NAME + IN_Y, "FILE", 0, "its multipliers y", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const triangles[] = {"lower", "upper", "sym"};
    input_options *o = state->input;
    if (key >= KEY_NAME && key < KEY_NAME + IN_NAMES) {
        o->file[key - KEY_NAME] = arg;
        return 0;
    }
    if (key != KEY_TRIANGLE) return ARGP_ERR_UNKNOWN;
    o->triangle = (input_triangle)(TRIANGLE_LOWER + hu_option_word(state, "--triangle", arg, triangles, 3));
    return 0;
}

const struct argp input_argp = {problem_options, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp input_seeds_argp = {seeds_options, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp input_directions_argp = {directions_options, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp input_point_argp = {point_options, parse, NULL, NULL, NULL, NULL, NULL};

/* ---- opening -------------------------------------------------------------------------------------------------------------- */

static bool is_problem_of_files(const input_options *o)
{
    return !o->archive && (o->file[IN_P] || o->file[IN_Q] || o->file[IN_D]);
}

/* The folders of a batch: those with a q, P or d of their own; members by name, so folders by name. */
static hu_status find_folders(input *in, hu_error *err)
{
    int64_t room = 0;
    for (int64_t i = 0; i < hu_members_count(in->members); i++) {
        const char *name = hu_members_name(in->members, i), *slash = strrchr(name, '/');
        if (!slash) continue;
        const int64_t length = slash - name + 1;
        if (in->items && strncmp(in->folder[in->items - 1], name, (size_t)length) == 0 && !in->folder[in->items - 1][length]) continue;
        if (hu_grow((void **)&in->folder, &room, in->items + 1, sizeof *in->folder, "a batch", err)) return err->status;
        if (!(in->folder[in->items] = strndup(name, (size_t)length))) return hu_fail(err, HU_SYSTEM, "out of memory");
        in->items++;
    }
    return HU_OK;
}

static bool has_top(const input *in)
{
    for (int64_t i = 0; i < hu_members_count(in->members); i++) {
        const char *name = hu_members_name(in->members, i);
        if (!strchr(name, '/') && strcmp(name, "manifest.json") != 0) return true;
    }
    return false;
}

hu_status input_open(const input_options *options, input **ret_input, hu_error *err)
{
    hu_source *source = NULL;
    input *in = calloc(1, sizeof *in);
    *ret_input = in;
    if (!in) return hu_fail(err, HU_SYSTEM, "out of memory");
    in->options = options;
    in->items = 1;
    in->name = "the problem";
    if (is_problem_of_files(options)) return HU_OK;
    if (hu_source_open(options->archive, hu_source_as_it_is, &source, err) == HU_OK && hu_members_read(source, "qp-problem", 1, MOST_BYTES, &in->members, err) == HU_OK) {
        in->name = hu_members_archive(in->members);
        in->items = 0;
        if (!has_top(in)) find_folders(in, err);
        if (in->items == 0) in->items = 1;
    }
    hu_source_close(source);
    return err->status;
}

void input_close(input *in)
{
    if (!in) return;
    for (int64_t i = 0; i < in->items && in->folder; i++) free(in->folder[i]);
    free(in->folder);
    hu_members_free(in->members);
    free(in);
}

/* ---- finding a part ----------------------------------------------------------------------------------------------------------- */

/* The member of a name, or -1; *ret_is_mtx: by its ending. */
static int64_t find_member(const input *in, int64_t item, input_name name, bool *ret_is_mtx)
{
    static const char *const endings[] = {".mtx", ".npy", ".csv"};
    if (!in->members) return -1;
    for (int e = 0; e < 3; e++) {
        char *whole;
        if (asprintf(&whole, "%s%s%s", in->folder ? in->folder[item] : "", names[name], endings[e]) < 0) return -1;
        const int64_t at = hu_members_find(in->members, whole);
        free(whole);
        *ret_is_mtx = e == 0;
        if (at >= 0) return at;
    }
    return -1;
}

static bool has_part(const input *in, int64_t item, input_name name)
{
    bool is_mtx;
    return in->options->file[name] || find_member(in, item, name, &is_mtx) >= 0;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------------------------- */

/* Bounds may be infinite. */
static bool may_be_infinite(input_name name)
{
    return name == IN_L || name == IN_U || name == IN_LB || name == IN_UB;
}

static hu_status read_dense(hu_source *source, input_name name, hu_dense **ret, hu_error *err)
{
    hu_array_reader *reader = NULL;
    hu_dense *raw = NULL;
    *ret = NULL;
    if (hu_array_reader_new(source, HU_ARRAY_AUTO, 0, &reader, err)) return err->status;
    if (may_be_infinite(name)) hu_array_reader_keep_nonfinite(reader);
    hu_status status = hu_array_read_next(reader, &raw, err);
    if (status == HU_END) hu_fail(err, HU_INPUT, "%s: is empty", hu_source_name(source));
    if (!err->status && hu_array_expect_end(reader, err) == HU_OK) {
        if (raw->scalar == HU_C128) hu_fail(err, HU_INPUT, "%s: holds complex numbers", hu_source_name(source));
        else hu_dense_convert(raw, HU_F64, HU_COL_MAJOR, ret, err);
    }
    hu_dense_free(raw);
    hu_array_reader_free(reader);
    return err->status;
}

/* A vector may come as one row. */
static void stand_up(hu_dense *a, int64_t rows)
{
    if (a->rows != 1 || rows == 1 || a->cols != rows) return;
    a->rows = a->ld = rows;
    a->cols = 1;
}

hu_status input_read_array(const input *in, int64_t item, input_name name, int64_t rows, hu_dense **ret_array, hu_error *err)
{
    bool is_mtx;
    hu_source *source = NULL;
    const char *file = in->options->file[name];
    const int64_t at = file ? -1 : find_member(in, item, name, &is_mtx);
    *ret_array = NULL;
    if (!file && at < 0) return HU_OK;
    if (file ? hu_source_open(file, NULL, &source, err) : hu_members_open(in->members, at, &source, err)) return err->status;
    if (read_dense(source, name, ret_array, err) == HU_OK) {
        hu_dense *a = *ret_array;
        if (rows >= 0) stand_up(a, rows);
        if (rows >= 0 && a->rows != rows)
            hu_fail(err, HU_INPUT, "%s: has %lld rows where the problem has %lld", hu_source_name(source), (long long)a->rows, (long long)rows);
    }
    hu_source_close(source);
    if (err->status) {
        hu_dense_free(*ret_array);
        *ret_array = NULL;
    }
    return err->status;
}

/* ---- matrices ----------------------------------------------------------------------------------------------------------------------- */

static hu_status dense_to_csr(const hu_dense *a, hu_csr **ret, hu_error *err)
{
    const double *v = a->data;
    int64_t count = 0;
    for (int64_t i = 0; i < a->rows * a->cols; i++) count += v[i] != 0;
    if (hu_csr_new(a->rows, a->cols, count, false, ret, err)) return err->status;
    int64_t at = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t j = 0; j < a->cols; j++)
            if (v[j * a->ld + i] != 0) (*ret)->col[at] = (int32_t)j, (*ret)->val[at++] = v[j * a->ld + i];
        (*ret)->row_ptr[i + 1] = at;
    }
    return HU_OK;
}

/* *ret_symmetric: the file itself says so. */
static hu_status read_any_matrix(const input *in, int64_t item, input_name name, hu_csr **ret, bool *ret_symmetric, char **ret_label, hu_error *err)
{
    hu_mtx_options options = HU_MTX_DEFAULTS;
    hu_mtx_info info = {0};
    hu_source *source = NULL;
    hu_dense *dense = NULL;
    bool is_mtx = false;
    const char *file = in->options->file[name];
    const int64_t at = file ? -1 : find_member(in, item, name, &is_mtx);
    *ret = NULL;
    *ret_symmetric = false;
    *ret_label = NULL;
    if (!file && at < 0) return HU_OK;
    if (file && !hu_ends_in(file, ".npy") && !hu_ends_in(file, ".csv")) {
        hu_matrix_read(file, &options, ret, &info, err);
        *ret_label = strdup(file);
    } else {
        if (file ? hu_source_open(file, NULL, &source, err) : hu_members_open(in->members, at, &source, err)) return err->status;
        if (is_mtx) hu_mtx_read_csr(source, &options, ret, &info, err);
        else if (read_dense(source, name, &dense, err) == HU_OK) dense_to_csr(dense, ret, err);
        *ret_label = strdup(hu_source_name(source));
    }
    hu_dense_free(dense);
    hu_source_close(source);
    if (!err->status && !*ret_label) hu_fail(err, HU_SYSTEM, "out of memory");
    if (!err->status && (*ret)->is_complex) hu_fail(err, HU_INPUT, "%s: holds complex numbers", *ret_label);
    *ret_symmetric = info.symmetry == HU_MTX_SYMMETRIC;
    if (err->status) {
        hu_csr_free(*ret);
        *ret = NULL;
    }
    return err->status;
}

hu_status input_read_matrix(const input *in, int64_t item, input_name name, int64_t rows, int64_t cols, hu_csr **ret_matrix, hu_error *err)
{
    bool symmetric;
    char *label;
    if (read_any_matrix(in, item, name, ret_matrix, &symmetric, &label, err) == HU_OK && *ret_matrix && ((rows >= 0 && (*ret_matrix)->rows != rows) || (cols >= 0 && (*ret_matrix)->cols != cols))) {
        hu_fail(err, HU_INPUT, "%s: is %lld x %lld where the problem has %lld x %lld", label, (long long)(*ret_matrix)->rows, (long long)(*ret_matrix)->cols, (long long)rows,
                (long long)cols);
        hu_csr_free(*ret_matrix);
        *ret_matrix = NULL;
    }
    free(label);
    return err->status;
}

/* P + weight P', or the triangle and its mirror. */
static hu_status mirror(hu_csr **a, input_triangle how, hu_error *err)
{
    const hu_csr *P = *a;
    hu_coo *e;
    hu_csr *sum;
    if (hu_coo_new(P->rows, P->cols, 2 * P->nnz, false, &e, err)) return err->status;
    e->nnz = 0;
    for (int64_t i = 0; i < P->rows; i++)
        for (int64_t p = P->row_ptr[i]; p < P->row_ptr[i + 1]; p++) {
            const int64_t j = P->col[p];
            if ((how == TRIANGLE_LOWER && j > i) || (how == TRIANGLE_UPPER && j < i)) continue;
            const double value = how == TRIANGLE_MEAN ? 0.5 * P->val[p] : P->val[p];
            e->row[e->nnz] = (int32_t)i, e->col[e->nnz] = (int32_t)j, e->val[e->nnz++] = value;
            if (i != j || how == TRIANGLE_MEAN) e->row[e->nnz] = (int32_t)j, e->col[e->nnz] = (int32_t)i, e->val[e->nnz++] = value;
        }
    if (hu_csr_from_coo(&e, HU_DUP_SUM, "P", &sum, err)) return err->status;
    hu_csr_free(*a);
    *a = sum;
    return HU_OK;
}

hu_status input_check_symmetric(const hu_csr *P, const char *label, hu_error *err)
{
    hu_csr *T;
    if (hu_csr_transpose(P, false, &T, err)) return err->status;
    int64_t bad = -1, column = -1;
    for (int64_t i = 0; i < P->rows && bad < 0; i++)
        for (int64_t p = P->row_ptr[i]; p < P->row_ptr[i + 1] || p < T->row_ptr[i + 1]; p++)
            if (p >= P->row_ptr[i + 1] || p >= T->row_ptr[i + 1] || P->col[p] != T->col[p] || P->val[p] != T->val[p]) {
                bad = i;
                column = p < P->row_ptr[i + 1] ? P->col[p] : T->col[p];
                break;
            }
    hu_csr_free(T);
    if (bad < 0) return HU_OK;
    return hu_fail(err, HU_INPUT, "%s: row %lld: the matrix is not symmetric at column %lld; of P, say what counts by --triangle=lower, upper or sym", label, (long long)bad + 1, (long long)column + 1);
}

static hu_status read_P(const input *in, int64_t item, hu_csr **ret_P, hu_error *err)
{
    bool symmetric;
    char *label;
    if (read_any_matrix(in, item, IN_P, ret_P, &symmetric, &label, err) == HU_OK && *ret_P) {
        if ((*ret_P)->rows != (*ret_P)->cols) hu_fail(err, HU_INPUT, "%s: P is %lld x %lld, not square", label, (long long)(*ret_P)->rows, (long long)(*ret_P)->cols);
        else if (!symmetric && in->options->triangle != TRIANGLE_NONE) mirror(ret_P, in->options->triangle, err);
        else if (!symmetric) input_check_symmetric(*ret_P, label, err);
    }
    free(label);
    if (err->status) {
        hu_csr_free(*ret_P);
        *ret_P = NULL;
    }
    return err->status;
}

/* ---- the problem ----------------------------------------------------------------------------------------------------------------------- */

static hu_status read_vector_into(const input *in, int64_t item, input_name name, int64_t rows, double *x, hu_error *err)
{
    hu_dense *a;
    if (input_read_array(in, item, name, rows, &a, err) || !a) return err->status;
    if (a->cols != 1) hu_fail(err, HU_INPUT, "%s: %s has %lld columns, not one", in->name, names[name], (long long)a->cols);
    else memcpy(x, a->data, (size_t)rows * sizeof *x);
    hu_dense_free(a);
    return err->status;
}

/* The number of variables, from the first part that tells it. */
static hu_status count_variables(const input *in, int64_t item, const hu_csr *P, const hu_csr *A, const hu_csr *F, int64_t *ret_n, hu_error *err)
{
    hu_dense *q = NULL;
    if (input_read_array(in, item, has_part(in, item, IN_Q) ? IN_Q : IN_D, -1, &q, err)) return err->status;
    const int64_t of_q = q ? (q->rows == 1 && q->cols > 1 ? q->cols : q->rows) : -1;
    hu_dense_free(q);
    *ret_n = P ? P->rows : F ? F->rows : of_q >= 0 ? of_q : A ? A->cols : -1;
    if (*ret_n < 0) return hu_fail(err, HU_INPUT, "%s: holds no problem: none of P, q, d, F, A", in->name);
    if (A && A->cols != *ret_n) return hu_fail(err, HU_INPUT, "%s: A has %lld columns where the problem has %lld variables", in->name, (long long)A->cols, (long long)*ret_n);
    return HU_OK;
}

/* ---- factors ------------------------------------------------------------------------------------------------------------------------------ */

/* diag(d) over the first n of n + k variables, 1 over the others. */
static hu_status lifted_P(const double *d, int64_t n, int64_t k, hu_csr **ret, hu_error *err)
{
    if (hu_csr_new(n + k, n + k, n + k, false, ret, err)) return err->status;
    for (int64_t j = 0; j < n + k; j++) {
        (*ret)->col[j] = (int32_t)j;
        (*ret)->val[j] = j < n ? d[j] : 1.0;
        (*ret)->row_ptr[j + 1] = j + 1;
    }
    return HU_OK;
}

/* [A 0; F' -I] */
static hu_status lifted_A(const hu_csr *A, const hu_csr *F, hu_csr **ret, hu_error *err)
{
    hu_csr *T;
    const int64_t m = A ? A->rows : 0, nnz = A ? A->nnz : 0, n = F->rows, k = F->cols;
    if (hu_csr_transpose(F, false, &T, err)) return err->status;
    if (hu_csr_new(m + k, n + k, nnz + T->nnz + k, false, ret, err) == HU_OK) {
        hu_csr *B = *ret;
        int64_t at = nnz;
        if (A) {
            memcpy(B->row_ptr, A->row_ptr, (size_t)(m + 1) * sizeof *A->row_ptr);
            memcpy(B->col, A->col, (size_t)nnz * sizeof *A->col);
            memcpy(B->val, A->val, (size_t)nnz * sizeof *A->val);
        }
        for (int64_t r = 0; r < k; r++) {
            for (int64_t p = T->row_ptr[r]; p < T->row_ptr[r + 1]; p++) B->col[at] = T->col[p], B->val[at++] = T->val[p];
            B->col[at] = (int32_t)(n + r);
            B->val[at++] = -1;
            B->row_ptr[m + r + 1] = at;
        }
    }
    hu_csr_free(T);
    return err->status;
}

/* Replaces P and A by those of the lifted problem. */
static hu_status lift(const input *in, int64_t item, const hu_csr *F, int64_t n, hu_csr **P, hu_csr **A, hu_error *err)
{
    double *d;
    hu_csr *B = NULL;
    if (hu_alloc_zero(n, sizeof *d, "a diagonal", (void **)&d, err)) return err->status;
    if (read_vector_into(in, item, IN_D, n, d, err) == HU_OK && lifted_P(d, n, F->cols, P, err) == HU_OK && lifted_A(*A, F, &B, err) == HU_OK) {
        hu_csr_free(*A);
        *A = B;
    }
    hu_free(d);
    return err->status;
}

/* d without F is a diagonal P. */
static hu_status no_factor(int64_t n, hu_csr **ret_F, hu_error *err)
{
    if (hu_csr_new(n, 0, 0, false, ret_F, err)) return err->status;
    memset((*ret_F)->row_ptr, 0, (size_t)(n + 1) * sizeof *(*ret_F)->row_ptr);
    return HU_OK;
}

hu_status input_read_problem(const input *in, int64_t item, input_problem *ret_problem, hu_error *err)
{
    hu_csr *P = NULL, *A = NULL;
    input_problem r = {NULL, 0, 0, NULL};
    const bool factored = has_part(in, item, IN_D) || has_part(in, item, IN_F);
    *ret_problem = r;
    if (factored && has_part(in, item, IN_P)) return hu_fail(err, HU_INPUT, "%s: P and its factors d, F cannot both be given", in->name);
    if (read_P(in, item, &P, err) || input_read_matrix(in, item, IN_A, -1, -1, &A, err) || input_read_matrix(in, item, IN_F, -1, -1, &r.F, err)) goto failed;
    if (count_variables(in, item, P, A, r.F, &r.n, err)) goto failed;
    r.m = A ? A->rows : 0;
    if (factored && ((!r.F && no_factor(r.n, &r.F, err)) || lift(in, item, r.F, r.n, &P, &A, err))) goto failed;
    const int64_t all = r.n + (r.F ? r.F->cols : 0);
    hu_status status = qp_new(P, A, all, &r.p, err);
    P = A = NULL;
    if (status) goto failed;
    if (read_vector_into(in, item, IN_Q, r.n, r.p->q, err) || read_vector_into(in, item, IN_L, r.m, r.p->l, err) || read_vector_into(in, item, IN_U, r.m, r.p->u, err) ||
        read_vector_into(in, item, IN_LB, r.n, r.p->lb, err) || read_vector_into(in, item, IN_UB, r.n, r.p->ub, err) || read_vector_into(in, item, IN_C0, 1, &r.p->c0, err))
        goto failed;
    for (int64_t i = r.m; i < r.p->m; i++) r.p->l[i] = r.p->u[i] = 0;
    if (qp_check_bounds(r.p, in->name, err)) goto failed;
    *ret_problem = r;
    return HU_OK;
failed:
    hu_csr_free(P);
    hu_csr_free(A);
    input_problem_free(&r);
    return err->status;
}

void input_problem_free(input_problem *p)
{
    qp_free(p->p);
    hu_csr_free(p->F);
    *p = (input_problem){NULL, 0, 0, NULL};
}
