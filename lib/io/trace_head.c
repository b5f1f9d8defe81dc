/* trace_head.c: the head of a trace: letters, the manifest's content, the member "defs".
 *
 * Sections: letters, the manifest, defs, life, clocks.
 */
#include "config.h"
#include "io/trace_private.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char *const time_names[] = {"exact", "rel", "none"};

/* ---- letters -------------------------------------------------------------------------------------------------------- */

int hu_trace_letter_width(char letter)
{
    return letter == 's' || letter == 'Z' ? 3 : letter == 'Y' ? 4 : 1;
}

bool hu_trace_letter_is_array(char letter)
{
    return letter && strchr("NDTPRXZ", letter);
}

bool hu_trace_letters_known(const char *letters)
{
    return strspn(letters, "ntpgckoiurqmMeEwWhHyLOfxCsYNDTPRXZ") == strlen(letters);
}

hu_trace_walk hu_trace_walk_of(const hu_trace_head *head, const hu_trace_event *event)
{
    return (hu_trace_walk){head->function[event->function].letters, event->arg, event->args > 0 ? event->arg + event->args : event->arg};
}

char hu_trace_walk_next(hu_trace_walk *walk, const int64_t **ret_values, int64_t *ret_count)
{
    char letter = *walk->letter;
    if (!letter) return 0;
    walk->letter++;
    int64_t count = hu_trace_letter_width(letter);
    if (hu_trace_letter_is_array(letter)) count *= *walk->at++;
    *ret_values = walk->at;
    *ret_count = count;
    walk->at += count;
    return letter;
}

/* ---- the manifest ----------------------------------------------------------------------------------------------------- */

static json_t *texts(char *const *text, int32_t n)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < n; i++) json_array_append_new(array, json_string(text[i]));
    return array;
}

hu_status hu_trace_head_content(const hu_trace_head *head, json_t **ret_content, hu_error *err)
{
    json_t *functions = json_array(), *types = json_array();
    for (int32_t i = 0; i < head->functions; i++) json_array_append_new(functions, json_pack("[s, s]", head->function[i].name, head->function[i].letters));
    for (int32_t i = 0; i < head->types; i++) json_array_append_new(types, json_pack("[s, I]", head->type[i].name, (json_int_t)head->type[i].size));
    *ret_content = json_pack("{s:s, s:f, s:f, s:s, s:s, s:o, s:o, s:o}", "time", time_names[head->time], "error", head->error, "coded", head->coded, "command", head->command, "library", head->library, "hosts",
                             texts(head->host, head->hosts), "functions", functions, "types", types);
    return *ret_content ? HU_OK : hu_fail(err, HU_INPUT, "the trace's command line or names are no UTF-8");
}

static hu_status copy_text(const hu_json_place *place, char **ret_text, hu_error *err)
{
    if (!json_is_string(place->value)) return hu_json_fail(place, err, "expected a text");
    *ret_text = strdup(json_string_value(place->value));
    return *ret_text ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

static hu_status read_list(const hu_json_place *content, const char *key, size_t size, hu_json_place *ret_array, int32_t *ret_count, void **ret_items, hu_error *err)
{
    int64_t n;
    if (hu_json_member(content, key, ret_array, err) || hu_json_length(ret_array, HU_TRACE_FUNCTIONS, &n, err) || hu_alloc_zero(n, size, key, ret_items, err)) return err->status;
    *ret_count = (int32_t)n;
    return HU_OK;
}

static hu_status read_functions(const hu_json_place *content, hu_trace_head *head, hu_error *err)
{
    hu_json_place array, item, part;
    if (read_list(content, "functions", sizeof *head->function, &array, &head->functions, (void **)&head->function, err)) return err->status;
    for (int32_t i = 0; i < head->functions; i++) {
        if (hu_json_item(&array, i, &item, err) || hu_json_item(&item, 0, &part, err) || copy_text(&part, &head->function[i].name, err) || hu_json_item(&item, 1, &part, err) ||
            copy_text(&part, &head->function[i].letters, err))
            return err->status;
        if (!hu_trace_letters_known(head->function[i].letters)) return hu_json_fail(&part, err, "has a letter that no argument has");
    }
    return HU_OK;
}

static hu_status read_types(const hu_json_place *content, hu_trace_head *head, hu_error *err)
{
    hu_json_place array, item, part;
    if (read_list(content, "types", sizeof *head->type, &array, &head->types, (void **)&head->type, err)) return err->status;
    for (int32_t i = 0; i < head->types; i++)
        if (hu_json_item(&array, i, &item, err) || hu_json_item(&item, 0, &part, err) || copy_text(&part, &head->type[i].name, err) || hu_json_item(&item, 1, &part, err) ||
            hu_json_integer_of(&part, 0, INT32_MAX, &head->type[i].size, err))
            return err->status;
    return HU_OK;
}

hu_status hu_trace_head_read(const hu_json_place *content, hu_trace_head *ret_head, hu_error *err)
{
    hu_json_place array, item;
    int time;
    if (hu_json_word(content, "time", time_names, 3, &time, err) || hu_json_number(content, "error", 0.0, 100.0, &ret_head->error, err) ||
        hu_json_number(content, "coded", 0.0, 1.0, &ret_head->coded, err))
        return err->status;
    ret_head->time = (hu_trace_time)time;
    if (hu_json_member(content, "command", &item, err) || copy_text(&item, &ret_head->command, err) || hu_json_member(content, "library", &item, err) ||
        copy_text(&item, &ret_head->library, err) || read_list(content, "hosts", sizeof *ret_head->host, &array, &ret_head->hosts, (void **)&ret_head->host, err))
        return err->status;
    for (int32_t i = 0; i < ret_head->hosts; i++)
        if (hu_json_item(&array, i, &item, err) || copy_text(&item, &ret_head->host[i], err)) return err->status;
    if (read_functions(content, ret_head, err)) return err->status;
    return read_types(content, ret_head, err);
}

/* ---- defs: all zigzag varints ------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *bytes;
    int64_t used, room;
    hu_error *err;
} growing;

static void add(growing *g, int64_t value)
{
    if (g->err->status || hu_grow((void **)&g->bytes, &g->room, g->used + HU_VARINT_MOST, 1, "the definitions of a trace", g->err)) return;
    g->used = hu_varint_put_signed(g->bytes + g->used, value) - g->bytes;
}

/* A list as runs of first, step, count. */
static void add_list(growing *g, const int32_t *item, int32_t n)
{
    add(g, n);
    for (int32_t i = 0; i < n;) {
        int32_t j = i + 1, step = j < n ? item[j] - item[i] : 0;
        while (j < n && item[j] - item[j - 1] == step) j++;
        add(g, item[i]);
        add(g, step);
        add(g, j - i);
        i = j;
    }
}

static void add_stream(growing *g, const hu_trace_stream *s, bool timed)
{
    int64_t facts[] = {s->rank, s->thread, s->host, s->finished, s->dropped, s->nested};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) add(g, facts[i]);
    if (!timed) return;
    add(g, s->start);
    for (int i = 0; i < 2; i++) {
        add(g, s->sync[i].round_trip);
        if (s->sync[i].round_trip < 0) continue;
        add(g, s->sync[i].at - s->start);
        add(g, s->sync[i].offset);
    }
}

hu_status hu_trace_head_defs(const hu_trace_head *head, uint8_t **ret_bytes, int64_t *ret_size, hu_error *err)
{
    growing g = {NULL, 0, 0, err};
    add_list(&g, head->world, head->worlds);
    add(&g, head->streams);
    for (int32_t i = 0; i < head->streams; i++) add_stream(&g, &head->stream[i], head->time != HU_TRACE_NONE);
    add(&g, head->comms);
    for (int32_t i = 0; i < head->comms; i++) {
        add_list(&g, head->comm[i].member, head->comm[i].size);
        add(&g, head->comm[i].remote);
        if (head->comm[i].remote >= 0) add_list(&g, head->comm[i].remote_member, head->comm[i].remote);
    }
    for (int32_t i = 0; i < head->ranks; i++) add_list(&g, head->local[i].comm, head->local[i].count);
    *ret_bytes = g.bytes;
    *ret_size = g.used;
    return err->status;
}

typedef struct {
    hu_varint_reader in;
    const char *name;
    hu_error *err;
} taking;

static hu_status bad_defs(taking *t, const char *what)
{
    return hu_fail(t->err, HU_INPUT, "%s: member " HU_TRACE_DEFS ": %s", t->name, what);
}

static int64_t take(taking *t, int64_t least, int64_t most, const char *what)
{
    int64_t value = hu_varint_get_signed(&t->in);
    if (!t->err->status && (t->in.bad || value < least || value > most)) bad_defs(t, what);
    return t->err->status ? least : value;
}

/* longest: what the list can have at most, so that a few bytes cannot claim much memory. */
static hu_status take_list(taking *t, int64_t longest, int32_t least, int32_t most, int32_t **ret_item, int32_t *ret_count)
{
    int64_t n = take(t, 0, longest, "a list is too long"), done = 0, room = 0;
    *ret_item = NULL;
    *ret_count = 0;
    while (done < n && !t->err->status) {
        int64_t first = take(t, least, most, "a list holds a number out of range"), step = take(t, INT32_MIN, INT32_MAX, "a list's step is out of range");
        int64_t count = take(t, 1, n - done, "a list's run has a wrong length");
        int64_t last = first + step * (count - 1);
        if (!t->err->status && (last < least || last > most)) bad_defs(t, "a list holds a number out of range");
        if (t->err->status || hu_grow((void **)ret_item, &room, done + count, sizeof(int32_t), "a list of a trace", t->err)) break;
        for (int64_t i = 0; i < count; i++) (*ret_item)[done + i] = (int32_t)(first + step * i);
        done += count;
        *ret_count = (int32_t)done;
    }
    if (!*ret_item && !t->err->status) hu_alloc(1, sizeof(int32_t), "a list of a trace", (void **)ret_item, t->err);
    return t->err->status;
}

static hu_status take_streams(taking *t, hu_trace_head *head)
{
    int64_t n = take(t, 0, t->in.end - t->in.p, "there are more streams than bytes");
    const int64_t far = INT64_MAX / 4;
    if (t->err->status || hu_alloc_zero(n, sizeof *head->stream, "the streams of a trace", (void **)&head->stream, t->err)) return t->err->status;
    head->streams = (int32_t)n;
    for (int32_t i = 0; i < n && !t->err->status; i++) {
        hu_trace_stream *s = &head->stream[i];
        s->rank = (int32_t)take(t, 0, head->ranks - 1, "a stream's rank is out of range");
        s->thread = (int32_t)take(t, 0, 1 << 20, "a thread is out of range");
        s->host = (int32_t)take(t, 0, head->hosts - 1, "a host is out of range");
        s->finished = take(t, 0, 1, "a mark is neither 0 nor 1");
        s->dropped = take(t, 0, far, "a count is out of range");
        s->nested = take(t, 0, far, "a count is out of range");
        s->sync[0].round_trip = s->sync[1].round_trip = -1;
        if (i > 0 && (s->rank < s[-1].rank || (s->rank == s[-1].rank && s->thread <= s[-1].thread)) && !t->err->status) bad_defs(t, "streams are not sorted");
        if (head->time == HU_TRACE_NONE) continue;
        s->start = take(t, 0, far, "a time is out of range");
        for (int k = 0; k < 2; k++) {
            s->sync[k].round_trip = take(t, -1, far, "a time is out of range");
            if (s->sync[k].round_trip < 0) continue;
            s->sync[k].at = s->start + take(t, -far, far, "a time is out of range");
            s->sync[k].offset = take(t, -far, far, "a time is out of range");
        }
    }
    return t->err->status;
}

static hu_status take_comms(taking *t, hu_trace_head *head)
{
    int64_t n = take(t, 0, t->in.end - t->in.p, "there are more communicators than bytes");
    if (t->err->status || hu_alloc_zero(n, sizeof *head->comm, "the communicators of a trace", (void **)&head->comm, t->err)) return t->err->status;
    head->comms = (int32_t)n;
    for (int32_t i = 0; i < n && !t->err->status; i++) {
        hu_trace_comm *c = &head->comm[i];
        if (take_list(t, head->ranks, -1, head->ranks - 1, &c->member, &c->size)) break;
        c->remote = (int32_t)take(t, -1, HU_TRACE_LIMIT, "a group's size is out of range");
        int32_t size = c->remote;
        if (c->remote >= 0 && take_list(t, head->ranks, -1, head->ranks - 1, &c->remote_member, &c->remote) == HU_OK && c->remote != size) bad_defs(t, "a remote group has a wrong size");
    }
    if (hu_alloc_zero(head->ranks, sizeof *head->local, "the communicators of a trace", (void **)&head->local, t->err)) return t->err->status;
    for (int32_t i = 0; i < head->ranks && !t->err->status; i++) take_list(t, (int64_t)head->comms + 1, -1, head->comms - 1, &head->local[i].comm, &head->local[i].count);
    return t->err->status;
}

hu_status hu_trace_head_read_defs(const void *bytes, int64_t size, const char *name, hu_trace_head *head, hu_error *err)
{
    taking t = {{bytes, (const uint8_t *)bytes + size, false}, name, err};
    int64_t ranks = 0;
    if (take_list(&t, size, 0, HU_TRACE_LIMIT, &head->world, &head->worlds)) return err->status;
    for (int32_t i = 0; i < head->worlds; i++) ranks += head->world[i];
    if (ranks > size) return bad_defs(&t, "there are more ranks than bytes");
    head->ranks = (int32_t)ranks;
    if (take_streams(&t, head) || take_comms(&t, head)) return err->status;
    return t.in.p == t.in.end ? HU_OK : bad_defs(&t, "there are bytes behind its end");
}

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

void hu_trace_head_free(hu_trace_head *head)
{
    if (!head) return;
    for (int32_t i = 0; i < head->hosts && head->host; i++) free(head->host[i]);
    for (int32_t i = 0; i < head->functions && head->function; i++) free(head->function[i].name), free(head->function[i].letters);
    for (int32_t i = 0; i < head->types && head->type; i++) free(head->type[i].name);
    for (int32_t i = 0; i < head->comms; i++) hu_free(head->comm[i].member), hu_free(head->comm[i].remote_member);
    for (int32_t i = 0; i < head->ranks && head->local; i++) hu_free(head->local[i].comm);
    free(head->command);
    free(head->library);
    hu_free(head->host);
    hu_free(head->function);
    hu_free(head->type);
    hu_free(head->world);
    hu_free(head->stream);
    hu_free(head->comm);
    hu_free(head->local);
    *head = (hu_trace_head){0};
}

int32_t hu_trace_find(const hu_trace_head *head, const char *name)
{
    for (int32_t i = 0; i < head->functions; i++)
        if (strcmp(head->function[i].name, name) == 0) return i;
    return -1;
}

/* ---- clocks ------------------------------------------------------------------------------------------------------------------ */

static bool agrees(const hu_trace_sync *s)
{
    return s->round_trip >= 0 && s->offset <= s->round_trip && s->offset >= -s->round_trip;
}

double hu_trace_correction(const hu_trace_stream *stream, int64_t time)
{
    const hu_trace_sync *a = &stream->sync[0], *b = &stream->sync[1];
    if (a->round_trip < 0) return b->round_trip < 0 || agrees(b) ? 0.0 : (double)b->offset;
    if (b->round_trip < 0 || b->at <= a->at) return agrees(a) ? 0.0 : (double)a->offset;
    if (agrees(a) && agrees(b)) return 0.0;
    double share = (double)(stream->start + time - a->at) / (double)(b->at - a->at);
    return (double)a->offset + share * (double)(b->offset - a->offset);
}
