/* expr.c: conditions on the parameters of a space.
 *
 * Sections: reading signs, reading conditions, evaluation.
 */
#include "config.h"
#include "expr.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 200, MOST_NODES = 100000 };

/* ---- reading signs ----------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *p, *end;
    int64_t line;
    const char *line_start;
    int depth;      /* of parentheses */
    int nested;     /* of operands inside each other */
    const expr_scope *scope;
    expr *e;
    hu_error *err;
} reader;

static hu_status complain(reader *r, const char *at, const char *what)
{
    if (r->err->status) return r->err->status;
    return hu_fail_line(r->err, r->name, r->line, "column %lld: %s", (long long)(at - r->line_start) + 1, what);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '#' && r->depth > 0)
            while (r->p + 1 < r->end && r->p[1] != '\n') r->p++;
        else if (*r->p == '\n' && r->depth > 0) {
            r->line++;
            r->line_start = r->p + 1;
        } else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r')
            return;
    }
}

/* Takes a sign or a word of the language if it comes next. */
static bool take(reader *r, const char *sign)
{
    size_t size = strlen(sign);
    skip_blanks(r);
    if ((size_t)(r->end - r->p) < size || memcmp(r->p, sign, size)) return false;
    if (is_letter(*sign) && r->p + size < r->end && (is_letter(r->p[size]) || is_digit(r->p[size]))) return false;
    r->p += size;
    return true;
}

/* ---- reading conditions -------------------------------------------------------------------------------------------------------- */

enum { NUMBERS = 1, WORDS = 2 };

/* A node that has been read, with what it may be. */
typedef struct {
    int32_t node;
    int kind;
    const char *at;
} operand;

static operand add(reader *r, expr_node node, int kind, const char *at)
{
    expr *e = r->e;
    if (e->count >= MOST_NODES) complain(r, at, "the condition is too long");
    if (r->err->status || hu_grow((void **)&e->node, &e->capacity, e->count + 1, sizeof *e->node, "a condition", r->err)) return (operand){-1, 0, at};
    e->node[e->count] = node;
    return (operand){(int32_t)e->count++, kind, at};
}

static operand add_two(reader *r, expr_op op, operand a, operand b)
{
    bool equality = op == EXPR_EQUAL || op == EXPR_UNEQUAL;
    if (!equality && (a.kind & WORDS)) complain(r, a.at, "a word stands where a number must");
    if (!equality && (b.kind & WORDS)) complain(r, b.at, "a word stands where a number must");
    if (equality && !(a.kind & b.kind)) complain(r, b.at, "a number and a word are compared, which are never equal");
    return add(r, (expr_node){op, a.node, b.node, -1, {0, -1}}, NUMBERS, a.at);
}

static operand read_or(reader *r);

static operand read_name(reader *r)
{
    const char *at = r->p;
    int32_t parameter = -1;
    while (r->p < r->end && (is_letter(*r->p) || is_digit(*r->p))) r->p++;
    int kind = r->scope->find(r->scope->context, at, r->p - at, &parameter);
    if (kind) return add(r, (expr_node){EXPR_NAME, -1, -1, parameter, {0, -1}}, kind, at);
    int32_t word = r->scope->word(r->scope->context, at, r->p - at);
    if (word >= 0) return add(r, (expr_node){EXPR_WORD, -1, -1, -1, {0, word}}, WORDS, at);
    char what[200];
    snprintf(what, sizeof what, "%.*s is neither a parameter above this line nor a value of one", (int)(r->p - at > 80 ? 80 : r->p - at), at);
    complain(r, at, what);
    return (operand){-1, 0, at};
}

static operand read_quoted(reader *r)
{
    const char *at = r->p++, *close = memchr(r->p, '"', (size_t)(r->end - r->p)), *line = memchr(r->p, '\n', (size_t)(r->end - r->p));
    if (!close || (line && line < close)) {
        complain(r, at, "a quote that is never closed");
        return (operand){-1, 0, at};
    }
    int32_t word = r->scope->word(r->scope->context, r->p, close - r->p);
    r->p = close + 1;
    if (word < 0) complain(r, at, "no parameter can be this word");
    return add(r, (expr_node){EXPR_WORD, -1, -1, -1, {0, word}}, WORDS, at);
}

static operand read_primary(reader *r)
{
    skip_blanks(r);
    const char *at = r->p;
    double value;
    if (r->p == r->end || *r->p == '\n' || *r->p == '#') {
        complain(r, at, "the condition ends where an operand must follow");
        return (operand){-1, 0, at};
    }
    if (is_letter(*r->p)) return read_name(r);
    if (*r->p == '"') return read_quoted(r);
    if (take(r, "(")) {
        r->depth++;
        operand inner = read_or(r);
        if (!r->err->status && !take(r, ")")) complain(r, r->p, "')' is missing");
        r->depth--;
        return inner;
    }
    const char *behind = is_digit(*r->p) || *r->p == '.' ? hu_number_parse(r->p, r->end, &value) : NULL;
    if (!behind) {
        complain(r, at, "this is no operand");
        return (operand){-1, 0, at};
    }
    r->p = behind;
    return add(r, (expr_node){EXPR_NUMBER, -1, -1, -1, {value, -1}}, NUMBERS, at);
}

static operand read_unary(reader *r)
{
    operand a = {-1, 0, r->p};
    if (++r->nested > MOST_DEPTH) complain(r, r->p, "the condition is nested too deeply");
    if (r->err->status) return a;
    skip_blanks(r);
    const char *at = r->p;
    if (take(r, "-")) {
        a = read_unary(r);
        if (a.kind & WORDS) complain(r, a.at, "a word stands where a number must");
        a = add(r, (expr_node){EXPR_MINUS, a.node, -1, -1, {0, -1}}, NUMBERS, at);
    } else if (take(r, "+")) {
        a = read_unary(r);
    } else {
        a = read_primary(r);
    }
    r->nested--;
    return a;
}

static operand read_product(reader *r)
{
    operand a = read_unary(r);
    while (!r->err->status) {
        expr_op op = take(r, "*") ? EXPR_MULTIPLY : take(r, "/") ? EXPR_DIVIDE : take(r, "%") ? EXPR_REMAINDER : EXPR_NUMBER;
        if (op == EXPR_NUMBER) break;
        operand b = read_unary(r);
        if (!r->err->status) a = add_two(r, op, a, b);
    }
    return a;
}

static operand read_sum(reader *r)
{
    operand a = read_product(r);
    while (!r->err->status) {
        expr_op op = take(r, "+") ? EXPR_ADD : take(r, "-") ? EXPR_SUBTRACT : EXPR_NUMBER;
        if (op == EXPR_NUMBER) break;
        operand b = read_product(r);
        if (!r->err->status) a = add_two(r, op, a, b);
    }
    return a;
}

static expr_op take_comparison(reader *r)
{
    return take(r, "==") ? EXPR_EQUAL : take(r, "!=") ? EXPR_UNEQUAL : take(r, "<=") ? EXPR_LESS_EQUAL : take(r, ">=") ? EXPR_MORE_EQUAL : take(r, "<") ? EXPR_LESS :
           take(r, ">") ? EXPR_MORE : EXPR_NUMBER;
}

static operand read_comparison(reader *r)
{
    operand a = read_sum(r);
    expr_op op = r->err->status ? EXPR_NUMBER : take_comparison(r);
    if (op == EXPR_NUMBER) {
        if (!r->err->status && r->p < r->end && *r->p == '=') complain(r, r->p, "'=' sets a parameter; equality is '=='");
        return a;
    }
    operand b = read_sum(r);
    if (r->err->status) return a;
    a = add_two(r, op, a, b);
    const char *next = r->p;
    if (take_comparison(r) != EXPR_NUMBER) complain(r, next, "comparisons do not chain: write a < b and b < c");
    return a;
}

static operand read_not(reader *r)
{
    operand a = {-1, 0, r->p};
    if (++r->nested > MOST_DEPTH) complain(r, r->p, "the condition is nested too deeply");
    if (r->err->status) return a;
    skip_blanks(r);
    const char *at = r->p;
    if (take(r, "not") || (r->end - r->p > 1 && r->p[1] != '=' && take(r, "!"))) {
        a = read_not(r);
        if (a.kind & WORDS) complain(r, a.at, "a word stands where a condition must");
        a = add(r, (expr_node){EXPR_NOT, a.node, -1, -1, {0, -1}}, NUMBERS, at);
    } else {
        a = read_comparison(r);
    }
    r->nested--;
    return a;
}

static operand read_and(reader *r)
{
    operand a = read_not(r);
    while (!r->err->status && (take(r, "and") || take(r, "&&"))) {
        operand b = read_not(r);
        if (!r->err->status) a = add_two(r, EXPR_AND, a, b);
    }
    return a;
}

static operand read_or(reader *r)
{
    operand a = read_and(r);
    while (!r->err->status && (take(r, "or") || take(r, "||"))) {
        operand b = read_and(r);
        if (!r->err->status) a = add_two(r, EXPR_OR, a, b);
    }
    return a;
}

hu_status expr_parse(const char *name, int64_t *line, const char **line_start, const char **p, const char *end, const expr_scope *scope, expr *e, hu_error *err)
{
    reader r = {name, *p, end, *line, *line_start, 0, 0, scope, e, err};
    *e = (expr){.line = *line};
    operand whole = read_or(&r);
    if (!err->status && (whole.kind & WORDS)) complain(&r, whole.at, "a word is no condition");
    if (!err->status) {
        skip_blanks(&r);
        if (r.p < r.end && *r.p != '\n' && *r.p != '#') complain(&r, r.p, "this belongs to no condition: and, or, or a comparison must come before it");
    }
    *p = r.p;
    *line = r.line;
    *line_start = r.line_start;
    if (err->status) expr_free(e);
    return err->status;
}

void expr_free(expr *e)
{
    hu_free(e->node);
    *e = (expr){0};
}

/* ---- evaluation ------------------------------------------------------------------------------------------------------------------ */

expr_range expr_exactly(expr_value v)
{
    return (expr_range){v.number, v.number, isnan(v.number), v.word >= 0, v.word};
}

bool expr_is_known(const expr_range *r)
{
    if (r->is_word) return r->word >= 0;
    return (r->low == r->high && !r->maybe_nan) || (isnan(r->low) && r->maybe_nan);
}

static expr_range between(double low, double high, bool maybe_nan)
{
    if (isnan(low) || isnan(high)) return (expr_range){-INFINITY, INFINITY, true, false, -1};
    return (expr_range){low, high, maybe_nan, false, -1};
}

static expr_range truth(int known)
{
    return between(known == 1, known != 0, false); /* -1: 0 to 1 */
}

/* 1 where it holds, 0 where it does not, -1 open. What is no number does not hold. */
static int holds(const expr_range *r)
{
    if (isnan(r->low)) return 0;
    if (r->low == 0 && r->high == 0) return 0;
    return (r->low > 0 || r->high < 0) && !r->maybe_nan ? 1 : -1;
}

static double remainder_of(double a, double b)
{
    if (b == 0) return NAN;
    double m = fmod(a, b);
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static double compute(expr_op op, double a, double b)
{
    switch (op) {
    case EXPR_ADD: return a + b;
    case EXPR_SUBTRACT: return a - b;
    case EXPR_MULTIPLY: return a * b;
    case EXPR_DIVIDE: return b == 0 ? NAN : a / b;
    case EXPR_REMAINDER: return remainder_of(a, b);
    case EXPR_EQUAL: return a == b;
    case EXPR_UNEQUAL: return a < b || a > b; /* not for what is no number */
    case EXPR_LESS: return a < b;
    case EXPR_LESS_EQUAL: return a <= b;
    case EXPR_MORE: return a > b;
    default: return a >= b;
    }
}

static expr_range corners(expr_op op, const expr_range *a, const expr_range *b, bool nan)
{
    double v[] = {compute(op, a->low, b->low), compute(op, a->low, b->high), compute(op, a->high, b->low), compute(op, a->high, b->high)};
    double low = v[0], high = v[0];
    for (int i = 0; i < 4; i++) {
        if (isnan(v[i])) return between(NAN, NAN, true);
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    return between(low, high, nan);
}

static expr_range arithmetic(expr_op op, const expr_range *a, const expr_range *b)
{
    bool nan = a->maybe_nan || b->maybe_nan, zero = b->low <= 0 && b->high >= 0;
    switch (op) {
    case EXPR_ADD: return between(a->low + b->low, a->high + b->high, nan);
    case EXPR_SUBTRACT: return between(a->low - b->high, a->high - b->low, nan);
    case EXPR_DIVIDE:
        if (zero) return between(NAN, NAN, true);
        /* fall through */
    case EXPR_MULTIPLY: return corners(op, a, b, nan);
    default: /* the remainder lies between 0 and b, and is at most a where both are not negative */
        if (!(b->low > 0)) return between(fmin(b->low, 0), fmax(b->high, 0), nan || zero);
        return between(0, a->low >= 0 ? fmin(a->high, b->high) : b->high, nan);
    }
}

/* Whether a comparison holds for all, for none, or for some values of the ranges. */
static int comparison(expr_op op, const expr_range *a, const expr_range *b)
{
    bool nan = a->maybe_nan || b->maybe_nan, apart = a->high < b->low || b->high < a->low;
    int known = -1;
    switch (op) {
    case EXPR_EQUAL: known = apart ? 0 : -1; break;
    case EXPR_UNEQUAL: known = apart ? 1 : -1; break;
    case EXPR_LESS: known = a->high < b->low ? 1 : a->low >= b->high ? 0 : -1; break;
    case EXPR_LESS_EQUAL: known = a->high <= b->low ? 1 : a->low > b->high ? 0 : -1; break;
    case EXPR_MORE: known = a->low > b->high ? 1 : a->high <= b->low ? 0 : -1; break;
    default: known = a->low >= b->high ? 1 : a->high < b->low ? 0 : -1;
    }
    return known == 1 && nan ? -1 : known;
}

static expr_range two(expr_op op, const expr_range *a, const expr_range *b)
{
    if (op == EXPR_AND || op == EXPR_OR) {
        int p = holds(a), q = holds(b), decides = op == EXPR_OR;
        return truth(p == decides || q == decides ? decides : p < 0 || q < 0 ? -1 : !decides);
    }
    bool known = expr_is_known(a) && expr_is_known(b);
    if (a->is_word || b->is_word) { /* only equality comes here */
        if (!known) return truth(-1);
        bool equal = a->is_word == b->is_word && a->word == b->word;
        return truth(op == EXPR_EQUAL ? equal : !equal);
    }
    if (known) return expr_exactly((expr_value){compute(op, a->low, b->low), -1});
    return op >= EXPR_EQUAL && op <= EXPR_MORE_EQUAL ? truth(comparison(op, a, b)) : arithmetic(op, a, b);
}

int expr_ranges(const expr *e, const expr_range *name, expr_range *range)
{
    for (int64_t i = 0; i < e->count; i++) {
        const expr_node *n = &e->node[i];
        switch (n->op) {
        case EXPR_NUMBER:
        case EXPR_WORD: range[i] = expr_exactly(n->value); break;
        case EXPR_NAME: range[i] = name[n->name]; break;
        case EXPR_NOT: {
            int p = holds(&range[n->left]);
            range[i] = truth(p < 0 ? -1 : !p);
            break;
        }
        case EXPR_MINUS: range[i] = (expr_range){-range[n->left].high, -range[n->left].low, range[n->left].maybe_nan, false, -1}; break;
        default: range[i] = two(n->op, &range[n->left], &range[n->right]);
        }
    }
    return holds(&range[e->count - 1]);
}
