/* emit.h: a product with one sparse weight as source text: C that builds alone, or CUDA. */
#ifndef SPMM_EMIT_H
#define SPMM_EMIT_H

#include "base/output.h"
#include "panel.h"

typedef enum { SPMM_FORM_LOOP, SPMM_FORM_STRAIGHT, SPMM_FORM_DENSE, SPMM_FORMS } spmm_form;

/* One kernel. */
typedef struct {
    spmm_form form;         /* loops over mask buckets; straight-line code; a dense loop */
    spmm_panel_shape shape; /* of the first two (straight: R and order) */
    int32_t nv;             /* vectors of SPMM_EMIT_LANES floats a tile */
} spmm_kernel_choice;

enum { SPMM_EMIT_LANES = 16, SPMM_EMIT_MOST_STRAIGHT = 20000 /* entries of straight-line code at most */ };

/* The function that both languages define: C = A B, A [rows x cols] the weight, B [cols x k], C [rows x k], row major with leading dimensions ldb and ldc.
 *     C:    void NAME(const float *b, long ldb, float *c, long ldc);
 *     CUDA: cudaError_t NAME(const float *b, long ldb, float *c, long ldc, cudaStream_t stream);    b and c in device memory */
typedef struct {
    const char *name;      /* of the function */
    const char *source;    /* what the weight was read from, for the comment */
    int64_t k;
    bool selftest;         /* with a main() that holds the function against three plain loops */
} spmm_emit_options;

/* a: values f32, finite. */
hu_status spmm_emit_c(const spmm_matrix *a, const spmm_kernel_choice *choice, const spmm_emit_options *options, hu_output *out, hu_error *err);
hu_status spmm_emit_cuda(const spmm_matrix *a, const spmm_emit_options *options, hu_output *out, hu_error *err);

/* For both: an array as text, `name` with its type; the weight as CSR arrays for a main(); the end of a comment's line made harmless. */
hu_status spmm_emit_floats(hu_output *out, const char *declaration, const float *x, int64_t n, hu_error *err);
hu_status spmm_emit_integers(hu_output *out, const char *declaration, int width, const void *x, int64_t n, hu_error *err);
hu_status spmm_emit_head(const spmm_matrix *a, const spmm_emit_options *options, const char *what, hu_output *out, hu_error *err);
hu_status spmm_emit_selftest(const spmm_matrix *a, const spmm_emit_options *options, bool cuda, hu_output *out, hu_error *err);

#endif
