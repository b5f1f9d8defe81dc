/* alltoallv.c: N times MPI_Alltoallv, rank r sending r + s + 1 doubles to rank s. Usage: alltoallv [N=5].
 * Bytes from r to s: 8 N (r + s + 1). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 5, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
    for (int s = 0; s < size; s++) {
        counts[s] = rank + s + 1;
        places[s] = total;
        total += counts[s];
    }
    double *out = calloc((size_t)total, sizeof *out), *in = calloc((size_t)total, sizeof *in);
    for (int i = 0; i < n; i++) MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\n", total);
    free(out);
    free(in);
    free(counts);
    free(places);
    MPI_Finalize();
    return 0;
}
