/* input.c: the sparse operand from any file.
 *
 * Sections: options, reading, what is done to it, plans and order.
 */
#include "config.h"
#include "input.h"
#include "base/memory.h"
#include "io/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const spmm_input spmm_input_defaults = {.read = {SPMM_FORMAT_AUTO, HU_MTX_DEFAULTS, -1, 0, false}, .dtype = -1, .packing = SPMM_OPTIONS};

/* ---- options ---------------------------------------------------------------------------------------------------- */

enum {
    KEY_FORMAT = 0x300, KEY_DUPS, KEY_SYMMETRIC, KEY_TRANSPOSE, KEY_LOOPS, KEY_NORM, KEY_EDGES, KEY_BASE, KEY_NODES, KEY_DTYPE, KEY_NONFINITE,
    KEY_STRATEGY, KEY_NP, KEY_ROW_COST, KEY_BIN, KEY_BIN_THRESH, KEY_ROW_PANEL, KEY_REORDER
};

static const struct argp_option read_table[] = {
    {"format", KEY_FORMAT, "FORMAT", 0, "auto (default), mtx, smtx, edges, npy or spk", 0},
    {"dups", KEY_DUPS, "HOW", 0, "entries of one place: sum (default), error, first, last or max", 0},
    {"symmetric", KEY_SYMMETRIC, "HOW", 0, "a symmetric file: expand (default), or keep its lower half only", 0},
    {"edge-order", KEY_EDGES, "ORDER", 0, "edges: src-dst (default) or dst-src; row = destination", 0},
    {"base", KEY_BASE, "N", 0, "edges: nodes count from 0 or 1; must be told", 0},
    {"nodes", KEY_NODES, "N", 0, "edges: number of nodes (default: the greatest that is there)", 0},
    {"transpose", KEY_TRANSPOSE, NULL, 0, "take the transpose", 0},
    {"self-loops", KEY_LOOPS, "HOW", 0, "none (default: as they are), add (A + I), remaining (1 where there is none) or remove", 0},
    {"norm", KEY_NORM, "HOW", 0, "scale values: none (default), gcn (by the roots of both row sums), row or col (sums become 1)", 0},
    {"dtype", KEY_DTYPE, "TYPE", 0, "round values to f64, f32, f16 or bf16 (default: as they come)", 0},
    {"keep-nonfinite", KEY_NONFINITE, NULL, 0, "NaN and infinity are values of the matrix, not errors", 0},
    {0}};

static const struct argp_option pack_table[] = {
    {"strategy", KEY_STRATEGY, "NAME", 0, "auto (default), csr, neighbor, bin or panel", 0},
    {"np", KEY_NP, "N", 0, "neighbor: cost of a pack in entries (default: from the matrix)", 0},
    {"row-cost", KEY_ROW_COST, "N", 0, "neighbor: cost of a row in entries (default: 10)", 0},
    {"bin", KEY_BIN, "N", 0, "bin: columns a bin (default: 1024)", 0},
    {"bin-thresh", KEY_BIN_THRESH, "N", 0, "bin: fewest entries of a row in a bin; fewer go to the remainder (default: 2)", 0},
    {"row-panel", KEY_ROW_PANEL, "N", 0, "bin: rows a panel (default: from the matrix)", 0},
    {"reorder", KEY_REORDER, "HOW", 0, "rows and columns of a square matrix: none (default), degree, rcm or cluster; results keep the file's order", 0},
    {0}};

int spmm_option_scalar(const struct argp_state *state, const char *option, const char *text)
{
    static const char *const words[] = {"f64", "f32", "f16", "bf16", "auto"};
    static const int scalars[] = {HU_F64, HU_F32, HU_F16, HU_BF16, -1};
    return scalars[hu_option_word(state, option, text, words, 5)];
}

static error_t parse_read(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = {"auto", "mtx", "smtx", "edges", "npy", "spk"}, *const dups[] = {"sum", "error", "last", "first", "max"};
    static const char *const halves[] = {"expand", "keep"}, *const loops[] = {"none", "add", "remaining", "remove"}, *const norms[] = {"none", "gcn", "row", "col"};
    static const char *const edges[] = {"src-dst", "dst-src"};
    spmm_input *o = state->input;
    switch (key) {
    case KEY_FORMAT:
        o->read.format = (spmm_format)hu_option_word(state, "--format", arg, formats, 6);
        o->is_packed = o->read.format > SPMM_FORMAT_NPY;
        if (o->is_packed) o->read.format = SPMM_FORMAT_AUTO;
        return 0;
    case KEY_DUPS: o->read.mtx.duplicates = (hu_duplicates)hu_option_word(state, "--dups", arg, dups, 5); return 0;
    case KEY_SYMMETRIC: o->read.mtx.half = hu_option_word(state, "--symmetric", arg, halves, 2) ? HU_MTX_LOWER : HU_MTX_BOTH; return 0;
    case KEY_EDGES: o->read.dst_first = hu_option_word(state, "--edge-order", arg, edges, 2) == 1; return 0;
    case KEY_BASE: o->read.base = (int)hu_option_integer(state, "--base", arg, 0, 1); return 0;
    case KEY_NODES: o->read.nodes = hu_option_integer(state, "--nodes", arg, 1, HU_MAX_DIMENSION); return 0;
    case KEY_TRANSPOSE: o->transpose = true; return 0;
    case KEY_LOOPS: o->loops = (spmm_loops)hu_option_word(state, "--self-loops", arg, loops, 4); return 0;
    case KEY_NORM: o->norm = (spmm_norm)hu_option_word(state, "--norm", arg, norms, 4); return 0;
    case KEY_DTYPE: o->dtype = spmm_option_scalar(state, "--dtype", arg); return 0;
    case KEY_NONFINITE: o->read.mtx.keep_nonfinite = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_pack(int key, char *arg, struct argp_state *state)
{
    static const char *const orders[] = {"none", "degree", "rcm", "cluster"};
    spmm_input *o = state->input;
    switch (key) {
    case KEY_STRATEGY:
        if (strcmp(arg, "auto") != 0 && !spmm_strategy_find(arg)) argp_error(state, "--strategy: '%s' is none of auto, csr, neighbor, bin, panel", arg);
        o->strategy = strcmp(arg, "auto") == 0 ? NULL : arg;
        return 0;
    case KEY_NP: o->packing.np = hu_option_integer(state, "--np", arg, 1, INT32_MAX); return 0;
    case KEY_ROW_COST: o->packing.alpha = hu_option_integer(state, "--row-cost", arg, 0, INT32_MAX); return 0;
    case KEY_BIN: o->packing.bin_columns = hu_option_integer(state, "--bin", arg, 1, INT32_MAX); return 0;
    case KEY_BIN_THRESH: o->packing.bin_threshold = hu_option_integer(state, "--bin-thresh", arg, 1, INT32_MAX); return 0;
    case KEY_ROW_PANEL: o->packing.row_panel = hu_option_integer(state, "--row-panel", arg, 1, INT32_MAX); return 0;
    case KEY_REORDER: o->order = (spmm_order)hu_option_word(state, "--reorder", arg, orders, 4); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp spmm_read_argp = {read_table, parse_read, NULL, NULL, NULL, NULL, NULL};
const struct argp spmm_pack_argp = {pack_table, parse_pack, NULL, NULL, NULL, NULL, NULL};

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static bool is_other_matrix(const char *path)
{
    struct stat st;
    return hu_ends_in(path, ".npz") || hu_ends_in(path, ".csr") || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* What the file holds: *ret_csr, or *ret_packed where it is packed. */
static hu_status read_any(const char *path, const spmm_input *o, hu_csr **ret_csr, spmm_packed **ret_packed, spmm_read_info *info, hu_error *err)
{
    hu_source *source;
    bool is_packed = o->is_packed || hu_ends_in(path, ".spk") || hu_ends_in(path, ".spk.zst");
    *ret_csr = NULL;
    *ret_packed = NULL;
    if (!is_packed && is_other_matrix(path)) {
        hu_mtx_info other;
        if (hu_matrix_read(path, &o->read.mtx, ret_csr, &other, err)) return err->status;
        *info = (spmm_read_info){other.entries, false, false};
        return HU_OK;
    }
    if (hu_source_open(path, is_packed ? hu_source_as_it_is : hu_ends_in(path, ".smtx") ? ".smtx" : ".mtx", &source, err)) return err->status;
    if (is_packed || spmm_packed_sniff(source, &is_packed, err) == HU_OK) {
        if (is_packed) spmm_packed_read(source, ret_packed, err);
        else spmm_read(source, &o->read, ret_csr, info, err);
    }
    hu_source_close(source);
    return err->status;
}

/* ---- what is done to it ------------------------------------------------------------------------------------------- */

static bool changes(const spmm_input *o)
{
    return o->transpose || o->loops != SPMM_LOOPS_NONE || o->norm != SPMM_NORM_NONE || o->order != SPMM_ORDER_NONE;
}

static hu_status transpose(hu_csr **a, hu_error *err)
{
    hu_csr *t;
    if (hu_csr_transpose(*a, false, &t, err)) return err->status;
    hu_csr_free(*a);
    *a = t;
    return HU_OK;
}

static hu_status reorder(hu_csr **a, spmm_order order, const char *name, int32_t **ret_perm, hu_error *err)
{
    hu_csr *b;
    if (spmm_graph_order(*a, order, name, ret_perm, err) || hu_csr_permute(*a, *ret_perm, &b, err)) return err->status;
    hu_csr_free(*a);
    *a = b;
    return HU_OK;
}

static hu_status describe(const spmm_input *o, const char *before, char **ret_made, hu_error *err)
{
    static const char *const loops[] = {"none", "add", "remaining", "remove"}, *const norms[] = {"none", "gcn", "row", "col"}, *const orders[] = {"none", "degree", "rcm", "cluster"};
    if (asprintf(ret_made, "%s%s%stranspose=%s self-loops=%s norm=%s reorder=%s", before ? before : "", before ? "; " : "", o->read.mtx.half == HU_MTX_LOWER ? "symmetric=keep " : "",
                 o->transpose ? "yes" : "no", loops[o->loops], norms[o->norm], orders[o->order]) < 0)
        return hu_fail(err, HU_SYSTEM, "out of memory");
    return HU_OK;
}

/* Entries in coordinates of one column would be lost: complex values and the like are refused here. Consumes *csr. */
static hu_status make(hu_csr **csr, const spmm_input *o, const char *name, const char *made_before, spmm_packed **ret_packed, hu_error *err)
{
    void *block;
    if ((*csr)->is_complex) return hu_fail(err, HU_INPUT, "%s: complex values; a real matrix is needed", name);
    if (hu_alloc_zero(1, sizeof(spmm_packed), "a matrix", &block, err)) return err->status;
    spmm_packed *p = *ret_packed = block;
    p->storage = o->dtype < 0 ? HU_F64 : (hu_scalar)o->dtype;
    if ((o->transpose && transpose(csr, err)) || spmm_graph_loops(csr, o->loops, name, err) || spmm_graph_normalise(*csr, o->norm, name, err) ||
        (o->order != SPMM_ORDER_NONE && reorder(csr, o->order, name, &p->perm, err)) || (changes(o) && describe(o, made_before, &p->made, err)))
        return err->status;
    bool ones = true;
    for (int64_t k = 0; k < (*csr)->nnz && ones; k++) ones = (*csr)->val[k] == 1;
    return spmm_matrix_from_csr(csr, ones, p->storage, name, &p->a, err);
}

hu_status spmm_input_read(const char *path, const spmm_input *o, spmm_packed **ret_packed, spmm_read_info *opt_info, hu_error *err)
{
    spmm_read_info info = {0};
    spmm_packed *file = NULL;
    hu_csr *csr = NULL;
    *ret_packed = NULL;
    if (read_any(path, o, &csr, &file, &info, err)) return err->status;
    if (file && !changes(o) && (o->dtype < 0 || (hu_scalar)o->dtype == file->storage)) {
        info.entries = file->a->nnz;
        info.is_pattern = !file->a->val;
        *ret_packed = file;
    } else {
        if (!file || spmm_packed_to_csr(file, &csr, err) == HU_OK) make(&csr, o, path, file ? file->made : NULL, ret_packed, err);
        if (file && !err->status && o->dtype < 0) (*ret_packed)->storage = file->storage;
        if (file) info.entries = file->a->nnz;
        spmm_packed_free(file);
        hu_csr_free(csr);
    }
    if (opt_info) *opt_info = info;
    if (!err->status) return HU_OK;
    spmm_packed_free(*ret_packed);
    *ret_packed = NULL;
    return err->status;
}

/* ---- plans and order --------------------------------------------------------------------------------------------- */

hu_status spmm_input_plan(spmm_packed *packed, const spmm_input *o, int64_t k, hu_scalar sums, spmm_plan **ret_plan, hu_error *err)
{
    spmm_options packing = o->packing;
    packing.k = k;
    return spmm_packed_plan(packed, o->strategy ? spmm_strategy_find(o->strategy) : NULL, &packing, sums, ret_plan, err);
}

hu_status spmm_input_permute(const spmm_packed *packed, hu_dense **dense, bool back, hu_error *err)
{
    hu_dense *from = *dense, *to;
    if (!packed->perm) return HU_OK;
    if (hu_dense_new(from->rows, from->cols, from->scalar, HU_ROW_MAJOR, &to, err)) return err->status;
    const size_t size = hu_scalar_size(from->scalar), row = (size_t)from->cols * size;
    to->dims = from->dims;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < from->rows; i++) {
        const int64_t source = back ? i : packed->perm[i], target = back ? packed->perm[i] : i;
        memcpy((char *)to->data + (size_t)(target * to->ld) * size, (const char *)from->data + (size_t)(source * from->ld) * size, row);
    }
    hu_dense_free(from);
    *dense = to;
    return HU_OK;
}
