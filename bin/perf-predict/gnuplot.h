/* gnuplot.h: pictures by gnuplot: a script with its data goes to its standard input, the picture comes from its standard output. */
#ifndef PP_GNUPLOT_H
#define PP_GNUPLOT_H

#include "base/error.h"
#include <stdio.h>

/* A temporary file to write a script to; NULL and an error where there is none. */
FILE *gnuplot_script(hu_error *err);

/* Text between double quotes. */
void gnuplot_quote(FILE *script, const char *text);

/* Runs the script, whose picture becomes the file at `path`, and closes it. HU_SYSTEM where gnuplot is not installed or fails. */
hu_status gnuplot_draw(FILE *script, const char *path, hu_error *err);

#endif
