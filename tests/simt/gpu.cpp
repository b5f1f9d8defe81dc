// gpu.cpp: the device of libcommon, for the emulator.
#include "device/gpu.cu"
