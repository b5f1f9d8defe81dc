/* convert.c: spool files to a trace: all threads of a process in the order of time, handles to numbers, communicators known by the same number in all processes.
 *
 * Sections: the recorder's table, communicators, processes, the first reading, the head, the second reading.
 */
#include "config.h"
#include "convert.h"
#include "base/memory.h"
#include "io/trace.h"
#include "io/varint.h"
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char *name, *letters;
    int32_t used; /* number in the head, -1: not used */
} table_function;

typedef struct {
    char *name;
    int64_t handle, size;
    int32_t used;
} table_type;

/* A communicator as it is known so far: what tells it from others, hashed twice; or how many of a kind a process has made. */
typedef struct {
    uint64_t key[2];
    int32_t comm;
} comm_key;

typedef struct {
    const spool *spool;
    hu_trace_head head;
    char *table; /* the text that names and letters point into */
    table_function *function;
    table_type *type;
    int64_t functions, types;
    int32_t *stream_file; /* [head.streams] */
    int64_t comm_room, key_size, keys;
    comm_key *key;
    int32_t *rank_base;   /* [worlds] */
    uint64_t *world_id;
    int64_t *raw, *arg, raw_room, arg_room;
} conversion;

/* ---- the recorder's table ------------------------------------------------------------------------------------------------ */

static hu_status read_table(conversion *c, hu_error *err)
{
    const spool_file *f = &c->spool->file[0];
    int64_t lines = 0, n = f->head->functions;
    for (int32_t i = 1; i < c->spool->files; i++)
        if (c->spool->file[i].head->functions != f->head->functions || strcmp(c->spool->file[i].head->table, f->head->table) != 0)
            return hu_fail(err, HU_INPUT, "%s: was written by another recorder than %s", c->spool->file[i].path, f->path);
    if (!(c->table = strdup(f->head->table))) return hu_fail(err, HU_SYSTEM, "out of memory");
    for (const char *p = c->table; *p; p++) lines += *p == '\n';
    if (lines < n) return hu_fail(err, HU_INPUT, "%s: its header is damaged", f->path);
    if (hu_alloc_zero(n, sizeof *c->function, "functions", (void **)&c->function, err) || hu_alloc_zero(lines - n, sizeof *c->type, "datatypes", (void **)&c->type, err)) return err->status;
    char *line = c->table;
    for (int64_t i = 0; i < lines; i++) {
        char *end = strchr(line, '\n'), *blank = strchr(line, ' ');
        *end = 0;
        if (!blank || blank > end) return hu_fail(err, HU_INPUT, "%s: its header is damaged", f->path);
        *blank++ = 0;
        if (i < n) {
            bool counted = strcmp(blank, "=") == 0;
            if (!counted && !hu_trace_letters_known(blank)) return hu_fail(err, HU_INPUT, "%s: was written by a newer recorder", f->path);
            c->function[c->functions++] = (table_function){line, counted ? NULL : blank, -1};
        } else {
            char *size;
            int64_t handle = strtoll(blank, &size, 16);
            c->type[c->types++] = (table_type){line, handle, strtoll(size, NULL, 10), -1};
        }
        line = end + 1;
    }
    return HU_OK;
}

/* For symbols_translate(): numbers named datatypes in the order of their first use. */
static int64_t basic_type(void *arg, int64_t handle)
{
    conversion *c = arg;
    for (int64_t i = 0; i < c->types; i++) {
        if (c->type[i].handle != handle) continue;
        if (c->type[i].used < 0) c->type[i].used = c->head.types++;
        return c->type[i].used;
    }
    return SYMBOL_UNKNOWN;
}

/* ---- communicators --------------------------------------------------------------------------------------------------------- */

static void hash(uint64_t *key, const int64_t *value, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        key[0] = (key[0] ^ (uint64_t)value[i]) * 0x100000001b3u;
        key[0] ^= key[0] >> 29;
        key[1] = (key[1] + (uint64_t)value[i]) * 0x9e3779b97f4a7c15u;
        key[1] ^= key[1] >> 32;
    }
}

static comm_key *find_key(conversion *c, const uint64_t *key)
{
    for (uint64_t at = key[0];; at++) {
        comm_key *k = &c->key[at % (uint64_t)c->key_size];
        if (k->comm < 0 || (k->key[0] == key[0] && k->key[1] == key[1])) return k;
    }
}

static hu_status grow_keys(conversion *c, hu_error *err)
{
    comm_key *old = c->key;
    int64_t size = c->key_size;
    if (2 * (c->keys + 1) <= size) return HU_OK;
    c->key_size = size ? 2 * size : 256;
    if (hu_alloc(c->key_size, sizeof *c->key, "communicators", (void **)&c->key, err)) return err->status;
    for (int64_t i = 0; i < c->key_size; i++) c->key[i].comm = -1;
    for (int64_t i = 0; i < size; i++)
        if (old[i].comm >= 0) *find_key(c, old[i].key) = old[i];
    hu_free(old);
    return HU_OK;
}

static hu_status copy_members(conversion *c, const int64_t *member, int64_t n, int32_t base, int32_t **ret_member, hu_error *err)
{
    if (hu_alloc(n, sizeof(int32_t), "members", (void **)ret_member, err)) return err->status;
    for (int64_t i = 0; i < n; i++) {
        int64_t rank = member[i] < 0 ? -1 : member[i] + base;
        if (rank >= c->head.ranks) return hu_fail(err, HU_INPUT, "a communicator has a member of rank %lld, but there are %d", (long long)rank, c->head.ranks);
        (*ret_member)[i] = (int32_t)rank;
    }
    return HU_OK;
}

/* The number that all processes know a communicator by: what it was made from, its members, and the how-manieth such it is. Both sides of an intercommunicator have
 * different parents, so their groups alone tell it, in an order that does not depend on the side. */
static hu_status number_comm(conversion *c, int32_t rank, int32_t base, const symbols_comm *made, hu_error *err)
{
    hu_trace_locals *local = &c->head.local[rank];
    bool inter = made->remote >= 0, swapped = inter && made->size > 0 && made->remote > 0 && made->remote_member[0] < made->member[0];
    int64_t parent = inter || made->parent < 0 || made->parent >= local->count ? -9 : local->comm[made->parent], head[] = {inter, parent, base, swapped ? made->remote : made->size};
    uint64_t common[2] = {14695981039346656037u, 1};
    hash(common, head, 4);
    hash(common, swapped ? made->remote_member : made->member, swapped ? made->remote : made->size);
    if (inter) hash(common, swapped ? made->member : made->remote_member, swapped ? made->size : made->remote);
    int64_t whose[] = {rank, -7};
    uint64_t own[2] = {common[0], common[1]};
    hash(own, whose, 2);
    if (grow_keys(c, err)) return err->status;
    comm_key *counter = find_key(c, own);
    if (counter->comm < 0) {
        *counter = (comm_key){{own[0], own[1]}, 0};
        c->keys++;
    }
    int64_t nth = counter->comm++, room = local->count;
    hash(common, &nth, 1);
    if (grow_keys(c, err)) return err->status;
    comm_key *k = find_key(c, common);
    if (k->comm < 0) {
        if (hu_grow((void **)&c->head.comm, &c->comm_room, c->head.comms + 1, sizeof *c->head.comm, "communicators", err)) return err->status;
        hu_trace_comm *new = &c->head.comm[c->head.comms];
        *new = (hu_trace_comm){.size = (int32_t)made->size, .remote = inter ? (int32_t)made->remote : -1};
        *k = (comm_key){{common[0], common[1]}, c->head.comms++};
        c->keys++;
        if (copy_members(c, made->member, made->size, base, &new->member, err) || (inter && copy_members(c, made->remote_member, made->remote, base, &new->remote_member, err)))
            return err->status;
    }
    if (hu_grow((void **)&local->comm, &room, local->count + 1, sizeof *local->comm, "communicators", err)) return err->status;
    local->comm[local->count++] = k->comm;
    return HU_OK;
}

/* ---- processes: events of all threads by time ------------------------------------------------------------------------------ */

typedef struct {
    conversion *c;
    symbols *symbols;
    int32_t first, last; /* streams of the process */
    int64_t *offset;     /* of the next event of each */
    hu_spool_event *next;
    bool *ended;
} process;

static void close_process(process *p)
{
    symbols_free(p->symbols);
    hu_free(p->offset);
    hu_free(p->next);
    hu_free(p->ended);
}

static const spool_file *file_of(const process *p, int32_t stream)
{
    return &p->c->spool->file[p->c->stream_file[stream]];
}

static hu_status look_ahead(process *p, int32_t stream, hu_error *err)
{
    hu_spool_counted counted;
    const uint8_t *arguments;
    int64_t bytes;
    int32_t i = stream - p->first;
    hu_status status = spool_event(file_of(p, stream), p->offset[i], &p->next[i], &counted, &arguments, &bytes, err);
    p->ended[i] = status == HU_END;
    return status == HU_END ? HU_OK : status;
}

static hu_status open_process(conversion *c, int32_t first, process *ret_process, hu_error *err)
{
    process *p = ret_process;
    int32_t last = first + 1;
    while (last < c->head.streams && c->head.stream[last].rank == c->head.stream[first].rank) last++;
    *p = (process){.c = c, .first = first, .last = last};
    if (symbols_new(basic_type, c, &p->symbols, err) || hu_alloc_zero(last - first, sizeof *p->offset, "threads", (void **)&p->offset, err) ||
        hu_alloc_zero(last - first, sizeof *p->next, "threads", (void **)&p->next, err) || hu_alloc_zero(last - first, sizeof *p->ended, "threads", (void **)&p->ended, err))
        return err->status;
    for (int32_t s = first; s < last && !err->status; s++) look_ahead(p, s, err);
    return err->status;
}

/* The arguments of an event as integers. */
static hu_status unpack(conversion *c, const uint8_t *bytes, int64_t size, int64_t *ret_count, hu_error *err)
{
    if (hu_grow((void **)&c->raw, &c->raw_room, size + 1, sizeof *c->raw, "arguments", err) || hu_grow((void **)&c->arg, &c->arg_room, size + 8, sizeof *c->arg, "arguments", err))
        return err->status;
    hu_varint_reader in = {bytes, bytes + size, false};
    int64_t n = 0;
    while (in.p < in.end && !in.bad) c->raw[n++] = hu_varint_get_signed(&in);
    *ret_count = in.bad ? n - 1 : n;
    return HU_OK;
}

/* The earliest event of the process's threads, translated; HU_END behind the last. */
static hu_status next_event(process *p, int64_t first_type, hu_trace_event *ret_event, symbols_comm *ret_comm, hu_error *err)
{
    conversion *c = p->c;
    int32_t best = -1;
    for (int32_t i = 0; i < p->last - p->first; i++)
        if (!p->ended[i] && (best < 0 || p->next[i].enter < p->next[best].enter)) best = i;
    if (best < 0) return HU_END;
    hu_spool_event e;
    hu_spool_counted counted;
    const uint8_t *bytes;
    int64_t size;
    const spool_file *f = file_of(p, p->first + best);
    if (spool_event(f, p->offset[best], &e, &counted, &bytes, &size, err)) return err->status;
    const table_function *function = &c->function[e.function];
    if (!function->letters) return hu_fail_byte(err, f->path, HU_SPOOL_HEADER + p->offset[best], "an event is damaged");
    symbols_call call = {.name = function->name, .letters = function->letters, .error = e.flags & HU_SPOOL_ERROR, .failed = e.flags & HU_SPOOL_POLL};
    if (unpack(c, bytes, size, &call.raws, err)) return err->status;
    call.raw = c->raw;
    *ret_event = (hu_trace_event){.stream = p->first + best, .function = e.function, .error = call.error, .poll = call.failed, .gap = e.flags & HU_SPOOL_GAP,
                                  .enter = (int64_t)(e.enter - f->head->started), .leave = (int64_t)(e.leave - f->head->started), .arg = c->arg};
    ret_event->count = call.failed ? (int64_t)counted.count : 1;
    ret_event->busy = call.failed ? (int64_t)counted.busy : ret_event->leave - ret_event->enter;
    if (symbols_translate(p->symbols, &call, first_type, c->arg, &ret_event->args, ret_comm, err)) return err->status;
    p->offset[best] += e.length;
    return look_ahead(p, p->first + best, err);
}

/* ---- the head: from the files' headers ---------------------------------------------------------------------------------------- */

static hu_status text_copy(char **ret_text, const char *text, hu_error *err)
{
    *ret_text = strdup(text);
    for (char *p = *ret_text; p && *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > 126) *p = '?'; /* JSON is UTF-8; a command line may be anything */
    return *ret_text ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

static hu_status host_number(conversion *c, const char *host, int64_t *room, int32_t *ret_host, hu_error *err)
{
    for (*ret_host = 0; *ret_host < c->head.hosts; ++*ret_host)
        if (strcmp(c->head.host[*ret_host], host) == 0) return HU_OK;
    if (hu_grow((void **)&c->head.host, room, c->head.hosts + 1, sizeof *c->head.host, "hosts", err)) return err->status;
    return text_copy(&c->head.host[c->head.hosts++], host, err);
}

/* Ranks of spawned worlds follow those of the first. */
static hu_status count_worlds(conversion *c, hu_error *err)
{
    const spool *s = c->spool;
    if (hu_alloc_zero(s->files + 1, sizeof *c->head.world, "worlds", (void **)&c->head.world, err) || hu_alloc_zero(s->files + 1, sizeof *c->rank_base, "worlds", (void **)&c->rank_base, err) ||
        hu_alloc_zero(s->files + 1, sizeof *c->world_id, "worlds", (void **)&c->world_id, err))
        return err->status;
    for (int32_t i = 0; i < s->files; i++) {
        const hu_spool_header *h = s->file[i].head;
        if (h->rank < 0 || h->size < 1) continue;
        int32_t w = c->head.worlds;
        if (h->size > 1 << 24 || h->rank >= h->size) return hu_fail(err, HU_INPUT, "%s: its header is damaged", s->file[i].path);
        if (w > 0 && c->world_id[w - 1] == h->world) continue;
        c->rank_base[w] = c->head.ranks;
        c->world_id[w] = h->world;
        c->head.world[w] = h->size;
        c->head.ranks += h->size;
        c->head.worlds++;
    }
    return HU_OK;
}

static int32_t base_of(const conversion *c, uint64_t world)
{
    int32_t w = 0;
    while (c->world_id[w] != world) w++;
    return c->rank_base[w];
}

static hu_status fill_streams(conversion *c, hu_error *err)
{
    const spool *s = c->spool;
    int64_t room = 0;
    int32_t lost = 0;
    if (hu_alloc_zero(s->files, sizeof *c->head.stream, "streams", (void **)&c->head.stream, err) || hu_alloc_zero(s->files, sizeof *c->stream_file, "streams", (void **)&c->stream_file, err))
        return err->status;
    for (int32_t i = 0; i < s->files; i++) {
        const hu_spool_header *h = s->file[i].head;
        if (h->rank < 0 || h->size < 1) {
            lost += s->file[i].size > 0;
            continue;
        }
        hu_trace_stream *t = &c->head.stream[c->head.streams];
        t->rank = base_of(c, h->world) + h->rank;
        t->thread = h->thread;
        if (c->head.streams > 0 && t[-1].rank == t->rank && !spool_same_process(&s->file[i], &s->file[c->stream_file[c->head.streams - 1]]))
            return hu_fail(err, HU_INPUT, "%s and %s are both of rank %d: there are files of several runs; name those of one", s->file[c->stream_file[c->head.streams - 1]].path,
                           s->file[i].path, t->rank);
        if (host_number(c, h->host, &room, &t->host, err)) return err->status;
        t->finished = h->finished != 0;
        t->dropped = (int64_t)(h->dropped & INT64_MAX / 8);
        t->nested = (int64_t)(h->nested & INT64_MAX / 8);
        t->start = (int64_t)(h->started & INT64_MAX / 8);
        for (int k = 0; k < 2; k++) t->sync[k] = (hu_trace_sync){h->sync[k].at, h->sync[k].offset, h->sync[k].round_trip < 0 ? -1 : h->sync[k].round_trip};
        if (h->thread > 0 && c->head.streams > 0 && t[-1].rank == t->rank) memcpy(t->sync, t[-1].sync, sizeof t->sync);
        c->stream_file[c->head.streams++] = i;
        if (h->stopped) hu_warn("rank %d: the recording stopped early (%s); %lld calls are missing", t->rank, strerror(h->stopped), (long long)t->dropped);
    }
    if (lost) hu_warn("%d processes never learnt their rank (killed in MPI_Init?); their calls are left out", lost);
    if (c->head.streams == 0) return hu_fail(err, HU_INPUT, "no process has recorded anything: does the program use MPICH, and does it call MPI_Init?");
    return HU_OK;
}

static hu_status fill_comms(conversion *c, hu_error *err)
{
    int64_t size = c->head.world[0];
    int32_t *member;
    if (hu_grow((void **)&c->head.comm, &c->comm_room, 1 + c->head.worlds, sizeof *c->head.comm, "communicators", err)) return err->status;
    for (int32_t w = 0; w < c->head.worlds; w++) {
        size = c->head.world[w];
        if (hu_alloc(size, sizeof *member, "members", (void **)&member, err)) return err->status;
        for (int32_t i = 0; i < size; i++) member[i] = c->rank_base[w] + i;
        c->head.comm[c->head.comms++] = (hu_trace_comm){.size = (int32_t)size, .remote = -1, .member = member};
    }
    if (hu_alloc_zero(c->head.ranks, sizeof *c->head.local, "communicators", (void **)&c->head.local, err)) return err->status;
    for (int32_t w = 0; w < c->head.worlds; w++)
        for (int32_t i = 0; i < c->head.world[w]; i++) {
            hu_trace_locals *local = &c->head.local[c->rank_base[w] + i];
            if (hu_alloc(2, sizeof *local->comm, "communicators", (void **)&local->comm, err)) return err->status;
            local->comm[0] = w;
            local->comm[1] = -1;
            local->count = 2;
        }
    return HU_OK;
}

/* ---- the two readings ------------------------------------------------------------------------------------------------------------ */

/* First: which functions and datatypes are used, which communicators are made. */
static hu_status survey(conversion *c, hu_error *err)
{
    for (int32_t first = 0; first < c->head.streams && !err->status;) {
        process p;
        hu_trace_event event;
        symbols_comm made;
        hu_status status = open_process(c, first, &p, err);
        const hu_trace_stream *t = &c->head.stream[first];
        int32_t base = base_of(c, file_of(&p, first)->head->world);
        while (!status && (status = next_event(&p, 0, &event, &made, err)) == HU_OK) {
            if (c->function[event.function].used < 0) c->function[event.function].used = c->head.functions++;
            if (made.made) status = number_comm(c, t->rank, base, &made, err);
        }
        first = p.last;
        close_process(&p);
    }
    return err->status;
}

static hu_status fill_names(conversion *c, hu_error *err)
{
    if (hu_alloc_zero(c->head.functions, sizeof *c->head.function, "functions", (void **)&c->head.function, err) ||
        hu_alloc_zero(c->head.types, sizeof *c->head.type, "datatypes", (void **)&c->head.type, err))
        return err->status;
    for (int64_t i = 0; i < c->functions; i++)
        if (c->function[i].used >= 0 && (text_copy(&c->head.function[c->function[i].used].name, c->function[i].name, err) ||
                                         text_copy(&c->head.function[c->function[i].used].letters, c->function[i].letters, err)))
            return err->status;
    for (int64_t i = 0; i < c->types; i++) {
        if (c->type[i].used < 0) continue;
        c->head.type[c->type[i].used].size = c->type[i].size;
        if (text_copy(&c->head.type[c->type[i].used].name, c->type[i].name, err)) return err->status;
    }
    const hu_spool_header *h = c->spool->file[c->stream_file[0]].head;
    return text_copy(&c->head.command, h->command, err) ? err->status : text_copy(&c->head.library, h->library, err);
}

static hu_status write_events(conversion *c, hu_trace_writer *w, hu_error *err)
{
    for (int32_t first = 0; first < c->head.streams && !err->status;) {
        process p;
        hu_trace_event event;
        symbols_comm made;
        hu_status status = open_process(c, first, &p, err);
        while (!status && (status = next_event(&p, c->head.types, &event, &made, err)) == HU_OK) {
            event.function = c->function[event.function].used;
            status = hu_trace_put(w, &event, err);
        }
        for (int32_t s = p.first; s < p.last && !err->status; s++) hu_trace_end_stream(w, s, err);
        first = p.last;
        close_process(&p);
    }
    return err->status;
}

hu_status convert_spool(const spool *s, hu_output *out, hu_error *err)
{
    conversion c = {.spool = s};
    hu_trace_writer *writer = NULL;
    if (s->files == 0) return hu_fail(err, HU_INPUT, "no process has recorded anything: does the program use MPICH, and does it call MPI_Init?");
    if (read_table(&c, err) == HU_OK && count_worlds(&c, err) == HU_OK && fill_streams(&c, err) == HU_OK && fill_comms(&c, err) == HU_OK && survey(&c, err) == HU_OK &&
        fill_names(&c, err) == HU_OK && hu_trace_create(&c.head, HU_BUNDLE_ZSTD, 3, out, &writer, err) == HU_OK && write_events(&c, writer, err) == HU_OK)
        hu_trace_finish(&writer, err);
    hu_trace_abort(&writer);
    hu_trace_head_free(&c.head);
    free(c.table);
    hu_free(c.function);
    hu_free(c.type);
    hu_free(c.stream_file);
    hu_free(c.key);
    hu_free(c.rank_base);
    hu_free(c.world_id);
    hu_free(c.raw);
    hu_free(c.arg);
    return err->status;
}
