/* symbols.h: the handles of one process as numbers that mean the same in every run: communicators and datatypes in the order of their making, all else the lowest
 * number that is free. A request's handle may stand for several requests at once (MPICH gives every eagerly completed send the same): each handle has a queue.
 */
#ifndef TC_SYMBOLS_H
#define TC_SYMBOLS_H

#include "base/error.h"
#include "recorder/spool.h"

typedef struct symbols symbols;

enum { SYMBOL_NULL = -1, SYMBOL_UNKNOWN = -2 }; /* unknown: made while nothing was recorded */

typedef struct {
    const char *name, *letters; /* of the function */
    int64_t *raw;               /* arguments as the recorder wrote them (spool.h) */
    int64_t raws;
    bool error, failed;         /* the call failed; a poll that found nothing */
} symbols_call;

/* A communicator that a call made. */
typedef struct {
    bool made;
    int64_t number, parent;     /* local numbers; parent SYMBOL_UNKNOWN: none */
    int64_t size, remote;       /* members; remote -1: none */
    const int64_t *member, *remote_member;
} symbols_comm;

/* basic_type(arg, handle) numbers a datatype that MPI names, or SYMBOL_UNKNOWN; made types count from 0 and stand in *ret_arg as first_type + number. */
hu_status symbols_new(int64_t (*basic_type)(void *arg, int64_t handle), void *arg, symbols **ret_symbols, hu_error *err);
void symbols_free(symbols *s); /* NULL is allowed */

/* Translates a call's arguments, in order: writes at most raws values to arg. */
hu_status symbols_translate(symbols *s, const symbols_call *call, int64_t first_type, int64_t *arg, int32_t *ret_args, symbols_comm *ret_comm, hu_error *err);

#endif
