/* kernels.c: lists of GPU kernels.
 *
 * Sections: names, tables, devices of a trace, events of a trace.
 */
#define _GNU_SOURCE /* memmem */
#include "config.h"
#include "kernels.h"
#include "base/memory.h"
#include "cells.h"
#include "io/json_items.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 1024 };
static const double MOST_BLOCKS = 1e18, MOST_TIME = 1e18;

void kernels_free(kernel_list *list)
{
    for (int32_t k = 0; k < list->names; k++) free(list->name[k]);
    free(list->name);
    free(list->kernel);
    free(list->device);
    hu_free(list->table);
    *list = (kernel_list){0};
}

/* ---- names --------------------------------------------------------------------------------------------------------- */

static uint32_t hash(const char *text, size_t size)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static void put_name(kernel_list *list, int32_t number)
{
    uint32_t at = hash(list->name[number], strlen(list->name[number])), mask = (uint32_t)list->table_size - 1;
    while (list->table[at & mask] >= 0) at++;
    list->table[at & mask] = number;
}

static hu_status grow_table(kernel_list *list, hu_error *err)
{
    int32_t size = list->table_size ? 2 * list->table_size : 256;
    hu_free(list->table);
    list->table = NULL;
    if (hu_alloc(size, sizeof *list->table, "names", (void **)&list->table, err)) return err->status;
    list->table_size = size;
    for (int32_t k = 0; k < size; k++) list->table[k] = -1;
    for (int32_t k = 0; k < list->names; k++) put_name(list, k);
    return HU_OK;
}

static hu_status find_name(kernel_list *list, const char *text, size_t size, int32_t *ret, hu_error *err)
{
    if (list->names >= list->table_size / 2 && grow_table(list, err)) return err->status;
    uint32_t mask = (uint32_t)list->table_size - 1;
    for (uint32_t at = hash(text, size); (*ret = list->table[at & mask]) >= 0; at++)
        if (strlen(list->name[*ret]) == size && memcmp(list->name[*ret], text, size) == 0) return HU_OK;
    if (list->names == INT32_MAX / 4) return hu_fail(err, HU_INPUT, "too many kernel names");
    if (hu_grow((void **)&list->name, &list->name_room, list->names + 1, sizeof *list->name, "names", err)) return err->status;
    if (!(list->name[list->names] = strndup(text, size))) return hu_fail(err, HU_SYSTEM, "out of memory");
    *ret = list->names++;
    put_name(list, *ret);
    return HU_OK;
}

static hu_status add_kernel(kernel_list *list, const kernel *k, hu_error *err)
{
    if (hu_grow((void **)&list->kernel, &list->room, list->kernels + 1, sizeof *list->kernel, "kernels", err)) return err->status;
    list->kernel[list->kernels++] = *k;
    return HU_OK;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    hu_csv *csv;
    int64_t name, threads, registers, shared, grid, duration, count; /* columns; -1: there is none */
} kernel_table;

static hu_status take_row(const kernel_table *t, const hu_csv_field *fields, kernel_list *list, hu_error *err)
{
    double threads, registers, shared, grid, count;
    kernel k = {.device = -1, .recorded = NAN};
    if (cells_number(t->csv, t->threads, 1, INT_MAX, true, NAN, &threads, err) || cells_number(t->csv, t->registers, 0, INT_MAX, true, NAN, &registers, err) ||
        cells_number(t->csv, t->shared, 0, INT_MAX, true, 0, &shared, err) || cells_number(t->csv, t->grid, 1, MOST_BLOCKS, true, 0, &grid, err) ||
        cells_number(t->csv, t->duration, 0, MOST_TIME, false, 1, &k.duration, err) || cells_number(t->csv, t->count, 1, MOST_BLOCKS, true, 1, &count, err))
        return err->status;
    k.launch = (gpu_launch){(int64_t)threads, (int64_t)registers, (int64_t)shared, (int64_t)grid};
    k.count = (int64_t)count;
    if (t->duration < 0) k.duration = count;
    if (t->name < 0 ? find_name(list, "", 0, &k.name, err) : find_name(list, fields[t->name].text, (size_t)fields[t->name].size, &k.name, err)) return err->status;
    return add_kernel(list, &k, err);
}

hu_status kernels_read_csv(hu_source *source, const hu_csv_options *options, kernel_list *ret_list, hu_error *err)
{
    kernel_table t = {0};
    const hu_csv_field *fields;
    hu_status status;
    *ret_list = (kernel_list){0};
    if (hu_csv_open(source, options, &t.csv, err)) return err->status;
    t.name = cells_column(t.csv, "name");
    t.shared = cells_column(t.csv, "shared");
    t.grid = cells_column(t.csv, "grid");
    t.duration = cells_column(t.csv, "duration_us");
    t.count = cells_column(t.csv, "count");
    if (cells_need(t.csv, hu_source_name(source), "threads", &t.threads, err) || cells_need(t.csv, hu_source_name(source), "registers", &t.registers, err)) goto cleanup;
    while ((status = hu_csv_next(t.csv, &fields, err)) == HU_OK)
        if (take_row(&t, fields, ret_list, err)) goto cleanup;
    if (status == HU_END && ret_list->kernels == 0) hu_fail_line(err, hu_source_name(source), 0, "the table has a header but no row");
cleanup:
    hu_csv_close(t.csv);
    if (err->status) kernels_free(ret_list);
    return err->status;
}

/* ---- devices of a trace ------------------------------------------------------------------------------------------------- */

/* One of deviceProperties: {"id": 0, "name": ..., "computeMajor": ...}. Of what it does not say the capability tells. */
static hu_status take_device(hu_json_items *items, const char *name, kernel_list *list, hu_error *err)
{
    json_t *document;
    const char *title = "";
    int64_t id, major, minor, sms, v;
    gpu g;
    if (hu_json_items_parse(items, &document, err)) return err->status;
    hu_json_place o = hu_json_root(document, name);
    if (hu_json_integer(&o, "id", 0, MOST_DEVICES - 1, &id, err) || hu_json_integer(&o, "computeMajor", 0, 999, &major, err) || hu_json_integer(&o, "computeMinor", 0, 999, &minor, err) ||
        hu_json_integer(&o, "numSms", 1, 1 << 20, &sms, err) || (hu_json_has(&o, "name") && hu_json_text(&o, "name", &title, err)))
        goto cleanup;
    if (!gpu_of_capability((int)major, (int)minor, &g)) {
        hu_warn("%s: device %lld (%s) is of compute capability %lld.%lld, which is not known here", name, (long long)id, title, (long long)major, (long long)minor);
        goto cleanup;
    }
    const struct {
        const char *key;
        int *value;
    } told[] = {{"maxThreadsPerMultiprocessor", &g.threads}, {"maxThreadsPerBlock", &g.block_threads}, {"regsPerMultiprocessor", &g.registers},
                {"sharedMemPerMultiprocessor", &g.shared},   {"sharedMemPerBlockOptin", &g.block_shared}};
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        if (!hu_json_has(&o, told[k].key)) continue;
        if (hu_json_integer(&o, told[k].key, 32, 1 << 26, &v, err)) goto cleanup;
        *told[k].value = (int)v;
    }
    if (*title) snprintf(g.name, sizeof g.name, "%s", title);
    g.sms = (int)sms;
    if (hu_grow((void **)&list->device, &list->device_room, id + 1, sizeof *list->device, "devices", err)) goto cleanup;
    for (; list->devices <= id; list->devices++) list->device[list->devices] = (gpu){0};
    list->device[id] = g;
cleanup:
    json_decref(document);
    return err->status;
}

/* ---- events of a trace --------------------------------------------------------------------------------------------------- */

/* The product of [x, y, z]. */
static hu_status take_extent(const hu_json_place *o, const char *key, int64_t most, int64_t *ret, hu_error *err)
{
    hu_json_place list, item;
    int64_t length, v;
    *ret = 1;
    if (hu_json_member(o, key, &list, err) || hu_json_length(&list, 3, &length, err)) return err->status;
    for (int64_t k = 0; k < length; k++) {
        if (hu_json_item(&list, k, &item, err) || hu_json_integer_of(&item, 1, most, &v, err)) return err->status;
        if (!hu_mul_size(*ret, v, ret)) return hu_json_fail(&list, err, "its product does not fit 64 bits");
    }
    return *ret <= most ? HU_OK : hu_json_fail(&list, err, "its product is beyond %lld", (long long)most);
}

static hu_status take_event(hu_json_items *items, const hu_json_item_text *text, const char *name, kernel_list *list, hu_error *err)
{
    char place[512];
    json_t *document;
    hu_json_place o, args;
    const char *title;
    int64_t device = -1;
    double percent = NAN;
    kernel k = {.count = 1};
    if (hu_json_items_parse(items, &document, err)) return err->status;
    snprintf(place, sizeof place, "%s: event of line %lld", name, (long long)text->line);
    o = hu_json_root(document, place);
    if (!hu_json_has(&o, "args") || hu_json_member(&o, "args", &args, err)) goto cleanup;
    if (!hu_json_has(&args, "registers per thread") || !hu_json_has(&args, "grid") || !hu_json_has(&args, "block")) {
        list->passed += hu_json_has(&args, "registers per thread");
        goto cleanup;
    }
    if (hu_json_text(&o, "name", &title, err) || hu_json_number(&o, "dur", 0, MOST_TIME, &k.duration, err) || take_extent(&args, "grid", (int64_t)MOST_BLOCKS, &k.launch.grid, err) ||
        take_extent(&args, "block", INT_MAX, &k.launch.threads, err) || hu_json_integer(&args, "registers per thread", 0, INT_MAX, &k.launch.registers, err))
        goto cleanup;
    if (hu_json_has(&args, "shared memory") && hu_json_integer(&args, "shared memory", 0, INT_MAX, &k.launch.shared, err)) goto cleanup;
    if (hu_json_has(&args, "device") && hu_json_integer(&args, "device", 0, INT_MAX, &device, err)) goto cleanup;
    if (hu_json_has(&args, "est. achieved occupancy %") && hu_json_number(&args, "est. achieved occupancy %", 0, 1e6, &percent, err)) goto cleanup;
    k.device = (int32_t)device;
    k.recorded = percent / 100;
    if (find_name(list, title, strlen(title), &k.name, err) == HU_OK) add_kernel(list, &k, err);
cleanup:
    json_decref(document);
    return err->status;
}

hu_status kernels_read_trace(hu_source *source, kernel_list *ret_list, hu_error *err)
{
    static const char mark[] = "registers per thread";
    const char *name = hu_source_name(source);
    hu_json_items *items;
    hu_json_item_text item;
    hu_status status;
    *ret_list = (kernel_list){0};
    if (hu_json_items_open(source, &items, err)) return err->status;
    while ((status = hu_json_items_next(items, &item, err)) == HU_OK) {
        bool event = item.text[0] == '{' && (*item.key == '\0' || strcmp(item.key, "traceEvents") == 0);
        if (item.text[0] == '{' && strcmp(item.key, "deviceProperties") == 0) {
            if (take_device(items, name, ret_list, err)) break;
        } else if (event && memmem(item.text, (size_t)item.size, mark, sizeof mark - 1)) {
            if (take_event(items, &item, name, ret_list, err)) break;
        }
    }
    if (status == HU_END && ret_list->kernels == 0)
        hu_fail(err, HU_INPUT, "%s: no kernel with registers, grid and block is in the trace: was the profiler told to record CUDA activities?", name);
    hu_json_items_close(items);
    if (err->status) kernels_free(ret_list);
    return err->status;
}
