/* test_journal.c: records that survive: cut at every byte, changed in every bit, a full disc, two processes at once. */
#include "config.h"
#include "io_test.h"
#include "io/journal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const records[] = {"{\"a\":1}", "", "two\nlines", "the last one"};
enum { RECORDS = 4 };

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

static int64_t read_file(char *bytes, int64_t room)
{
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, bytes, (size_t)room);
    ck_assert_int_ge(size, 0);
    close(fd);
    return size;
}

static void write_file(const char *bytes, int64_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
    ck_assert_int_eq(write(fd, bytes, (size_t)size), size);
    close(fd);
}

static void drain(hu_journal *j, int64_t wanted)
{
    hu_error err = HU_ERROR_NONE;
    const char *text;
    int64_t size, n = 0;
    hu_status status;
    while ((status = hu_journal_next(j, &text, &size, &err)) == HU_OK) {
        ck_assert_int_eq(size, (int64_t)strlen(records[n % RECORDS]));
        ck_assert_mem_eq(text, records[n % RECORDS], (size_t)size);
        n++;
    }
    ck_assert_int_eq(status, HU_END);
    ck_assert_int_eq(n, wanted);
}

static void append_all(void)
{
    hu_error err = HU_ERROR_NONE;
    hu_journal *j;
    ck_assert_ok(hu_journal_open(path, true, &j, &err));
    for (int i = 0; i < RECORDS; i++) ck_assert_ok(hu_journal_append(j, records[i], (int64_t)strlen(records[i]), &err));
    hu_journal_close(j);
}

START_TEST(comes_back)
{
    hu_error err = HU_ERROR_NONE;
    hu_journal *j;
    unlink(path);
    ck_assert_fails(hu_journal_open(path, false, &j, &err), HU_SYSTEM, path);
    append_all();
    ck_assert_ok(hu_journal_open(path, false, &j, &err));
    drain(j, RECORDS);
    ck_assert_ok(hu_journal_append(j, records[0], (int64_t)strlen(records[0]), &err));
    hu_journal_close(j);
    ck_assert_ok(hu_journal_open(path, false, &j, &err));
    drain(j, RECORDS + 1);
    ck_assert_int_eq(hu_journal_torn(j), 0);
    hu_journal_close(j);
}
END_TEST

/* Each cut leaves the records before it, and the next one can be appended. */
START_TEST(cut_at_every_byte)
{
    hu_error err = HU_ERROR_NONE;
    char bytes[1000], again[1000];
    append_all();
    int64_t size = read_file(bytes, sizeof bytes), whole = 0, end = 19;
    for (int64_t cut = 0; cut < size; cut++) {
        hu_journal *j;
        if (whole < RECORDS && cut >= end + 28 + (int64_t)strlen(records[whole])) end += 28 + (int64_t)strlen(records[whole++]);
        write_file(bytes, cut);
        ck_assert_ok(hu_journal_open(path, false, &j, &err));
        ck_assert_int_eq(hu_journal_torn(j), cut < 19 ? cut : cut - end);
        drain(j, whole);
        ck_assert_ok(hu_journal_append(j, records[whole], (int64_t)strlen(records[whole]), &err));
        hu_journal_close(j);
        ck_assert_int_eq(read_file(again, sizeof again), end + 28 + (int64_t)strlen(records[whole]));
        ck_assert_mem_eq(again, bytes, (size_t)(end + 28 + (int64_t)strlen(records[whole])));
    }
    ck_assert_int_eq(whole, RECORDS - 1);
}
END_TEST

START_TEST(changed_in_every_bit)
{
    char bytes[1000], changed[1000];
    append_all();
    int64_t size = read_file(bytes, sizeof bytes);
    for (int64_t bit = 0; bit < 8 * size; bit++) {
        hu_error err = HU_ERROR_NONE;
        hu_journal *j = NULL;
        memcpy(changed, bytes, (size_t)size);
        changed[bit / 8] = (char)(changed[bit / 8] ^ 1 << bit % 8);
        ck_assert_fails(hu_journal_memory("j", changed, size, &j, &err), HU_INPUT, "j: byte ");
        ck_assert_ptr_null(j);
    }
}
END_TEST

/* Records in another order, or one left out. */
START_TEST(records_are_chained)
{
    hu_error err = HU_ERROR_NONE;
    char bytes[1000], changed[1000];
    hu_journal *j;
    append_all();
    int64_t size = read_file(bytes, sizeof bytes), first = 28 + (int64_t)strlen(records[0]), empty = 28, third = 28 + (int64_t)strlen(records[2]);
    memcpy(changed, bytes, 19);
    memcpy(changed + 19, bytes + 19 + first, (size_t)(size - 19 - first));
    ck_assert_fails(hu_journal_memory("j", changed, size - first, &j, &err), HU_INPUT, "byte 19: a record is damaged");
    hu_error_clear(&err);
    memcpy(changed, bytes, (size_t)(19 + first + empty));
    memcpy(changed + 19 + first + empty, bytes + 19 + first + empty + third, (size_t)(size - 19 - first - empty - third));
    ck_assert_fails(hu_journal_memory("j", changed, size - third, &j, &err), HU_INPUT, "a record is damaged");
}
END_TEST

START_TEST(other_files_stay_as_they_are)
{
    static const char *const others[] = {"hello\n", "h", "hpcutils-journal 2\n", "a long text that is surely no journal of any kind\n"};
    for (int i = 0; i < 4; i++) {
        hu_error err = HU_ERROR_NONE;
        hu_journal *j;
        char bytes[100];
        write_file(others[i], (int64_t)strlen(others[i]));
        if (i == 1) continue; /* the beginning of one */
        ck_assert_fails(hu_journal_open(path, true, &j, &err), HU_INPUT, "this is no journal");
        ck_assert_int_eq(read_file(bytes, sizeof bytes), (int64_t)strlen(others[i]));
        ck_assert_mem_eq(bytes, others[i], strlen(others[i]));
    }
}
END_TEST

START_TEST(a_full_disc_leaves_whole_records)
{
    hu_error err = HU_ERROR_NONE;
    hu_journal *j;
    char text[4000], bytes[1000];
    struct rlimit limit = {600, 600};
    append_all();
    int64_t size = read_file(bytes, sizeof bytes);
    memset(text, 'x', sizeof text);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_ok(hu_journal_open(path, false, &j, &err));
    drain(j, RECORDS);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_fails(hu_journal_append(j, text, sizeof text, &err), HU_SYSTEM, "write");
    hu_journal_close(j);
    struct stat s;
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert_int_eq(s.st_size, size);
}
END_TEST

/* Eight processes append fifty records each; none is lost. */
START_TEST(several_at_once)
{
    hu_error err = HU_ERROR_NONE;
    hu_journal *j;
    const char *text;
    int64_t size, n = 0;
    for (int p = 0; p < 8; p++) {
        if (fork()) continue;
        for (int i = 0; i < 50; i++) {
            if (hu_journal_open(path, true, &j, &err)) _exit(1);
            while (hu_journal_next(j, &text, &size, &err) == HU_OK) continue;
            if (hu_journal_append(j, "record", 6, &err)) _exit(1);
            hu_journal_close(j);
        }
        _exit(0);
    }
    for (int p = 0; p < 8; p++) {
        int state;
        ck_assert_int_gt(wait(&state), 0);
        ck_assert_int_eq(state, 0);
    }
    ck_assert_ok(hu_journal_open(path, false, &j, &err));
    while (hu_journal_next(j, &text, &size, &err) == HU_OK) n++;
    ck_assert_int_eq(n, 400);
    hu_journal_close(j);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/journal");
    TCase *c = tcase_create("journal");
    hu_set_verbosity(-1);
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, make_file, remove_file);
    tcase_add_test(c, comes_back);
    tcase_add_test(c, cut_at_every_byte);
    tcase_add_test(c, changed_in_every_bit);
    tcase_add_test(c, records_are_chained);
    tcase_add_test(c, other_files_stay_as_they_are);
    tcase_add_test(c, a_full_disc_leaves_whole_records);
    tcase_add_test(c, several_at_once);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
