/* error.c: statuses, the error that callers pass, and words on standard error. */
#include "config.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int verbosity = 0;

/* Starts a message unless an earlier failure already stands; returns whether the caller may write it. */
static bool begin(hu_error *err, hu_status status)
{
    if (err->status != HU_OK) return false;
    err->status = status;
    err->quiet = false;
    err->message[0] = '\0';
    return true;
}

/* Appends to the message; a message too long is cut, never overrun. */
static void append(hu_error *err, const char *format, va_list args)
{
    size_t used = strlen(err->message);
    vsnprintf(err->message + used, sizeof err->message - used, format, args);
}

static void HU_PRINTF(2, 3) appendf(hu_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(err, format, args);
    va_end(args);
}

hu_status hu_fail(hu_error *err, hu_status status, const char *format, ...)
{
    if (begin(err, status)) {
        va_list args;
        va_start(args, format);
        append(err, format, args);
        va_end(args);
    }
    return status;
}

hu_status hu_fail_line(hu_error *err, const char *name, int64_t line, const char *format, ...)
{
    if (begin(err, HU_INPUT)) {
        va_list args;
        va_start(args, format);
        if (line > 0) appendf(err, "%s:%lld: ", name, (long long)line);
        else appendf(err, "%s: ", name);
        append(err, format, args);
        va_end(args);
    }
    return HU_INPUT;
}

hu_status hu_fail_byte(hu_error *err, const char *name, int64_t offset, const char *format, ...)
{
    if (begin(err, HU_INPUT)) {
        va_list args;
        va_start(args, format);
        appendf(err, "%s: byte %lld: ", name, (long long)offset);
        append(err, format, args);
        va_end(args);
    }
    return HU_INPUT;
}

hu_status hu_fail_errno(hu_error *err, int errno_value, const char *name, const char *what)
{
    if (begin(err, HU_SYSTEM)) appendf(err, "%s: %s: %s", name, what, strerror(errno_value));
    return HU_SYSTEM;
}

void hu_error_clear(hu_error *err)
{
    *err = (hu_error)HU_ERROR_NONE;
}

void hu_error_print(const hu_error *err)
{
    if (err->status == HU_OK || err->quiet || !err->message[0]) return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->message);
}

void hu_set_verbosity(int level)
{
    verbosity = level;
}

int hu_verbosity(void)
{
    return verbosity;
}

void hu_warn(const char *format, ...)
{
    if (verbosity < 0) return;
    char text[HU_ERROR_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s: warning: %s\n", program_invocation_short_name, text);
}

void hu_say(int level, const char *format, ...)
{
    if (verbosity < level) return;
    char text[HU_ERROR_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
}
