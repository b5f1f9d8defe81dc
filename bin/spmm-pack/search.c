/* search.c: the search for the best kernel for one weight (search.h).
 *
 * Sections: candidates, features and ranks, proxies, survivors, the search.
 */
#include "config.h"
#include "search.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256, REGISTERS = 32, STRAIGHT = 5000 /* entries from which loops win over straight-line code */, PROXIES = 8, SAMPLE_ENTRIES = 60000 };

const char *const spmm_feature_names[SPMM_FEATURES] = {"loads", "writes", "registers", "cache", "code", "trips"};

/* ---- candidates ------------------------------------------------------------------------------------------------- */

static void add(spmm_search *s, spmm_form form, spmm_panel_shape shape, int nv)
{
    if (s->n == MOST) return;
    s->list[s->n++] = (spmm_candidate){.choice = {form, shape, nv}, .proxy_seconds = NAN, .seconds = NAN, .compile_seconds = NAN};
}

static void add_all(spmm_search *s, const spmm_matrix *a, int64_t k)
{
    static const int32_t rows[] = {1, 2, 4, 8};
    const int vectors = (int)(k < 8 * SPMM_EMIT_LANES ? (k + SPMM_EMIT_LANES - 1) / SPMM_EMIT_LANES : 8);
    for (int nv = 1; nv <= 8; nv *= 2) {
        if (nv > 1 && nv >= 2 * vectors) break;
        for (int r = 0; r < 4; r++) {
            if (rows[r] * nv > REGISTERS / 2) continue;
            for (int32_t kb = 64; kb == 64 || (kb <= 2048 && kb < 2 * a->cols); kb *= 2)
                for (int order = SPMM_ROWS_NONE; order <= SPMM_ROWS_DEGREE; order++)
                    for (int masks = SPMM_MASKS_NONE; masks <= SPMM_MASKS_FULL; masks++) {
                        if (rows[r] == 1 && (masks || order)) continue;
                        add(s, SPMM_FORM_LOOP, (spmm_panel_shape){rows[r], kb, (spmm_masks)masks, (spmm_panel_order)order}, nv);
                    }
            if (a->nnz <= STRAIGHT) add(s, SPMM_FORM_STRAIGHT, (spmm_panel_shape){rows[r], 64, SPMM_MASKS_NONE, SPMM_ROWS_NONE}, nv);
        }
    }
    if (a->rows * a->cols <= 4 * a->nnz && a->nnz) add(s, SPMM_FORM_DENSE, (spmm_panel_shape){4, 64, SPMM_MASKS_NONE, SPMM_ROWS_NONE}, vectors >= 4 ? 4 : vectors >= 2 ? 2 : 1);
}

/* ---- features and ranks ----------------------------------------------------------------------------------------- */

/* The share of entries whose column all R rows of a panel have, as rows stand. */
static double repeated(const spmm_matrix *a, int rows)
{
    int64_t shared = 0;
    if (rows == 1) return 0;
    for (int64_t i = 0; i + rows <= a->rows; i += rows) {
        int64_t at[8];
        for (int r = 0; r < rows; r++) at[r] = a->row_ptr[i + r];
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            bool all = true;
            for (int r = 1; r < rows; r++) {
                while (at[r] < a->row_ptr[i + r + 1] && a->col[at[r]] < a->col[p]) at[r]++;
                all &= at[r] < a->row_ptr[i + r + 1] && a->col[at[r]] == a->col[p];
            }
            if (all) shared += rows;
        }
    }
    return a->nnz ? (double)shared / (double)a->nnz : 0;
}

static void features(const spmm_matrix *a, const double share[4], spmm_candidate *c)
{
    const spmm_kernel_choice *k = &c->choice;
    const double r = k->shape.rows, nv = k->nv, nnz = a->nnz ? (double)a->nnz : 1, cells = (double)a->rows * (double)a->cols;
    const double blocks = k->form == SPMM_FORM_LOOP ? ceil((double)a->cols / k->shape.k_block) : 1, per_row = nnz / (double)(a->rows ? a->rows : 1) / blocks;
    const double l1 = hu_cpu_cache_bytes(1) ? (double)hu_cpu_cache_bytes(1) : 32768, dense = k->form == SPMM_FORM_DENSE ? cells / nnz : 1;
    const double all = share[__builtin_ctz((unsigned)k->shape.rows)], shared = k->shape.masks == SPMM_MASKS_FULL ? all : 0;
    const double tile = nv * 4 * SPMM_EMIT_LANES * (blocks > 1 ? k->shape.k_block : (double)a->cols);
    c->feature[0] = dense * ((1 - shared) + shared / r + 1 / nv);
    c->feature[1] = 2 * blocks * (double)a->rows / nnz;
    c->feature[2] = r * nv < 8 ? 8 / (r * nv) : r * nv + nv + 1 > REGISTERS ? 2 : 1;
    c->feature[3] = tile > l1 * .75 ? tile / l1 : .75;
    c->feature[4] = k->form == SPMM_FORM_STRAIGHT ? nnz * (nv + 1) * 8 / 32768 : 1;
    c->feature[5] = (k->form == SPMM_FORM_STRAIGHT ? 0 : (k->shape.order == SPMM_ROWS_DEGREE ? 1.5 : 1 + log2(r)) / r + (k->shape.masks ? 1 / r : 0)) / (per_row > .5 ? per_row : .5) / nv;
}

/* Ranks of a feature; equal values share the mean of their ranks. */
static void add_ranks(spmm_search *s, int feature)
{
    for (int i = 0; i < s->n; i++) {
        int less = 0, equal = 0;
        for (int j = 0; j < s->n; j++) {
            less += s->list[j].feature[feature] < s->list[i].feature[feature];
            equal += s->list[j].feature[feature] == s->list[i].feature[feature];
        }
        s->list[i].rank_sum += less + (equal - 1) / 2.;
    }
}

static int by_rank(const void *x, const void *y)
{
    const spmm_candidate *a = x, *b = y;
    return a->rank_sum < b->rank_sum ? -1 : a->rank_sum > b->rank_sum;
}

/* ---- proxies ---------------------------------------------------------------------------------------------------- */

/* Rows spread over the whole weight by lot, in order, whole groups of 8, so that panels stay what they are. */
static hu_status sample_rows(const spmm_matrix *a, uint64_t seed, spmm_matrix **ret_sample, hu_error *err)
{
    enum { GROUP = 8 };
    const int64_t groups = (a->rows + GROUP - 1) / GROUP;
    const double share = a->nnz > SAMPLE_ENTRIES ? SAMPLE_ENTRIES / (double)a->nnz : 1;
    int64_t rows = 0, nnz = 0;
    spmm_matrix *s = NULL;
    for (int pass = 0; pass < 2; pass++) {
        hu_random r = hu_random_stream(seed, 3);
        if (pass && spmm_matrix_new(rows, a->cols, nnz, HU_F32, false, &s, err)) return err->status;
        rows = nnz = 0;
        if (pass) s->row_ptr[0] = 0;
        for (int64_t g = 0; g < groups; g++) {
            if (hu_random_uniform(&r) >= share && g) continue;
            for (int64_t i = g * GROUP; i < a->rows && i < (g + 1) * GROUP; i++) {
                const int64_t n = a->row_ptr[i + 1] - a->row_ptr[i];
                if (pass) {
                    memcpy(s->col + nnz, a->col + a->row_ptr[i], (size_t)n * sizeof *s->col);
                    memcpy((float *)s->val + nnz, (const float *)a->val + a->row_ptr[i], (size_t)n * sizeof(float));
                    s->row_ptr[rows + 1] = nnz + n;
                }
                rows++;
                nnz += n;
            }
        }
    }
    *ret_sample = s;
    return HU_OK;
}

typedef struct {
    const spmm_plan *plan;
    hu_dense b, c;
    int64_t k;
    int nv;
} proxy;

/* The product in pieces as wide as the kernel's tiles. */
static void multiply_pieces(void *data)
{
    proxy *p = data;
    hu_error err = HU_ERROR_NONE;
    const int64_t width = (int64_t)p->nv * SPMM_EMIT_LANES;
    for (int64_t from = 0; from < p->k; from += width) {
        hu_dense b = p->b, c = p->c;
        b.cols = c.cols = p->k - from < width ? p->k - from : width;
        b.data = (float *)p->b.data + from;
        c.data = (float *)p->c.data + from;
        const spmm_product product = {&b, &c, SPMM_PLAIN};
        spmm_multiply(p->plan, SPMM_SUM, &product, NULL, &err);
    }
}

static hu_status run_proxy(spmm_matrix *sample, double scale, spmm_candidate *c, const hu_dense *b, const hu_dense *out, hu_error *err)
{
    spmm_options o = SPMM_OPTIONS;
    proxy p = {NULL, *b, *out, b->cols, c->choice.nv};
    spmm_plan *plan;
    o.panel_rows = c->choice.shape.rows;
    o.k_block = c->choice.shape.k_block;
    o.masks = (int64_t)c->choice.shape.masks + 1;
    o.panel_order = (int64_t)c->choice.shape.order + 1;
    p.c.rows = sample->rows;
    if (spmm_plan_new(sample, &spmm_panel, &o, HU_F32, &plan, err)) return err->status;
    p.plan = plan;
    c->proxy_seconds = spmm_measure(multiply_pieces, &p) * scale;
    spmm_plan_free(plan);
    return HU_OK;
}

/* Those of the best ranks that loops stand for; straight-line and dense candidates have no proxy and are left to the compiler. */
static hu_status run_proxies(spmm_search *s, const spmm_matrix *a, const spmm_search_options *o, const hu_dense *b, const hu_dense *c, hu_error *err)
{
    spmm_matrix *sample = NULL;
    const double start = hu_clock_wall();
    if (sample_rows(a, o->seed, &sample, err)) return err->status;
    const double scale = sample->nnz ? (double)a->nnz / (double)sample->nnz : 1;
    for (int i = 0; i < s->n && s->proxies < PROXIES && !err->status; i++)
        if (s->list[i].choice.form == SPMM_FORM_LOOP && run_proxy(sample, scale, &s->list[i], b, c, err) == HU_OK) s->proxies++;
    spmm_matrix_free(sample);
    s->proxy_seconds = hu_clock_wall() - start;
    return err->status;
}

/* ---- survivors -------------------------------------------------------------------------------------------------- */

static double order_key(const spmm_candidate *c)
{
    return !isnan(c->seconds) ? c->seconds : !isnan(c->proxy_seconds) ? 1e3 + c->proxy_seconds : 1e6 + c->rank_sum;
}

/* The next to be compiled: of each form with no proxy the best rank, else the least proxy, else the best rank. -1: none is left. */
static int next_survivor(const spmm_search *s)
{
    int best = -1;
    bool special = false;
    for (int i = 0; i < s->n; i++) {
        const spmm_candidate *c = &s->list[i];
        bool first = c->choice.form != SPMM_FORM_LOOP && s->proxies > 0;
        for (int j = 0; j < s->n && first; j++) first = s->list[j].choice.form != c->choice.form || isnan(s->list[j].compile_seconds);
        if (!isnan(c->compile_seconds)) continue;
        if (best < 0 || (first && !special) || (first == special && order_key(c) < order_key(&s->list[best]))) {
            best = i;
            special = first;
        }
    }
    return best;
}

static hu_status compile_survivors(spmm_search *s, const spmm_matrix *a, int count, const hu_dense *b, hu_dense *c, hu_error *err)
{
    for (int i; s->compiled < count && (i = next_survivor(s)) >= 0; s->compiled++) {
        const double start = hu_clock_wall();
        if (spmm_compile_measure(a, &s->list[i].choice, b, c, &s->list[i].seconds, &s->list[i].compile_seconds, err)) return err->status;
        s->compile_seconds += s->list[i].compile_seconds;
        s->measure_seconds += hu_clock_wall() - start - s->list[i].compile_seconds;
    }
    return HU_OK;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

static hu_status operands(const spmm_matrix *a, int64_t k, uint64_t seed, hu_dense **ret_b, hu_dense **ret_c, hu_error *err)
{
    hu_random r = hu_random_stream(seed, 4);
    if (hu_dense_new(a->cols, k, HU_F32, HU_ROW_MAJOR, ret_b, err) || hu_dense_new(a->rows, k, HU_F32, HU_ROW_MAJOR, ret_c, err)) return err->status;
    for (int64_t i = 0; i < a->cols * k; i++) ((float *)(*ret_b)->data)[i] = (float)(hu_random_uniform(&r) * 2 - 1);
    return HU_OK;
}

hu_status spmm_search_run(const spmm_matrix *a, int64_t k, const spmm_search_options *o, spmm_search *s, hu_error *err)
{
    hu_dense *b = NULL, *c = NULL;
    double share[4];
    const double start = hu_clock_wall();
    const int threads = hu_threads();
    *s = (spmm_search){0};
    if (hu_alloc(MOST, sizeof *s->list, "candidates", (void **)&s->list, err) || operands(a, k, o->seed, &b, &c, err)) goto cleanup;
    add_all(s, a, k);
    for (int r = 0; r < 4; r++) share[r] = repeated(a, 1 << r);
    for (int i = 0; i < s->n; i++) features(a, share, &s->list[i]);
    for (int f = 0; f < SPMM_FEATURES; f++) add_ranks(s, f);
    qsort(s->list, (size_t)s->n, sizeof *s->list, by_rank);
    s->rank_seconds = hu_clock_wall() - start;
    hu_threads_set(1); /* a generated kernel has one */
    if (o->kind == SPMM_SEARCH_PROXY && run_proxies(s, a, o, b, c, err)) goto cleanup;
    if (o->kind == SPMM_SEARCH_EXHAUSTIVE || o->compile) compile_survivors(s, a, o->kind == SPMM_SEARCH_EXHAUSTIVE ? s->n : o->keep, b, c, err);
    for (int i = 1; i < s->n; i++)
        if (order_key(&s->list[i]) < order_key(&s->list[s->best])) s->best = i;
cleanup:
    hu_threads_set(threads);
    hu_dense_free(b);
    hu_dense_free(c);
    if (err->status) spmm_search_free(s);
    return err->status;
}

void spmm_search_free(spmm_search *s)
{
    hu_free(s->list);
    s->list = NULL;
}
