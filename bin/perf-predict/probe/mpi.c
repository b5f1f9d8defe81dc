/* mpi.c: the part of a probed MPI program that counts its calls, through the profiling interface (PMPI).
 *
 * A call is counted as it begins. Bytes are those of the send buffer: what this process hands over, so that the sum over the processes counts each message
 * once (a root's buffer for all in MPI_Scatter, one buffer in MPI_Bcast and the reductions); receives count as calls. A persistent request counts its bytes
 * once, where it is made. Peers are the different processes, by their rank in MPI_COMM_WORLD, that point-to-point calls name.
 *
 * Sections: counters, sizes, start, point to point, completion, collectives, one-sided, communicators.
 */
#define HU_PROBE_INSIDE
#include "runtime.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* ---- counters ----------------------------------------------------------------------------------------------------------- */

/* One a function. */
typedef struct counter {
    const char *name;
    uint64_t calls, bytes;
    unsigned char *is_peer; /* [ranks], or NULL */
    uint64_t cut_at;        /* the call at which the counters are taken early; 0: none */
    struct counter *next;
    int is_listed;
} counter;

static counter *counters;
static int ranks;
static MPI_Group world;

static void list(counter *c)
{
    uint64_t n;
    if (__atomic_exchange_n(&c->is_listed, 1, __ATOMIC_ACQ_REL)) return;
    if (hu_probe_cut_call(c->name, &n)) c->cut_at = n;
    c->next = __atomic_load_n(&counters, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&counters, &c->next, c, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

static void count(counter *c, uint64_t bytes)
{
    list(c);
    __atomic_add_fetch(&c->bytes, bytes, __ATOMIC_RELAXED);
    uint64_t n = __atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED);
    if (c->cut_at && n == c->cut_at) hu_probe_cut_here();
}

static void count_peer(counter *c, int rank, MPI_Comm comm)
{
    int same = MPI_UNEQUAL, there = MPI_UNDEFINED;
    MPI_Group group;
    if (rank < 0 || !ranks) return; /* MPI_PROC_NULL, MPI_ANY_SOURCE */
    if (comm == MPI_COMM_WORLD) there = rank;
    else if (PMPI_Comm_test_inter(comm, &same) == MPI_SUCCESS && !same && PMPI_Comm_group(comm, &group) == MPI_SUCCESS) {
        PMPI_Group_translate_ranks(group, 1, &rank, world, &there);
        PMPI_Group_free(&group);
    }
    if (there < 0 || there >= ranks) return;
    unsigned char *seen = __atomic_load_n(&c->is_peer, __ATOMIC_ACQUIRE), *none = NULL;
    if (!seen) {
        seen = calloc((size_t)ranks, 1);
        if (!seen) return;
        if (!__atomic_compare_exchange_n(&c->is_peer, &none, seen, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            free(seen);
            seen = none;
        }
    }
    seen[there] = 1;
}

static void put_calls(int fd)
{
    hu_probe_write(fd, "hupmpi_1", 8);
    for (const counter *c = __atomic_load_n(&counters, __ATOMIC_ACQUIRE); c; c = c->next) {
        hu_probe_call record = {.calls = c->calls, .bytes = c->bytes};
        strncpy(record.name, c->name, sizeof record.name - 1);
        for (int r = 0; c->is_peer && r < ranks; r++) record.peers += c->is_peer[r];
        hu_probe_write(fd, &record, sizeof record);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(int n, MPI_Datatype type)
{
    int size = 0;
    if (n <= 0 || PMPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return (uint64_t)n * (uint64_t)size;
}

/* To MPI_PROC_NULL nothing goes. */
static uint64_t bytes_to(int to, int n, MPI_Datatype type)
{
    return to == MPI_PROC_NULL ? 0 : bytes_of(n, type);
}

static int size_of(MPI_Comm comm)
{
    int n = 0, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) PMPI_Comm_remote_size(comm, &n);
    else PMPI_Comm_size(comm, &n);
    return n;
}

static uint64_t bytes_of_all(const int *n, MPI_Datatype type, MPI_Comm comm)
{
    uint64_t sum = 0;
    for (int k = size_of(comm) - 1; k >= 0; k--) sum += bytes_of(n[k], type);
    return sum;
}

static int is_root(int root, MPI_Comm comm)
{
    int rank = MPI_PROC_NULL;
    PMPI_Comm_rank(comm, &rank);
    return root == rank || root == MPI_ROOT;
}

#pragma GCC visibility pop

/* ---- start ----------------------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    hu_probe_put_calls = put_calls;
    hu_probe_ranks(rank, ranks);
}

int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS) begin();
    return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int status = PMPI_Init_thread(argc, argv, required, provided);
    if (status == MPI_SUCCESS) begin();
    return status;
}

/* A function that is counted: its parameters, the call's arguments, the bytes, and what else is noted. */
#define COUNTED(function, parameters, arguments, bytes_sent, more) \
    int MPI_##function parameters                                         \
    {                                                                     \
        static counter c = {.name = "MPI_" #function};                    \
        count(&c, bytes_sent);                                            \
        more;                                                             \
        return PMPI_##function arguments;                                 \
    }
#define PEER(rank) count_peer(&c, rank, comm)

/* ---- point to point ----------------------------------------------------------------------------------------------------------- */

#define SEND(function) \
    COUNTED(function, (const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm), (buffer, n, type, to, tag, comm), bytes_to(to, n, type), PEER(to))
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
#define ISEND(function)                                                                                                                                      \
    COUNTED(function, (const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request), (buffer, n, type, to, tag, comm, request), \
            bytes_to(to, n, type), PEER(to))
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)
ISEND(Send_init)
ISEND(Bsend_init)
ISEND(Ssend_init)
ISEND(Rsend_init)
COUNTED(Recv, (void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status), (buffer, n, type, from, tag, comm, status), 0, PEER(from))
COUNTED(Irecv, (void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request), (buffer, n, type, from, tag, comm, request), 0, PEER(from))
COUNTED(Recv_init, (void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request), (buffer, n, type, from, tag, comm, request), 0, PEER(from))
COUNTED(Sendrecv,
        (const void *a, int na, MPI_Datatype ta, int to, int tag_a, void *b, int nb, MPI_Datatype tb, int from, int tag_b, MPI_Comm comm, MPI_Status *status),
        (a, na, ta, to, tag_a, b, nb, tb, from, tag_b, comm, status), bytes_to(to, na, ta), (PEER(to), PEER(from)))
COUNTED(Sendrecv_replace, (void *a, int n, MPI_Datatype type, int to, int tag_a, int from, int tag_b, MPI_Comm comm, MPI_Status *status),
        (a, n, type, to, tag_a, from, tag_b, comm, status), bytes_to(to, n, type), (PEER(to), PEER(from)))
COUNTED(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status), (from, tag, comm, status), 0, PEER(from))
COUNTED(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status), (from, tag, comm, flag, status), 0, PEER(from))
COUNTED(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status), (from, tag, comm, message, status), 0, PEER(from))
COUNTED(Mrecv, (void *buffer, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status), (buffer, n, type, message, status), 0, (void)0)

/* ---- completion --------------------------------------------------------------------------------------------------------------- */

COUNTED(Start, (MPI_Request *request), (request), 0, (void)0)
COUNTED(Startall, (int n, MPI_Request *request), (n, request), 0, (void)0)
COUNTED(Wait, (MPI_Request *request, MPI_Status *status), (request, status), 0, (void)0)
COUNTED(Waitall, (int n, MPI_Request *request, MPI_Status *status), (n, request, status), 0, (void)0)
COUNTED(Waitany, (int n, MPI_Request *request, int *which, MPI_Status *status), (n, request, which, status), 0, (void)0)
COUNTED(Waitsome, (int n, MPI_Request *request, int *done, int *which, MPI_Status *status), (n, request, done, which, status), 0, (void)0)
COUNTED(Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status), 0, (void)0)
COUNTED(Testall, (int n, MPI_Request *request, int *flag, MPI_Status *status), (n, request, flag, status), 0, (void)0)
COUNTED(Testany, (int n, MPI_Request *request, int *which, int *flag, MPI_Status *status), (n, request, which, flag, status), 0, (void)0)
COUNTED(Testsome, (int n, MPI_Request *request, int *done, int *which, MPI_Status *status), (n, request, done, which, status), 0, (void)0)

/* ---- collectives -------------------------------------------------------------------------------------------------------------- */

/* The send buffer of a collective: MPI_IN_PLACE leaves it to the receive buffer. */
static uint64_t bytes_in(const void *a, int na, MPI_Datatype ta, int nb, MPI_Datatype tb)
{
    return a == MPI_IN_PLACE ? bytes_of(nb, tb) : bytes_of(na, ta);
}

COUNTED(Barrier, (MPI_Comm comm), (comm), 0, (void)0)
COUNTED(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), 0, (void)0)
COUNTED(Bcast, (void *a, int n, MPI_Datatype type, int root, MPI_Comm comm), (a, n, type, root, comm), is_root(root, comm) ? bytes_of(n, type) : 0, (void)0)
COUNTED(Ibcast, (void *a, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request), (a, n, type, root, comm, request),
        is_root(root, comm) ? bytes_of(n, type) : 0, (void)0)
COUNTED(Reduce, (const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), (a, b, n, type, op, root, comm), bytes_of(n, type), (void)0)
COUNTED(Ireduce, (const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request), (a, b, n, type, op, root, comm, request),
        bytes_of(n, type), (void)0)
#define REDUCE(function) \
    COUNTED(function, (const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (a, b, n, type, op, comm), bytes_of(n, type), (void)0)
REDUCE(Allreduce)
REDUCE(Scan)
REDUCE(Exscan)
COUNTED(Iallreduce, (const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request), (a, b, n, type, op, comm, request), bytes_of(n, type), (void)0)
COUNTED(Reduce_scatter, (const void *a, void *b, const int *n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (a, b, n, type, op, comm), bytes_of_all(n, type, comm), (void)0)
COUNTED(Reduce_scatter_block, (const void *a, void *b, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (a, b, n, type, op, comm),
        bytes_of(n, type) * (uint64_t)size_of(comm), (void)0)
COUNTED(Gather, (const void *a, int na, MPI_Datatype ta, void *b, int nb, MPI_Datatype tb, int root, MPI_Comm comm), (a, na, ta, b, nb, tb, root, comm),
        bytes_in(a, na, ta, nb, tb), (void)0)
COUNTED(Gatherv, (const void *a, int na, MPI_Datatype ta, void *b, const int *nb, const int *at, MPI_Datatype tb, int root, MPI_Comm comm),
        (a, na, ta, b, nb, at, tb, root, comm), a == MPI_IN_PLACE ? 0 : bytes_of(na, ta), (void)0)
COUNTED(Scatter, (const void *a, int na, MPI_Datatype ta, void *b, int nb, MPI_Datatype tb, int root, MPI_Comm comm), (a, na, ta, b, nb, tb, root, comm),
        is_root(root, comm) ? bytes_of(na, ta) * (uint64_t)size_of(comm) : 0, (void)0)
COUNTED(Scatterv, (const void *a, const int *na, const int *at, MPI_Datatype ta, void *b, int nb, MPI_Datatype tb, int root, MPI_Comm comm),
        (a, na, at, ta, b, nb, tb, root, comm), is_root(root, comm) ? bytes_of_all(na, ta, comm) : 0, (void)0)
#define GATHER_ALL(function, factor)                                                                                                                                  \
    COUNTED(function, (const void *a, int na, MPI_Datatype ta, void *b, int nb, MPI_Datatype tb, MPI_Comm comm), (a, na, ta, b, nb, tb, comm), \
            bytes_in(a, na, ta, nb, tb) * (factor), (void)0)
GATHER_ALL(Allgather, 1u)
GATHER_ALL(Alltoall, (uint64_t)size_of(comm))
COUNTED(Allgatherv, (const void *a, int na, MPI_Datatype ta, void *b, const int *nb, const int *at, MPI_Datatype tb, MPI_Comm comm), (a, na, ta, b, nb, at, tb, comm),
        a == MPI_IN_PLACE ? 0 : bytes_of(na, ta), (void)0)
COUNTED(Alltoallv, (const void *a, const int *na, const int *pa, MPI_Datatype ta, void *b, const int *nb, const int *pb, MPI_Datatype tb, MPI_Comm comm),
        (a, na, pa, ta, b, nb, pb, tb, comm), a == MPI_IN_PLACE ? bytes_of_all(nb, tb, comm) : bytes_of_all(na, ta, comm), (void)0)
#define IGATHER_ALL(function, factor)                                                                                                                              \
    COUNTED(function, (const void *a, int na, MPI_Datatype ta, void *b, int nb, MPI_Datatype tb, MPI_Comm comm, MPI_Request *request), \
            (a, na, ta, b, nb, tb, comm, request), bytes_in(a, na, ta, nb, tb) * (factor), (void)0)
IGATHER_ALL(Iallgather, 1u)
IGATHER_ALL(Ialltoall, (uint64_t)size_of(comm))

/* ---- one-sided ---------------------------------------------------------------------------------------------------------------- */

COUNTED(Put, (const void *a, int na, MPI_Datatype ta, int to, MPI_Aint at, int nb, MPI_Datatype tb, MPI_Win win), (a, na, ta, to, at, nb, tb, win), bytes_to(to, na, ta), (void)0)
COUNTED(Get, (void *a, int na, MPI_Datatype ta, int to, MPI_Aint at, int nb, MPI_Datatype tb, MPI_Win win), (a, na, ta, to, at, nb, tb, win), bytes_to(to, na, ta), (void)0)
COUNTED(Accumulate, (const void *a, int na, MPI_Datatype ta, int to, MPI_Aint at, int nb, MPI_Datatype tb, MPI_Op op, MPI_Win win), (a, na, ta, to, at, nb, tb, op, win),
        bytes_to(to, na, ta), (void)0)
COUNTED(Win_fence, (int assert, MPI_Win win), (assert, win), 0, (void)0)
COUNTED(Win_lock, (int kind, int rank, int assert, MPI_Win win), (kind, rank, assert, win), 0, (void)0)
COUNTED(Win_unlock, (int rank, MPI_Win win), (rank, win), 0, (void)0)

/* ---- communicators ------------------------------------------------------------------------------------------------------------ */

COUNTED(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), 0, (void)0)
COUNTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made), 0, (void)0)
COUNTED(Comm_free, (MPI_Comm *comm), (comm), 0, (void)0)
