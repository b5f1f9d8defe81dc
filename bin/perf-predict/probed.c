/* probed.c: the folder of a probed run: settling it after the run, and reading it.
 *
 * Sections: folders, processes, settling, run.json, reading.
 */
#include "config.h"
#include "probed.h"
#include "base/memory.h"
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const mode_names[] = {"post", "early"};
static const char *const parts[] = {"end", "cut"};
enum { MOST_TEXT = 1 << 28, ADDRESSES = 500, FILES = 200 };

static hu_status no_memory(hu_error *err)
{
    return hu_fail(err, HU_SYSTEM, "out of memory");
}

/* ---- folders: names made by printf; longer than PATH_MAX is an error ------------------------------------------------------- */

static HU_PRINTF(3, 4) hu_status path_of(char *path, hu_error *err, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(path, PATH_MAX, format, list);
    va_end(list);
    return n >= 0 && n < PATH_MAX ? HU_OK : hu_fail(err, HU_SYSTEM, "%.200s...: the name is too long", path);
}

static hu_status read_text(const char *path, char **ret_text, int64_t *ret_size, hu_error *err)
{
    hu_source *source;
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    hu_source_slurp(source, MOST_TEXT, ret_text, ret_size, err);
    hu_source_close(source);
    return err->status;
}

static hu_status copy_file(const char *from, const char *to, hu_error *err)
{
    char *text;
    int64_t size;
    hu_output *out = NULL;
    if (read_text(from, &text, &size, err)) return err->status;
    if (hu_output_open(to, &out, err) == HU_OK && hu_output_write(out, text, (size_t)size, err) == HU_OK) hu_output_commit(&out, err);
    hu_output_abort(&out);
    hu_free(text);
    return err->status;
}

/* ---- processes ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
    char *folder, *exe;
    int64_t rank, ranks; /* of MPI; -1, 0 without */
    int64_t lost;
    bool is_written[2]; /* by parts */
} process;

typedef struct {
    process *process;
    int64_t count, room;
} processes;

static void free_processes(processes *all)
{
    for (int64_t i = 0; i < all->count; i++) {
        free(all->process[i].folder);
        free(all->process[i].exe);
    }
    hu_free(all->process);
    *all = (processes){0};
}

static void take_line(process *p, const char *key, const char *value)
{
    if (strcmp(key, "exe") == 0 && !p->exe) p->exe = strdup(value);
    else if (strcmp(key, "rank") == 0) p->rank = atoll(value);
    else if (strcmp(key, "ranks") == 0) p->ranks = atoll(value);
    else if (strcmp(key, "lost") == 0) p->lost = atoll(value);
    for (int k = 0; k < 2; k++)
        if (strcmp(key, "written") == 0 && strcmp(value, parts[k]) == 0) p->is_written[k] = true;
}

/* A line without its end is one whose writer was killed. */
static hu_status read_process(const char *folder, process *ret_process, hu_error *err)
{
    char path[PATH_MAX], *text, *rest;
    int64_t size;
    process p = {.rank = -1};
    if (path_of(path, err, "%s/process", folder) || read_text(path, &text, &size, err)) return err->status;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if ((rest = strchr(line, ' '))) *rest = '\0', take_line(&p, line, rest + 1);
    }
    hu_free(text);
    if (!(p.folder = strdup(folder)) || (!p.exe && !(p.exe = strdup("")))) no_memory(err);
    *ret_process = p;
    return err->status;
}

static int compare_processes(const void *a, const void *b)
{
    const process *p = a, *q = b;
    if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
    return strcmp(p->folder, q->folder);
}

/* All folders that hold a file process, by rank. */
static hu_status find_processes(const char *folder, processes *ret, hu_error *err)
{
    struct dirent *entry;
    char path[PATH_MAX];
    DIR *dir = opendir(folder);
    *ret = (processes){0};
    if (!dir) return hu_fail_errno(err, errno, folder, "open");
    while ((entry = readdir(dir)) && !err->status) {
        if (entry->d_name[0] == '.' || path_of(path, err, "%s/%s/process", folder, entry->d_name) || access(path, F_OK)) continue;
        *strrchr(path, '/') = '\0';
        if (hu_grow((void **)&ret->process, &ret->room, ret->count + 1, sizeof *ret->process, "processes", err)) break;
        if (read_process(path, &ret->process[ret->count], err) == HU_OK) ret->count++;
    }
    closedir(dir);
    if (ret->count) qsort(ret->process, (size_t)ret->count, sizeof *ret->process, compare_processes);
    return err->status;
}

/* ---- settling ------------------------------------------------------------------------------------------------------------------ */

/* Texts, each once, numbered. */
typedef struct {
    char **text;
    int64_t count, room;
} texts;

static void free_texts(texts *t)
{
    for (int64_t i = 0; i < t->count; i++) free(t->text[i]);
    hu_free(t->text);
}

static hu_status number_text(texts *t, const char *text, int64_t *ret_number, bool *ret_new, hu_error *err)
{
    *ret_new = false;
    for (*ret_number = 0; *ret_number < t->count; ++*ret_number)
        if (strcmp(t->text[*ret_number], text) == 0) return HU_OK;
    *ret_new = true;
    if (hu_grow((void **)&t->text, &t->room, t->count + 1, sizeof *t->text, "objects", err)) return err->status;
    if (!(t->text[t->count] = strdup(text))) return no_memory(err);
    t->count++;
    return HU_OK;
}

/* Bytes 8 to 11 of both files are the stamp of the compilation. */
static hu_status check_stamps(const char *notes, const char *data, const char *object, hu_error *err)
{
    char *a = NULL, *b = NULL;
    int64_t na, nb;
    if (read_text(notes, &a, &na, err) == HU_OK && read_text(data, &b, &nb, err) == HU_OK) {
        if (na < 16 || nb < 16) hu_fail_byte(err, na < 16 ? object : data, na < 16 ? na : nb, "ends before its stamp");
        else if (memcmp(a + 8, b + 8, 4) != 0) hu_fail(err, HU_INPUT, "%s: the program that ran was not built with this file: it was compiled again since; build the program and run it anew", object);
    }
    hu_free(a);
    hu_free(b);
    return err->status;
}

static bool behind_suffix(char *path, const char *suffix, const char *other)
{
    size_t n = strlen(path), k = strlen(suffix);
    if (n < k || strcmp(path + n - k, suffix) != 0) return false;
    strcpy(path + n - k, other);
    return true;
}

/* One object's .gcno into objects/, with a link beside the counters. */
static hu_status settle_object(const char *folder, const char *part, const char *key, const char *data, texts *objects, hu_error *err)
{
    char notes[PATH_MAX], kept[PATH_MAX], link[PATH_MAX], target[PATH_MAX], counts[PATH_MAX];
    int64_t number;
    bool is_new;
    if (path_of(notes, err, "%s", data)) return err->status;
    if (!behind_suffix(notes, ".gcda", ".gcno")) return hu_fail(err, HU_INPUT, "%s: is no name of gcov's counters", data);
    if (number_text(objects, notes, &number, &is_new, err) || path_of(kept, err, "%s/objects/%lld.gcno", folder, (long long)number) ||
        path_of(link, err, "%s/%s.gcno", part, key) || path_of(counts, err, "%s/%s.gcda", part, key) || path_of(target, err, "../../objects/%lld.gcno", (long long)number))
        return err->status;
    if (is_new && access(notes, R_OK))
        return hu_fail(err, HU_SYSTEM, "%s: %s: the file stands beside the object since the program was compiled; run where it was built, or copy it along", notes, strerror(errno));
    if (is_new && copy_file(notes, kept, err)) return err->status;
    if (check_stamps(kept, counts, notes, err)) return err->status;
    if (symlink(target, link) && errno != EEXIST) return hu_fail_errno(err, errno, link, "make a link");
    return HU_OK;
}

static hu_status settle_arcs(const char *folder, const char *part, texts *objects, hu_error *err)
{
    char path[PATH_MAX], *text, *data;
    int64_t size;
    if (path_of(path, err, "%s/arcs", part)) return err->status;
    if (access(path, F_OK)) return HU_OK;
    if (read_text(path, &text, &size, err)) return err->status;
    for (char *line = text, *end; (end = strchr(line, '\n')) && !err->status; line = end + 1) {
        *end = '\0';
        if ((data = strchr(line, ' ')) && strspn(line, "0123456789") == (size_t)(data - line) && data > line) *data = '\0', settle_object(folder, part, line, data + 1, objects, err);
        else hu_fail(err, HU_INPUT, "%s: a damaged line", path);
    }
    hu_free(text);
    return err->status;
}

/* Addresses of comparisons. */
typedef struct {
    uint64_t *place;
    int64_t count, room;
} places;

static hu_status add_place(void *context, uint64_t place, hu_error *err)
{
    places *p = context;
    if (hu_grow((void **)&p->place, &p->room, p->count + 1, sizeof *p->place, "places", err)) return err->status;
    p->place[p->count++] = place;
    return HU_OK;
}

static int compare_places(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Names n places by the debug information: addr2line says function and file:line of each; the byte before the place belongs to the call. */
static hu_status name_some(const char *exe, const uint64_t *place, int64_t n, hu_output *out, hu_error *err)
{
    char address[ADDRESSES][20], *text, *at;
    const char *argv[ADDRESSES + 5] = {"addr2line", "-f", "-e", exe};
    int64_t size;
    for (int64_t i = 0; i < n; i++) {
        snprintf(address[i], sizeof address[i], "%llx", (unsigned long long)(place[i] - 1));
        argv[4 + i] = address[i];
    }
    if (child_output(argv, MOST_TEXT, "Debian: binutils", &text, &size, err)) return err->status;
    at = text;
    for (int64_t i = 0; i < n && !err->status; i++) {
        char *function = at, *end = strchr(at, '\n'), *where = end ? end + 1 : NULL, *stop = where ? strchr(where, '\n') : NULL;
        if (!stop) {
            hu_fail(err, HU_SYSTEM, "addr2line says less than two lines an address");
            break;
        }
        *end = *stop = '\0';
        at = stop + 1;
        char *note = strstr(where, " (discriminator"), *colon;
        if (note) *note = '\0';
        if (!(colon = strrchr(where, ':')) || where[0] == '?' || colon[1] == '?') continue;
        *colon = '\0';
        hu_output_printf(out, err, "%llx %s:%s:%s\n", (unsigned long long)place[i], where, function, colon + 1);
    }
    free(text);
    return err->status;
}

static hu_status settle_places(const char *folder, const processes *all, hu_error *err)
{
    char path[PATH_MAX];
    hu_output *out = NULL;
    places p = {0};
    const char *exe = NULL;
    for (int64_t i = 0; i < all->count; i++)
        for (int k = 0; k < 2; k++) {
            if (path_of(path, err, "%s/%s/values", all->process[i].folder, parts[k])) goto cleanup;
            if (!all->process[i].is_written[k] || access(path, F_OK)) continue;
            if (exe && strcmp(exe, all->process[i].exe) != 0) {
                hu_fail(err, HU_INPUT, "%s and %s both keep values of comparisons: compile only one program of a run with --values", exe, all->process[i].exe);
                goto cleanup;
            }
            exe = all->process[i].exe;
            if (counters_list_places(path, add_place, &p, err)) goto cleanup;
        }
    if (!exe || p.count == 0) goto cleanup;
    qsort(p.place, (size_t)p.count, sizeof *p.place, compare_places);
    int64_t n = 1;
    for (int64_t i = 1; i < p.count; i++)
        if (p.place[i] != p.place[n - 1]) p.place[n++] = p.place[i];
    if (path_of(path, err, "%s/places", folder) || hu_output_open(path, &out, err)) goto cleanup;
    for (int64_t i = 0; i < n; i += ADDRESSES)
        if (name_some(exe, p.place + i, n - i < ADDRESSES ? n - i : ADDRESSES, out, err)) goto cleanup;
    hu_output_commit(&out, err);
cleanup:
    hu_output_abort(&out);
    hu_free(p.place);
    return err->status;
}

hu_status probed_settle(const char *folder, hu_error *err)
{
    char path[PATH_MAX];
    processes all;
    texts objects = {0};
    if (path_of(path, err, "%s/objects", folder)) return err->status;
    if (mkdir(path, 0777) && errno != EEXIST) return hu_fail_errno(err, errno, path, "make the folder");
    find_processes(folder, &all, err);
    for (int64_t i = 0; i < all.count && !err->status; i++)
        for (int k = 0; k < 2 && !err->status; k++)
            if (all.process[i].is_written[k] && path_of(path, err, "%s/%s", all.process[i].folder, parts[k]) == HU_OK) settle_arcs(folder, path, &objects, err);
    if (!err->status) settle_places(folder, &all, err);
    free_texts(&objects);
    free_processes(&all);
    return err->status;
}

/* ---- run.json -------------------------------------------------------------------------------------------------------------------- */

void probed_free(probed_run *run)
{
    for (int64_t i = 0; i < run->sets; i++) {
        free(run->set[i].name);
        free(run->set[i].value);
    }
    hu_free(run->set);
    free(run->cut);
    free(run->status);
    counters_free(&run->counters);
    *run = (probed_run){0};
}

hu_status probed_write(const char *folder, const probed_run *run, char *const *command, hu_error *err)
{
    char path[PATH_MAX];
    hu_output *out = NULL;
    json_t *set = json_array(), *words = json_array(), *root = NULL;
    for (int64_t i = 0; i < run->sets; i++) json_array_append_new(set, json_pack("[ss]", run->set[i].name, run->set[i].value));
    for (int k = 0; command && command[k]; k++) {
        json_t *word = json_string(command[k]); /* NULL where it is not UTF-8 */
        json_array_append_new(words, word ? word : json_null());
    }
    root = json_pack("{sissssssss*sfsfsoso}", "format", 1, "kind", "probed run", "mode", mode_names[run->mode], "cut", run->cut, "status", run->status, "seconds", run->seconds, "cpu_seconds", run->cpu, "set", set, "command", words);
    if (!root || json_array_size(set) < (size_t)run->sets) hu_fail(err, HU_USAGE, "--set: names and values must be UTF-8");
    else if (path_of(path, err, "%s/run.json", folder) == HU_OK && hu_output_open(path, &out, err) == HU_OK && hu_json_write(out, root, err) == HU_OK) hu_output_commit(&out, err);
    hu_output_abort(&out);
    json_decref(root);
    return err->status;
}

static hu_status take_sets(const hu_json_place *root, probed_run *run, hu_error *err)
{
    hu_json_place set, pair, item;
    int64_t count, two;
    if (hu_json_member(root, "set", &set, err) || hu_json_length(&set, 10000, &count, err) || hu_alloc_zero(count, sizeof *run->set, "columns", (void **)&run->set, err)) return err->status;
    run->sets = count;
    for (int64_t i = 0; i < count; i++) {
        if (hu_json_item(&set, i, &pair, err) || hu_json_length(&pair, 2, &two, err)) return err->status;
        const char *text[2] = {NULL, NULL};
        for (int64_t k = 0; k < two; k++) {
            if (hu_json_item(&pair, k, &item, err)) return err->status;
            text[k] = json_string_value(item.value);
        }
        if (!text[0] || !text[1]) return hu_json_fail(&pair, err, "expected a name and a value");
        if (!(run->set[i].name = strdup(text[0])) || !(run->set[i].value = strdup(text[1]))) return no_memory(err);
    }
    return HU_OK;
}

static hu_status read_run(const char *folder, probed_run *run, hu_error *err)
{
    char path[PATH_MAX];
    hu_source *source;
    json_t *document = NULL;
    const char *cut, *status, *kind;
    int64_t format;
    int mode;
    if (path_of(path, err, "%s/run.json", folder)) return err->status;
    if (access(folder, F_OK)) return hu_fail_errno(err, errno, folder, "open");
    if (access(path, F_OK)) return hu_fail(err, HU_INPUT, "%s: is no folder of a probed run: it has no run.json", folder);
    if (hu_source_open(path, hu_source_as_it_is, &source, err)) return err->status;
    hu_json_read(source, HU_JSON_BYTES, &document, err);
    hu_source_close(source);
    if (err->status) return err->status;
    hu_json_place root = hu_json_root(document, path);
    if (hu_json_text(&root, "kind", &kind, err) || hu_json_integer(&root, "format", 1, 1, &format, err) || hu_json_word(&root, "mode", mode_names, 2, &mode, err) ||
        hu_json_text(&root, "cut", &cut, err) || hu_json_text(&root, "status", &status, err) || hu_json_number(&root, "seconds", 0, 1e12, &run->seconds, err) || hu_json_number(&root, "cpu_seconds", 0, 1e12, &run->cpu, err) ||
        take_sets(&root, run, err))
        goto cleanup;
    run->mode = (probed_mode)mode;
    if (!(run->cut = strdup(cut)) || !(run->status = strdup(status))) no_memory(err);
cleanup:
    json_decref(document);
    return err->status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------------- */

/* The names of places, sorted. */
typedef struct {
    char *text;
    uint64_t *place;
    const char **name;
    int64_t count, room, name_room;
    const char *top;
} place_names;

static hu_status read_places(const char *folder, place_names *ret, hu_error *err)
{
    char path[PATH_MAX], *rest;
    int64_t size;
    if (path_of(path, err, "%s/places", folder)) return err->status;
    if (access(path, F_OK)) return HU_OK;
    if (read_text(path, &ret->text, &size, err)) return err->status;
    for (char *line = ret->text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        uint64_t place = strtoull(line, &rest, 16);
        if (*rest != ' ' || (ret->count && place <= ret->place[ret->count - 1])) return hu_fail(err, HU_INPUT, "%s: a damaged line", path);
        if (hu_grow((void **)&ret->place, &ret->room, ret->count + 1, sizeof *ret->place, "places", err) ||
            hu_grow((void **)&ret->name, &ret->name_room, ret->count + 1, sizeof *ret->name, "places", err))
            return err->status;
        ret->place[ret->count] = place;
        ret->name[ret->count++] = rest + 1;
    }
    return HU_OK;
}

static const char *name_of_place(void *context, uint64_t place)
{
    const place_names *p = context;
    uint64_t *found = p->count ? bsearch(&place, p->place, (size_t)p->count, sizeof *p->place, compare_places) : NULL;
    const char *name = found ? p->name[found - p->place] : NULL;
    size_t n = p->top ? strlen(p->top) : 0;
    if (name && p->top && strncmp(name, p->top, n) == 0 && name[n] == '/') return name + n + 1;
    const char *slash = name ? strrchr(name, '/') : NULL;
    return slash ? slash + 1 : name;
}

/* What gcov says of all objects of a part: a document a line. */
static hu_status call_gcov(const char *gcov, const char *part, int from, int *ret_files, char **ret_text, int64_t *ret_size, hu_error *err)
{
    char path[PATH_MAX];
    const char *argv[FILES + 6] = {gcov, "-j", "-b", "-t"};
    int n = 0;
    *ret_text = NULL;
    for (; n < FILES && !err->status; n++) {
        if (path_of(path, err, "%s/%d.gcda", part, from + n) || access(path, F_OK)) break;
        if (!(argv[4 + n] = strdup(path))) no_memory(err);
    }
    *ret_files = n;
    if (n > 0 && !err->status) child_output(argv, MOST_TEXT, "it comes with gcc; --gcov names another", ret_text, ret_size, err);
    for (int k = 0; k < n; k++) free((char *)(uintptr_t)argv[4 + k]);
    return err->status;
}

/* Calls each(context, document) for what gcov says of a part. */
static hu_status each_document(const char *gcov, const char *part, hu_status (*each)(void *context, const json_t *document, hu_error *err), void *context, hu_error *err)
{
    for (int from = 0, files = FILES; files == FILES && !err->status; from += files) {
        char *text;
        int64_t size;
        if (call_gcov(gcov, part, from, &files, &text, &size, err)) return err->status;
        for (char *line = text, *end; line && *line && !err->status; line = end + 1) {
            json_t *document;
            end = strchrnul(line, '\n');
            if (hu_json_parse(line, end - line, gcov, &document, err) == HU_OK) {
                each(context, document, err);
                json_decref(document);
            }
            if (*end == '\0') break;
        }
        free(text);
    }
    return err->status;
}

typedef struct {
    const char *gcov;
    char *top;
    counters *counters;
} taking;

static hu_status take_folder(void *context, const json_t *document, hu_error *err)
{
    taking *t = context;
    return counters_common_folder(document, t->gcov, &t->top, err);
}

static hu_status take_counts(void *context, const json_t *document, hu_error *err)
{
    taking *t = context;
    return counters_take_gcov(t->counters, document, t->gcov, t->top ? t->top : "", err);
}

static hu_status take_process(const process *p, int part, const char *gcov, place_names *names, taking *t, hu_error *err)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (path_of(folder, err, "%s/%s", p->folder, parts[part]) || each_document(gcov, folder, take_counts, t, err)) return err->status;
    if (path_of(path, err, "%s/values", folder)) return err->status;
    if (access(path, F_OK) == 0 && counters_take_values(t->counters, path, name_of_place, names, err)) return err->status;
    if (path_of(path, err, "%s/mpi", folder)) return err->status;
    if (access(path, F_OK) == 0 && counters_take_calls(t->counters, path, err)) return err->status;
    if (p->lost) hu_warn("%s: a thread compares in more places than are kept: %lld comparisons are missing", p->folder, (long long)p->lost);
    counters_end_process(t->counters);
    return HU_OK;
}

/* The folder that the sources of all processes share: by the first process of each program, whose objects are the same in all. */
static hu_status find_top(const processes *all, int part, const char *gcov, taking *t, hu_error *err)
{
    char folder[PATH_MAX];
    for (int64_t i = 0; i < all->count; i++) {
        bool is_known = !all->process[i].is_written[part];
        for (int64_t k = 0; k < i && !is_known; k++) is_known = all->process[k].is_written[part] && strcmp(all->process[k].exe, all->process[i].exe) == 0;
        if (is_known) continue;
        if (path_of(folder, err, "%s/%s", all->process[i].folder, parts[part]) || each_document(gcov, folder, take_folder, t, err)) return err->status;
    }
    return HU_OK;
}

hu_status probed_read(const char *folder, const char *gcov, probed_run *ret_run, hu_error *err)
{
    processes all = {0};
    place_names names = {0};
    taking t = {.gcov = gcov, .counters = &ret_run->counters};
    *ret_run = (probed_run){0};
    if (read_run(folder, ret_run, err) || find_processes(folder, &all, err) || read_places(folder, &names, err)) goto cleanup;
    int part = ret_run->mode == PROBED_EARLY && strcmp(ret_run->cut, "small") != 0;
    ret_run->ranks = all.count;
    for (int64_t i = 0; i < all.count; i++) {
        ret_run->counted += all.process[i].is_written[part];
        ret_run->has_mpi |= all.process[i].ranks > 0;
        if (all.process[i].ranks > ret_run->ranks) ret_run->ranks = all.process[i].ranks;
    }
    if (ret_run->counted < ret_run->ranks || all.count == 0) goto cleanup; /* sums over some of the processes would be no counters of the run */
    if (find_top(&all, part, gcov, &t, err)) goto cleanup;
    names.top = t.top;
    for (int64_t i = 0; i < all.count; i++)
        if (take_process(&all.process[i], part, gcov, &names, &t, err)) goto cleanup;
cleanup:
    free(t.top);
    hu_free(names.text);
    hu_free(names.place);
    hu_free(names.name);
    free_processes(&all);
    if (err->status) probed_free(ret_run);
    return err->status;
}
