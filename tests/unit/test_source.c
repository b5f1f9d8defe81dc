/* test_source.c: inputs of every kind, from files and from pipes. The compressed inputs are made by the system's own
 * tools. */
#include "config.h"
#include "hu_test.h"
#include "io/source.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/hu_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "cd / && rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void shell(const char *command)
{
    ck_assert_msg(system(command) == 0, "%s", command);
}

static bool have(const char *tool)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

/* Opens and reads it all; the status of whichever failed. */
static hu_status slurp(const char *path, const char *suffix, char **ret_text, int64_t *ret_size, hu_error *err)
{
    hu_source *s;
    if (hu_source_open(path, suffix, &s, err)) return err->status;
    hu_source_slurp(s, 1 << 28, ret_text, ret_size, err);
    hu_source_close(s);
    return err->status;
}

static void expect_text(const char *path, const char *suffix, const char *wanted, int64_t size)
{
    hu_error err = HU_ERROR_NONE;
    char *text = NULL;
    int64_t got = 0;
    ck_assert_ok(slurp(path, suffix, &text, &got, &err));
    ck_assert_msg(got == size && memcmp(text, wanted, (size_t)size) == 0,
                  "%s: %lld bytes instead of %lld, or other ones", path, (long long)got, (long long)size);
    hu_free(text);
}

static void expect_failure(const char *path, const char *suffix, hu_status status, const char *words)
{
    hu_error err = HU_ERROR_NONE;
    char *text = NULL;
    int64_t size;
    ck_assert_msg(slurp(path, suffix, &text, &size, &err) == status && strstr(err.message, words), "%s: status %d: %s",
                  path, err.status, err.message);
}

/* Standard input becomes a pipe from a command (or, with '<', a file). */
static void standard_input(const char *command)
{
    FILE *p = *command == '<' ? fopen(command + 1, "r") : popen(command, "r");
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(dup2(fileno(p), STDIN_FILENO), STDIN_FILENO);
}

/* A text of many blocks that no compressor shrinks to nothing. */
static char *make_text(int64_t *ret_size)
{
    int64_t lines = 60000;
    char *text = malloc((size_t)lines * 24 + 1);
    ck_assert_ptr_nonnull(text);
    char *p = text;
    uint64_t x = 1;
    for (int64_t i = 0; i < lines; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        p += sprintf(p, "%llu\n", (unsigned long long)x);
    }
    *ret_size = p - text;
    FILE *file = fopen("x.mtx", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, (size_t)*ret_size, file), (size_t)*ret_size);
    fclose(file);
    return text;
}

static const struct {
    const char *tool, *suffix;
} filters[] = {{"gzip", "gz"}, {"xz", "xz"}, {"zstd", "zst"}, {"bzip2", "bz2"}};

START_TEST(plain_and_filters)
{
    int64_t size;
    char *text = make_text(&size), command[512], path[64];
    expect_text("x.mtx", NULL, text, size);
    for (int i = 0; i < 4; i++) {
        if (!have(filters[i].tool)) continue;
        snprintf(command, sizeof command, "%s -c < x.mtx > x.%s", filters[i].tool, filters[i].suffix);
        shell(command);
        snprintf(path, sizeof path, "x.%s", filters[i].suffix);
        expect_text(path, NULL, text, size);
        expect_text(path, ".mtx", text, size); /* what is no tar has no members to choose from */
        /* two of them, one behind the other, are the text twice */
        snprintf(command, sizeof command, "cat %s %s > twice", path, path);
        shell(command);
        char *twice = malloc((size_t)size * 2);
        ck_assert_ptr_nonnull(twice);
        memcpy(twice, text, (size_t)size);
        memcpy(twice + size, text, (size_t)size);
        expect_text("twice", NULL, twice, 2 * size);
        free(twice);
        /* cut off, and with something behind */
        snprintf(command, sizeof command, "head -c 30000 %s > cut; (cat %s; echo some garbage) > more", path, path);
        shell(command);
        expect_failure("cut", NULL, HU_INPUT, "cut");
        expect_failure("more", NULL, HU_INPUT, "more");
        /* one bit wrong */
        snprintf(command, sizeof command,
                 "cp %s bad; printf '\\252' | dd of=bad bs=1 seek=20011 conv=notrunc 2>/dev/null; cmp -s bad %s "
                 "&& printf '\\125' | dd of=bad bs=1 seek=20011 conv=notrunc 2>/dev/null; true",
                 path, path);
        shell(command);
        if (i != 2)
            expect_failure("bad", NULL, HU_INPUT, "bad"); /* zstd: with the checksum that its tool writes, see below */
    }
    shell("(cat x.gz; head -c 1000 /dev/zero) > padded.gz");
    expect_text("padded.gz", NULL, text, size);
    if (have("zstd")) expect_failure("bad", NULL, HU_INPUT, "bad");
    free(text);
}
END_TEST

START_TEST(gzip_checksum)
{
    int64_t size;
    free(make_text(&size));
    shell("gzip -c < x.mtx > x.gz; cp x.gz bad.gz; truncate -s -8 bad.gz; printf '\\1\\2\\3\\4' >> bad.gz; tail -c 4 "
          "x.gz >> bad.gz");
    expect_failure("bad.gz", NULL, HU_INPUT, "damaged");
}
END_TEST

START_TEST(pipes)
{
    int64_t size;
    char *text = make_text(&size), command[128];
    standard_input("cat x.mtx");
    expect_text("-", NULL, text, size);
    for (int i = 0; i < 4; i++) {
        if (!have(filters[i].tool)) continue;
        snprintf(command, sizeof command, "%s -c < x.mtx", filters[i].tool);
        standard_input(command);
        expect_text(NULL, NULL, text, size);
    }
    standard_input("tar cf - x.mtx");
    expect_text("-", ".mtx", text, size);
    standard_input("tar czf - x.mtx");
    expect_text("-", ".mtx", text, size);
    standard_input("true");
    expect_text("-", NULL, "", 0);
    standard_input("printf ab");
    expect_text("-", NULL, "ab", 2);
    standard_input("</dev/null");
    expect_text("-", NULL, "", 0);
    standard_input("<x.mtx");
    ck_assert_int_eq(lseek(STDIN_FILENO, 20, SEEK_SET), 20);
    expect_text("-", NULL, text + 20, size - 20);
    ck_assert_int_eq(lseek(STDIN_FILENO, 0, SEEK_CUR), size); /* where the next reader goes on */
    free(text);
}
END_TEST

/* A short text on a pipe that stays open is there at once. */
START_TEST(open_pipe_is_not_waited_for)
{
    int ends[2];
    hu_error err = HU_ERROR_NONE;
    hu_source *s;
    char text[8];
    size_t n;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    ck_assert_int_eq(write(ends[1], "%%MatrixMarket", 14), 14);
    ck_assert_ok(hu_source_open("-", NULL, &s, &err));
    ck_assert_ok(hu_source_read(s, text, 8, &n, &err));
    ck_assert_uint_eq(n, 8);
    ck_assert_int_eq(memcmp(text, "%%Matrix", 8), 0);
    hu_source_close(s);
}
END_TEST

START_TEST(tar_members)
{
    shell("mkdir -p N other; echo matrix > N/N.mtx; echo right > N/N_b.mtx; echo text > N/N.txt; echo o > other/o.mtx; "
          "echo p > other/p.mtx");
    const char *const orders[] = {"N/N.mtx N/N_b.mtx N/N.txt", "N/N_b.mtx N/N.txt N/N.mtx", "N"};
    char command[256];
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof command, "tar czf N.tar.gz %s && tar cf N.tar %s && tar czf renamed.tgz %s", orders[i],
                 orders[i], orders[i]);
        shell(command);
        expect_text("N.tar.gz", ".mtx", "matrix\n", 7);
        expect_text("N.tar", ".mtx", "matrix\n", 7);
        expect_text("renamed.tgz", ".mtx", "matrix\n", 7); /* N/N.mtx, whatever the archive is called */
        expect_text("N.tar.gz", "_b.mtx", "right\n", 6);
        expect_text("N.tar.gz", ".txt", "text\n", 5);
        expect_text("N.tar.gz", "N/N.mtx", "matrix\n", 7); /* a suffix longer than the last part of a name */
        expect_text("N.tar.gz:N/N_b.mtx", ".mtx", "right\n", 6);
        expect_text("renamed.tgz:N/N.txt", NULL, "text\n", 5);
        standard_input("cat N.tar.gz");
        expect_text("-", ".mtx", "matrix\n", 7);
    }
    shell("tar cf flat.tar -C N N.mtx -C ../other p.mtx && mv flat.tar N.tar");
    expect_text("N.tar", ".mtx", "matrix\n", 7); /* named like the archive */
    shell("tar cf two.tar other");
    expect_failure("two.tar", ".mtx", HU_INPUT, "other/p.mtx");
    expect_failure("two.tar", ".csv", HU_INPUT, "no member");
    expect_failure("two.tar", NULL, HU_INPUT, "2 members");
    expect_failure("two.tar:q", NULL, HU_INPUT, "no member q");
    expect_failure("N/N.mtx:q", NULL, HU_INPUT, "not an archive");
    shell("tar cf one.tar N/N.txt");
    expect_text("one.tar", NULL, "text\n", 5);
    shell("tar czf N.tar.gz N && head -c 150 N.tar.gz > cut.tgz");
    expect_failure("cut.tgz", ".mtx", HU_INPUT, "cut");
    shell("cp N/N.mtx with:colon.mtx");
    expect_text("with:colon.mtx", NULL, "matrix\n", 7);
    if (have("zstd")) {
        shell("tar cf - N | zstd -q -c > N.tar.zst");
        expect_text("N.tar.zst", ".mtx", "matrix\n", 7);
    }
}
END_TEST

START_TEST(failures_to_open)
{
    expect_failure("absent.mtx", NULL, HU_SYSTEM, "No such file");
    expect_failure("absent.tar:x", NULL, HU_SYSTEM, "absent.tar:x: cannot be opened: No such file");
    expect_failure(folder, NULL, HU_SYSTEM, "directory");
    shell("echo x > secret; chmod 0 secret");
    if (geteuid() != 0) expect_failure("secret", NULL, HU_SYSTEM, "Permission");
    shell(": > empty");
    expect_text("empty", NULL, "", 0);
    hu_error err = HU_ERROR_NONE;
    char *text = NULL;
    int64_t size = 0;
    ck_assert_ok(slurp("/proc/self/statm", NULL, &text, &size, &err)); /* a regular file of size 0 that has content */
    ck_assert_int_gt(size, 5);
    hu_free(text);
}
END_TEST

START_TEST(peek_read_and_slurp)
{
    int64_t size;
    char *text = make_text(&size);
    for (int piped = 0; piped < 2; piped++) {
        hu_error err = HU_ERROR_NONE;
        hu_source *s;
        const void *bytes;
        size_t n;
        char part[5000];
        if (piped) standard_input("cat x.mtx");
        ck_assert_ok(hu_source_open(piped ? "-" : "x.mtx", NULL, &s, &err));
        ck_assert_str_eq(hu_source_name(s), piped ? "standard input" : "x.mtx");
        int fd;
        int64_t whole;
        ck_assert(hu_source_is_plain(s, &fd, &whole) == !piped);
        ck_assert_ok(hu_source_peek(s, 100, &bytes, &n, &err));
        ck_assert(n == 100 && memcmp(bytes, text, 100) == 0);
        ck_assert_ok(hu_source_read(s, part, 30, &n, &err));
        ck_assert(n == 30 && memcmp(part, text, 30) == 0);
        ck_assert_ok(hu_source_peek(s, 4096, &bytes, &n, &err));
        ck_assert(n == 4096 && memcmp(bytes, text + 30, 4096) == 0);
        ck_assert_int_eq(hu_source_offset(s), 30);
        ck_assert_ok(hu_source_read(s, part, 5000, &n, &err));
        ck_assert(n == 5000 && memcmp(part, text + 30, 5000) == 0);
        char *rest;
        int64_t left;
        ck_assert_ok(hu_source_slurp(s, size, &rest, &left, &err));
        ck_assert(left == size - 5030 && memcmp(rest, text + 5030, (size_t)left) == 0 && rest[left] == '\0');
        hu_free(rest);
        ck_assert_int_eq(hu_source_offset(s), size);
        ck_assert_ok(hu_source_peek(s, 10, &bytes, &n, &err));
        ck_assert_uint_eq(n, 0);
        hu_source_close(s);
        ck_assert_ok(hu_source_open("x.mtx", NULL, &s, &err));
        ck_assert_int_eq(hu_source_slurp(s, size - 1, &rest, &left, &err), HU_INPUT);
        ck_assert_ptr_nonnull(strstr(err.message, "longer"));
        hu_source_close(s);
    }
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *all = tcase_create("source");
    tcase_set_timeout(all, 30);
    tcase_add_checked_fixture(all, make_folder, remove_folder);
    tcase_add_test(all, plain_and_filters);
    tcase_add_test(all, gzip_checksum);
    tcase_add_test(all, pipes);
    tcase_add_test(all, open_pipe_is_not_waited_for);
    tcase_add_test(all, tar_members);
    tcase_add_test(all, failures_to_open);
    tcase_add_test(all, peek_read_and_slurp);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
