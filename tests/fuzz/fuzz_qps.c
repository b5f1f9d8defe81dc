/* fuzz_qps.c: any bytes as a QPS file. What is read must be a problem whose parts fit together; all else must be refused with a reason. */
#include "config.h"
#include "base/memory.h"
#include "qps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    qp_problem *p;
    qps_names names;
    if (size > 1 << 14) return 0;
    hu_set_verbosity(-1);
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    hu_status status = qps_read(source, &p, &names, &err);
    demand(status == err.status && (status == HU_OK) == (p != NULL), "a problem or an error");
    demand(status == HU_OK || (status == HU_INPUT && err.message[0]), "an error that says why");
    if (p) {
        demand(hu_csr_check(p->P, "P", &err) == HU_OK && hu_csr_check(p->A, "A", &err) == HU_OK, "matrices");
        demand(p->P->rows == p->n && p->A->cols == p->n && p->A->rows == p->m, "shapes");
        for (int64_t i = 0; i < p->m; i++) demand(p->l[i] <= p->u[i] && names.row[i], "rows");
        for (int64_t j = 0; j < p->n; j++) demand(p->lb[j] <= p->ub[j] && isfinite(p->q[j]) && names.column[j], "variables");
        qps_names_free(&names, p->m, p->n);
    }
    qp_free(p);
    hu_source_close(source);
    return 0;
}
