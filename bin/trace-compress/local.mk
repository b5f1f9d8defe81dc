# trace-compress: libtracecompress.la (the engine) + the commands + the recorder's library
noinst_LTLIBRARIES += libtracecompress.la
libtracecompress_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/trace-compress
libtracecompress_la_SOURCES =
libtracecompress_la_SOURCES += bin/trace-compress/symbols.c bin/trace-compress/symbols.h
libtracecompress_la_SOURCES += bin/trace-compress/spool.c bin/trace-compress/spool.h bin/trace-compress/recorder/spool.h
libtracecompress_la_SOURCES += bin/trace-compress/convert.c bin/trace-compress/convert.h
libtracecompress_la_SOURCES += bin/trace-compress/text.c bin/trace-compress/text.h

libtracecompress_la_SOURCES += bin/trace-compress/traffic.c bin/trace-compress/traffic.h

bin_PROGRAMS += trace-compress
trace_compress_CPPFLAGS = $(libtracecompress_la_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"'
trace_compress_LDADD = libtracecompress.la $(HU_LIBS)
trace_compress_SOURCES = bin/trace-compress/main.c bin/trace-compress/commands.h
trace_compress_SOURCES += bin/trace-compress/input.c bin/trace-compress/input.h
trace_compress_SOURCES += bin/trace-compress/library.c bin/trace-compress/library.h
trace_compress_SOURCES += bin/trace-compress/record.c
trace_compress_SOURCES += bin/trace-compress/recover.c
trace_compress_SOURCES += bin/trace-compress/cat.c
trace_compress_SOURCES += bin/trace-compress/stat.c
trace_compress_SOURCES += bin/trace-compress/matrix.c
trace_compress_SOURCES += bin/trace-compress/slice.c
trace_compress_SOURCES += bin/trace-compress/verify.c
trace_compress_SOURCES += bin/trace-compress/compare.c bin/trace-compress/compare.h
trace_compress_SOURCES += bin/trace-compress/compress.c

# The recorder stands alone: a shared object of its own, without OpenMP, sanitizers or libcommon, loaded into any program of MPICH.
RECORDER = bin/trace-compress/recorder
RECORDER_FILES = $(RECORDER)/recorder.c $(RECORDER)/recorder.h $(RECORDER)/spool.h $(RECORDER)/generate.pl
EXTRA_DIST += $(RECORDER_FILES)
if HU_MPI
recorderdir = $(pkglibdir)
recorder_DATA = libmpitrace.so
CLEANFILES += libmpitrace.so recorder-wrappers.c
recorder-wrappers.c: $(RECORDER)/generate.pl
	$(AM_V_GEN)$(PERL) $(srcdir)/$(RECORDER)/generate.pl $(MPI_INCLUDEDIR)/mpi_proto.h $(MPI_INCLUDEDIR)/mpio.h $(MPI_INCLUDEDIR)/mpi.h >$@.new && mv $@.new $@
libmpitrace.so: recorder-wrappers.c $(RECORDER_FILES)
	$(AM_V_CCLD)$(CC) $(HU_CFLAGS) -O2 -g1 -fPIC -fvisibility=hidden -shared -Wl,--as-needed -I$(srcdir)/$(RECORDER) -I$(MPI_INCLUDEDIR) $(srcdir)/$(RECORDER)/recorder.c recorder-wrappers.c -o $@ -ldl -lpthread
endif
