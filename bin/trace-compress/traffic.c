/* traffic.c: what an event sends.
 *
 * Sections: what is known of a process, places, point to point, collectives.
 */
#include "config.h"
#include "traffic.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    bool sends;
    int64_t comm, peer, tag, bytes;
} request;

/* What a function is, by its name. */
typedef enum { OTHER, SEND, SEND_INIT, SEND_RECV, START, COLLECTIVE } kind;

struct traffic {
    const hu_trace_head *head;
    kind *kind; /* [functions] */
    int32_t rank;
    request *request;
    int64_t requests, request_room;
    int64_t *size; /* of datatypes that the process made */
    int64_t sizes, size_room;
    traffic_message *message;
    int64_t messages, message_room;
};

/* ---- what is known of a process ------------------------------------------------------------------------------------------- */

static kind kind_of(const char *name)
{
    static const char *const sends[] = {"Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend"};
    static const char *const collectives[] = {"Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce",
                                              "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"};
    char plain[64];
    if (strncmp(name, "MPI_", 4) != 0 || strlen(name) >= sizeof plain) return OTHER;
    strcpy(plain, name + 4);
    size_t n = strlen(plain);
    if (n > 2 && strcmp(plain + n - 2, "_c") == 0) plain[n -= 2] = 0;
    bool persistent = n > 5 && strcmp(plain + n - 5, "_init") == 0;
    if (persistent) plain[n -= 5] = 0;
    if (strcmp(plain, "Start") == 0 || strcmp(plain, "Startall") == 0) return START;
    if (persistent && strcmp(plain, "Psend") == 0) return SEND_INIT;
    if (strncmp(plain, "Sendrecv", 8) == 0 || strncmp(plain, "Isendrecv", 9) == 0) return SEND_RECV;
    for (size_t i = 0; i < sizeof sends / sizeof *sends; i++)
        if (strcmp(plain, sends[i]) == 0) return persistent ? SEND_INIT : SEND;
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strcmp(plain, collectives[i]) == 0 || (plain[0] == 'I' && strncasecmp(plain + 1, collectives[i], n) == 0)) return persistent ? OTHER : COLLECTIVE;
    return OTHER;
}

hu_status traffic_new(const hu_trace_head *head, traffic **ret_traffic, hu_error *err)
{
    traffic *t = *ret_traffic = calloc(1, sizeof *t);
    if (!t) return hu_fail(err, HU_SYSTEM, "out of memory");
    t->head = head;
    t->rank = -1;
    if (hu_alloc_zero(head->functions, sizeof *t->kind, "functions", (void **)&t->kind, err)) {
        traffic_free(t);
        *ret_traffic = NULL;
        return err->status;
    }
    for (int32_t i = 0; i < head->functions; i++) t->kind[i] = kind_of(head->function[i].name);
    return HU_OK;
}

void traffic_free(traffic *t)
{
    if (!t) return;
    hu_free(t->kind);
    hu_free(t->request);
    hu_free(t->size);
    hu_free(t->message);
    free(t);
}

static int64_t size_of(const traffic *t, int64_t type)
{
    if (type < 0) return 0;
    if (type < t->head->types) return t->head->type[type].size;
    return type - t->head->types < t->sizes ? t->size[type - t->head->types] : 0;
}

/* count items of a type: saturates, since counts and sizes may be anything. */
static int64_t bytes_of(const traffic *t, int64_t count, int64_t type)
{
    int64_t bytes;
    return count > 0 && !__builtin_mul_overflow(count, size_of(t, type), &bytes) && bytes > 0 ? bytes : count > 0 && size_of(t, type) > 0 ? INT64_MAX / 8 : 0;
}

/* ---- places ------------------------------------------------------------------------------------------------------------------- */

static int32_t comm_of(const traffic *t, int64_t local)
{
    const hu_trace_locals *l = &t->head->local[t->rank];
    return local >= 0 && local < l->count ? l->comm[local] : -1;
}

/* The group that peers of a communicator are counted in: of an intercommunicator the one that the process is not of. */
static const int32_t *peers_of(const traffic *t, int32_t comm, int32_t *ret_count)
{
    const hu_trace_comm *c = &t->head->comm[comm];
    *ret_count = c->size;
    if (c->remote < 0) return c->member;
    for (int32_t i = 0; i < c->size; i++) {
        if (c->member[i] != t->rank) continue;
        *ret_count = c->remote;
        return c->remote_member;
    }
    return c->member;
}

static hu_status add(traffic *t, int64_t local, int64_t peer, int64_t tag, int64_t bytes, hu_error *err)
{
    int32_t comm = comm_of(t, local), n = 0, to = -1;
    if (peer < 0) return HU_OK;
    if (comm < 0) {
        to = local == HU_TRACE_SELF ? t->rank : -1;
    } else {
        const int32_t *peers = peers_of(t, comm, &n);
        if (peer < n) to = peers[peer];
    }
    if (hu_grow((void **)&t->message, &t->message_room, t->messages + 1, sizeof *t->message, "messages", err)) return err->status;
    t->message[t->messages++] = (traffic_message){comm, to, tag, bytes};
    return HU_OK;
}

/* ---- point to point -------------------------------------------------------------------------------------------------------------- */

/* The arguments of a call by letter, the first of each and the last. */
typedef struct {
    int64_t count[2], type[2], peer[2], tag[2], comm, root, made, one;
    int64_t counts, types_given; /* how many n and t there are */
    const int64_t *some, *types, *requests; /* N, T, R: the first array of each, its length in front */
    int64_t received;
    bool rooted, in_place;
} arguments;

static arguments read_arguments(const hu_trace_head *head, const hu_trace_event *event)
{
    arguments a = {.type = {-1, -1}, .peer = {-1, -1}, .comm = -1, .made = -1, .one = -1};
    hu_trace_walk walk = hu_trace_walk_of(head, event);
    const int64_t *v;
    int64_t n, peers = 0, tags = 0, buffers = 0;
    char letter;
    while ((letter = hu_trace_walk_next(&walk, &v, &n))) {
        if (letter == 'n') a.count[a.counts++ > 0] = *v;
        else if (letter == 't') a.type[a.types_given++ > 0] = *v;
        else if (letter == 'p') a.peer[peers++ > 0] = *v;
        else if (letter == 'g') a.tag[tags++ > 0] = *v;
        else if (letter == 'c' && a.comm < 0) a.comm = *v;
        else if (letter == 'k') a.root = *v, a.rooted = true;
        else if (letter == 'q') a.made = *v;
        else if (letter == 'r') a.one = *v;
        else if (letter == 'N' && !a.some) a.some = v - 1;
        else if (letter == 'T' && !a.types) a.types = v - 1;
        else if (letter == 'R') a.requests = v - 1;
        else if (letter == 'u' && buffers++ == 0) a.in_place = *v == 1;
        else if (letter == 's' || letter == 'Z')
            for (int64_t i = 2; i < n; i += 3)
                if (v[i] > 0 && a.received < INT64_MAX / 8) a.received += v[i] < INT64_MAX / 8 ? v[i] : INT64_MAX / 8;
    }
    return a;
}

static hu_status start_request(traffic *t, int64_t number, hu_error *err)
{
    if (number < 0 || number >= t->requests || !t->request[number].sends) return HU_OK;
    const request *r = &t->request[number];
    return add(t, r->comm, r->peer, r->tag, r->bytes, err);
}

static hu_status note(traffic *t, const hu_trace_event *event, const arguments *a, hu_error *err)
{
    if (a->made >= 0 && a->made < 1 << 20) {
        if (hu_grow((void **)&t->request, &t->request_room, a->made + 1, sizeof *t->request, "requests", err)) return err->status;
        while (t->requests <= a->made) t->request[t->requests++] = (request){0};
        int64_t parts = a->counts > 1 ? a->count[0] : 1, count = a->count[a->counts > 1], bytes = bytes_of(t, count, a->type[0]);
        t->request[a->made] = (request){t->kind[event->function] == SEND_INIT, a->comm, a->peer[0], a->tag[0], parts > 1 && bytes < INT64_MAX / 8 / parts ? bytes * parts : bytes};
    }
    hu_trace_walk walk = hu_trace_walk_of(t->head, event);
    const int64_t *v;
    int64_t n;
    for (char letter; (letter = hu_trace_walk_next(&walk, &v, &n));) {
        int64_t at = v[0] - t->head->types;
        if (letter != 'Y' || at < 0 || at >= 1 << 20) continue;
        if (hu_grow((void **)&t->size, &t->size_room, at + 1, sizeof *t->size, "datatypes", err)) return err->status;
        while (t->sizes <= at) t->size[t->sizes++] = 0;
        t->size[at] = v[1];
    }
    return HU_OK;
}

/* ---- collectives -------------------------------------------------------------------------------------------------------------------- */

static int64_t own_place(const traffic *t, const hu_trace_comm *c)
{
    for (int32_t i = 0; i < c->size; i++)
        if (c->member[i] == t->rank) return i;
    return -1;
}

/* What this process gives, sent straight to who gets it. Barriers, and intracommunicators alone. */
static hu_status spread(traffic *t, const char *name, const arguments *a, hu_error *err)
{
    int32_t comm = comm_of(t, a->comm);
    if (comm < 0 || t->head->comm[comm].remote >= 0) return HU_OK;
    const hu_trace_comm *c = &t->head->comm[comm];
    int64_t own = own_place(t, c), bytes = bytes_of(t, a->count[0], a->type[0]);
    bool from_root = strcasestr(name, "bcast") || strcasestr(name, "scatter"), reduce_scatter = strcasestr(name, "reduce_scatter") != NULL;
    if (strcasestr(name, "barrier") || own < 0) return HU_OK;
    if (a->rooted && !from_root) return own == a->root ? HU_OK : add(t, a->comm, a->root, -1, bytes, err);
    if (a->rooted && own != a->root) return HU_OK;
    bool prefix = strcasestr(name, "scan") != NULL, each_own = strcasestr(name, "alltoallv") || strcasestr(name, "alltoallw") || strcasestr(name, "scatterv") || (reduce_scatter && a->some);
    if (a->in_place && strcasestr(name, "allgather")) bytes = bytes_of(t, a->count[1], a->type[1]);
    for (int64_t to = prefix ? own + 1 : 0; to < c->size; to++) {
        if (to == own) continue;
        if (each_own) bytes = a->some && to < a->some[0] ? bytes_of(t, a->some[1 + to], a->types && to < a->types[0] ? a->types[1 + to] : a->type[0]) : 0;
        if (add(t, a->comm, to, -1, bytes, err)) return err->status;
    }
    return HU_OK;
}

hu_status traffic_of(traffic *t, const hu_trace_event *event, bool flat, traffic_result *ret_result, hu_error *err)
{
    int32_t rank = t->head->stream[event->stream].rank;
    if (rank != t->rank) {
        t->rank = rank;
        t->requests = t->sizes = 0;
    }
    t->messages = 0;
    arguments a = read_arguments(t->head, event);
    kind k = t->kind[event->function];
    if (event->error) k = OTHER;
    if (k == SEND || k == SEND_RECV) add(t, a.comm, a.peer[0], a.tag[0], bytes_of(t, a.count[0], a.type[0]), err);
    if (k == START && a.one >= 0) start_request(t, a.one, err);
    for (int64_t i = 0; k == START && a.requests && i < a.requests[0] && !err->status; i++) start_request(t, a.requests[1 + i], err);
    if (k == COLLECTIVE && flat) spread(t, t->head->function[event->function].name, &a, err);
    if (note(t, event, &a, err)) return err->status;
    *ret_result = (traffic_result){t->messages, t->message, a.received, k == COLLECTIVE, a.comm >= 0 ? comm_of(t, a.comm) : -1, a.comm};
    return err->status;
}
