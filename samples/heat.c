/* heat.c: heat on a square plate of n x n cells, in strips of rows over the processes of MPI: explicit steps, halos, a residual every tenth step.
 *
 * Usage: mpiexec -n P heat N [STEPS]        (STEPS: default 100)
 * A sample for `perf-predict probe`: its counters have closed forms (tests/pipe/perf-predict-probe.sh).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int n, rows;       /* cells in a row, rows of this process */
    int above, below;  /* neighbours, or MPI_PROC_NULL */
    double *now, *next; /* [rows + 2][n + 2] with a rim of cells that stay cold */
} strip;

static void swap_rims(const strip *s)
{
    double *first = s->now + s->n + 2, *last = s->now + (long)s->rows * (s->n + 2), *behind = last + s->n + 2;
    MPI_Sendrecv(first, s->n + 2, MPI_DOUBLE, s->above, 1, behind, s->n + 2, MPI_DOUBLE, s->below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, s->n + 2, MPI_DOUBLE, s->below, 2, s->now, s->n + 2, MPI_DOUBLE, s->above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void advance(const strip *s)
{
    int width = s->n + 2;
    for (int i = 1; i <= s->rows; i++) {
        const double *row = s->now + (long)i * width;
        double *out = s->next + (long)i * width;
        for (int j = 1; j <= s->n; j++)
            out[j] = row[j] + 0.2 * (row[j - 1] + row[j + 1] + row[j - width] + row[j + width] - 4 * row[j]);
    }
}

static double change(const strip *s)
{
    double sum = 0, all = 0;
    for (long k = 0; k < (long)(s->rows + 2) * (s->n + 2); k++) sum += (s->next[k] - s->now[k]) * (s->next[k] - s->now[k]);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double run(strip *s, int steps)
{
    double moved = 0;
    for (int step = 0; step < steps; step++) {
        swap_rims(s);
        advance(s);
        if (step % 10 == 9)
            moved = change(s);
        double *old = s->now;
        s->now = s->next;
        s->next = old;
    }
    return moved;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = argc > 1 ? atoi(argv[1]) : 0, steps = argc > 2 ? atoi(argv[2]) : 100;
    if (n < ranks || steps < 0) {
        if (rank == 0) fprintf(stderr, "usage: heat N [STEPS], with N of at least the number of processes\n");
        MPI_Finalize();
        return 2;
    }
    strip s = {.n = n, .rows = n / ranks + (rank < n % ranks), .above = rank > 0 ? rank - 1 : MPI_PROC_NULL, .below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL};
    size_t cells = (size_t)(s.rows + 2) * (size_t)(n + 2);
    s.now = calloc(cells, sizeof *s.now);
    s.next = calloc(cells, sizeof *s.next);
    if (!s.now || !s.next) MPI_Abort(MPI_COMM_WORLD, 4);
    s.now[(n + 2) + n / 2] = 1000.0 * (rank == ranks / 2);
    double moved = run(&s, steps);
    if (rank == 0) printf("%.17g\n", moved);
    free(s.now);
    free(s.next);
    MPI_Finalize();
    return 0;
}
