/* permute.h: what columns are worth to a model, by shuffling them. */
#ifndef PP_PERMUTE_H
#define PP_PERMUTE_H

#include "learn/model.h"

/* For each group of features (group[f]: which one, from 0): by how much the mean squared error, of what the model works on, grows when the group's cells are shuffled over the
 * rows, all of a row together (Breiman 2001, section 10). Rows are predicted by the trees that have not seen them, where bags leave rows out; else by all. The order of
 * group k is the shuffle of the rows by stream k of seed. frame: the table of training. worth: [groups]. */
hu_status permute_columns(const hu_model *model, const hu_frame *frame, const int32_t *group, int32_t groups, uint64_t seed, double *worth, hu_error *err);

#endif
