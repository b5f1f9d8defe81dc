/* generate.c: matrices for tests, samples and benchmarks.
 *
 * Sections: the graph, stencils, other families, values, orders, the matrix, vectors.
 */
#include "config.h"
#include "generate.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hu_gen_family_words[HU_GEN_FAMILIES] = {"grid",    "band",     "arrow",  "chain", "diagonal", "dense",
                                                          "lastrow", "firstcol", "blocks", "tree",  "mesh",     "power",
                                                          "layers",  "supernodes"};
const char *const hu_gen_coefficient_words[HU_GEN_COEFFICIENTS] = {"constant", "variable", "anisotropic", "convection"};
const char *const hu_gen_order_words[HU_GEN_ORDERS] = {"natural", "random", "rcm"};
const char *const hu_gen_values_words[HU_GEN_VALUES] = {"own", "dominant", "integer"};
const char *const hu_gen_part_words[HU_GEN_PARTS] = {"lower", "upper", "full"};

/* Streams of random numbers; a family that draws for each row adds the row. */
enum { STREAM_ORDER = 1, STREAM_SHUFFLE = 2, STREAM_SOLUTION = 3 };
#define STREAM_ROW(row) ((uint64_t)1 << 40 | (uint64_t)(row))
#define STREAM_VALUE(row) ((uint64_t)2 << 40 | (uint64_t)(row))
#define STREAM_POINT(row) ((uint64_t)3 << 40 | (uint64_t)(row))

/* ---- the graph -------------------------------------------------------------------------------------------------- */

/* Edges (i, j), i > j, by row i with j ascending. low: a_ij, up: a_ji, both empty until values are set. */
typedef struct {
    int64_t n, edges, room;
    int64_t *row_ptr; /* [n + 1] */
    int32_t *col;     /* [edges] */
    double *low, *up, *diagonal;
} graph;

static void graph_free(graph *g)
{
    hu_free(g->row_ptr);
    hu_free(g->col);
    hu_free(g->low);
    hu_free(g->up);
    hu_free(g->diagonal);
    memset(g, 0, sizeof *g);
}

static hu_status graph_new(int64_t n, graph *ret_g, hu_error *err)
{
    memset(ret_g, 0, sizeof *ret_g);
    ret_g->n = n;
    if (n < 0 || n > HU_MAX_DIMENSION) return hu_fail(err, HU_USAGE, "a matrix of %lld rows is too large", (long long)n);
    return hu_alloc_zero(n + 1, sizeof(int64_t), "the graph", (void **)&ret_g->row_ptr, err);
}

/* Room for `more` edges after the present ones, and for one at least. */
static hu_status graph_room(graph *g, int64_t more, hu_error *err)
{
    if (g->col && g->edges + more <= g->room) return HU_OK;
    return hu_grow((void **)&g->col, &g->room, g->edges + more + 1, sizeof(int32_t), "the graph", err);
}

static hu_status graph_values_room(graph *g, hu_error *err)
{
    if (hu_alloc(g->edges, sizeof(double), "the values", (void **)&g->low, err)) return err->status;
    if (hu_alloc(g->edges, sizeof(double), "the values", (void **)&g->up, err)) return err->status;
    return hu_alloc(g->n, sizeof(double), "the values", (void **)&g->diagonal, err);
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* ---- stencils --------------------------------------------------------------------------------------------------- */

typedef struct {
    int dx, dy, dz;
    double weight; /* of the constant, anisotropic and convection coefficients */
} neighbour;

enum { MOST_NEIGHBOURS = 13 };

/* Whether the stencil of so many points has the neighbour (dx, dy, dz). */
static bool in_stencil(int points, bool planar, int dx, int dy, int dz)
{
    int ax = abs(dx), ay = abs(dy), az = abs(dz), length = ax + ay + az, far = ax > ay ? ax : ay;
    if (az > far) far = az;
    switch (points) {
    case 3: return far == 1 && ay + az == 0;
    case 5: return length == 1 && az == 0;
    case 7: return length == 1 || (planar && far == 1 && az == 0 && dx == -dy);
    case 9: return far == 1 && az == 0;
    case 13: return planar ? length <= 2 && az == 0 : length == far && far <= 2;
    case 19: return far == 1 && length <= 2;
    default: return far == 1;
    }
}

/* The neighbours before (0, 0, 0) in the natural order, ascending. */
static int stencil(const hu_gen *g, neighbour *ret_stencil)
{
    int count = 0;
    for (int dz = -2; dz <= 0; dz++)
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++) {
                bool before = dz < 0 || (dz == 0 && (dy < 0 || (dy == 0 && dx < 0)));
                if (!before || !in_stencil(g->points, g->nz == 1, dx, dy, dz)) continue;
                double weight = 1.0;
                if (g->coefficients == HU_GEN_ANISOTROPIC)
                    weight = (abs(dx) + 0.1 * abs(dy) + 0.01 * abs(dz)) / (abs(dx) + abs(dy) + abs(dz));
                ret_stencil[count++] = (neighbour){dx, dy, dz, weight};
            }
    return count;
}

/* A factor in 1/11 .. 11, as often below 1 as above; plain arithmetic, so that it has the same bits everywhere. */
static double spread(hu_random *random)
{
    double over = 0.1 + hu_random_uniform(random);
    return over / (0.1 + hu_random_uniform(random));
}

/* Edges of a row of a grid; where `values`, their coefficients too. Unknowns of one cell are coupled weakly. */
static void grid_row(const hu_gen *g, const neighbour *stencil, int neighbours, int64_t cell, int unknown, graph *a, int64_t *at,
                     bool values)
{
    int64_t x = cell % g->nx, y = cell / g->nx % g->ny, z = cell / g->nx / g->ny, row = cell * g->dof + unknown;
    hu_random random = hu_random_stream(g->seed, STREAM_VALUE(row));
    double tilt = g->coefficients == HU_GEN_CONVECTION ? 0.5 : 0.0;
    for (int k = 0; k <= neighbours; k++) {
        neighbour d = k < neighbours ? stencil[k] : (neighbour){0, 0, 0, 1.0};
        int64_t nx = x + d.dx, ny = y + d.dy, nz = z + d.dz;
        if (nx < 0 || nx >= g->nx || ny < 0 || ny >= g->ny || nz < 0) continue;
        int64_t other = nx + g->nx * (ny + g->ny * nz);
        for (int u = 0; u < (k < neighbours ? g->dof : unknown); u++, (*at)++) {
            a->col[*at] = (int32_t)(other * g->dof + u);
            if (!values) continue;
            double w = u == unknown ? d.weight : 0.125 * d.weight / g->dof;
            if (g->coefficients == HU_GEN_VARIABLE) w *= spread(&random);
            a->low[*at] = -w * (1.0 + tilt);
            a->up[*at] = -w * (1.0 - tilt);
        }
    }
}

static hu_status grid(const hu_gen *g, graph *ret_a, hu_error *err)
{
    static const int known[] = {3, 5, 7, 9, 13, 19, 27};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known |= g->points == known[i];
    bool planar = g->points == 5 || g->points == 9, solid = g->points == 19 || g->points == 27;
    if (!is_known || g->dof < 1 || g->dof > 64 || (solid && g->nz == 1) || (planar && g->nz > 1) ||
        (g->points == 3 && (g->ny > 1 || g->nz > 1)))
        return hu_fail(err, HU_USAGE, "no grid of %lldx%lldx%lld cells has a %d-point stencil with %d unknowns a cell", (long long)g->nx,
                       (long long)g->ny, (long long)g->nz, g->points, g->dof);
    neighbour list[MOST_NEIGHBOURS];
    int neighbours = stencil(g, list);
    int64_t cells = g->nx * g->ny * g->nz, most = (int64_t)neighbours * g->dof + g->dof - 1;
    if (graph_new(cells * g->dof, ret_a, err)) return err->status;
    if (graph_room(ret_a, most * ret_a->n, err)) return err->status;
    ret_a->edges = most * ret_a->n;
    bool values = g->values == HU_GEN_OWN;
    if (values && graph_values_room(ret_a, err)) return err->status;
    int64_t at = 0;
    for (int64_t row = 0; row < ret_a->n; row++) {
        grid_row(g, list, neighbours, row / g->dof, (int)(row % g->dof), ret_a, &at, values);
        ret_a->row_ptr[row + 1] = at;
    }
    ret_a->edges = at;
    if (!values) return HU_OK;

    double sum = 0; /* of one row away from the walls, so that the constant coefficients have a constant diagonal */
    for (int k = 0; k < neighbours; k++) sum += 2.0 * list[k].weight * (1.0 + 0.125 * (g->dof - 1) / g->dof);
    for (int64_t row = 0; row < ret_a->n; row++) ret_a->diagonal[row] = sum + 0.125 * (g->dof - 1) / g->dof;
    if (g->coefficients != HU_GEN_VARIABLE) return HU_OK;
    for (int64_t row = 0; row < ret_a->n; row++) ret_a->diagonal[row] = 1.0;
    for (int64_t row = 0; row < ret_a->n; row++)
        for (int64_t p = ret_a->row_ptr[row]; p < ret_a->row_ptr[row + 1]; p++) {
            ret_a->diagonal[row] += fabs(ret_a->low[p]);
            ret_a->diagonal[ret_a->col[p]] += fabs(ret_a->up[p]);
        }
    return HU_OK;
}

/* ---- other families --------------------------------------------------------------------------------------------- */

/* `count` different columns of from .. to-1, ascending, at col; crowded: rather the first ones. For count up to about a thousand. */
static void draw_columns(hu_random *random, int64_t from, int64_t to, int64_t count, bool crowded, int32_t *col)
{
    int64_t have = 0;
    while (have < count) {
        int64_t c = from + hu_random_below(random, to - from), k = have;
        if (crowded) {
            double u = hu_random_uniform(random);
            c = from + (int64_t)((double)(to - from) * u * u * u);
        }
        while (k > 0 && col[k - 1] > c) k--;
        if (k > 0 && col[k - 1] == c) continue;
        memmove(col + k + 1, col + k, sizeof *col * (size_t)(have - k));
        col[k] = (int32_t)c;
        have++;
    }
}

/* Entries of a row after a power law: density ~ k^-3 from per_row / 2 up, so that the mean is about per_row. */
static int64_t power_length(hu_random *random, int per_row)
{
    double length = 0.5 * per_row / sqrt(1.0 - hu_random_uniform(random));
    return length > 1000.0 ? 1000 : (int64_t)(length + 0.5);
}

/* The edges of one row of the families that need no neighbour's help, at col; room for row_most() of them. */
static int64_t simple_row(const hu_gen *g, int64_t n, int64_t i, int32_t *col)
{
    hu_random random = hu_random_stream(g->seed, STREAM_ROW(i));
    int64_t from = 0, count = 0;
    switch (g->family) {
    case HU_GEN_BAND:
        from = i > g->band ? i - g->band : 0;
        count = i - from < g->per_row ? i - from : g->per_row;
        draw_columns(&random, from, i, count, false, col);
        return count;
    case HU_GEN_POWER:
        count = power_length(&random, g->per_row);
        if (count > i / 2) count = i / 2;
        draw_columns(&random, 0, i, count, true, col);
        return count;
    case HU_GEN_LAYERS:
        from = i - i % g->band;
        count = i < g->band ? 0 : g->band < g->per_row ? g->band : g->per_row;
        draw_columns(&random, from - g->band, from, count, false, col);
        return count;
    case HU_GEN_SUPERNODES:
        from = i - i % g->band;
        random = hu_random_stream(g->seed, STREAM_ROW(from)); /* the same for all rows of a triangle */
        count = from / 2 < g->per_row ? from / 2 : g->per_row;
        draw_columns(&random, 0, from, count, false, col);
        break;
    case HU_GEN_CHAIN: from = i > 0 ? i - 1 : 0; break;
    case HU_GEN_ARROW: from = i == n - 1 ? 0 : i; break;
    case HU_GEN_LASTROW: from = i == n - 1 || i == 0 ? 0 : i - 1; break;
    case HU_GEN_DENSE: from = 0; break;
    case HU_GEN_BLOCKS: from = i - i % g->band; break;
    case HU_GEN_FIRSTCOL:
        col[0] = 0;
        return i > 0;
    case HU_GEN_TREE:
        col[0] = (int32_t)((i - 1) / 2);
        return i > 0;
    default: from = i; /* diagonal */
    }
    for (int64_t j = from; j < i; j++) col[count++] = (int32_t)j;
    return count;
}

static int64_t row_most(const hu_gen *g, int64_t i)
{
    switch (g->family) {
    case HU_GEN_BAND: case HU_GEN_LAYERS: return g->per_row;
    case HU_GEN_SUPERNODES: return g->per_row + (g->band < i + 1 ? g->band : i + 1);
    case HU_GEN_POWER: return 1000;
    case HU_GEN_BLOCKS: return g->band < i + 1 ? g->band : i + 1;
    case HU_GEN_ARROW: case HU_GEN_LASTROW: case HU_GEN_DENSE: return i + 1;
    default: return 1;
    }
}

static hu_status simple(const hu_gen *g, graph *ret_a, hu_error *err)
{
    if (g->per_row < 0 || g->per_row > 1000 || g->band < 1)
        return hu_fail(err, HU_USAGE, "the entries a row must be 0..1000 and the band or block at least 1");
    if (graph_new(g->nx * g->ny * g->nz, ret_a, err)) return err->status;
    for (int64_t i = 0; i < ret_a->n; i++) {
        bool full = (g->family == HU_GEN_ARROW || g->family == HU_GEN_LASTROW) && i < ret_a->n - 1;
        if (graph_room(ret_a, full ? 1 : row_most(g, i), err)) return err->status;
        ret_a->edges += simple_row(g, ret_a->n, i, ret_a->col + ret_a->edges);
        ret_a->row_ptr[i + 1] = ret_a->edges;
    }
    return HU_OK;
}

static void mesh_point(const hu_gen *g, int64_t x, int64_t y, double ret_p[2])
{
    hu_random random = hu_random_stream(g->seed, STREAM_POINT(x + y * g->nx));
    ret_p[0] = (double)x + 0.8 * hu_random_uniform(&random);
    ret_p[1] = (double)y + 0.8 * hu_random_uniform(&random);
}

/* Whether the cell with the corner (x, y) is cut from (x, y) to (x+1, y+1): so it is where the angles at the other two corners
 * sum to less than pi, which is Delaunay's condition: sin(a + b) = sin a cos b + cos a sin b > 0. */
static bool cut_upwards(const hu_gen *g, int64_t x, int64_t y)
{
    double p[4][2]; /* around the cell: (x, y), (x+1, y), (x+1, y+1), (x, y+1) */
    mesh_point(g, x, y, p[0]);
    mesh_point(g, x + 1, y, p[1]);
    mesh_point(g, x + 1, y + 1, p[2]);
    mesh_point(g, x, y + 1, p[3]);
    double ax = p[0][0] - p[1][0], ay = p[0][1] - p[1][1], bx = p[2][0] - p[1][0], by = p[2][1] - p[1][1];
    double cx = p[0][0] - p[3][0], cy = p[0][1] - p[3][1], dx = p[2][0] - p[3][0], dy = p[2][1] - p[3][1];
    double sin1 = fabs(ax * by - ay * bx), cos1 = ax * bx + ay * by, sin2 = fabs(cx * dy - cy * dx), cos2 = cx * dx + cy * dy;
    return sin1 * cos2 + cos1 * sin2 >= 0;
}

static hu_status mesh(const hu_gen *g, graph *ret_a, hu_error *err)
{
    if (g->nz != 1) return hu_fail(err, HU_USAGE, "a mesh is planar: its size is NXxNY");
    if (graph_new(g->nx * g->ny, ret_a, err)) return err->status;
    if (graph_room(ret_a, 4 * ret_a->n, err)) return err->status;
    for (int64_t i = 0; i < ret_a->n; i++) {
        int64_t x = i % g->nx, y = i / g->nx;
        int32_t *col = ret_a->col + ret_a->edges;
        int count = 0;
        if (y > 0 && x > 0 && cut_upwards(g, x - 1, y - 1)) col[count++] = (int32_t)(i - g->nx - 1);
        if (y > 0) col[count++] = (int32_t)(i - g->nx);
        if (y > 0 && x + 1 < g->nx && !cut_upwards(g, x, y - 1)) col[count++] = (int32_t)(i - g->nx + 1);
        if (x > 0) col[count++] = (int32_t)(i - 1);
        ret_a->edges += count;
        ret_a->row_ptr[i + 1] = ret_a->edges;
    }
    return HU_OK;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static double draw_value(hu_random *random, bool integer)
{
    uint64_t bits = hu_random_u64(random);
    double sign = bits & 1 ? -1.0 : 1.0;
    if (integer) return sign * (bits & 2 ? 2.0 : 1.0);
    return sign * (0.1 + 0.9 * ((double)(bits >> 11) * 0x1p-53));
}

static hu_status set_values(const hu_gen *g, graph *a, hu_error *err)
{
    if (graph_values_room(a, err)) return err->status;
    bool integer = g->values == HU_GEN_INTEGER;
    for (int64_t i = 0; i < a->n; i++) a->diagonal[i] = 1.0;
    for (int64_t i = 0; i < a->n; i++) {
        hu_random random = hu_random_stream(g->seed, STREAM_VALUE(i));
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            a->low[p] = draw_value(&random, integer);
            a->up[p] = draw_value(&random, integer);
            if (integer) continue;
            a->diagonal[i] += fabs(a->low[p]);
            a->diagonal[a->col[p]] += fabs(g->symmetric ? a->low[p] : a->up[p]);
        }
        if (!integer) continue;
        uint64_t bits = hu_random_u64(&random);
        a->diagonal[i] = (bits & 4 ? -1.0 : 1.0) * (double)(1 << (bits & 3));
    }
    return HU_OK;
}

/* ---- orders ----------------------------------------------------------------------------------------------------- */

/* Both directions of every edge. */
typedef struct {
    int64_t *ptr;
    int32_t *to;
} adjacency;

static hu_status adjacency_new(const graph *a, adjacency *ret_adj, hu_error *err)
{
    int64_t *ptr, *fill = NULL;
    ret_adj->to = NULL;
    if (hu_alloc_zero(a->n + 1, sizeof *ptr, "the graph", (void **)&ptr, err)) return err->status;
    ret_adj->ptr = ptr;
    if (hu_alloc(a->n, sizeof *fill, "the graph", (void **)&fill, err)) return err->status;
    if (hu_alloc(2 * a->edges, sizeof(int32_t), "the graph", (void **)&ret_adj->to, err)) goto cleanup;
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            ptr[i + 1]++;
            ptr[a->col[p] + 1]++;
        }
    for (int64_t i = 0; i < a->n; i++) {
        fill[i] = ptr[i];
        ptr[i + 1] += ptr[i];
    }
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            ret_adj->to[fill[i]++] = a->col[p];
            ret_adj->to[fill[a->col[p]]++] = (int32_t)i;
        }
cleanup:
    hu_free(fill);
    return err->status;
}

static void adjacency_free(adjacency *adj)
{
    hu_free(adj->ptr);
    hu_free(adj->to);
}

/* Breadth first from start over vertices whose mark is not `mark`; order gets them, lighter neighbours first. Returns their number; *ret_last
 * is where the last layer starts. */
static int64_t breadth_first(const adjacency *adj, int32_t start, int32_t mark, int32_t *marks, int32_t *order, int64_t *ret_last)
{
    int64_t head = 0, tail = 1, layer_end = 1;
    order[0] = start;
    marks[start] = mark;
    *ret_last = 0;
    while (head < tail) {
        if (head == layer_end) {
            *ret_last = head;
            layer_end = tail;
        }
        int64_t v = order[head++], from = tail;
        for (int64_t p = adj->ptr[v]; p < adj->ptr[v + 1]; p++) {
            int32_t w = adj->to[p];
            if (marks[w] == mark) continue;
            marks[w] = mark;
            int64_t degree = adj->ptr[w + 1] - adj->ptr[w], k = tail++;
            for (; k > from && adj->ptr[order[k - 1] + 1] - adj->ptr[order[k - 1]] > degree; k--) order[k] = order[k - 1];
            order[k] = w;
        }
    }
    return tail;
}

/* Reverse Cuthill-McKee (George and Liu 1981), from a vertex of the last layer of a first sweep. order[k]: the vertex that becomes k. */
static hu_status rcm(const graph *a, int32_t *order, hu_error *err)
{
    adjacency adj = {NULL, NULL};
    int32_t *marks = NULL;
    if (adjacency_new(a, &adj, err)) goto cleanup;
    if (hu_alloc_zero(a->n, sizeof *marks, "the order", (void **)&marks, err)) goto cleanup;
    int64_t done = 0, last;
    for (int64_t v = 0; v < a->n; v++) {
        if (marks[v]) continue;
        breadth_first(&adj, (int32_t)v, 1, marks, order + done, &last);
        done += breadth_first(&adj, order[done + last], 2, marks, order + done, &last);
    }
    for (int64_t i = 0, j = a->n - 1; i < j; i++, j--) {
        int32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
cleanup:
    adjacency_free(&adj);
    hu_free(marks);
    return err->status;
}

typedef struct {
    int32_t col;
    bool swapped; /* the edge's ends changed places */
    int64_t from; /* its position before */
} moved;

static int by_column(const void *a, const void *b)
{
    return ascending(&((const moved *)a)->col, &((const moved *)b)->col);
}

/* Renumbers: vertex order[k] becomes k. */
static hu_status renumber(graph *a, const int32_t *order, hu_error *err)
{
    graph b;
    int32_t *place = NULL;
    int64_t *fill = NULL;
    moved *edges = NULL;
    if (graph_new(a->n, &b, err)) return err->status;
    if (graph_room(&b, a->edges, err)) goto cleanup;
    b.edges = a->edges;
    if (graph_values_room(&b, err)) goto cleanup;
    if (hu_alloc(a->n, sizeof *place, "the order", (void **)&place, err)) goto cleanup;
    if (hu_alloc(a->n, sizeof *fill, "the order", (void **)&fill, err)) goto cleanup;
    if (hu_alloc(a->edges, sizeof *edges, "the order", (void **)&edges, err)) goto cleanup;
    for (int64_t k = 0; k < a->n; k++) place[order[k]] = (int32_t)k;
    for (int64_t i = 0; i < a->n; i++) {
        b.diagonal[place[i]] = a->diagonal[i];
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            int32_t r = place[i], c = place[a->col[p]];
            b.row_ptr[(r > c ? r : c) + 1]++;
        }
    }
    for (int64_t i = 0; i < a->n; i++) {
        fill[i] = b.row_ptr[i];
        b.row_ptr[i + 1] += b.row_ptr[i];
    }
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            int32_t r = place[i], c = place[a->col[p]];
            edges[fill[r > c ? r : c]++] = (moved){r > c ? c : r, r < c, p};
        }
    for (int64_t i = 0; i < a->n; i++) {
        int64_t begin = b.row_ptr[i], end = b.row_ptr[i + 1];
        qsort(edges + begin, (size_t)(end - begin), sizeof *edges, by_column);
        for (int64_t p = begin; p < end; p++) {
            b.col[p] = edges[p].col;
            b.low[p] = edges[p].swapped ? a->up[edges[p].from] : a->low[edges[p].from];
            b.up[p] = edges[p].swapped ? a->low[edges[p].from] : a->up[edges[p].from];
        }
    }
    graph old = *a;
    *a = b;
    b = old;
cleanup:
    graph_free(&b);
    hu_free(place);
    hu_free(fill);
    hu_free(edges);
    return err->status;
}

static hu_status reorder(const hu_gen *g, graph *a, hu_error *err)
{
    if (g->order == HU_GEN_ORDER_NATURAL) return HU_OK;
    int32_t *order = NULL;
    if (hu_alloc(a->n, sizeof *order, "the order", (void **)&order, err)) return err->status;
    if (g->order == HU_GEN_ORDER_RCM) {
        if (rcm(a, order, err)) goto cleanup;
    } else {
        hu_random random = hu_random_stream(g->seed, STREAM_ORDER);
        for (int64_t i = 0; i < a->n; i++) order[i] = (int32_t)i;
        hu_random_shuffle(&random, order, a->n);
    }
    renumber(a, order, err);
cleanup:
    hu_free(order);
    return err->status;
}

/* ---- the matrix ------------------------------------------------------------------------------------------------- */

/* Entries right of the diagonal go where the transpose puts them: row by row, so that columns ascend. */
static hu_status take(const graph *a, hu_gen_part part, bool symmetric, hu_csr **ret_csr, hu_error *err)
{
    const double *up = symmetric ? a->low : a->up;
    bool lower = part != HU_GEN_UPPER, upper = part != HU_GEN_LOWER;
    int64_t *fill = NULL;
    hu_csr *csr = NULL;
    if (hu_csr_new(a->n, a->n, a->n + a->edges * (lower + upper), false, &csr, err)) return err->status;
    if (hu_alloc_zero(a->n + 1, sizeof *fill, "the matrix", (void **)&fill, err)) goto failed;
    for (int64_t p = 0; upper && p < a->edges; p++) fill[a->col[p]]++;
    csr->row_ptr[0] = 0;
    for (int64_t i = 0; i < a->n; i++) {
        int64_t below = lower ? a->row_ptr[i + 1] - a->row_ptr[i] : 0, at = csr->row_ptr[i];
        csr->row_ptr[i + 1] = at + below + 1 + fill[i];
        if (below > 0) memcpy(csr->col + at, a->col + a->row_ptr[i], sizeof(int32_t) * (size_t)below);
        if (below > 0) memcpy(csr->val + at, a->low + a->row_ptr[i], sizeof(double) * (size_t)below);
        csr->col[at + below] = (int32_t)i;
        csr->val[at + below] = a->diagonal[i];
        fill[i] = at + below + 1;
    }
    for (int64_t i = 0; upper && i < a->n; i++)
        for (int64_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
            int64_t at = fill[a->col[p]]++;
            csr->col[at] = (int32_t)i;
            csr->val[at] = up[p];
        }
    hu_free(fill);
    *ret_csr = csr;
    return HU_OK;
failed:
    hu_csr_free(csr);
    return err->status;
}

hu_status hu_gen_matrix(const hu_gen *g, hu_csr **ret_csr, hu_error *err)
{
    *ret_csr = NULL;
    int64_t cells;
    if (g->nx < 1 || g->ny < 1 || g->nz < 1 || !hu_mul_size(g->nx, g->ny, &cells) || !hu_mul_size(cells, g->nz, &cells) ||
        cells > HU_MAX_DIMENSION)
        return hu_fail(err, HU_USAGE, "a size must be 1 or more, and their product fit 31 bits");
    graph a = {0};
    if ((g->family == HU_GEN_GRID ? grid : g->family == HU_GEN_MESH ? mesh : simple)(g, &a, err)) goto cleanup;
    if (!a.low && set_values(g, &a, err)) goto cleanup;
    if (reorder(g, &a, err)) goto cleanup;
    take(&a, g->part, g->symmetric, ret_csr, err);
cleanup:
    graph_free(&a);
    return err->status;
}

hu_status hu_gen_shuffled(const hu_csr *csr, uint64_t seed, hu_coo **ret_coo, hu_error *err)
{
    hu_coo *coo;
    *ret_coo = NULL;
    if (hu_coo_new(csr->rows, csr->cols, csr->nnz, false, &coo, err)) return err->status;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t p = csr->row_ptr[i]; p < csr->row_ptr[i + 1]; p++) {
            coo->row[p] = (int32_t)i;
            coo->col[p] = csr->col[p];
            coo->val[p] = csr->val[p];
        }
    hu_random random = hu_random_stream(seed, STREAM_SHUFFLE);
    for (int64_t p = csr->nnz - 1; p > 0; p--) {
        int64_t q = hu_random_below(&random, p + 1);
        int32_t row = coo->row[p], col = coo->col[p];
        double val = coo->val[p];
        coo->row[p] = coo->row[q];
        coo->col[p] = coo->col[q];
        coo->val[p] = coo->val[q];
        coo->row[q] = row;
        coo->col[q] = col;
        coo->val[q] = val;
    }
    *ret_coo = coo;
    return HU_OK;
}

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

void hu_gen_solution(const hu_gen *g, int64_t n, int nrhs, double *x)
{
    hu_random random = hu_random_stream(g->seed, STREAM_SOLUTION);
    for (int64_t i = 0; i < n * nrhs; i++)
        x[i] = g->values == HU_GEN_INTEGER ? (double)(hu_random_below(&random, 9) - 4) : 2.0 * hu_random_uniform(&random) - 1.0;
}

void hu_gen_rhs(const hu_csr *t, int nrhs, const double *x, double *b)
{
    for (int j = 0; j < nrhs; j++)
        for (int64_t i = 0; i < t->rows; i++) {
            double sum = 0;
            for (int64_t p = t->row_ptr[i]; p < t->row_ptr[i + 1]; p++) sum += t->val[p] * x[j * t->cols + t->col[p]];
            b[j * t->rows + i] = sum;
        }
}
