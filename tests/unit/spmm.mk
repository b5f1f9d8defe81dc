# unit tests of spmm-pack's engine: link with $(SPMM_TEST_LIBS)
SPMM_TEST_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/bin/spmm-pack
SPMM_TEST_LIBS = libspmmpack.la $(UNIT_LIBS)
check_PROGRAMS += unit_spmm_plan
TESTS += unit_spmm_plan
unit_spmm_plan_SOURCES = tests/unit/test_spmm.c tests/unit/hu_test.h
unit_spmm_plan_CPPFLAGS = $(SPMM_TEST_CPPFLAGS)
unit_spmm_plan_LDADD = $(SPMM_TEST_LIBS)
