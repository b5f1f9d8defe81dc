/* ranks.c: the processes of an mpiexec run.
 *
 * MPI is initialised only where the environment says that a process manager started several processes; so the same binary runs alone on a machine whose
 * MPI has no daemon, and pays nothing for it.
 */
#include "config.h"
#include "ranks.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>
#ifdef HU_MPI
#include <mpi.h>
#endif

/* The number that one of these variables holds, or 0. */
static int from_environment(const char *const *names, int n)
{
    for (int i = 0; i < n; i++) {
        const char *text = getenv(names[i]);
        if (text && atoi(text) > 0) return atoi(text);
    }
    return 0;
}

static int ranks_started(void)
{
    static const char *const names[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MPIEXEC_NUM_PROCS"};
    return from_environment(names, (int)(sizeof names / sizeof *names));
}

static int ranks_of_node(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"};
    return from_environment(names, (int)(sizeof names / sizeof *names));
}

static void share_processors(int threads)
{
    int local = ranks_of_node(), most = hu_threads();
    if (threads == 0 && local > 1) hu_threads_set(most / local > 0 ? most / local : 1);
}

#ifdef HU_MPI

static hu_status gather(void *context, const void *bytes, int64_t size, void **ret_all, int64_t *ret_size, hu_error *err)
{
    int ranks = *(const int *)context;
    int64_t *sizes = NULL;
    char *all = NULL;
    enum { PIECE = 1 << 28 }; /* MPI counts in int: pieces of at most this go from one rank to all */
    if (hu_alloc(ranks, sizeof *sizes, "sizes of messages", (void **)&sizes, err)) return err->status;
    MPI_Allgather(&size, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T, MPI_COMM_WORLD);
    *ret_size = 0;
    for (int r = 0; r < ranks; r++) *ret_size += sizes[r];
    if (hu_alloc(*ret_size, 1, "messages", (void **)&all, err)) goto cleanup;
    int mine, at_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    for (char *at = all; at_rank < ranks; at += sizes[at_rank++]) {
        if (at_rank == mine && size > 0) memcpy(at, bytes, (size_t)size);
        for (int64_t from = 0; from < sizes[at_rank]; from += PIECE) {
            int64_t piece = sizes[at_rank] - from < PIECE ? sizes[at_rank] - from : PIECE;
            MPI_Bcast(at + from, (int)piece, MPI_BYTE, at_rank, MPI_COMM_WORLD);
        }
    }
    *ret_all = all;
cleanup:
    hu_free(sizes);
    return err->status;
}

hu_status ranks_open(int threads, hu_team *ret_team, hu_error *err)
{
    static int size = 1; /* what gather() needs; one team a process */
    *ret_team = (hu_team){.rank = 0, .size = 1};
    if (ranks_started() < 2) return HU_OK;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &ret_team->rank);
    if (size != ranks_started())
        return hu_fail(err, HU_DEVICE, "mpiexec started %d processes, but of another MPI than the one this program was built with (MPICH): each finds itself alone", ranks_started());
    ret_team->size = size;
    ret_team->context = &size;
    ret_team->gather = gather;
    share_processors(threads);
    if (ret_team->rank > 0) hu_set_verbosity(-1);
    return HU_OK;
}

void ranks_close(const hu_team *team, hu_error *err)
{
    if (team->size < 2) return;
    if (err->status == HU_SYSTEM) {
        hu_error_print(err);
        MPI_Abort(MPI_COMM_WORLD, HU_SYSTEM);
    }
    MPI_Finalize();
    if (team->rank > 0) err->quiet = true; /* every rank found the same */
}

#else

hu_status ranks_open(int threads, hu_team *ret_team, hu_error *err)
{
    *ret_team = (hu_team){.rank = 0, .size = 1};
    if (ranks_started() < 2) return HU_OK;
    share_processors(threads);
    return hu_fail(err, HU_DEVICE, "mpiexec started several processes, but this build has no MPI (Debian: libmpich-dev, then configure)");
}

void ranks_close(const hu_team *team, hu_error *err)
{
    (void)team;
    (void)err;
}

#endif

/* What the first rank sends: its status, its name's length, name, and the bytes or the message. */
typedef struct {
    int32_t status, name_size;
} head;

static hu_status pack(hu_source *source, const hu_error *failure, char **ret_bytes, int64_t *ret_size, hu_error *err)
{
    char *text = NULL;
    int64_t size = 0;
    hu_error mine = *failure;
    if (mine.status == HU_OK) hu_source_slurp(source, (int64_t)1 << 36, &text, &size, &mine);
    const char *name = mine.status == HU_OK ? hu_source_name(source) : "", *body = mine.status == HU_OK ? text : mine.message;
    if (mine.status != HU_OK) size = (int64_t)strlen(body);
    head h = {(int32_t)mine.status, (int32_t)strlen(name)};
    *ret_size = (int64_t)sizeof h + h.name_size + size;
    if (hu_alloc(*ret_size, 1, "the table", (void **)ret_bytes, err) == HU_OK) {
        memcpy(*ret_bytes, &h, sizeof h);
        memcpy(*ret_bytes + sizeof h, name, (size_t)h.name_size);
        memcpy(*ret_bytes + sizeof h + h.name_size, body, (size_t)size);
    }
    hu_free(text);
    return err->status;
}

static hu_status unpack(const char *bytes, int64_t size, hu_source **ret_source, hu_error *err)
{
    head h;
    char *name;
    memcpy(&h, bytes, sizeof h);
    const char *body = bytes + sizeof h + h.name_size;
    int64_t body_size = size - (int64_t)sizeof h - h.name_size;
    if (h.status != HU_OK) return hu_fail(err, (hu_status)h.status, "%.*s", (int)body_size, body);
    if (!(name = strndup(bytes + sizeof h, (size_t)h.name_size))) return hu_fail(err, HU_SYSTEM, "out of memory");
    hu_source_memory(name, body, body_size, ret_source, err);
    free(name);
    return err->status;
}

hu_status ranks_source(const hu_team *team, const char *path, hu_source **ret_source, hu_error *err)
{
    hu_source *source = NULL;
    hu_error failure = HU_ERROR_NONE;
    char *bytes = NULL;
    void *all = NULL;
    int64_t size = 0, all_size = 0;
    if (team->size < 2) return hu_source_open(path, NULL, ret_source, err);
    if (team->rank == 0) {
        hu_source_open(path, NULL, &source, &failure);
        pack(source, &failure, &bytes, &size, err);
        hu_source_close(source);
    }
    if (team->gather(team->context, bytes, size, &all, &all_size, err) == HU_OK) {
        if (all_size < (int64_t)sizeof(head)) hu_fail(err, HU_SYSTEM, "the first rank sent no table");
        else unpack(all, all_size, ret_source, err);
    }
    hu_free(all);
    hu_free(bytes);
    return err->status;
}
