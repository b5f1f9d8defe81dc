/* score.h: how much a configuration is worth measuring, from the mean and the standard deviation of the trees' predictions of its cost.
 *
 * The cost is what is to become small, usually a time. With mu and sigma over the trees:
 *     pwu   sigma / mu^(1 - alpha)   performance weighted uncertainty; alpha is the share of the space that counts as fast: 1 is maxu, 0 is cv
 *     pbu   sigma, among the share of least mu only: performance before uncertainty
 *     ei    the expected improvement on the least cost measured, for a normal distribution
 *     cv    sigma / mu
 *     maxu  sigma
 *     best  -mu
 *     rand  the same for all
 * pwu and pbu follow Zhang, Sun, Zhou, Sun: "An Active Learning Method for Empirical Modeling in Performance Tuning" (IPDPS 2020); the formulas are ours.
 */
#ifndef PP_SCORE_H
#define PP_SCORE_H

#include "base/error.h"

typedef enum { SCORE_PWU, SCORE_PBU, SCORE_EI, SCORE_CV, SCORE_MAXU, SCORE_BEST, SCORE_RAND, SCORE_KINDS } score_kind;

extern const char *const score_names[SCORE_KINDS];

typedef struct {
    score_kind kind;
    double alpha; /* of pwu, 0 .. 1 */
    double share; /* of pbu, 0 .. 1 */
} score_options;

#define SCORE_DEFAULTS {SCORE_PWU, 0.05, 0.1}

/* Whether the score divides by mu, so that costs must be above 0. */
bool score_needs_positive(score_kind kind);

/* score[n], the greater the better, of mean[n] and sigma[n]; least is the least cost measured. */
hu_status score_rows(const score_options *options, const double *mean, const double *sigma, int64_t n, double least, double *score, hu_error *err);

/* The `want` rows of greatest score that are not taken[], the best first. Rows of one score lie in the same leaves of every tree and would tell the same: one of them is picked, that of the least
 * tie[], and the others only where too few different ones are left. Returns their number, at most want. */
int64_t score_pick(const double *score, const uint64_t *tie, const bool *taken, int64_t n, int64_t want, int64_t *ret_row);

#endif
