/* recorder.c: the MPI recorder that is loaded into the program (libmpitrace.so): spool files, state, and what the generated wrappers ask for.
 *
 * It stands alone (no libcommon, no libraries but MPI's and libc), stays silent until the first call of MPI, sends no message of its own between MPI_Init
 * and MPI_Finalize, and never ends, delays or talks over the program: whatever goes wrong stops the recording.
 *
 *     MPITRACE_DIR        folder for the spool; without it nothing is recorded
 *     MPITRACE_OFF=1      nothing is recorded
 *     MPITRACE_START=off  recording begins with MPI_Pcontrol(1)
 *     MPITRACE_MAX_BYTES  the most that one thread writes
 *
 * Sections: the real functions, spool files, events, objects of MPI, beginning and end, clocks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
#define FAST_TLS __attribute__((tls_model("initial-exec")))
#define ROUND_UP(n, to) (((n) + (to) - 1) / (to) * (to))

enum { STATUSES = 64, SYNC_ROUNDS = 6, SYNC_TAG = 17 };

void *recorder_real[HU_SPOOL_FUNCTIONS];
bool recorder_ready;

static struct {
    const char *folder;
    uint64_t most;              /* bytes of a thread's events */
    atomic_bool off;            /* MPITRACE_OFF, no folder, or in a forked child: for good */
    atomic_bool paused;         /* MPI_Pcontrol */
    atomic_int threads;
    int32_t rank, size;
    uint64_t world;
    MPI_Group world_group;
    MPI_Comm sync_comm;
    uintptr_t fortran_from, fortran_to; /* where libmpichfort is loaded */
    pthread_key_t key;
    recorder *all[1024];        /* by thread number */
} process = {.rank = -1, .size = -1, .world_group = MPI_GROUP_NULL, .sync_comm = MPI_COMM_NULL};

static __thread recorder *mine FAST_TLS;
static __thread bool given_up FAST_TLS;
static __thread MPI_Status few[STATUSES] FAST_TLS;
static __thread MPI_Status *many FAST_TLS;
static __thread int many_room FAST_TLS;

/* ---- the real functions --------------------------------------------------------------------------------------------- */

static int find_fortran(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libmpichfort")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        process.fortran_from = info->dlpi_addr + p->p_vaddr;
        process.fortran_to = process.fortran_from + p->p_memsz;
    }
    return 1;
}

static void give_way(void *unused);
static void in_child(void)
{
    process.off = true;
    mine = NULL;
}

static void read_environment(void)
{
    const char *off = getenv("MPITRACE_OFF"), *start = getenv("MPITRACE_START"), *most = getenv("MPITRACE_MAX_BYTES");
    process.folder = getenv("MPITRACE_DIR");
    process.most = most ? strtoull(most, NULL, 10) : UINT64_MAX;
    process.paused = start && strcmp(start, "off") == 0;
    process.off = !process.folder || !*process.folder || (off && strcmp(off, "0") != 0 && *off);
}

static void resolve_once(void)
{
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) {
        static const char text[] = "libmpitrace: this program uses Open MPI; the recorder was built for MPICH and cannot be loaded into it\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(4);
    }
    for (int i = 0; i < recorder_functions; i++) recorder_real[i] = dlsym(RTLD_NEXT, recorder_symbols[i]);
    dl_iterate_phdr(find_fortran, NULL);
    read_environment();
    pthread_key_create(&process.key, give_way);
    pthread_atfork(NULL, NULL, in_child);
    __atomic_store_n(&recorder_ready, true, __ATOMIC_RELEASE);
}

void recorder_resolve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, resolve_once);
}

bool recorder_is_fortran(const void *caller)
{
    return (uintptr_t)caller - process.fortran_from < process.fortran_to - process.fortran_from;
}

/* A real function that this file itself calls. */
static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}
#define REAL(name) ((__typeof__(&name))real(#name))

/* ---- spool files ------------------------------------------------------------------------------------------------------ */

static void stop(recorder *r, int why)
{
    r->full = true;
    if (r->head && !r->head->stopped) r->head->stopped = why;
}

/* Makes sure that the file really has its first `bytes` bytes: a page that is not there would end the program by SIGBUS. */
static bool allot(recorder *r, uint64_t bytes)
{
    struct rlimit limit;
    if (bytes <= r->allotted) return true;
    if (bytes - HU_SPOOL_HEADER > process.most) return stop(r, EDQUOT), false;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) return stop(r, EFBIG), false;
    int code = posix_fallocate(r->fd, (off_t)r->allotted, (off_t)(bytes - r->allotted));
    if (code) return stop(r, code), false;
    r->allotted = bytes;
    return true;
}

/* Maps a piece of the file that holds `bytes` bytes from the event being written on; what of it is written moves along. */
static bool move_window(recorder *r, size_t bytes)
{
    uint64_t event = r->window_offset + (uint64_t)(r->event - r->window), page = 4096;
    uint64_t from = event / page * page, length = ROUND_UP(event - from + bytes, page);
    if (length < HU_SPOOL_WINDOW) length = HU_SPOOL_WINDOW;
    if (!allot(r, from + length)) return false;
    unsigned char *window = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, (off_t)from);
    if (window == MAP_FAILED) return stop(r, errno), false;
    ptrdiff_t written = r->at - r->event, head = r->arguments - r->event;
    if (r->window) munmap(r->window, (size_t)(r->limit - r->window));
    r->window = window;
    r->window_offset = from;
    r->limit = window + length;
    r->event = window + (event - from);
    r->at = r->event + written; /* the bytes are the file's: they are there in the new mapping */
    r->arguments = r->event + head;
    r->polls = 0;
    return true;
}

static void join_text(char *text, size_t size)
{
    FILE *f = fopen("/proc/self/cmdline", "re");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    if (f) fclose(f);
    while (n > 0 && !text[n - 1]) n--;
    for (size_t i = 0; i < n; i++)
        if (!text[i]) text[i] = ' ';
    text[n] = 0;
}

static void fill_head(recorder *r, int thread)
{
    hu_spool_header *h = r->head;
    int length = 0;
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    memcpy(h->magic, HU_SPOOL_MAGIC, sizeof h->magic);
    h->header_bytes = HU_SPOOL_HEADER;
    h->functions = (uint32_t)recorder_functions;
    h->pid = (int32_t)getpid();
    h->thread = thread;
    h->rank = process.rank;
    h->size = process.size;
    h->world = process.world;
    h->started = recorder_now();
    h->sync[0].round_trip = h->sync[1].round_trip = -1;
    gethostname(h->host, sizeof h->host - 1);
    if (REAL(PMPI_Get_library_version)(version, &length) == MPI_SUCCESS) memccpy(h->library, version, '\n', sizeof h->library - 1);
    join_text(h->command, sizeof h->command);
    memcpy(h->table, recorder_table, strlen(recorder_table) + 1);
}

/* A file of its own: names carry host, job, step and process, and an existing file is never taken. */
static int create_file(int thread)
{
    char path[4096], host[256] = "host";
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID"), *task = getenv("SLURM_ARRAY_TASK_ID");
    gethostname(host, sizeof host - 1);
    for (int attempt = 0; attempt < 100; attempt++) {
        int n = snprintf(path, sizeof path, "%s/%s.%s.%s.%s.%d.%d.%d" HU_SPOOL_SUFFIX, process.folder, host, job ? job : "0", task ? task : "0", step ? step : "0",
                         (int)getpid(), attempt, thread);
        if (n < 0 || n >= (int)sizeof path) return -1;
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static recorder *open_recorder(void)
{
    int thread = process.threads++;
    recorder *r = thread < (int)(sizeof process.all / sizeof *process.all) ? calloc(1, sizeof *r) : NULL;
    if (!r || strlen(recorder_table) >= HU_SPOOL_TABLE) goto failed;
    r->fd = create_file(thread);
    if (r->fd < 0) goto failed;
    if (!allot(r, HU_SPOOL_HEADER)) goto failed;
    r->head = mmap(NULL, HU_SPOOL_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (r->head == MAP_FAILED) goto failed;
    fill_head(r, thread);
    r->window_offset = HU_SPOOL_HEADER;
    move_window(r, SCALARS);
    if (process.paused) r->gap = true;
    process.all[thread] = r;
    pthread_setspecific(process.key, r);
    return mine = r;
failed:
    if (r && r->fd > 0) close(r->fd);
    free(r);
    given_up = true;
    return NULL;
}

/* The file ends with its last event; the next event maps a piece again. */
static void trim(recorder *r)
{
    uint64_t end = HU_SPOOL_HEADER + r->head->committed;
    if (r->window) munmap(r->window, (size_t)(r->limit - r->window));
    r->window = r->event = r->at = r->arguments = r->limit = NULL;
    r->window_offset = end;
    r->polls = 0;
    if (ftruncate(r->fd, (off_t)end) == 0) r->allotted = end;
}

/* The end of a thread. */
static void give_way(void *value)
{
    recorder *r = value;
    if (r && r == mine && !process.off) {
        trim(r);
        r->head->finished = 1;
    }
    free(many);
    many = NULL;
    mine = NULL;
    given_up = true;
}

/* ---- events ------------------------------------------------------------------------------------------------------------- */

recorder *recorder_enter(uint16_t function, bool counted)
{
    if (RARELY(process.off)) return NULL;
    recorder *r = mine;
    if (RARELY(!r)) {
        if (given_up || !(r = open_recorder())) return NULL;
    }
    if (RARELY(r->busy)) {
        r->head->nested++;
        return NULL;
    }
    if (RARELY(process.paused)) {
        r->gap = true;
        return NULL;
    }
    if (RARELY(r->full)) {
        r->head->dropped++;
        return NULL;
    }
    r->event = r->at;
    size_t head = sizeof(hu_spool_event) + (counted ? sizeof(hu_spool_counted) : 0);
    if (RARELY((size_t)(r->limit - r->at) < head + SCALARS) && !move_window(r, head + SCALARS)) {
        r->head->dropped++;
        return NULL;
    }
    r->function = function;
    r->counted = counted;
    r->at = r->arguments = r->event + head;
    r->busy = true;
    return r;
}

void recorder_reserve(recorder *r, size_t bytes)
{
    if (!r->full && (size_t)(r->limit - r->at) >= bytes) return;
    if (!r->full && move_window(r, (size_t)(r->at - r->event) + bytes)) return;
    /* no room: the event is dropped; what is still put goes to a place that nobody reads */
    static __thread unsigned char *nowhere;
    static __thread size_t room;
    if (bytes > room) {
        unsigned char *larger = malloc(bytes + SCALARS);
        if (!larger) abort(); /* not reached before the program's own arrays of that size failed */
        free(nowhere);
        nowhere = larger;
        room = bytes;
    }
    r->at = nowhere;
}

static void commit(recorder *r)
{
    atomic_store_explicit(&r->head->committed, r->window_offset + (uint64_t)(r->at - r->window) - HU_SPOOL_HEADER, memory_order_release);
}

/* A failed poll that equals one since the last other event only counts there. */
static bool fold(recorder *r, uint32_t length)
{
    for (int i = 0; i < r->polls; i++) {
        unsigned char *other = r->window + r->poll[i];
        hu_spool_event *e = (hu_spool_event *)other;
        size_t head = sizeof(hu_spool_event) + sizeof(hu_spool_counted);
        if (e->length != length || e->function != r->function || memcmp(other + head, r->event + head, length - head) != 0) continue;
        hu_spool_counted *c = (hu_spool_counted *)(other + sizeof(hu_spool_event));
        c->count++;
        c->busy += r->leave - r->enter;
        e->leave = r->leave;
        return true;
    }
    return false;
}

void recorder_leave(recorder *r, int rc, bool failed_poll)
{
    r->busy = false;
    if (RARELY(r->full)) {
        r->head->dropped++;
        r->at = r->event;
        return;
    }
    while ((r->at - r->event) % 8) *r->at++ = 0; /* events begin at multiples of 8 */
    uint32_t length = (uint32_t)(r->at - r->event);
    if (!failed_poll) {
        r->polls = 0;
    } else if (fold(r, length)) {
        r->at = r->event;
        return;
    } else if (r->polls < POLLS) {
        r->poll[r->polls++] = (uint32_t)(r->event - r->window);
    }
    uint8_t flags = (uint8_t)((rc != MPI_SUCCESS ? HU_SPOOL_ERROR : 0) | (r->counted ? HU_SPOOL_COUNTED : 0) | (failed_poll ? HU_SPOOL_POLL : 0) | (r->gap ? HU_SPOOL_GAP : 0));
    r->gap = false;
    *(hu_spool_event *)r->event = (hu_spool_event){length, r->function, flags, 0, r->enter, r->leave};
    if (r->counted) *(hu_spool_counted *)(r->event + sizeof(hu_spool_event)) = (hu_spool_counted){1, r->leave - r->enter};
    commit(r);
}

void recorder_count(uint16_t function)
{
    recorder *r = mine;
    if (process.off || given_up || (!r && !(r = open_recorder()))) return;
    if (r->busy) r->head->nested++;
    else r->head->calls[function]++;
}

SHOWN int MPI_Pcontrol(const int level, ...)
{
    if (!recorder_ready) recorder_resolve();
    if (level == 2) {
        if (mine) msync(mine->head, HU_SPOOL_HEADER, MS_SYNC), mine->window ? msync(mine->window, (size_t)(mine->limit - mine->window), MS_SYNC) : 0;
    } else {
        process.paused = level == 0;
    }
    return MPI_SUCCESS;
}

MPI_Status *recorder_statuses(MPI_Status *given, int n)
{
    if (given != MPI_STATUS_IGNORE) return given; /* MPI_STATUSES_IGNORE is the same */
    if (n <= STATUSES) return few;
    if (n > many_room) {
        MPI_Status *larger = malloc((size_t)n * sizeof *larger);
        if (!larger) abort(); /* memory is at its end: the program could not go on either */
        free(many);
        many = larger;
        many_room = n;
    }
    return many;
}

/* ---- objects of MPI ------------------------------------------------------------------------------------------------------- */

int recorder_peers(MPI_Comm comm)
{
    static __thread MPI_Comm last = MPI_COMM_NULL;
    static __thread int size;
    if (comm == MPI_COMM_WORLD && last == comm) return size; /* WORLD's handle is never another's */
    int inter = 0, n = 0;
    REAL(PMPI_Comm_test_inter)(comm, &inter);
    if ((inter ? REAL(PMPI_Comm_remote_size)(comm, &n) : REAL(PMPI_Comm_size)(comm, &n)) != MPI_SUCCESS) return 0;
    if (comm == MPI_COMM_WORLD) last = comm, size = n;
    return n;
}

void recorder_degrees(MPI_Comm comm, int *ret_in, int *ret_out)
{
    int kind = MPI_UNDEFINED, dims = 0, weighted, rank;
    *ret_in = *ret_out = 0;
    if (REAL(PMPI_Topo_test)(comm, &kind) != MPI_SUCCESS) return;
    if (kind == MPI_DIST_GRAPH) {
        REAL(PMPI_Dist_graph_neighbors_count)(comm, ret_in, ret_out, &weighted);
    } else if (kind == MPI_CART) {
        REAL(PMPI_Cartdim_get)(comm, &dims);
        *ret_in = *ret_out = 2 * dims;
    } else if (kind == MPI_GRAPH) {
        REAL(PMPI_Comm_rank)(comm, &rank);
        REAL(PMPI_Graph_neighbors_count)(comm, rank, ret_in);
        *ret_out = *ret_in;
    }
}

int recorder_dims(MPI_Comm comm)
{
    int dims = 0;
    REAL(PMPI_Cartdim_get)(comm, &dims);
    return dims;
}

bool recorder_is_root(MPI_Comm comm, int root)
{
    int rank = -1;
    if (root == MPI_ROOT) return true;
    return REAL(PMPI_Comm_rank)(comm, &rank) == MPI_SUCCESS && rank == root && recorder_peers(comm) > 0;
}

static void put_group(recorder *r, MPI_Group group, int n)
{
    int *ranks = calloc((size_t)n * 2 + 2, sizeof *ranks);
    if (!ranks) n = 0;
    for (int i = 0; i < n; i++) ranks[i] = i, ranks[n + i] = MPI_UNDEFINED;
    if (n > 0 && process.world_group != MPI_GROUP_NULL) REAL(PMPI_Group_translate_ranks)(group, n, ranks, process.world_group, ranks + n);
    put_length(r, n);
    for (int i = 0; i < n; i++) put(r, ranks[n + i] == MPI_UNDEFINED ? -1 : ranks[n + i]);
    free(ranks);
}

/* `members`: the communicator whose groups the new one has (another one while a duplicate is not ready). */
void put_new_comm(recorder *r, MPI_Comm comm, MPI_Comm members)
{
    int rank = -1, size = 0, inter = 0, remote = -1;
    MPI_Group group = MPI_GROUP_NULL, other = MPI_GROUP_NULL;
    put(r, comm);
    if (comm == MPI_COMM_NULL) members = MPI_COMM_NULL;
    if (members != MPI_COMM_NULL) {
        REAL(PMPI_Comm_rank)(members, &rank);
        REAL(PMPI_Comm_size)(members, &size);
        REAL(PMPI_Comm_test_inter)(members, &inter);
        REAL(PMPI_Comm_group)(members, &group);
        if (inter) REAL(PMPI_Comm_remote_size)(members, &remote), REAL(PMPI_Comm_remote_group)(members, &other);
    }
    put(r, rank);
    put(r, size);
    put(r, remote);
    put_group(r, group, size);
    put_group(r, other, remote > 0 ? remote : 0);
    if (group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY) REAL(PMPI_Group_free)(&group);
    if (other != MPI_GROUP_NULL && other != MPI_GROUP_EMPTY) REAL(PMPI_Group_free)(&other);
}

void put_new_type(recorder *r, MPI_Datatype type)
{
    MPI_Count size = 0, lb = 0, extent = 0;
    if (type != MPI_DATATYPE_NULL) {
        REAL(PMPI_Type_size_x)(type, &size);
        REAL(PMPI_Type_get_extent_x)(type, &lb, &extent);
    }
    put(r, type);
    put(r, size);
    put(r, lb);
    put(r, extent);
}

/* ---- clocks: only in MPI_Init and MPI_Finalize, on a communicator of their own ------------------------------------------- */

/* Rank 0 answers each rank in turn with its clock; the exchange with the shortest round trip counts. */
static void measure_clock(int which)
{
    uint64_t times[2];
    MPI_Comm comm = process.sync_comm;
    if (comm == MPI_COMM_NULL || process.size < 2) return;
    if (process.rank == 0) {
        for (int other = 1; other < process.size; other++)
            for (int i = 0; i < SYNC_ROUNDS; i++) {
                REAL(PMPI_Recv)(times, 1, MPI_UINT64_T, other, SYNC_TAG, comm, MPI_STATUS_IGNORE);
                times[1] = recorder_now();
                REAL(PMPI_Send)(times + 1, 1, MPI_UINT64_T, other, SYNC_TAG, comm);
            }
        return;
    }
    hu_spool_sync best = {0, 0, -1};
    for (int i = 0; i < SYNC_ROUNDS; i++) {
        uint64_t start = recorder_now();
        REAL(PMPI_Send)(&start, 1, MPI_UINT64_T, 0, SYNC_TAG, comm);
        REAL(PMPI_Recv)(times, 1, MPI_UINT64_T, 0, SYNC_TAG, comm, MPI_STATUS_IGNORE);
        uint64_t end = recorder_now();
        int64_t trip = (int64_t)(end - start), middle = (int64_t)(start + (end - start) / 2);
        if (best.round_trip < 0 || trip < best.round_trip) best = (hu_spool_sync){middle, (int64_t)times[0] - middle, trip};
    }
    if (mine) mine->head->sync[which] = best;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------------ */

static void know_world(void)
{
    int rank = -1, size = -1;
    REAL(PMPI_Group_rank)(process.world_group, &rank);
    REAL(PMPI_Group_size)(process.world_group, &size);
    process.rank = rank;
    process.size = size;
    for (int i = 0; i < process.threads && i < (int)(sizeof process.all / sizeof *process.all); i++) {
        if (!process.all[i]) continue;
        process.all[i]->head->rank = rank;
        process.all[i]->head->size = size;
        process.all[i]->head->world = process.world;
    }
}

void recorder_after_init(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    if (process.off) return;
    REAL(PMPI_Comm_group)(MPI_COMM_WORLD, &process.world_group);
    REAL(PMPI_Comm_get_parent)(&parent);
    if (parent != MPI_COMM_NULL) { /* all of a spawned world agree on its name: rank 0's process and time */
        process.world = recorder_now() ^ (uint64_t)getpid() << 40;
        REAL(PMPI_Bcast)(&process.world, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    }
    know_world();
    if (REAL(PMPI_Comm_dup)(MPI_COMM_WORLD, &process.sync_comm) != MPI_SUCCESS) process.sync_comm = MPI_COMM_NULL;
    measure_clock(0);
}

void recorder_after_session(MPI_Session session)
{
    if (process.off || process.world_group != MPI_GROUP_NULL) return;
    if (REAL(PMPI_Group_from_session_pset)(session, "mpi://WORLD", &process.world_group) == MPI_SUCCESS) know_world();
    if (process.world_group != MPI_GROUP_NULL) REAL(PMPI_Group_free)(&process.world_group);
    if (REAL(PMPI_Group_from_session_pset)(session, "mpi://WORLD", &process.world_group) != MPI_SUCCESS) process.world_group = MPI_GROUP_NULL;
}

void recorder_before_finalize(void)
{
    if (process.off) return;
    measure_clock(1);
    if (process.sync_comm != MPI_COMM_NULL) REAL(PMPI_Comm_free)(&process.sync_comm);
    process.sync_comm = MPI_COMM_NULL;
    if (process.world_group != MPI_GROUP_NULL) REAL(PMPI_Group_free)(&process.world_group);
    process.world_group = MPI_GROUP_NULL;
}

void recorder_finish(void)
{
    recorder *r = mine;
    if (!r || process.off) return;
    trim(r);
    r->head->finished = 1;
    process.world_group = MPI_GROUP_NULL; /* gone with the library's state */
}

__attribute__((destructor)) static void at_exit(void)
{
    if (!recorder_ready || process.off || !mine) return;
    trim(mine);
    mine->head->finished = 1;
}
