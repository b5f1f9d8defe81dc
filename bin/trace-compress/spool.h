/* spool.h: spool files of the recorder, read: whole, cut off, or damaged. */
#ifndef TC_SPOOL_FILES_H
#define TC_SPOOL_FILES_H

#include "base/error.h"
#include "recorder/spool.h"

typedef struct {
    char *path;
    const hu_spool_header *head; /* mapped */
    const uint8_t *events;
    int64_t size, mapped;        /* bytes of events that are sound; of the mapping */
} spool_file;

typedef struct {
    int32_t files;
    spool_file *file; /* [files] by world, rank, process and thread */
} spool;

/* Maps the spool files among paths, or in a path that is a folder. HU_INPUT where there are none, or where one is no spool file. Free with spool_close(). */
hu_status spool_open(char *const *paths, int n, spool *ret_spool, hu_error *err);
void spool_close(spool *s);

/* Removes the files, and the folder where it is then empty. */
void spool_remove(spool *s, const char *opt_folder);

/* Whether two files are of one process. */
bool spool_same_process(const spool_file *a, const spool_file *b);

/* An event at an offset of the file: HU_END at the end of what is sound. */
hu_status spool_event(const spool_file *f, int64_t offset, hu_spool_event *ret_event, hu_spool_counted *ret_counted, const uint8_t **ret_arguments, int64_t *ret_bytes, hu_error *err);

#endif
