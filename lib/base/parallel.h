/* parallel.h: threads (OpenMP) and the waiting that the kernels do between them. */
#ifndef HU_BASE_PARALLEL_H
#define HU_BASE_PARALLEL_H

#include <stdatomic.h>
#include <stdint.h>

/* Sets the number of threads that every later parallel region uses; 0 means what the machine offers
 * (OMP_NUM_THREADS, else the processors that this process may run on). Returns the number set. */
int hu_threads_set(int wanted);
int hu_threads(void);
int hu_thread(void); /* number of the thread that asks, 0 outside of parallel regions */
int hu_processors(void); /* processors that this process may run on */

/* Part `index` of `parts` of the range 0..n: *ret_from <= i < *ret_to; parts differ by at most one. */
void hu_share(int64_t n, int parts, int index, int64_t *ret_from, int64_t *ret_to);

/* One step of a bounded wait for another thread: a pause at first, then the processor is given away, so that more threads
 * than processors still make progress. Start with *turn = 0. */
static inline void hu_wait_step(int *turn);

void hu_wait_yield(int turn); /* the slow part of hu_wait_step */

static inline void hu_wait_step(int *turn)
{
    if (++*turn < 2000) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    } else {
        hu_wait_yield(*turn);
    }
}

#endif
