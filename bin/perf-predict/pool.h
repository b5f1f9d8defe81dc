/* pool.h: where an active search takes its configurations from: a table, or a space. */
#ifndef PP_POOL_H
#define PP_POOL_H

#include "state.h"

typedef struct {
    const char *table, *space; /* one of them */
    const char *drop, *levels; /* columns of the table that do not count; columns whose numbers are levels; lists "a,b", or NULL */
    hu_csv_options csv;
    int64_t candidates;        /* drawn from a space that has more */
    uint64_t seed;
} pool_options;

typedef struct pool pool;

/* Reads the file. Free with pool_close(). */
hu_status pool_open(const pool_options *options, pool **ret_pool, hu_error *err);
void pool_close(pool *pool); /* NULL is allowed */

/* Begins the state where it is new, else checks that it is about the same columns, and gives the configurations: rows of the state's set. Free *ret_config with hu_free(). A
 * large space gives other ones each time that something was asked or told. */
hu_status pool_list(const pool *pool, state *state, const char *target, bool maximize, int64_t **ret_config, int64_t *ret_count, hu_error *err);

#endif
