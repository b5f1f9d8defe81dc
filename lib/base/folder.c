/* folder.c: folders for what lives no longer than a run. */
#include "config.h"
#include "base/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

hu_status hu_folder_temporary(const char *opt_base, const char *word, char **ret_path, hu_error *err)
{
    const char *base = opt_base ? opt_base : getenv("TMPDIR");
    if (!base || !*base) base = "/tmp";
    *ret_path = NULL;
    char *path;
    if (asprintf(&path, "%s/%s.XXXXXX", base, word) < 0) return hu_fail(err, HU_SYSTEM, "out of memory");
    if (!mkdtemp(path)) {
        hu_fail_errno(err, errno, base, "make a folder in it");
        free(path);
        return err->status;
    }
    *ret_path = path;
    return HU_OK;
}
