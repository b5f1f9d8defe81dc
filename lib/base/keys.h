/* keys.h: settings written as KEY:VALUE,KEY:VALUE,... with a table of what is allowed. */
#ifndef HU_BASE_KEYS_H
#define HU_BASE_KEYS_H

#include "base/error.h"

typedef struct {
    const char *name;
    const char *words;   /* allowed values, separated by blanks, of which the value is the position; NULL: a number */
    int32_t least, most; /* of a number */
} hu_key;

/* values[k] becomes what text says of keys[k]; keys that it does not name keep their values. On failure (HU_USAGE: the word that is wrong and
 * what is allowed) nothing has changed. */
hu_status hu_keys_parse(const char *text, const hu_key *keys, int count, int32_t *values, hu_error *err);

/* The full text of the values, which reads back to them. */
void hu_keys_print(const hu_key *keys, int count, const int32_t *values, char *ret_text, size_t size);

#endif
