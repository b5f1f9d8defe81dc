/* parallel.c: threads (OpenMP) and the waiting that the kernels do between them. */
#include "config.h"
#include "base/parallel.h"

#include <omp.h>
#include <sched.h>
#include <time.h>

int hu_processors(void)
{
    return omp_get_num_procs();
}

int hu_threads_set(int wanted)
{
    static int offered = 0; /* what the machine or OMP_NUM_THREADS offered at first */
    if (!offered) offered = omp_get_max_threads();
    int n = wanted > 0 ? wanted : offered, most = omp_get_thread_limit();
    omp_set_dynamic(0); /* a plan for n threads gets n threads */
    omp_set_num_threads(n < most ? n : most);
    return omp_get_max_threads();
}

int hu_threads(void)
{
    return omp_get_max_threads();
}

int hu_thread(void)
{
    return omp_get_thread_num();
}

void hu_share(int64_t n, int parts, int index, int64_t *ret_from, int64_t *ret_to)
{
    int64_t each = n / parts, more = n % parts;
    *ret_from = each * index + (index < more ? index : more);
    *ret_to = *ret_from + each + (index < more ? 1 : 0);
}

void hu_wait_yield(int turn)
{
    if (turn < 20000) {
        sched_yield();
    } else {
        struct timespec nap = {0, 50000};
        nanosleep(&nap, NULL);
    }
}
