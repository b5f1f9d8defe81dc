# lib/dense
libcommon_la_SOURCES += lib/dense/dense.c lib/dense/dense.h
libcommon_la_SOURCES += lib/dense/dense_kernel.h
COMMON_KERNELS += lib/dense/dense_kernel.c
libcommon_la_SOURCES += lib/dense/product.c
libcommon_la_SOURCES += lib/dense/ldl.c lib/dense/ldl.h
libcommon_la_SOURCES += lib/dense/ldl_kernel.h
COMMON_KERNELS += lib/dense/ldl_kernel.c
