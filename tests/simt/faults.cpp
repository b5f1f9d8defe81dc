// faults.cpp: faults.cu for the emulator.
#include "faults.cu"
