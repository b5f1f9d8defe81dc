# unit tests of tests/tools
check_PROGRAMS += unit_generate
TESTS += unit_generate
unit_generate_SOURCES = tests/unit/test_generate.c tests/unit/hu_test.h
unit_generate_CPPFLAGS = $(UNIT_CPPFLAGS) -I$(srcdir)/tests/tools
unit_generate_LDADD = libgenerate.la $(UNIT_LIBS)
