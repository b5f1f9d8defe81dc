/* trace.h: the MPI event trace (.mtz), a streamed bundle of kind "mpi-trace" (bundle.h). hpcutils-trace(5) is the contract.
 *
 * A trace is a head and one sequence of events for each stream (a thread of a process). An event is a call of a function: its times, and its arguments as a row of
 * integers that the function's letters explain, one letter an argument:
 *
 *     n count    t datatype   p peer (rank in the communicator)   g tag      c communicator   k root    o operation   i another integer
 *     u buffer: 0, 1 MPI_IN_PLACE, 2 NULL     r request    q new request     m message        M new message
 *     e group    E new group  w window   W new window   h file   H new file  y session  L new session  O new operation
 *     f flag     x index (of MPI_Waitany)     C new communicator
 *     s status: source, tag, bytes (three integers)        Y new datatype: id, size, lower bound, extent (four)
 *     N counts   D displacements and other integers   T datatypes   P peers   R requests   X indices: length, then the items
 *     Z statuses: length, then three integers each
 *
 * Objects are numbered for each process: communicators 0 WORLD, 1 SELF, then as they are made; datatypes: first those that head.type lists, then as they are made;
 * requests, messages, windows, files, groups, sessions and operations take the lowest number that is free. -1 is the null object.
 *
 * Sections: the head, events, writing, reading.
 */
#ifndef HU_IO_TRACE_H
#define HU_IO_TRACE_H

#include "base/output.h"
#include "io/bundle.h"
#include "io/source.h"

#define HU_TRACE_KIND "mpi-trace"
enum { HU_TRACE_MAJOR = 1, HU_TRACE_MINOR = 0, HU_TRACE_FUNCTIONS = 4096, HU_TRACE_CHUNK = 1 << 20, HU_TRACE_WORLD = 0, HU_TRACE_SELF = 1 };

/* ---- the head */

typedef enum { HU_TRACE_EXACT, HU_TRACE_REL, HU_TRACE_NONE } hu_trace_time; /* what is kept of the times */

typedef struct {
    char *name, *letters;
} hu_trace_function;

typedef struct {
    char *name;
    int64_t size;
} hu_trace_type;

typedef struct {
    int64_t at, offset, round_trip; /* ns: own clock; rank 0's clock minus own; < 0: not measured */
} hu_trace_sync;

typedef struct {
    int32_t rank;             /* of the process: its rank in MPI_COMM_WORLD, later worlds (spawned) counted on */
    int32_t thread;           /* 0: the first that called MPI */
    int32_t host;             /* index of head.host */
    bool finished;            /* came to its end; false: killed, aborted or cut */
    int64_t dropped, nested;  /* events lost to a full disc or a limit; calls that MPI or callbacks made */
    int64_t start;            /* ns of its own clock: event times count from here */
    hu_trace_sync sync[2];
} hu_trace_stream;

typedef struct {
    int32_t size, remote;              /* members; of the remote group, -1: none (no intercommunicator) */
    int32_t *member, *remote_member;   /* ranks; -1: unknown, of another world */
} hu_trace_comm;

typedef struct {
    int32_t count;
    int32_t *comm; /* [count] local communicator -> head.comm; -1: SELF */
} hu_trace_locals;

typedef struct {
    hu_trace_time time;
    double error;                      /* HU_TRACE_REL: largest relative error of a time, by all packings together */
    double coded;                      /* that of the last packing: what its times are written with */
    char *command, *library;
    int32_t hosts, functions, types, worlds, ranks, streams, comms;
    char **host;
    hu_trace_function *function;
    hu_trace_type *type;
    int32_t *world;                    /* [worlds] sizes; their sum is ranks */
    hu_trace_stream *stream;           /* sorted by rank and thread */
    hu_trace_comm *comm;               /* [comms] 0: WORLD */
    hu_trace_locals *local;            /* [ranks] */
} hu_trace_head;

void hu_trace_head_free(hu_trace_head *head); /* what it holds; NULL is allowed */

/* Index of the function of that name, or -1. */
int32_t hu_trace_find(const hu_trace_head *head, const char *name);

/* ns to add to a time (counted from the stream's start) to have it on the clock of rank 0: by the two measurements, linear between and beyond them. Zero for
 * processes of one host whose clocks agree within the round trip. */
double hu_trace_correction(const hu_trace_stream *stream, int64_t time);

/* ---- events */

typedef struct {
    int32_t stream, function;
    bool error, poll, gap;  /* the call failed; a run of equal polls that found nothing; calls before it were not recorded (MPI_Pcontrol) */
    int64_t enter, leave;   /* ns since the stream's start */
    int64_t count, busy;    /* poll: how many, and the ns spent in them; else 1 and leave - enter */
    int32_t args;
    const int64_t *arg;     /* [args] as the letters say */
} hu_trace_event;

/* Walks over an event's arguments: returns the next letter and its values, 0 behind the last. */
typedef struct {
    const char *letter;
    const int64_t *at, *end;
} hu_trace_walk;

hu_trace_walk hu_trace_walk_of(const hu_trace_head *head, const hu_trace_event *event);
char hu_trace_walk_next(hu_trace_walk *walk, const int64_t **ret_values, int64_t *ret_count);

/* How many values one item of a letter has (1, s and Z 3, Y 4), and whether a letter is an array with its length in front. */
int hu_trace_letter_width(char letter);
bool hu_trace_letter_is_array(char letter);
bool hu_trace_letters_known(const char *letters);

/* ---- writing */

typedef struct hu_trace_writer hu_trace_writer;

/* Starts a trace; head is borrowed and must live until the end. Free with hu_trace_finish() or hu_trace_abort(). */
hu_status hu_trace_create(const hu_trace_head *head, hu_bundle_filter filter, int level, hu_output *out, hu_trace_writer **ret_writer, hu_error *err);
hu_status hu_trace_put(hu_trace_writer *writer, const hu_trace_event *event, hu_error *err);
hu_status hu_trace_end_stream(hu_trace_writer *writer, int32_t stream, hu_error *err); /* no more events of it: its memory is given back */
hu_status hu_trace_finish(hu_trace_writer **writer, hu_error *err);
void hu_trace_abort(hu_trace_writer **writer); /* NULL is allowed */

/* ---- packing: the same events as a grammar, with their times exact, within an error, or left out (hpcutils-trace(5)) */

typedef struct hu_trace_packer hu_trace_packer;

/* Packs a trace with this head (borrowed) to out. error: for HU_TRACE_REL the largest relative error of a gap between events and of a duration, 0.0001 to 0.5. Events come in
 * the order of their ranks; threads of a rank may alternate. Free with hu_trace_pack_finish() or hu_trace_pack_abort(). */
hu_status hu_trace_pack_create(const hu_trace_head *head, hu_trace_time time, double error, hu_output *out, hu_trace_packer **ret_packer, hu_error *err);
hu_status hu_trace_pack_put(hu_trace_packer *packer, const hu_trace_event *event, hu_error *err);
hu_status hu_trace_pack_finish(hu_trace_packer **packer, hu_error *err);
void hu_trace_pack_abort(hu_trace_packer **packer); /* NULL is allowed */

/* ---- reading: of either form */

typedef struct hu_trace_reader hu_trace_reader;

/* Reads the head, from a pipe too. The source must live as long. Free with hu_trace_close(). */
hu_status hu_trace_open(hu_source *source, hu_trace_reader **ret_reader, hu_error *err);
void hu_trace_close(hu_trace_reader *reader); /* NULL is allowed */
const hu_trace_head *hu_trace_reader_head(const hu_trace_reader *reader);
const char *hu_trace_reader_name(const hu_trace_reader *reader);

/* The next event, valid until the next call; HU_END behind the last. Events of a stream come in their order; streams may alternate. */
hu_status hu_trace_next(hu_trace_reader *reader, hu_trace_event *ret_event, hu_error *err);

#endif
