/* plot.c: pictures of a model, drawn by gnuplot. */
#include "config.h"
#include "plot.h"
#include "gnuplot.h"

#include <math.h>
#include <stdio.h>

enum { BARS = 15, POINTS = 20000 };

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
            gnuplot_quote(f, model->feature[k].name);
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
    gnuplot_quote(f, model->target);
    fprintf(f, "\nset ylabel \"predicted\"\nset arrow 1 from %.17g,%.17g to %.17g,%.17g nohead lc rgb \"gray\"\n", least, least, most, most);
    fprintf(f, "plot $runs using 1:2 with points pt 7 ps 0.3 lc rgb \"#1f5fa8\"\nunset arrow 1\nunset logscale y\n");
    fprintf(f, "set title \"residuals\"\nset ylabel \"(predicted - measured) / measured, %%\"\nplot $runs using 1:3 with points pt 7 ps 0.3 lc rgb \"#1f5fa8\", 0 lc rgb \"gray\"\n");
    fprintf(f, "unset logscale x\nset title \"importance\"\nset xlabel \"share of the splits' gain, %%\"\nunset ylabel\n");
    if (bars)
        fprintf(f, "set yrange [%d.5:-0.5]\nset xrange [0:*]\nplot $bars using ($3/2):1:($3/2):(0.4):ytic(2) with boxxyerrorbars fs solid 0.7 lc rgb \"#1f5fa8\"\n", bars - 1);
    fprintf(f, "unset multiplot\n");
}

hu_status plot_model(const char *path, const hu_model *model, const double *truth, const double *predicted, int64_t rows, hu_error *err)
{
    FILE *script = gnuplot_script(err);
    if (!script) return err->status;
    put_script(script, model, truth, predicted, rows);
    return gnuplot_draw(script, path, err);
}
