/* main.c: perf-predict, models from tables of runs: the list of its commands. */
#include "config.h"
#include "base/option.h"
#include "commands.h"

int main(int argc, char **argv)
{
    static const hu_command commands[] = {
        {"train", "learn a model from a table of runs", command_train},
        {"predict", "predict the rows of a table by a model", command_predict},
        {"eval", "compare a model's predictions with measured runs", command_eval},
        {"importance", "say what each column is worth to a model", command_importance},
        {"dump", "say what a model is", command_dump},
        {"space", "count, list or draw the configurations of a space", command_space},
        {"ask", "choose the configurations to measure next", command_ask},
        {"tell", "note measured configurations", command_tell},
        {"loop", "choose, have a command measure, learn, and so on", command_loop},
        {"export", "write a model as text, JSON or C source", command_export},
        {"probe", "count what C programs do: rows to learn from", command_probe},
        {"transfer", "take a model over to another machine by a few runs there", command_transfer},
        {"occupancy", "say how full the kernels of a trace can make a GPU", command_occupancy},
        {"simulate", "simulate a schedule of jobs that share GPUs", command_simulate},
    };
    return hu_option_commands(argc, argv, commands, (int)(sizeof commands / sizeof *commands), "Performance models from tables of runs (CSV).");
}
