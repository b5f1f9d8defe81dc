/* trace_symbol.c: events as symbols that are alike in all processes.
 *
 * Sections: what is known of a stream, relative peers, statuses, packing, unpacking.
 */
#include "config.h"
#include "io/trace_symbol.h"
#include "base/memory.h"
#include "io/varint.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_REQUESTS = 1 << 20, MOST_TYPES = 1 << 20 };

typedef struct {
    int64_t source, tag, bytes;
} status;

typedef struct {
    status expected;
    int64_t comm;
} request;

typedef struct {
    int32_t own, size; /* rank in the communicator (0 where it is none of the members), members; size 0: not looked at */
} place;

struct hu_trace_symbols {
    const hu_trace_head *head;
    int32_t stream, rank;
    place *place; /* [places] of local communicators */
    int64_t places;
    request *request;
    int64_t requests, request_room;
    int64_t *size; /* of the datatypes made */
    int64_t sizes, size_room;
    int64_t next_comm, next_type;
    bool *receives; /* [functions] */
    uint8_t *bytes;
    int64_t byte_room;
    int64_t *arg, arg_room;
};

static const status none = {-2, -1, 0};

/* ---- what is known of a stream ---------------------------------------------------------------------------------------------- */

hu_status hu_trace_symbols_new(const hu_trace_head *head, hu_trace_symbols **ret_symbols, hu_error *err)
{
    hu_trace_symbols *s = *ret_symbols = calloc(1, sizeof *s);
    if (!s) return hu_fail(err, HU_SYSTEM, "out of memory");
    s->head = head;
    if (hu_alloc_zero(head->functions, sizeof *s->receives, "functions", (void **)&s->receives, err) == HU_OK) {
        for (int32_t i = 0; i < head->functions; i++) s->receives[i] = strstr(head->function[i].name, "ecv") != NULL;
        for (int32_t i = 0; i < head->ranks; i++)
            if (head->local[i].count > s->places) s->places = head->local[i].count;
        hu_alloc_zero(s->places, sizeof *s->place, "communicators", (void **)&s->place, err);
    }
    if (!err->status) return HU_OK;
    hu_trace_symbols_free(s);
    *ret_symbols = NULL;
    return err->status;
}

void hu_trace_symbols_free(hu_trace_symbols *symbols)
{
    if (!symbols) return;
    hu_free(symbols->place);
    hu_free(symbols->request);
    hu_free(symbols->size);
    hu_free(symbols->receives);
    hu_free(symbols->bytes);
    hu_free(symbols->arg);
    free(symbols);
}

void hu_trace_symbols_start(hu_trace_symbols *symbols, int32_t stream)
{
    symbols->stream = stream;
    symbols->rank = symbols->head->stream[stream].rank;
    symbols->requests = symbols->sizes = 0;
    symbols->next_comm = 2;
    symbols->next_type = symbols->head->types;
    memset(symbols->place, 0, (size_t)symbols->places * sizeof *symbols->place);
}

static place place_in(hu_trace_symbols *s, int64_t comm)
{
    const hu_trace_locals *local = &s->head->local[s->rank];
    if (comm < 0 || comm >= local->count) return (place){0, 1};
    place *p = &s->place[comm];
    if (p->size > 0) return *p;
    *p = (place){0, 1};
    if (local->comm[comm] < 0) return *p;
    const hu_trace_comm *c = &s->head->comm[local->comm[comm]];
    for (int32_t i = 0; i < c->size; i++)
        if (c->member[i] == s->rank) p->own = i;
    if (c->size > 0) p->size = c->size;
    return *p;
}

static int64_t size_of(const hu_trace_symbols *s, int64_t type)
{
    if (type < 0) return 0;
    if (type < s->head->types) return s->head->type[type].size;
    return type - s->head->types < s->sizes ? s->size[type - s->head->types] : 0;
}

/* What a call says so far, letter by letter: the last of each counts. */
typedef struct {
    int64_t count, type, peer, tag, comm, one_request, index;
    const int64_t *requests, *indices; /* arrays, their length in front */
    bool receives, has_request;
} said;

static void hear(said *x, char letter, const int64_t *value)
{
    if (letter == 'n') x->count = *value;
    else if (letter == 't') x->type = *value;
    else if (letter == 'p') x->peer = *value;
    else if (letter == 'g') x->tag = *value;
    else if (letter == 'r') x->one_request = *value, x->has_request = true;
    else if (letter == 'R') x->requests = value - 1;
    else if (letter == 'X') x->indices = value - 1;
    else if (letter == 'x') x->index = *value;
}

static status asked(const hu_trace_symbols *s, const said *x)
{
    if (!x->receives || x->peer == -2) return none;
    if (x->peer == -1) return (status){-1, -1, 0};
    int64_t bytes, size = size_of(s, x->type);
    if (x->tag == -1 || __builtin_mul_overflow(x->count, size, &bytes)) return none;
    return (status){x->peer, x->tag, bytes};
}

static request request_of(const hu_trace_symbols *s, int64_t number)
{
    return number >= 0 && number < s->requests ? s->request[number] : (request){none, 0};
}

/* The request that status i of the event belongs to; of a blocking call, what it asked. */
static request behind(const hu_trace_symbols *s, const said *x, int64_t i)
{
    if (x->requests) {
        int64_t at = x->indices ? (i < x->indices[0] ? x->indices[1 + i] : -1) : x->index >= 0 ? x->index : i;
        return at >= 0 && at < x->requests[0] ? request_of(s, x->requests[1 + at]) : (request){none, 0};
    }
    return x->has_request ? request_of(s, x->one_request) : (request){asked(s, x), x->comm};
}

/* What later events may need to know. */
static hu_status note(hu_trace_symbols *s, const said *x, char letter, const int64_t *value, hu_error *err)
{
    if (letter == 'q' && *value >= 0 && *value < MOST_REQUESTS) {
        if (hu_grow((void **)&s->request, &s->request_room, *value + 1, sizeof *s->request, "requests", err)) return err->status;
        while (s->requests <= *value) s->request[s->requests++] = (request){none, 0};
        s->request[*value] = (request){asked(s, x), x->comm};
    } else if (letter == 'Y' && *value >= s->head->types && *value - s->head->types < MOST_TYPES) {
        int64_t at = *value - s->head->types;
        if (hu_grow((void **)&s->size, &s->size_room, at + 1, sizeof *s->size, "datatypes", err)) return err->status;
        while (s->sizes <= at) s->size[s->sizes++] = 0;
        s->size[at] = value[1];
        s->next_type = *value + 1;
    } else if (letter == 'C' && *value >= 0) {
        s->next_comm = *value + 1;
    }
    return HU_OK;
}

/* ---- relative peers -------------------------------------------------------------------------------------------------------------- */

static uint8_t *put_peer(uint8_t *p, place at, int64_t peer)
{
    if (peer < 0) return hu_varint_put(p, 2 * (uint64_t)(-1 - peer) + 1);
    int64_t relative = peer - at.own;
    return hu_varint_put(p, 2 * (uint64_t)(peer < at.size && relative < 0 ? relative + at.size : peer < at.size ? relative : peer));
}

static int64_t get_peer(hu_varint_reader *in, place at)
{
    uint64_t u = hu_varint_get(in);
    if (u & 1) return -1 - (int64_t)(u >> 1);
    int64_t relative = (int64_t)(u >> 1);
    if (relative >= at.size) return relative; /* outside the communicator: as it is */
    return relative + at.own < at.size ? relative + at.own : relative + at.own - at.size;
}

/* ---- statuses ----------------------------------------------------------------------------------------------------------------------- */

static bool same(status a, status b)
{
    return a.source == b.source && a.tag == b.tag && a.bytes == b.bytes;
}

static uint8_t *put_status(hu_trace_symbols *s, uint8_t *p, const said *x, int64_t i, const int64_t *value)
{
    request r = behind(s, x, i);
    status given = {value[0], value[1], value[2]};
    if (same(given, r.expected)) return hu_varint_put(p, 0);
    if (same(given, none)) return hu_varint_put(p, 2);
    p = put_peer(hu_varint_put(p, 1), place_in(s, r.comm), given.source);
    return hu_varint_put_signed(hu_varint_put_signed(p, given.tag), given.bytes);
}

static void get_status(hu_trace_symbols *s, hu_varint_reader *in, const said *x, int64_t i, int64_t *value)
{
    request r = behind(s, x, i);
    uint64_t mark = hu_varint_get(in);
    status given = mark == 0 ? r.expected : none;
    if (mark == 1) {
        given.source = get_peer(in, place_in(s, r.comm));
        given.tag = hu_varint_get_signed(in);
        given.bytes = hu_varint_get_signed(in);
    }
    value[0] = given.source;
    value[1] = given.tag;
    value[2] = given.bytes;
}

/* ---- packing ------------------------------------------------------------------------------------------------------------------------- */

static said start_said(const hu_trace_symbols *s, int32_t function)
{
    return (said){.type = -1, .peer = -2, .tag = -1, .comm = HU_TRACE_WORLD, .index = -1, .receives = s->receives[function]};
}

static uint8_t *pack_letter(hu_trace_symbols *s, uint8_t *p, const said *x, char letter, const int64_t *value, int64_t count)
{
    if (letter == 'c') return p;
    if (letter == 's') return put_status(s, p, x, 0, value);
    if (letter == 'C') return hu_varint_put_signed(p, *value - s->next_comm);
    if (letter == 'Y') {
        p = hu_varint_put_signed(p, *value - s->next_type);
        for (int i = 1; i < 4; i++) p = hu_varint_put_signed(p, value[i]);
        return p;
    }
    if (hu_trace_letter_is_array(letter)) p = hu_varint_put(p, (uint64_t)(count / hu_trace_letter_width(letter)));
    if (letter == 'Z') {
        for (int64_t i = 0; i < count / 3; i++) p = put_status(s, p, x, i, value + 3 * i);
        return p;
    }
    bool peers = letter == 'p' || letter == 'P';
    for (int64_t i = 0; i < count; i++) p = peers ? put_peer(p, place_in(s, x->comm), value[i]) : hu_varint_put_signed(p, value[i]);
    return p;
}

hu_status hu_trace_symbols_pack(hu_trace_symbols *symbols, const hu_trace_event *event, const uint8_t **ret_bytes, int64_t *ret_size, hu_error *err)
{
    hu_trace_symbols *s = symbols;
    said x = start_said(s, event->function);
    bool has_comm = false;
    const int64_t *value;
    int64_t count;
    char letter;
    if (hu_grow((void **)&s->bytes, &s->byte_room, ((int64_t)event->args * 2 + 8) * HU_VARINT_MOST, 1, "an event", err)) return err->status;
    uint8_t *p = hu_varint_put(s->bytes, (uint64_t)event->function << 3 | (event->error ? 1u : 0u) | (event->poll ? 2u : 0u) | (event->gap ? 4u : 0u));
    hu_trace_walk walk = hu_trace_walk_of(s->head, event);
    while ((letter = hu_trace_walk_next(&walk, &value, &count))) {
        if (letter != 'c') continue;
        if (!has_comm) x.comm = *value;
        has_comm = true;
        p = hu_varint_put_signed(p, *value);
    }
    walk = hu_trace_walk_of(s->head, event);
    while ((letter = hu_trace_walk_next(&walk, &value, &count))) {
        p = pack_letter(s, p, &x, letter, value, count);
        hear(&x, letter, value);
        if (note(s, &x, letter, value, err)) return err->status;
    }
    *ret_bytes = s->bytes;
    *ret_size = p - s->bytes;
    return HU_OK;
}

/* ---- unpacking ------------------------------------------------------------------------------------------------------------------------- */

static void unpack_letter(hu_trace_symbols *s, hu_varint_reader *in, const said *x, char letter, int64_t *value, int64_t count)
{
    bool peers = letter == 'p' || letter == 'P';
    if (letter == 's' || letter == 'Z') {
        for (int64_t i = 0; i < count / 3; i++) get_status(s, in, x, i, value + 3 * i);
        return;
    }
    for (int64_t i = 0; i < count; i++) value[i] = peers ? get_peer(in, place_in(s, x->comm)) : hu_varint_get_signed(in);
    if (letter == 'C') *value = (int64_t)((uint64_t)*value + (uint64_t)s->next_comm);
    if (letter == 'Y') *value = (int64_t)((uint64_t)*value + (uint64_t)s->next_type);
}

static hu_status damaged(hu_error *err)
{
    return hu_fail(err, HU_INPUT, "a symbol is damaged");
}

hu_status hu_trace_symbols_unpack(hu_trace_symbols *symbols, const uint8_t *bytes, int64_t size, hu_trace_event *ret_event, hu_error *err)
{
    hu_trace_symbols *s = symbols;
    hu_varint_reader in = {bytes, bytes + size, false};
    uint64_t code = hu_varint_get(&in);
    if (in.bad || code >> 3 >= (uint64_t)s->head->functions) return damaged(err);
    *ret_event = (hu_trace_event){.stream = s->stream, .function = (int32_t)(code >> 3), .error = code & 1, .poll = code & 2, .gap = code & 4, .count = 1};
    const char *letters = s->head->function[ret_event->function].letters;
    /* a status takes one byte at least and gives three values; an array has its length besides */
    if (hu_grow((void **)&s->arg, &s->arg_room, 3 * size + 8 * (int64_t)strlen(letters) + 8, sizeof *s->arg, "an event", err)) return err->status;
    said x = start_said(s, ret_event->function);
    hu_varint_reader comms = in;
    int64_t n = 0;
    bool has_comm = false;
    for (const char *l = letters; *l; l++) {
        if (*l != 'c') continue;
        int64_t comm = hu_varint_get_signed(&in);
        if (!has_comm) x.comm = comm;
        has_comm = true;
    }
    for (const char *l = letters; *l; l++) {
        int64_t count = hu_trace_letter_width(*l);
        if (*l == 'c') {
            s->arg[n++] = hu_varint_get_signed(&comms);
            continue;
        }
        if (hu_trace_letter_is_array(*l)) {
            uint64_t length = hu_varint_get(&in);
            if (in.bad || length > (uint64_t)(in.end - in.p)) return damaged(err);
            s->arg[n++] = (int64_t)length;
            count *= (int64_t)length;
        }
        unpack_letter(s, &in, &x, *l, s->arg + n, count);
        hear(&x, *l, s->arg + n);
        if (note(s, &x, *l, s->arg + n, err)) return err->status;
        n += count;
    }
    if (in.bad || in.p != in.end) return damaged(err);
    ret_event->args = (int32_t)n;
    ret_event->arg = s->arg;
    return HU_OK;
}
