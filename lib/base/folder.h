/* folder.h: folders for what lives no longer than a run. */
#ifndef HU_BASE_FOLDER_H
#define HU_BASE_FOLDER_H

#include "base/error.h"

/* Makes a new folder BASE/WORD.XXXXXX that only this user can enter; opt_base NULL: TMPDIR, else /tmp. The caller removes it, and free()s the path. */
hu_status hu_folder_temporary(const char *opt_base, const char *word, char **ret_path, hu_error *err);

#endif
