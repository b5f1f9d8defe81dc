/* gpu.c: how many blocks of a kernel an SM holds.
 *
 * Sections: GPUs, occupancy, advice.
 */
#include "config.h"
#include "gpu.h"
#include "base/number.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- GPUs ---------------------------------------------------------------------------------------------------------- */

enum { WARP = 32, REGISTER_UNIT = 256, PARTITIONS = 4, MOST_REGISTERS = 255, KIB = 1024 };

/* Threads and blocks of an SM, KiB of shared memory of an SM and of a block. 65536 registers and 1024 threads a block are the same for all. */
static const struct {
    int major, minor, threads, blocks, shared, block_shared;
} capabilities[] = {
    {7, 0, 2048, 32, 96, 96},    {7, 2, 2048, 32, 96, 96},    {7, 5, 1024, 16, 64, 64},   {8, 0, 2048, 32, 164, 163},  {8, 6, 1536, 16, 100, 99},
    {8, 7, 1536, 16, 164, 163},  {8, 9, 1536, 24, 100, 99},   {9, 0, 2048, 32, 228, 227}, {10, 0, 2048, 32, 228, 227}, {10, 3, 2048, 32, 228, 227},
    {12, 0, 1536, 24, 100, 99},
};

static const struct {
    const char *name;
    int major, minor, sms;
} models[] = {
    {"v100", 7, 0, 80},    {"titanv", 7, 0, 80},  {"t4", 7, 5, 40},       {"rtx2080ti", 7, 5, 68}, {"a100", 8, 0, 108}, {"a30", 8, 0, 56},
    {"a10", 8, 6, 72},     {"a40", 8, 6, 84},     {"a4000", 8, 6, 48},    {"a6000", 8, 6, 84},     {"rtx3090", 8, 6, 82}, {"orin", 8, 7, 16},
    {"l4", 8, 9, 58},      {"l40", 8, 9, 142},    {"l40s", 8, 9, 142},    {"rtx4090", 8, 9, 128},  {"h100", 9, 0, 132}, {"h100-pcie", 9, 0, 114},
    {"h200", 9, 0, 132},   {"gh200", 9, 0, 132},  {"b200", 10, 0, 148},   {"rtx5090", 12, 0, 170},
};

const char *gpu_name(int index)
{
    return index < (int)(sizeof models / sizeof *models) ? models[index].name : NULL;
}

bool gpu_of_capability(int major, int minor, gpu *ret)
{
    for (size_t k = 0; k < sizeof capabilities / sizeof *capabilities; k++) {
        if (capabilities[k].major != major || capabilities[k].minor != minor) continue;
        *ret = (gpu){.major = major, .minor = minor, .threads = capabilities[k].threads, .blocks = capabilities[k].blocks, .block_threads = 1024, .registers = 65536,
                     .shared = capabilities[k].shared * KIB, .block_shared = capabilities[k].block_shared * KIB, .reserved = major >= 8 ? KIB : 0};
        snprintf(ret->name, sizeof ret->name, "cc %d.%d", major, minor);
        return true;
    }
    return false;
}

static hu_status fail_unknown(const char *word, size_t size, hu_error *err)
{
    char list[512] = "";
    for (int k = 0; gpu_name(k); k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", gpu_name(k));
    }
    return hu_fail(err, HU_USAGE, "--gpu: '%.*s' is none of %s, cc=MAJOR.MINOR (7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 10.0 10.3 12.0)", (int)size, word, list);
}

static bool take_model(const char *word, size_t size, gpu *g)
{
    for (int k = 0; gpu_name(k); k++) {
        if (strlen(gpu_name(k)) != size || strncasecmp(gpu_name(k), word, size)) continue;
        gpu_of_capability(models[k].major, models[k].minor, g);
        snprintf(g->name, sizeof g->name, "%s", models[k].name);
        g->sms = models[k].sms;
        return true;
    }
    return false;
}

static bool take_capability(const char *word, const char *end, gpu *g)
{
    int64_t major, minor;
    bool over;
    const char *p = hu_number_parse_integer(word, end, &major, &over);
    if (!p || over || p == end || *p != '.' || !(p = hu_number_parse_integer(p + 1, end, &minor, &over)) || over || p != end) return false;
    return major >= 0 && major < 1000 && minor >= 0 && minor < 1000 && gpu_of_capability((int)major, (int)minor, g);
}

/* key=value of the numbers of a GPU. */
static hu_status take_number(const char *word, const char *end, gpu *g, hu_error *err)
{
    const struct {
        const char *key;
        int *value, most;
    } numbers[] = {{"sms", &g->sms, 1 << 20},         {"threads", &g->threads, 1 << 16}, {"blocks", &g->blocks, 1 << 10},
                   {"registers", &g->registers, 1 << 24}, {"shared", &g->shared, 1 << 26},   {"block-shared", &g->block_shared, 1 << 26}};
    const char *value = memchr(word, '=', (size_t)(end - word));
    for (size_t k = 0; value && k < sizeof numbers / sizeof *numbers; k++) {
        int64_t v;
        bool over;
        if (strlen(numbers[k].key) != (size_t)(value - word) || memcmp(numbers[k].key, word, (size_t)(value - word))) continue;
        if (hu_number_parse_integer(value + 1, end, &v, &over) != end || over || v < 1 || v > numbers[k].most)
            return hu_fail(err, HU_USAGE, "--gpu: '%.*s': a whole number from 1 to %d is wanted", (int)(end - word), word, numbers[k].most);
        *numbers[k].value = (int)v;
        return HU_OK;
    }
    return hu_fail(err, HU_USAGE, "--gpu: '%.*s' is none of sms=N, threads=N, blocks=N, registers=N, shared=BYTES, block-shared=BYTES", (int)(end - word), word);
}

hu_status gpu_find(const char *text, gpu *ret_gpu, hu_error *err)
{
    bool first = true;
    for (const char *p = text; p; first = false) {
        const char *end = strchr(p, ',');
        size_t size = end ? (size_t)(end - p) : strlen(p);
        if (!first) {
            if (take_number(p, p + size, ret_gpu, err)) return err->status;
        } else if (strncmp(p, "cc=", 3) == 0 ? !take_capability(p + 3, p + size, ret_gpu) : !take_model(p, size, ret_gpu)) {
            return fail_unknown(p, size, err);
        }
        p = end ? end + 1 : NULL;
    }
    return HU_OK;
}

/* ---- occupancy -------------------------------------------------------------------------------------------------------- */

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int64_t warps_of(const gpu_launch *k)
{
    return (k->threads + WARP - 1) / WARP;
}

/* Blocks that the warps, the registers, the shared memory of an SM hold. Each of the four partitions of an SM has a quarter of the registers, which
 * are handed out by the warp in units; so a block of some warps needs the room of a whole number of warps in each. */
static int64_t by_warps(const gpu *g, const gpu_launch *k)
{
    return k->threads > g->block_threads ? 0 : g->threads / WARP / warps_of(k);
}

static int64_t by_registers(const gpu *g, const gpu_launch *k)
{
    int64_t a_warp = round_up(k->registers * WARP, REGISTER_UNIT);
    if (a_warp == 0) return INT_MAX;
    if (k->registers > MOST_REGISTERS + 1 || a_warp * round_up(warps_of(k), PARTITIONS) > g->registers) return 0;
    return g->registers / PARTITIONS / a_warp * PARTITIONS / warps_of(k);
}

static int64_t by_shared(const gpu *g, const gpu_launch *k)
{
    int64_t a_block = round_up(k->shared + g->reserved, g->major >= 8 ? 128 : 256);
    if (k->shared > g->block_shared || a_block > g->shared) return 0;
    return a_block ? g->shared / a_block : INT_MAX;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

gpu_occupancy gpu_occupy(const gpu *g, const gpu_launch *k)
{
    int64_t warps = by_warps(g, k), registers = by_registers(g, k), shared = by_shared(g, k);
    int64_t blocks = least(least(warps, g->blocks), least(registers, shared));
    double most = g->threads / WARP, each = (double)k->grid / g->sms; /* blocks of the grid for each SM */
    gpu_occupancy o = {.blocks = (int)blocks, .theoretical = (double)(blocks * warps_of(k)) / most, .estimated = NAN};
    o.limits = (warps == blocks ? GPU_WARPS : 0) | (g->blocks == blocks ? GPU_BLOCKS : 0) | (registers == blocks ? GPU_REGISTERS : 0) | (shared == blocks ? GPU_SHARED : 0);
    if (k->grid == 0 || g->sms == 0) return o;
    o.estimated = each < (double)blocks ? each * (double)warps_of(k) / most : o.theoretical;
    if (each < (double)blocks) o.limits = GPU_GRID;
    return o;
}

/* ---- advice -------------------------------------------------------------------------------------------------------------- */

/* The greatest value of *changed, which is a number of k, below the present one by which a limit allows `blocks`, by bisection: fewer never allow less; -1: none. */
static int64_t greatest_below(const gpu *g, const gpu_launch *k, int64_t *changed, int64_t (*limit)(const gpu *, const gpu_launch *), int64_t blocks)
{
    int64_t low = 0, high = *changed; /* low allows it, high does not */
    *changed = 0;
    if (limit(g, k) < blocks) return -1;
    while (high - low > 1) {
        *changed = low + (high - low) / 2;
        if (limit(g, k) >= blocks) low = *changed;
        else high = *changed;
    }
    return low;
}

static int64_t nearest_block(const gpu *g, const gpu_launch *k)
{
    int64_t now = gpu_occupy(g, k).blocks * warps_of(k), best = -1;
    for (int64_t threads = WARP; threads <= g->block_threads; threads += WARP) {
        gpu_launch other = *k;
        other.threads = threads;
        if (gpu_occupy(g, &other).blocks * warps_of(&other) <= now) continue;
        if (best < 0 || llabs(threads - k->threads) < llabs(best - k->threads)) best = threads;
    }
    return best;
}

gpu_hint gpu_advise(const gpu *g, const gpu_launch *launch)
{
    gpu_launch k = *launch, s = *launch;
    int64_t blocks = gpu_occupy(g, launch).blocks + 1;
    gpu_hint hint = {-1, -1, nearest_block(g, launch)};
    /* one more block must not be ruled out by what stays as it is */
    if (least(by_warps(g, launch), g->blocks) < blocks) return hint;
    bool registers = by_registers(g, launch) < blocks, shared = by_shared(g, launch) < blocks;
    if (registers) hint.registers = greatest_below(g, &k, &k.registers, by_registers, blocks);
    if (shared) hint.shared = greatest_below(g, &s, &s.shared, by_shared, blocks);
    if ((registers && hint.registers < 1) || (shared && hint.shared < 0)) hint.registers = hint.shared = -1;
    return hint;
}

const char *gpu_limits_text(int limits, char *text)
{
    static const char *const names[GPU_LIMITS] = {"warps", "blocks", "registers", "shared", "grid"};
    text[0] = '\0';
    for (int k = 0; k < GPU_LIMITS; k++) {
        if (!(limits >> k & 1)) continue;
        if (*text) strcat(text, "+");
        strcat(text, names[k]);
    }
    return text;
}
