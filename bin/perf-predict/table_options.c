/* table_options.c: the options of commands that read a table to learn from. */
#include "config.h"
#include "table_options.h"

#include <string.h>

enum { KEY_DROP = 0x200, KEY_FAIL_COL, KEY_FAILS, KEY_DUP, KEY_DELIMITER, KEY_DECIMAL };

static const struct argp_option csv_table[] = {
    {"delimiter", KEY_DELIMITER, "C", 0, "the sign between fields: comma, semicolon, tab, or any one character (default: found from the table)", 0},
    {"decimal", KEY_DECIMAL, "C", 0, "the decimal sign: point or comma (default: found from the table)", 0},
    {0}};

static error_t parse_csv(int key, char *arg, struct argp_state *state)
{
    hu_csv_options *o = state->input;
    switch (key) {
    case KEY_DELIMITER:
        if (strcmp(arg, "comma") == 0) o->delimiter = ',';
        else if (strcmp(arg, "semicolon") == 0) o->delimiter = ';';
        else if (strcmp(arg, "tab") == 0) o->delimiter = '\t';
        else if (strlen(arg) == 1 && !strchr("\"\n\r.", *arg)) o->delimiter = *arg;
        else argp_error(state, "--delimiter: '%s' is no single character", arg);
        return 0;
    case KEY_DECIMAL:
        if (strcmp(arg, "point") == 0 || strcmp(arg, ".") == 0) o->decimal = '.';
        else if (strcmp(arg, "comma") == 0 || strcmp(arg, ",") == 0) o->decimal = ',';
        else argp_error(state, "--decimal: '%s' is neither point nor comma", arg);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp csv_argp = {csv_table, parse_csv, NULL, NULL, NULL, NULL, NULL};

static const struct argp_option table[] = {
    {NULL, 'y', "COLUMN", 0, "the column to predict", 0},
    {NULL, 'x', "COLUMNS", 0, "the columns to predict by: a,b:cat,c:num,d:log (default: all others; cat: levels without order, num: numbers, log: their logarithms)", 0},
    {"drop", KEY_DROP, "COLUMNS", 0, "columns to leave out", 0},
    {"fail-col", KEY_FAIL_COL, "COLUMN", 0, "the column that says whether a run succeeded: empty, ok, success, passed, correct, done, completed, true or 1; others failed", 0},
    {"fails", KEY_FAILS, "HOW", 0, "runs that failed, or whose target is missing, infinite or no number: error (default), drop, or censor (count as the worst target)", 0},
    {"dup", KEY_DUP, "HOW", 0, "rows of the same configuration: keep (default), or one of their mean, median or min", 0},
    {0}};

static error_t parse_table(int key, char *arg, struct argp_state *state)
{
    static const char *const fails[] = {"error", "drop", "censor"}, *const dups[] = {"keep", "mean", "median", "min"};
    table_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->csv; return 0;
    case 'y': o->target = arg; return 0;
    case 'x': o->take = arg; return 0;
    case KEY_DROP: o->drop = arg; return 0;
    case KEY_FAIL_COL: o->fail_col = arg; return 0;
    case KEY_FAILS: o->fails = (table_fails)hu_option_word(state, "--fails", arg, fails, 3); return 0;
    case KEY_DUP: o->dup = (table_dup)hu_option_word(state, "--dup", arg, dups, 4); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&csv_argp, 0, NULL, 0}, {0}};
const struct argp table_argp = {table, parse_table, NULL, NULL, children, NULL, NULL};
