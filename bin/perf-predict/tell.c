/* tell.c: perf-predict tell: measured configurations in, noted in the state.
 *
 * Sections: options, the table, telling.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "campaign_args.h"
#include "commands.h"
#include "common.h"
#include "outcome.h"
#include "table_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    hu_csv_options csv;
    const char *input, *state, *target, *cost, *drop;
    bool maximize, only_asked;
    table_dup dup;
} options;

enum { KEY_STATE = 0x100, KEY_DIRECTION, KEY_COST, KEY_DROP, KEY_DUP, KEY_ASKED };

static const struct argp_option table[] = {
    {"state", KEY_STATE, "FILE", 0, "what is asked and told; made where it is not there", 0},
    {NULL, 'y', "COLUMN", 0, "what was measured (default: time)", 0},
    {"direction", KEY_DIRECTION, "WHAT", 0, "min (default): a time, the less the better; max: a rate", 0},
    {"cost", KEY_COST, "COLUMN", 0, "what each run took, for --budget-cost (default: the time itself)", 0},
    {"drop", KEY_DROP, "COLUMNS", 0, "columns that do not count (once the state knows its columns, all others are passed over anyway)", 0},
    {"dup", KEY_DUP, "HOW", 0, "several runs of a configuration count as their mean (default), median or min, or keep: each by itself", 0},
    {"only-asked", KEY_ASKED, NULL, 0, "refuse configurations that were never asked", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *argp)
{
    static const char *const directions[] = {"min", "max"}, *const dups[] = {"keep", "mean", "median", "min"};
    options *o = argp->input;
    switch (key) {
    case ARGP_KEY_INIT: argp->child_inputs[0] = &o->csv; return 0;
    case KEY_STATE: o->state = arg; return 0;
    case 'y': o->target = arg; return 0;
    case KEY_DIRECTION: o->maximize = hu_option_word(argp, "--direction", arg, directions, 2); return 0;
    case KEY_COST: o->cost = arg; return 0;
    case KEY_DROP: o->drop = arg; return 0;
    case KEY_DUP: o->dup = (table_dup)hu_option_word(argp, "--dup", arg, dups, 4); return 0;
    case KEY_ASKED: o->only_asked = true; return 0;
    case ARGP_KEY_ARG:
        if (o->input) argp_error(argp, "more than one table: %s and %s", o->input, arg);
        o->input = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->state) argp_error(argp, "--state=FILE says where the search keeps what it knows");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the table -------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const options *o;
    state *s;
    hu_csv *csv;
    int64_t target, cost; /* columns of the table; cost -1: none */
    int64_t *column;      /* [columns of the state] */
    int32_t *code;
    state_run *run;
    int64_t runs, capacity;
    int64_t before;       /* configurations that the state had */
} telling;

static hu_status find(const telling *t, const char *name, int64_t *ret_column, hu_error *err)
{
    for (*ret_column = 0; *ret_column < hu_csv_columns(t->csv); ++*ret_column)
        if (strcmp(hu_csv_column_name(t->csv, *ret_column), name) == 0) return HU_OK;
    return hu_fail_line(err, t->o->input ? t->o->input : "standard input", 1, "there is no column %s", name);
}

/* A new state takes all columns but the target and the cost; a known one takes its own and passes over others. */
static hu_status choose_columns(telling *t, hu_error *err)
{
    const options *o = t->o;
    int64_t columns = hu_csv_columns(t->csv), n = 0;
    const char **name = NULL;
    t->cost = -1;
    if (find(t, o->target, &t->target, err) || (o->cost && find(t, o->cost, &t->cost, err)) || hu_alloc(columns, sizeof *name, "columns", (void **)&name, err)) goto cleanup;
    for (int64_t c = 0; c < columns; c++) {
        const char *column = hu_csv_column_name(t->csv, c);
        if (c == t->target || c == t->cost || table_listed(o->drop, column, NULL) || (t->s->set && configs_find(t->s->set, column) < 0)) continue;
        name[n++] = column;
    }
    if (n == 0) {
        hu_fail_line(err, o->input ? o->input : "standard input", 1, "there is no column of a configuration beside %s", o->target);
        goto cleanup;
    }
    if (state_begin(t->s, name, (int32_t)n, o->target, o->maximize, err) || hu_alloc(n, sizeof *t->column, "columns", (void **)&t->column, err) ||
        hu_alloc(n, sizeof *t->code, "a configuration", (void **)&t->code, err))
        goto cleanup;
    for (int32_t c = 0; c < t->s->set->columns; c++)
        if (find(t, t->s->set->column[c].name, &t->column[c], err)) goto cleanup;
cleanup:
    hu_free(name);
    return err->status;
}

static hu_status read_outcome(const telling *t, const hu_csv_field *field, state_run *run, hu_error *err)
{
    hu_csv_kind kind;
    double value = NAN;
    if (hu_csv_cell(t->csv, t->target, &kind, &value, err)) return err->status;
    if (kind == HU_CSV_MISSING) return hu_csv_fail(t->csv, t->target, err, "is missing; a run that failed is told as fail");
    if (kind == HU_CSV_NUMBER) *run = isfinite(value) ? (state_run){run->config, RUN_TIME, value, 0} : (state_run){run->config, RUN_FAIL, 0, 0};
    else if (!outcome_parse(field->text, field->size, run)) return hu_csv_fail(t->csv, t->target, err, "'%.*s' is neither a number, fail, nor timeout>SECONDS", (int)(field->size < 80 ? field->size : 80), field->text);
    run->cost = outcome_cost(run, t->s->maximize);
    return HU_OK;
}

static hu_status read_cost(const telling *t, const hu_csv_field *field, state_run *run, hu_error *err)
{
    hu_csv_kind kind;
    if (hu_csv_cell(t->csv, t->cost, &kind, &run->cost, err)) return err->status;
    if (kind != HU_CSV_NUMBER || !(run->cost >= 0) || isinf(run->cost)) return hu_csv_fail(t->csv, t->cost, err, "'%.*s' is no cost: a number from 0 up", (int)(field->size < 80 ? field->size : 80), field->text);
    return HU_OK;
}

/* Whether it was asked: it is out, or was and is told by now. */
static bool was_asked(const telling *t, int64_t config)
{
    for (int64_t i = 0; i < t->s->claims; i++)
        if (t->s->claim[i].config == config) return true;
    for (int64_t i = 0; i < t->s->runs; i++)
        if (t->s->run[i].config == config) return true;
    return false;
}

static hu_status read_row(telling *t, const hu_csv_field *field, hu_error *err)
{
    const config_set *set = t->s->set;
    if (hu_grow((void **)&t->run, &t->capacity, t->runs + 1, sizeof *t->run, "runs", err)) return err->status;
    state_run *run = &t->run[t->runs];
    for (int32_t c = 0; c < set->columns; c++)
        if (configs_cell(t->s->set, c, t->csv, t->column[c], &field[t->column[c]], &t->code[c], err)) return err->status;
    if (configs_add(t->s->set, t->code, &run->config, err)) return err->status;
    if (t->o->only_asked && !was_asked(t, run->config)) return hu_csv_fail(t->csv, t->column[0], err, "this configuration was never asked (--only-asked)");
    if (read_outcome(t, &field[t->target], run, err) || (t->cost >= 0 && read_cost(t, &field[t->cost], run, err))) return err->status;
    t->runs++;
    return HU_OK;
}

/* ---- telling ------------------------------------------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 1e20 and the like, far above everything else, is no time but a mark of failure. */
static hu_status suspect_markers(const telling *t, hu_error *err)
{
    double *sorted;
    int64_t n = 0;
    if (hu_alloc(t->s->runs, sizeof *sorted, "runs", (void **)&sorted, err)) return err->status;
    for (int64_t i = 0; i < t->s->runs; i++)
        if (t->s->run[i].outcome == RUN_TIME) sorted[n++] = t->s->run[i].value;
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    if (n > 2 && sorted[n - 1] >= 1e15 && sorted[n - 1] > 1e6 * fabs(sorted[n / 2]))
        hu_warn("column %s: %g looks like a mark of failed runs, and is learnt as a time; such runs are told as fail", t->s->target, sorted[n - 1]);
    hu_free(sorted);
    return err->status;
}

static void say_told(const telling *t, int64_t fresh)
{
    int64_t failed = 0;
    for (int64_t i = 0; i < t->runs; i++) failed += t->run[i].outcome != RUN_TIME;
    if (fresh < t->runs) hu_say(0, "%lld of %lld runs were known already", (long long)(t->runs - fresh), (long long)t->runs);
    if (failed) hu_say(0, "%lld of %lld runs failed or ran out of time", (long long)failed, (long long)t->runs);
    hu_say(1, "%lld runs told in all, cost %g, %lld configurations out", (long long)t->s->runs, t->s->spent, (long long)t->s->claims);
}

/* The table is read whole before the state is locked: who writes it may still be asking. */
static hu_status tell(const options *o, const hu_common *common, hu_error *err)
{
    telling t = {.o = o};
    hu_source *input = NULL, *text = NULL;
    char *bytes = NULL;
    int64_t size, fresh;
    const hu_csv_field *field;
    hu_status status = HU_OK;
    double start = hu_clock_wall();
    if (hu_source_open(o->input, NULL, &input, err) || hu_source_slurp(input, (int64_t)1 << 36, &bytes, &size, err) || hu_source_memory(hu_source_name(input), bytes, size, &text, err) ||
        hu_csv_open(text, &o->csv, &t.csv, err) || state_open(o->state, true, &t.s, err) || choose_columns(&t, err))
        goto cleanup;
    while ((status = hu_csv_next(t.csv, &field, err)) == HU_OK)
        if (read_row(&t, field, err)) goto cleanup;
    if (err->status || state_tell(t.s, t.run, t.runs, o->dup, &fresh, err) || suspect_markers(&t, err)) goto cleanup;
    say_told(&t, fresh);
    campaign_report(common, "tell", t.s, start, err);
cleanup:
    state_close(t.s);
    hu_csv_close(t.csv);
    hu_source_close(text);
    hu_source_close(input);
    hu_free(bytes);
    hu_free(t.column);
    hu_free(t.code);
    hu_free(t.run);
    return err->status;
}

static const char doc[] = "Note measured configurations in the state of a search.\v"
                          "The table has the columns of the configurations and the measured one: a number, fail (nan and inf too), or timeout>SECONDS.  Telling a table again changes nothing; "
                          "a table with an error anywhere changes nothing either.";

int command_tell(int argc, char **argv)
{
    const struct argp_child children[] = {{&csv_argp, 0, "The table:", 2}, {0}};
    const struct argp own = {table, parse, "[TABLE.csv]", doc, children, NULL, NULL};
    options o = {.csv = HU_CSV_DEFAULTS, .target = "time", .dup = DUP_MEAN};
    hu_common common;
    hu_error err = HU_ERROR_NONE;
    hu_option_parse(argc, argv, &own, &o, &common);
    if (hu_device_cpu_only(common.device, &err) == HU_OK) tell(&o, &common, &err);
    return hu_exit(&err, NULL);
}
