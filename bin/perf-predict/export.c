/* export.c: a model as text, JSON or C source.
 *
 * Sections: text, JSON, C.
 */
#include "config.h"
#include "export.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

/* A number in its shortest form. */
typedef struct {
    char text[HU_NUMBER_SIZE + 1];
} number_text;

static number_text shortest(double v)
{
    number_text n;
    n.text[hu_number_print(v, n.text)] = '\0';
    return n;
}

static hu_status put_features(const hu_model *m, hu_output *out, hu_error *err)
{
    for (int32_t f = 0; f < m->features; f++) {
        const hu_feature *feature = &m->feature[f];
        if (feature->level_count) {
            if (hu_output_printf(out, err, "column %d: %s, %d levels:", f, feature->name, feature->level_count)) return err->status;
            for (int32_t l = 0; l < feature->level_count; l++)
                if (hu_output_printf(out, err, " \"%s\" (%lld)", feature->levels[l], (long long)feature->level_rows[l])) return err->status;
        } else if (hu_output_printf(out, err, "column %d: %s, %s from %s to %s", f, feature->name, feature->is_log ? "logarithms (natural)" : "numbers", shortest(feature->least).text, shortest(feature->most).text)) {
            return err->status;
        }
        if (feature->missing && hu_output_printf(out, err, ", missing in %lld rows", (long long)feature->missing)) return err->status;
        if (hu_output_printf(out, err, "\n")) return err->status;
    }
    return HU_OK;
}

static hu_status put_factor(const hu_model *m, const hu_factor *f, hu_output *out, hu_error *err)
{
    const char *name = m->feature[f->feature].name;
    bool is_log = m->feature[f->feature].is_log;
    switch ((hu_factor_kind)f->kind) {
    case HU_FACTOR_NUMBER: return hu_output_printf(out, err, is_log ? " * (log(%s) - %s) * %s" : " * (%s - %s) * %s", name, shortest(f->a).text, shortest(f->b).text);
    case HU_FACTOR_LEVEL: return hu_output_printf(out, err, " * [%s is \"%s\"]", name, m->feature[f->feature].levels[(int32_t)f->a]);
    case HU_FACTOR_POWER_OF_LOG: /* written of the number itself */
    case HU_FACTOR_POWER: return hu_output_printf(out, err, " * %s^%s * log2(%s)^%s", name, shortest(f->a).text, name, shortest(f->b).text);
    default: return HU_OK;
    }
}

static hu_status put_linear(const hu_model *m, hu_output *out, hu_error *err)
{
    if (!m->linear) return HU_OK;
    if (hu_output_printf(out, err, "linear part%s:\n  %s\n", m->is_scaled ? " (its logarithm counts)" : "", shortest(m->linear->constant).text)) return err->status;
    for (int64_t k = 0; k < m->linear->terms; k++) {
        const hu_term *t = &m->linear->term[k];
        if (hu_output_printf(out, err, "  + %s", shortest(t->weight).text) || put_factor(m, &t->factor[0], out, err) || put_factor(m, &t->factor[1], out, err) || hu_output_printf(out, err, "\n"))
            return err->status;
    }
    return HU_OK;
}

static hu_status put_node(const hu_model *m, int32_t tree, int64_t at, hu_output *out, hu_error *err)
{
    const hu_node *n = &m->forest->node[m->forest->root[tree] + at];
    if (n->child == 0) return hu_output_printf(out, err, "  %lld: %s\n", (long long)at, shortest(n->value).text);
    int32_t f = n->feature & HU_NODE_FEATURE;
    const char *missing = n->feature & HU_NODE_LEFT ? "left" : "right";
    if (!(n->feature & HU_NODE_SET))
        return hu_output_printf(out, err, f < m->features && m->feature[f].is_log ? "  %lld: log(%s) <= %s ? %d : %d (missing: %s)\n" : "  %lld: %s <= %s ? %d : %d (missing: %s)\n", (long long)at,
                                f < m->features ? m->feature[f].name : "(source)", shortest(n->value).text, n->child, n->child + 1, missing);
    const hu_feature *feature = &m->feature[f];
    const uint64_t *set = m->forest->set + m->forest->set_root[tree] + (int64_t)n->value;
    if (hu_output_printf(out, err, "  %lld: %s in {", (long long)at, feature->name)) return err->status;
    const char *comma = "";
    for (int32_t l = 0; l <= feature->level_count; l++) {
        if (!(set[l / 64] >> (l % 64) & 1)) continue;
        if (l < feature->level_count ? hu_output_printf(out, err, "%s\"%s\"", comma, feature->levels[l]) : hu_output_printf(out, err, "%smissing", comma)) return err->status;
        comma = ", ";
    }
    return hu_output_printf(out, err, "} ? %d : %d\n", n->child, n->child + 1);
}

/* What a model adds to, down to the last source. */
static hu_status put_sources(const hu_model *m, hu_output *out, hu_error *err)
{
    for (; m->source.model; m = m->source.model) {
        const hu_model_source *s = &m->source;
        if (hu_output_printf(out, err, "source: %s * answer + %s%s; model: %s on the %s of %s, %lld rows", shortest(s->slope).text, shortest(s->offset).text,
                             s->is_feature ? ", and the answer as one more column" : "", hu_model_kind_name(s->model->kind), s->model->is_log ? "logarithm" : "target itself", s->model->target,
                             (long long)s->model->rows))
            return err->status;
        if (s->model->forest && hu_output_printf(out, err, ", %d trees", s->model->forest->trees)) return err->status;
        if (hu_output_printf(out, err, "\n")) return err->status;
    }
    return HU_OK;
}

hu_status export_text(const hu_model *m, bool trees, hu_output *out, hu_error *err)
{
    const hu_model_error *e = &m->held_out;
    if (hu_output_printf(out, err, "target: %s\nmodel: %s on the %s\nrows: %lld\n", m->target, hu_model_kind_name(m->kind), m->is_log ? "logarithm" : "target itself", (long long)m->rows)) return err->status;
    if (m->forest && hu_output_printf(out, err, "forest: %d trees, %lld nodes, seed %llu\n", m->forest->trees, (long long)m->forest->root[m->forest->trees], (unsigned long long)m->options.seed)) return err->status;
    if (e->rows > 0 && hu_output_printf(out, err, "rows held out: %lld, mape %s, mdape %s, rmse %s, r2 %s\n", (long long)e->rows, shortest(e->mape).text, shortest(e->mdape).text, shortest(e->rmse).text, shortest(e->r2).text)) return err->status;
    if (put_sources(m, out, err) || put_features(m, out, err) || put_linear(m, out, err)) return err->status;
    for (int32_t t = 0; trees && m->forest && t < m->forest->trees; t++) {
        if (hu_output_printf(out, err, "tree %d:\n", t + 1)) return err->status;
        for (int64_t at = 0; at < m->forest->root[t + 1] - m->forest->root[t]; at++)
            if (put_node(m, t, at, out, err)) return err->status;
    }
    return HU_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

/* A tree as an array of nodes: {"value": v}, or {"feature": f, "left": l, "right": r, "missing": "left", "threshold": t or "levels": [...]}. */
static json_t *node_json(const hu_model *m, int32_t tree, int64_t at)
{
    const hu_node *n = &m->forest->node[m->forest->root[tree] + at];
    json_t *o = json_object();
    if (n->child == 0) {
        json_object_set_new(o, "value", json_real(n->value));
        return o;
    }
    int32_t f = n->feature & HU_NODE_FEATURE;
    bool left = n->feature & HU_NODE_LEFT;
    json_object_set_new(o, "feature", json_integer(f));
    json_object_set_new(o, "left", json_integer(n->child));
    json_object_set_new(o, "right", json_integer(n->child + 1));
    if (n->feature & HU_NODE_SET) {
        const uint64_t *set = m->forest->set + m->forest->set_root[tree] + (int64_t)n->value;
        int32_t levels = m->feature[f].level_count;
        json_t *list = json_array();
        for (int32_t l = 0; l < levels; l++)
            if (set[l / 64] >> (l % 64) & 1) json_array_append_new(list, json_integer(l));
        json_object_set_new(o, "levels", list);
        left = set[levels / 64] >> (levels % 64) & 1;
    } else {
        json_object_set_new(o, "threshold", json_real(n->value));
    }
    json_object_set_new(o, "missing", json_string(left ? "left" : "right"));
    return o;
}

static json_t *linear_json(const hu_linear *linear)
{
    static const char *const kinds[] = {"none", "number", "level", "power", "power of log"};
    json_t *o = json_object(), *terms = json_array();
    for (int64_t k = 0; k < linear->terms; k++) {
        json_t *term = json_object(), *factors = json_array();
        json_object_set_new(term, "weight", json_real(linear->term[k].weight));
        for (int j = 0; j < 2; j++) {
            const hu_factor *f = &linear->term[k].factor[j];
            if (f->kind == HU_FACTOR_NONE) continue;
            json_array_append_new(factors, json_pack("{s:s,s:i,s:f,s:f}", "kind", kinds[f->kind], "feature", (int)f->feature, "a", f->a, "b", f->b));
        }
        json_object_set_new(term, "factors", factors);
        json_array_append_new(terms, term);
    }
    json_object_set_new(o, "constant", json_real(linear->constant));
    json_object_set_new(o, "terms", terms);
    return o;
}

static void put_parts_json(const hu_model *m, json_t *object)
{
    if (m->linear) json_object_set_new(object, "linear", linear_json(m->linear));
    if (!m->forest) return;
    json_t *trees = json_array();
    for (int32_t t = 0; t < m->forest->trees; t++) {
        json_t *tree = json_array();
        for (int64_t at = 0; at < m->forest->root[t + 1] - m->forest->root[t]; at++) json_array_append_new(tree, node_json(m, t, at));
        json_array_append_new(trees, tree);
    }
    json_object_set_new(object, "trees", trees);
}

hu_status export_json(const hu_model *m, hu_output *out, hu_error *err)
{
    json_t *root = json_object();
    if (!root) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (hu_model_describe(m, root, err)) goto cleanup;
    for (json_t *at = root; m; m = m->source.model, at = json_object_get(at, "source")) put_parts_json(m, at);
    hu_json_write(out, root, err);
cleanup:
    json_decref(root);
    return err->status;
}

/* ---- C -------------------------------------------------------------------------------------------------------------------- */

/* Text as a C comment or string: only harmless characters as they are. */
static hu_status put_c_text(const char *text, hu_output *out, hu_error *err)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool plain = *p >= ' ' && *p < 127 && !strchr("\"\\?*/%", *p);
        if (plain ? hu_output_write(out, p, 1, err) : hu_output_printf(out, err, "\\%03o", *p)) return err->status;
    }
    return HU_OK;
}

static hu_status put_c_columns(const hu_model *m, const char *name, hu_output *out, hu_error *err)
{
    if (hu_output_printf(out, err, "/* Features: x[f] is a number, or the index of a level; NAN where missing. */\nenum { %s_features = %d };\nconst char *const %s_feature[] = {\n", name, m->features, name)) return err->status;
    for (int32_t f = 0; f < m->features; f++)
        if (hu_output_printf(out, err, "    \"") || put_c_text(m->feature[f].name, out, err) || hu_output_printf(out, err, "\", /* %d */\n", f)) return err->status;
    if (hu_output_printf(out, err, "};\nconst int %s_levels[] = {", name)) return err->status;
    for (int32_t f = 0; f < m->features; f++)
        if (hu_output_printf(out, err, "%s%d", f ? ", " : "", m->feature[f].level_count)) return err->status;
    if (hu_output_printf(out, err, "}; /* 0: numbers */\n")) return err->status;
    for (int32_t f = 0; f < m->features; f++) {
        if (!m->feature[f].level_count) continue;
        if (hu_output_printf(out, err, "const char *const %s_levels_%d[] = {", name, f)) return err->status;
        for (int32_t l = 0; l < m->feature[f].level_count; l++)
            if (hu_output_printf(out, err, "%s\"", l ? ", " : "") || put_c_text(m->feature[f].levels[l], out, err) || hu_output_printf(out, err, "\"")) return err->status;
        if (hu_output_printf(out, err, "};\n")) return err->status;
    }
    return hu_output_printf(out, err, "\n");
}

/* prefix: of the names of what belongs to one model of several. */
static hu_status put_c_linear(const hu_model *m, const char *prefix, hu_output *out, hu_error *err)
{
    const hu_linear *l = m->linear;
    if (hu_output_printf(out, err, "static double %slinear_part(const double *x)\n{\n    double sum = %a;\n", prefix, l->constant)) return err->status;
    for (int64_t k = 0; k < l->terms; k++) {
        if (hu_output_printf(out, err, "    sum += %a * (", l->term[k].weight)) return err->status;
        for (int j = 0; j < 2; j++) {
            const hu_factor *f = &l->term[k].factor[j];
            const char *times = j ? " * " : "";
            if (f->kind == HU_FACTOR_NONE && hu_output_printf(out, err, "%s1.0", times)) return err->status;
            if (f->kind == HU_FACTOR_NUMBER && hu_output_printf(out, err, "%s(x[%d] != x[%d] ? 0.0 : (x[%d] - %a) * %a)", times, f->feature, f->feature, f->feature, f->a, f->b)) return err->status;
            if (f->kind == HU_FACTOR_LEVEL && hu_output_printf(out, err, "%s(x[%d] == %a)", times, f->feature, f->a)) return err->status;
            if (f->kind == HU_FACTOR_POWER_OF_LOG &&
                (hu_output_printf(out, err, "%s(", times) || (f->a == 0.0 ? hu_output_printf(out, err, "1.0") : hu_output_printf(out, err, "exp(%a * x[%d])", f->a, f->feature)) ||
                 hu_output_printf(out, err, " * ") || (f->b == 0.0 ? hu_output_printf(out, err, "1.0") : hu_output_printf(out, err, "pow(x[%d] / %a, %a)", f->feature, M_LN2, f->b)) || hu_output_printf(out, err, ")")))
                return err->status;
            if (f->kind != HU_FACTOR_POWER) continue;
            if (hu_output_printf(out, err, "%s(", times) || (f->a == 0.0 ? hu_output_printf(out, err, "1.0") : hu_output_printf(out, err, "pow(x[%d], %a)", f->feature, f->a)) ||
                hu_output_printf(out, err, " * ") || (f->b == 0.0 ? hu_output_printf(out, err, "1.0") : hu_output_printf(out, err, "pow(log2(x[%d]), %a)", f->feature, f->b)) || hu_output_printf(out, err, ")"))
                return err->status;
        }
        if (hu_output_printf(out, err, ");\n")) return err->status;
    }
    return hu_output_printf(out, err, "    return %s;\n}\n\n", m->is_scaled ? "log(sum > DBL_MIN ? sum : DBL_MIN)" : "sum");
}

static hu_status put_c_array(const char *type, const char *prefix, const char *name, const int64_t *items, int64_t n, hu_output *out, hu_error *err)
{
    if (hu_output_printf(out, err, "static const %s %s%s[] = {", type, prefix, name)) return err->status;
    for (int64_t i = 0; i < n; i++)
        if (hu_output_printf(out, err, "%s%lld", i ? "," : "", (long long)items[i])) return err->status;
    return hu_output_printf(out, err, "};\n");
}

static hu_status put_c_forest(const hu_forest *f, const char *prefix, hu_output *out, hu_error *err)
{
    int64_t nodes = f->root[f->trees], words = f->set_root[f->trees];
    if (put_c_array("long", prefix, "root", f->root, f->trees + 1, out, err) || put_c_array("long", prefix, "set_root", f->set_root, f->trees + 1, out, err)) return err->status;
    if (hu_output_printf(out, err, "static const unsigned long long %sset[] = {", prefix)) return err->status;
    for (int64_t i = 0; i < words; i++)
        if (hu_output_printf(out, err, "%#llxu,", (unsigned long long)f->set[i])) return err->status;
    if (hu_output_printf(out, err, "0};\n/* left child (0: a leaf), feature, 1: a set, 1: missing goes left, threshold, first word or value */\n"
                                   "static const struct { int child; unsigned short feature; unsigned char is_set, missing_left; double value; } %snode[] = {\n", prefix))
        return err->status;
    for (int64_t i = 0; i < nodes; i++) {
        const hu_node *n = &f->node[i];
        if (hu_output_printf(out, err, "{%d,%d,%d,%d,%a},\n", n->child, n->feature & HU_NODE_FEATURE, (n->feature & HU_NODE_SET) != 0, (n->feature & HU_NODE_LEFT) != 0, n->value)) return err->status;
    }
    return hu_output_printf(out, err,
        "};\n\n"
        "static int %1$sgoes_right(long at, int tree, const double *x)\n"
        "{\n"
        "    double v = x[%1$snode[at].feature];\n"
        "    if (%1$snode[at].is_set) {\n"
        "        long level = v == v ? (long)v : levels[%1$snode[at].feature];\n"
        "        return !(%1$sset[%1$sset_root[tree] + (long)%1$snode[at].value + level / 64] >> (level %% 64) & 1);\n"
        "    }\n"
        "    return v == v ? v > %1$snode[at].value : !%1$snode[at].missing_left;\n"
        "}\n\n"
        "static double %1$sforest_part(const double *x)\n"
        "{\n"
        "    double first = 0.0, sum = 0.0;\n"
        "    for (int tree = 0; tree < %2$d; tree++) {\n"
        "        long at = %1$sroot[tree];\n"
        "        while (%1$snode[at].child) at = %1$sroot[tree] + %1$snode[at].child + %1$sgoes_right(at, tree, x);\n"
        "        if (tree == 0) first = %1$snode[at].value;\n"
        "        sum += %1$snode[at].value - first;\n"
        "    }\n"
        "    double mean = first + sum / %2$d.0;\n"
        "    return mean < %3$a ? %3$a : mean > %4$a ? %4$a : mean;\n"
        "}\n\n", prefix, f->trees, f->least, f->most);
}

/* The answer of the source (whose mean is what its own function gives), and the row as the forest wants it. */
static hu_status put_c_source(const hu_model *m, const char *source, hu_output *out, hu_error *err)
{
    const hu_model_source *s = &m->source;
    if (hu_output_printf(out, err, "    double answer = %smean(x);\n", source)) return err->status;
    if (s->model->is_log && !m->is_log && hu_output_printf(out, err, "    answer = exp(answer);\n")) return err->status;
    if (!s->model->is_log && m->is_log && hu_output_printf(out, err, "    answer = log(answer > %a ? answer : %a);\n", s->least, s->least)) return err->status;
    if (!s->is_feature) return HU_OK;
    return hu_output_printf(out, err, "    double wide[%d];\n    for (int f = 0; f < %d; f++) wide[f] = x[f];\n    wide[%d] = answer;\n", m->features + 1, m->features, m->features);
}

/* PREFIXmean(x): what a model works on. */
static hu_status put_c_mean(const hu_model *m, const char *prefix, const char *source, hu_output *out, hu_error *err)
{
    if (m->forest && put_c_forest(m->forest, prefix, out, err)) return err->status;
    if (m->linear && put_c_linear(m, prefix, out, err)) return err->status;
    if (hu_output_printf(out, err, "static double %smean(const double *x)\n{\n", prefix)) return err->status;
    if (m->source.model && put_c_source(m, source, out, err)) return err->status;
    if (m->forest ? hu_output_printf(out, err, "    double mean = %sforest_part(%s)", prefix, m->source.is_feature ? "wide" : "x") : hu_output_printf(out, err, "    double mean = 0.0")) return err->status;
    if (m->linear ? hu_output_printf(out, err, " + %slinear_part(x);\n", prefix) : hu_output_printf(out, err, " + 0.0;\n")) return err->status;
    if (m->source.model && hu_output_printf(out, err, "    mean += %a * answer + %a;\n", m->source.slope, m->source.offset)) return err->status;
    return hu_output_printf(out, err, "    return mean;\n}\n\n");
}

/* The innermost source first. */
static hu_status put_c_models(const hu_model *m, hu_output *out, hu_error *err)
{
    const hu_model *chain[HU_MODEL_SOURCES + 1];
    char prefix[2][32];
    int n = 0;
    for (; m; m = m->source.model) chain[n++] = m;
    for (int k = n - 1; k >= 0; k--) {
        if (k) snprintf(prefix[0], sizeof prefix[0], "source%d_", k);
        else prefix[0][0] = '\0';
        snprintf(prefix[1], sizeof prefix[1], "source%d_", k + 1);
        if (put_c_mean(chain[k], prefix[0], prefix[1], out, err)) return err->status;
    }
    return HU_OK;
}

/* The features as the model works on them: in place of x, where logarithms are taken. */
static hu_status put_c_logarithms(const hu_model *m, const char *name, hu_output *out, hu_error *err)
{
    bool any = false;
    for (int32_t f = 0; f < m->features; f++) any |= m->feature[f].is_log;
    if (!any) return HU_OK;
    if (hu_output_printf(out, err, "    double taken[%s_features];\n    for (int f = 0; f < %s_features; f++) taken[f] = x[f];\n", name, name)) return err->status;
    for (int32_t f = 0; f < m->features; f++)
        if (m->feature[f].is_log && hu_output_printf(out, err, "    taken[%d] = log(x[%d]);\n", f, f)) return err->status;
    return hu_output_printf(out, err, "    x = taken;\n");
}

hu_status export_c(const hu_model *m, const char *name, hu_output *out, hu_error *err)
{
    if (hu_output_printf(out, err, "/* A model of ") || put_c_text(m->target, out, err) ||
        hu_output_printf(out, err, ", written by perf-predict export. Compiles alone: cc -O2 -ffp-contract=off -c FILE.c; link with -lm.\n"
                                   " * double %s_predict(const double x[%d]); the bits are those of perf-predict predict. */\n"
                                   "#include <float.h>\n#include <math.h>\n\n", name, m->features) ||
        put_c_columns(m, name, out, err))
        return err->status;
    if (hu_output_printf(out, err, "#define levels %s_levels\n", name) || put_c_models(m, out, err) || hu_output_printf(out, err, "#undef levels\n")) return err->status;
    if (hu_output_printf(out, err, "double %s_predict(const double *x);\ndouble %s_predict(const double *x)\n{\n", name, name) || put_c_logarithms(m, name, out, err)) return err->status;
    return hu_output_printf(out, err, "    double value = mean(x);\n    return %s;\n}\n", m->is_log ? "exp(value)" : "value");
}
