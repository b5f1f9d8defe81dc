# sptrsv-solve: libsptrsv.la (the engine) + main.c
noinst_LTLIBRARIES += libsptrsv.la
libsptrsv_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve
libsptrsv_la_LIBADD =
libsptrsv_la_SOURCES = bin/sptrsv-solve/system.c bin/sptrsv-solve/system.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/scheme.h bin/sptrsv-solve/plan.h bin/sptrsv-solve/grid.h

# The engine's hot loops, built once per instruction set (lib/device/level.h): add a source to SPTRSV_KERNELS.
SPTRSV_KERNELS =
noinst_LTLIBRARIES += libsptrsv_base.la
libsptrsv_base_la_SOURCES = $(SPTRSV_KERNELS)
libsptrsv_base_la_CPPFLAGS = $(libsptrsv_la_CPPFLAGS)
libsptrsv_base_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_base)
libsptrsv_la_LIBADD += libsptrsv_base.la
if HU_X86
noinst_LTLIBRARIES += libsptrsv_v3.la libsptrsv_v4.la
libsptrsv_v3_la_SOURCES = $(SPTRSV_KERNELS)
libsptrsv_v3_la_CPPFLAGS = $(libsptrsv_la_CPPFLAGS)
libsptrsv_v3_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v3)
libsptrsv_v4_la_SOURCES = $(SPTRSV_KERNELS)
libsptrsv_v4_la_CPPFLAGS = $(libsptrsv_la_CPPFLAGS)
libsptrsv_v4_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v4)
libsptrsv_la_LIBADD += libsptrsv_v3.la libsptrsv_v4.la
endif
libsptrsv_la_SOURCES += bin/sptrsv-solve/factor.c bin/sptrsv-solve/factor.h bin/sptrsv-solve/certify.c bin/sptrsv-solve/certify.h bin/sptrsv-solve/sweep.c bin/sptrsv-solve/sweep.h bin/sptrsv-solve/krylov.c bin/sptrsv-solve/krylov.h

SPTRSV_KERNELS += bin/sptrsv-solve/certify_kernel.c
libsptrsv_la_SOURCES += bin/sptrsv-solve/certify_kernel.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/scheme.c bin/sptrsv-solve/kernel.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/schedule.c bin/sptrsv-solve/schedule.h bin/sptrsv-solve/layout.c bin/sptrsv-solve/layout.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/plan.c bin/sptrsv-solve/plan_private.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/complex_pair.h
SPTRSV_KERNELS += bin/sptrsv-solve/kernel.c bin/sptrsv-solve/kernel_body.h bin/sptrsv-solve/kernel_panel.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/rule.c
libsptrsv_la_SOURCES += bin/sptrsv-solve/survey.c bin/sptrsv-solve/survey.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/candidates.c bin/sptrsv-solve/candidates.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/choice.c bin/sptrsv-solve/choice.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/scheme_table.c bin/sptrsv-solve/scheme_table.h

libsptrsv_la_SOURCES += bin/sptrsv-solve/product.c bin/sptrsv-solve/product.h bin/sptrsv-solve/krylov_kernel.h
SPTRSV_KERNELS += bin/sptrsv-solve/krylov_kernel.c
libsptrsv_la_SOURCES += bin/sptrsv-solve/grid.c bin/sptrsv-solve/grid_kernel.h bin/sptrsv-solve/grid_tile.h
SPTRSV_KERNELS += bin/sptrsv-solve/grid_kernel.c
libsptrsv_la_SOURCES += bin/sptrsv-solve/plan_file.c
libsptrsv_la_SOURCES += bin/sptrsv-solve/measure.c bin/sptrsv-solve/measure.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/info.c bin/sptrsv-solve/info.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/stencil.c bin/sptrsv-solve/stencil.h

bin_PROGRAMS += sptrsv-solve
sptrsv_solve_SOURCES = bin/sptrsv-solve/main.c
sptrsv_solve_SOURCES += bin/sptrsv-solve/options.c bin/sptrsv-solve/options.h
sptrsv_solve_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/sptrsv-solve
sptrsv_solve_LDADD = libsptrsv.la $(HU_LIBS)

# The GPU back end
libsptrsv_la_SOURCES += bin/sptrsv-solve/gpu_scheme.c bin/sptrsv-solve/gpu_scheme.h
libsptrsv_la_SOURCES += bin/sptrsv-solve/gpu_solve.h
CUDA_SOURCES += bin/sptrsv-solve/gpu_solve.cu
EXTRA_DIST += bin/sptrsv-solve/gpu_solve.cu bin/sptrsv-solve/gpu_none.c
if !HU_CUDA
libsptrsv_la_SOURCES += bin/sptrsv-solve/gpu_none.c
endif
