/* commands.h: the commands of spmm-pack; each returns the exit status. */
#ifndef SPMM_COMMANDS_H
#define SPMM_COMMANDS_H

int command_info(int argc, char **argv);
int command_pack(int argc, char **argv);
int command_unpack(int argc, char **argv);
int command_mul(int argc, char **argv);
int command_sddmm(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_gen(int argc, char **argv);
int command_codegen(int argc, char **argv);

#endif
