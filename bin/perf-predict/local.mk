# perf-predict: libperfpredict.la (the engine) + the commands
noinst_LTLIBRARIES += libperfpredict.la
libperfpredict_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict
libperfpredict_la_SOURCES =
libperfpredict_la_SOURCES += bin/perf-predict/table.c bin/perf-predict/table.h
libperfpredict_la_SOURCES += bin/perf-predict/rows.c bin/perf-predict/rows.h
libperfpredict_la_SOURCES += bin/perf-predict/export.c bin/perf-predict/export.h
libperfpredict_la_SOURCES += bin/perf-predict/plot.c bin/perf-predict/plot.h
libperfpredict_la_SOURCES += bin/perf-predict/score.c bin/perf-predict/score.h
libperfpredict_la_SOURCES += bin/perf-predict/learner.c bin/perf-predict/learner.h
libperfpredict_la_SOURCES += bin/perf-predict/configs.c bin/perf-predict/configs.h
libperfpredict_la_SOURCES += bin/perf-predict/state.c bin/perf-predict/state.h
libperfpredict_la_SOURCES += bin/perf-predict/outcome.c bin/perf-predict/outcome.h
libperfpredict_la_SOURCES += bin/perf-predict/campaign.c bin/perf-predict/campaign.h
libperfpredict_la_SOURCES += bin/perf-predict/expr.c bin/perf-predict/expr.h
libperfpredict_la_SOURCES += bin/perf-predict/space.c bin/perf-predict/space.h
libperfpredict_la_SOURCES += bin/perf-predict/space_plan.c bin/perf-predict/space_plan.h
libperfpredict_la_SOURCES += bin/perf-predict/space_sample.c bin/perf-predict/space_sample.h
libperfpredict_la_SOURCES += bin/perf-predict/pool.c bin/perf-predict/pool.h
libperfpredict_la_SOURCES += bin/perf-predict/runner.c bin/perf-predict/runner.h
libperfpredict_la_SOURCES += bin/perf-predict/gnuplot.c bin/perf-predict/gnuplot.h
libperfpredict_la_SOURCES += bin/perf-predict/progress_plot.c bin/perf-predict/progress_plot.h
libperfpredict_la_SOURCES += bin/perf-predict/gpu.c bin/perf-predict/gpu.h
libperfpredict_la_SOURCES += bin/perf-predict/cells.c bin/perf-predict/cells.h
libperfpredict_la_SOURCES += bin/perf-predict/jobs.c bin/perf-predict/jobs.h
libperfpredict_la_SOURCES += bin/perf-predict/room.c bin/perf-predict/room.h
libperfpredict_la_SOURCES += bin/perf-predict/tournament.c bin/perf-predict/tournament.h
libperfpredict_la_SOURCES += bin/perf-predict/schedule.c bin/perf-predict/schedule.h
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
perf_predict_SOURCES += bin/perf-predict/simulate.c
perf_predict_SOURCES += bin/perf-predict/ranks.c bin/perf-predict/ranks.h
perf_predict_SOURCES += bin/perf-predict/common.c bin/perf-predict/common.h

# probe: counters of C programs. The runtime's sources are installed, and stand beside the program where it is built; it is compiled for each program that is
# probed, and once here so that its warnings are seen.
libperfpredict_la_SOURCES += bin/perf-predict/child.c bin/perf-predict/child.h
libperfpredict_la_SOURCES += bin/perf-predict/permute.c bin/perf-predict/permute.h
libperfpredict_la_SOURCES += bin/perf-predict/counters.c bin/perf-predict/counters.h
libperfpredict_la_SOURCES += bin/perf-predict/probed.c bin/perf-predict/probed.h
libperfpredict_la_SOURCES += bin/perf-predict/probed_table.c
perf_predict_CPPFLAGS += -DPROBE_FOLDER='"$(pkgdatadir)/probe"'
perf_predict_SOURCES += bin/perf-predict/probe.c
perf_predict_SOURCES += bin/perf-predict/probe_cc.c bin/perf-predict/probe_cc.h
perf_predict_SOURCES += bin/perf-predict/probe_run.c bin/perf-predict/probe_run.h
probedir = $(pkgdatadir)/probe
dist_probe_DATA = bin/perf-predict/probe/runtime.c bin/perf-predict/probe/mpi.c bin/perf-predict/probe/runtime.h
if HU_GCOV
noinst_LTLIBRARIES += libprobe.la
libprobe_la_SOURCES = bin/perf-predict/probe/runtime.c bin/perf-predict/probe/runtime.h
libprobe_la_CPPFLAGS = $(MPI_CFLAGS)
if HU_MPI
libprobe_la_SOURCES += bin/perf-predict/probe/mpi.c
endif
endif
all-local: probe/stamp
probe/stamp: $(dist_probe_DATA)
	$(AM_V_GEN)$(MKDIR_P) probe && for f in $(dist_probe_DATA); do cp "$(srcdir)/$$f" probe/ || exit 1; done && touch $@
CLEANFILES += probe/stamp probe/runtime.c probe/mpi.c probe/runtime.h
perf_predict_SOURCES += bin/perf-predict/space_command.c
perf_predict_SOURCES += bin/perf-predict/ask.c
perf_predict_SOURCES += bin/perf-predict/tell.c
perf_predict_SOURCES += bin/perf-predict/campaign_args.c bin/perf-predict/campaign_args.h
perf_predict_SOURCES += bin/perf-predict/loop.c
