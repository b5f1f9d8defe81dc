/* active.c: the active set.
 *
 * Sections: making and freeing, guessing, the point of a set, the search.
 */
#include "config.h"
#include "active.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static const double SHIFT = 1e-9, LARGEST_SHIFT = 1e-5; /* static shifts of both diagonals */
static const double GOOD = 1e-13;                        /* backward error of a solve from which on no larger shift is tried */
enum { REFINE = 30, CORRECTIONS = 6, BOLD_ROUNDS = 10 };

/* ---- making and freeing -------------------------------------------------------------------------------------------- */

hu_status active_new(const qp_problem *p, kkt *k, active **ret_active, hu_error *err)
{
    active *a;
    const int64_t all = p->n + p->m;
    *ret_active = NULL;
    if (hu_alloc_zero(1, sizeof *a, "an active set", (void **)&a, err)) return err->status;
    a->n = p->n;
    a->m = p->m;
    a->p = p;
    a->k = k;
    if (hu_alloc_zero(all, 1, "an active set", (void **)&a->side, err) || hu_alloc_zero(8 * all, sizeof *a->v, "an active set", (void **)&a->v, err)) {
        active_free(a);
        return err->status;
    }
    a->x = a->v;
    a->w = a->v + all;
    a->dx = a->v + 2 * all;
    a->ds = a->v + 3 * all;
    a->b = a->v + 4 * all;
    a->d = a->v + 5 * all;
    a->gradient = a->v + 6 * all;
    a->size = a->v + 7 * all;
    *ret_active = a;
    return HU_OK;
}

void active_free(active *a)
{
    if (!a) return;
    hu_free(a->side);
    hu_free(a->v);
    hu_free(a);
}

static double low(const active *a, int64_t k)
{
    return k < a->n ? a->p->lb[k] : a->p->l[k - a->n];
}

static double high(const active *a, int64_t k)
{
    return k < a->n ? a->p->ub[k] : a->p->u[k - a->n];
}

/* ---- guessing ------------------------------------------------------------------------------------------------------- */

void active_guess(active *a, const double *v, const double *w)
{
    for (int64_t k = 0; k < a->n + a->m; k++) {
        const double lo = low(a, k), hi = high(a, k), below = v[k] - lo, above = hi - v[k];
        a->side[k] = lo == hi ? SIDE_EQUAL : w[k] > 0 && w[k] > above ? SIDE_HIGH : w[k] < 0 && -w[k] > below ? SIDE_LOW : SIDE_NONE;
    }
    memcpy(a->v, v, (size_t)(a->n + a->m) * sizeof *v);
    memcpy(a->w, w, (size_t)(a->n + a->m) * sizeof *w);
}

/* ---- the point of a set --------------------------------------------------------------------------------------------- */

hu_status active_factor(active *a, hu_error *err)
{
    for (int64_t j = 0; j < a->n; j++) a->dx[j] = a->side[j] != SIDE_NONE ? INFINITY : 0;
    for (int64_t i = 0; i < a->m; i++) a->ds[i] = a->side[a->n + i] != SIDE_NONE ? 0 : INFINITY;
    return kkt_factor(a->k, a->dx, a->ds, a->shift, a->shift, err);
}

hu_status active_correct(active *a, const double *b, double *ret_d, hu_error *err)
{
    if (kkt_solve(a->k, b, ret_d, REFINE, &a->residual, err)) return err->status;
    while (!(a->residual <= GOOD) && a->shift < LARGEST_SHIFT) { /* a small shift makes small pivots: less accurate, but refined quicker */
        a->shift *= 100;
        if (active_factor(a, err) || kkt_solve(a->k, b, ret_d, REFINE, &a->residual, err)) return err->status;
    }
    return HU_OK;
}

static double target(const active *a, int64_t k)
{
    return a->side[k] == SIDE_HIGH ? high(a, k) : low(a, k);
}

/* gradient = P x + q + A' y, size = the sum of its parts' sizes. */
static void find_gradient(active *a)
{
    qp_multiply(a->p->P, a->x, a->gradient);
    qp_multiply_abs(a->p->P, a->x, a->size);
    for (int64_t j = 0; j < a->n; j++) {
        a->gradient[j] += a->p->q[j];
        a->size[j] += fabs(a->p->q[j]);
    }
    qp_add_transposed(a->p->A, a->w + a->n, a->gradient);
    qp_add_transposed_abs(a->p->A, a->w + a->n, a->size);
}

static void set_fixed(active *a)
{
    for (int64_t j = 0; j < a->n; j++)
        if (a->side[j] != SIDE_NONE) a->x[j] = target(a, j);
    for (int64_t i = 0; i < a->m; i++)
        if (a->side[a->n + i] == SIDE_NONE) a->w[a->n + i] = 0;
}

hu_status active_solve(active *a, hu_error *err)
{
    double last = INFINITY;
    a->shift = SHIFT;
    if (active_factor(a, err)) return err->status;
    set_fixed(a);
    for (int step = 0; step < CORRECTIONS; step++) {
        double worst = 0;
        find_gradient(a);
        qp_multiply(a->p->A, a->x, a->v + a->n);
        for (int64_t j = 0; j < a->n; j++) {
            a->b[j] = a->side[j] == SIDE_NONE ? -a->gradient[j] : 0;
            worst = fmax(worst, fabs(a->b[j]) / (1 + a->size[j]));
        }
        for (int64_t k = a->n; k < a->n + a->m; k++) {
            a->b[k] = a->side[k] == SIDE_NONE ? 0 : target(a, k) - a->v[k];
            worst = fmax(worst, fabs(a->b[k]) / (1 + fabs(a->v[k])));
        }
        if (step > 1 && !(worst < 0.3 * last)) break; /* rounding is all that is left */
        last = worst;
        if (worst == 0) break;
        if (active_correct(a, a->b, a->d, err)) return err->status;
        for (int64_t j = 0; j < a->n; j++) a->x[j] += a->d[j];
        for (int64_t i = 0; i < a->m; i++) a->w[a->n + i] += a->d[a->n + i];
    }
    find_gradient(a);
    qp_multiply(a->p->A, a->x, a->v + a->n);
    for (int64_t j = 0; j < a->n; j++) a->w[j] = a->side[j] == SIDE_NONE ? 0 : -a->gradient[j];
    return HU_OK;
}

/* ---- the search ------------------------------------------------------------------------------------------------------ */

/* How far quantity k is from agreeing with its side, relative; *ret_side: the side that it should have. */
static double disagreement(const active *a, int64_t k, double weight, int8_t *ret_side)
{
    const double lo = low(a, k), hi = high(a, k);
    *ret_side = a->side[k];
    if (a->side[k] == SIDE_EQUAL) return 0;
    if (a->side[k] != SIDE_NONE) {
        *ret_side = SIDE_NONE;
        return fmax(a->side[k] == SIDE_HIGH ? -a->w[k] : a->w[k], 0) / weight;
    }
    const double below = (lo - a->v[k]) / (1 + fabs(lo)), above = (a->v[k] - hi) / (1 + fabs(hi));
    *ret_side = above > below ? SIDE_HIGH : SIDE_LOW;
    const double most = fmax(isfinite(lo) ? below : 0, isfinite(hi) ? above : 0);
    return isnan(a->v[k]) ? INFINITY : fmax(most, 0);
}

static double weight_of_rows(const active *a)
{
    double weight = 1;
    for (int64_t j = 0; j < a->n; j++) weight = fmax(weight, a->size[j]);
    return weight;
}

/* Changes all sides that disagree, or the worst only; returns how many do. */
static int64_t change_sides(active *a, double tolerance, bool only_worst)
{
    const double weight = weight_of_rows(a);
    int64_t count = 0, worst = -1;
    double most = 0;
    int8_t to = 0;
    for (int64_t k = 0; k < a->n + a->m; k++) {
        int8_t side;
        const double off = disagreement(a, k, k < a->n ? 1 + a->size[k] : weight, &side);
        if (!(off > tolerance)) continue;
        count++;
        if (!only_worst) a->side[k] = side;
        else if (off > most) most = off, worst = k, to = side;
    }
    if (only_worst && worst >= 0) a->side[worst] = to;
    return count;
}

hu_status active_search(active *a, double tolerance, int most, bool *ret_found, hu_error *err)
{
    *ret_found = false;
    int64_t fewest = INT64_MAX;
    int patience = BOLD_ROUNDS;
    for (a->rounds = 1; a->rounds <= most; a->rounds++) {
        if (active_solve(a, err)) return err->status;
        const int64_t changes = change_sides(a, tolerance, patience <= 0);
        hu_say(2, "active set, round %d: %lld changes, residual %.1e", a->rounds, (long long)changes, a->residual);
        if (changes == 0) {
            *ret_found = true;
            return HU_OK;
        }
        if (changes < fewest) fewest = changes;
        else patience--;
    }
    return HU_OK;
}
