/* candidates.c: the schemes worth trying on a system.
 *
 * Sections: the list, the ranked space, the whole space.
 */
#include "config.h"
#include "candidates.h"
#include "base/memory.h"

const char *const sptrsv_space_words[SPTRSV_SPACES] = {"ranked", "all"};

/* ---- the list --------------------------------------------------------------------------------------------------- */

typedef struct {
    sptrsv_scheme *schemes;
    int64_t capacity;
    int n;
} list;

static hu_status add(list *l, sptrsv_scheme scheme, hu_error *err)
{
    for (int i = 0; i < l->n; i++)
        if (sptrsv_scheme_equal(&l->schemes[i], &scheme)) return HU_OK;
    void *block = l->schemes;
    if (hu_grow(&block, &l->capacity, l->n + 1, sizeof scheme, "candidates", err)) return err->status;
    l->schemes = block;
    l->schemes[l->n++] = scheme;
    return HU_OK;
}

static hu_status add_nodes(list *l, sptrsv_scheme scheme, sptrsv_node node, const int32_t *rows, size_t count, double n, hu_error *err)
{
    scheme.node = node;
    for (size_t i = 0; i < count && rows[i] < n; i++) {
        scheme.rows = rows[i];
        if (add(l, scheme, err)) return err->status;
    }
    return HU_OK;
}

static hu_status add_grid(list *l, const sptrsv_survey *s, sptrsv_scheme scheme, hu_error *err)
{
    if (!(s->f.is_grid > 0)) return HU_OK;
    scheme.kind = SPTRSV_GRID;
    scheme.tile = SPTRSV_TILE_LINE;
    if (add(l, scheme, err)) return err->status;
    scheme.tile = SPTRSV_TILE_SLAB;
    return s->threads > 1 ? add(l, scheme, err) : HU_OK;
}

/* ---- the ranked space ------------------------------------------------------------------------------------------- */

enum { TASK_MERGE = 1110 };

/* Dense blocks are tried where some are. */
static hu_status add_natural(list *l, const sptrsv_survey *s, sptrsv_scheme scheme, hu_error *err)
{
    for (int index = 16; index <= 32; index += 16)
        for (int super = 0; super <= (s->f.block >= 0.05); super++) {
            scheme.index = index;
            scheme.super = super;
            if (add(l, scheme, err)) return err->status;
        }
    return HU_OK;
}

static hu_status add_sorted(list *l, const sptrsv_survey *s, sptrsv_scheme scheme, hu_error *err)
{
    static const int32_t blocks[] = {512, 2048, 8192};
    scheme.kind = SPTRSV_LEVEL;
    scheme.index = 32;
    if (add(l, scheme, err)) return err->status;
    scheme.index = 16;
    if (add(l, scheme, err)) return err->status;
    return add_nodes(l, scheme, SPTRSV_NODE_BLOCK, blocks, sizeof blocks / sizeof *blocks, s->f.n, err);
}

static hu_status add_ranked_tasks(list *l, const sptrsv_survey *s, sptrsv_scheme scheme, hu_error *err)
{
    static const int32_t chains[] = {8, 32, 256}, blocks[] = {8, 128, 1024};
    if (s->threads < 2) return HU_OK;
    scheme.kind = SPTRSV_TASK;
    for (int32_t merge = 0; merge <= 4 * TASK_MERGE; merge = merge ? 4 * merge : TASK_MERGE) {
        scheme.merge = merge;
        scheme.index = 16;
        if (add(l, scheme, err)) return err->status;
    }
    scheme.merge = TASK_MERGE;
    scheme.index = 32;
    if (add(l, scheme, err)) return err->status;
    scheme.index = 16;
    if (add_nodes(l, scheme, SPTRSV_NODE_BLOCK, blocks, 3, s->f.n, err)) return err->status;
    if (s->f.carry < 0.05) return HU_OK; /* next to no chains */
    if (add_nodes(l, scheme, SPTRSV_NODE_CHAIN, chains, 3, s->f.n, err)) return err->status;
    scheme.merge = 0;
    if (add_nodes(l, scheme, SPTRSV_NODE_CHAIN, chains + 1, 2, s->f.n, err)) return err->status;
    scheme.merge = TASK_MERGE;
    scheme.super = true;
    if (s->f.block >= 0.05 && add_nodes(l, scheme, SPTRSV_NODE_CHAIN, chains + 1, 2, s->f.n, err)) return err->status;
    return HU_OK;
}

static hu_status add_ranked(list *l, const sptrsv_survey *s, sptrsv_scheme scheme, hu_error *err)
{
    scheme.kind = SPTRSV_SERIAL;
    scheme.node = SPTRSV_NODE_ROW;
    scheme.rows = 1;
    scheme.merge = 0;
    if (add_grid(l, s, scheme, err) || add_natural(l, s, scheme, err)) return err->status;
    scheme.super = false;
    if (add_sorted(l, s, scheme, err)) return err->status;
    return add_ranked_tasks(l, s, scheme, err);
}

/* ---- the whole space -------------------------------------------------------------------------------------------- */

/* The storage variants of one schedule: column width and dense blocks. */
static hu_status add_storage(list *l, sptrsv_scheme scheme, hu_error *err)
{
    for (int index = 16; index <= 32; index += 16)
        for (int super = 0; super < 2; super++) {
            scheme.index = index;
            scheme.super = super;
            if (add(l, scheme, err)) return err->status;
        }
    return HU_OK;
}

static hu_status add_tasks(list *l, sptrsv_scheme base, double n, hu_error *err)
{
    static const int32_t sizes[] = {8, 32, 128, 512, 2048}, merges[] = {0, 512, 4096};
    base.kind = SPTRSV_TASK;
    for (size_t m = 0; m < sizeof merges / sizeof *merges; m++) {
        base.merge = merges[m];
        base.node = SPTRSV_NODE_ROW;
        base.rows = 1;
        if (add_storage(l, base, err)) return err->status;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] < n; i++) {
            base.rows = sizes[i];
            base.node = SPTRSV_NODE_CHAIN;
            if (add_storage(l, base, err)) return err->status;
            base.node = SPTRSV_NODE_BLOCK;
            if (add_storage(l, base, err)) return err->status;
        }
    }
    return HU_OK;
}

static hu_status add_all(list *l, const sptrsv_survey *s, sptrsv_scheme scheme, hu_error *err)
{
    scheme.node = SPTRSV_NODE_ROW;
    scheme.rows = 1;
    scheme.merge = 0;
    scheme.kind = SPTRSV_SERIAL;
    if (add_storage(l, scheme, err)) return err->status;
    scheme.kind = SPTRSV_LEVEL;
    if (add_storage(l, scheme, err)) return err->status;
    scheme.kind = SPTRSV_BARRIER;
    scheme.index = 32;
    scheme.super = false;
    return s->threads > 1 && (add(l, scheme, err) || add_tasks(l, scheme, s->f.n, err)) ? err->status : HU_OK;
}

hu_status sptrsv_candidates(const sptrsv_survey *s, sptrsv_space space, int columns, sptrsv_scheme **ret_schemes, int *ret_n, hu_error *err)
{
    list l = {0};
    sptrsv_scheme rule;
    *ret_schemes = NULL;
    *ret_n = 0;
    sptrsv_rule_of(s, &rule);
    if (add(&l, rule, err)) goto failed;
    for (int panel = 8; panel <= (columns > 8 ? 16 : 8); panel *= 2) {
        rule.rhs = panel;
        if (add_ranked(&l, s, rule, err) || (space == SPTRSV_SPACE_ALL && add_all(&l, s, rule, err))) goto failed;
    }
    *ret_schemes = l.schemes;
    *ret_n = l.n;
    return HU_OK;
failed:
    hu_free(l.schemes);
    return err->status;
}
