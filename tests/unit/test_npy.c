/* test_npy.c: NumPy arrays. The bytes of the cases were written down from the format's description (NEP 1), not by our writer. */
#include "config.h"
#include "io_test.h"
#include "io/npy.h"

#include <math.h>

static char file[4096];

/* A version 1.0 file of this header and these items; the header is not filled up. */
static size_t make(const char *header, const void *items, size_t size)
{
    size_t length = strlen(header);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, items, size);
    return 10 + length + size;
}

static hu_dense *dense_of(const char *header, const void *items, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source = source_of(file, make(header, items, size));
    hu_npy *array;
    hu_dense *dense;
    ck_assert_ok(hu_npy_read(source, 1000, &array, &err));
    ck_assert_ok(hu_npy_to_dense(&array, "test", &dense, &err));
    ck_assert_ptr_null(array);
    ck_assert_int_eq(hu_npy_read(source, 1000, &array, &err), HU_END);
    hu_source_close(source);
    return dense;
}

START_TEST(every_spelling_of_the_header)
{
    static const char *const headers[] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n",
                                          "{'descr':'<f8','fortran_order':False,'shape':(2,)}",
                                          "  { \"shape\" : ( 2 , ) ,\n\t\"fortran_order\":False , \"descr\" : \"f8\" , }   \n",
                                          "{'shape': (2L,), u'descr': '=f8', 'fortran_order': True}",
                                          "{'fortran_order': False, 'shape': (0_2,), 'descr': '<f8'}"};
    const double items[] = {1.5, -2.25};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        hu_dense *x = dense_of(headers[i], items, sizeof items);
        ck_assert_int_eq(x->rows, 2);
        ck_assert_int_eq(x->cols, 1);
        ck_assert_int_eq(x->dims, 1);
        ck_assert(((double *)x->data)[0] == 1.5 && ((double *)x->data)[1] == -2.25);
        hu_dense_free(x);
    }
}
END_TEST

START_TEST(wrong_headers_are_refused)
{
    static const struct {
        const char *header, *reason;
    } cases[] = {{"{'descr': '<f8', 'fortran_order': False, 'shape': (2)}", "test: byte 63: 'shape' was expected to be a tuple"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)", "',' or '}' was expected"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': 2}", "byte 60: 'shape'"},
                 {"{'descr': '<f8', 'fortran_order': false, 'shape': (2,)}", "byte 44: 'fortran_order'"},
                 {"{'descr': '<f8', 'fortran_order': False}", "the header has no 'shape'"},
                 {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "byte 27: the header has a key 'descr' that is there twice"},
                 {"{'descr': '<f8', 'x': 1, 'fortran_order': False, 'shape': (2,)}", "key 'x' that is unknown"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x", "goes on behind its '}'"},
                 {"{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}", "',' or '}' was expected"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", "a length of the shape was expected"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "a length of the shape was expected"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)}", "does not fit 64 bits"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296,4294967296)}", "larger than 1000 bytes"},
                 {"{'descr': '<f8', 'fortran_order': False, 'shape': (126,)}", "larger than 1000 bytes"},
                 {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "byte 20: type '|O' is not read"},
                 {"{'descr': '<U3', 'fortran_order': False, 'shape': (2,)}", "type '<U3' is not read"},
                 {"{'descr': '|f8', 'fortran_order': False, 'shape': (2,)}", "type '|f8' is not read"},
                 {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", "records"},
                 {"", "'{' was expected"}};
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hu_source *source = source_of(file, make(cases[i].header, "0123456789abcdef", 16));
        ck_assert_fails(hu_npy_read(source, 1000, &array, &err), HU_INPUT, cases[i].reason);
        ck_assert_ptr_null(array);
        hu_source_close(source);
    }
    hu_source *source = source_of("\x93NUMPY\x04\x00..", 10);
    ck_assert_fails(hu_npy_read(source, 1000, &array, &err), HU_INPUT, "byte 6: version 4.0");
    hu_source_close(source);
    source = source_of("not an array", 12);
    ck_assert_fails(hu_npy_read(source, 1000, &array, &err), HU_INPUT, "byte 0: this is no .npy array");
    hu_source_close(source);
}
END_TEST

/* A file cut at any byte is an error and never an array. */
START_TEST(cut_files_are_refused)
{
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    size_t size = make("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", "0123456789abcdef", 16);
    for (size_t n = 1; n < size; n++) {
        hu_source *source = n % 2 ? source_of(file, n) : source_of_file(file, n);
        ck_assert_fails(hu_npy_read(source, 1000, &array, &err), HU_INPUT, n < 6 ? "" : "cut short");
        hu_source_close(source);
    }
}
END_TEST

/* A pipe whose header claims 2^40 bytes: refused at its end, without the memory (which this test could not have). */
START_TEST(claimed_sizes_are_not_believed)
{
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    size_t size = make("{'descr': '<f8', 'fortran_order': False, 'shape': (137438953472,), }\n", "0123456789abcdef", 16);
    hu_source *source = source_through_pipe(file, size, 50);
    ck_assert_fails(hu_npy_read(source, INT64_MAX, &array, &err), HU_INPUT, "cut short");
    hu_source_close(source);
    source = source_of_file(file, size);
    ck_assert_fails(hu_npy_read(source, INT64_MAX, &array, &err), HU_INPUT, "cut short");
    hu_source_close(source);
}
END_TEST

START_TEST(orders_and_dimensions)
{
    const double items[] = {1, 2, 3, 4, 5, 6};
    hu_dense *c = dense_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", items, sizeof items);
    hu_dense *f = dense_of("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", items, sizeof items);
    ck_assert(c->order == HU_ROW_MAJOR && c->ld == 3 && c->rows == 2 && c->cols == 3 && c->dims == 2);
    ck_assert(f->order == HU_COL_MAJOR && f->ld == 2 && f->rows == 2 && f->cols == 3);
    ck_assert(memcmp(c->data, items, sizeof items) == 0 && memcmp(f->data, items, sizeof items) == 0);
    hu_dense_free(c);
    hu_dense_free(f);
    hu_dense *scalar = dense_of("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", items, 8);
    ck_assert(scalar->rows == 1 && scalar->cols == 1 && *(double *)scalar->data == 1);
    hu_dense_free(scalar);
}
END_TEST

START_TEST(empty_shapes)
{
    hu_dense *none = dense_of("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", "", 0);
    ck_assert(none->rows == 0 && none->cols == 3);
    hu_dense_free(none);
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    hu_dense *dense;
    hu_source *source = source_of(file, make("{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775807, 4, 0), }", "", 0));
    ck_assert_ok(hu_npy_read(source, 1000, &array, &err));
    ck_assert_int_eq(array->count, 0);
    ck_assert_fails(hu_npy_to_dense(&array, "test", &dense, &err), HU_INPUT, "has 3 dimensions");
    hu_source_close(source);
}
END_TEST

START_TEST(types_are_exact)
{
    static const struct {
        const char *descr;
        const char *items;
        size_t size;
        double value;
    } cases[] = {{"|b1", "\x01", 1, 1},          {"|?", "\x00", 1, 0},           {"|i1", "\x80", 1, -128},
                 {"|u1", "\x80", 1, 128},        {"<i2", "\x01\x80", 2, -32767}, {">i2", "\x01\x80", 2, 384},
                 {"<u2", "\x01\x80", 2, 32769},  {"<i4", "\xfe\xff\xff\xff", 4, -2}, {">u4", "\xff\xff\xff\xfe", 4, 4294967294.0},
                 {"<i8", "\x00\x00\x00\x00\x00\x00\x20\x00", 8, 9007199254740992.0},
                 {">i8", "\x80\x00\x00\x00\x00\x00\x00\x00", 8, -9223372036854775808.0},
                 {"<u8", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, 9223372036854775808.0},
                 {">f8", "\x3f\xf8\x00\x00\x00\x00\x00\x00", 8, 1.5}, {"<f4", "\x00\x00\xc0\xbf", 4, -1.5}, {">f4", "\xbf\xc0\x00\x00", 4, -1.5},
                 {"<f2", "\x00\x3e", 2, 1.5},    {">f2", "\x00\x01", 2, 5.9604644775390625e-8}, {"<f2", "\xff\x7b", 2, 65504},
                 {"<f2", "\x00\xfc", 2, -INFINITY}, {"<f2", "\x01\x04", 2, 6.109476089477539e-05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[100];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", cases[i].descr);
        hu_dense *x = dense_of(header, cases[i].items, cases[i].size);
        double value = x->scalar == HU_F32 ? (double)*(float *)x->data : *(double *)x->data;
        ck_assert_msg(value == cases[i].value, "%s: %a", cases[i].descr, value);
        hu_dense_free(x);
    }
    const float pair[] = {1.5f, -2};
    hu_dense *z = dense_of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", pair, sizeof pair);
    ck_assert(z->scalar == HU_C128 && ((double *)z->data)[0] == 1.5 && ((double *)z->data)[1] == -2);
    hu_dense_free(z);
    z = dense_of("{'descr': '>c16', 'fortran_order': False, 'shape': (1,), }", "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16);
    ck_assert(((double *)z->data)[0] == 1.5 && ((double *)z->data)[1] == -2);
    hu_dense_free(z);
}
END_TEST

START_TEST(whole_numbers_that_no_double_equals)
{
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    hu_dense *dense;
    const int64_t items[] = {0, 1, 2, 3, 9007199254740993, 5};
    hu_source *source = source_of(file, make("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }", items, sizeof items));
    ck_assert_ok(hu_npy_read(source, 1000, &array, &err));
    ck_assert_fails(hu_npy_to_dense(&array, "b.npy", &dense, &err), HU_INPUT, "b.npy: item [0,2]: no double equals");
    ck_assert_ptr_null(dense);
    hu_source_close(source);
    source = source_of(file, make("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", "\xff\xff\xff\xff\xff\xff\xff\xff", 8));
    ck_assert_ok(hu_npy_read(source, 1000, &array, &err));
    ck_assert_fails(hu_npy_to_dense(&array, "b.npy", &dense, &err), HU_INPUT, "b.npy: item [0]: no double equals");
    hu_source_close(source);
    source = source_of(file, make("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8));
    ck_assert_ok(hu_npy_read(source, 1000, &array, &err));
    ck_assert_fails(hu_npy_to_dense(&array, "b.npy", &dense, &err), HU_INPUT, "no double equals");
    hu_source_close(source);
}
END_TEST

START_TEST(integers)
{
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    int64_t *items;
    hu_source *source = source_of(file, make("{'descr': '<u1', 'fortran_order': False, 'shape': (2, 2), }", "\x00\x01\x02\xff", 4));
    ck_assert_ok(hu_npy_read(source, 1000, &array, &err));
    ck_assert_ok(hu_npy_to_integers(array, "p.npy", 0, 255, &items, &err));
    ck_assert(items[0] == 0 && items[3] == 255);
    free(items);
    ck_assert_fails(hu_npy_to_integers(array, "p.npy", 0, 3, &items, &err), HU_INPUT, "p.npy: item [1,1]: expected a whole number from 0 to 3");
    hu_npy_free(array);
    hu_source_close(source);
}
END_TEST

START_TEST(several_from_a_pipe)
{
    hu_error err = HU_ERROR_NONE;
    hu_npy *array;
    char all[3 * 100];
    size_t size = 0;
    for (int i = 0; i < 3; i++) {
        double value = i;
        size_t one = make("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &value, sizeof value);
        memcpy(all + size, file, one);
        size += one;
    }
    hu_source *source = source_through_pipe(all, size, 7);
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(hu_npy_read(source, 8, &array, &err));
        ck_assert(*(double *)array->data == i);
        hu_npy_free(array);
    }
    ck_assert_int_eq(hu_npy_read(source, 8, &array, &err), HU_END);
    hu_source_close(source);
}
END_TEST

START_TEST(written_as_numpy_writes)
{
    hu_error err = HU_ERROR_NONE;
    const int64_t shape[] = {2, 3, 1};
    const int32_t items[] = {1, 2, 3, 4, 5, 6};
    static const char *const tuples[] = {"()", "(2,)", "(2, 3)", "(2, 3, 1)"};
    for (int dims = 1; dims <= 3; dims++) {
        size_t size, bytes = dims == 1 ? 8 : 24;
        hu_output *out = output_to_collect();
        ck_assert_ok(hu_npy_write(out, HU_NPY_I4, dims, shape, HU_COL_MAJOR, items, &err));
        char *text = collect(out, &size), header[128];
        memset(header, ' ', sizeof header);
        int length = snprintf(header, sizeof header, "\x93NUMPY\x01%c%c%c{'descr': '<i4', 'fortran_order': True, 'shape': %s, }", 0, 118, 0, tuples[dims]);
        header[length] = ' ';
        header[127] = '\n';
        ck_assert_uint_eq(size, 128 + bytes);
        ck_assert(memcmp(text, header, 128) == 0);
        ck_assert(memcmp(text + 128, items, bytes) == 0);
        free(text);
    }
}
END_TEST

START_TEST(dense_round_trip_with_gaps)
{
    hu_error err = HU_ERROR_NONE;
    double data[] = {1, 2, NAN, 3, 4, NAN, 5, 6, NAN};
    hu_dense a = {.rows = 2, .cols = 3, .ld = 3, .scalar = HU_F64, .order = HU_COL_MAJOR, .dims = 2, .data = data}, *b;
    for (int order = 0; order < 2; order++) {
        size_t size;
        hu_npy *array;
        hu_output *out = output_to_collect();
        a.order = order ? HU_ROW_MAJOR : HU_COL_MAJOR;
        a.rows = order ? 3 : 2;
        a.cols = order ? 2 : 3;
        ck_assert_ok(hu_npy_write_dense(out, &a, &err));
        char *bytes = collect(out, &size);
        hu_source *source = source_of(bytes, size);
        ck_assert_ok(hu_npy_read(source, 48, &array, &err));
        ck_assert_ok(hu_npy_to_dense(&array, "test", &b, &err));
        ck_assert(b->order == a.order && b->rows == a.rows && b->cols == a.cols);
        for (int i = 0; i < 6; i++) ck_assert(((double *)b->data)[i] == i + 1);
        hu_dense_free(b);
        hu_source_close(source);
        free(bytes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("npy");
    TCase *all = tcase_create("npy");
    tcase_add_test(all, every_spelling_of_the_header);
    tcase_add_test(all, wrong_headers_are_refused);
    tcase_add_test(all, cut_files_are_refused);
    tcase_add_test(all, claimed_sizes_are_not_believed);
    tcase_add_test(all, orders_and_dimensions);
    tcase_add_test(all, empty_shapes);
    tcase_add_test(all, types_are_exact);
    tcase_add_test(all, whole_numbers_that_no_double_equals);
    tcase_add_test(all, integers);
    tcase_add_test(all, several_from_a_pipe);
    tcase_add_test(all, written_as_numpy_writes);
    tcase_add_test(all, dense_round_trip_with_gaps);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
