/* emit_c.c: a product with one sparse weight as C (emit.h): ISO C11 that builds alone; with GCC and clang by vectors, which the compiler
 * cuts to what the machine has, elsewhere by single floats; on x86-64 GNU/Linux built for three levels, chosen when the program starts.
 *
 * The text names sums sR_V (row, vector) and gives each statement of the unrolled loops a line of its own.
 *
 * Sections: pieces, straight-line code, loops, dense, the whole text.
 */
#include "config.h"
#include "base/memory.h"
#include "emit.h"

#include <string.h>

typedef struct {
    hu_output *out;
    hu_error *err;
    const spmm_matrix *a;
    const spmm_panel_form *f;
    const spmm_kernel_choice *choice;
    const spmm_emit_options *o;
} text;

#define PUT(t, ...) hu_output_printf((t)->out, (t)->err, __VA_ARGS__)

/* A tile: vectors of type `vec` or single floats. */
typedef struct {
    const char *suffix, *type;
    int nv, step; /* vectors of the tile; floats of a vector as an expression's factor: 16 or 1 */
} tile;

/* The tiles that k columns need. Returns how many. */
static int tiles_of(const spmm_kernel_choice *c, int64_t k, tile *t)
{
    const int64_t wide = (int64_t)c->nv * SPMM_EMIT_LANES;
    int n = 0;
    if (k >= wide) t[n++] = (tile){"wide", "vec", c->nv, SPMM_EMIT_LANES};
    if (c->nv > 1 && k % wide >= SPMM_EMIT_LANES) t[n++] = (tile){"one", "vec", 1, SPMM_EMIT_LANES};
    if (k % SPMM_EMIT_LANES) t[n++] = (tile){"rest", "float", 1, 1};
    return n;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static const char prologue[] =
    "#if defined(__GNUC__)\n"
    "typedef float vec __attribute__((vector_size(64), aligned(4), may_alias));\n"
    "#define LANES 16\n"
    "#else\n"
    "typedef float vec;\n"
    "#define LANES 1\n"
    "#endif\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"fp-contract=fast\")\n"
    "#endif\n"
    "#if defined(__GNUC__)\n"
    "#define INLINE static inline __attribute__((always_inline)) /* into each level of its caller */\n"
    "#else\n"
    "#define INLINE static inline\n"
    "#endif\n"
    "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && defined(__gnu_linux__)\n"
    "#define LEVELS __attribute__((target_clones(\"arch=x86-64-v4\", \"arch=x86-64-v3\", \"default\")))\n"
    "#else\n"
    "#define LEVELS\n"
    "#endif\n";

static void declare_sums(text *t, const tile *z, int rows)
{
    PUT(t, "        %s ", z->type);
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < z->nv; v++) PUT(t, "%ss%d_%d = {0}", r + v ? ", " : "", r, v);
    PUT(t, ";\n");
}

static const char *offset(const tile *z, int v, char at[32])
{
    if (z->step == 1) snprintf(at, 32, "%d", v);
    else snprintf(at, 32, "%d * LANES", v);
    return at;
}

static void move_sums(text *t, const tile *z, int rows, const char *indent, bool store)
{
    char at[32];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < z->nv; v++) {
            if (store) PUT(t, "%s*(%s *)(c%d + %s) = s%d_%d;\n", indent, z->type, r, offset(z, v, at), r, v);
            else PUT(t, "%ss%d_%d = *(const %s *)(c%d + %s);\n", indent, r, v, z->type, r, offset(z, v, at));
        }
}

/* sum of row r += value * the vectors at x */
static void add_row(text *t, const tile *z, int r, const char *value, const char *indent)
{
    char at[32];
    for (int v = 0; v < z->nv; v++) PUT(t, "%ss%d_%d += %s * *(const %s *)(x + %s);\n", indent, r, v, value, z->type, offset(z, v, at));
}

/* ---- straight-line code ----------------------------------------------------------------------------------------- */

/* Rows first..first+rows-1: each column that one of them has, in order, for the rows that have it. */
static void straight_panel(text *t, const tile *z, int64_t first, int rows)
{
    int64_t p[8];
    char value[40];
    for (int r = 0; r < rows; r++) p[r] = t->a->row_ptr[first + r];
    PUT(t, "    {\n");
    for (int r = 0; r < rows; r++) PUT(t, "        float *const c%d = c + %lld * ldc;\n", r, (long long)(first + r));
    declare_sums(t, z, rows);
    for (;;) {
        int32_t column = INT32_MAX;
        for (int r = 0; r < rows; r++)
            if (p[r] < t->a->row_ptr[first + r + 1] && t->a->col[p[r]] < column) column = t->a->col[p[r]];
        if (column == INT32_MAX || t->err->status) break;
        PUT(t, "        x = b + %ld * ldb;\n", (long)column);
        for (int r = 0; r < rows; r++)
            while (p[r] < t->a->row_ptr[first + r + 1] && t->a->col[p[r]] == column) {
                snprintf(value, sizeof value, "%af", (double)((const float *)t->a->val)[p[r]++]);
                add_row(t, z, r, value, "        ");
            }
    }
    move_sums(t, z, rows, "        ", true);
    PUT(t, "    }\n");
}

static void straight_tile(text *t, const tile *z)
{
    const int rows = t->choice->shape.rows;
    PUT(t, "LEVELS static void tile_%s(const float *b, long ldb, float *c, long ldc)\n{\n    const float *x;\n", z->suffix);
    for (int64_t i = 0; i < t->a->rows; i += rows) straight_panel(t, z, i, (int)(t->a->rows - i < rows ? t->a->rows - i : rows));
    PUT(t, "    (void)x;\n    (void)b;\n    (void)ldb;\n}\n\n");
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

static void tables(text *t)
{
    const spmm_panel_form *f = t->f;
    int masks[16];
    const int64_t cells = f->blocks * t->a->rows, buckets = spmm_panel_buckets(&f->shape, masks);
    PUT(t, "/* rows of a panel and their entries in lock step; shared columns of a panel by mask; columns and values in the order of use, by block */\n");
    spmm_emit_integers(t->out, "static const unsigned short row", 2, f->row, cells, t->err);
    spmm_emit_integers(t->out, "static const unsigned short len", 2, f->len, cells, t->err);
    if (buckets) spmm_emit_integers(t->out, "static const unsigned short bucket", 2, f->bucket, f->blocks * (t->a->rows / f->shape.rows + 1) * buckets, t->err);
    spmm_emit_integers(t->out, "static const long begin", 8, f->ptr, f->chunks * f->blocks + 1, t->err);
    spmm_emit_integers(t->out, "static const unsigned short column", 2, f->col, f->entries, t->err);
    spmm_emit_floats(t->out, "static const float value", f->val, f->entries, t->err);
    PUT(t, "\n");
}

/* The loop of a mask's bucket. */
static void bucket_loop(text *t, const tile *z, int mask)
{
    char value[32], at[32];
    int k = 0;
    PUT(t, "        for (int n = *u++; n; n--, v += %d) {\n            x = b + *j++ * ldb;\n", __builtin_popcount((unsigned)mask));
    for (int v = 0; v < z->nv; v++) PUT(t, "            const %s x%d = *(const %s *)(x + %s);\n", z->type, v, z->type, offset(z, v, at));
    for (int r = 0; r < 8; r++) {
        if (!(mask >> r & 1)) continue;
        snprintf(value, sizeof value, "v[%d]", k++);
        for (int v = 0; v < z->nv; v++) PUT(t, "            s%d_%d += %s * x%d;\n", r, v, value, v);
    }
    PUT(t, "        }\n");
}

static void panel_function(text *t, const tile *z, int rows, bool shares)
{
    int masks[16];
    char value[32];
    const int buckets = shares ? spmm_panel_buckets(&t->f->shape, masks) : 0;
    PUT(t, "INLINE const float *panel_%s_%d(const unsigned short **col, const float *v, const unsigned short *r, const unsigned short *n, %sconst float *b, long ldb, float *c, long ldc, int resume)\n{\n",
        z->suffix, rows, buckets ? "const unsigned short *u, " : "");
    PUT(t, "    const unsigned short *j = *col;\n    const float *x;\n    int i = 0;\n    {\n");
    for (int r = 0; r < rows; r++) PUT(t, "        float *const c%d = c + r[%d] * ldc;\n", r, r);
    declare_sums(t, z, rows);
    PUT(t, "        if (resume) {\n");
    move_sums(t, z, rows, "            ", false);
    PUT(t, "        }\n");
    for (int m = 0; m < buckets; m++) bucket_loop(t, z, masks[m]);
    for (int live = rows; live > 0; live--) {
        PUT(t, "        for (; i < n[%d]; i++, j += %d, v += %d) {\n", live - 1, live, live);
        for (int r = 0; r < live; r++) {
            PUT(t, "            x = b + j[%d] * ldb;\n", r);
            snprintf(value, sizeof value, "v[%d]", r);
            add_row(t, z, r, value, "            ");
        }
        PUT(t, "        }\n");
    }
    move_sums(t, z, rows, "        ", true);
    PUT(t, "    }\n    *col = j;\n    return v;\n}\n\n");
}

static void loop_tile(text *t, const tile *z)
{
    const spmm_panel_form *f = t->f;
    int masks[16];
    const int rows = f->shape.rows, buckets = spmm_panel_buckets(&f->shape, masks);
    panel_function(t, z, rows, true);
    if (t->a->rows % rows) panel_function(t, z, 1, false);
    PUT(t, "LEVELS static void tile_%s(const float *b, long ldb, float *c, long ldc)\n{\n", z->suffix);
    PUT(t, "    for (long chunk = 0; chunk < %lld; chunk++)\n        for (long k = 0; k < %lld; k++) {\n", (long long)f->chunks, (long long)f->blocks);
    PUT(t, "            const long first = chunk * %d, most = ROWS - first < %d ? ROWS - first : %d;\n", SPMM_CHUNK_ROWS, SPMM_CHUNK_ROWS, SPMM_CHUNK_ROWS);
    PUT(t, "            const unsigned short *r = row + k * ROWS + first, *n = len + k * ROWS + first, *j = column + begin[chunk * %lld + k];\n", (long long)f->blocks);
    PUT(t, "            const float *v = value + begin[chunk * %lld + k];\n            long i = 0;\n", (long long)f->blocks);
    if (buckets) PUT(t, "            const unsigned short *u = bucket + (k * %lld + first / %d) * %d;\n", (long long)(t->a->rows / rows + 1), rows, buckets);
    PUT(t, "            for (; i + %d <= most; i += %d) {\n                v = panel_%s_%d(&j, v, r + i, n + i, %sb + k * %d * ldb, ldb, c + first * ldc, ldc, k > 0);\n", rows, rows, z->suffix, rows,
        buckets ? "u, " : "", f->shape.k_block);
    if (buckets) PUT(t, "                u += %d;\n", buckets);
    PUT(t, "            }\n");
    if (t->a->rows % rows) PUT(t, "            for (; i < most; i++) v = panel_%s_1(&j, v, r + i, n + i, b + k * %d * ldb, ldb, c + first * ldc, ldc, k > 0);\n", z->suffix, f->shape.k_block);
    PUT(t, "        }\n}\n\n");
}

/* ---- dense ------------------------------------------------------------------------------------------------------ */

/* All places of the weight, zeros too, in panels of four rows. */
static hu_status dense_table(text *t)
{
    enum { PANEL = 4 };
    float *d;
    const int64_t rows = (t->a->rows + PANEL - 1) / PANEL * PANEL;
    if (hu_alloc_zero(rows * t->a->cols, sizeof *d, "a dense weight", (void **)&d, t->err)) return t->err->status;
    for (int64_t i = 0; i < t->a->rows; i++)
        for (int64_t p = t->a->row_ptr[i]; p < t->a->row_ptr[i + 1]; p++) d[(i / PANEL * t->a->cols + t->a->col[p]) * PANEL + i % PANEL] += ((const float *)t->a->val)[p];
    spmm_emit_floats(t->out, "static const float value", d, rows * t->a->cols, t->err);
    hu_free(d);
    return t->err->status;
}

static void dense_tile(text *t, const tile *z)
{
    enum { PANEL = 4 };
    char value[32];
    PUT(t, "LEVELS static void tile_%s(const float *b, long ldb, float *c, long ldc)\n{\n    const float *v = value;\n", z->suffix);
    for (int part = 0; part < 2; part++) {
        const int rows = part ? (int)(t->a->rows % PANEL) : PANEL;
        if (rows == 0 || (!part && t->a->rows < PANEL)) continue;
        const long long first = part ? t->a->rows - rows : 0, last = part ? t->a->rows : t->a->rows / PANEL * PANEL;
        PUT(t, "    for (long i = %lld; i < %lld; i += %d) {\n        const float *x = b;\n", first, last, PANEL);
        for (int r = 0; r < rows; r++) PUT(t, "        float *const c%d = c + (i + %d) * ldc;\n", r, r);
        declare_sums(t, z, rows);
        PUT(t, "        for (long j = 0; j < COLS; j++, x += ldb, v += %d) {\n", PANEL);
        for (int r = 0; r < rows; r++) {
            snprintf(value, sizeof value, "v[%d]", r);
            add_row(t, z, r, value, "            ");
        }
        PUT(t, "        }\n");
        move_sums(t, z, rows, "        ", true);
        PUT(t, "    }\n");
    }
    PUT(t, "}\n\n");
}

/* ---- the whole text --------------------------------------------------------------------------------------------- */

static void describe(const spmm_kernel_choice *c, char *what, size_t size)
{
    if (c->form == SPMM_FORM_DENSE) snprintf(what, size, "a dense loop, %d vectors wide", c->nv);
    else if (c->form == SPMM_FORM_STRAIGHT) snprintf(what, size, "straight-line code, panels of %d rows, %d vectors wide", c->shape.rows, c->nv);
    else
        snprintf(what, size, "panels of %d rows, blocks of %d columns, masks %s, order %s, %d vectors wide", c->shape.rows, c->shape.k_block, spmm_masks_names[c->shape.masks],
                 spmm_panel_order_names[c->shape.order], c->nv);
}

hu_status spmm_emit_c(const spmm_matrix *a, const spmm_kernel_choice *choice, const spmm_emit_options *o, hu_output *out, hu_error *err)
{
    text t = {out, err, a, NULL, choice, o};
    spmm_panel_form *f = NULL;
    char what[160];
    tile z[3];
    const int tiles = tiles_of(choice, o->k, z);
    if (choice->form == SPMM_FORM_LOOP && spmm_panel_pack(a, &choice->shape, &f, err)) return err->status;
    t.f = f;
    describe(choice, what, sizeof what);
    spmm_emit_head(a, o, what, out, err);
    PUT(&t, "enum { ROWS = %lld, COLS = %lld, K = %lld };\n\n%s\n", (long long)a->rows, (long long)a->cols, (long long)o->k, prologue);
    PUT(&t, "void %s(const float *b, long ldb, float *c, long ldc);\n\n", o->name);
    if (f) tables(&t);
    if (choice->form == SPMM_FORM_DENSE) dense_table(&t);
    for (int i = 0; i < tiles; i++) {
        if (choice->form == SPMM_FORM_LOOP) loop_tile(&t, &z[i]);
        else if (choice->form == SPMM_FORM_STRAIGHT) straight_tile(&t, &z[i]);
        else dense_tile(&t, &z[i]);
    }
    PUT(&t, "void %s(const float *b, long ldb, float *c, long ldc)\n{\n    long k = 0;\n", o->name);
    for (int i = 0; i < tiles; i++) {
        char width[32];
        if (z[i].step == 1) snprintf(width, sizeof width, "1");
        else snprintf(width, sizeof width, "%d * LANES", z[i].nv);
        PUT(&t, "    for (; k + %s <= K; k += %s) tile_%s(b + k, ldb, c + k, ldc);\n", width, width, z[i].suffix);
    }
    PUT(&t, "}\n");
    if (o->selftest) spmm_emit_selftest(a, o, false, out, err);
    spmm_panel_free(f);
    return err->status;
}
