# lib/learn: models that are learnt from tables of runs
libcommon_la_SOURCES += lib/learn/bins.c lib/learn/bins.h
libcommon_la_SOURCES += lib/learn/tree.c lib/learn/tree.h lib/learn/tree_kernel.h
libcommon_la_SOURCES += lib/learn/forest.c lib/learn/forest.h lib/learn/forest_kernel.h
libcommon_la_SOURCES += lib/learn/forest_build.h
libcommon_la_SOURCES += lib/learn/boost.c lib/learn/boost.h
libcommon_la_SOURCES += lib/learn/frame.c lib/learn/frame.h
libcommon_la_SOURCES += lib/learn/linear.c lib/learn/linear.h
libcommon_la_SOURCES += lib/learn/model.c lib/learn/model.h
libcommon_la_SOURCES += lib/learn/model_file.c lib/learn/model_build.h
libcommon_la_SOURCES += lib/learn/transfer.c lib/learn/transfer.h

# Growth and walks give the same bits at each instruction level: no product may be fused with a sum.
LEARN_KERNELS = lib/learn/tree_kernel.c
LEARN_KERNELS += lib/learn/forest_kernel.c
noinst_LTLIBRARIES += liblearn_base.la
liblearn_base_la_SOURCES = $(LEARN_KERNELS)
liblearn_base_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_base) -ffp-contract=off
libcommon_la_LIBADD += liblearn_base.la
if HU_X86
noinst_LTLIBRARIES += liblearn_v3.la liblearn_v4.la
liblearn_v3_la_SOURCES = $(LEARN_KERNELS)
liblearn_v3_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v3) -ffp-contract=off
liblearn_v4_la_SOURCES = $(LEARN_KERNELS)
liblearn_v4_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v4) -ffp-contract=off
libcommon_la_LIBADD += liblearn_v3.la liblearn_v4.la
endif
