/* probe_run.c: one run of a probed program.
 *
 * Sections: the folder, where the cut is, the run.
 */
#include "config.h"
#include "probe_run.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/number.h"
#include "child.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the folder -------------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

/* The user's, which must be new or empty, or one of ours; its whole path, because the program may change folders. */
static hu_status make_folder(const char *wanted, char *path, hu_error *err)
{
    char *own = NULL;
    if (wanted) {
        if (mkdir(wanted, 0777) && (errno != EEXIST || rmdir(wanted) || mkdir(wanted, 0777))) return hu_fail_errno(err, errno, wanted, "make the folder (it must be new or empty)");
    } else if (hu_folder_temporary(NULL, "hpcutils-probe", &own, err)) {
        return err->status;
    }
    if (!realpath(own ? own : wanted, path)) hu_fail_errno(err, errno, own ? own : wanted, "find the folder");
    free(own);
    return err->status;
}

/* ---- where the cut is -------------------------------------------------------------------------------------------------------------- */

enum { MOST_RANGES = 60, MOST_TEXT = 1 << 30 };

/* Whether a file is a program that probe cc linked: an ELF file that names the section. */
static bool is_probed(const char *path)
{
    static const char section[] = "hu_probe_info";
    struct stat info;
    bool found = false;
    FILE *f = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    char *text = f && info.st_size > 4 && info.st_size < MOST_TEXT ? malloc((size_t)info.st_size) : NULL;
    if (text && fread(text, 1, (size_t)info.st_size, f) == (size_t)info.st_size)
        found = memcmp(text, "\177ELF", 4) == 0 && memmem(text, (size_t)info.st_size, section, sizeof section - 1);
    free(text);
    if (f) fclose(f);
    return found;
}

/* A file of that name, or one on the PATH. */
static bool find_program(const char *word, char *path)
{
    if (strlen(word) < PATH_MAX && is_probed(strcpy(path, word))) return true;
    const char *list = strchr(word, '/') ? NULL : getenv("PATH");
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ":");
        if (n + strlen(word) + 2 < PATH_MAX && sprintf(path, "%.*s/%s", (int)n, p, word) > 0 && access(path, X_OK) == 0) return is_probed(path);
        p += n + (p[n] == ':');
    }
    return false;
}

/* Adds to *to the ranges of addresses of a line, from one row of objdump's table of lines to the next. The rows: "NAME LINE 0xADDRESS ...". */
static int list_ranges(char *table, const char *file, int64_t line, char *to, size_t room)
{
    int count = 0;
    bool is_open = false;
    uint64_t low = 0;
    for (char *row = table, *end; row && *row; row = end ? end + 1 : NULL) {
        if ((end = strchr(row, '\n'))) *end = '\0';
        char *address = strstr(row, " 0x");
        if (!address) continue;
        uint64_t at = strtoull(address + 3, NULL, 16);
        if (is_open && at > low && count < MOST_RANGES) {
            size_t used = strlen(to);
            count += snprintf(to + used, room - used, "%c%llx-%llx", count ? ',' : ':', (unsigned long long)low, (unsigned long long)at) > 0;
            is_open = false;
        }
        char *stop = address;
        while (stop > row && stop[-1] == ' ') stop--;
        char *number = stop;
        while (number > row && number[-1] >= '0' && number[-1] <= '9') number--;
        char *name_end = number;
        while (name_end > row && name_end[-1] == ' ') name_end--;
        *name_end = '\0';
        const char *slash = strrchr(row, '/'), *name = slash ? slash + 1 : row;
        bool is_line = number < stop && atoll(number) == line && strcmp(name, file) == 0;
        if (is_line && !is_open) low = at;
        is_open = is_line;
    }
    return count;
}

/* "FILE:LINE:N" or "FILE:LINE:X%" as the runtime wants it. */
static hu_status find_line(const char *cut, const char *program, char *const *command, char *to, size_t room, hu_error *err)
{
    char file[256], path[PATH_MAX], *table;
    int64_t line, size;
    const char *last = strrchr(cut, ':'), *first = strchr(cut, ':');
    double n;
    const char *end = hu_number_parse(last + 1, cut + strlen(cut), &n);
    bool is_share = end && strcmp(end, "%") == 0;
    if (first == last || (size_t)(first - cut) >= sizeof file || !end || (*end && !is_share) || !(n > 0) || (is_share ? n >= 100 : n < 1) || !(line = atoll(first + 1)))
        return hu_fail(err, HU_USAGE, "--cut=%s: expected time:SECONDS, MPI_NAME:N, FILE:LINE:N or FILE:LINE:X%%", cut);
    snprintf(file, sizeof file, "%.*s", (int)(first - cut), cut);
    bool found = program ? find_program(program, path) : false;
    for (int k = 0; !program && command[k] && !found; k++) found = find_program(command[k], path);
    if (!found) return hu_fail(err, HU_USAGE, "--cut=%s: there is no program in the command that probe cc linked (--program names it)", cut);
    const char *const argv[] = {"objdump", "-w", "--dwarf=decodedline", path, NULL};
    if (child_output(argv, MOST_TEXT, "Debian: binutils", &table, &size, err)) return err->status;
    snprintf(to, room, "pc:%s", last + 1);
    if (list_ranges(table, file, line, to, room) == 0) hu_fail(err, HU_USAGE, "--cut=%s: %s knows no such line: compile %s with probe cc --values", cut, path, file);
    free(table);
    return err->status;
}

/* What HU_PROBE_CUT is to be. */
static hu_status read_cut(const char *cut, const char *program, char *const *command, char *to, size_t room, hu_error *err)
{
    double n;
    const char *colon = strrchr(cut, ':'), *end = colon ? hu_number_parse(colon + 1, cut + strlen(cut), &n) : NULL;
    bool is_time = strncmp(cut, "time:", 5) == 0, is_call = strncmp(cut, "MPI_", 4) == 0;
    if (!colon || ((is_time || is_call) && (!end || *end || !(n > 0) || n > 1e15)) || (is_call && (n < 1 || strlen(cut) > 80)))
        return hu_fail(err, HU_USAGE, "--cut=%s: expected time:SECONDS, MPI_NAME:N, FILE:LINE:N or FILE:LINE:X%%", cut);
    if (!is_time && !is_call) return find_line(cut, program, command, to, room, err);
    snprintf(to, room, "%s%s", is_call ? "call:" : "", cut);
    return HU_OK;
}

/* ---- the run ------------------------------------------------------------------------------------------------------------------------- */

static hu_status set_status(probed_run *run, const child_end *end, hu_error *err)
{
    int state = end->state, n = end->is_late ? asprintf(&run->status, "late") : WIFSIGNALED(state) ? asprintf(&run->status, "signal %d", WTERMSIG(state)) :
            WEXITSTATUS(state) ? asprintf(&run->status, "exit %d", WEXITSTATUS(state)) : asprintf(&run->status, "ok");
    if (n >= 0) return HU_OK;
    run->status = NULL;
    return hu_fail(err, HU_SYSTEM, "out of memory");
}

/* The run, and before it the small one, with what they need in their environment. */
static hu_status run_command(const probe_run_options *o, char *const *command, const char *folder, probed_run *run, hu_error *err)
{
    char cut[8192] = "", shell[] = "sh", flag[] = "-c", *small = NULL;
    child_end end;
    if (o->cut && read_cut(o->cut, o->program, command, cut, sizeof cut, err)) return err->status;
    const char *const probing[] = {"HU_PROBE_DIR", folder, "HU_PROBE_CUT", o->cut ? cut : NULL, NULL}, *const plain[] = {"HU_PROBE_DIR", NULL, "HU_PROBE_CUT", NULL, NULL};
    if (o->small) {
        if (!(small = strdup(o->small))) return hu_fail(err, HU_SYSTEM, "out of memory");
        char *const argv[] = {shell, flag, small, NULL};
        child_run(argv, probing, o->limit, &end, err);
        free(small);
        if (err->status) return err->status;
        if (end.state != 0) hu_warn("--small: the command failed (%s %d)", WIFEXITED(end.state) ? "exit status" : "signal", WIFEXITED(end.state) ? WEXITSTATUS(end.state) : WTERMSIG(end.state));
    }
    if (child_run(command, o->small ? plain : probing, o->limit, &end, err)) return err->status;
    run->seconds = end.seconds;
    run->cpu = end.cpu;
    return set_status(run, &end, err);
}

static void say_counted(const probe_run_options *o, const probed_run *row)
{
    if (row->ranks == 0) hu_warn("nothing was counted: no program of the run was linked by probe cc, or it was killed before it began");
    else if (row->counted < row->ranks)
        hu_warn("%lld of %lld processes left no counters (%s): the row has none", (long long)(row->ranks - row->counted), (long long)row->ranks,
                o->cut ? "they ended before the cut" : "they were killed, or left by _exit()");
}

hu_status probe_run(const probe_run_options *o, char *const *command, hu_output *out, hu_error *err)
{
    char folder[PATH_MAX] = "";
    char end[] = "end", small[] = "small";
    probed_run run = {.set = o->set, .sets = o->sets, .mode = o->cut || o->small ? PROBED_EARLY : PROBED_POST}, row = {0};
    if (make_folder(o->folder, folder, err)) return err->status;
    if (run_command(o, command, folder, &run, err)) goto cleanup;
    run.cut = o->small ? small : o->cut ? (char *)(uintptr_t)o->cut : end;
    if (probed_write(folder, &run, command, err) || probed_settle(folder, err) || probed_read(folder, o->gcov, &row, err)) goto cleanup;
    say_counted(o, &row);
    probed_write_table(&row, 1, &(probed_table_options){0}, out, err);
cleanup:
    if (!o->folder && folder[0]) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(run.status);
    probed_free(&row);
    return err->status;
}
