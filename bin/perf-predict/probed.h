/* probed.h: the folder of a probed run, what it says, and tables of runs.
 *
 * A folder holds
 *     run.json     what `perf-predict probe run` knows: format, mode, cut, status, seconds, cpu_seconds, set (names and values given by the user), command
 *     HOST.PID/    what a process wrote (probe/runtime.h); where it has K.gcda, settling adds the link K.gcno
 *     objects/     the .gcno files, which gcov wants beside the counters
 *     places       lines "PLACE FILE:FUNCTION:LINE" of the comparisons: their names, by the program's debug information
 * so that it can be read later, elsewhere, and after the program was built anew.
 */
#ifndef PP_PROBED_H
#define PP_PROBED_H

#include "base/output.h"
#include "counters.h"

typedef enum { PROBED_POST, PROBED_EARLY } probed_mode;

typedef struct {
    char *name, *value;
} probed_set;

/* One execution. */
typedef struct {
    probed_set *set; /* [sets] columns that the user gave */
    int64_t sets;
    probed_mode mode;
    char *cut;    /* what the counters are of: "end", "time:1", "MPI_Allreduce:5", "heat.c:57:10%", "small" */
    char *status; /* "ok", "exit 3", "signal 9", "late" */
    double seconds, cpu; /* from start to end; of all processors */
    int64_t ranks;   /* processes that the run had; 0: none that was probed */
    int64_t counted; /* of these, those whose counters are there */
    bool has_mpi;
    counters counters; /* empty unless counted == ranks > 0 */
} probed_run;

void probed_free(probed_run *run); /* the fields, not run */

/* Writes run.json. */
hu_status probed_write(const char *folder, const probed_run *run, char *const *command, hu_error *err);

/* Right after the run: takes the .gcno files and the names of the places into the folder. HU_INPUT where the program was built anew since. */
hu_status probed_settle(const char *folder, hu_error *err);

/* Reads a folder; gcov: the program that reads its counters. Free with probed_free(). */
hu_status probed_read(const char *folder, const char *gcov, probed_run *ret_run, hu_error *err);

typedef struct {
    bool is_pruned;     /* counters that are the same in all rows are left out, and of those that are equal to each other all but the first */
    const char *groups; /* NULL, or the CSV file that lists which column stands for which that were left out */
} probed_table_options;

/* Writes a table, one run a row. */
hu_status probed_write_table(const probed_run *run, int64_t runs, const probed_table_options *options, hu_output *out, hu_error *err);

#endif
