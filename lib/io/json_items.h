/* json_items.h: a large JSON document one item at a time, in memory that follows the largest item and not the document.
 *
 * The document is an object or an array. The items are, in their order: of an object each member's value, but of a member that is an array its items, one by
 * one; of an array its items. So {"a": 1, "b": [2, {"c": 3}]} has the items a: 1, b: 2, b: {"c": 3}. Brackets and strings are checked of everything, the rest of
 * the syntax of the items that hu_json_items_parse() is asked for.
 */
#ifndef HU_IO_JSON_ITEMS_H
#define HU_IO_JSON_ITEMS_H

#include "io/json.h"

#define HU_JSON_ITEM_BYTES ((int64_t)64 << 20) /* of one item, at most */

typedef struct hu_json_items hu_json_items;

typedef struct {
    const char *key;  /* of the member; "" in a document that is an array */
    const char *text; /* the item as it stands, a zero byte behind it; valid until the next one */
    int64_t size;
    int64_t line;     /* where it begins */
} hu_json_item_text;

/* Free with hu_json_items_close(); the source stays open. */
hu_status hu_json_items_open(hu_source *source, hu_json_items **ret_items, hu_error *err);
void hu_json_items_close(hu_json_items *items); /* NULL is allowed */

/* The next item; HU_END behind the end of the document, of which nothing but white space may follow. HU_INPUT "NAME:LINE: reason". */
hu_status hu_json_items_next(hu_json_items *items, hu_json_item_text *ret_item, hu_error *err);

/* The current item, an object or an array, as a document; free with json_decref(). Errors name the line of the file. */
hu_status hu_json_items_parse(hu_json_items *items, json_t **ret_item, hu_error *err);

#endif
