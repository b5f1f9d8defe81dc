/* trace_symbol.h: events as symbols that are alike in all processes: peers relative to the caller's rank (modulo the communicator's size), statuses that hold what the
 * call asked for as one byte, new communicators and datatypes relative to the last. Times and numbers of polls are no part of a symbol.
 *
 * A symbol is bytes: varint of function * 8 + 1 (error) + 2 (poll) + 4 (gap); the values of all letters c, signed; then by the letters, c left out:
 *     p P        signed when negative: varint 2 (-1 - v) + 1; else varint 2 ((v - own rank) mod size), by the event's first communicator (else WORLD)
 *     s Z        each status: 0 as expected, 2 none (-2, -1, 0), else 1, then source as p, tag and bytes signed; Z has its length as a varint in front
 *     C Y        number less the one expected, signed; Y then its three others signed
 *     arrays     varint length, then each item signed
 *     the rest   signed
 * Expected of a receive (function name with "ecv", of requests the one that made it): the peer, the tag, and count times size, where peer and tag are no wildcards; of all
 * else none.
 */
#ifndef HU_IO_TRACE_SYMBOL_H
#define HU_IO_TRACE_SYMBOL_H

#include "io/trace.h"

typedef struct hu_trace_symbols hu_trace_symbols;

/* The head is borrowed. Free with hu_trace_symbols_free(). */
hu_status hu_trace_symbols_new(const hu_trace_head *head, hu_trace_symbols **ret_symbols, hu_error *err);
void hu_trace_symbols_free(hu_trace_symbols *symbols); /* NULL is allowed */

/* Begins a stream: what is known of requests and datatypes is forgotten. */
void hu_trace_symbols_start(hu_trace_symbols *symbols, int32_t stream);

/* The event as a symbol; the bytes belong to `symbols` until the next call. */
hu_status hu_trace_symbols_pack(hu_trace_symbols *symbols, const hu_trace_event *event, const uint8_t **ret_bytes, int64_t *ret_size, hu_error *err);

/* The other way: fills all of the event but times, count and busy. HU_INPUT where the symbol is damaged. */
hu_status hu_trace_symbols_unpack(hu_trace_symbols *symbols, const uint8_t *bytes, int64_t size, hu_trace_event *ret_event, hu_error *err);

#endif
