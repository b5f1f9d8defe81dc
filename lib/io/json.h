/* json.h: JSON documents on jansson: read with limits and errors that name the place, written so that equal content gives equal bytes.
 *
 * A document is an object or an array. Reading refuses what RFC 8259 calls unpredictable: duplicate keys, NaN and Infinity, integers beyond 64 bits, bytes after the document.
 * Writing sorts keys by their bytes, indents by two blanks, prints doubles in the shortest form that reads back to the same bits
 * (always with a point or an exponent, so that a real stays a real), and ends with a newline.
 *
 * Sections: documents, typed access.
 */
#ifndef HU_IO_JSON_H
#define HU_IO_JSON_H

#include "base/output.h"
#include "io/source.h"
#include <jansson.h>

#define HU_JSON_DEPTH 64                   /* arrays and objects inside each other, at most */
#define HU_JSON_BYTES ((int64_t)256 << 20) /* a usual limit for a document */

/* ---- documents: free with json_decref(); all reading fails with HU_INPUT "NAME:LINE: column C: reason" */

hu_status hu_json_parse(const char *text, int64_t size, const char *name, json_t **ret_document, hu_error *err);
hu_status hu_json_read(hu_source *source, int64_t most_bytes, json_t **ret_document, hu_error *err);

/* The document as text with a zero byte after it; free with hu_free(). */
hu_status hu_json_print(const json_t *document, char **ret_text, int64_t *ret_size, hu_error *err);
hu_status hu_json_write(hu_output *out, const json_t *document, hu_error *err);

/* ---- typed access: a place knows how it was reached, so that errors read
 * "manifest.json: tasks[3].rows: expected an integer from 1 to 65536". Places live on the stack and borrow from the document, its
 * name, and the place they were reached from. */

typedef struct hu_json_place {
    const json_t *value;
    const char *name;                   /* of the document; where the place is its root */
    const struct hu_json_place *parent; /* NULL at the root */
    const char *key;                    /* NULL: item `index` of an array */
    int64_t index;
} hu_json_place;

hu_json_place hu_json_root(const json_t *document, const char *name);

/* HU_INPUT "NAME: PATH: reason". */
hu_status hu_json_fail(const hu_json_place *place, hu_error *err, const char *format, ...) HU_PRINTF(3, 4);

/* The member of an object; absent members, and parents that are no object, are errors. */
hu_status hu_json_member(const hu_json_place *object, const char *key, hu_json_place *ret_member, hu_error *err);
bool hu_json_has(const hu_json_place *object, const char *key);

/* Length of an array, checked against most; item i of it. */
hu_status hu_json_length(const hu_json_place *array, int64_t most, int64_t *ret_length, hu_error *err);
hu_status hu_json_item(const hu_json_place *array, int64_t index, hu_json_place *ret_item, hu_error *err);

/* Members of an object by type. A number accepts integers and reals. Text is borrowed from the document. */
hu_status hu_json_integer(const hu_json_place *object, const char *key, int64_t least, int64_t most, int64_t *ret_value, hu_error *err);
hu_status hu_json_number(const hu_json_place *object, const char *key, double least, double most, double *ret_value, hu_error *err);
hu_status hu_json_bool(const hu_json_place *object, const char *key, bool *ret_value, hu_error *err);
hu_status hu_json_text(const hu_json_place *object, const char *key, const char **ret_text, hu_error *err);

/* The index of the member's text among n words; another text is an error that lists them. */
hu_status hu_json_word(const hu_json_place *object, const char *key, const char *const *words, int n, int *ret_index, hu_error *err);

/* Values themselves (items of arrays). */
hu_status hu_json_integer_of(const hu_json_place *place, int64_t least, int64_t most, int64_t *ret_value, hu_error *err);
hu_status hu_json_number_of(const hu_json_place *place, double least, double most, double *ret_value, hu_error *err);

#endif
