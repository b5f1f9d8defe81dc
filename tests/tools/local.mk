# tests/tools: the generator of matrices, as a program and as a library for unit tests and benchmarks
noinst_LTLIBRARIES += libgenerate.la
libgenerate_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/tools
libgenerate_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
libgenerate_la_SOURCES = tests/tools/generate.c tests/tools/generate.h
noinst_PROGRAMS += hu-gen
hu_gen_SOURCES = tests/tools/hu-gen.c
hu_gen_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/tools
hu_gen_LDADD = libgenerate.la $(HU_LIBS)
