/* test_scheme.c: schemes as text. */
#include "config.h"
#include "hu_test.h"
#include "scheme.h"

#include <string.h>

START_TEST(every_key_reads_back)
{
    static const char *const texts[] = {
        "kind:serial,arith:fold,node:row,rows:1,merge:0,index:16,super:0,fat:0,rhs:1,tile:line",
        "kind:task,arith:divide,node:chain,rows:65536,merge:2147483647,index:32,super:1,fat:100000,rhs:16,tile:slab",
        "kind:barrier,arith:fold,node:block,rows:7,merge:12,index:16,super:1,fat:4096,rhs:4,tile:line",
        "kind:grid,arith:fold,node:row,rows:1,merge:0,index:32,super:0,fat:0,rhs:8,tile:slab",
        "kind:level,arith:fold,node:row,rows:1,merge:0,index:32,super:0,fat:0,rhs:8,tile:slab",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hu_error err = HU_ERROR_NONE;
        sptrsv_scheme s = {0};
        char text[256];
        ck_assert_ok(sptrsv_scheme_parse(texts[i], &s, &err));
        sptrsv_scheme_print(&s, text, sizeof text);
        ck_assert_str_eq(text, texts[i]);
    }
}
END_TEST

START_TEST(named_keys_only)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme s = {.kind = SPTRSV_TASK, .rows = 5, .index = 16, .rhs = 8};
    ck_assert_ok(sptrsv_scheme_parse("rows:64", &s, &err));
    ck_assert_int_eq(s.rows, 64);
    ck_assert_int_eq(s.kind, SPTRSV_TASK);
    ck_assert_int_eq(s.index, 16);
    ck_assert_int_eq(s.rhs, 8);
    ck_assert_ok(sptrsv_scheme_parse("", &s, &err));
}
END_TEST

static const struct {
    const char *text, *word;
} wrong[] = {{"kind:fast", "serial level barrier task grid"}, {"speed:9", "keys are"}, {"rows:0", "from 1 to 65536"},
             {"rows:65537", "from 1 to 65536"}, {"rows:", "from 1"}, {"rows:1x", "from 1"}, {"merge:-1", "from 0"},
             {"merge:99999999999", "from 0"}, {"index:8", "16 32"}, {"rhs:2", "1 4 8 16"}, {"kind", "KEY:VALUE"},
             {"super:2", "0 1"}, {"kind:task,,rows:2", "KEY:VALUE"}, {"kind:", "serial"}};

START_TEST(wrong_words_are_named)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_scheme s = {.rows = 3}, before = s;
    ck_assert_int_eq(sptrsv_scheme_parse(wrong[_i].text, &s, &err), HU_USAGE);
    ck_assert_msg(strstr(err.message, wrong[_i].word) != NULL, "%s", err.message);
    ck_assert_int_eq(memcmp(&s, &before, sizeof s), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sptrsv scheme");
    TCase *text = tcase_create("text");
    tcase_add_test(text, every_key_reads_back);
    tcase_add_test(text, named_keys_only);
    tcase_add_loop_test(text, wrong_words_are_named, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, text);
    return hu_test_run(suite);
}
