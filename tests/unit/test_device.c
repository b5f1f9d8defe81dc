/* test_device.c: the processor's level, caches and limits, and the choice of a device. */
#include "config.h"
#include "hu_test.h"
#include "base/parallel.h"
#include "device/cpu.h"
#include "device/cpu_kernel.h"
#include "device/device.h"

#include <stdio.h>
#include <string.h>

/* What /proc/cpuinfo says, which the instruction cpuid does not. */
static bool kernel_says(const char *flag)
{
    char line[8192], word[64];
    bool found = false;
    FILE *info = fopen("/proc/cpuinfo", "r");
    if (!info) return false;
    snprintf(word, sizeof word, " %s ", flag);
    while (!found && fgets(line, sizeof line, info)) {
        if (strncmp(line, "flags", 5) != 0) continue;
        line[strcspn(line, "\n")] = ' ';
        found = strstr(line, word) != NULL;
    }
    fclose(info);
    return found;
}

START_TEST(levels)
{
    ck_assert(hu_cpu_has(HU_CPU_BASE));
    ck_assert_str_eq(hu_cpu_level_name(HU_CPU_V4), "v4");
#ifdef HU_X86
    ck_assert_int_eq(hu_cpu_has(HU_CPU_V3), kernel_says("avx2") && kernel_says("fma") && kernel_says("bmi2") && kernel_says("movbe"));
    ck_assert_int_eq(hu_cpu_has(HU_CPU_V4), hu_cpu_has(HU_CPU_V3) && kernel_says("avx512f") && kernel_says("avx512vl") &&
                                                kernel_says("avx512bw") && kernel_says("avx512dq") && kernel_says("avx512cd"));
#endif
    unsetenv("HPCUTILS_CPU");
    hu_cpu_level best = hu_cpu();
    ck_assert(hu_cpu_has(best));
    ck_assert(best + 1 == HU_CPU_LEVELS || !hu_cpu_has((hu_cpu_level)(best + 1)));
}
END_TEST

START_TEST(level_by_force)
{
    setenv("HPCUTILS_CPU", "base", 1);
    ck_assert_int_eq(hu_cpu(), HU_CPU_BASE);
    setenv("HPCUTILS_CPU", "v3", 1); /* chosen once */
    ck_assert_int_eq(hu_cpu(), HU_CPU_BASE);
}
END_TEST

START_TEST(level_by_an_unknown_word)
{
    setenv("HPCUTILS_CPU", "v9", 1);
    hu_set_verbosity(-1);
    hu_cpu_level level = hu_cpu();
    ck_assert(hu_cpu_has(level));
    ck_assert(level + 1 == HU_CPU_LEVELS || !hu_cpu_has((hu_cpu_level)(level + 1)));
}
END_TEST

START_TEST(caches)
{
    ck_assert(strlen(hu_cpu_model()) > 0);
    for (int level = 1; level <= 4; level++) {
        int64_t bytes = hu_cpu_cache_bytes(level);
        ck_assert(bytes >= 0 && bytes < (int64_t)1 << 40);
        if (level == 1 && bytes) ck_assert(bytes >= 4096 && bytes <= 1 << 20);
    }
    ck_assert_int_eq(hu_cpu_cache_bytes(9), 0);
}
END_TEST

/* Only what no machine can miss: the figures are plausible, and the probe reads every byte. */
START_TEST(limits)
{
    hu_error err = HU_ERROR_NONE;
    double bytes = 0, flops;
    ck_assert_ok(hu_cpu_read_bandwidth(&bytes, &err));
    flops = hu_cpu_fma_peak();
    ck_assert(bytes > 1e7 && bytes < 1e14);
    ck_assert(flops > 1e7 && flops < 1e16);
    const int64_t count = 3 * HU_PROBE_UNIT / (int64_t)sizeof(double);
    void *block = NULL;
    ck_assert_int_eq(posix_memalign(&block, 64, 3 * HU_PROBE_UNIT), 0);
    for (int64_t k = 0; k < count; k++) ((double *)block)[k] = (double)k;
    ck_assert(HU_PICK(hu_probe_read)(block, 3 * HU_PROBE_UNIT) == (double)(count * (count - 1) / 2));
    free(block);
}
END_TEST

static void check_pick(const char *wanted, bool has_kernel, hu_status expected)
{
    hu_error err = HU_ERROR_NONE;
    hu_gpu *gpu;
    hu_status status = hu_device_pick(wanted, has_kernel, &gpu, &err);
    if (gpu && status == HU_OK) { /* this machine has one */
        ck_assert(has_kernel && strcmp(wanted, "cpu") != 0 && hu_gpu_describe(gpu)->processors > 0);
        hu_gpu_close(gpu);
        return;
    }
    ck_assert_int_eq(status, expected);
    if (expected == HU_USAGE) ck_assert_ptr_nonnull(strstr(err.message, wanted));
    if (expected == HU_DEVICE) ck_assert_ptr_nonnull(strstr(err.message, "--device=cpu"));
}

START_TEST(picking)
{
    check_pick("auto", false, HU_OK);
    check_pick("auto", true, HU_OK);
    check_pick("cpu", true, HU_OK);
    check_pick("cuda", true, HU_DEVICE);
    check_pick("cuda:1", true, HU_DEVICE);
    check_pick("cuda", false, HU_DEVICE);
    check_pick("cuda:", true, HU_USAGE);
    check_pick("cuda:-1", true, HU_USAGE);
    check_pick("cuda:1x", true, HU_USAGE);
    check_pick("cuda:99999999999", true, HU_USAGE);
    check_pick("gpu", true, HU_USAGE);
    check_pick("", true, HU_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device");
    TCase *c = tcase_create("device");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, levels);
    tcase_add_test(c, level_by_force);
    tcase_add_test(c, level_by_an_unknown_word);
    tcase_add_test(c, caches);
    tcase_add_test(c, limits);
    tcase_add_test(c, picking);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
