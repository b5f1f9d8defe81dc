/* info.c: what sptrsv-solve says of a matrix: structure, scheme and reason, needs, limits, and what was reached. */
#include "config.h"
#include "info.h"
#include "base/parallel.h"
#include "device/cpu.h"
#include "grid.h"
#include "measure.h"
#include "survey.h"

#include <math.h>
#include <stdio.h>

static const double HOP_SECONDS = 100e-9; /* one flag from core to core; spec: 50 to 100 ns on current processors */

static const char *const op_names[] = {"", ", transposed", ", conjugate transposed"};
static const char *const precision_names[] = {"f64", "f32", "mixed (values f32, arithmetic f64)"};

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static hu_status put_structure(const sptrsv_system *s, const char *name, const sptrsv_features *f, hu_output *out, hu_error *err)
{
    if (hu_output_printf(out, err, "matrix      %s: %lld rows, %lld off-diagonal entries, %s%s%s%s\n", name, (long long)s->n,
                         (long long)s->nnz, s->problem.uplo == HU_LOWER ? "lower" : "upper", op_names[s->problem.op],
                         s->unit ? ", unit diagonal" : "", s->is_complex ? ", complex" : "") ||
        hu_output_printf(out, err, "rows        entries with the diagonal: mean %.3g, greatest %.0f, variation %.3g; bandwidth %.0f\n", f->mean_row,
                         f->max_row, f->cov_row, f->bandwidth) ||
        hu_output_printf(out, err, "levels      %.0f level sets; rows a level: mean %.4g, greatest %.0f, variation %.3g\n", f->levels,
                         f->mean_level, f->max_level, f->cov_level))
        return err->status;
    return HU_OK;
}

static hu_status put_grid(const sptrsv_system *s, hu_output *out, hu_error *err)
{
    sptrsv_grid_shape shape;
    const char *why = NULL;
    bool is_grid;
    if (sptrsv_grid_detect(s, NULL, &is_grid, &shape, &why, err)) return err->status;
    if (!is_grid) return hu_output_printf(out, err, "grid        no: %s\n", why ? why : "not a structured grid");
    return hu_output_printf(out, err, "grid        %d x %d x %d, %d neighbour%s before each cell, %d unknown%s a cell\n", shape.nx,
                            shape.ny, shape.nz, shape.neighbours, shape.neighbours == 1 ? "" : "s", shape.dof,
                            shape.dof == 1 ? "" : "s");
}

/* What speaks for a kind of scheme. */
static const char *reason_for(sptrsv_kind kind)
{
    switch (kind) {
    case SPTRSV_GRID: return "a structured grid needs no indices, so there is less to read";
    case SPTRSV_TASK: return "level sets are wide enough to be shared among the threads";
    case SPTRSV_LEVEL: return "rows of one level set do not wait for each other, which hides their latency";
    case SPTRSV_BARRIER: return "the textbook's level sets, a barrier after each, as a yardstick";
    case SPTRSV_SERIAL: break;
    }
    return "too little work, or level sets too narrow, for threads to gain";
}

static const char *const choosers[SPTRSV_CHOOSERS] = {"the options", "the model", "the rule", "measuring (--tune=search)"};

static hu_status put_scheme(const sptrsv_plan_facts *facts, const sptrsv_info_options *o, hu_output *out, hu_error *err)
{
    char scheme[256];
    sptrsv_scheme_print(&facts->scheme, scheme, sizeof scheme);
    if (hu_output_printf(out, err, "scheme      %s\n", scheme)) return err->status;
    if (hu_output_printf(out, err, "why         by %s%s: %s\n", o->from_file ? "the plan file, chosen by " : "", choosers[facts->chooser],
                         reason_for(facts->scheme.kind)))
        return err->status;
    if (o->choice->why_not[0] && hu_output_printf(out, err, "model       not asked: %s\n", o->choice->why_not)) return err->status;
    if (facts->remark[0] && hu_output_printf(out, err, "remark      %s\n", facts->remark)) return err->status;
    if (hu_output_printf(out, err, "plan        %d thread%s, %s; %lld node%s in %lld task%s, %lld wait%s, longest path %lld\n",
                         facts->threads, facts->threads == 1 ? "" : "s", precision_names[facts->precision],
                         (long long)facts->nodes, plural(facts->nodes), (long long)facts->tasks, plural(facts->tasks),
                         (long long)facts->waits, plural(facts->waits), (long long)facts->longest_path))
        return err->status;
    return hu_output_printf(out, err, "analysis    %.3g ms, %.1f MB held\n", 1e3 * o->analysis_s, 1e-6 * (double)facts->bytes_held);
}

/* Candidates before i in the ranking: those of less predicted time, and of equal ones the earlier. */
static int place_of(const sptrsv_choice *c, int i)
{
    int place = 0;
    for (int k = 0; k < c->n; k++) place += c->predictions[k].value < c->predictions[i].value || (c->predictions[k].value == c->predictions[i].value && k < i);
    return place;
}

/* The five best, the one taken and the rule's, with their times by the model from the naive loop's, which is measured. */
static hu_status put_ranking(const sptrsv_system *system, const sptrsv_info_options *o, hu_output *out, hu_error *err)
{
    enum { SHOWN = 5 };
    const sptrsv_choice *c = o->choice;
    sptrsv_time naive;
    char scheme[256];
    if (c->n == 0) return HU_OK;
    if (sptrsv_measure_naive(system, 5, 0.01, &naive, err)) return err->status;
    double unit = 1e3 * naive.median * o->columns;
    if (hu_output_printf(out, err, "ranking     of %d schemes by %s; the naive loop takes %.4g ms\n", c->n, c->model, unit)) return err->status;
    for (int place = 0; place < c->n; place++)
        for (int i = 0; i < c->n; i++) {
            if (place_of(c, i) != place || (place >= SHOWN && i != c->chosen && i != 0)) continue;
            sptrsv_scheme_print(&c->schemes[i], scheme, sizeof scheme);
            if (hu_output_printf(out, err, "%8d    %.4g ms predicted: %s%s%s\n", place + 1, unit * c->predictions[i].value, scheme, i == 0 ? " (the rule's)" : "",
                                 i == c->chosen ? " (taken)" : ""))
                return err->status;
        }
    return HU_OK;
}

/* T >= max(bytes / bandwidth, operations / FMA peak, longest path x hop). */
static hu_status put_limits(const sptrsv_system *s, const sptrsv_plan_facts *facts, double *ret_limit, hu_output *out, hu_error *err)
{
    double bandwidth, peak = hu_cpu_fma_peak();
    if (hu_cpu_read_bandwidth(&bandwidth, err)) return err->status;
    double operations = (s->is_complex ? 4.0 : 1.0) * (2.0 * (double)s->nnz + (double)s->n);
    double by_bytes = (double)facts->bytes_per_solve / bandwidth, by_operations = operations / peak;
    double by_hops = facts->waits > 0 ? (double)facts->longest_path * HOP_SECONDS : 0;
    *ret_limit = fmax(by_bytes, fmax(by_operations, by_hops));
    if (hu_output_printf(out, err, "a solve     %.4g MB to move, %.4g million operations\n", 1e-6 * (double)facts->bytes_per_solve,
                         1e-6 * operations) ||
        hu_output_printf(out, err, "machine     %s, %s, %d thread%s: reads %.1f GB/s, %.1f Gflop/s FMA (measured now)\n",
                         hu_cpu_model(), hu_cpu_level_name(hu_cpu()), hu_threads(), hu_threads() == 1 ? "" : "s",
                         1e-9 * bandwidth, 1e-9 * peak) ||
        hu_output_printf(out, err, "limits      bytes %.3g ms, operations %.3g ms, hops %.3g ms\n", 1e3 * by_bytes,
                         1e3 * by_operations, 1e3 * by_hops))
        return err->status;
    return HU_OK;
}

hu_status sptrsv_info(const sptrsv_system *system, const sptrsv_plan *plan, const char *name, const sptrsv_info_options *o, hu_output *out, hu_error *err)
{
    sptrsv_survey survey;
    sptrsv_plan_facts facts;
    sptrsv_time time;
    double limit = 0;
    sptrsv_plan_describe(plan, &facts);
    if (sptrsv_survey_of(system, hu_threads(), o->allow_grid, SPTRSV_LOOK_ALL, &survey, err) || put_structure(system, name, &survey.f, out, err) ||
        put_grid(system, out, err) || put_scheme(&facts, o, out, err) || put_ranking(system, o, out, err) ||
        put_limits(system, &facts, &limit, out, err) || sptrsv_measure(plan, system, 1, 20, 0.5, &time, err))
        return err->status;
    if (hu_output_printf(out, err, "measured    %.4g ms a solve (least %.4g): %.1f GB/s, %.2f Gflop/s", 1e3 * time.median,
                         1e3 * time.least, 1e-9 * (double)facts.bytes_per_solve / time.median,
                         1e-9 * (2.0 * (double)system->nnz + (double)system->n) / time.median))
        return err->status;
    if (survey.f.bytes_l3 < 1 ? hu_output_printf(out, err, "; it fits the caches, so the memory limit does not bind\n")
                              : hu_output_printf(out, err, ", %.0f %% of the limit\n", 100 * limit / time.median))
        return err->status;
    if (o->columns == 1 || sptrsv_measure(plan, system, o->columns, 10, 0.5, &time, err)) return err->status;
    return hu_output_printf(out, err, "columns     %d right-hand sides at once: %.4g ms, %.4g ms each\n", o->columns, 1e3 * time.median,
                            1e3 * time.median / o->columns);
}
