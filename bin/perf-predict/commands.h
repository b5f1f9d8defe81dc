/* commands.h: the commands of perf-predict, each with its own options. */
#ifndef PP_COMMANDS_H
#define PP_COMMANDS_H

#include "base/error.h"

/* The program's own answers. */
enum {
    PP_EXHAUSTED = HU_PROGRAM,    /* the pool is empty, or the budget spent */
    PP_MISFIT = HU_PROGRAM + 1    /* the model does not fit the table */
};

int command_train(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_importance(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_export(int argc, char **argv);
int command_space(int argc, char **argv);
int command_ask(int argc, char **argv);
int command_tell(int argc, char **argv);
int command_loop(int argc, char **argv);
int command_probe(int argc, char **argv);
int command_transfer(int argc, char **argv);
int command_occupancy(int argc, char **argv);
int command_simulate(int argc, char **argv);

#endif
