/* scheme.c: schemes as text.
 *
 * Sections: the words, reading, printing.
 */
#include "config.h"
#include "scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the words -------------------------------------------------------------------------------------------------- */

enum { KIND, ARITH, NODE, ROWS, MERGE, INDEX, SUPER, FAT, RHS, TILE, KEYS };

typedef struct {
    const char *name;
    const char *words; /* allowed, separated by blanks; NULL: a number */
    int32_t least, most;
} key;

static const key keys[KEYS] = {
    [KIND] = {"kind", "serial level barrier task grid", 0, 4},
    [ARITH] = {"arith", "fold divide", 0, 1},
    [NODE] = {"node", "row chain block", 0, 2},
    [ROWS] = {"rows", NULL, 1, 65536},
    [MERGE] = {"merge", NULL, 0, INT32_MAX},
    [INDEX] = {"index", "16 32", 0, 1},
    [SUPER] = {"super", "0 1", 0, 1},
    [FAT] = {"fat", NULL, 0, INT32_MAX},
    [RHS] = {"rhs", "1 4 8 16", 0, 3},
    [TILE] = {"tile", "line slab", 0, 1},
};

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Position of text[0..length) among words separated by blanks; -1: not there. */
static int find_word(const char *words, const char *text, size_t length)
{
    for (int position = 0; *words; position++) {
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

static void set_key(sptrsv_scheme *s, int which, int32_t value)
{
    switch (which) {
    case KIND: s->kind = (sptrsv_kind)value; break;
    case ARITH: s->arith = (sptrsv_arith)value; break;
    case NODE: s->node = (sptrsv_node)value; break;
    case ROWS: s->rows = value; break;
    case MERGE: s->merge = value; break;
    case INDEX: s->index = value == 0 ? 16 : 32; break;
    case SUPER: s->super = value != 0; break;
    case FAT: s->fat = value; break;
    case RHS: s->rhs = value == 0 ? 1 : 2 << value; break;
    default: s->tile = (sptrsv_tile)value; break;
    }
}

static hu_status bad_value(const key *k, const char *text, size_t length, hu_error *err)
{
    if (k->words)
        return hu_fail(err, HU_USAGE, "%s:%.*s: allowed are %s", k->name, (int)length, text, k->words);
    return hu_fail(err, HU_USAGE, "%s:%.*s: allowed is a number from %d to %d", k->name, (int)length, text, k->least, k->most);
}

hu_status sptrsv_scheme_parse(const char *text, sptrsv_scheme *scheme, hu_error *err)
{
    sptrsv_scheme s = *scheme;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ","), name = strcspn(at, ":,");
        int which = 0;
        while (which < KEYS && (strlen(keys[which].name) != name || memcmp(keys[which].name, at, name) != 0)) which++;
        if (which == KEYS || name == length)
            return hu_fail(err, HU_USAGE,
                           "'%.*s' is not KEY:VALUE; keys are kind, arith, node, rows, merge, index, super, fat, rhs and tile",
                           (int)length, at);
        const key *k = &keys[which];
        const char *value_text = at + name + 1;
        size_t value_length = length - name - 1;
        int32_t value = k->words ? find_word(k->words, value_text, value_length) : 0;
        if (value < 0 || (!k->words && !find_number(value_text, value_length, k->least, k->most, &value)))
            return bad_value(k, value_text, value_length, err);
        set_key(&s, which, value);
        at += length + (at[length] == ',');
    }
    *scheme = s;
    return HU_OK;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

const char *sptrsv_kind_word(sptrsv_kind kind)
{
    static const char *const words[] = {"serial", "level", "barrier", "task", "grid"};
    return words[kind];
}

const char *sptrsv_node_word(sptrsv_node node)
{
    static const char *const words[] = {"row", "chain", "block"};
    return words[node];
}

const char *sptrsv_tile_word(sptrsv_tile tile)
{
    return tile == SPTRSV_TILE_LINE ? "line" : "slab";
}

void sptrsv_scheme_print(const sptrsv_scheme *s, char *ret_text, size_t size)
{
    snprintf(ret_text, size, "kind:%s,arith:%s,node:%s,rows:%d,merge:%d,index:%d,super:%d,fat:%d,rhs:%d,tile:%s", sptrsv_kind_word(s->kind),
             s->arith == SPTRSV_FOLD ? "fold" : "divide", sptrsv_node_word(s->node), s->rows, s->merge, s->index, s->super, s->fat, s->rhs,
             sptrsv_tile_word(s->tile));
}

const char *sptrsv_precision_name(sptrsv_precision precision)
{
    return precision == SPTRSV_F64 ? "f64" : precision == SPTRSV_F32 ? "f32" : "mixed";
}

bool sptrsv_scheme_equal(const sptrsv_scheme *a, const sptrsv_scheme *b)
{
    return a->kind == b->kind && a->arith == b->arith && a->node == b->node && a->rows == b->rows && a->merge == b->merge && a->index == b->index &&
           a->super == b->super && a->fat == b->fat && a->rhs == b->rhs && a->tile == b->tile;
}
