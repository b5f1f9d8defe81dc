/* library.h: where the recorder's library is, and the environment that loads it. */
#ifndef TC_LIBRARY_H
#define TC_LIBRARY_H

#include "base/error.h"

/* The library beside this program, else the installed one. HU_SYSTEM where neither is there. Free with free(). */
hu_status library_path(char **ret_path, hu_error *err);

/* A new folder for a spool, under SLURM_TMPDIR, TMPDIR or /tmp. Free with free(). */
hu_status library_spool_folder(char **ret_path, hu_error *err);

/* LD_PRELOAD with the library in front of what it has. Free with free(). */
hu_status library_preload(char **ret_value, hu_error *err);

#endif
