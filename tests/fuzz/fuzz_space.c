/* fuzz_space.c: any text as a space: what space_read() takes must be counted and drawn within its memory, every configuration that it numbers must meet its conditions. */
#include "config.h"
#include "base/memory.h"
#include "space_sample.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* All conditions, also those that the diagrams have seen to. */
static void check(space *s, const int32_t *code, expr_range *work)
{
    for (int64_t c = 0; c < s->conditions; c++) {
        bool kept = s->by_trial[c];
        s->by_trial[c] = true;
        demand(kept || space_accepts(s, code, work) || !space_is_exact(s), "a configuration meets the conditions");
        s->by_trial[c] = kept;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    space *s = NULL;
    hu_set_verbosity(-1);
    demand(hu_source_memory("fuzz", data, (int64_t)size, &source, &err) == HU_OK, "a source");
    hu_status status = space_read(source, &s, &err);
    hu_source_close(source);
    demand(status == err.status && (status == HU_OK) == (s != NULL), "a space or an error");
    demand(status == HU_OK || status == HU_SYSTEM || (status == HU_INPUT && err.message[0]), "an error that says why");
    if (!s) return 0;
    space_count count;
    double about;
    expr_range *work;
    int32_t *code;
    bool fits = space_size(s, &count, &about);
    demand(hu_alloc(space_work(s), sizeof *work, "work", (void **)&work, &err) == HU_OK && hu_alloc(s->parameters, sizeof *code, "code", (void **)&code, &err) == HU_OK, "memory");
    for (int k = 0; k < 20 && count > 0; k++) {
        if (fits && k < 10) space_nth(s, count > 9 ? count / 10 * (space_count)k : (space_count)k % count, code);
        else space_draw(s, 1, (uint64_t)k, code);
        for (int64_t p = 0; p < s->parameters; p++) demand(code[p] >= 0 && code[p] < s->parameter[p].count, "a value of the parameter");
        if (space_is_exact(s)) check(s, code, work);
    }
    hu_free(work);
    hu_free(code);
    space_free(s);
    return 0;
}
