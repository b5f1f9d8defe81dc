/* common.h: what the commands do with the options that all of them have. */
#ifndef PP_COMMON_H
#define PP_COMMON_H

#include "base/option.h"
#include "learn/model.h"

/* HU_DEVICE where --device asks for a GPU: no command has a kernel for one. */
hu_status common_device(const hu_common *common, hu_error *err);

/* Takes one more argument of a command line "MODEL [TABLE]", and looks at its end whether there is a model, and no more than one of the two is standard input: else
 * the program ends with usage. */
void common_argument(const char **model, const char **input, const char *arg, struct argp_state *state);
void common_arguments_end(const char *model, const char *input, struct argp_state *state);

/* Opens and reads a model. Free with hu_model_free(). */
hu_status common_model(const char *path, hu_model **ret_model, hu_error *err);

/* Appends a row to --report, if it was given: command, input, rows, columns, model, target, trees, error of rows held out, wall and processor seconds since `start`
 * (hu_clock_wall()), peak memory. rows < 0: not known. */
hu_status common_report(const hu_common *common, const char *command, const char *input, int64_t rows, const hu_model *model, double start, hu_error *err);

#endif
