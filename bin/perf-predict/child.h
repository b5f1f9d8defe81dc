/* child.h: other programs as children. */
#ifndef PP_CHILD_H
#define PP_CHILD_H

#include "base/error.h"

/* How a child ended. */
typedef struct {
    int state;       /* as waitpid() gives it */
    double seconds;  /* from start to end */
    double cpu;      /* processor seconds of it and its children that have ended */
    bool is_late;    /* it was told to end, or killed, because the limit was over */
} child_end;

/* Runs a program, found as the shell finds it, and returns its standard output with a zero byte behind it, at most `most` bytes; free with free(). Its standard
 * error is ours. HU_SYSTEM where it is not there (hint says what to install), fails, or says more. */
hu_status child_output(const char *const *argv, int64_t most, const char *hint, char **ret_text, int64_t *ret_size, hu_error *err);

/* Runs a program with our standard input and its standard output on our standard error, and waits. variable: NULL-ended names and values in turn,
 * a NULL value takes the variable away. After limit seconds (0: none) it is told to end, five seconds later killed. An interrupt from the terminal ends
 * the child, not us. */
hu_status child_run(char *const *argv, const char *const *variable, double limit, child_end *ret_end, hu_error *err);

/* Runs a program with our three channels and waits. */
hu_status child_call(char *const *argv, int *ret_state, hu_error *err);

#endif
