/* plot.h: pictures of a model, drawn by gnuplot. */
#ifndef PP_PLOT_H
#define PP_PLOT_H

#include "learn/model.h"

/* Draws predicted against measured, the relative residuals, and the importance of the columns into path (SVG). HU_SYSTEM says so where gnuplot is not there
 * or fails; path is then untouched. */
hu_status plot_model(const char *path, const hu_model *model, const double *truth, const double *predicted, int64_t rows, hu_error *err);

#endif
