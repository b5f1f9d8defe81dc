/* probe.c: perf-predict probe: counters of any C program: its commands cc, run and collect. */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/option.h"
#include "commands.h"
#include "probe_cc.h"
#include "probe_run.h"
#include "probed.h"

#include <stdlib.h>
#include <string.h>

/* Words behind "--" are another program's: argp must not look into them. Returns how many of argv are ours, and the others in *ret_command (ended by NULL). */
static int split(int argc, char **argv, char ***ret_command)
{
    *ret_command = NULL;
    for (int k = 1; k < argc; k++)
        if (strcmp(argv[k], "--") == 0) {
            *ret_command = argv + k + 1;
            return k;
        }
    return argc;
}

/* Called before any option is looked at: of a command without "--" in front, argp would take the options for ours. */
static void need_dashes(const struct argp_state *state, char **command, const char *example)
{
    for (int k = 1; k < state->argc && !command; k++)
        if (state->argv[k][0] != '-') argp_error(state, "put -- before the command: %s", example);
}

static void need_command(const struct argp_state *state, char **command, const char *example)
{
    if (!command) argp_error(state, "put -- before the command: %s", example);
    if (!command[0]) argp_error(state, "there is no command behind --: %s", example);
}

/* ---- cc ------------------------------------------------------------------------------------------------------------------------ */

enum { KEY_VALUES = 0x100, KEY_MPI, KEY_SET, KEY_CUT, KEY_SMALL, KEY_SAVE, KEY_LIMIT, KEY_PROGRAM, KEY_GCOV, KEY_PRUNE, KEY_GROUPS };

static const char cc_example[] = "perf-predict probe cc -- gcc -O2 -o app app.c";
static const char run_example[] = "perf-predict probe run -- ./app 100";

typedef struct {
    probe_cc_options o;
    char **command;
} cc_options;

static error_t parse_cc(int key, char *arg, struct argp_state *state)
{
    cc_options *o = state->input;
    switch (key) {
    case KEY_VALUES:
        o->o.is_valued = true;
        o->o.files = arg;
        return 0;
    case KEY_MPI: o->o.has_mpi = true; return 0;
    case ARGP_KEY_INIT: need_dashes(state, o->command, cc_example); return 0;
    case ARGP_KEY_END: need_command(state, o->command, cc_example); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int probe_cc_main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"values", KEY_VALUES, "FILES", OPTION_ARG_OPTIONAL, "keep the operands of all comparisons in these sources (a.c,b.c; none: all); costly in tight loops", 0},
        {"mpi", KEY_MPI, NULL, 0, "the program is one of MPI (default: where the compiler's name has mpi in it, or -lmpi is there)", 0},
        {0}};
    const struct argp own = {table, parse_cc, "-- COMPILER ARGUMENT...",
                             "Compile or link a C program for probing.\vA call of gcc, or of an MPI's compiler that calls gcc, with what counts branches and loops added, and when it links, "
                             "what writes the counters and counts the calls of MPI.  The program runs as before until probe run runs it.",
                             NULL, NULL, NULL};
    cc_options o = {0};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    int code = 0;
    int ours = split(argc, argv, &o.command);
    hu_option_parse(ours, argv, &own, &o, &common);
    if (probe_cc(&o.o, o.command, &code, &err) == HU_OK) return code;
    return hu_exit(&err, NULL);
}

/* ---- run ----------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    probe_run_options o;
    int64_t room;
    hu_error err;
    char **command;
} run_options;

static void add_set(run_options *o, char *arg, struct argp_state *state)
{
    char *value = strchr(arg, '=');
    if (!value || value == arg) argp_error(state, "--set=%s: expected NAME=VALUE", arg);
    *value++ = '\0';
    if (hu_grow((void **)&o->o.set, &o->room, o->o.sets + 1, sizeof *o->o.set, "columns", &o->err)) argp_error(state, "--set: %s", o->err.message);
    o->o.set[o->o.sets++] = (probed_set){arg, value};
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
    run_options *o = state->input;
    switch (key) {
    case KEY_SET: add_set(o, arg, state); return 0;
    case KEY_CUT: o->o.cut = arg; return 0;
    case KEY_SMALL: o->o.small = arg; return 0;
    case KEY_SAVE: o->o.folder = arg; return 0;
    case KEY_PROGRAM: o->o.program = arg; return 0;
    case KEY_GCOV: o->o.gcov = arg; return 0;
    case KEY_LIMIT: o->o.limit = hu_option_number(state, "--limit", arg, 1e-3, 1e9); return 0;
    case ARGP_KEY_INIT: need_dashes(state, o->command, run_example); return 0;
    case ARGP_KEY_END:
        if (o->o.cut && o->o.small) argp_error(state, "--cut and --small are two ways to early counters: choose one");
        need_command(state, o->command, run_example);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int probe_run_main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"set", KEY_SET, "NAME=VALUE", 0, "a column of your own; may be repeated", 0},
        {"cut", KEY_CUT, "WHERE", 0, "take the counters early: time:SECONDS, MPI_NAME:N (its N-th call in each process), FILE:LINE:N (the N-th comparison on a line of a source with --values) or FILE:LINE:X% (of the way of its loop)", 0},
        {"small", KEY_SMALL, "COMMAND", 0, "run COMMAND (by sh) first for the counters, then the command for its time alone", 0},
        {"save", KEY_SAVE, "FOLDER", 0, "keep the counters there, for probe collect", 0},
        {"limit", KEY_LIMIT, "SECONDS", 0, "end the command after that time", 0},
        {"program", KEY_PROGRAM, "FILE", 0, "the program whose lines --cut names (default: the first probed one in the command)", 0},
        {"gcov", KEY_GCOV, "PROGRAM", 0, "what reads the counters: the gcov of the compiler's version (default: gcov)", 0},
        {0}};
    const struct argp own = {table, parse_run, "-- COMMAND ARGUMENT...",
                             "Run a program that probe cc compiled, and write one row: your columns, status, time, counters.\vThe command's standard output goes to standard error.  A command that fails, or "
                             "is killed, is a row with its status, and the exit status is 0 all the same.",
                             NULL, NULL, NULL};
    run_options o = {.o = {.gcov = "gcov"}, .err = HU_ERROR_NONE};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    int ours = split(argc, argv, &o.command);
    hu_option_parse(ours, argv, &own, &o, &common);
    if (hu_output_open(common.output, &out, &err) == HU_OK) probe_run(&o.o, o.command, out, &err);
    hu_free(o.o.set);
    return hu_exit(&err, out);
}

/* ---- collect ------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    probed_table_options table;
    const char *gcov;
    char **folder;
    int folders;
} collect_options;

static error_t parse_collect(int key, char *arg, struct argp_state *state)
{
    collect_options *o = state->input;
    switch (key) {
    case KEY_PRUNE: o->table.is_pruned = true; return 0;
    case KEY_GROUPS: o->table.groups = arg; return 0;
    case KEY_GCOV: o->gcov = arg; return 0;
    case ARGP_KEY_ARGS:
        o->folder = state->argv + state->next;
        o->folders = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "no folder of a run"); return 0;
    case ARGP_KEY_END:
        if (o->table.groups && !o->table.is_pruned) argp_error(state, "--groups needs --prune");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static hu_status collect(const collect_options *o, hu_output *out, hu_error *err)
{
    probed_run *run;
    if (hu_alloc_zero(o->folders, sizeof *run, "runs", (void **)&run, err)) return err->status;
    int n = 0;
    while (n < o->folders && probed_read(o->folder[n], o->gcov, &run[n], err) == HU_OK) n++;
    if (!err->status) probed_write_table(run, n, &o->table, out, err);
    for (int i = 0; i < n; i++) probed_free(&run[i]);
    hu_free(run);
    return err->status;
}

static int probe_collect_main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"prune", KEY_PRUNE, NULL, 0, "leave out counters that are the same in all runs, and of those that are equal to each other all but the first", 0},
        {"groups", KEY_GROUPS, "FILE.csv", 0, "list which column stands for which others", 0},
        {"gcov", KEY_GCOV, "PROGRAM", 0, "what reads the counters: the gcov of the compiler's version (default: gcov)", 0},
        {0}};
    const struct argp own = {table, parse_collect, "FOLDER...", "A table of the runs that probe run --save kept, one run a row.", NULL, NULL, NULL};
    collect_options o = {.gcov = "gcov"};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (hu_output_open(common.output, &out, &err) == HU_OK) collect(&o, out, &err);
    return hu_exit(&err, out);
}

int command_probe(int argc, char **argv)
{
    static const hu_command commands[] = {
        {"cc", "compile a program for probing", probe_cc_main},
        {"run", "run it and write one row of its counters", probe_run_main},
        {"collect", "make a table of runs that were kept", probe_collect_main},
    };
    return hu_option_commands(argc, argv, commands, (int)(sizeof commands / sizeof *commands), "Counters of C programs: branches, loops, values, calls of MPI.");
}
