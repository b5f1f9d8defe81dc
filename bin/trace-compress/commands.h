/* commands.h: the commands of trace-compress, each with its own options. */
#ifndef TC_COMMANDS_H
#define TC_COMMANDS_H

int command_record(int argc, char **argv);
int command_env(int argc, char **argv);
int command_recover(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_compress(int argc, char **argv);
int command_decompress(int argc, char **argv);
int command_cat(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_matrix(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_slice(int argc, char **argv);

#endif
