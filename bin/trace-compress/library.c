/* library.c: where the recorder's library is, and the environment that loads it. */
#include "config.h"
#include "library.h"
#include "base/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmpitrace.so"

static hu_status no_memory(hu_error *err)
{
    return hu_fail(err, HU_SYSTEM, "out of memory");
}

hu_status library_path(char **ret_path, hu_error *err)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(self, '/');
    if (slash) slash[1] = 0;
    if (asprintf(ret_path, "%s" LIBRARY, self) < 0) return no_memory(err);
    if (slash && access(*ret_path, R_OK) == 0) return HU_OK;
    free(*ret_path);
    if (!(*ret_path = strdup(PKGLIBDIR "/" LIBRARY))) return no_memory(err);
    if (access(*ret_path, R_OK) == 0) return HU_OK;
    free(*ret_path);
    *ret_path = NULL;
    return hu_fail(err, HU_SYSTEM, "the recorder is not there: neither %s" LIBRARY " nor " PKGLIBDIR "/" LIBRARY "; it is built where MPICH was found at configure (Debian: libmpich-dev)", self);
}

hu_status library_spool_folder(char **ret_path, hu_error *err)
{
    const char *base = getenv("SLURM_TMPDIR");
    return hu_folder_temporary(base && *base ? base : NULL, "mpitrace", ret_path, err);
}

hu_status library_preload(char **ret_value, hu_error *err)
{
    char *path;
    const char *old = getenv("LD_PRELOAD");
    if (library_path(&path, err)) return err->status;
    int n = old && *old ? asprintf(ret_value, "%s:%s", path, old) : asprintf(ret_value, "%s", path);
    free(path);
    return n < 0 ? no_memory(err) : HU_OK;
}
