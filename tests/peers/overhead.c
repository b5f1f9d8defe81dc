/* overhead.c: processor time of MPI calls of one process to itself, in ns a call: Sendrecv, then Irecv + Send + Wait, then Iprobe that finds nothing. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

enum { CALLS = 500000 };

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char **argv)
{
    int a = 1, b, flag;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    double t0 = cpu();
    for (int i = 0; i < CALLS; i++) MPI_Sendrecv(&a, 1, MPI_INT, 0, 1, &b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    double t1 = cpu();
    for (int i = 0; i < CALLS; i++) {
        MPI_Irecv(&b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
        MPI_Send(&a, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    double t2 = cpu();
    for (int i = 0; i < CALLS; i++) MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    double t3 = cpu();
    printf("%.1f %.1f %.1f\n", (t1 - t0) / CALLS, (t2 - t1) / CALLS / 3, (t3 - t2) / CALLS);
    MPI_Finalize();
    return 0;
}
