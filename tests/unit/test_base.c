/* test_base.c: errors, memory, random numbers, threads, clock and output. */
#include "config.h"
#include "hu_test.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/parallel.h"
#include "base/random.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(error_first_stays)
{
    hu_error err = HU_ERROR_NONE;
    ck_assert_int_eq(hu_fail_line(&err, "a.mtx", 17, "row %d is outside 1..%d", 12, 10), HU_INPUT);
    ck_assert_int_eq(hu_fail(&err, HU_SYSTEM, "later"), HU_SYSTEM);
    ck_assert_str_eq(err.message, "a.mtx:17: row 12 is outside 1..10");
    ck_assert_int_eq(err.status, HU_INPUT);
    hu_error_clear(&err);
    hu_fail_byte(&err, "p.bin", 42, "odd");
    ck_assert_str_eq(err.message, "p.bin: byte 42: odd");
}
END_TEST

START_TEST(error_long_message_is_cut)
{
    hu_error err = HU_ERROR_NONE;
    char *name = malloc(5000);
    memset(name, 'x', 4999);
    name[4999] = '\0';
    hu_fail_line(&err, name, 1, "%s", name);
    ck_assert_uint_eq(strlen(err.message), HU_ERROR_MESSAGE - 1);
    free(name);
}
END_TEST

START_TEST(memory_sizes_are_checked)
{
    hu_error err = HU_ERROR_NONE;
    void *p;
    ck_assert_int_eq(hu_alloc(INT64_MAX / 4, 8, "rows", &p, &err), HU_SYSTEM);
    ck_assert_ptr_null(p);
    hu_error_clear(&err);
    ck_assert_int_eq(hu_alloc(-1, 8, "rows", &p, &err), HU_SYSTEM);
    hu_error_clear(&err);
    ck_assert_ok(hu_alloc_zero(0, 8, "nothing", &p, &err));
    ck_assert_ptr_nonnull(p);
    hu_free(p);
    ck_assert_ok(hu_alloc_zero(1 << 20, 8, "some", &p, &err));
    ck_assert_uint_eq((uintptr_t)p % HU_ALIGN, 0);
    for (int i = 0; i < 1 << 20; i += 4097) ck_assert_int_eq(((int64_t *)p)[i], 0);
    hu_free(p);
    int64_t product;
    ck_assert(!hu_mul_size(INT64_MAX, 2, &product));
    ck_assert(!hu_add_size(INT64_MAX, 1, &product));
}
END_TEST

/* Known answers published with Random123: philox4x32-10 on zeros, ones, and the digits of pi. */
START_TEST(random_known_answers)
{
    uint32_t out[4];
    hu_random_block((uint32_t[]){0, 0, 0, 0}, (uint32_t[]){0, 0}, out);
    ck_assert_uint_eq(out[0], 0x6627e8d5u);
    ck_assert_uint_eq(out[3], 0x9b00dbd8u);
    hu_random_block((uint32_t[]){~0u, ~0u, ~0u, ~0u}, (uint32_t[]){~0u, ~0u}, out);
    ck_assert_uint_eq(out[0], 0x408f276du);
    ck_assert_uint_eq(out[1], 0x41c83b0eu);
    ck_assert_uint_eq(out[2], 0xa20bc7c6u);
    ck_assert_uint_eq(out[3], 0x6d5451fdu);
    hu_random_block((uint32_t[]){0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, (uint32_t[]){0xa4093822u, 0x299f31d0u}, out);
    ck_assert_uint_eq(out[0], 0xd16cfe09u);
    ck_assert_uint_eq(out[1], 0x94fdccebu);
    ck_assert_uint_eq(out[2], 0x5001e420u);
    ck_assert_uint_eq(out[3], 0x24126ea1u);
}
END_TEST

START_TEST(random_draws)
{
    hu_random r = hu_random_stream(7, 3), same = r;
    double sum = 0, square = 0;
    int count[10] = {0};
    for (int i = 0; i < 100000; i++) {
        double z = hu_random_normal(&r);
        sum += z;
        square += z * z;
        count[hu_random_below(&same, 10)]++;
    }
    ck_assert(fabs(sum / 1e5) < 0.02 && fabs(square / 1e5 - 1) < 0.03);
    for (int i = 0; i < 10; i++) ck_assert_int_gt(count[i], 9500);
}
END_TEST

START_TEST(parallel_shares_cover)
{
    for (int parts = 1; parts < 9; parts++) {
        int64_t from, to, last = 0;
        for (int i = 0; i < parts; i++) {
            hu_share(23, parts, i, &from, &to);
            ck_assert_int_eq(from, last);
            last = to;
        }
        ck_assert_int_eq(last, 23);
    }
}
END_TEST

START_TEST(clock_median)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    ck_assert_double_eq(hu_clock_median(odd, 3), 2);
    ck_assert_double_eq(hu_clock_median(even, 4), 2.5);
    ck_assert(isnan(hu_clock_median(odd, 0)));
}
END_TEST

static char folder[64];

static char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/hu_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void expect_content(const char *path, const char *wanted)
{
    char text[100] = "";
    int fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(read(fd, text, 99), 0);
    close(fd);
    ck_assert_str_eq(text, wanted);
}

START_TEST(output_is_whole_or_nothing)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    char *path = in_folder("x");
    ck_assert_ok(hu_output_open(path, &out, &err));
    ck_assert_ok(hu_output_write(out, "one", 3, &err));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_ok(hu_output_commit(&out, &err));
    ck_assert_ptr_null(out);
    expect_content(path, "one");
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_ok(hu_output_open(path, &out, &err));
    ck_assert_ok(hu_output_printf(out, &err, "two %d", 2));
    hu_output_abort(&out);
    expect_content(path, "one");
    ck_assert_ok(hu_output_open(path, &out, &err));
    ck_assert_ok(hu_output_printf(out, &err, "three"));
    ck_assert_ok(hu_output_commit(&out, &err));
    expect_content(path, "three");
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(output_follows_links_and_refuses_folders)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    char target[128];
    strcpy(target, in_folder("target"));
    close(open(target, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(symlink(target, in_folder("link")), 0);
    ck_assert_ok(hu_output_open(in_folder("link"), &out, &err));
    ck_assert_ok(hu_output_write(out, "z", 1, &err));
    ck_assert_ok(hu_output_commit(&out, &err));
    expect_content(target, "z");
    ck_assert_int_eq(hu_output_open(folder, &out, &err), HU_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.message, "directory"));
}
END_TEST

START_TEST(output_full_disc)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    ck_assert_ok(hu_output_open("/dev/full", &out, &err));
    ck_assert_ok(hu_output_write(out, "x", 1, &err));
    ck_assert_int_eq(hu_output_commit(&out, &err), HU_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.message, "No space left"));
}
END_TEST

START_TEST(output_names)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    char name[300];
    memset(name, 'n', sizeof name);
    name[255] = '\0'; /* the longest name that a file may have */
    char *path = in_folder(name);
    ck_assert_ok(hu_output_open(path, &out, &err));
    ck_assert_ok(hu_output_write(out, "long", 4, &err));
    ck_assert_ok(hu_output_commit(&out, &err));
    expect_content(path, "long");
    ck_assert_int_eq(hu_output_open("", &out, &err), HU_SYSTEM);
    hu_error_clear(&err);
    name[255] = 'n';
    name[256] = '\0';
    ck_assert_int_eq(hu_output_open(in_folder(name), &out, &err), HU_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.message, "too long"));
}
END_TEST

START_TEST(output_makes_what_a_dangling_link_names)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    char link[128];
    strcpy(link, in_folder("link"));
    ck_assert_int_eq(symlink("nowhere", link), 0);
    ck_assert_ok(hu_output_open(link, &out, &err));
    ck_assert_ok(hu_output_write(out, "y", 1, &err));
    ck_assert_ok(hu_output_commit(&out, &err));
    expect_content(in_folder("nowhere"), "y");
    struct stat st;
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(output_in_memory)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    const char *bytes;
    size_t size;
    ck_assert_ok(hu_output_memory("memory", &out, &err));
    for (int i = 0; i < 300000; i++) ck_assert_ok(hu_output_write(out, "0123456789", 10, &err));
    hu_output_memory_bytes(out, &bytes, &size);
    ck_assert_uint_eq(size, 3000000);
    for (size_t i = 0; i < size; i += 999) ck_assert_int_eq(bytes[i], '0' + (char)(i % 10));
    hu_output_abort(&out);
}
END_TEST

/* An answer of no keeps what the program says is part of it; a failure keeps nothing. */
START_TEST(exit_keeps_answers)
{
    for (int keep = 0; keep < 2; keep++)
        for (int code = HU_NO; code <= HU_PROGRAM; code++) {
            hu_error err = HU_ERROR_NONE;
            hu_output *out;
            char *path = in_folder("answer");
            unlink(path);
            ck_assert_ok(hu_output_open(path, &out, &err));
            ck_assert_ok(hu_output_write(out, "ray", 3, &err));
            if (keep) hu_output_keep(out);
            err.status = (hu_status)code;
            ck_assert_int_eq(hu_exit(&err, out), code);
            bool answer = code == HU_NO || code >= HU_PROGRAM;
            ck_assert_int_eq(access(path, F_OK) == 0, keep && answer);
        }
    hu_error err = HU_ERROR_NONE;
    hu_output *out;
    ck_assert_ok(hu_output_open("/dev/full", &out, &err));
    ck_assert_ok(hu_output_write(out, "ray", 3, &err));
    hu_output_keep(out);
    err.status = HU_NO;
    ck_assert_int_eq(hu_exit(&err, out), HU_SYSTEM);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *plain = tcase_create("plain");
    tcase_add_test(plain, error_first_stays);
    tcase_add_test(plain, error_long_message_is_cut);
    tcase_add_test(plain, memory_sizes_are_checked);
    tcase_add_test(plain, random_known_answers);
    tcase_add_test(plain, random_draws);
    tcase_add_test(plain, parallel_shares_cover);
    tcase_add_test(plain, clock_median);
    suite_add_tcase(suite, plain);
    TCase *files = tcase_create("output");
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, output_is_whole_or_nothing);
    tcase_add_test(files, output_follows_links_and_refuses_folders);
    tcase_add_test(files, output_full_disc);
    tcase_add_test(files, output_names);
    tcase_add_test(files, output_makes_what_a_dangling_link_names);
    tcase_add_test(files, output_in_memory);
    tcase_add_test(files, exit_keeps_answers);
    suite_add_tcase(suite, files);
    return hu_test_run(suite);
}
