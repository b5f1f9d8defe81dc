// gpu_solve.cpp: the kernels of sptrsv-solve for the emulator.
#include "sptrsv-solve/gpu_solve.cu"
