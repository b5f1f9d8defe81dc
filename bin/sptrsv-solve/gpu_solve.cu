/* gpu_solve.cu: triangular systems on a GPU.
 *
 * Every row has a word in `ready`, and is solved once that word is the number (epoch) of this solve: so words need no clearing, and a value that is NaN
 * holds nobody up. Workers take nodes in ascending order, and a node refers only to nodes before it; with tickets a node is taken only by a warp that
 * runs, so the lowest node that is not done can always go on, however few blocks the device runs at a time. The static schedules (robin, least)
 * need all their blocks to run at a time, so their grid is what the device holds.
 * (Liu, Li, Hogg, Duff, Vinter, Euro-Par 2016: solving without level barriers; AG-SpTRSV, ACM TACO 2024: the scheme space.)
 *
 * Sections: waiting, taking nodes, a row by lanes, a row by a block, many right-hand sides, the plan, launching, solving.
 */
#include "device/gpu_cuda.h"
#include "sptrsv-solve/gpu_solve.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The system on the device, in execution order: entries of position i at [start[i], start[i + 1]), columns are positions. */
template <class V> struct device_system {
    int n, nodes, workers;
    const long long *start;
    const int *column, *node_start, *list;
    const long long *list_start;
    const V *value, *diagonal;
    int *ready, *ticket;
};

/* ---- waiting ------------------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ void wait_for(const int *word, int epoch)
{
    while (hu_load_acquire(word) != epoch) hu_spin();
}

/* ---- taking nodes ------------------------------------------------------------------------------------------------- */

/* The nodes of one worker, one after another; a worker is a group of LANES threads. */
template <int TAKE, int LANES> struct walker {
    long long at, end;
    int stride;
    const int *list;

    template <class V> __device__ explicit walker(const device_system<V> &s)
    {
        int worker = int((blockIdx.x * blockDim.x + threadIdx.x) / LANES), workers = int(gridDim.x * blockDim.x / LANES);
        list = s.list;
        if (TAKE == SPTRSV_GPU_LEAST) {
            at = worker < s.workers ? s.list_start[worker] : 0;
            end = worker < s.workers ? s.list_start[worker + 1] : 0;
            stride = 1;
        }
        else {
            at = worker;
            end = s.nodes;
            stride = workers;
        }
    }

    /* False when there is none left. With tickets a warp takes as many nodes as it has groups; *ret_node is -1 for a group that gets none. */
    template <class V> __device__ bool next(const device_system<V> &s, int *ret_node)
    {
        if (TAKE == SPTRSV_GPU_TICKET) {
            constexpr int GROUPS = 32 / LANES;
            int lane = int(threadIdx.x % 32), first = 0;
            if (lane == 0) first = atomicAdd(s.ticket, GROUPS);
            first = __shfl_sync(0xffffffffu, first, 0);
            int node = first + lane / LANES;
            *ret_node = node < s.nodes ? node : -1;
            return first < s.nodes;
        }
        if (at >= end) return false;
        *ret_node = TAKE == SPTRSV_GPU_LEAST ? list[at] : int(at);
        at += stride;
        return true;
    }
};

/* ---- a row by lanes ------------------------------------------------------------------------------------------------- */

template <int LANES> static __device__ __forceinline__ unsigned group_mask()
{
    return LANES == 32 ? 0xffffffffu : ((1u << (LANES % 32)) - 1u) << (threadIdx.x % 32 / LANES * LANES);
}

template <int LANES, class A> static __device__ __forceinline__ A sum_over_lanes(A v)
{
    for (int by = LANES / 2; by > 0; by /= 2) v += __shfl_xor_sync(group_mask<LANES>(), v, by);
    return v;
}

template <int LANES, class V, class A> static __device__ void solve_row(const device_system<V> &s, int i, const A *b, A *x, int epoch)
{
    int lane = int(threadIdx.x % LANES);
    A sum = 0;
    for (long long e = s.start[i] + lane; e < s.start[i + 1]; e += LANES) {
        int j = s.column[e];
        wait_for(&s.ready[j], epoch);
        sum = fma(A(s.value[e]), x[j], sum);
    }
    sum = sum_over_lanes<LANES>(sum);
    if (lane != 0) return;
    x[i] = (b[i] - sum) / A(s.diagonal[i]);
    hu_store_release(&s.ready[i], epoch);
}

template <int TAKE, int LANES, class V, class A> static __global__ void solve_by_lanes(device_system<V> s, const A *b, A *x, int epoch)
{
    walker<TAKE, LANES> nodes(s);
    for (int node; nodes.next(s, &node);)
        if (node >= 0)
            for (int i = s.node_start[node]; i < s.node_start[node + 1]; i++) solve_row<LANES>(s, i, b, x, epoch);
}

/* ---- a row by a block -------------------------------------------------------------------------------------------------- */

template <class A> static __device__ A sum_over_block(A v)
{
    HU_SHARED(A, part, [32]);
    int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32), warps = int(blockDim.x / 32);
    v = sum_over_lanes<32>(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = lane < warps ? part[lane] : A(0);
    v = sum_over_lanes<32>(v);
    __syncthreads(); /* part is used again for the next row */
    return v;
}

template <class V, class A> static __global__ void solve_by_block(device_system<V> s, const A *b, A *x, int epoch)
{
    HU_SHARED(int, taken, [1]);
    for (;;) {
        if (threadIdx.x == 0) taken[0] = atomicAdd(s.ticket, 1);
        __syncthreads();
        int node = taken[0];
        __syncthreads();
        if (node >= s.nodes) return;
        for (int i = s.node_start[node]; i < s.node_start[node + 1]; i++) {
            A sum = 0;
            for (long long e = s.start[i] + threadIdx.x; e < s.start[i + 1]; e += blockDim.x) {
                int j = s.column[e];
                wait_for(&s.ready[j], epoch);
                sum = fma(A(s.value[e]), x[j], sum);
            }
            sum = sum_over_block(sum);
            if (threadIdx.x == 0) {
                x[i] = (b[i] - sum) / A(s.diagonal[i]);
                hu_store_release(&s.ready[i], epoch);
            }
        }
    }
}

/* ---- many right-hand sides ------------------------------------------------------------------------------------------------ */

/* X and B are [n][LANES], a column a lane: each lane sums its own column in the canonical order. */
template <int LANES, class V, class A> static __global__ void solve_panel(device_system<V> s, const A *b, A *x, int epoch)
{
    walker<SPTRSV_GPU_TICKET, LANES> nodes(s);
    int lane = int(threadIdx.x % LANES);
    for (int node; nodes.next(s, &node);) {
        if (node < 0) continue;
        for (int i = s.node_start[node]; i < s.node_start[node + 1]; i++) {
            A sum = 0;
            for (long long e = s.start[i]; e < s.start[i + 1]; e++) {
                int j = s.column[e];
                wait_for(&s.ready[j], epoch);
                sum = fma(A(s.value[e]), x[(long long)j * LANES + lane], sum);
            }
            x[(long long)i * LANES + lane] = (b[(long long)i * LANES + lane] - sum) / A(s.diagonal[i]);
            __syncwarp(group_mask<LANES>()); /* all lanes have written before the first one says so */
            if (lane == 0) hu_store_release(&s.ready[i], epoch);
        }
    }
}

/* ---- the plan ------------------------------------------------------------------------------------------------------------- */

struct sptrsv_gpu_plan {
    hu_gpu *gpu;
    sptrsv_gpu_facts facts;
    sptrsv_precision precision;
    sptrsv_gpu_schedule *schedule;
    long long nnz;
    int epoch;
    void *start, *column, *value, *diagonal, *node_start, *list_start, *list, *ready, *ticket; /* on the device */
    void *b, *x;                                                                               /* room for a panel, on the device */
    int64_t panel;                                                                             /* columns that they hold */
};

template <class V> static device_system<V> system_of(const sptrsv_gpu_plan *p)
{
    const sptrsv_gpu_schedule *s = p->schedule;
    return {(int)s->n, (int)s->nodes, s->workers, (const long long *)p->start, (const int *)p->column, (const int *)p->node_start,
            (const int *)p->list, (const long long *)p->list_start, (const V *)p->value, (const V *)p->diagonal, (int *)p->ready, (int *)p->ticket};
}

static size_t scalar_bytes(sptrsv_precision precision)
{
    return precision == SPTRSV_F32 ? sizeof(float) : sizeof(double);
}

static void put(void *values, int64_t at, double v, bool as_float)
{
    if (as_float) ((float *)values)[at] = (float)v;
    else ((double *)values)[at] = v;
}

/* What goes to the device, on the host first. */
typedef struct {
    long long *start;
    int32_t *column, *position;
    void *value, *diagonal;
} staging;

static void fill(const sptrsv_system *a, const sptrsv_gpu_schedule *s, bool as_float, staging *st)
{
    long long at = 0;
    for (int64_t i = 0; i < s->n; i++) st->position[s->row[i]] = (int32_t)i;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t row = s->row[i];
        st->start[i] = at;
        for (int64_t k = 0; k < a->count[row]; k++, at++) {
            int64_t e = a->first[row] + k * a->stride;
            st->column[at] = st->position[a->matrix->col[e]];
            put(st->value, at, a->matrix->val[e], as_float);
        }
        put(st->diagonal, i, a->unit ? 1.0 : a->matrix->val[a->diagonal[row]], as_float);
    }
    st->start[s->n] = at;
}

static void free_staging(staging *st)
{
    free(st->start);
    free(st->column);
    free(st->position);
    free(st->value);
    free(st->diagonal);
}

static hu_status stage(const sptrsv_system *a, const sptrsv_gpu_schedule *s, bool as_float, staging *st, hu_error *err)
{
    size_t n = (size_t)s->n + 1, nnz = (size_t)a->nnz + 1, size = as_float ? sizeof(float) : sizeof(double);
    *st = {(long long *)malloc(n * sizeof(long long)), (int32_t *)malloc(nnz * sizeof(int32_t)), (int32_t *)malloc(n * sizeof(int32_t)),
           malloc(nnz * size), malloc(n * size)};
    if (!st->start || !st->column || !st->position || !st->value || !st->diagonal) {
        free_staging(st);
        return hu_fail(err, HU_SYSTEM, "out of memory for the matrix on its way to the GPU");
    }
    fill(a, s, as_float, st);
    return HU_OK;
}

static hu_status upload(sptrsv_gpu_plan *p, const staging *st, hu_error *err)
{
    const sptrsv_gpu_schedule *s = p->schedule;
    hu_gpu *g = p->gpu;
    size_t value = p->precision == SPTRSV_F64 ? sizeof(double) : sizeof(float);
    if (hu_gpu_copy(g, s->n + 1, sizeof(long long), "row starts", st->start, &p->start, err)) return err->status;
    if (hu_gpu_copy(g, p->nnz, sizeof(int32_t), "columns", st->column, &p->column, err)) return err->status;
    if (hu_gpu_copy(g, p->nnz, value, "values", st->value, &p->value, err)) return err->status;
    if (hu_gpu_copy(g, s->n, value, "the diagonal", st->diagonal, &p->diagonal, err)) return err->status;
    if (hu_gpu_copy(g, s->nodes + 1, sizeof(int32_t), "nodes", s->node_start, &p->node_start, err)) return err->status;
    if (s->workers && hu_gpu_copy(g, s->workers + 1, sizeof(int64_t), "lists", s->list_start, &p->list_start, err)) return err->status;
    if (s->workers && hu_gpu_copy(g, s->nodes, sizeof(int32_t), "lists", s->list, &p->list, err)) return err->status;
    if (hu_gpu_alloc(g, s->n, sizeof(int32_t), "flags", &p->ready, err) || hu_gpu_zero(g, p->ready, s->n * 4, err)) return err->status;
    if (hu_gpu_alloc(g, 1, sizeof(int32_t), "a ticket", &p->ticket, err)) return err->status;
    p->facts.bytes_held = (s->n + 1) * 8 + p->nnz * (int64_t)(4 + value) + s->n * (int64_t)(value + 4) + (s->nodes + 1) * 4;
    p->facts.bytes_per_solve = p->facts.bytes_held + s->n * (int64_t)(4 + 2 * scalar_bytes(p->precision));
    return HU_OK;
}

/* ---- launching -------------------------------------------------------------------------------------------------------------- */

/* The most blocks that can be of use, and, where blocks must run at a time, that do. */
template <class F> static hu_status blocks_of(const sptrsv_gpu_plan *p, F *kernel, int lanes, int64_t nodes, int *ret_blocks, hu_error *err)
{
    int resident = 0;
    if (hu_gpu_resident(p->gpu, kernel, p->facts.scheme.threads, 0, &resident, err)) return err->status;
    int64_t per_block = lanes ? p->facts.scheme.threads / lanes : 1, wanted = (nodes + per_block - 1) / per_block;
    *ret_blocks = (int)(wanted < resident ? (wanted > 0 ? wanted : 1) : resident);
    return resident > 0 ? HU_OK : hu_fail(err, HU_DEVICE, "no block of %d threads fits the GPU: use a smaller threads in --gpu-scheme", p->facts.scheme.threads);
}

/* What to do with the kernel that a scheme names: count its blocks (job NULL), or launch it. */
template <class A> struct launch_job {
    const A *b;
    A *x;
};

template <class V, class A, class F> static hu_status run_kernel(sptrsv_gpu_plan *p, F *kernel, const char *name, int lanes, const launch_job<A> *job, hu_error *err)
{
    if (!job) return blocks_of(p, kernel, lanes, p->schedule ? p->schedule->nodes : INT_MAX, &p->facts.blocks, err);
    HU_LAUNCH(kernel, (unsigned)p->facts.blocks, (unsigned)p->facts.scheme.threads, 0, hu_gpu_stream(p->gpu), system_of<V>(p), job->b, job->x, p->epoch);
    return hu_gpu_launched(p->gpu, name, err);
}

template <class V, class A, int LANES> static hu_status run_lanes(sptrsv_gpu_plan *p, const launch_job<A> *job, hu_error *err)
{
    switch (p->facts.scheme.take) {
    case SPTRSV_GPU_TICKET: return run_kernel<V>(p, solve_by_lanes<SPTRSV_GPU_TICKET, LANES, V, A>, "solving by tickets", LANES, job, err);
    case SPTRSV_GPU_ROBIN: return run_kernel<V>(p, solve_by_lanes<SPTRSV_GPU_ROBIN, LANES, V, A>, "solving in turn", LANES, job, err);
    default: return run_kernel<V>(p, solve_by_lanes<SPTRSV_GPU_LEAST, LANES, V, A>, "solving by lists", LANES, job, err);
    }
}

template <class V, class A> static hu_status run_scheme(sptrsv_gpu_plan *p, const launch_job<A> *job, hu_error *err)
{
    switch (p->facts.scheme.lanes) {
    case 0: return run_kernel<V>(p, solve_by_block<V, A>, "solving by blocks", 0, job, err);
    case 1: return run_lanes<V, A, 1>(p, job, err);
    case 2: return run_lanes<V, A, 2>(p, job, err);
    case 4: return run_lanes<V, A, 4>(p, job, err);
    case 8: return run_lanes<V, A, 8>(p, job, err);
    case 16: return run_lanes<V, A, 16>(p, job, err);
    default: return run_lanes<V, A, 32>(p, job, err);
    }
}

template <class V, class A> static hu_status run_panel(sptrsv_gpu_plan *p, int width, const launch_job<A> *job, hu_error *err)
{
    switch (width) {
    case 2: return run_kernel<V>(p, solve_panel<2, V, A>, "solving 2 columns", 2, job, err);
    case 4: return run_kernel<V>(p, solve_panel<4, V, A>, "solving 4 columns", 4, job, err);
    case 8: return run_kernel<V>(p, solve_panel<8, V, A>, "solving 8 columns", 8, job, err);
    case 16: return run_kernel<V>(p, solve_panel<16, V, A>, "solving 16 columns", 16, job, err);
    default: return run_kernel<V>(p, solve_panel<32, V, A>, "solving 32 columns", 32, job, err);
    }
}

/* width 1: the scheme; 2, 4, .. 32: a panel. job NULL: blocks only. */
template <class V, class A> static hu_status run(sptrsv_gpu_plan *p, int width, const launch_job<A> *job, hu_error *err)
{
    return width == 1 ? run_scheme<V, A>(p, job, err) : run_panel<V, A>(p, width, job, err);
}

static hu_status count_blocks(sptrsv_gpu_plan *p, int width, hu_error *err)
{
    switch (p->precision) {
    case SPTRSV_F64: return run<double, double>(p, width, NULL, err);
    case SPTRSV_F32: return run<float, float>(p, width, NULL, err);
    default: return run<float, double>(p, width, NULL, err);
    }
}

extern "C" hu_status sptrsv_gpu_plan_new(hu_gpu *gpu, const sptrsv_system *a, const sptrsv_gpu_scheme *scheme, sptrsv_precision precision,
                                         sptrsv_gpu_plan **ret_plan, hu_error *err)
{
    *ret_plan = NULL;
    if (a->is_complex) return hu_fail(err, HU_USAGE, "complex systems are solved on the CPU: use --device=cpu");
    sptrsv_gpu_plan *p = (sptrsv_gpu_plan *)calloc(1, sizeof *p);
    if (!p) return hu_fail(err, HU_SYSTEM, "out of memory");
    staging st;
    p->gpu = gpu;
    p->precision = precision;
    p->facts.scheme = *scheme;
    if (scheme->lanes == 0) p->facts.scheme.take = SPTRSV_GPU_TICKET; /* whole blocks take tickets only */
    p->nnz = a->nnz;
    if (count_blocks(p, 1, err)) goto failed; /* of a device with work for all: as many workers run at a time */
    if (sptrsv_gpu_schedule_new(a, &p->facts.scheme, scheme->lanes ? p->facts.blocks * (scheme->threads / scheme->lanes) : 1, &p->schedule, err)) goto failed;
    if (p->facts.scheme.take != SPTRSV_GPU_LEAST && count_blocks(p, 1, err)) goto failed;
    p->facts.nodes = p->schedule->nodes;
    if (stage(a, p->schedule, precision != SPTRSV_F64, &st, err)) goto failed;
    upload(p, &st, err);
    free_staging(&st);
    if (err->status) goto failed;
    *ret_plan = p;
    return HU_OK;
failed:
    sptrsv_gpu_plan_free(p);
    return err->status;
}

extern "C" void sptrsv_gpu_plan_free(sptrsv_gpu_plan *p)
{
    if (!p) return;
    void *blocks[] = {p->start, p->column, p->value, p->diagonal, p->node_start, p->list_start, p->list, p->ready, p->ticket, p->b, p->x};
    for (void *block : blocks) hu_gpu_free(p->gpu, block);
    sptrsv_gpu_schedule_free(p->schedule);
    free(p);
}

extern "C" void sptrsv_gpu_describe(const sptrsv_gpu_plan *p, sptrsv_gpu_facts *ret_facts)
{
    *ret_facts = p->facts;
}

/* ---- solving -------------------------------------------------------------------------------------------------------------------- */

static hu_status make_room(sptrsv_gpu_plan *p, int64_t columns, hu_error *err)
{
    if (p->panel >= columns) return HU_OK;
    hu_gpu_free(p->gpu, p->b);
    hu_gpu_free(p->gpu, p->x);
    p->b = p->x = NULL;
    p->panel = 0;
    if (hu_gpu_alloc(p->gpu, p->schedule->n * columns, scalar_bytes(p->precision), "right-hand sides", &p->b, err)) return err->status;
    if (hu_gpu_alloc(p->gpu, p->schedule->n * columns, scalar_bytes(p->precision), "solutions", &p->x, err)) return err->status;
    p->panel = columns;
    return HU_OK;
}

/* Columns first .. first + count - 1 between a matrix and a panel [n][width] in execution order; columns of the panel that are not there are 0. */
template <class A> static void to_panel(const sptrsv_gpu_schedule *s, const hu_dense *m, int64_t first, int64_t count, int width, A *panel)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < width; c++) {
            int64_t row = s->row[i], col = first + c;
            panel[i * width + c] = c < count ? ((const A *)m->data)[m->order == HU_COL_MAJOR ? row + col * m->ld : row * m->ld + col] : A(0);
        }
}

template <class A> static void from_panel(const sptrsv_gpu_schedule *s, const A *panel, int width, int64_t first, int64_t count, hu_dense *m)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < count; c++) {
            int64_t row = s->row[i], col = first + c;
            ((A *)m->data)[m->order == HU_COL_MAJOR ? row + col * m->ld : row * m->ld + col] = panel[i * width + c];
        }
}

/* One launch: flags of this epoch, the ticket at 0. */
template <class V, class A> static hu_status launch(sptrsv_gpu_plan *p, int width, hu_error *err)
{
    launch_job<A> job = {(const A *)p->b, (A *)p->x};
    double seconds;
    if (p->epoch == INT_MAX) {
        if (hu_gpu_zero(p->gpu, p->ready, p->schedule->n * 4, err)) return err->status;
        p->epoch = 0;
    }
    p->epoch++;
    if (hu_gpu_zero(p->gpu, p->ticket, 4, err)) return err->status;
    if (hu_gpu_clock_start(p->gpu, err) || run<V, A>(p, width, &job, err) || hu_gpu_clock_stop(p->gpu, &seconds, err)) return err->status;
    p->facts.kernel_seconds += seconds;
    return HU_OK;
}

template <class V, class A> static hu_status solve_columns(sptrsv_gpu_plan *p, const hu_dense *b, hu_dense *x, A *panel, hu_error *err)
{
    int64_t n = p->schedule->n;
    for (int64_t first = 0, count; first < b->cols; first += count) {
        int64_t left = b->cols - first;
        int width = 1;
        while (width < 32 && width < left) width *= 2;
        count = left < width ? left : width;
        if (make_room(p, width, err)) return err->status;
        to_panel(p->schedule, b, first, count, width, panel);
        if (hu_gpu_upload(p->gpu, p->b, panel, n * width * (int64_t)sizeof(A), err)) return err->status;
        if (width > 1 && count_blocks(p, width, err)) return err->status;
        hu_status status = launch<V, A>(p, width, err);
        if (!status) status = hu_gpu_download(p->gpu, panel, p->x, n * width * (int64_t)sizeof(A), err);
        if (status) return status;
        from_panel(p->schedule, panel, width, first, count, x);
    }
    return HU_OK;
}

extern "C" hu_status sptrsv_gpu_solve(sptrsv_gpu_plan *p, const hu_dense *b, hu_dense *x, hu_error *err)
{
    int64_t n = p->schedule->n;
    hu_scalar scalar = p->precision == SPTRSV_F32 ? HU_F32 : HU_F64;
    if (b->rows != n || x->rows != n || b->cols != x->cols) return hu_fail(err, HU_INPUT, "the right-hand sides do not have the matrix' %lld rows", (long long)n);
    if (b->scalar != scalar || x->scalar != scalar) return hu_fail(err, HU_INPUT, "the right-hand sides are of another precision than the plan");
    p->facts.kernel_seconds = 0;
    if (n == 0 || b->cols == 0) return HU_OK;
    int one = p->facts.blocks;
    void *panel = malloc((size_t)n * (b->cols > 16 ? 32 : 2 * (size_t)b->cols) * scalar_bytes(p->precision));
    if (!panel) return hu_fail(err, HU_SYSTEM, "out of memory for right-hand sides on their way to the GPU");
    switch (p->precision) {
    case SPTRSV_F64: solve_columns<double>(p, b, x, (double *)panel, err); break;
    case SPTRSV_F32: solve_columns<float>(p, b, x, (float *)panel, err); break;
    default: solve_columns<float>(p, b, x, (double *)panel, err); break;
    }
    p->facts.blocks = one;
    free(panel);
    return err->status;
}
