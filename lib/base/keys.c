/* keys.c: settings written as KEY:VALUE,KEY:VALUE,...
 *
 * Sections: values, reading, printing.
 */
#include "config.h"
#include "base/keys.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 32 };

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Position of text[0..length) among words separated by blanks; -1: not there. */
static int32_t find_word(const char *words, const char *text, size_t length)
{
    for (int32_t position = 0; *words; position++) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, text, n) == 0) return position;
        words += n + (words[n] == ' ');
    }
    return -1;
}

static bool find_number(const char *text, size_t length, int32_t least, int32_t most, int32_t *ret_value)
{
    int64_t value = 0;
    if (length == 0 || length > 10) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = 10 * value + (text[i] - '0');
    }
    *ret_value = (int32_t)value;
    return value >= least && value <= most;
}

static hu_status parse_value(const hu_key *k, const char *text, size_t length, int32_t *ret_value, hu_error *err)
{
    if (!k->words) {
        if (find_number(text, length, k->least, k->most, ret_value)) return HU_OK;
        return hu_fail(err, HU_USAGE, "%s:%.*s: allowed is a number from %d to %d", k->name, (int)length, text, k->least, k->most);
    }
    *ret_value = find_word(k->words, text, length);
    if (*ret_value >= 0) return HU_OK;
    return hu_fail(err, HU_USAGE, "%s:%.*s: allowed are %s", k->name, (int)length, text, k->words);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static hu_status unknown_key(const hu_key *keys, int count, const char *text, size_t length, hu_error *err)
{
    char names[256] = "";
    for (int k = 0; k < count; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", k == 0 ? "" : k == count - 1 ? " and " : ", ", keys[k].name);
    }
    return hu_fail(err, HU_USAGE, "'%.*s' is not KEY:VALUE; keys are %s", (int)length, text, names);
}

hu_status hu_keys_parse(const char *text, const hu_key *keys, int count, int32_t *values, hu_error *err)
{
    int32_t now[MOST_KEYS];
    memcpy(now, values, (size_t)count * sizeof *now);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ","), name = strcspn(at, ":,");
        int k = 0;
        while (k < count && (strlen(keys[k].name) != name || memcmp(keys[k].name, at, name) != 0)) k++;
        if (k == count || name == length) return unknown_key(keys, count, at, length, err);
        if (parse_value(&keys[k], at + name + 1, length - name - 1, &now[k], err)) return err->status;
        at += length + (at[length] == ',');
    }
    memcpy(values, now, (size_t)count * sizeof *now);
    return HU_OK;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

void hu_keys_print(const hu_key *keys, int count, const int32_t *values, char *ret_text, size_t size)
{
    size_t used = 0;
    for (int k = 0; k < count && used < size; k++) {
        const char *word = keys[k].words;
        for (int32_t skip = values[k]; word && skip > 0; skip--) word += strcspn(word, " ") + 1;
        const char *comma = k ? "," : "";
        int n = word ? snprintf(ret_text + used, size - used, "%s%s:%.*s", comma, keys[k].name, (int)strcspn(word, " "), word)
                     : snprintf(ret_text + used, size - used, "%s%s:%d", comma, keys[k].name, (int)values[k]);
        used += (size_t)n;
    }
}
