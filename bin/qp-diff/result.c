/* result.c: bundles that this program writes. */
#include "config.h"
#include "result.h"
#include "base/memory.h"
#include "io/bundle.h"
#include "io/mtx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result {
    hu_bundle_writer *writer;
    hu_array_format format;
    char *folder;
    hu_output **part; /* the members' bytes */
    char **name;
    int64_t parts, part_room, name_room;
};

hu_status result_new(const char *kind, hu_array_format format, result **ret_result, hu_error *err)
{
    result *r = calloc(1, sizeof *r);
    *ret_result = r;
    if (!r || !(r->folder = strdup(""))) return hu_fail(err, HU_SYSTEM, "out of memory");
    r->format = format;
    return hu_bundle_create(kind, 1, 0, &r->writer, err);
}

void result_abort(result **r_pointer)
{
    result *r = *r_pointer;
    if (!r) return;
    hu_bundle_abort(&r->writer);
    for (int64_t i = 0; i < r->parts; i++) {
        hu_output_abort(&r->part[i]);
        free(r->name[i]);
    }
    free(r->part);
    free(r->name);
    free(r->folder);
    free(r);
    *r_pointer = NULL;
}

hu_status result_finish(result **r_pointer, hu_output *out, hu_error *err)
{
    result *r = *r_pointer;
    for (int64_t i = 0; i < r->parts && !err->status; i++) {
        const char *bytes;
        size_t size;
        hu_output_memory_bytes(r->part[i], &bytes, &size);
        hu_bundle_add(r->writer, r->name[i], bytes, (int64_t)size, err);
    }
    if (!err->status) hu_bundle_finish(&r->writer, HU_BUNDLE_PLAIN, out, err);
    result_abort(r_pointer);
    return err->status;
}

hu_status result_take(result *r, result **from, hu_error *err)
{
    result *f = *from;
    if (hu_grow((void **)&r->part, &r->part_room, r->parts + f->parts, sizeof *r->part, "members", err) == HU_OK &&
        hu_grow((void **)&r->name, &r->name_room, r->parts + f->parts, sizeof *r->name, "members", err) == HU_OK) {
        for (int64_t i = 0; i < f->parts; i++) {
            r->part[r->parts] = f->part[i];
            r->name[r->parts++] = f->name[i];
        }
        f->parts = 0;
    }
    result_abort(from);
    return err->status;
}

hu_status result_folder(result *r, const char *folder, hu_error *err)
{
    free(r->folder);
    return (r->folder = strdup(folder)) ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

hu_status result_add_text(result *r, const char *name, hu_output **ret_out, hu_error *err)
{
    if (hu_grow((void **)&r->part, &r->part_room, r->parts + 1, sizeof *r->part, "members", err) || hu_grow((void **)&r->name, &r->name_room, r->parts + 1, sizeof *r->name, "members", err))
        return err->status;
    if (asprintf(&r->name[r->parts], "%s%s", r->folder, name) < 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_output_memory(name, &r->part[r->parts], err)) {
        free(r->name[r->parts]);
        return err->status;
    }
    *ret_out = r->part[r->parts++];
    return HU_OK;
}

static hu_status add(result *r, const char *name, const char *ending, hu_output **ret_out, hu_error *err)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, ending);
    return result_add_text(r, whole, ret_out, err);
}

hu_status result_add_array(result *r, const char *name, const double *x, int64_t rows, int64_t cols, int64_t ld, hu_error *err)
{
    hu_output *out = NULL;
    hu_dense a = {.rows = rows, .cols = cols, .ld = ld, .scalar = HU_F64, .order = HU_COL_MAJOR, .dims = cols == 1 ? 1 : 2, .data = (void *)(uintptr_t)x};
    if (add(r, name, r->format == HU_ARRAY_NPY ? ".npy" : ".mtx", &out, err)) return err->status;
    return hu_array_write(out, &a, r->format, err);
}

hu_status result_add_csr(result *r, const char *name, const hu_csr *a, hu_error *err)
{
    hu_output *out = NULL;
    if (add(r, name, ".mtx", &out, err)) return err->status;
    return hu_mtx_write_csr(out, a, NULL, err);
}

static bool has_finite(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) return true;
    return false;
}

hu_status result_add_vectors(result *r, const qp_problem *p, hu_error *err)
{
    if (result_add_array(r, "q", p->q, p->n, 1, p->n, err)) return err->status;
    if (p->m > 0 && (result_add_array(r, "l", p->l, p->m, 1, p->m, err) || result_add_array(r, "u", p->u, p->m, 1, p->m, err))) return err->status;
    if (has_finite(p->lb, p->n) && result_add_array(r, "lb", p->lb, p->n, 1, p->n, err)) return err->status;
    if (has_finite(p->ub, p->n) && result_add_array(r, "ub", p->ub, p->n, 1, p->n, err)) return err->status;
    return p->c0 != 0 ? result_add_array(r, "c0", &p->c0, 1, 1, 1, err) : HU_OK;
}

hu_status result_add_problem(result *r, const qp_problem *p, hu_error *err)
{
    if (result_add_csr(r, "P", p->P, err) || (p->m > 0 && result_add_csr(r, "A", p->A, err))) return err->status;
    return result_add_vectors(r, p, err);
}
