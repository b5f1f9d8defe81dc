/* fuzz_spk.c: packed matrices with any numbers changed: whole bundles with right sums over wrong numbers. What is accepted must multiply without harm; all else must be
 * refused with a reason. The first byte takes the strategy; each four bytes behind change one number.
 */
#include "config.h"
#include "bin.h"
#include "neighbor.h"
#include "packed.h"
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* Ends of pointers stay, since the writer sizes members by them. */
static void change(spmm_matrix *a, const spmm_plan *plan, const uint8_t *edit)
{
    const int64_t value = (int8_t)edit[2] * (edit[3] & 1 ? INT64_MAX / 128 : 1), at = edit[1];
    const int32_t narrow = (int32_t)(edit[3] & 1 ? INT32_MAX - edit[2] : (int8_t)edit[2]);
    if (edit[0] % 8 == 0) a->row_ptr[at % a->rows] = value;
    else if (edit[0] % 8 == 1) a->col[at % a->nnz] = narrow;
    else if (plan->strategy == &spmm_neighbor) {
        spmm_neighbor_form *f = plan->pack;
        ((int64_t *)f->pack)[at % (4 * f->n)] = value;
    } else if (plan->strategy == &spmm_bin) {
        spmm_bin_form *f = plan->pack;
        switch (edit[0] % 8) {
        case 2: f->cell[at % (f->panels * f->bins)] = value; break;
        case 3: f->run_ptr[at % (f->runs ? f->runs : 1)] = f->runs ? value : f->run_ptr[0]; break;
        case 4: if (f->runs) f->run_row[at % f->runs] = narrow; break;
        case 5: if (f->run_ptr[f->runs]) f->col[at % f->run_ptr[f->runs]] = narrow; break;
        case 6: f->rest_ptr[at % a->rows] = value; break;
        default: if (f->rest_ptr[a->rows]) f->rest_col[at % f->rest_ptr[a->rows]] = narrow;
        }
    }
}

static void read_and_multiply(const char *bytes, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    spmm_packed *found;
    spmm_plan *plan;
    const spmm_options o = SPMM_OPTIONS;
    demand(!hu_source_memory("fuzz", bytes, (int64_t)size, &source, &err), err.message);
    if (spmm_packed_read(source, &found, &err) == HU_OK) {
        if (spmm_packed_plan(found, NULL, &o, HU_F32, &plan, &err) == HU_OK) {
            hu_dense *b, *c;
            demand(!hu_dense_new(found->a->cols, 3, HU_F32, HU_ROW_MAJOR, &b, &err) && !hu_dense_new(found->a->rows, 3, HU_F32, HU_ROW_MAJOR, &c, &err), err.message);
            for (int64_t i = 0; i < 3 * b->rows; i++) ((float *)b->data)[i] = 1;
            const spmm_product p = {b, c, SPMM_PLAIN};
            demand(!spmm_multiply(plan, SPMM_SUM, &p, NULL, &err), err.message);
            hu_dense_free(b);
            hu_dense_free(c);
            spmm_plan_free(plan);
        }
        spmm_packed_free(found);
    }
    demand(!err.status || (err.status == HU_INPUT && err.message[0]), "a refusal without a reason");
    hu_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    const spmm_gen g = {SPMM_GEN_REGULAR, 40, 40, 6, 0, 0, 1, SPMM_GEN_INTEGER, 1};
    spmm_options o = SPMM_OPTIONS;
    hu_csr *csr;
    spmm_packed packed = {.storage = HU_F32};
    spmm_plan *plan;
    hu_output *out;
    const char *bytes;
    size_t written;
    o.np = 30;
    o.bin_columns = 8;
    o.row_panel = 10;
    demand(!spmm_generate(&g, &csr, &err) && !spmm_matrix_from_csr(&csr, false, HU_F32, "fuzz", &packed.a, &err), err.message);
    demand(!spmm_plan_new(packed.a, size && data[0] % 2 ? &spmm_bin : &spmm_neighbor, &o, HU_F32, &plan, &err) && !hu_output_memory("fuzz", &out, &err), err.message);
    for (size_t i = 1; i + 4 <= size && i < 400; i += 4) change(packed.a, plan, data + i);
    demand(!spmm_packed_write(&packed, plan, HU_BUNDLE_PLAIN, out, &err), err.message);
    hu_output_memory_bytes(out, &bytes, &written);
    read_and_multiply(bytes, written);
    if (size > 8) read_and_multiply((const char *)data, size); /* and anything at all */
    hu_output_abort(&out);
    spmm_plan_free(plan);
    spmm_matrix_free(packed.a);
    return 0;
}
