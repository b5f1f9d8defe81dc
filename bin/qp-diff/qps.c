/* qps.c: problems in the MPS and QPS formats.
 *
 * Sections: names, lines and fields, the sections, both layouts.
 */
#include "config.h"
#include "qps.h"
#include "base/memory.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 6, MOST_BYTES = 1 << 30, NAME_LENGTH = 255 };

/* ---- names ------------------------------------------------------------------------------------------------------------ */

typedef struct {
    char **name;
    int64_t count, room;
    int32_t *slot; /* hash table: item + 1, 0 where empty */
    int64_t slots; /* a power of two */
} name_table;

static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static int64_t find_slot(const name_table *t, const char *name)
{
    int64_t at = (int64_t)(hash(name) & (uint64_t)(t->slots - 1));
    while (t->slot[at] && strcmp(t->name[t->slot[at] - 1], name) != 0) at = (at + 1) & (t->slots - 1);
    return at;
}

static int64_t find_name(const name_table *t, const char *name)
{
    return t->slots ? t->slot[find_slot(t, name)] - 1 : -1;
}

static hu_status add_name(name_table *t, const char *name, hu_error *err)
{
    if (2 * (t->count + 1) > t->slots) {
        const int64_t slots = t->slots ? 2 * t->slots : 64;
        hu_free(t->slot);
        t->slot = NULL;
        if (hu_alloc_zero(slots, sizeof *t->slot, "names", (void **)&t->slot, err)) return err->status;
        t->slots = slots;
        for (int64_t i = 0; i < t->count; i++) t->slot[find_slot(t, t->name[i])] = (int32_t)(i + 1);
    }
    if (hu_grow((void **)&t->name, &t->room, t->count + 1, sizeof *t->name, "names", err)) return err->status;
    if (!(t->name[t->count] = strdup(name))) return hu_fail(err, HU_SYSTEM, "out of memory: names");
    t->slot[find_slot(t, name)] = (int32_t)++t->count;
    return HU_OK;
}

static void free_names(name_table *t)
{
    for (int64_t i = 0; i < t->count; i++) free(t->name[i]);
    free(t->name);
    hu_free(t->slot);
}

/* ---- lines and fields --------------------------------------------------------------------------------------------------- */

typedef enum { NO_SECTION, ROWS, COLUMNS, RHS, RANGES, BOUNDS, QUADOBJ, QMATRIX, OBJSENSE, OBJNAME, ENDED } section;

typedef struct {
    int32_t row, col;
    double val;
} entry;

typedef struct {
    const char *file;
    bool fixed;
    int64_t line;
    char *field[FIELDS];
    char room[FIELDS][NAME_LENGTH + 1];
    int fields;
    section at;
    name_table rows, columns;
    char *type; /* N E L G of each row, objective included */
    int64_t type_room;
    int64_t objective; /* row, -1 until known */
    char *wanted_objective, *problem_name, set[3][NAME_LENGTH + 1];
    bool has_set[3], warned_set[3], maximise, full;
    entry *a, *p;
    int64_t a_count, a_room, p_count, p_room;
    double *rhs, *range, *lb, *ub; /* range: NaN where there is none */
    bool *has_lower;
    int64_t rhs_room, range_room, lb_room, ub_room, lower_room;
} reader;

static hu_status fail(const reader *r, hu_error *err, const char *format, const char *what)
{
    char text[400];
    snprintf(text, sizeof text, format, what);
    return hu_fail_line(err, r->file, r->line, "%s", text);
}

/* A field without the blanks around it. */
static bool put_field(reader *r, int i, const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from)) from++;
    while (to > from && isspace((unsigned char)to[-1])) to--;
    if (to - from > NAME_LENGTH) return false;
    memcpy(r->room[i], from, (size_t)(to - from));
    r->room[i][to - from] = 0;
    r->field[i] = r->room[i];
    return true;
}

/* Blanks separate. */
static hu_status split_free(reader *r, const char *p, const char *end, hu_error *err)
{
    r->fields = 0;
    for (;;) {
        while (p < end && isspace((unsigned char)*p)) p++;
        if (p == end) return HU_OK;
        const char *from = p;
        while (p < end && !isspace((unsigned char)*p)) p++;
        if (r->fields == FIELDS) return fail(r, err, "more than six fields%s", "");
        if (!put_field(r, r->fields++, from, p)) return fail(r, err, "a name of more than 255 bytes%s", "");
    }
}

/* By columns; an absent field in the middle is "". */
static hu_status split_fixed(reader *r, const char *line, const char *end, hu_error *err)
{
    static const int from[FIELDS] = {1, 4, 14, 24, 39, 49}, to[FIELDS] = {4, 14, 24, 39, 49, 1000};
    r->fields = 0;
    for (int i = 0; i < FIELDS; i++) {
        const char *a = end - line > from[i] ? line + from[i] : end, *b = end - line > to[i] ? line + to[i] : end;
        if (!put_field(r, i, a, b)) return fail(r, err, "a name of more than 255 bytes%s", "");
        if (r->field[i][0]) r->fields = i + 1;
    }
    return HU_OK;
}

static hu_status number(const reader *r, const char *text, double *ret, hu_error *err)
{
    char *end;
    char plain[NAME_LENGTH + 1];
    size_t length = strlen(text);
    for (size_t i = 0; i <= length; i++) plain[i] = (char)(text[i] == 'd' || text[i] == 'D' ? 'e' : text[i]); /* Fortran's exponents */
    *ret = strtod(plain, &end);
    if (!length || *end || isnan(*ret) || strpbrk(plain, "xX")) return fail(r, err, "'%s' is not a number", text);
    return HU_OK;
}

/* ---- the sections -------------------------------------------------------------------------------------------------------- */

static hu_status read_row(reader *r, hu_error *err)
{
    const char *kind = r->field[0];
    if (r->fields != 2 || strlen(kind) != 1 || !strchr("NELGnelg", kind[0])) return fail(r, err, "expected N, E, L or G and the name of a row%s", "");
    if (find_name(&r->rows, r->field[1]) >= 0) return fail(r, err, "row %s is there twice", r->field[1]);
    if (hu_grow((void **)&r->type, &r->type_room, r->rows.count + 1, 1, "rows", err) || hu_grow((void **)&r->rhs, &r->rhs_room, r->rows.count + 1, sizeof *r->rhs, "rows", err) ||
        hu_grow((void **)&r->range, &r->range_room, r->rows.count + 1, sizeof *r->range, "rows", err))
        return err->status;
    const int64_t i = r->rows.count;
    r->type[i] = (char)toupper((unsigned char)kind[0]);
    r->rhs[i] = 0;
    r->range[i] = NAN;
    if (r->type[i] == 'N' && r->objective < 0 && (!r->wanted_objective || strcmp(r->wanted_objective, r->field[1]) == 0)) r->objective = i;
    return add_name(&r->rows, r->field[1], err);
}

static hu_status add_column(reader *r, const char *name, hu_error *err)
{
    const int64_t j = r->columns.count;
    if (hu_grow((void **)&r->lb, &r->lb_room, j + 1, sizeof *r->lb, "columns", err) || hu_grow((void **)&r->ub, &r->ub_room, j + 1, sizeof *r->ub, "columns", err) ||
        hu_grow((void **)&r->has_lower, &r->lower_room, j + 1, sizeof *r->has_lower, "columns", err))
        return err->status;
    r->lb[j] = 0;
    r->ub[j] = INFINITY;
    r->has_lower[j] = false;
    return add_name(&r->columns, name, err);
}

static hu_status add_entry(entry **list, int64_t *count, int64_t *room, int64_t i, int64_t j, double value, hu_error *err)
{
    if (hu_grow((void **)list, room, *count + 1, sizeof **list, "entries", err)) return err->status;
    (*list)[(*count)++] = (entry){(int32_t)i, (int32_t)j, value};
    return HU_OK;
}

/* Fields first, first + 1 and the next two are (row, value) pairs. */
static hu_status read_pair(reader *r, int at, int64_t *ret_row, double *ret_value, hu_error *err)
{
    *ret_row = find_name(&r->rows, r->field[at]);
    if (*ret_row < 0) return fail(r, err, "there is no row %s", r->field[at]);
    return number(r, r->field[at + 1], ret_value, err);
}

static hu_status read_column(reader *r, hu_error *err)
{
    const int first = r->fixed ? 1 : 0, left = r->fields - first;
    if (left >= 2 && strstr(r->field[first + 1], "MARKER")) return fail(r, err, "integer variables are not supported%s", "");
    if (left != 3 && left != 5) return fail(r, err, "expected a column and one or two pairs of row and value%s", "");
    const char *name = r->field[first];
    if (r->columns.count == 0 || strcmp(r->columns.name[r->columns.count - 1], name) != 0) {
        if (find_name(&r->columns, name) >= 0) return fail(r, err, "column %s is not in one piece", name);
        if (add_column(r, name, err)) return err->status;
    }
    for (int at = first + 1; at < r->fields; at += 2) {
        int64_t i;
        double value;
        if (read_pair(r, at, &i, &value, err)) return err->status;
        if (!isfinite(value)) return fail(r, err, "a coefficient of column %s is infinite", name);
        if (add_entry(&r->a, &r->a_count, &r->a_room, i, r->columns.count - 1, value, err)) return err->status;
    }
    return HU_OK;
}

/* Whether the line belongs to the first set of its kind. */
static bool is_first_set(reader *r, int kind, const char *name)
{
    static const char *const kinds[] = {"RHS", "RANGES", "BOUNDS"};
    if (!*name) return true; /* without a name it goes with the first */
    if (!r->has_set[kind]) {
        r->has_set[kind] = true;
        strcpy(r->set[kind], name);
    }
    if (strcmp(r->set[kind], name) == 0) return true;
    if (!r->warned_set[kind]) hu_warn("%s:%lld: %s set %s is passed over; %s is taken", r->file, (long long)r->line, kinds[kind], name, r->set[kind]);
    r->warned_set[kind] = true;
    return false;
}

static hu_status read_rhs(reader *r, bool ranges, hu_error *err)
{
    int first = r->fixed ? 1 : 0;
    const int left = r->fields - first;
    if (left < 2 || left > 5) return fail(r, err, "expected one or two pairs of row and value%s", "");
    const char *set = left % 2 ? r->field[first++] : "";
    if (!is_first_set(r, ranges ? 1 : 0, set)) return HU_OK;
    for (int at = first; at < r->fields; at += 2) {
        int64_t i;
        double value;
        if (read_pair(r, at, &i, &value, err)) return err->status;
        if (ranges) r->range[i] = value;
        else r->rhs[i] = value;
    }
    return HU_OK;
}

static hu_status set_bound(reader *r, const char *kind, int64_t j, double value, hu_error *err)
{
    if (strcmp(kind, "UP") == 0) {
        if (value < 0 && r->lb[j] == 0 && !r->has_lower[j]) {
            hu_warn("%s:%lld: column %s: an upper bound below 0 without a lower bound; the lower one becomes -infinity", r->file, (long long)r->line, r->columns.name[j]);
            r->lb[j] = -INFINITY;
        }
        r->ub[j] = value;
    } else if (strcmp(kind, "LO") == 0) {
        r->lb[j] = value;
        r->has_lower[j] = true;
    } else if (strcmp(kind, "FX") == 0) {
        r->lb[j] = r->ub[j] = value;
        r->has_lower[j] = true;
    } else if (strcmp(kind, "FR") == 0) {
        r->lb[j] = -INFINITY;
        r->ub[j] = INFINITY;
        r->has_lower[j] = true;
    } else if (strcmp(kind, "MI") == 0) {
        r->lb[j] = -INFINITY;
        r->has_lower[j] = true;
    } else if (strcmp(kind, "PL") == 0) {
        r->ub[j] = INFINITY;
    } else if (strcmp(kind, "BV") == 0 || strcmp(kind, "LI") == 0 || strcmp(kind, "UI") == 0 || strcmp(kind, "SC") == 0) {
        return fail(r, err, "bounds of type %s (integer or semi-continuous variables) are not supported", kind);
    } else {
        return fail(r, err, "'%s' is no type of bound", kind);
    }
    return HU_OK;
}

static hu_status read_bound(reader *r, hu_error *err)
{
    char kind[NAME_LENGTH + 1];
    strcpy(kind, r->fields > 0 ? r->field[0] : "");
    for (char *c = kind; *c; c++) *c = (char)toupper((unsigned char)*c);
    const bool valueless = strcmp(kind, "FR") == 0 || strcmp(kind, "MI") == 0 || strcmp(kind, "PL") == 0 || strcmp(kind, "BV") == 0;
    int at = 1;
    const char *set = "";
    if (r->fixed) {
        set = r->field[1];
        at = 2;
    } else if (valueless ? r->fields >= 3 && (r->fields == 4 || find_name(&r->columns, r->field[2]) >= 0) : r->fields == 4) {
        set = r->field[at++];
    }
    if (r->fields < at + (valueless ? 1 : 2) || r->fields > at + 2) return fail(r, err, "expected a type of bound, a set, a column%s", valueless ? "" : " and a value");
    if (!is_first_set(r, 2, set)) return HU_OK;
    const int64_t j = find_name(&r->columns, r->field[at]);
    double value = 0;
    if (j < 0) return fail(r, err, "there is no column %s", r->field[at]);
    if (!valueless && number(r, r->field[at + 1], &value, err)) return err->status;
    return set_bound(r, kind, j, value, err);
}

static hu_status read_quadratic(reader *r, hu_error *err)
{
    const int first = r->fixed ? 1 : 0, left = r->fields - first;
    if (left != 3 && left != 5) return fail(r, err, "expected a column and one or two pairs of column and value%s", "");
    const int64_t i = find_name(&r->columns, r->field[first]);
    if (i < 0) return fail(r, err, "there is no column %s", r->field[first]);
    for (int at = first + 1; at < r->fields; at += 2) {
        double value;
        const int64_t j = find_name(&r->columns, r->field[at]);
        if (j < 0) return fail(r, err, "there is no column %s", r->field[at]);
        if (number(r, r->field[at + 1], &value, err)) return err->status;
        if (!isfinite(value)) return fail(r, err, "a coefficient of column %s is infinite", r->field[at]);
        if (add_entry(&r->p, &r->p_count, &r->p_room, i, j, value, err)) return err->status;
    }
    return HU_OK;
}

static hu_status read_sense(reader *r, const char *word, hu_error *err)
{
    if (strncasecmp(word, "MAX", 3) == 0) r->maximise = true;
    else if (strncasecmp(word, "MIN", 3) != 0) return fail(r, err, "'%s' is neither MIN nor MAX", word);
    return HU_OK;
}

static hu_status replace_text(char **text, const char *with, hu_error *err)
{
    free(*text);
    return (*text = strdup(with)) ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

/* A line that begins in column 1. */
static hu_status begin_section(reader *r, const char *line, const char *end, hu_error *err)
{
    static const struct { const char *word; section at; } sections[] = {{"ROWS", ROWS}, {"COLUMNS", COLUMNS}, {"RHS", RHS}, {"RANGES", RANGES}, {"BOUNDS", BOUNDS},
        {"QUADOBJ", QUADOBJ}, {"QSECTION", QUADOBJ}, {"QMATRIX", QMATRIX}, {"OBJSENSE", OBJSENSE}, {"OBJNAME", OBJNAME}, {"OBJECT", OBJNAME}, {"ENDATA", ENDED}};
    const bool fixed = r->fixed;
    const char *word = line;
    while (word < end && !isspace((unsigned char)*word)) word++;
    if (word - line == 4 && strncmp(line, "NAME", 4) == 0) {
        if (!put_field(r, 0, word, end)) return fail(r, err, "a name of more than 255 bytes%s", "");
        return replace_text(&r->problem_name, r->field[0], err);
    }
    if (split_free(r, line, end, err)) return err->status;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (strcasecmp(r->field[0], sections[i].word) != 0) continue;
        if (sections[i].at == OBJSENSE && r->fields > 1) return read_sense(r, r->field[1], err);
        if (r->fields > 1 && sections[i].at < QUADOBJ && !fixed) break;
        r->at = sections[i].at;
        if (r->at == QMATRIX) r->full = true;
        return HU_OK;
    }
    return fail(r, err, "'%s' is no section of the format", r->field[0]);
}

static hu_status read_line(reader *r, const char *line, const char *end, hu_error *err)
{
    while (end > line && isspace((unsigned char)end[-1])) end--;
    if (end == line || *line == '*') return HU_OK;
    if (!isspace((unsigned char)*line)) return begin_section(r, line, end, err);
    if (r->fixed && memchr(line, '\t', (size_t)(end - line))) return fail(r, err, "a tab in fixed columns%s", "");
    if (r->fixed ? split_fixed(r, line, end, err) : split_free(r, line, end, err)) return err->status;
    switch (r->at) {
    case ROWS: return read_row(r, err);
    case COLUMNS: return read_column(r, err);
    case RHS: return read_rhs(r, false, err);
    case RANGES: return read_rhs(r, true, err);
    case BOUNDS: return read_bound(r, err);
    case QUADOBJ:
    case QMATRIX: return read_quadratic(r, err);
    case OBJSENSE: return read_sense(r, r->field[r->fixed ? 1 : 0], err);
    case OBJNAME: return replace_text(&r->wanted_objective, r->field[r->fixed ? 1 : 0], err);
    default: return fail(r, err, "a line before the first section%s", "");
    }
}

static hu_status read_text(reader *r, const char *text, int64_t size, hu_error *err)
{
    const char *p = text, *end = text + size;
    r->objective = -1;
    while (p < end && r->at != ENDED) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        r->line++;
        if (memchr(p, 0, (size_t)(stop - p))) return fail(r, err, "a zero byte%s", "");
        if (read_line(r, p, stop, err)) return err->status;
        p = stop + 1;
    }
    if (r->at != ENDED) return fail(r, err, "the file ends without ENDATA%s", "");
    if (r->objective < 0) return hu_fail_line(err, r->file, 0, r->wanted_objective ? "there is no objective row %s" : "there is no objective: no row of type N", r->wanted_objective);
    return HU_OK;
}

/* ---- to a problem ---------------------------------------------------------------------------------------------------------- */

/* Entries to rows of P, both triangles. */
static hu_status make_quadratic(const reader *r, hu_csr **ret_P, hu_error *err)
{
    const int64_t n = r->columns.count;
    hu_coo *e = NULL;
    hu_csr *P = NULL, *T = NULL;
    if (hu_coo_new(n, n, 2 * r->p_count, false, &e, err)) return err->status;
    e->nnz = 0;
    for (int64_t k = 0; k < r->p_count; k++) {
        const entry *x = &r->p[k];
        e->row[e->nnz] = x->row, e->col[e->nnz] = x->col, e->val[e->nnz++] = x->val;
        if (!r->full && x->row != x->col) e->row[e->nnz] = x->col, e->col[e->nnz] = x->row, e->val[e->nnz++] = x->val;
    }
    if (hu_csr_from_coo(&e, r->full ? HU_DUP_SUM : HU_DUP_ERROR, r->file, &P, err)) {
        if (err->status == HU_INPUT) {
            hu_error_clear(err);
            hu_fail_line(err, r->file, 0, "the section QUADOBJ gives one triangle, but holds an entry twice or in both triangles");
        }
        return err->status;
    }
    if (r->full) {
        if (hu_csr_transpose(P, false, &T, err)) goto failed;
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = P->row_ptr[i]; k < P->row_ptr[i + 1]; k++)
                if (T->row_ptr[i + 1] != P->row_ptr[i + 1] || T->col[k] != P->col[k] || T->val[k] != P->val[k]) {
                    hu_fail_line(err, r->file, 0, "the section QMATRIX is not symmetric at column %s", r->columns.name[i]);
                    goto failed;
                }
        hu_csr_free(T);
    }
    *ret_P = P;
    return HU_OK;
failed:
    hu_csr_free(P);
    hu_csr_free(T);
    return err->status;
}

static void set_row(const reader *r, int64_t i, double *l, double *u)
{
    const double b = r->rhs[i], range = r->range[i], width = fabs(range);
    const char type = r->type[i];
    *l = type == 'L' ? (isnan(range) ? -INFINITY : b - width) : b;
    *u = type == 'G' ? (isnan(range) ? INFINITY : b + width) : b;
    if (type == 'E' && !isnan(range)) {
        if (range < 0) *l = b - width;
        else *u = b + width;
    }
}

/* place[i]: the row of A that row i of the file becomes, -1 for N rows. */
static hu_status make_problem(reader *r, qp_problem **ret_problem, int32_t *place, hu_error *err)
{
    hu_csr *P = NULL, *A = NULL;
    hu_coo *e = NULL;
    int32_t m = 0;
    const int64_t n = r->columns.count;
    for (int64_t i = 0; i < r->rows.count; i++) place[i] = r->type[i] == 'N' ? -1 : m++;
    if (make_quadratic(r, &P, err) || hu_coo_new(m, n, r->a_count, false, &e, err)) {
        hu_csr_free(P);
        return err->status;
    }
    e->nnz = 0;
    for (int64_t k = 0; k < r->a_count; k++)
        if (place[r->a[k].row] >= 0) e->row[e->nnz] = place[r->a[k].row], e->col[e->nnz] = r->a[k].col, e->val[e->nnz++] = r->a[k].val;
    if (hu_csr_from_coo(&e, HU_DUP_SUM, r->file, &A, err)) {
        hu_csr_free(P);
        return err->status;
    }
    if (qp_new(P, A, n, ret_problem, err)) return err->status;
    qp_problem *p = *ret_problem;
    for (int64_t k = 0; k < r->a_count; k++)
        if (r->a[k].row == r->objective) p->q[r->a[k].col] += r->a[k].val;
    for (int64_t j = 0; j < n; j++) p->lb[j] = r->lb[j], p->ub[j] = r->ub[j];
    for (int64_t i = 0; i < r->rows.count; i++)
        if (place[i] >= 0) set_row(r, i, &p->l[place[i]], &p->u[place[i]]);
    p->c0 = r->rhs[r->objective] == 0 ? 0 : -r->rhs[r->objective];
    if (r->maximise) {
        for (int64_t k = 0; k < p->P->nnz; k++) p->P->val[k] = -p->P->val[k];
        for (int64_t j = 0; j < n; j++) p->q[j] = -p->q[j];
        p->c0 = -p->c0;
    }
    return qp_check_bounds(p, r->file, err);
}

/* Hands the names over; those of N rows go. */
static void keep_names(reader *r, const int32_t *place, qps_names *ret)
{
    for (int64_t i = 0; i < r->rows.count; i++) {
        if (place[i] < 0) free(r->rows.name[i]);
        else r->rows.name[place[i]] = r->rows.name[i];
    }
    *ret = (qps_names){r->problem_name, r->rows.name, r->columns.name, r->maximise};
    r->rows.name = r->columns.name = NULL;
    r->rows.count = r->columns.count = 0;
    r->problem_name = NULL;
}

static void release(reader *r)
{
    free_names(&r->rows);
    free_names(&r->columns);
    void *const blocks[] = {r->type, r->rhs, r->range, r->lb, r->ub, r->has_lower, r->a, r->p, r->wanted_objective, r->problem_name};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

/* ---- both layouts ------------------------------------------------------------------------------------------------------------ */

static hu_status read_as(const char *file, bool fixed, const char *text, int64_t size, qp_problem **ret_problem, qps_names *ret_names, hu_error *err)
{
    reader r = {.file = file, .fixed = fixed};
    int32_t *place = NULL;
    *ret_problem = NULL;
    if (read_text(&r, text, size, err) == HU_OK && hu_alloc(r.rows.count, sizeof *place, "rows", (void **)&place, err) == HU_OK &&
        make_problem(&r, ret_problem, place, err) == HU_OK && (r.problem_name || replace_text(&r.problem_name, "", err) == HU_OK))
        keep_names(&r, place, ret_names);
    hu_free(place);
    release(&r);
    if (err->status) {
        qp_free(*ret_problem);
        *ret_problem = NULL;
    }
    return err->status;
}

hu_status qps_read(hu_source *source, qp_problem **ret_problem, qps_names *ret_names, hu_error *err)
{
    char *text;
    int64_t size;
    *ret_problem = NULL;
    *ret_names = (qps_names){0};
    if (hu_source_slurp(source, MOST_BYTES, &text, &size, err)) return err->status;
    const char *name = hu_source_name(source);
    const int verbosity = hu_verbosity();
    hu_error other = HU_ERROR_NONE;
    if (read_as(name, false, text, size, ret_problem, ret_names, err) == HU_INPUT) {
        hu_set_verbosity(-1); /* what it warns of is known */
        if (read_as(name, true, text, size, ret_problem, ret_names, &other) == HU_OK) hu_error_clear(err);
        hu_set_verbosity(verbosity);
    }
    hu_free(text);
    return err->status;
}

void qps_names_free(qps_names *names, int64_t m, int64_t n)
{
    for (int64_t i = 0; i < m && names->row; i++) free(names->row[i]);
    for (int64_t j = 0; j < n && names->column; j++) free(names->column[j]);
    free(names->row);
    free(names->column);
    free(names->name);
    *names = (qps_names){0};
}
