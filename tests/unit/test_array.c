/* test_array.c: one reader for arrays of every format, back to back and through pipes. */
#include "config.h"
#include "io_test.h"
#include "base/random.h"
#include "io/array.h"

#include <math.h>

static const char banner[] = "%%MatrixMarket matrix array real general\n";

typedef struct {
    hu_array_format format;
    int64_t raw_rows, raw_cols;
    bool keep_nonfinite;
} how;

/* The only array of a source, which is closed. */
static hu_status read_one(hu_source *source, how h, hu_dense **ret_dense, hu_error *err)
{
    hu_array_reader *reader;
    *ret_dense = NULL;
    hu_status status = hu_array_reader_new(source, h.format, h.raw_rows, &reader, err);
    if (!status) {
        hu_array_reader_raw_columns(reader, h.raw_cols);
        if (h.keep_nonfinite) hu_array_reader_keep_nonfinite(reader);
        status = hu_array_read_next(reader, ret_dense, err);
        if (!status) status = hu_array_expect_end(reader, err);
        if (status) {
            hu_dense_free(*ret_dense);
            *ret_dense = NULL;
        }
    }
    hu_array_reader_free(reader);
    hu_source_close(source);
    return status;
}

static void expect(const hu_dense *a, int64_t rows, int64_t cols, int dims, const double *by_row)
{
    ck_assert(a->rows == rows && a->cols == cols && a->dims == dims && a->scalar == HU_F64);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            ck_assert(((double *)a->data)[a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j] == by_row[i * cols + j]);
}

START_TEST(formats_are_told_apart)
{
    hu_error err = HU_ERROR_NONE;
    how options = {0};
    hu_dense *a;
    char text[200];
    const double wanted[] = {1, 2.5, -3, 4};
    snprintf(text, sizeof text, "%s2 2\n1\n-3\n2.5\n4\n", banner);
    ck_assert_ok(read_one(source_of_text(text), options, &a, &err));
    expect(a, 2, 2, 2, wanted);
    hu_dense_free(a);
    ck_assert_ok(read_one(source_of_text("1,2.5\n-3,4\n"), options, &a, &err));
    expect(a, 2, 2, 2, wanted);
    hu_dense_free(a);
    ck_assert_ok(read_one(source_of_text("\xEF\xBB\xBFu;v\r\n1;2,5\r\n-3;4"), options, &a, &err));
    expect(a, 2, 2, 2, wanted);
    hu_dense_free(a);
    ck_assert_ok(read_one(source_of_text("1\n2.5\n-3\n4\n"), options, &a, &err));
    expect(a, 4, 1, 1, wanted);
    hu_dense_free(a);
    options.format = HU_ARRAY_RAW;
    options.raw_rows = 4;
    ck_assert_ok(read_one(source_of(wanted, sizeof wanted), options, &a, &err));
    expect(a, 4, 1, 1, wanted);
    hu_dense_free(a);
    options.raw_rows = 2;
    options.raw_cols = 2;
    const double by_column[] = {1, -3, 2.5, 4};
    ck_assert_ok(read_one(source_of(by_column, sizeof by_column), options, &a, &err));
    expect(a, 2, 2, 2, wanted);
    hu_dense_free(a);
    ck_assert_int_eq(read_one(source_of("", 0), options, &a, &err), HU_END);
    options.format = HU_ARRAY_AUTO;
    ck_assert_int_eq(read_one(source_of("", 0), options, &a, &err), HU_END);
    ck_assert_int_eq(err.status, HU_OK);
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
    hu_error err = HU_ERROR_NONE;
    how options = {0};
    hu_dense *a;
    static const struct {
        const char *text, *reason;
    } cases[] = {{"u,v\n1,2\n3,\n", "test:3: column 2 (v): a number is missing"},
                 {"1,2\n3,x\n", "test:2: column 2: 'x' is no number"},
                 {"1\nTrue\n", "test:2: column 1: 'True' is no number"},
                 {"1\nnan\n", "test:2: column 1: 'nan' is not a finite number"},
                 {"1\n-inf\n", "test:2: column 1: '-inf' is not a finite number"},
                 {"1\n1e999\n", "is not a finite number"},
                 {"1,2\n3\n", "test:2: 1 field, where the first row has 2"},
                 {"%%MatrixMarket matrix array real general\n2 1\n1 2\n", "test:3"},
                 {"%%MatrixMarket matrix array real general\n2 1\n1\n", "test"},
                 {"%%MatrixMarket matrix array real general\n2 1\n1\nNaN\n", "test"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_fails(read_one(source_of_text(cases[i].text), options, &a, &err), HU_INPUT, cases[i].reason);
        ck_assert_ptr_null(a);
    }
    options.keep_nonfinite = true;
    ck_assert_ok(read_one(source_of_text("1\nnan\n"), options, &a, &err));
    ck_assert(isnan(((double *)a->data)[1]));
    hu_dense_free(a);
    options = (how){0};
    options.format = HU_ARRAY_RAW;
    ck_assert_fails(read_one(source_of("12345678", 8), options, &a, &err), HU_USAGE, "rows");
    options.raw_rows = 1;
    ck_assert_fails(read_one(source_of("123456789", 9), options, &a, &err), HU_INPUT, "byte 8: the raw array is followed by more");
    options.raw_rows = 2;
    ck_assert_fails(read_one(source_of("123456789", 9), options, &a, &err), HU_INPUT, "byte 9: the raw array of 2 x 1 doubles is cut short");
    const double nan = NAN;
    options.raw_rows = 1;
    ck_assert_fails(read_one(source_of(&nan, 8), options, &a, &err), HU_INPUT, "test");
}
END_TEST

/* Arrays of every kind that can stand back to back, in one pipe whose pieces end anywhere. */
START_TEST(back_to_back)
{
    hu_error err = HU_ERROR_NONE;
    hu_array_reader *reader;
    char *all = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&all, &size);
    fprintf(stream, "%s%% a comment\n\n2 1\n1\n%% another\n\n2\n\n", banner);
    fprintf(stream, "%%%%MatrixMarket matrix array real symmetric\r\n2 2\r\n1\r\n2\r\n3\r\n");
    fprintf(stream, "%%%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n");
    fprintf(stream, "%%%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n");
    fprintf(stream, "%s0 1\n", banner);
    const char header[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n";
    const double items[] = {8, 9};
    fwrite("\x93NUMPY\x01\x00", 1, 8, stream);
    fputc((int)strlen(header), stream);
    fputc(0, stream);
    fputs(header, stream);
    fwrite(items, 8, 2, stream);
    fprintf(stream, "%s1 1\n4", banner);
    fclose(stream);
    for (size_t piece = 1; piece < 1000; piece = piece * 7 + 3) {
        hu_source *source = source_through_pipe(all, size, piece);
        ck_assert_ok(hu_array_reader_new(source, HU_ARRAY_AUTO, 0, &reader, &err));
        hu_dense *a;
        const double *wanted[] = {(double[]){1, 2}, (double[]){1, 2, 2, 3}, (double[]){0, -7, 7, 0}, (double[]){0, 0, 5, 0}, NULL, items, (double[]){4}};
        const int rows[] = {2, 2, 2, 2, 0, 2, 1}, cols[] = {1, 2, 2, 2, 1, 1, 1}, dims[] = {0, 2, 2, 2, 0, 1, 0};
        for (int i = 0; i < 7; i++) {
            ck_assert_ok(hu_array_read_next(reader, &a, &err));
            expect(a, rows[i], cols[i], dims[i] ? dims[i] : a->dims, wanted[i]);
            ck_assert_int_eq(hu_array_format_read(reader), i == 5 ? HU_ARRAY_NPY : HU_ARRAY_MTX);
            hu_dense_free(a);
        }
        ck_assert_int_eq(hu_array_read_next(reader, &a, &err), HU_END);
        hu_array_reader_free(reader);
        hu_source_close(source);
        int status;
        wait(&status);
    }
    hu_source *source = source_of_text("%%MatrixMarket matrix array real general\n1 1\n4\n%%MatrixMarket matrix array real general\n2 1\n4\nx\n");
    ck_assert_ok(hu_array_reader_new(source, HU_ARRAY_AUTO, 0, &reader, &err));
    hu_dense *a;
    ck_assert_ok(hu_array_read_next(reader, &a, &err));
    hu_dense_free(a);
    ck_assert_fails(hu_array_read_next(reader, &a, &err), HU_INPUT, "test, array at byte 47:4");
    hu_array_reader_free(reader);
    hu_source_close(source);
    free(all);
}
END_TEST

/* Question and answer through one connection: each array must be there before the next one is sent. */
START_TEST(nobody_waits)
{
    hu_error err = HU_ERROR_NONE;
    hu_array_reader *reader;
    hu_source *source;
    int to_us[2], to_them[2];
    char path[64], text[100];
    ck_assert(pipe(to_us) == 0 && pipe(to_them) == 0);
    if (fork() == 0) {
        for (int i = 0; i < 3; i++) {
            int n = i == 1 ? snprintf(text, sizeof text, "\x93NUMPY\x01%c\x34%c{'descr': '<f4', 'fortran_order': False, 'shape':()}ABCD", 0, 0)
                           : snprintf(text, sizeof text, "%s1 1\n%d\n", banner, i);
            char answer;
            if (write(to_us[1], text, (size_t)n) != n || read(to_them[0], &answer, 1) != 1) _exit(1);
        }
        _exit(0);
    }
    close(to_us[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", to_us[0]);
    ck_assert_ok(hu_source_open(path, NULL, &source, &err));
    ck_assert_ok(hu_array_reader_new(source, HU_ARRAY_AUTO, 0, &reader, &err));
    for (int i = 0; i < 3; i++) {
        hu_dense *a;
        ck_assert_ok(hu_array_read_next(reader, &a, &err));
        if (i != 1) ck_assert(*(double *)a->data == i);
        hu_dense_free(a);
        ck_assert_int_eq(write(to_them[1], "y", 1), 1);
    }
    int status;
    wait(&status);
    ck_assert_int_eq(status, 0);
    hu_array_reader_free(reader);
    hu_source_close(source);
}
END_TEST

START_TEST(written_arrays_read_back)
{
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(9, 0);
    for (int format = HU_ARRAY_NPY; format <= HU_ARRAY_RAW; format++)
        for (int order = 0; order < 2; order++)
            for (int64_t cols = 1; cols <= 3; cols += 2) {
                enum { ROWS = 5, LD = 7 };
                double data[LD * LD], by_row[ROWS * 3];
                hu_dense a = {.rows = ROWS, .cols = cols, .ld = LD, .scalar = HU_F64, .order = order ? HU_ROW_MAJOR : HU_COL_MAJOR, .dims = cols == 1 ? 1 : 2,
                              .data = data}, *b;
                for (int i = 0; i < LD * LD; i++) data[i] = NAN;
                for (int64_t i = 0; i < ROWS; i++)
                    for (int64_t j = 0; j < cols; j++) data[order ? i * LD + j : i + j * LD] = by_row[i * cols + j] = hu_random_normal(&r) * 1e-30;
                size_t size;
                hu_output *out = output_to_collect();
                ck_assert_ok(hu_array_write(out, &a, (hu_array_format)format, &err));
                char *bytes = collect(out, &size);
                how options = {0};
                if (format == HU_ARRAY_RAW) options.format = HU_ARRAY_RAW;
                options.raw_rows = ROWS;
                options.raw_cols = cols == 1 ? 0 : cols;
                ck_assert_ok(read_one(source_of(bytes, size), options, &b, &err));
                expect(b, ROWS, cols, format == HU_ARRAY_MTX ? b->dims : a.dims, by_row);
                hu_dense_free(b);
                free(bytes);
            }
}
END_TEST

START_TEST(names_of_formats)
{
    ck_assert_int_eq(hu_array_format_of("x.NPY"), HU_ARRAY_NPY);
    ck_assert_int_eq(hu_array_format_of("dir.csv/x.mtx.gz"), HU_ARRAY_MTX);
    ck_assert_int_eq(hu_array_format_of("x.csv"), HU_ARRAY_CSV);
    ck_assert_int_eq(hu_array_format_of("x.f64"), HU_ARRAY_RAW);
    ck_assert_int_eq(hu_array_format_of(".npy"), HU_ARRAY_AUTO);
    ck_assert_int_eq(hu_array_format_of("-"), HU_ARRAY_AUTO);
    ck_assert_int_eq(hu_array_format_of(NULL), HU_ARRAY_AUTO);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("array");
    TCase *all = tcase_create("array");
    tcase_set_timeout(all, 20);
    tcase_add_test(all, formats_are_told_apart);
    tcase_add_test(all, what_is_wrong_is_named);
    tcase_add_test(all, back_to_back);
    tcase_add_test(all, nobody_waits);
    tcase_add_test(all, written_arrays_read_back);
    tcase_add_test(all, names_of_formats);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
