/* tournament.c: the greatest of numbers that change. */
#include "config.h"
#include "tournament.h"
#include "base/memory.h"

hu_status tournament_open(int64_t n, tournament *ret, hu_error *err)
{
    *ret = (tournament){.leaves = 1};
    while (ret->leaves < n) ret->leaves *= 2;
    if (hu_alloc(2 * ret->leaves, sizeof *ret->winner, "a tournament", (void **)&ret->winner, err)) return err->status;
    for (int64_t k = 0; k < 2 * ret->leaves; k++) ret->winner[k] = INT64_MIN;
    return HU_OK;
}

void tournament_close(tournament *t)
{
    hu_free(t->winner);
    *t = (tournament){0};
}

void tournament_set(tournament *t, int64_t i, int64_t value)
{
    int64_t k = t->leaves + i;
    t->winner[k] = value;
    for (k /= 2; k > 0; k /= 2) {
        int64_t a = t->winner[2 * k], b = t->winner[2 * k + 1];
        t->winner[k] = a > b ? a : b;
    }
}

int64_t tournament_most(const tournament *t)
{
    return t->winner[1];
}

int64_t tournament_first(const tournament *t, int64_t least)
{
    int64_t k = 1;
    if (t->winner[1] < least) return -1;
    while (k < t->leaves) k = 2 * k + (t->winner[2 * k] < least);
    return k - t->leaves;
}
