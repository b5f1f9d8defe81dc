/* expr.h: conditions on the parameters of a space.
 *
 *     or, and, not (also || && !)     == != < <= > >=     + - * / %     - + of one operand     ( )     numbers, names, words
 *
 * in the usual order, the loosest first. A name is a parameter, or else a word that some parameter can be; "..." is a word. Conditions are 1 and 0 as numbers, and numbers other than 0
 * hold. a % b has the sign of b; a division by 0 is no number, and no comparison with that holds. Words can only be compared for equality.
 */
#ifndef PP_EXPR_H
#define PP_EXPR_H

#include "base/error.h"

typedef enum {
    EXPR_NUMBER, EXPR_WORD, EXPR_NAME, EXPR_NOT, EXPR_MINUS, EXPR_OR, EXPR_AND, EXPR_EQUAL, EXPR_UNEQUAL, EXPR_LESS, EXPR_LESS_EQUAL, EXPR_MORE, EXPR_MORE_EQUAL, EXPR_ADD,
    EXPR_SUBTRACT, EXPR_MULTIPLY, EXPR_DIVIDE, EXPR_REMAINDER
} expr_op;

/* A value: a number, or where word >= 0 that word. */
typedef struct {
    double number;
    int32_t word;
} expr_value;

typedef struct {
    expr_op op;
    int32_t left, right; /* nodes before this one; -1: none */
    int32_t name;        /* the parameter */
    expr_value value;    /* of a number or word */
} expr_node;

typedef struct {
    expr_node *node; /* [count] operands before what uses them; the last is the whole */
    int64_t count, capacity;
    int64_t line;
} expr;

/* What names stand for. kind: 0 not known, 1 numbers, 2 words, 3 both. */
typedef struct {
    void *context;
    int (*find)(void *context, const char *name, int64_t size, int32_t *ret_parameter);
    int32_t (*word)(void *context, const char *text, int64_t size); /* the number of a word that a parameter can be, or -1 */
} expr_scope;

/* Reads a condition from *p up to the end of its line (line ends inside parentheses do not count), a '#', or `end`, and leaves *p there. start: the first byte of the line, for
 * columns in messages. HU_INPUT "NAME:LINE: column C: reason". Free with expr_free(). */
hu_status expr_parse(const char *name, int64_t *line, const char **line_start, const char **p, const char *end, const expr_scope *scope, expr *ret_expr, hu_error *err);
void expr_free(expr *expr);

/* What is known of a value: a number between low and high, perhaps no number; or a word (-1: not known which). */
typedef struct {
    double low, high;
    bool maybe_nan, is_word;
    int32_t word;
} expr_range;

expr_range expr_exactly(expr_value value);
bool expr_is_known(const expr_range *range);

/* The range of every node, range[count], where parameter p has the range name[p]. Returns 1 where the condition holds, 0 where it does not, -1 where that is open. */
int expr_ranges(const expr *expr, const expr_range *name, expr_range *range);

#endif
