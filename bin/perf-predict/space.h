/* space.h: spaces of configurations: parameters with their values, and conditions. One statement a line, '#' begins a comment:
 *
 *     T1 = {1, 16, 32}            values: numbers, true and false, words; words with commas or blanks at the ends in "..."
 *     U = 1..30                   whole numbers; "1..30 step 3" and "1..2048 times 2" too
 *     OMP = {off, on}:cat         cat: numbers are levels without order (words always are)
 *     where T2 == 1 or T2 % T1 == 0
 *
 * Braces and parentheses may go on over several lines. A condition (expr.h) may name the parameters above it.
 *
 * Sections: reading, counting and drawing.
 */
#ifndef PP_SPACE_H
#define PP_SPACE_H

#include "expr.h"
#include "io/source.h"

__extension__ typedef unsigned __int128 space_count;

/* ---- reading */

typedef struct {
    char *text;       /* as it is printed */
    expr_value value; /* a number, or the number of a word */
} space_value;

typedef struct {
    char *name;
    space_value *value; /* [count] distinct */
    int64_t count, capacity;
    bool as_levels;
} space_parameter;

typedef struct space_part space_part;

typedef struct {
    char *name;                 /* of the file */
    space_parameter *parameter; /* [parameters] */
    int64_t parameters, parameter_capacity;
    char **word;                /* [words] */
    int64_t words, word_capacity;
    expr *condition;            /* [conditions] */
    int64_t conditions, condition_capacity;
    space_part *part;           /* [parts] after space_plan() */
    int64_t parts;
    bool *by_trial;             /* [conditions] tried on what is drawn, because they tie too many values together to be counted */
} space;

/* Reads a space and plans it. HU_INPUT "NAME:LINE: column C: reason". Free with space_free(). */
hu_status space_read(hu_source *source, space **ret_space, hu_error *err);
void space_free(space *space); /* NULL is allowed */

/* ---- counting and drawing
 *
 * The conditions tie parameters into independent parts. Each part is a diagram: a layer a parameter, a node for what the conditions still need to know of the values chosen so far,
 * so that paths are the valid choices and can be counted, numbered and drawn evenly without listing them. Where that takes too many nodes, the condition that ties most
 * parameters is left to trial: what is drawn without it is rejected where it fails, which stays even. */

/* The number of configurations: exactly, or of what the conditions by trial are to be tried on; false where it passes 2^128 - 1, and *ret_count is then that limit. *ret_about is it as a double. */
bool space_size(const space *space, space_count *ret_count, double *ret_about);
bool space_is_exact(const space *space); /* no condition is by trial */

/* Whether the conditions by trial hold. code[parameters]: indices of values. work: see space_work(). */
bool space_accepts(const space *space, const int32_t *code, expr_range *work);
int64_t space_work(const space *space); /* items of work that space_accepts() needs */

/* Configuration `number` (below the size), the conditions by trial aside. */
void space_nth(const space *space, space_count number, int32_t *code);

/* A configuration drawn evenly, the conditions by trial aside. */
void space_draw(const space *space, uint64_t seed, uint64_t stream, int32_t *code);

/* Decimal digits; returns the text. */
const char *space_count_text(space_count count, char buffer[64]);

#endif
