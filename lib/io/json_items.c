/* json_items.c: a large JSON document one item at a time.
 *
 * Sections: characters, values, documents.
 */
#include "config.h"
#include "io/json_items.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, KEY = 256 };

struct hu_json_items {
    hu_source *source;
    char *block;           /* [BLOCK] */
    size_t at, end;
    int64_t line;
    char *text;            /* the item */
    int64_t size, room, item_line;
    char key[KEY];
    bool begun, is_array;  /* the document is an array */
    bool in_array;         /* the member that is read is an array of items, or the document is */
    bool first;            /* nothing has stood yet where a comma would have to */
    bool done;
};

/* ---- characters ---------------------------------------------------------------------------------------------------- */

static hu_status fail_here(const hu_json_items *r, hu_error *err, const char *reason)
{
    return hu_fail_line(err, hu_source_name(r->source), r->line, "%s", reason);
}

/* Makes sure that there is a character; HU_END where the source ends. */
static inline hu_status fill(hu_json_items *r, hu_error *err)
{
    if (r->at < r->end) return HU_OK;
    r->at = 0;
    if (hu_source_read(r->source, r->block, BLOCK, &r->end, err)) return err->status;
    return r->end ? HU_OK : HU_END;
}

/* The next character that is no white space, not taken; 0 at the end of the source. */
static hu_status peek_sign(hu_json_items *r, char *ret, hu_error *err)
{
    hu_status status;
    *ret = '\0';
    while ((status = fill(r, err)) == HU_OK) {
        char c = r->block[r->at];
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            *ret = c;
            return c ? HU_OK : fail_here(r, err, "a zero byte in the document");
        }
        r->line += c == '\n';
        r->at++;
    }
    return status == HU_END ? HU_OK : status;
}

/* ---- values -------------------------------------------------------------------------------------------------------- */

/* Takes one character over into the text. */
static inline hu_status keep(hu_json_items *r, hu_error *err)
{
    if (r->size + 2 > r->room) {
        if (r->size + 2 > HU_JSON_ITEM_BYTES) return hu_fail_line(err, hu_source_name(r->source), r->item_line, "an item of more than %lld bytes", (long long)HU_JSON_ITEM_BYTES);
        if (hu_grow((void **)&r->text, &r->room, r->size + 2, 1, "an item", err)) return err->status;
    }
    r->text[r->size++] = r->block[r->at++];
    return HU_OK;
}

static hu_status cut_short(hu_json_items *r, hu_status status, hu_error *err)
{
    return status == HU_END ? fail_here(r, err, "the document ends in the middle") : status;
}

/* A string with its quotes. */
static hu_status take_string(hu_json_items *r, hu_error *err)
{
    hu_status status;
    bool escaped = true; /* the first quote */
    while ((status = fill(r, err)) == HU_OK) {
        char c = r->block[r->at];
        if ((unsigned char)c < ' ') return fail_here(r, err, "a control character in a string");
        if (keep(r, err)) return err->status;
        if (c == '"' && !escaped) return HU_OK;
        escaped = c == '\\' && !escaped;
    }
    return cut_short(r, status, err);
}

/* Objects and arrays to their end, else what a comma or a closing bracket ends. */
static hu_status take_value(hu_json_items *r, hu_error *err)
{
    uint64_t objects = 0; /* bit d: the bracket at depth d is that of an object */
    int depth = 0;
    hu_status status;
    r->size = 0;
    r->item_line = r->line;
    while ((status = fill(r, err)) == HU_OK) {
        char c = r->block[r->at];
        bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
        if (c == '\0') return fail_here(r, err, "a zero byte in the document");
        if (depth == 0 && r->size > 0 && (c == ',' || closes || c == ' ' || c == '\t' || c == '\r' || c == '\n')) return HU_OK;
        if (depth == 0 && (c == ',' || closes)) return fail_here(r, err, "a value is missing");
        if (closes && (objects >> depth & 1) != (c == '}')) return fail_here(r, err, "a bracket is closed by one of the other kind");
        if (opens && ++depth >= HU_JSON_DEPTH - 2) return fail_here(r, err, "arrays and objects nest too deep");
        if (opens) objects = (objects & ~((uint64_t)1 << depth)) | (uint64_t)(c == '{') << depth;
        r->line += c == '\n';
        if (c == '"' ? take_string(r, err) : keep(r, err)) return err->status;
        if (closes && --depth == 0) return HU_OK;
        if (depth == 0 && c == '"') return HU_OK;
    }
    return cut_short(r, status, err);
}

/* ---- documents ------------------------------------------------------------------------------------------------------ */

hu_status hu_json_items_open(hu_source *source, hu_json_items **ret_items, hu_error *err)
{
    hu_json_items *r;
    if (hu_alloc_zero(1, sizeof *r, "a document", (void **)&r, err)) return err->status;
    r->source = source;
    r->line = 1;
    if (hu_alloc(BLOCK, 1, "a document", (void **)&r->block, err) || hu_grow((void **)&r->text, &r->room, 1024, 1, "an item", err)) {
        hu_json_items_close(r);
        return err->status;
    }
    *ret_items = r;
    return HU_OK;
}

void hu_json_items_close(hu_json_items *r)
{
    if (!r) return;
    hu_free(r->block);
    free(r->text);
    hu_free(r);
}

static hu_status begin(hu_json_items *r, hu_error *err)
{
    char c;
    if (peek_sign(r, &c, err)) return err->status;
    if (c != '{' && c != '[') return fail_here(r, err, c ? "no JSON document: it begins with neither { nor [" : "an empty document");
    r->is_array = r->in_array = c == '[';
    r->begun = r->first = true;
    r->at++;
    return HU_OK;
}

/* The key of the next member and its colon. */
static hu_status take_key(hu_json_items *r, hu_error *err)
{
    char c;
    if (peek_sign(r, &c, err)) return err->status;
    if (c != '"') return fail_here(r, err, "the name of a member is missing");
    r->size = 0;
    if (take_string(r, err)) return err->status;
    if (r->size - 2 >= KEY) return fail_here(r, err, "the name of a member is too long");
    memcpy(r->key, r->text + 1, (size_t)r->size - 2);
    r->key[r->size - 2] = '\0';
    if (peek_sign(r, &c, err)) return err->status;
    if (c != ':') return fail_here(r, err, "a colon is missing behind the name of a member");
    r->at++;
    return HU_OK;
}

/* Whether the list that is read goes on (its comma is taken) or ends (its bracket is). */
static hu_status goes_on(hu_json_items *r, char closing, bool *ret, hu_error *err)
{
    char c;
    if (peek_sign(r, &c, err)) return err->status;
    if (!c) return cut_short(r, HU_END, err);
    *ret = c != closing;
    if (c == closing || c == ',') r->at++;
    if (c == closing) return HU_OK;
    if (!r->first && c != ',') return fail_here(r, err, "a comma or a closing bracket is missing");
    if (r->first && c == ',') return fail_here(r, err, "a value is missing");
    if (c == ',' && peek_sign(r, &c, err)) return err->status;
    return c == closing ? fail_here(r, err, "a value is missing behind a comma") : HU_OK;
}

static hu_status end_document(hu_json_items *r, hu_error *err)
{
    char c;
    r->done = true;
    if (peek_sign(r, &c, err)) return err->status;
    return c ? fail_here(r, err, "something follows the document") : HU_END;
}

hu_status hu_json_items_next(hu_json_items *r, hu_json_item_text *ret_item, hu_error *err)
{
    bool more;
    char c;
    if (r->done) return HU_END;
    if (!r->begun && begin(r, err)) return err->status;
    for (;;) {
        if (r->in_array) {
            if (goes_on(r, ']', &more, err)) return err->status;
            r->first = false;
            if (more) break;
            if (r->is_array) return end_document(r, err);
            r->in_array = false;
        } else {
            if (goes_on(r, '}', &more, err)) return err->status;
            if (!more) return end_document(r, err);
            r->first = false;
            if (take_key(r, err) || peek_sign(r, &c, err)) return err->status;
            if (c != '[') break;
            r->at++;
            r->in_array = r->first = true;
        }
    }
    if (peek_sign(r, &c, err) || take_value(r, err)) return err->status;
    r->text[r->size] = '\0';
    *ret_item = (hu_json_item_text){r->key, r->text, r->size, r->item_line};
    return HU_OK;
}

hu_status hu_json_items_parse(hu_json_items *r, json_t **ret_item, hu_error *err)
{
    hu_error inner = HU_ERROR_NONE;
    if (hu_json_parse(r->text, r->size, "line", ret_item, &inner) == HU_OK) return HU_OK;
    long long line = 1;
    const char *colon = strchr(inner.message, ':'); /* "line:LINE: reason" */
    if (colon) line = strtoll(colon + 1, NULL, 10);
    const char *reason = colon ? strchr(colon + 1, ':') : NULL;
    return hu_fail_line(err, hu_source_name(r->source), r->item_line + line - 1, "%s", reason ? reason + 2 : inner.message);
}
