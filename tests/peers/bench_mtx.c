/* bench_mtx.c: how fast Matrix Market files are read and written. Not a test.
 *
 *     bench_mtx [MEGABYTES]      generates two files in $TMPDIR (17-digit values; short values), reads each by 1 and 2
 * threads in turns, and prints medians as CSV; the rate per second of processor time is that of the 1-thread runs,
 * which other work on the machine disturbs least bench_mtx FILE             reads FILE, plain or compressed
 */
#include "config.h"
#include "base/clock.h"
#include "base/output.h"
#include "base/parallel.h"
#include "base/random.h"
#include "io/mtx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURNS = 7 };

typedef struct {
    double wall, cpu;
} times;

static times now(void)
{
    return (times){hu_clock_wall(), hu_clock_cpu()};
}

static times since(times start)
{
    return (times){hu_clock_wall() - start.wall, hu_clock_cpu() - start.cpu};
}

static hu_status read_once(const char *path, int threads, times *ret_times, hu_csr **ret_csr, hu_error *err)
{
    hu_mtx_options options = HU_MTX_DEFAULTS;
    hu_source *source = NULL;
    hu_threads_set(threads);
    times start = now();
    if (hu_source_open(path, ".mtx", &source, err)) return err->status;
    hu_mtx_read_csr(source, &options, ret_csr, NULL, err);
    hu_source_close(source);
    *ret_times = since(start);
    return err->status;
}

static hu_status write_once(const char *path, const hu_csr *csr, int threads, times *ret_times, hu_error *err)
{
    hu_output *out = NULL;
    hu_threads_set(threads);
    times start = now();
    if (hu_output_open(path, &out, err)) return err->status;
    if (hu_mtx_write_csr(out, csr, NULL, err)) hu_output_abort(&out);
    else hu_output_commit(&out, err);
    *ret_times = since(start);
    return err->status;
}

static void print_row(const char *what, const char *name, double mb, int64_t entries, times run[2][TURNS])
{
    double wall[2][TURNS], cpu[TURNS];
    for (int i = 0; i < TURNS; i++) {
        wall[0][i] = run[0][i].wall;
        wall[1][i] = run[1][i].wall;
        cpu[i] = run[0][i].cpu;
    }
    double one = hu_clock_median(wall[0], TURNS), two = hu_clock_median(wall[1], TURNS);
    printf("%s,%s,%.1f,%lld,%.0f,%.0f,%.0f,%.2f\n", what, name, mb, (long long)entries,
           mb / hu_clock_median(cpu, TURNS), mb / one, mb / two, one / two);
}

static hu_status measure(const char *name, const char *path, bool write_too, hu_error *err)
{
    struct stat st;
    times reading[2][TURNS], writing[2][TURNS];
    if (stat(path, &st) != 0) return hu_fail(err, HU_SYSTEM, "%s: no such file", path);
    int64_t entries = 0, rows = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int t = 0; t < 2; t++) {
            hu_csr *csr = NULL;
            if (read_once(path, t + 1, &reading[t][turn], &csr, err)) return err->status;
            entries = csr->nnz;
            rows = csr->rows;
            hu_status status = write_too ? write_once("/dev/null", csr, t + 1, &writing[t][turn], err) : HU_OK;
            hu_csr_free(csr);
            if (status) return status;
        }
    }
    double mb = 1e-6 * (double)st.st_size;
    print_row("read", name, mb, entries, reading);
    if (write_too) print_row("write", name, mb, entries, writing);
    printf("# peak %.0f MB, CSR %.0f MB\n", 1e-6 * (double)hu_clock_peak_bytes(),
           1e-6 * (12.0 * (double)entries + 8.0 * (double)(rows + 1)));
    fflush(stdout);
    return HU_OK;
}

/* A matrix with 7 entries a row, row by row, of about `mb` megabytes as text. */
static hu_status generate(const char *path, double mb, bool long_values, hu_error *err)
{
    int64_t rows = (int64_t)(mb * 1e6 / (long_values ? 250 : 115)), each = 7;
    hu_csr *csr = NULL;
    if (hu_csr_new(rows, rows, rows * each, false, &csr, err)) return err->status;
    hu_random r = hu_random_stream(1, 0);
    csr->row_ptr[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t first = i < 3 ? 0 : i > rows - 4 ? rows - 7 : i - 3;
        for (int64_t k = 0; k < each; k++) {
            csr->col[i * each + k] = (int32_t)(first + k);
            csr->val[i * each + k] = long_values ? hu_random_normal(&r) : (double)(hu_random_below(&r, 19) - 9);
        }
        csr->row_ptr[i + 1] = (i + 1) * each;
    }
    times ignored;
    write_once(path, csr, 0, &ignored, err);
    hu_csr_free(csr);
    return err->status;
}

int main(int argc, char **argv)
{
    hu_error err = HU_ERROR_NONE;
    double mb = argc > 1 ? atof(argv[1]) : 100;
    printf("# threads 1 and 2, medians of %d, %d processors\nwhat,case,MB,entries,MB per cpu s,MB/s 1 thread,MB/s 2 "
           "threads,ratio\n",
           TURNS, hu_processors());
    if (argc > 1 && access(argv[1], R_OK) == 0) {
        measure(argv[1], argv[1], false, &err);
        return hu_exit(&err, NULL);
    }
    const char *folder = getenv("TMPDIR");
    char path[512];
    for (int long_values = 1; long_values >= 0 && !err.status; long_values--) {
        snprintf(path, sizeof path, "%s/hu_bench_mtx_%d.mtx", folder ? folder : "/tmp", (int)getpid());
        if (!generate(path, mb, long_values, &err)) measure(long_values ? "17 digits" : "short", path, true, &err);
        unlink(path);
    }
    return hu_exit(&err, NULL);
}
