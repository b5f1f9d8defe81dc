# tests/fuzz: a libFuzzer target for every reader, built by `make fuzz` after configure --enable-fuzz CC=clang.
# A target is three lines and its name in FUZZ_TARGETS; its seeds stand in tests/fuzz/corpus/NAME without the fuzz_.
FUZZ_TARGETS =
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_DIST += tests/fuzz/smoke tests/fuzz/corpus
if HU_FUZZ
FUZZ_TARGETS += fuzz_plan
EXTRA_PROGRAMS += fuzz_plan
fuzz_plan_SOURCES = tests/fuzz/fuzz_plan.c
fuzz_plan_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve
fuzz_plan_LDADD = libsptrsv.la $(HU_LIBS)
fuzz_plan_LDFLAGS = $(FUZZ_LINK)
FUZZ_TARGETS += fuzz_mtx
EXTRA_PROGRAMS += fuzz_mtx
fuzz_mtx_SOURCES = tests/fuzz/fuzz_mtx.c
fuzz_mtx_LDADD = $(HU_LIBS)
fuzz_mtx_LDFLAGS = $(FUZZ_LINK)
endif
fuzz: $(FUZZ_TARGETS)
.PHONY: fuzz
if HU_FUZZ
FUZZ_TARGETS += fuzz_npy fuzz_csv fuzz_bundle
EXTRA_PROGRAMS += fuzz_npy fuzz_csv fuzz_bundle
fuzz_npy_SOURCES = tests/fuzz/fuzz_npy.c
fuzz_npy_LDADD = $(HU_LIBS)
fuzz_npy_LDFLAGS = $(FUZZ_LINK)
fuzz_csv_SOURCES = tests/fuzz/fuzz_csv.c
fuzz_csv_LDADD = $(HU_LIBS)
fuzz_csv_LDFLAGS = $(FUZZ_LINK)
fuzz_bundle_SOURCES = tests/fuzz/fuzz_bundle.c
fuzz_bundle_LDADD = $(HU_LIBS)
fuzz_bundle_LDFLAGS = $(FUZZ_LINK)
endif
if HU_FUZZ
FUZZ_TARGETS += fuzz_model
EXTRA_PROGRAMS += fuzz_model
fuzz_model_SOURCES = tests/fuzz/fuzz_model.c
fuzz_model_LDADD = $(HU_LIBS)
fuzz_model_LDFLAGS = $(FUZZ_LINK)
endif
if HU_FUZZ
FUZZ_TARGETS += fuzz_state fuzz_space
EXTRA_PROGRAMS += fuzz_state fuzz_space
fuzz_state_SOURCES = tests/fuzz/fuzz_state.c
fuzz_state_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict
fuzz_state_LDADD = libperfpredict.la $(HU_LIBS)
fuzz_state_LDFLAGS = $(FUZZ_LINK)
fuzz_space_SOURCES = tests/fuzz/fuzz_space.c
fuzz_space_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict
fuzz_space_LDADD = libperfpredict.la $(HU_LIBS)
fuzz_space_LDFLAGS = $(FUZZ_LINK)
FUZZ_TARGETS += fuzz_kernels
EXTRA_PROGRAMS += fuzz_kernels
fuzz_kernels_SOURCES = tests/fuzz/fuzz_kernels.c
fuzz_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict
fuzz_kernels_LDADD = libperfpredict.la $(HU_LIBS)
fuzz_kernels_LDFLAGS = $(FUZZ_LINK)
FUZZ_TARGETS += fuzz_trace
EXTRA_PROGRAMS += fuzz_trace
fuzz_trace_SOURCES = tests/fuzz/fuzz_trace.c
fuzz_trace_LDADD = $(HU_LIBS)
fuzz_trace_LDFLAGS = $(FUZZ_LINK)
endif
if HU_FUZZ
FUZZ_TARGETS += fuzz_spk
EXTRA_PROGRAMS += fuzz_spk
fuzz_spk_SOURCES = tests/fuzz/fuzz_spk.c
fuzz_spk_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/spmm-pack
fuzz_spk_LDADD = libspmmpack.la $(HU_LIBS)
fuzz_spk_LDFLAGS = $(FUZZ_LINK)
FUZZ_TARGETS += fuzz_qps fuzz_members
EXTRA_PROGRAMS += fuzz_qps fuzz_members
fuzz_qps_SOURCES = tests/fuzz/fuzz_qps.c
fuzz_qps_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/qp-diff
fuzz_qps_LDADD = libqpdiff.la $(HU_LIBS)
fuzz_qps_LDFLAGS = $(FUZZ_LINK)
fuzz_members_SOURCES = tests/fuzz/fuzz_members.c
fuzz_members_LDADD = $(HU_LIBS)
fuzz_members_LDFLAGS = $(FUZZ_LINK)
endif
if HU_FUZZ
FUZZ_TARGETS += fuzz_counters
EXTRA_PROGRAMS += fuzz_counters
fuzz_counters_SOURCES = tests/fuzz/fuzz_counters.c
fuzz_counters_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict
fuzz_counters_LDADD = libperfpredict.la $(HU_LIBS)
fuzz_counters_LDFLAGS = $(FUZZ_LINK)
endif
