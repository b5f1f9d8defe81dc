/* fuzz_model.c: models with any numbers changed, and any bytes as a model. What hu_model_read() accepts must predict any row without leaving its memory, and
 * end; all else must be refused with a reason. The first byte chooses; then each eight bytes of input change one number.
 */
#include "config.h"
#include "base/memory.h"
#include "learn/transfer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 40, FEATURES = 3, LEVELS = 4 };

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* Two columns of numbers, one with gaps, and one of levels. */
static hu_model *train(hu_model_kind kind)
{
    hu_error err = HU_ERROR_NONE;
    static const char *const names[FEATURES] = {"n", "gap", "mode"}, *const levels[LEVELS] = {"a", "b", "c", "d"};
    hu_frame *frame;
    hu_model *model;
    demand(hu_frame_new(ROWS, FEATURES, &frame, &err) == HU_OK, "a table");
    for (int f = 0; f < FEATURES; f++) frame->feature[f].name = strdup(names[f]);
    demand(hu_alloc_zero(LEVELS, sizeof(char *), "levels", (void **)&frame->feature[2].levels, &err) == HU_OK, "levels");
    for (int l = 0; l < LEVELS; l++) frame->feature[2].levels[l] = strdup(levels[l]);
    frame->feature[2].level_count = LEVELS;
    for (int i = 0; i < ROWS; i++) {
        frame->column[0][i] = i % 9;
        frame->column[1][i] = i % 5 ? i % 7 : NAN;
        frame->column[2][i] = i % LEVELS;
        frame->y[i] = 1 + i % 9 + (i % LEVELS) * (i % 7);
    }
    hu_model_options o = HU_MODEL_DEFAULTS;
    o.kind = (int)kind;
    o.log = 0;
    o.forest.trees = 4;
    demand(hu_frame_finish(frame, &err) == HU_OK && hu_model_train(frame, "y", &o, &model, NULL, NULL, &err) == HU_OK, "a model");
    hu_frame_free(frame);
    return model;
}

/* A model that was taken over: that one and a forest with its answer as a feature. */
static hu_model *transfer(hu_model *source)
{
    hu_error err = HU_ERROR_NONE;
    hu_frame *frame;
    hu_model *m;
    hu_transfer_choice choice;
    hu_transfer_options o = {.method = HU_TRANSFER_RESIDUAL, .model = HU_MODEL_DEFAULTS};
    o.model.forest.trees = 4;
    demand(hu_frame_new(ROWS, FEATURES, &frame, &err) == HU_OK, "a table");
    for (int f = 0; f < FEATURES; f++) demand(hu_feature_copy(&source->feature[f], &frame->feature[f], &err) == HU_OK, "a table");
    hu_free(frame->feature[2].level_rows);
    frame->feature[2].level_rows = NULL;
    for (int i = 0; i < ROWS; i++) {
        frame->column[0][i] = i % 7;
        frame->column[1][i] = i % 3 ? i % 5 : NAN;
        frame->column[2][i] = i % LEVELS;
        frame->y[i] = 3 + i % 7 + (i % LEVELS) * (i % 5);
    }
    demand(hu_frame_finish(frame, &err) == HU_OK && hu_transfer_train(frame, "y", &source, &o, &m, &choice, &err) == HU_OK, "a model");
    hu_frame_free(frame);
    return m;
}

/* A copy of the model of that kind, which is trained once; HU_MODEL_MATCHED: of one that was taken over. */
static hu_model *copy_of(hu_model_kind kind)
{
    static hu_output *trained[HU_MODEL_KINDS];
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    hu_model *m;
    const char *bytes;
    size_t count;
    if (!trained[kind]) {
        m = kind == HU_MODEL_MATCHED ? transfer(train(HU_MODEL_HYBRID)) : train(kind);
        demand(hu_output_memory("model", &trained[kind], &err) == HU_OK && hu_model_write(m, trained[kind], &err) == HU_OK, "a bundle");
        hu_model_free(m);
    }
    hu_output_memory_bytes(trained[kind], &bytes, &count);
    demand(hu_source_memory("model", bytes, (int64_t)count, &source, &err) == HU_OK && hu_model_read(source, &m, &err) == HU_OK, "the model again");
    hu_source_close(source);
    return m;
}

static void change(hu_model *m, const uint8_t *edit)
{
    uint16_t at;
    int32_t value;
    memcpy(&at, edit + 1, sizeof at);
    value = (int8_t)edit[3] + (edit[4] & 1 ? INT32_MAX - 127 : 0) - (edit[4] & 2 ? 1000 : 0);
    double real = edit[5] & 1 ? NAN : edit[5] & 2 ? INFINITY : edit[5] & 4 ? 1e300 : value / 2.0;
    hu_forest *f = m->forest;
    hu_node *node = &f->node[at % f->root[f->trees]];
    switch (edit[0] % 9) {
    case 0: node->child = value; break;
    case 1: node->feature = (uint16_t)(value | (edit[6] << 8)); break;
    case 2: node->words = (uint16_t)value; break;
    case 3: node->value = real; break;
    case 4: f->root[1 + at % (f->trees - 1)] = value; break; /* not the last: the writer goes by it */
    case 5: f->set_root[1 + at % (f->trees - 1)] = value; break;
    case 6: if (m->scores) m->score[at % m->scores] = real; break;
    case 7:
        if (!m->linear || !m->linear->terms) break;
        m->linear->term[at % m->linear->terms].factor[edit[6] & 1].kind = value;
        m->linear->term[at % m->linear->terms].factor[edit[6] & 1].a = real;
        break;
    default:
        if (!m->linear || !m->linear->terms) break;
        m->linear->term[at % m->linear->terms].factor[edit[6] & 1].feature = value;
    }
}

static void try_source(hu_source *source)
{
    hu_error err = HU_ERROR_NONE;
    hu_model *m = NULL;
    hu_status status = hu_model_read(source, &m, &err);
    demand(status == err.status && (status == HU_OK) == (m != NULL), "a model or an error");
    demand(status == HU_OK || status == HU_SYSTEM || (status == HU_INPUT && err.message[0]), "an error that says why");
    if (!m) return;
    double *x, *each;
    demand(hu_alloc_zero(m->features, sizeof *x, "a row", (void **)&x, &err) == HU_OK, "a row");
    demand(hu_alloc_zero(m->forest ? m->forest->trees : 1, sizeof *each, "trees", (void **)&each, &err) == HU_OK, "trees");
    for (int way = 0; way < 4; way++) {
        for (int32_t f = 0; f < m->features; f++) x[f] = way == 0 ? NAN : m->feature[f].level_count ? way % m->feature[f].level_count : (way - 2) * 3.5;
        hu_prediction p = hu_model_predict_row(m, x), q;
        demand(hu_model_predict(m, x, 1, &q, &err) == HU_OK && memcmp(&p.value, &q.value, sizeof p.value) == 0, "one row as many");
        hu_model_each(m, x, each);
        hu_model_quantile(m, &p, 0.95);
    }
    hu_free(x);
    hu_free(each);
    hu_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    if (size < 1) return 0;
    if (data[0] % 4 == 0) {
        demand(hu_source_memory("fuzz", data + 1, (int64_t)size - 1, &source, &err) == HU_OK, "a source");
        try_source(source);
        hu_source_close(source);
        return 0;
    }
    hu_set_verbosity(-1);
    hu_model *m = copy_of(data[0] % 4 == 1 ? HU_MODEL_HYBRID : data[0] % 4 == 2 ? HU_MODEL_MATCHED : HU_MODEL_RF);
    hu_output *out;
    const char *bytes;
    size_t count;
    for (size_t at = 1; at + 8 <= size; at += 8) change(m->source.model && data[at + 7] & 1 ? m->source.model : m, data + at);
    demand(hu_output_memory("model", &out, &err) == HU_OK && hu_model_write(m, out, &err) == HU_OK, "a bundle");
    hu_output_memory_bytes(out, &bytes, &count);
    demand(hu_source_memory("fuzz", bytes, (int64_t)count, &source, &err) == HU_OK, "a source");
    try_source(source);
    hu_source_close(source);
    hu_output_abort(&out);
    hu_model_free(m);
    return 0;
}
