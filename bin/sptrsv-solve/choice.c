/* choice.c: a scheme chosen by a learned model.
 *
 * Sections: inputs, models, the choice.
 */
#include "config.h"
#include "choice.h"
#include "base/memory.h"
#include "device/cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

void sptrsv_inputs_of(const sptrsv_survey *survey, sptrsv_precision precision, int columns, const sptrsv_scheme *s, sptrsv_input ret[SPTRSV_INPUTS])
{
    const double *feature = (const double *)&survey->f;
    const sptrsv_input own[] = {{"cpu", hu_cpu_level_name(hu_cpu()), 0},
                                {"threads", NULL, survey->threads},
                                {"precision", sptrsv_precision_name(precision), 0},
                                {"columns", NULL, columns},
                                {"kind", sptrsv_kind_word(s->kind), 0},
                                {"node", sptrsv_node_word(s->node), 0},
                                {"rows", NULL, s->rows},
                                {"merge", NULL, s->merge},
                                {"index", NULL, s->index},
                                {"super", NULL, s->super},
                                {"rhs", NULL, s->rhs},
                                {"tile", s->kind == SPTRSV_GRID ? sptrsv_tile_word(s->tile) : "none", 0},
                                {"estimate", NULL, sptrsv_survey_estimate(survey, s)}};
    _Static_assert(sizeof own / sizeof *own == SPTRSV_INPUTS - SPTRSV_FEATURES, "all inputs are described");
    for (int k = 0; k < SPTRSV_FEATURES; k++) ret[k] = (sptrsv_input){sptrsv_feature_names[k], NULL, feature[k]};
    memcpy(ret + SPTRSV_FEATURES, own, sizeof own);
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

const char sptrsv_model_file[] = "sptrsv-schemes.ppm";

/* The input of that name, or -1. */
static int find_input(const sptrsv_input inputs[SPTRSV_INPUTS], const char *name)
{
    for (int k = 0; k < SPTRSV_INPUTS; k++)
        if (strcmp(inputs[k].name, name) == 0) return k;
    return -1;
}

static hu_status check_model(const hu_model *model, const char *path, hu_error *err)
{
    if (strcmp(model->target, "cost") != 0)
        return hu_fail(err, HU_INPUT, "%s: is a model of %s, not of cost, the column of sptrsv-solve --bench", path, model->target);
    sptrsv_input inputs[SPTRSV_INPUTS]; /* of anything: for their names */
    const sptrsv_survey any = {.threads = 1};
    const sptrsv_scheme scheme = {.rows = 1, .index = 32, .rhs = 1};
    sptrsv_inputs_of(&any, SPTRSV_F64, 1, &scheme, inputs);
    for (int32_t f = 0; f < model->features; f++)
        if (find_input(inputs, model->feature[f].name) < 0)
            return hu_fail(err, HU_INPUT, "%s: the model predicts by %s, which is no input: sptrsv-solve(1) lists them", path, model->feature[f].name);
    return model->features <= SPTRSV_INPUTS ? HU_OK : hu_fail(err, HU_INPUT, "%s: the model names an input twice", path);
}

hu_status sptrsv_model_read(const char *path, hu_model **ret_model, hu_error *err)
{
    hu_source *source;
    hu_model *model = NULL;
    *ret_model = NULL;
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    hu_model_read(source, &model, err);
    hu_source_close(source);
    if (!err->status) check_model(model, path, err);
    if (err->status) hu_model_free(model);
    else *ret_model = model;
    return err->status;
}

/* The value of a model's feature: a number, or the index of a word's level; NaN where it is missing or the word is unknown. */
static double value_of(const hu_feature *feature, const sptrsv_input *input)
{
    if (feature->level_count == 0) return input->text ? NAN : input->number;
    char number[32];
    if (!input->text) snprintf(number, sizeof number, "%.15g", input->number);
    const char *word = input->text ? input->text : number;
    int32_t level = hu_feature_level(feature, word, (int64_t)strlen(word));
    return level < 0 ? NAN : (double)level;
}

/* ---- the choice ------------------------------------------------------------------------------------------------- */

/* What a choice must promise over the rule's for that to be given up; and a scheme of several threads over the others, as other programs want the processors too,
 * and whoever waits for a thread that has none waits long. */
static const double gain_wanted = 1.05, gain_of_threads = 1.15;

/* What a model cannot stretch to: other numbers of threads and right-hand sides, other words, larger systems than those of its training. Other features may lie
 * outside of what training had, as its trees then go by the rest. */
static const char *foreign_input(const hu_model *model, const int *place, const sptrsv_input inputs[SPTRSV_INPUTS])
{
    enum { N = 0, NNZ = 1 };
    for (int32_t f = 0; f < model->features; f++) {
        const hu_feature *feature = &model->feature[f];
        double v = value_of(feature, &inputs[place[f]]);
        bool is_size = place[f] == N || place[f] == NNZ, is_setting = place[f] >= SPTRSV_FEATURES && place[f] < SPTRSV_SYSTEM_INPUTS;
        bool too_much = feature->level_count == 0 && v > feature->most, too_little = feature->level_count == 0 && v < feature->least;
        if ((is_size && too_much) || (is_setting && (isnan(v) || too_much || too_little))) return inputs[place[f]].name;
    }
    return NULL;
}

static bool is_shared(const sptrsv_input inputs[SPTRSV_INPUTS])
{
    enum { KIND = SPTRSV_SYSTEM_INPUTS, TILE = SPTRSV_INPUTS - 2 };
    const char *kind = inputs[KIND].text, *tile = inputs[TILE].text;
    return strcmp(kind, "task") == 0 || strcmp(kind, "barrier") == 0 || strcmp(tile, "slab") == 0;
}

int sptrsv_rank(const hu_model *model, sptrsv_input (*inputs)[SPTRSV_INPUTS], int n, hu_prediction *ret_predictions, const char **ret_foreign)
{
    int place[SPTRSV_INPUTS], best = 0;
    double least = INFINITY, rule = INFINITY;
    for (int32_t f = 0; f < model->features; f++) place[f] = find_input(inputs[0], model->feature[f].name);
    *ret_foreign = foreign_input(model, place, inputs[0]);
    if (*ret_foreign) return 0;
    for (int i = 0; i < n; i++) {
        double x[SPTRSV_INPUTS];
        for (int32_t f = 0; f < model->features; f++) x[f] = value_of(&model->feature[f], &inputs[i][place[f]]);
        ret_predictions[i] = hu_model_predict_row(model, x);
        double cost = ret_predictions[i].value * (is_shared(inputs[i]) ? gain_of_threads : 1);
        if (i == 0) rule = cost;
        if (cost >= least) continue;
        least = cost;
        best = i;
    }
    return least * gain_wanted < rule ? best : 0;
}

static hu_status room_for(sptrsv_choice *c, sptrsv_input (**ret_inputs)[SPTRSV_INPUTS], hu_error *err)
{
    void *block;
    if (hu_alloc(c->n, sizeof *c->predictions, "predictions", &block, err)) return err->status;
    c->predictions = block;
    if (hu_alloc(c->n, sizeof **ret_inputs, "candidates", &block, err)) return err->status;
    *ret_inputs = block;
    return HU_OK;
}

/* What speaks against asking a model before it is looked at; NULL: nothing. */
static const char *why_not_asked(const sptrsv_survey *survey, bool is_complex)
{
    if (is_complex) return "the system is complex";
    return survey->is_short ? "a solve is so short that no choice would gain what it costs" : NULL;
}

hu_status sptrsv_choose(const hu_model *model, const sptrsv_survey *survey, bool is_complex, sptrsv_precision precision, int columns, sptrsv_choice *c,
                        hu_error *err)
{
    sptrsv_input (*inputs)[SPTRSV_INPUTS] = NULL;
    const char *foreign = NULL, *why_not = why_not_asked(survey, is_complex);
    *c = (sptrsv_choice){.n = 0};
    if (why_not) {
        snprintf(c->why_not, sizeof c->why_not, "%s", why_not);
        return HU_OK;
    }
    if (sptrsv_candidates(survey, SPTRSV_SPACE_RANKED, columns, &c->schemes, &c->n, err) || room_for(c, &inputs, err)) goto cleanup;
    for (int i = 0; i < c->n; i++) sptrsv_inputs_of(survey, precision, columns, &c->schemes[i], inputs[i]);
    c->chosen = sptrsv_rank(model, inputs, c->n, c->predictions, &foreign);
    if (foreign) {
        c->n = 0;
        snprintf(c->why_not, sizeof c->why_not, "its training had nothing like this system's %s", foreign);
    }
cleanup:
    hu_free(inputs);
    if (err->status) sptrsv_choice_clear(c);
    return err->status;
}

void sptrsv_choice_clear(sptrsv_choice *c)
{
    hu_free(c->schemes);
    hu_free(c->predictions);
    *c = (sptrsv_choice){.n = 0};
}
