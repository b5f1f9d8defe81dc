# lib/io
libcommon_la_SOURCES += lib/io/json.c lib/io/json.h lib/io/bundle.c lib/io/bundle.h
libcommon_la_SOURCES += lib/io/npy.c lib/io/npy.h
libcommon_la_SOURCES += lib/io/source.c lib/io/source.h
libcommon_la_SOURCES += lib/io/mtx.c lib/io/mtx_write.c lib/io/mtx.h
libcommon_la_SOURCES += lib/io/csv_quick.c lib/io/csv_reader.h lib/io/csv_kernel.h
COMMON_KERNELS += lib/io/csv_kernel.c
libcommon_la_SOURCES += lib/io/csv.c lib/io/csv.h lib/io/report.c lib/io/report.h
libcommon_la_SOURCES += lib/io/matrix.c lib/io/matrix.h
libcommon_la_SOURCES += lib/io/array.c lib/io/array.h
