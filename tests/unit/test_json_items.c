/* test_json_items.c: large documents item by item: against jansson on whole documents, through pipes in small pieces; and what is refused. */
#include "config.h"
#include "io_test.h"
#include "base/memory.h"
#include "base/random.h"
#include "io/json_items.h"

#include <stdio.h>

/* All items of a text as "key=item|". */
static void list_items(hu_source *source, char *text)
{
    hu_error err = HU_ERROR_NONE;
    hu_json_items *items;
    hu_json_item_text item;
    hu_status status;
    ck_assert_ok(hu_json_items_open(source, &items, &err));
    *text = '\0';
    while ((status = hu_json_items_next(items, &item, &err)) == HU_OK) {
        ck_assert_int_eq((int64_t)strlen(item.text), item.size);
        text += sprintf(text, "%s=%s|", item.key, item.text);
    }
    ck_assert_msg(status == HU_END, "%s", err.message);
    hu_json_items_close(items);
}

START_TEST(the_items_of_documents)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"[]", ""},
        {" [1 , \"a,]\\\"\", {\"x\": [1,2]},[3],null]\n", "=1|=\"a,]\\\"\"|={\"x\": [1,2]}|=[3]|=null|"},
        {"{\"a\": 1, \"b\": [2, {\"c\": 3}], \"d\":[], \"e\":{\"f\":[]},\"g\":\"h\"}", "a=1|b=2|b={\"c\": 3}|e={\"f\":[]}|g=\"h\"|"},
        {"\n{\"a\"\n:\n[\ntrue\n,\nfalse\n]\n}\n", "a=true|a=false|"},
    };
    char text[1000];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t piece = 1; piece < 4; piece++) {
            hu_source *source = source_through_pipe(cases[k][0], strlen(cases[k][0]), piece);
            list_items(source, text);
            ck_assert_str_eq(text, cases[k][1]);
            hu_source_close(source);
        }
}
END_TEST

/* A document of many random items has those items. */
START_TEST(random_documents)
{
    hu_random r = hu_random_stream(3, 3);
    json_t *list = json_array(), *root = json_object();
    for (int i = 0; i < 20000; i++) {
        char text[64];
        int n = 0;
        for (; n < (int)hu_random_below(&r, 40); n++) text[n] = " ,:[]{}\\\"ab\n\t"[hu_random_below(&r, 13)];
        text[n] = '\0';
        json_array_append_new(list, json_pack("{s:s,s:[i,{s:f}]}", text, text, "n", i, "v", hu_random_uniform(&r)));
    }
    json_object_set(root, "events", list);
    json_object_set_new(root, "also", json_string("x"));
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    hu_error err = HU_ERROR_NONE;
    hu_source *source = source_of_text(text);
    hu_json_items *items;
    hu_json_item_text item;
    ck_assert_ok(hu_json_items_open(source, &items, &err));
    for (size_t i = 0; i < 20000; i++) {
        json_t *got;
        ck_assert_ok(hu_json_items_next(items, &item, &err));
        ck_assert_str_eq(item.key, "events");
        ck_assert_ok(hu_json_items_parse(items, &got, &err));
        ck_assert(json_equal(got, json_array_get(list, i)));
        json_decref(got);
    }
    ck_assert_ok(hu_json_items_next(items, &item, &err));
    ck_assert_str_eq(item.text, "\"x\"");
    ck_assert_int_eq(hu_json_items_next(items, &item, &err), HU_END);
    ck_assert_int_eq(hu_json_items_next(items, &item, &err), HU_END);
    hu_json_items_close(items);
    hu_source_close(source);
    free(text);
    json_decref(list);
    json_decref(root);
}
END_TEST

START_TEST(what_is_refused)
{
    static const char *const cases[][2] = {
        {"", "test:1: an empty document"},
        {"  \n", "test:2: an empty document"},
        {"7", "test:1: no JSON document"},
        {"[1,\n2", "test:2: the document ends in the middle"},
        {"[1,\n\"2", "test:2: the document ends in the middle"},
        {"[", "test:1: the document ends in the middle"},
        {"{\"a\"", "a colon is missing"},
        {"{\"a\":", "the document ends in the middle"},
        {"{\"a\" 1}", "a colon is missing"},
        {"{a: 1}", "the name of a member is missing"},
        {"{1: 1}", "the name of a member is missing"},
        {"[1 2]", "a comma or a closing bracket is missing"},
        {"[1,]", "a value is missing behind a comma"},
        {"[,1]", "a value is missing"},
        {"[1,,2]", "a value is missing"},
        {"{\"a\":}", "a value is missing"},
        {"[{\n]}]", "test:2: a bracket is closed by one of the other kind"},
        {"[1}", "a comma or a closing bracket is missing"},
        {"[1] 2", "something follows the document"},
        {"[\"a\nb\"]", "a control character in a string"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hu_error err = HU_ERROR_NONE;
        hu_source *source = source_of_text(cases[k][0]);
        hu_json_items *items;
        hu_json_item_text item;
        hu_status status;
        ck_assert_ok(hu_json_items_open(source, &items, &err));
        while ((status = hu_json_items_next(items, &item, &err)) == HU_OK) continue;
        ck_assert_msg(status == HU_INPUT && strstr(err.message, cases[k][1]), "%s: status %d: %s", cases[k][0], (int)status, err.message);
        hu_json_items_close(items);
        hu_source_close(source);
    }
}
END_TEST

START_TEST(depth_is_bounded_and_lines_are_those_of_the_file)
{
    hu_error err = HU_ERROR_NONE;
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    hu_source *source = source_of(deep, 200);
    hu_json_items *items;
    hu_json_item_text item;
    json_t *got;
    ck_assert_ok(hu_json_items_open(source, &items, &err));
    ck_assert_fails(hu_json_items_next(items, &item, &err), HU_INPUT, "nest too deep");
    hu_json_items_close(items);
    hu_source_close(source);
    source = source_of_text("[\n{\"a\": 1},\n{\"a\":\n 01}]");
    ck_assert_ok(hu_json_items_open(source, &items, &err));
    ck_assert_ok(hu_json_items_next(items, &item, &err));
    ck_assert_ok(hu_json_items_next(items, &item, &err));
    ck_assert_int_eq(item.line, 3);
    ck_assert_fails(hu_json_items_parse(items, &got, &err), HU_INPUT, "test:4: ");
    hu_json_items_close(items);
    hu_source_close(source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/json_items");
    TCase *c = tcase_create("items");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, the_items_of_documents);
    tcase_add_test(c, random_documents);
    tcase_add_test(c, what_is_refused);
    tcase_add_test(c, depth_is_bounded_and_lines_are_those_of_the_file);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
