/* stencil.c: a matrix from the coefficients of a grid. */
#include "config.h"
#include "stencil.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NEIGHBOURS = 125 }; /* a 5^3 box */

typedef struct {
    int dx, dy, dz;
} offset;

/* Reads "dx,dy,dz;..."; members left out are 0. Returns how many, or -1. */
static int parse_offsets(const char *text, offset *list)
{
    int n = 0;
    for (; n < MOST_NEIGHBOURS; n++) {
        int *member[] = {&list[n].dx, &list[n].dy, &list[n].dz};
        list[n] = (offset){0, 0, 0};
        for (int d = 0; d < 3; d++) {
            char *end;
            long value = strtol(text, &end, 10);
            if (end == text || value < -1000000 || value > 1000000) return -1;
            *member[d] = (int)value;
            text = end;
            if (*text != ',') break;
            text++;
        }
        if (!*text) return n + 1;
        if (*text++ != ';') return -1;
    }
    return -1;
}

/* The array's shape must be [n][nz][ny][nx], where leading sizes of 1 after n may be missing. Gives the distance in memory of each index. */
static bool fits(const hu_npy *a, int n, const int32_t sizes[3], int64_t ret_stride[4])
{
    int64_t wanted[4] = {n, sizes[2], sizes[1], sizes[0]}, shape[4] = {1, 1, 1, 1};
    if (a->dims < 1 || a->dims > 4) return false;
    shape[0] = a->shape[0];
    for (int d = 1; d < a->dims; d++) shape[4 - a->dims + d] = a->shape[d];
    for (int d = 0; d < 4; d++)
        if (shape[d] != wanted[d]) return false;
    int64_t step = 1;
    for (int i = 0; i < 4; i++) {
        int d = a->order == HU_ROW_MAJOR ? 3 - i : i;
        ret_stride[d] = step;
        step *= shape[d];
    }
    return true;
}

static double value_at(const hu_dense *values, int64_t at)
{
    return values->scalar == HU_F32 ? (double)((const float *)values->data)[at] : ((const double *)values->data)[at];
}

hu_status sptrsv_stencil_matrix(hu_npy **coefficients, const char *offsets, const int32_t sizes[3], const char *name,
                                hu_csr **ret_csr, hu_error *err)
{
    offset list[MOST_NEIGHBOURS];
    int64_t stride[4], cells;
    hu_dense *values = NULL;
    hu_coo *coo = NULL;
    int n = parse_offsets(offsets, list);
    if (n < 0) return hu_fail(err, HU_USAGE, "--offsets: '%s' is not DX,DY,DZ;DX,DY,DZ;... of whole numbers (at most 125)", offsets);
    hu_npy *a = *coefficients;
    if (!fits(a, n, sizes, stride))
        return hu_fail(err, HU_INPUT, "%s: the array is not %d x %d x %d x %d ([neighbour][z][y][x]) as --offsets and --grid say", name,
                       n, sizes[2], sizes[1], sizes[0]);
    if (!hu_mul_size(sizes[0], sizes[1], &cells) || !hu_mul_size(cells, sizes[2], &cells) || cells > HU_MAX_DIMENSION)
        return hu_fail(err, HU_INPUT, "%s: %d x %d x %d cells are too many", name, sizes[0], sizes[1], sizes[2]);
    a->dims = 1;
    a->shape[0] = a->count;
    if (hu_npy_to_dense(coefficients, name, &values, err)) return err->status;
    if (values->scalar == HU_C128) {
        hu_fail(err, HU_INPUT, "%s: complex coefficients are not supported; give the matrix as Matrix Market", name);
        goto cleanup;
    }
    if (hu_coo_new(cells, cells, cells * n, false, &coo, err)) goto cleanup;
    int64_t entries = 0;
    for (int32_t z = 0; z < sizes[2]; z++)
        for (int32_t y = 0; y < sizes[1]; y++)
            for (int32_t x = 0; x < sizes[0]; x++)
                for (int k = 0; k < n; k++) {
                    double v = value_at(values, k * stride[0] + z * stride[1] + y * stride[2] + x * stride[3]);
                    int64_t i = x + (int64_t)list[k].dx, j = y + (int64_t)list[k].dy, l = z + (int64_t)list[k].dz;
                    bool inside = i >= 0 && i < sizes[0] && j >= 0 && j < sizes[1] && l >= 0 && l < sizes[2];
                    if (!isfinite(v) || (!inside && v != 0)) {
                        hu_fail(err, HU_INPUT, "%s: coefficient [%d][%d][%d][%d] %s", name, k, z, y, x,
                                inside ? "is not finite" : "is not 0 although its neighbour lies outside the grid");
                        goto cleanup;
                    }
                    if (!inside) continue;
                    coo->row[entries] = (int32_t)(x + sizes[0] * (y + (int64_t)sizes[1] * z));
                    coo->col[entries] = (int32_t)(i + sizes[0] * (j + (int64_t)sizes[1] * l));
                    coo->val[entries++] = v;
                }
    coo->nnz = entries;
    hu_csr_from_coo(&coo, HU_DUP_SUM, name, ret_csr, err);
cleanup:
    hu_dense_free(values);
    hu_coo_free(coo);
    return err->status;
}
