/* halo2d.c: a 2-D grid of processes without periods, N exchanges of halos of WIDTH doubles with Sendrecv. Usage: halo2d [N=10 [WIDTH=64]].
 * Events of each rank: 4 N Sendrecv (those over the edge have MPI_PROC_NULL), N Allreduce, 1 Cart_create. Messages in all: 2 N (2 px py - px - py) of 8 WIDTH bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int size, dims[2] = {0, 0}, periods[2] = {0, 0}, n = argc > 1 ? atoi(argv[1]) : 10, width = argc > 2 ? atoi(argv[2]) : 64;
    double one = 1.0, sum = 0.0;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    double *out = calloc((size_t)width, sizeof *out), *in = calloc((size_t)width, sizeof *in);
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < 2; d++) {
            int low, high;
            MPI_Cart_shift(grid, d, 1, &low, &high);
            MPI_Sendrecv(out, width, MPI_DOUBLE, high, d, in, width, MPI_DOUBLE, low, d, grid, MPI_STATUS_IGNORE);
            MPI_Sendrecv(out, width, MPI_DOUBLE, low, d, in, width, MPI_DOUBLE, high, d, grid, MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    int rank;
    MPI_Comm_rank(grid, &rank);
    if (rank == 0) printf("%g\n", sum); /* size */
    free(out);
    free(in);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
