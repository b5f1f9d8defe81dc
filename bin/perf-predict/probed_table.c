/* probed_table.c: probed runs as a table, one run a row.
 *
 * Sections: columns, pruning, writing.
 */
#include "config.h"
#include "base/memory.h"
#include "io/csv.h"
#include "probed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column of counters. */
typedef struct {
    char *name;
    double *value; /* [runs], NaN where missing */
    int64_t same_as; /* the column that stands for it, or -1 */
    bool is_left_out;
} column;

typedef struct {
    const probed_run *run;
    int64_t runs;
    column *column;
    int64_t columns, room;
} table;

static void free_table(table *t)
{
    for (int64_t k = 0; k < t->columns; k++) {
        free(t->column[k].name);
        hu_free(t->column[k].value);
    }
    hu_free(t->column);
}

/* ---- columns ---------------------------------------------------------------------------------------------------------------- */

static const char per_process[] = ":max";

/* Counts of MPI programs have a second column: the greatest of one process. */
static bool has_greatest(const probed_run *run, const counter *k)
{
    return run->has_mpi && k->kind == COUNTER_SUM;
}

static hu_status add_name(table *t, const char *name, const char *behind, hu_error *err)
{
    if (hu_grow((void **)&t->column, &t->room, t->columns + 1, sizeof *t->column, "columns", err)) return err->status;
    column *c = &t->column[t->columns];
    *c = (column){.same_as = -1};
    if (asprintf(&c->name, "%s%s", name, behind) < 0) {
        c->name = NULL;
        return hu_fail(err, HU_SYSTEM, "out of memory");
    }
    t->columns++;
    return HU_OK;
}

/* Numbers within names by their value: line 9 before line 41. */
static int compare_columns(const void *a, const void *b)
{
    return strverscmp(((const column *)a)->name, ((const column *)b)->name);
}

static hu_status name_columns(table *t, hu_error *err)
{
    for (int64_t i = 0; i < t->runs; i++)
        for (int64_t k = 0; k < t->run[i].counters.count; k++) {
            const counter *c = &t->run[i].counters.counter[k];
            if (add_name(t, c->name, "", err) || (has_greatest(&t->run[i], c) && add_name(t, c->name, per_process, err))) return err->status;
        }
    if (t->columns == 0) return HU_OK;
    qsort(t->column, (size_t)t->columns, sizeof *t->column, compare_columns);
    int64_t n = 1;
    for (int64_t k = 1; k < t->columns; k++) {
        if (strcmp(t->column[k].name, t->column[n - 1].name) != 0) t->column[n++] = t->column[k];
        else free(t->column[k].name);
    }
    t->columns = n;
    return HU_OK;
}

/* An MPI function that a run did not call was called 0 times. */
static double value_of(const probed_run *run, const char *name)
{
    size_t n = strlen(name), m = sizeof per_process - 1;
    const counter *c = counters_find(&run->counters, name);
    if (c) return counter_value(c);
    if (n > m && strcmp(name + n - m, per_process) == 0) {
        char *count = strndup(name, n - m);
        c = count ? counters_find(&run->counters, count) : NULL;
        free(count);
        if (c && has_greatest(run, c)) return c->most;
    }
    return run->counters.count && run->has_mpi && strncmp(name, "MPI_", 4) == 0 ? 0.0 : NAN;
}

static hu_status fill(table *t, hu_error *err)
{
    for (int64_t k = 0; k < t->columns; k++) {
        column *c = &t->column[k];
        if (hu_alloc(t->runs, sizeof *c->value, "a column", (void **)&c->value, err)) return err->status;
        for (int64_t i = 0; i < t->runs; i++) c->value[i] = value_of(&t->run[i], c->name);
    }
    return HU_OK;
}

/* ---- pruning ------------------------------------------------------------------------------------------------------------------ */

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Of runs without counters nothing is known. */
static bool is_constant(const table *t, const column *c)
{
    int64_t first = -1;
    for (int64_t i = 0; i < t->runs; i++) {
        if (t->run[i].counters.count == 0) continue;
        if (first < 0) first = i;
        if (!is_same(c->value[i], c->value[first])) return false;
    }
    return true;
}

static bool is_equal(const table *t, const column *a, const column *b)
{
    for (int64_t i = 0; i < t->runs; i++)
        if (!is_same(a->value[i], b->value[i])) return false;
    return true;
}

typedef struct {
    uint64_t hash;
    int64_t column;
} hashed;

static int compare_hashed(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static uint64_t hash_values(const table *t, const column *c)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < t->runs; i++) {
        double v = isnan(c->value[i]) ? NAN : c->value[i] + 0.0;
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

/* Columns that equal an earlier one are left out, and so are constant ones. */
static hu_status prune(table *t, hu_error *err)
{
    hashed *order;
    int64_t constant = 0, equal = 0, n = 0;
    if (hu_alloc(t->columns, sizeof *order, "columns", (void **)&order, err)) return err->status;
    for (int64_t k = 0; k < t->columns; k++) {
        t->column[k].is_left_out = is_constant(t, &t->column[k]);
        constant += t->column[k].is_left_out;
        if (!t->column[k].is_left_out) order[n++] = (hashed){hash_values(t, &t->column[k]), k};
    }
    if (n) qsort(order, (size_t)n, sizeof *order, compare_hashed);
    for (int64_t a = 0; a < n; a++) {
        column *c = &t->column[order[a].column];
        for (int64_t b = a - 1; b >= 0 && order[b].hash == order[a].hash && c->same_as < 0; b--) {
            const column *first = &t->column[order[b].column];
            if (first->same_as < 0 && is_equal(t, c, first)) c->same_as = order[b].column;
        }
        c->is_left_out = c->same_as >= 0;
        equal += c->is_left_out;
    }
    hu_free(order);
    hu_say(0, "%lld counters: %lld the same in all runs and %lld equal to another are left out", (long long)t->columns, (long long)constant, (long long)equal);
    return HU_OK;
}

static hu_status write_groups(const table *t, const char *path, hu_error *err)
{
    hu_output *out = NULL;
    if (hu_output_open(path, &out, err)) return err->status;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    hu_csv_put_text(&w, "column", err);
    hu_csv_put_text(&w, "stands_for", err);
    hu_csv_end_row(&w, err);
    for (int64_t k = 0; k < t->columns && !err->status; k++) {
        if (t->column[k].same_as < 0) continue;
        hu_csv_put_text(&w, t->column[t->column[k].same_as].name, err);
        hu_csv_put_text(&w, t->column[k].name, err);
        hu_csv_end_row(&w, err);
    }
    if (!err->status) hu_output_commit(&out, err);
    hu_output_abort(&out);
    return err->status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------ */

static const char *const own[] = {"status", "mode", "cut", "seconds", "cpu_seconds", "ranks", "counted"};

static const char *set_of(const probed_run *run, const char *name)
{
    const char *value = NULL;
    for (int64_t k = 0; k < run->sets; k++)
        if (strcmp(run->set[k].name, name) == 0) value = run->set[k].value;
    return value;
}

/* The user's columns of all runs, in order of first appearance; each name once. */
static hu_status list_sets(const table *t, const char ***ret_name, int64_t *ret_count, hu_error *err)
{
    int64_t room = 0;
    *ret_name = NULL;
    *ret_count = 0;
    for (int64_t i = 0; i < t->runs; i++)
        for (int64_t k = 0; k < t->run[i].sets; k++) {
            const char *name = t->run[i].set[k].name;
            bool is_known = false;
            for (int64_t j = 0; j < *ret_count && !is_known; j++) is_known = strcmp((*ret_name)[j], name) == 0;
            if (is_known) continue;
            for (size_t j = 0; j < sizeof own / sizeof *own; j++)
                if (strcmp(own[j], name) == 0) return hu_fail(err, HU_USAGE, "--set=%s: the table has a column of that name anyway", name);
            if (hu_grow((void **)ret_name, &room, *ret_count + 1, sizeof **ret_name, "columns", err)) return err->status;
            (*ret_name)[(*ret_count)++] = name;
        }
    return HU_OK;
}

static hu_status put_run(const table *t, int64_t i, const char *const *set, int64_t sets, hu_csv_writer *w, hu_error *err)
{
    static const char *const modes[] = {"post", "early"};
    const probed_run *run = &t->run[i];
    for (int64_t k = 0; k < sets; k++) {
        const char *value = set_of(run, set[k]);
        if (value ? hu_csv_put_text(w, value, err) : hu_csv_put_missing(w, err)) return err->status;
    }
    if (hu_csv_put_text(w, run->status, err) || hu_csv_put_text(w, modes[run->mode], err) || hu_csv_put_text(w, run->cut, err) || hu_csv_put_number(w, run->seconds, err) || hu_csv_put_number(w, run->cpu, err) ||
        hu_csv_put_integer(w, run->ranks, err) || hu_csv_put_integer(w, run->counted, err))
        return err->status;
    for (int64_t k = 0; k < t->columns; k++) {
        const column *c = &t->column[k];
        if (c->is_left_out) continue;
        if (isnan(c->value[i]) ? hu_csv_put_missing(w, err) : hu_csv_put_number(w, c->value[i], err)) return err->status;
    }
    return hu_csv_end_row(w, err);
}

hu_status probed_write_table(const probed_run *run, int64_t runs, const probed_table_options *o, hu_output *out, hu_error *err)
{
    table t = {.run = run, .runs = runs};
    const char **set = NULL;
    int64_t sets;
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    if (name_columns(&t, err) || fill(&t, err) || list_sets(&t, &set, &sets, err) || (o->is_pruned && prune(&t, err)) || (o->groups && write_groups(&t, o->groups, err))) goto cleanup;
    for (int64_t k = 0; k < sets; k++)
        if (hu_csv_put_text(&w, set[k], err)) goto cleanup;
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (hu_csv_put_text(&w, own[k], err)) goto cleanup;
    for (int64_t k = 0; k < t.columns; k++)
        if (!t.column[k].is_left_out && hu_csv_put_text(&w, t.column[k].name, err)) goto cleanup;
    if (hu_csv_end_row(&w, err)) goto cleanup;
    for (int64_t i = 0; i < runs; i++)
        if (put_run(&t, i, set, sets, &w, err)) goto cleanup;
cleanup:
    hu_free(set);
    free_table(&t);
    return err->status;
}
