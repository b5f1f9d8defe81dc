/* npy.h: NumPy .npy files (format 1.0, 2.0, 3.0; NEP 1 and numpy.lib.format), one after another from any source.
 *
 * The format. Bytes 0x93 "NUMPY", major and minor version, the length of the header (2 bytes little-endian in 1.0, 4 in 2.0 and 3.0),
 * the header: a Python dict with exactly the keys 'descr' (text), 'fortran_order' (True or False) and 'shape' (tuple of integers); then the
 * items without padding. Any legal spelling of that dict is read: quotes of both kinds, blanks and line ends between tokens, any
 * order, a comma at the end or not, integers with the L of Python 2. Item types: b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 in either byte order;
 * text, dates, records and Python objects are refused. Written is version 1.0, little-endian, the header as NumPy itself spells it, filled
 * up so that the items start at a multiple of 64 bytes.
 *
 * Sections: arrays, to other forms, writing.
 */
#ifndef HU_IO_NPY_H
#define HU_IO_NPY_H

#include "base/output.h"
#include "dense/dense.h"
#include "io/source.h"

#define HU_NPY_DIMENSIONS 32

/* b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 (as uint16_t) f4 f8 c8 (pairs of float) c16 (pairs of double) */
typedef enum {
    HU_NPY_B1, HU_NPY_I1, HU_NPY_I2, HU_NPY_I4, HU_NPY_I8, HU_NPY_U1, HU_NPY_U2, HU_NPY_U4, HU_NPY_U8,
    HU_NPY_F2, HU_NPY_F4, HU_NPY_F8, HU_NPY_C8, HU_NPY_C16, HU_NPY_TYPES
} hu_npy_type;

/* Items in the order of memory: the last index runs fastest (row major) or the first (column major). */
typedef struct {
    hu_npy_type type;
    int dims; /* 0: a single item */
    int64_t shape[HU_NPY_DIMENSIONS];
    hu_order order;
    int64_t count; /* product of the shape */
    void *data;    /* native byte order, aligned to HU_ALIGN */
} hu_npy;

/* Items of so many bytes; "f8" and the like. */
size_t hu_npy_size(hu_npy_type type);
const char *hu_npy_type_name(hu_npy_type type);

/* Reads the next array of the source, of at most most_bytes bytes of items, and no byte behind it; HU_END where the source has ended. What is
 * wrong is HU_INPUT with the offset of the byte. Memory follows the bytes that are there, not the size that the header claims.
 * Free with hu_npy_free(). */
hu_status hu_npy_read(hu_source *source, int64_t most_bytes, hu_npy **ret_array, hu_error *err);
void hu_npy_free(hu_npy *array); /* NULL is allowed */

/* ---- to other forms; name is the source's, for messages */

/* A vector (0-D and 1-D arrays: dims 1) or matrix (2-D). f2 and f4 become HU_F32, f8 and whole numbers HU_F64, complex HU_C128, all exactly: an
 * i8 or u8 that no double equals is HU_INPUT naming its index. Consumes *array, which becomes NULL (also on failure). */
hu_status hu_npy_to_dense(hu_npy **array, const char *name, hu_dense **ret_dense, hu_error *err);

/* The items of an array of whole numbers (of any order, in the order of memory), checked to be in least..most; free with hu_free(). */
hu_status hu_npy_to_integers(const hu_npy *array, const char *name, int64_t least, int64_t most, int64_t **ret_items, hu_error *err);

/* IEEE 754 binary16, exactly. */
float hu_npy_half(uint16_t half);

/* ---- writing */

hu_status hu_npy_write(hu_output *out, hu_npy_type type, int dims, const int64_t *shape, hu_order order, const void *items, hu_error *err);

/* A vector is written 1-D, a matrix 2-D in its own order (column major: 'fortran_order': True). HU_BF16, which NumPy lacks, becomes u2. */
hu_status hu_npy_write_dense(hu_output *out, const hu_dense *dense, hu_error *err);

#endif
