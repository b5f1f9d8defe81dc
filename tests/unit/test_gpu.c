/* test_gpu.c: occupancy against blocks handed out one by one, the toolkit's own calculator where it is there, and published values; advice by trying. */
#include "config.h"
#include "hu_test.h"
#include "gpu.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAVE_CALCULATOR 1
#endif
#endif

static const int capability[][2] = {{7, 0}, {7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}};
enum { CAPABILITIES = sizeof capability / sizeof *capability };

/* ---- blocks one by one: each warp's registers come out of the partition with most left, in units; a block that does not fit ends it ---------- */

/* A warp of a block of four partitions goes where there is room. Blocks of an odd number of warps start at any partition. */
static int hand_out(const gpu *g, const gpu_launch *k)
{
    int warps = (int)((k->threads + 31) / 32), blocks = 0, warps_left = g->threads / 32;
    int64_t partition[4], unit = g->major >= 8 ? 128 : 256, shared_left = g->shared;
    int64_t a_warp = (k->registers * 32 + 255) / 256 * 256, a_block = k->shared + g->reserved;
    a_block += a_block % unit ? unit - a_block % unit : 0;
    if (k->threads > g->block_threads || k->shared > g->block_shared) return 0;
    for (int p = 0; p < 4; p++) partition[p] = g->registers / 4;
    while (blocks < g->blocks && warps <= warps_left && a_block <= shared_left) {
        for (int w = 0; w < warps; w++) {
            int most = 0;
            for (int p = 1; p < 4; p++)
                if (partition[p] > partition[most]) most = p;
            if (partition[most] < a_warp) return blocks;
            partition[most] -= a_warp;
        }
        warps_left -= warps;
        shared_left -= a_block;
        blocks++;
    }
    return blocks;
}

START_TEST(blocks_handed_out_one_by_one)
{
    int64_t compared = 0;
    for (int c = 0; c < CAPABILITIES; c++) {
        gpu g;
        ck_assert(gpu_of_capability(capability[c][0], capability[c][1], &g));
        for (int64_t threads = 1; threads <= 1024; threads += threads < 33 ? 8 : 31)
            for (int64_t registers = 0; registers <= 255; registers += 5)
                for (int64_t shared = 0; shared <= g.block_shared; shared += 5000) {
                    gpu_launch k = {threads, registers, shared, 0};
                    int64_t warps = (threads + 31) / 32, a_warp = (registers * 32 + 255) / 256 * 256;
                    if (a_warp * ((warps + 3) / 4 * 4) > g.registers) continue; /* the driver refuses these: the calculator's test has them */
                    if (gpu_occupy(&g, &k).blocks != hand_out(&g, &k)) ck_assert_int_eq(gpu_occupy(&g, &k).blocks, hand_out(&g, &k));
                    compared++;
                }
    }
    ck_assert_int_gt(compared, 100000);
}
END_TEST

#ifdef HAVE_CALCULATOR
START_TEST(the_toolkits_calculator)
{
    int64_t compared = 0, zero = 0;
    for (int c = 0; c < CAPABILITIES; c++) {
        gpu g;
        ck_assert(gpu_of_capability(capability[c][0], capability[c][1], &g));
        struct cudaOccDeviceProp p = {g.major, g.minor, 1024, g.threads, g.registers, g.registers, 32, 49152, (size_t)g.shared, 1, (size_t)g.block_shared, (size_t)g.reserved};
        struct cudaOccDeviceState state = {CACHE_PREFER_NONE, SHAREDMEM_CARVEOUT_DEFAULT};
        for (int threads = 1; threads <= 1056; threads = threads == 1 ? 32 : threads + 32)
            for (int registers = 0; registers <= 256; registers += registers < 250 ? 6 : 1)
                for (int shared = 0; shared <= g.block_shared + 1024; shared += 1000) {
                    struct cudaOccFuncAttributes f = {INT_MAX, registers, 0, PARTITIONED_GC_OFF, FUNC_SHMEM_LIMIT_OPTIN, (size_t)g.block_shared, 1, 0};
                    struct cudaOccResult r;
                    gpu_launch k = {threads, registers, shared, 0};
                    gpu_occupancy o = gpu_occupy(&g, &k);
                    int status = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &state, threads, (size_t)shared);
                    if (status != CUDA_OCC_SUCCESS) ck_assert_int_eq(status, CUDA_OCC_SUCCESS);
                    if (o.blocks != r.activeBlocksPerMultiprocessor)
                        ck_abort_msg("cc %d.%d threads %d registers %d shared %d: %d, not %d", g.major, g.minor, threads, registers, shared, o.blocks,
                                  r.activeBlocksPerMultiprocessor);
                    int limits = (r.limitingFactors & OCC_LIMIT_WARPS ? GPU_WARPS : 0) | (r.limitingFactors & OCC_LIMIT_BLOCKS ? GPU_BLOCKS : 0) |
                                 (r.limitingFactors & OCC_LIMIT_REGISTERS ? GPU_REGISTERS : 0) | (r.limitingFactors & OCC_LIMIT_SHARED_MEMORY ? GPU_SHARED : 0);
                    if (o.limits != limits) ck_assert_int_eq(o.limits, limits);
                    compared++;
                    zero += o.blocks == 0;
                }
    }
    ck_assert_int_gt(compared, 1000000);
    ck_assert_int_gt(zero, 1000);
}
END_TEST
#endif

/* Values that NVIDIA's occupancy calculator shows: (capability, threads, registers, shared) -> blocks. */
START_TEST(known_cases)
{
    static const struct {
        int major, minor, threads, registers, shared, blocks;
        double share;
    } known[] = {
        {7, 0, 256, 32, 0, 8, 1.0},          /* 2048 threads of 32 registers fill V100 */
        {7, 0, 128, 128, 16384, 4, 0.25},    /* scudnn 128x64 */
        {8, 0, 1024, 64, 0, 1, 0.5},         /* registers: 65536 / (64 x 1024) */
        {8, 0, 128, 32, 48 * 1024, 3, 0.1875}, /* 164 KiB / (48 + 1) KiB */
        {8, 6, 32, 16, 0, 16, 1.0 / 3},      /* 16 blocks of one of 48 warps */
        {9, 0, 384, 168, 227 * 1024, 1, 0.1875},
        {7, 5, 1024, 64, 0, 1, 1.0},
        {9, 0, 1024, 65, 0, 0, 0.0},         /* 72 x 1024 registers do not exist */
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        gpu g;
        ck_assert(gpu_of_capability(known[k].major, known[k].minor, &g));
        gpu_launch launch = {known[k].threads, known[k].registers, known[k].shared, 0};
        gpu_occupancy o = gpu_occupy(&g, &launch);
        ck_assert_int_eq(o.blocks, known[k].blocks);
        ck_assert_double_eq_tol(o.theoretical, known[k].share, 1e-12);
        ck_assert(isnan(o.estimated));
    }
}
END_TEST

START_TEST(a_small_grid_does_not_fill)
{
    hu_error err = HU_ERROR_NONE;
    gpu g;
    ck_assert_ok(gpu_find("v100", &g, &err));
    gpu_launch k = {256, 38, 0, 13};
    gpu_occupancy o = gpu_occupy(&g, &k);
    ck_assert_double_eq(o.theoretical, 0.75);
    ck_assert_double_eq_tol(o.estimated, 13.0 / 80 * 256 / 2048, 1e-15);
    ck_assert_int_eq(o.limits, GPU_GRID);
    k.grid = 80 * 6;
    o = gpu_occupy(&g, &k);
    ck_assert_double_eq(o.estimated, 0.75);
    ck_assert_int_eq(o.limits, GPU_REGISTERS);
}
END_TEST

/* What is advised allows more, and one more does not. */
START_TEST(advice_by_trying)
{
    int64_t advised = 0;
    gpu g;
    ck_assert(gpu_of_capability(8, 0, &g));
    for (int64_t threads = 32; threads <= 1024; threads += 96)
        for (int64_t registers = 8; registers <= 255; registers += 13)
            for (int64_t shared = 0; shared <= g.block_shared; shared += 7001) {
                gpu_launch k = {threads, registers, shared, 0};
                int blocks = gpu_occupy(&g, &k).blocks;
                gpu_hint h = gpu_advise(&g, &k);
                gpu_launch both = k, more = k;
                if (h.registers >= 0) both.registers = h.registers;
                if (h.shared >= 0) both.shared = h.shared;
                if (h.registers >= 0 || h.shared >= 0) {
                    ck_assert_int_gt(gpu_occupy(&g, &both).blocks, blocks);
                    more = both;
                    if (h.registers >= 0) more.registers++;
                    else more.shared++;
                    ck_assert_int_eq(gpu_occupy(&g, &more).blocks, blocks);
                    advised++;
                }
                if (h.threads < 0) continue;
                gpu_launch other = k;
                other.threads = h.threads;
                ck_assert_double_gt(gpu_occupy(&g, &other).theoretical, gpu_occupy(&g, &k).theoretical);
                for (other.threads = 32; other.threads <= 1024; other.threads += 32) /* none is nearer */
                    if (llabs(other.threads - threads) < llabs(h.threads - threads) && gpu_occupy(&g, &other).theoretical > gpu_occupy(&g, &k).theoretical)
                        ck_assert_double_le(gpu_occupy(&g, &other).theoretical, gpu_occupy(&g, &k).theoretical);
            }
    ck_assert_int_gt(advised, 500);
}
END_TEST

START_TEST(names_and_numbers)
{
    hu_error err = HU_ERROR_NONE;
    gpu g;
    ck_assert_ok(gpu_find("H200", &g, &err));
    ck_assert_int_eq(g.sms, 132);
    ck_assert_int_eq(g.shared, 228 * 1024);
    ck_assert_ok(gpu_find("cc=8.6,sms=46,shared=65536", &g, &err));
    ck_assert(g.sms == 46 && g.shared == 65536 && g.threads == 1536);
    for (int k = 0; gpu_name(k); k++) ck_assert_ok(gpu_find(gpu_name(k), &g, &err));
    static const char *const wrong[] = {"", "h2000", "cc=6.0", "cc=8", "cc=8.6.1", "a100,", "a100,sms", "a100,sms=0", "a100,sms=1e3", "a100,colour=3", "cc=99999999999999999999.0"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ck_assert_int_eq(gpu_find(wrong[k], &g, &err), HU_USAGE);
        ck_assert_ptr_nonnull(strstr(err.message, "--gpu: '"));
        hu_error_clear(&err);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perf-predict/gpu");
    TCase *c = tcase_create("gpu");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, blocks_handed_out_one_by_one);
#ifdef HAVE_CALCULATOR
    tcase_add_test(c, the_toolkits_calculator);
#else
    puts("skipped: no cuda_occupancy.h to compare with");
#endif
    tcase_add_test(c, known_cases);
    tcase_add_test(c, a_small_grid_does_not_fill);
    tcase_add_test(c, advice_by_trying);
    tcase_add_test(c, names_and_numbers);
    suite_add_tcase(suite, c);
    return hu_test_run(suite);
}
