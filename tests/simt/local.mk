# tests/simt: CUDA kernels executed on the CPU (simt.h). A .cu file gets a .cpp here that includes it; KERNELS are compiled with the calls at each
# load and store, the emulator itself without.
EXTRA_DIST += tests/simt/simt.h tests/simt/cuda_runtime.h tests/simt/faults.h tests/simt/faults.cu
if HU_SIMT
SIMT_CPPFLAGS = -I$(srcdir)/tests/simt $(AM_CPPFLAGS) -I$(srcdir)/tests/unit $(CHECK_CFLAGS)
check_LTLIBRARIES += libsimt.la libsimtfaults.la
libsimt_la_SOURCES = tests/simt/engine.cpp tests/simt/cuda_runtime.cpp
libsimt_la_CPPFLAGS = $(SIMT_CPPFLAGS)
libsimt_la_CXXFLAGS = -std=c++17 -O2 -g
SIMT_KERNEL_CXXFLAGS = -std=c++17 -Wall -Wextra $(HU_SIMT_FLAGS)

check_PROGRAMS += unit_simt
TESTS += unit_simt
libsimtfaults_la_SOURCES = tests/simt/faults.cpp
libsimtfaults_la_CPPFLAGS = $(SIMT_CPPFLAGS)
libsimtfaults_la_CXXFLAGS = $(SIMT_KERNEL_CXXFLAGS)
unit_simt_SOURCES = tests/simt/test_simt.cpp
unit_simt_CPPFLAGS = $(SIMT_CPPFLAGS)
unit_simt_CXXFLAGS = -std=c++17 -O1 -g
unit_simt_LDADD = libsimtfaults.la libsimt.la $(CHECK_LIBS) -ldl
endif
