/* spool.c: spool files of the recorder, read. */
#include "config.h"
#include "spool.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_spool_name(const char *name)
{
    size_t n = strlen(name), m = strlen(HU_SPOOL_SUFFIX);
    return n > m && strcmp(name + n - m, HU_SPOOL_SUFFIX) == 0;
}

static hu_status check_head(const spool_file *f, hu_error *err)
{
    const hu_spool_header *h = f->head;
    if (memcmp(h->magic, HU_SPOOL_MAGIC, sizeof h->magic) != 0)
        return memcmp(h->magic, HU_SPOOL_MAGIC, 7) == 0 ? hu_fail(err, HU_INPUT, "%s: is a spool file of another version of the recorder", f->path)
                                                        : hu_fail(err, HU_INPUT, "%s: is no spool file of the recorder", f->path);
    if (h->header_bytes != HU_SPOOL_HEADER || h->functions < 1 || h->functions > HU_SPOOL_FUNCTIONS) return hu_fail(err, HU_INPUT, "%s: its header is damaged", f->path);
    if (!memchr(h->host, 0, sizeof h->host) || !memchr(h->library, 0, sizeof h->library) || !memchr(h->command, 0, sizeof h->command) || !memchr(h->table, 0, sizeof h->table))
        return hu_fail(err, HU_INPUT, "%s: its header is damaged", f->path);
    return HU_OK;
}

static hu_status map_file(const char *path, spool *s, int64_t *room, hu_error *err)
{
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return hu_fail_errno(err, errno, path, "open");
    if (fstat(fd, &facts)) hu_fail_errno(err, errno, path, "stat");
    else if (facts.st_size < HU_SPOOL_HEADER) { /* killed while it was made: nothing is in it */
        close(fd);
        return HU_OK;
    }
    spool_file f = {.mapped = facts.st_size};
    void *map = err->status ? MAP_FAILED : mmap(NULL, (size_t)f.mapped, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return err->status ? err->status : hu_fail_errno(err, errno, path, "map");
    f.head = map;
    f.events = (const uint8_t *)map + HU_SPOOL_HEADER;
    if (!(f.path = strdup(path))) hu_fail(err, HU_SYSTEM, "out of memory");
    static const char none[8];
    if (!err->status && memcmp(f.head->magic, none, sizeof none) != 0) {
        check_head(&f, err);
    } else if (!err->status) { /* allotted, and no more */
        munmap(map, (size_t)f.mapped);
        free(f.path);
        return HU_OK;
    }
    int64_t sound = (int64_t)f.head->committed, there = f.mapped - HU_SPOOL_HEADER;
    f.size = sound < 0 || sound > there ? there : sound;
    if (!err->status && hu_grow((void **)&s->file, room, s->files + 1, sizeof f, "spool files", err) == HU_OK) {
        s->file[s->files++] = f;
        return HU_OK;
    }
    munmap(map, (size_t)f.mapped);
    free(f.path);
    return err->status;
}

static hu_status map_folder(const char *folder, spool *s, int64_t *room, hu_error *err)
{
    DIR *d = opendir(folder);
    if (!d) return hu_fail_errno(err, errno, folder, "open");
    for (struct dirent *e = readdir(d); e && !err->status; e = readdir(d)) {
        char *path;
        if (!is_spool_name(e->d_name)) continue;
        if (asprintf(&path, "%s/%s", folder, e->d_name) < 0) {
            hu_fail(err, HU_SYSTEM, "out of memory");
            break;
        }
        map_file(path, s, room, err);
        free(path);
    }
    closedir(d);
    return err->status;
}

bool spool_same_process(const spool_file *a, const spool_file *b)
{
    return a->head->pid == b->head->pid && strcmp(a->head->host, b->head->host) == 0 && a->head->rank == b->head->rank && a->head->world == b->head->world;
}

#define ORDER(x, y) ((x) < (y) ? -1 : (x) > (y))

static int compare_files(const void *p, const void *q)
{
    const spool_file *a = p, *b = q;
    int order = ORDER(a->head->world, b->head->world);
    if (!order) order = ORDER(a->head->rank, b->head->rank);
    if (!order) order = strcmp(a->head->host, b->head->host);
    if (!order) order = ORDER(a->head->pid, b->head->pid);
    return order ? order : ORDER(a->head->thread, b->head->thread);
}

hu_status spool_open(char *const *paths, int n, spool *ret_spool, hu_error *err)
{
    struct stat facts;
    int64_t room = 0;
    *ret_spool = (spool){0};
    for (int i = 0; i < n && !err->status; i++) {
        if (stat(paths[i], &facts)) hu_fail_errno(err, errno, paths[i], "open");
        else if (S_ISDIR(facts.st_mode)) map_folder(paths[i], ret_spool, &room, err);
        else map_file(paths[i], ret_spool, &room, err);
    }
    if (err->status) {
        spool_close(ret_spool);
        return err->status;
    }
    if (ret_spool->files > 1) qsort(ret_spool->file, (size_t)ret_spool->files, sizeof *ret_spool->file, compare_files);
    return HU_OK;
}

void spool_close(spool *s)
{
    for (int32_t i = 0; i < s->files; i++) {
        munmap((void *)(uintptr_t)s->file[i].head, (size_t)s->file[i].mapped);
        free(s->file[i].path);
    }
    hu_free(s->file);
    *s = (spool){0};
}

void spool_remove(spool *s, const char *opt_folder)
{
    for (int32_t i = 0; i < s->files; i++) unlink(s->file[i].path);
    if (!opt_folder) return;
    DIR *d = opendir(opt_folder); /* files that had no header yet */
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        if (is_spool_name(e->d_name)) unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(opt_folder);
}

hu_status spool_event(const spool_file *f, int64_t offset, hu_spool_event *ret_event, hu_spool_counted *ret_counted, const uint8_t **ret_arguments, int64_t *ret_bytes, hu_error *err)
{
    int64_t left = f->size - offset, head = (int64_t)sizeof *ret_event;
    if (left < head) return HU_END;
    memcpy(ret_event, f->events + offset, sizeof *ret_event);
    if (ret_event->flags & HU_SPOOL_COUNTED) head += (int64_t)sizeof *ret_counted;
    if (ret_event->length == 0) return HU_END; /* allotted space */
    if (ret_event->length < head || ret_event->length > left || ret_event->function >= f->head->functions)
        return hu_fail_byte(err, f->path, HU_SPOOL_HEADER + offset, "an event is damaged");
    *ret_counted = (hu_spool_counted){1, ret_event->leave - ret_event->enter};
    if (ret_event->flags & HU_SPOOL_COUNTED) memcpy(ret_counted, f->events + offset + sizeof *ret_event, sizeof *ret_counted);
    *ret_arguments = f->events + offset + head;
    *ret_bytes = ret_event->length - head;
    return HU_OK;
}
