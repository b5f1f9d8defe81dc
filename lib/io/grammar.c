/* grammar.c: sequences as a grammar (Sequitur with run lengths).
 *
 * Sections: nodes and digrams, the two constraints, making, writing, reading, expanding.
 */
#include "config.h"
#include "io/grammar.h"
#include "base/memory.h"
#include "io/varint.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes and digrams ------------------------------------------------------------------------------------------------ */

enum { NONE = -1, HASH_LEAST = 1 << 12 };

/* A node of a rule's right side. A rule is a ring of nodes closed by its guard. */
typedef struct {
    int32_t prev, next;
    int32_t symbol; /* a terminal >= 0, a rule -1 - number; of a guard: the rule's number */
    bool guard, hashed;
    int64_t times;
} node;

typedef struct {
    int32_t guard;
    int32_t uses; /* nodes that name it; top: a sequence, never named */
    bool top, dead;
} rule;

struct hu_grammar_maker {
    node *node;
    int64_t node_room, nodes;
    int32_t free_node;
    rule *rule;
    int64_t rule_room, rules;
    int32_t *hash; /* first nodes of digrams, open addressing */
    int64_t hash_size, hash_used;
    int32_t current; /* the sequence being appended to */
    hu_error *err;
};

static uint64_t digram_hash(const hu_grammar_maker *m, int32_t first)
{
    const node *a = &m->node[first], *b = &m->node[a->next];
    uint64_t h = (uint64_t)(uint32_t)a->symbol * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)a->times) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 29 ^ (uint64_t)(uint32_t)b->symbol) * 0x94d049bb133111ebu;
    h = (h ^ h >> 32 ^ (uint64_t)b->times) * 0x9e3779b97f4a7c15u;
    return h >> 20;
}

static bool same_digram(const hu_grammar_maker *m, int32_t x, int32_t y)
{
    const node *a = &m->node[x], *b = &m->node[y], *c = &m->node[a->next], *d = &m->node[b->next];
    return a->symbol == b->symbol && a->times == b->times && c->symbol == d->symbol && c->times == d->times;
}

static bool is_digram(const hu_grammar_maker *m, int32_t first)
{
    return !m->node[first].guard && !m->node[m->node[first].next].guard;
}

/* The place of a digram in the table: that of an equal one, or a free one. */
static int64_t place_of(const hu_grammar_maker *m, int32_t first)
{
    uint64_t mask = (uint64_t)m->hash_size - 1, at = digram_hash(m, first) & mask;
    while (m->hash[at] != NONE && !same_digram(m, m->hash[at], first)) at = (at + 1) & mask;
    return (int64_t)at;
}

static void grow_hash(hu_grammar_maker *m)
{
    int64_t size = m->hash_size ? 2 * m->hash_size : HASH_LEAST, old_size = m->hash_size;
    int32_t *old = m->hash;
    if (hu_alloc(size, sizeof *m->hash, "a grammar", (void **)&m->hash, m->err)) {
        m->hash = old;
        return;
    }
    m->hash_size = size;
    for (int64_t i = 0; i < size; i++) m->hash[i] = NONE;
    for (int64_t i = 0; i < old_size; i++)
        if (old[i] != NONE) m->hash[place_of(m, old[i])] = old[i];
    hu_free(old);
}

/* Takes the digram at `first` out of the table, if it is the one that stands there. */
static void forget(hu_grammar_maker *m, int32_t first)
{
    if (!m->node[first].hashed) return;
    m->node[first].hashed = false;
    uint64_t mask = (uint64_t)m->hash_size - 1, hole = (uint64_t)place_of(m, first);
    if (m->hash[hole] != first) return;
    m->hash_used--;
    for (uint64_t at = (hole + 1) & mask; m->hash[at] != NONE; at = (at + 1) & mask) { /* close the gap */
        uint64_t home = digram_hash(m, m->hash[at]) & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        m->hash[hole] = m->hash[at];
        hole = at;
    }
    m->hash[hole] = NONE;
}

static void remember(hu_grammar_maker *m, int32_t first, int64_t place)
{
    m->hash[place] = first;
    m->hash_used++;
    m->node[first].hashed = true;
    if (2 * m->hash_used > m->hash_size) grow_hash(m);
}

static int32_t new_node(hu_grammar_maker *m, int32_t symbol, int64_t times)
{
    int32_t n = m->free_node;
    if (n != NONE) {
        m->free_node = m->node[n].next;
    } else {
        if (m->nodes == INT32_MAX || hu_grow((void **)&m->node, &m->node_room, m->nodes + 1, sizeof(node), "a grammar", m->err)) {
            hu_fail(m->err, HU_SYSTEM, "a grammar has too many nodes");
            return NONE;
        }
        n = (int32_t)m->nodes++;
    }
    m->node[n] = (node){NONE, NONE, symbol, false, false, times};
    if (symbol < 0) m->rule[-1 - symbol].uses++;
    return n;
}

static void link_after(hu_grammar_maker *m, int32_t at, int32_t n)
{
    int32_t next = m->node[at].next;
    m->node[n].prev = at;
    m->node[n].next = next;
    m->node[at].next = n;
    m->node[next].prev = n;
}

/* Unlinks and frees a node whose digrams are forgotten. */
static void delete_node(hu_grammar_maker *m, int32_t n)
{
    node *x = &m->node[n];
    m->node[x->prev].next = x->next;
    m->node[x->next].prev = x->prev;
    if (x->symbol < 0) m->rule[-1 - x->symbol].uses--;
    x->next = m->free_node;
    m->free_node = n;
}

static int32_t new_rule(hu_grammar_maker *m, bool top)
{
    if (hu_grow((void **)&m->rule, &m->rule_room, m->rules + 1, sizeof(rule), "a grammar", m->err)) return NONE;
    int32_t guard = new_node(m, 0, 0);
    if (guard == NONE) return NONE;
    m->node[guard] = (node){guard, guard, (int32_t)m->rules, true, false, 0};
    m->rule[m->rules] = (rule){guard, 0, top, false};
    return (int32_t)m->rules++;
}

/* ---- the two constraints: no digram stands twice; no rule is used once -------------------------------------------------- */

static bool check(hu_grammar_maker *m, int32_t first);

/* Two neighbours of one symbol become one. */
static void join(hu_grammar_maker *m, int32_t first)
{
    int32_t prev = m->node[first].prev, second = m->node[first].next;
    forget(m, prev);
    forget(m, first);
    forget(m, second);
    m->node[first].times += m->node[second].times;
    delete_node(m, second);
    if (!check(m, prev)) check(m, first);
}

/* A rule used by one node, once, is written out there. */
static void inline_rule(hu_grammar_maker *m, int32_t n)
{
    int32_t number = -1 - m->node[n].symbol, guard = m->rule[number].guard, prev = m->node[n].prev, next = m->node[n].next, first = m->node[guard].next, last = m->node[guard].prev;
    forget(m, prev);
    forget(m, n);
    delete_node(m, n);
    m->node[prev].next = first;
    m->node[first].prev = prev;
    m->node[last].next = next;
    m->node[next].prev = last;
    m->rule[number].dead = true;
    m->node[guard].next = m->free_node;
    m->free_node = guard;
    if (is_digram(m, last)) {
        int64_t place = place_of(m, last);
        if (m->hash[place] == NONE) remember(m, last, place);
    }
    if (is_digram(m, prev)) {
        int64_t place = place_of(m, prev);
        if (m->hash[place] == NONE) remember(m, prev, place);
    }
}

static void keep_useful(hu_grammar_maker *m, int32_t n)
{
    const node *x = &m->node[n];
    if (!x->guard && x->symbol < 0 && x->times == 1 && m->rule[-1 - x->symbol].uses == 1) inline_rule(m, n);
}

/* The digram at `first` becomes a node that names the rule. */
static int32_t substitute(hu_grammar_maker *m, int32_t first, int32_t number)
{
    int32_t prev = m->node[first].prev, second = m->node[first].next;
    forget(m, prev);
    forget(m, first);
    forget(m, second);
    delete_node(m, first);
    delete_node(m, second);
    int32_t n = new_node(m, -1 - number, 1);
    if (n == NONE) return NONE;
    link_after(m, prev, n);
    return n;
}

static bool is_whole_rule(const hu_grammar_maker *m, int32_t first)
{
    int32_t prev = m->node[first].prev, next = m->node[m->node[first].next].next;
    return m->node[prev].guard && prev == next && !m->rule[m->node[prev].symbol].top;
}

static void settle(hu_grammar_maker *m, int32_t n)
{
    int32_t prev = m->node[n].prev;
    if (!check(m, prev)) check(m, n);
}

static void use_match(hu_grammar_maker *m, int32_t first, int32_t match)
{
    int32_t number, other = NONE;
    if (is_whole_rule(m, match)) {
        number = m->node[m->node[match].prev].symbol;
    } else {
        number = new_rule(m, false);
        if (number == NONE) return;
        int32_t guard = m->rule[number].guard;
        node a = m->node[match], b = m->node[a.next];
        int32_t x = new_node(m, a.symbol, a.times), y = new_node(m, b.symbol, b.times);
        if (x == NONE || y == NONE) return;
        link_after(m, guard, x);
        link_after(m, x, y);
        other = substitute(m, match, number);
        remember(m, x, place_of(m, x));
    }
    int32_t n = substitute(m, first, number);
    if (n == NONE) return;
    if (other != NONE && !m->node[other].guard && m->node[other].symbol == -1 - number) settle(m, other);
    /* settling may have swallowed the new node: then its digrams are in order already */
    if (m->node[n].symbol == -1 - number && m->node[m->node[n].prev].next == n && m->node[m->node[n].next].prev == n) settle(m, n);
    if (m->rule[number].dead) return;
    keep_useful(m, m->node[m->rule[number].guard].next);
    if (!m->rule[number].dead) keep_useful(m, m->node[m->rule[number].guard].prev);
}

/* Restores both constraints for the digram that begins at `first`; true if the nodes there were replaced. */
static bool check(hu_grammar_maker *m, int32_t first)
{
    if (m->err->status || !is_digram(m, first)) return false;
    if (m->node[first].symbol == m->node[m->node[first].next].symbol) {
        join(m, first);
        return true;
    }
    int64_t place = place_of(m, first);
    int32_t match = m->hash[place];
    if (match == NONE) {
        remember(m, first, place);
        return false;
    }
    if (match == first || m->node[match].next == first || m->node[first].next == match) return false;
    use_match(m, first, match);
    return true;
}

/* ---- making -------------------------------------------------------------------------------------------------------------- */

hu_status hu_grammar_new(hu_grammar_maker **ret_maker, hu_error *err)
{
    hu_grammar_maker *m = *ret_maker = calloc(1, sizeof *m);
    if (!m) return hu_fail(err, HU_SYSTEM, "out of memory");
    m->free_node = NONE;
    m->err = err;
    grow_hash(m);
    m->current = new_rule(m, true);
    return err->status;
}

void hu_grammar_drop(hu_grammar_maker *maker)
{
    if (!maker) return;
    hu_free(maker->node);
    hu_free(maker->rule);
    hu_free(maker->hash);
    free(maker);
}

/* The last node stays open, for it may grow: its digram is looked at when another symbol follows. */
hu_status hu_grammar_put(hu_grammar_maker *maker, int32_t terminal, hu_error *err)
{
    hu_grammar_maker *m = maker;
    m->err = err;
    int32_t guard = m->rule[m->current].guard, last = m->node[guard].prev;
    if (last != guard && m->node[last].symbol == terminal) {
        if (m->node[m->node[last].prev].hashed) forget(m, m->node[last].prev);
        m->node[last].times++;
        return HU_OK;
    }
    if (last != guard && m->node[last].prev != guard && !m->node[m->node[last].prev].hashed) check(m, m->node[last].prev);
    int32_t n = new_node(m, terminal, 1);
    if (n != NONE) link_after(m, m->node[guard].prev, n);
    return err->status;
}

hu_status hu_grammar_end_sequence(hu_grammar_maker *maker, hu_error *err)
{
    hu_grammar_maker *m = maker;
    m->err = err;
    int32_t guard = m->rule[m->current].guard, last = m->node[guard].prev;
    if (last != guard && m->node[last].prev != guard && !m->node[m->node[last].prev].hashed) check(m, m->node[last].prev);
    m->current = new_rule(m, true);
    return err->status;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *bytes;
    int64_t used, room;
    hu_error *err;
} growing;

static void add(growing *g, uint64_t value)
{
    if (g->err->status || hu_grow((void **)&g->bytes, &g->room, g->used + HU_VARINT_MOST, 1, "a grammar", g->err)) return;
    g->used = hu_varint_put(g->bytes + g->used, value) - g->bytes;
}

/* Rules so that each comes behind those it names: by depth first, without recursion. */
static hu_status order_rules(const hu_grammar_maker *m, int32_t **ret_order, int32_t **ret_number, int64_t *ret_count, hu_error *err)
{
    int32_t *order = NULL, *number = NULL, *stack = NULL;
    int64_t count = 0, depth = 0;
    if (hu_alloc(m->rules, sizeof *order, "a grammar", (void **)&order, err) || hu_alloc(m->rules, sizeof *number, "a grammar", (void **)&number, err) ||
        hu_alloc(m->rules + 1, sizeof *stack, "a grammar", (void **)&stack, err))
        goto cleanup;
    for (int64_t i = 0; i < m->rules; i++) number[i] = NONE; /* NONE not seen, -2 on the stack (its node is in order[]) */
    for (int64_t top = 0; top < m->rules; top++) {
        if (!m->rule[top].top) continue;
        for (int32_t n = m->node[m->rule[top].guard].next; !m->node[n].guard; n = m->node[n].next) {
            if (m->node[n].symbol >= 0 || number[-1 - m->node[n].symbol] != NONE) continue;
            stack[depth++] = -1 - m->node[n].symbol;
            while (depth > 0) {
                int32_t r = stack[depth - 1], below = NONE;
                for (int32_t k = m->node[m->rule[r].guard].next; !m->node[k].guard && below == NONE; k = m->node[k].next)
                    if (m->node[k].symbol < 0 && number[-1 - m->node[k].symbol] == NONE) below = -1 - m->node[k].symbol;
                if (below != NONE) {
                    stack[depth++] = below;
                } else {
                    depth--;
                    number[r] = (int32_t)count;
                    order[count++] = r;
                }
            }
        }
    }
cleanup:
    hu_free(stack);
    *ret_order = order;
    *ret_number = number;
    *ret_count = count;
    return err->status;
}

/* Nodes of a rule; `at`: its own number in the order. */
static void add_nodes(growing *g, const hu_grammar_maker *m, const int32_t *number, int32_t r, int64_t at)
{
    uint64_t n = 0;
    for (int32_t k = m->node[m->rule[r].guard].next; !m->node[k].guard; k = m->node[k].next) n++;
    add(g, n);
    for (int32_t k = m->node[m->rule[r].guard].next; !m->node[k].guard; k = m->node[k].next) {
        const node *x = &m->node[k];
        uint64_t code = x->symbol >= 0 ? (uint64_t)x->symbol * 2 : (uint64_t)(at - number[-1 - x->symbol] - 1) * 2 + 1;
        add(g, code * 2 + (x->times > 1));
        if (x->times > 1) add(g, (uint64_t)x->times - 2);
    }
}

static bool same_rules(const hu_grammar_maker *m, int64_t a, int64_t b)
{
    int32_t x = m->node[m->rule[a].guard].next, y = m->node[m->rule[b].guard].next;
    while (!m->node[x].guard && !m->node[y].guard && m->node[x].symbol == m->node[y].symbol && m->node[x].times == m->node[y].times) x = m->node[x].next, y = m->node[y].next;
    return m->node[x].guard && m->node[y].guard;
}

hu_status hu_grammar_write(const hu_grammar_maker *maker, uint8_t **ret_bytes, int64_t *ret_size, hu_error *err)
{
    const hu_grammar_maker *m = maker;
    growing g = {NULL, 0, 0, err};
    int32_t *order, *number;
    int64_t count, tops = 0;
    if (order_rules(m, &order, &number, &count, err) == HU_OK) {
        add(&g, (uint64_t)count);
        for (int64_t i = 0; i < count; i++) add_nodes(&g, m, number, order[i], i);
        for (int64_t i = 0; i < m->rules; i++) tops += m->rule[i].top && i != m->current;
        add(&g, (uint64_t)tops);
        for (int64_t i = 0; i < m->rules;) {
            int64_t next = i + 1, more = 0;
            if (m->rule[i].top && i != m->current) {
                for (; next < m->rules; next++) {
                    if (!m->rule[next].top || next == m->current) continue;
                    if (!same_rules(m, i, next)) break;
                    more++;
                }
                add(&g, (uint64_t)more);
                add_nodes(&g, m, number, (int32_t)i, count);
            }
            i = next;
        }
    }
    hu_free(order);
    hu_free(number);
    *ret_bytes = g.bytes;
    *ret_size = g.used;
    return err->status;
}

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int32_t symbol;
    int64_t times;
} part;

typedef struct {
    const part *at, *end;
    int64_t left; /* times that the part at `at` is still to come */
} frame;

struct hu_grammar {
    part *parts;
    int64_t part_count, part_room;
    int64_t *rule;     /* [rules + 1] where each begins in parts */
    int64_t rules;
    int64_t *sequence; /* [sequences] beginning and end of each in parts */
    int64_t sequences;
    frame *stack;      /* [rules + 1] */
    int64_t depth;
};

static hu_status bad(const char *name, const char *what, hu_error *err)
{
    return hu_fail(err, HU_INPUT, "%s: its grammar is damaged: %s", name, what);
}

static hu_status read_parts(hu_grammar *g, hu_varint_reader *in, const char *name, int32_t terminals, int64_t at, hu_error *err)
{
    uint64_t n = hu_varint_get(in);
    if (in->bad || n > (uint64_t)(in->end - in->p)) return bad(name, "a rule is longer than it", err);
    if (hu_grow((void **)&g->parts, &g->part_room, g->part_count + (int64_t)n, sizeof(part), "a grammar", err)) return err->status;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t code = hu_varint_get(in), symbol = code >> 2, times = code & 1 ? hu_varint_get(in) : 0;
        if (in->bad || times > INT64_MAX / 8) return bad(name, "it is cut short", err);
        if (code & 2 ? symbol >= (uint64_t)at : symbol >= (uint64_t)terminals) return bad(name, "a rule names what is not there", err);
        g->parts[g->part_count++] = (part){code & 2 ? -1 - (int32_t)(at - 1 - (int64_t)symbol) : (int32_t)symbol, code & 1 ? (int64_t)times + 2 : 1};
    }
    return HU_OK;
}

static hu_status read_sequences(hu_grammar *g, hu_varint_reader *in, const char *name, int32_t terminals, hu_error *err)
{
    uint64_t n = hu_varint_get(in);
    if (in->bad || n > 1 << 24) return bad(name, "it has too many sequences", err);
    if (hu_alloc((int64_t)n * 2, sizeof(int64_t), "a grammar", (void **)&g->sequence, err)) return err->status;
    while (g->sequences < (int64_t)n) {
        uint64_t more = hu_varint_get(in);
        int64_t from = g->part_count;
        if (in->bad || more >= n - (uint64_t)g->sequences) return bad(name, "it has fewer sequences than it says", err);
        if (read_parts(g, in, name, terminals, g->rules, err)) return err->status;
        for (uint64_t i = 0; i <= more; i++) {
            g->sequence[2 * g->sequences] = from;
            g->sequence[2 * g->sequences++ + 1] = g->part_count;
        }
    }
    return in->p == in->end ? HU_OK : bad(name, "there are bytes behind its end", err);
}

hu_status hu_grammar_read(const void *bytes, int64_t size, const char *name, int32_t terminals, hu_grammar **ret_grammar, hu_error *err)
{
    hu_varint_reader in = {bytes, (const uint8_t *)bytes + size, false};
    hu_grammar *g = *ret_grammar = calloc(1, sizeof *g);
    if (!g) return hu_fail(err, HU_SYSTEM, "out of memory");
    uint64_t n = hu_varint_get(&in);
    if (in.bad || n > (uint64_t)size) {
        bad(name, "it has fewer rules than it says", err);
    } else if (hu_alloc((int64_t)n + 1, sizeof(int64_t), "a grammar", (void **)&g->rule, err) == HU_OK) {
        g->rule[0] = 0;
        while (g->rules < (int64_t)n && read_parts(g, &in, name, terminals, g->rules, err) == HU_OK) g->rule[++g->rules] = g->part_count;
        if (!err->status && read_sequences(g, &in, name, terminals, err) == HU_OK) hu_alloc(g->rules + 1, sizeof(frame), "a grammar", (void **)&g->stack, err);
    }
    if (!err->status) return HU_OK;
    hu_grammar_free(g);
    *ret_grammar = NULL;
    return err->status;
}

void hu_grammar_free(hu_grammar *grammar)
{
    if (!grammar) return;
    hu_free(grammar->parts);
    hu_free(grammar->rule);
    hu_free(grammar->sequence);
    hu_free(grammar->stack);
    free(grammar);
}

int64_t hu_grammar_sequences(const hu_grammar *grammar)
{
    return grammar->sequences;
}

/* ---- expanding: a rule names earlier ones only, so the stack is never deeper than there are rules ---------------------------- */

static void enter(hu_grammar *g, int64_t from, int64_t to)
{
    if (from < to) g->stack[g->depth++] = (frame){g->parts + from, g->parts + to, g->parts[from].times};
}

void hu_grammar_start(hu_grammar *grammar, int64_t sequence)
{
    grammar->depth = 0;
    enter(grammar, grammar->sequence[2 * sequence], grammar->sequence[2 * sequence + 1]);
}

int32_t hu_grammar_next(hu_grammar *grammar)
{
    hu_grammar *g = grammar;
    while (g->depth > 0) {
        frame *f = &g->stack[g->depth - 1];
        if (f->left == 0) {
            if (++f->at == f->end) {
                g->depth--;
                continue;
            }
            f->left = f->at->times;
        }
        f->left--;
        if (f->at->symbol >= 0) return f->at->symbol;
        int64_t r = -1 - f->at->symbol;
        enter(g, g->rule[r], g->rule[r + 1]);
    }
    return -1;
}
