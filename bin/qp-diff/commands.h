/* commands.h: the commands of qp-diff, each with its own options. */
#ifndef QP_COMMANDS_H
#define QP_COMMANDS_H

int command_solve(int argc, char **argv);
int command_vjp(int argc, char **argv);
int command_jvp(int argc, char **argv);
int command_value(int argc, char **argv);
int command_back(int argc, char **argv);
int command_check(int argc, char **argv);
int command_import(int argc, char **argv);
int command_gen(int argc, char **argv);

#endif
