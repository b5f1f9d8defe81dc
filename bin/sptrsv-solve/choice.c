/* choice.c: a scheme chosen by a learned model.
 *
 * Sections: inputs.
 */
#include "config.h"
#include "choice.h"
#include "device/cpu.h"

#include <math.h>
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
