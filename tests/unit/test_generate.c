/* test_generate.c: the generated matrices are what their options say. */
#include "config.h"
#include "generate.h"
#include "hu_test.h"

#include <math.h>

static hu_csr *make(const hu_gen *g)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = NULL;
    ck_assert_ok(hu_gen_matrix(g, &a, &err));
    ck_assert_ok(hu_csr_check(a, "generated", &err));
    return a;
}

/* Forward or backward substitution, in whole numbers and fractions that double holds exactly. */
static void solve(const hu_csr *t, bool lower, const double *b, double *x)
{
    for (int64_t k = 0; k < t->rows; k++) {
        int64_t i = lower ? k : t->rows - 1 - k;
        double sum = b[i], d = 0;
        for (int64_t p = t->row_ptr[i]; p < t->row_ptr[i + 1]; p++) {
            if (t->col[p] == i) d = t->val[p];
            else sum -= t->val[p] * x[t->col[p]];
        }
        x[i] = sum / d;
    }
}

static hu_gen of_family(int family, int order, int part)
{
    hu_gen g = HU_GEN_DEFAULTS;
    g.family = (hu_gen_family)family;
    g.order = (hu_gen_order)order;
    g.part = (hu_gen_part)part;
    g.nx = 12;
    g.ny = 11;
    g.nz = 1;
    g.points = 9;
    g.band = 9;
    g.seed = 7;
    return g;
}

/* Every family, order and triangle solves back to the solution it was made from, without any rounding. */
START_TEST(integers_are_exact)
{
    for (int order = 0; order < HU_GEN_ORDERS; order++)
        for (int part = HU_GEN_LOWER; part <= HU_GEN_UPPER; part++) {
            hu_gen g = of_family(_i, order, part);
            g.values = HU_GEN_INTEGER;
            hu_csr *t = make(&g);
            double x[132], b[132], y[132] = {0};
            ck_assert_int_eq(t->rows, 132);
            hu_gen_solution(&g, t->rows, 1, x);
            hu_gen_rhs(t, 1, x, b);
            solve(t, part == HU_GEN_LOWER, b, y);
            for (int i = 0; i < 132; i++) ck_assert_double_eq(x[i], y[i]);
            hu_csr_free(t);
        }
}
END_TEST

static double entry(const hu_csr *a, int64_t i, int64_t j)
{
    for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
        if (a->col[p] == j) return a->val[p];
    return 0;
}

/* The two triangles are those of the whole, and a symmetric whole is symmetric. */
START_TEST(parts_agree)
{
    for (int order = 0; order < HU_GEN_ORDERS; order++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            hu_csr *a[HU_GEN_PARTS];
            for (int part = 0; part < HU_GEN_PARTS; part++) {
                hu_gen g = of_family(_i, order, part);
                g.symmetric = symmetric;
                g.coefficients = HU_GEN_CONVECTION;
                a[part] = make(&g);
            }
            ck_assert_int_eq(a[HU_GEN_FULL]->nnz + 132, a[HU_GEN_LOWER]->nnz + a[HU_GEN_UPPER]->nnz);
            for (int64_t i = 0; i < 132; i++)
                for (int64_t p = a[HU_GEN_FULL]->row_ptr[i]; p < a[HU_GEN_FULL]->row_ptr[i + 1]; p++) {
                    int64_t j = a[HU_GEN_FULL]->col[p];
                    double v = a[HU_GEN_FULL]->val[p];
                    ck_assert_double_eq(v, entry(a[j <= i ? HU_GEN_LOWER : HU_GEN_UPPER], i, j));
                    if (symmetric) ck_assert_double_eq(v, entry(a[HU_GEN_FULL], j, i));
                }
            for (int part = 0; part < HU_GEN_PARTS; part++) hu_csr_free(a[part]);
        }
}
END_TEST

/* Rows are diagonally dominant where they are said to be. */
START_TEST(dominant_rows)
{
    hu_gen g = of_family(_i, HU_GEN_ORDER_RANDOM, HU_GEN_FULL);
    g.values = HU_GEN_DOMINANT;
    hu_csr *a = make(&g);
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) sum += a->col[p] == i ? 0 : fabs(a->val[p]);
        ck_assert(entry(a, i, i) > sum);
    }
    hu_csr_free(a);
}
END_TEST

/* A cell away from the walls has as many entries as its stencil has points; the whole has what counting pairs gives. */
START_TEST(stencils)
{
    static const struct {
        int points, nx, ny, nz, reach;
        int64_t nnz;
    } cases[] = {{3, 40, 1, 1, 1, 40 + 2 * 39},
                 {5, 8, 7, 1, 1, 56 + 2 * (7 * 7 + 8 * 6)},
                 {7, 8, 7, 1, 1, 56 + 2 * (7 * 7 + 8 * 6 + 7 * 6)},
                 {9, 8, 7, 1, 1, (3 * 8 - 2) * (3 * 7 - 2)},
                 {13, 8, 7, 1, 2, 56 + 2 * (7 * 7 + 8 * 6 + 6 * 7 + 8 * 5 + 2 * 7 * 6)},
                 {7, 6, 5, 7, 1, 210 + 2 * (5 * 5 * 7 + 6 * 4 * 7 + 6 * 5 * 6)},
                 {13, 6, 5, 7, 2, 210 + 2 * (5 * 5 * 7 + 6 * 4 * 7 + 6 * 5 * 6 + 4 * 5 * 7 + 6 * 3 * 7 + 6 * 5 * 5)},
                 {19, 6, 5, 7, 1, 210 + 2 * (5 * 5 * 7 + 6 * 4 * 7 + 6 * 5 * 6 + 2 * (5 * 4 * 7 + 5 * 5 * 6 + 6 * 4 * 6))},
                 {27, 6, 5, 7, 1, (3 * 6 - 2) * (3 * 5 - 2) * (3 * 7 - 2)}};
    hu_gen g = HU_GEN_DEFAULTS;
    g.points = cases[_i].points;
    g.nx = cases[_i].nx;
    g.ny = cases[_i].ny;
    g.nz = cases[_i].nz;
    g.part = HU_GEN_FULL;
    hu_csr *a = make(&g);
    ck_assert_int_eq(a->nnz, cases[_i].nnz);
    int64_t r = cases[_i].reach, inside = r + g.nx * ((g.ny > 1 ? r : 0) + g.ny * (g.nz > 1 ? r : 0));
    ck_assert_int_eq(a->row_ptr[inside + 1] - a->row_ptr[inside], g.points);
    hu_csr_free(a);

    g.dof = 3;
    a = make(&g);
    ck_assert_int_eq(a->nnz, 9 * cases[_i].nnz);
    hu_csr_free(a);
}
END_TEST

static int64_t width(const hu_csr *a)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
            if (llabs(i - a->col[p]) > most) most = llabs(i - a->col[p]);
    return most;
}

START_TEST(rcm_narrows)
{
    hu_gen g = HU_GEN_DEFAULTS;
    g.family = HU_GEN_MESH;
    g.nx = 40;
    g.ny = 25;
    g.nz = 1;
    g.order = HU_GEN_ORDER_RANDOM;
    hu_csr *random = make(&g);
    g.order = HU_GEN_ORDER_RCM;
    hu_csr *narrow = make(&g);
    ck_assert_int_eq(random->nnz, narrow->nnz);
    ck_assert_int_gt(width(random), 800);
    ck_assert_int_lt(width(narrow), 90);
    hu_csr_free(random);
    hu_csr_free(narrow);
}
END_TEST

/* Rows of a layer refer to the layer before only; rows of a supernode have the columns of its first row, then the rows of the supernode before them. */
START_TEST(layers_and_supernodes)
{
    hu_gen g = of_family(HU_GEN_LAYERS, HU_GEN_ORDER_NATURAL, HU_GEN_LOWER);
    g.per_row = 4;
    hu_csr *a = make(&g);
    for (int64_t i = 0; i < a->rows; i++) {
        ck_assert_int_eq(a->row_ptr[i + 1] - a->row_ptr[i], i < 9 ? 1 : 5);
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1] - 1; p++) ck_assert_int_eq(a->col[p] / 9, i / 9 - 1);
    }
    hu_csr_free(a);
    g.family = HU_GEN_SUPERNODES;
    a = make(&g);
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t first = i - i % 9, before = first < 8 ? first / 2 : 4, p = a->row_ptr[i];
        ck_assert_int_eq(a->row_ptr[i + 1] - p, before + i % 9 + 1);
        for (int64_t k = 0; k < before; k++) ck_assert_int_eq(a->col[p + k], a->col[a->row_ptr[first] + k]);
        for (int64_t k = 0; k <= i % 9; k++) ck_assert_int_eq(a->col[p + before + k], first + k);
    }
    hu_csr_free(a);
}
END_TEST

START_TEST(refused)
{
    static const hu_gen wrong[] = {
        {.family = HU_GEN_GRID, .nx = 3, .ny = 3, .nz = 1, .points = 27, .dof = 1}, {.family = HU_GEN_GRID, .nx = 3, .ny = 3, .nz = 3, .points = 8, .dof = 1},
        {.family = HU_GEN_CHAIN, .nx = 100000, .ny = 100000, .nz = 1, .band = 1},   {.family = HU_GEN_CHAIN, .nx = 0, .ny = 1, .nz = 1, .band = 1},
        {.family = HU_GEN_MESH, .nx = 3, .ny = 3, .nz = 2},                          {.family = HU_GEN_BLOCKS, .nx = 3, .ny = 3, .nz = 1, .band = 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hu_error err = HU_ERROR_NONE;
        hu_csr *a;
        ck_assert_int_eq(hu_gen_matrix(&wrong[i], &a, &err), HU_USAGE);
        ck_assert_ptr_null(a);
    }
}
END_TEST

START_TEST(shuffled_is_the_same)
{
    hu_error err = HU_ERROR_NONE;
    hu_gen g = of_family(HU_GEN_MESH, HU_GEN_ORDER_NATURAL, HU_GEN_FULL);
    hu_csr *a = make(&g), *b = NULL;
    hu_coo *coo = NULL;
    ck_assert_ok(hu_gen_shuffled(a, 3, &coo, &err));
    int64_t falls = 0;
    for (int64_t p = 1; p < coo->nnz; p++) falls += coo->row[p] < coo->row[p - 1];
    ck_assert_int_gt(falls, coo->nnz / 3);
    ck_assert_ok(hu_csr_from_coo(&coo, HU_DUP_ERROR, "shuffled", &b, &err));
    ck_assert_int_eq(a->nnz, b->nnz);
    ck_assert_mem_eq(a->row_ptr, b->row_ptr, sizeof *a->row_ptr * (size_t)(a->rows + 1));
    ck_assert_mem_eq(a->col, b->col, sizeof *a->col * (size_t)a->nnz);
    ck_assert_mem_eq(a->val, b->val, sizeof *a->val * (size_t)a->nnz);
    hu_csr_free(a);
    hu_csr_free(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("generate");
    TCase *tests = tcase_create("generate");
    tcase_add_loop_test(tests, integers_are_exact, 0, HU_GEN_FAMILIES);
    tcase_add_loop_test(tests, parts_agree, 0, HU_GEN_FAMILIES);
    tcase_add_loop_test(tests, dominant_rows, 0, HU_GEN_FAMILIES);
    tcase_add_loop_test(tests, stencils, 0, 9);
    tcase_add_test(tests, rcm_narrows);
    tcase_add_test(tests, layers_and_supernodes);
    tcase_add_test(tests, refused);
    tcase_add_test(tests, shuffled_is_the_same);
    suite_add_tcase(suite, tests);
    return hu_test_run(suite);
}
