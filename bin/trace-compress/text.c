/* text.c: an event as a line of text. */
#include "config.h"
#include "text.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

static const struct {
    char letter;
    const char *name;
} names[] = {{'n', "count"}, {'t', "type"}, {'p', "peer"}, {'g', "tag"}, {'c', "comm"}, {'k', "root"}, {'o', "op"}, {'i', "int"}, {'u', "buf"}, {'r', "request"},
             {'q', "newrequest"}, {'m', "message"}, {'M', "newmessage"}, {'e', "group"}, {'E', "newgroup"}, {'w', "win"}, {'W', "newwin"}, {'h', "file"}, {'H', "newfile"},
             {'y', "session"}, {'L', "newsession"}, {'O', "newop"}, {'f', "flag"}, {'x', "index"}, {'C', "newcomm"}, {'s', "status"}, {'Y', "newtype"}, {'N', "counts"},
             {'D', "ints"}, {'T', "types"}, {'P', "peers"}, {'R', "requests"}, {'X', "indices"}, {'Z', "statuses"}};

static const char *name_of(char letter)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].letter == letter) return names[i].name;
    return "?";
}

static char *put_word(char *p, const char *word)
{
    size_t n = strlen(word);
    memcpy(p, word, n);
    return p + n;
}

static char *put_number(char *p, int64_t value)
{
    return p + hu_number_print_integer(value, p);
}

/* A datatype by its name where MPI names it. */
static char *put_value(char *p, const hu_trace_head *head, char letter, int64_t value)
{
    if ((letter == 't' || letter == 'T') && value >= 0 && value < head->types && strlen(head->type[value].name) < 200) return put_word(p, head->type[value].name);
    return put_number(p, value);
}

enum { PIECE = 1024 };

hu_status text_arguments(const hu_trace_head *head, const hu_trace_event *event, hu_output *out, hu_error *err)
{
    hu_trace_walk walk = hu_trace_walk_of(head, event);
    const int64_t *value;
    int64_t count;
    char letter;
    while ((letter = hu_trace_walk_next(&walk, &value, &count))) {
        int width = hu_trace_letter_width(letter);
        bool array = hu_trace_letter_is_array(letter);
        char *room, *p;
        if (hu_output_reserve(out, PIECE, &room, err)) return err->status;
        p = put_word(room, " ");
        p = put_word(p, name_of(letter));
        p = put_word(p, array ? "=[" : "=");
        for (int64_t i = 0; i < count; i++) {
            if (i % 8 == 0) { /* a long array: piece by piece */
                hu_output_used(out, (size_t)(p - room));
                if (hu_output_reserve(out, 8 * PIECE, &room, err)) return err->status;
                p = room;
            }
            if (i > 0) p = put_word(p, width > 1 && i % width == 0 ? "),(" : ",");
            else if (width > 1) p = put_word(p, "(");
            p = put_value(p, head, letter, value[i]);
        }
        if (width > 1 && count > 0) p = put_word(p, ")");
        if (array) p = put_word(p, "]");
        hu_output_used(out, (size_t)(p - room));
    }
    return HU_OK;
}

hu_status text_event(const hu_trace_head *head, const hu_trace_event *event, bool timed, hu_output *out, hu_error *err)
{
    const hu_trace_stream *stream = &head->stream[event->stream];
    char *room;
    if (hu_output_reserve(out, PIECE, &room, err)) return err->status;
    char *p = put_number(room, stream->rank);
    if (stream->thread > 0) p = put_number(put_word(p, "."), stream->thread);
    if (timed) {
        p = put_number(put_word(p, " "), stream->start + event->enter + llrint(hu_trace_correction(stream, event->enter)));
        p = put_number(put_word(p, " "), event->leave - event->enter);
    }
    p = put_word(p, " ");
    const char *name = head->function[event->function].name;
    if (strlen(name) < PIECE / 2) p = put_word(p, name);
    hu_output_used(out, (size_t)(p - room));
    if (text_arguments(head, event, out, err) || hu_output_reserve(out, PIECE, &room, err)) return err->status;
    p = room;
    if (event->poll) p = put_number(put_word(put_number(put_word(p, " polls="), event->count), " busy="), timed ? event->busy : 0);
    if (event->error) p = put_word(p, " error");
    if (event->gap) p = put_word(p, " gap");
    *p++ = '\n';
    hu_output_used(out, (size_t)(p - room));
    return HU_OK;
}
