/* common.h: what the commands do with the options that all of them have. */
#ifndef SPMM_COMMON_H
#define SPMM_COMMON_H

#include "base/option.h"
#include "cost.h"

/* HU_DEVICE where --device asks for a GPU: no command has a kernel for one. */
hu_status common_device(const hu_common *common, hu_error *err);

/* A list of numbers of columns, "32,128"; returns how many. A wrong one ends the program. arg is cut up. */
int common_widths(const struct argp_state *state, char *arg, int64_t *k, int most);

/* One run, for --report. */
typedef struct {
    const char *command, *input;
    const spmm_matrix *a;
    const char *strategy; /* or NULL */
    int64_t k;            /* columns of B; 0: none */
    hu_scalar scalar;     /* of B */
    double pack_seconds, seconds;
} common_run;

/* Appends a row to --report, if it was given; with the machine's limits where the run multiplied. */
hu_status common_report(const hu_common *common, const common_run *run, hu_error *err);

/* Says at -v what the product needed, the bound of this machine, and the share that was reached. */
hu_status common_explain(const common_run *run, hu_error *err);

#endif
