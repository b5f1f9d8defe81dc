/* option.h: the command line, the same for every program, on glibc's argp.
 *
 * A program describes its own options as an argp parser; hu_option_parse() adds the common ones
 * (-o --threads --device --seed --progress --report -v -q --version), parses, and sets verbosity and threads.
 */
#ifndef HU_BASE_OPTION_H
#define HU_BASE_OPTION_H

#include "base/error.h"
#include "base/progress.h"
#include <argp.h>

typedef struct {
    const char *output;  /* default "-", standard output */
    int threads;         /* 0: what the machine offers */
    const char *device;  /* "auto", "cpu", "cuda" or "cuda:N" */
    uint64_t seed;       /* default 1 */
    hu_progress_mode progress;
    const char *report;  /* NULL or the CSV file that gets one row a run */
} hu_common;

/* To be called first in main(), before anything is opened. Makes sure that descriptors 0 to 2 are open (a result file must not become
 * standard error), that a closed pipe ends the program as in coreutils, and that text left on standard output is written or
 * its loss told. Parses; on a wrong command line prints the reason and leaves with HU_USAGE; --help and --version leave with 0.
 * own: the program's parser, its options, args_doc and doc; `input` reaches it as state->input. */
void hu_option_parse(int argc, char **argv, const struct argp *own, void *input, hu_common *ret_common);

/* A program of several commands, git style: NAME COMMAND [options] [FILE...]. Runs the command that argv[1] names with its own argc and argv, whose
 * argv[0] is "NAME COMMAND", and returns what it returns; run() calls hu_option_parse(). --help lists the commands with their summaries. */
typedef struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} hu_command;

int hu_option_commands(int argc, char **argv, const hu_command *commands, int n, const char *doc);

/* Values of options; a wrong one ends the program as argp_error() does, naming the option. */
int64_t hu_option_integer(const struct argp_state *state, const char *option, const char *text, int64_t least, int64_t most);
double hu_option_number(const struct argp_state *state, const char *option, const char *text, double least, double most);

/* The index of text among the n words; a wrong one ends the program with the list of what is allowed. */
int hu_option_word(const struct argp_state *state, const char *option, const char *text, const char *const *words, int n);

#endif
