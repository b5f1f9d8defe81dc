/* recorder.h: what the generated wrappers (generate.pl) are made of. A wrapper is
 *
 *     recorder *rec = recorder_enter(FUNCTION, counted);
 *     if (!rec) return real call;                     off, or a call from inside MPI
 *     put arguments;  recorder_begin(rec);  real call;  recorder_end(rec);  put results;
 *     recorder_leave(rec, rc, failed);
 *
 * Sections: state, writing of arguments, objects of MPI.
 */
#ifndef TC_RECORDER_H
#define TC_RECORDER_H

#include "spool.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define RARELY(x) __builtin_expect(!!(x), 0)

enum { POLLS = 8, SCALARS = 1024 };

typedef struct {
    hu_spool_header *head;
    unsigned char *window, *at, *limit; /* the mapped piece of the file */
    unsigned char *event;               /* the event being written */
    unsigned char *arguments;           /* where its arguments begin */
    uint64_t window_offset;             /* of the mapped piece in the file */
    uint64_t allotted;                  /* bytes of the file that are really there */
    uint64_t enter, leave;
    uint16_t function;
    bool counted, busy, full, gap;
    int fd, polls;
    uint32_t poll[POLLS]; /* offsets in the window of the failed polls since the last other event */
} recorder;

/* ---- state ---- */

/* NULL: do not record. Else the event's head is reserved with room for SCALARS bytes of arguments. */
recorder *recorder_enter(uint16_t function, bool counted);
void recorder_leave(recorder *r, int rc, bool failed_poll);
void recorder_count(uint16_t function); /* a function that is only counted */
void recorder_reserve(recorder *r, size_t bytes);
void recorder_after_init(void);
void recorder_after_session(MPI_Session session);
void recorder_before_finalize(void);
void recorder_finish(void); /* the spool is complete; more may follow */
void recorder_switch(bool on);
void recorder_flush(void);
bool recorder_is_fortran(const void *caller);

/* The real functions, found once. */
extern void *recorder_real[HU_SPOOL_FUNCTIONS];
extern bool recorder_ready;
void recorder_resolve(void);

/* Given by the generated source. */
extern const char recorder_table[];
extern const char *const recorder_symbols[];
extern const int recorder_functions;

static inline uint64_t recorder_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void recorder_begin(recorder *r)
{
    r->enter = recorder_now();
}

static inline void recorder_end(recorder *r)
{
    r->leave = recorder_now();
}

/* ---- writing of arguments ---- */

static inline void put(recorder *r, int64_t value)
{
    uint64_t u = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    unsigned char *p = r->at;
    while (u >= 128) {
        *p++ = (unsigned char)(u | 128);
        u >>= 7;
    }
    *p++ = (unsigned char)u;
    r->at = p;
}

/* Room for an array and its length behind what is written so far. */
static inline void put_length(recorder *r, int64_t n)
{
    if (RARELY(n > 8)) recorder_reserve(r, (size_t)n * 10 + SCALARS);
    put(r, n);
}

#define PUT_ARRAY(name, type)                                                                                          \
    static inline void name(recorder *r, const type *items, int64_t n)                                                 \
    {                                                                                                                  \
        if (!items || n < 0) n = 0;                                                                                    \
        put_length(r, n);                                                                                              \
        for (int64_t i = 0; i < n; i++) put(r, (int64_t)items[i]);                                                     \
    }
PUT_ARRAY(put_ints, int)
PUT_ARRAY(put_longs, MPI_Aint)

static inline void put_buffer(recorder *r, const void *buffer)
{
    put(r, buffer == MPI_IN_PLACE ? 1 : buffer == NULL ? 2 : 0);
}

static inline void put_status(recorder *r, const MPI_Status *s)
{
    put(r, s->MPI_SOURCE);
    put(r, s->MPI_TAG);
    put(r, (int64_t)(((uint64_t)(uint32_t)s->count_hi_and_cancelled >> 1) << 32 | (uint32_t)s->count_lo));
}

static inline void put_no_status(recorder *r)
{
    put(r, MPI_ANY_SOURCE);
    put(r, MPI_ANY_TAG);
    put(r, 0);
}

static inline void put_statuses(recorder *r, const MPI_Status *s, int n)
{
    recorder_reserve(r, (size_t)(n < 0 ? 0 : n) * 20 + SCALARS);
    put(r, n < 0 ? 0 : n);
    for (int i = 0; i < n; i++) put_status(r, &s[i]);
}

/* Own statuses where the program ignores them. */
MPI_Status *recorder_statuses(MPI_Status *given, int n);

/* ---- objects of MPI: asked by local calls, which send nothing ---- */

int recorder_peers(MPI_Comm comm);               /* whom a collective of the communicator has counts for */
void recorder_degrees(MPI_Comm comm, int *ret_in, int *ret_out);
int recorder_dims(MPI_Comm comm);
bool recorder_is_root(MPI_Comm comm, int root);
void put_new_comm(recorder *r, MPI_Comm comm, MPI_Comm members);
void put_new_type(recorder *r, MPI_Datatype type);

#endif
