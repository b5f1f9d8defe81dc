/* counters.h: the counters of probed processes, by stable names.
 *
 * Names. Sources are named from the longest folder that all of them share.
 *     heat.c:step:41            how often the line ran
 *     heat.c:step:41:b0         how often the line's first branch was taken (in gcov's order; of a loop one branch stays and one leaves)
 *     heat.c:main:57:v          comparisons of two variables on the line (c: with a constant, s: switch), and behind it
 *     :left:min :left:max :left:last :left:mean, the same of :right
 *     MPI_Isend:calls           calls, :bytes and :peers
 *
 * Over the processes of a run, counts are summed; what carries ":max" behind it is the greatest of one process. Of values, min is the least of all,
 * max the greatest, last the mean over the processes of each one's last, and mean that of all comparisons.
 */
#ifndef PP_COUNTERS_H
#define PP_COUNTERS_H

#include "io/json.h"

typedef enum { COUNTER_SUM, COUNTER_MIN, COUNTER_MAX, COUNTER_LAST, COUNTER_MEAN } counter_kind;

typedef struct {
    char *name;
    counter_kind kind;
    double value;   /* by kind; of LAST and MEAN, the sum */
    double weight;  /* of a MEAN: of all that was summed */
    double now;     /* of the process at hand */
    double most;    /* of one process */
    int64_t count;  /* processes that have it */
    bool is_now;    /* the process at hand has it */
} counter;

typedef struct {
    counter *counter; /* [count] in no order */
    int64_t count, room;
    int64_t *slot; /* [slots] index + 1, or 0 */
    int64_t slots;
} counters;

void counters_free(counters *c); /* the fields, not c */

/* Adds v to what the process at hand has under that name: of SUM the sum is kept, of MIN and MAX the least and greatest, of LAST the last given, of MEAN the sum,
 * which `weight` things made. */
hu_status counters_add(counters *c, const char *name, counter_kind kind, double v, double weight, hu_error *err);

/* Ends the process at hand. */
void counters_end_process(counters *c);

/* The counter by that name, or NULL. */
const counter *counters_find(const counters *c, const char *name);

/* The value over all processes. */
double counter_value(const counter *c);

/* Adds what one document of gcov says (format 1, gcc 9 and up), `name` in messages. top: the folder that all sources share, without a slash at its end;
 * sources outside are passed over, as are lines without a function. */
hu_status counters_take_gcov(counters *c, const json_t *document, const char *name, const char *top, hu_error *err);

/* Shortens *top (allocated, NULL at the start) to the folder that it shares with the sources of a document; those of the system do not count. */
hu_status counters_common_folder(const json_t *document, const char *name, char **top, hu_error *err);

/* Adds the records of a file `values` (probe/runtime.h). place_name(context, place) gives "file:function:line", or NULL for places to pass over. */
hu_status counters_take_values(counters *c, const char *path, const char *(*place_name)(void *context, uint64_t place), void *context, hu_error *err);

/* Calls each(context, place) for every record of a file `values`. */
hu_status counters_list_places(const char *path, hu_status (*each)(void *context, uint64_t place, hu_error *err), void *context, hu_error *err);

/* Adds the records of a file `mpi`. */
hu_status counters_take_calls(counters *c, const char *path, hu_error *err);

#endif
