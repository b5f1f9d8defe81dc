/* configs.h: configurations: a value for each of some named columns, each configuration once.
 *
 * Two cells are the same value where they are the same number, the same word, or both missing; true and false are 1 and 0. A value is printed as it was first
 * spelt. Columns hold their distinct values once, configurations hold the indices of values.
 */
#ifndef PP_CONFIGS_H
#define PP_CONFIGS_H

#include "io/csv.h"
#include "io/json.h"
#include "learn/frame.h"

typedef enum { CONFIG_MISSING, CONFIG_NUMBER, CONFIG_WORD } config_kind;

typedef struct {
    config_kind kind;
    double number;
    char *text;    /* as it is printed; NULL: missing */
    bool is_spelt; /* by an input, not by us */
} config_value;

typedef struct {
    char *name;
    config_value *value; /* [count] */
    int64_t count, capacity;
    int32_t *slot;       /* [slots] hash table of values: index + 1 */
    int64_t slots;
    bool as_levels;      /* its numbers are levels without order */
} config_column;

typedef struct {
    int32_t columns;
    config_column *column;
    int64_t rows, capacity;
    int32_t *code;       /* [rows][columns] */
    int64_t *slot;       /* [slots] hash table of rows: index + 1 */
    int64_t slots;
} config_set;

/* An empty set; names are copied. Free with configs_free(). */
hu_status configs_new(const char *const *names, int32_t columns, config_set **ret_set, hu_error *err);
void configs_free(config_set *set); /* NULL is allowed */

int32_t configs_find(const config_set *set, const char *name); /* the column, or -1 */

/* The index of a value in a column, which is added where it is new. text[size] is its spelling; of a number NULL stands for the shortest one. */
hu_status configs_value(config_set *set, int32_t column, config_kind kind, double number, const char *text, int64_t size, int32_t *ret_code, hu_error *err);

/* The index of a configuration, which is added where it is new. */
hu_status configs_add(config_set *set, const int32_t *code, int64_t *ret_row, hu_error *err);

/* A configuration of another set with the same columns in any order. */
hu_status configs_copy(const config_set *from, int64_t row, config_set *to, int64_t *ret_row, hu_error *err);

/* A number that depends on the content of a configuration and the seed alone, not on its place. */
uint64_t configs_hash(const config_set *set, int64_t row, uint64_t seed);

/* The code of the cell of a CSV table's current row. Numbers that are not finite are HU_INPUT. */
hu_status configs_cell(config_set *set, int32_t column, const hu_csv *csv, int64_t csv_column, const hu_csv_field *field, int32_t *ret_code, hu_error *err);

/* A configuration as cells of a CSV row, or its header. */
hu_status configs_put(const config_set *set, int64_t row, hu_csv_writer *writer, hu_error *err);
hu_status configs_put_names(const config_set *set, hu_csv_writer *writer, hu_error *err);

/* One value's text: what a program is told. Missing values are empty. */
const char *configs_text(const config_set *set, int64_t row, int32_t column);

/* A configuration as a JSON array (numbers, texts, null) and back. */
json_t *configs_to_json(const config_set *set, int64_t row);
hu_status configs_from_json(config_set *set, const hu_json_place *array, int64_t *ret_row, hu_error *err);

/* ---- for learning: numbers stay numbers in columns without words; else values are levels in the order of their bytes */

typedef struct {
    int32_t columns;
    hu_feature *feature; /* [columns] names and levels */
    double **value;      /* [columns][values] of each value: the number, the index of its level, or NaN */
} config_view;

/* Of all values that the set holds now. Free with configs_view_free(). */
hu_status configs_view(const config_set *set, config_view *ret_view, hu_error *err);
void configs_view_free(config_view *view);

/* x[columns] of a configuration. */
void configs_x(const config_set *set, const config_view *view, int64_t row, double *x);

#endif
