/* linear.c: sparse linear models.
 *
 * Sections: factors and terms, the design, the lasso, powers and logarithms, storing.
 */
#include "config.h"
#include "learn/linear.h"
#include "base/memory.h"
#include "base/random.h"
#include "dense/dense_kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- factors and terms ------------------------------------------------------------------------------------------ */

static double factor_value(const hu_factor *f, const double *x)
{
    double v = f->kind == HU_FACTOR_NONE ? 0.0 : x[f->feature];
    switch ((hu_factor_kind)f->kind) {
    case HU_FACTOR_NUMBER: return isnan(v) ? 0.0 : (v - f->a) * f->b;
    case HU_FACTOR_LEVEL: return v == f->a;
    case HU_FACTOR_POWER: return (f->a == 0.0 ? 1.0 : pow(v, f->a)) * (f->b == 0.0 ? 1.0 : pow(log2(v), f->b));
    case HU_FACTOR_POWER_OF_LOG: return (f->a == 0.0 ? 1.0 : exp(f->a * v)) * (f->b == 0.0 ? 1.0 : pow(v / M_LN2, f->b));
    default: return 1.0;
    }
}

static double term_value(const hu_term *t, const double *x)
{
    return factor_value(&t->factor[0], x) * factor_value(&t->factor[1], x);
}

double hu_linear_value(const hu_linear *linear, const double *x)
{
    double sum = linear->constant;
    for (int64_t k = 0; k < linear->terms; k++) sum += linear->term[k].weight * term_value(&linear->term[k], x);
    return sum;
}

void hu_linear_free(hu_linear *linear)
{
    if (!linear) return;
    hu_free(linear->term);
    hu_free(linear);
}

static hu_status new_linear(int64_t terms, hu_linear **ret_linear, hu_error *err)
{
    hu_linear *linear;
    if (hu_alloc_zero(1, sizeof *linear, "a linear model", (void **)&linear, err)) return err->status;
    if (hu_alloc_zero(terms, sizeof *linear->term, "a linear model", (void **)&linear->term, err)) {
        hu_free(linear);
        return err->status;
    }
    linear->terms = terms;
    *ret_linear = linear;
    return HU_OK;
}

/* ---- the design: terms as standardised columns -------------------------------------------------------------------- */

enum { MOST_LEVELS = 32, MOST_TERMS = 4096 }; /* levels of a feature, and terms, that the lasso looks at */

typedef struct {
    int64_t n, terms;
    hu_term *term;   /* the weight is 1 / the column's deviation */
    double *mean;    /* [terms] of the unscaled column */
    double *column;  /* [terms][n] */
} design;

static void free_design(design *d)
{
    hu_free(d->term);
    hu_free(d->mean);
    hu_free(d->column);
}

static const double *row_of(const hu_frame *frame, const int32_t *rows, int64_t i)
{
    return frame->x + (rows ? rows[i] : i) * frame->features;
}

/* Single factors: a number about its mean, in deviations; each level but the first. Returns their number, at most MOST_TERMS. */
static int64_t list_factors(const hu_frame *frame, const int32_t *rows, int64_t n, hu_factor *factor)
{
    int64_t count = 0;
    for (int32_t f = 0; f < frame->features && count < MOST_TERMS; f++) {
        int32_t levels = frame->feature[f].level_count;
        for (int32_t l = 1; l < levels && levels <= MOST_LEVELS && count < MOST_TERMS; l++) factor[count++] = (hu_factor){HU_FACTOR_LEVEL, f, l, 0.0};
        if (levels) continue;
        double sum = 0.0, squares = 0.0, known = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double v = row_of(frame, rows, i)[f];
            if (isnan(v)) continue;
            sum += v;
            known++;
        }
        double mean = known > 0 ? sum / known : 0.0;
        for (int64_t i = 0; i < n; i++) {
            double v = row_of(frame, rows, i)[f];
            if (!isnan(v)) squares += (v - mean) * (v - mean);
        }
        if (squares > 0 && isfinite(squares)) factor[count++] = (hu_factor){HU_FACTOR_NUMBER, f, mean, 1.0 / sqrt(squares / known)};
    }
    return count;
}

/* Makes the column of a term; false where it does not vary. */
static bool fill_column(design *d, const hu_frame *frame, const int32_t *rows, int64_t k)
{
    double *column = d->column + k * d->n, sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < d->n; i++) sum += column[i] = term_value(&d->term[k], row_of(frame, rows, i));
    d->mean[k] = sum / (double)d->n;
    for (int64_t i = 0; i < d->n; i++) {
        column[i] -= d->mean[k];
        squares += column[i] * column[i];
    }
    double deviation = sqrt(squares / (double)d->n);
    if (!(deviation > 1e-9) || !isfinite(deviation)) return false;
    d->term[k].weight = 1.0 / deviation;
    for (int64_t i = 0; i < d->n; i++) column[i] /= deviation;
    return true;
}

static hu_status make_design(const hu_frame *frame, const int32_t *rows, int64_t n, bool pairs, design *d, hu_error *err)
{
    hu_factor *factor;
    *d = (design){.n = n};
    if (hu_alloc(MOST_TERMS, sizeof *factor, "terms", (void **)&factor, err)) return err->status;
    int64_t count = list_factors(frame, rows, n, factor), most = pairs ? count + count * (count + 1) / 2 : count;
    if (most > MOST_TERMS) most = MOST_TERMS;
    if (hu_alloc(most, sizeof *d->term, "terms", (void **)&d->term, err) || hu_alloc(most, sizeof *d->mean, "terms", (void **)&d->mean, err) ||
        hu_alloc(most, (size_t)n * sizeof *d->column, "terms", (void **)&d->column, err))
        goto cleanup;
    static const hu_factor none = {HU_FACTOR_NONE, 0, 0.0, 0.0};
    for (int64_t a = 0; a < count && d->terms < most; a++) {
        d->term[d->terms] = (hu_term){1.0, {factor[a], none}};
        d->terms += fill_column(d, frame, rows, d->terms);
    }
    for (int64_t a = 0; a < count && pairs; a++)
        for (int64_t b = a; b < count && d->terms < most; b++) {
            if (factor[a].feature == factor[b].feature && (a != b || factor[a].kind != HU_FACTOR_NUMBER)) continue;
            d->term[d->terms] = (hu_term){1.0, {factor[a], factor[b]}};
            d->terms += fill_column(d, frame, rows, d->terms);
        }
cleanup:
    hu_free(factor);
    return err->status;
}

/* ---- the lasso: coordinate descent along a path of penalties (Friedman, Hastie, Tibshirani 2010) -------------------- */

enum { PATH = 60, FOLDS = 10, SWEEPS = 300 };

/* Columns have mean 0 and so the constant is the mean of the targets. Terms that are or were not zero are active: their products with each other are kept (in the
 * same article "covariance updates"), so that sweeps over them do not touch the rows. */
typedef struct {
    int64_t n, terms;
    const double *column; /* [terms][n] */
    double *residual;     /* [n] */
    double *beta;         /* [terms] */
    double *square;       /* [terms] mean square of the column */
    double constant;
    int32_t *active;      /* [active_count] */
    int32_t *place;       /* [terms] place among the active, or -1 */
    int64_t active_count, room;
    double *product;      /* [room][room] mean products of active columns */
    double *slope;        /* [room] mean product of an active column and the residual */
    double *before;       /* [room] */
} lasso;

/* sum x[i] y[i], in an order that depends on n alone. */
static double dot_of(const double *x, const double *y, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i += HU_SUM_BLOCK) sum += HU_PICK(hu_dot_block)(x + i, y + i, n - i < HU_SUM_BLOCK ? n - i : HU_SUM_BLOCK);
    return sum;
}

static double mean_product(const lasso *l, int64_t k, const double *x)
{
    return dot_of(l->column + k * l->n, x, l->n) / (double)l->n;
}

static hu_status grow_active(lasso *l, hu_error *err)
{
    int64_t room = l->room ? 2 * l->room : 64;
    double *product, *slope;
    if (l->active_count < l->room) return HU_OK;
    if (hu_alloc(room, (size_t)room * sizeof *product, "the lasso", (void **)&product, err)) return err->status;
    if (hu_alloc(2 * room, sizeof *slope, "the lasso", (void **)&slope, err)) {
        hu_free(product);
        return err->status;
    }
    for (int64_t a = 0; a < l->active_count; a++) memcpy(product + a * room, l->product + a * l->room, (size_t)l->active_count * sizeof *product);
    hu_free(l->product);
    hu_free(l->slope);
    l->product = product;
    l->slope = slope;
    l->before = slope + room;
    l->room = room;
    return HU_OK;
}

static hu_status make_active(lasso *l, int64_t k, hu_error *err)
{
    if (l->place[k] >= 0) return HU_OK;
    if (grow_active(l, err)) return err->status;
    int64_t mine = l->active_count++;
    l->active[mine] = (int32_t)k;
    l->place[k] = (int32_t)mine;
    for (int64_t a = 0; a <= mine; a++) l->product[mine * l->room + a] = l->product[a * l->room + mine] = mean_product(l, k, l->column + l->active[a] * l->n);
    return HU_OK;
}

static void change_residual(lasso *l, int64_t k, double change)
{
    const double *column = l->column + k * l->n;
    for (int64_t i = 0; i < l->n; i++) l->residual[i] -= change * column[i];
}

/* What a coordinate's minimum is, by the mean product of its column and the residual. */
static double minimum_of(const lasso *l, int64_t k, double slope, double penalty)
{
    double pull = slope + l->square[k] * l->beta[k];
    return fabs(pull) <= penalty ? 0.0 : (pull - copysign(penalty, pull)) / l->square[k];
}

/* A sweep over all terms, on the rows. *ret_most: the greatest move, in mean square. */
static hu_status sweep_all(lasso *l, double penalty, double *ret_most, hu_error *err)
{
    *ret_most = 0.0;
    for (int64_t k = 0; k < l->terms; k++) {
        if (!(l->square[k] > 0)) continue;
        double beta = minimum_of(l, k, mean_product(l, k, l->residual), penalty), change = beta - l->beta[k];
        if (change == 0.0) continue;
        if (make_active(l, k, err)) return err->status;
        change_residual(l, k, change);
        l->beta[k] = beta;
        *ret_most = fmax(*ret_most, change * change * l->square[k]);
    }
    return HU_OK;
}

/* Sweeps over the active terms until they rest. */
static void sweep_active(lasso *l, double penalty, double enough)
{
    int64_t n = l->active_count;
    for (int64_t a = 0; a < n; a++) {
        l->slope[a] = mean_product(l, l->active[a], l->residual);
        l->before[a] = l->beta[l->active[a]];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double most = 0.0;
        for (int64_t a = 0; a < n; a++) {
            int32_t k = l->active[a];
            double beta = minimum_of(l, k, l->slope[a], penalty), change = beta - l->beta[k];
            if (change == 0.0) continue;
            const double *product = l->product + a * l->room;
            for (int64_t b = 0; b < n; b++) l->slope[b] -= change * product[b];
            l->beta[k] = beta;
            most = fmax(most, change * change * l->square[k]);
        }
        if (most <= enough) break;
    }
    for (int64_t a = 0; a < n; a++) {
        double change = l->beta[l->active[a]] - l->before[a];
        if (change != 0.0) change_residual(l, l->active[a], change);
    }
}

static hu_status descend(lasso *l, double penalty, double enough, hu_error *err)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double most;
        if (sweep_all(l, penalty, &most, err) || most <= enough) break;
        sweep_active(l, penalty, enough);
    }
    return err->status;
}

static double penalty_at(double most, int step)
{
    return most * pow(1e-4, (double)step / (PATH - 1));
}

static hu_status open_lasso(lasso *l, int64_t n, int64_t terms, hu_error *err)
{
    *l = (lasso){.n = n, .terms = terms};
    if (hu_alloc_zero(n, sizeof *l->residual, "the lasso", (void **)&l->residual, err) ||
        hu_alloc_zero(terms, sizeof *l->beta, "the lasso", (void **)&l->beta, err) ||
        hu_alloc_zero(terms, sizeof *l->square, "the lasso", (void **)&l->square, err))
        return err->status;
    if (hu_alloc(terms, sizeof *l->place, "the lasso", (void **)&l->place, err)) return err->status;
    return hu_alloc_zero(terms, sizeof *l->active, "the lasso", (void **)&l->active, err);
}

static void close_lasso(lasso *l)
{
    hu_free(l->place);
    hu_free(l->product);
    hu_free(l->slope);
    hu_free(l->residual);
    hu_free(l->beta);
    hu_free(l->square);
    hu_free(l->active);
}

/* Sets the start: targets about their mean as residuals, all weights zero. The columns have mean 0. */
static void start_lasso(lasso *l, const double *column, int64_t n, const double *target)
{
    double sum = 0.0;
    l->n = n;
    l->column = column;
    l->active_count = 0;
    for (int64_t i = 0; i < n; i++) sum += target[i];
    l->constant = sum / (double)n;
    for (int64_t i = 0; i < n; i++) l->residual[i] = target[i] - l->constant;
    memset(l->beta, 0, (size_t)l->terms * sizeof *l->beta);
    for (int64_t k = 0; k < l->terms; k++) {
        l->square[k] = mean_product(l, k, column + k * n);
        l->place[k] = -1;
    }
}

static double variance_of(const double *y, int64_t n)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) sum += y[i];
    for (int64_t i = 0; i < n; i++) squares += (y[i] - sum / (double)n) * (y[i] - sum / (double)n);
    return squares / (double)n;
}

/* The rows of all folds but one, and the fit on them. */
typedef struct {
    lasso l;
    double *column; /* [terms][n], about their means there */
    double *mean;   /* [terms] */
    double *target; /* [n] */
    double enough;
} fold_fit;

static void close_fold(fold_fit *f)
{
    close_lasso(&f->l);
    hu_free(f->column);
    hu_free(f->mean);
    hu_free(f->target);
}

static hu_status open_fold(const design *d, const double *target, const int32_t *fold, int mine, fold_fit *f, hu_error *err)
{
    int64_t n = 0;
    for (int64_t i = 0; i < d->n; i++) n += fold[i] != mine;
    if (hu_alloc(d->terms, (size_t)n * sizeof *f->column, "folds", (void **)&f->column, err) || hu_alloc(d->terms, sizeof *f->mean, "folds", (void **)&f->mean, err) ||
        hu_alloc(n, sizeof *f->target, "folds", (void **)&f->target, err) || open_lasso(&f->l, n, d->terms, err))
        return err->status;
    for (int64_t i = 0, at = 0; i < d->n; i++)
        if (fold[i] != mine) f->target[at++] = target[i];
    for (int64_t k = 0; k < d->terms; k++) {
        double sum = 0.0, *to = f->column + k * n;
        for (int64_t i = 0, at = 0; i < d->n; i++)
            if (fold[i] != mine) sum += to[at++] = d->column[k * d->n + i];
        f->mean[k] = sum / (double)n;
        for (int64_t i = 0; i < n; i++) to[i] -= f->mean[k];
    }
    start_lasso(&f->l, f->column, n, f->target);
    f->enough = 1e-7 * variance_of(f->target, n);
    return HU_OK;
}

/* The squared errors on the rows that the fold's fit has not seen. */
static double error_of(const design *d, const double *target, const int32_t *fold, int mine, const fold_fit *f)
{
    const lasso *l = &f->l;
    double sum = 0.0;
    for (int64_t i = 0; i < d->n; i++) {
        if (fold[i] != mine) continue;
        double value = l->constant;
        for (int64_t a = 0; a < l->active_count; a++) value += l->beta[l->active[a]] * (d->column[l->active[a] * d->n + i] - f->mean[l->active[a]]);
        sum += (target[i] - value) * (target[i] - value);
    }
    return sum;
}

enum { PATIENCE = 10 }; /* steps behind the best one */

/* The step of the path that errs least in the folds. All folds walk the path together, and end where the error has not come down for some steps: what lies behind
 * costs most, and fits noise. */
static hu_status choose_step(const design *d, const double *target, uint64_t seed, double most, int *ret_step, hu_error *err)
{
    fold_fit fit[FOLDS] = {0};
    int32_t *fold;
    double least = INFINITY;
    int folds = d->n < FOLDS ? (int)d->n : FOLDS;
    if (hu_alloc(d->n, sizeof *fold, "folds", (void **)&fold, err)) return err->status;
    hu_random random = hu_random_stream(seed, 0x1a550);
    for (int64_t i = 0; i < d->n; i++) fold[i] = (int32_t)(i % FOLDS);
    hu_random_shuffle(&random, fold, d->n);
    for (int f = 0; f < folds; f++)
        if (open_fold(d, target, fold, f, &fit[f], err)) goto cleanup;
    *ret_step = 0;
    for (int step = 0; step < PATH && step <= *ret_step + PATIENCE; step++) {
        double error = 0.0;
        for (int f = 0; f < folds; f++) {
            if (descend(&fit[f].l, penalty_at(most, step), fit[f].enough, err)) goto cleanup;
            error += error_of(d, target, fold, f, &fit[f]);
        }
        if (!(error < least)) continue;
        least = error;
        *ret_step = step;
    }
cleanup:
    for (int f = 0; f < folds; f++) close_fold(&fit[f]);
    hu_free(fold);
    return err->status;
}

static hu_status take_terms(const design *d, const lasso *l, hu_linear **ret_linear, hu_error *err)
{
    int64_t count = 0;
    for (int64_t k = 0; k < d->terms; k++) count += l->beta[k] != 0.0;
    if (new_linear(count, ret_linear, err)) return err->status;
    hu_linear *linear = *ret_linear;
    linear->constant = l->constant;
    count = 0;
    for (int64_t k = 0; k < d->terms; k++) {
        if (l->beta[k] == 0.0) continue;
        linear->term[count] = d->term[k];
        linear->term[count].weight = l->beta[k] * d->term[k].weight;
        linear->constant -= linear->term[count++].weight * d->mean[k];
    }
    return HU_OK;
}

hu_status hu_linear_lasso(const hu_frame *frame, const double *y, const int32_t *rows, int64_t n, bool pairs, uint64_t seed, hu_linear **ret_linear, hu_error *err)
{
    design d = {0};
    lasso l = {0};
    double *target = NULL;
    if (n < 1) return hu_fail(err, HU_INPUT, "there is no row to learn from");
    if (hu_alloc(n, sizeof *target, "targets", (void **)&target, err) || make_design(frame, rows, n, pairs, &d, err) || open_lasso(&l, n, d.terms, err)) goto cleanup;
    for (int64_t i = 0; i < n; i++) target[i] = y[rows ? rows[i] : i];
    start_lasso(&l, d.column, n, target);
    double most = 0.0, enough = 1e-8 * variance_of(target, n);
    for (int64_t k = 0; k < d.terms; k++) most = fmax(most, fabs(mean_product(&l, k, l.residual)));
    int step = 0;
    if (most > 0 && n >= 4) {
        if (choose_step(&d, target, seed, most, &step, err)) goto cleanup;
        for (int s = 0; s <= step; s++)
            if (descend(&l, penalty_at(most, s), enough, err)) goto cleanup;
    }
    take_terms(&d, &l, ret_linear, err);
cleanup:
    close_lasso(&l);
    free_design(&d);
    hu_free(target);
    return err->status;
}

/* ---- powers and logarithms ------------------------------------------------------------------------------------------- */

enum { MOST_CHOSEN = 3 };

/* Extra-P's default exponents, and the negative ones that strong scaling needs. */
static const double exponents[] = {0, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.75, 0.8, 1, 1.25, 4.0 / 3, 1.5, 5.0 / 3, 1.75, 2, 2.25, 2.5, 3,
                                   -0.25, -1.0 / 3, -0.5, -2.0 / 3, -0.75, -1, -1.5, -2};
enum { EXPONENTS = sizeof exponents / sizeof *exponents, LOGS = 3 };

static hu_status check_scale(const hu_frame *frame, const int32_t *rows, int64_t n, int32_t f, bool *ret_logs, hu_error *err)
{
    *ret_logs = true;
    for (int64_t i = 0; i < n; i++) {
        double x = row_of(frame, rows, i)[f], v = frame->feature[f].is_log ? exp(x) : x;
        if (frame->feature[f].level_count || !(v > 0)) return hu_fail(err, HU_INPUT, "column %s: a scale must be a positive number in every row", frame->feature[f].name);
        if (v < 1.0) *ret_logs = false;
    }
    return HU_OK;
}

/* All terms of one feature, and the products of the terms of two. Returns their number. */
static hu_status list_powers(const hu_frame *frame, const int32_t *rows, int64_t n, const int32_t *scale, int32_t scales, hu_term **ret_term, int64_t *ret_count, hu_error *err)
{
    static const hu_factor none = {HU_FACTOR_NONE, 0, 0.0, 0.0};
    int64_t room = 0, singles = 0;
    *ret_count = 0;
    for (int32_t s = 0; s < scales; s++) {
        bool logs;
        if (check_scale(frame, rows, n, scale[s], &logs, err)) return err->status;
        for (int e = 0; e < EXPONENTS; e++)
            for (int g = 0; g < (logs ? LOGS : 1); g++) {
                if (exponents[e] == 0.0 && g == 0) continue;
                if (hu_grow((void **)ret_term, &room, *ret_count + 1, sizeof **ret_term, "terms", err)) return err->status;
                (*ret_term)[(*ret_count)++] = (hu_term){1.0, {{frame->feature[scale[s]].is_log ? HU_FACTOR_POWER_OF_LOG : HU_FACTOR_POWER, scale[s], exponents[e], g}, none}};
            }
    }
    singles = *ret_count;
    for (int64_t a = 0; a < singles; a++)
        for (int64_t b = a + 1; b < singles; b++) {
            hu_factor p = (*ret_term)[a].factor[0], q = (*ret_term)[b].factor[0];
            if (p.feature == q.feature) continue;
            if (hu_grow((void **)ret_term, &room, *ret_count + 1, sizeof **ret_term, "terms", err)) return err->status;
            (*ret_term)[(*ret_count)++] = (hu_term){1.0, {p, q}};
        }
    return HU_OK;
}

/* Solves the k x k normal equations a w = b in place; false where they are (nearly) singular. */
static bool solve_normal(int k, double a[][MOST_CHOSEN + 1], double *b)
{
    for (int j = 0; j < k; j++) {
        double diagonal = a[j][j];
        for (int m = 0; m < j; m++) a[j][j] -= a[j][m] * a[j][m];
        if (!(a[j][j] > 1e-12 * diagonal) || !isfinite(a[j][j])) return false;
        a[j][j] = sqrt(a[j][j]);
        for (int i = j + 1; i < k; i++) {
            for (int m = 0; m < j; m++) a[i][j] -= a[i][m] * a[j][m];
            a[i][j] /= a[j][j];
        }
    }
    for (int j = 0; j < k; j++) {
        for (int m = 0; m < j; m++) b[j] -= a[j][m] * b[m];
        b[j] /= a[j][j];
    }
    for (int j = k - 1; j >= 0; j--) {
        for (int m = j + 1; m < k; m++) b[j] -= a[m][j] * b[m];
        b[j] /= a[j][j];
    }
    return true;
}

/* Relative least squares on the columns (each divided by the target, scaled to length 1); the mean squared error of each row by the others' fit. Columns that
 * nearly repeat each other give infinity, and so do weights below 0: such a sum would leave the positive numbers somewhere beyond the table. */
static double leave_one_out(const double *const *column, int k, int64_t n, double *weight)
{
    double a[MOST_CHOSEN + 1][MOST_CHOSEN + 1], sum = 0.0;
    if (n <= k) return INFINITY;
    for (int i = 0; i < k; i++) {
        weight[i] = 0.0;
        for (int64_t r = 0; r < n; r++) weight[i] += column[i][r];
        for (int j = 0; j <= i; j++) {
            a[i][j] = 0.0;
            for (int64_t r = 0; r < n; r++) a[i][j] += column[i][r] * column[j][r];
        }
    }
    if (!solve_normal(k, a, weight)) return INFINITY;
    for (int i = 0; i < k; i++)
        if (!(weight[i] >= 0)) return INFINITY;
    for (int64_t r = 0; r < n; r++) {
        double h[MOST_CHOSEN + 1], leverage = 0.0, value = 0.0;
        for (int j = 0; j < k; j++) {
            h[j] = column[j][r];
            for (int m = 0; m < j; m++) h[j] -= a[j][m] * h[m];
            h[j] /= a[j][j];
            leverage += h[j] * h[j];
            value += weight[j] * column[j][r];
        }
        double e = (1.0 - value) / fmax(1.0 - leverage, 1e-9);
        sum += e * e;
    }
    return sum / (double)n;
}

hu_status hu_linear_pmnf(const hu_frame *frame, const double *y, const int32_t *rows, int64_t n, const int32_t *scale, int32_t scales, hu_linear **ret_linear, hu_error *err)
{
    hu_term *term = NULL;
    int64_t count = 0, chosen[MOST_CHOSEN + 1];
    double *column = NULL, *length = NULL, best[MOST_CHOSEN + 1], error;
    const double *used[MOST_CHOSEN + 1];
    int k = 1;
    for (int64_t i = 0; i < n; i++)
        if (!(y[rows ? rows[i] : i] > 0)) return hu_fail(err, HU_INPUT, "powers of a scale need targets above 0");
    if (list_powers(frame, rows, n, scale, scales, &term, &count, err)) goto cleanup;
    if (hu_alloc(count + 1, (size_t)n * sizeof *column, "terms", (void **)&column, err) || hu_alloc(count + 1, sizeof *length, "terms", (void **)&length, err)) goto cleanup;
    for (int64_t t = 0; t <= count; t++) { /* the last is the constant */
        double squares = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double v = (t < count ? term_value(&term[t], row_of(frame, rows, i)) : 1.0) / y[rows ? rows[i] : i];
            column[t * n + i] = v;
            squares += v * v;
        }
        length[t] = sqrt(squares);
        for (int64_t i = 0; i < n && length[t] > 0; i++) column[t * n + i] /= length[t];
    }
    chosen[0] = count;
    used[0] = column + count * n;
    error = leave_one_out(used, 1, n, best);
    while (k <= MOST_CHOSEN && error > 1e-20) {
        double least = INFINITY, weight[MOST_CHOSEN + 1];
        int64_t which = -1;
        for (int64_t t = 0; t < count; t++) {
            used[k] = column + t * n;
            double e = leave_one_out(used, k + 1, n, weight);
            if (!(e < least)) continue;
            least = e;
            which = t;
        }
        if (which < 0 || !(least < 0.9 * error)) break;
        chosen[k] = which;
        used[k] = column + which * n;
        error = leave_one_out(used, k + 1, n, best);
        k++;
    }
    used[0] = column + count * n;
    error = leave_one_out(used, k, n, best);
    if (new_linear(k - 1, ret_linear, err)) goto cleanup;
    (*ret_linear)->constant = isfinite(error) ? best[0] / length[count] : 0.0;
    for (int j = 1; j < k; j++) {
        (*ret_linear)->term[j - 1] = term[chosen[j]];
        (*ret_linear)->term[j - 1].weight = best[j] / length[chosen[j]];
    }
cleanup:
    free(term);
    hu_free(column);
    hu_free(length);
    return err->status;
}

/* ---- storing: one record of constants, one of terms ---------------------------------------------------------------------- */

_Static_assert(sizeof(hu_factor) == 24 && sizeof(hu_term) == 56, "a term is a record of 56 bytes");

hu_status hu_linear_store(const hu_linear *linear, const char *prefix, hu_bundle_writer *w, hu_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s/constant", prefix);
    if (hu_bundle_add_array(w, name, HU_BUNDLE_F8, &linear->constant, 1, err)) return err->status;
    snprintf(name, sizeof name, "%s/terms", prefix);
    return hu_bundle_add(w, name, linear->term, linear->terms * (int64_t)sizeof *linear->term, err);
}

static bool is_factor(const hu_factor *f, int32_t features, const int32_t *levels)
{
    if (f->kind < 0 || f->kind >= HU_FACTOR_KINDS || f->feature < 0 || f->feature >= features || !isfinite(f->a) || !isfinite(f->b)) return false;
    return f->kind == HU_FACTOR_NONE || (f->kind == HU_FACTOR_LEVEL) == (levels[f->feature] > 0);
}

hu_status hu_linear_load(const hu_bundle *bundle, const char *prefix, int32_t features, const int32_t *levels, hu_linear **ret_linear, hu_error *err)
{
    char name[64];
    const void *constant, *terms;
    int64_t size;
    snprintf(name, sizeof name, "%s/constant", prefix);
    if (hu_bundle_get_exactly(bundle, name, HU_BUNDLE_F8, 1, &constant, err)) return err->status;
    snprintf(name, sizeof name, "%s/terms", prefix);
    if (hu_bundle_get(bundle, name, &terms, &size, err)) return err->status;
    if (size % (int64_t)sizeof(hu_term)) return hu_bundle_fail(bundle, err, "%s: %lld bytes are no records of %zu", name, (long long)size, sizeof(hu_term));
    if (new_linear(size / (int64_t)sizeof(hu_term), ret_linear, err)) return err->status;
    hu_linear *linear = *ret_linear;
    memcpy(&linear->constant, constant, sizeof linear->constant);
    memcpy(linear->term, terms, (size_t)size);
    for (int64_t k = 0; k < linear->terms; k++) {
        const hu_term *t = &linear->term[k];
        if (isfinite(linear->constant) && isfinite(t->weight) && is_factor(&t->factor[0], features, levels) && is_factor(&t->factor[1], features, levels)) continue;
        hu_linear_free(linear);
        *ret_linear = NULL;
        return hu_bundle_fail(bundle, err, "%s: term %lld is damaged", name, (long long)k);
    }
    return HU_OK;
}
