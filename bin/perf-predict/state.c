/* state.c: what an active search knows.
 *
 * Sections: reading, opening, asking and telling, results.
 */
#include "config.h"
#include "state.h"
#include "base/memory.h"
#include "commands.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAJOR = 1, MINOR = 0, MOST_COLUMNS = 8192 };
static const char kind_name[] = "perf-predict-state";
static const char *const dup_names[] = {"keep", "mean", "median", "min"};

/* ---- reading ------------------------------------------------------------------------------------------------------------------- */

static void drop_claim(state *s, int64_t config)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < s->claims; i++) {
        if (s->claim[i].config == config) free(s->claim[i].worker);
        else s->claim[kept++] = s->claim[i];
    }
    s->claims = kept;
}

static hu_status add_claim(state *s, int64_t config, const char *worker, double since, hu_error *err)
{
    drop_claim(s, config);
    if (hu_grow((void **)&s->claim, &s->claim_capacity, s->claims + 1, sizeof *s->claim, "a state", err)) return err->status;
    char *copy = strdup(worker);
    if (!copy) return hu_fail(err, HU_SYSTEM, "out of memory");
    s->claim[s->claims++] = (state_claim){config, since, copy};
    return HU_OK;
}

static hu_status add_run(state *s, const state_run *run, hu_error *err)
{
    if (hu_grow((void **)&s->run, &s->run_capacity, s->runs + 1, sizeof *s->run, "a state", err)) return err->status;
    s->run[s->runs++] = *run;
    s->spent += run->cost;
    drop_claim(s, run->config);
    return HU_OK;
}

static hu_status read_head(state *s, const hu_json_place *root, hu_error *err)
{
    const char *kind, *target;
    int64_t major, columns;
    hu_json_place list;
    const char **name = NULL;
    if (hu_json_text(root, "kind", &kind, err)) return err->status;
    if (strcmp(kind, kind_name)) return hu_json_fail(root, err, "a journal of the kind %s, not %s", kind, kind_name);
    if (hu_json_integer(root, "major", 0, INT32_MAX, &major, err)) return err->status;
    if (major > MAJOR) return hu_json_fail(root, err, "of version %lld, newer than %d, which this program knows", (long long)major, MAJOR);
    if (hu_json_text(root, "target", &target, err) || hu_json_bool(root, "maximize", &s->maximize, err) || hu_json_member(root, "columns", &list, err) ||
        hu_json_length(&list, MOST_COLUMNS, &columns, err))
        return err->status;
    if (columns < 1) return hu_json_fail(&list, err, "there is no column");
    if (!(s->target = strdup(target))) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_alloc(columns, sizeof *name, "columns", (void **)&name, err)) return err->status;
    for (int64_t c = 0; c < columns && !err->status; c++) {
        name[c] = json_string_value(json_array_get(list.value, (size_t)c));
        if (!name[c]) hu_json_fail(&list, err, "item %lld is no name", (long long)c);
        for (int64_t k = 0; k < c && !err->status; k++)
            if (strcmp(name[k], name[c]) == 0) hu_json_fail(&list, err, "two columns of the name %s", name[c]);
    }
    if (err->status == HU_OK) configs_new(name, (int32_t)columns, &s->set, err);
    hu_free(name);
    return err->status;
}

static hu_status read_ask(state *s, const hu_json_place *root, const hu_json_place *rows, int64_t count, hu_error *err)
{
    const char *worker;
    double since;
    if (hu_json_text(root, "worker", &worker, err) || hu_json_number(root, "time", 0, 1e15, &since, err)) return err->status;
    for (int64_t i = 0; i < count; i++) {
        hu_json_place item;
        int64_t config;
        if (hu_json_item(rows, i, &item, err) || configs_from_json(s->set, &item, &config, err) || add_claim(s, config, worker, since, err)) return err->status;
    }
    s->asked++;
    return HU_OK;
}

static hu_status read_run(state *s, const hu_json_place *item, hu_error *err)
{
    hu_json_place config;
    state_run run = {0};
    if (hu_json_member(item, "c", &config, err) || configs_from_json(s->set, &config, &run.config, err) || hu_json_number(item, "cost", 0, DBL_MAX, &run.cost, err)) return err->status;
    if (hu_json_has(item, "t")) {
        if (hu_json_number(item, "t", -DBL_MAX, DBL_MAX, &run.value, err)) return err->status;
    } else if (hu_json_has(item, "timeout")) {
        run.outcome = RUN_TIMEOUT;
        if (hu_json_number(item, "timeout", 0, DBL_MAX, &run.value, err)) return err->status;
    } else {
        bool fail;
        run.outcome = RUN_FAIL;
        if (hu_json_bool(item, "fail", &fail, err)) return err->status;
    }
    return add_run(s, &run, err);
}

static hu_status read_record(state *s, const hu_json_place *root, hu_error *err)
{
    static const char *const ops[] = {"ask", "tell"};
    hu_json_place rows;
    int64_t count;
    int op, dup;
    if (!s->set) return read_head(s, root, err);
    if (hu_json_word(root, "op", ops, 2, &op, err) || hu_json_member(root, "rows", &rows, err) || hu_json_length(&rows, INT32_MAX, &count, err)) return err->status;
    if (op == 0) return read_ask(s, root, &rows, count, err);
    if (hu_json_word(root, "dup", dup_names, 4, &dup, err)) return err->status;
    s->dup = (table_dup)dup;
    for (int64_t i = 0; i < count; i++) {
        hu_json_place item;
        if (hu_json_item(&rows, i, &item, err) || read_run(s, &item, err)) return err->status;
    }
    return HU_OK;
}

static hu_status read_records(state *s, hu_error *err)
{
    const char *text;
    int64_t size;
    hu_status status;
    while ((status = hu_journal_next(s->journal, &text, &size, err)) == HU_OK) {
        json_t *document;
        hu_error inner = HU_ERROR_NONE;
        if (hu_json_parse(text, size, "a record", &document, &inner) == HU_OK) {
            hu_json_place root = hu_json_root(document, "a record");
            read_record(s, &root, &inner);
            json_decref(document);
        }
        if (inner.status == HU_INPUT) return hu_journal_fail(s->journal, err, "%s", inner.message);
        if (inner.status) {
            *err = inner;
            return err->status;
        }
    }
    return status == HU_END ? HU_OK : status;
}

/* ---- opening --------------------------------------------------------------------------------------------------------------------- */

static hu_status open_state(const char *name, bool create, const void *bytes, int64_t size, state **ret_state, hu_error *err)
{
    state *s = NULL;
    if (hu_alloc_zero(1, sizeof *s, "a state", (void **)&s, err)) return err->status;
    s->dup = DUP_MEAN;
    if (bytes ? hu_journal_memory(name, bytes, size, &s->journal, err) : hu_journal_open(name, create, &s->journal, err)) goto failed;
    if (read_records(s, err)) goto failed;
    *ret_state = s;
    return HU_OK;
failed:
    state_close(s);
    return err->status;
}

hu_status state_open(const char *path, bool create, state **ret_state, hu_error *err)
{
    return open_state(path, create, NULL, 0, ret_state, err);
}

hu_status state_memory(const char *name, const void *bytes, int64_t size, state **ret_state, hu_error *err)
{
    return open_state(name, false, bytes, size, ret_state, err);
}

void state_close(state *s)
{
    if (!s) return;
    hu_journal_close(s->journal);
    configs_free(s->set);
    for (int64_t i = 0; i < s->claims; i++) free(s->claim[i].worker);
    hu_free(s->claim);
    hu_free(s->run);
    free(s->target);
    hu_free(s);
}

/* Appends a document, which is given away. */
static hu_status append(state *s, json_t *document, hu_error *err)
{
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(document);
    if (!text) return hu_fail(err, HU_SYSTEM, "out of memory");
    hu_journal_append(s->journal, text, (int64_t)strlen(text), err);
    free(text);
    return err->status;
}

static hu_status begin_new(state *s, const char *const *names, int32_t columns, const char *target, bool maximize, hu_error *err)
{
    json_t *head = json_object(), *list = json_array();
    for (int32_t c = 0; c < columns; c++) json_array_append_new(list, json_string(names[c]));
    json_object_set_new(head, "kind", json_string(kind_name));
    json_object_set_new(head, "major", json_integer(MAJOR));
    json_object_set_new(head, "minor", json_integer(MINOR));
    json_object_set_new(head, "columns", list);
    json_object_set_new(head, "target", json_string(target));
    json_object_set_new(head, "maximize", json_boolean(maximize));
    if (!(s->target = strdup(target))) hu_fail(err, HU_SYSTEM, "out of memory");
    s->maximize = maximize;
    if (err->status || configs_new(names, columns, &s->set, err)) {
        json_decref(head);
        return err->status;
    }
    return append(s, head, err);
}

hu_status state_begin(state *s, const char *const *names, int32_t columns, const char *target, bool maximize, hu_error *err)
{
    const char *name = hu_journal_name(s->journal);
    if (!s->set) return begin_new(s, names, columns, target, maximize, err);
    if (strcmp(s->target, target)) return hu_fail(err, HU_USAGE, "%s is about the column %s, not %s (-y %s)", name, s->target, target, s->target);
    if (s->maximize != maximize) return hu_fail(err, HU_USAGE, "%s was begun with --direction=%s", name, s->maximize ? "max" : "min");
    for (int32_t c = 0; c < columns; c++)
        if (configs_find(s->set, names[c]) < 0) return hu_fail(err, (hu_status)PP_MISFIT, "%s has no column %s", name, names[c]);
    for (int32_t c = 0; c < s->set->columns; c++) {
        bool there = false;
        for (int32_t k = 0; k < columns && !there; k++) there = strcmp(names[k], s->set->column[c].name) == 0;
        if (!there) return hu_fail(err, (hu_status)PP_MISFIT, "%s has a column %s, which is missing here", name, s->set->column[c].name);
    }
    return HU_OK;
}

/* ---- asking and telling -------------------------------------------------------------------------------------------------------------- */

hu_status state_ask(state *s, const int64_t *config, int64_t count, const char *worker, double now, hu_error *err)
{
    json_t *record = json_object(), *rows = json_array();
    for (int64_t i = 0; i < count; i++) json_array_append_new(rows, configs_to_json(s->set, config[i]));
    json_object_set_new(record, "op", json_string("ask"));
    json_object_set_new(record, "worker", json_string(worker));
    json_object_set_new(record, "time", json_real(now));
    json_object_set_new(record, "rows", rows);
    if (append(s, record, err)) return err->status;
    s->asked++;
    for (int64_t i = 0; i < count; i++)
        if (add_claim(s, config[i], worker, now, err)) return err->status;
    return HU_OK;
}

static bool same_run(const state_run *a, const state_run *b)
{
    return a->config == b->config && a->outcome == b->outcome && (a->outcome == RUN_FAIL || a->value == b->value);
}

/* fresh[i]: run[i] is to be noted. A run is new where the state has fewer of its kind than the table that tells it, up to there; so telling a table again
 * changes nothing. */
static hu_status find_new(const state *s, const state_run *run, int64_t count, bool *fresh, hu_error *err)
{
    int64_t all = s->runs + count, *last, *before = NULL; /* the last run of each configuration, and for each run the one before it */
    if (hu_alloc(s->set->rows, sizeof *last, "runs", (void **)&last, err)) return err->status;
    if (hu_alloc(all, sizeof *before, "runs", (void **)&before, err)) {
        hu_free(last);
        return err->status;
    }
    for (int64_t c = 0; c < s->set->rows; c++) last[c] = -1;
    for (int64_t i = 0; i < all; i++) {
        const state_run *r = i < s->runs ? &s->run[i] : &run[i - s->runs];
        int64_t known = 0, told = 0;
        for (int64_t k = last[r->config]; i >= s->runs && k >= 0; k = before[k]) {
            if (k < s->runs) known += same_run(&s->run[k], r);
            else told += same_run(&run[k - s->runs], r);
        }
        if (i >= s->runs) fresh[i - s->runs] = told >= known;
        before[i] = last[r->config];
        last[r->config] = i;
    }
    hu_free(last);
    hu_free(before);
    return HU_OK;
}

static json_t *run_to_json(const state *s, const state_run *run)
{
    json_t *item = json_object();
    json_object_set_new(item, "c", configs_to_json(s->set, run->config));
    json_object_set_new(item, "cost", json_real(run->cost));
    if (run->outcome == RUN_TIME) json_object_set_new(item, "t", json_real(run->value));
    else if (run->outcome == RUN_TIMEOUT) json_object_set_new(item, "timeout", json_real(run->value));
    else json_object_set_new(item, "fail", json_true());
    return item;
}

hu_status state_tell(state *s, const state_run *run, int64_t count, table_dup dup, int64_t *ret_new, hu_error *err)
{
    json_t *record = json_object(), *rows = json_array();
    bool *fresh = NULL;
    *ret_new = 0;
    if (hu_alloc(count, sizeof *fresh, "runs", (void **)&fresh, err) || find_new(s, run, count, fresh, err)) goto cleanup;
    for (int64_t i = 0; i < count; i++) {
        if (!fresh[i]) continue;
        json_array_append_new(rows, run_to_json(s, &run[i]));
        ++*ret_new;
    }
    if (*ret_new == 0 && dup == s->dup) goto cleanup;
    json_object_set_new(record, "op", json_string("tell"));
    json_object_set_new(record, "dup", json_string(dup_names[dup]));
    json_object_set(record, "rows", rows);
    if (append(s, json_incref(record), err)) goto cleanup;
    s->dup = dup;
    for (int64_t i = 0; i < count; i++)
        if (fresh[i] && add_run(s, &run[i], err)) goto cleanup;
cleanup:
    hu_free(fresh);
    json_decref(rows);
    json_decref(record);
    return err->status;
}

/* ---- results -------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t config, order;
    run_outcome outcome;
    double value;
} item;

static int compare_items(const void *a, const void *b)
{
    const item *p = a, *q = b;
    if (p->config != q->config) return p->config < q->config ? -1 : 1;
    if (p->outcome != q->outcome) return p->outcome < q->outcome ? -1 : 1;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return p->order < q->order ? -1 : 1;
}

static int compare_order(const void *a, const void *b)
{
    const item *p = a, *q = b;
    return p->order < q->order ? -1 : 1;
}

/* n runs of one outcome, ascending. */
static double merge(const item *run, int64_t n, table_dup dup)
{
    double sum = 0.0;
    if (dup == DUP_MIN) return run[0].value;
    if (dup == DUP_MEDIAN) return n % 2 ? run[n / 2].value : run[n / 2 - 1].value / 2 + run[n / 2].value / 2;
    for (int64_t i = 0; i < n; i++) sum += run[i].value - run[0].value;
    return run[0].value + sum / (double)n;
}

/* A configuration that ran counts by the runs that did; one that never did by the longest limit that it passed, else as failed. */
hu_status state_results(const state *s, state_result **ret_result, int64_t *ret_count, hu_error *err)
{
    item *run;
    int64_t kept = 0, n = s->runs;
    if (hu_alloc(n, sizeof *run, "runs", (void **)&run, err)) return err->status;
    if (hu_alloc(n, sizeof **ret_result, "runs", (void **)ret_result, err)) {
        hu_free(run);
        return err->status;
    }
    for (int64_t i = 0; i < n; i++) run[i] = (item){s->run[i].config, i, s->run[i].outcome, s->run[i].outcome == RUN_FAIL ? 0 : s->run[i].value};
    qsort(run, (size_t)n, sizeof *run, compare_items);
    for (int64_t i = 0, end; i < n; i = end) {
        int64_t good = 0, late = 0, order = run[i].order;
        for (end = i; end < n && run[end].config == run[i].config; end++) {
            good += run[end].outcome == RUN_TIME;
            late += run[end].outcome == RUN_TIMEOUT;
            if (run[end].order < order) order = run[end].order;
        }
        if (good && s->dup == DUP_KEEP) {
            for (int64_t k = 0; k < good; k++) run[kept++] = run[i + k];
            continue;
        }
        item one = {run[i].config, order, good ? RUN_TIME : late ? RUN_TIMEOUT : RUN_FAIL, NAN};
        if (good) one.value = merge(run + i, good, s->dup);
        else if (late) one.value = run[end - 1].value;
        run[kept++] = one;
    }
    qsort(run, (size_t)kept, sizeof *run, compare_order);
    for (int64_t i = 0; i < kept; i++) (*ret_result)[i] = (state_result){run[i].config, run[i].value, run[i].outcome};
    *ret_count = kept;
    hu_free(run);
    return HU_OK;
}
