/* workers.c: rank 0 hands out TASKS numbers and takes the answers from whoever sends one (MPI_ANY_SOURCE). Usage: workers [TASKS=20].
 * Rank 0: TASKS + (size - 1) Sends (a task each, then an end each), TASKS Recvs; the others together: TASKS Sends, TASKS + (size - 1) Recvs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASK = 1, ANSWER, END };

int main(int argc, char **argv)
{
    int rank, size, value, tasks = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        for (;;) {
            MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == END) break;
            value *= value;
            MPI_Send(&value, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD);
        }
    } else {
        long sum = 0;
        int given = 0;
        for (int w = 1; w < size && given < tasks; w++) MPI_Send(&given, 1, MPI_INT, w, TASK, MPI_COMM_WORLD), given++;
        for (int done = 0; done < tasks; done++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, ANSWER, MPI_COMM_WORLD, &status);
            sum += value;
            if (given < tasks) MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD), given++;
        }
        for (int w = 1; w < size; w++) MPI_Send(&value, 0, MPI_INT, w, END, MPI_COMM_WORLD);
        printf("%ld\n", sum); /* (TASKS - 1) TASKS (2 TASKS - 1) / 6 */
    }
    MPI_Finalize();
    return 0;
}
