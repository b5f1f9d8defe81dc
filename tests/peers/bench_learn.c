/* bench_learn.c: perf-predict against scikit-learn and ranger, and its accuracy on public tables; scripts/bench runs it.
 *
 * Times are of the processor, of one thread, in turn: ours, scikit-learn's, ranger's; medians. Each set is split 70/30 by one permutation that all
 * sides get as files. Trees: 100, all columns at each split, leaves of one row.
 *
 * Sections: sets, peers, fit and predict, one step of active sampling, pipeline, CSV, threads and ranks, accuracy, transfer, schedules.
 */
#include "config.h"
#include "bench.h"
#include "bench_active.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "learn/model.h"
#include "learn/transfer.h"
#include "learner.h"
#include "table.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TREES = 100, REPETITIONS = 7, PATH_SIZE = 4096 };

static const char *folder, *data; /* HU_WORK, HPCUTILS_DATA */

static void give_up(const char *what)
{
    fprintf(stderr, "bench_learn: %s\n", what);
    exit(HU_SYSTEM);
}

static void must(hu_status status, const hu_error *err)
{
    if (status != HU_OK) give_up(err->message);
}

/* ---- sets ------------------------------------------------------------------------------------------------------------------ */

typedef struct {
    char *text;
    int64_t size;
    char **line; /* [rows + 1] the header first */
    int64_t rows;
    char target[256];
} csv_text;

static bool load_text(const char *name, csv_text *ret)
{
    char path[PATH_SIZE];
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    snprintf(path, sizeof path, "%s/tuning/%s.csv", data, name);
    *ret = (csv_text){0};
    if (hu_source_open(path, NULL, &source, &err)) return false;
    must(hu_source_slurp(source, 1 << 30, &ret->text, &ret->size, &err), &err);
    hu_source_close(source);
    int64_t lines = 0;
    for (int64_t i = 0; i < ret->size; i++) lines += ret->text[i] == '\n';
    ret->line = malloc((size_t)(lines + 1) * sizeof *ret->line);
    for (char *p = strtok(ret->text, "\r\n"); p; p = strtok(NULL, "\r\n")) ret->line[ret->rows++] = p;
    ret->rows--;
    const char *last = strrchr(ret->line[0], ',');
    snprintf(ret->target, sizeof ret->target, "%s", last + 1);
    return true;
}

static void free_text(csv_text *t)
{
    hu_free(t->text);
    free(t->line);
}

static void write_rows(const csv_text *t, const int32_t *row, int64_t from, int64_t to, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) give_up("cannot write to the work folder");
    fprintf(f, "%s\n", t->line[0]);
    for (int64_t i = from; i < to; i++) fprintf(f, "%s\n", t->line[row[i] + 1]);
    if (fclose(f)) give_up("cannot write to the work folder");
}

/* Writes `first` rows of a permutation by the seed to train.csv, the others to test.csv. */
static void split_text(const csv_text *t, uint64_t seed, int64_t first, char *train, char *test)
{
    int32_t *row = malloc((size_t)t->rows * sizeof *row);
    hu_random random = hu_random_stream(seed, 0);
    for (int64_t i = 0; i < t->rows; i++) row[i] = (int32_t)i;
    hu_random_shuffle(&random, row, t->rows);
    snprintf(train, PATH_SIZE, "%s/train.csv", folder);
    snprintf(test, PATH_SIZE, "%s/test.csv", folder);
    write_rows(t, row, 0, first, train);
    write_rows(t, row, first, t->rows, test);
    free(row);
}

static hu_frame *read_frame(const char *path, const char *target)
{
    hu_error err = HU_ERROR_NONE;
    table_options o = {.target = target, .csv = HU_CSV_DEFAULTS};
    hu_source *source;
    hu_frame *frame;
    must(hu_source_open(path, NULL, &source, &err), &err);
    must(table_read(source, &o, &frame, &err), &err);
    hu_source_close(source);
    return frame;
}

/* ---- peers ----------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    pid_t child;
    FILE *to, *from;
} peer;

static bool start_peer(peer *p, const char *name, char *const *arguments)
{
    int ask[2], answer[2];
    p->name = name;
    p->child = 0;
    if (!arguments[0] || !arguments[0][0]) return false;
    if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC)) give_up("no pipe");
    p->child = fork();
    if (p->child == 0) {
        dup2(ask[0], STDIN_FILENO);
        dup2(answer[1], STDOUT_FILENO);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ask[0]);
    close(answer[1]);
    p->to = fdopen(ask[1], "w");
    p->from = fdopen(answer[0], "r");
    return p->child > 0;
}

static double ask_peer(peer *p, const char *what)
{
    char line[128];
    fprintf(p->to, "%s\n", what);
    fflush(p->to);
    return fgets(line, sizeof line, p->from) ? atof(line) : NAN;
}

static void stop_peer(peer *p)
{
    if (p->child <= 0) return;
    fclose(p->to);
    fclose(p->from);
    waitpid(p->child, NULL, 0);
}

/* ---- fit and predict --------------------------------------------------------------------------------------------------------- */

static hu_forest *fit_once(const hu_frame *frame, const int32_t *levels, uint64_t seed, double *ret_seconds)
{
    hu_error err = HU_ERROR_NONE;
    hu_forest_options o = {{0, 1, 0, false}, TREES, 1.0, true, seed, NULL};
    hu_forest *forest;
    hu_bins *bins;
    double start = hu_clock_cpu();
    must(hu_bins_make((const double *const *)frame->column, frame->rows, frame->features, levels, &bins, &err), &err);
    must(hu_forest_train(bins, frame->y, NULL, frame->rows, &o, &forest, &err), &err);
    hu_bins_free(bins);
    *ret_seconds = hu_clock_cpu() - start;
    return forest;
}

static void report(const bench *run, const char *bar, const char *set, const char *peer_name, double ours, double theirs, double floor, double *product, int *count)
{
    if (!isfinite(theirs)) return;
    bench_row(run, bar, set, ours, "s", peer_name, theirs, theirs / ours, NAN, floor);
    *product += log(theirs / ours);
    ++*count;
}

typedef struct {
    double fit[2], predict[2]; /* sums of logarithms of ratios: scikit-learn, ranger */
    int fits[2], predicts[2];
} ratios;

static void time_set(bench *run, const char *name, bool with_ranger, ratios *sum)
{
    csv_text text;
    char train[PATH_SIZE], test[PATH_SIZE], script[2][PATH_SIZE];
    double fit[3][REPETITIONS], predict[3][REPETITIONS];
    hu_error err = HU_ERROR_NONE;
    peer peers[2] = {{"scikit-learn", 0, NULL, NULL}, {"ranger", 0, NULL, NULL}};
    if (!load_text(name, &text)) {
        bench_skip(run, "fit", name, "the table");
        return;
    }
    split_text(&text, 1, text.rows * 7 / 10, train, test);
    hu_frame *a = read_frame(train, text.target), *b = read_frame(test, text.target);
    int32_t *levels = calloc((size_t)a->features, sizeof *levels);
    double *mean = malloc((size_t)b->rows * sizeof *mean);
    snprintf(script[0], PATH_SIZE, "%s/tests/peers/peers_learn.py", getenv("HU_SRC"));
    snprintf(script[1], PATH_SIZE, "%s/tests/peers/peers_learn.R", getenv("HU_SRC"));
    char *python[] = {getenv("HU_PYTHON"), script[0], "serve", train, test, NULL}, *r[] = {getenv("HU_RSCRIPT"), script[1], train, test, NULL};
    bool there[2] = {start_peer(&peers[0], "scikit-learn", python), with_ranger && start_peer(&peers[1], "ranger", r)};
    for (int k = 0; k < REPETITIONS; k++) {
        hu_forest *forest = fit_once(a, levels, (uint64_t)k + 1, &fit[0][k]);
        double start = hu_clock_cpu();
        must(hu_forest_predict(forest, b->x, b->rows, mean, NULL, &err), &err);
        predict[0][k] = hu_clock_cpu() - start;
        hu_forest_free(forest);
        for (int p = 0; p < 2; p++) {
            fit[p + 1][k] = there[p] ? ask_peer(&peers[p], "fit") : NAN;
            predict[p + 1][k] = there[p] ? ask_peer(&peers[p], "predict") : NAN;
        }
    }
    double ours[2] = {hu_clock_median(fit[0], REPETITIONS), hu_clock_median(predict[0], REPETITIONS)};
    for (int p = 0; p < 2; p++) {
        if (!there[p]) {
            if (p == 0 || with_ranger) bench_skip(run, "fit", name, peers[p].name);
            continue;
        }
        report(run, "fit", name, peers[p].name, ours[0], hu_clock_median(fit[p + 1], REPETITIONS), p == 0 ? 2.0 : 0.0, &sum->fit[p], &sum->fits[p]);
        report(run, "predict", name, peers[p].name, ours[1], hu_clock_median(predict[p + 1], REPETITIONS), p == 0 ? 1.5 : 0.0, &sum->predict[p], &sum->predicts[p]);
    }
    stop_peer(&peers[0]);
    stop_peer(&peers[1]);
    free(levels);
    free(mean);
    hu_frame_free(a);
    hu_frame_free(b);
    free_text(&text);
}

static void bench_fit(bench *run)
{
    static const char *const sets[] = {"deepperf-x264", "spapt-adi", "deepperf-SQLite", "spapt-stencil3d", "spapt-atax", "spapt-bicgkernel"};
    static const double fit_floor[] = {4.0, 8.0}, predict_floor[] = {3.0, 0.0};
    static const char *const names[] = {"scikit-learn", "ranger"};
    ratios sum = {0};
    if (!bench_wants(run, "fit") && !bench_wants(run, "predict")) return;
    hu_threads_set(1);
    int count = run->quick ? 3 : 6;
    for (int s = 0; s < count; s++) time_set(run, sets[s], s < 3, &sum);
    for (int p = 0; p < 2; p++) {
        if (sum.fits[p]) bench_row(run, "fit", "geomean", NAN, "s", names[p], NAN, exp(sum.fit[p] / sum.fits[p]), NAN, fit_floor[p]);
        if (sum.predicts[p]) bench_row(run, "predict", "geomean", NAN, "s", names[p], NAN, exp(sum.predict[p] / sum.predicts[p]), NAN, predict_floor[p]);
    }
}

/* ---- one step of active sampling ------------------------------------------------------------------------------------------------ */

/* Trains on the runs, scores the pool, takes the best row: processor seconds. log: as learner_options has it. */
static double ask_once(const hu_frame *told, const hu_frame *pool, int log, uint64_t seed)
{
    hu_error err = HU_ERROR_NONE;
    learner_options o = {log, 64, seed};
    score_options by = SCORE_DEFAULTS;
    learner l;
    int64_t n = pool->rows, best;
    double *mean = malloc((size_t)(3 * n) * sizeof *mean);
    uint64_t *tie = calloc((size_t)n, sizeof *tie);
    bool *taken = calloc((size_t)n, sizeof *taken);
    double start = hu_clock_cpu();
    must(learner_train(told, &o, &l, &err), &err);
    must(learner_predict(&l, pool->x, n, mean, mean + n, &err), &err);
    must(score_rows(&by, mean, mean + n, n, 1, mean + 2 * n, &err), &err);
    score_pick(mean + 2 * n, tie, taken, n, 1, &best);
    double seconds = hu_clock_cpu() - start;
    learner_free(&l);
    free(mean);
    free(tie);
    free(taken);
    return seconds;
}

static void bench_ask(bench *run)
{
    enum { TOLD = 150, POOL = 2048, STEPS = 15 };
    csv_text text;
    char train[PATH_SIZE], pool[PATH_SIZE], script[PATH_SIZE];
    double raw[STEPS], both[STEPS], theirs[STEPS];
    peer sklearn;
    if (!bench_wants(run, "ask")) return;
    snprintf(script, sizeof script, "%s/tests/peers/peers_learn.py", getenv("HU_SRC"));
    char *python[] = {getenv("HU_PYTHON"), script, "ask", train, pool, NULL};
    if (!python[0] || !*python[0] || !load_text("spapt-mm", &text)) {
        bench_skip(run, "ask", "150 told and 2048 in the pool", !python[0] || !*python[0] ? "scikit-learn" : "the table");
        return;
    }
    hu_threads_set(1);
    text.rows = TOLD + POOL;
    split_text(&text, 1, TOLD, train, pool);
    snprintf(pool, sizeof pool, "%s/test.csv", folder);
    hu_frame *a = read_frame(train, text.target), *b = read_frame(pool, text.target);
    if (!start_peer(&sklearn, "scikit-learn", python)) give_up("no peer");
    for (int k = 0; k < STEPS; k++) {
        raw[k] = ask_once(a, b, 0, (uint64_t)k);
        both[k] = ask_once(a, b, -1, (uint64_t)k);
        theirs[k] = ask_peer(&sklearn, "ask");
    }
    stop_peer(&sklearn);
    double other = hu_clock_median(theirs, STEPS), mine = hu_clock_median(raw, STEPS);
    bench_row(run, "ask", "150 told and 2048 in the pool", mine, "s", "scikit-learn", other, other / mine, NAN, 10.0);
    mine = hu_clock_median(both, STEPS);
    bench_row(run, "ask", "the same and choosing between raw and log", mine, "s", "scikit-learn (raw)", other, other / mine, NAN, 0.0);
    hu_frame_free(a);
    hu_frame_free(b);
    free_text(&text);
}

/* ---- whole processes ------------------------------------------------------------------------------------------------------------ */

/* Runs a command of the shell; processor (or wall) seconds of all its processes. */
static double run_command(const char *command, bool wall)
{
    struct rusage before, after;
    double start = hu_clock_wall();
    getrusage(RUSAGE_CHILDREN, &before);
    if (system(command) != 0) return NAN;
    getrusage(RUSAGE_CHILDREN, &after);
    if (wall) return hu_clock_wall() - start;
    return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec);
}

static void bench_pipeline(bench *run)
{
    csv_text text;
    char train[PATH_SIZE], test[PATH_SIZE], ours[4 * PATH_SIZE], theirs[4 * PATH_SIZE];
    double a[REPETITIONS], b[REPETITIONS];
    const char *python = getenv("HU_PYTHON");
    if (!bench_wants(run, "pipeline")) return;
    if (!python || !*python || !load_text("deepperf-x264", &text)) {
        bench_skip(run, "pipeline", "deepperf-x264", !python || !*python ? "scikit-learn" : "the table");
        return;
    }
    split_text(&text, 1, text.rows * 7 / 10, train, test);
    snprintf(ours, sizeof ours, "%s/perf-predict train --threads=1 --model=rf --target=raw --trees=100 -y %s <%s >%s/m.ppm && %s/perf-predict predict --threads=1 %s/m.ppm <%s >%s/p.csv", getenv("HU_BUILD"), text.target,
             train, folder, getenv("HU_BUILD"), folder, test, folder);
    snprintf(theirs, sizeof theirs, "OPENBLAS_NUM_THREADS=1 %s %s/tests/peers/peers_learn.py pipeline %s %s >%s/q.csv", python, getenv("HU_SRC"), train, test, folder);
    for (int k = 0; k < REPETITIONS; k++) {
        a[k] = run_command(ours, false);
        b[k] = run_command(theirs, false);
    }
    double mine = hu_clock_median(a, REPETITIONS), other = hu_clock_median(b, REPETITIONS);
    bench_row(run, "pipeline", "deepperf-x264", mine, "s", "scikit-learn", other, other / mine, NAN, 20.0);
    free_text(&text);
}

/* ---- CSV ------------------------------------------------------------------------------------------------------------------------- */

static void bench_csv(bench *run)
{
    hu_error err = HU_ERROR_NONE;
    char path[PATH_SIZE];
    double seconds[REPETITIONS];
    int64_t size = 0;
    if (!bench_wants(run, "csv")) return;
    snprintf(path, sizeof path, "%s/large.csv", folder);
    FILE *f = fopen(path, "w");
    hu_random random = hu_random_stream(1, 2);
    if (!f) give_up("cannot write to the work folder");
    fprintf(f, "a,b,c,d,e,f,g,h,i,time\n");
    for (int i = 0; i < 500000; i++) {
        for (int k = 0; k < 9; k++) fprintf(f, "%d,", k < 6 ? 1 << hu_random_below(&random, 11) : (int)hu_random_below(&random, 100000));
        fprintf(f, "%.6f\n", exp(hu_random_normal(&random)));
    }
    size = ftell(f);
    if (fclose(f)) give_up("cannot write to the work folder");
    for (int k = 0; k < REPETITIONS; k++) {
        hu_csv_options o = HU_CSV_DEFAULTS;
        hu_csv_table *table;
        hu_source *source;
        double start = hu_clock_cpu();
        must(hu_source_open(path, NULL, &source, &err), &err);
        must(hu_csv_read(source, &o, (int64_t)1 << 32, &table, &err), &err);
        seconds[k] = hu_clock_cpu() - start;
        hu_csv_table_free(table);
        hu_source_close(source);
    }
    double rate = (double)size / hu_clock_median(seconds, REPETITIONS) / 1e6;
    bench_row(run, "csv", "500000 x 10", rate, "MB/s", "floor", 400.0, rate / 400.0, NAN, 1.0);
    unlink(path);
}

/* ---- threads and ranks -------------------------------------------------------------------------------------------------------------- */

static void bench_threads(bench *run)
{
    csv_text text;
    char train[PATH_SIZE], test[PATH_SIZE], command[3][4 * PATH_SIZE];
    double s[3][REPETITIONS];
    bool ranks = system("command -v mpiexec.mpich >/dev/null 2>&1") == 0;
    const char *build = getenv("HU_BUILD"), *set = run->quick ? "spapt-stencil3d" : "spapt-atax";
    if (!bench_wants(run, "threads")) return;
    if (hu_processors() < 2 || !load_text(set, &text)) {
        bench_skip(run, "threads", set, hu_processors() < 2 ? "a second processor" : "the table");
        return;
    }
    split_text(&text, 1, text.rows * 7 / 10, train, test);
    for (int k = 0; k < 3; k++)
        snprintf(command[k], sizeof command[k], "%s %s/perf-predict train --threads=%d --model=rf --target=raw --trees=200 -y %s -o %s/m%d.ppm %s", k == 2 ? "mpiexec.mpich -n 2" : "", build, k == 1 ? 2 : 1,
                 text.target, folder, k, train);
    for (int r = 0; r < REPETITIONS; r++)
        for (int k = 0; k < (ranks ? 3 : 2); k++) s[k][r] = run_command(command[k], true);
    double one = hu_clock_median(s[0], REPETITIONS), two = hu_clock_median(s[1], REPETITIONS);
    bench_row(run, "threads", set, two, "s", "one thread", one, one / two, NAN, 1.8);
    if (ranks) {
        two = hu_clock_median(s[2], REPETITIONS);
        bench_row(run, "threads", set, two, "s", "one rank (wall, mpiexec's start included)", one, one / two, NAN, 1.8);
    } else {
        bench_skip(run, "threads", set, "mpiexec.mpich");
    }
    free_text(&text);
}

/* ---- accuracy ------------------------------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *name;
    int64_t rows;
    double percent; /* mean relative error that --model=auto must not exceed */
} accuracy_bar;

/* Mean relative error and coverage of the 90 % band on the rows that training did not get. */
static void try_seed(const csv_text *text, uint64_t seed, int64_t rows, double *ret_error, double *ret_coverage)
{
    char train[PATH_SIZE], test[PATH_SIZE];
    hu_error err = HU_ERROR_NONE;
    hu_model_options o = HU_MODEL_DEFAULTS;
    hu_model *model;
    split_text(text, seed, rows, train, test);
    hu_frame *a = read_frame(train, text->target), *b = read_frame(test, text->target);
    o.forest.seed = seed;
    must(hu_model_train(a, text->target, &o, &model, NULL, NULL, &err), &err);
    double sum = 0.0, inside = 0.0;
    for (int64_t i = 0; i < b->rows; i++) {
        hu_prediction p = hu_model_predict_row(model, b->x + i * b->features);
        sum += fabs(p.value - b->y[i]) / fabs(b->y[i]);
        inside += b->y[i] >= hu_model_quantile(model, &p, 0.05) && b->y[i] <= hu_model_quantile(model, &p, 0.95);
    }
    *ret_error = 100 * sum / (double)b->rows;
    *ret_coverage = inside / (double)b->rows;
    hu_model_free(model);
    hu_frame_free(a);
    hu_frame_free(b);
}

static void bench_accuracy(bench *run)
{
    static const accuracy_bar bars[] = {{"x264", 64, 1.5}, {"BDBC", 90, 4.4}, {"LLVM", 55, 2.1}, {"Apache", 45, 6.0}, {"SQLite", 39, 4.6}};
    int seeds = run->quick ? 3 : 10;
    char name[64], label[64];
    if (!bench_wants(run, "accuracy")) return;
    hu_threads_set(0);
    for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) {
        csv_text text;
        double error = 0.0, e, c;
        snprintf(name, sizeof name, "deepperf-%s", bars[k].name);
        snprintf(label, sizeof label, "%s %lld rows, %d seeds", bars[k].name, (long long)bars[k].rows, seeds);
        if (!load_text(name, &text)) {
            bench_skip(run, "accuracy", label, "the table");
            continue;
        }
        for (int s = 1; s <= seeds; s++) {
            try_seed(&text, (uint64_t)s, bars[k].rows, &e, &c);
            error += e / seeds;
        }
        bench_row(run, "accuracy", label, error, "%", "floor", bars[k].percent, bars[k].percent / error, NAN, 1.0);
        free_text(&text);
    }
}

static void bench_coverage(bench *run)
{
    static const char *const sets[] = {"x264", "BDBC", "LLVM", "SQLite", "Dune", "hsmgp"};
    int seeds = run->quick ? 1 : 5;
    if (!bench_wants(run, "coverage")) return;
    hu_threads_set(0);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        csv_text text;
        char name[64], label[64];
        double coverage = 0.0, e, c;
        snprintf(name, sizeof name, "deepperf-%s", sets[k]);
        snprintf(label, sizeof label, "%s 200 rows, %d seeds", sets[k], seeds);
        if (!load_text(name, &text)) {
            bench_skip(run, "coverage", label, "the table");
            continue;
        }
        for (int s = 1; s <= seeds; s++) {
            try_seed(&text, (uint64_t)s, 200, &e, &c);
            coverage += c / seeds;
        }
        /* 1 at 90 %, and at the ends of 86 to 94 % just the floor */
        bench_row(run, "coverage", label, 100 * coverage, "%", "target", 90.0, 1.0 - fabs(coverage - 0.9), NAN, 0.96);
        free_text(&text);
    }
}

/* ---- transfer ------------------------------------------------------------------------------------------------------------------------ */

static double error_on(const hu_model *model, const hu_frame *frame)
{
    double sum = 0.0;
    for (int64_t i = 0; i < frame->rows; i++) sum += fabs(hu_model_predict_row(model, frame->x + i * frame->features).value - frame->y[i]) / fabs(frame->y[i]);
    return sum / (double)frame->rows;
}

/* The forest of the logarithm on all runs of the first device. */
static hu_model *train_source(const char *path, const csv_text *text)
{
    hu_error err = HU_ERROR_NONE;
    hu_model_options o = HU_MODEL_DEFAULTS;
    hu_model *model;
    hu_frame *frame = read_frame(path, text->target);
    o.kind = HU_MODEL_RF;
    o.log = 1;
    o.no_held_out = true;
    must(hu_model_train(frame, text->target, &o, &model, NULL, NULL, &err), &err);
    hu_frame_free(frame);
    return model;
}

/* Mean relative error of auto, and of train on the same few runs, on all other runs of the second device. */
static void try_transfer(const char *from, const csv_text *source, const csv_text *text, uint64_t seed, int64_t runs, double *ret_with, double *ret_alone)
{
    char train[PATH_SIZE], test[PATH_SIZE];
    hu_error err = HU_ERROR_NONE;
    hu_transfer_options o = {.method = -1, .model = HU_MODEL_DEFAULTS};
    hu_transfer_choice choice;
    hu_model *first = train_source(from, source), *model;
    split_text(text, seed, runs, train, test);
    hu_frame *few = read_frame(train, text->target), *others = read_frame(test, text->target);
    o.model.forest.seed = seed;
    must(hu_transfer_train(few, text->target, &first, &o, &model, &choice, &err), &err);
    *ret_with = error_on(model, others);
    hu_model_free(model);
    o.model.no_held_out = true;
    must(hu_model_train(few, text->target, &o.model, &model, NULL, NULL, &err), &err);
    *ret_alone = error_on(model, others);
    hu_model_free(model);
    hu_frame_free(few);
    hu_frame_free(others);
}

static void bench_transfer(bench *run)
{
    static const struct {
        const char *to;
        int64_t runs;
        double percent; /* that the error must not exceed; 0: it must not exceed that of train on the same runs by more than a twentieth */
    } bars[] = {{"A4000", 30, 18}, {"A4000", 100, 12}, {"A6000", 30, 0}, {"MI250X", 30, 0}, {"MI250X", 100, 0}};
    int seeds = run->quick ? 3 : 10;
    char name[64], label[64], path[PATH_SIZE];
    csv_text source, text;
    if (!bench_wants(run, "transfer")) return;
    hu_threads_set(0);
    if (!load_text("convolution-A100", &source)) {
        bench_skip(run, "transfer", "convolution-A100", "the table");
        return;
    }
    snprintf(path, sizeof path, "%s/tuning/convolution-A100.csv", data);
    for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) {
        double with = 0.0, alone = 0.0, a, b;
        snprintf(name, sizeof name, "convolution-%s", bars[k].to);
        snprintf(label, sizeof label, "A100 to %s %lld runs, %d seeds", bars[k].to, (long long)bars[k].runs, seeds);
        if (!load_text(name, &text)) {
            bench_skip(run, "transfer", label, "the table");
            continue;
        }
        for (int s = 1; s <= seeds; s++) {
            try_transfer(path, &source, &text, (uint64_t)s, bars[k].runs, &a, &b);
            with += 100 * a / seeds;
            alone += 100 * b / seeds;
        }
        if (bars[k].percent > 0) bench_row(run, "transfer", label, with, "%", "floor", bars[k].percent, bars[k].percent / with, NAN, 1.0);
        bench_row(run, "transfer", label, with, "%", "the new runs alone", alone, alone / with, NAN, 1 / 1.05);
        free_text(&text);
    }
    free_text(&source);
}

/* ---- schedules ----------------------------------------------------------------------------------------------------------------------- */

/* A whole run on 100000 jobs and 1200 nodes: seconds of wall time. */
static void bench_simulate(bench *run)
{
    static const char *const policies[] = {"fifo", "excl", "pack", "bestfit", "occ"};
    char nodes[PATH_SIZE], jobs[PATH_SIZE], command[4 * PATH_SIZE];
    hu_random random = hu_random_stream(1, 3);
    double now = 0.0, seconds[REPETITIONS];
    if (!bench_wants(run, "simulate")) return;
    snprintf(nodes, sizeof nodes, "%s/nodes.csv", folder);
    snprintf(jobs, sizeof jobs, "%s/jobs.csv", folder);
    FILE *f = fopen(nodes, "w"), *g = fopen(jobs, "w");
    if (!f || !g) give_up("cannot write to the work folder");
    fprintf(f, "node,gpus\n");
    for (int k = 0; k < 1200; k++) fprintf(f, "n%d,%d\n", k, 2 << hu_random_below(&random, 3));
    fprintf(g, "job,submit,duration,gpus,occupancy\n");
    for (int k = 0; k < 100000; k++) {
        now -= log(1.0 - hu_random_uniform(&random));
        fprintf(g, "j%d,%.3f,%.3f,%d,%.2f\n", k, now, -6000 * log(1.0 - hu_random_uniform(&random)), 1 << (hu_random_below(&random, 4) * hu_random_below(&random, 2)), 0.01 + 0.99 * hu_random_uniform(&random));
    }
    if (fclose(f) || fclose(g)) give_up("cannot write to the work folder");
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        snprintf(command, sizeof command, "%s/perf-predict simulate --cluster=%s --jobs=%s --policy=%s >/dev/null", getenv("HU_BUILD"), nodes, jobs, policies[p]);
        for (int r = 0; r < REPETITIONS; r++) seconds[r] = run_command(command, true);
        double median = hu_clock_median(seconds, REPETITIONS);
        bench_row(run, "simulate", policies[p], median, "s", "floor", 5.0, 5.0 / median, NAN, 1.0);
    }
}

int main(int argc, char **argv)
{
    bench run = {0};
    const char *wanted[64];
    folder = getenv("HU_WORK");
    data = getenv("HPCUTILS_DATA");
    if (!folder || !data || !getenv("HU_SRC") || !getenv("HU_BUILD")) give_up("scripts/bench runs this");
    hu_set_verbosity(-1);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) run.quick = true;
        else if (run.wanted_count < 64) wanted[run.wanted_count++] = argv[i];
    }
    run.wanted = wanted;
    bench_begin(&run, getenv("HU_VERSIONS"));
    bench_fit(&run);
    bench_ask(&run);
    bench_pipeline(&run);
    bench_csv(&run);
    bench_threads(&run);
    bench_accuracy(&run);
    bench_coverage(&run);
    bench_sampling(&run, data);
    bench_transfer(&run);
    bench_simulate(&run);
    bench_end(&run);
    return 0;
}
