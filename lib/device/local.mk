# lib/device
libcommon_la_SOURCES += lib/device/cpu.c lib/device/cpu.h lib/device/device.c lib/device/device.h
libcommon_la_SOURCES += lib/device/cpu_kernel.h
COMMON_KERNELS += lib/device/cpu_kernel.c
libcommon_la_SOURCES += lib/device/level.h
