/* pool.c: where an active search takes its configurations from. */
#include "config.h"
#include "pool.h"
#include "base/memory.h"
#include "space_sample.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MOST_BYTES = (int64_t)1 << 36;

struct pool {
    pool_options options;
    char *name;
    char *text;   /* of a table */
    int64_t size;
    space *space;
};

hu_status pool_open(const pool_options *options, pool **ret_pool, hu_error *err)
{
    pool *p = NULL;
    hu_source *source = NULL;
    if (hu_alloc_zero(1, sizeof *p, "a pool", (void **)&p, err)) return err->status;
    p->options = *options;
    if (hu_source_open(options->table ? options->table : options->space, NULL, &source, err)) goto failed;
    if (!(p->name = strdup(hu_source_name(source)))) hu_fail(err, HU_SYSTEM, "out of memory");
    if (err->status || (options->table ? hu_source_slurp(source, MOST_BYTES, &p->text, &p->size, err) : space_read(source, &p->space, err))) goto failed;
    hu_source_close(source);
    *ret_pool = p;
    return HU_OK;
failed:
    hu_source_close(source);
    pool_close(p);
    return err->status;
}

void pool_close(pool *p)
{
    if (!p) return;
    space_free(p->space);
    hu_free(p->text);
    free(p->name);
    hu_free(p);
}

/* Marks what --levels names. */
static hu_status mark_levels(const pool *p, config_set *set, hu_error *err)
{
    for (int32_t c = 0; c < set->columns; c++)
        if (table_listed(p->options.levels, set->column[c].name, NULL)) set->column[c].as_levels = true;
    if (!p->options.levels) return HU_OK;
    char *list = strdup(p->options.levels), *rest = list;
    if (!list) return hu_fail(err, HU_SYSTEM, "out of memory");
    for (char *name = strsep(&rest, ","); name && !err->status; name = strsep(&rest, ","))
        if (configs_find(set, name) < 0) hu_fail(err, HU_USAGE, "--levels: %s has no column %s", p->name, name);
    free(list);
    return err->status;
}

/* ---- tables */

/* The columns of a table that make up configurations: csv[c] is the number of column c of the state. */
static hu_status begin_table(const pool *p, const hu_csv *csv, state *s, const char *target, bool maximize, int64_t **ret_map, hu_error *err)
{
    int64_t columns = hu_csv_columns(csv), n = 0;
    const char **name = NULL;
    if (hu_alloc(columns, sizeof *name, "columns", (void **)&name, err)) return err->status;
    for (int64_t c = 0; c < columns; c++) {
        const char *column = hu_csv_column_name(csv, c);
        if (strcmp(column, target) && !table_listed(p->options.drop, column, NULL)) name[n++] = column;
    }
    if (n == 0) hu_fail_line(err, p->name, 1, "there is no column but %s", target);
    if (err->status || state_begin(s, name, (int32_t)n, target, maximize, err) || hu_alloc(n, sizeof **ret_map, "columns", (void **)ret_map, err)) goto cleanup;
    for (int64_t c = 0; c < columns; c++) {
        int32_t at = table_listed(p->options.drop, hu_csv_column_name(csv, c), NULL) ? -1 : configs_find(s->set, hu_csv_column_name(csv, c));
        if (at >= 0) (*ret_map)[at] = c;
    }
cleanup:
    hu_free(name);
    return err->status;
}

static hu_status list_table(const pool *p, state *s, const char *target, bool maximize, int64_t **ret_config, int64_t *ret_count, hu_error *err)
{
    hu_source *source = NULL;
    hu_csv *csv = NULL;
    const hu_csv_field *field;
    int64_t *map = NULL, capacity = 0;
    int32_t *code = NULL;
    hu_status status = HU_OK;
    if (hu_source_memory(p->name, p->text, p->size, &source, err) || hu_csv_open(source, &p->options.csv, &csv, err) || begin_table(p, csv, s, target, maximize, &map, err) ||
        hu_alloc(s->set->columns, sizeof *code, "a configuration", (void **)&code, err))
        goto cleanup;
    while ((status = hu_csv_next(csv, &field, err)) == HU_OK) {
        if (hu_grow((void **)ret_config, &capacity, *ret_count + 1, sizeof **ret_config, "configurations", err)) goto cleanup;
        for (int32_t c = 0; c < s->set->columns; c++)
            if (configs_cell(s->set, c, csv, map[c], &field[map[c]], &code[c], err)) goto cleanup;
        if (configs_add(s->set, code, &(*ret_config)[*ret_count], err)) goto cleanup;
        ++*ret_count;
    }
    if (*ret_count == 0 && !err->status) hu_fail_line(err, p->name, 0, "the pool has a header but no row");
cleanup:
    hu_free(code);
    hu_free(map);
    hu_csv_close(csv);
    hu_source_close(source);
    return err->status;
}

/* ---- spaces */

static hu_status begin_space(const pool *p, state *s, const char *target, bool maximize, hu_error *err)
{
    const space *from = p->space;
    const char **name;
    if (hu_alloc(from->parameters, sizeof *name, "columns", (void **)&name, err)) return err->status;
    for (int64_t c = 0; c < from->parameters; c++) {
        name[c] = from->parameter[c].name;
        if (strcmp(name[c], target) == 0) hu_fail(err, HU_USAGE, "%s: the parameter %s has the name of what is measured: choose another by -y", p->name, target);
    }
    if (err->status == HU_OK) state_begin(s, name, (int32_t)from->parameters, target, maximize, err);
    hu_free(name);
    return err->status;
}

/* A configuration of the space as one of the state. */
static hu_status take(const space *from, const int32_t *at, state *s, const int32_t *choice, int32_t *code, int64_t *ret_config, hu_error *err)
{
    for (int64_t c = 0; c < from->parameters; c++) {
        const space_value *v = &from->parameter[c].value[choice[c]];
        if (configs_value(s->set, at[c], v->value.word >= 0 ? CONFIG_WORD : CONFIG_NUMBER, v->value.number, v->text, (int64_t)strlen(v->text), &code[at[c]], err)) return err->status;
    }
    return configs_add(s->set, code, ret_config, err);
}

static hu_status list_space(const pool *p, state *s, const char *target, bool maximize, int64_t **ret_config, int64_t *ret_count, hu_error *err)
{
    const space *from = p->space;
    int32_t *choice = NULL, *at = NULL;
    int64_t n = 0;
    if (begin_space(p, s, target, maximize, err) || space_sample(from, p->options.seed, (uint64_t)(s->asked + s->runs) + 1, p->options.candidates, &choice, &n, err)) goto cleanup;
    if (n == 0) hu_fail(err, HU_INPUT, "%s: no configuration was found that meets the conditions", p->name);
    if (err->status || hu_alloc(2 * from->parameters, sizeof *at, "columns", (void **)&at, err) || hu_alloc(n, sizeof **ret_config, "configurations", (void **)ret_config, err)) goto cleanup;
    for (int64_t c = 0; c < from->parameters; c++) {
        at[c] = configs_find(s->set, from->parameter[c].name);
        if (from->parameter[c].as_levels) s->set->column[at[c]].as_levels = true;
    }
    for (; *ret_count < n; ++*ret_count)
        if (take(from, at, s, choice + *ret_count * from->parameters, at + from->parameters, &(*ret_config)[*ret_count], err)) goto cleanup;
cleanup:
    hu_free(choice);
    hu_free(at);
    return err->status;
}

hu_status pool_list(const pool *p, state *s, const char *target, bool maximize, int64_t **ret_config, int64_t *ret_count, hu_error *err)
{
    *ret_config = NULL;
    *ret_count = 0;
    if (p->space ? list_space(p, s, target, maximize, ret_config, ret_count, err) : list_table(p, s, target, maximize, ret_config, ret_count, err)) return err->status;
    return mark_levels(p, s->set, err);
}
