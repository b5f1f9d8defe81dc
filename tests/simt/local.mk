# tests/simt: CUDA kernels executed on the CPU (simt.h). A .cu file gets a .cpp here that includes it; KERNELS are compiled with the calls at each
# load and store, the emulator itself without.
EXTRA_DIST += tests/simt/simt.h tests/simt/cuda_runtime.h tests/simt/simt_test.h
EXTRA_DIST += tests/simt/faults.h tests/simt/faults.cu
if HU_SIMT
SIMT_CPPFLAGS = -I$(srcdir)/tests/simt $(AM_CPPFLAGS) -I$(srcdir)/bin -I$(srcdir)/tests/unit $(CHECK_CFLAGS)
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

# The GPU back ends: the kernels of a program, the device layer, and the rest from the libraries.
check_LTLIBRARIES += libsimtgpu.la
libsimtgpu_la_SOURCES = tests/simt/gpu.cpp
libsimtgpu_la_SOURCES += tests/simt/gpu_solve.cpp
libsimtgpu_la_CPPFLAGS = $(SIMT_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve
libsimtgpu_la_CXXFLAGS = $(SIMT_KERNEL_CXXFLAGS)
SIMT_LIBS = libsimtgpu.la libsimt.la

check_PROGRAMS += unit_simt_sptrsv
TESTS += unit_simt_sptrsv
unit_simt_sptrsv_SOURCES = tests/simt/test_gpu_solve.cpp
unit_simt_sptrsv_CPPFLAGS = $(SIMT_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve -I$(srcdir)/tests/tools
unit_simt_sptrsv_CXXFLAGS = -std=c++17 -O1 -g
unit_simt_sptrsv_LDADD = $(SIMT_LIBS) libsptrsv.la libgenerate.la $(HU_LIBS) $(CHECK_LIBS) -ldl
endif
