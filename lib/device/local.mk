# lib/device
libcommon_la_SOURCES += lib/device/cpu.c lib/device/cpu.h lib/device/device.c lib/device/device.h
libcommon_la_SOURCES += lib/device/cpu_kernel.h
COMMON_KERNELS += lib/device/cpu_kernel.c
libcommon_la_SOURCES += lib/device/level.h
libcommon_la_SOURCES += lib/device/gpu.h
EXTRA_DIST += lib/device/launch.h lib/device/gpu_cuda.h lib/device/gpu.cu lib/device/gpu_none.c
CUDA_SOURCES += lib/device/gpu.cu
if !HU_CUDA
libcommon_la_SOURCES += lib/device/gpu_none.c
endif
