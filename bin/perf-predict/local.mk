# perf-predict: libperfpredict.la (the engine) + the commands
noinst_LTLIBRARIES += libperfpredict.la
libperfpredict_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict
libperfpredict_la_SOURCES =
libperfpredict_la_SOURCES += bin/perf-predict/table.c bin/perf-predict/table.h
libperfpredict_la_SOURCES += bin/perf-predict/rows.c bin/perf-predict/rows.h
libperfpredict_la_SOURCES += bin/perf-predict/export.c bin/perf-predict/export.h
libperfpredict_la_SOURCES += bin/perf-predict/plot.c bin/perf-predict/plot.h
libperfpredict_la_SOURCES += bin/perf-predict/gpu.c bin/perf-predict/gpu.h
libperfpredict_la_SOURCES += bin/perf-predict/kernels.c bin/perf-predict/kernels.h

bin_PROGRAMS += perf-predict
perf_predict_CPPFLAGS = $(libperfpredict_la_CPPFLAGS) $(MPI_CFLAGS)
perf_predict_LDADD = libperfpredict.la $(HU_LIBS) $(MPI_LIBS)
perf_predict_SOURCES = bin/perf-predict/main.c bin/perf-predict/commands.h
perf_predict_SOURCES += bin/perf-predict/train.c
perf_predict_SOURCES += bin/perf-predict/predict.c
perf_predict_SOURCES += bin/perf-predict/table_options.c bin/perf-predict/table_options.h
perf_predict_SOURCES += bin/perf-predict/eval.c
perf_predict_SOURCES += bin/perf-predict/importance.c
perf_predict_SOURCES += bin/perf-predict/dump.c
perf_predict_SOURCES += bin/perf-predict/transfer.c
perf_predict_SOURCES += bin/perf-predict/occupancy.c
perf_predict_SOURCES += bin/perf-predict/ranks.c bin/perf-predict/ranks.h
perf_predict_SOURCES += bin/perf-predict/common.c bin/perf-predict/common.h
