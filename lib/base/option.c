/* option.c: the command line, the same for every program, on glibc's argp. */
#include "config.h"
#include "base/option.h"
#include "base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values --------------------------------------------------------------------------------------------------- */

int64_t hu_option_integer(const struct argp_state *state, const char *option, const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        argp_error(state, "%s: '%s' is not a whole number from %lld to %lld", option, text, (long long)least, (long long)most);
    return value;
}

double hu_option_number(const struct argp_state *state, const char *option, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        argp_error(state, "%s: '%s' is not a number from %g to %g", option, text, least, most);
    return value;
}

int hu_option_word(const struct argp_state *state, const char *option, const char *text, const char *const *words, int n)
{
    char list[512] = "";
    for (int i = 0; i < n; i++) {
        if (strcmp(text, words[i]) == 0) return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    argp_error(state, "%s: '%s' is none of %s", option, text, list);
    return 0;
}

/* ---- the common options --------------------------------------------------------------------------------------- */

enum { KEY_THREADS = 0x700, KEY_DEVICE, KEY_SEED, KEY_PROGRESS, KEY_REPORT };

static const struct argp_option common_options[] = {
    {NULL, 0, NULL, 0, "Common options:", 90},
    {"output", 'o', "FILE", 0, "write the result to FILE, whole or not at all (default: standard output)", 0},
    {"threads", KEY_THREADS, "N", 0, "use N threads (default: what the machine offers)", 0},
    {"device", KEY_DEVICE, "DEVICE", 0, "auto, cpu, or cuda[:N] (default: auto)", 0},
    {"seed", KEY_SEED, "N", 0, "seed of every random choice (default: 1)", 0},
    {"progress", KEY_PROGRESS, "WHEN", 0, "auto, never or always show progress on standard error (default: auto)", 0},
    {"report", KEY_REPORT, "FILE.csv", 0, "append one row on this run: problem, scheme, times, bytes, rates", 0},
    {"verbose", 'v', NULL, 0, "say more on standard error", 0},
    {"quiet", 'q', NULL, 0, "say nothing but errors", 0},
    {0}};

static bool device_is_valid(const char *text)
{
    if (strcmp(text, "auto") == 0 || strcmp(text, "cpu") == 0 || strcmp(text, "cuda") == 0) return true;
    if (strncmp(text, "cuda:", 5) != 0 || !text[5]) return false;
    return strlen(text + 5) < 4 && strspn(text + 5, "0123456789") == strlen(text + 5);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    static const char *const when[] = {"auto", "never", "always"};
    hu_common *common = state->input;
    switch (key) {
    case KEY_THREADS: common->threads = (int)hu_option_integer(state, "--threads", arg, 1, 4096); return 0;
    case KEY_SEED: common->seed = (uint64_t)hu_option_integer(state, "--seed", arg, 0, INT64_MAX); return 0;
    case KEY_PROGRESS: common->progress = (hu_progress_mode)hu_option_word(state, "--progress", arg, when, 3); return 0;
    case KEY_REPORT: common->report = arg; return 0;
    case 'o': common->output = arg; return 0;
    case 'v': hu_set_verbosity(hu_verbosity() + 1); return 0;
    case 'q': hu_set_verbosity(-1); return 0;
    case KEY_DEVICE:
        if (!device_is_valid(arg)) argp_error(state, "--device: '%s' is none of auto, cpu, cuda, cuda:N", arg);
        common->device = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common_argp = {common_options, parse_common, NULL, NULL, NULL, NULL, NULL};

struct inputs {
    void *own;
    hu_common *common;
};

static error_t hand_down(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_INIT) return ARGP_ERR_UNKNOWN;
    struct inputs *inputs = state->input;
    state->child_inputs[0] = inputs->own;
    state->child_inputs[1] = inputs->common;
    return 0;
}

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "%s (hpcutils) %s\n", program_invocation_short_name, PACKAGE_VERSION);
}

/* ---- the start and end of a program ----------------------------------------------------------------------------- */

static void end_standard_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    fprintf(stderr, "%s: standard output: write failed\n", program_invocation_short_name);
    _exit(HU_SYSTEM);
}

static void start(void)
{
    static bool started = false;
    if (started) return;
    started = true;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) /* opened so that its use fails as that of a closed one does */
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    signal(SIGPIPE, SIG_DFL);
    atexit(end_standard_output);
    argp_program_version_hook = print_version;
    argp_err_exit_status = HU_USAGE;
}

void hu_option_parse(int argc, char **argv, const struct argp *own, void *input, hu_common *ret_common)
{
    *ret_common = (hu_common){.output = "-", .device = "auto", .seed = 1};
    struct argp inner = *own;
    inner.args_doc = NULL;
    inner.doc = NULL;
    const struct argp_child children[] = {{&inner, 0, NULL, 0}, {&common_argp, 0, NULL, 90}, {0}};
    const struct argp all = {NULL, hand_down, own->args_doc, own->doc, children, own->help_filter, NULL};
    struct inputs inputs = {input, ret_common};
    start();
    argp_parse(&all, argc, argv, 0, NULL, &inputs);
    hu_threads_set(ret_common->threads);
    hu_progress_set(ret_common->progress);
}

/* ---- programs of several commands ------------------------------------------------------------------------------- */

/* "NAME", or "NAME COMMAND" of commands that have commands of their own. */
static const char *name_of(char **argv)
{
    const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;
    return slash ? slash + 1 : argv[0] ? argv[0] : program_invocation_short_name;
}

static void print_commands(FILE *stream, const char *name, const hu_command *commands, int n, const char *doc)
{
    fprintf(stream, "Usage: %s COMMAND [OPTION...] [FILE...]\n%s\n\nCommands:\n", name, doc);
    for (int i = 0; i < n; i++) fprintf(stream, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream, "\n'%s COMMAND --help' tells more of each; '%s --version' prints the version.\n", name, program_invocation_short_name);
}

static int run_command(const hu_command *command, int argc, char **argv)
{
    char *name;
    if (asprintf(&name, "%s %s", name_of(argv), command->name) < 0) return HU_SYSTEM;
    argv[1] = name;
    int code = command->run(argc - 1, argv + 1);
    free(name);
    return code;
}

int hu_option_commands(int argc, char **argv, const hu_command *commands, int n, const char *doc)
{
    start();
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "help") == 0)) {
        print_commands(stdout, name_of(argv), commands, n, doc);
        return HU_OK;
    }
    if (word && strcmp(word, "--version") == 0) {
        print_version(stdout, NULL);
        return HU_OK;
    }
    for (int i = 0; word && i < n; i++)
        if (strcmp(word, commands[i].name) == 0) return run_command(&commands[i], argc, argv);
    if (!word) print_commands(stderr, name_of(argv), commands, n, doc);
    else if (word[0] == '-') fprintf(stderr, "%s: options stand behind the command; %s --help lists the commands\n", program_invocation_short_name, name_of(argv));
    else fprintf(stderr, "%s: '%s' is no command; %s --help lists them\n", program_invocation_short_name, word, name_of(argv));
    return HU_USAGE;
}
