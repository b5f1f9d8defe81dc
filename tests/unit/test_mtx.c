/* test_mtx.c: reading and writing Matrix Market files: what the texts mean, what is refused and where, that the number
 * of threads changes nothing, that a write reads back to the same bits, and the public files where they are at hand.
 */
#include "config.h"
#include "hu_test.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/random.h"
#include "io/mtx.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/hu_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    hu_set_verbosity(-1);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "cd / && rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static hu_status read_file(const char *path, const hu_mtx_options *options, hu_csr **ret_csr, hu_mtx_info *info,
                           hu_error *err)
{
    hu_source *source;
    *ret_csr = NULL;
    if (hu_source_open(path, ".mtx", &source, err)) return err->status;
    hu_mtx_read_csr(source, options, ret_csr, info, err);
    hu_source_close(source);
    return err->status;
}

static hu_status read_dense(const char *path, const hu_mtx_options *options, hu_dense **ret_dense, hu_error *err)
{
    hu_source *source;
    *ret_dense = NULL;
    if (hu_source_open(path, ".mtx", &source, err)) return err->status;
    hu_mtx_read_dense(source, options, ret_dense, NULL, err);
    hu_source_close(source);
    return err->status;
}

/* The entries as text, "row,col=value ", to compare with. */
static const char *shown(const hu_csr *a)
{
    static char text[2000];
    size_t n = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%lld,%d=", (long long)i + 1, a->col[p] + 1);
            if (a->is_complex)
                n += (size_t)snprintf(text + n, sizeof text - n, "%.17g:%.17g ", a->val[2 * p], a->val[2 * p + 1]);
            else n += (size_t)snprintf(text + n, sizeof text - n, "%.17g ", a->val[p]);
            ck_assert_uint_lt(n, sizeof text);
        }
    return text;
}

static void expect(const char *text, const hu_mtx_options *opt_options, const char *wanted)
{
    hu_mtx_options defaults = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    put("t.mtx", text);
    hu_status status = read_file("t.mtx", opt_options ? opt_options : &defaults, &a, NULL, &err);
    ck_assert_msg(status == HU_OK, "%s\n in\n%s", err.message, text);
    ck_assert_msg(strcmp(shown(a), wanted) == 0, "%s instead of %s from\n%s", shown(a), wanted, text);
    ck_assert_ok(hu_csr_check(a, "t.mtx", &err));
    hu_csr_free(a);
}

static void refuse(const char *text, const hu_mtx_options *opt_options, const char *message)
{
    hu_mtx_options defaults = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    hu_csr *a;
    put("t.mtx", text);
    hu_status status = read_file("t.mtx", opt_options ? opt_options : &defaults, &a, NULL, &err);
    ck_assert_msg(status == HU_INPUT || status == HU_SYSTEM, "read instead of refused (%s):\n%s", message, text);
    ck_assert_msg(strstr(err.message, message), "'%s' instead of '%s' for\n%s", err.message, message, text);
    ck_assert_ptr_null(a);
}

#define REAL      "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define SKEW      "%%MatrixMarket matrix coordinate real skew-symmetric\n"
#define HERMITIAN "%%MatrixMarket matrix coordinate complex hermitian\n"
#define INTEGER   "%%MatrixMarket matrix coordinate integer general\n"
#define PATTERN   "%%MatrixMarket matrix coordinate pattern general\n"
#define COMPLEX   "%%MatrixMarket matrix coordinate complex general\n"
#define ARRAY     "%%MatrixMarket matrix array real general\n"

START_TEST(texts_that_are_legal)
{
    expect(REAL "2 2 2\n1 1 1\n2 2 -3.5\n", NULL, "1,1=1 2,2=-3.5 ");
    /* fast_matrix_market#10: blank lines, odd case, free spacing */
    expect("%%MatrixMarket MATRIX Coordinate REAL General\n\n  2 2   3\n\n1 1 2.e0\n\n2 1 -1\n2 2 +4E-0", NULL,
           "1,1=2 2,1=-1 2,2=4 ");
    expect("%%matrixmarket\tmatrix coordinate  real general \r\n% c\r\n2\t2 1\r\n%% c\r\n\r\n \t1\t 2 \t.5\t \r\n",
           NULL, "1,2=0.5 ");
    expect(REAL "%\n%%GraphBLAS type double\n  % indented\n1 1 1\n% between\n1 1 7\n% behind\n\n", NULL, "1,1=7 ");
    expect("\xef\xbb\xbf" REAL "1 1 1\n1 1 1D+3\n", NULL, "1,1=1000 ");
    expect(REAL "0 0 0\n", NULL, "");
    expect(REAL "3 4 0", NULL, "");
    expect(REAL "2 2 3\n2 2 1\n1 1 1\n2 2 2\n", NULL, "1,1=1 2,2=3 "); /* duplicates are summed */
    expect(REAL "00002 2 2\n0002 +1 8\n000000000000001 0000000002 9", NULL,
           "1,2=9 2,1=8 "); /* odd, but whole numbers */
    expect(REAL "1 200000001 4\n1 9999999 1\n1 10000000 2\n1 99999999 3\n1 200000001 4", NULL,
           "1,9999999=1 1,10000000=2 1,99999999=3 1,200000001=4 ");
}
END_TEST

START_TEST(fields)
{
    hu_mtx_options half = {HU_MTX_BOTH, HU_DUP_SUM, 0.5, false, false};
    expect(INTEGER "1 3 3\n1 1 -7\n1 2 +9007199254740993\n1 3 9223372036854775807\n", NULL,
           "1,1=-7 1,2=9007199254740992 1,3=9.2233720368547758e+18 ");
    expect(PATTERN "2 2 2\n1 1\n2 1\n", NULL, "1,1=1 2,1=1 ");
    expect(PATTERN "2 2 2\n1 1\n2 1\n", &half, "1,1=0.5 2,1=0.5 ");
    expect(COMPLEX "2 2 2\n1 1 1 2\n2 1 -.5 0\n", NULL, "1,1=1:2 2,1=-0.5:0 ");
    expect("%%MatrixMarket matrix coordinate double general\n1 1 1\n1 1 4\n", NULL, "1,1=4 ");
    expect(ARRAY "2 2\n1\n0\n% c\n\n3\n4\n", NULL, "1,1=1 1,2=3 2,2=4 "); /* by columns; zeros are left out */
    expect("%%MatrixMarket matrix array complex general\n1 2\n1 2\n0 1\n", NULL, "1,1=1:2 1,2=0:1 ");
    expect("%%MatrixMarket matrix array integer general\n1 2\n1\n-2\n", NULL, "1,1=1 1,2=-2 ");
}
END_TEST

START_TEST(symmetries)
{
    hu_mtx_options both = HU_MTX_DEFAULTS, lower = both, upper = both;
    lower.half = HU_MTX_LOWER;
    upper.half = HU_MTX_UPPER;
    const char *s = SYMMETRIC "2 2 2\n1 1 5\n2 1 3\n", *k = SKEW "2 2 1\n2 1 3\n",
               *h = HERMITIAN "2 2 2\n1 1 5 0\n2 1 3 4\n";
    expect(s, &both, "1,1=5 1,2=3 2,1=3 ");
    expect(s, &lower, "1,1=5 2,1=3 ");
    expect(s, &upper, "1,1=5 1,2=3 ");
    expect(k, &both, "1,2=-3 2,1=3 ");
    expect(k, &lower, "2,1=3 ");
    expect(k, &upper, "1,2=-3 ");
    expect(h, &both, "1,1=5:0 1,2=3:-4 2,1=3:4 ");
    expect(h, &upper, "1,1=5:0 1,2=3:-4 ");
    /* entries in the upper triangle mean the same matrix */
    expect(SYMMETRIC "2 2 2\n1 1 5\n1 2 3\n", &lower, "1,1=5 2,1=3 ");
    expect(SKEW "2 2 1\n1 2 3\n", &lower, "2,1=-3 ");
    expect(HERMITIAN "2 2 1\n1 2 3 4\n", &both, "1,2=3:4 2,1=3:-4 ");
    expect(SYMMETRIC "3 3 2\n2 1 3\n2 3 4\n", &both, "1,2=3 2,1=3 2,3=4 3,2=4 ");
    refuse(SYMMETRIC "3 3 2\n2 1 3\n1 2 4\n", &both, "both triangles");
    refuse(SYMMETRIC "3 3 2\n2 1 3\n1 2 4\n", &lower, "both triangles");
    expect(SYMMETRIC "3 3 2\n2 1 3\n2 1 4\n", &both, "1,2=7 2,1=7 ");
    expect(SKEW "2 2 2\n1 1 0\n2 1 3\n", &lower, "1,1=0 2,1=3 "); /* a zero on the diagonal says nothing wrong */
    refuse(SKEW "2 2 2\n2 1 3\n1 1 1\n", NULL, "t.mtx:4: entry (1,1)");
    refuse(HERMITIAN "2 2 2\n1 1 5 0\n2 2 3 4\n", NULL, "t.mtx:4: entry (2,2)");
    /* arrays: the lower triangle by columns; skew without the diagonal */
    const char *as = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    expect(as, &both, "1,1=1 1,2=2 2,1=2 2,2=3 ");
    expect(as, &lower, "1,1=1 2,1=2 2,2=3 ");
    expect(as, &upper, "1,1=1 1,2=2 2,2=3 ");
    const char *ak = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    expect(ak, &both, "1,2=-1 1,3=-2 2,1=1 2,3=-3 3,1=2 3,2=3 ");
    expect(ak, &lower, "2,1=1 3,1=2 3,2=3 ");
    expect("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n", &both,
           "1,1=1:0 1,2=2:-3 2,1=2:3 2,2=4:0 ");
    refuse("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n%\n2 3\n4 1\n", &both, "t.mtx:6: entry (2,2)");
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "the file is empty"},
        {"\n", "t.mtx:1: not a Matrix Market file"},
        {"1 1 1\n1 1 1\n", "t.mtx:1: not a Matrix Market file"},
        {"%%MatrixMarket matrix coordinate real\n1 1 0\n", "t.mtx:1: the banner has 3 words"},
        {"%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", "t.mtx:1: the banner has 5 words"},
        {"%%MatrixMarket vector coordinate real general\n1 1 0\n", "t.mtx:1: the object is 'vector'"},
        {"%%MatrixMarket matrix sparse real general\n1 1 0\n", "t.mtx:1: the format 'sparse'"},
        {"%%MatrixMarket matrix coordinate float general\n1 1 0\n", "t.mtx:1: the field 'float'"},
        {"%%MatrixMarket matrix coordinate real lower\n1 1 0\n", "t.mtx:1: the symmetry 'lower'"},
        {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "t.mtx:1: a hermitian matrix must be complex"},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "t.mtx:1: a pattern cannot be skew"},
        {"%%MatrixMarket matrix array pattern general\n1 1\n", "t.mtx:1: an array cannot be a pattern"},
        {REAL, "t.mtx:1: the file ends before its size line"},
        {REAL "% c\n\n", "t.mtx:3: the file ends before its size line"},
        {REAL "2 2\n", "t.mtx:2: the size line needs three numbers"},
        {REAL "2 2 1 1\n", "t.mtx:2: the size line needs three numbers"},
        {ARRAY "2 2 4\n", "t.mtx:2: the size line needs two numbers"},
        {REAL "2 x 1\n", "t.mtx:2: the number of columns is 'x'"},
        {REAL "2 2.0 1\n", "t.mtx:2: the number of columns is '2.0'"},
        {REAL "-2 2 1\n", "t.mtx:2: the number of rows is negative"},
        {REAL "3000000000 2 1\n", "t.mtx:2: 3000000000 rows are more than 2147483647"},
        {REAL "99999999999999999999 2 1\n", "t.mtx:2: 99999999999999999999 rows"},
        {REAL "2 2 99999999999999999999\n", "t.mtx:2: 99999999999999999999 entries"},
        {REAL "2 2 1000000000000000000\n1 1 1\n", "t.mtx:3: the file ends after 1 of 1000000000000000000 entries"},
        {REAL "2 2 100000000\n1 1 1\n", "t.mtx:3: the file ends after 1 of 100000000 entries"},
        {ARRAY "2147483647 2147483647\n1\n", "t.mtx: an array of 2147483647 x 2147483647"},
        {ARRAY "1000 1000\n1\n", "t.mtx:2: the size line means 1000000 values, but the file ends after 2 more bytes"},
        {SYMMETRIC "2 3 1\n2 1 1\n", "t.mtx:2: the matrix is declared symmetric"},
        {REAL "2 2 2\n1 1 1\n3 1 5\n", "t.mtx:4: row 3 is outside 1..2"}, /* HeCBench#315 */
        {REAL "2 2 2\n1 1 1\n1 0 5\n", "t.mtx:4: column 0 is outside 1..2"},
        {REAL "2 2 1\n-1 1 5\n", "t.mtx:3: row -1 is outside 1..2"},
        {REAL "2 2 1\n99999999999999999999 1 5\n", "t.mtx:3: row 99999999999999999999 is outside 1..2"},
        {REAL "2 2 1\n4294967297 1 5\n", "t.mtx:3: row 4294967297 is outside 1..2"},
        {REAL "2 2 1\n18446744073709551617 1 5\n", "t.mtx:3: row 18446744073709551617 is outside"},
        {REAL "2 200000000 1\n1 200000001 5\n", "t.mtx:3: column 200000001 is outside 1..200000000"},
        {REAL "2 2 1\n1 10000000000000000000000 5\n", "t.mtx:3: column 10000000000000000000000 is outside 1..2"},
        {REAL "2 2 1\n1 12345678x 5\n", "t.mtx:3: the column '12345678x' is not a whole number"},
        {REAL "2 2 1\n1.0 1 5\n", "t.mtx:3: the row '1.0' is not a whole number"},
        {REAL "2 2 1\n1x 1 5\n", "t.mtx:3: the row '1x' is not a whole number"},
        {REAL "2 2 1\n1 1\n", "t.mtx:3: the line ends before its value"},
        {REAL "2 2 1\n\n1    \n", "t.mtx:4: the line ends before its column"},
        {REAL "2 2 1\n1 1 one\n", "t.mtx:3: 'one' is not a number"},
        {REAL "2 2 1\n1 1 1,5\n", "t.mtx:3: '1,5' is not a number"},
        {REAL "2 2 1\n1 1 0x10\n", "t.mtx:3: '0x10' is not a number"},
        {REAL "2 2 1\n1 1 1e\n", "t.mtx:3: '1e' is not a number"},
        {REAL "2 2 1\n1 1 nan\n", "t.mtx:3: the value 'nan' is not finite"},
        {REAL "2 2 1\n1 1 -Inf\n", "t.mtx:3: the value '-Inf' is not finite"},
        {REAL "2 2 1\n1 1 1e999\n", "t.mtx:3: the value '1e999' is not finite"},
        {REAL "2 2 1\n1 1 1 2\n", "t.mtx:3: more than one entry on a line, or something behind it: '2'"},
        {REAL "2 2 2\n1 1 1 2 2 2\n", "t.mtx:3: more than one entry"},
        {REAL "2 2 1\n1 1 1 % c\n", "t.mtx:3: more than one entry"},
        {REAL "2 2 1\n1 1 1\n2 2 2\n", "t.mtx:4: more entries than the 1"},
        {REAL "2 2 1\n1 1 1\n\n%\nrubbish\n", "t.mtx:6: the row 'rubbish'"},
        {REAL "2 2 2\n1 1 1\n%\n\n", "t.mtx:5: the file ends after 1 of 2 entries"},
        {REAL "2 2 2\n1 1 1.000", "t.mtx:3: the file ends after 1 of 2 entries"},
        {INTEGER "2 2 1\n1 1 1.5\n", "t.mtx:3: '1.5' is not an integer"},
        {INTEGER "2 2 1\n1 1 9223372036854775808\n", "t.mtx:3: the integer 9223372036854775808 does not fit"},
        {PATTERN "2 2 1\n1 1 1\n", "t.mtx:3: more than one entry"},
        {COMPLEX "2 2 1\n1 1 1 \n", "t.mtx:3: the line ends before its value"},
        {ARRAY "2 1\n1 2\n", "t.mtx:3: more than one entry on a line"}, /* ginkgo#1627 */
        {ARRAY "2 1\n1\n2\n3\n", "t.mtx:5: more entries than the 2"},
        {ARRAY "2 1\n1\n% 123456\n", "t.mtx:4: the file ends after 1 of 2 entries"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuse(cases[i].text, NULL, cases[i].message);
    char text[400] = REAL "2 2 1\n1 1 ";
    memset(text + strlen(text), 'z', 100);
    refuse(text, NULL, "zzzz...' is not a number"); /* a long token is cut */
}
END_TEST

START_TEST(options)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    const char *twice = REAL "2 2 3\n2 1 1\n1 1 4\n2 1 2\n";
    o.duplicates = HU_DUP_LAST;
    expect(twice, &o, "1,1=4 2,1=2 ");
    o.duplicates = HU_DUP_ERROR;
    refuse(twice, &o, "(2,1)");
    o = (hu_mtx_options)HU_MTX_DEFAULTS;
    o.keep_nonfinite = true;
    expect(REAL "1 2 2\n1 1 -inf\n1 2 NaN\n", &o, "1,1=-inf 1,2=nan ");
    o = (hu_mtx_options)HU_MTX_DEFAULTS;
    o.lenient = true;
    expect("2 2 1\n1 1 3\n", &o, "1,1=3 ");
    expect(REAL "2 2 3\n1 1 3\n", &o, "1,1=3 ");
    expect(REAL "2 2 1\n% c\n1 1 3\n2 2 2\n1 2 5\n", &o, "1,1=3 ");
    expect(ARRAY "2 1\n5\n", &o, "1,1=5 ");
    refuse(REAL "2 2 3\n1 1 x\n", &o, "t.mtx:3: 'x' is not a number");
}
END_TEST

START_TEST(dense)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    hu_dense *a;
    put("t.mtx", ARRAY "3 2\n1\n2\n3\n4\n5\n6\n");
    ck_assert_ok(read_dense("t.mtx", &o, &a, &err));
    ck_assert(a->rows == 3 && a->cols == 2 && a->scalar == HU_F64 && a->order == HU_COL_MAJOR);
    for (int k = 0; k < 6; k++) ck_assert_double_eq(((double *)a->data)[k], k + 1);
    hu_dense_free(a);
    put("t.mtx", COMPLEX "2 2 2\n2 1 3 4\n1 2 5 6\n");
    ck_assert_ok(read_dense("t.mtx", &o, &a, &err));
    const double wanted[] = {0, 0, 3, 4, 5, 6, 0, 0};
    ck_assert(a->scalar == HU_C128 && memcmp(a->data, wanted, sizeof wanted) == 0);
    hu_dense_free(a);
    put("t.mtx", REAL "2000000000 2000000000 1\n1 1 1\n"); /* 4e18 values */
    ck_assert_int_eq(read_dense("t.mtx", &o, &a, &err), HU_SYSTEM);
    ck_assert_ptr_null(a);
}
END_TEST

/* ---- large files, threads, streams ------------------------------------------------------------------------------ */

enum { ENTRIES = 120000, ROWS = 5000 };

/* A file of several blocks in a free style: blank and comment lines, all number shapes, CRLF. What it holds goes to
 * row, col, val. */
static void make_large(const char *path, int32_t *row, int32_t *col, double *val, int64_t *ret_lines)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    hu_random r = hu_random_stream(5, 0);
    fprintf(file, "%s%d %d %d\n", REAL, ROWS, ROWS, ENTRIES);
    int64_t lines = 2;
    for (int k = 0; k < ENTRIES; k++) {
        row[k] = (int32_t)hu_random_below(&r, ROWS);
        col[k] = (int32_t)hu_random_below(&r, 40);
        val[k] = hu_random_normal(&r);
        if (k % 3 == 0) val[k] = (double)hu_random_below(&r, 100);
        int style = (int)hu_random_below(&r, 20);
        if (style == 0) lines += fprintf(file, "%% comment %d\n", k) > 0;
        if (style == 1) lines += fprintf(file, "  \n") > 0;
        fprintf(file, style == 2 ? "  %d\t %d  %.17e \r\n" : "%d %d %.17g\n", row[k] + 1, col[k] + 1, val[k]);
        lines++;
    }
    ck_assert_int_eq(fclose(file), 0);
    *ret_lines = lines;
}

static bool same(const hu_csr *a, const hu_csr *b)
{
    int64_t w = a->is_complex ? 2 : 1;
    return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->is_complex == b->is_complex &&
           memcmp(a->row_ptr, b->row_ptr, (size_t)(a->rows + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col, b->col, (size_t)a->nnz * sizeof *a->col) == 0 &&
           memcmp(a->val, b->val, (size_t)(a->nnz * w) * sizeof *a->val) == 0;
}

START_TEST(threads_and_streams_change_nothing)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    int32_t *row = malloc(ENTRIES * sizeof *row), *col = malloc(ENTRIES * sizeof *col);
    double *val = malloc(ENTRIES * sizeof *val), *sum = calloc((size_t)ROWS * 40, sizeof *sum);
    int64_t lines;
    ck_assert(row && col && val && sum);
    make_large("large.mtx", row, col, val, &lines);
    for (int k = 0; k < ENTRIES; k++) sum[row[k] * 40 + col[k]] += val[k]; /* duplicates in the order of the file */
    hu_csr *first = NULL;
    ck_assert_int_eq(system("gzip -k large.mtx"), 0);
    const int counts[] = {1, 2, 3, 7};
    for (int t = 0; t < 4; t++) {
        hu_threads_set(counts[t]);
        for (int kind = 0; kind < 3; kind++) {
            hu_csr *a;
            FILE *pipe = NULL;
            if (kind == 2) {
                pipe = popen("cat large.mtx", "r");
                ck_assert_ptr_nonnull(pipe);
                dup2(fileno(pipe), STDIN_FILENO);
            }
            ck_assert_ok(read_file(kind == 0 ? "large.mtx" : kind == 1 ? "large.mtx.gz" : "-", &o, &a, NULL, &err));
            if (pipe) pclose(pipe);
            if (!first) {
                first = a;
                ck_assert_ok(hu_csr_check(a, "large.mtx", &err));
                for (int64_t i = 0, p = 0; i < ROWS; i++)
                    for (; p < a->row_ptr[i + 1]; p++)
                        if (a->val[p] != sum[i * 40 + a->col[p]])
                            ck_abort_msg("(%lld,%d)", (long long)i + 1, a->col[p] + 1);
            } else {
                ck_assert(same(first, a));
                hu_csr_free(a);
            }
        }
    }
    hu_csr_free(first);
    free(row);
    free(col);
    free(val);
    free(sum);
}
END_TEST

/* Two faults at random lines of a large file: the message is always that of the first, with its line. */
START_TEST(first_error_wins)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_random r = hu_random_stream(6, 0);
    const int64_t lines = 150000;
    for (int trial = 0; trial < 24; trial++) {
        int64_t a = 3 + hu_random_below(&r, lines - 3), b = 3 + hu_random_below(&r, lines - 3), n = 0;
        int64_t low = a < b ? a : b;
        FILE *file = fopen("bad.mtx", "w");
        ck_assert_ptr_nonnull(file);
        fprintf(file, "%s%d 3 %lld\n", REAL, ROWS, (long long)lines - 2);
        for (int64_t line = 3; line <= lines; line++, n++) {
            if (line == a || line == b) fprintf(file, line == low ? "1 4 1\n" : "1 1 x\n");
            else fprintf(file, "%lld %lld %lld.25\n", (long long)(n % ROWS) + 1, (long long)(n % 3) + 1, (long long)n);
        }
        fclose(file);
        char wanted[80];
        snprintf(wanted, sizeof wanted, "bad.mtx:%lld: column 4 is outside 1..3", (long long)low);
        for (int threads = 1; threads < 8; threads += 2) {
            hu_error err = HU_ERROR_NONE;
            hu_csr *m;
            hu_threads_set(threads);
            ck_assert_int_eq(read_file("bad.mtx", &o, &m, NULL, &err), HU_INPUT);
            ck_assert_str_eq(err.message, wanted);
        }
    }
}
END_TEST

/* Lines that are longer than a block, and lines that end just where a block does. */
START_TEST(blocks_and_lines)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    hu_csr *m;
    for (int shift = -3; shift < 4; shift++) {
        for (int streamed = 0; streamed < 2; streamed++) {
            FILE *file = fopen("long.mtx", "w");
            ck_assert_ptr_nonnull(file);
            fputs(REAL "9 9 6\n1 1 1\n", file);
            fprintf(file, "%%%0*d\n", (1 << 19) - 6 - 2 + shift, 0); /* ends shift bytes behind the end of a block */
            fputs("2 2 2\n3 3 3\n", file);
            fprintf(file, "%%%0*d\n", 3 << 19, 0);
            fprintf(file, "4 4 4%*s\n", 1 << 20, "");
            fprintf(file, "5 5 5.%0*d\n", 1 << 20, 0);
            fputs("6 6 6", file);
            fclose(file);
            if (streamed) ck_assert_int_eq(system("gzip -f long.mtx"), 0);
            hu_threads_set(1 + (shift & 1));
            ck_assert_ok(read_file(streamed ? "long.mtx.gz" : "long.mtx", &o, &m, NULL, &err));
            ck_assert_str_eq(shown(m), "1,1=1 2,2=2 3,3=3 4,4=4 5,5=5 6,6=6 ");
            hu_csr_free(m);
        }
    }
}
END_TEST

START_TEST(faults_of_streams)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    int32_t *row = malloc(ENTRIES * sizeof *row), *col = malloc(ENTRIES * sizeof *col);
    double *val = malloc(ENTRIES * sizeof *val);
    int64_t lines;
    hu_csr *m;
    make_large("large.mtx", row, col, val, &lines);
    ck_assert_int_eq(system("gzip -c large.mtx | head -c 300000 > cut.gz"), 0);
    hu_threads_set(2);
    ck_assert_int_eq(read_file("cut.gz", &o, &m, NULL, &err), HU_INPUT);
    ck_assert_ptr_nonnull(strstr(err.message, "cut off"));
    hu_error_clear(&err);
    put("few.mtx", REAL "5 5 1000000000\n1 1 1\n"); /* what a pipe promises is not believed either */
    ck_assert_int_eq(system("gzip -f few.mtx"), 0);
    int64_t before = hu_clock_peak_bytes();
    hu_status status = read_file("few.mtx.gz", &o, &m, NULL, &err);
    ck_assert_msg(status == HU_INPUT || status == HU_SYSTEM, "%s", err.message);
#ifndef HU_SANITIZED /* whose allocator touches memory of its own */
    ck_assert_int_lt(hu_clock_peak_bytes() - before, 64 << 20);
#else
    (void)before;
#endif
    free(row);
    free(col);
    free(val);
}
END_TEST

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void write_csr(const char *path, const hu_csr *a, const char *comment)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    ck_assert_ok(hu_output_open(path, &out, &err));
    ck_assert_ok(hu_mtx_write_csr(out, a, comment, &err));
    ck_assert_ok(hu_output_commit(&out, &err));
}

START_TEST(write_reads_back)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(8, 0);
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        hu_csr *a, *b;
        int64_t rows = 9000, nnz = 0;
        ck_assert_ok(hu_csr_new(rows, 7, rows * 7, is_complex, &a, &err));
        for (int64_t i = 0; i < rows; i++) {
            a->row_ptr[i] = nnz;
            for (int j = 0; j < 7; j++)
                if (hu_random_below(&r, 2) && i != rows - 1) a->col[nnz++] = j; /* the last row and others are empty */
        }
        a->row_ptr[rows] = a->nnz = nnz;
        for (int64_t p = 0; p < nnz * (is_complex + 1); p++) {
            uint64_t bits = hu_random_u64(&r);
            memcpy(&a->val[p], &bits, 8);
            if (!isfinite(a->val[p])) a->val[p] = -0.0;
        }
        hu_threads_set(1);
        write_csr("one.mtx", a, "made by a test\nin two lines");
        hu_threads_set(3);
        write_csr("three.mtx", a, "made by a test\nin two lines");
        ck_assert_int_eq(system("cmp one.mtx three.mtx"), 0);
        ck_assert_ok(read_file("three.mtx", &o, &b, NULL, &err));
        ck_assert(same(a, b));
        hu_csr_free(a);
        hu_csr_free(b);
    }
}
END_TEST

START_TEST(write_dense_reads_back)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(9, 0);
    const hu_scalar scalars[] = {HU_F64, HU_F32, HU_C128};
    for (int s = 0; s < 3; s++)
        for (int order = 0; order < 2; order++) {
            hu_dense *a, *b;
            hu_output *out;
            ck_assert_ok(hu_dense_new(9000, 3, scalars[s], order ? HU_ROW_MAJOR : HU_COL_MAJOR, &a, &err));
            for (int64_t k = 0; k < 27000 * (s == 2 ? 2 : 1); k++) {
                if (s == 1) ((float *)a->data)[k] = (float)hu_random_normal(&r);
                else ((double *)a->data)[k] = hu_random_normal(&r);
            }
            hu_threads_set(1 + order);
            ck_assert_ok(hu_output_open("d.mtx", &out, &err));
            ck_assert_ok(hu_mtx_write_dense(out, a, NULL, &err));
            ck_assert_ok(hu_output_commit(&out, &err));
            ck_assert_ok(read_dense("d.mtx", &o, &b, &err));
            for (int64_t i = 0; i < 9000; i++) /* the float's text reads back to the same float */
                for (int64_t j = 0; j < 3; j++) {
                    int64_t at = order ? i * 3 + j : i + j * 9000, bt = i + j * 9000;
                    bool equal = s == 1   ? ((float *)a->data)[at] == (float)((double *)b->data)[bt]
                                 : s == 0 ? ((double *)a->data)[at] == ((double *)b->data)[bt]
                                          : memcmp((double *)a->data + 2 * at, (double *)b->data + 2 * bt, 16) == 0;
                    if (!equal) ck_abort_msg("(%lld,%lld)", (long long)i, (long long)j);
                }
            hu_dense_free(a);
            hu_dense_free(b);
        }
}
END_TEST

/* ---- public files ----------------------------------------------------------------------------------------------- */

static bool data_path(char path[512], const char *name)
{
    const char *data = getenv("HU_DATA"), *source = getenv("HU_SRC");
    if (data) snprintf(path, 512, "%s/%s", data, name);
    else snprintf(path, 512, "%s/../shared/data/%s", source ? source : ".", name);
    return access(path, R_OK) == 0;
}

/* Every file of the folder, and what it deserves. NULL: to be read. The entries were counted with awk. */
static const struct {
    const char *name, *reason;
    int64_t rows, cols, nnz; /* of the whole matrix that it stands for */
} hostile[] =
    {
        {"LFAT5_hypersparse.mtx", NULL, 2000, 2000, 46},
        {"comments_cover.mtx", NULL, 7, 7, 12},
        {"comments_full.mtx", NULL, 3, 3, 9},
        {"comments_west0067.mtx", ":6: the value 'nan' is not finite", 0, 0, 0},
        {"complex.mtx", NULL, 3, 3, 9},
        {"empty.mtx", NULL, 3, 4, 0},
        {"full.mtx", NULL, 3, 3, 9},
        {"full_noheader.mtx", ":1: not a Matrix Market file", 0, 0, 0},
        {"full_symmetric.mtx", NULL, 4, 4, 16},
        {"mangled1.mtx", ":1: the object is 'mangled'", 0, 0, 0},
        {"mangled2.mtx", ":1: the format 'mangled'", 0, 0, 0},
        {"mangled3.mtx", ":1: the field 'mangled'", 0, 0, 0},
        {"mangled4.mtx", ":1: the symmetry 'mangled'", 0, 0, 0},
        {"mangled5.mtx", ":1: a pattern cannot be hermitian", 0, 0, 0},
        {"mangled6.mtx", ":1: a hermitian matrix must be complex", 0, 0, 0},
        {"mangled7.mtx", ":5: the line ends before its value", 0, 0,
         0}, /* its fault for others, an unknown type in a comment, is none */
        {"mangled8.mtx", ":4: the size line needs three numbers", 0, 0, 0},
        {"mangled9.mtx", ":4: the matrix is declared symmetric", 0, 0, 0},
        {"mangled10.mtx", ":6: the file ends after 2 of 3 entries", 0, 0, 0},
        {"mangled11.mtx", ":5: the column 'zero' is not a whole number", 0, 0, 0},
        {"mangled12.mtx", ":5: the line ends before its value", 0, 0, 0},
        {"mangled13.mtx", ":7: column 9999 is outside 1..4", 0, 0, 0},
        {"mangled14.mtx", NULL, 3, 4, 2}, /* duplicates are summed */
        {"mangled15.mtx", ":5: more than one entry on a line", 0, 0, 0},
        {"mangled16.mtx", ":5: more than one entry on a line", 0, 0, 0},
        {"mangled_format.mtx", ":1: an array cannot be a pattern", 0, 0, 0},
        /* faulty only by the type in a comment, which is not part of the format */
        {"mangled_bool.mtx", NULL, 7, 7, 12},
        {"mangled_int16.mtx", NULL, 7, 7, 12},
        {"mangled_int32.mtx", NULL, 7, 7, 12},
        {"mangled_int8.mtx", NULL, 7, 7, 12},
        {"mangled_skew.mtx", NULL, 6, 6, 20},
        {"mangled_uint16.mtx", NULL, 7, 7, 12},
        {"mangled_uint32.mtx", NULL, 7, 7, 12},
        {"mangled_uint8.mtx", NULL, 7, 7, 12},
        {"skew_fp32.mtx", ":5: the value 'inf' is not finite", 0, 0, 0},
        {"skew_fp64.mtx", ":4: the value 'inf' is not finite", 0, 0, 0},
        {"skew_int16.mtx", NULL, 6, 6, 20},
        {"skew_int32.mtx", NULL, 6, 6, 20},
        {"skew_int64.mtx", NULL, 6, 6, 20},
        {"skew_int8.mtx", NULL, 6, 6, 20},
        {"west0067_jumbled.mtx", NULL, 67, 67, 294},
        {"west0067_noheader.mtx", ":1: not a Matrix Market file", 0, 0, 0},
},
  public[] = {
      {"LFAT5.mtx", NULL, 14, 14, 46},
      {"bayer10.mtx", NULL, 13436, 13436, 94926},
      {"bcsstk13.mtx", NULL, 2003, 2003, 83883},
      {"bcsstk16.mtx", NULL, 4884, 4884, 290378},
      {"cryg2500.mtx", NULL, 2500, 2500, 12349},
      {"gr_900_900_crg.mtx", NULL, 900, 900, 7744},
      {"jagmesh7.mtx", NULL, 1138, 1138, 7450},
      {"karate.mtx", NULL, 34, 34, 156},
      {"lap2D_5pt_n100.mtx", NULL, 10000, 10000, 49600},
      {"lap2D_5pt_n32.mtx", NULL, 1024, 1024, 3008}, /* declared general, though only one triangle is there */
      {"lap3D_7pt_n20.mtx", NULL, 8000, 8000, 53600},
      {"olm1000.mtx", NULL, 1000, 1000, 3996},
      {"pushpull.mtx", NULL, 4000, 4000, 196305},
      {"west0067.mtx", NULL, 67, 67, 294},
      {"zenios.mtx", NULL, 2873, 2873, 27191},
};

static int files_in(const char *path)
{
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

START_TEST(public_files)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    char path[512], file[600];
    const char *const folders[] = {"hostile", "matrices"};
    for (int f = 0; f < 2; f++) {
        if (!data_path(path, folders[f])) {
            printf("skipped: no %s\n", path);
            continue;
        }
        size_t count = f ? sizeof public / sizeof *public : sizeof hostile / sizeof *hostile;
        ck_assert_msg((size_t)files_in(path) == count, "%s holds other files than this test knows", path);
        for (size_t i = 0; i < count; i++) {
            const char *name = f ? public[i].name : hostile[i].name, *reason = f ? NULL : hostile[i].reason;
            hu_error err = HU_ERROR_NONE;
            hu_csr *a;
            snprintf(file, sizeof file, "%s/%s", path, name);
            hu_status status = read_file(file, &o, &a, NULL, &err);
            if (reason) {
                char message[200];
                snprintf(message, sizeof message, "%s%s", name, reason);
                ck_assert_msg(status == HU_INPUT && strstr(err.message, message), "%s: '%s' instead of '%s'", name,
                              err.message, message);
                continue;
            }
            ck_assert_msg(status == HU_OK, "%s", err.message);
            ck_assert_ok(hu_csr_check(a, name, &err));
            int64_t rows = f ? public[i].rows : hostile[i].rows, cols = f ? public[i].cols : hostile[i].cols;
            int64_t nnz = f ? public[i].nnz : hostile[i].nnz;
            ck_assert_msg(a->rows == rows && a->cols == cols && a->nnz == nnz, "%s: %lld x %lld, %lld entries", name,
                          (long long)a->rows, (long long)a->cols, (long long)a->nnz);
            hu_csr_free(a);
        }
    }
}
END_TEST

/* west0067 is there three times: sorted by column, jumbled, and without its header. */
START_TEST(public_files_agree)
{
    hu_mtx_options o = HU_MTX_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    char path[512];
    hu_csr *a, *b, *c;
    if (!data_path(path, "matrices/west0067.mtx")) return;
    ck_assert_ok(read_file(path, &o, &a, NULL, &err));
    data_path(path, "hostile/west0067_jumbled.mtx");
    ck_assert_ok(read_file(path, &o, &b, NULL, &err));
    data_path(path, "hostile/west0067_noheader.mtx");
    o.lenient = true;
    ck_assert_ok(read_file(path, &o, &c, NULL, &err));
    ck_assert(same(a, b) && same(a, c));
    hu_csr_free(a);
    hu_csr_free(b);
    hu_csr_free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mtx");
    TCase *all = tcase_create("mtx");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, make_folder, remove_folder);
    tcase_add_test(all, texts_that_are_legal);
    tcase_add_test(all, fields);
    tcase_add_test(all, symmetries);
    tcase_add_test(all, refusals);
    tcase_add_test(all, options);
    tcase_add_test(all, dense);
    tcase_add_test(all, threads_and_streams_change_nothing);
    tcase_add_test(all, first_error_wins);
    tcase_add_test(all, blocks_and_lines);
    tcase_add_test(all, faults_of_streams);
    tcase_add_test(all, write_reads_back);
    tcase_add_test(all, write_dense_reads_back);
    tcase_add_test(all, public_files);
    tcase_add_test(all, public_files_agree);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
