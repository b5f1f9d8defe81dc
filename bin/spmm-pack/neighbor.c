/* neighbor.c: the strategy "neighbor": packs of about equal cost (neighbor.h).
 *
 * Sections: packing, multiplying, the rest.
 */
#include "config.h"
#include "neighbor.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ALPHA = 10, LEAST_NP = 512, GREATEST_NP = 65536, PACKS = 512 };

/* ---- packing ---------------------------------------------------------------------------------------------------- */

typedef struct {
    spmm_neighbor_form *form;
    int64_t room;
    hu_error *err;
} maker;

static hu_status add(maker *m, int64_t row_from, int64_t row_to, int64_t from, int64_t to)
{
    if (hu_grow((void **)&m->form->pack, &m->room, m->form->n + 1, sizeof *m->form->pack, "packs", m->err)) return m->err->status;
    m->form->pack[m->form->n++] = (spmm_neighbor_pack){row_from, row_to, from, to};
    return HU_OK;
}

/* The cost rule of the papers. */
static hu_status cut_rows(maker *m, const spmm_matrix *a)
{
    const int64_t np = m->form->np, alpha = m->form->alpha;
    int64_t row_from = 0, from = 0, cost = 0; /* the open pack */
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t p = a->row_ptr[i];
        const int64_t end = a->row_ptr[i + 1];
        if (cost + alpha + end - p <= np) {
            cost += alpha + end - p;
            continue;
        }
        if (np - cost > alpha) p += np - cost - alpha; /* the head tops the open pack up */
        if (p > from || i > row_from) {
            if (add(m, row_from, p > a->row_ptr[i] ? i + 1 : i, from, p)) return m->err->status;
        }
        for (; end - p > np - alpha; p += np - alpha)
            if (add(m, i, i + 1, p, p + np - alpha)) return m->err->status;
        row_from = i;
        from = p;
        cost = alpha + end - p;
    }
    return row_from < a->rows ? add(m, row_from, a->rows, from, a->nnz) : HU_OK;
}

static bool is_whole(const spmm_matrix *a, const spmm_neighbor_pack *k, int64_t row)
{
    return k->from <= a->row_ptr[row] && k->to >= a->row_ptr[row + 1];
}

/* Numbers the parts of cut rows: only the first and the last row of a pack can be cut. */
static hu_status number_pieces(spmm_neighbor_form *f, const spmm_matrix *a, hu_error *err)
{
    int64_t room_row = 0, room_ptr = 0;
    if (hu_alloc(f->n, sizeof *f->first_piece, "packs", (void **)&f->first_piece, err)) return err->status;
    for (int64_t k = 0; k < f->n; k++) {
        const spmm_neighbor_pack *pack = &f->pack[k];
        f->first_piece[k] = f->pieces;
        for (int64_t row = pack->row_from; row < pack->row_to; row = row == pack->row_to - 1 ? pack->row_to : pack->row_to - 1) {
            if (is_whole(a, pack, row)) continue;
            if (f->cut_rows == 0 || f->cut_row[f->cut_rows - 1] != row) {
                if (hu_grow((void **)&f->cut_row, &room_row, f->cut_rows + 1, sizeof *f->cut_row, "rows", err) ||
                    hu_grow((void **)&f->cut_ptr, &room_ptr, f->cut_rows + 2, sizeof *f->cut_ptr, "rows", err))
                    return err->status;
                f->cut_row[f->cut_rows] = (int32_t)row;
                f->cut_ptr[f->cut_rows++] = f->pieces;
            }
            f->cut_ptr[f->cut_rows] = ++f->pieces;
        }
    }
    return HU_OK;
}

static void free_pack(void *block)
{
    spmm_neighbor_form *f = block;
    if (!f) return;
    hu_free(f->first_piece);
    free(f->pack);
    free(f->cut_row);
    free(f->cut_ptr);
    hu_free(f);
}

static hu_status pack(const spmm_matrix *a, const spmm_options *options, void **ret_pack, hu_error *err)
{
    *ret_pack = NULL;
    void *block;
    if (hu_alloc_zero(1, sizeof(spmm_neighbor_form), "packs", &block, err)) return err->status;
    spmm_neighbor_form *f = block;
    maker m = {f, 0, err};
    const int64_t share = a->nnz / PACKS;
    f->alpha = options->alpha >= 0 ? options->alpha : DEFAULT_ALPHA;
    f->np = options->np ? options->np : share < LEAST_NP ? LEAST_NP : share > GREATEST_NP ? GREATEST_NP : share;
    if (f->np <= f->alpha) {
        hu_fail(err, HU_USAGE, "a pack of cost %lld holds no entry: a row alone costs %lld (--np must be greater than --alpha)", (long long)f->np, (long long)f->alpha);
        free_pack(f);
        return err->status;
    }
    if (cut_rows(&m, a) || number_pieces(f, a, err)) {
        free_pack(f);
        return err->status;
    }
    *ret_pack = f;
    return HU_OK;
}

/* ---- multiplying ------------------------------------------------------------------------------------------------ */

/* One pack: whole rows go to C, parts to their places. */
static void multiply_pack(const spmm_neighbor_form *f, const spmm_matrix *a, int64_t k, const spmm_tile *to_c, const spmm_tile *to_pieces)
{
    const spmm_neighbor_pack *pack = &f->pack[k];
    int64_t piece = f->first_piece[k], from = pack->row_from, to = pack->row_to;
    if (from < to && !is_whole(a, pack, from)) {
        const int64_t end = a->row_ptr[from + 1], part[] = {pack->from, pack->to < end ? pack->to : end};
        HU_PICK(spmm_rows)(to_pieces, part, NULL, piece++, 1);
        from++;
    }
    const bool last = from < to && !is_whole(a, pack, to - 1);
    if (last) to--;
    if (from < to) HU_PICK(spmm_rows)(to_c, a->row_ptr + from, NULL, from, to - from);
    if (last) {
        const int64_t part[] = {a->row_ptr[to], pack->to};
        HU_PICK(spmm_rows)(to_pieces, part, NULL, piece, 1);
    }
}

/* Adds the parts of cut rows in order: a product of a matrix of ones with them. */
static hu_status add_pieces(const spmm_neighbor_form *f, const spmm_tile *to_c, const hu_dense *pieces, hu_error *err)
{
    spmm_tile t = *to_c;
    int32_t *col = NULL;
    void *one = NULL;
    if (hu_alloc(f->pieces, sizeof *col, "parts", (void **)&col, err) || hu_alloc(f->pieces, hu_scalar_size(pieces->scalar), "parts", &one, err)) goto cleanup;
    for (int64_t p = 0; p < f->pieces; p++) {
        col[p] = (int32_t)p;
        hu_scalar_put(pieces->scalar, one, p, 1);
    }
    t.col = col;
    t.val = one;
    t.b = pieces->data;
    t.ldb = pieces->ld;
    t.b_scalar = pieces->scalar;
    t.ahead = 0;
#pragma omp parallel for schedule(dynamic, 1) if (f->cut_rows > 8)
    for (int64_t r = 0; r < f->cut_rows; r++) HU_PICK(spmm_rows)(&t, f->cut_ptr + r, f->cut_row + r, 0, 1);
cleanup:
    hu_free(col);
    hu_free(one);
    return err->status;
}

static hu_status multiply(const void *block, const spmm_matrix *a, const spmm_product *p, hu_error *err)
{
    const spmm_neighbor_form *f = block;
    const int64_t k = p->b->cols, width = spmm_tile_width(a->cols, k, p->b->scalar);
    const bool near = width < k || a->cols * p->b->ld * (int64_t)hu_scalar_size(p->b->scalar) <= hu_cpu_cache_bytes(2) / 4 * 3;
    hu_dense *pieces;
    if (hu_dense_new(f->pieces, k, spmm_sum_scalar(p->b->scalar), HU_ROW_MAJOR, &pieces, err)) return err->status;
    spmm_tile to_c = spmm_tile_of(a, p, near);
    spmm_tile to_pieces = to_c;
    to_pieces.c = pieces->data;
    to_pieces.c_scalar = pieces->scalar;
    to_pieces.ldc = pieces->ld;
    to_pieces.finish = NULL;
    const int64_t tiles = (k + width - 1) / width;
#pragma omp parallel for schedule(dynamic, 1) if (f->n > 1)
    for (int64_t job = 0; job < tiles * f->n; job++) {
        spmm_tile c = to_c, s = to_pieces;
        c.from = s.from = job / f->n * width;
        c.width = s.width = k - c.from < width ? k - c.from : width;
        multiply_pack(f, a, job % f->n, &c, &s);
    }
    to_c.width = k;
    if (f->pieces) add_pieces(f, &to_c, pieces, err);
    hu_dense_free(pieces);
    return err->status;
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

static void stats(const void *block, const spmm_matrix *a, spmm_stats *ret_stats)
{
    const spmm_neighbor_form *f = block;
    *ret_stats = (spmm_stats){.packs = f->n, .split_rows = f->cut_rows, .pieces = f->pieces, .least_load = (double)a->nnz};
    ret_stats->bytes = f->n * (int64_t)(sizeof *f->pack + sizeof *f->first_piece) + f->cut_rows * 12;
    for (int64_t k = 0; k < f->n; k++) {
        const double load = (double)(f->pack[k].to - f->pack[k].from);
        ret_stats->covered += f->pack[k].to - f->pack[k].from;
        if (load < ret_stats->least_load) ret_stats->least_load = load;
        if (load > ret_stats->greatest_load) ret_stats->greatest_load = load;
    }
}

/* NPAK: the quadruples; content neighbor: np, alpha. */
static hu_status save(const void *block, const spmm_matrix *a, hu_scalar storage, hu_bundle_writer *w, void **ret_scratch, hu_error *err)
{
    const spmm_neighbor_form *f = block;
    (void)a;
    (void)storage;
    *ret_scratch = NULL;
    json_t *own = json_object();
    if (!own || json_object_set_new(hu_bundle_content(w), "neighbor", own) || json_object_set_new(own, "np", json_integer(f->np)) ||
        json_object_set_new(own, "alpha", json_integer(f->alpha)))
        return hu_fail(err, HU_SYSTEM, "out of memory");
    return hu_bundle_add_array(w, "NPAK", HU_BUNDLE_I8, f->pack, 4 * f->n, err);
}

/* Packs must follow each other without gap and cover all rows and entries; each must hold rows that begin and end where its entries do. */
static hu_status check_packs(const spmm_neighbor_form *f, const spmm_matrix *a, const hu_bundle *bundle, hu_error *err)
{
    int64_t row = 0, at = 0;
    for (int64_t k = 0; k < f->n; k++) {
        const spmm_neighbor_pack *p = &f->pack[k];
        const bool begins = p->row_from == row || (p->row_from == row - 1 && at < a->row_ptr[row]);
        if (!begins || p->row_from < 0 || p->row_to <= p->row_from || p->row_to > a->rows || p->from != at || p->to < p->from || p->to > a->nnz || p->from < a->row_ptr[p->row_from] ||
            p->from > a->row_ptr[p->row_from + 1] || p->to < a->row_ptr[p->row_to - 1] || p->to > a->row_ptr[p->row_to])
            return hu_bundle_fail(bundle, err, "NPAK: pack %lld does not follow the one before or does not fit the matrix", (long long)k + 1);
        row = p->row_to;
        at = p->to;
    }
    if (row != a->rows || at != a->nnz) return hu_bundle_fail(bundle, err, "NPAK: the packs do not cover the matrix");
    return HU_OK;
}

static hu_status load(const hu_bundle *bundle, const spmm_matrix *a, hu_scalar storage, void **ret_pack, hu_error *err)
{
    hu_json_place root = hu_bundle_root(bundle), own;
    const void *items;
    int64_t count;
    void *block;
    (void)storage;
    *ret_pack = NULL;
    if (hu_alloc_zero(1, sizeof(spmm_neighbor_form), "packs", &block, err)) return err->status;
    spmm_neighbor_form *f = block;
    if (hu_json_member(&root, "neighbor", &own, err) || hu_json_integer(&own, "np", 1, INT64_MAX, &f->np, err) || hu_json_integer(&own, "alpha", 0, INT64_MAX, &f->alpha, err) ||
        hu_bundle_get_array(bundle, "NPAK", HU_BUNDLE_I8, &items, &count, err))
        goto failed;
    if (count % 4) {
        hu_bundle_fail(bundle, err, "NPAK has %lld items, not a multiple of 4", (long long)count);
        goto failed;
    }
    int64_t room = 0;
    if (hu_grow((void **)&f->pack, &room, count / 4 + 1, sizeof *f->pack, "packs", err)) goto failed;
    f->n = count / 4;
    memcpy(f->pack, items, (size_t)count * sizeof(int64_t));
    if (check_packs(f, a, bundle, err) || number_pieces(f, a, err)) goto failed;
    *ret_pack = f;
    return HU_OK;
failed:
    free_pack(f);
    return err->status;
}

const spmm_strategy spmm_neighbor = {"neighbor", pack, multiply, stats, save, load, free_pack};
