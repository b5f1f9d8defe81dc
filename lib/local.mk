# libcommon: one convenience library; each module folder adds its sources.
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES =
libcommon_la_LIBADD =
COMMON_KERNELS =
include lib/base/local.mk
include lib/io/local.mk
include lib/sparse/local.mk
include lib/dense/local.mk
include lib/device/local.mk
include lib/learn/local.mk

# The hot loops of libcommon, built once per instruction set (lib/device/level.h): modules add their sources to COMMON_KERNELS.
noinst_LTLIBRARIES += libcommon_base.la
libcommon_base_la_SOURCES = $(COMMON_KERNELS)
libcommon_base_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_base)
libcommon_la_LIBADD += libcommon_base.la
if HU_X86
noinst_LTLIBRARIES += libcommon_v3.la libcommon_v4.la
libcommon_v3_la_SOURCES = $(COMMON_KERNELS)
libcommon_v3_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v3)
libcommon_v4_la_SOURCES = $(COMMON_KERNELS)
libcommon_v4_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v4)
libcommon_la_LIBADD += libcommon_v3.la libcommon_v4.la
endif
