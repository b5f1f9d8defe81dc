/* compile.c: a generated kernel compiled, loaded and measured (compile.h). */
#include "config.h"
#include "compile.h"
#include "base/folder.h"
#include "base/clock.h"
#include "verify.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SAMPLES = 7, ROOM = 4096 };

double spmm_measure(void (*work)(void *data), void *data)
{
    double samples[SAMPLES], once = INFINITY;
    work(data);
    for (int i = 0; i < 3; i++) {
        const double start = hu_clock_wall();
        work(data);
        once = fmin(once, hu_clock_wall() - start);
    }
    const int batch = once < 1e-3 ? (int)(1e-3 / fmax(once, 1e-7)) + 1 : 1;
    for (int i = 0; i < SAMPLES; i++) {
        const double start = hu_clock_wall();
        for (int k = 0; k < batch; k++) work(data);
        samples[i] = (hu_clock_wall() - start) / batch;
    }
    return hu_clock_median(samples, SAMPLES);
}

/* The file in the folder, as text of the emitter. */
static hu_status write_source(const spmm_matrix *a, const spmm_kernel_choice *choice, int64_t k, const char *path, hu_error *err)
{
    const spmm_emit_options o = {"spmm_weight", "a trial", k, false};
    hu_output *out;
    if (hu_output_open(path, &out, err)) return err->status;
    if (spmm_emit_c(a, choice, &o, out, err)) {
        hu_output_abort(&out);
        return err->status;
    }
    return hu_output_commit(&out, err);
}

static hu_status run_compiler(char *source, char *library, hu_error *err)
{
    const char *cc = getenv("CC");
    char command[256];
    char *words[16], *save;
    int n = 0, status;
    pid_t child;
    snprintf(command, sizeof command, "%s", cc && *cc ? cc : "cc");
    for (char *w = strtok_r(command, " ", &save); w && n < 7; w = strtok_r(NULL, " ", &save)) words[n++] = w;
    if (n == 0) words[n++] = (char[]){"cc"};
    char *const rest[] = {(char[]){"-std=c11"}, (char[]){"-O2"}, (char[]){"-shared"}, (char[]){"-fPIC"}, (char[]){"-o"}, library, source, NULL};
    memcpy(words + n, rest, sizeof rest);
    const int failed = posix_spawnp(&child, words[0], NULL, NULL, words, environ);
    if (failed) return hu_fail(err, HU_SYSTEM, "the C compiler '%s' does not start: %s; set CC, or take --search=rank or proxy without --compile", words[0], strerror(failed));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return hu_fail_errno(err, errno, words[0], "waiting for it");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return hu_fail(err, HU_SYSTEM, "the C compiler '%s' does not start; set CC, or leave --compile out", words[0]);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return hu_fail(err, HU_SYSTEM, "the C compiler '%s' failed on a generated kernel (status %d)", words[0], status);
    return HU_OK;
}

typedef struct {
    void (*run)(const float *b, long ldb, float *c, long ldc);
    const hu_dense *b;
    hu_dense *c;
} loaded;

static void multiply(void *data)
{
    const loaded *l = data;
    l->run(l->b->data, l->b->ld, l->c->data, l->c->ld);
}

static hu_status measure(const spmm_matrix *a, const char *library, const hu_dense *b, hu_dense *c, double *ret_seconds, hu_error *err)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    loaded l = {NULL, b, c};
    if (!handle) return hu_fail(err, HU_SYSTEM, "a compiled kernel cannot be loaded: %s", dlerror());
    void *symbol = dlsym(handle, "spmm_weight");
    memcpy(&l.run, &symbol, sizeof symbol);
    if (!l.run) {
        hu_fail(err, HU_SYSTEM, "a compiled kernel lacks its function");
    } else {
        multiply(&l);
        const double error = spmm_verify(a, b, c, 1, 0, NULL);
        if (!(error <= 1)) hu_fail(err, HU_NO, "a generated kernel is wrong: its error is %g of the bound", error);
        else *ret_seconds = spmm_measure(multiply, &l);
    }
    dlclose(handle);
    return err->status;
}

hu_status spmm_compile_measure(const spmm_matrix *a, const spmm_kernel_choice *choice, const hu_dense *b, hu_dense *c, double *ret_seconds, double *ret_compile_seconds, hu_error *err)
{
    char *folder, source[ROOM + 16], library[ROOM + 16];
    if (hu_folder_temporary(NULL, "spmm-pack", &folder, err)) return err->status;
    snprintf(source, sizeof source, "%s/kernel.c", folder);
    snprintf(library, sizeof library, "%s/kernel.so", folder);
    const double start = hu_clock_wall();
    if (write_source(a, choice, b->cols, source, err) == HU_OK && run_compiler(source, library, err) == HU_OK) {
        *ret_compile_seconds = hu_clock_wall() - start;
        measure(a, library, b, c, ret_seconds, err);
    }
    unlink(source);
    unlink(library);
    rmdir(folder);
    free(folder);
    return err->status;
}
