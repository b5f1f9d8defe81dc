/* export.h: a model as text, JSON or C source. */
#ifndef PP_EXPORT_H
#define PP_EXPORT_H

#include "learn/model.h"

/* What the model is: its target, kind, errors and columns; the trees too where that is wanted. */
hu_status export_text(const hu_model *model, bool trees, hu_output *out, hu_error *err);

/* Everything, all numbers so that they read back to the same bits. */
hu_status export_json(const hu_model *model, hu_output *out, hu_error *err);

/* C source that compiles alone (with -lm): double NAME_predict(const double *x), whose results are the same bits as predict's. */
hu_status export_c(const hu_model *model, const char *name, hu_output *out, hu_error *err);

#endif
