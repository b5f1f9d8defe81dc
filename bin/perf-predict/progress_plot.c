/* progress_plot.c: how a search goes on. */
#include "config.h"
#include "progress_plot.h"
#include "base/memory.h"
#include "base/progress.h"
#include "gnuplot.h"

#include <math.h>
#include <stdio.h>

static double better(double a, double b, bool maximize)
{
    return isnan(a) ? b : isnan(b) ? a : maximize ? fmax(a, b) : fmin(a, b);
}

hu_status progress_take(progress_points *p, const state *s, hu_error *err)
{
    if (p->count == 0) p->best = NAN;
    p->maximize = s->maximize;
    if (hu_grow((void **)&p->spent, &p->capacity, s->runs, sizeof *p->spent, "points", err) || hu_grow((void **)&p->value, &p->value_capacity, s->runs, sizeof *p->value, "points", err))
        return err->status;
    for (; p->count < s->runs; p->count++) {
        const state_run *run = &s->run[p->count];
        p->total += run->cost;
        p->spent[p->count] = p->total;
        p->value[p->count] = run->outcome == RUN_TIME ? run->value : NAN;
        p->failed += run->outcome != RUN_TIME;
        p->best = better(p->best, p->value[p->count], p->maximize);
    }
    return HU_OK;
}

void progress_free(progress_points *p)
{
    hu_free(p->spent);
    hu_free(p->value);
    *p = (progress_points){0};
}

void progress_say(const progress_points *p, int64_t most)
{
    char text[128];
    snprintf(text, sizeof text, "best %.4g, cost %.4g, %lld failed, runs", p->best, p->total, (long long)p->failed);
    hu_progress(text, p->count, most == INT64_MAX ? 0 : most);
}

hu_status progress_draw(const progress_points *p, const char *path, const char *target, bool maximize, hu_error *err)
{
    FILE *f = gnuplot_script(err);
    double best = NAN, least = INFINITY, most = -INFINITY;
    if (!f) return err->status;
    fprintf(f, "$runs << END\n");
    for (int64_t i = 0; i < p->count; i++) {
        best = better(best, p->value[i], maximize);
        least = fmin(least, p->value[i]);
        most = fmax(most, p->value[i]);
        fprintf(f, "%.17g ", p->spent[i]);
        fprintf(f, isnan(p->value[i]) ? "NaN " : "%.17g ", p->value[i]);
        fprintf(f, isnan(best) ? "NaN\n" : "%.17g\n", best);
    }
    fprintf(f, "END\nset terminal svg size 900,500 noenhanced\nset grid\nset key top right\nset xlabel \"cost of the runs so far\"\nset ylabel ");
    gnuplot_quote(f, target);
    fputc('\n', f);
    if (least > 0 && most > 20 * least) fprintf(f, "set logscale y\n");
    fprintf(f, "plot $runs using 1:2 with points pt 7 ps 0.5 title \"runs\", $runs using 1:3 with steps lw 2 title \"best so far\"\n");
    return gnuplot_draw(f, path, err);
}
