/* record.c: trace-compress record and env: a program runs with the recorder loaded; what it left becomes a trace. */
#include "config.h"
#include "base/option.h"
#include "base/output.h"
#include "commands.h"
#include "convert.h"
#include "library.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const char *folder, *most;
    bool off_start, keep, shell;
    char **command;
    int words;
} options;

enum { KEY_DIR = 0x100, KEY_MOST, KEY_OFF_START, KEY_KEEP, KEY_SHELL };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_DIR: o->folder = arg; return 0;
    case KEY_MOST:
        hu_option_integer(state, "--max-bytes", arg, 1, INT64_MAX / 2);
        o->most = arg;
        return 0;
    case KEY_OFF_START: o->off_start = true; return 0;
    case KEY_KEEP: o->keep = true; return 0;
    case KEY_SHELL: o->shell = true; return 0;
    case ARGP_KEY_ARGS:
        o->command = state->argv + state->next;
        o->words = state->argc - state->next;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the run ------------------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t child;

static void pass_on(int signal)
{
    if (child > 0) kill((pid_t)child, signal);
}

static void set_environment(const options *o, const char *preload)
{
    setenv("LD_PRELOAD", preload, 1);
    setenv("MPITRACE_DIR", o->folder, 1);
    if (o->most) setenv("MPITRACE_MAX_BYTES", o->most, 1);
    if (o->off_start) setenv("MPITRACE_START", "off", 1);
}

/* Runs the command; its exit code as a shell has it. Where the trace goes to standard output, the program's own goes to standard error. */
static hu_status run_program(const options *o, const char *preload, bool to_error, int *ret_code, hu_error *err)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    int state = 0;
    pid_t pid = fork();
    if (pid < 0) return hu_fail_errno(err, errno, o->command[0], "start");
    if (pid == 0) {
        if (to_error) dup2(STDERR_FILENO, STDOUT_FILENO);
        set_environment(o, preload);
        execvp(o->command[0], o->command);
        fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, o->command[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    child = pid;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], pass_on);
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) return hu_fail_errno(err, errno, o->command[0], "wait for");
    child = 0;
    *ret_code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    return HU_OK;
}

static hu_status make_trace(const options *o, hu_output *out, hu_error *err)
{
    spool s;
    char *folder = (char *)(uintptr_t)o->folder;
    if (spool_open(&folder, 1, &s, err)) return err->status;
    convert_spool(&s, out, err);
    if (!err->status && !o->keep) spool_remove(&s, o->folder);
    spool_close(&s);
    return err->status;
}

int command_record(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"dir", KEY_DIR, "FOLDER", 0, "keep the spool of the run in FOLDER (default: a new one under SLURM_TMPDIR, TMPDIR or /tmp)", 1},
        {"max-bytes", KEY_MOST, "N", 0, "stop recording when a thread has written N bytes", 1},
        {"off-start", KEY_OFF_START, NULL, 0, "record only from MPI_Pcontrol(1) on", 1},
        {"keep", KEY_KEEP, NULL, 0, "leave the spool where it is", 1}, {0}};
    static const struct argp own = {table, parse, "-- COMMAND [ARGUMENT...]",
                                    "Run an MPI program, for instance mpiexec -n 4 ./app, and record its MPI calls. The exit code is the program's own.", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    char *preload = NULL, *made = NULL;
    int code = 0;
    hu_option_parse(argc, argv, &own, &o, &common);
    bool to_output = strcmp(common.output, "-") == 0;
    if (o.words == 0) hu_fail(&err, HU_USAGE, "no command to run: trace-compress record -o FILE -- mpiexec -n 4 ./app");
    else if (to_output && isatty(STDOUT_FILENO)) hu_fail(&err, HU_USAGE, "a trace is not for a terminal: give -o FILE, or a pipe");
    else if (library_preload(&preload, &err) == HU_OK) {
        if (o.folder && mkdir(o.folder, 0777) != 0 && errno != EEXIST) hu_fail_errno(&err, errno, o.folder, "make");
        else if (!o.folder && library_spool_folder(&made, &err) == HU_OK) o.folder = made;
    }
    if (!err.status && hu_output_open(common.output, &out, &err) == HU_OK && run_program(&o, preload, to_output, &code, &err) == HU_OK) {
        if (make_trace(&o, out, &err)) hu_warn("the spool is left in %s", o.folder);
    }
    free(preload);
    int own_code = hu_exit(&err, out);
    if (own_code && made) rmdir(made); /* only where nothing is in it */
    free(made);
    return code ? code : own_code;
}

/* ---- the environment ------------------------------------------------------------------------------------------------------ */

int command_env(int argc, char **argv)
{
    static const struct argp_option table[] = {{"dir", KEY_DIR, "FOLDER", 0, "the folder for the spool, which must be there on each node (default: a new one)", 1},
                                               {"max-bytes", KEY_MOST, "N", 0, "stop recording when a thread has written N bytes", 1},
                                               {"off-start", KEY_OFF_START, NULL, 0, "record only from MPI_Pcontrol(1) on", 1},
                                               {"shell", KEY_SHELL, NULL, 0, "blanks between the settings, for env(1), instead of commas", 1}, {0}};
    static const struct argp own = {table, parse, "", "Print the settings that make a program record: srun --export=ALL,$(trace-compress env --dir=/scratch/t) ./app", NULL, NULL, NULL};
    options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    char *preload = NULL, *made = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    char blank = o.shell ? ' ' : ',';
    if (o.words) hu_fail(&err, HU_USAGE, "env takes no arguments");
    else if (library_preload(&preload, &err) == HU_OK && !o.folder && library_spool_folder(&made, &err) == HU_OK) o.folder = made;
    if (!err.status && hu_output_open(common.output, &out, &err) == HU_OK) {
        hu_output_printf(out, &err, "LD_PRELOAD=%s%cMPITRACE_DIR=%s", preload, blank, o.folder);
        if (o.most) hu_output_printf(out, &err, "%cMPITRACE_MAX_BYTES=%s", blank, o.most);
        if (o.off_start) hu_output_printf(out, &err, "%cMPITRACE_START=off", blank);
        hu_output_printf(out, &err, "\n");
    }
    free(preload);
    free(made);
    return hu_exit(&err, out);
}
