/* tournament.h: n numbers that change, of which the greatest is known at once, and the first that is at least x in log n steps. */
#ifndef PP_TOURNAMENT_H
#define PP_TOURNAMENT_H

#include "base/error.h"

typedef struct {
    int64_t leaves;   /* a power of two */
    int64_t *winner;  /* [2 leaves] number i is winner[leaves + i]; winner[k] = max(winner[2k], winner[2k+1]) */
} tournament;

/* All numbers INT64_MIN. Free with tournament_close(). */
hu_status tournament_open(int64_t n, tournament *ret, hu_error *err);
void tournament_close(tournament *t);

void tournament_set(tournament *t, int64_t i, int64_t value);
int64_t tournament_most(const tournament *t);
int64_t tournament_first(const tournament *t, int64_t least); /* the lowest i whose number is >= least, or -1 */

#endif
