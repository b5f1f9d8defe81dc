/* space.c: spaces of configurations: reading their files. space_plan.c counts and draws. */
#include "config.h"
#include "space.h"
#include "base/memory.h"
#include "base/number.h"
#include "space_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_VALUES = 65535, MOST_PARAMETERS = 8192, MOST_BYTES = 64 << 20 };

typedef struct {
    space *s;
    const char *p, *end, *line_start;
    int64_t line;
    hu_error *err;
} reader;

static hu_status complain(const reader *r, const char *at, const char *what)
{
    if (r->err->status) return r->err->status;
    return hu_fail_line(r->err, r->s->name, r->line, "column %lld: %s", (long long)(at - r->line_start) + 1, what);
}

static void next_line(reader *r)
{
    r->line++;
    r->line_start = r->p + 1;
}

/* Blanks; with `lines` also comments and line ends. */
static void skip(reader *r, bool lines)
{
    for (; r->p < r->end; r->p++) {
        if (lines && *r->p == '#')
            while (r->p + 1 < r->end && r->p[1] != '\n') r->p++;
        else if (lines && *r->p == '\n')
            next_line(r);
        else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r')
            return;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool take_word(reader *r, const char *word)
{
    size_t size = strlen(word);
    skip(r, false);
    if ((size_t)(r->end - r->p) < size || memcmp(r->p, word, size) || (r->p + size < r->end && is_name(r->p[size]))) return false;
    r->p += size;
    return true;
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

static hu_status intern(space *s, const char *text, int64_t size, int32_t *ret_word, hu_error *err)
{
    for (int64_t w = 0; w < s->words; w++)
        if (strncmp(s->word[w], text, (size_t)size) == 0 && s->word[w][size] == '\0') {
            *ret_word = (int32_t)w;
            return HU_OK;
        }
    if (hu_grow((void **)&s->word, &s->word_capacity, s->words + 1, sizeof *s->word, "a space", err)) return err->status;
    if (!(s->word[s->words] = strndup(text, (size_t)size))) return hu_fail(err, HU_SYSTEM, "out of memory");
    *ret_word = (int32_t)s->words++;
    return HU_OK;
}

/* from: the values from this one on are looked through for the same. */
static hu_status add_value(reader *r, const char *at, const char *text, int64_t size, expr_value value, int64_t from)
{
    space_parameter *p = &r->s->parameter[r->s->parameters - 1];
    for (int64_t v = from; v < p->count; v++)
        if (p->value[v].value.word == value.word && (value.word >= 0 || p->value[v].value.number == value.number)) return complain(r, at, "this value stands here twice");
    if (p->count == MOST_VALUES) return complain(r, at, "more than 65535 values");
    if (hu_grow((void **)&p->value, &p->capacity, p->count + 1, sizeof *p->value, "a space", r->err)) return r->err->status;
    char *copy = strndup(text, (size_t)size);
    if (!copy) return hu_fail(r->err, HU_SYSTEM, "out of memory");
    p->value[p->count++] = (space_value){copy, value};
    return HU_OK;
}

/* As the cell of a CSV table would be understood. */
static hu_status add_text(reader *r, const char *at, const char *text, int64_t size)
{
    expr_value value = {0, -1};
    const char *end = text + size, *behind = hu_number_parse(text, end, &value.number);
    if (behind == end && isfinite(value.number)) return add_value(r, at, text, size, value, 0);
    if (size == 4 && strncasecmp(text, "true", 4) == 0) return add_value(r, at, text, size, (expr_value){1, -1}, 0);
    if (size == 5 && strncasecmp(text, "false", 5) == 0) return add_value(r, at, text, size, (expr_value){0, -1}, 0);
    if (memchr(text, '\0', (size_t)size)) return complain(r, at, "a zero byte: this is no text");
    if (intern(r->s, text, size, &value.word, r->err)) return r->err->status;
    return add_value(r, at, text, size, value, 0);
}

static hu_status read_item(reader *r)
{
    skip(r, true);
    const char *at = r->p, *stop;
    if (at < r->end && *at == '"') {
        for (stop = at + 1; stop < r->end && *stop != '"' && *stop != '\n'; stop++) continue;
        if (stop == r->end || *stop != '"') return complain(r, at, "a quote that is never closed");
        r->p = stop + 1;
        return add_text(r, at, at + 1, stop - at - 1);
    }
    for (stop = at; stop < r->end && !strchr(",{}#\"\n", *stop); stop++) continue;
    r->p = stop;
    while (stop > at && strchr(" \t\r", stop[-1])) stop--;
    if (stop == at) return complain(r, at, "a value is missing");
    return add_text(r, at, at, stop - at);
}

static hu_status read_list(reader *r)
{
    r->p++;
    for (;;) {
        if (read_item(r)) return r->err->status;
        skip(r, true);
        if (r->p == r->end) return complain(r, r->p, "'}' is missing");
        if (*r->p == '}') break;
        if (*r->p != ',') return complain(r, r->p, "',' or '}' must follow a value");
        r->p++;
    }
    r->p++;
    return HU_OK;
}

/* A number up to a blank, '..' or the end of the line. */
static hu_status read_bound(reader *r, double *ret)
{
    skip(r, false);
    const char *at = r->p, *stop = at;
    while (stop < r->end && !strchr(" \t\r\n:#", *stop) && !(stop + 1 < r->end && stop[0] == '.' && stop[1] == '.')) stop++;
    if (hu_number_parse(at, stop, ret) != stop || stop == at || !isfinite(*ret)) return complain(r, at, "a number must stand here: a parameter is NAME = {VALUE, ...} or NAME = FIRST..LAST");
    r->p = stop;
    return HU_OK;
}

/* Without the dust that sums of decimal fractions gather. */
static double tidy(double v)
{
    char text[40];
    double w = v;
    if (v == floor(v)) return v;
    int size = snprintf(text, sizeof text, "%.13g", v);
    hu_number_parse(text, text + size, &w);
    return w;
}

static hu_status read_span(reader *r)
{
    const char *at = r->p;
    double first, last, step = 1;
    bool times = false;
    if (read_bound(r, &first)) return r->err->status;
    if (r->end - r->p < 2 || r->p[0] != '.' || r->p[1] != '.') return complain(r, r->p, "'..' and the last value must follow");
    r->p += 2;
    if (read_bound(r, &last)) return r->err->status;
    if (take_word(r, "step") || (times = take_word(r, "times"))) {
        const char *here = r->p;
        if (read_bound(r, &step)) return r->err->status;
        if (!(times ? step > 1 && first > 0 : step > 0)) return complain(r, here, times ? "times needs a factor above 1 and a first value above 0" : "a step must be above 0");
    }
    if (!(first <= last)) return complain(r, at, "the first value is above the last");
    if (!times && !((last - first) / step < MOST_VALUES)) return complain(r, at, "more than 65535 values");
    double limit = last + (times ? last : step) * 1e-9, v = first;
    for (int64_t i = 0; v <= limit; v = times ? v * step : first + (double)++i * step) {
        char text[HU_NUMBER_SIZE];
        double value = tidy(v);
        int64_t last_one = r->s->parameter[r->s->parameters - 1].count - 1;
        if (add_value(r, at, text, (int64_t)hu_number_print(value, text), (expr_value){value, -1}, last_one < 0 ? 0 : last_one)) return r->err->status;
    }
    return HU_OK;
}

/* ---- statements ------------------------------------------------------------------------------------------------------------------ */

static int find_parameter(void *context, const char *name, int64_t size, int32_t *ret_parameter)
{
    const space *s = context;
    for (int64_t p = 0; p < s->parameters; p++) {
        const space_parameter *q = &s->parameter[p];
        int kind = 0;
        if (strncmp(q->name, name, (size_t)size) || q->name[size]) continue;
        for (int64_t v = 0; v < q->count; v++) kind |= q->value[v].value.word >= 0 ? 2 : 1;
        *ret_parameter = (int32_t)p;
        return kind;
    }
    return 0;
}

static int32_t find_word(void *context, const char *text, int64_t size)
{
    const space *s = context;
    for (int64_t w = 0; w < s->words; w++)
        if (strncmp(s->word[w], text, (size_t)size) == 0 && s->word[w][size] == '\0') return (int32_t)w;
    return -1;
}

static hu_status read_condition(reader *r)
{
    space *s = r->s;
    expr_scope scope = {s, find_parameter, find_word};
    if (hu_grow((void **)&s->condition, &s->condition_capacity, s->conditions + 1, sizeof *s->condition, "a space", r->err)) return r->err->status;
    if (expr_parse(s->name, &r->line, &r->line_start, &r->p, r->end, &scope, &s->condition[s->conditions], r->err)) return r->err->status;
    s->conditions++;
    return HU_OK;
}

static bool is_reserved(const char *name, int64_t size)
{
    static const char *const words[] = {"where", "and", "or", "not", "step", "times"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if ((int64_t)strlen(words[k]) == size && memcmp(words[k], name, (size_t)size) == 0) return true;
    return false;
}

static hu_status read_parameter(reader *r)
{
    space *s = r->s;
    const char *at = r->p;
    int32_t other;
    while (r->p < r->end && is_name(*r->p)) r->p++;
    int64_t size = r->p - at;
    if (is_reserved(at, size)) return complain(r, at, "this word cannot name a parameter");
    if (find_parameter(s, at, size, &other)) return complain(r, at, "a parameter of this name stands above");
    if (s->parameters == MOST_PARAMETERS) return complain(r, at, "more than 8192 parameters");
    skip(r, false);
    if (r->p == r->end || *r->p != '=') return complain(r, r->p, "'=' must follow the name of a parameter");
    r->p++;
    if (hu_grow((void **)&s->parameter, &s->parameter_capacity, s->parameters + 1, sizeof *s->parameter, "a space", r->err)) return r->err->status;
    s->parameter[s->parameters] = (space_parameter){.name = strndup(at, (size_t)size)};
    if (!s->parameter[s->parameters].name) return hu_fail(r->err, HU_SYSTEM, "out of memory");
    s->parameters++;
    skip(r, false);
    if (r->p < r->end && *r->p == '{' ? read_list(r) : read_span(r)) return r->err->status;
    skip(r, false);
    if (r->p < r->end && *r->p == ':') {
        r->p++;
        if (take_word(r, "cat")) s->parameter[s->parameters - 1].as_levels = true;
        else return complain(r, r->p, "only ':cat' may stand here");
    }
    return HU_OK;
}

static hu_status read_statements(reader *r)
{
    for (;;) {
        skip(r, true);
        if (r->p == r->end) break;
        if (!is_letter(*r->p)) return complain(r, r->p, "a line is NAME = {VALUE, ...}, NAME = FIRST..LAST, or where CONDITION");
        if (take_word(r, "where") ? read_condition(r) : read_parameter(r)) return r->err->status;
        skip(r, false);
        if (r->p < r->end && *r->p != '\n' && *r->p != '#') return complain(r, r->p, "one statement a line: this belongs to none");
    }
    if (r->s->parameters == 0) return hu_fail_line(r->err, r->s->name, r->line, "there is no parameter");
    return HU_OK;
}

hu_status space_read(hu_source *source, space **ret_space, hu_error *err)
{
    space *s = NULL;
    char *text = NULL;
    int64_t size;
    if (hu_alloc_zero(1, sizeof *s, "a space", (void **)&s, err)) return err->status;
    if (!(s->name = strdup(hu_source_name(source)))) hu_fail(err, HU_SYSTEM, "out of memory");
    if (err->status || hu_source_slurp(source, MOST_BYTES, &text, &size, err)) goto failed;
    reader r = {s, text, text + size, text, 1, err};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.p = r.line_start = text + 3;
    if (read_statements(&r) || space_plan(s, err)) goto failed;
    hu_free(text);
    *ret_space = s;
    return HU_OK;
failed:
    hu_free(text);
    space_free(s);
    return err->status;
}

void space_free(space *s)
{
    if (!s) return;
    space_plan_free(s);
    for (int64_t p = 0; p < s->parameters; p++) {
        for (int64_t v = 0; v < s->parameter[p].count; v++) free(s->parameter[p].value[v].text);
        hu_free(s->parameter[p].value);
        free(s->parameter[p].name);
    }
    for (int64_t w = 0; w < s->words; w++) free(s->word[w]);
    for (int64_t c = 0; c < s->conditions; c++) expr_free(&s->condition[c]);
    hu_free(s->parameter);
    hu_free(s->word);
    hu_free(s->condition);
    hu_free(s->by_trial);
    free(s->name);
    hu_free(s);
}
