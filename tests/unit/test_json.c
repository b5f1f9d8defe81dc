/* test_json.c: reading with limits, errors that name the place, and text that depends on the content only. */
#include "config.h"
#include "io_test.h"
#include "base/memory.h"
#include "io/json.h"

static json_t *parse(const char *text)
{
    hu_error err = HU_ERROR_NONE;
    json_t *document;
    ck_assert_ok(hu_json_parse(text, (int64_t)strlen(text), "manifest.json", &document, &err));
    return document;
}

START_TEST(text_depends_on_content_only)
{
    hu_error err = HU_ERROR_NONE;
    const char *wanted = "{\n  \"a\": [1, 2.5, -0.0, 1e300],\n  \"b\": {\n    \"x\": \"q\\\"\\\\\\n\\u0001\303\274\",\n    \"y\": null\n  },\n"
                         "  \"c\": [\n    true,\n    {}\n  ],\n  \"d\": 3.0\n}\n";
    const char *forms[] = {"{\"b\":{\"y\":null,\"x\":\"q\\\"\\\\\\n\\u0001\\u00fc\"},\"a\":[1,2.50,-0.0,1E+300],\"d\":3.0,\"c\":[true,{}]}",
                           "{\"d\":30e-1, \"c\":[true,{}],\"a\":[1,25e-1,-0.0,1e300],\"b\":{\"x\":\"q\\\"\\\\\\n\\u0001\303\274\",\"y\":null}}"};
    for (int i = 0; i < 2; i++) {
        json_t *document = parse(forms[i]);
        char *text;
        int64_t size;
        ck_assert_ok(hu_json_print(document, &text, &size, &err));
        ck_assert_str_eq(text, wanted);
        ck_assert_int_eq(size, (int64_t)strlen(wanted));
        json_t *again = parse(text);
        ck_assert(json_equal(document, again));
        json_decref(again);
        json_decref(document);
        hu_free(text);
    }
}
END_TEST

START_TEST(wrong_documents_are_refused)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {{"{\"a\":1,\n\"a\":2}", "t.json:2: column "}, {"[1,\n2,,3]", "t.json:2: column "}, {"[1] x", "t.json:1"},
                 {"[NaN]", "t.json:1"},   {"[1e999]", "t.json:1"},   {"[99999999999999999999]", "t.json:1"}, {"", "t.json:1"},
                 {"[\"\xff\"]", "t.json:1"}, {"{\"a\":01}", "t.json:1"}, {"\"unclosed", "t.json:1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hu_error err = HU_ERROR_NONE;
        json_t *document;
        ck_assert_fails(hu_json_parse(cases[i].text, (int64_t)strlen(cases[i].text), "t.json", &document, &err), HU_INPUT, cases[i].reason);
        ck_assert_ptr_null(document);
    }
}
END_TEST

START_TEST(depth_is_limited)
{
    hu_error err = HU_ERROR_NONE;
    json_t *document;
    char text[2 * HU_JSON_DEPTH + 8];
    for (int depth = HU_JSON_DEPTH; depth <= HU_JSON_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        hu_status status = hu_json_parse(text, 2 * depth, "deep", &document, &err);
        ck_assert_int_eq(status, depth == HU_JSON_DEPTH ? HU_OK : HU_INPUT);
        json_decref(document);
    }
    ck_assert_ptr_nonnull(strstr(err.message, "deep:1: column 65: arrays and objects nest deeper than 64"));
    hu_error_clear(&err);
    char *many = malloc(1000000);
    memset(many, '[', 1000000);
    ck_assert_fails(hu_json_parse(many, 1000000, "deep", &document, &err), HU_INPUT, "nest deeper");
    free(many);
    json_t *quoted = parse("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[\"]");
    json_decref(quoted);
}
END_TEST

START_TEST(size_is_limited)
{
    hu_error err = HU_ERROR_NONE;
    json_t *document;
    hu_source *source = source_of_text("{\"a\": 1}");
    ck_assert_fails(hu_json_read(source, 7, &document, &err), HU_INPUT, "7 bytes");
    hu_source_close(source);
    source = source_of_text("{\"a\": 1}");
    ck_assert_ok(hu_json_read(source, 8, &document, &err));
    json_decref(document);
    hu_source_close(source);
}
END_TEST

START_TEST(errors_name_the_place)
{
    hu_error err = HU_ERROR_NONE;
    json_t *document = parse("{\"tasks\": [{}, {}, {}, {\"rows\": 70000, \"name\": 3, \"x\": \"far\", \"on\": 1}], \"w\": [1, 2.5]}");
    hu_json_place root = hu_json_root(document, "manifest.json"), tasks, task, w, item;
    int64_t value, length;
    double number;
    bool on;
    const char *text;
    int index;
    ck_assert_ok(hu_json_member(&root, "tasks", &tasks, &err));
    ck_assert_ok(hu_json_length(&tasks, 4, &length, &err));
    ck_assert_int_eq(length, 4);
    ck_assert_ok(hu_json_item(&tasks, 3, &task, &err));
    hu_json_integer(&task, "rows", 1, 65536, &value, &err);
    ck_assert_str_eq(err.message, "manifest.json: tasks[3].rows: expected an integer from 1 to 65536");
    hu_error_clear(&err);
    ck_assert_ok(hu_json_integer(&task, "rows", 1, 70000, &value, &err));
    ck_assert_int_eq(value, 70000);
    ck_assert_ok(hu_json_number(&task, "rows", 0, 1e6, &number, &err));
    ck_assert_fails(hu_json_number(&task, "rows", 0, 0.1, &number, &err), HU_INPUT, "tasks[3].rows: expected a number from 0 to 0.1");
    ck_assert_fails(hu_json_integer(&task, "cols", 1, 2, &value, &err), HU_INPUT, "tasks[3].cols: is missing: expected an integer from 1 to 2");
    ck_assert_fails(hu_json_text(&task, "name", &text, &err), HU_INPUT, "tasks[3].name: expected a string");
    ck_assert_fails(hu_json_bool(&task, "on", &on, &err), HU_INPUT, "tasks[3].on: expected true or false");
    ck_assert_fails(hu_json_word(&task, "x", (const char *const[]){"near", "here"}, 2, &index, &err), HU_INPUT, "one of \"near\", \"here\"");
    ck_assert_ok(hu_json_word(&task, "x", (const char *const[]){"near", "far"}, 2, &index, &err));
    ck_assert_int_eq(index, 1);
    ck_assert_fails(hu_json_length(&tasks, 3, &length, &err), HU_INPUT, "manifest.json: tasks: has 4 items, more than 3");
    ck_assert_fails(hu_json_length(&root, 3, &length, &err), HU_INPUT, "manifest.json: expected an array");
    ck_assert_fails(hu_json_member(&tasks, "x", &item, &err), HU_INPUT, "manifest.json: tasks: expected an object");
    ck_assert_ok(hu_json_member(&root, "w", &w, &err));
    ck_assert_ok(hu_json_item(&w, 1, &item, &err));
    ck_assert_fails(hu_json_integer_of(&item, 0, 9, &value, &err), HU_INPUT, "w[1]: expected an integer");
    ck_assert_ok(hu_json_number_of(&item, 0, 9, &number, &err));
    ck_assert(number == 2.5);
    ck_assert_fails(hu_json_item(&w, 2, &item, &err), HU_INPUT, "w[2]: is missing");
    json_decref(document);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *all = tcase_create("json");
    tcase_add_test(all, text_depends_on_content_only);
    tcase_add_test(all, wrong_documents_are_refused);
    tcase_add_test(all, depth_is_limited);
    tcase_add_test(all, size_is_limited);
    tcase_add_test(all, errors_name_the_place);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
