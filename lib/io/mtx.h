/* mtx.h: Matrix Market files (Boisvert, Pozo, Remington: "The Matrix Market exchange formats", NISTIR 5935, 1996),
 * read in parallel and exactly, and written so that they read back to the same bits.
 *
 * Accepted beyond the letter of the standard: CRLF, tabs, a byte order mark, no newline at the end, blank and comment
 * lines anywhere after the banner, words in any case, Fortran's D exponents, `double` for `real`; in a symmetric,
 * skew-symmetric or hermitian file entries of the upper triangle, which mean the same matrix, unless an entry is given
 * in both triangles or twice in such a mixed file; explicit zeros on the diagonal of a skew-symmetric matrix; an
 * integer beyond 2^53 (rounded to the nearest double, with a warning). What is refused is refused with the line of the
 * first fault of the file, whatever the number of threads: among others more than one entry on a line, a value missing
 * or too many, indices outside, NaN and infinities, a number of entries other than the size line says.
 */
#ifndef HU_IO_MTX_H
#define HU_IO_MTX_H

#include "base/output.h"
#include "dense/dense.h"
#include "io/source.h"
#include "sparse/csr.h"

typedef enum { HU_MTX_COORDINATE, HU_MTX_ARRAY } hu_mtx_format;
typedef enum { HU_MTX_REAL, HU_MTX_INTEGER, HU_MTX_PATTERN, HU_MTX_COMPLEX } hu_mtx_field;
typedef enum { HU_MTX_GENERAL, HU_MTX_SYMMETRIC, HU_MTX_SKEW, HU_MTX_HERMITIAN } hu_mtx_symmetry;
typedef enum { HU_MTX_BOTH, HU_MTX_LOWER, HU_MTX_UPPER } hu_mtx_half;

/* What the header and size line said. */
typedef struct {
    hu_mtx_format format;
    hu_mtx_field field;
    hu_mtx_symmetry symmetry;
    int64_t rows, cols, entries; /* entries as stored in the file */
} hu_mtx_info;

typedef struct {
    hu_mtx_half
        half; /* of a file declared symmetric, skew or hermitian: which half is wanted (general files: all of it) */
    hu_duplicates duplicates; /* default: summed, in the order of the file */
    double pattern_value;     /* the value of a pattern's entries; set it to 1 */
    bool lenient; /* a file without banner is a real general coordinate file; with too few entries, or too many (the
                   * rest is passed over), it is read with a warning */
    bool keep_nonfinite; /* NaN and Inf are values, not errors */
} hu_mtx_options;

#define HU_MTX_DEFAULTS                                                                                                \
    {                                                                                                                  \
        HU_MTX_BOTH, HU_DUP_SUM, 1.0, false, false                                                                     \
    }

/* Reads a whole source into a CSR matrix; an array file becomes one with its zeros left out. ret_info may be NULL.
 * Errors name source, line and reason (HU_INPUT). */
hu_status hu_mtx_read_csr(hu_source *source, const hu_mtx_options *options, hu_csr **ret_csr, hu_mtx_info *opt_info,
                          hu_error *err);

/* Reads a whole source into a dense column-major matrix (HU_F64 or HU_C128); a coordinate file gets its zeros. */
hu_status hu_mtx_read_dense(hu_source *source, const hu_mtx_options *options, hu_dense **ret_dense,
                            hu_mtx_info *opt_info, hu_error *err);

/* Writes coordinate general, real or complex; comment (may be NULL) becomes a % line. */
hu_status hu_mtx_write_csr(hu_output *out, const hu_csr *csr, const char *opt_comment, hu_error *err);
hu_status hu_mtx_write_dense(hu_output *out, const hu_dense *dense, const char *opt_comment, hu_error *err);

#endif
