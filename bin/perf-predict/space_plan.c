/* space_plan.c: the diagrams of a space, by which its configurations are counted, numbered and drawn.
 *
 * A part is a set of parameters that conditions tie together, in the order in which the conditions name them. Below a choice of the first l of them, what the conditions still ask of
 * the others depends on the values of their largest subexpressions that are known by then, and on nothing else: choices that agree on those share a node. (A reduced decision
 * diagram, built from the top; Knuth, "The Art of Computer Programming" 4A, 7.1.4, has counting and drawing.)
 *
 * Sections: parts, building, counting, drawing.
 */
#include "config.h"
#include "space_plan.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST_NODES = 400000, MOST_EDGES = 8000000, MOST_WORK = 400000000;

struct space_part {
    int64_t depth;
    int32_t *order;       /* [depth] parameters, one a layer */
    int64_t *layer;       /* [depth + 2] the first node of each layer; the last layer has one node */
    int64_t *edge_from;   /* [depth + 1] the first edge of each layer */
    int32_t *edge;        /* node n of layer l and value v: edge_from[l] + (n - layer[l]) * values + v: the node below, or -1 */
    int64_t edge_capacity;
    space_count *count;   /* [nodes] valid choices from here on */
};

static void free_part(space_part *p)
{
    hu_free(p->order);
    hu_free(p->layer);
    hu_free(p->edge_from);
    hu_free(p->edge);
    hu_free(p->count);
}

void space_plan_free(space *s)
{
    for (int64_t i = 0; s->part && i < s->parts; i++) free_part(&s->part[i]);
    hu_free(s->part);
    s->part = NULL;
    s->parts = 0;
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------------- */

static int32_t root_of(int32_t *parent, int32_t p)
{
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

/* parent[p] becomes the lowest parameter that p is tied to; order[] lists all parameters: those that conditions name, in that order, then the others. */
static void tie(const space *s, int32_t *parent, int32_t *order, bool *listed)
{
    int64_t n = 0;
    memset(listed, 0, (size_t)s->parameters * sizeof *listed);
    for (int32_t p = 0; p < s->parameters; p++) parent[p] = p;
    for (int64_t c = 0; c < s->conditions; c++) {
        int32_t first = -1;
        for (int64_t i = 0; i < s->condition[c].count && !s->by_trial[c]; i++) {
            const expr_node *node = &s->condition[c].node[i];
            if (node->op != EXPR_NAME) continue;
            if (first < 0) first = node->name;
            int32_t a = root_of(parent, first), b = root_of(parent, node->name);
            parent[a > b ? a : b] = a < b ? a : b;
            if (!listed[node->name]) order[n++] = node->name;
            listed[node->name] = true;
        }
    }
    for (int32_t p = 0; p < s->parameters; p++) {
        if (!listed[p]) order[n++] = p;
        parent[p] = root_of(parent, p);
    }
}

/* ---- building ----------------------------------------------------------------------------------------------------------------------- */

/* A hash table of what nodes know. */
typedef struct {
    uint64_t *key;          /* the keys, one behind another, each with its length in front */
    int64_t size, capacity;
    int64_t *at;            /* [nodes] of the layer: where in key[] */
    int64_t nodes, at_capacity;
    int64_t *slot;          /* node + 1 */
    int64_t slots;
} known_nodes;

typedef struct {
    const space *s;
    space_part *part;
    const int64_t *condition; /* [conditions] of the part */
    int64_t conditions;
    expr_range *name;         /* [parameters] */
    expr_range *range;        /* [most nodes of a condition] */
    expr_range *open;         /* [parameters] where nothing is chosen */
    int32_t *choice, *next_choice; /* [nodes of the layer][layers above] one way to each node */
    int64_t choice_capacity, next_capacity;
    known_nodes known;
    uint64_t *key;            /* of the node in hand */
    int64_t key_size, key_capacity;
    int64_t work;
    bool too_large;
    hu_error *err;
} builder;

static expr_range open_range(const space_parameter *p)
{
    expr_range r = {INFINITY, -INFINITY, false, false, -1};
    for (int64_t v = 0; v < p->count; v++) {
        if (p->value[v].value.word >= 0) r.is_word = true;
        r.low = fmin(r.low, p->value[v].value.number);
        r.high = fmax(r.high, p->value[v].value.number);
    }
    if (p->count == 1) return expr_exactly(p->value[0].value);
    return r;
}

static void add_key(builder *b, uint64_t word)
{
    if (hu_grow((void **)&b->key, &b->key_capacity, b->key_size + 1, sizeof *b->key, "a space", b->err)) return;
    b->key[b->key_size++] = word;
}

/* The largest known subexpressions below a node. Conditions are nested by a bounded depth, but chains of operators are long: they hang to the left. */
static void list_known(builder *b, const expr *e, int64_t condition, int32_t node)
{
    while (node >= 0 && !b->err->status) {
        const expr_node *n = &e->node[node];
        const expr_range *r = &b->range[node];
        if (expr_is_known(r)) {
            uint64_t bits = (uint64_t)(uint32_t)r->word;
            if (!r->is_word) memcpy(&bits, &r->low, sizeof bits);
            add_key(b, (uint64_t)condition << 33 | (uint64_t)(uint32_t)node << 1 | r->is_word);
            add_key(b, bits);
            return;
        }
        if (n->right >= 0) list_known(b, e, condition, n->right);
        node = n->left;
    }
}

/* Puts what is known under b->name into b->key; false where a condition cannot hold any more. */
static bool look(builder *b)
{
    b->key_size = 0;
    for (int64_t i = 0; i < b->conditions; i++) {
        const expr *e = &b->s->condition[b->condition[i]];
        b->work += e->count;
        int holds = expr_ranges(e, b->name, b->range);
        if (holds == 0) return false;
        if (holds < 0) list_known(b, e, i, (int32_t)e->count - 1);
    }
    return true;
}

static uint64_t hash_key(const uint64_t *key, int64_t size)
{
    uint64_t h = (uint64_t)size;
    for (int64_t i = 0; i < size; i++) {
        h = (h ^ key[i]) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return h;
}

static hu_status grow_known(known_nodes *k, int64_t key_size, hu_error *err)
{
    if (hu_grow((void **)&k->key, &k->capacity, k->size + key_size + 1, sizeof *k->key, "a space", err) || hu_grow((void **)&k->at, &k->at_capacity, k->nodes + 1, sizeof *k->at, "a space", err))
        return err->status;
    if (2 * (k->nodes + 1) <= k->slots) return HU_OK;
    int64_t slots = k->slots ? 2 * k->slots : 64, *slot;
    if (hu_alloc_zero(slots, sizeof *slot, "a space", (void **)&slot, err)) return err->status;
    for (int64_t n = 0; n < k->nodes; n++) {
        uint64_t at = hash_key(k->key + k->at[n] + 1, (int64_t)k->key[k->at[n]]);
        while (slot[at % (uint64_t)slots]) at++;
        slot[at % (uint64_t)slots] = n + 1;
    }
    hu_free(k->slot);
    k->slot = slot;
    k->slots = slots;
    return HU_OK;
}

/* The node of the layer below that b->key leads to; a new one gets the choice that led there. */
static int64_t node_of(builder *b, const int32_t *choice, int64_t layers, int32_t value)
{
    known_nodes *k = &b->known;
    if (grow_known(k, b->key_size, b->err)) return -1;
    for (uint64_t at = hash_key(b->key, b->key_size);; at++) {
        int64_t *slot = &k->slot[at % (uint64_t)k->slots];
        if (*slot) {
            const uint64_t *key = k->key + k->at[*slot - 1];
            if ((int64_t)key[0] != b->key_size || (b->key_size && memcmp(key + 1, b->key, (size_t)b->key_size * sizeof *key))) continue;
            return *slot - 1;
        }
        if (hu_grow((void **)&b->next_choice, &b->next_capacity, (k->nodes + 1) * (layers + 1), sizeof *b->next_choice, "a space", b->err)) return -1;
        if (layers) memcpy(b->next_choice + k->nodes * (layers + 1), choice, (size_t)layers * sizeof *choice);
        b->next_choice[k->nodes * (layers + 1) + layers] = value;
        k->key[k->size] = (uint64_t)b->key_size;
        if (b->key_size) memcpy(k->key + k->size + 1, b->key, (size_t)b->key_size * sizeof *b->key);
        k->at[k->nodes] = k->size;
        k->size += b->key_size + 1;
        *slot = ++k->nodes;
        return k->nodes - 1;
    }
}

/* The edges from layer l to the next one. */
static hu_status build_layer(builder *b, int64_t l)
{
    space_part *part = b->part;
    const space_parameter *p = &b->s->parameter[part->order[l]];
    int64_t nodes = part->layer[l + 1] - part->layer[l], edges = nodes * p->count;
    b->known.nodes = b->known.size = 0;
    memset(b->known.slot, 0, (size_t)b->known.slots * sizeof *b->known.slot);
    part->edge_from[l + 1] = part->edge_from[l] + edges;
    if (part->edge_from[l + 1] > MOST_EDGES) b->too_large = true;
    if (b->too_large || hu_grow((void **)&part->edge, &part->edge_capacity, part->edge_from[l + 1], sizeof *part->edge, "a space", b->err)) return b->err->status;
    for (int64_t n = 0; n < nodes && !b->too_large; n++) {
        const int32_t *choice = l ? b->choice + n * l : NULL;
        for (int64_t k = 0; k < l; k++) b->name[part->order[k]] = expr_exactly(b->s->parameter[part->order[k]].value[choice[k]].value);
        for (int64_t v = 0; v < p->count; v++) {
            int32_t *edge = &part->edge[part->edge_from[l] + n * p->count + v];
            b->name[part->order[l]] = expr_exactly(p->value[v].value);
            *edge = -1;
            if (!look(b)) continue;
            int64_t below = node_of(b, choice, l, (int32_t)v);
            if (b->err->status) return b->err->status;
            *edge = (int32_t)(part->layer[l + 1] + below);
        }
        if (b->work > MOST_WORK || part->layer[l + 1] + b->known.nodes > MOST_NODES) b->too_large = true;
    }
    part->layer[l + 2] = part->layer[l + 1] + b->known.nodes;
    int32_t *old = b->choice;
    int64_t old_capacity = b->choice_capacity;
    b->choice = b->next_choice;
    b->choice_capacity = b->next_capacity;
    b->next_choice = old;
    b->next_capacity = old_capacity;
    return HU_OK;
}

/* ---- counting --------------------------------------------------------------------------------------------------------------------------- */

static hu_status count_part(builder *b)
{
    space_part *part = b->part;
    int64_t nodes = part->layer[part->depth + 1];
    if (hu_alloc_zero(nodes + 1, sizeof *part->count, "a space", (void **)&part->count, b->err)) return b->err->status;
    for (int64_t n = part->layer[part->depth]; n < nodes; n++) part->count[n] = 1;
    for (int64_t l = part->depth - 1; l >= 0; l--) {
        int64_t values = b->s->parameter[part->order[l]].count;
        for (int64_t n = part->layer[l]; n < part->layer[l + 1]; n++)
            for (int64_t v = 0; v < values; v++) {
                int32_t below = part->edge[part->edge_from[l] + (n - part->layer[l]) * values + v];
                if (below >= 0 && __builtin_add_overflow(part->count[n], part->count[below], &part->count[n]))
                    return hu_fail(b->err, HU_INPUT, "%s: the parameters that are tied to %s have more than 2^128 choices", b->s->name, b->s->parameter[part->order[0]].name);
            }
    }
    return HU_OK;
}

static hu_status build_part(builder *b)
{
    space_part *part = b->part;
    if (hu_alloc_zero(part->depth + 2, sizeof *part->layer, "a space", (void **)&part->layer, b->err) ||
        hu_alloc_zero(part->depth + 1, sizeof *part->edge_from, "a space", (void **)&part->edge_from, b->err))
        return b->err->status;
    memcpy(b->name, b->open, (size_t)b->s->parameters * sizeof *b->name);
    part->layer[1] = 1;
    b->work = 0;
    for (int64_t l = 0; l < part->depth && !b->too_large; l++)
        if (build_layer(b, l)) return b->err->status;
    return b->too_large ? HU_OK : count_part(b);
}

/* The condition of the part that names most parameters. */
static int64_t widest(const builder *b)
{
    int64_t best = b->condition[0], most = -1;
    for (int64_t i = 0; i < b->conditions; i++) {
        const expr *e = &b->s->condition[b->condition[i]];
        int64_t names = 0;
        for (int64_t k = 0; k < e->count; k++) {
            bool first = e->node[k].op == EXPR_NAME;
            for (int64_t m = 0; m < k && first; m++) first = e->node[m].op != EXPR_NAME || e->node[m].name != e->node[k].name;
            names += first;
        }
        if (names < most) continue;
        most = names;
        best = b->condition[i];
    }
    return best;
}

static hu_status open_builder(builder *b, space *s, int64_t **ret_condition, hu_error *err)
{
    int64_t most = 1;
    *b = (builder){.s = s, .err = err};
    for (int64_t c = 0; c < s->conditions; c++) most = s->condition[c].count > most ? s->condition[c].count : most;
    if (hu_alloc(s->parameters, sizeof *b->name, "a space", (void **)&b->name, err) || hu_alloc(s->parameters, sizeof *b->open, "a space", (void **)&b->open, err) ||
        hu_alloc(most, sizeof *b->range, "a space", (void **)&b->range, err) || hu_alloc(s->conditions + 1, sizeof **ret_condition, "a space", (void **)ret_condition, err))
        return err->status;
    for (int64_t p = 0; p < s->parameters; p++) b->open[p] = open_range(&s->parameter[p]);
    return grow_known(&b->known, 0, err);
}

static void close_builder(builder *b)
{
    hu_free(b->name);
    hu_free(b->open);
    hu_free(b->range);
    hu_free(b->choice);
    hu_free(b->next_choice);
    hu_free(b->known.key);
    hu_free(b->known.at);
    hu_free(b->known.slot);
    hu_free(b->key);
}

/* The parts one after another, in the order of their first parameters. *ret_wide: a condition to leave to trial, or -1. */
static hu_status plan_parts(space *s, builder *b, int64_t *condition, int32_t *parent, int32_t *order, int64_t *ret_wide, hu_error *err)
{
    *ret_wide = -1;
    for (int32_t first = 0; first < s->parameters; first++) {
        if (parent[first] != first) continue;
        space_part *part = &s->part[s->parts++];
        if (hu_alloc(s->parameters, sizeof *part->order, "a space", (void **)&part->order, err)) return err->status;
        for (int64_t i = 0; i < s->parameters; i++)
            if (parent[order[i]] == first) part->order[part->depth++] = order[i];
        b->part = part;
        b->conditions = 0;
        b->too_large = false;
        for (int64_t c = 0; c < s->conditions; c++) {
            int32_t name = -1;
            for (int64_t k = 0; k < s->condition[c].count && name < 0; k++) name = s->condition[c].node[k].op == EXPR_NAME ? s->condition[c].node[k].name : -1;
            if (!s->by_trial[c] && (name < 0 ? first == 0 : parent[name] == first)) condition[b->conditions++] = c;
        }
        b->condition = condition;
        if (build_part(b)) return err->status;
        if (b->too_large) {
            *ret_wide = widest(b);
            return HU_OK;
        }
    }
    return HU_OK;
}

hu_status space_plan(space *s, hu_error *err)
{
    builder b;
    int64_t *condition = NULL, wide = -1;
    int32_t *parent = NULL, *order = NULL;
    bool *listed = NULL;
    if (hu_alloc_zero(s->conditions + 1, sizeof *s->by_trial, "a space", (void **)&s->by_trial, err)) return err->status;
    if (open_builder(&b, s, &condition, err) || hu_alloc(s->parameters, sizeof *parent, "a space", (void **)&parent, err) || hu_alloc(s->parameters, sizeof *order, "a space", (void **)&order, err) ||
        hu_alloc(s->parameters, sizeof *listed, "a space", (void **)&listed, err))
        goto cleanup;
    do {
        space_plan_free(s);
        if (hu_alloc_zero(s->parameters, sizeof *s->part, "a space", (void **)&s->part, err)) goto cleanup;
        tie(s, parent, order, listed);
        if (plan_parts(s, &b, condition, parent, order, &wide, err)) goto cleanup;
        if (wide >= 0) {
            s->by_trial[wide] = true;
            hu_say(1, "%s:%lld: this condition ties too many values together to be counted: it is tried on what is drawn", s->name, (long long)s->condition[wide].line);
        }
    } while (wide >= 0);
cleanup:
    close_builder(&b);
    hu_free(condition);
    hu_free(parent);
    hu_free(order);
    hu_free(listed);
    return err->status;
}

bool space_size(const space *s, space_count *ret_count, double *ret_about)
{
    space_count count = 1;
    bool fits = true;
    *ret_about = 1;
    for (int64_t i = 0; i < s->parts; i++) {
        fits = !__builtin_mul_overflow(count, s->part[i].count[0], &count) && fits;
        *ret_about *= (double)s->part[i].count[0];
    }
    if (*ret_about == 0) count = 0;
    fits |= *ret_about == 0;
    *ret_count = fits ? count : ~(space_count)0;
    return fits;
}

bool space_is_exact(const space *s)
{
    for (int64_t c = 0; c < s->conditions; c++)
        if (s->by_trial[c]) return false;
    return true;
}

const char *space_count_text(space_count count, char buffer[64])
{
    char *p = buffer + 63;
    *p = '\0';
    do *--p = (char)('0' + (int)(count % 10));
    while (count /= 10);
    return p;
}

/* ---- drawing -------------------------------------------------------------------------------------------------------------------------------- */

int64_t space_work(const space *s)
{
    int64_t most = 1;
    for (int64_t c = 0; c < s->conditions; c++) most = s->condition[c].count > most ? s->condition[c].count : most;
    return s->parameters + most;
}

bool space_accepts(const space *s, const int32_t *code, expr_range *work)
{
    for (int64_t p = 0; p < s->parameters; p++) work[p] = expr_exactly(s->parameter[p].value[code[p]].value);
    for (int64_t c = 0; c < s->conditions; c++)
        if (s->by_trial[c] && expr_ranges(&s->condition[c], work, work + s->parameters) != 1) return false;
    return true;
}

static void walk(const space *s, const space_part *part, space_count number, int32_t *code)
{
    int64_t node = 0;
    for (int64_t l = 0; l < part->depth; l++) {
        int64_t values = s->parameter[part->order[l]].count;
        const int32_t *edge = part->edge + part->edge_from[l] + (node - part->layer[l]) * values;
        for (int64_t v = 0; v < values; v++) {
            if (edge[v] < 0) continue;
            if (number < part->count[edge[v]]) {
                code[part->order[l]] = (int32_t)v;
                node = edge[v];
                break;
            }
            number -= part->count[edge[v]];
        }
    }
}

void space_nth(const space *s, space_count number, int32_t *code)
{
    for (int64_t i = s->parts - 1; i >= 0; i--) {
        walk(s, &s->part[i], number % s->part[i].count[0], code);
        number /= s->part[i].count[0];
    }
}

/* 0 .. n - 1 without bias. */
static space_count draw_below(hu_random *r, space_count n)
{
    space_count limit = ~(space_count)0 - (~(space_count)0 % n + 1) % n; /* the last number of the last whole round */
    for (;;) {
        space_count high = hu_random_u64(r), v = high << 64 | hu_random_u64(r);
        if (v <= limit) return v % n;
    }
}

void space_draw(const space *s, uint64_t seed, uint64_t stream, int32_t *code)
{
    hu_random r = hu_random_stream(seed, stream);
    for (int64_t i = 0; i < s->parts; i++) walk(s, &s->part[i], draw_below(&r, s->part[i].count[0]), code);
}
