/* space_plan.h: the diagrams of a space; for space.c alone. */
#ifndef PP_SPACE_PLAN_H
#define PP_SPACE_PLAN_H

#include "space.h"

hu_status space_plan(space *space, hu_error *err);
void space_plan_free(space *space);

#endif
