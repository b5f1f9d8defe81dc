/* plot.c: pictures of a model, drawn by gnuplot: a script with its data goes to its standard input, the picture comes from its standard output. */
#include "config.h"
#include "plot.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BARS = 15, POINTS = 20000 };

/* Text between double quotes for gnuplot. */
static void put_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if ((unsigned char)*text < ' ') continue;
        if (strchr("\"\\`", *text)) fputc('\\', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_data(FILE *f, const double *truth, const double *predicted, int64_t rows)
{
    int64_t step = rows / POINTS + 1;
    fprintf(f, "$runs << END\n");
    for (int64_t i = 0; i < rows; i += step)
        fprintf(f, "%.17g %.17g %.17g\n", truth[i], predicted[i], truth[i] != 0 ? 100 * (predicted[i] - truth[i]) / fabs(truth[i]) : 0.0);
    fprintf(f, "END\n");
}

/* The most important columns by the gain of their splits, the greatest first. */
static int put_bars(FILE *f, const hu_model *model)
{
    const hu_forest *forest = model->forest;
    double total = 0.0, last = INFINITY;
    int n = 0;
    if (!forest) return 0;
    for (int32_t k = 0; k < model->features; k++) total += forest->gain[k];
    if (!(total > 0)) return 0;
    fprintf(f, "$bars << END\n");
    while (n < BARS) {
        double next = -1.0;
        for (int32_t k = 0; k < model->features; k++)
            if (forest->gain[k] < last && forest->gain[k] > next) next = forest->gain[k];
        if (!(next > 0)) break;
        for (int32_t k = 0; k < model->features && n < BARS; k++) {
            if (forest->gain[k] != next) continue;
            fprintf(f, "%d ", n++);
            put_quoted(f, model->feature[k].name);
            fprintf(f, " %.17g\n", 100 * next / total);
        }
        last = next;
    }
    fprintf(f, "END\n");
    return n;
}

static void put_script(FILE *f, const hu_model *model, const double *truth, const double *predicted, int64_t rows)
{
    bool positive = model->is_log;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < rows; i++) {
        positive &= truth[i] > 0 && predicted[i] > 0;
        least = fmin(least, fmin(truth[i], predicted[i]));
        most = fmax(most, fmax(truth[i], predicted[i]));
    }
    put_data(f, truth, predicted, rows);
    int bars = put_bars(f, model);
    fprintf(f, "set terminal svg size 1350,450 noenhanced\nset multiplot layout 1,3\nset grid\nunset key\n");
    if (positive) fprintf(f, "set logscale xy\n");
    fprintf(f, "set title \"predicted against measured\"\nset xlabel ");
    put_quoted(f, model->target);
    fprintf(f, "\nset ylabel \"predicted\"\nset arrow 1 from %.17g,%.17g to %.17g,%.17g nohead lc rgb \"gray\"\n", least, least, most, most);
    fprintf(f, "plot $runs using 1:2 with points pt 7 ps 0.3 lc rgb \"#1f5fa8\"\nunset arrow 1\nunset logscale y\n");
    fprintf(f, "set title \"residuals\"\nset ylabel \"(predicted - measured) / measured, %%\"\nplot $runs using 1:3 with points pt 7 ps 0.3 lc rgb \"#1f5fa8\", 0 lc rgb \"gray\"\n");
    fprintf(f, "unset logscale x\nset title \"importance\"\nset xlabel \"share of the splits' gain, %%\"\nunset ylabel\n");
    if (bars)
        fprintf(f, "set yrange [%d.5:-0.5]\nset xrange [0:*]\nplot $bars using ($3/2):1:($3/2):(0.4):ytic(2) with boxxyerrorbars fs solid 0.7 lc rgb \"#1f5fa8\"\n", bars - 1);
    fprintf(f, "unset multiplot\n");
}

/* Starts gnuplot with the script's file as its standard input and a pipe as its standard output. */
static pid_t start_gnuplot(int script, int *ret_read)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC)) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(script, STDIN_FILENO);
        dup2(pipes[1], STDOUT_FILENO);
        execlp("gnuplot", "gnuplot", "-", (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    if (child < 0) close(pipes[0]);
    *ret_read = pipes[0];
    return child;
}

static hu_status copy_picture(int fd, hu_output *out, hu_error *err)
{
    char buffer[65536];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hu_fail_errno(err, errno, "gnuplot", "read");
        if (n == 0) return HU_OK;
        if (hu_output_write(out, buffer, (size_t)n, err)) return err->status;
    }
}

hu_status plot_model(const char *path, const hu_model *model, const double *truth, const double *predicted, int64_t rows, hu_error *err)
{
    int fd, state = 0;
    hu_output *out = NULL;
    FILE *script = tmpfile();
    if (!script) return hu_fail_errno(err, errno, "a temporary file", "open");
    put_script(script, model, truth, predicted, rows);
    if (fflush(script) || fseek(script, 0, SEEK_SET)) {
        hu_fail_errno(err, errno, "a temporary file", "write");
        goto cleanup;
    }
    if (hu_output_open(path, &out, err)) goto cleanup;
    pid_t child = start_gnuplot(fileno(script), &fd);
    if (child < 0) {
        hu_fail_errno(err, errno, "gnuplot", "start");
        goto cleanup;
    }
    copy_picture(fd, out, err);
    close(fd);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) hu_fail(err, HU_SYSTEM, "--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
    else if (state != 0) hu_fail(err, HU_SYSTEM, "gnuplot failed (state %d)", state);
    if (err->status == HU_OK) hu_output_commit(&out, err);
cleanup:
    hu_output_abort(&out);
    fclose(script);
    return err->status;
}
