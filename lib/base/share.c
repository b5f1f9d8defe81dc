/* share.c: files that come with the programs. */
#include "config.h"
#include "base/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the running program; "" where the system does not tell. */
static void program_folder(char *ret_folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", ret_folder, size - 1);
    ret_folder[length > 0 && (size_t)length < size - 1 ? length : 0] = '\0';
    char *slash = strrchr(ret_folder, '/');
    if (slash) *slash = '\0';
}

/* Whether folder/below/name can be read; adds the folder to the list of those looked at. */
static bool is_there(const char *folder, const char *below, const char *name, char *ret_path, size_t size, char *looked, size_t room)
{
    if (!*folder) return false;
    int length = snprintf(ret_path, size, "%s%s/%s", folder, below, name);
    if (length > 0 && (size_t)length < size && access(ret_path, R_OK) == 0) return true;
    size_t used = strlen(looked);
    snprintf(looked + used, room - used, "%s%s%s", used ? ", " : "", folder, below);
    return false;
}

hu_status hu_share_find(const char *name, char *ret_path, size_t size, hu_error *err)
{
    char program[2048], looked[4096] = "";
    const char *told = getenv("HPCUTILS_SHARE");
    if (told && *told) {
        if (is_there(told, "", name, ret_path, size, looked, sizeof looked)) return HU_OK;
    } else {
        program_folder(program, sizeof program);
        if (is_there(program, "/share", name, ret_path, size, looked, sizeof looked) ||
            is_there(program, "/../share/hpcutils", name, ret_path, size, looked, sizeof looked) ||
            is_there(HU_PKGDATADIR, "", name, ret_path, size, looked, sizeof looked))
            return HU_OK;
    }
    return hu_fail(err, HU_SYSTEM, "%s is not there; it was looked for in %.800s", name, looked);
}
