/* ring.c: N times round a ring: Irecv from the left, Isend to the right, Waitall. Usage: ring [N=10].
 * Events of each rank: N of Irecv, Isend and Waitall, 1 Allreduce; 4 N bytes from each rank to its right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, token, got, sum, n = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    token = rank;
    for (int i = 0; i < n; i++) {
        MPI_Request request[2];
        MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        token = got;
    }
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\n", sum); /* size (size - 1) / 2 */
    MPI_Finalize();
    return 0;
}
