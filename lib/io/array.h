/* array.h: vectors and matrices of numbers from any source in any of the formats that carry them, one after another, and
 * their writing. Right-hand sides, results and tensors of all programs come through here.
 *
 *     npy    NumPy (npy.h), told by its first bytes
 *     mtx    Matrix Market array or coordinate (mtx.h), told by its banner
 *     csv    a table of numbers (csv.h), a row a line; a first line with words is a header; one column is a vector. All else is taken for it.
 *     raw    doubles without any header, little-endian, column by column; only where asked for by name, since nothing tells it
 *
 * A source may hold several arrays of npy, mtx or raw back to back; a CSV table takes the rest of it.
 */
#ifndef HU_IO_ARRAY_H
#define HU_IO_ARRAY_H

#include "base/output.h"
#include "dense/dense.h"
#include "io/source.h"

typedef enum { HU_ARRAY_AUTO, HU_ARRAY_NPY, HU_ARRAY_MTX, HU_ARRAY_CSV, HU_ARRAY_RAW } hu_array_format;

typedef struct hu_array_reader hu_array_reader;

/* A reader of the arrays of a source, which stays the caller's. raw_rows: rows of each raw array (HU_USAGE where format is HU_ARRAY_RAW and it is
 * not positive); other formats tell theirs. Free with hu_array_reader_free(). */
hu_status hu_array_reader_new(hu_source *source, hu_array_format format, int64_t raw_rows, hu_array_reader **ret_reader, hu_error *err);
void hu_array_reader_free(hu_array_reader *reader); /* NULL is allowed */

void hu_array_reader_raw_columns(hu_array_reader *reader, int64_t cols); /* each raw array is a matrix, not a vector */
void hu_array_reader_keep_nonfinite(hu_array_reader *reader);            /* NaN and infinities are values, not errors */
void hu_array_reader_limit(hu_array_reader *reader, int64_t most_bytes); /* of an npy or CSV array in memory */

/* Reads the next array; HU_END where the source has ended. Real numbers and whole ones become HU_F64 (HU_F32 from f2 and f4), complex HU_C128, exactly: a
 * whole number that no double equals is an error. Of npy, mtx and raw no byte behind the array is taken or waited for, so that a reader and a
 * writer can answer each other through pipes. What is wrong with the content is HU_INPUT. Free with hu_dense_free(). */
hu_status hu_array_read_next(hu_array_reader *reader, hu_dense **ret_dense, hu_error *err);

/* The format of the array that was read last; AUTO where there was none. */
hu_array_format hu_array_format_read(const hu_array_reader *reader);

/* HU_INPUT unless the source ends here, line ends aside: for who expects one array only. */
hu_status hu_array_expect_end(hu_array_reader *reader, hu_error *err);

/* The format that the end of a file's name tells (.npy .mtx .csv .f64 .raw .bin, and with .gz and the like behind), or AUTO; NULL is allowed. */
hu_array_format hu_array_format_of(const char *opt_path);
const char *hu_array_format_name(hu_array_format format);

/* Writes one array; AUTO is npy. csv has no header and cannot hold complex numbers (HU_USAGE). */
hu_status hu_array_write(hu_output *out, const hu_dense *dense, hu_array_format format, hu_error *err);

#endif
