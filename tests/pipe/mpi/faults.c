/* faults.c: small MPI programs that tracers have got wrong; each prints what its answer depends on, so that a recorder that changes anything shows.
 * Usage: faults CASE */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Four sends and four receives; all eager sends have one handle. */
static void same_handles(void)
{
    int in[4], out[4] = {rank, rank + 1, rank + 2, rank + 3}, other = rank ^ 1;
    MPI_Request r[4], s[4];
    for (int i = 0; i < 4; i++) MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 4; i++) MPI_Isend(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &s[i]);
    MPI_Waitall(4, s, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    printf("%d %d\n", rank, in[3]);
}

/* Handles of communicators and types that are used again. */
static void reused_handles(void)
{
    MPI_Comm c;
    MPI_Datatype t;
    int in, out = rank, other = rank ^ 1;
    for (int i = 0; i < 3; i++) {
        MPI_Request r[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Type_contiguous(i + 1, MPI_INT, &t);
        MPI_Type_commit(&t);
        int a[4] = {0}, b[4] = {0};
        MPI_Irecv(a, 1, t, other, 0, c, &r[0]);
        MPI_Isend(b, 1, t, other, 0, c, &r[1]);
        MPI_Comm_free(&c);
        MPI_Type_free(&t);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Sendrecv(&out, 1, MPI_INT, other, 1, &in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d %d\n", rank, in);
}

/* Null requests, inactive persistent ones, all of them null. */
static void holes(void)
{
    int in = -1, out = rank, other = rank ^ 1, index, done, which[4];
    MPI_Request r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(4, r, &done, which, MPI_STATUSES_IGNORE);
    printf("%d %d %d\n", rank, index == MPI_UNDEFINED, done == MPI_UNDEFINED);
    MPI_Recv_init(&in, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Send_init(&out, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&r[1]);
        MPI_Start(&r[3]);
        for (int k = 0; k < 2; k++) MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r[1]);
    MPI_Request_free(&r[3]);
    printf("%d %d\n", rank, in);
}

/* Recording is off in the middle; a request opened there is waited for outside. */
static void pauses(void)
{
    int in, out = rank, other = rank ^ 1;
    MPI_Request r;
    for (int i = 0; i < 4; i++) {
        if (i == 1) MPI_Pcontrol(0);
        if (i == 3) MPI_Pcontrol(1);
        MPI_Sendrecv(&out, 1, MPI_INT, other, i, &in, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i == 2) MPI_Irecv(&in, 1, MPI_INT, other, 9, MPI_COMM_WORLD, &r);
    }
    MPI_Send(&out, 1, MPI_INT, other, 9, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    printf("%d %d\n", rank, in);
}

static void *talk(void *arg)
{
    MPI_Comm *comm = arg;
    int in, out = 1, other = rank ^ 1;
    for (int i = 0; i < 50; i++) MPI_Sendrecv(&out, 1, MPI_INT, other, i, &in, 1, MPI_INT, other, i, *comm, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];
    MPI_Comm c[4];
    for (int i = 0; i < 4; i++) MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, talk, &c[i]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < 4; i++) MPI_Comm_free(&c[i]);
    printf("%d\n", rank);
}

/* Communicators of every making; prints the ranks that a recorder must know. */
static void communicators(void)
{
    MPI_Comm none, back, inter, merged, part, late;
    MPI_Group all, low;
    MPI_Request r;
    int where, ranks[2] = {0, 1};
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &none);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
    MPI_Comm_rank(back, &where);
    printf("%d back %d\n", rank, where);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &inter);
    MPI_Intercomm_merge(inter, rank % 2 == 0, &merged);
    MPI_Comm_rank(merged, &where);
    printf("%d merged %d\n", rank, where);
    MPI_Barrier(inter);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, ranks, &low);
    if (rank < 2) {
        MPI_Comm two;
        MPI_Comm_create_group(MPI_COMM_WORLD, low, 3, &two);
        MPI_Barrier(two);
        MPI_Comm_free(&two);
    }
    MPI_Comm_idup(back, &late, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(late);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, in[2] = {0, 0}, sources[2] = {left, left}, targets[2] = {right, right};
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, graph);
    printf("%d graph %d\n", rank, in[1]);
    MPI_Group_free(&all);
    MPI_Group_free(&low);
}

/* Nonblocking collectives on two communicators, completed out of order. */
static void overlap(void)
{
    MPI_Comm c;
    MPI_Request r[3];
    int a = rank, b = 0, sum = 0, root = 5;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Iallreduce(&a, &sum, 1, MPI_INT, MPI_SUM, c, &r[0]);
    MPI_Ibcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Ibarrier(c, &r[2]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    printf("%d %d %d\n", rank, sum, b);
}

static void user_sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static int copy_calls;
static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int x = 1, y;
    (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    copy_calls++;
    return MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, comm == MPI_COMM_NULL ? comm : MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* MPI called from inside MPI. */
static void nested(void)
{
    MPI_Op op;
    MPI_Comm c;
    int key, a = rank + 1, sum;
    MPI_Op_create(user_sum, 1, &op);
    MPI_Allreduce(&a, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    printf("%d %d %d\n", rank, sum, copy_calls);
}

/* Sizes beyond 32 bits, to nowhere. */
static void large(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous(1 << 30, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Send(&rank, 3, t, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Send_c(&rank, 5000000000, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    printf("%d\n", rank);
}

/* Derived types, per-peer types, a resized struct, no items at all. */
static void types(void)
{
    MPI_Datatype vector, resized, both, kinds[2];
    int lengths[2] = {1, 0};
    MPI_Aint places[2] = {0, 64};
    MPI_Type_vector(3, 2, 4, MPI_INT, &vector);
    MPI_Type_create_resized(vector, -4, 96, &resized);
    kinds[0] = resized, kinds[1] = MPI_DOUBLE;
    MPI_Type_create_struct(2, lengths, places, kinds, &both);
    MPI_Type_commit(&both);
    static int out[256], in[256];
    int other = rank ^ 1, count = 0;
    MPI_Status s;
    MPI_Sendrecv(out + 8, 2, both, other, 0, in + 8, 2, both, other, 0, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &count);
    int *n = calloc((size_t)size, sizeof *n), *at = calloc((size_t)size, sizeof *at);
    MPI_Datatype *ty = calloc((size_t)size, sizeof *ty);
    for (int i = 0; i < size; i++) n[i] = 1, ty[i] = i == rank ? MPI_INT : MPI_FLOAT, at[i] = 4 * i;
    MPI_Alltoallw(out, n, at, ty, in, n, at, ty, MPI_COMM_WORLD);
    printf("%d %d\n", rank, count);
    free(n), free(at), free(ty);
}

/* A hundred barriers of two ranks, each of which goes on only when the other is out of the last one: how it ends must not cut that one short. */
static void hundred_barriers(void)
{
    for (int i = 0; i < 100; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(NULL, 0, MPI_INT, 1 - rank, 0, NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void killed(void)
{
    hundred_barriers();
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void aborted(void)
{
    hundred_barriers();
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void many(void)
{
    for (int i = 0; i < 200000; i++) MPI_Allreduce(MPI_IN_PLACE, &(int){i}, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    printf("%d\n", rank);
}

static void memory(void)
{
    MPI_Win w;
    int *base;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    *base = 0;
    MPI_Win_fence(0, w);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
    printf("%d\n", rank);
}

static void files(void)
{
    MPI_File f;
    int value = rank, got = -1;
    MPI_File_open(MPI_COMM_WORLD, "faults.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(f, 4 * ((rank + 1) % size), &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    printf("%d %d\n", rank, got);
}

static void sessions(void)
{
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    int a = 1, sum = 0, who;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Comm_rank(c, &who);
    MPI_Allreduce(&a, &sum, 1, MPI_INT, MPI_SUM, c);
    printf("%d %d\n", who, sum);
    MPI_Group_free(&g);
    MPI_Comm_free(&c);
    MPI_Session_finalize(&s);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"same_handles", same_handles}, {"reused_handles", reused_handles}, {"holes", holes}, {"pauses", pauses}, {"threads", threads}, {"communicators", communicators},
                 {"overlap", overlap}, {"nested", nested}, {"large", large}, {"types", types}, {"killed", killed}, {"aborted", aborted}, {"many", many}, {"memory", memory}, {"files", files}};
    const char *name = argc > 1 ? argv[1] : "";
    int given;
    if (strcmp(name, "sessions") == 0) {
        sessions();
        return 0;
    }
    MPI_Init_thread(&argc, &argv, strcmp(name, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0) cases[i].run();
    if (strcmp(name, "exits") == 0) {
        hundred_barriers();
        fflush(NULL);
        exit(3);
    }
    MPI_Finalize();
    return 0;
}
