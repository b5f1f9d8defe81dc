/* main.c: qp-diff, convex quadratic programs solved and differentiated: the list of its commands. */
#include "config.h"
#include "base/option.h"
#include "commands.h"

int main(int argc, char **argv)
{
    static const hu_command commands[] = {
        {"solve", "solve a problem, with a certificate", command_solve},
        {"vjp", "gradients of a loss in all data, from its gradients in the solution", command_vjp},
        {"jvp", "the derivative of the solution along a direction in the data", command_jvp},
        {"value", "gradients of the optimal value in all data", command_value},
        {"back", "the same as vjp at a solution that came from elsewhere", command_back},
        {"check", "verify the gradients of a problem by identities and differences", command_check},
        {"import", "a problem from a QPS or MPS file", command_import},
        {"gen", "make a problem whose solution is known", command_gen},
    };
    return hu_option_commands(argc, argv, commands, (int)(sizeof commands / sizeof *commands), "Convex quadratic programs, solved and differentiated.");
}
