/* probe_run.h: one run of a probed program. */
#ifndef PP_PROBE_RUN_H
#define PP_PROBE_RUN_H

#include "probed.h"

typedef struct {
    probed_set *set; /* [sets] columns that the user gave; the texts are borrowed */
    int64_t sets;
    const char *cut;     /* NULL, or where the counters are taken early, as the user wrote it */
    const char *small;   /* NULL, or the small run that gives the counters */
    const char *folder;  /* NULL, or where the counters are kept */
    const char *program; /* NULL, or the program whose lines cut names */
    const char *gcov;
    double limit;        /* seconds; 0: none */
} probe_run_options;

/* Runs command (ended by NULL) and writes a table of one row. A command that fails is a row; one that cannot be started is HU_USAGE. */
hu_status probe_run(const probe_run_options *options, char *const *command, hu_output *out, hu_error *err);

#endif
