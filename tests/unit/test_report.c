/* test_report.c: rows appended to a CSV file: header once, never under other names, whole or not at all, by several at once. */
#include "config.h"
#include "io_test.h"
#include "io/csv.h"
#include "io/report.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

static char path[] = "/tmp/hu_test_XXXXXX";

static void make_file(void)
{
    strcpy(path, "/tmp/hu_test_XXXXXX");
    close(mkstemp(path));
}

static void remove_file(void)
{
    unlink(path);
}

static hu_report *make_row(int64_t n)
{
    hu_error err = HU_ERROR_NONE;
    hu_report *report;
    ck_assert_ok(hu_report_new(&report, &err));
    ck_assert_ok(hu_report_text(report, "scheme", "rows,4", &err));
    ck_assert_ok(hu_report_integer(report, "n", n, &err));
    ck_assert_ok(hu_report_number(report, "time", 0.1, &err));
    ck_assert_ok(hu_report_number(report, "error", NAN, &err));
    return report;
}

static hu_status append(int64_t n, hu_error *err)
{
    hu_report *report = make_row(n);
    hu_status status = hu_report_append(report, path, err);
    hu_report_free(report);
    return status;
}

static void expect_file(const char *wanted)
{
    char text[1000] = "";
    int fd = open(path, O_RDONLY);
    ck_assert_int_ge(read(fd, text, sizeof text - 1), 0);
    close(fd);
    ck_assert_str_eq(text, wanted);
}

static void put_file(const char *text)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

START_TEST(header_once)
{
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(append(1, &err));
    ck_assert_ok(append(-2, &err));
    expect_file("scheme,n,time,error\n\"rows,4\",1,0.1,\n\"rows,4\",-2,0.1,\n");
    unlink(path);
    ck_assert_ok(append(3, &err));
    expect_file("scheme,n,time,error\n\"rows,4\",3,0.1,\n");
}
END_TEST

START_TEST(several_rows)
{
    hu_error err = HU_ERROR_NONE;
    hu_report *report = make_row(1);
    hu_report_next_row(report);
    ck_assert_ok(hu_report_text(report, "scheme", NULL, &err));
    ck_assert_ok(hu_report_integer(report, "n", 2, &err));
    ck_assert_ok(hu_report_number(report, "time", 1e-9, &err));
    ck_assert_ok(hu_report_number(report, "error", 3, &err));
    ck_assert_ok(hu_report_append(report, path, &err));
    expect_file("scheme,n,time,error\n\"rows,4\",1,0.1,\n,2,1e-9,3\n");
    hu_report_free(report);
}
END_TEST

START_TEST(another_header_is_refused)
{
    hu_error err = HU_ERROR_NONE;
    static const char *const others[] = {"scheme,n,time\nx,1,2\n", "scheme,n,time,error,more\nx,1,2,3,4\n", "other\n", "scheme,n,time,errox\n", "no line end"};
    for (int i = 0; i < 5; i++) {
        put_file(others[i]);
        ck_assert_fails(append(1, &err), HU_INPUT, ":1: the file has another header (");
        expect_file(others[i]);
    }
    put_file("scheme,n,time,error\nx,1,2,3");
    ck_assert_fails(append(1, &err), HU_INPUT, "last line has no end");
    put_file("\xef\xbb\xbfscheme,n,time,error\r\nx,1,2,3\r\n");
    ck_assert_ok(append(1, &err));
    expect_file("\xef\xbb\xbfscheme,n,time,error\r\nx,1,2,3\r\n\"rows,4\",1,0.1,\n");
}
END_TEST

/* The disc is "full" at 60 bytes: the old content stays. */
START_TEST(full_disc_takes_the_row_back)
{
    hu_error err = HU_ERROR_NONE;
    ck_assert_ok(append(1, &err));
    struct rlimit limit = {45, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_fails(append(2, &err), HU_SYSTEM, "write failed");
    expect_file("scheme,n,time,error\n\"rows,4\",1,0.1,\n");
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_ok(append(2, &err));
    expect_file("scheme,n,time,error\n\"rows,4\",1,0.1,\n\"rows,4\",2,0.1,\n");
}
END_TEST

START_TEST(many_at_once)
{
    enum { WRITERS = 8, ROWS = 25 };
    hu_error err = HU_ERROR_NONE;
    hu_csv_table *table;
    hu_source *source;
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            for (int i = 0; i < ROWS; i++)
                if (append(w * ROWS + i, &err)) _exit(1);
            _exit(0);
        }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        wait(&status);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_ok(hu_source_open(path, NULL, &source, &err));
    ck_assert_ok(hu_csv_read(source, NULL, 1 << 20, &table, &err));
    ck_assert_int_eq(table->rows, WRITERS * ROWS);
    double sum = 0;
    for (int64_t i = 0; i < table->rows; i++) sum += table->column[1].number[i];
    ck_assert(sum == WRITERS * ROWS * (WRITERS * ROWS - 1) / 2);
    hu_csv_table_free(table);
    hu_source_close(source);
}
END_TEST

START_TEST(no_such_folder)
{
    hu_error err = HU_ERROR_NONE;
    hu_report *report = make_row(1);
    ck_assert_fails(hu_report_append(report, "/nowhere/at/all.csv", &err), HU_SYSTEM, "/nowhere/at/all.csv: cannot be written");
    ck_assert_fails(hu_report_append(report, "/dev/full", &err), HU_SYSTEM, "No space left");
    hu_report_free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *all = tcase_create("report");
    tcase_add_checked_fixture(all, make_file, remove_file);
    tcase_add_test(all, header_once);
    tcase_add_test(all, several_rows);
    tcase_add_test(all, another_header_is_refused);
    tcase_add_test(all, full_disc_takes_the_row_back);
    tcase_add_test(all, many_at_once);
    tcase_add_test(all, no_such_folder);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
