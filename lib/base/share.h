/* share.h: files that come with the programs, such as models, wherever the programs were built or installed. */
#ifndef HU_BASE_SHARE_H
#define HU_BASE_SHARE_H

#include "base/error.h"

/* The path of the shared file `name` (a plain name). It is looked for in the folder that HPCUTILS_SHARE names, and nowhere else where that is set; else in
 * `share` beside the running program (a build folder), in ../share/hpcutils from there (an installed tree, also one that was moved), and in the folder
 * that configure was told. HU_SYSTEM lists where it was looked for. */
hu_status hu_share_find(const char *name, char *ret_path, size_t size, hu_error *err);

#endif
