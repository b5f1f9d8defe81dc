/* score.c: how much a configuration is worth measuring. */
#include "config.h"
#include "score.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const score_names[SCORE_KINDS] = {"pwu", "pbu", "ei", "cv", "maxu", "best", "rand"};

bool score_needs_positive(score_kind kind)
{
    return kind == SCORE_PWU || kind == SCORE_CV;
}

/* E[max(least - Y, 0)] for Y normal (Jones, Schonlau, Welch 1998, equation 15). */
static double expected_improvement(double mean, double sigma, double least)
{
    double gap = least - mean;
    if (!(sigma > 0)) return gap > 0 ? gap : 0.0;
    double z = gap / sigma, below = 0.5 * erfc(-z * M_SQRT1_2), density = exp(-0.5 * z * z) * (M_SQRT1_2 * M_2_SQRTPI * 0.5);
    return gap * below + sigma * density;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The greatest mean that belongs to the share of least ones; one row at least. */
static hu_status bound_of_share(const double *mean, int64_t n, double share, double *ret_bound, hu_error *err)
{
    double *sorted;
    int64_t count = (int64_t)ceil(share * (double)n);
    if (hu_alloc(n, sizeof *sorted, "predictions", (void **)&sorted, err)) return err->status;
    memcpy(sorted, mean, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    *ret_bound = sorted[count < 1 ? 0 : count > n ? n - 1 : count - 1];
    hu_free(sorted);
    return HU_OK;
}

hu_status score_rows(const score_options *o, const double *mean, const double *sigma, int64_t n, double least, double *score, hu_error *err)
{
    double bound = INFINITY;
    if (n > 0 && o->kind == SCORE_PBU && bound_of_share(mean, n, o->share, &bound, err)) return err->status;
    for (int64_t i = 0; i < n; i++) {
        switch (o->kind) {
        case SCORE_PWU: score[i] = sigma[i] / pow(mean[i], 1.0 - o->alpha); break;
        case SCORE_PBU: score[i] = mean[i] <= bound ? sigma[i] : -INFINITY; break;
        case SCORE_EI: score[i] = expected_improvement(mean[i], sigma[i], least); break;
        case SCORE_CV: score[i] = sigma[i] / mean[i]; break;
        case SCORE_MAXU: score[i] = sigma[i]; break;
        case SCORE_BEST: score[i] = -mean[i]; break;
        default: score[i] = 0.0;
        }
    }
    return HU_OK;
}

static bool is_before(const double *score, const uint64_t *tie, int64_t a, int64_t b)
{
    if (score[a] != score[b]) return score[a] > score[b];
    return tie[a] != tie[b] ? tie[a] < tie[b] : a < b;
}

/* Puts row i into the list of `count` best ones, at most `want` long. Returns the new length. */
static int64_t insert(const double *score, const uint64_t *tie, int64_t i, int64_t count, int64_t want, int64_t *row)
{
    if (count == want && !is_before(score, tie, i, row[count - 1])) return count;
    int64_t at = count < want ? count++ : count - 1;
    for (; at > 0 && is_before(score, tie, i, row[at - 1]); at--) row[at] = row[at - 1];
    row[at] = i;
    return count;
}

/* The place of a row in the list that has the same score, or -1. */
static int64_t find_equal(const double *score, int64_t i, const int64_t *row, int64_t count)
{
    int64_t low = 0, high = count - 1;
    while (low <= high) {
        int64_t middle = (low + high) / 2;
        if (score[row[middle]] == score[i]) return middle;
        if (score[row[middle]] > score[i]) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

int64_t score_pick(const double *score, const uint64_t *tie, const bool *taken, int64_t n, int64_t want, int64_t *row)
{
    int64_t count = 0, distinct;
    for (int64_t i = 0; i < n && want > 0; i++) {
        if (taken[i]) continue;
        int64_t equal = find_equal(score, i, row, count);
        if (equal < 0) count = insert(score, tie, i, count, want, row);
        else if (tie[i] < tie[row[equal]]) row[equal] = i;
    }
    distinct = count;
    for (int64_t i = 0; i < n && distinct < want; i++) { /* too few different ones: the equal ones follow */
        bool listed = taken[i];
        for (int64_t k = 0; k < distinct && !listed; k++) listed = row[k] == i;
        if (!listed) count = distinct + insert(score, tie, i, count - distinct, want - distinct, row + distinct);
    }
    return count;
}
