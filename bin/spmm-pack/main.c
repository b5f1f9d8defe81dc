/* main.c: spmm-pack, sparse times dense: the list of its commands. */
#include "config.h"
#include "base/option.h"
#include "commands.h"

int main(int argc, char **argv)
{
    static const hu_command commands[] = {
        {"mul", "multiply a sparse matrix by a dense one", command_mul},
    };
    return hu_option_commands(argc, argv, commands, (int)(sizeof commands / sizeof *commands), "Sparse times dense: products, sampled products, and packed matrices.");
}
