/* polls.c: rank 0 polls for a message with MPI_Test N times in vain, then asks for it and waits by polling; rank 1 sends it when asked. Usage: polls [N=1000].
 * The failed polls of rank 0 are at least N. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, value = 0, flag = 0;
    long n = argc > 1 ? atol(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        for (long i = 0; i < n; i++) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        printf("%d\n", value); /* 42 */
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = 42;
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
