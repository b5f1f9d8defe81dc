/* probe_cc.h: a call of a compiler, with what probing needs. */
#ifndef PP_PROBE_CC_H
#define PP_PROBE_CC_H

#include "base/error.h"

typedef struct {
    bool is_valued;    /* keep the operands of comparisons */
    bool has_mpi;      /* the program is one of MPI, whatever the compiler is called */
    const char *files; /* of these sources, "a.c,b.c"; NULL: of all */
} probe_cc_options;

/* Calls command (ended by NULL), adding flags where it compiles and the runtime where it links. *ret_code: the compiler's exit status. */
hu_status probe_cc(const probe_cc_options *options, char *const *command, int *ret_code, hu_error *err);

#endif
