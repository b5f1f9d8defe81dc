/* commands.h: the commands of spmm-pack; each returns the exit status. */
#ifndef SPMM_COMMANDS_H
#define SPMM_COMMANDS_H

int command_mul(int argc, char **argv);

#endif
