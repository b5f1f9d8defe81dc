/* error.h: statuses, the error that callers pass, and words on standard error.
 *
 * Every function that can fail returns hu_status and, on failure, leaves status and message in the
 * hu_error that its caller passed (never NULL). The first failure stays: a later one does not cover it.
 * Only main() exits, through hu_exit() in output.h.
 */
#ifndef HU_BASE_ERROR_H
#define HU_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values 0 and up are also the exit codes of a program; a program's own answers start at HU_PROGRAM. */
typedef enum {
    HU_END = -1,    /* a stream has no further item; not an error, err stays untouched */
    HU_OK = 0,      /* done */
    HU_NO = 1,      /* the honest answer is no: not converged, verification failed */
    HU_USAGE = 2,   /* the command line */
    HU_INPUT = 3,   /* bad input */
    HU_SYSTEM = 4,  /* memory, I/O, full disc, broken child */
    HU_DEVICE = 5,  /* no such device, out of device memory */
    HU_PROGRAM = 10 /* a program's own: HU_PROGRAM + n, listed in its manual */
} hu_status;

#define HU_ERROR_MESSAGE 1024

typedef struct {
    hu_status status;
    bool quiet; /* end without a word (a reader closed the pipe) */
    char message[HU_ERROR_MESSAGE];
} hu_error;

#define HU_ERROR_NONE {HU_OK, false, ""}

#define HU_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Sets status and message and returns status. One hu_error belongs to one thread: parallel code finds the first fault (lowest line or
 * row, so that the thread count does not show) and reports it once. */
hu_status hu_fail(hu_error *err, hu_status status, const char *format, ...) HU_PRINTF(3, 4);

/* The same for an input: "NAME:LINE: reason"; line < 1 leaves the line out. */
hu_status hu_fail_line(hu_error *err, const char *name, int64_t line, const char *format, ...) HU_PRINTF(4, 5);

/* The same for a binary input: "NAME: byte OFFSET: reason". */
hu_status hu_fail_byte(hu_error *err, const char *name, int64_t offset, const char *format, ...) HU_PRINTF(4, 5);

/* HU_SYSTEM with "NAME: what: strerror(errno_value)". */
hu_status hu_fail_errno(hu_error *err, int errno_value, const char *name, const char *what);

/* Clears an error that the caller has dealt with. */
void hu_error_clear(hu_error *err);

/* Prints "PROGRAM: message" unless the error is quiet. */
void hu_error_print(const hu_error *err);

/* Words on standard error. Verbosity: -1 quiet (only errors), 0 normal, 1 and up what -v asks for. */
void hu_set_verbosity(int level);
int hu_verbosity(void);
void hu_warn(const char *format, ...) HU_PRINTF(1, 2);             /* "PROGRAM: warning: ...", unless quiet */
void hu_say(int level, const char *format, ...) HU_PRINTF(2, 3);   /* "PROGRAM: ..." at verbosity level and above */

#ifdef __cplusplus
}
#endif
#endif
