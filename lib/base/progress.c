/* progress.c: a line on standard error that says how far a long run is; silent for short ones. */
#include "config.h"
#include "base/progress.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <unistd.h>

static hu_progress_mode mode = HU_PROGRESS_AUTO;
static double started = 0, drawn = 0;

void hu_progress_set(hu_progress_mode wanted)
{
    mode = wanted;
}

void hu_progress(const char *what, int64_t done, int64_t total)
{
    if (mode == HU_PROGRESS_NEVER) return;
    double now = hu_clock_wall();
    if (started == 0) started = now;
    if (mode == HU_PROGRESS_AUTO && (now - started < 0.5 || hu_verbosity() < 0 || !isatty(STDERR_FILENO))) return;
    if (drawn != 0 && now - drawn < 0.1) return;
    drawn = now;
    if (total > 0 && done > total) done = total; /* counted in blocks, of which the last is not full */
    if (total > 0) fprintf(stderr, "\r\033[K%s %.0f %%", what, 100.0 * (double)done / (double)total);
    else fprintf(stderr, "\r\033[K%s %lld", what, (long long)done);
    fflush(stderr);
}

void hu_progress_end(void)
{
    if (drawn != 0) fputs("\r\033[K", stderr);
    drawn = 0;
    started = 0;
}
