# spmm-pack: libspmmpack.la (the engine) + the commands
noinst_LTLIBRARIES += libspmmpack.la
libspmmpack_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/spmm-pack
libspmmpack_la_LIBADD =
libspmmpack_la_SOURCES =
libspmmpack_la_SOURCES += bin/spmm-pack/sparse.c bin/spmm-pack/sparse.h
libspmmpack_la_SOURCES += bin/spmm-pack/plan.c bin/spmm-pack/plan.h
libspmmpack_la_SOURCES += bin/spmm-pack/rows.c
libspmmpack_la_SOURCES += bin/spmm-pack/neighbor.c bin/spmm-pack/neighbor.h
libspmmpack_la_SOURCES += bin/spmm-pack/panel.c bin/spmm-pack/panel.h bin/spmm-pack/panel_kernel.h
libspmmpack_la_SOURCES += bin/spmm-pack/emit.c bin/spmm-pack/emit.h
libspmmpack_la_SOURCES += bin/spmm-pack/emit_c.c
libspmmpack_la_SOURCES += bin/spmm-pack/emit_cuda.c
libspmmpack_la_SOURCES += bin/spmm-pack/search.c bin/spmm-pack/search.h
libspmmpack_la_SOURCES += bin/spmm-pack/compile.c bin/spmm-pack/compile.h
libspmmpack_la_SOURCES += bin/spmm-pack/dense_in.c bin/spmm-pack/dense_in.h
libspmmpack_la_SOURCES += bin/spmm-pack/kernel.h bin/spmm-pack/simd.h
libspmmpack_la_SOURCES += bin/spmm-pack/bin.c bin/spmm-pack/bin.h
libspmmpack_la_SOURCES += bin/spmm-pack/packed.c bin/spmm-pack/packed.h
libspmmpack_la_SOURCES += bin/spmm-pack/read.c bin/spmm-pack/read.h
libspmmpack_la_SOURCES += bin/spmm-pack/graph.c bin/spmm-pack/graph.h
libspmmpack_la_SOURCES += bin/spmm-pack/sddmm.c bin/spmm-pack/sddmm.h
libspmmpack_la_SOURCES += bin/spmm-pack/verify.c bin/spmm-pack/verify.h
libspmmpack_la_SOURCES += bin/spmm-pack/cost.c bin/spmm-pack/cost.h
libspmmpack_la_SOURCES += bin/spmm-pack/describe.c bin/spmm-pack/describe.h
libspmmpack_la_SOURCES += bin/spmm-pack/generate.c bin/spmm-pack/generate.h

# The engine's hot loops, built once per instruction set (lib/device/level.h): add a source to SPMM_KERNELS.
SPMM_KERNELS =
SPMM_KERNELS += bin/spmm-pack/kernel.c bin/spmm-pack/kernel_body.h
SPMM_KERNELS += bin/spmm-pack/panel_kernel.c bin/spmm-pack/panel_body.h
SPMM_KERNELS += bin/spmm-pack/kernel.c bin/spmm-pack/kernel_body.h bin/spmm-pack/sddmm_body.h
noinst_LTLIBRARIES += libspmmpack_base.la
libspmmpack_base_la_SOURCES = $(SPMM_KERNELS)
libspmmpack_base_la_CPPFLAGS = $(libspmmpack_la_CPPFLAGS)
libspmmpack_base_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_base)
libspmmpack_la_LIBADD += libspmmpack_base.la
if HU_X86
noinst_LTLIBRARIES += libspmmpack_v3.la libspmmpack_v4.la
libspmmpack_v3_la_SOURCES = $(SPMM_KERNELS)
libspmmpack_v3_la_CPPFLAGS = $(libspmmpack_la_CPPFLAGS)
libspmmpack_v3_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v3)
libspmmpack_v4_la_SOURCES = $(SPMM_KERNELS)
libspmmpack_v4_la_CPPFLAGS = $(libspmmpack_la_CPPFLAGS)
libspmmpack_v4_la_CFLAGS = $(KERNEL_CFLAGS) $(KERNEL_v4)
libspmmpack_la_LIBADD += libspmmpack_v3.la libspmmpack_v4.la
endif

bin_PROGRAMS += spmm-pack
spmm_pack_CPPFLAGS = $(libspmmpack_la_CPPFLAGS)
spmm_pack_LDADD = libspmmpack.la $(HU_LIBS)
spmm_pack_SOURCES = bin/spmm-pack/main.c bin/spmm-pack/commands.h
spmm_pack_SOURCES += bin/spmm-pack/input.c bin/spmm-pack/input.h
spmm_pack_SOURCES += bin/spmm-pack/mul.c
spmm_pack_SOURCES += bin/spmm-pack/common.c bin/spmm-pack/common.h
spmm_pack_SOURCES += bin/spmm-pack/pack.c
spmm_pack_SOURCES += bin/spmm-pack/sample.c
spmm_pack_SOURCES += bin/spmm-pack/info.c
spmm_pack_SOURCES += bin/spmm-pack/bench.c
spmm_pack_SOURCES += bin/spmm-pack/gen.c
spmm_pack_SOURCES += bin/spmm-pack/codegen.c
