/* runtime.h: what the two sources that a probed program carries share, and the layout of what they write.
 *
 * `perf-predict probe cc` compiles them with the program's own compiler, so they stand on the C library, libgcov and mpi.h alone. Without
 * HU_PROBE_DIR in the environment they do nothing.
 *
 *     HU_PROBE_DIR  the folder of the run. A process makes HOST.PID in it with
 *                   process    lines "key value": exe, base, rank, ranks, calls (of the cut), and "written end" or "written cut" behind the last byte
 *                   end/, cut/ the counters at the end and at the cut: K.gcda (gcov), arcs (lines "K path"), values, mpi
 *     HU_PROBE_CUT  when to take the counters early: "time:SECONDS", "call:MPI_NAME:N", "pc:N:LOW-HIGH,..." or "pc:X%:LOW-HIGH,..." (addresses in hexadecimal,
 *                   relative to where the program is loaded)
 */
#ifndef HU_PROBE_RUNTIME_H
#define HU_PROBE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* The records of the file values behind its 8 bytes "hupvalu1": one a place that compares and a thread. */
typedef struct {
    uint64_t place; /* the address behind the comparison, relative to where the program is loaded; 0: none */
    uint64_t kind;  /* 'v' two variables, 'c' a constant and a variable, 's' a switch */
    uint64_t hits;
    double last[2], least[2], most[2], sum[2]; /* of the left and the right operand */
} hu_probe_value;

/* The records of the file mpi behind its 8 bytes "hupmpi_1". */
typedef struct {
    char name[32];
    uint64_t calls, bytes, peers;
} hu_probe_call;

#ifdef HU_PROBE_INSIDE
#pragma GCC visibility push(hidden)
void hu_probe_ranks(int rank, int ranks);     /* once, when MPI is there */
void hu_probe_cut_here(void);                 /* takes the counters early, once */
bool hu_probe_cut_call(const char *name, uint64_t *ret_n); /* whether the cut is at the N-th call of that function */
extern void (*hu_probe_put_calls)(int fd);    /* writes the records of MPI, or NULL */
void hu_probe_write(int fd, const void *bytes, uint64_t size);
#pragma GCC visibility pop
#endif

#endif
