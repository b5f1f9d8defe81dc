/* counters.c: the counters of probed processes, by stable names.
 *
 * Sections: the list, gcov, values, MPI.
 */
#include "config.h"
#include "counters.h"
#include "base/memory.h"
#include "probe/runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_BYTES = (int64_t)1 << 30; /* of one file */

/* ---- the list: a hash table with open addressing --------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, with a final mixing */
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h ^ h >> 32;
}

static int64_t find_slot(const counters *c, const char *name)
{
    uint64_t s = hash_of(name), mask = (uint64_t)(c->slots - 1);
    while (c->slot[s & mask] && strcmp(c->counter[c->slot[s & mask] - 1].name, name) != 0) s++;
    return (int64_t)(s & mask);
}

static hu_status grow_slots(counters *c, hu_error *err)
{
    if (2 * (c->count + 1) <= c->slots) return HU_OK;
    int64_t wanted = c->slots ? 2 * c->slots : 1024;
    hu_free(c->slot);
    c->slots = 0;
    if (hu_alloc_zero(wanted, sizeof *c->slot, "counters", (void **)&c->slot, err)) return err->status;
    c->slots = wanted;
    for (int64_t i = 0; i < c->count; i++) c->slot[find_slot(c, c->counter[i].name)] = i + 1;
    return HU_OK;
}

void counters_free(counters *c)
{
    for (int64_t i = 0; i < c->count; i++) free(c->counter[i].name);
    hu_free(c->counter);
    hu_free(c->slot);
    *c = (counters){0};
}

const counter *counters_find(const counters *c, const char *name)
{
    int64_t at = c->slots ? c->slot[find_slot(c, name)] : 0;
    return at ? &c->counter[at - 1] : NULL;
}

hu_status counters_add(counters *c, const char *name, counter_kind kind, double v, double weight, hu_error *err)
{
    if (grow_slots(c, err)) return err->status;
    int64_t slot = find_slot(c, name);
    if (!c->slot[slot]) {
        char *copy = strdup(name);
        if (!copy) return hu_fail(err, HU_SYSTEM, "out of memory");
        if (hu_grow((void **)&c->counter, &c->room, c->count + 1, sizeof *c->counter, "counters", err)) {
            free(copy);
            return err->status;
        }
        c->counter[c->count] = (counter){.name = copy, .kind = kind, .most = -INFINITY};
        c->slot[slot] = ++c->count;
    }
    counter *k = &c->counter[c->slot[slot] - 1];
    if (!k->is_now) k->now = v;
    else if (kind == COUNTER_SUM || kind == COUNTER_MEAN) k->now += v;
    else if (kind == COUNTER_MIN) k->now = fmin(k->now, v);
    else if (kind == COUNTER_MAX) k->now = fmax(k->now, v);
    else k->now = v;
    k->is_now = true;
    k->weight += weight;
    return HU_OK;
}

void counters_end_process(counters *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        counter *k = &c->counter[i];
        if (!k->is_now) continue;
        if (k->count++ == 0) k->value = k->now;
        else if (k->kind == COUNTER_MIN) k->value = fmin(k->value, k->now);
        else if (k->kind == COUNTER_MAX) k->value = fmax(k->value, k->now);
        else k->value += k->now;
        k->most = fmax(k->most, k->now);
        k->is_now = false;
    }
}

double counter_value(const counter *c)
{
    return c->kind == COUNTER_MEAN ? c->value / c->weight : c->kind == COUNTER_LAST ? c->value / (double)c->count : c->value;
}

/* ---- gcov -------------------------------------------------------------------------------------------------------------------- */

/* The whole path of a source, without "." and ".."; free with free(). */
static char *whole_path(const char *folder, const char *file)
{
    char *text = NULL, *clean = NULL;
    if (file[0] == '/') text = strdup(file);
    else if (asprintf(&text, "%s/%s", folder, file) < 0) text = NULL;
    if (text) clean = malloc(strlen(text) + 2);
    if (clean) {
        char *end = clean, *rest = NULL;
        for (char *word = strtok_r(text, "/", &rest); word; word = strtok_r(NULL, "/", &rest)) {
            if (strcmp(word, ".") == 0) continue;
            if (strcmp(word, "..") != 0) end = stpcpy(stpcpy(end, "/"), word);
            else while (end > clean && *--end != '/') continue;
        }
        *end = '\0';
    }
    free(text);
    return clean;
}

static bool is_of_system(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 && strncmp(path, "/usr/src/", 9) != 0;
}

/* The sources of a document, one after another. */
static hu_status open_files(const json_t *document, const char *name, hu_json_place *ret_root, hu_json_place *ret_files, const char **ret_folder, int64_t *ret_count, hu_error *err)
{
    *ret_root = hu_json_root(document, name);
    const char *version;
    if (hu_json_text(ret_root, "format_version", &version, err)) return err->status;
    if (strcmp(version, "1") != 0 && strcmp(version, "2") != 0) return hu_json_fail(ret_root, err, "format %s of gcov is not known, only 1 and 2", version);
    if (hu_json_text(ret_root, "current_working_directory", ret_folder, err) || hu_json_member(ret_root, "files", ret_files, err)) return err->status;
    return hu_json_length(ret_files, INT32_MAX, ret_count, err);
}

static hu_status source_of(const hu_json_place *files, int64_t i, const char *folder, hu_json_place *ret_file, char **ret_path, hu_error *err)
{
    const char *file;
    if (hu_json_item(files, i, ret_file, err) || hu_json_text(ret_file, "file", &file, err)) return err->status;
    *ret_path = whole_path(folder, file);
    return *ret_path ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

static void shorten(char *top, const char *path)
{
    size_t same = 0, slash = 0;
    for (; top[same] && top[same] == path[same]; same++)
        if (top[same] == '/') slash = same;
    if (top[same] == '\0' && path[same] == '/') slash = same;
    top[slash] = '\0';
}

hu_status counters_common_folder(const json_t *document, const char *name, char **top, hu_error *err)
{
    hu_json_place root, files, file;
    const char *folder;
    int64_t count;
    if (open_files(document, name, &root, &files, &folder, &count, err)) return err->status;
    for (int64_t i = 0; i < count; i++) {
        char *path;
        if (source_of(&files, i, folder, &file, &path, err)) return err->status;
        char *slash = strrchr(path, '/');
        if (is_of_system(path) || !slash) {
            free(path);
            continue;
        }
        *slash = '\0';
        if (*top) {
            shorten(*top, path);
            free(path);
        } else {
            *top = path;
        }
    }
    return HU_OK;
}

static hu_status take_branches(counters *c, const hu_json_place *line, const char *name, hu_error *err)
{
    hu_json_place branches, branch;
    int64_t count;
    char full[1100];
    if (hu_json_member(line, "branches", &branches, err) || hu_json_length(&branches, INT32_MAX, &count, err)) return err->status;
    for (int64_t k = 0; k < count; k++) {
        double taken;
        if (hu_json_item(&branches, k, &branch, err) || hu_json_number(&branch, "count", 0, 1e19, &taken, err)) return err->status;
        snprintf(full, sizeof full, "%s:b%lld", name, (long long)k);
        if (counters_add(c, full, COUNTER_SUM, taken, 0, err)) return err->status;
    }
    return HU_OK;
}

static hu_status take_lines(counters *c, const hu_json_place *file, const char *source, hu_error *err)
{
    hu_json_place lines, line;
    int64_t count;
    if (hu_json_member(file, "lines", &lines, err) || hu_json_length(&lines, INT32_MAX, &count, err)) return err->status;
    for (int64_t i = 0; i < count; i++) {
        const char *function;
        int64_t number;
        double ran;
        char name[1024];
        if (hu_json_item(&lines, i, &line, err)) return err->status;
        if (!hu_json_has(&line, "function_name")) continue;
        if (hu_json_text(&line, "function_name", &function, err) || hu_json_integer(&line, "line_number", 0, INT32_MAX, &number, err) ||
            hu_json_number(&line, "count", 0, 1e19, &ran, err))
            return err->status;
        snprintf(name, sizeof name, "%s:%s:%lld", source, function, (long long)number);
        if (counters_add(c, name, COUNTER_SUM, ran, 0, err) || take_branches(c, &line, name, err)) return err->status;
    }
    return HU_OK;
}

hu_status counters_take_gcov(counters *c, const json_t *document, const char *name, const char *top, hu_error *err)
{
    hu_json_place root, files, file;
    const char *folder;
    int64_t count;
    size_t skip = strlen(top);
    if (open_files(document, name, &root, &files, &folder, &count, err)) return err->status;
    for (int64_t i = 0; i < count && !err->status; i++) {
        char *path;
        if (source_of(&files, i, folder, &file, &path, err)) return err->status;
        if (strncmp(path, top, skip) == 0 && path[skip] == '/' && !is_of_system(path)) take_lines(c, &file, path + skip + 1, err);
        free(path);
    }
    return err->status;
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

/* Reads a file of records behind 8 bytes; free *ret_text with hu_free(). */
static hu_status read_records(const char *path, const char *mark, size_t size, char **ret_text, const void **ret_record, int64_t *ret_count, hu_error *err)
{
    hu_source *source;
    int64_t bytes;
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    hu_source_slurp(source, MOST_BYTES, ret_text, &bytes, err);
    hu_source_close(source);
    if (err->status) return err->status;
    if (bytes < 8 || memcmp(*ret_text, mark, 8) != 0) hu_fail_byte(err, path, 0, "is no file of counters that a program probed on this kind of machine wrote");
    else if ((bytes - 8) % (int64_t)size) hu_fail_byte(err, path, bytes, "ends within a record");
    if (err->status) {
        hu_free(*ret_text);
        *ret_text = NULL;
        return err->status;
    }
    *ret_record = *ret_text + 8;
    *ret_count = (bytes - 8) / (int64_t)size;
    return HU_OK;
}

hu_status counters_list_places(const char *path, hu_status (*each)(void *context, uint64_t place, hu_error *err), void *context, hu_error *err)
{
    char *text;
    const void *record;
    int64_t count;
    if (read_records(path, "hupvalu1", sizeof(hu_probe_value), &text, &record, &count, err)) return err->status;
    const hu_probe_value *v = record;
    for (int64_t i = 0; i < count && !err->status; i++) each(context, v[i].place, err);
    hu_free(text);
    return err->status;
}

static hu_status take_side(counters *c, const char *name, const char *side, const hu_probe_value *v, int s, hu_error *err)
{
    static const char *const what[] = {"min", "max", "last", "mean"};
    static const counter_kind kind[] = {COUNTER_MIN, COUNTER_MAX, COUNTER_LAST, COUNTER_MEAN};
    const double value[] = {v->least[s], v->most[s], v->last[s], v->sum[s]};
    char full[1200];
    for (int k = 0; k < 4; k++) {
        snprintf(full, sizeof full, "%s:%s:%s", name, side, what[k]);
        if (counters_add(c, full, kind[k], value[k], (double)v->hits, err)) return err->status;
    }
    return HU_OK;
}

hu_status counters_take_values(counters *c, const char *path, const char *(*place_name)(void *context, uint64_t place), void *context, hu_error *err)
{
    char *text, name[1100];
    const void *record;
    int64_t count;
    if (read_records(path, "hupvalu1", sizeof(hu_probe_value), &text, &record, &count, err)) return err->status;
    const hu_probe_value *v = record;
    for (int64_t i = 0; i < count && !err->status; i++) {
        const char *place = place_name(context, v[i].place);
        if (v[i].kind != 'v' && v[i].kind != 'c' && v[i].kind != 's') {
            hu_fail_byte(err, path, 8 + i * (int64_t)sizeof *v, "a record of no known kind");
            break;
        }
        if (!place || v[i].hits == 0) continue;
        snprintf(name, sizeof name, "%s:%c", place, (char)v[i].kind);
        if (counters_add(c, name, COUNTER_SUM, (double)v[i].hits, 0, err) || take_side(c, name, "right", &v[i], 1, err)) break;
        if (v[i].kind == 'v') take_side(c, name, "left", &v[i], 0, err); /* the left of a constant is the constant */
    }
    hu_free(text);
    return err->status;
}

/* ---- MPI ------------------------------------------------------------------------------------------------------------------------ */

hu_status counters_take_calls(counters *c, const char *path, hu_error *err)
{
    char *text, name[64];
    const void *record;
    int64_t count;
    if (read_records(path, "hupmpi_1", sizeof(hu_probe_call), &text, &record, &count, err)) return err->status;
    const hu_probe_call *k = record;
    for (int64_t i = 0; i < count && !err->status; i++) {
        const struct { const char *what; uint64_t value; } part[] = {{"calls", k[i].calls}, {"bytes", k[i].bytes}, {"peers", k[i].peers}};
        for (int p = 0; p < 3 && !err->status; p++) {
            snprintf(name, sizeof name, "%.31s:%s", k[i].name, part[p].what);
            counters_add(c, name, COUNTER_SUM, (double)part[p].value, 0, err);
        }
    }
    hu_free(text);
    return err->status;
}
