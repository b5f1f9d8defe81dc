/* progress.h: a line on standard error that says how far a long run is; silent for short ones. */
#ifndef HU_BASE_PROGRESS_H
#define HU_BASE_PROGRESS_H

#include <stdint.h>

typedef enum { HU_PROGRESS_AUTO, HU_PROGRESS_NEVER, HU_PROGRESS_ALWAYS } hu_progress_mode;

/* auto: only where standard error is a terminal and the program is not quiet. */
void hu_progress_set(hu_progress_mode mode);

/* Call as often as you like from one thread: at most ten lines a second are drawn, none in the first half second.
 * total <= 0: not known. */
void hu_progress(const char *what, int64_t done, int64_t total);

/* Removes the line. */
void hu_progress_end(void);

#endif
