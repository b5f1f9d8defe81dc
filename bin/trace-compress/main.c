/* main.c: trace-compress, MPI traces: the list of its commands. */
#include "config.h"
#include "base/option.h"
#include "commands.h"

int main(int argc, char **argv)
{
    static const hu_command commands[] = {
        {"record", "run an MPI program and record its calls", command_record},
        {"env", "print the environment that makes a program record", command_env},
        {"recover", "make a trace of what a killed run or a cut file left", command_recover},
        {"merge", "make one trace of the spools of several nodes", command_merge},
        {"compress", "make a trace small", command_compress},
        {"decompress", "write a compressed trace event by event again", command_decompress},
        {"cat", "print a trace as text or CSV, one line an event", command_cat},
        {"stat", "sum up a trace by function, rank, communicator or message size", command_stat},
        {"matrix", "print who sends how much to whom", command_matrix},
        {"slice", "cut ranks or a span of time out of a trace", command_slice},
        {"verify", "compare two traces", command_verify},
    };
    return hu_option_commands(argc, argv, commands, (int)(sizeof commands / sizeof *commands), "MPI traces recorded, compressed and read.");
}
