/* test_csv.c: CSV as RFC 4180 has it, the fault cases of public reports, and rows against an independent splitter. */
#include "config.h"
#include "io_test.h"
#include "base/random.h"
#include "io/csv.h"
#include "io/csv_kernel.h"

#include <locale.h>
#include <math.h>

static hu_status read_text(const char *text, size_t size, const hu_csv_options *options, hu_csv_table **ret_table, hu_error *err)
{
    hu_source *source = source_of(text, size);
    hu_status status = hu_csv_read(source, options, INT64_MAX / 4, ret_table, err);
    hu_source_close(source);
    return status;
}

static hu_csv_table *table_of(const char *text)
{
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *table;
    ck_assert_ok(read_text(text, strlen(text), NULL, &table, &err));
    return table;
}

static void refused(const char *text, const char *reason)
{
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *table;
    ck_assert_fails(read_text(text, strlen(text), NULL, &table, &err), HU_INPUT, reason);
    ck_assert_ptr_null(table);
}

static const char *level(const hu_csv_table *t, int64_t column, int64_t row)
{
    const hu_csv_column *c = &t->column[column];
    ck_assert(c->is_text);
    return c->level[row] < 0 ? NULL : c->levels[c->level[row]];
}

START_TEST(mark_and_quoted_header) /* league/csv#586 */
{
    hu_csv_table *t = table_of("\xEF\xBB\xBF\"n\",\"time\"\n1,2\n2,4\n");
    ck_assert_int_eq(t->columns, 2);
    ck_assert_int_eq(t->rows, 2);
    ck_assert_str_eq(t->column[0].name, "n");
    ck_assert_str_eq(t->column[1].name, "time");
    ck_assert(t->column[1].number[1] == 4 && !t->column[1].missing);
    ck_assert_int_eq(hu_csv_find(t, "time"), 1);
    ck_assert_int_eq(hu_csv_find(t, "tim"), -1);
    hu_csv_table_free(t);
}
END_TEST

START_TEST(quoted_line_ends)
{
    hu_csv_table *t = table_of("n,tag,time\r\n1,\"a\r\nb\",3\r\n2,c,4\r\n");
    ck_assert_int_eq(t->rows, 2);
    ck_assert_str_eq(level(t, 1, 0), "a\r\nb");
    ck_assert_str_eq(level(t, 1, 1), "c");
    hu_csv_table_free(t);
    refused("n,tag,time\r\n1,\"a\r\nb\",3\r\n2,c\r\n", "test:4: 2 fields, where the first row has 3");
    t = table_of("a,b\n\"say \"\"hi\"\"\",\"\"\"\"\n\"x,y\",\" \"");
    ck_assert_str_eq(level(t, 0, 0), "say \"hi\"");
    ck_assert_str_eq(level(t, 1, 0), "\"");
    ck_assert_str_eq(level(t, 0, 1), "x,y");
    ck_assert_str_eq(level(t, 1, 1), " ");
    hu_csv_table_free(t);
}
END_TEST

START_TEST(decimal_comma)
{
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is such a locale, it must not matter */
    hu_csv_table *t = table_of("n;time\n1;0,5\n2;1,25\n");
    ck_assert(t->column[1].number[0] == 0.5 && t->column[1].number[1] == 1.25);
    hu_csv_table_free(t);
    t = table_of("n\ttime\n1\t-0,5e1\n2\t3\n");
    ck_assert(t->column[1].number[0] == -5 && t->column[1].number[1] == 3);
    hu_csv_table_free(t);
    t = table_of("n,time\n1,0.5\n");
    ck_assert(t->column[1].number[0] == 0.5);
    hu_csv_table_free(t);
    setlocale(LC_ALL, "C");
    refused("n,time\n1,1,5\n", "test:2: 3 fields, where the first row has 2");
    refused("n;time\n1;1,250\n2;2,000\n", "test:2: a number with a comma");
    refused("n;time\n1;0,5\n2;1.5\n", "test:2: a number with a comma, which could be decimal, but others have a decimal point");
    refused("a;b,c\n1;2,3\n", "test:1: fields could be separated by commas or by semicolons");
    hu_csv_options options = HU_CSV_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    options.delimiter = ';';
    options.decimal = '.';
    ck_assert_ok(read_text("a;b,c\n1;2,3\n", 12, &options, &t, &err));
    ck_assert_str_eq(t->column[1].name, "b,c");
    ck_assert_str_eq(level(t, 1, 0), "2,3");
    hu_csv_table_free(t);
}
END_TEST

/* A decimal sign that shows behind the sample. */
START_TEST(late_contradiction)
{
    char *text = malloc(40000), *p = text;
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *table;
    p += sprintf(p, "n;time\n");
    for (int i = 0; i < 2000; i++) p += sprintf(p, "%d;%d,5\n", i, i);
    p += sprintf(p, "7;1.5\n");
    ck_assert_fails(read_text(text, (size_t)(p - text), NULL, &table, &err), HU_INPUT, "test:2002: column 2 (time): a number with a decimal point");
    free(text);
}
END_TEST

START_TEST(empty_is_missing_and_quoted_empty_a_level)
{
    hu_csv_table *t = table_of("n,c\n1,\"\"\n2,\n3,\" \"\n4,x\n5,NA\n6,\"NA\"\n");
    const hu_csv_column *c = &t->column[1];
    ck_assert_int_eq(c->missing_count, 2);
    ck_assert_int_eq(c->level_count, 4);
    ck_assert_str_eq(level(t, 1, 0), "");
    ck_assert_ptr_null(level(t, 1, 1));
    ck_assert_str_eq(level(t, 1, 2), " ");
    ck_assert_ptr_null(level(t, 1, 4));
    ck_assert_str_eq(level(t, 1, 5), "NA");
    hu_csv_table_free(t);
    t = table_of("n,time\n1,10\n,11\n3,30\n");
    ck_assert(isnan(t->column[0].number[1]) && t->column[0].missing[1] && !t->column[0].missing[0] && !t->column[0].missing[2]);
    ck_assert_int_eq(t->column[0].missing_count, 1);
    ck_assert_ptr_null(t->column[1].missing);
    hu_csv_table_free(t);
}
END_TEST

START_TEST(failed_runs)
{
    hu_csv_table *t = table_of("n,time\n1,10\n2,inf\n3,nan\n4,30\n5,fail\n");
    const hu_csv_column *c = &t->column[1];
    ck_assert(c->is_text);
    ck_assert_int_eq(c->first_word_line, 6);
    ck_assert_int_eq(c->first_word_row, 4);
    ck_assert_int_eq(c->number_levels, 4); /* 10 30 inf nan */
    ck_assert_str_eq(level(t, 1, 4), "fail");
    ck_assert_str_eq(level(t, 1, 0), "10");
    hu_csv_table_free(t);
    t = table_of("n,time\n1,10\n2,-Infinity\n3,NaN\n");
    ck_assert(isinf(t->column[1].number[1]) && isnan(t->column[1].number[2]) && !t->column[1].missing);
    hu_csv_table_free(t);
}
END_TEST

START_TEST(what_is_a_number)
{
    static const struct {
        const char *text;
        double value; /* NaN: a word */
    } cases[] = {{"007", 7},   {"1e3", 1000}, {" 5", 5},  {"5\t", 5},  {"+3", 3}, {"1.", 1}, {".5", .5}, {"Infinity", INFINITY}, {"\"12\"", 12},
                 {"0x10", NAN}, {"1_000", NAN}, {"1 2", NAN}, {"--1", NAN}, {"1e", NAN}, {".", NAN}, {"yes", NAN}, {"1,5", NAN},
                 {"\"1,5\"", NAN}, {"\xc2\xa0" "1", NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "v%s\n%s\n", strchr(cases[i].text, ',') && *cases[i].text != '"' ? ",w" : "", cases[i].text);
        hu_csv_table *t = table_of(text);
        if (strcmp(cases[i].text, "1,5") == 0) ck_assert(t->columns == 2);
        else if (isnan(cases[i].value)) ck_assert_msg(t->column[0].is_text, "%s", cases[i].text);
        else ck_assert_msg(!t->column[0].is_text && t->column[0].number[0] == cases[i].value, "%s", cases[i].text);
        hu_csv_table_free(t);
    }
}
END_TEST

START_TEST(truths)
{
    hu_csv_table *t = table_of("a,b,c\nTrue,1,true\nFALSE,0,yes\ntrue,true,1\n");
    ck_assert(t->column[0].number[0] == 1 && t->column[0].number[1] == 0 && t->column[0].truths == 3);
    ck_assert(t->column[1].number[2] == 1 && t->column[1].truths == 1);
    ck_assert_str_eq(level(t, 2, 0), "true");
    ck_assert_str_eq(level(t, 2, 1), "yes");
    hu_csv_table_free(t);
}
END_TEST

START_TEST(levels_do_not_depend_on_the_order_of_rows)
{
    hu_csv_table *t = table_of("c\nicc\ngcc\n10\ngcc\n"), *u = table_of("c\n10\ngcc\ngcc\nicc\n");
    for (int i = 0; i < 3; i++) ck_assert_str_eq(t->column[0].levels[i], u->column[0].levels[i]);
    ck_assert_str_eq(t->column[0].levels[0], "10");
    ck_assert_str_eq(level(t, 0, 0), "icc");
    ck_assert_str_eq(level(t, 0, 3), "gcc");
    ck_assert_int_eq(t->column[0].number_levels, 1);
    hu_csv_table_free(t);
    hu_csv_table_free(u);
}
END_TEST

START_TEST(wrong_tables)
{
    refused("", "test: the table is empty");
    refused("\n\n", "test: the table is empty");
    refused("a,a\n1,2\n", "test:1: columns 1 and 2 are both named 'a'");
    refused("a,b\n1,\"x\n2,3\n", "test:2: field 2");
    refused("a,b\n1,x\"y\n", "a quote inside a field");
    refused("a,b\n1,\"x\"y\n", "text behind a closing quote");
    refused("a,b\r1,2\r", "a carriage return without a line feed");
    refused("a,b\n1,2\n3\n", "test:3: 1 field, where the first row has 2");
    refused("a,b\n1,2\n\n3,4,5\n", "test:4: 3 fields, where");
    refused("a,b\n1,\xff\n", "test:2: column 2 (b): the text is not UTF-8");
    refused("a,\xc0\x80\n1,2\n", "test:1: the name of column 2 is not UTF-8");
    refused("\xff\xfe" "a", "UTF-16");
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *table;
    ck_assert_fails(read_text("a,b\n1,\0\n", 8, NULL, &table, &err), HU_INPUT, "test:2: field 2, byte 3 of the line: a zero byte");
    hu_source *source = source_of_text("a\n1\n");
    ck_assert_fails(hu_csv_read(source, NULL, 3, &table, &err), HU_INPUT, "longer than 3 bytes");
    hu_source_close(source);
}
END_TEST

START_TEST(blank_lines_and_comments)
{
    hu_csv_table *t = table_of("v\n1\n\n\n2\n\n\n");
    ck_assert_int_eq(t->rows, 4);
    ck_assert(t->column[0].missing[1] && t->column[0].missing[2] && t->column[0].number[3] == 2);
    hu_csv_table_free(t);
    t = table_of("\na,b\n\n1,2\n\r\n3,4");
    ck_assert_int_eq(t->rows, 2);
    hu_csv_table_free(t);
    t = table_of("a,b\n");
    ck_assert_int_eq(t->rows, 0);
    hu_csv_table_free(t);
    hu_csv_options options = HU_CSV_DEFAULTS;
    hu_error err = HU_ERROR_NONE;
    options.comment = '#';
    const char *text = "# made, by hand\na,b\n#x\n1,2\n3,#4\n# end";
    ck_assert_ok(read_text(text, strlen(text), &options, &t, &err));
    ck_assert_int_eq(t->rows, 2);
    ck_assert_str_eq(level(t, 1, 1), "#4");
    hu_csv_table_free(t);
}
END_TEST

START_TEST(headers)
{
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *t;
    hu_csv_options options = HU_CSV_DEFAULTS;
    options.header = HU_CSV_NO_HEADER;
    ck_assert_ok(read_text("1,2\n3,4\n", 8, &options, &t, &err));
    ck_assert(t->rows == 2 && t->column[0].number[0] == 1);
    ck_assert_str_eq(t->column[1].name, "c2");
    hu_csv_table_free(t);
    options.header = HU_CSV_HEADER_AUTO;
    ck_assert_ok(read_text("\n1,2\n3,4\n", 9, &options, &t, &err));
    ck_assert(t->rows == 2 && t->column[0].number[0] == 1);
    hu_csv_table_free(t);
    ck_assert_ok(read_text("1,x\n3,4\n", 8, &options, &t, &err));
    ck_assert(t->rows == 1 && t->column[0].number[0] == 3);
    ck_assert_str_eq(t->column[0].name, "1");
    hu_csv_table_free(t);
}
END_TEST

/* A splitter as simple as can be: whole text, one pass, one character at a time, no cleverness. Gives fields "content|" with q for quoted. */
static void split(const char *p, char *out)
{
    bool row_begun = false;
    while (*p || row_begun) {
        row_begun = false;
        if (*p == '"') {
            *out++ = 'q';
            for (p++; !(p[0] == '"' && p[1] != '"'); p++) {
                *out++ = *p;
                if (*p == '"') p++;
            }
            p++;
        } else {
            while (*p && *p != ',' && *p != '\n' && *p != '\r') *out++ = *p++;
        }
        *out++ = '|';
        if (*p == ',') {
            row_begun = true;
            p++;
        } else {
            *out++ = '\n';
            if (*p == '\r') p++;
            if (*p == '\n') p++;
        }
    }
    *out = '\0';
}

/* Random tables of hard fields, read in pieces from a pipe with a buffer boundary in each place, against that splitter. */
START_TEST(rows_against_a_simple_splitter)
{
    static const char *const pieces[] = {"1", "-2.5e3", "\"\"", "", "\"a,b\"", "\"line\nend\"", "\"cr\r\n\"", "\"say \"\"x\"\"\"", "word", " ", "\"\"\"\""};
    hu_random r = hu_random_stream(5, 0);
    size_t room = 3 << 20;
    char *text = malloc(room), *wanted = malloc(room), *got = malloc(room);
    for (int round = 0; round < 4; round++) {
        char *p = text, *g = got;
        int64_t cols = 2 + hu_random_below(&r, 5), rows = round == 3 ? 40000 : 200;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                p = stpcpy(p, i == 0 ? "h" : pieces[hu_random_below(&r, 11)]);
                if (i == 0) p += sprintf(p, "%d", (int)j);
                p = stpcpy(p, j + 1 < cols ? "," : round % 2 ? "\r\n" : "\n");
            }
        split(text, wanted);
        hu_error err = HU_ERROR_NONE;
        hu_csv *csv;
        const hu_csv_field *fields;
        hu_csv_options options = HU_CSV_DEFAULTS;
        options.delimiter = ',';
        options.header = HU_CSV_NO_HEADER;
        hu_source *source = source_through_pipe(text, (size_t)(p - text), round == 3 ? 65536 : 13);
        hu_status status;
        ck_assert_ok(hu_csv_open(source, &options, &csv, &err));
        ck_assert_int_eq(hu_csv_columns(csv), cols);
        while ((status = hu_csv_next(csv, &fields, &err)) == HU_OK)
            for (int64_t j = 0; j < cols; j++)
                g += sprintf(g, "%s%.*s|%s", fields[j].quoted ? "q" : "", (int)fields[j].size, fields[j].text, j + 1 < cols ? "" : "\n");
        ck_assert_int_eq(status, HU_END);
        ck_assert_str_eq(got, wanted);
        hu_csv_close(csv);
        hu_source_close(source);
    }
    free(text);
    free(wanted);
    free(got);
}
END_TEST

/* The same table from a plain file (two passes), from memory and with every cell quoted (the slow path of each row). */
START_TEST(ways_of_reading_agree)
{
    hu_error err = HU_ERROR_NONE;
    hu_random r = hu_random_stream(6, 0);
    size_t room = 8 << 20;
    char *text = malloc(room), *quoted = malloc(room), *p = text, *q = quoted;
    p += sprintf(p, "a,b,c\n");
    q += sprintf(q, "a,b,c\n");
    for (int i = 0; i < 30000; i++) {
        double x = hu_random_normal(&r);
        int n = (int)hu_random_below(&r, 1000);
        p += sprintf(p, "%.17g,w%d,%d\n", x, n, i > 20000 && n == 7 ? -1 : n);
        q += sprintf(q, "\"%.17g\",\"w%d\",\"%d\"\n", x, n, i > 20000 && n == 7 ? -1 : n);
    }
    hu_csv_table *t[3];
    ck_assert_ok(read_text(text, (size_t)(p - text), NULL, &t[0], &err));
    ck_assert_ok(read_text(quoted, (size_t)(q - quoted), NULL, &t[1], &err));
    hu_source *source = source_of_file(text, (size_t)(p - text));
    ck_assert_ok(hu_csv_read(source, NULL, (int64_t)1 << 30, &t[2], &err));
    hu_source_close(source);
    const char *line = strchr(text, '\n') + 1;
    for (int64_t i = 0; i < 30000; i++) {
        char word[20];
        ck_assert(t[0]->column[0].number[i] == strtod(line, NULL));
        sscanf(strchr(line, ',') + 1, "%19[^,]", word);
        ck_assert_str_eq(level(t[0], 1, i), word);
        for (int k = 1; k < 3; k++) {
            ck_assert(t[k]->column[0].number[i] == t[0]->column[0].number[i] && t[k]->column[2].number[i] == t[0]->column[2].number[i]);
            ck_assert(t[k]->column[1].level[i] == t[0]->column[1].level[i]);
        }
        line = strchr(line, '\n') + 1;
    }
    for (int k = 0; k < 3; k++) hu_csv_table_free(t[k]);
    free(text);
    free(quoted);
}
END_TEST

START_TEST(writing_reads_back)
{
    hu_error err = HU_ERROR_NONE;
    static const char *const texts[] = {"plain", "", " ", "a,b", "q\"q", "l\nl", "NA", "#c", "ends ", "cr\r", "\303\274", "semi;colon"};
    const double numbers[] = {0.1, -0.0, 1e300, 5e-324, INFINITY, NAN};
    size_t size;
    hu_csv_table *t;
    hu_output *out = output_to_collect();
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    ck_assert_ok(hu_csv_put_text(&w, "the text", &err));
    ck_assert_ok(hu_csv_put_text(&w, "x", &err));
    ck_assert_ok(hu_csv_put_text(&w, "m", &err));
    ck_assert_ok(hu_csv_end_row(&w, &err));
    for (int i = 0; i < 12; i++) {
        ck_assert_ok(hu_csv_put_text(&w, texts[i], &err));
        ck_assert_ok(hu_csv_put_number(&w, numbers[i % 6], &err));
        if (i % 2) ck_assert_ok(hu_csv_put_missing(&w, &err));
        else ck_assert_ok(hu_csv_put_integer(&w, INT64_MIN + i, &err));
        ck_assert_ok(hu_csv_end_row(&w, &err));
    }
    char *text = collect(out, &size);
    ck_assert_ok(read_text(text, size, NULL, &t, &err));
    ck_assert_int_eq(t->rows, 12);
    for (int i = 0; i < 12; i++) {
        ck_assert_str_eq(level(t, 0, i), texts[i]);
        ck_assert(memcmp(&t->column[1].number[i], &numbers[i % 6], 8) == 0 || (isnan(numbers[i % 6]) && isnan(t->column[1].number[i])));
        ck_assert_int_eq(t->column[2].missing[i], i % 2);
    }
    hu_csv_table_free(t);
    free(text);
    out = output_to_collect();
    w = hu_csv_writer_to(out, ',');
    ck_assert_ok(hu_csv_put_missing(&w, &err));
    ck_assert_ok(hu_csv_end_row(&w, &err));
    text = collect(out, &size);
    ck_assert_str_eq(text, "NA\n");
    free(text);
}
END_TEST

/* Cells of all forms, each read by strtod() for itself, in a table of several windows and buffers: short and long whole numbers, signs, points, exponents, truths,
 * missing cells, numbers in quotes. */
static size_t put_cell(hu_random *random, char *to, double *ret_value, bool *ret_missing)
{
    char digits[32];
    size_t size = 0, n = 1 + (size_t)hu_random_below(random, 17);
    for (size_t k = 0; k < n; k++) digits[k] = (char)('0' + hu_random_below(random, 10));
    digits[n] = '\0';
    *ret_missing = false;
    switch (hu_random_below(random, 12)) {
    case 0: size = (size_t)sprintf(to, "%s", "true"); *ret_value = 1; return size;
    case 1: *ret_missing = true; *ret_value = NAN; return hu_random_below(random, 2) ? (size_t)sprintf(to, "NA") : 0;
    case 2: size = (size_t)sprintf(to, "\"%s\"", digits); *ret_value = strtod(digits, NULL); return size;
    case 3: size = (size_t)sprintf(to, "%s.%s", digits, digits); break;
    case 4: size = (size_t)sprintf(to, "-%s", digits); break;
    case 5: size = (size_t)sprintf(to, "-%.*s.%s", (int)(n < 8 ? n : 8), digits, digits); break;
    case 6: size = (size_t)sprintf(to, "%.3se%d", digits, (int)hu_random_below(random, 40) - 20); break;
    case 7: size = (size_t)sprintf(to, "%.*s.", (int)(n < 9 ? n : 9), digits); break;
    case 8: size = (size_t)sprintf(to, ".%s", digits); break;
    case 9: size = (size_t)sprintf(to, "+%s", digits); break;
    default: size = (size_t)sprintf(to, "%.*s", (int)(n < 9 ? n : 9), digits); break;
    }
    *ret_value = strtod(to, NULL);
    return size;
}

START_TEST(cells_of_all_forms)
{
    enum { ROWS = 20000, COLUMNS = 7 };
    hu_random random = hu_random_stream(8, 0);
    char *text = malloc(ROWS * COLUMNS * 48), *p = text;
    double *want = malloc(ROWS * COLUMNS * sizeof *want);
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *t;
    hu_csv_options options = {',', '.', HU_CSV_HEADER, 0};
    p += sprintf(p, "a,b,c,d,e,f,word\n");
    for (int64_t i = 0; i < ROWS; i++) {
        bool plain = hu_random_below(&random, 4) > 0; /* rows of plain short numbers between the others */
        for (int64_t j = 0; j + 1 < COLUMNS; j++) {
            bool missing;
            if (plain) {
                want[i * COLUMNS + j] = (double)hu_random_below(&random, 1 << 20);
                p += sprintf(p, "%d", (int)want[i * COLUMNS + j]);
            } else {
                p += put_cell(&random, p, &want[i * COLUMNS + j], &missing);
            }
            *p++ = ',';
        }
        p += sprintf(p, i % 3 ? "w%d%s" : "\"w%d\"%s", (int)(i % 5), hu_random_below(&random, 5) ? "\n" : "\r\n");
    }
    ck_assert_ok(read_text(text, (size_t)(p - text), &options, &t, &err));
    ck_assert_int_eq(t->rows, ROWS);
    for (int64_t j = 0; j + 1 < COLUMNS; j++) {
        const hu_csv_column *c = &t->column[j];
        int64_t missing = 0;
        ck_assert(!c->is_text);
        for (int64_t i = 0; i < ROWS; i++) {
            double v = want[i * COLUMNS + j];
            missing += isnan(v);
            ck_assert_msg(isnan(v) ? isnan(c->number[i]) && c->missing[i] : memcmp(&v, &c->number[i], sizeof v) == 0, "row %lld, column %lld: %.17g, not %.17g", (long long)i, (long long)j, c->number[i], v);
        }
        ck_assert_int_eq(c->missing_count, missing);
    }
    for (int64_t i = 0; i < ROWS; i++) ck_assert_int_eq(level(t, COLUMNS - 1, i)[1], '0' + i % 5);
    hu_csv_table_free(t);
    free(text);
    free(want);
}
END_TEST

/* The kernel that lists where fields end, against its definition. */
START_TEST(marks_of_every_level)
{
    enum { SIZE = 1000 };
    static const char letters[] = ",;\n\r\"\0abc1234.";
    hu_random random = hu_random_stream(9, 0);
    char text[SIZE];
    uint32_t got[SIZE];
    for (int trial = 0; trial < 500; trial++) {
        int64_t size = hu_random_below(&random, SIZE), count = 0;
        char delimiter = trial % 2 ? ',' : ';';
        for (int64_t i = 0; i < size; i++) text[i] = letters[hu_random_below(&random, sizeof letters - 1)];
        int64_t n = HU_PICK(hu_csv_marks)(text, size, delimiter, got);
        for (int64_t i = 0; i < size; i++)
            if (text[i] == delimiter || text[i] == '\n' || text[i] == '\r' || text[i] == '"' || text[i] == '\0') {
                ck_assert(count < n && got[count] == (uint32_t)i);
                count++;
            }
        ck_assert_int_eq(n, count);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *all = tcase_create("csv");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, mark_and_quoted_header);
    tcase_add_test(all, quoted_line_ends);
    tcase_add_test(all, decimal_comma);
    tcase_add_test(all, late_contradiction);
    tcase_add_test(all, empty_is_missing_and_quoted_empty_a_level);
    tcase_add_test(all, failed_runs);
    tcase_add_test(all, what_is_a_number);
    tcase_add_test(all, truths);
    tcase_add_test(all, levels_do_not_depend_on_the_order_of_rows);
    tcase_add_test(all, wrong_tables);
    tcase_add_test(all, blank_lines_and_comments);
    tcase_add_test(all, headers);
    tcase_add_test(all, rows_against_a_simple_splitter);
    tcase_add_test(all, ways_of_reading_agree);
    tcase_add_test(all, writing_reads_back);
    tcase_add_test(all, cells_of_all_forms);
    tcase_add_test(all, marks_of_every_level);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
