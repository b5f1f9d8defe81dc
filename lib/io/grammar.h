/* grammar.h: sequences as a grammar: what repeats becomes a rule, what repeats at once an exponent.
 *
 * Sequitur (C. Nevill-Manning, I. Witten, "Identifying Hierarchical Structure in Sequences", JAIR 7, 1997, section 3) with run lengths: a node is a symbol and how many
 * times it stands there, neighbours differ, and a digram is two such nodes. Several sequences share all rules, so that equal ones become one.
 *
 * Written form, varints: number of rules; each rule: number of nodes, then node by node; number of sequences; each the same way. A node is 2 (c) for c once, and
 * 2 (c) + 1 then e - 2 for c to the power e; c is a terminal's number times two, or twice the distance to an earlier rule plus one (1 at least). Equal sequences one behind
 * another are written once: a sequence is the number of those more that equal it, the number of nodes, the nodes.
 *
 * Sections: making, reading.
 */
#ifndef HU_IO_GRAMMAR_H
#define HU_IO_GRAMMAR_H

#include "base/error.h"

/* ---- making */

typedef struct hu_grammar_maker hu_grammar_maker;

hu_status hu_grammar_new(hu_grammar_maker **ret_maker, hu_error *err);
void hu_grammar_drop(hu_grammar_maker *maker); /* NULL is allowed */

/* Appends a terminal (0 and up) to the current sequence; ends the sequence and begins the next. */
hu_status hu_grammar_put(hu_grammar_maker *maker, int32_t terminal, hu_error *err);
hu_status hu_grammar_end_sequence(hu_grammar_maker *maker, hu_error *err);

/* The written form; free with hu_free(). */
hu_status hu_grammar_write(const hu_grammar_maker *maker, uint8_t **ret_bytes, int64_t *ret_size, hu_error *err);

/* ---- reading */

typedef struct hu_grammar hu_grammar;

/* Checks everything: rules refer to earlier ones only, terminals are below `terminals`. HU_INPUT "NAME: ..." else. Free with hu_grammar_free(). */
hu_status hu_grammar_read(const void *bytes, int64_t size, const char *name, int32_t terminals, hu_grammar **ret_grammar, hu_error *err);
void hu_grammar_free(hu_grammar *grammar); /* NULL is allowed */
int64_t hu_grammar_sequences(const hu_grammar *grammar);

/* The terminals of a sequence one by one: start, then next until -1. */
void hu_grammar_start(hu_grammar *grammar, int64_t sequence);
int32_t hu_grammar_next(hu_grammar *grammar);

#endif
