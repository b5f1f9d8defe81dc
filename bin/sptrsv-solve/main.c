/* main.c: sptrsv-solve's command line: parse, call, report.
 *
 * Sections: the matrix, the plan, right-hand sides and solutions, the modes, the report.
 */
#include "config.h"
#include "options.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/share.h"
#include "certify.h"
#include "choice.h"
#include "device/cpu.h"
#include "device/device.h"
#include "factor.h"
#include "gpu_solve.h"
#include "grid.h"
#include "info.h"
#include "io/matrix.h"
#include "io/report.h"
#include "krylov.h"
#include "measure.h"
#include "plan.h"
#include "stencil.h"
#include "survey.h"
#include "sweep.h"
#include "scheme_table.h"
#include "base/parallel.h"

#include <stdio.h>
#include <string.h>

static const char *const mode_names[] = {"solve", "analyze", "info", "bench", "factor", "pcg", "symgs"};

/* What a run gathers for --report. */
typedef struct {
    int64_t rows, nnz, columns;
    char scheme[256];
    int threads;
    double read_s, analysis_s, solve_s;
    int64_t bytes;
    double worst_ratio, residual;
    int64_t iterations;
} tally;

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

static const char *display_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static hu_status read_stencil(const options *o, hu_csr **ret_a, hu_error *err)
{
    hu_source *source;
    hu_npy *array = NULL;
    if (hu_source_open(o->matrix, ".npy", &source, err)) return err->status;
    if (hu_npy_read(source, INT64_MAX / 4, &array, err) == HU_END)
        hu_fail(err, HU_INPUT, "%s: holds no array", hu_source_name(source));
    if (!err->status) sptrsv_stencil_matrix(&array, o->offsets, o->sizes, hu_source_name(source), ret_a, err);
    hu_npy_free(array);
    hu_source_close(source);
    return err->status;
}

/* A file declared symmetric holds one half; which one is used (or both) depends on the mode, never an error. */
static hu_status read_matrix(const options *o, tally *t, hu_csr **ret_a, hu_error *err)
{
    hu_mtx_options reader = o->reader;
    bool whole = o->mode == MODE_PCG || o->mode == MODE_SYMGS || o->mode == MODE_FACTOR;
    reader.half = whole ? HU_MTX_BOTH : o->problem.uplo == HU_LOWER ? HU_MTX_LOWER : HU_MTX_UPPER;
    double begin = hu_clock_wall();
    if (o->offsets ? read_stencil(o, ret_a, err) : hu_matrix_read(o->matrix, &reader, ret_a, NULL, err)) return err->status;
    t->read_s = hu_clock_wall() - begin;
    t->rows = (*ret_a)->rows;
    t->nnz = (*ret_a)->nnz;
    return HU_OK;
}

static bool is_upper(const hu_csr *a)
{
    bool below = false, above = false;
    for (int64_t i = 0; i < a->rows; i++) {
        if (a->row_ptr[i] == a->row_ptr[i + 1]) continue;
        if (a->col[a->row_ptr[i]] < i) below = true;
        if (a->col[a->row_ptr[i + 1] - 1] > i) above = true;
    }
    return above && !below;
}

/* The permutation of --perm, checked. */
static hu_status read_permutation(const options *o, int64_t n, int32_t **ret_perm, hu_error *err)
{
    hu_source *source;
    hu_npy *array = NULL;
    int64_t *items = NULL;
    void *block;
    if (hu_source_open(o->perm, ".npy", &source, err)) return err->status;
    if (hu_npy_read(source, INT64_MAX / 4, &array, err) == HU_END) hu_fail(err, HU_INPUT, "%s: holds no array", o->perm);
    hu_source_close(source);
    if (!err->status && array->count != n)
        hu_fail(err, HU_INPUT, "%s: %lld items, but the matrix has %lld rows", o->perm, (long long)array->count, (long long)n);
    if (!err->status) hu_npy_to_integers(array, o->perm, 0, n - 1, &items, err);
    if (!err->status && !hu_alloc(n, sizeof(int32_t), "the permutation", &block, err)) {
        *ret_perm = block;
        for (int64_t i = 0; i < n; i++) (*ret_perm)[i] = (int32_t)items[i];
        hu_permutation_check(*ret_perm, n, o->perm, err);
    }
    hu_free(items);
    hu_npy_free(array);
    return err->status;
}

/* What a triangular mode works on. */
typedef struct {
    hu_csr *a;
    int32_t *perm;
    sptrsv_system *system;
    sptrsv_plan *plan;
    hu_gpu *gpu; /* NULL: the CPU, and then there is a plan; otherwise the next */
    sptrsv_gpu_plan *gpu_plan;
    sptrsv_choice choice; /* n is 0 where no model was asked for */
} work;

static void free_work(work *w)
{
    sptrsv_plan_free(w->plan);
    sptrsv_gpu_plan_free(w->gpu_plan);
    sptrsv_choice_clear(&w->choice);
    sptrsv_system_free(w->system);
    hu_csr_free(w->a);
    hu_free(w->perm);
}

static hu_status make_system(const options *o, tally *t, work *w, hu_error *err)
{
    sptrsv_problem problem = o->problem;
    if (read_matrix(o, t, &w->a, err)) return err->status;
    if (o->perm) {
        hu_csr *permuted;
        if (w->a->rows == w->a->cols && read_permutation(o, w->a->rows, &w->perm, err)) return err->status;
        if (hu_csr_permute(w->a, w->perm, &permuted, err)) return err->status;
        hu_csr_free(w->a);
        w->a = permuted;
    }
    if (o->auto_triangle) problem.uplo = is_upper(w->a) ? HU_UPPER : HU_LOWER;
    char name[512];
    snprintf(name, sizeof name, "%s%s", display_name(o->matrix), o->perm ? ", in the order of --perm" : ""); /* so are the rows in messages */
    if (sptrsv_system_new(w->a, &problem, name, &w->system, err)) return err->status;
    return o->precision == SPTRSV_F64 ? HU_OK : sptrsv_system_fits_float(w->system, name, err);
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

/* --grid=NX[xNY[xNZ]] insists on that grid. */
static hu_status insist_on_grid(const options *o, const sptrsv_system *system, hu_error *err)
{
    bool is_grid;
    sptrsv_grid_shape shape;
    const char *why = NULL;
    if (sptrsv_grid_detect(system, o->sizes, &is_grid, &shape, &why, err)) return err->status;
    if (is_grid) return HU_OK;
    return hu_fail(err, HU_INPUT, "%s: is no grid of %d x %d x %d: %s; --grid=auto looks for one by itself", display_name(o->matrix),
                   o->sizes[0], o->sizes[1], o->sizes[2], why);
}

/* The model that was asked for, or the one that comes with the program; without that one the rule goes on alone, and says so. */
static hu_status open_model(const options *o, hu_model **ret_model, char *ret_path, size_t size, hu_error *err)
{
    hu_error why = HU_ERROR_NONE;
    *ret_model = NULL;
    if (o->model) {
        snprintf(ret_path, size, "%s", o->model);
        return sptrsv_model_read(o->model, ret_model, err);
    }
    if (hu_share_find(sptrsv_model_file, ret_path, size, &why) || sptrsv_model_read(ret_path, ret_model, &why))
        hu_warn("%s: the schemes' model cannot be used, so the rule chooses (--tune=rule does so from the start)", why.message);
    return HU_OK;
}

/* The scheme by the model; the rule's where it is not asked. */
static hu_status ask_model(const options *o, const sptrsv_system *system, const sptrsv_survey *survey, sptrsv_choice *ret_choice, hu_error *err)
{
    hu_model *model = NULL;
    char path[sizeof ret_choice->model] = "";
    bool is_needless = !o->model && (survey->is_short || system->is_complex);
    if (!is_needless && open_model(o, &model, path, sizeof path, err)) return err->status;
    if (model || is_needless) sptrsv_choose(model, survey, system->is_complex, o->precision, o->columns, ret_choice, err);
    if (model) memcpy(ret_choice->model, path, sizeof path);
    hu_model_free(model);
    if (ret_choice->why_not[0]) {
        bool is_wanted = o->tune == TUNE_MODEL || o->model;
        if (is_wanted) hu_warn("the rule chooses, not the model: %s", ret_choice->why_not);
        else hu_say(1, "the rule chooses, not the model: %s", ret_choice->why_not);
    }
    return err->status;
}

/* The scheme, and who chose it. */
static hu_status choose_scheme(const options *o, const sptrsv_system *system, sptrsv_choice *choice, sptrsv_scheme *ret_scheme, sptrsv_chooser *ret_by,
                               hu_error *err)
{
    sptrsv_survey survey;
    bool by_model = o->tune == TUNE_MODEL || (o->tune == TUNE_DEFAULT && !o->has_scheme);
    if (o->grid == GRID_SIZES && insist_on_grid(o, system, err)) return err->status;
    if (sptrsv_survey_of(system, hu_threads(), o->grid != GRID_OFF, by_model ? SPTRSV_LOOK_MODEL : SPTRSV_LOOK_RULE, &survey, err)) return err->status;
    sptrsv_rule_of(&survey, ret_scheme);
    if (by_model && ask_model(o, system, &survey, choice, err)) return err->status;
    if (choice->n > 0) *ret_scheme = choice->schemes[choice->chosen];
    *ret_by = o->has_scheme || o->tune == TUNE_OFF ? SPTRSV_BY_USER : choice->n > 0 ? SPTRSV_BY_MODEL : SPTRSV_BY_RULE;
    if (o->tune == TUNE_OFF) ret_scheme->kind = SPTRSV_SERIAL;
    return o->scheme[0] ? sptrsv_scheme_parse(o->scheme, ret_scheme, err) : HU_OK;
}

static hu_status new_plan(const options *o, work *w, hu_error *err)
{
    sptrsv_scheme scheme;
    sptrsv_chooser by = SPTRSV_BY_SEARCH;
    if (o->tune == TUNE_SEARCH) {
        if (sptrsv_search(w->system, o->precision, hu_threads(), o->grid != GRID_OFF, o->columns, o->tune_seconds, &w->plan, err)) return err->status;
    } else if (choose_scheme(o, w->system, &w->choice, &scheme, &by, err) ||
               sptrsv_plan_new(w->system, &scheme, o->precision, hu_threads(), &w->plan, err)) {
        return err->status;
    }
    sptrsv_plan_set_chooser(w->plan, by);
    return HU_OK;
}

static hu_status load_plan(const options *o, const sptrsv_system *system, sptrsv_plan **ret_plan, hu_error *err)
{
    hu_source *source;
    sptrsv_plan_facts facts;
    if (hu_source_open(o->plan, hu_source_as_it_is, &source, err)) return err->status;
    sptrsv_plan_load(source, system, hu_threads(), ret_plan, err);
    hu_source_close(source);
    if (err->status) return err->status;
    sptrsv_plan_describe(*ret_plan, &facts);
    if (facts.precision == o->precision) return HU_OK;
    return hu_fail(err, (hu_status)SPTRSV_PLAN_MISFIT, "%s: the plan was made with --%s, and this run is --%s", o->plan,
                   sptrsv_precision_name(facts.precision), sptrsv_precision_name(o->precision));
}

/* The same on the GPU, by the rule and --gpu-scheme. */
static hu_status make_gpu_plan(const options *o, tally *t, work *w, hu_error *err)
{
    sptrsv_gpu_scheme scheme;
    sptrsv_gpu_facts facts;
    double begin = hu_clock_wall();
    sptrsv_gpu_scheme_by_rule(w->system, &scheme);
    if (o->gpu_scheme && sptrsv_gpu_scheme_parse(o->gpu_scheme, &scheme, err)) return err->status;
    if (sptrsv_gpu_plan_new(w->gpu, w->system, &scheme, o->precision, &w->gpu_plan, err)) return err->status;
    t->analysis_s = hu_clock_wall() - begin;
    sptrsv_gpu_describe(w->gpu_plan, &facts);
    sptrsv_gpu_scheme_print(&facts.scheme, t->scheme, sizeof t->scheme);
    t->threads = facts.blocks * facts.scheme.threads;
    t->bytes = facts.bytes_per_solve;
    hu_say(1, "GPU %s: scheme %s, %d blocks, %lld nodes, analysis and upload %.3g ms", hu_gpu_describe(w->gpu)->name, t->scheme, facts.blocks,
           (long long)facts.nodes, 1e3 * t->analysis_s);
    return HU_OK;
}

static hu_status make_plan(const options *o, tally *t, work *w, hu_error *err)
{
    sptrsv_plan_facts facts;
    double begin = hu_clock_wall();
    if (o->plan ? load_plan(o, w->system, &w->plan, err) : new_plan(o, w, err)) return err->status;
    t->analysis_s = hu_clock_wall() - begin;
    sptrsv_plan_describe(w->plan, &facts);
    sptrsv_scheme_print(&facts.scheme, t->scheme, sizeof t->scheme);
    t->threads = facts.threads;
    t->bytes = facts.bytes_per_solve;
    hu_say(1, "scheme %s, chosen by the %s, %d thread%s, analysis %.3g ms", t->scheme, sptrsv_chooser_words[facts.chooser], facts.threads,
           facts.threads == 1 ? "" : "s", 1e3 * t->analysis_s);
    if (facts.remark[0]) hu_say(1, "%s", facts.remark);
    return HU_OK;
}

/* ---- right-hand sides and solutions ------------------------------------------------------------------------------- */

static hu_scalar scalar_of(const options *o, bool is_complex)
{
    return is_complex ? HU_C128 : o->precision == SPTRSV_F32 && !o->refine ? HU_F32 : HU_F64;
}

/* Row i of B becomes row perm[i] (gather) or the other way round (scatter). */
static hu_status permute_rows(hu_dense **b, const int32_t *perm, bool scatter, hu_error *err)
{
    hu_dense *from = *b, *to;
    if (hu_dense_new(from->rows, from->cols, from->scalar, from->order, &to, err)) return err->status;
    size_t size = hu_scalar_size(from->scalar);
    to->dims = from->dims;
    for (int64_t j = 0; j < from->cols; j++)
        for (int64_t i = 0; i < from->rows; i++) {
            int64_t p = scatter ? perm[i] : i, q = scatter ? i : perm[i];
            int64_t at = to->order == HU_COL_MAJOR ? p + j * to->ld : p * to->ld + j;
            int64_t source = from->order == HU_COL_MAJOR ? q + j * from->ld : q * from->ld + j;
            memcpy((char *)to->data + (size_t)at * size, (char *)from->data + (size_t)source * size, size);
        }
    hu_dense_free(from);
    *b = to;
    return HU_OK;
}

/* Right-hand sides one after another, in the scalar of the solve. */
typedef struct {
    hu_source *source;
    hu_array_reader *reader;
    int64_t rows;
    hu_scalar scalar;
} sides;

static hu_status open_sides(const options *o, int64_t rows, hu_scalar scalar, sides *ret_sides, hu_error *err)
{
    *ret_sides = (sides){NULL, NULL, rows, scalar};
    if (hu_source_open(o->rhs, NULL, &ret_sides->source, err)) return err->status;
    return hu_array_reader_new(ret_sides->source, o->rhs_format, rows > 0 ? rows : 1, &ret_sides->reader, err);
}

static void close_sides(sides *s)
{
    hu_array_reader_free(s->reader);
    hu_source_close(s->source);
}

/* HU_END after the last. */
static hu_status read_side(const options *o, sides *s, hu_dense **ret_b, hu_error *err)
{
    hu_dense *b;
    int64_t n = s->rows;
    hu_scalar scalar = s->scalar;
    hu_status status = hu_array_read_next(s->reader, &b, err);
    if (status) return status;
    if (b->rows != n) {
        hu_fail(err, HU_INPUT, "%s: %lld rows, but the matrix has %lld", display_name(o->rhs), (long long)b->rows, (long long)n);
    } else if (b->scalar == HU_C128 && scalar != HU_C128) {
        hu_fail(err, HU_INPUT, "%s: the right-hand side is complex, but the matrix is real", display_name(o->rhs));
    } else if (b->scalar != scalar) {
        hu_dense *converted;
        if (!hu_dense_convert(b, scalar, b->order, &converted, err)) {
            hu_dense_free(b);
            b = converted;
        }
    }
    if (err->status) hu_dense_free(b);
    else *ret_b = b;
    return err->status;
}

/* By --out-format, else the ending of -o, else as the right-hand side came. */
static hu_array_format output_format(const options *o, const sides *s)
{
    hu_array_format by_name = hu_array_format_of(o->common.output);
    return o->out_format != HU_ARRAY_AUTO ? o->out_format : by_name != HU_ARRAY_AUTO ? by_name : hu_array_format_read(s->reader);
}

/* A plan in float cannot hold x in double. Its solve is the first step of a refinement from 0, whose residual is b. */
static hu_status refine_from_zero(const options *o, const work *w, const hu_dense *b, hu_dense *x, hu_error *err)
{
    size_t size = (size_t)(x->rows * x->cols) * sizeof(double); /* x is a copy without gaps */
    if (size) memset(x->data, 0, size);
    return sptrsv_refine(w->plan, w->system, o->refine + 1, b, x, err);
}

/* One solve, wherever the plan is. */
static hu_status solve_by_plan(const work *w, const hu_dense *b, hu_dense *x, hu_error *err)
{
    sptrsv_gpu_facts facts;
    if (!w->gpu_plan) return w->a ? sptrsv_solve_checked(w->plan, w->system, b, x, err) : sptrsv_solve_many(w->plan, b, x, err);
    if (sptrsv_gpu_solve(w->gpu_plan, b, x, err) || hu_dense_check_finite(x, "the solution", err)) return err->status;
    sptrsv_gpu_describe(w->gpu_plan, &facts);
    hu_say(1, "GPU: %.3g ms in kernels", 1e3 * facts.kernel_seconds);
    return HU_OK;
}

/* x = T^-1 b, refined and certified as asked. b is used up where nothing needs it afterwards. */
static hu_status solve_one(const options *o, const work *w, hu_dense *b, hu_dense **ret_x, tally *t, hu_error *err)
{
    sptrsv_certificate certificate;
    bool keep_b = o->refine || o->check != 0;
    hu_dense *x = b;
    if (keep_b && hu_dense_convert(b, b->scalar, b->order, &x, err)) return err->status;
    *ret_x = x;
    double begin = hu_clock_wall();
    if (o->refine && o->precision == SPTRSV_F32) {
        if (refine_from_zero(o, w, b, x, err)) return err->status;
    } else {
        if (solve_by_plan(w, b, x, err)) return err->status;
        if (o->refine && sptrsv_refine(w->plan, w->system, o->refine, b, x, err)) return err->status;
    }
    if ((!w->a || o->refine) && hu_dense_check_finite(x, "the solution", err)) {
        size_t used = strlen(err->message); /* of a large matrix only the scaled values are still there */
        if (!w->a) snprintf(err->message + used, sizeof err->message - used, "; --scheme=arith:divide avoids overflow of scaled rows");
        return err->status;
    }
    t->solve_s += hu_clock_wall() - begin;
    t->columns += b->cols;
    if (o->check == 0) return HU_OK;
    sptrsv_precision precision = o->refine ? SPTRSV_F64 : o->precision;
    hu_status status = sptrsv_certify(w->system, precision, o->check, b, x, &certificate, err);
    if (certificate.worst_ratio > t->worst_ratio) t->worst_ratio = certificate.worst_ratio;
    if (!status) hu_say(1, "certified: worst row %lld at %.3g of its bound", (long long)certificate.worst_row + 1, certificate.worst_ratio);
    return status;
}

/* ---- the modes -------------------------------------------------------------------------------------------------- */

static hu_status run_solve(const options *o, tally *t, hu_gpu *gpu, hu_output *out, hu_error *err)
{
    work w = {.gpu = gpu};
    sides s = {0};
    hu_dense *b = NULL, *x = NULL;
    if (make_system(o, t, &w, err) || (gpu ? make_gpu_plan(o, t, &w, err) : make_plan(o, t, &w, err))) goto cleanup;
    int64_t n = w.system->n;
    hu_scalar scalar = scalar_of(o, w.system->is_complex);
    if (o->check == 0 && !o->refine && n > 1000000) { /* large: from here on the plan's copy of the values is enough */
        sptrsv_system_free(w.system);
        hu_csr_free(w.a);
        w.system = NULL;
        w.a = NULL;
    }
    if (open_sides(o, n, scalar, &s, err)) goto cleanup;
    hu_status status;
    while ((status = read_side(o, &s, &b, err)) == HU_OK) {
        if (w.perm && !o->permuted_io && permute_rows(&b, w.perm, false, err)) goto cleanup;
        if (solve_one(o, &w, b, &x, t, err)) goto cleanup;
        if (x != b) hu_dense_free(b);
        b = NULL;
        if (w.perm && !o->permuted_io && permute_rows(&x, w.perm, true, err)) goto cleanup;
        if (hu_array_write(out, x, output_format(o, &s), err)) goto cleanup;
        hu_dense_free(x);
        x = NULL;
        if (!o->stream) {
            hu_array_expect_end(s.reader, err);
            break;
        }
        if (hu_output_flush(out, err)) goto cleanup;
    }
    if (status == HU_END && !o->stream) hu_fail(err, HU_INPUT, "%s: holds no right-hand side", display_name(o->rhs));
cleanup:
    if (x != b) hu_dense_free(x);
    hu_dense_free(b);
    close_sides(&s);
    free_work(&w);
    return err->status;
}

static hu_status run_on_plan(const options *o, tally *t, hu_output *out, hu_error *err)
{
    work w = {0};
    if (make_system(o, t, &w, err)) goto cleanup;
    if (o->mode == MODE_BENCH) {
        const sptrsv_bench_options wanted = {o->precision, hu_threads(), o->columns, o->space, o->grid != GRID_OFF, o->repetitions};
        sptrsv_bench(w.system, display_name(o->matrix), &wanted, out, err);
        goto cleanup;
    }
    if (make_plan(o, t, &w, err)) goto cleanup;
    if (o->mode == MODE_ANALYZE) sptrsv_plan_save(w.plan, w.system, out, err);
    else sptrsv_info(w.system, w.plan, display_name(o->matrix), &(sptrsv_info_options){o->plan != NULL, o->grid != GRID_OFF, &w.choice, o->columns, t->analysis_s}, out, err);
cleanup:
    free_work(&w);
    return err->status;
}

static hu_status run_factor(const options *o, tally *t, hu_output **out_l, hu_output **out_u, hu_error *err)
{
    hu_csr *a = NULL, *l = NULL, *u = NULL;
    const char *name = display_name(o->matrix);
    bool is_ilu = strcmp(o->factor, "ilu0") == 0;
    if (read_matrix(o, t, &a, err)) goto cleanup;
    double begin = hu_clock_wall();
    if (is_ilu ? sptrsv_ilu0(a, name, &l, &u, err) : sptrsv_ic0(a, name, &l, err)) goto cleanup;
    t->analysis_s = hu_clock_wall() - begin;
    if (hu_output_open(o->out_l, out_l, err) || hu_matrix_write(*out_l, l, NULL, err)) goto cleanup;
    if (is_ilu && (hu_output_open(o->out_u, out_u, err) || hu_matrix_write(*out_u, u, NULL, err))) goto cleanup;
cleanup:
    hu_csr_free(a);
    hu_csr_free(l);
    hu_csr_free(u);
    return err->status;
}

/* All columns at once, one after another in memory. */
static hu_status read_columns(const options *o, sides *s, hu_dense **ret_b, hu_error *err)
{
    hu_dense *columns;
    if (read_side(o, s, ret_b, err) == HU_END) return hu_fail(err, HU_INPUT, "%s: holds no right-hand side", display_name(o->rhs));
    if (err->status || (*ret_b)->order == HU_COL_MAJOR) return err->status;
    if (hu_dense_convert(*ret_b, (*ret_b)->scalar, HU_COL_MAJOR, &columns, err)) return err->status;
    hu_dense_free(*ret_b);
    *ret_b = columns;
    return HU_OK;
}

static hu_status pcg_columns(const options *o, const hu_csr *a, const hu_dense *b, hu_dense *x, tally *t, hu_error *err)
{
    static const char *const words[] = {"none", "ic0", "ilu0", "symgs"};
    sptrsv_pcg_options settings = {SPTRSV_PRE_NONE, o->tolerance, o->iterations, hu_threads(), NULL};
    sptrsv_pcg *pcg;
    for (int i = 0; i < 4; i++)
        if (strcmp(o->preconditioner, words[i]) == 0) settings.preconditioner = (sptrsv_preconditioner)i;
    double begin = hu_clock_wall();
    if (sptrsv_pcg_new(a, &settings, display_name(o->matrix), &pcg, err)) return err->status;
    t->analysis_s = hu_clock_wall() - begin;
    for (int64_t j = 0; j < b->cols && !err->status; j++) {
        sptrsv_pcg_result result;
        sptrsv_pcg_solve(pcg, (const double *)b->data + j * b->ld, (double *)x->data + j * x->ld, &result, err);
        hu_say(0, "%lld iteration%s, residual %.3g, %.4g s, %.4g ms an iteration", (long long)result.iterations,
               result.iterations == 1 ? "" : "s", result.true_residual,
               result.seconds, result.iterations ? 1e3 * result.seconds / (double)result.iterations : 0.0);
        t->iterations += result.iterations;
        t->solve_s += result.seconds;
        if (!(result.true_residual <= t->residual)) t->residual = result.true_residual;
    }
    sptrsv_pcg_free(pcg);
    return err->status;
}

static hu_status symgs_columns(const options *o, const hu_csr *a, const hu_dense *b, hu_dense *x, tally *t, hu_error *err)
{
    sptrsv_symgs *sweeps;
    int64_t step = a->is_complex ? 2 : 1;
    double begin = hu_clock_wall();
    if (sptrsv_symgs_new(a, display_name(o->matrix), NULL, hu_threads(), &sweeps, err)) return err->status;
    t->analysis_s = hu_clock_wall() - begin;
    begin = hu_clock_wall();
    for (int64_t j = 0; j < b->cols; j++)
        sptrsv_symgs_apply(sweeps, o->sweeps, true, (const double *)b->data + j * b->ld * step, (double *)x->data + j * x->ld * step);
    t->solve_s = hu_clock_wall() - begin;
    sptrsv_symgs_free(sweeps);
    return hu_dense_check_finite(x, "the result", err);
}

/* --pcg and --symgs: a whole matrix and column after column. */
static hu_status run_iterative(const options *o, tally *t, hu_output *out, hu_error *err)
{
    hu_csr *a = NULL;
    sides s = {0};
    hu_dense *b = NULL, *x = NULL;
    if (read_matrix(o, t, &a, err)) goto cleanup;
    if (open_sides(o, a->rows, a->is_complex ? HU_C128 : HU_F64, &s, err) || read_columns(o, &s, &b, err)) goto cleanup;
    if (hu_dense_new(b->rows, b->cols, b->scalar, HU_COL_MAJOR, &x, err)) goto cleanup;
    x->dims = b->dims;
    t->columns = b->cols;
    if (o->mode == MODE_PCG ? pcg_columns(o, a, b, x, t, err) : symgs_columns(o, a, b, x, t, err)) goto cleanup;
    hu_array_write(out, x, output_format(o, &s), err);
cleanup:
    hu_dense_free(x);
    hu_dense_free(b);
    close_sides(&s);
    hu_csr_free(a);
    return err->status;
}

/* ---- the report ------------------------------------------------------------------------------------------------- */

static hu_status report(const options *o, const tally *t, hu_error *err)
{
    if (!o->common.report) return HU_OK;
    hu_report *r;
    if (hu_report_new(&r, err)) return err->status;
    double solves = t->columns > 0 ? (double)t->columns : 1;
    hu_report_text(r, "program", "sptrsv-solve", err);
    hu_report_text(r, "mode", mode_names[o->mode], err);
    hu_report_text(r, "matrix", o->matrix, err);
    hu_report_integer(r, "rows", t->rows, err);
    hu_report_integer(r, "nnz", t->nnz, err);
    hu_report_integer(r, "rhs", t->columns, err);
    hu_report_text(r, "precision", sptrsv_precision_name(o->precision), err);
    hu_report_text(r, "scheme", t->scheme, err);
    hu_report_integer(r, "threads", t->threads ? t->threads : hu_threads(), err);
    hu_report_text(r, "machine", hu_cpu_model(), err);
    hu_report_text(r, "cpu", hu_cpu_level_name(hu_cpu()), err);
    hu_report_number(r, "read_s", t->read_s, err);
    hu_report_number(r, "analysis_s", t->analysis_s, err);
    hu_report_number(r, "solve_s", t->solve_s, err);
    hu_report_integer(r, "bytes_a_solve", t->bytes, err);
    hu_report_number(r, "bytes_per_s", t->solve_s > 0 ? (double)t->bytes * solves / t->solve_s : 0, err);
    hu_report_integer(r, "iterations", t->iterations, err);
    hu_report_number(r, "residual", t->residual, err);
    hu_report_number(r, "certificate", t->worst_ratio, err);
    hu_report_integer(r, "peak_bytes", hu_clock_peak_bytes(), err);
    if (!err->status) hu_report_append(r, o->common.report, err);
    hu_report_free(r);
    return err->status;
}

/* The GPU solves, where it is asked for: the way there and back costs more than one solve, so auto is the CPU. */
static hu_status pick_device(const options *o, hu_gpu **ret_gpu, hu_error *err)
{
    bool solves = o->mode == MODE_SOLVE && !o->plan && !o->refine;
    return hu_device_pick(o->common.device, solves && strcmp(o->common.device, "auto") != 0, ret_gpu, err);
}

int main(int argc, char **argv)
{
    options o;
    tally t = {0};
    hu_error err = HU_ERROR_NONE;
    hu_gpu *gpu;
    hu_output *outs[3] = {NULL, NULL, NULL}; /* the result, L, U */
    options_parse(argc, argv, &o);
    if (pick_device(&o, &gpu, &err)) return hu_exit(&err, NULL);
    if (o.mode != MODE_FACTOR && hu_output_open(o.common.output, &outs[0], &err)) return hu_exit(&err, NULL);
    switch (o.mode) {
    case MODE_SOLVE: run_solve(&o, &t, gpu, outs[0], &err); break;
    case MODE_ANALYZE:
    case MODE_INFO:
    case MODE_BENCH: run_on_plan(&o, &t, outs[0], &err); break;
    case MODE_FACTOR: run_factor(&o, &t, &outs[1], &outs[2], &err); break;
    case MODE_PCG:
    case MODE_SYMGS: run_iterative(&o, &t, outs[0], &err); break;
    }
    hu_gpu_close(gpu);
    if (err.status == HU_OK) report(&o, &t, &err);
    return hu_exit_all(&err, outs, 3);
}
