/* cpu.c: what the processor can do, and what its limits are as measured.
 *
 * Sections: the instruction level of the hot loops, caches, measured limits.
 */
#include "config.h"
#include "device/cpu.h"
#include "base/clock.h"
#include "device/cpu_kernel.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the instruction level -------------------------------------------------------------------------------------- */

static const char *const level_names[HU_CPU_LEVELS] = {"base", "v3", "v4"};

const char *hu_cpu_level_name(hu_cpu_level level)
{
    return level_names[level];
}

bool hu_cpu_has(hu_cpu_level level)
{
#ifdef HU_X86
    switch (level) {
    case HU_CPU_BASE: return true;
    /* Feature by feature, since clang 14 does not know the levels' names; what is left out comes with these on every processor. */
    case HU_CPU_V3:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2");
    case HU_CPU_V4:
        return hu_cpu_has(HU_CPU_V3) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    default: return false;
    }
#else
    return level == HU_CPU_BASE;
#endif
}

static hu_cpu_level best_level(void)
{
    for (int level = HU_CPU_LEVELS - 1; level > HU_CPU_BASE; level--)
        if (hu_cpu_has((hu_cpu_level)level)) return (hu_cpu_level)level;
    return HU_CPU_BASE;
}

static hu_cpu_level choose_level(void)
{
    const char *forced = getenv("HPCUTILS_CPU");
    if (!forced || !*forced) return best_level();
    for (int level = 0; level < HU_CPU_LEVELS; level++) {
        if (strcmp(forced, level_names[level]) != 0) continue;
        if (hu_cpu_has((hu_cpu_level)level)) return (hu_cpu_level)level;
        hu_warn("HPCUTILS_CPU=%s: this processor does not have it; taking %s", forced, level_names[best_level()]);
        return best_level();
    }
    hu_warn("HPCUTILS_CPU=%s: base, v3 or v4 is wanted; taking %s", forced, level_names[best_level()]);
    return best_level();
}

hu_cpu_level hu_cpu(void)
{
    static _Atomic int chosen = -1;
    int level = chosen;
    if (level < 0) chosen = level = (int)choose_level();
    return (hu_cpu_level)level;
}

/* ---- the model and its caches ----------------------------------------------------------------------------------- */

const char *hu_cpu_model(void)
{
    static char model[128] = "";
    if (model[0]) return model;
    char line[256], found[128] = "unknown";
    FILE *info = fopen("/proc/cpuinfo", "re");
    while (info && fgets(line, sizeof line, info))
        if (sscanf(line, "model name : %127[^\n]", found) == 1) break;
    if (info) fclose(info);
    memcpy(model, found, sizeof model);
    return model;
}

static bool read_word(int index, const char *what, char *word, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool good = fgets(word, (int)size, file) != NULL;
    fclose(file);
    if (good) word[strcspn(word, "\n")] = '\0';
    return good;
}

int64_t hu_cpu_cache_bytes(int level)
{
    char word[64];
    for (int index = 0; index < 8; index++) {
        if (!read_word(index, "level", word, sizeof word)) return 0;
        if (atoi(word) != level) continue;
        if (!read_word(index, "type", word, sizeof word) || strcmp(word, "Instruction") == 0) continue;
        if (!read_word(index, "size", word, sizeof word)) return 0;
        char *end;
        int64_t bytes = strtoll(word, &end, 10);
        return *end == 'K' ? bytes << 10 : *end == 'M' ? bytes << 20 : *end == 'G' ? bytes << 30 : bytes;
    }
    return 0;
}

/* ---- measured limits -------------------------------------------------------------------------------------------- */

enum { PASSES = 4, LEAST_BYTES = 256 << 20 };
static const double LEAST_SECONDS = 0.2;

hu_status hu_cpu_read_bandwidth(double *ret_bytes_per_second, hu_error *err)
{
    const int threads = hu_threads();
    const int64_t wanted = 4 * hu_cpu_cache_bytes(3) > LEAST_BYTES ? 4 * hu_cpu_cache_bytes(3) : LEAST_BYTES;
    const int64_t each = (wanted / threads / HU_PROBE_UNIT + 1) * HU_PROBE_UNIT; /* bytes a thread */
    void *block;
    *ret_bytes_per_second = 0;
    if (hu_alloc(threads, (size_t)each, "the bandwidth probe", &block, err)) return err->status;
    char *const a = block;
    double best = 0, spent = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) memset(a + each * t, 0, (size_t)each);
    for (int pass = 0; pass < PASSES || spent < LEAST_SECONDS; pass++) {
        double start = hu_clock_wall(), sum = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(+ : sum)
        for (int t = 0; t < threads; t++) sum += HU_PICK(hu_probe_read)((double *)(void *)(a + each * t), each);
        const double seconds = hu_clock_wall() - start;
        if (sum != 0) break; /* never: the sum is what keeps the reads */
        spent += seconds;
        if ((double)(each * threads) / seconds > best) best = (double)(each * threads) / seconds;
    }
    hu_free(block);
    *ret_bytes_per_second = best;
    return HU_OK;
}

double hu_cpu_fma_peak(void)
{
    enum { STEPS = 1 << 20 };
    const int threads = hu_threads();
    double best = 0, spent = 0;
    for (int pass = 0; pass < PASSES || spent < LEAST_SECONDS; pass++) {
        double start = hu_clock_wall(), operations = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(+ : operations)
        for (int t = 0; t < threads; t++) operations += HU_PICK(hu_probe_fma)(STEPS);
        const double seconds = hu_clock_wall() - start;
        spent += seconds;
        if (operations / seconds > best) best = operations / seconds;
    }
    return best;
}
