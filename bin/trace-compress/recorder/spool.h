/* spool.h: what the recorder leaves on disc while a program runs: one file for each thread of a process, written through a shared mapping, so that
 * it survives whatever ends the process. trace-compress makes a trace of a folder of them (spool.c).
 *
 * A file is the header below, then `committed` bytes of events, one after another. All numbers are of the machine that wrote them, which must be little-endian. An event is
 *     event header, then for one with HU_SPOOL_COUNTED the two words of a counted one, then its arguments as zigzag varints.
 * Arguments follow the function's letters in the table (lib/io/trace.h says what they mean); three letters say more here than in a trace:
 *     C  a new communicator: handle, own rank, group size, remote size (-1: none), group's world ranks, remote group's world ranks (-1: of another world)
 *     Y  a new datatype: handle, size, lower bound, extent
 *     others that name an object: its handle
 */
#ifndef TC_SPOOL_H
#define TC_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#define HU_SPOOL_MAGIC "HUSPOOL1"
#define HU_SPOOL_SUFFIX ".spool"

enum {
    HU_SPOOL_FUNCTIONS = 1024,
    HU_SPOOL_TABLE = 40960,  /* bytes of the table of functions */
    HU_SPOOL_HEADER = 65536, /* where the events begin */
    HU_SPOOL_WINDOW = 1 << 20,
    HU_SPOOL_TEXT = 2048
};

/* MPICH's handles (its ABI). */
enum {
    HU_SPOOL_WORLD = 0x44000000, HU_SPOOL_SELF = 0x44000001, HU_SPOOL_COMM_NULL = 0x04000000, HU_SPOOL_GROUP_NULL = 0x08000000, HU_SPOOL_TYPE_NULL = 0x0c000000,
    HU_SPOOL_OP_NULL = 0x18000000, HU_SPOOL_WIN_NULL = 0x20000000, HU_SPOOL_REQUEST_NULL = 0x2c000000, HU_SPOOL_SESSION_NULL = 0x38000000
};

enum { HU_SPOOL_ERROR = 1, HU_SPOOL_COUNTED = 2, HU_SPOOL_POLL = 4, HU_SPOOL_GAP = 8 }; /* flags of an event */

typedef struct {
    uint32_t length; /* bytes, this header included */
    uint16_t function;
    uint8_t flags, zero;
    uint64_t enter, leave; /* ns of CLOCK_MONOTONIC */
} hu_spool_event;

typedef struct {
    uint64_t count, busy; /* how many equal polls that found nothing, and the ns spent in them */
} hu_spool_counted;

typedef struct {
    int64_t at, offset, round_trip; /* own clock when measured; rank 0's clock minus it; round_trip < 0: not measured */
} hu_spool_sync;

typedef struct {
    char magic[8];
    uint32_t header_bytes, functions;
    int32_t pid, thread; /* the process; number of the thread in it, from 0 */
    int32_t rank, size;  /* of the process in its world; -1: not known (yet) */
    uint64_t world;      /* tells the processes of a spawned world from others; 0: started by the launcher */
    _Atomic uint64_t committed;
    _Atomic uint64_t dropped; /* events not recorded since the disc was full or the limit reached */
    uint64_t nested;          /* calls made by MPI itself, or by callbacks */
    int32_t finished;         /* 1: the program came to MPI_Finalize, MPI_Session_finalize or exit */
    int32_t stopped;          /* errno that stopped the recording; 0: none */
    uint64_t started;         /* CLOCK_MONOTONIC at opening */
    hu_spool_sync sync[2];    /* at MPI_Init and at MPI_Finalize */
    char host[256];
    char library[256];
    char command[HU_SPOOL_TEXT];
    uint64_t calls[HU_SPOOL_FUNCTIONS]; /* of functions that are only counted */
    char table[HU_SPOOL_TABLE];         /* lines "MPI_Name letters", the functions in order ("=": only counted), then "MPI_TYPE handle size" */
} hu_spool_header;

_Static_assert(sizeof(hu_spool_header) <= HU_SPOOL_HEADER, "the header fits");

#endif
