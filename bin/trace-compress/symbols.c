/* symbols.c: handles of a process as numbers.
 *
 * Sections: maps from handles, numbers, letters, what a call ends.
 */
#include "config.h"
#include "symbols.h"
#include "base/memory.h"
#include "io/trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- maps from handles to queues of numbers -------------------------------------------------------------------------- */

typedef struct {
    int64_t *number; /* [room]: those from `first` to `last` are queued */
    int64_t room, first, last, cursor, stamp;
    int64_t handle;
    bool used;
} entry;

typedef struct {
    entry *table;
    int64_t size, used;
    uint8_t *taken; /* numbers in use */
    int64_t taken_room, lowest;
} map;

enum { COMM, TYPE, REQUEST, MESSAGE, GROUP, WINDOW, HANDLE_FILE, SESSION, OPERATION, MAPS };

struct symbols {
    map map[MAPS];
    int64_t (*basic_type)(void *, int64_t);
    void *basic_arg;
    int64_t comms, types, stamp;
    uint8_t *kind; /* of each request number */
    int64_t kind_room;
};

enum { KIND_RECEIVE = 1, KIND_PERSISTENT = 2, KIND_FILE = 4 };

static entry *find(const map *m, int64_t handle)
{
    if (!m->size) return NULL;
    uint64_t at = (uint64_t)handle * 0x9e3779b97f4a7c15u >> 20;
    for (;; at++) {
        entry *e = &m->table[at % (uint64_t)m->size];
        if (!e->used || e->handle == handle) return e;
    }
}

static hu_status insert(map *m, int64_t handle, entry **ret_entry, hu_error *err)
{
    if (2 * (m->used + 1) > m->size) {
        map larger = *m;
        larger.size = m->size ? 2 * m->size : 64;
        if (hu_alloc_zero(larger.size, sizeof(entry), "handles", (void **)&larger.table, err)) return err->status;
        for (int64_t i = 0; i < m->size; i++)
            if (m->table[i].used) *find(&larger, m->table[i].handle) = m->table[i];
        hu_free(m->table);
        *m = larger;
    }
    entry *e = find(m, handle);
    if (!e->used) {
        e->used = true;
        e->handle = handle;
        m->used++;
    }
    *ret_entry = e;
    return HU_OK;
}

static hu_status push(map *m, int64_t handle, int64_t number, hu_error *err)
{
    entry *e = NULL;
    if (insert(m, handle, &e, err)) return err->status;
    if (e->first == e->last) e->first = e->last = 0;
    if (e->first > 64 && 2 * e->first > e->last) {
        memmove(e->number, e->number + e->first, (size_t)(e->last - e->first) * sizeof *e->number);
        e->last -= e->first;
        e->first = 0;
    }
    if (hu_grow((void **)&e->number, &e->room, e->last + 1, sizeof *e->number, "handles", err)) return err->status;
    e->number[e->last++] = number;
    return HU_OK;
}

static void drop(map *m, int64_t handle, int64_t number)
{
    entry *e = find(m, handle);
    if (!e || !e->used) return;
    for (int64_t i = e->first; i < e->last; i++) {
        if (e->number[i] != number) continue;
        if (i == e->first) e->first++;
        else memmove(e->number + i, e->number + i + 1, (size_t)(--e->last - i) * sizeof *e->number);
        return;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

static hu_status take_number(map *m, int64_t *ret_number, hu_error *err)
{
    int64_t n = m->lowest, before = m->taken_room;
    while (n < m->taken_room && m->taken[n]) n++;
    if (hu_grow((void **)&m->taken, &m->taken_room, n + 1, 1, "handles", err)) return err->status;
    if (m->taken_room > before) memset(m->taken + before, 0, (size_t)(m->taken_room - before));
    m->taken[n] = 1;
    m->lowest = n + 1;
    *ret_number = n;
    return HU_OK;
}

static void release(map *m, int64_t handle, int64_t number)
{
    if (number < 0) return;
    drop(m, handle, number);
    if (number >= m->taken_room) return;
    m->taken[number] = 0;
    if (number < m->lowest) m->lowest = number;
}

/* The number of a handle: the oldest that it stands for, or, inside one call, the one after that which it gave before. */
static int64_t look(symbols *s, int which, int64_t handle)
{
    entry *e = find(&s->map[which], handle);
    if (!e || !e->used || e->first == e->last) return SYMBOL_UNKNOWN;
    if (e->stamp != s->stamp) {
        e->stamp = s->stamp;
        e->cursor = e->first;
    }
    int64_t at = e->cursor < e->last ? e->cursor : e->last - 1;
    if (which == REQUEST) e->cursor++;
    return e->number[at];
}

hu_status symbols_new(int64_t (*basic_type)(void *arg, int64_t handle), void *arg, symbols **ret_symbols, hu_error *err)
{
    symbols *s = *ret_symbols = calloc(1, sizeof *s);
    if (!s) return hu_fail(err, HU_SYSTEM, "out of memory");
    s->basic_type = basic_type;
    s->basic_arg = arg;
    s->comms = 2;
    push(&s->map[COMM], HU_SPOOL_WORLD, HU_TRACE_WORLD, err);
    push(&s->map[COMM], HU_SPOOL_SELF, HU_TRACE_SELF, err);
    return err->status;
}

void symbols_free(symbols *s)
{
    if (!s) return;
    for (int i = 0; i < MAPS; i++) {
        for (int64_t k = 0; k < s->map[i].size; k++) hu_free(s->map[i].table[k].number);
        hu_free(s->map[i].table);
        hu_free(s->map[i].taken);
    }
    hu_free(s->kind);
    free(s);
}

/* ---- letters ------------------------------------------------------------------------------------------------------------- */

static int64_t type_number(symbols *s, int64_t handle, int64_t first_type)
{
    int64_t number = s->basic_type(s->basic_arg, handle);
    if (number != SYMBOL_UNKNOWN) return number;
    if (handle == HU_SPOOL_TYPE_NULL) return SYMBOL_NULL;
    number = look(s, TYPE, handle);
    return number < 0 ? number : first_type + number;
}

static const struct {
    char letter;
    int map;
    int64_t null;
} uses[] = {{'c', COMM, HU_SPOOL_COMM_NULL}, {'r', REQUEST, HU_SPOOL_REQUEST_NULL}, {'R', REQUEST, HU_SPOOL_REQUEST_NULL}, {'m', MESSAGE, HU_SPOOL_REQUEST_NULL},
            {'e', GROUP, HU_SPOOL_GROUP_NULL}, {'w', WINDOW, HU_SPOOL_WIN_NULL}, {'h', HANDLE_FILE, 0}, {'y', SESSION, HU_SPOOL_SESSION_NULL}},
  makes[] = {{'q', REQUEST, HU_SPOOL_REQUEST_NULL}, {'M', MESSAGE, HU_SPOOL_REQUEST_NULL}, {'E', GROUP, HU_SPOOL_GROUP_NULL}, {'W', WINDOW, HU_SPOOL_WIN_NULL},
             {'H', HANDLE_FILE, 0}, {'L', SESSION, HU_SPOOL_SESSION_NULL}, {'O', OPERATION, HU_SPOOL_OP_NULL}};
enum { USES = sizeof uses / sizeof *uses, MAKES = sizeof makes / sizeof *makes, OWN_OPERATIONS = 64 };

static int64_t use(symbols *s, char letter, int64_t handle, int64_t first_type)
{
    if (letter == 't' || letter == 'T') return type_number(s, handle, first_type);
    if (letter == 'o') {
        if (handle == HU_SPOOL_OP_NULL) return SYMBOL_NULL;
        int64_t number = handle >> 24 == 0x58 ? handle & 63 : look(s, OPERATION, handle);
        return handle >> 24 != 0x58 && number >= 0 ? OWN_OPERATIONS + number : number;
    }
    for (int i = 0; i < USES; i++)
        if (uses[i].letter == letter) return handle == uses[i].null ? SYMBOL_NULL : look(s, uses[i].map, handle);
    return handle; /* a plain integer */
}

static uint8_t request_kind(const char *name)
{
    size_t n = strlen(name);
    bool persistent = (n > 5 && strcmp(name + n - 5, "_init") == 0) || (n > 7 && strcmp(name + n - 7, "_init_c") == 0);
    bool receive = strstr(name, "recv") != NULL;
    return (uint8_t)((receive ? KIND_RECEIVE : 0) | (persistent ? KIND_PERSISTENT : 0) | (strncmp(name, "MPI_File_", 9) == 0 ? KIND_FILE : 0));
}

static hu_status make(symbols *s, const symbols_call *call, char letter, int64_t handle, int64_t *ret_number, hu_error *err)
{
    for (int i = 0; i < MAKES; i++) {
        if (makes[i].letter != letter) continue;
        *ret_number = SYMBOL_NULL;
        if (handle == makes[i].null) return HU_OK;
        if (makes[i].map != REQUEST && (*ret_number = look(s, makes[i].map, handle)) >= 0) return HU_OK; /* another reference */
        if (take_number(&s->map[makes[i].map], ret_number, err) || push(&s->map[makes[i].map], handle, *ret_number, err)) return err->status;
        if (makes[i].map == REQUEST) {
            if (hu_grow((void **)&s->kind, &s->kind_room, *ret_number + 1, 1, "requests", err)) return err->status;
            s->kind[*ret_number] = request_kind(call->name);
        } else if (letter == 'O') {
            *ret_number += OWN_OPERATIONS;
        }
        return HU_OK;
    }
    return HU_OK;
}

static hu_status make_comm(symbols *s, const int64_t *raw, int64_t left, int64_t *ret_number, int64_t *ret_used, symbols_comm *ret_comm, hu_error *err)
{
    int64_t n = left > 4 ? raw[4] : -1, m = n >= 0 && left - 6 >= n ? raw[5 + n] : -1;
    if (n < 0 || m < 0 || left - 6 - n < m) return hu_fail(err, HU_INPUT, "a new communicator's members are cut short");
    *ret_used = 6 + n + m;
    *ret_number = SYMBOL_NULL;
    if (raw[0] == HU_SPOOL_COMM_NULL) return HU_OK;
    *ret_number = look(s, COMM, raw[0]);
    if (*ret_number >= 0) return HU_OK;
    *ret_number = s->comms++;
    *ret_comm = (symbols_comm){true, *ret_number, ret_comm->parent, n, raw[3] < 0 ? -1 : m, raw + 5, raw + 6 + n};
    return push(&s->map[COMM], raw[0], *ret_number, err);
}

static hu_status make_type(symbols *s, const int64_t *raw, int64_t first_type, int64_t *arg, hu_error *err)
{
    memcpy(arg, raw, 4 * sizeof *arg);
    arg[0] = type_number(s, raw[0], first_type);
    if (arg[0] != SYMBOL_UNKNOWN) return HU_OK;
    arg[0] = first_type + s->types;
    return push(&s->map[TYPE], raw[0], s->types++, err);
}

/* ---- what a call ends ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const int64_t *raw_request, *request; /* handles, and their numbers */
    int64_t requests;
    int64_t *status;                      /* three values each, in the order of `done` */
    int64_t statuses;
    const int64_t *index;
    int64_t indices;
    int64_t flag, one_index;
    bool has_index, has_indices;
} completion;

/* A status says something of receives only, and of I/O its bytes. */
static void tidy_status(const symbols *s, int64_t request, int64_t *status)
{
    uint8_t kind = request >= 0 && request < s->kind_room ? s->kind[request] : request == SYMBOL_UNKNOWN ? KIND_RECEIVE : 0;
    if (kind & KIND_RECEIVE) return;
    status[0] = -2;
    status[1] = -1;
    if (!(kind & KIND_FILE)) status[2] = 0;
}

static void complete(symbols *s, const completion *c)
{
    int64_t n = c->has_indices ? c->indices : c->has_index ? (c->one_index >= 0) : c->requests;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = c->has_indices ? c->index[i] : c->has_index ? c->one_index : i;
        if (at < 0 || at >= c->requests) continue;
        if (i < c->statuses) tidy_status(s, c->request[at], c->status + 3 * i);
        if (c->request[at] >= 0 && !(s->kind[c->request[at]] & KIND_PERSISTENT)) release(&s->map[REQUEST], c->raw_request[at], c->request[at]);
    }
}

/* Object handles that a call gives back: the letter of its argument, by the function's name. */
static void end_objects(symbols *s, const symbols_call *call, char letter, int64_t handle, int64_t number, int64_t first_type)
{
    const char *name = call->name;
    if (letter == 'c' && (strcmp(name, "MPI_Comm_free") == 0 || strcmp(name, "MPI_Comm_disconnect") == 0)) drop(&s->map[COMM], handle, number);
    if (letter == 't' && strcmp(name, "MPI_Type_free") == 0) drop(&s->map[TYPE], handle, number - first_type);
    if (letter == 'r' && strcmp(name, "MPI_Request_free") == 0) release(&s->map[REQUEST], handle, number);
    if (letter == 'm' && strstr(name, "mrecv")) release(&s->map[MESSAGE], handle, number);
    if (letter == 'm' && strstr(name, "Mrecv")) release(&s->map[MESSAGE], handle, number);
    if (letter == 'e' && strcmp(name, "MPI_Group_free") == 0) release(&s->map[GROUP], handle, number);
    if (letter == 'w' && strcmp(name, "MPI_Win_free") == 0) release(&s->map[WINDOW], handle, number);
    if (letter == 'h' && strcmp(name, "MPI_File_close") == 0) release(&s->map[HANDLE_FILE], handle, number);
    if (letter == 'y' && strcmp(name, "MPI_Session_finalize") == 0) release(&s->map[SESSION], handle, number);
    if (letter == 'o' && strcmp(name, "MPI_Op_free") == 0) release(&s->map[OPERATION], handle, number - OWN_OPERATIONS);
}

static bool completes(const symbols_call *call)
{
    return !call->failed && (strncmp(call->name, "MPI_Wait", 8) == 0 || strncmp(call->name, "MPI_Test", 8) == 0) && strcmp(call->name, "MPI_Test_cancelled") != 0;
}

hu_status symbols_translate(symbols *s, const symbols_call *call, int64_t first_type, int64_t *arg, int32_t *ret_args, symbols_comm *ret_comm, hu_error *err)
{
    const int64_t *raw = call->raw, *end = raw + call->raws;
    int64_t *out = arg, parent = SYMBOL_UNKNOWN;
    completion c = {0};
    *ret_comm = (symbols_comm){.parent = SYMBOL_UNKNOWN};
    s->stamp++;
    for (const char *l = call->letters; *l; l++) {
        int64_t count = hu_trace_letter_width(*l), used = 1;
        if (raw >= end) return hu_fail(err, HU_INPUT, "an event of %s is cut short", call->name);
        if (*l == 'C') {
            ret_comm->parent = parent;
            if (make_comm(s, raw, end - raw, out, &used, ret_comm, err)) return err->status;
            raw += used;
            out++;
            continue;
        }
        if (hu_trace_letter_is_array(*l)) {
            int64_t length = *raw++;
            if (length < 0 || length > (end - raw) / count) return hu_fail(err, HU_INPUT, "an event of %s is cut short", call->name);
            *out++ = length;
            count *= length;
        }
        if (count > end - raw) return hu_fail(err, HU_INPUT, "an event of %s is cut short", call->name);
        if (*l == 'Y') {
            if (make_type(s, raw, first_type, out, err)) return err->status;
        } else if (strchr("qMEWHLO", *l)) {
            if (make(s, call, *l, *raw, out, err)) return err->status;
        } else {
            for (int64_t i = 0; i < count; i++) out[i] = use(s, *l, raw[i], first_type);
        }
        if (*l == 'c' && parent == SYMBOL_UNKNOWN) parent = *out;
        if (*l == 'r' || *l == 'R') c.raw_request = raw, c.request = out, c.requests = count;
        if (*l == 's' || *l == 'Z') c.status = out, c.statuses = count / 3;
        if (*l == 'X') c.index = out, c.indices = count, c.has_indices = true;
        if (*l == 'x') c.one_index = *out, c.has_index = true;
        if (!call->error) end_objects(s, call, *l, *raw, *out, first_type);
        raw += count;
        out += count;
    }
    if (completes(call)) complete(s, &c);
    else if (c.status && strncmp(call->name, "MPI_File_", 9) == 0) c.status[0] = -2, c.status[1] = -1;
    *ret_args = (int32_t)(out - arg);
    return HU_OK;
}
