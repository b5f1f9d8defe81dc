/* grid.c: triangular systems on structured grids: detection, layout, and the pipeline over the threads. The hot loops are in grid_kernel.c.
 *
 * Sections: detection, the layout, values, solving.
 */
#include "config.h"
#include "grid_kernel.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "device/cpu.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- detection -------------------------------------------------------------------------------------------------- */

enum {
    REACH = 2,                     /* |dx|, |dy|, |dz| at most */
    BOX = (2 * REACH + 1) * (2 * REACH + 1) * (2 * REACH + 1),
    SAMPLES = 16, SAMPLE_ROWS = 96, /* runs of rows in which strides are looked for */
    DISTANCES = SPTRSV_GRID_NEIGHBOURS
};

/* A guess, and what the entries said about it. */
typedef struct {
    int64_t nx, ny, nz;
    int dof;
    int64_t seen[BOX];   /* entries by neighbour; index (dz+2)*25 + (dy+2)*5 + dx+2 */
    double filled;       /* entries / (entries + explicit zeros that neighbours in the box need) */
    double filled_whole; /* the same with neighbours outside the box */
} guess;

static int64_t column_step(const sptrsv_system *s, int64_t row, int64_t k)
{
    int64_t col = s->matrix->col[s->first[row] + k * s->stride];
    return s->ascending ? col : s->n - 1 - col;
}

/* Counts the neighbours of the entries of steps from..to-1; false where one is outside the box or too far. */
static bool count_steps(const sptrsv_system *s, const guess *g, int64_t from, int64_t to, int64_t *seen)
{
    uint32_t nx = (uint32_t)g->nx, ny = (uint32_t)g->ny, dof = (uint32_t)g->dof;
    int64_t distance[SPTRSV_GRID_NEIGHBOURS]; /* the last row looked at in full: entries, how often, and where it is valid */
    int32_t index[SPTRSV_GRID_NEIGHBOURS], entries = -1;
    int64_t again = 0;
    uint32_t low_x = 0, high_x = 0; /* -min dx, max dx */
    int32_t low_y = 0, high_y = 0;
    for (int64_t step = from; step < to; step++) {
        int64_t row = sptrsv_step_row(s, step);
        int32_t count = s->count[row];
        uint32_t cell = (uint32_t)step / dof, x = cell % nx, y = cell / nx % ny, z = cell / nx / ny;
        if (dof == 1 && count == entries && x >= low_x && x + high_x < nx && (int32_t)y >= low_y && (int32_t)y + high_y < (int32_t)ny) {
            int64_t differ = 0;
            const int32_t *col = s->matrix->col + s->first[row];
            for (int32_t k = 0; k < count; k++) differ |= (row - col[k * s->stride]) * s->stride ^ distance[k];
            if (!differ) { /* as in the last row, and z follows: no column is negative */
                again++;
                continue;
            }
        }
        for (int32_t k = 0; again && k < entries; k++) seen[index[k]] += again;
        again = 0;
        entries = count <= SPTRSV_GRID_NEIGHBOURS ? count : -1;
        low_x = high_x = 0;
        low_y = high_y = 0;
        if (dof == 1 && entries < 0) return false;
        uint32_t last_other = cell;
        int32_t last_index = BOX / 2;
        for (int32_t k = 0; k < count; k++) {
            int64_t other_step = column_step(s, row, k);
            uint32_t other = (uint32_t)other_step / dof;
            if (other != last_other) {
                int32_t dx = (int32_t)(other % nx) - (int32_t)x, dy = (int32_t)(other / nx % ny) - (int32_t)y;
                int32_t dz = (int32_t)(other / nx / ny) - (int32_t)z;
                if (abs(dx) > REACH || abs(dy) > REACH || dz < -REACH) return false;
                last_other = other;
                last_index = (dz + REACH) * 25 + (dy + REACH) * 5 + dx + REACH;
                if (-dx > (int32_t)low_x) low_x = (uint32_t)-dx;
                if (dx > (int32_t)high_x) high_x = (uint32_t)dx;
                if (-dy > low_y) low_y = -dy;
                if (dy > high_y) high_y = dy;
            }
            seen[last_index]++;
            if (entries < 0 || dof > 1) continue;
            distance[k] = step - other_step;
            index[k] = last_index;
        }
    }
    for (int32_t k = 0; again && k < entries; k++) seen[index[k]] += again;
    return true;
}

static void offset_of(int index, int32_t *dx, int32_t *dy, int32_t *dz)
{
    *dx = index % 5 - REACH;
    *dy = index / 5 % 5 - REACH;
    *dz = index / 25 - REACH;
}

static int64_t inside(int64_t n, int32_t d)
{
    return n > abs(d) ? n - abs(d) : 0;
}

/* How well the neighbours are filled when `share` of the rows was looked at. */
static void rate(guess *g, double share)
{
    double entries = 0, places = 0, whole = 0, block = (double)g->dof * g->dof;
    for (int i = 0; i < BOX / 2; i++) {
        if (!g->seen[i]) continue;
        int32_t dx, dy, dz;
        offset_of(i, &dx, &dy, &dz);
        entries += (double)g->seen[i];
        places += block * share * (double)(inside(g->nx, dx) * inside(g->ny, dy) * inside(g->nz, dz));
        whole += block * share * (double)(g->nx * g->ny * g->nz);
    }
    g->filled = places > 0 ? entries / places : 1;
    g->filled_whole = whole > 0 ? entries / whole : 1;
}

static void sample_range(int64_t n, int i, int dof, int64_t *from, int64_t *to)
{
    int64_t rows = SAMPLE_ROWS - SAMPLE_ROWS % dof;
    *from = n <= SAMPLES * rows ? n * i / SAMPLES : (n - rows) / (SAMPLES - 1) * i;
    *from -= *from % dof;
    *to = n <= SAMPLES * rows ? n * (i + 1) / SAMPLES : *from + rows;
    if (n <= SAMPLES * rows && i + 1 < SAMPLES) *to -= *to % dof;
}

static bool try_sample(const sptrsv_system *s, guess *g)
{
    int64_t rows = 0;
    memset(g->seen, 0, sizeof g->seen);
    for (int i = 0; i < SAMPLES; i++) {
        int64_t from, to;
        sample_range(s->n, i, g->dof, &from, &to);
        rows += to - from;
        if (!count_steps(s, g, from, to, g->seen)) return false;
    }
    rate(g, (double)rows / (double)s->n);
    return true;
}

static bool try_all(const sptrsv_system *s, guess *g)
{
    bool good = true;
    int64_t seen[BOX] = {0};
#pragma omp parallel reduction(&& : good) reduction(+ : seen[:BOX])
    {
        int64_t from, to;
        hu_share(s->n / g->dof, omp_get_num_threads(), omp_get_thread_num(), &from, &to);
        good = count_steps(s, g, from * g->dof, to * g->dof, seen);
    }
    memcpy(g->seen, seen, sizeof g->seen);
    rate(g, 1);
    return good;
}

/* The distinct distances (in cells) that the samples refer to, ascending; -1 where they are too many. */
static int sample_distances(const sptrsv_system *s, int dof, int64_t *distance)
{
    int found = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int64_t from, to;
        sample_range(s->n, i, dof, &from, &to);
        for (int64_t step = from; step < to; step++) {
            int64_t row = sptrsv_step_row(s, step);
            int last = 0; /* columns ascend, so distances descend */
            for (int32_t k = s->count[row] - 1; k >= 0; k--) {
                int64_t d = step / dof - column_step(s, row, k) / dof;
                if (d == 0) continue;
                while (last < found && distance[last] < d) last++;
                if (last < found && distance[last] == d) continue;
                if (found == DISTANCES) return -1;
                memmove(distance + last + 1, distance + last, sizeof *distance * (size_t)(found - last));
                distance[last] = d;
                found++;
            }
        }
    }
    return found;
}

/* Keeps a guess that holds in the samples if it is better filled than the best so far. */
static void consider(const sptrsv_system *s, const int32_t wanted[3], int dof, int64_t nx, int64_t ny, int64_t nz, guess *best)
{
    if (wanted && ((wanted[0] && wanted[0] != nx) || (wanted[1] && wanted[1] != ny) || (wanted[2] && wanted[2] != nz))) return;
    guess g = {.nx = nx, .ny = ny, .nz = nz, .dof = dof};
    if (!try_sample(s, &g)) return;
    if (g.filled_whole > best->filled_whole + 1e-9) *best = g;
}

enum { ENOUGH = 80 }; /* percent filled at which no better guess is looked for */

static bool enough(const guess *g)
{
    return g->filled_whole * 100 >= ENOUGH;
}

/* 2-D and 3-D guesses with lines of nx cells. */
static void guess_planes(const sptrsv_system *s, const int32_t wanted[3], int dof, int64_t nx, const int64_t *distance, int found,
                         guess *best)
{
    static const int near_first[] = {0, 1, -1, 2, -2};
    int64_t cells = s->n / dof;
    if (nx < 2 || cells % nx) return;
    int64_t lines = cells / nx, plane = 0;
    for (int i = 0; i < found && !plane; i++) {
        bool reached = false;
        for (int dy = 0; dy <= REACH; dy++) reached |= llabs(distance[i] - nx * dy) <= REACH;
        if (!reached) plane = distance[i];
    }
    if (wanted && wanted[1]) {
        if (lines % wanted[1] == 0) consider(s, wanted, dof, nx, wanted[1], lines / wanted[1], best);
        return;
    }
    if (!plane) {
        consider(s, wanted, dof, nx, lines, 1, best);
        return;
    }
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5 && !enough(best); i++) {
            int64_t size = plane + near_first[j] * nx + near_first[i];
            if (size < 2 * nx || size % nx || cells % size) continue;
            consider(s, wanted, dof, nx, size / nx, cells / size, best);
        }
}

static void guess_dof(const sptrsv_system *s, const int32_t wanted[3], int dof, guess *best)
{
    static const int near_first[] = {0, 1, -1, 2, -2};
    int64_t distance[DISTANCES], cells = s->n / dof;
    int found = sample_distances(s, dof, distance);
    if (found < 0) return;
    if (found == 0 || distance[found - 1] <= REACH) consider(s, wanted, dof, cells, 1, 1, best);
    if (wanted && wanted[0]) {
        guess_planes(s, wanted, dof, wanted[0], distance, found, best);
        return;
    }
    int64_t beyond = 0;
    for (int i = 0; i < found && !beyond; i++)
        if (distance[i] > REACH) beyond = distance[i];
    for (int i = 0; beyond && i < 5 && !enough(best); i++)
        guess_planes(s, wanted, dof, beyond + near_first[i], distance, found, best);
}

/* Sizes of 1 carry nothing: (1, 5, 7) is (5, 7, 1). */
static void drop_ones(const int32_t given[3], int32_t ret[3])
{
    int n = 0;
    memset(ret, 0, 3 * sizeof *ret);
    for (int i = 0; i < 3; i++)
        if (given[i] != 1) ret[n++] = given[i];
    for (int i = n; i < 3 && (given[0] && given[1] && given[2]); i++) ret[i] = 1;
    if (n == 0) ret[0] = 1;
}

hu_status sptrsv_grid_detect(const sptrsv_system *system, const int32_t opt_wanted[3], bool *ret_is_grid, sptrsv_grid_shape *ret_shape,
                             const char **opt_why, hu_error *err)
{
    (void)err; /* nothing here can fail; the interface leaves room */
    const char *why = "";
    guess best = {.filled_whole = 0};
    int32_t wanted[3];
    *ret_is_grid = false;
    if (opt_wanted) drop_ones(opt_wanted, wanted);
    if (system->is_complex) {
        why = "complex values";
    } else if (system->n == 0) {
        why = "an empty matrix";
    } else {
        for (int dof = 1; dof <= SPTRSV_GRID_MAX_DOF && !enough(&best); dof++)
            if (system->n % dof == 0 && (dof == 1 || system->n > dof)) guess_dof(system, opt_wanted ? wanted : NULL, dof, &best);
        if (best.filled_whole <= 0) why = opt_wanted ? "the sizes do not multiply to the rows, or the distances of the entries from the diagonal are those of another grid" : "the distances of the entries from the diagonal are not those of a grid";
        else if (!try_all(system, &best)) why = "an entry is not a neighbour on the grid";
        else if (best.filled < 2.0 / 3) why = "more than a third of the neighbours are missing";
    }
    if (opt_why) *opt_why = why;
    if (*why) return HU_OK;
    sptrsv_grid_shape shape = {.nx = (int32_t)best.nx, .ny = (int32_t)best.ny, .nz = (int32_t)best.nz, .dof = best.dof};
    for (int i = 0; i < BOX / 2; i++) { /* ascending (dz, dy, dx) is the canonical order */
        if (!best.seen[i]) continue;
        int32_t dx, dy, dz;
        offset_of(i, &dx, &dy, &dz);
        shape.dx[shape.neighbours] = (int8_t)dx;
        shape.dy[shape.neighbours] = (int8_t)dy;
        shape.dz[shape.neighbours++] = (int8_t)dz;
    }
    *ret_shape = shape;
    *ret_is_grid = true;
    return HU_OK;
}

/* ---- the layout ------------------------------------------------------------------------------------------------- */

static const sptrsv_grid_kernels *kernels(const sptrsv_grid *g)
{
#if defined(HU_X86)
    if (hu_cpu() == HU_CPU_V4) return &sptrsv_grid_kernels_v4[g->precision];
    if (hu_cpu() == HU_CPU_V3) return &sptrsv_grid_kernels_v3[g->precision];
#endif
    return &sptrsv_grid_kernels_base[g->precision];
}

static size_t coef_size(const sptrsv_grid *g)
{
    return g->precision == SPTRSV_F64 ? sizeof(double) : sizeof(float);
}

static size_t real_size(const sptrsv_grid *g)
{
    return g->precision == SPTRSV_F32 ? sizeof(float) : sizeof(double);
}

static void set_arrays(sptrsv_grid *g)
{
    const sptrsv_grid_shape *s = &g->shape;
    bool near = false;
    for (int k = 0; k < s->neighbours; k++) {
        g->dx[k] = s->dx[k];
        g->dy[k] = s->dy[k];
        g->dz[k] = s->dz[k];
        if (s->dy[k] == 0 && s->dz[k] == 0) {
            g->chain++;
            near |= s->dx[k] == -1;
        }
    }
    g->arrays = s->neighbours;
    if (g->chain == 1 && !near && s->dof == 1) { /* (-2,0,0) alone: the recurrence wants (-1,0,0) too */
        g->dx[g->arrays++] = -1;
        g->chain = 2;
    }
    for (int k = 0; k < g->arrays; k++) {
        g->offset[k] = g->dx[k] + s->nx * (g->dy[k] + (int64_t)s->ny * g->dz[k]);
        if (g->dy[k] > g->forward) g->forward = g->dy[k];
        if (k >= g->arrays - g->chain) continue;
        if (g->dx[k] < 0) g->edge_first = true;
        if (g->dx[k] > 0) g->edge_last = true;
    }
    if (s->nx % g->lanes) g->edge_last = true;
    if (g->tiles == 1) g->edge_first = g->edge_last = g->edge_first || g->edge_last;
}

/* Cuts the lines of a plane into slabs of whole groups of slots. */
static hu_status cut_slabs(sptrsv_grid *g, int threads, hu_error *err)
{
    const sptrsv_grid_shape *s = &g->shape;
    int32_t groups = (s->ny + g->slots - 1) / g->slots, least = (REACH + g->slots - 1) / g->slots;
    g->planar = s->nz == 1 && threads > 1 && groups > 1 && g->tiles >= 4 * threads;
    g->slabs = 1;
    if (g->planar) g->slabs = groups;
    else if (s->nz > 1) g->slabs = threads < groups / least ? threads : groups / least;
    if (g->slabs < 1) g->slabs = 1;
    g->workers = g->planar ? (threads < groups ? threads : groups) : g->slabs;
    if (s->neighbours == 0) g->workers = threads;
    void *block;
    if (hu_alloc(g->slabs + 1, sizeof *g->slab_line, "the grid's slabs", &block, err)) return err->status;
    g->slab_line = block;
    if (hu_alloc(g->slabs, sizeof *g->slab_base, "the grid's slabs", &block, err)) return err->status;
    g->slab_base = block;
    if (hu_alloc(g->slabs, sizeof *g->slab_steps, "the grid's slabs", &block, err)) return err->status;
    g->slab_steps = block;
    int64_t base = 0;
    for (int32_t i = 0; i < g->slabs; i++) {
        int64_t from, to, lines;
        hu_share(groups, g->slabs, i, &from, &to);
        g->slab_line[i] = (int32_t)from * g->slots;
        lines = (to * g->slots < s->ny ? to * g->slots : s->ny) - g->slab_line[i];
        g->slab_line[i + 1] = g->slab_line[i] + (int32_t)lines;
        int64_t steps = ((lines + g->slots - 1) / g->slots - 1) * g->period + g->tiles + (int64_t)(g->slots - 1) * g->lag;
        if (steps > INT32_MAX / 2) return hu_fail(err, HU_SYSTEM, "the grid is too large for one plane");
        g->slab_steps[i] = (int32_t)steps;
        g->slab_base[i] = base;
        base += steps * s->nz;
    }
    g->stride = base; /* steps in all, for now */
    return HU_OK;
}

static hu_status alloc_coef(sptrsv_grid *g, hu_error *err)
{
    int64_t steps = g->stride, elements, arrays = g->arrays + !g->unit;
    int dof = g->shape.dof;
    if (dof > 1) {
        g->stride = (int64_t)g->arrays * dof * dof + (dof - 1) * dof + dof;
        if (!hu_mul_size(steps, g->stride, &elements)) elements = -1;
    } else {
        /* Arrays start at different places of a page, so that they do not meet in the same sets of the first cache. */
        int64_t tile_bytes = g->lanes * (int64_t)coef_size(g), page = 4096 / (int64_t)coef_size(g);
        g->stride = steps * g->slots * g->lanes;
        g->stride += page - g->stride % page + 5 * 64 / (int64_t)coef_size(g);
        if (tile_bytes <= 0 || !hu_mul_size(arrays, g->stride, &elements)) elements = -1;
    }
    if (elements < 0) return hu_fail(err, HU_SYSTEM, "the grid is too large for this machine");
    elements += 64; /* vectors may read on */
    if (hu_alloc(elements, coef_size(g), "the grid's coefficients", &g->coef, err)) return err->status;
    g->bytes_coef = elements * (int64_t)coef_size(g);
    return hu_alloc_zero((int64_t)g->shape.nx + 64, real_size(g), "a line of zeros", &g->zeros, err);
}

/* Tiles of 8 cells; lines that are worked four at a time hide each other's latency, short ones cannot. Out of the caches the bytes decide.
 * Threads cut 3-D grids into slabs of 8 lines at least, each plane costs a hop; in 2-D a line moves from core to core for every
 * group of four, which pays on long lines only. */
double sptrsv_grid_estimate(const sptrsv_grid_shape *shape, int threads, sptrsv_tile *ret_tile)
{
    enum { LANES = 8, LEAST_TILES = 48 };
    const double cache = 24e6, bandwidth_one = 25e9, bandwidth_all = 45e9, hop = 0.25e-6, start = 3e-6;
    double k = (double)shape->neighbours * shape->dof + 0.5 * (shape->dof - 1);
    double rows = (double)shape->nx * shape->ny * shape->nz * shape->dof, bytes = rows * (8 * (k + 1) + 24);
    int32_t tiles = (shape->nx + LANES - 1) / LANES, groups = (shape->ny + 3) / 4;
    bool forward = false, is_flat = shape->nz == 1;
    for (int32_t i = 0; i < shape->neighbours; i++) forward |= shape->dx[i] > 0;
    bool interleaved = shape->dof == 1 && shape->ny > 1 && shape->nx >= (forward ? 64 : 32);
    double cells = rows / shape->nx * (shape->dof > 1 ? shape->nx : tiles * LANES);
    double work = cells * (interleaved || shape->ny == 1 ? 0.7e-9 + 0.25e-9 * k : 1.75e-9 + 0.25e-9 * k);
    double line = fmax(work, bytes > cache ? bytes / bandwidth_one : 0);
    int parts = is_flat ? (tiles >= LEAST_TILES * threads ? threads : 1) : threads < shape->ny / 8 ? threads : shape->ny / 8;
    double slab = parts < 2 ? INFINITY
                            : fmax(work / parts, bytes > cache ? bytes / bandwidth_all : 0) + start +
                                  hop * (is_flat ? 2 * groups : shape->nz);
    *ret_tile = slab < line ? SPTRSV_TILE_SLAB : SPTRSV_TILE_LINE;
    return fmin(slab, line);
}

hu_status sptrsv_grid_new(const sptrsv_system *system, const sptrsv_grid_shape *shape, const sptrsv_scheme *scheme,
                          sptrsv_precision precision, int threads, sptrsv_grid **ret_grid, hu_error *err)
{
    *ret_grid = NULL;
    int64_t plane = (int64_t)shape->nx * shape->ny, cells;
    if (system->is_complex) return hu_fail(err, HU_USAGE, "complex systems have no grid scheme");
    if (shape->nx < 1 || shape->ny < 1 || shape->nz < 1 || shape->dof < 1 || shape->dof > SPTRSV_GRID_MAX_DOF ||
        shape->neighbours < 0 || shape->neighbours > SPTRSV_GRID_NEIGHBOURS || !hu_mul_size(plane, shape->nz, &cells) ||
        !hu_mul_size(cells, shape->dof, &cells) || cells != system->n)
        return hu_fail(err, HU_INPUT, "the grid does not fit the matrix: %d x %d x %d cells of %d unknowns, %lld rows", shape->nx,
                       shape->ny, shape->nz, shape->dof, (long long)system->n);
    int32_t before = INT32_MIN; /* neighbours ascend and precede the cell itself */
    for (int k = 0; k < shape->neighbours; k++) {
        int32_t place = shape->dz[k] * 25 + shape->dy[k] * 5 + shape->dx[k];
        if (abs(shape->dx[k]) > REACH || abs(shape->dy[k]) > REACH || abs(shape->dz[k]) > REACH || place <= before || place >= 0)
            return hu_fail(err, HU_INPUT, "neighbour %d of the grid is out of order or too far", k + 1);
        before = place;
    }
    void *block;
    if (hu_alloc_zero(1, sizeof(sptrsv_grid), "the grid", &block, err)) return err->status;
    sptrsv_grid *g = block;
    g->shape = *shape;
    g->n = system->n;
    g->mirrored = !system->ascending;
    g->unit = system->unit;
    g->want_divide = scheme->arith == SPTRSV_DIVIDE;
    g->precision = precision;
    if (threads < 1 || scheme->tile == SPTRSV_TILE_LINE) threads = 1;
    g->lanes = shape->dof > 1 ? 1 : precision == SPTRSV_F32 ? 16 : 8;
    g->tiles = (shape->nx + g->lanes - 1) / g->lanes;
    g->lag = 1;
    for (int k = 0; k < shape->neighbours; k++)
        if (shape->dx[k] > 0 && shape->dy[k] < 0 && shape->dz[k] == 0) g->lag = shape->dof > 1 ? REACH + 1 : 2;
    g->slots = shape->dof == 1 && shape->ny > 1 && g->tiles >= SPTRSV_GRID_SLOTS * g->lag ? SPTRSV_GRID_SLOTS : 1;
    g->period = g->tiles;
    set_arrays(g);
    if (cut_slabs(g, threads, err) || alloc_coef(g, err)) goto failed;
    if (hu_alloc_zero(g->workers, sizeof *g->progress, "the grid's progress", &block, err)) goto failed;
    g->progress = block;
    *ret_grid = g;
    return HU_OK;
failed:
    sptrsv_grid_free(g);
    return err->status;
}

void sptrsv_grid_free(sptrsv_grid *grid)
{
    if (!grid) return;
    hu_free(grid->slab_line);
    hu_free(grid->slab_base);
    hu_free(grid->slab_steps);
    hu_free(grid->coef);
    hu_free(grid->zeros);
    hu_free(grid->progress);
    hu_free(grid);
}

int64_t sptrsv_grid_bytes_held(const sptrsv_grid *g)
{
    return g->bytes_coef + g->slabs * (int64_t)(sizeof *g->slab_line + sizeof *g->slab_base + sizeof *g->slab_steps) +
           g->workers * (int64_t)sizeof *g->progress + (g->shape.nx + 64) * (int64_t)real_size(g) + (int64_t)sizeof *g;
}

int64_t sptrsv_grid_bytes_per_solve(const sptrsv_grid *g)
{
    int64_t lines = (int64_t)g->shape.ny * g->shape.nz, cells = lines * g->shape.nx;
    int64_t coef = g->shape.dof > 1 ? cells * g->stride : lines * g->tiles * g->lanes * (g->arrays + !g->unit);
    return coef * (int64_t)coef_size(g) + 3 * g->n * (int64_t)real_size(g);
}

const sptrsv_grid_shape *sptrsv_grid_shape_of(const sptrsv_grid *g)
{
    return &g->shape;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static int owner(const sptrsv_grid *g, int32_t slab)
{
    return slab % g->workers;
}

static int64_t lay_out(const sptrsv_grid *g, const sptrsv_system *system, bool *ret_foldable)
{
    sptrsv_grid_set *set = g->shape.dof > 1 ? kernels(g)->set_dof : kernels(g)->set;
    int64_t bad_row = INT64_MAX, units = (int64_t)g->slabs * g->shape.nz;
    bool foldable = true;
    /* A slab's coefficients are first touched by the thread that will work it, where threads and slabs agree. */
#pragma omp parallel for schedule(static) reduction(min : bad_row) reduction(&& : foldable)
    for (int64_t u = 0; u < units; u++) {
        bool good = true;
        int64_t bad = set(g, system, (int32_t)(u / g->shape.nz), (int32_t)(u % g->shape.nz), &good);
        if (bad >= 0 && bad < bad_row) bad_row = bad;
        foldable = foldable && good;
    }
    *ret_foldable = foldable;
    return bad_row == INT64_MAX ? -1 : bad_row;
}

hu_status sptrsv_grid_set_values(sptrsv_grid *g, const sptrsv_system *system, bool *ret_foldable, hu_error *err)
{
    *ret_foldable = true;
    if (system->n != g->n || system->is_complex || system->ascending == g->mirrored || system->unit != g->unit)
        return hu_fail(err, HU_INPUT, "the system is not the one that the grid was made for");
    g->divide = g->want_divide;
    int64_t bad = lay_out(g, system, ret_foldable);
    if (bad < 0 && !*ret_foldable && !g->divide) {
        g->divide = true;
        bool again;
        bad = lay_out(g, system, &again);
    }
    if (bad < 0) return HU_OK;
    return hu_fail(err, HU_INPUT, "row %lld has an entry that is no neighbour on the %d x %d x %d grid", (long long)bad + 1,
                   g->shape.nx, g->shape.ny, g->shape.nz);
}

/* ---- solving ---------------------------------------------------------------------------------------------------- */

/* One solve, of one right-hand side or of a block. */
typedef struct {
    const sptrsv_grid *g;
    const sptrsv_grid_kernels *kernel;
    int nrhs;
    const void *b;
    void *x;
} job;

static void work(const job *j, int32_t slab, int32_t z, int32_t from, int32_t to)
{
    bool dof = j->g->shape.dof > 1;
    if (from >= to) return;
    if (j->nrhs == 1) (dof ? j->kernel->run_dof : j->kernel->run)(j->g, j->b, j->x, slab, z, from, to);
    else (dof ? j->kernel->run_block_dof : j->kernel->run_block)(j->g, j->nrhs, j->b, j->x, slab, z, from, to);
}

static void publish(const sptrsv_grid *g, int worker, int64_t steps)
{
    atomic_store_explicit(&g->progress[worker].steps, steps, memory_order_release);
}

static void await(const sptrsv_grid *g, int worker, int64_t steps)
{
    int turn = 0;
    while (atomic_load_explicit(&g->progress[worker].steps, memory_order_acquire) < steps) hu_wait_step(&turn);
}

/* Steps of a unit after which its line is done, and before which it is not begun. */
static int32_t line_done(const sptrsv_grid *g, int32_t line)
{
    return line / g->slots * g->period + g->tiles + line % g->slots * g->lag;
}

static int32_t line_begun(const sptrsv_grid *g, int32_t line)
{
    return line / g->slots * g->period + line % g->slots * g->lag;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Slab t of every plane, pipelined: a plane waits for the slab before it, and its last lines, where stencils look ahead (dy > 0, dz <
 * 0), for the first lines of the slab after it, a plane back. */
static void work_slab(const job *j, int t)
{
    const sptrsv_grid *g = j->g;
    int32_t lines = sptrsv_grid_lines(g, t), steps = g->slab_steps[t], next_first = 0, first = steps, ahead = steps;
    if (g->forward && t > 0) first = line_done(g, least(g->forward, lines) - 1);
    if (g->forward && t + 1 < g->slabs) {
        ahead = line_begun(g, lines > g->forward ? lines - g->forward : 0);
        next_first = line_done(g, least(g->forward, sptrsv_grid_lines(g, t + 1)) - 1);
    }
    for (int32_t z = 0; z < g->shape.nz; z++) {
        int64_t before = (int64_t)z * steps;
        if (t > 0) await(g, t - 1, (int64_t)(z + 1) * g->slab_steps[t - 1]);
        int32_t at = least(first, ahead);
        work(j, t, z, 0, at);
        if (at == first) publish(g, t, before + at);
        if (ahead < steps && z > 0) {
            work(j, t, z, at, ahead);
            await(g, t + 1, (int64_t)(z - 1) * g->slab_steps[t + 1] + next_first);
            at = at > ahead ? at : ahead;
        }
        if (first > at) {
            work(j, t, z, at, first);
            publish(g, t, before + first);
            at = first;
        }
        work(j, t, z, at, steps);
        publish(g, t, before + steps);
    }
}

enum { PLANAR_STEPS = 32 }; /* tiles between two looks at the neighbour's progress, in 2-D */

/* Every workers-th group of lines of a plane, pipelined along x behind the group before. */
static void work_planar(const job *j, int t)
{
    const sptrsv_grid *g = j->g;
    int64_t whole = (int64_t)g->period + (int64_t)g->slots * g->lag + 1; /* more than the steps of any unit */
    int block = g->shape.dof > 1 ? PLANAR_STEPS * 8 : PLANAR_STEPS;
    for (int32_t u = t; u < g->slabs; u += g->workers) {
        int32_t steps = g->slab_steps[u];
        for (int32_t at = 0; at < steps; at += block) {
            int32_t to = least(at + block, steps);
            if (u > 0) {
                int32_t need = least(to + g->slots * g->lag + 1, g->slab_steps[u - 1]); /* a tile further on the last line */
                await(g, owner(g, u - 1), (u - 1) * whole + need);
            }
            work(j, u, 0, at, to);
            publish(g, t, u * whole + to);
        }
    }
}

/* A diagonal matrix: any part is free. */
static void work_free(const job *j, int t)
{
    for (int32_t z = 0; z < j->g->shape.nz; z++)
        for (int32_t slab = 0; slab < j->g->slabs; slab++) {
            int64_t from, to;
            hu_share(j->g->slab_steps[slab], j->g->workers, t, &from, &to);
            work(j, slab, z, (int32_t)from, (int32_t)to);
        }
}

static void work_alone(const job *j)
{
    for (int32_t z = 0; z < j->g->shape.nz; z++)
        for (int32_t slab = 0; slab < j->g->slabs; slab++) work(j, slab, z, 0, j->g->slab_steps[slab]);
}

static void solve(const job *j)
{
    const sptrsv_grid *g = j->g;
    if (g->workers == 1) {
        work_alone(j);
        return;
    }
    for (int t = 0; t < g->workers; t++) atomic_store_explicit(&g->progress[t].steps, 0, memory_order_relaxed);
#pragma omp parallel num_threads(g->workers)
    {
        int t = omp_get_thread_num();
        if (omp_get_num_threads() < g->workers) { /* fewer threads than the slabs were cut for: a pipeline would wait for ever */
            if (t == 0) work_alone(j);
        } else if (g->shape.neighbours == 0) {
            work_free(j, t);
        } else if (g->planar) {
            work_planar(j, t);
        } else {
            work_slab(j, t);
        }
    }
}

void sptrsv_grid_solve(const sptrsv_grid *grid, const void *b, void *x)
{
    solve(&(job){grid, kernels(grid), 1, b, x});
}

void sptrsv_grid_solve_block(const sptrsv_grid *grid, int nrhs, const void *b, void *x)
{
    solve(&(job){grid, kernels(grid), nrhs, b, x});
}
