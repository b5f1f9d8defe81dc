/* ranks.h: the processes of an mpiexec run. The one place that knows MPI; a build without it, or a run without mpiexec, is one process. */
#ifndef PP_RANKS_H
#define PP_RANKS_H

#include "io/source.h"
#include "learn/forest.h"

/* Joins the other ranks if mpiexec started this process; else a team of one. Ranks but the first become quiet. HU_DEVICE where there are several but the program was
 * built without MPI. threads is what --threads gave: where that is nothing, the ranks of a node share its processors. */
hu_status ranks_open(int threads, hu_team *ret_team, hu_error *err);

/* The bytes of the source that the first rank opens, for all: standard input reaches the first rank only. Free with hu_source_close(). */
hu_status ranks_source(const hu_team *team, const char *path, hu_source **ret_source, hu_error *err);

/* Leaves the team; what failed on this rank only ends the others too. */
void ranks_close(const hu_team *team, hu_error *err);

#endif
