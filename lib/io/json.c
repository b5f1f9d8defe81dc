/* json.c: JSON documents on jansson.
 *
 * Sections: reading, printing, places, typed access.
 */
#include "config.h"
#include "io/json.h"
#include "base/memory.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* jansson recurses as deep as a document nests; this refuses what nests too deep before it does. */
static hu_status check_depth(const char *text, int64_t size, const char *name, hu_error *err)
{
    int64_t line = 1, line_start = 0;
    int depth = 0;
    bool in_string = false;
    for (int64_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\n') {
            line++;
            line_start = i + 1;
        } else if (in_string) {
            if (c == '\\') i++;
            else if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > HU_JSON_DEPTH)
                return hu_fail_line(err, name, line, "column %lld: arrays and objects nest deeper than %d",
                                    (long long)(i - line_start + 1), HU_JSON_DEPTH);
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return HU_OK;
}

hu_status hu_json_parse(const char *text, int64_t size, const char *name, json_t **ret_document, hu_error *err)
{
    json_error_t problem;
    *ret_document = NULL;
    if (check_depth(text, size, name, err)) return err->status;
    *ret_document = json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, &problem);
    if (*ret_document) return HU_OK;
    if (json_error_code(&problem) == json_error_out_of_memory) return hu_fail(err, HU_SYSTEM, "%s: out of memory", name);
    return hu_fail_line(err, name, problem.line > 0 ? problem.line : 1, "column %d: %s", problem.column > 0 ? problem.column : 1,
                        problem.text);
}

hu_status hu_json_read(hu_source *source, int64_t most_bytes, json_t **ret_document, hu_error *err)
{
    char *text;
    int64_t size;
    *ret_document = NULL;
    if (hu_source_slurp(source, most_bytes, &text, &size, err)) return err->status;
    hu_status status = hu_json_parse(text, size, hu_source_name(source), ret_document, err);
    hu_free(text);
    return status;
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

typedef struct {
    char *text;
    int64_t used, room;
    hu_error *err;
} printer;

static hu_status put(printer *p, const char *bytes, size_t size)
{
    if (hu_grow((void **)&p->text, &p->room, p->used + (int64_t)size + 1, 1, "a JSON document", p->err)) return p->err->status;
    memcpy(p->text + p->used, bytes, size);
    p->used += (int64_t)size;
    p->text[p->used] = '\0';
    return HU_OK;
}

static hu_status put_word(printer *p, const char *word)
{
    return put(p, word, strlen(word));
}

static hu_status put_line(printer *p, int depth)
{
    hu_status status = put(p, "\n", 1);
    for (int i = 0; i < depth && !status; i++) status = put(p, "  ", 2);
    return status;
}

static hu_status put_text(printer *p, const char *text, size_t size)
{
    hu_status status = put(p, "\"", 1);
    for (size_t i = 0, from = 0; i <= size && !status; i++) {
        unsigned char c = i < size ? (unsigned char)text[i] : 0;
        if (i < size && c >= 0x20 && c != '"' && c != '\\') continue;
        status = put(p, text + from, i - from);
        from = i + 1;
        if (i == size || status) continue;
        char escape[8];
        if (c == '"' || c == '\\') snprintf(escape, sizeof escape, "\\%c", c);
        else if (c == '\n') strcpy(escape, "\\n");
        else if (c == '\t') strcpy(escape, "\\t");
        else snprintf(escape, sizeof escape, "\\u%04x", c);
        status = put_word(p, escape);
    }
    return status ? status : put(p, "\"", 1);
}

static hu_status put_real(printer *p, double value)
{
    char digits[HU_NUMBER_SIZE + 2];
    size_t size = hu_number_print(value, digits);
    if (!memchr(digits, '.', size) && !memchr(digits, 'e', size)) {
        digits[size++] = '.';
        digits[size++] = '0';
    }
    return put(p, digits, size);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static hu_status put_value(printer *p, const json_t *value, int depth);

static hu_status put_object(printer *p, const json_t *object, int depth)
{
    json_t *members = (json_t *)(uintptr_t)object; /* jansson's iterators take no const; nothing is changed */
    size_t n = json_object_size(object), i = 0;
    if (n == 0) return put_word(p, "{}");
    void *block;
    if (hu_alloc((int64_t)n, sizeof(char *), "the keys of a JSON object", &block, p->err)) return p->err->status;
    const char **keys = block;
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at)) keys[i++] = json_object_iter_key(at);
    qsort(keys, n, sizeof *keys, compare_keys);
    hu_status status = put(p, "{", 1);
    for (i = 0; i < n && !status; i++) {
        status = i ? put(p, ",", 1) : HU_OK;
        if (!status) status = put_line(p, depth + 1);
        if (!status) status = put_text(p, keys[i], strlen(keys[i]));
        if (!status) status = put_word(p, ": ");
        if (!status) status = put_value(p, json_object_get(object, keys[i]), depth + 1);
    }
    hu_free(keys);
    if (!status) status = put_line(p, depth);
    return status ? status : put(p, "}", 1);
}

/* Numbers of an array share lines; anything else has a line of its own. */
static hu_status put_array(printer *p, const json_t *array, int depth)
{
    size_t n = json_array_size(array);
    bool broken = false;
    hu_status status = put(p, "[", 1);
    for (size_t i = 0; i < n && !status; i++) {
        const json_t *item = json_array_get(array, i);
        status = i ? put(p, ",", 1) : HU_OK;
        if (!status && !json_is_number(item)) {
            status = put_line(p, depth + 1);
            broken = true;
        } else if (!status && i) {
            status = put(p, " ", 1);
        }
        if (!status) status = put_value(p, item, depth + 1);
    }
    if (!status && broken) status = put_line(p, depth);
    return status ? status : put(p, "]", 1);
}

static hu_status put_value(printer *p, const json_t *value, int depth)
{
    char digits[HU_NUMBER_SIZE];
    if (depth > HU_JSON_DEPTH)
        return hu_fail(p->err, HU_SYSTEM, "a JSON document nests deeper than %d", HU_JSON_DEPTH);
    switch (json_typeof(value)) {
    case JSON_OBJECT: return put_object(p, value, depth);
    case JSON_ARRAY: return put_array(p, value, depth);
    case JSON_STRING: return put_text(p, json_string_value(value), json_string_length(value));
    case JSON_INTEGER: return put(p, digits, hu_number_print_integer(json_integer_value(value), digits));
    case JSON_REAL: return put_real(p, json_real_value(value));
    case JSON_TRUE: return put_word(p, "true");
    case JSON_FALSE: return put_word(p, "false");
    case JSON_NULL: break;
    }
    return put_word(p, "null");
}

hu_status hu_json_print(const json_t *document, char **ret_text, int64_t *ret_size, hu_error *err)
{
    printer p = {NULL, 0, 0, err};
    hu_status status = put_value(&p, document, 0);
    if (!status) status = put(&p, "\n", 1);
    if (status) {
        hu_free(p.text);
        p = (printer){NULL, 0, 0, err};
    }
    *ret_text = p.text;
    *ret_size = p.used;
    return status;
}

hu_status hu_json_write(hu_output *out, const json_t *document, hu_error *err)
{
    char *text;
    int64_t size;
    if (hu_json_print(document, &text, &size, err)) return err->status;
    hu_status status = hu_output_write(out, text, (size_t)size, err);
    hu_free(text);
    return status;
}

/* ---- places --------------------------------------------------------------------------------------------------- */

hu_json_place hu_json_root(const json_t *document, const char *name)
{
    return (hu_json_place){document, name, NULL, NULL, 0};
}

/* Appends "tasks[3].rows" to path. */
static void path_of(const hu_json_place *place, char *path, size_t room)
{
    if (!place->parent) return;
    path_of(place->parent, path, room);
    size_t used = strlen(path);
    if (place->key) snprintf(path + used, room - used, "%s%s", used ? "." : "", place->key);
    else snprintf(path + used, room - used, "[%lld]", (long long)place->index);
}

static hu_status fail_at(const hu_json_place *place, hu_error *err, const char *format, va_list args)
{
    char path[400] = "", reason[500];
    const hu_json_place *root = place;
    while (root->parent) root = root->parent;
    path_of(place, path, sizeof path);
    vsnprintf(reason, sizeof reason, format, args);
    return hu_fail(err, HU_INPUT, "%s: %s%s%s", root->name, path, path[0] ? ": " : "", reason);
}

hu_status hu_json_fail(const hu_json_place *place, hu_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hu_status status = fail_at(place, err, format, args);
    va_end(args);
    return status;
}

bool hu_json_has(const hu_json_place *object, const char *key)
{
    return json_object_get(object->value, key) != NULL;
}

/* The member, whose value is NULL where it is absent, so that the caller can say what was expected. */
static hu_json_place member_of(const hu_json_place *object, const char *key)
{
    return (hu_json_place){json_object_get(object->value, key), NULL, object, key, 0};
}

hu_status hu_json_member(const hu_json_place *object, const char *key, hu_json_place *ret_member, hu_error *err)
{
    *ret_member = member_of(object, key);
    if (!json_is_object(object->value)) return hu_json_fail(object, err, "expected an object");
    return ret_member->value ? HU_OK : hu_json_fail(ret_member, err, "is missing");
}

hu_status hu_json_length(const hu_json_place *array, int64_t most, int64_t *ret_length, hu_error *err)
{
    *ret_length = (int64_t)json_array_size(array->value);
    if (!json_is_array(array->value)) return hu_json_fail(array, err, "expected an array");
    if (*ret_length > most)
        return hu_json_fail(array, err, "has %lld items, more than %lld", (long long)*ret_length, (long long)most);
    return HU_OK;
}

hu_status hu_json_item(const hu_json_place *array, int64_t index, hu_json_place *ret_item, hu_error *err)
{
    *ret_item = (hu_json_place){index < 0 ? NULL : json_array_get(array->value, (size_t)index), NULL, array, NULL, index};
    return ret_item->value ? HU_OK : hu_json_fail(ret_item, err, "is missing");
}

/* ---- typed access --------------------------------------------------------------------------------------------- */

/* The place was not what was expected: says so, and whether there is anything at all. */
static hu_status HU_PRINTF(3, 4) unexpected(const hu_json_place *place, hu_error *err, const char *format, ...)
{
    char wanted[400];
    va_list args;
    va_start(args, format);
    vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    return hu_json_fail(place, err, "%sexpected %s", place->value ? "" : "is missing: ", wanted);
}

hu_status hu_json_integer_of(const hu_json_place *place, int64_t least, int64_t most, int64_t *ret_value, hu_error *err)
{
    *ret_value = json_integer_value(place->value);
    if (!json_is_integer(place->value) || *ret_value < least || *ret_value > most)
        return unexpected(place, err, "an integer from %lld to %lld", (long long)least, (long long)most);
    return HU_OK;
}

hu_status hu_json_number_of(const hu_json_place *place, double least, double most, double *ret_value, hu_error *err)
{
    *ret_value = json_number_value(place->value);
    if (json_is_number(place->value) && *ret_value >= least && *ret_value <= most) return HU_OK;
    char low[HU_NUMBER_SIZE], high[HU_NUMBER_SIZE];
    int low_size = (int)hu_number_print(least, low), high_size = (int)hu_number_print(most, high);
    return unexpected(place, err, "a number from %.*s to %.*s", low_size, low, high_size, high);
}

hu_status hu_json_integer(const hu_json_place *object, const char *key, int64_t least, int64_t most, int64_t *ret_value, hu_error *err)
{
    hu_json_place member = member_of(object, key);
    return hu_json_integer_of(&member, least, most, ret_value, err);
}

hu_status hu_json_number(const hu_json_place *object, const char *key, double least, double most, double *ret_value, hu_error *err)
{
    hu_json_place member = member_of(object, key);
    return hu_json_number_of(&member, least, most, ret_value, err);
}

hu_status hu_json_bool(const hu_json_place *object, const char *key, bool *ret_value, hu_error *err)
{
    hu_json_place member = member_of(object, key);
    *ret_value = json_is_true(member.value);
    return json_is_boolean(member.value) ? HU_OK : unexpected(&member, err, "true or false");
}

hu_status hu_json_text(const hu_json_place *object, const char *key, const char **ret_text, hu_error *err)
{
    hu_json_place member = member_of(object, key);
    *ret_text = json_string_value(member.value);
    return *ret_text ? HU_OK : unexpected(&member, err, "a string");
}

hu_status hu_json_word(const hu_json_place *object, const char *key, const char *const *words, int n, int *ret_index, hu_error *err)
{
    hu_json_place member = member_of(object, key);
    const char *text = json_string_value(member.value);
    char list[300] = "";
    for (int i = 0; i < n; i++) {
        if (text && strcmp(text, words[i]) == 0) {
            *ret_index = i;
            return HU_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? ", " : "", words[i]);
    }
    *ret_index = -1;
    return unexpected(&member, err, n > 1 ? "one of %s" : "%s", list);
}
