/* plan_file.c: plans as files: bundles of kind sptrsv-plan, version 1.1.
 *
 * Content: hash of the pattern, n, nnz, the problem (uplo, op, diagonal), complex, precision, scheme, threads, machine, index_bytes, groups; for kind grid
 * also sizes and dof; since 1.1 chosen_by (user, model, rule or search). Members (kinds level, barrier and task): order (i4, the steps in execution order), tasks (i4, three numbers each: rows, group,
 * waits) with tasks_of_thread (i8), and waits (i4, two each: thread, count). Values are never stored.
 *
 * Sections: writing, reading, from content to a schedule.
 */
#include "config.h"
#include "plan.h"
#include "plan_private.h"
#include "base/memory.h"
#include "device/cpu.h"
#include "io/bundle.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define KIND "sptrsv-plan"
enum { MAJOR = 1, MINOR = 1 };

static const char *const uplo_words[] = {"lower", "upper"}, *const op_words[] = {"plain", "transposed", "conjugate"};
static const char *const precision_words[] = {"f64", "f32", "mixed"};

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void put_content(const sptrsv_plan *p, const sptrsv_system *a, json_t *content)
{
    char hash[17], scheme[256];
    snprintf(hash, sizeof hash, "%016" PRIx64, sptrsv_system_hash(a));
    sptrsv_scheme_print(&p->scheme, scheme, sizeof scheme);
    json_object_set_new(content, "hash", json_string(hash));
    json_object_set_new(content, "n", json_integer(p->n));
    json_object_set_new(content, "nnz", json_integer(p->nnz));
    json_object_set_new(content, "uplo", json_string(uplo_words[a->problem.uplo]));
    json_object_set_new(content, "op", json_string(op_words[a->problem.op]));
    json_object_set_new(content, "unit_diagonal", json_boolean(a->unit));
    json_object_set_new(content, "complex", json_boolean(a->is_complex));
    json_object_set_new(content, "precision", json_string(precision_words[p->precision]));
    json_object_set_new(content, "scheme", json_string(scheme));
    json_object_set_new(content, "chosen_by", json_string(sptrsv_chooser_words[p->chooser]));
    json_object_set_new(content, "threads", json_integer(p->threads));
    json_object_set_new(content, "machine", json_string(hu_cpu_model()));
    json_object_set_new(content, "index_bytes", json_integer((json_int_t)sizeof(int32_t)));
    json_object_set_new(content, "groups", json_integer(p->schedule ? p->schedule->groups : 0));
    json_object_set_new(content, "levels", json_integer(p->schedule ? p->schedule->levels : 0));
    json_object_set_new(content, "nodes", json_integer(p->schedule ? p->schedule->nodes : 0));
    json_object_set_new(content, "longest_path", json_integer(p->schedule ? p->schedule->longest_path : 0));
    if (!p->grid) return;
    const sptrsv_grid_shape *shape = sptrsv_grid_shape_of(p->grid);
    json_object_set_new(content, "sizes", json_pack("[iii]", shape->nx, shape->ny, shape->nz));
    json_object_set_new(content, "dof", json_integer(shape->dof));
}

hu_status sptrsv_plan_save(const sptrsv_plan *p, const sptrsv_system *a, hu_output *out, hu_error *err)
{
    hu_bundle_writer *writer = NULL;
    const sptrsv_schedule *s = p->schedule;
    int32_t *tasks = NULL;
    if (hu_bundle_create(KIND, MAJOR, MINOR, &writer, err)) return err->status;
    put_content(p, a, hu_bundle_content(writer));
    if (s && s->order) {
        void *block;
        if (hu_alloc(3 * s->tasks, sizeof *tasks, "tasks", &block, err)) goto cleanup;
        tasks = block;
        for (int64_t i = 0; i < s->tasks; i++) {
            tasks[3 * i] = (int32_t)(s->task_start[i + 1] - s->task_start[i]);
            tasks[3 * i + 1] = s->task_group[i];
            tasks[3 * i + 2] = s->waits ? (int32_t)(s->wait_start[i + 1] - s->wait_start[i]) : 0;
        }
        if (hu_bundle_add_array(writer, "order", HU_BUNDLE_I4, s->order, s->n, err) ||
            hu_bundle_add_array(writer, "tasks", HU_BUNDLE_I4, tasks, 3 * s->tasks, err) ||
            hu_bundle_add_array(writer, "tasks_of_thread", HU_BUNDLE_I8, s->thread_task, s->threads + 1, err) ||
            hu_bundle_add_array(writer, "waits", HU_BUNDLE_I4, s->wait, 2 * s->waits, err))
            goto cleanup;
    }
    hu_bundle_finish(&writer, HU_BUNDLE_PLAIN, out, err);
cleanup:
    hu_bundle_abort(&writer);
    hu_free(tasks);
    return err->status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

typedef struct {
    sptrsv_scheme scheme;
    sptrsv_precision precision;
    int threads;
    int64_t groups, levels, nodes, longest_path;
    sptrsv_chooser chooser;
} content;

static hu_status misfit(const hu_bundle *bundle, hu_error *err, const char *what)
{
    return hu_fail(err, (hu_status)SPTRSV_PLAN_MISFIT, "%s: the plan was made for another %s", hu_bundle_name(bundle), what);
}

/* What must be the same as when the plan was made. */
static hu_status check_problem(const hu_bundle *bundle, const hu_json_place *root, const sptrsv_system *a, hu_error *err)
{
    int64_t n, nnz, bytes;
    int uplo, op;
    bool unit, is_complex;
    const char *hash, *machine;
    char mine[17];
    if (hu_json_integer(root, "n", 0, INT64_MAX, &n, err) || hu_json_integer(root, "nnz", 0, INT64_MAX, &nnz, err) ||
        hu_json_word(root, "uplo", uplo_words, 2, &uplo, err) || hu_json_word(root, "op", op_words, 3, &op, err) ||
        hu_json_bool(root, "unit_diagonal", &unit, err) || hu_json_bool(root, "complex", &is_complex, err) ||
        hu_json_text(root, "hash", &hash, err) || hu_json_text(root, "machine", &machine, err) ||
        hu_json_integer(root, "index_bytes", 1, 8, &bytes, err))
        return err->status;
    if (bytes != sizeof(int32_t)) return misfit(bundle, err, "index size");
    if (n != a->n || nnz != a->nnz) return misfit(bundle, err, "matrix: its size or number of entries differs");
    if (uplo != (int)a->problem.uplo || op != (int)a->problem.op) return misfit(bundle, err, "triangle or operation");
    if (unit != a->unit || is_complex != a->is_complex) return misfit(bundle, err, "kind of matrix: unit diagonal or complex");
    snprintf(mine, sizeof mine, "%016" PRIx64, sptrsv_system_hash(a));
    if (strcmp(hash, mine) != 0) return misfit(bundle, err, "matrix: the pattern differs");
    if (strcmp(machine, hu_cpu_model()) != 0)
        hu_warn("%s: the plan was made on another machine (%.100s); it is right here too, but another scheme may be faster",
                hu_bundle_name(bundle), machine);
    return HU_OK;
}

static hu_status read_content(const hu_json_place *root, const sptrsv_system *a, content *c, hu_error *err)
{
    int precision;
    int64_t threads;
    const char *scheme;
    if (hu_json_word(root, "precision", precision_words, 3, &precision, err) || hu_json_text(root, "scheme", &scheme, err) ||
        hu_json_integer(root, "threads", 1, SPTRSV_MOST_THREADS, &threads, err) ||
        hu_json_integer(root, "groups", 0, INT32_MAX, &c->groups, err) || hu_json_integer(root, "levels", 0, a->n, &c->levels, err) ||
        hu_json_integer(root, "nodes", 0, a->n, &c->nodes, err) || hu_json_integer(root, "longest_path", 0, a->n + 1, &c->longest_path, err))
        return err->status;
    int chooser = SPTRSV_BY_USER; /* what version 1.0 does not tell */
    if (hu_json_has(root, "chosen_by") && hu_json_word(root, "chosen_by", sptrsv_chooser_words, SPTRSV_CHOOSERS, &chooser, err)) return err->status;
    c->chooser = (sptrsv_chooser)chooser;
    c->precision = (sptrsv_precision)precision;
    c->threads = (int)threads;
    c->scheme = (sptrsv_scheme){.rows = 1, .index = 32, .rhs = 1};
    if (a->is_complex && c->precision != SPTRSV_F64) return hu_json_fail(root, err, "precision: a complex plan is f64");
    return sptrsv_scheme_parse(scheme, &c->scheme, err);
}

/* ---- from content to a schedule ---------------------------------------------------------------------------------- */

static hu_status copy_of(const void *items, int64_t count, size_t size, const char *what, void *ret, hu_error *err)
{
    void **block = ret;
    if (hu_alloc(count, size, what, block, err)) return err->status;
    memcpy(*block, items, (size_t)count * size);
    return HU_OK;
}

/* Builds the schedule that the members describe; sums of their numbers stay in bounds, all else is for sptrsv_schedule_check(). */
static hu_status read_schedule(const hu_bundle *bundle, const content *c, const sptrsv_system *a, sptrsv_schedule *s, hu_error *err)
{
    const void *order, *tasks_any, *of_thread, *waits;
    int64_t triples, pairs;
    s->n = a->n;
    s->threads = c->threads;
    s->levels = c->levels;
    s->nodes = c->nodes;
    s->longest_path = c->longest_path;
    s->groups = (int32_t)c->groups;
    if (hu_bundle_get_exactly(bundle, "order", HU_BUNDLE_I4, a->n, &order, err) ||
        hu_bundle_get_array(bundle, "tasks", HU_BUNDLE_I4, &tasks_any, &triples, err) ||
        hu_bundle_get_exactly(bundle, "tasks_of_thread", HU_BUNDLE_I8, c->threads + 1, &of_thread, err) ||
        hu_bundle_get_array(bundle, "waits", HU_BUNDLE_I4, &waits, &pairs, err))
        return err->status;
    s->tasks = triples / 3;
    s->waits = pairs / 2;
    if (triples % 3 || pairs % 2 || s->tasks > a->n) return hu_bundle_fail(bundle, err, "tasks or waits have a wrong length");
    if (copy_of(order, s->n, sizeof *s->order, "the execution order", &s->order, err) ||
        copy_of(of_thread, s->threads + 1, sizeof *s->thread_task, "tasks", &s->thread_task, err) ||
        copy_of(waits, s->waits, sizeof *s->wait, "waits", &s->wait, err))
        return err->status;
    void *block;
    if (hu_alloc(s->tasks + 1, sizeof *s->task_start, "tasks", &block, err)) return err->status;
    s->task_start = block;
    if (hu_alloc(s->tasks + 1, sizeof *s->wait_start, "waits", &block, err)) return err->status;
    s->wait_start = block;
    if (hu_alloc(s->tasks, sizeof *s->task_group, "tasks", &block, err)) return err->status;
    s->task_group = block;
    const int32_t *tasks = tasks_any;
    int64_t rows = 0, wait = 0;
    for (int64_t i = 0; i < s->tasks; i++) {
        s->task_start[i] = rows;
        s->task_group[i] = tasks[3 * i + 1];
        s->wait_start[i] = wait;
        rows += tasks[3 * i];
        wait += tasks[3 * i + 2];
    }
    s->task_start[s->tasks] = rows;
    s->wait_start[s->tasks] = wait;
    return sptrsv_schedule_check(a, s, hu_bundle_name(bundle), err);
}

static hu_status load_grid(const hu_bundle *bundle, const hu_json_place *root, const content *c, const sptrsv_system *a, int threads,
                           sptrsv_plan **ret_plan, hu_error *err)
{
    hu_json_place sizes, item;
    int32_t wanted[3];
    int64_t length, dof;
    sptrsv_grid_shape shape;
    bool is_grid = false;
    if (hu_json_member(root, "sizes", &sizes, err) || hu_json_length(&sizes, 3, &length, err) ||
        hu_json_integer(root, "dof", 1, INT32_MAX, &dof, err))
        return err->status;
    if (length != 3) return hu_json_fail(&sizes, err, "expected three sizes");
    for (int i = 0; i < 3; i++) {
        int64_t size;
        if (hu_json_item(&sizes, i, &item, err) || hu_json_integer_of(&item, 1, INT32_MAX, &size, err)) return err->status;
        wanted[i] = (int32_t)size;
    }
    /* The neighbours are derived anew, which verifies them. */
    if (!a->is_complex && sptrsv_grid_detect(a, wanted, &is_grid, &shape, NULL, err)) return err->status;
    if (!is_grid || shape.nx != wanted[0] || shape.ny != wanted[1] || shape.nz != wanted[2] || shape.dof != dof)
        return misfit(bundle, err, "grid");
    return sptrsv_plan_of_grid(a, &c->scheme, c->precision, &shape, threads, ret_plan, err);
}

static hu_status load_tasks(const hu_bundle *bundle, const content *c, const sptrsv_system *a, int threads, sptrsv_plan **ret_plan, hu_error *err)
{
    bool parallel = c->scheme.kind == SPTRSV_TASK || c->scheme.kind == SPTRSV_BARRIER;
    if (c->scheme.kind == SPTRSV_SERIAL || a->n == 0) return sptrsv_plan_new(a, &c->scheme, c->precision, threads, ret_plan, err);
    if (parallel && threads != c->threads) { /* shares of the threads differ: scheduled anew under the plan's scheme */
        hu_say(1, "%s: the plan has tasks for %d threads; it is scheduled anew for %d", hu_bundle_name(bundle), c->threads, threads);
        return sptrsv_plan_new(a, &c->scheme, c->precision, threads, ret_plan, err);
    }
    if (!parallel && c->threads != 1) return hu_bundle_fail(bundle, err, "a scheme of one thread with tasks of more");
    void *block;
    if (hu_alloc_zero(1, sizeof(sptrsv_schedule), "the schedule", &block, err)) return err->status;
    if (read_schedule(bundle, c, a, block, err)) {
        sptrsv_schedule_free(block);
        return err->status;
    }
    return sptrsv_plan_of_schedule(a, &c->scheme, c->precision, threads, block, ret_plan, err);
}

static hu_status load(const hu_bundle *bundle, const sptrsv_system *a, int threads, sptrsv_plan **ret_plan, hu_error *err)
{
    hu_json_place root = hu_bundle_root(bundle);
    content c;
    if (check_problem(bundle, &root, a, err) || read_content(&root, a, &c, err)) return err->status;
    if (c.scheme.kind == SPTRSV_GRID ? load_grid(bundle, &root, &c, a, threads, ret_plan, err) : load_tasks(bundle, &c, a, threads, ret_plan, err))
        return err->status;
    sptrsv_plan_set_chooser(*ret_plan, c.chooser);
    return HU_OK;
}

hu_status sptrsv_plan_load(hu_source *source, const sptrsv_system *a, int threads, sptrsv_plan **ret_plan, hu_error *err)
{
    hu_bundle *bundle = NULL;
    *ret_plan = NULL;
    int64_t most = 64 * a->n + ((int64_t)64 << 20);
    if (hu_bundle_read(source, KIND, MAJOR, most, &bundle, err) == HU_OK) load(bundle, a, threads, ret_plan, err);
    hu_bundle_free(bundle);
    if (err->status == HU_INPUT || err->status == HU_USAGE) err->status = (hu_status)SPTRSV_PLAN_MISFIT; /* wrong content, whoever found it */
    return err->status;
}
