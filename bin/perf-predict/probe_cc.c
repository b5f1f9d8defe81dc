/* probe_cc.c: a call of a compiler, with what probing needs.
 *
 * The runtime is compiled for each link, with the program's own compiler and MPI, so that it fits its gcov and its mpi.h whatever they are.
 *
 * Sections: what a call does, the runtime, the call.
 */
#include "config.h"
#include "probe_cc.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/option.h"
#include "child.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what a call does ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    bool compiles, links, is_shared, has_threads, has_debug, has_mpi;
    int valued, sources; /* sources that --values names, and all */
} call;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == '\0' || p[n] == ',')) return true;
    return false;
}

/* Flags whose value is the next word. */
static bool takes_value(const char *word)
{
    static const char *const flags[] = {"-o", "-x", "-I", "-L", "-D", "-U", "-T", "-u", "-z", "-e", "-A", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
                                        "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-aux-info", "-dumpbase", "-dumpdir", "--param", "-wrapper"};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (strcmp(word, flags[k]) == 0) return true;
    return false;
}

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(word, list[k]) == 0) return true;
    return false;
}

static bool is_source(const char *word)
{
    static const char *const suffixes[] = {".c", ".i", ".cc", ".cpp", ".cxx", ".C", ".ii"};
    const char *dot = strrchr(base_name(word), '.');
    return strcmp(word, "-") == 0 || (dot && is_one_of(dot, suffixes, sizeof suffixes / sizeof *suffixes));
}

static call look_at(const probe_cc_options *o, char *const *command)
{
    static const char *const stops[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"}, *const looks[] = {"-E", "-M", "-MM", "-fsyntax-only"};
    static const char *const threads[] = {"-fopenmp", "-pthread"}, *const mpi[] = {"-lmpi", "-lmpich"};
    call c = {.has_mpi = o->has_mpi || strstr(base_name(command[0]), "mpi") != NULL};
    bool stops_early = false, only_looks = false, has_input = false;
    for (int k = 1; command[k]; k++) {
        const char *word = command[k];
        stops_early |= is_one_of(word, stops, sizeof stops / sizeof *stops);
        only_looks |= is_one_of(word, looks, sizeof looks / sizeof *looks);
        c.is_shared |= strcmp(word, "-shared") == 0;
        c.has_threads |= is_one_of(word, threads, 2);
        c.has_mpi |= is_one_of(word, mpi, 2);
        c.has_debug |= word[0] == '-' && word[1] == 'g' && strcmp(word, "-g0") != 0;
        if (takes_value(word)) {
            if (command[k + 1]) k++;
            continue;
        }
        if (word[0] == '-' && word[1] != '\0') continue;
        has_input = true;
        if (!is_source(word)) continue;
        c.sources++;
        c.valued += o->is_valued && (!o->files || is_listed(o->files, base_name(word)));
    }
    c.compiles = c.sources > 0 && !only_looks;
    c.links = has_input && !stops_early;
    return c;
}

/* ---- the runtime ------------------------------------------------------------------------------------------------------------------ */

/* The folder of the runtime's sources: beside the program where it was built, or where it is installed. */
static hu_status find_sources(char *folder, hu_error *err)
{
    char exe[PATH_MAX / 2], file[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash) *slash = '\0';
    const char *const place[][2] = {{exe, "/probe"}, {exe, "/../share/hpcutils/probe"}, {PROBE_FOLDER, ""}};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) {
        snprintf(folder, PATH_MAX, "%s%s", place[k][0], place[k][1]);
        if (snprintf(file, sizeof file, "%s/runtime.c", folder) < (int)sizeof file && access(file, R_OK) == 0) return HU_OK;
    }
    return hu_fail(err, HU_SYSTEM, "the sources of the probe's runtime are not there: expected in %s", PROBE_FOLDER);
}

/* Words of a command line, ended by NULL; the texts are borrowed. */
typedef struct {
    char **word;
    int64_t count, room;
} words;

static hu_status add(words *w, const char *word, hu_error *err)
{
    if (hu_grow((void **)&w->word, &w->room, w->count + 2, sizeof *w->word, "a command line", err)) return err->status;
    w->word[w->count++] = (char *)(uintptr_t)word;
    w->word[w->count] = NULL;
    return HU_OK;
}

static hu_status compile_part(char *const *command, const char *sources, const char *name, const char *object, hu_error *err)
{
    char path[PATH_MAX + 16];
    words w = {0};
    int state;
    snprintf(path, sizeof path, "%s/%s", sources, name);
    add(&w, command[0], err);
    for (int k = 1; command[k]; k++) /* the machine that the program is for */
        if (strncmp(command[k], "-m", 2) == 0 || strncmp(command[k], "--sysroot", 9) == 0) add(&w, command[k], err);
    const char *const rest[] = {"-O2", "-g0", "-std=gnu11", "-fPIE", "-w", "-c", path, "-o", object};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) add(&w, rest[k], err);
    if (!err->status && child_call(w.word, &state, err) == HU_OK && state != 0)
        hu_fail(err, HU_USAGE, "%s does not compile the probe's runtime: probing needs gcc 12 or newer, for C%s", command[0], strcmp(name, "mpi.c") == 0 ? ", and an MPI of version 3 or newer" : "");
    hu_free(w.word);
    return err->status;
}

/* ---- the call ---------------------------------------------------------------------------------------------------------------------- */

static hu_status add_flags(const call *c, words *w, hu_error *err)
{
    add(w, "--coverage", err);
    add(w, "-fprofile-info-section=hu_probe_info", err);
    if (c->has_threads) add(w, "-fprofile-update=atomic", err);
    if (c->valued) { /* gcc takes the callbacks for functions that read no variable of the source: counters must not wait in registers for the end of a loop */
        add(w, "-fsanitize-coverage=trace-cmp", err);
        add(w, "-fno-move-loop-stores", err);
    }
    if (c->valued && !c->has_debug) add(w, "-g1", err);
    return err->status;
}

static hu_status check(const probe_cc_options *o, const call *c, hu_error *err)
{
    if (c->links && c->is_shared) return hu_fail(err, HU_USAGE, "-shared: libraries are not probed; compile them without probe cc, or link them in as objects");
    if (c->valued && c->valued < c->sources) return hu_fail(err, HU_USAGE, "--values=%s names some of the sources of one call: compile those by a call of their own", o->files);
    return HU_OK;
}

hu_status probe_cc(const probe_cc_options *o, char *const *command, int *ret_code, hu_error *err)
{
    char sources[PATH_MAX], *folder = NULL, part[2][PATH_MAX + 16];
    call c = look_at(o, command);
    words w = {0};
    int state = 0;
    if (check(o, &c, err)) return err->status;
    for (int k = 0; command[k]; k++)
        if (add(&w, command[k], err)) goto cleanup;
    if (c.compiles && add_flags(&c, &w, err)) goto cleanup;
    if (c.links) {
        if (find_sources(sources, err)) goto cleanup;
        if (hu_folder_temporary(NULL, "hpcutils-probe", &folder, err)) goto cleanup;
        snprintf(part[0], sizeof part[0], "%s/runtime.o", folder);
        snprintf(part[1], sizeof part[1], "%s/mpi.o", folder);
        if (compile_part(command, sources, "runtime.c", part[0], err) || add(&w, part[0], err)) goto cleanup;
        if (c.has_mpi && (compile_part(command, sources, "mpi.c", part[1], err) || add(&w, part[1], err))) goto cleanup;
        if (add(&w, "-lgcov", err)) goto cleanup;
    }
    if (child_call(w.word, &state, err) == HU_OK) *ret_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
cleanup:
    if (folder) {
        unlink(part[0]);
        unlink(part[1]);
        rmdir(folder);
    }
    free(folder);
    hu_free(w.word);
    return err->status;
}
