/* scheme.c: schemes as text.
 *
 * Sections: the words, reading and printing.
 */
#include "config.h"
#include "scheme.h"
#include "base/keys.h"

#include <string.h>

/* ---- the words -------------------------------------------------------------------------------------------------- */

enum { KIND, ARITH, NODE, ROWS, MERGE, INDEX, SUPER, FAT, RHS, TILE, KEYS };

static const hu_key keys[KEYS] = {
    [KIND] = {"kind", "serial level barrier task grid", 0, 0},
    [ARITH] = {"arith", "fold divide", 0, 0},
    [NODE] = {"node", "row chain block", 0, 0},
    [ROWS] = {"rows", NULL, 1, 65536},
    [MERGE] = {"merge", NULL, 0, INT32_MAX},
    [INDEX] = {"index", "16 32", 0, 0},
    [SUPER] = {"super", "0 1", 0, 0},
    [FAT] = {"fat", NULL, 0, INT32_MAX},
    [RHS] = {"rhs", "1 4 8 16", 0, 0},
    [TILE] = {"tile", "line slab", 0, 0},
};

/* ---- reading and printing ----------------------------------------------------------------------------------------- */

static void to_values(const sptrsv_scheme *s, int32_t *v)
{
    const int32_t all[KEYS] = {[KIND] = (int32_t)s->kind, [ARITH] = (int32_t)s->arith, [NODE] = (int32_t)s->node, [ROWS] = s->rows, [MERGE] = s->merge,
                               [INDEX] = s->index == 32, [SUPER] = s->super, [FAT] = s->fat,
                               [RHS] = s->rhs >= 16 ? 3 : s->rhs >= 8 ? 2 : s->rhs >= 4, [TILE] = (int32_t)s->tile};
    memcpy(v, all, sizeof all);
}

hu_status sptrsv_scheme_parse(const char *text, sptrsv_scheme *s, hu_error *err)
{
    int32_t v[KEYS];
    to_values(s, v);
    if (hu_keys_parse(text, keys, KEYS, v, err)) return err->status;
    *s = (sptrsv_scheme){(sptrsv_kind)v[KIND], (sptrsv_arith)v[ARITH], (sptrsv_node)v[NODE], v[ROWS], v[MERGE], v[INDEX] ? 32 : 16, v[SUPER] != 0, v[FAT],
                         v[RHS] == 0 ? 1 : 2 << v[RHS], (sptrsv_tile)v[TILE]};
    return HU_OK;
}

void sptrsv_scheme_print(const sptrsv_scheme *s, char *ret_text, size_t size)
{
    int32_t v[KEYS];
    to_values(s, v);
    hu_keys_print(keys, KEYS, v, ret_text, size);
}

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

const char *sptrsv_precision_name(sptrsv_precision precision)
{
    return precision == SPTRSV_F64 ? "f64" : precision == SPTRSV_F32 ? "f32" : "mixed";
}

bool sptrsv_scheme_equal(const sptrsv_scheme *a, const sptrsv_scheme *b)
{
    return a->kind == b->kind && a->arith == b->arith && a->node == b->node && a->rows == b->rows && a->merge == b->merge && a->index == b->index &&
           a->super == b->super && a->fat == b->fat && a->rhs == b->rhs && a->tile == b->tile;
}
