/* bench_sptrsv.c: sptrsv-solve against the libraries that Debian packages (scripts/bench sptrsv-solve).
 *
 *   bench_sptrsv [--quick] [BAR...]
 *
 * Environment: HU_BUILD, the build folder (programs and peers); HU_SRC, the sources; HU_WORK, a folder for large files; HPCUTILS_DATA,
 * a folder with matrices/NAME.mtx from elsewhere; HU_PYTHON, a Python that has SciPy;
 * HU_SCHEME, what differs from the chosen scheme ("kind:serial"), to try one; HU_TUNE=rule, to let the rule choose everywhere; HU_CASE, the only case of P4 and P5 to take.
 *
 * Sections: matrices, contests, verification, child processes, bars, main.
 */
#include "config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"
#include "bench_choice.h"
#include "choice.h"
#include "base/share.h"
#include "factor.h"
#include "generate.h"
#include "io/mtx.h"
#include "io/npy.h"
#include "krylov.h"
#include "peers.h"
#include "plan.h"

#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A benchmark that cannot go on has nothing to clean up. */
static void stop(hu_error *err)
{
    fflush(stdout);
    hu_error_print(err);
    exit(err->status ? (int)err->status : HU_SYSTEM);
}

static const char *folder(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* ---- matrices --------------------------------------------------------------------------------------------------- */

static hu_csr *generated(hu_gen g)
{
    hu_error err = HU_ERROR_NONE;
    hu_csr *a = NULL;
    if (hu_gen_matrix(&g, &a, &err)) stop(&err);
    return a;
}

static hu_gen grid_of(int points, int64_t nx, int64_t ny, int64_t nz)
{
    hu_gen g = HU_GEN_DEFAULTS;
    g.points = points;
    g.nx = nx;
    g.ny = ny;
    g.nz = nz;
    return g;
}

static hu_gen family_of(hu_gen_family family, int64_t nx, int64_t ny)
{
    hu_gen g = grid_of(7, nx, ny, 1);
    g.family = family;
    return g;
}

static hu_csr *read_matrix(const char *path)
{
    hu_error err = HU_ERROR_NONE;
    hu_mtx_options options = HU_MTX_DEFAULTS;
    hu_source *source = NULL;
    hu_csr *a = NULL;
    if (hu_source_open(path, NULL, &source, &err) || hu_mtx_read_csr(source, &options, &a, NULL, &err)) stop(&err);
    hu_source_close(source);
    return a;
}

/* A with sum_j |a_ij| added on every diagonal place: ILU(0) then exists whatever A is, and keeps A's pattern (bayer10 lacks
 * some diagonal entries). Consumes a. */
static hu_csr *dominant(hu_csr *a)
{
    hu_error err = HU_ERROR_NONE;
    hu_coo *coo = NULL;
    hu_csr *b = NULL;
    int64_t at = 0;
    if (hu_coo_new(a->rows, a->cols, a->nnz + a->rows, false, &coo, &err)) stop(&err);
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 1e-3;
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            sum += fabs(a->val[p]);
            coo->row[at] = (int32_t)i;
            coo->col[at] = a->col[p];
            coo->val[at++] = a->val[p];
        }
        coo->row[at] = coo->col[at] = (int32_t)i;
        coo->val[at++] = sum;
    }
    if (hu_csr_from_coo(&coo, HU_DUP_SUM, "dominant", &b, &err)) stop(&err);
    hu_csr_free(a);
    return b;
}

/* The lower factor, with a stored diagonal, of a matrix of the data folder; NULL where there is none. */
static hu_csr *factor_of(const char *name, bool cholesky)
{
    char path[4096];
    hu_error err = HU_ERROR_NONE;
    hu_csr *l = NULL, *u = NULL, *full = NULL;
    snprintf(path, sizeof path, "%s/matrices/%s", folder("HPCUTILS_DATA", "../shared/data"), name);
    if (access(path, R_OK)) return NULL;
    hu_csr *a = read_matrix(path);
    if (!cholesky) a = dominant(a);
    if (cholesky ? sptrsv_ic0(a, name, &l, &err) : sptrsv_ilu0(a, name, &l, &u, &err)) stop(&err);
    hu_csr_free(a);
    hu_csr_free(u);
    if (cholesky) return l;
    if (hu_csr_new(l->rows, l->cols, l->nnz + l->rows, false, &full, &err)) stop(&err);
    for (int64_t i = 0; i < l->rows; i++) { /* the unit diagonal, so that every side reads one matrix */
        int64_t at = full->row_ptr[i] = l->row_ptr[i] + i, count = l->row_ptr[i + 1] - l->row_ptr[i];
        memcpy(full->col + at, l->col + l->row_ptr[i], sizeof *l->col * (size_t)count);
        memcpy(full->val + at, l->val + l->row_ptr[i], sizeof *l->val * (size_t)count);
        full->col[at + count] = (int32_t)i;
        full->val[at + count] = 1.0;
    }
    full->row_ptr[l->rows] = full->nnz;
    hu_csr_free(l);
    return full;
}

static int64_t csr_bytes(const hu_csr *a)
{
    return 12 * a->nnz + 8 * (a->rows + 1);
}

/* ---- contests --------------------------------------------------------------------------------------------------- */

enum { CONTEST_MOST = 16, COLUMNS = 8 };

/* What the sides of a case share. */
typedef struct {
    bench *run;
    const char *name;
    const hu_csr *t;
    double *b, *x;       /* one right-hand side */
    float *b_float, *x_float;
    hu_dense *b_many, *x_many; /* COLUMNS of them, row by row */
    sptrsv_system *system;
    side sides[CONTEST_MOST];
    struct entry *entries;
    int count;
    double analysis; /* seconds of system and plan of the last side of ours */
} contest;

/* A side's own. */
typedef struct entry {
    contest *c;
    peer other;
    sptrsv_plan *plan;
    double *v_in, *v_out;
} entry;

static void *block_of(int64_t count, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    void *block;
    if (hu_alloc_zero(count, size, "the benchmark", &block, &err)) stop(&err);
    return block;
}

static void load_b(side *s)
{
    contest *c = ((entry *)s->data)->c;
    memcpy(c->x, c->b, sizeof *c->b * (size_t)c->t->rows);
}

static void work_peer(side *s)
{
    entry *e = s->data;
    e->other.solve(e->other.data, e->c->x);
}

static void work_in_place(side *s)
{
    entry *e = s->data;
    sptrsv_solve(e->plan, e->c->x, e->c->x);
}

static void work_apart(side *s)
{
    entry *e = s->data;
    sptrsv_solve(e->plan, e->c->b, e->c->x);
}

static void work_float(side *s)
{
    entry *e = s->data;
    sptrsv_solve(e->plan, e->c->b_float, e->c->x_float);
}

static void work_many(side *s)
{
    entry *e = s->data;
    hu_error err = HU_ERROR_NONE;
    if (sptrsv_solve_many(e->plan, e->c->b_many, e->c->x_many, &err)) stop(&err);
}

/* The loop that everyone writes first. */
static void work_naive(side *s)
{
    contest *c = ((entry *)s->data)->c;
    const hu_csr *t = c->t;
    double *x = c->x;
    for (int64_t i = 0; i < t->rows; i++) {
        double sum = x[i];
        int64_t last = t->row_ptr[i + 1] - 1;
        for (int64_t p = t->row_ptr[i]; p < last; p++) sum -= t->val[p] * x[t->col[p]];
        x[i] = sum / t->val[last];
    }
}

static side *add_side(contest *c, const char *name, void (*prepare)(side *), void (*work)(side *))
{
    side *s = &c->sides[c->count];
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->data = &c->entries[c->count++];
    ((entry *)s->data)->c = c;
    s->prepare = prepare;
    s->work = work;
    return s;
}

static void contest_open(contest *c, bench *run, const char *name, const hu_csr *t, bool with_peers)
{
    hu_error err = HU_ERROR_NONE;
    const sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    memset(c, 0, sizeof *c);
    c->run = run;
    c->name = name;
    c->t = t;
    c->b = block_of(t->rows, sizeof *c->b);
    c->x = block_of(t->rows, sizeof *c->x);
    c->entries = block_of(CONTEST_MOST, sizeof *c->entries);
    hu_gen g = HU_GEN_DEFAULTS;
    hu_gen_solution(&g, t->rows, 1, c->b);
    if (sptrsv_system_new(t, &problem, name, &c->system, &err)) stop(&err);
    add_side(c, "naive", load_b, work_naive);
    if (!with_peers) return;
    peer list[PEERS_MOST];
    peer_matrix lower = {t->rows, t->nnz, t->row_ptr, t->col, t->val};
    int count = peers_open(&lower, list);
    for (int i = 0; i < count; i++) ((entry *)add_side(c, list[i].name, load_b, work_peer)->data)->other = list[i];
}

static void contest_close(contest *c)
{
    for (int i = 0; i < c->count; i++) {
        if (c->entries[i].other.release) c->entries[i].other.release(c->entries[i].other.data);
        sptrsv_plan_free(c->entries[i].plan);
    }
    sptrsv_system_free(c->system);
    hu_free(c->b);
    hu_free(c->x);
    hu_free(c->b_float);
    hu_free(c->x_float);
    hu_dense_free(c->b_many);
    hu_dense_free(c->x_many);
    hu_free(c->entries);
}

/* The model that comes with the program; NULL where the rule shall choose. Read once: programs do so too. */
static const hu_model *scheme_model(void)
{
    static hu_model *model;
    hu_error err = HU_ERROR_NONE;
    char path[4096];
    if (strcmp(folder("HU_TUNE", ""), "rule") == 0) return NULL;
    if (!model && (hu_share_find(sptrsv_model_file, path, sizeof path, &err) || sptrsv_model_read(path, &model, &err))) stop(&err);
    return model;
}

/* The plan that the program makes: by the model, or by the rule; no_grid: where grids do not count. */
static sptrsv_plan *plan_by(const hu_model *model, const sptrsv_system *system, sptrsv_precision precision, bool no_grid, int columns)
{
    hu_error err = HU_ERROR_NONE;
    sptrsv_survey survey;
    sptrsv_choice choice = {.n = 0};
    sptrsv_scheme scheme;
    sptrsv_plan *plan = NULL;
    if (sptrsv_survey_of(system, hu_threads(), !no_grid, model ? SPTRSV_LOOK_MODEL : SPTRSV_LOOK_RULE, &survey, &err)) stop(&err);
    sptrsv_rule_of(&survey, &scheme);
    if (model && sptrsv_choose(model, &survey, system->is_complex, precision, columns, &choice, &err)) stop(&err);
    if (choice.n > 0) scheme = choice.schemes[choice.chosen];
    if (getenv("HU_SCHEME") && sptrsv_scheme_parse(getenv("HU_SCHEME"), &scheme, &err)) stop(&err);
    if (sptrsv_plan_new(system, &scheme, precision, hu_threads(), &plan, &err)) stop(&err);
    sptrsv_choice_clear(&choice);
    return plan;
}

static sptrsv_plan *plan_of(const sptrsv_system *system, sptrsv_precision precision, bool no_grid)
{
    return plan_by(scheme_model(), system, precision, no_grid, 1);
}

static side *add_ours(contest *c, const char *name, sptrsv_precision precision, bool no_grid, void (*work)(side *))
{
    double start = hu_clock_wall();
    sptrsv_plan *plan = plan_by(scheme_model(), c->system, precision, no_grid, work == work_many ? COLUMNS : 1);
    c->analysis = hu_clock_wall() - start;
    side *s = add_side(c, name, work == work_in_place ? load_b : NULL, work);
    ((entry *)s->data)->plan = plan;
    char text[256];
    sptrsv_plan_facts facts;
    sptrsv_plan_describe(plan, &facts);
    sptrsv_scheme_print(&facts.scheme, text, sizeof text);
    for (char *p = text; *p; p++) *p = *p == ',' ? ' ' : *p;
    printf("#plan,%s,%s,%s,%.4g ms,%lld levels,%lld tasks,%lld waits,%.4g MB a solve,%.4g MB held,%s\n", c->name, name, text,
           1e3 * c->analysis, (long long)facts.levels, (long long)facts.tasks, (long long)facts.waits, 1e-6 * (double)facts.bytes_per_solve,
           1e-6 * (double)facts.bytes_held, facts.remark);
    return s;
}

static void room_for_floats(contest *c)
{
    c->b_float = block_of(c->t->rows, sizeof *c->b_float);
    c->x_float = block_of(c->t->rows, sizeof *c->x_float);
    for (int64_t i = 0; i < c->t->rows; i++) c->b_float[i] = (float)c->b[i];
}

static void room_for_many(contest *c)
{
    hu_error err = HU_ERROR_NONE;
    if (hu_dense_new(c->t->rows, COLUMNS, HU_F64, HU_ROW_MAJOR, &c->b_many, &err) ||
        hu_dense_new(c->t->rows, COLUMNS, HU_F64, HU_ROW_MAJOR, &c->x_many, &err))
        stop(&err);
    hu_gen g = HU_GEN_DEFAULTS;
    hu_gen_solution(&g, c->t->rows * COLUMNS, 1, c->b_many->data);
    memset(c->x_many->data, 0, sizeof(double) * (size_t)(c->t->rows * COLUMNS));
}

/* ---- verification ----------------------------------------------------------------------------------------------- */

/* One column in extended precision: |b - T x|_i <= (k + 4) u ((|T| |x|)_i + |b_i|), as a share of the bound at the worst row. */
static double worst_row(const hu_csr *t, bool rounded, long double u, int columns, int column, const double *b, const double *x)
{
    double worst = 0;
#pragma omp parallel for reduction(max : worst) schedule(static)
    for (int64_t i = 0; i < t->rows; i++) {
        long double residual = b[i * columns + column], size = fabsl(residual);
        for (int64_t p = t->row_ptr[i]; p < t->row_ptr[i + 1]; p++) {
            long double v = rounded ? (double)(float)t->val[p] : t->val[p], term = v * (long double)x[t->col[p] * columns + column];
            residual -= term;
            size += fabsl(term);
        }
        long double bound = (long double)(t->row_ptr[i + 1] - t->row_ptr[i] + 3) * u * size;
        double share = residual == 0 ? 0 : (double)(fabsl(residual) / bound);
        if (!(share <= worst)) worst = isnan(share) ? INFINITY : share;
    }
    return worst;
}

/* Runs every side once and leaves out those whose answer does not hold. */
static void verify(contest *c)
{
    int64_t n = c->t->rows;
    for (int k = 0; k < c->count; k++) {
        side *s = &c->sides[k];
        entry *e = s->data;
        sptrsv_plan_facts facts = {.precision = SPTRSV_F64};
        if (e->plan) sptrsv_plan_describe(e->plan, &facts);
        if (s->prepare) s->prepare(s);
        s->work(s);
        double worst = 0;
        if (s->work == work_float) {
            double *copy = block_of(2 * n, sizeof *copy);
            for (int64_t i = 0; i < n; i++) {
                copy[i] = (double)c->b_float[i];
                copy[n + i] = (double)c->x_float[i];
            }
            worst = worst_row(c->t, true, 0x1p-24L, 1, 0, copy, copy + n);
            hu_free(copy);
        } else if (s->work == work_many) {
            for (int j = 0; j < COLUMNS; j++) worst = fmax(worst, worst_row(c->t, false, 0x1p-53L, COLUMNS, j, c->b_many->data, c->x_many->data));
        } else {
            worst = worst_row(c->t, facts.precision == SPTRSV_MIXED, 0x1p-53L, 1, 0, c->b, c->x);
        }
        s->left_out = !(worst <= 1.0);
        if (s->left_out) printf("#WRONG,%s,%s,residual is %.3g times the bound: left out\n", c->name, s->name, worst);
    }
}

static void contest_run(contest *c, double seconds)
{
    verify(c);
    bench_probe(c->run, c->name, false);
    bench_time(c->run, c->name, c->sides, c->count, c->run->quick ? 0.15 * seconds : seconds, csr_bytes(c->t) + 16 * c->t->rows);
    bench_probe(c->run, c->name, true);
}

/* The quickest peer, of one library or of all (NULL); NULL where there is none. */
static const side *best_peer(const contest *c, const char *library)
{
    const side *best = NULL;
    for (int i = 0; i < c->count; i++) {
        const side *s = &c->sides[i];
        if (!c->entries[i].other.solve || s->left_out) continue;
        if (library && strcmp(c->entries[i].other.library, library) != 0) continue;
        if (!best || s->median < best->median) best = s;
    }
    return best;
}

static double bytes_of(const side *ours)
{
    sptrsv_plan_facts facts;
    sptrsv_plan_describe(((entry *)ours->data)->plan, &facts);
    return (double)facts.bytes_per_solve;
}

/* ours against the quickest of a library; returns the ratio, NaN where there is none. */
static double against(const contest *c, const char *bar, const char *name, const side *ours, const char *library, double floor)
{
    const side *best = best_peer(c, library);
    if (!best) {
        bench_skip(c->run, bar, name, library ? library : "any peer");
        return NAN;
    }
    double ratio = ours->left_out ? NAN : best->median / ours->median;
    bench_row(c->run, bar, name, 1e3 * ours->median, "ms", best->name, 1e3 * best->median, ratio,
              (bytes_of(ours) - 8.0 * (double)c->t->rows) / ours->median / c->run->bandwidth, floor); /* in place: b is not read besides x */
    return ratio;
}

/* ---- child processes -------------------------------------------------------------------------------------------- */

/* Runs a program to its end: wall seconds and peak resident bytes; false where it cannot be started or does not leave with 0. */
static bool run_child(char *const argv[], double *ret_seconds, int64_t *ret_peak)
{
    pid_t pid;
    int status;
    struct rusage usage;
    double start = hu_clock_wall();
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ)) return false;
    if (wait4(pid, &status, 0, &usage) != pid) return false;
    *ret_seconds = hu_clock_wall() - start;
    *ret_peak = (int64_t)usage.ru_maxrss << 10;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* `bench_sptrsv --peak PROGRAM...`: prints the program's peak. The kernel counts the memory of the process that starts a program as the
 * program's, so that only a small process can tell. */
static int print_peak(char **argv)
{
    double seconds;
    int64_t peak;
    if (!run_child(argv, &seconds, &peak)) return HU_SYSTEM;
    printf("%lld\n", (long long)peak);
    return 0;
}

/* The peak of a solve of a matrix and right-hand side in files; NaN where it failed. */
static double solve_peak(const char *program, const char *matrix, const char *rhs, const char *out)
{
    char command[24000], line[64] = "";
    snprintf(command, sizeof command, "'%s/bench_sptrsv' --peak '%s' '%s' -b '%s' -o '%s'", folder("HU_BUILD", "."), program, matrix, rhs, out);
    FILE *child = popen(command, "re");
    bool good = child && fgets(line, sizeof line, child);
    if (child) good = pclose(child) == 0 && good;
    return good ? atof(line) : NAN;
}

static void write_matrix(const hu_csr *a, const char *path)
{
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    if (hu_output_open(path, &out, &err) || hu_mtx_write_csr(out, a, NULL, &err) || hu_output_commit(&out, &err)) stop(&err);
}

static char *path_of(char *buffer, const char *name)
{
    snprintf(buffer, 4096, "%s/%s", folder("HU_WORK", "."), name);
    return buffer;
}

/* ---- bars ------------------------------------------------------------------------------------------------------- */

static const char no_spmp[] = "SpMP";

/* P1, P1' and P7: the 7-point grid. */
static void bar_grid7(bench *run)
{
    int64_t n = run->quick ? 100 : 160;
    const char *name = run->quick ? "7pt 100^3" : "7pt 160^3";
    hu_csr *t = generated(grid_of(7, n, n, n));
    contest c;
    contest_open(&c, run, name, t, bench_wants(run, "P1'"));
    room_for_floats(&c);
    side *apart = add_ours(&c, "ours b to x", SPTRSV_F64, false, work_apart);
    side *ours = add_ours(&c, "ours", SPTRSV_F64, false, work_in_place);
    side *mixed = NULL, *single = NULL;
    if (bench_wants(run, "P7")) {
        mixed = add_ours(&c, "ours mixed", SPTRSV_MIXED, false, work_apart);
        single = add_ours(&c, "ours f32", SPTRSV_F32, false, work_float);
    }
    contest_run(&c, 12);
    double bound = 48.0 * (double)t->rows / run->bandwidth, share = bound / apart->median;
    bench_row(run, "P1", name, 1e3 * apart->median, "ms", "bandwidth", 1e3 * bound, share, share, 0.75);
    against(&c, "P1'", name, ours, "Eigen", 5.5);
    bench_skip(run, "P1'", name, no_spmp);
    if (mixed) {
        bench_row(run, "P7", "7pt mixed", 1e3 * mixed->median, "ms", "own f64", 1e3 * apart->median, apart->median / mixed->median,
                  bytes_of(mixed) / mixed->median / run->bandwidth, 1.3);
        bench_row(run, "P7", "7pt f32", 1e3 * single->median, "ms", "own f64", 1e3 * apart->median, apart->median / single->median,
                  bytes_of(single) / single->median / run->bandwidth, 1.3);
    }
    contest_close(&c);
    hu_csr_free(t);
}

static void bar_grid27(bench *run)
{
    int64_t n = run->quick ? 64 : 112;
    const char *name = run->quick ? "27pt 64^3" : "27pt 112^3";
    hu_csr *t = generated(grid_of(27, n, n, n));
    contest c;
    contest_open(&c, run, name, t, true);
    side *apart = add_ours(&c, "ours b to x", SPTRSV_F64, false, work_apart);
    side *ours = add_ours(&c, "ours", SPTRSV_F64, false, work_in_place);
    contest_run(&c, 10);
    double bound = 128.0 * (double)t->rows / run->bandwidth, share = bound / apart->median;
    bench_row(run, "P2", name, 1e3 * apart->median, "ms", "bandwidth", 1e3 * bound, share, share, 0.65);
    against(&c, "P2", name, ours, "Eigen", 2.5);
    bench_skip(run, "P2", name, no_spmp);
    contest_close(&c);
    hu_csr_free(t);
}

static void bar_grid5(bench *run)
{
    const char *name = run->quick ? "5pt 1000x500" : "5pt 2000x1000";
    hu_csr *t = generated(run->quick ? grid_of(5, 1000, 500, 1) : grid_of(5, 2000, 1000, 1));
    contest c;
    contest_open(&c, run, name, t, true);
    side *ours = add_ours(&c, "ours", SPTRSV_F64, false, work_in_place);
    contest_run(&c, 8);
    against(&c, "P3", name, ours, "Eigen", 5.0);
    bench_skip(run, "P3", name, no_spmp);
    contest_close(&c);
    hu_csr_free(t);
}

/* SciPy's time for a small matrix, in a process of its own; NaN where it is absent. */
static double scipy_solve(const hu_csr *t, const double *b)
{
    char matrix[4096], rhs[4096], command[16384], line[64];
    hu_error err = HU_ERROR_NONE;
    hu_output *out = NULL;
    const char *python = folder("HU_PYTHON", "");
    if (!*python || t->rows > 20000) return NAN; /* above that, SciPy before 1.13 takes minutes: it loops over rows in Python */
    write_matrix(t, path_of(matrix, "scipy.mtx"));
    if (hu_output_open(path_of(rhs, "scipy.npy"), &out, &err) || hu_npy_write(out, HU_NPY_F8, 1, &t->rows, HU_ROW_MAJOR, b, &err) ||
        hu_output_commit(&out, &err))
        stop(&err);
    snprintf(command, sizeof command, "%s %s/tests/peers/peers_scipy.py solve %s %s 3", python, folder("HU_SRC", "."), matrix, rhs);
    FILE *child = popen(command, "re");
    double samples[3];
    int count = 0;
    while (child && count < 3 && fgets(line, sizeof line, child)) samples[count++] = atof(line);
    if (child) pclose(child);
    return count ? hu_clock_median(samples, count) : NAN;
}

typedef struct {
    const char *name;
    hu_csr *t;
    bool no_grid;
} general_case;

static bool case_wanted(const char *name)
{
    const char *only = getenv("HU_CASE");
    return !only || !*only || strcmp(only, name) == 0;
}

static double general(bench *run, const char *bar, const general_case *g, double floor, double seconds)
{
    contest c;
    contest_open(&c, run, g->name, g->t, true);
    side *ours = add_ours(&c, "ours", SPTRSV_F64, g->no_grid, work_in_place);
    contest_run(&c, seconds);
    double ratio = against(&c, bar, g->name, ours, NULL, floor), scipy = strcmp(bar, "P4") == 0 ? scipy_solve(g->t, c.b) : NAN;
    if (!isnan(scipy)) printf("#time,%s,SciPy (own process),%.5g,,3\n", g->name, 1e3 * scipy);
    contest_close(&c);
    return ratio;
}

/* The general set: each matrix must not be slower than the best serial peer, their geometric mean must be well above. */
static void bar_general(bench *run)
{
    int64_t scale = run->quick ? 10 : 1, side27 = run->quick ? 56 : 112, side_mesh = run->quick ? 320 : 1000;
    hu_gen band = family_of(HU_GEN_BAND, 3000000 / scale, 1), rcm = family_of(HU_GEN_BAND, 1000000 / scale, 1);
    hu_gen mesh = family_of(HU_GEN_MESH, side_mesh, side_mesh), mesh_rcm = mesh;
    band.band = 30000 / scale;
    rcm.band = 3000 / scale;
    rcm.order = mesh_rcm.order = HU_GEN_ORDER_RCM;
    double sum = 0;
    int count = 0;
    static const char *const names[] = {"IC0 of bcsstk16", "ILU0 of bayer10 made dominant", "random band RCM", "random band", "27pt grid off", "mesh", "mesh RCM"};
    for (int k = 0; k < 7; k++) {
        if (!case_wanted(names[k])) continue;
        general_case g = {names[k], NULL, k == 4};
        switch (k) {
        case 0: g.t = factor_of("bcsstk16.mtx", true); break;
        case 1: g.t = factor_of("bayer10.mtx", false); break;
        case 2: g.t = generated(rcm); break;
        case 3: g.t = generated(band); break;
        case 4: g.t = generated(grid_of(27, side27, side27, side27)); break;
        case 5: g.t = generated(mesh); break;
        default: g.t = generated(mesh_rcm); break;
        }
        if (!g.t) {
            bench_skip(run, "P4", g.name, "shared/data");
            continue;
        }
        double ratio = general(run, "P4", &g, 0.95, 7);
        if (!isnan(ratio)) {
            sum += log(ratio);
            count++;
        }
        hu_csr_free(g.t);
    }
    if (count) bench_row(run, "P4", "geometric mean", NAN, "", "best of each", NAN, exp(sum / count), NAN, 1.8);
    bench_skip(run, "P4", "geometric mean", no_spmp);
}

/* Shapes that are hard on parallel schemes. */
static void bar_never_worse(bench *run)
{
    int64_t n = run->quick ? 200000 : 1000000;
    hu_gen band = family_of(HU_GEN_BAND, 1000, 1), blocks = family_of(HU_GEN_BLOCKS, n / 10, 1);
    band.band = 100;
    blocks.band = 50;
    const struct {
        const char *name;
        hu_gen gen;
    } cases[] = {{"chain", family_of(HU_GEN_CHAIN, n, 1)},
                 {"diagonal", family_of(HU_GEN_DIAGONAL, n, 1)},
                 {"arrow", family_of(HU_GEN_ARROW, n, 1)},
                 {"dense last row", family_of(HU_GEN_LASTROW, n, 1)},
                 {"dense first column", family_of(HU_GEN_FIRSTCOL, n, 1)},
                 {"dense", family_of(HU_GEN_DENSE, run->quick ? 1000 : 3000, 1)},
                 {"blocks of 50", blocks},
                 {"binary tree", family_of(HU_GEN_TREE, n, 1)},
                 {"power law", family_of(HU_GEN_POWER, n / 5, 1)},
                 {"5pt 300x300", grid_of(5, 300, 300, 1)},
                 {"band n=1000", band},
                 {"chain n=1000", family_of(HU_GEN_CHAIN, 1000, 1)},
                 {"dense n=10", family_of(HU_GEN_DENSE, 10, 1)},
                 {"chain n=10", family_of(HU_GEN_CHAIN, 10, 1)}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (!case_wanted(cases[k].name)) continue;
        general_case g = {cases[k].name, generated(cases[k].gen), false};
        general(run, "P5", &g, 0.95, run->quick ? 1 : 2);
        hu_csr_free(g.t);
    }
}

static void bar_chain(bench *run)
{
    hu_csr *t = generated(family_of(HU_GEN_CHAIN, 1000000, 1));
    contest c;
    contest_open(&c, run, "chain 1M", t, true);
    side *ours = add_ours(&c, "ours", SPTRSV_F64, false, work_in_place);
    contest_run(&c, 3);
    against(&c, "P6", "chain 1M", ours, "Eigen", 2.5);
    contest_close(&c);
    hu_csr_free(t);
}

static void bar_many(bench *run)
{
    int64_t scale = run->quick ? 10 : 1, n = run->quick ? 56 : 112;
    hu_gen band = family_of(HU_GEN_BAND, 3000000 / scale, 1);
    band.band = 30000 / scale;
    const general_case cases[] = {{"27pt grid off, 8 columns", generated(grid_of(27, n, n, n)), true},
                                  {"random band, 8 columns", generated(band), false}};
    for (int k = 0; k < 2; k++) {
        contest c;
        char name[64];
        snprintf(name, sizeof name, "%.*s: 8 columns", (int)strcspn(cases[k].name, ","), cases[k].name);
        contest_open(&c, run, name, cases[k].t, false);
        room_for_many(&c);
        side *one = add_ours(&c, "ours b to x", SPTRSV_F64, cases[k].no_grid, work_apart);
        side *many = add_ours(&c, "ours 8 columns", SPTRSV_F64, cases[k].no_grid, work_many);
        contest_run(&c, 10);
        bench_row(run, "P8", name, 1e3 * many->median / COLUMNS, "ms a column", "own single", 1e3 * one->median,
                  COLUMNS * one->median / many->median, NAN, 2.8);
        contest_close(&c);
        hu_csr_free(cases[k].t);
    }
}

/* Seconds from the matrix in memory to a plan that can solve: of the rule's or the model's choice, or of a plan file. */
static double analysis(const hu_csr *t, const char *name, bool no_grid, const hu_model *opt_model, const char *opt_file)
{
    double samples[5];
    for (int r = 0; r < 5; r++) {
        hu_error err = HU_ERROR_NONE;
        const sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
        sptrsv_system *system = NULL;
        sptrsv_plan *plan = NULL;
        hu_source *source = NULL;
        double start = hu_clock_wall();
        if (sptrsv_system_new(t, &problem, name, &system, &err)) stop(&err);
        if (!opt_file) {
            plan = plan_by(opt_model, system, SPTRSV_F64, no_grid, 1);
        } else if (hu_source_open(opt_file, NULL, &source, &err) || sptrsv_plan_load(source, system, hu_threads(), &plan, &err)) {
            stop(&err);
        }
        samples[r] = hu_clock_wall() - start;
        hu_source_close(source);
        sptrsv_plan_free(plan);
        sptrsv_system_free(system);
    }
    return hu_clock_median(samples, 5);
}

/* What the parts of an analysis from a plan file take, for the comment line. */
static void analysis_parts(const hu_csr *t, const char *name, sptrsv_plan *plan)
{
    hu_error err = HU_ERROR_NONE;
    const sptrsv_problem problem = {HU_LOWER, SPTRSV_PLAIN, false, false};
    sptrsv_system *system = NULL;
    double times[4] = {hu_clock_wall()};
    if (sptrsv_system_new(t, &problem, name, &system, &err)) stop(&err);
    times[1] = hu_clock_wall();
    uint64_t hash = sptrsv_system_hash(system);
    times[2] = hu_clock_wall();
    if (sptrsv_plan_set_values(plan, system, &err)) stop(&err);
    times[3] = hu_clock_wall();
    printf("#analysis,%s,system %.3g ms,hash %.3g ms (%08x),values %.3g ms\n", name, 1e3 * (times[1] - times[0]), 1e3 * (times[2] - times[1]),
           (unsigned)hash, 1e3 * (times[3] - times[2]));
    sptrsv_system_free(system);
}

static void bar_analysis(bench *run)
{
    int64_t scale = run->quick ? 10 : 1, n7 = run->quick ? 80 : 160, n27 = run->quick ? 56 : 112;
    hu_gen band = family_of(HU_GEN_BAND, 3000000 / scale, 1);
    band.band = 30000 / scale;
    const general_case cases[] = {{"7pt grid", generated(grid_of(7, n7, n7, n7)), false},
                                  {"27pt grid off", generated(grid_of(27, n27, n27, n27)), true},
                                  {"random band", generated(band), false}};
    for (int k = 0; k < 3; k++) {
        char path[4096], name[96];
        hu_error err = HU_ERROR_NONE;
        hu_output *out = NULL;
        contest c;
        contest_open(&c, run, cases[k].name, cases[k].t, false);
        contest_run(&c, 2);
        double naive = c.sides[0].median;
        snprintf(name, sizeof name, "%s: rule", cases[k].name);
        double units = analysis(cases[k].t, name, cases[k].no_grid, NULL, NULL) / naive;
        bench_row(run, "P9", name, units, "naive solves", "limit", 25, 25 / units, NAN, 1);
        snprintf(name, sizeof name, "%s: model", cases[k].name);
        units = analysis(cases[k].t, name, cases[k].no_grid, scheme_model(), NULL) / naive;
        bench_row(run, "P9", name, units, "naive solves", "limit", 27, 27 / units, NAN, 1);
        sptrsv_plan *plan = plan_of(c.system, SPTRSV_F64, cases[k].no_grid);
        if (hu_output_open(path_of(path, "plan.sptrsv"), &out, &err) || sptrsv_plan_save(plan, c.system, out, &err) ||
            hu_output_commit(&out, &err))
            stop(&err);
        analysis_parts(cases[k].t, cases[k].name, plan);
        sptrsv_plan_free(plan);
        snprintf(name, sizeof name, "%s: plan file", cases[k].name);
        units = analysis(cases[k].t, name, cases[k].no_grid, NULL, path) / naive;
        bench_row(run, "P9", name, units, "naive solves", "limit", 1, 1 / units, NAN, 1);
        unlink(path);
        contest_close(&c);
        hu_csr_free(cases[k].t);
    }
}

static double reading(const char *path, int threads)
{
    double samples[5];
    int before = hu_threads();
    hu_threads_set(threads);
    for (int r = 0; r < 5; r++) {
        double start = hu_clock_wall();
        hu_csr_free(read_matrix(path));
        samples[r] = hu_clock_wall() - start;
    }
    hu_threads_set(before);
    return hu_clock_median(samples, 5);
}

static void bar_reader(bench *run)
{
    char path[4096];
    struct stat status;
    int64_t n = run->quick ? 40 : 110;
    hu_gen g = grid_of(7, n, n, n);
    g.values = HU_GEN_DOMINANT; /* 17 significant digits */
    hu_csr *a = generated(g);
    write_matrix(a, path_of(path, "read.mtx"));
    if (stat(path, &status)) return;
    bench_probe(run, "mtx reader", false);
    double one = reading(path, 1), two = reading(path, 2), megabytes = 1e-6 * (double)status.st_size;
    bench_probe(run, "mtx reader", true);
    bench_row(run, "P11", "mtx reader: 1 core", megabytes / one, "MB/s", "floor", 250, megabytes / one / 250, NAN, 1);
    bench_row(run, "P11", "mtx reader: 2 cores", megabytes / two, "MB/s", "own 1 core", megabytes / one, one / two, NAN, 1.6);
    bench_skip(run, "P11", "mtx reader", "fast_matrix_market");
    unlink(path);
    hu_csr_free(a);
}

/* P12 and P15: whole processes. */
static void bar_command(bench *run)
{
    char program[4096], matrix[4096], rhs[4096], out[4096], script[4096];
    int64_t n = run->quick ? 30 : 60, big = run->quick ? 60 : 160;
    double ours[5], theirs[3];
    int64_t peak;
    snprintf(program, sizeof program, "%s/sptrsv-solve", folder("HU_BUILD", "."));
    if (access(program, X_OK)) {
        bench_skip(run, "P12", "whole command", "sptrsv-solve (not built)");
        bench_skip(run, "P15", "peak memory", "sptrsv-solve (not built)");
        return;
    }
    path_of(matrix, "command.mtx");
    path_of(rhs, "command.npy");
    path_of(out, "command-x.npy");
    snprintf(script, sizeof script, "%s/tests/peers/peers_scipy.py", folder("HU_SRC", "."));
    char generator[4096], size[64], rhs_option[8192];
    snprintf(generator, sizeof generator, "%s/hu-gen", folder("HU_BUILD", "."));
    snprintf(rhs_option, sizeof rhs_option, "--rhs=%s", rhs);
    char *const solve[] = {program, matrix, "-b", rhs, "-o", out, NULL};
    char *const python[] = {(char *)(uintptr_t)folder("HU_PYTHON", "/nonexistent"), script, "command", matrix, rhs, out, NULL};

    snprintf(size, sizeof size, "--size=%lldx%lldx%lld", (long long)n, (long long)n, (long long)n);
    char *const small[] = {generator, "grid", size, "-o", matrix, rhs_option, NULL};
    bool good = run_child(small, &ours[0], &peak);
    for (int r = 0; good && r < 5; r++) good = run_child(solve, &ours[r], &peak);
    if (!good) bench_row(run, "P12", "whole command", NAN, "s", "SciPy", NAN, NAN, NAN, 4);
    bool has_scipy = good;
    for (int r = 0; has_scipy && r < 3; r++) has_scipy = run_child(python, &theirs[r], &peak);
    if (has_scipy) {
        double a = hu_clock_median(ours, 5), b = hu_clock_median(theirs, 3);
        bench_row(run, "P12", run->quick ? "7pt 30^3 mtx to npy" : "7pt 60^3 mtx to npy", a, "s", "SciPy", b, b / a, NAN, 4);
    } else if (good) {
        bench_skip(run, "P12", "whole command", "SciPy");
    }

    snprintf(size, sizeof size, "--size=%lldx%lldx%lld", (long long)big, (long long)big, (long long)big);
    char *const large[] = {generator, "grid", size, "-o", matrix, rhs_option, NULL};
    double seconds, cells = (double)(big * big * big), csr = 12 * (4 * cells - 3 * (double)(big * big)) + 8 * cells;
    good = bench_wants(run, "P15") && run_child(large, &seconds, &peak);
    double share = good ? (solve_peak(program, matrix, rhs, out) - 64e6) / csr : NAN;
    good = good && !isnan(share);
    const char *name = run->quick ? "7pt 60^3: (peak - 64 MB) / CSR" : "7pt 160^3: (peak - 64 MB) / CSR";
    if (good) bench_row(run, "P15", name, share, "x", "limit", 2.2, share > 0 ? 2.2 / share : INFINITY, NAN, 1);
    else bench_row(run, "P15", "peak memory", NAN, "x", "limit", 2.2, NAN, NAN, 1);
    unlink(matrix);
    unlink(rhs);
    unlink(out);
}

/* One line of peers_petsc: iterations and the median of the seconds. */
static bool petsc_pcg(int64_t n, double tolerance, int *ret_iterations, double *ret_seconds)
{
    char command[4096], line[256] = "";
    double s[3];
    snprintf(command, sizeof command, "%s/peers_petsc", folder("HU_BUILD", "."));
    if (access(command, X_OK)) return false;
    snprintf(command, sizeof command, "OMP_NUM_THREADS=1 %s/peers_petsc %lld %g 3", folder("HU_BUILD", "."), (long long)n, tolerance);
    FILE *child = popen(command, "re");
    bool good = child && fgets(line, sizeof line, child) && sscanf(line, "%d %lf %lf %lf", ret_iterations, &s[0], &s[1], &s[2]) == 4;
    if (child) pclose(child);
    if (good) *ret_seconds = hu_clock_median(s, 3);
    return good;
}

/* Where iteration counts differ by more than one, times an iteration are compared, and the case says so. */
static void pcg_row(const bench *run, const char *name, const char *peer_name, int ours, double our_seconds, int theirs, double their_seconds)
{
    char text[128];
    bool equal = abs(ours - theirs) <= 1;
    snprintf(text, sizeof text, "%s: %d and %d iterations%s", name, ours, theirs, equal ? "" : "; times are per iteration");
    double a = equal ? our_seconds : our_seconds / ours, b = equal ? their_seconds : their_seconds / theirs;
    bench_row(run, "P13", text, 1e3 * a, "ms", peer_name, 1e3 * b, b / a, NAN, 1.5);
}

static void bar_pcg(bench *run)
{
    int64_t n = run->quick ? 40 : 100;
    const char *name = run->quick ? "PCG IC0 7pt 40^3" : "PCG IC0 7pt 100^3";
    const double tolerance = 1e-8;
    hu_gen g = grid_of(7, n, n, n);
    g.part = HU_GEN_FULL;
    hu_csr *a = generated(g);
    double *b = block_of(a->rows, sizeof *b), *x = block_of(a->rows, sizeof *x), ours[3], eigen[3], seconds;
    for (int64_t i = 0; i < a->rows; i++) b[i] = 1.0;
    hu_error err = HU_ERROR_NONE;
    sptrsv_pcg_options options = {SPTRSV_PRE_IC0, tolerance, 10000, hu_threads(), NULL};
    sptrsv_pcg_result result = {0};
    sptrsv_pcg *pcg = NULL;
    peer_matrix whole = {a->rows, a->nnz, a->row_ptr, a->col, a->val};
    int iterations = 0;
    bool has_eigen = true;
    bench_probe(run, name, false);
    if (sptrsv_pcg_new(a, &options, name, &pcg, &err)) stop(&err);
    for (int r = 0; r < 3; r++) {
        if (sptrsv_pcg_solve(pcg, b, x, &result, &err)) stop(&err);
        ours[r] = result.seconds;
        has_eigen = has_eigen && peer_eigen_pcg(&whole, b, tolerance, x, &iterations, &eigen[r]);
    }
    double mine = hu_clock_median(ours, 3);
    printf("#pcg,%s,ours,%lld iterations,true residual %.3g,%.4g ms\n", name, (long long)result.iterations, result.true_residual, 1e3 * mine);
    if (has_eigen) pcg_row(run, name, "Eigen", (int)result.iterations, mine, iterations, hu_clock_median(eigen, 3));
    else bench_skip(run, "P13", name, "Eigen");
    if (petsc_pcg(n, tolerance, &iterations, &seconds)) pcg_row(run, name, "PETSc", (int)result.iterations, mine, iterations, seconds);
    else bench_skip(run, "P13", name, "PETSc");
    bench_probe(run, name, true);
    sptrsv_pcg_free(pcg);
    hu_free(b);
    hu_free(x);
    hu_csr_free(a);
}

static void bar_absent(bench *run)
{
    bench_skip(run, "P14", "GPU", "the GPU back end");
}

/* ---- main ------------------------------------------------------------------------------------------------------- */

static const struct {
    void (*measure)(bench *run);
    const char *bars[3];
} groups[] = {{bar_grid7, {"P1", "P1'", "P7"}}, {bar_grid27, {"P2"}}, {bar_grid5, {"P3"}},      {bar_general, {"P4"}},
              {bar_never_worse, {"P5"}},        {bar_chain, {"P6"}},  {bar_many, {"P8"}},       {bar_analysis, {"P9"}},
              {bar_reader, {"P11"}},            {bar_command, {"P12", "P15"}}, {bar_pcg, {"P13"}}, {bar_choice, {"P10"}}, {bar_absent, {"P14"}}};

static bool group_has(size_t g, const char *bar)
{
    for (int k = 0; k < 3; k++)
        if (groups[g].bars[k] && strcmp(groups[g].bars[k], bar) == 0) return true;
    return false;
}

static void check_bars(int count, char **bars)
{
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) known |= group_has(g, bars[i]);
        if (known) continue;
        fprintf(stderr, "bench_sptrsv: there is no bar `%s'; the bars are P1 P1' P2 ... P15\n", bars[i]);
        exit(HU_USAGE);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--peak") == 0) return print_peak(argv + 2);
    bench run = {.quick = argc > 1 && strcmp(argv[1], "--quick") == 0};
    int first = run.quick ? 2 : 1;
    char versions[256];
    check_bars(argc - first, argv + first);
    run.wanted = (const char *const *)(argv + first);
    run.wanted_count = argc - first;
    hu_threads_set(hu_processors() < 2 ? 1 : 2);
    peers_versions(versions, sizeof versions);
    bench_begin(&run, versions);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool wanted = false;
        for (int k = 0; k < 3; k++) wanted |= groups[g].bars[k] && bench_wants(&run, groups[g].bars[k]);
        if (wanted) groups[g].measure(&run);
    }
    bench_end(&run);
    return 0;
}
