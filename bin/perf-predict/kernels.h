/* kernels.h: lists of GPU kernels: from a CSV table, or from a trace that the PyTorch profiler (kineto) wrote. */
#ifndef PP_KERNELS_H
#define PP_KERNELS_H

#include "gpu.h"
#include "io/csv.h"
#include "io/source.h"

typedef struct {
    int32_t name;      /* of kernels.name */
    int32_t device;    /* of kernels.device; -1: none was named */
    gpu_launch launch;
    double duration;   /* microseconds, of all launches of the row */
    int64_t count;     /* launches */
    double recorded;   /* the trace's own estimate of the occupancy, a share; NaN: none */
} kernel;

typedef struct {
    int64_t kernels, room;
    kernel *kernel;
    int32_t names;
    int64_t name_room;
    char **name;       /* in the order of their first row */
    int32_t *table;    /* [table_size] names by their hash */
    int32_t table_size;
    int32_t devices;   /* that a trace describes */
    int64_t device_room;
    gpu *device;       /* threads == 0: the trace does not describe the device of that number */
    int64_t passed;    /* kernels of a trace without launch dimensions */
} kernel_list;

/* A table with the columns threads (of a block) and registers (of a thread), and maybe name, shared (bytes of a block), grid (blocks), duration_us, and count (launches).
 * HU_INPUT with line and column for what is no such number. Free with kernels_free(). */
hu_status kernels_read_csv(hu_source *source, const hu_csv_options *csv, kernel_list *ret_list, hu_error *err);

/* A trace as JSON (the source may be compressed): all events with "registers per thread", "shared memory", "grid" and "block"; and deviceProperties. It is read as a stream.
 * HU_INPUT with the line for what is no such trace; so is one without any kernel. */
hu_status kernels_read_trace(hu_source *source, kernel_list *ret_list, hu_error *err);

void kernels_free(kernel_list *list);

#endif
