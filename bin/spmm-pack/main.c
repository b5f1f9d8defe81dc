/* main.c: spmm-pack, sparse times dense: the list of its commands. */
#include "config.h"
#include "base/option.h"
#include "commands.h"

int main(int argc, char **argv)
{
    static const hu_command commands[] = {
        {"info", "say what a matrix is, what products with it need, and what is advised", command_info},
        {"pack", "pack a matrix for products", command_pack},
        {"unpack", "write a packed matrix as Matrix Market", command_unpack},
        {"mul", "multiply a sparse matrix by a dense one", command_mul},
        {"sddmm", "values at the places of a sparse matrix from pairs of dense rows", command_sddmm},
        {"bench", "time the strategies on a matrix", command_bench},
        {"codegen", "write the source of a kernel for one pruned weight", command_codegen},
        {"gen", "write a random graph or pruned weight", command_gen},
    };
    return hu_option_commands(argc, argv, commands, (int)(sizeof commands / sizeof *commands), "Sparse times dense: products, sampled products, and packed matrices.");
}
