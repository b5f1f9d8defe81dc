# qp-diff: libqpdiff.la (the engine) + the commands
noinst_LTLIBRARIES += libqpdiff.la
libqpdiff_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bin/qp-diff
libqpdiff_la_SOURCES =
libqpdiff_la_SOURCES += bin/qp-diff/problem.c bin/qp-diff/problem.h
libqpdiff_la_SOURCES += bin/qp-diff/kkt.c bin/qp-diff/kkt.h
libqpdiff_la_SOURCES += bin/qp-diff/ipm.c bin/qp-diff/ipm.h
libqpdiff_la_SOURCES += bin/qp-diff/certify.c bin/qp-diff/certify.h
libqpdiff_la_SOURCES += bin/qp-diff/active.c bin/qp-diff/active.h
libqpdiff_la_SOURCES += bin/qp-diff/solve.c bin/qp-diff/solve.h
libqpdiff_la_SOURCES += bin/qp-diff/qps.c bin/qp-diff/qps.h
libqpdiff_la_SOURCES += bin/qp-diff/gradient.c bin/qp-diff/gradient.h
libqpdiff_la_SOURCES += bin/qp-diff/input.c bin/qp-diff/input.h
libqpdiff_la_SOURCES += bin/qp-diff/result.c bin/qp-diff/result.h

bin_PROGRAMS += qp-diff
qp_diff_CPPFLAGS = $(libqpdiff_la_CPPFLAGS)
qp_diff_LDADD = libqpdiff.la $(HU_LIBS)
qp_diff_SOURCES = bin/qp-diff/main.c bin/qp-diff/commands.h
qp_diff_SOURCES += bin/qp-diff/run.c bin/qp-diff/run.h
qp_diff_SOURCES += bin/qp-diff/solve_command.c
qp_diff_SOURCES += bin/qp-diff/import_command.c
qp_diff_SOURCES += bin/qp-diff/gradient_command.c
libqpdiff_la_SOURCES += bin/qp-diff/generate.c bin/qp-diff/generate.h
libqpdiff_la_SOURCES += bin/qp-diff/verify.c bin/qp-diff/verify.h
qp_diff_SOURCES += bin/qp-diff/gen_command.c
qp_diff_SOURCES += bin/qp-diff/check_command.c
