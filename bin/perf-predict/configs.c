/* configs.c: configurations: a value for each of some named columns, each configuration once.
 *
 * Sections: values, rows, CSV, JSON, learning.
 */
#include "config.h"
#include "configs.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

/* A mixing of 64 bits (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). */
static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static uint64_t hash_value(config_kind kind, double number, const char *text, int64_t size)
{
    uint64_t bits = 0;
    if (kind == CONFIG_NUMBER) memcpy(&bits, &number, sizeof bits);
    for (int64_t i = 0; kind == CONFIG_WORD && i < size; i++) bits = bits * 0x100000001b3u + (unsigned char)text[i] + 1;
    return mix(bits + (uint64_t)kind * 0x9e3779b97f4a7c15u);
}

hu_status configs_new(const char *const *names, int32_t columns, config_set **ret_set, hu_error *err)
{
    config_set *set = NULL;
    if (hu_alloc_zero(1, sizeof *set, "configurations", (void **)&set, err) || hu_alloc_zero(columns, sizeof *set->column, "configurations", (void **)&set->column, err)) goto failed;
    set->columns = columns;
    for (int32_t c = 0; c < columns; c++)
        if (!(set->column[c].name = strdup(names[c]))) {
            hu_fail(err, HU_SYSTEM, "out of memory");
            goto failed;
        }
    *ret_set = set;
    return HU_OK;
failed:
    configs_free(set);
    return err->status;
}

void configs_free(config_set *set)
{
    if (!set) return;
    for (int32_t c = 0; set->column && c < set->columns; c++) {
        config_column *column = &set->column[c];
        for (int64_t v = 0; v < column->count; v++) free(column->value[v].text);
        free(column->name);
        hu_free(column->value);
        hu_free(column->slot);
    }
    hu_free(set->column);
    hu_free(set->code);
    hu_free(set->slot);
    hu_free(set);
}

int32_t configs_find(const config_set *set, const char *name)
{
    for (int32_t c = 0; c < set->columns; c++)
        if (strcmp(set->column[c].name, name) == 0) return c;
    return -1;
}

static bool is_value(const config_value *v, config_kind kind, double number, const char *text, int64_t size)
{
    if (v->kind != kind) return false;
    if (kind == CONFIG_NUMBER) return v->number == number;
    return kind == CONFIG_MISSING || (strncmp(v->text, text, (size_t)size) == 0 && v->text[size] == '\0');
}

static uint64_t hash_of(const config_value *v)
{
    return hash_value(v->kind, v->number, v->text, v->kind == CONFIG_WORD ? (int64_t)strlen(v->text) : 0);
}

static hu_status grow_values(config_column *c, hu_error *err)
{
    int64_t slots = c->slots ? 2 * c->slots : 32;
    int32_t *slot;
    if (2 * (c->count + 1) <= c->slots) return HU_OK;
    if (hu_alloc_zero(slots, sizeof *slot, c->name, (void **)&slot, err)) return err->status;
    for (int64_t v = 0; v < c->count; v++) {
        uint64_t at = hash_of(&c->value[v]);
        while (slot[at % (uint64_t)slots]) at++;
        slot[at % (uint64_t)slots] = (int32_t)v + 1;
    }
    hu_free(c->slot);
    c->slot = slot;
    c->slots = slots;
    return HU_OK;
}

static hu_status add_value(config_column *c, config_kind kind, double number, const char *text, int64_t size, hu_error *err)
{
    char shortest[HU_NUMBER_SIZE];
    if (c->count >= INT32_MAX - 1) return hu_fail(err, HU_INPUT, "column %s has too many values", c->name);
    if (hu_grow((void **)&c->value, &c->capacity, c->count + 1, sizeof *c->value, c->name, err)) return err->status;
    if (kind == CONFIG_NUMBER && !text) {
        size = (int64_t)hu_number_print(number, shortest);
        text = shortest;
    }
    config_value *v = &c->value[c->count];
    *v = (config_value){kind, number, kind == CONFIG_MISSING ? NULL : strndup(text, (size_t)size), text != shortest};
    if (kind != CONFIG_MISSING && !v->text) return hu_fail(err, HU_SYSTEM, "out of memory");
    c->count++;
    return HU_OK;
}

/* A number that came from a state has its shortest spelling until a table or a space spells it. */
static hu_status spell(config_value *v, const char *text, int64_t size, hu_error *err)
{
    char *copy = strndup(text, (size_t)size);
    if (!copy) return hu_fail(err, HU_SYSTEM, "out of memory");
    free(v->text);
    v->text = copy;
    v->is_spelt = true;
    return HU_OK;
}

hu_status configs_value(config_set *set, int32_t column, config_kind kind, double number, const char *text, int64_t size, int32_t *ret_code, hu_error *err)
{
    config_column *c = &set->column[column];
    if (kind == CONFIG_NUMBER && number == 0) number = 0.0; /* not -0 */
    if (grow_values(c, err)) return err->status;
    uint64_t at = hash_value(kind, number, text, size);
    for (;; at++) {
        int32_t *slot = &c->slot[at % (uint64_t)c->slots];
        if (*slot && !is_value(&c->value[*slot - 1], kind, number, text, size)) continue;
        if (*slot == 0) {
            if (add_value(c, kind, number, text, size, err)) return err->status;
            *slot = (int32_t)c->count;
        }
        *ret_code = *slot - 1;
        config_value *v = &c->value[*slot - 1];
        return kind == CONFIG_NUMBER && text && !v->is_spelt ? spell(v, text, size, err) : HU_OK;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static uint64_t hash_codes(const int32_t *code, int32_t columns)
{
    uint64_t h = 0;
    for (int32_t c = 0; c < columns; c++) h = mix(h + (uint64_t)(uint32_t)code[c] + 0x9e3779b97f4a7c15u);
    return h;
}

static hu_status grow_rows(config_set *set, hu_error *err)
{
    int64_t slots = set->slots ? 2 * set->slots : 256, *slot;
    if (hu_grow((void **)&set->code, &set->capacity, set->rows + 1, (size_t)set->columns * sizeof *set->code, "configurations", err)) return err->status;
    if (2 * (set->rows + 1) <= set->slots) return HU_OK;
    if (hu_alloc_zero(slots, sizeof *slot, "configurations", (void **)&slot, err)) return err->status;
    for (int64_t i = 0; i < set->rows; i++) {
        uint64_t at = hash_codes(set->code + i * set->columns, set->columns);
        while (slot[at % (uint64_t)slots]) at++;
        slot[at % (uint64_t)slots] = i + 1;
    }
    hu_free(set->slot);
    set->slot = slot;
    set->slots = slots;
    return HU_OK;
}

hu_status configs_add(config_set *set, const int32_t *code, int64_t *ret_row, hu_error *err)
{
    size_t size = (size_t)set->columns * sizeof *code;
    if (grow_rows(set, err)) return err->status;
    for (uint64_t at = hash_codes(code, set->columns);; at++) {
        int64_t *slot = &set->slot[at % (uint64_t)set->slots];
        if (*slot && memcmp(set->code + (*slot - 1) * set->columns, code, size)) continue;
        if (*slot == 0) {
            memcpy(set->code + set->rows * set->columns, code, size);
            *slot = ++set->rows;
        }
        *ret_row = *slot - 1;
        return HU_OK;
    }
}

hu_status configs_copy(const config_set *from, int64_t row, config_set *to, int64_t *ret_row, hu_error *err)
{
    int32_t *code;
    if (hu_alloc(to->columns, sizeof *code, "a configuration", (void **)&code, err)) return err->status;
    for (int32_t c = 0; c < from->columns && !err->status; c++) {
        const config_value *v = &from->column[c].value[from->code[row * from->columns + c]];
        int32_t column = configs_find(to, from->column[c].name);
        configs_value(to, column, v->kind, v->number, v->text, v->text ? (int64_t)strlen(v->text) : 0, &code[column], err);
    }
    if (err->status == HU_OK) configs_add(to, code, ret_row, err);
    hu_free(code);
    return err->status;
}

uint64_t configs_hash(const config_set *set, int64_t row, uint64_t seed)
{
    uint64_t h = mix(seed + 0x9e3779b97f4a7c15u);
    for (int32_t c = 0; c < set->columns; c++) h += mix(hash_of(&set->column[c].value[set->code[row * set->columns + c]]) ^ hash_value(CONFIG_WORD, 0, set->column[c].name, (int64_t)strlen(set->column[c].name)));
    return mix(h);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------------------- */

hu_status configs_cell(config_set *set, int32_t column, const hu_csv *csv, int64_t csv_column, const hu_csv_field *field, int32_t *ret_code, hu_error *err)
{
    hu_csv_kind kind;
    double value = 0.0;
    if (hu_csv_cell(csv, csv_column, &kind, &value, err)) return err->status;
    if (kind == HU_CSV_MISSING) return configs_value(set, column, CONFIG_MISSING, 0, NULL, 0, ret_code, err);
    if (kind == HU_CSV_WORD) return configs_value(set, column, CONFIG_WORD, 0, field->text, field->size, ret_code, err);
    if (!isfinite(value)) return hu_csv_fail(csv, csv_column, err, "'%.*s' is not finite", (int)field->size, field->text);
    bool foreign = memchr(field->text, ',', (size_t)field->size) != NULL; /* a decimal comma: we write points */
    return configs_value(set, column, CONFIG_NUMBER, value, foreign ? NULL : field->text, field->size, ret_code, err);
}

static const config_value *value_of(const config_set *set, int64_t row, int32_t column)
{
    return &set->column[column].value[set->code[row * set->columns + column]];
}

const char *configs_text(const config_set *set, int64_t row, int32_t column)
{
    const config_value *v = value_of(set, row, column);
    return v->text ? v->text : "";
}

hu_status configs_put(const config_set *set, int64_t row, hu_csv_writer *w, hu_error *err)
{
    for (int32_t c = 0; c < set->columns; c++) {
        const config_value *v = value_of(set, row, c);
        if (v->kind == CONFIG_MISSING ? hu_csv_put_missing(w, err) : hu_csv_put_text(w, v->text, err)) return err->status;
    }
    return HU_OK;
}

hu_status configs_put_names(const config_set *set, hu_csv_writer *w, hu_error *err)
{
    for (int32_t c = 0; c < set->columns; c++)
        if (hu_csv_put_text(w, set->column[c].name, err)) return err->status;
    return HU_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------------- */

json_t *configs_to_json(const config_set *set, int64_t row)
{
    json_t *array = json_array();
    for (int32_t c = 0; c < set->columns; c++) {
        const config_value *v = value_of(set, row, c);
        json_array_append_new(array, v->kind == CONFIG_NUMBER ? json_real(v->number) : v->kind == CONFIG_WORD ? json_string(v->text) : json_null());
    }
    return array;
}

hu_status configs_from_json(config_set *set, const hu_json_place *array, int64_t *ret_row, hu_error *err)
{
    int64_t length;
    int32_t *code;
    if (hu_json_length(array, INT32_MAX, &length, err)) return err->status;
    if (length != set->columns) return hu_json_fail(array, err, "%lld values for %d columns", (long long)length, set->columns);
    if (hu_alloc(length, sizeof *code, "a configuration", (void **)&code, err)) return err->status;
    for (int32_t c = 0; c < set->columns; c++) {
        const json_t *v = json_array_get(array->value, (size_t)c);
        if (json_is_number(v)) configs_value(set, c, CONFIG_NUMBER, json_number_value(v), NULL, 0, &code[c], err);
        else if (json_is_string(v)) configs_value(set, c, CONFIG_WORD, 0, json_string_value(v), (int64_t)json_string_length(v), &code[c], err);
        else if (json_is_null(v)) configs_value(set, c, CONFIG_MISSING, 0, NULL, 0, &code[c], err);
        else hu_json_fail(array, err, "a value is neither number, text nor null");
        if (err->status) break;
    }
    if (err->status == HU_OK) configs_add(set, code, ret_row, err);
    hu_free(code);
    return err->status;
}

/* ---- learning ---------------------------------------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_words(const config_column *c)
{
    for (int64_t v = 0; v < c->count; v++)
        if (c->value[v].kind == CONFIG_WORD) return true;
    return false;
}

/* The name of a value as a level: of a number its shortest spelling. */
static char *level_name(const config_value *v)
{
    char text[HU_NUMBER_SIZE];
    return v->kind == CONFIG_WORD ? strdup(v->text) : strndup(text, hu_number_print(v->number, text));
}

static hu_status view_levels(const config_column *c, hu_feature *feature, double *value, hu_error *err)
{
    if (c->count > 65536) return hu_fail(err, HU_INPUT, "column %s has %lld levels, more than 65535", c->name, (long long)c->count);
    if (hu_alloc_zero(c->count, sizeof *feature->levels, c->name, (void **)&feature->levels, err)) return err->status;
    for (int64_t v = 0; v < c->count; v++) {
        if (c->value[v].kind == CONFIG_MISSING) continue;
        if (!(feature->levels[feature->level_count] = level_name(&c->value[v]))) return hu_fail(err, HU_SYSTEM, "out of memory");
        feature->level_count++;
    }
    qsort(feature->levels, (size_t)feature->level_count, sizeof *feature->levels, compare_texts);
    for (int64_t v = 0; v < c->count; v++) {
        if (c->value[v].kind == CONFIG_MISSING) continue;
        char *name = level_name(&c->value[v]);
        if (!name) return hu_fail(err, HU_SYSTEM, "out of memory");
        value[v] = (double)hu_feature_level(feature, name, (int64_t)strlen(name));
        free(name);
    }
    return HU_OK;
}

hu_status configs_view(const config_set *set, config_view *view, hu_error *err)
{
    *view = (config_view){set->columns, NULL, NULL};
    if (hu_alloc_zero(set->columns, sizeof *view->feature, "columns", (void **)&view->feature, err) || hu_alloc_zero(set->columns, sizeof *view->value, "columns", (void **)&view->value, err))
        goto failed;
    for (int32_t f = 0; f < set->columns; f++) {
        const config_column *c = &set->column[f];
        if (hu_alloc(c->count, sizeof **view->value, c->name, (void **)&view->value[f], err)) goto failed;
        if (!(view->feature[f].name = strdup(c->name))) {
            hu_fail(err, HU_SYSTEM, "out of memory");
            goto failed;
        }
        for (int64_t v = 0; v < c->count; v++) view->value[f][v] = c->value[v].kind == CONFIG_NUMBER ? c->value[v].number : NAN;
        if ((c->as_levels || has_words(c)) && view_levels(c, &view->feature[f], view->value[f], err)) goto failed;
    }
    return HU_OK;
failed:
    configs_view_free(view);
    return err->status;
}

void configs_view_free(config_view *view)
{
    for (int32_t f = 0; view->feature && f < view->columns; f++) hu_feature_clear(&view->feature[f]);
    for (int32_t f = 0; view->value && f < view->columns; f++) hu_free(view->value[f]);
    hu_free(view->feature);
    hu_free(view->value);
    *view = (config_view){0};
}

void configs_x(const config_set *set, const config_view *view, int64_t row, double *x)
{
    for (int32_t f = 0; f < set->columns; f++) x[f] = view->value[f][set->code[row * set->columns + f]];
}
