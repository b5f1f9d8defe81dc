/* frame.h: a table of rows to learn from: features as columns and as rows of doubles, with their names, kinds and levels. */
#ifndef HU_LEARN_FRAME_H
#define HU_LEARN_FRAME_H

#include "base/error.h"

typedef struct {
    char *name;
    char **levels;        /* in the order of their bytes */
    int32_t level_count;  /* 0: numbers */
    int64_t *level_rows;  /* [level_count] of training */
    double least, most, median; /* of numbers; NaN where all are missing */
    bool is_log;          /* of numbers: they are the natural logarithms of what the table has */
    int64_t missing;      /* rows of training */
} hu_feature;

typedef struct {
    int64_t rows;
    int32_t features;
    hu_feature *feature; /* [features] */
    double **column;     /* [features][rows]: numbers or indices of levels, NaN where missing */
    double *x;           /* [rows][features], the same */
    double *y;           /* [rows], finite */
} hu_frame;

/* Room for rows and features, zeroed; the caller fills feature[], column[] and y[], then calls hu_frame_finish(). Free with hu_frame_free(). */
hu_status hu_frame_new(int64_t rows, int32_t features, hu_frame **ret_frame, hu_error *err);
void hu_frame_free(hu_frame *frame); /* NULL is allowed */

/* Fills x and what features say of their values. */
hu_status hu_frame_finish(hu_frame *frame, hu_error *err);

/* A table of n rows of another, which are listed in row[n]. Free with hu_frame_free(). */
hu_status hu_frame_rows(const hu_frame *frame, const int32_t *row, int64_t n, hu_frame **ret_part, hu_error *err);

/* Copies and frees what a feature owns. */
hu_status hu_feature_copy(const hu_feature *from, hu_feature *to, hu_error *err);
void hu_feature_clear(hu_feature *feature);

/* The level of that text, or -1. */
int32_t hu_feature_level(const hu_feature *feature, const char *text, int64_t size);

/* A checksum of all values and targets, for telling whether a table is the one of training. */
uint32_t hu_frame_crc(const hu_frame *frame);

#endif
