/* model_file.c: models as files, and what a model says of itself.
 *
 * Sections: what the manifest says, writing, reading.
 */
#include "config.h"
#include "learn/model_build.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char bundle_kind[] = "perf-predict-model";
enum { MAJOR = 2, MAJOR_ALONE = 1, MINOR = 0, PREFIX = 64 }; /* MAJOR_ALONE: without a source */
static const int64_t most_bytes = (int64_t)16 << 30;

/* A number, or null where there is none. */
static json_t *number_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *feature_json(const hu_feature *feature)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(feature->name));
    json_object_set_new(o, "kind", json_string(feature->level_count ? "levels" : "number"));
    json_object_set_new(o, "missing", json_integer(feature->missing));
    if (!feature->level_count) {
        if (feature->is_log) json_object_set_new(o, "log", json_true());
        json_object_set_new(o, "least", number_or_null(feature->least));
        json_object_set_new(o, "most", number_or_null(feature->most));
        json_object_set_new(o, "median", number_or_null(feature->median));
        return o;
    }
    json_t *levels = json_array(), *rows = json_array();
    for (int32_t l = 0; l < feature->level_count; l++) {
        json_array_append_new(levels, json_string(feature->levels[l]));
        json_array_append_new(rows, json_integer(feature->level_rows[l]));
    }
    json_object_set_new(o, "levels", levels);
    json_object_set_new(o, "rows", rows);
    return o;
}

static json_t *held_out_json(const hu_model_error *e)
{
    json_t *o = json_object();
    json_object_set_new(o, "mape", number_or_null(e->mape));
    json_object_set_new(o, "mdape", number_or_null(e->mdape));
    json_object_set_new(o, "rmse", number_or_null(e->rmse));
    json_object_set_new(o, "r2", number_or_null(e->r2));
    json_object_set_new(o, "rows", json_integer(e->rows));
    return o;
}

static json_t *options_json(const hu_forest_options *f)
{
    json_t *o = json_object();
    json_object_set_new(o, "mtry", json_integer(f->tree.mtry));
    json_object_set_new(o, "leaf", json_integer(f->tree.leaf));
    json_object_set_new(o, "depth", json_integer(f->tree.depth));
    json_object_set_new(o, "extra", json_boolean(f->tree.extra));
    json_object_set_new(o, "trees", json_integer(f->trees));
    json_object_set_new(o, "bag", json_real(f->bag));
    json_object_set_new(o, "replace", json_boolean(f->replace));
    json_object_set_new(o, "seed", json_integer((json_int_t)f->seed));
    return o;
}

static hu_status describe_parts(const hu_model *m, json_t *content, hu_error *err)
{
    json_object_set_new(content, "target", json_string(m->target));
    json_object_set_new(content, "model", json_string(hu_model_kind_name(m->kind)));
    json_object_set_new(content, "transform", json_string(m->is_log ? "log" : "raw"));
    json_object_set_new(content, "scaled", json_boolean(m->is_scaled));
    json_object_set_new(content, "rows", json_integer(m->rows));
    json_object_set_new(content, "crc32c", json_integer(m->crc));
    json_object_set_new(content, "floor", number_or_null(m->floor));
    json_object_set_new(content, "forest", options_json(&m->options));
    return json_object_set_new(content, "held_out", held_out_json(&m->held_out)) == 0 ? HU_OK : hu_fail(err, HU_SYSTEM, "out of memory");
}

/* Each model and its source inside it. */
hu_status hu_model_describe(const hu_model *m, json_t *content, hu_error *err)
{
    json_t *features = json_array();
    for (int32_t f = 0; f < m->features; f++) json_array_append_new(features, feature_json(&m->feature[f]));
    json_object_set_new(content, "features", features);
    if (describe_parts(m, content, err)) return err->status;
    for (; m->source.model; m = m->source.model) {
        json_t *source = json_object();
        json_object_set_new(source, "slope", json_real(m->source.slope));
        json_object_set_new(source, "offset", json_real(m->source.offset));
        json_object_set_new(source, "least", json_real(m->source.least));
        json_object_set_new(source, "feature", json_boolean(m->source.is_feature));
        if (json_object_set_new(content, "source", source)) return hu_fail(err, HU_SYSTEM, "out of memory");
        if (describe_parts(m->source.model, source, err)) return err->status;
        content = source;
    }
    return HU_OK;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

/* The names of the members of source number `depth` of a model (0: of itself). */
static const char *member(int depth, const char *name, char buffer[PREFIX])
{
    buffer[0] = '\0';
    for (int k = 0; k < depth; k++) strcat(buffer, "source/");
    return strcat(buffer, name);
}

hu_status hu_model_write(const hu_model *m, hu_output *out, hu_error *err)
{
    hu_bundle_writer *w = NULL;
    char name[PREFIX];
    if (hu_bundle_create(bundle_kind, m->source.model ? MAJOR : MAJOR_ALONE, MINOR, &w, err) || hu_model_describe(m, hu_bundle_content(w), err)) goto failed;
    for (int depth = 0; m; m = m->source.model, depth++) {
        if (depth > HU_MODEL_SOURCES) {
            hu_fail(err, HU_USAGE, "a model with more than %d sources, one inside the other", HU_MODEL_SOURCES);
            goto failed;
        }
        if (m->forest && hu_forest_store(m->forest, member(depth, "forest", name), w, err)) goto failed;
        if (m->linear && hu_linear_store(m->linear, member(depth, "linear", name), w, err)) goto failed;
        if (m->scores && hu_bundle_add_array(w, member(depth, "scores", name), HU_BUNDLE_F8, m->score, m->scores, err)) goto failed;
    }
    return hu_bundle_finish(&w, HU_BUNDLE_ZSTD, out, err);
failed:
    hu_bundle_abort(&w);
    return err->status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static hu_status number_or_nan(const hu_json_place *object, const char *key, double *ret, hu_error *err)
{
    hu_json_place member;
    *ret = NAN;
    if (hu_json_member(object, key, &member, err)) return err->status;
    return json_is_null(member.value) ? HU_OK : hu_json_number(object, key, -DBL_MAX, DBL_MAX, ret, err);
}

static hu_status read_levels(const hu_json_place *o, hu_feature *feature, hu_error *err)
{
    hu_json_place levels, rows, item;
    int64_t count, same;
    if (hu_json_member(o, "levels", &levels, err) || hu_json_length(&levels, HU_BINS_MOST, &count, err) || hu_json_member(o, "rows", &rows, err) ||
        hu_json_length(&rows, HU_BINS_MOST, &same, err))
        return err->status;
    if (count != same || count == 0) return hu_fail(err, HU_INPUT, "%s: column %s: its levels and their rows differ in number", o->name ? o->name : "model", feature->name);
    if (hu_alloc_zero(count, sizeof *feature->levels, feature->name, (void **)&feature->levels, err) ||
        hu_alloc_zero(count, sizeof *feature->level_rows, feature->name, (void **)&feature->level_rows, err))
        return err->status;
    for (int64_t l = 0; l < count; l++) {
        if (hu_json_item(&levels, l, &item, err)) return err->status;
        const char *text = json_string_value(item.value);
        if (!text || (l && strcmp(feature->levels[l - 1], text) >= 0)) return hu_fail(err, HU_INPUT, "column %s: level %lld is out of order", feature->name, (long long)l);
        if (!(feature->levels[l] = strdup(text))) return hu_fail(err, HU_SYSTEM, "out of memory");
        feature->level_count++;
        if (hu_json_item(&rows, l, &item, err) || hu_json_integer_of(&item, 0, INT32_MAX, &feature->level_rows[l], err)) return err->status;
    }
    return HU_OK;
}

static hu_status read_feature(const hu_json_place *o, hu_feature *feature, hu_error *err)
{
    static const char *const kinds[] = {"number", "levels"};
    const char *name;
    int kind;
    if (hu_json_text(o, "name", &name, err) || hu_json_word(o, "kind", kinds, 2, &kind, err) || hu_json_integer(o, "missing", 0, INT32_MAX, &feature->missing, err)) return err->status;
    if (!(feature->name = strdup(name))) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (kind == 1) return read_levels(o, feature, err);
    if (hu_json_has(o, "log") && hu_json_bool(o, "log", &feature->is_log, err)) return err->status;
    if (number_or_nan(o, "least", &feature->least, err) || number_or_nan(o, "most", &feature->most, err)) return err->status;
    return number_or_nan(o, "median", &feature->median, err);
}

static hu_status read_options(const hu_json_place *root, hu_model *m, hu_error *err)
{
    hu_json_place o;
    int64_t mtry, leaf, depth, trees, seed;
    hu_forest_options *f = &m->options;
    if (hu_json_member(root, "forest", &o, err) || hu_json_integer(&o, "mtry", 0, HU_BINS_FEATURES, &mtry, err) || hu_json_integer(&o, "leaf", 0, INT32_MAX, &leaf, err) ||
        hu_json_integer(&o, "depth", 0, INT32_MAX, &depth, err) || hu_json_bool(&o, "extra", &f->tree.extra, err) || hu_json_integer(&o, "trees", 1, INT32_MAX, &trees, err) ||
        hu_json_number(&o, "bag", 0, 1000, &f->bag, err) || hu_json_bool(&o, "replace", &f->replace, err) || hu_json_integer(&o, "seed", INT64_MIN, INT64_MAX, &seed, err))
        return err->status;
    f->tree.mtry = (int32_t)mtry;
    f->tree.leaf = leaf;
    f->tree.depth = (int32_t)depth;
    f->trees = (int32_t)trees;
    f->seed = (uint64_t)seed;
    return HU_OK;
}

static hu_status read_held_out(const hu_json_place *root, hu_model *m, hu_error *err)
{
    hu_json_place o;
    hu_model_error *e = &m->held_out;
    if (hu_json_member(root, "held_out", &o, err) || number_or_nan(&o, "mape", &e->mape, err) || number_or_nan(&o, "mdape", &e->mdape, err) ||
        number_or_nan(&o, "rmse", &e->rmse, err) || number_or_nan(&o, "r2", &e->r2, err))
        return err->status;
    return hu_json_integer(&o, "rows", 0, INT32_MAX, &e->rows, err);
}

/* All but the features. */
static hu_status read_facts(const hu_json_place *o, hu_model *m, hu_error *err)
{
    static const char *const transforms[] = {"raw", "log"};
    const char *names[HU_MODEL_KINDS];
    int64_t crc;
    int kind, transform;
    for (int k = 0; k < HU_MODEL_KINDS; k++) names[k] = hu_model_kind_name((hu_model_kind)k);
    if (hu_json_word(o, "model", names, HU_MODEL_KINDS, &kind, err) || hu_json_word(o, "transform", transforms, 2, &transform, err) ||
        hu_json_bool(o, "scaled", &m->is_scaled, err) || hu_json_integer(o, "rows", 1, INT32_MAX, &m->rows, err) ||
        hu_json_integer(o, "crc32c", 0, UINT32_MAX, &crc, err) || hu_json_number(o, "floor", 0, DBL_MAX, &m->floor, err))
        return err->status;
    m->kind = (hu_model_kind)kind;
    m->is_log = transform;
    m->crc = (uint32_t)crc;
    return read_options(o, m, err) ? err->status : read_held_out(o, m, err);
}

static hu_status read_root(const hu_json_place *root, hu_model **ret_model, hu_error *err)
{
    hu_json_place features, item;
    const char *target;
    int64_t count;
    if (hu_json_text(root, "target", &target, err) || hu_json_member(root, "features", &features, err) || hu_json_length(&features, HU_BINS_FEATURES, &count, err)) return err->status;
    if (hu_model_new(target, (int32_t)count, ret_model, err)) return err->status;
    for (int64_t f = 0; f < count; f++)
        if (hu_json_item(&features, f, &item, err) || read_feature(&item, &(*ret_model)->feature[f], err)) return err->status;
    return read_facts(root, *ret_model, err);
}

/* The source that is described inside a model: of the same features. */
static hu_status read_source(const hu_json_place *o, hu_model *m, hu_error *err)
{
    const char *target;
    hu_model_source *s = &m->source;
    if (hu_json_text(o, "target", &target, err) || hu_json_number(o, "slope", -DBL_MAX, DBL_MAX, &s->slope, err) || hu_json_number(o, "offset", -DBL_MAX, DBL_MAX, &s->offset, err) ||
        hu_json_number(o, "least", 0, DBL_MAX, &s->least, err) || hu_json_bool(o, "feature", &s->is_feature, err) || hu_model_new(target, m->features, &s->model, err))
        return err->status;
    for (int32_t f = 0; f < m->features; f++)
        if (hu_feature_copy(&m->feature[f], &s->model->feature[f], err)) return err->status;
    return read_facts(o, s->model, err);
}

static hu_status read_scores(const hu_bundle *bundle, const char *name, hu_model *m, hu_error *err)
{
    const void *items;
    if (!hu_bundle_has(bundle, name)) return HU_OK;
    if (hu_bundle_get_array(bundle, name, HU_BUNDLE_F8, &items, &m->scores, err)) return err->status;
    if (hu_alloc(m->scores, sizeof *m->score, "scores", (void **)&m->score, err)) return err->status;
    memcpy(m->score, items, (size_t)m->scores * sizeof *m->score);
    for (int64_t k = 0; k < m->scores; k++)
        if (!isfinite(m->score[k]) || (k && m->score[k - 1] > m->score[k])) return hu_bundle_fail(bundle, err, "%s: score %lld is out of order", name, (long long)k);
    return HU_OK;
}

static hu_status read_parts(const hu_bundle *bundle, int depth, hu_model *m, hu_error *err)
{
    int32_t *levels;
    char name[PREFIX];
    if (hu_alloc_zero(m->features + 1, sizeof *levels, "features", (void **)&levels, err)) return err->status;
    for (int32_t f = 0; f < m->features; f++) levels[f] = m->feature[f].level_count;
    if (hu_model_has_forest(m->kind)) hu_forest_load(bundle, member(depth, "forest", name), m->features + m->source.is_feature, levels, &m->forest, err);
    if (hu_model_has_linear(m->kind) && !err->status) hu_linear_load(bundle, member(depth, "linear", name), m->features, levels, &m->linear, err);
    hu_free(levels);
    if (err->status) return err->status;
    if (m->is_scaled && !(m->linear && m->is_log)) return hu_bundle_fail(bundle, err, "a scaled model without linear part or logarithm");
    if (m->kind == HU_MODEL_MATCHED && !m->source.model) return hu_bundle_fail(bundle, err, "a model that only matches a source, without a source");
    if (m->source.is_feature && (!m->forest || m->features >= HU_BINS_FEATURES)) return hu_bundle_fail(bundle, err, "the source is a feature of no forest");
    if (m->source.model && m->is_log && !m->source.model->is_log && !(m->source.least > 0)) return hu_bundle_fail(bundle, err, "the source's least answer has no logarithm");
    return read_scores(bundle, member(depth, "scores", name), m, err);
}

/* A model and its sources, one after another. */
static hu_status read_models(const hu_bundle *bundle, hu_model **ret_model, hu_error *err)
{
    hu_json_place place[HU_MODEL_SOURCES + 1];
    place[0] = hu_bundle_root(bundle);
    if (read_root(&place[0], ret_model, err)) return err->status;
    hu_model *m = *ret_model;
    for (int depth = 0; m; depth++) {
        if (hu_bundle_major(bundle) > MAJOR_ALONE && hu_json_has(&place[depth], "source")) {
            if (depth == HU_MODEL_SOURCES) return hu_bundle_fail(bundle, err, "more than %d sources, one inside the other", HU_MODEL_SOURCES);
            if (hu_json_member(&place[depth], "source", &place[depth + 1], err) || read_source(&place[depth + 1], m, err)) return err->status;
        }
        if (read_parts(bundle, depth, m, err)) return err->status;
        m = m->source.model;
    }
    return HU_OK;
}

hu_status hu_model_read(hu_source *source, hu_model **ret_model, hu_error *err)
{
    hu_bundle *bundle = NULL;
    hu_model *model = NULL;
    if (hu_bundle_read(source, bundle_kind, MAJOR, most_bytes, &bundle, err)) return err->status;
    if (read_models(bundle, &model, err) == HU_OK) {
        *ret_model = model;
        model = NULL;
    }
    hu_model_free(model);
    hu_bundle_free(bundle);
    return err->status;
}
