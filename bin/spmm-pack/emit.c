/* emit.c: what the source texts of both languages share (emit.h): arrays, the head, the test. */
#include "config.h"
#include "emit.h"

#include <string.h>

enum { LINE = 12 }; /* numbers a line */

hu_status spmm_emit_floats(hu_output *out, const char *declaration, const float *x, int64_t n, hu_error *err)
{
    hu_output_printf(out, err, "%s[%lld] = {", declaration, (long long)(n ? n : 1));
    for (int64_t i = 0; i < n && !err->status; i++) hu_output_printf(out, err, "%s%af,", i % LINE ? " " : "\n    ", (double)x[i]);
    return hu_output_printf(out, err, "%s\n};\n", n ? "" : "0");
}

static long long item(int width, const void *x, int64_t i)
{
    return width == 2 ? ((const uint16_t *)x)[i] : width == 4 ? ((const int32_t *)x)[i] : (long long)((const int64_t *)x)[i];
}

hu_status spmm_emit_integers(hu_output *out, const char *declaration, int width, const void *x, int64_t n, hu_error *err)
{
    hu_output_printf(out, err, "%s[%lld] = {", declaration, (long long)(n ? n : 1));
    for (int64_t i = 0; i < n && !err->status; i++) hu_output_printf(out, err, "%s%lld,", i % LINE ? " " : "\n    ", item(width, x, i));
    return hu_output_printf(out, err, "%s\n};\n", n ? "" : "0");
}

/* A name in a comment: printable, and no end of the comment. */
static void harmless(const char *name, char *text, size_t size)
{
    size_t n = 0;
    for (; *name && n + 1 < size; name++) text[n++] = *name < ' ' || *name == '*' || *name == '/' || *name == '\\' || *name == 0x7f ? '_' : *name;
    text[n] = 0;
}

hu_status spmm_emit_head(const spmm_matrix *a, const spmm_emit_options *o, const char *what, hu_output *out, hu_error *err)
{
    char name[256];
    const char *base = strrchr(o->source, '/');
    harmless(base ? base + 1 : o->source, name, sizeof name);
    return hu_output_printf(out, err,
                            "/* Made by spmm-pack codegen from %s: C = A B for that one weight A of %lld x %lld with %lld entries.\n"
                            " *\n"
                            " * B is %lld x %lld and C %lld x %lld, floats, row major: element (i, j) stands at i ldb + j and i ldc + j. C is overwritten and must not\n"
                            " * overlap B. Kernel: %s.\n"
                            " */\n",
                            name, (long long)a->rows, (long long)a->cols, (long long)a->nnz, (long long)a->cols, (long long)o->k, (long long)a->rows, (long long)o->k, what);
}

/* The weight as it is, three loops in double, and the bound on the error of a sum in float. */
static const char selftest[] =
    "\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "\n"
    "int main(void)\n"
    "{\n"
    "    enum { PAD = 3 };\n"
    "    const long ldb = K + PAD, ldc = K + PAD;\n"
    "    float *b = malloc(sizeof *b * (size_t)(COLS * ldb + 1)), *c = malloc(sizeof *c * (size_t)(ROWS * ldc + 1));\n"
    "    unsigned state = 1;\n"
    "    double most = 0;\n"
    "    if (!b || !c) return 4;\n"
    "    for (long i = 0; i < COLS * ldb; i++) {\n"
    "        state = state * 1664525u + 1013904223u;\n"
    "        b[i] = (float)(state >> 8) / 8388608.0f - 1.0f;\n"
    "    }\n"
    "    for (long i = 0; i < ROWS * ldc; i++) c[i] = 12345.0f;\n"
    "    CALL\n"
    "    for (long i = 0; i < ROWS; i++) {\n"
    "        const double n = (double)(weight_ptr[i + 1] - weight_ptr[i]) + 2, g = n * 5.9604644775390625e-8 / (1 - n * 5.9604644775390625e-8);\n"
    "        for (long j = 0; j < ldc; j++) {\n"
    "            double sum = 0, size = 0, error;\n"
    "            for (long p = weight_ptr[i]; p < weight_ptr[i + 1]; p++) {\n"
    "                const double v = (double)weight_val[p] * b[weight_col[p] * ldb + j];\n"
    "                sum += v;\n"
    "                size += v < 0 ? -v : v;\n"
    "            }\n"
    "            if (j >= K) sum = 12345, size = 0;\n"
    "            error = c[i * ldc + j] - sum;\n"
    "            if (error < 0) error = -error;\n"
    "            if (!(error <= g * size)) {\n"
    "                printf(\"wrong: row %ld, column %ld: %g instead of %g\\n\", i + 1, j + 1, (double)c[i * ldc + j], sum);\n"
    "                return 1;\n"
    "            }\n"
    "            if (size > 0 && error / (g * size) > most) most = error / (g * size);\n"
    "        }\n"
    "    }\n"
    "    printf(\"right: the greatest error is %.3g of the bound\\n\", most);\n"
    "    free(b);\n"
    "    free(c);\n"
    "    return 0;\n"
    "}\n";

static const char call_cuda[] =
    "float *db, *dc;\n"
    "    if (cudaMalloc((void **)&db, sizeof *b * (size_t)(COLS * ldb + 1)) || cudaMalloc((void **)&dc, sizeof *c * (size_t)(ROWS * ldc + 1))) return 5;\n"
    "    if (cudaMemcpy(db, b, sizeof *b * (size_t)(COLS * ldb), cudaMemcpyHostToDevice) || cudaMemcpy(dc, c, sizeof *c * (size_t)(ROWS * ldc), cudaMemcpyHostToDevice)) return 5;\n"
    "    if (NAME(db, ldb, dc, ldc, 0) || cudaMemcpy(c, dc, sizeof *c * (size_t)(ROWS * ldc), cudaMemcpyDeviceToHost)) return 5;\n"
    "    cudaFree(db);\n"
    "    cudaFree(dc);";

/* Replaces a word of the text above. */
static hu_status put(hu_output *out, const char *text, const char *name, bool cuda, hu_error *err)
{
    for (const char *at; !err->status && (at = strpbrk(text, "CNm")) != NULL; text = at + 1) {
        hu_output_write(out, text, (size_t)(at - text), err);
        if (strncmp(at, "CALL", 4) == 0) {
            if (cuda) put(out, call_cuda, name, true, err);
            else hu_output_printf(out, err, "%s(b, ldb, c, ldc);", name);
            at += 3;
        } else if (strncmp(at, "NAME", 4) == 0) {
            hu_output_printf(out, err, "%s", name);
            at += 3;
        } else if (cuda && strncmp(at, "malloc", 6) == 0) {
            hu_output_printf(out, err, "(float *)malloc"); /* C++ */
            at += 5;
        } else {
            hu_output_write(out, at, 1, err);
        }
    }
    return err->status ? err->status : hu_output_write(out, text, strlen(text), err);
}

hu_status spmm_emit_selftest(const spmm_matrix *a, const spmm_emit_options *o, bool cuda, hu_output *out, hu_error *err)
{
    hu_output_printf(out, err, "\n/* ---- the test: three plain loops in double; exit status 1 where the function is wrong */\n\n");
    spmm_emit_integers(out, "static const int weight_ptr", 8, a->row_ptr, a->rows + 1, err);
    spmm_emit_integers(out, "static const int weight_col", 4, a->col, a->nnz, err);
    spmm_emit_floats(out, "static const float weight_val", a->val, a->nnz, err);
    return put(out, selftest, o->name, cuda, err);
}
