# tests/peers: side-by-side benchmarks, built by scripts/bench only
PEER_FLAGS = -O3 -march=native
EXTRA_PROGRAMS += bench_sptrsv
bench_sptrsv_SOURCES = tests/peers/bench_sptrsv.c tests/peers/bench.c tests/peers/bench.h tests/peers/peers.h tests/peers/peers_sptrsv.cpp
bench_sptrsv_SOURCES += tests/peers/bench_choice.c tests/peers/bench_choice.h
bench_sptrsv_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/perf-predict -I$(srcdir)/tests/tools -I$(srcdir)/tests/peers -I$(srcdir)/bin/sptrsv-solve $(PEER_EIGEN_CFLAGS) $(PEER_RSB_CFLAGS)
bench_sptrsv_CFLAGS = $(AM_CFLAGS) $(PEER_FLAGS)
bench_sptrsv_CXXFLAGS = -std=c++17 $(PEER_FLAGS) $(OPENMP_CXXFLAGS)
bench_sptrsv_LDADD = libsptrsv.la libperfpredict.la libgenerate.la $(HU_LIBS) $(PEER_CXSPARSE_LIBS) $(PEER_RSB_LIBS)
if HU_PEER_PETSC
EXTRA_PROGRAMS += peers_petsc
peers_petsc_SOURCES = tests/peers/peers_petsc.c
peers_petsc_CPPFLAGS = $(PEER_PETSC_CFLAGS) $(PEER_MPI_CFLAGS)
peers_petsc_CFLAGS = $(PEER_FLAGS)
peers_petsc_LDADD = $(PEER_PETSC_LIBS) $(PEER_MPI_LIBS)
endif
CLEANFILES += bench_sptrsv peers_petsc bench_mtx bench_grid
EXTRA_DIST += tests/peers/peers_scipy.py
EXTRA_PROGRAMS += bench_mtx
bench_mtx_SOURCES = tests/peers/bench_mtx.c
bench_mtx_LDADD = $(HU_LIBS)
EXTRA_PROGRAMS += bench_grid
bench_grid_SOURCES = tests/peers/bench_grid.c tests/unit/grid_maker.h
bench_grid_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve -I$(srcdir)/tests/unit
bench_grid_LDADD = libsptrsv.la $(HU_LIBS)
EXTRA_PROGRAMS += bench_engine
bench_engine_SOURCES = tests/peers/bench_engine.c
bench_engine_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve
bench_engine_LDADD = libsptrsv.la $(HU_LIBS)
EXTRA_PROGRAMS += bench_learn
bench_learn_SOURCES = tests/peers/bench_learn.c tests/peers/bench.c tests/peers/bench.h
bench_learn_SOURCES += tests/peers/bench_active.c tests/peers/bench_active.h tests/peers/replay.c tests/peers/replay.h
bench_learn_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/peers -I$(srcdir)/bin/perf-predict
bench_learn_LDADD = libperfpredict.la $(HU_LIBS)
EXTRA_DIST += tests/peers/peers_learn.py tests/peers/peers_learn.R
CLEANFILES += bench_learn
EXTRA_DIST += tests/peers/results/sptrsv-solve-epyc-zen4-2-cores.csv
EXTRA_PROGRAMS += bench_spmm_weights
bench_spmm_weights_SOURCES = tests/peers/bench_spmm_weights.c tests/peers/bench.c tests/peers/bench.h tests/peers/peers_weights.h tests/peers/peers_weights.cpp tests/unit/spmm_maker.h
bench_spmm_weights_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/peers -I$(srcdir)/tests/unit -I$(srcdir)/bin/spmm-pack $(PEER_EIGEN_CFLAGS)
bench_spmm_weights_CFLAGS = $(AM_CFLAGS) $(PEER_FLAGS)
bench_spmm_weights_CXXFLAGS = -std=c++17 $(PEER_FLAGS)
bench_spmm_weights_LDADD = libspmmpack.la $(HU_LIBS) $(PEER_WEIGHTS_LIBS)
CLEANFILES += bench_spmm_weights
EXTRA_PROGRAMS += bench_spmm
bench_spmm_SOURCES = tests/peers/bench_spmm.c tests/peers/bench.c tests/peers/bench.h tests/peers/peers_spmm.cpp tests/peers/peers_spmm.h
bench_spmm_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/peers -I$(srcdir)/bin/spmm-pack $(PEER_EIGEN_CFLAGS) $(PEER_RSB_CFLAGS)
bench_spmm_CFLAGS = $(AM_CFLAGS) $(PEER_FLAGS)
bench_spmm_CXXFLAGS = -std=c++17 $(PEER_FLAGS) $(OPENMP_CXXFLAGS)
bench_spmm_LDADD = libspmmpack.la $(HU_LIBS) $(PEER_RSB_LIBS)
CLEANFILES += bench_spmm
EXTRA_DIST += tests/peers/bench_trace.sh tests/peers/overhead.c
EXTRA_PROGRAMS += bench_qp
bench_qp_SOURCES = tests/peers/bench_qp.c tests/peers/bench.c tests/peers/bench.h
bench_qp_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/peers -I$(srcdir)/bin/qp-diff
bench_qp_LDADD = libqpdiff.la $(HU_LIBS)
CLEANFILES += bench_qp
EXTRA_DIST += tests/peers/results/sptrsv-solve-xeon-2-processors.csv
