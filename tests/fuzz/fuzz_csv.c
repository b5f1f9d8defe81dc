/* fuzz_csv.c: any bytes as a CSV table, under each set of options. Rows one by one and the whole table must agree, a plain file and memory too,
 * and a table of text that we write reads back to the same text.
 */
#include "config.h"
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static hu_csv_table *read_memory(const uint8_t *data, size_t size, const hu_csv_options *options, hu_error *err)
{
    hu_error opening = HU_ERROR_NONE;
    hu_source *source;
    hu_csv_table *table;
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &opening) == HU_OK, "a source");
    hu_status status = hu_csv_read(source, options, 1 << 20, &table, err);
    demand(status == err->status && (status == HU_OK) == (table != NULL), "a table or an error");
    demand(status == HU_OK || (status == HU_INPUT && err->message[0]), "an error that says why");
    hu_source_close(source);
    return table;
}

static hu_csv_table *read_file(const uint8_t *data, size_t size, const hu_csv_options *options, hu_error *err)
{
    hu_error opening = HU_ERROR_NONE;
    hu_source *source;
    hu_csv_table *table;
    char path[40];
    int fd = memfd_create("csv", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    demand(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file");
    demand(hu_source_open(path, hu_source_as_it_is, &source, &opening) == HU_OK, "a source");
    hu_csv_read(source, options, 1 << 20, &table, err);
    hu_source_close(source);
    close(fd);
    return table;
}

static void compare(const hu_csv_table *a, const hu_csv_table *b)
{
    demand(a->rows == b->rows && a->columns == b->columns, "the same size");
    for (int64_t j = 0; j < a->columns; j++) {
        const hu_csv_column *c = &a->column[j], *d = &b->column[j];
        demand(strcmp(c->name, d->name) == 0 && c->is_text == d->is_text && c->level_count == d->level_count && c->missing_count == d->missing_count,
               "the same column");
        for (int64_t i = 0; i < a->rows; i++)
            demand(c->is_text ? c->level[i] == d->level[i] : memcmp(&c->number[i], &d->number[i], 8) == 0 || isnan(c->number[i]), "the same cell");
    }
}

/* The rows one by one hold what the table holds. */
static void compare_rows(const uint8_t *data, size_t size, const hu_csv_options *options, const hu_csv_table *t)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_csv *csv;
    const hu_csv_field *fields;
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    demand(hu_csv_open(source, options, &csv, &err) == HU_OK && hu_csv_columns(csv) == t->columns, "the rows open");
    for (int64_t i = 0; i < t->rows; i++) {
        demand(hu_csv_next(csv, &fields, &err) == HU_OK, "as many rows");
        for (int64_t j = 0; j < t->columns; j++) {
            const hu_csv_column *c = &t->column[j];
            hu_csv_kind kind;
            double value;
            if (c->is_text) {
                if (c->level[i] < 0) continue;
                const char *level = c->levels[c->level[i]];
                demand((int64_t)strlen(level) == fields[j].size && memcmp(level, fields[j].text, strlen(level)) == 0, "the same text");
            } else {
                demand(hu_csv_cell(csv, j, &kind, &value, &err) == HU_OK && kind != HU_CSV_WORD, "a number");
                demand((kind == HU_CSV_MISSING) == (c->missing && c->missing[i]), "the same is missing");
                if (kind != HU_CSV_MISSING) demand(memcmp(&value, &c->number[i], 8) == 0 || isnan(value), "the same number");
            }
        }
    }
    demand(hu_csv_next(csv, &fields, &err) == HU_END, "no more rows");
    hu_csv_close(csv);
    hu_source_close(source);
}

/* Every level, written as a field in a row of its own, reads back. */
static void write_and_read_back(const hu_csv_table *t)
{
    for (int64_t j = 0; j < t->columns; j++)
        for (int64_t i = 0; i < t->column[j].level_count; i++) {
            const char *level = t->column[j].levels[i];
            size_t size = strlen(level);
            hu_error err = HU_ERROR_NONE;
            hu_csv_options options = HU_CSV_DEFAULTS;
            char *text = malloc(2 * size + 20);
            memcpy(text, "x,y\n", 4);
            size_t n = 4 + hu_csv_quote(level, size, ',', text + 4);
            memcpy(text + n, ",w\n", 3);
            options.delimiter = ',';
            hu_csv_table *u = read_memory((uint8_t *)text, n + 3, &options, &err);
            demand(u && u->rows == 1 && u->columns == 2, "a written field is a field");
            if (u->column[0].is_text) demand(strcmp(u->column[0].levels[0], level) == 0, "a written text reads back");
            hu_csv_table_free(u);
            free(text);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hu_csv_options sets[] = {HU_CSV_DEFAULTS, {',', '.', HU_CSV_HEADER_AUTO, '#'}, {';', ',', HU_CSV_NO_HEADER, 0}};
    if (size > 1 << 14) return 0;
    for (int k = 0; k < 3; k++) {
        hu_error first = HU_ERROR_NONE, second = HU_ERROR_NONE;
        hu_csv_table *a = read_memory(data, size, &sets[k], &first), *b = read_file(data, size, &sets[k], &second);
        demand((a == NULL) == (b == NULL), "a file and a pipe are read alike");
        if (a) {
            compare(a, b);
            compare_rows(data, size, &sets[k], a);
            write_and_read_back(a);
        } else {
            const char *one = strchr(first.message, ':'), *two = strchr(second.message, ':');
            demand(one && two && strcmp(one, two) == 0, "the same message from a file and a pipe");
        }
        hu_csv_table_free(a);
        hu_csv_table_free(b);
    }
    return 0;
}
