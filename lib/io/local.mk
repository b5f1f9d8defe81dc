# lib/io
libcommon_la_SOURCES += lib/io/json.c lib/io/json.h lib/io/bundle.c lib/io/bundle.h
libcommon_la_SOURCES += lib/io/bundle_archive.c lib/io/bundle_archive.h
libcommon_la_SOURCES += lib/io/bundle_stream.c
libcommon_la_SOURCES += lib/io/trace.c lib/io/trace_head.c lib/io/trace.h
libcommon_la_SOURCES += lib/io/trace_read.c lib/io/trace_private.h
libcommon_la_SOURCES += lib/io/varint.h lib/io/grammar.c lib/io/grammar.h
libcommon_la_SOURCES += lib/io/trace_times.c lib/io/trace_times.h
libcommon_la_SOURCES += lib/io/trace_symbol.c lib/io/trace_symbol.h
libcommon_la_SOURCES += lib/io/trace_pack.c lib/io/trace_unpack.c
libcommon_la_SOURCES += lib/io/npy.c lib/io/npy.h
libcommon_la_SOURCES += lib/io/source.c lib/io/source.h
libcommon_la_SOURCES += lib/io/mtx.c lib/io/mtx_write.c lib/io/mtx.h
libcommon_la_SOURCES += lib/io/csv.c lib/io/csv.h lib/io/report.c lib/io/report.h
libcommon_la_SOURCES += lib/io/matrix.c lib/io/matrix.h
libcommon_la_SOURCES += lib/io/array.c lib/io/array.h
libcommon_la_SOURCES += lib/io/members.c lib/io/members.h
