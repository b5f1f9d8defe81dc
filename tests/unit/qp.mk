# unit tests: qp-diff
check_PROGRAMS += unit_qp
TESTS += unit_qp
unit_qp_SOURCES = tests/unit/test_qp.c tests/unit/hu_test.h
unit_qp_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/bin/qp-diff
unit_qp_LDADD = libqpdiff.la $(UNIT_LIBS)
